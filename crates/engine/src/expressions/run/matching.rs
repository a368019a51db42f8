//! Patterns at run time.

use syntax::Span;

use super::{Interrupt, Result, Runner, Val};
use crate::expressions::error::Fail;
use crate::expressions::plan::{Constant, Test};
use crate::expressions::scalar::{self, Scalar};
use crate::types::Type;
use syntax::tree::BinaryOp;

impl Runner<'_, '_> {
    /// What a switch expression throws for a value that no arm takes, in the framework's words.
    pub(super) fn no_arm(&mut self, slot: u32, ty: &Type, span: Span) -> Interrupt {
        let value = self.held(slot).unwrap_or(Val::Null);
        let mut message =
            String::from("Non-exhaustive switch expression failed to match its input.");
        if !matches!(value, Val::Null)
            && let Ok(Some(units)) = self.plain_text(&value, ty, span)
        {
            let text = String::from_utf16_lossy(&units);
            message.push_str(&format!("\nUnmatched value was {text}."));
        }
        let ty = "System.Runtime.CompilerServices.SwitchExpressionException";
        Fail::thrown(span, ty, Some(message)).into()
    }

    /// Whether the value in a slot passes a test; `declared` is its static type.
    pub(super) fn test(
        &mut self,
        test: &Test,
        slot: u32,
        declared: &Type,
        span: Span,
    ) -> Result<bool> {
        let value = self.held(slot).unwrap_or(Val::Null);
        Ok(match test {
            Test::Any => true,
            Test::Null => matches!(value, Val::Null),
            Test::Is(ty) => self.is_of(&value, declared, ty),
            Test::Equal(constant, ty) => {
                self.equals_constant(value, declared, constant, ty, span)?
            }
            Test::Compare(op, constant) => {
                let value = self.unboxed_scalar(value, span)?;
                match value {
                    Some(value) => matches!(
                        scalar::binary(*op, &value, constant, false),
                        Some(Ok(Scalar::Bool(true)))
                    ),
                    None => false,
                }
            }
            Test::And(one, two) => {
                self.test(one, slot, declared, span)? && self.test(two, slot, declared, span)?
            }
            Test::Or(one, two) => {
                self.test(one, slot, declared, span)? || self.test(two, slot, declared, span)?
            }
            Test::Not(one) => !self.test(one, slot, declared, span)?,
            Test::Part { part, slot, test } => {
                let value = self.eval(part)?;
                self.set(*slot, value);
                self.test(test, *slot, &part.ty, span)?
            }
            Test::Bind { slot, value } => {
                let value = self.eval(value)?;
                self.set(*slot, value);
                true
            }
            Test::Check(node) => self.truth(node)?,
        })
    }

    /// The number or text in a value, boxed or not.
    fn unboxed_scalar(&mut self, value: Val, span: Span) -> Result<Option<Scalar>> {
        let value = match value {
            Val::Object(object) if object.ty != Type::STRING => {
                match self.reader.unboxed(&object) {
                    Some(value) => self.decode(&value, span)?,
                    None => return Ok(None),
                }
            }
            other => self.as_scalar(other, span)?,
        };
        Ok(match value {
            Val::Scalar(value) => Some(value),
            _ => None,
        })
    }

    fn equals_constant(
        &mut self,
        value: Val,
        declared: &Type,
        constant: &Constant,
        ty: &Type,
        span: Span,
    ) -> Result<bool> {
        let Constant::Scalar(wanted) = constant else {
            return Ok(matches!(value, Val::Null));
        };
        if matches!(value, Val::Null) || !self.is_of(&value, declared, ty) {
            return Ok(false);
        }
        let Some(value) = self.unboxed_scalar(value, span)? else {
            return Ok(false);
        };
        // NaN is NaN in a pattern.
        Ok(match (&value, wanted) {
            (Scalar::Double(a), Scalar::Double(b)) if a.is_nan() => b.is_nan(),
            (Scalar::Float(a), Scalar::Float(b)) if a.is_nan() => b.is_nan(),
            _ => matches!(
                scalar::binary(BinaryOp::Equal, &value, wanted, false),
                Some(Ok(Scalar::Bool(true)))
            ),
        })
    }
}
