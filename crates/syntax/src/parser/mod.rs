//! Tokens to a tree: recursive descent for what starts with a keyword or a bracket, precedence climbing
//! for operators.
//!
//! The parser never goes back. Where C# needs to look ahead (is this parenthesis a cast, this `<` a list of
//! type arguments, this `(` a lambda?) it asks [`scan`], which remembers its answers, so the work stays
//! linear. Nesting is limited by [`MAX_DEPTH`] while parsing, and the height of the tree by [`MAX_HEIGHT`].

mod arguments;
mod conditional;
mod creation;
mod expr;
mod interpolation;
mod lambda;
mod pattern;
mod postfix;
mod primary;
mod query;
mod scan;
mod types;

use std::collections::HashMap;
use std::mem;

use self::scan::{Remembered, ScanKey};
use crate::complete::CompletionKind;
use crate::error::{ErrorKind, Expected, Found, SyntaxError};
use crate::lexer::{Keyword, P, T, Tokens, Value, Word, identifier_name};
use crate::span::Span;
use crate::tree::{Expr, ExprKind, Identifier};
use crate::{MAX_DEPTH, MAX_HEIGHT};

/// Boxed, as the error is large and rare.
pub(crate) type Parsed<T> = Result<T, Box<SyntaxError>>;

/// Reads expressions from tokens.
pub(crate) struct Parser<'t> {
    text: &'t str,
    tokens: &'t Tokens,
    /// The index of the current token.
    pos: usize,
    /// How many expressions, types and patterns are being read around this spot.
    depth: u32,
    /// The height of the highest tree among the finished children of the node being read.
    ///
    /// [`Parser::nested`] and [`Parser::grow`] keep it.
    height: u32,
    /// How many type arguments and tuple types [`scan`] is in.
    scan_depth: u32,
    /// Inside a query its contextual keywords are not names.
    in_query: bool,
    /// Inside an `async` lambda, where `await` is a keyword.
    in_async: bool,
    /// Bracket depths of the `?` whose `:` is still to come.
    open_conditionals: Vec<u32>,
    /// Answers of [`scan`].
    remembered: HashMap<ScanKey, Remembered>,
    /// Answers of [`Parser::is_conditional_at`] by token.
    spare_colons: HashMap<usize, usize>,
    /// Only when completing.
    completing: Option<Completing>,
}

/// What the parser looks for when it completes.
pub(crate) struct Completing {
    /// The index of the name that is being written; nothing but the end follows.
    pub(crate) marker: usize,
    /// What that name turned out to be.
    pub(crate) found: Option<CompletionKind>,
    /// The targets of the conditional accesses around this spot, outermost first.
    pub(crate) targets: Vec<Expr>,
}

impl<'t> Parser<'t> {
    pub(crate) fn new(text: &'t str, tokens: &'t Tokens) -> Self {
        Self {
            text,
            tokens,
            pos: 0,
            depth: 0,
            height: 0,
            scan_depth: 0,
            in_query: false,
            in_async: false,
            open_conditionals: Vec::new(),
            remembered: HashMap::new(),
            spare_colons: HashMap::new(),
            completing: None,
        }
    }

    /// An expression, and nothing behind it.
    pub(crate) fn whole(&mut self) -> Parsed<Expr> {
        let expr = self.any_expression()?;
        self.end_of(&expr)?;
        Ok(expr)
    }

    /// Fails unless all tokens are used up.
    pub(crate) fn end_of(&self, expr: &Expr) -> Parsed<()> {
        match self.kind() {
            T::End => Ok(()),
            T::Error(_) => Err(self.expected(Expected::Token(";"))),
            T::Identifier(_) if expr.to_type().is_some() && self.punct_at(1, P::Equal) => {
                Err(self.error(ErrorKind::Refused(crate::Refused::Statement), self.span()))
            }
            _ => Err(self.error(
                ErrorKind::Unexpected {
                    found: self.found(),
                },
                self.span(),
            )),
        }
    }

    /// Starts over at token `start`, keeping what is remembered of the tokens.
    pub(crate) fn restart(&mut self, start: usize) {
        self.pos = start;
        self.depth = 0;
        self.height = 0;
        self.in_query = false;
        self.in_async = false;
        self.open_conditionals.clear();
        if let Some(completing) = &mut self.completing {
            completing.targets.clear();
        }
    }

    /// Makes the parser accept a text that ends too early, and tell what the name at `marker` is.
    pub(crate) fn complete(&mut self, marker: usize) {
        self.completing = Some(Completing {
            marker,
            found: None,
            targets: Vec::new(),
        });
    }

    /// The text the tokens are of.
    pub(crate) fn text(&self) -> &'t str {
        self.text
    }

    /// What the name to complete turned out to be.
    pub(crate) fn take_completion(&mut self) -> Option<CompletionKind> {
        self.completing.as_mut().and_then(|it| it.found.take())
    }

    /// The index of the current token; after an error the one it is about.
    pub(crate) fn position(&self) -> usize {
        self.pos
    }

    // Depth and height.

    /// Reads a node with `read`, one level deeper.
    ///
    /// Afterwards `height` covers it. After an error the counters are wrong, but then nothing more is read.
    fn nested<R>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<R>) -> Parsed<R> {
        if self.depth >= MAX_DEPTH {
            return Err(self.error(ErrorKind::TooDeep, self.span()));
        }
        self.depth += 1;
        let siblings = mem::take(&mut self.height);
        let node = read(self)?;
        self.grow()?;
        self.height = self.height.max(siblings);
        self.depth -= 1;
        Ok(node)
    }

    /// Notes that a node is put around all that was read in this [`Parser::nested`].
    fn grow(&mut self) -> Parsed<()> {
        self.height += 1;
        if self.height > MAX_HEIGHT {
            return Err(self.error(ErrorKind::TooDeep, self.span()));
        }
        Ok(())
    }

    // Tokens.

    pub(crate) fn kind(&self) -> T {
        self.kind_at(self.pos)
    }

    /// The kind of the token at `index`; the end behind the last.
    fn kind_at(&self, index: usize) -> T {
        self.tokens.tokens.get(index).map_or(T::End, |it| it.kind)
    }

    pub(crate) fn span(&self) -> Span {
        self.span_at(self.pos)
    }

    fn span_at(&self, index: usize) -> Span {
        let last = || {
            self.tokens
                .tokens
                .last()
                .map_or(Span::default(), |it| it.span)
        };
        self.tokens
            .tokens
            .get(index)
            .map_or_else(last, |it| it.span)
    }

    /// The end of the token before the current one.
    fn previous_end(&self) -> u32 {
        self.pos
            .checked_sub(1)
            .map_or(0, |index| self.span_at(index).end)
    }

    /// From `start` to the token before the current one.
    pub(crate) fn span_from(&self, start: u32) -> Span {
        Span::new(start, self.previous_end().max(start))
    }

    /// Where the current token starts.
    pub(crate) fn start(&self) -> u32 {
        self.span().start
    }

    /// The index of the bracket that closes the one at `index`.
    fn matching(&self, index: usize) -> Option<usize> {
        let matching = self.tokens.tokens.get(index)?.matching;
        (matching != 0).then_some(matching as usize)
    }

    /// The number of brackets around the token at `index`.
    fn bracket_depth(&self, index: usize) -> u32 {
        self.tokens.tokens.get(index).map_or(0, |it| it.depth)
    }

    pub(crate) fn bump(&mut self) -> Span {
        let span = self.span();
        if self.kind() != T::End {
            self.pos += 1;
        }
        span
    }

    fn at(&self, punct: P) -> bool {
        self.kind() == T::Punct(punct)
    }

    fn at_keyword(&self, keyword: Keyword) -> bool {
        self.kind() == T::Keyword(keyword)
    }

    fn at_word(&self, word: Word) -> bool {
        self.kind() == T::Identifier(word)
    }

    /// Whether the token `ahead` tokens from here is `punct`.
    fn punct_at(&self, ahead: usize, punct: P) -> bool {
        self.kind_at(self.pos + ahead) == T::Punct(punct)
    }

    pub(crate) fn eat(&mut self, punct: P) -> bool {
        let is = self.at(punct);
        if is {
            self.pos += 1;
        }
        is
    }

    fn eat_keyword(&mut self, keyword: Keyword) -> bool {
        let is = self.at_keyword(keyword);
        if is {
            self.pos += 1;
        }
        is
    }

    pub(crate) fn expect(&mut self, punct: P) -> Parsed<Span> {
        if self.at(punct) || self.is_cut_off() {
            return Ok(self.bump());
        }
        Err(self.expected(Expected::Token(punct.text())))
    }

    /// The end of a list, where a comma could stand too.
    fn expect_close(&mut self, punct: P) -> Parsed<Span> {
        if self.at(punct) || self.is_cut_off() {
            return Ok(self.bump());
        }
        Err(self.expected(Expected::CommaOr(punct.text())))
    }

    fn expect_word(&mut self, word: Word, text: &'static str) -> Parsed<()> {
        if self.at_word(word) || self.is_cut_off() {
            self.bump();
            return Ok(());
        }
        Err(self.expected(Expected::Token(text)))
    }

    /// Whether the text ends here because it is being written.
    fn is_cut_off(&self) -> bool {
        self.completing.is_some() && self.kind() == T::End
    }

    // Names.

    /// Whether the token at `index` is a name here.
    fn is_identifier_at(&self, index: usize) -> bool {
        matches!(self.kind_at(index), T::Identifier(word) if !(self.in_query && word.is_query_keyword()))
    }

    fn is_identifier(&self) -> bool {
        self.is_identifier_at(self.pos)
    }

    fn identifier(&mut self, expected: Expected) -> Parsed<Identifier> {
        let span = self.span();
        if !self.is_identifier() {
            if self.is_cut_off() {
                return Ok(Identifier {
                    text: "".into(),
                    verbatim: false,
                    span,
                });
            }
            return Err(self.expected(expected));
        }
        let verbatim = self.at_word(Word::Verbatim);
        let source = span.of(self.text);
        let text = if verbatim {
            identifier_name(source).into()
        } else {
            source.into()
        };
        self.pos += 1;
        Ok(Identifier {
            text,
            verbatim,
            span,
        })
    }

    /// Whether the current token is the name to complete.
    fn at_marker(&self) -> bool {
        self.completing
            .as_ref()
            .is_some_and(|it| it.marker == self.pos)
    }

    /// Notes what the name at the marker is; only the first answer counts.
    fn found_marker(&mut self, kind: impl FnOnce(&Self) -> CompletionKind) {
        let kind = kind(self);
        if let Some(completing) = &mut self.completing {
            completing.found.get_or_insert(kind);
        }
    }

    // Values and errors.

    fn value(&self, index: u32) -> Option<&'t Value> {
        self.tokens.values.get(index as usize)
    }

    pub(crate) fn error(&self, kind: ErrorKind, span: Span) -> Box<SyntaxError> {
        Box::new(SyntaxError::new(kind, span))
    }

    /// What stands here.
    fn found(&self) -> Found {
        /// Characters shown of a token.
        const MOST: usize = 40;
        match self.kind() {
            T::End => return Found::End,
            T::HoleClose | T::HoleFormat(_) => return Found::HoleEnd,
            _ => {}
        }
        let text = self.span().of(self.text);
        match text.char_indices().nth(MOST) {
            Some((cut, _)) => Found::Token(format!("{}…", text.get(..cut).unwrap_or(""))),
            None => Found::Token(text.to_owned()),
        }
    }

    /// The error that something else is expected here; if here is no token at all, the reason for that.
    pub(crate) fn expected(&self, expected: Expected) -> Box<SyntaxError> {
        if let T::Error(index) = self.kind()
            && let Some(Value::Error(error)) = self.value(index)
        {
            return error.clone();
        }
        let span = match self.kind() {
            T::End if self.pos > 0 => Span::empty(self.previous_end()),
            _ => self.span(),
        };
        self.error(
            ErrorKind::Expected {
                expected,
                found: self.found(),
            },
            span,
        )
    }

    fn expr(&self, kind: ExprKind, start: u32) -> Expr {
        Expr {
            kind,
            span: self.span_from(start),
        }
    }
}
