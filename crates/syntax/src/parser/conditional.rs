//! `a ? b : c`, and telling it from `a?[b]` and `T? (x) => y` (C# 12.18).

use super::scan::Before;
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

    /// Whether the `?` at `index`, which `[` follows, starts a conditional expression whose first branch is
    /// a collection, and not a conditional access or the suffix of an element type.
    ///
    /// It does if there is a `:` for it, which no other conditional needs.
    pub(super) fn is_conditional_at(&mut self, index: usize) -> bool {
        let depth = self.bracket_depth(index);
        let open = self
            .open_conditionals
            .iter()
            .rev()
            .take_while(|&&it| it == depth)
            .count();
        self.spare_colons(index + 1) > open
    }

    /// The number of `:` from `index` to the end of these brackets that no `?` after `index` needs.
    ///
    /// It is worked out from the end: a `?` takes the next `:` that is to spare. The answers for all
    /// tokens on the way are kept.
    fn spare_colons(&mut self, mut index: usize) -> usize {
        let mut path = Vec::new();
        let mut spare = loop {
            if let Some(known) = self.spare_colons.get(&index) {
                break *known;
            }
            path.push(index);
            let next = match self.kind_at(index) {
                T::Punct(P::OpenParen | P::OpenBracket | P::OpenBrace) | T::HoleOpen => {
                    self.matching(index)
                }
                // The commas of type arguments do not end anything.
                T::Punct(P::Less) if self.is_generic(index) => {
                    self.type_arguments_end(index).ok().map(|end| end - 1)
                }
                T::Punct(
                    P::Comma | P::Semicolon | P::CloseParen | P::CloseBracket | P::CloseBrace,
                )
                | T::HoleClose
                | T::HoleFormat(_)
                | T::Error(_)
                | T::End => None,
                _ => Some(index),
            };
            match next {
                Some(last) => index = last.max(index) + 1,
                None => break 0,
            }
        };
        for index in path.into_iter().rev() {
            match self.kind_at(index) {
                T::Punct(P::Colon) => spare += 1,
                T::Punct(P::Question) if self.kind_at(index + 1) != T::Punct(P::Dot) => {
                    spare = spare.saturating_sub(1);
                }
                _ => {}
            }
            self.spare_colons.insert(index, spare);
        }
        spare
    }

    fn is_generic(&mut self, index: usize) -> bool {
        matches!(self.is_type_arguments(index, Before::Nothing), Ok(true))
    }

    /// Whether `x ? (…) => …` from the body at `index` on is a conditional with a lambda in it and not a
    /// lambda that returns `x?`: a `:` without a `?` of its own follows.
    pub(super) fn colon_follows(&mut self, index: usize) -> bool {
        self.spare_colons(index) > 0
    }
}
