//! Operators of enums (C# 12.10.5, 12.10.6, 12.12.6, 12.13.3).

use syntax::Span;
use syntax::tree::BinaryOp;

use super::operators::is_comparison;
use super::well_known::primitive_kind;
use super::{Binder, Operand};
use crate::expressions::error::Result;
use crate::expressions::plan::Node;
use crate::expressions::scalar::{Kind, Scalar};
use crate::types::Type;

impl Binder<'_> {
    /// Enums: comparison, logic, and arithmetic with their numbers.
    pub(super) fn enum_operator(
        &mut self,
        op: BinaryOp,
        left: &Operand<'_>,
        right: &Operand<'_>,
        span: Span,
    ) -> Result<Option<Node>> {
        let enum_type = |it: &Operand<'_>| match it {
            Operand::Value(node) => {
                let ty = self.without_nullable(&node.ty);
                Self::enum_of(&ty).map(|underlying| (ty, underlying))
            }
            _ => None,
        };
        let (left_enum, right_enum) = (enum_type(left), enum_type(right));
        let Some((ty, underlying)) = left_enum.clone().or_else(|| right_enum.clone()) else {
            return Ok(None);
        };
        let lifted = [left, right].into_iter().any(|it| match it {
            Operand::Value(node) => self.nullable_of(&node.ty).is_some(),
            Operand::Null(_) => true,
            _ => false,
        });
        let wrap = |this: &Self, ty: &Type| {
            if lifted {
                this.nullable(ty)
            } else {
                ty.clone()
            }
        };
        let number = Type::Primitive(underlying);
        let kind = primitive_kind(underlying).unwrap_or(Kind::Int);
        let promoted = if kind.size() < 4 { Kind::Int } else { kind };
        let logic = is_comparison(op) || matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor);
        let (as_left, as_right, result) = match (op, &left_enum, &right_enum) {
            _ if logic => (
                wrap(self, &ty),
                wrap(self, &ty),
                if is_comparison(op) {
                    Type::BOOL
                } else {
                    wrap(self, &ty)
                },
            ),
            (BinaryOp::Subtract, Some((a, _)), Some((b, _))) if a == b => {
                (wrap(self, &ty), wrap(self, &ty), wrap(self, &number))
            }
            (BinaryOp::Add | BinaryOp::Subtract, Some(_), None) => {
                // `e - 0` subtracts an enum, as zero converts to it.
                let zero = matches!(
                    right.value().and_then(Node::scalar),
                    Some(Scalar::Int(_, 0))
                );
                if op == BinaryOp::Subtract && (zero || matches!(right, Operand::Null(_))) {
                    (wrap(self, &ty), wrap(self, &ty), wrap(self, &number))
                } else {
                    (wrap(self, &ty), wrap(self, &number), wrap(self, &ty))
                }
            }
            (BinaryOp::Add, None, Some(_)) => {
                (wrap(self, &number), wrap(self, &ty), wrap(self, &ty))
            }
            (BinaryOp::Subtract, None, Some(_)) => {
                let zero = matches!(left.value().and_then(Node::scalar), Some(Scalar::Int(_, 0)));
                if zero || matches!(left, Operand::Null(_)) {
                    (wrap(self, &ty), wrap(self, &ty), wrap(self, &number))
                } else {
                    (wrap(self, &number), wrap(self, &ty), wrap(self, &ty))
                }
            }
            _ => return Ok(None),
        };
        if self.implicit(left, &as_left).is_none() || self.implicit(right, &as_right).is_none() {
            return Ok(None);
        }
        let left = self.convert(left.clone(), &as_left, left.span())?;
        let right = self.convert(right.clone(), &as_right, right.span())?;
        let left = self.numeric_node(left, promoted, span)?;
        let right = self.numeric_node(right, promoted, span)?;
        let middle = if result == Type::BOOL {
            Type::BOOL
        } else {
            left.ty.clone()
        };
        let computed = self.fold_binary(op, left, right, middle, lifted, span)?;
        if result == Type::BOOL {
            return Ok(Some(computed));
        }
        if self.checked {
            return self
                .cast_operand(Operand::Value(computed), &result, span)
                .map(Some);
        }
        self.narrow(computed, kind, &result, span).map(Some)
    }
}
