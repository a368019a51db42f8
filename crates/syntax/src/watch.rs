//! What a person types into a watch window: an expression, perhaps with format specifiers behind it.

use crate::error::{ErrorKind, Expected, SyntaxError};
use crate::lexer::{P, T, Until, lex};
use crate::parser::{Parsed, Parser};
use crate::span::Span;
use crate::tree::{Expr, ExprKind, Interpolation, InterpolationPart, Precedence, Utf16String};
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
    /// `threads`: let other threads run if the code waits for them.
    Threads,
    /// `results`: only the elements of a sequence.
    Results,
    /// `[n]`: this many elements.
    Count(Box<Expr>),
}

impl FormatKind {
    const NAMED: [(&str, Self); 10] = [
        ("ac", Self::AllowCode),
        ("d", Self::Decimal),
        ("dynamic", Self::Dynamic),
        ("h", Self::Hex),
        ("hidden", Self::Hidden),
        ("nq", Self::NoQuotes),
        ("nse", Self::NoSideEffects),
        ("raw", Self::Raw),
        ("results", Self::Results),
        ("threads", Self::Threads),
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

/// Parses a watch from `start` on, up to a `}` that closes nothing, and tells where that is. As in an interpolated string, a
/// number behind a comma aligns the value and a colon begins its format: `{price,8:F2}`.
pub(crate) fn parse_hole(text: &str, start: usize) -> (Result<Watch, SyntaxError>, usize) {
    debug_assert!(text.len() <= MAX_LENGTH, "checked by the caller");
    let tokens = lex(text, start, Until::CloseBrace);
    let mut parser = Parser::new(text, &tokens);
    match parser.formatted() {
        Ok(Some((watch, end))) => (Ok(watch), end),
        // Nothing of a format: the rest is as in any watch.
        Ok(None) => (
            Parser::new(text, &tokens).watch().map_err(|error| *error),
            tokens.end,
        ),
        Err(error) => (Err(*error), tokens.end),
    }
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

    /// A value with alignment or format, as one interpolated string, and where its hole ends; `None` if it has neither.
    fn formatted(&mut self) -> Parsed<Option<(Watch, usize)>> {
        let start = self.start();
        let value = self.any_expression()?;
        let mut alignment = None;
        if self.kind() == T::Punct(P::Comma) {
            self.bump();
            let is_number =
                matches!(self.kind(), T::Literal(_)) || self.kind() == T::Punct(P::Minus);
            if !is_number {
                return Ok(None);
            }
            alignment = Some(self.expression(Precedence::Conditional)?);
        }
        let mut format = None;
        let mut end = self.span().start as usize;
        if self.kind() == T::Punct(P::Colon) {
            // What follows is no C#: it goes up to the brace, whatever the lexer made of it.
            let from = self.span().end as usize;
            let rest = self.text().get(from..).unwrap_or("");
            let length = rest.find(['{', '}']).unwrap_or(rest.len());
            end = from + length;
            if rest.get(length..).is_some_and(|it| it.starts_with('{')) {
                let at = Span::new(end as u32, end as u32 + 1);
                return Err(self.error(ErrorKind::BraceInFormat, at));
            }
            format = Some(Utf16String::from(rest.get(..length).unwrap_or("")));
        } else if alignment.is_none() {
            return Ok(None);
        } else {
            self.end_of(&value)?;
        }
        let span = Span::new(start, end as u32);
        let hole = Interpolation {
            value,
            alignment,
            format,
            span,
        };
        let parts = vec![InterpolationPart::Hole(Box::new(hole))];
        let expr = Expr {
            kind: ExprKind::Interpolated(parts),
            span,
        };
        let formats = Vec::new();
        Ok(Some((Watch { expr, formats }, end)))
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
