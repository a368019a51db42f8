//! Text to tokens.
//!
//! One pass, no recursion: an interpolated string is a run of tokens of its own, and a stack remembers
//! which ones are open. A spot that is no token becomes an error token, so the parser reports whichever
//! error comes first in the text. Every loop consumes at least one byte.

mod decimal;
mod interpolated;
mod number;
mod string;
mod token;
mod unicode;

pub(crate) use token::{Keyword, P, T, Token, Tokens, Value, Word, reserved};
pub(crate) use unicode::{is_identifier_part, is_identifier_start};

use self::interpolated::Frame;
use crate::error::{ErrorKind, Refused, SyntaxError};
use crate::span::Span;
use crate::tree::{Literal, PseudoVariable};

/// Where the lexer stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// At the end of the text.
    End,
    /// At the end of a source file, whose directives are left out.
    EndOfFile,
    /// At a `}` that closes nothing: the end of a hole in a message.
    CloseBrace,
}

/// The tokens of `text` from `start` on.
pub(crate) fn lex(text: &str, start: usize, until: Until) -> Tokens {
    let mut lexer = Lexer {
        text,
        pos: start,
        out: Tokens::default(),
        frames: Vec::new(),
        until,
        depth: 0,
    };
    lexer.run();
    let mut tokens = lexer.out;
    match_brackets(&mut tokens.tokens);
    tokens
}

struct Lexer<'t> {
    text: &'t str,
    /// Always on a character boundary.
    pos: usize,
    out: Tokens,
    /// The interpolated strings that are open, innermost last.
    frames: Vec<Frame>,
    until: Until,
    /// Brackets open since the innermost hole, or the start.
    depth: usize,
}

impl<'t> Lexer<'t> {
    fn run(&mut self) {
        while self.token() {}
        self.out.end = self.pos;
        let end = match self.until {
            Until::End | Until::EndOfFile => self.text.len(),
            Until::CloseBrace => self.pos,
        };
        self.push(T::End, end, end);
    }

    /// Reads one token, or a whole piece of an interpolated string; false at the end.
    fn token(&mut self) -> bool {
        if !self.trivia() {
            return false;
        }
        let start = self.pos;
        let Some(c) = self.peek() else {
            if let Some(frame) = self.frames.pop() {
                // The innermost open string is the one to complain about.
                let open = frame.hole_start();
                self.error_at(ErrorKind::UnclosedHole, open, open + 1);
            }
            return false;
        };
        match c {
            _ if self.starts_identifier() => {
                self.identifier();
                true
            }
            '0'..='9' => self.number(),
            '.' if self.byte_at(1).is_some_and(|b| b.is_ascii_digit()) => self.number(),
            '"' => self.string_start(),
            '\'' => self.character(),
            '@' => match self.byte_at(1) {
                Some(b'"') => self.verbatim_string(),
                Some(b'$') if self.rest().starts_with("@$\"") => self.interpolated_start(),
                _ => self.verbatim_identifier(),
            },
            '$' => self.dollar(),
            '}' if self.depth == 0 && !self.frames.is_empty() => self.close_hole(),
            ':' if self.depth == 0 && !self.frames.is_empty() => self.hole_format(),
            '}' if self.depth == 0 && self.until == Until::CloseBrace => false,
            '#' if self.until == Until::EndOfFile => {
                let line = self.rest().find(unicode::is_newline);
                self.pos = line.map_or(self.text.len(), |length| start + length);
                true
            }
            '#' => {
                self.pos += 1;
                self.error_at(ErrorKind::Refused(Refused::Directive), start, self.pos);
                false
            }
            _ => self.punctuation(c),
        }
    }

    fn punctuation(&mut self, c: char) -> bool {
        let start = self.pos;
        if self.rest().starts_with("...") {
            self.pos += 3;
            self.error_at(ErrorKind::ThreeDots, start, self.pos);
            return true;
        }
        let Some(punct) = P::at_start(self.rest().as_bytes()) else {
            self.pos += c.len_utf8();
            self.error_at(ErrorKind::Character(c), start, self.pos);
            return true;
        };
        match punct {
            P::OpenParen | P::OpenBracket | P::OpenBrace => self.depth += 1,
            P::CloseParen | P::CloseBracket | P::CloseBrace => {
                self.depth = self.depth.saturating_sub(1);
            }
            _ => {}
        }
        self.pos += punct.text().len();
        self.push(T::Punct(punct), start, self.pos);
        true
    }

    /// Skips white space and comments; false if a comment is not closed.
    fn trivia(&mut self) -> bool {
        loop {
            let start = self.pos;
            let rest = self.rest();
            if rest.starts_with("//") {
                self.pos = rest
                    .find(unicode::is_newline)
                    .map_or(self.text.len(), |at| start + at);
                self.out.ends_outside_code = self.pos == self.text.len();
            } else if rest.starts_with("/*") {
                let Some(length) = rest.get(2..).and_then(|body| body.find("*/")) else {
                    self.pos = self.text.len();
                    self.out.ends_outside_code = true;
                    self.error_at(ErrorKind::UnclosedComment, start, start + 2);
                    return false;
                };
                self.pos += length + 4;
            } else {
                let blank = |c| unicode::is_whitespace(c) || unicode::is_newline(c);
                match rest.chars().next() {
                    Some(c) if blank(c) => self.pos += c.len_utf8(),
                    _ => return true,
                }
            }
        }
    }

    fn identifier(&mut self) {
        let start = self.pos;
        self.identifier_text();
        let text = self.text.get(start..self.pos).unwrap_or("");
        let kind = match reserved(text) {
            Some(kind) => kind,
            None if is_plain(text) => T::Identifier(Word::of(text)),
            None => T::Identifier(Word::Verbatim),
        };
        self.push(kind, start, self.pos);
    }

    fn verbatim_identifier(&mut self) -> bool {
        let start = self.pos;
        self.pos += 1;
        if self.starts_identifier() {
            self.identifier_text();
            self.push(T::Identifier(Word::Verbatim), start, self.pos);
        } else {
            self.error_at(ErrorKind::Verbatim, start, self.pos);
        }
        true
    }

    /// Moves behind the characters and escapes of an identifier.
    fn identifier_text(&mut self) {
        loop {
            match self.peek() {
                Some(c) if is_identifier_part(c) => self.pos += c.len_utf8(),
                Some('\\') => match self.identifier_escape() {
                    Some((_, length)) => self.pos += length,
                    None => return,
                },
                _ => return,
            }
        }
    }

    fn starts_identifier(&self) -> bool {
        let escaped = || self.identifier_escape().map(|(c, _)| c);
        self.peek().is_some_and(is_identifier_start) || escaped().is_some_and(is_identifier_start)
    }

    /// An escape here that stands for a character of an identifier, and its length.
    fn identifier_escape(&self) -> Option<(char, usize)> {
        unicode_escape(self.rest()).filter(|&(c, _)| is_identifier_part(c))
    }

    /// `$"`, `$@"`, `$"""`, `$$"""` or a pseudo-variable.
    fn dollar(&mut self) -> bool {
        let start = self.pos;
        let after = self.rest().trim_start_matches('$');
        let dollars = self.rest().len() - after.len();
        if after.starts_with('"') && (dollars == 1 || after.starts_with("\"\"\""))
            || dollars == 1 && after.starts_with("@\"")
        {
            return self.interpolated_start();
        }
        self.pos += dollars;
        let name = self.rest();
        let length = name
            .find(|c: char| !is_identifier_part(c))
            .unwrap_or(name.len());
        let name = name.get(..length).unwrap_or("");
        self.pos += length;
        match PseudoVariable::from_name(name) {
            Some(pseudo) if dollars == 1 => self.push(T::Pseudo(pseudo), start, self.pos),
            _ if dollars > 1 || name.is_empty() => {
                self.error_at(ErrorKind::Character('$'), start, self.pos)
            }
            _ => self.error_at(ErrorKind::PseudoVariable(name.to_owned()), start, self.pos),
        }
        true
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.pos..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// The byte `ahead` bytes from here.
    fn byte_at(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.pos + ahead).copied()
    }

    fn push(&mut self, kind: T, start: usize, end: usize) {
        self.out.tokens.push(Token {
            kind,
            span: span(start, end),
            matching: 0,
            depth: 0,
        });
    }

    fn push_literal(&mut self, literal: Literal, start: usize) {
        let index = self.value(Value::Literal(literal));
        self.push(T::Literal(index), start, self.pos);
    }

    fn value(&mut self, value: Value) -> u32 {
        self.out.values.push(value);
        u32::try_from(self.out.values.len() - 1).unwrap_or(u32::MAX)
    }

    fn error_at(&mut self, kind: ErrorKind, start: usize, end: usize) {
        let error = SyntaxError::new(kind, span(start, end));
        let index = self.value(Value::Error(Box::new(error)));
        self.push(T::Error(index), start, end);
    }
}

/// Offsets fit, as [`MAX_LENGTH`](crate::MAX_LENGTH) is checked before.
fn span(start: usize, end: usize) -> Span {
    let offset = |at| u32::try_from(at).unwrap_or(u32::MAX);
    Span::new(offset(start), offset(end))
}

/// Whether the text of an identifier is its name: no `@`, no escapes, no format characters.
fn is_plain(text: &str) -> bool {
    text.is_ascii() && !text.contains(['@', '\\'])
        || !text.contains(|c| matches!(c, '@' | '\\') || unicode::is_format(c))
}

/// The name that an identifier token means (C# 6.4.3).
pub(crate) fn identifier_name(text: &str) -> String {
    let mut rest = text.strip_prefix('@').unwrap_or(text);
    let mut name = String::with_capacity(rest.len());
    while let Some(c) = rest.chars().next() {
        let (c, length) = unicode_escape(rest).unwrap_or((c, c.len_utf8()));
        if !unicode::is_format(c) {
            name.push(c);
        }
        rest = rest.get(length..).unwrap_or("");
    }
    name
}

/// `\uHHHH` or `\UHHHHHHHH` at the start of `text`, and its length.
fn unicode_escape(text: &str) -> Option<(char, usize)> {
    let digits = match text.as_bytes() {
        [b'\\', b'u', ..] => 4,
        [b'\\', b'U', ..] => 8,
        _ => return None,
    };
    let hex = text.get(2..2 + digits)?;
    if !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    Some((
        char::from_u32(u32::from_str_radix(hex, 16).ok()?)?,
        2 + digits,
    ))
}

/// Notes for each opening bracket where it closes, and for each token how deep it is.
///
/// This is what makes looking ahead over a parenthesis cheap. A hole counts as a bracket.
fn match_brackets(tokens: &mut [Token]) {
    let mut open: Vec<(usize, T)> = Vec::new();
    for i in 0..tokens.len() {
        let Some(kind) = tokens.get(i).map(|it| it.kind) else {
            return;
        };
        let opener = match kind {
            T::Punct(P::CloseParen) => Some(T::Punct(P::OpenParen)),
            T::Punct(P::CloseBracket) => Some(T::Punct(P::OpenBracket)),
            T::Punct(P::CloseBrace) => Some(T::Punct(P::OpenBrace)),
            T::HoleClose => Some(T::HoleOpen),
            _ => None,
        };
        if opener.is_some() && open.last().map(|&(_, kind)| kind) == opener {
            let start = open.pop().map_or(0, |(start, _)| start);
            if let Some(token) = tokens.get_mut(start) {
                token.matching = u32::try_from(i).unwrap_or(0);
            }
        }
        if let Some(token) = tokens.get_mut(i) {
            token.depth = u32::try_from(open.len()).unwrap_or(u32::MAX);
        }
        let opens = [P::OpenParen, P::OpenBracket, P::OpenBrace];
        if kind == T::HoleOpen || matches!(kind, T::Punct(it) if opens.contains(&it)) {
            open.push((i, kind));
        }
    }
}
