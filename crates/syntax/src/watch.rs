//! What a person types into a watch window: an expression, perhaps with format specifiers behind it.

use crate::error::{ErrorKind, Expected, SyntaxError};
use crate::lexer::{P, T, Until, lex};
use crate::parser::{Parsed, Parser};
use crate::span::Span;
use crate::tree::Expr;
use crate::{MAX_LENGTH, check_length};

/// An expression and how to show its value: `items,[10],h`.
#[derive(Debug, Clone, PartialEq)]
pub struct Watch {
    /// What to evaluate.
    pub expr: Expr,
    /// How to show it, in the order written.
    pub formats: Vec<Format>,
}

/// A format specifier and where it is, without its comma.
#[derive(Debug, Clone, PartialEq)]
pub struct Format {
    /// Which one.
    pub kind: FormatKind,
    /// Where.
    pub span: Span,
}

/// The format specifiers of C# debuggers.
#[derive(Debug, Clone, PartialEq)]
pub enum FormatKind {
    /// `ac`: evaluate even if it runs code of the program.
    AllowCode,
    /// `d`: integers in decimal.
    Decimal,
    /// `dynamic`: the members a dynamic object has at run time.
    Dynamic,
    /// `h`: integers in hexadecimal.
    Hex,
    /// `hidden`: all members, also those that are usually hidden.
    Hidden,
    /// `nq`: strings without quotes.
    NoQuotes,
    /// `nse`: refuse to run code of the program.
    NoSideEffects,
    /// `raw`: the fields as they are, without views.
    Raw,
    /// `results`: only the elements of a sequence.
    Results,
    /// `[n]`: this many elements.
    Count(Box<Expr>),
}

impl FormatKind {
    const NAMED: [(&str, Self); 9] = [
        ("ac", Self::AllowCode),
        ("d", Self::Decimal),
        ("dynamic", Self::Dynamic),
        ("h", Self::Hex),
        ("hidden", Self::Hidden),
        ("nq", Self::NoQuotes),
        ("nse", Self::NoSideEffects),
        ("raw", Self::Raw),
        ("results", Self::Results),
    ];

    /// The word, unless it is a count.
    pub fn name(&self) -> Option<&'static str> {
        Self::NAMED
            .iter()
            .find(|(_, kind)| kind == self)
            .map(|(name, _)| *name)
    }
}

/// Parses an expression with format specifiers behind a comma, as in `x,h` or `list,[10],nq`.
pub fn parse_watch(text: &str) -> Result<Watch, SyntaxError> {
    check_length(text)?;
    let tokens = lex(text, 0, Until::End);
    Parser::new(text, &tokens).watch().map_err(|error| *error)
}

/// Parses a watch from `start` on, up to a `}` that closes nothing, and tells where that is.
pub(crate) fn parse_hole(text: &str, start: usize) -> (Result<Watch, SyntaxError>, usize) {
    debug_assert!(text.len() <= MAX_LENGTH, "checked by the caller");
    let tokens = lex(text, start, Until::CloseBrace);
    (
        Parser::new(text, &tokens).watch().map_err(|error| *error),
        tokens.end,
    )
}

impl Parser<'_> {
    fn watch(&mut self) -> Parsed<Watch> {
        let expr = self.any_expression()?;
        let mut formats = Vec::new();
        while self.eat(P::Comma) {
            formats.push(self.format()?);
        }
        self.end_of(&expr)?;
        Ok(Watch { expr, formats })
    }

    fn format(&mut self) -> Parsed<Format> {
        let start = self.start();
        let kind = if self.eat(P::OpenBracket) {
            let count = self.any_expression()?;
            self.expect(P::CloseBracket)?;
            FormatKind::Count(Box::new(count))
        } else {
            let T::Identifier(_) = self.kind() else {
                return Err(self.expected(Expected::FormatSpecifier));
            };
            let span = self.span();
            let name = span.of(self.text());
            let known = FormatKind::NAMED
                .into_iter()
                .find(|(known, _)| *known == name);
            let Some((_, kind)) = known else {
                return Err(self.error(ErrorKind::FormatSpecifier(name.to_owned()), span));
            };
            self.bump();
            kind
        };
        Ok(Format {
            kind,
            span: self.span_from(start),
        })
    }
}
