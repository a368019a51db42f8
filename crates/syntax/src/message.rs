//! Text with expressions in braces: the message of a tracepoint and `DebuggerDisplay`.
//!
//! `{{`, `}}`, `\{` and `\}` stand for a brace, `\\` for a backslash; any other backslash, and a `}`
//! without a `{`, stand for themselves, as compilers write them that way in `DebuggerDisplay`.

use crate::error::{ErrorKind, Found, SyntaxError};
use crate::span::Span;
use crate::watch::{Watch, parse_hole};
use crate::{MAX_LENGTH, check_length};

/// A message in pieces.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// The pieces in order.
    pub parts: Vec<MessagePart>,
}

impl Message {
    /// The first hole that is not an expression.
    ///
    /// A tracepoint with one is refused; `DebuggerDisplay` shows the error in its place.
    pub fn error(&self) -> Option<&SyntaxError> {
        self.parts.iter().find_map(|part| match part {
            MessagePart::Hole(Err(error), _) => Some(error),
            _ => None,
        })
    }
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum MessagePart {
    /// Text to show as it is, escapes decoded; never empty.
    Text(String, Span),
    /// `{expr,nq}`: what is in the braces, and where with them. Spans in it count from the start of the message.
    Hole(Result<Watch, SyntaxError>, Span),
}

/// Splits a message into text and expressions; each hole has its own error.
///
/// The only error for the whole is that it is too long.
pub fn parse_message(text: &str) -> Result<Message, SyntaxError> {
    check_length(text)?;
    let mut parts = Vec::new();
    let mut pending = String::new();
    let mut pending_start = 0;
    let mut pos = 0;
    while let Some(c) = text.get(pos..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(pos..).unwrap_or("");
        let escaped = ["{{", "}}", "\\{", "\\}", "\\\\"]
            .iter()
            .any(|it| rest.starts_with(it));
        if escaped {
            pending.extend(rest.chars().nth(1));
            pos += 2;
        } else if c == '{' {
            flush(&mut parts, &mut pending, pending_start, pos);
            pos = hole(text, pos, &mut parts);
            pending_start = pos;
        } else {
            pending.push(c);
            pos += c.len_utf8();
        }
    }
    flush(&mut parts, &mut pending, pending_start, pos);
    Ok(Message { parts })
}

fn flush(parts: &mut Vec<MessagePart>, pending: &mut String, start: usize, end: usize) {
    if !pending.is_empty() {
        parts.push(MessagePart::Text(std::mem::take(pending), span(start, end)));
    }
}

/// Reads the hole at `start`, its `{`, and returns the offset behind its `}`.
fn hole(text: &str, start: usize, parts: &mut Vec<MessagePart>) -> usize {
    let (watch, end) = parse_hole(text, start + 1);
    let is_closed = text.as_bytes().get(end) == Some(&b'}');
    let (result, end) = match (watch, is_closed) {
        (watch, true) => (watch, end + 1),
        (Err(error), false) if !ends_too_early(&error) => (Err(error), text.len()),
        (_, false) => {
            let open = span(start, start + 1);
            (
                Err(SyntaxError::new(ErrorKind::UnclosedHole, open)),
                text.len(),
            )
        }
    };
    parts.push(MessagePart::Hole(result, span(start, end)));
    end
}

/// Whether only more text would help, so that the missing `}` is the better thing to say.
fn ends_too_early(error: &SyntaxError) -> bool {
    matches!(
        error.kind,
        ErrorKind::Expected {
            found: Found::End,
            ..
        }
    )
}

/// Offsets fit, as the length is checked.
fn span(start: usize, end: usize) -> Span {
    const { assert!(MAX_LENGTH < u32::MAX as usize) };
    let offset = |at| u32::try_from(at).unwrap_or(u32::MAX);
    Span::new(offset(start), offset(end))
}
