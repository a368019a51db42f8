//! Places in code as a person writes them: `20`, `shop.cs:20`, `shop.cs:20:9`, `+2`, `Order.Total`.

use host::api::{Error, Line, Place};

use crate::failure::usage;

/// A file and a line in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spot {
    /// The file's path.
    pub(crate) file: String,
    /// The line.
    pub(crate) line: u32,
    /// The column.
    pub(crate) column: u32,
}

impl Spot {
    pub(crate) fn of(place: &host::api::Source) -> Self {
        Self {
            file: place.path.to_string_lossy().into_owned(),
            line: place.line.0,
            column: place.column.unwrap_or(1),
        }
    }
}

/// The place that a text means, seen from where the program is.
pub(crate) fn place(text: &str, here: Option<&Spot>) -> Result<Place, Error> {
    let text = text.trim();
    let here = || {
        here.ok_or_else(|| {
            usage("there is no source file here that a line alone could be in")
                .hint("say which file: FILE:LINE, or a method: TYPE.METHOD")
        })
    };
    let line_of = |file: String, line: u32, column| {
        if line == 0 {
            return Err(usage("lines are counted from 1"));
        }
        let line = Line(line);
        Ok(Place::Line { file, line, column })
    };
    if text.is_empty() {
        let here = here()?;
        return line_of(here.file.clone(), here.line, None);
    }
    if let Some(offset) = text.strip_prefix('+').and_then(|it| it.parse::<u32>().ok()) {
        let here = here()?;
        return line_of(here.file.clone(), here.line.saturating_add(offset), None);
    }
    if let Some(offset) = text.strip_prefix('-').and_then(|it| it.parse::<u32>().ok()) {
        let here = here()?;
        return line_of(here.file.clone(), here.line.saturating_sub(offset), None);
    }
    if let Ok(line) = text.parse() {
        return line_of(here()?.file.clone(), line, None);
    }
    if text.bytes().all(|it| it.is_ascii_digit()) {
        return Err(usage("no file has that many lines"));
    }
    if text.starts_with('*') {
        return Err(usage(
            "breakpoints are set at lines and methods, not at addresses",
        ));
    }
    if let Some((rest, last)) = text.rsplit_once(':')
        && let Ok(last) = last.trim().parse::<u32>()
    {
        if let Some((file, line)) = rest.rsplit_once(':')
            && let Ok(line) = line.parse()
            && !file.is_empty()
        {
            return line_of(file.to_owned(), line, Some(last));
        }
        // A number alone is a line here, and what follows a column.
        if let Ok(line) = rest.parse() {
            return line_of(here()?.file.clone(), line, Some(last));
        }
        if !rest.is_empty() && !rest.ends_with(':') {
            return line_of(rest.to_owned(), last, None);
        }
    }
    Ok(Place::Function {
        // As C++ writes it.
        name: text.replace("::", "."),
    })
}

/// Splits a place from what follows it; blanks inside parentheses and angles belong to it.
pub(crate) fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let mut depth = 0u32;
    for (at, character) in text.char_indices() {
        match character {
            '(' | '<' => depth += 1,
            ')' | '>' => depth = depth.saturating_sub(1),
            character if character.is_whitespace() && depth == 0 => {
                let (place, rest) = text.split_at(at);
                return (place, rest.trim_start());
            }
            _ => {}
        }
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let here = Spot {
            file: "/src/shop.cs".into(),
            line: 10,
            column: 1,
        };
        let found = match place(text, Some(&here)) {
            Ok(Place::Line { file, line, column }) => match column {
                Some(column) => format!("{file}:{}:{column}", line.0),
                None => format!("{file}:{}", line.0),
            },
            Ok(Place::Function { name }) => name,
            Err(error) => format!("error: {}", error.message),
        };
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn places_are_written_in_many_ways() {
        check("", "/src/shop.cs:10");
        check("12", "/src/shop.cs:12");
        check("+2", "/src/shop.cs:12");
        check("-3", "/src/shop.cs:7");
        check("a.cs:5", "a.cs:5");
        check("a.cs:5:9", "a.cs:5:9");
        check("/x y/a.cs:5", "/x y/a.cs:5");
        check("Shop.Order.Total", "Shop.Order.Total");
        check("Order::Total(int, string)", "Order.Total(int, string)");
        check("12:9", "/src/shop.cs:12:9");
        check("99999999999999999999", "error: no file has that many lines");
        check("0", "error: lines are counted from 1");
        check("-99", "error: lines are counted from 1");
        check(
            "*0x10",
            "error: breakpoints are set at lines and methods, not at addresses",
        );
        assert!(place("5", None).is_err());
    }

    #[test]
    fn what_follows_a_place_is_split_off() {
        assert_eq!(split("a.cs:5 total is {x}"), ("a.cs:5", "total is {x}"));
        assert_eq!(split("M(int, string) hi"), ("M(int, string)", "hi"));
        assert_eq!(split("List<int, T>.Add"), ("List<int, T>.Add", ""));
    }
}
