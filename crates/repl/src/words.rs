//! The text behind a command, in its parts.

use host::api::Error;

use crate::failure::usage;

/// The first word and what follows it.
pub(crate) fn first(text: &str) -> (&str, &str) {
    let text = text.trim();
    match text.split_once(char::is_whitespace) {
        Some((word, rest)) => (word, rest.trim_start()),
        None => (text, ""),
    }
}

/// `/x`, `/16xb`: the letters behind a slash in front of the arguments, and the rest.
pub(crate) fn format(text: &str) -> (&str, &str) {
    match text.trim_start().strip_prefix('/') {
        Some(rest) => first(rest),
        None => ("", text.trim()),
    }
}

/// What stands before and behind a lone word, such as `if`.
pub(crate) fn around<'a>(text: &'a str, word: &str) -> (&'a str, Option<&'a str>) {
    let text = text.trim();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(word)) {
        let (start, end) = (from + at, from + at + word.len());
        let before = text.get(..start).unwrap_or_default();
        let after = text.get(end..).unwrap_or_default();
        let alone = (before.is_empty() || before.ends_with(char::is_whitespace))
            && (after.is_empty() || after.starts_with(char::is_whitespace));
        if alone {
            return (before.trim_end(), Some(after.trim()));
        }
        from = end;
    }
    (text, None)
}

/// A count, at least 1; 1 if there is none.
pub(crate) fn count(text: &str) -> Result<u32, Error> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(1);
    }
    match text.parse() {
        Ok(0) | Err(_) => Err(usage(format!(
            "{} is not a count",
            report::text::quoted(text, 60)
        ))),
        Ok(count) => Ok(count),
    }
}

/// A number.
pub(crate) fn number(text: &str, what: &str) -> Result<u32, Error> {
    let text = text.trim();
    text.trim_start_matches('#').parse().map_err(|_| {
        usage(match text {
            "" => format!("say which {what}"),
            _ => format!(
                "{} is not the number of a {what}",
                report::text::quoted(text, 60)
            ),
        })
    })
}

/// Numbers with blanks or commas between: `1 2-4`.
pub(crate) fn numbers(text: &str) -> Result<Vec<u32>, Error> {
    let mut numbers = Vec::new();
    for word in text.split([' ', ',', '\t']).filter(|word| !word.is_empty()) {
        let (from, to) = match word.split_once('-') {
            Some((from, to)) => (number(from, "breakpoint")?, number(to, "breakpoint")?),
            None => {
                let only = number(word, "breakpoint")?;
                (only, only)
            }
        };
        if to.saturating_sub(from) > 10_000 {
            return Err(usage("that is too many"));
        }
        numbers.extend(from..=to);
    }
    Ok(numbers)
}

/// The words of a line as a shell takes them: quotes keep blanks, a backslash keeps what follows.
pub(crate) fn arguments(text: &str) -> Result<Vec<String>, Error> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), character) if character == open => quote = None,
            (Some('\''), character) => word.get_or_insert_default().push(character),
            (_, '\\') => match characters.next() {
                Some(character) => word.get_or_insert_default().push(character),
                None => return Err(usage("the line ends behind a backslash")),
            },
            (Some(_), character) => word.get_or_insert_default().push(character),
            (None, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, character) if character.is_whitespace() => words.extend(word.take()),
            (None, character) => word.get_or_insert_default().push(character),
        }
    }
    if quote.is_some() {
        return Err(usage("a quote is not closed"));
    }
    words.extend(word);
    Ok(words)
}

/// `on` or `off`.
pub(crate) fn switch(text: &str) -> Result<bool, Error> {
    match text.trim() {
        "on" | "1" | "yes" | "true" => Ok(true),
        "off" | "0" | "no" | "false" => Ok(false),
        _ => Err(usage("say on or off")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stands_alone() {
        assert_eq!(around("a.cs:1 if x > 1", "if"), ("a.cs:1", Some("x > 1")));
        assert_eq!(around("if x", "if"), ("", Some("x")));
        assert_eq!(around("Modify.If(int)", "if"), ("Modify.If(int)", None));
        assert_eq!(around("iffy if iffy", "if"), ("iffy", Some("iffy")));
    }

    #[test]
    fn lines_are_split_as_a_shell_would() {
        let split = |text| arguments(text).expect("words");
        assert_eq!(
            split(r#"a "b c" 'd "e' f\ g """#),
            ["a", "b c", "d \"e", "f g", ""]
        );
        assert!(split("  ").is_empty());
        assert!(arguments("'a").is_err());
        assert!(arguments("a\\").is_err());
    }

    #[test]
    fn numbers_come_in_lists_and_ranges() {
        assert_eq!(numbers("1 3-5, 7").expect("numbers"), [1, 3, 4, 5, 7]);
        assert!(numbers("x").is_err());
        assert!(numbers("1-4000000000").is_err());
        assert_eq!(count("").expect("one"), 1);
        assert!(count("0").is_err());
        assert!(count("-1").is_err());
    }

    #[test]
    fn formats_stand_in_front() {
        assert_eq!(format("/x total"), ("x", "total"));
        assert_eq!(format(" total / 2"), ("", "total / 2"));
        assert_eq!(format("/4xb 0x10"), ("4xb", "0x10"));
    }
}
