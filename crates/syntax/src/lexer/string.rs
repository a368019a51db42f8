//! Character and string literals: regular, verbatim and raw (C# 6.4.5.5 and 6.4.5.6).

use super::interpolated::Frame;
use super::{Lexer, unicode, unicode_escape};
use crate::error::ErrorKind;
use crate::tree::{Literal, Utf16String};

impl Lexer<'_> {
    /// `'a'`
    pub(super) fn character(&mut self) -> bool {
        let start = self.pos;
        self.pos += 1;
        let (units, error) = self.regular_text('\'');
        if self.peek() != Some('\'') {
            self.error_at(ErrorKind::NewlineInLiteral('\''), start, start + 1);
            return false;
        }
        self.pos += 1;
        match (error, units.as_slice()) {
            (Some((kind, at, end)), _) => self.error_at(kind, at, end),
            (None, [unit]) => self.push_literal(Literal::Char(*unit), start),
            (None, []) => self.error_at(ErrorKind::EmptyCharacter, start, self.pos),
            (None, _) => self.error_at(ErrorKind::LongCharacter, start, self.pos),
        }
        true
    }

    /// `"…"` or `"""…"""`
    pub(super) fn string_start(&mut self) -> bool {
        if self.rest().starts_with("\"\"\"") {
            return self.raw_string();
        }
        let start = self.pos;
        self.pos += 1;
        let (units, error) = self.regular_text('"');
        if self.peek() != Some('"') {
            self.out.ends_outside_code = true;
            // In a hole it was most likely meant to close the string around it.
            match self.frames.last().map(Frame::hole_start) {
                Some(hole) => self.error_at(ErrorKind::UnclosedHole, hole, hole + 1),
                None => self.error_at(ErrorKind::NewlineInLiteral('"'), start, start + 1),
            }
            return false;
        }
        self.pos += 1;
        if let Some((kind, at, end)) = error {
            self.error_at(kind, at, end);
            return true;
        }
        self.finish_string(units, start);
        true
    }

    /// `@"…"`, where `""` is a quote and a backslash only itself.
    pub(super) fn verbatim_string(&mut self) -> bool {
        let start = self.pos;
        self.pos += 2;
        let mut units = Vec::new();
        loop {
            let rest = self.rest();
            let Some(quote) = rest.find('"') else {
                self.pos = self.text.len();
                self.error_at(ErrorKind::UnclosedString("\"".to_owned()), start, start + 2);
                return false;
            };
            let (text, rest) = rest.split_at(quote);
            units.extend(text.encode_utf16());
            let doubled = rest.starts_with("\"\"");
            self.pos += quote + if doubled { 2 } else { 1 };
            if !doubled {
                break;
            }
            units.push(u16::from(b'"'));
        }
        self.finish_string(units, start);
        true
    }

    /// The decoded text up to `quote` or the end of the line, and the first bad escape.
    fn regular_text(&mut self, quote: char) -> (Vec<u16>, Option<(ErrorKind, usize, usize)>) {
        let mut units = Vec::new();
        let mut error = None;
        while let Some(c) = self.peek() {
            if c == quote || unicode::is_newline(c) {
                break;
            }
            if c != '\\' {
                self.pos += c.len_utf8();
                units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
                continue;
            }
            let at = self.pos;
            if let Err(kind) = self.escape(&mut units) {
                error.get_or_insert((kind, at, self.pos));
            }
        }
        (units, error)
    }

    /// Decodes the escape sequence here and moves behind it; behind the backslash and the next
    /// character if it is none.
    pub(super) fn escape(&mut self, units: &mut Vec<u16>) -> Result<(), ErrorKind> {
        if let Some((c, length)) = unicode_escape(self.rest()) {
            self.pos += length;
            units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
            return Ok(());
        }
        let rest = self.rest();
        let hex = |from: usize, most: usize| {
            let digits = rest.as_bytes().get(from..).unwrap_or(&[]);
            let count = digits
                .iter()
                .take(most)
                .take_while(|b| b.is_ascii_hexdigit())
                .count();
            let value = rest
                .get(from..from + count)
                .and_then(|it| u16::from_str_radix(it, 16).ok());
            (value, from + count)
        };
        let next = rest.chars().nth(1);
        let (unit, length) = match next {
            Some('\'') => (Some(0x27), 2),
            Some('"') => (Some(0x22), 2),
            Some('\\') => (Some(0x5c), 2),
            Some('0') => (Some(0), 2),
            Some('a') => (Some(7), 2),
            Some('b') => (Some(8), 2),
            Some('e') => (Some(0x1b), 2),
            Some('f') => (Some(0xc), 2),
            Some('n') => (Some(0xa), 2),
            Some('r') => (Some(0xd), 2),
            Some('t') => (Some(9), 2),
            Some('v') => (Some(0xb), 2),
            Some('x') => hex(2, 4),
            // Enough digits, but half of a surrogate pair: not a `char` of Rust, but one of C#.
            Some('u') => match hex(2, 4) {
                (unit, 6) => (unit, 6),
                _ => (None, 2),
            },
            Some('U') if rest.get(2..6) == Some("0000") => match hex(6, 4) {
                (unit, 10) => (unit, 10),
                _ => (None, 2),
            },
            _ => (None, 2),
        };
        match (unit, next) {
            (Some(unit), _) => {
                self.pos += length;
                units.push(unit);
                Ok(())
            }
            (None, Some(c)) if !unicode::is_newline(c) => {
                self.pos += 1 + c.len_utf8();
                Err(ErrorKind::Escape)
            }
            (None, _) => {
                self.pos += 1;
                Err(ErrorKind::Escape)
            }
        }
    }

    /// Pushes a string literal, or a UTF-8 one if `u8` follows.
    fn finish_string(&mut self, units: Vec<u16>, start: usize) {
        let text = Utf16String::from(units);
        let rest = self.rest();
        let is_suffix = rest.starts_with("u8") || rest.starts_with("U8");
        if !is_suffix {
            self.push_literal(Literal::String(text), start);
            return;
        }
        self.pos += 2;
        match text.to_utf8() {
            Some(text) => self.push_literal(Literal::Utf8(text.into_bytes().into()), start),
            None => self.error_at(ErrorKind::Utf8Literal, start, self.pos),
        }
    }

    /// `"""…"""`, on one line or several.
    fn raw_string(&mut self) -> bool {
        let start = self.pos;
        let quotes = count(self.rest(), '"');
        self.pos += quotes;
        let content = self.pos;
        let many_lines = raw_is_multi_line(self.rest());
        // The first run of at least as many quotes closes it.
        loop {
            let rest = self.rest();
            let stop = rest.find(|c| c == '"' || !many_lines && unicode::is_newline(c));
            let Some(stop) = stop.filter(|&at| rest.as_bytes().get(at) == Some(&b'"')) else {
                self.pos = self.text.len();
                let error = ErrorKind::UnclosedString("\"".repeat(quotes));
                self.error_at(error, start, start + quotes);
                return false;
            };
            self.pos += stop;
            let run = count(self.rest(), '"');
            if run > quotes {
                self.error_at(ErrorKind::RawQuotes, self.pos + quotes, self.pos + run);
                self.pos += run;
                return true;
            }
            self.pos += run;
            if run == quotes {
                break;
            }
        }
        let text = self
            .text
            .get(content..self.pos - quotes)
            .unwrap_or("")
            .to_owned();
        if !many_lines {
            self.finish_string(text.encode_utf16().collect(), start);
            return true;
        }
        match raw_lines(&text, content) {
            Ok(text) => self.finish_string(text.encode_utf16().collect(), start),
            Err((kind, at)) => self.error_at(kind, at, at),
        }
        true
    }
}

/// How often `c` stands at the start of `text`.
pub(super) fn count(text: &str, c: char) -> usize {
    text.len() - text.trim_start_matches(c).len()
}

/// Whether only white space follows the opening quotes on their line.
pub(super) fn raw_is_multi_line(rest: &str) -> bool {
    rest.trim_start_matches(unicode::is_whitespace)
        .starts_with(unicode::is_newline)
}

/// The length of the line break at the start of `text`; CR LF is one.
pub(super) fn newline_length(text: &str) -> usize {
    match text.chars().next() {
        Some('\r') if text.starts_with("\r\n") => 2,
        Some(c) if unicode::is_newline(c) => c.len_utf8(),
        _ => 0,
    }
}

/// Splits `text` in lines, each with the line break behind it; the last has none and may be empty.
pub(super) fn lines(text: &str) -> Vec<(&str, &str)> {
    let mut lines = Vec::new();
    let mut rest = text;
    loop {
        let Some(at) = rest.find(unicode::is_newline) else {
            lines.push((rest, ""));
            return lines;
        };
        let (line, tail) = rest.split_at(at);
        let (newline, tail) = tail.split_at(newline_length(tail));
        lines.push((line, newline));
        rest = tail;
    }
}

/// The content of a raw string over several lines, with the indent of its last line removed.
///
/// `text` is all between the quotes, `at` its offset; an error comes with its own offset.
fn raw_lines(text: &str, at: usize) -> Result<String, (ErrorKind, usize)> {
    let lines = lines(text);
    let Some(((indent, _), lines)) = lines.split_last() else {
        return Ok(String::new());
    };
    if !indent.chars().all(unicode::is_whitespace) {
        return Err((ErrorKind::RawDelimiter, at + text.len()));
    }
    // The first line is the rest of the line of the opening quotes.
    let Some(((first, first_newline), lines)) = lines.split_first() else {
        return Ok(String::new());
    };
    let mut offset = at + first.len() + first_newline.len();
    if lines.is_empty() {
        return Err((ErrorKind::RawEmpty, offset));
    }
    let mut content = String::with_capacity(text.len());
    for (i, (line, newline)) in lines.iter().enumerate() {
        content.push_str(unindent(line, indent).ok_or((ErrorKind::RawIndent, offset))?);
        if i + 1 < lines.len() {
            content.push_str(newline);
        }
        offset += line.len() + newline.len();
    }
    Ok(content)
}

/// `line` without `indent`; a line of white space may be shorter than it.
pub(super) fn unindent<'l>(line: &'l str, indent: &str) -> Option<&'l str> {
    if let Some(rest) = line.strip_prefix(indent) {
        return Some(rest);
    }
    (indent.starts_with(line)).then_some("")
}
