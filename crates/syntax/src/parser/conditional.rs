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
    fn spare_colons(&mut self, mut index: usize) -> usize {
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
                // The commas of type arguments do not end anything.
                T::Punct(P::Less)
                    if matches!(self.is_type_arguments(index, Before::Nothing), Ok(true)) =>
                {
                    let end = self.type_arguments_end(index);
                    end.map_or(index, |end| end.saturating_sub(1).max(index))
                }
                T::Punct(P::Question) => {
                    if self.kind_at(index + 1) != T::Punct(P::Dot) {
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
    pub(super) fn colon_follows(&mut self, index: usize) -> bool {
        self.spare_colons(index) > 0
    }
}
