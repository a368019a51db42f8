//! Pointers as the addresses that they are: compared, cast, and null (C# 23.5 and 23.6). What they lead to is not evaluated.

use syntax::Span;
use syntax::tree::BinaryOp;

use super::conversions::Conv;
use super::{Binder, Operand};
use crate::expressions::error::{Fail, Result};
use crate::expressions::plan::Node;
use crate::expressions::scalar::{Kind, Scalar};
use crate::types::Type;

/// The address that null is.
pub(super) const NULL: Scalar = Scalar::Int(Kind::NUInt, 0);

/// Says that an operator of pointers is not known here, though C# may have it.
pub(super) fn refusal(op: &str, span: Span) -> Box<Fail> {
    let told = format!("`{op}` works on pointers, which cannot be evaluated");
    Fail::new(span, told)
}

impl Binder<'_> {
    /// Any pointer is a `void*`.
    pub(super) fn pointer_converts(from: &Type, to: &Type) -> Option<Conv> {
        let void = Type::Primitive(metadata::signature::Primitive::Void);
        let is_void = matches!(to, Type::Pointer(inner) if **inner == void);
        (is_void && from.is_pointer()).then_some(Conv::Keep)
    }

    /// Pointers are cast to each other, and to whole numbers and back.
    pub(super) fn pointer_casts(&self, from: &Type, to: &Type) -> Option<Conv> {
        let whole = |ty: &Type| {
            let kind = self.kind(ty);
            kind.filter(|it| it.is_integral() && *it != Kind::Char && it.size() <= 8)
        };
        match (from.is_pointer(), to.is_pointer()) {
            (true, true) => Some(Conv::Keep),
            (true, false) => whole(to).map(Conv::Numeric),
            (false, true) => whole(from).map(|_| Conv::Numeric(Kind::NUInt)),
            (false, false) => None,
        }
    }

    /// Comparisons of addresses; `None` if no operand is a pointer.
    pub(super) fn pointer_operator(
        &mut self,
        op: BinaryOp,
        left: &Operand<'_>,
        right: &Operand<'_>,
        span: Span,
    ) -> Result<Option<Node>> {
        let is_pointer = |it: &Operand<'_>| it.value().is_some_and(|it| it.ty.is_pointer());
        let address = |this: &mut Self, it: &Operand<'_>, other: &Operand<'_>| match (it, other) {
            (Operand::Value(node), _) if node.ty.is_pointer() => Ok(Some(node.clone())),
            (Operand::Null(at), Operand::Value(node)) if node.ty.is_pointer() => {
                this.default_value(&node.ty, *at).map(Some)
            }
            _ => Ok(None),
        };
        if !is_pointer(left) && !is_pointer(right) {
            return Ok(None);
        }
        let nodes = (address(self, left, right)?, address(self, right, left)?);
        match nodes {
            (Some(left), Some(right)) if super::operators::is_comparison(op) => self
                .fold_binary(op, left, right, Type::BOOL, false, span)
                .map(Some),
            _ if matches!(op, BinaryOp::Add | BinaryOp::Subtract) => Err(refusal(op.text(), span)),
            _ => Ok(None),
        }
    }
}
