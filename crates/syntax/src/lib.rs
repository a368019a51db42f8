//! C# expression text to a tree with spans; knows no types and no metadata.
//!
//! [`parse`] reads one expression of C# 12, all of the grammar but what a stopped program cannot do
//! (statements, `await`, `throw`), which it refuses with a reason. [`parse_watch`] also takes format
//! specifiers (`x,h`), [`parse_message`] text with expressions in braces (`x is {x}`), and [`complete()`] says
//! what is being written at a position.
//!
//! All are total: any text gives a tree or one [`SyntaxError`] with a span, in time linear in its length,
//! with bounded stack. Printing a tree (`to_string`) and parsing it again gives the same tree.
//!
//! ```
//! let expr = syntax::parse("items.Count > 3 && items[^1] is { Total: > 100 }").expect("an expression");
//! assert_eq!(expr.to_string(), "items.Count > 3 && items[^1] is { Total: > 100 }");
//!
//! let error = syntax::parse("items[").expect_err("unfinished");
//! assert_eq!(error.code(), Some("CS1733"));
//! ```
#![forbid(unsafe_code)]

mod complete;
mod declared;
mod dump;
mod error;
mod lexer;
mod message;
mod parser;
mod print;
mod span;
pub mod tree;
mod watch;

pub use complete::{Completion, CompletionKind, complete};
pub use declared::block_of_local_function;
pub use dump::dump;
pub use error::{ErrorKind, Expected, Found, Refused, SyntaxError, caret};
pub use message::{Message, MessagePart, parse_message};
pub use span::Span;
pub use watch::{Format, FormatKind, Watch, parse_watch};

use crate::lexer::{Until, lex};
use crate::parser::Parser;
use crate::tree::Expr;

/// The longest text that is read, in bytes.
pub const MAX_LENGTH: usize = 256 * 1024;

/// The deepest nesting of brackets and operands that is read.
///
/// It bounds the parser's stack; 2 MiB are enough in a debug build.
pub const MAX_DEPTH: u32 = 128;

/// The height of the highest tree that is made: as [`MAX_DEPTH`], but with operators in a row, such as
/// `a + b + c`, counted too.
pub const MAX_HEIGHT: u32 = 400;

/// Parses a text that is one expression.
pub fn parse(text: &str) -> Result<Expr, SyntaxError> {
    check_length(text)?;
    let tokens = lex(text, 0, Until::End);
    Parser::new(text, &tokens).whole().map_err(|error| *error)
}

/// Fails if `text` is longer than [`MAX_LENGTH`].
fn check_length(text: &str) -> Result<(), SyntaxError> {
    if text.len() <= MAX_LENGTH {
        return Ok(());
    }
    Err(SyntaxError::new(
        ErrorKind::TooLong { length: text.len() },
        Span::empty(0),
    ))
}
