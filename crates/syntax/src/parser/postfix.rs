//! What follows a primary expression: calls, members, elements, `++`, `!`, `?.` (C# 12.8).

use super::{Parsed, Parser};
use crate::complete::CompletionKind;
use crate::error::{ErrorKind, Expected, SyntaxError};
use crate::lexer::{P, T};
use crate::tree::{Expr, ExprKind, MemberAccess, PostfixOp, SimpleName};

impl Parser<'_> {
    /// All postfix operators after `expr`.
    pub(super) fn postfix(&mut self, mut expr: Expr) -> Parsed<Expr> {
        loop {
            let start = expr.span.start;
            let target = Box::new(expr);
            let kind = match self.kind() {
                T::Punct(P::OpenParen) => self.call(target)?,
                T::Punct(P::OpenBracket) => self.element(target)?,
                T::Punct(P::Dot) => self.member(target, MemberAccess::Dot)?,
                T::Punct(P::Arrow) => self.member(target, MemberAccess::Arrow)?,
                T::Punct(P::PlusPlus) => self.postfix_op(PostfixOp::Increment, target),
                T::Punct(P::MinusMinus) => self.postfix_op(PostfixOp::Decrement, target),
                T::Punct(P::Bang) => self.postfix_op(PostfixOp::NullForgiving, target),
                T::Punct(P::Question) if self.is_access() => self.conditional_access(target)?,
                T::Punct(P::ColonColon) => return Err(self.misplaced_alias()),
                _ => return Ok(*target),
            };
            self.grow()?;
            expr = self.expr(kind, start);
        }
    }

    fn misplaced_alias(&self) -> Box<SyntaxError> {
        let what = "only the first name can be an alias before `::`; write `.`";
        let kind = ErrorKind::Misplaced {
            what,
            code: "CS7000",
        };
        self.error(kind, self.span())
    }

    fn postfix_op(&mut self, op: PostfixOp, target: Box<Expr>) -> ExprKind {
        self.bump();
        ExprKind::Postfix(op, target)
    }

    fn call(&mut self, target: Box<Expr>) -> Parsed<ExprKind> {
        let arguments = self.call_arguments()?;
        Ok(ExprKind::Call { target, arguments })
    }

    fn element(&mut self, target: Box<Expr>) -> Parsed<ExprKind> {
        let arguments = self.index_arguments()?;
        Ok(ExprKind::Index { target, arguments })
    }

    fn member(&mut self, target: Box<Expr>, access: MemberAccess) -> Parsed<ExprKind> {
        self.bump();
        if self.at_marker() {
            self.found_member(&target, access);
        }
        let name = self.member_name()?;
        Ok(ExprKind::Member {
            target,
            access,
            name,
        })
    }

    fn member_name(&mut self) -> Parsed<SimpleName> {
        let identifier = self.identifier(Expected::Member)?;
        self.name_in_expression(identifier)
    }

    /// Whether the `?` here starts `?.` or `?[`.
    fn is_access(&mut self) -> bool {
        match self.kind_at(self.pos + 1) {
            T::Punct(P::Dot) => true,
            T::Punct(P::OpenBracket) => !self.is_conditional_at(self.pos),
            _ => false,
        }
    }

    /// `?` and the chain behind it.
    fn conditional_access(&mut self, target: Box<Expr>) -> Parsed<ExprKind> {
        self.bump();
        if let Some(completing) = &mut self.completing {
            completing.targets.push((*target).clone());
        }
        let access = self.nested(Self::access_chain)?;
        if let Some(completing) = &mut self.completing {
            completing.targets.pop();
        }
        Ok(ExprKind::ConditionalAccess {
            target,
            access: Box::new(access),
        })
    }

    /// `.name` or `[args]` and what follows, which all is skipped if the target is null.
    fn access_chain(&mut self) -> Parsed<Expr> {
        let start = self.start();
        let kind = if self.at(P::Dot) {
            self.bump();
            if self.at_marker() {
                self.found_binding();
            }
            ExprKind::MemberBinding(self.member_name()?)
        } else {
            ExprKind::ElementBinding(self.index_arguments()?)
        };
        let mut expr = self.expr(kind, start);
        loop {
            // A `!` belongs to the chain only if the chain goes on behind it.
            if self.at(P::Bang) && !self.chain_goes_on() {
                return Ok(expr);
            }
            let target = Box::new(expr);
            let kind = match self.kind() {
                T::Punct(P::OpenParen) => self.call(target)?,
                T::Punct(P::OpenBracket) => self.element(target)?,
                T::Punct(P::Dot) => self.member(target, MemberAccess::Dot)?,
                T::Punct(P::Bang) => self.postfix_op(PostfixOp::NullForgiving, target),
                T::Punct(P::Question) if self.is_access() => self.conditional_access(target)?,
                _ => return Ok(*target),
            };
            self.grow()?;
            expr = self.expr(kind, start);
        }
    }

    /// Whether something that belongs to a chain follows the `!` here and all others after it.
    fn chain_goes_on(&self) -> bool {
        let mut index = self.pos;
        while self.kind_at(index) == T::Punct(P::Bang) {
            index += 1;
        }
        match self.kind_at(index) {
            T::Punct(P::OpenParen | P::OpenBracket | P::Dot) => true,
            T::Punct(P::Question) => {
                matches!(self.kind_at(index + 1), T::Punct(P::Dot | P::OpenBracket))
            }
            _ => false,
        }
    }

    /// Notes that a member of `target` is to be completed.
    fn found_member(&mut self, target: &Expr, access: MemberAccess) {
        self.found_marker(|this| CompletionKind::Member {
            receiver: this.whole_chain(Some(target)),
            access,
        });
    }

    /// Notes that a member of the innermost conditional access is to be completed.
    fn found_binding(&mut self) {
        self.found_marker(|this| CompletionKind::Member {
            receiver: this.whole_chain(None),
            access: MemberAccess::Dot,
        });
    }

    /// `inner` as an expression of its own: within `a?.b.c` the chain `.b` becomes `a?.b`.
    fn whole_chain(&self, inner: Option<&Expr>) -> Expr {
        let targets = self.completing.as_ref().map_or(&[][..], |it| &it.targets);
        // Only a chain that starts at a `?` needs its target; `a?.b(c.d)` completes in `c` alone.
        let is_chain = inner.is_none_or(starts_with_binding);
        let mut whole = inner.cloned();
        for target in targets.iter().rev() {
            if !is_chain {
                break;
            }
            let continues = starts_with_binding(target);
            whole = Some(match whole {
                None => target.clone(),
                Some(access) => Expr {
                    span: target.span.to(access.span),
                    kind: ExprKind::ConditionalAccess {
                        target: Box::new(target.clone()),
                        access: Box::new(access),
                    },
                },
            });
            if !continues {
                break;
            }
        }
        whole.unwrap_or(Expr {
            kind: ExprKind::This,
            span: self.span(),
        })
    }
}

/// Whether the innermost target of a chain is what a conditional access left open.
fn starts_with_binding(expr: &Expr) -> bool {
    let mut expr = expr;
    loop {
        expr = match &expr.kind {
            ExprKind::MemberBinding(_) | ExprKind::ElementBinding(_) => return true,
            ExprKind::Member { target, .. }
            | ExprKind::Call { target, .. }
            | ExprKind::Index { target, .. }
            | ExprKind::ConditionalAccess { target, .. }
            | ExprKind::Postfix(_, target) => target,
            _ => return false,
        };
    }
}
