//! LINQ operators that reduce a sequence to one value.

use std::cmp::Ordering;

use syntax::Span;
use syntax::tree::BinaryOp;

use super::linq::no_elements;
use super::{Result, Runner, Val};
use crate::expressions::bind::well_known;
use crate::expressions::plan::Node;
use crate::expressions::scalar::{self, Kind, Scalar};

impl Runner<'_, '_> {
    /// The greatest or smallest value; null is left out.
    fn extreme(
        &mut self,
        name: &str,
        values: Vec<Val>,
        comparer: &Val,
        node: &Node,
        span: Span,
    ) -> Result<Val> {
        let wanted = if name == "Max" {
            Ordering::Greater
        } else {
            Ordering::Less
        };
        let mut best: Option<Val> = None;
        for value in values {
            if matches!(value, Val::Null) {
                continue;
            }
            let better = match &best {
                None => true,
                Some(other) => self.compare_by(&value, other, comparer, span)? == wanted,
            };
            if better {
                best = Some(value);
            }
        }
        let has_null = node.ty.is_reference() || self.types.nullable_of(&node.ty).is_some();
        match best {
            Some(best) => Ok(best),
            None if has_null => Ok(Val::Null),
            None => Err(no_elements(span)),
        }
    }

    pub(super) fn reduce(
        &mut self,
        name: &str,
        values: Vec<Val>,
        comparer: &Val,
        node: &Node,
        span: Span,
    ) -> Result<Option<Val>> {
        if matches!(name, "Max" | "Min") {
            return self.extreme(name, values, comparer, node, span).map(Some);
        }
        let mut scalars = Vec::new();
        for value in values {
            match self.as_scalar(value, span)? {
                Val::Scalar(value) => scalars.push(value),
                // Null is left out of all of these.
                Val::Null => {}
                _ => return Ok(None),
            }
        }
        let inner = self.types.nullable_of(&node.ty);
        let is_nullable = inner.is_some() || node.ty.is_reference();
        let result_kind = well_known::kind(self.types, &inner.unwrap_or_else(|| node.ty.clone()));
        if scalars.is_empty() {
            return match (name, result_kind) {
                ("Sum", Some(kind)) => Ok(Scalar::zero(kind).map(Val::Scalar)),
                _ if is_nullable => Ok(Some(Val::Null)),
                _ => Err(no_elements(span)),
            };
        }
        let add = |a: &Scalar, b: &Scalar, checked| scalar::binary(BinaryOp::Add, a, b, checked);
        match name {
            "Sum" => {
                // Floats are summed as doubles.
                let wide = if result_kind == Some(Kind::Float) {
                    Kind::Double
                } else {
                    result_kind.unwrap_or(Kind::Int)
                };
                let mut sum = Scalar::zero(wide);
                for value in &scalars {
                    let value =
                        scalar::convert(value, wide, false).and_then(std::result::Result::ok);
                    let (Some(a), Some(b)) = (&sum, &value) else {
                        return Ok(None);
                    };
                    match add(a, b, true) {
                        Some(Ok(value)) => sum = Some(value),
                        Some(Err(fault)) => return Err(super::thrown(fault, span)),
                        None => return Ok(None),
                    }
                }
                let sum = sum.and_then(|it| scalar::convert(&it, result_kind?, false)?.ok());
                Ok(sum.map(Val::Scalar))
            }
            _ => {
                let wide = match result_kind {
                    Some(Kind::Decimal) => Kind::Decimal,
                    _ if scalars.iter().all(|it| it.integer().is_some()) => Kind::Long,
                    _ => Kind::Double,
                };
                let mut sum = Scalar::zero(wide);
                for value in &scalars {
                    let value =
                        scalar::convert(value, wide, false).and_then(std::result::Result::ok);
                    let (Some(a), Some(b)) = (&sum, &value) else {
                        return Ok(None);
                    };
                    match add(a, b, true) {
                        Some(Ok(value)) => sum = Some(value),
                        Some(Err(fault)) => return Err(super::thrown(fault, span)),
                        None => return Ok(None),
                    }
                }
                let kind = if wide == Kind::Decimal {
                    Kind::Decimal
                } else {
                    Kind::Double
                };
                let to = |it: &Scalar| {
                    scalar::convert(it, kind, false).and_then(std::result::Result::ok)
                };
                let count = to(&Scalar::Int(Kind::Long, scalars.len() as i128));
                let (Some(sum), Some(count)) = (sum.as_ref().and_then(to), count) else {
                    return Ok(None);
                };
                match scalar::binary(BinaryOp::Divide, &sum, &count, false) {
                    Some(Ok(value)) => {
                        let value = result_kind
                            .and_then(|kind| scalar::convert(&value, kind, false))
                            .and_then(std::result::Result::ok);
                        Ok(value.map(Val::Scalar))
                    }
                    Some(Err(fault)) => Err(super::thrown(fault, span)),
                    None => Ok(None),
                }
            }
        }
    }
}
