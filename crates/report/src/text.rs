//! Text that comes from the debugged program: made harmless, quoted and capped.
//!
//! Invariant: what leaves this module holds no control character but newline and tab, and no character that reorders
//! or hides text. Such strings are data for a reader; they can neither drive a terminal nor pose as ours.

use std::fmt::Write as _;

/// Makes text harmless: control characters become escapes, `\r\n` becomes `\n`.
pub fn clean(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' if characters.peek() == Some(&'\n') => {}
            '\n' | '\t' => cleaned.push(character),
            character if is_harmless(character) => cleaned.push(character),
            character => push_escape(&mut cleaned, character),
        }
    }
    cleaned
}

/// Makes text harmless and keeps it on one line: newlines and tabs become escapes too.
///
/// A text that was cut before says how long it was: that stays.
pub fn one_line(text: &str, max_characters: usize) -> String {
    if let Some((body, mark)) = cut_before(text)
        && body.chars().nth(max_characters).is_some()
    {
        let quote = if body.starts_with('"') { "\"" } else { "" };
        let body: String = body.chars().take(max_characters).collect();
        return one_line(&body, max_characters) + quote + mark;
    }
    let mut line = String::new();
    let mut characters = text.chars();
    for character in characters.by_ref().take(max_characters) {
        if is_harmless(character) {
            line.push(character);
        } else {
            push_escape(&mut line, character);
        }
    }
    let left = characters.count();
    if left > 0 {
        // Writing to a String cannot fail.
        let characters = if left == 1 { "character" } else { "characters" };
        let _ = write!(line, "… ({left} more {characters})");
    }
    line
}

/// The text and the words behind it, `… (5000 characters)`, if it was cut: these are no fewer than are there.
fn cut_before(text: &str) -> Option<(&str, &str)> {
    let (body, mark) = text.split_at(text.rfind("… (")?);
    let count = mark
        .strip_prefix("… (")?
        .strip_suffix(" characters)")?
        .parse::<usize>()
        .ok()?;
    (count >= body.chars().count().saturating_sub(2)).then_some((body, mark))
}

/// A string of the program in quotes, on one line.
pub fn quoted(text: &str, max_characters: usize) -> String {
    let line = one_line(text, max_characters);
    let mut quoted = String::with_capacity(line.len() + 2);
    quoted.push('"');
    for character in line.chars() {
        if character == '"' {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted.push('"');
    quoted
}

/// The end of a text, at most `max_bytes` of it and from the start of a line if it has one there.
///
/// Returns what was left out, in bytes, and the rest.
pub fn tail(text: &str, max_bytes: usize) -> (usize, &str) {
    if text.len() <= max_bytes {
        return (0, text);
    }
    let mut at = text.len() - max_bytes;
    while !text.is_char_boundary(at) {
        at += 1;
    }
    let rest = text.get(at..).unwrap_or_default();
    match rest.find('\n') {
        Some(newline) if newline + 1 < rest.len() => {
            let at = at + newline + 1;
            (at, text.get(at..).unwrap_or_default())
        }
        _ => (at, rest),
    }
}

/// Text quoted line by line: `prefix` in front of each, so that nothing in it can pose as something else.
pub fn push_quoted_lines(out: &mut String, prefix: &str, text: &str) {
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        out.push_str(prefix);
        out.push_str(line);
        out.push('\n');
    }
}

/// How many bytes, for a person.
pub fn bytes(count: u64) -> String {
    match count {
        1 => "1 byte".into(),
        0..10_000 => format!("{count} bytes"),
        10_000..10_000_000 => format!("{} kB", count / 1000),
        _ => format!("{} MB", count / 1_000_000),
    }
}

fn is_harmless(character: char) -> bool {
    !character.is_control()
        // Direction overrides, line separators and invisible marks can make text read differently from what it is.
        && !matches!(character,
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

fn push_escape(out: &mut String, character: char) {
    // Writing to a String cannot fail.
    let _ = match character {
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\t' => out.write_str("\\t"),
        '\0'..='\u{ff}' => write!(out, "\\x{:02x}", u32::from(character)),
        _ => write!(out, "\\u{{{:x}}}", u32::from(character)),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn control_characters_become_escapes() {
        assert_eq!(
            clean("\u{1b}[31mred\u{7}\r\na\tb\rc"),
            "\\x1b[31mred\\x07\na\tb\\rc"
        );
        assert_eq!(clean("grün 世界 🦀"), "grün 世界 🦀");
        assert_eq!(clean("abc\u{202e}def\u{9b}"), "abc\\u{202e}def\\x9b");
    }

    #[test]
    fn quotes_close_only_at_the_end() {
        assert_eq!(quoted("say \"hi\"\n", 100), r#""say \"hi\"\n""#);
        assert_eq!(quoted("abcdef", 3), r#""abc… (3 more characters)""#);
    }

    #[test]
    fn what_was_cut_before_keeps_its_length() {
        let long = format!("{:?}… (5000 characters)", "x".repeat(1024));
        assert_eq!(one_line(&long, 4), "\"xxx\"… (5000 characters)");
        assert_eq!(one_line(&long, 2000), long);
        // Words of the program do not count.
        let posing = "x".repeat(50) + "… (5 characters)";
        assert_eq!(
            one_line(&posing, 49),
            "x".repeat(49) + "… (17 more characters)"
        );
    }

    #[test]
    fn a_tail_begins_with_a_line() {
        assert_eq!(tail("one\ntwo\nthree\n", 100), (0, "one\ntwo\nthree\n"));
        assert_eq!(tail("one\ntwo\nthree\n", 8), (8, "three\n"));
        assert_eq!(tail("onelongline", 4), (7, "line"));
        assert_eq!(tail("ü世界", 4), (5, "界"));
    }

    proptest! {
        #[test]
        fn nothing_harmful_is_left(text in any::<String>(), max in 0usize..50) {
            prop_assert!(clean(&text).chars().all(|c| c == '\n' || c == '\t' || is_harmless(c)));
            prop_assert!(quoted(&text, max).chars().all(is_harmless));
            let (left_out, rest) = tail(&text, max);
            prop_assert_eq!(left_out + rest.len(), text.len());
            prop_assert!(rest.len() <= max);
        }
    }
}
