//! Predefined operators on operands that convert themselves: `temperature + 1` of a type with a conversion to `double`.
//!
//! C# chooses among all predefined operators those to whose operands both sides convert, then the best of them.

use std::cmp::Ordering;

use syntax::Span;
use syntax::tree::{BinaryOp, UnaryOp};

use super::{Binder, Operand};
use crate::expressions::error::{Fail, Result};
use crate::expressions::plan::Node;
use crate::expressions::scalar::{self, Kind};
use crate::types::Type;

/// What predefined operators take.
const KINDS: [Kind; 8] = [
    Kind::Int,
    Kind::UInt,
    Kind::Long,
    Kind::ULong,
    Kind::Float,
    Kind::Double,
    Kind::Decimal,
    Kind::Bool,
];

impl Binder<'_> {
    /// The operator on what the operands convert to; `None` if neither has a conversion of its own or none fits.
    pub(super) fn converted_binary(
        &mut self,
        op: BinaryOp,
        left: &Operand<'_>,
        right: &Operand<'_>,
        span: Span,
    ) -> Result<Option<Node>> {
        let sides = [left, right];
        if !sides.iter().any(|it| self.converts_itself(it)) {
            return Ok(None);
        }
        let is_shift = matches!(
            op,
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight | BinaryOp::UnsignedShiftRight
        );
        let mut fitting = Vec::new();
        for kind in KINDS {
            let second = if is_shift { Kind::Int } else { kind };
            let plain = |kind| scalar::Operand {
                kind,
                constant: None,
            };
            if scalar::operand_kind(op, plain(kind), plain(second)) == Ok(kind) {
                let types = [self.kind_type(kind, span)?, self.kind_type(second, span)?];
                self.add_fitting(&sides, types.to_vec(), &mut fitting);
            }
        }
        let Some(types) = self.best_fitting(&sides, fitting, span)? else {
            return Ok(None);
        };
        let mut nodes = Vec::with_capacity(2);
        for (side, ty) in sides.into_iter().zip(&types) {
            nodes.push(Operand::Value(self.convert(
                side.clone(),
                ty,
                side.span(),
            )?));
        }
        let (Some(right), Some(left)) = (nodes.pop(), nodes.pop()) else {
            return Ok(None);
        };
        self.binary_operands(op, left, right, span).map(Some)
    }

    /// The type that an operand of a predefined unary operator is converted to.
    pub(super) fn converted_unary(
        &mut self,
        op: UnaryOp,
        node: &Node,
        span: Span,
    ) -> Result<Option<Node>> {
        let operand = Operand::Value(node.clone());
        if !self.converts_itself(&operand) {
            return Ok(None);
        }
        let mut fitting = Vec::new();
        for kind in KINDS {
            let plain = scalar::Operand {
                kind,
                constant: None,
            };
            if scalar::unary_kind(op, plain) == Ok(kind) {
                let ty = self.kind_type(kind, span)?;
                self.add_fitting(&[&operand], vec![ty], &mut fitting);
            }
        }
        let best = self.best_fitting(&[&operand], fitting, span)?;
        match best.as_deref() {
            Some([ty]) => self.convert(operand, ty, node.span).map(Some),
            _ => Ok(None),
        }
    }

    /// Whether an operand is of a type that may define conversions: no number, text or enum.
    fn converts_itself(&self, operand: &Operand<'_>) -> bool {
        operand.value().is_some_and(|it| {
            let inner = self.without_nullable(&it.ty);
            matches!(inner, Type::Named(_))
                && self.kind(&inner).is_none()
                && Self::enum_of(&inner).is_none()
        })
    }

    /// Notes the types of an operator, and those of the lifted one, if the operands convert to them.
    fn add_fitting(
        &mut self,
        operands: &[&Operand<'_>],
        types: Vec<Type>,
        fitting: &mut Vec<Vec<Type>>,
    ) {
        let lifted = types.iter().map(|it| self.nullable(it)).collect();
        for types in [types, lifted] {
            let mut pairs = operands.iter().zip(&types);
            if pairs.all(|(operand, ty)| self.implicit(operand, ty).is_some()) {
                fitting.push(types);
                return;
            }
        }
    }

    fn best_fitting(
        &mut self,
        operands: &[&Operand<'_>],
        fitting: Vec<Vec<Type>>,
        span: Span,
    ) -> Result<Option<Vec<Type>>> {
        for one in &fitting {
            let mut is_best = true;
            for other in fitting.iter().filter(|it| *it != one) {
                let (mut better, mut worse) = (false, false);
                for ((operand, a), b) in operands.iter().zip(one).zip(other) {
                    match self.better_conversion(operand, a, b) {
                        Ordering::Greater => better = true,
                        Ordering::Less => worse = true,
                        Ordering::Equal => {}
                    }
                }
                is_best &= better && !worse;
            }
            if is_best {
                return Ok(Some(one.clone()));
            }
        }
        match fitting.is_empty() {
            true => Ok(None),
            false => Err(Fail::cs(
                "CS0034",
                span,
                "the operator is ambiguous: the operands convert to those of several",
            )),
        }
    }
}
