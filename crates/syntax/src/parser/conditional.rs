//! `a ? b : c`, and telling it from `a?[b]` and `T? (x) => y` (C# 12.18).

use super::{Parsed, Parser};
use crate::error::ErrorKind;
use crate::lexer::{P, T};
use crate::tree::{Expr, ExprKind};

impl Parser<'_> {
    /// The rest of a conditional expression; the current token is its `?`.
    pub(super) fn conditional(&mut self, condition: Expr) -> Parsed<Expr> {
        let start = condition.span.start;
        self.open_conditionals.push(self.bracket_depth(self.pos));
        self.bump();
        let when_true = self.possible_ref()?;
        if let T::HoleFormat(_) = self.kind() {
            return Err(self.error(ErrorKind::ConditionalInHole, self.span()));
        }
        self.expect(P::Colon)?;
        self.open_conditionals.pop();
        let when_false = self.possible_ref()?;
        let kind = ExprKind::Conditional(
            Box::new(condition),
            Box::new(when_true),
            Box::new(when_false),
        );
        Ok(self.expr(kind, start))
    }

    /// Whether the `?` here, which `[` follows, starts a conditional access and not a conditional
    /// expression whose first branch is a collection.
    ///
    /// It is a conditional if the chain after `?` ends at a `:`, and that `:` is not needed by a
    /// conditional that is open already.
    pub(super) fn is_conditional_access(&self) -> bool {
        let Some(mut index) = self.matching(self.pos + 1) else {
            return true;
        };
        index += 1;
        loop {
            index = match self.kind_at(index) {
                T::Punct(P::OpenParen | P::OpenBracket) => match self.matching(index) {
                    Some(close) => close + 1,
                    None => return true,
                },
                T::Punct(P::Dot | P::Arrow) => index + 2,
                T::Punct(P::Bang | P::PlusPlus | P::MinusMinus) => index + 1,
                T::Punct(P::Question) => match self.kind_at(index + 1) {
                    T::Punct(P::Dot) => index + 1,
                    // That one is asked in its turn, and ends this chain whatever it is.
                    _ => return true,
                },
                T::Punct(P::Colon) => break,
                _ => return true,
            };
        }
        let depth = self.bracket_depth(self.pos);
        let open = self
            .open_conditionals
            .iter()
            .rev()
            .take_while(|&&it| it == depth)
            .count();
        self.spare_colons(self.pos + 1) <= open
    }

    /// The number of `:` from `index` to the end of these brackets that no `?` after `index` needs.
    fn spare_colons(&self, mut index: usize) -> usize {
        let mut spare = 0;
        let mut needed = 0_usize;
        loop {
            index = match self.kind_at(index) {
                T::Punct(P::OpenParen | P::OpenBracket | P::OpenBrace) | T::HoleOpen => {
                    match self.matching(index) {
                        Some(close) => close,
                        None => return spare,
                    }
                }
                T::Punct(P::Question) => {
                    if !matches!(self.kind_at(index + 1), T::Punct(P::Dot | P::OpenBracket)) {
                        needed += 1;
                    }
                    index
                }
                T::Punct(P::Colon) => {
                    match needed.checked_sub(1) {
                        Some(rest) => needed = rest,
                        None => spare += 1,
                    }
                    index
                }
                T::Punct(
                    P::Comma | P::Semicolon | P::CloseParen | P::CloseBracket | P::CloseBrace,
                )
                | T::HoleClose
                | T::HoleFormat(_)
                | T::Error(_)
                | T::End => return spare,
                _ => index,
            } + 1;
        }
    }

    /// Whether `x ? (…) => …` from the body at `index` on is a conditional with a lambda in it and not a
    /// lambda that returns `x?`: a `:` without a `?` of its own follows.
    pub(super) fn colon_follows(&self, index: usize) -> bool {
        self.spare_colons(index) > 0
    }
}
