//! Interpolated strings: `$"…"`, `$@"…"` and `$$"""…"""` (C# 12.8.3).
//!
//! The text parts are read here, the holes by the ordinary lexer, which comes back at the `:` or `}` that
//! stands outside all brackets of the hole.

use super::string::{count, lines, newline_length, raw_is_multi_line, unindent};
use super::{Lexer, T, Value, unicode};
use crate::error::ErrorKind;
use crate::tree::Utf16String;

/// An interpolated string that is open.
#[derive(Debug)]
pub(super) struct Frame {
    kind: Kind,
    /// The texts between the holes of a raw string over several lines: range in the source and
    /// index of the value.
    pieces: Option<Vec<(usize, usize, u32)>>,
    /// Brackets open outside of it.
    outer_depth: usize,
    /// Where it starts.
    start: usize,
    /// Where the hole that is open starts.
    hole: usize,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Regular,
    Verbatim,
    Raw {
        /// Braces that make a hole.
        dollars: usize,
        /// Quotes that close it.
        quotes: usize,
    },
}

impl Frame {
    pub(super) fn hole_start(&self) -> usize {
        self.hole
    }
}

impl Lexer<'_> {
    /// Reads the start of an interpolated string and its first text.
    pub(super) fn interpolated_start(&mut self) -> bool {
        let start = self.pos;
        let rest = self.rest();
        let dollars = count(rest, '$').max(1);
        let (kind, length) = if rest.starts_with("$@\"") || rest.starts_with("@$\"") {
            (Kind::Verbatim, 3)
        } else {
            let quotes = count(rest.get(dollars..).unwrap_or(""), '"');
            if quotes < 3 {
                (Kind::Regular, 2)
            } else {
                (Kind::Raw { dollars, quotes }, dollars + quotes)
            }
        };
        self.pos += length;
        self.push(T::InterpolationStart, start, self.pos);
        let mut frame = Frame {
            kind,
            pieces: None,
            outer_depth: self.depth,
            start,
            hole: start,
        };
        if matches!(kind, Kind::Raw { .. }) && raw_is_multi_line(self.rest()) {
            let rest = self.rest();
            let blank = rest.find(unicode::is_newline).unwrap_or(0);
            let newline = newline_length(rest.get(blank..).unwrap_or(""));
            self.pos += blank + newline;
            frame.pieces = Some(Vec::new());
        }
        self.text(frame)
    }

    /// Reads text up to the next hole or the end of the string; false if the string is not closed.
    fn text(&mut self, frame: Frame) -> bool {
        match frame.kind {
            Kind::Raw { dollars, quotes } => self.raw_text(frame, dollars, quotes),
            _ => self.escaped_text(frame),
        }
    }

    fn escaped_text(&mut self, frame: Frame) -> bool {
        let verbatim = matches!(frame.kind, Kind::Verbatim);
        let start = self.pos;
        let mut units = Vec::new();
        let mut error = None;
        loop {
            let at = self.pos;
            let rest = self.rest();
            let Some(c) = rest
                .chars()
                .next()
                .filter(|&c| verbatim || !unicode::is_newline(c))
            else {
                let open = if verbatim { 3 } else { 2 };
                self.error_at(
                    ErrorKind::UnclosedString("\"".to_owned()),
                    frame.start,
                    frame.start + open,
                );
                return false;
            };
            if rest.starts_with("{{")
                || rest.starts_with("}}")
                || verbatim && rest.starts_with("\"\"")
            {
                self.pos += 2;
                units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
                continue;
            }
            match c {
                '{' | '"' => break,
                '}' => {
                    self.pos += 1;
                    error.get_or_insert((ErrorKind::LoneCloseBrace, at));
                }
                '\\' if !verbatim => {
                    if let Err(kind) = self.escape_without_brace(&mut units) {
                        error.get_or_insert((kind, at));
                    }
                }
                _ => {
                    self.pos += c.len_utf8();
                    units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
                }
            }
        }
        if !units.is_empty() {
            let index = self.value(Value::Text(Utf16String::from(units)));
            self.push(T::InterpolationText(index), start, self.pos);
        }
        if let Some((kind, at)) = error {
            self.error_at(kind, at, at + 1);
        }
        let at = self.pos;
        self.pos += 1;
        if self.text.as_bytes().get(at) == Some(&b'{') {
            self.open_hole(frame, at);
        } else {
            self.push(T::InterpolationEnd, at, self.pos);
            self.depth = frame.outer_depth;
        }
        true
    }

    /// An escape that must not make a brace, as that would have to be doubled.
    fn escape_without_brace(&mut self, units: &mut Vec<u16>) -> Result<(), ErrorKind> {
        let brace = self.rest().starts_with("\\{") || self.rest().starts_with("\\}");
        let before = units.len();
        let result = self.escape(units);
        let made = units.get(before..).unwrap_or(&[]);
        if brace || made == [u16::from(b'{')] || made == [u16::from(b'}')] {
            return Err(ErrorKind::EscapedBrace);
        }
        result
    }

    fn open_hole(&mut self, mut frame: Frame, at: usize) {
        self.push(T::HoleOpen, at, self.pos);
        frame.hole = at;
        self.frames.push(frame);
        self.depth = 0;
    }

    /// The `}` of the hole that is open.
    pub(super) fn close_hole(&mut self) -> bool {
        let Some(frame) = self.frames.pop() else {
            return false;
        };
        let at = self.pos;
        let braces = match frame.kind {
            Kind::Raw { dollars, .. } => dollars,
            _ => 1,
        };
        if count(self.rest(), '}') < braces {
            self.pos += 1;
            self.error_at(ErrorKind::UnclosedHole, frame.hole, frame.hole + braces);
            return false;
        }
        self.pos += braces;
        self.push(T::HoleClose, at, self.pos);
        self.text(frame)
    }

    /// The `:` of the hole that is open, and the format up to its `}`.
    pub(super) fn hole_format(&mut self) -> bool {
        let Some(frame) = self.frames.last() else {
            return false;
        };
        let (kind, hole, start) = (frame.kind, frame.hole, self.pos);
        let many_lines = matches!(kind, Kind::Verbatim) || frame.pieces.is_some();
        self.pos += 1;
        let mut units = Vec::new();
        let mut error = None;
        loop {
            let at = self.pos;
            let rest = self.rest();
            let next = rest
                .chars()
                .next()
                .filter(|&c| many_lines || !unicode::is_newline(c));
            match (next, kind) {
                (Some('}'), _) => break,
                (Some('{'), _) => {
                    self.pos += 1;
                    error.get_or_insert((ErrorKind::BraceInFormat, at, at + 1));
                }
                (Some('"'), Kind::Verbatim) if rest.starts_with("\"\"") => {
                    self.pos += 2;
                    units.push(u16::from(b'"'));
                }
                (None | Some('"'), _) => {
                    self.out.ends_outside_code = true;
                    self.error_at(ErrorKind::UnclosedHole, hole, hole + 1);
                    return false;
                }
                (Some('\\'), Kind::Regular) => {
                    if let Err(kind) = self.escape_without_brace(&mut units) {
                        error.get_or_insert((kind, at, self.pos));
                    }
                }
                (Some(c), _) => {
                    self.pos += c.len_utf8();
                    units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
                }
            }
        }
        if let Some((kind, at, end)) = error {
            self.error_at(kind, at, end);
            return true;
        }
        let index = self.value(Value::Text(Utf16String::from(units)));
        self.push(T::HoleFormat(index), start, self.pos);
        true
    }

    fn raw_text(&mut self, mut frame: Frame, dollars: usize, quotes: usize) -> bool {
        let many_lines = frame.pieces.is_some();
        let start = self.pos;
        let (end, is_hole) = loop {
            let at = self.pos;
            let rest = self.rest();
            let stop = |c| matches!(c, '"' | '{' | '}') || !many_lines && unicode::is_newline(c);
            self.pos += rest.find(stop).unwrap_or(rest.len());
            let rest = self.rest();
            let Some(c) = rest.chars().next().filter(|&c| !unicode::is_newline(c)) else {
                let error = ErrorKind::UnclosedString("\"".repeat(quotes));
                self.error_at(error, frame.start, frame.start + dollars + quotes);
                return false;
            };
            let run = count(rest, c);
            self.pos += run;
            debug_assert!(self.pos > at, "every turn reads something");
            let error = match c {
                '"' if run > quotes => ErrorKind::RawQuotes,
                '"' if run == quotes => break (self.pos - quotes, false),
                '{' if run >= 2 * dollars => ErrorKind::RawBraces { closing: false },
                '{' if run >= dollars => break (self.pos - dollars, true),
                '}' if run >= dollars => ErrorKind::RawBraces { closing: true },
                _ => continue,
            };
            self.error_at(error, self.pos - run, self.pos);
            return false;
        };
        let text = self.text.get(start..end).unwrap_or("");
        if many_lines || !text.is_empty() {
            let text = if many_lines {
                Utf16String::default()
            } else {
                Utf16String::from(text)
            };
            let index = self.value(Value::Text(text));
            self.push(T::InterpolationText(index), start, end);
            if let Some(pieces) = &mut frame.pieces {
                pieces.push((start, end, index));
            }
        }
        if is_hole {
            self.open_hole(frame, end);
            return true;
        }
        if let Some(pieces) = &frame.pieces
            && let Err((kind, at)) = self.unindent_pieces(pieces)
        {
            self.error_at(kind, at, at);
        }
        self.push(T::InterpolationEnd, end, self.pos);
        self.depth = frame.outer_depth;
        true
    }

    /// Removes the indent of the last line from all lines, and that line itself.
    fn unindent_pieces(
        &mut self,
        pieces: &[(usize, usize, u32)],
    ) -> Result<(), (ErrorKind, usize)> {
        let source = self.text;
        let of = |&(start, end, _): &(usize, usize, u32)| source.get(start..end).unwrap_or("");
        let last = pieces.last().map_or("", of);
        let last_end = pieces.last().map_or(0, |&(_, end, _)| end);
        let tail = lines(last);
        let indent = tail.last().map_or("", |&(line, _)| line);
        let first_piece_only = pieces.len() == 1;
        if !indent.chars().all(unicode::is_whitespace) || tail.len() == 1 && !first_piece_only {
            return Err((ErrorKind::RawDelimiter, last_end));
        }
        if tail.len() == 1 {
            return Err((ErrorKind::RawEmpty, last_end));
        }
        for (i, piece) in pieces.iter().enumerate() {
            let mut lines = lines(of(piece));
            let mut offset = piece.0;
            let is_last = i + 1 == pieces.len();
            if is_last {
                lines.pop();
                if let Some((_, newline)) = lines.last_mut() {
                    *newline = "";
                }
            }
            let mut content = String::new();
            for (j, (line, newline)) in lines.iter().enumerate() {
                let whole = is_last || j + 1 < lines.len();
                let text = match (i > 0 && j == 0, whole) {
                    // What follows a hole on its line has no indent.
                    (true, _) => Some(*line),
                    (false, true) => unindent(line, indent),
                    // A hole follows, so the indent must be there in full.
                    (false, false) => line.strip_prefix(indent),
                };
                content.push_str(text.ok_or((ErrorKind::RawIndent, offset))?);
                content.push_str(newline);
                offset += line.len() + newline.len();
            }
            if let Some(value) = self.out.values.get_mut(piece.2 as usize) {
                *value = Value::Text(Utf16String::from(content.as_str()));
            }
        }
        Ok(())
    }
}
