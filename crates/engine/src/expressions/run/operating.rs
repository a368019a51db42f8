//! Predefined operators at run time, and what they need of values.

use std::rc::Rc;

use syntax::Span;
use syntax::tree::BinaryOp;

use super::{Made, Result, Runner, Val, misfit, thrown};
use crate::expressions::error::Fail;
use crate::expressions::scalar::{self, Fault, Scalar};
use crate::types::Type;

impl Runner<'_, '_> {
    pub(super) fn outcome(
        &self,
        result: Option<std::result::Result<Scalar, Fault>>,
        span: Span,
    ) -> Result<Val> {
        match result {
            Some(Ok(value)) => Ok(Val::Scalar(value)),
            Some(Err(fault)) => Err(thrown(fault, span)),
            None => Err(misfit(span)),
        }
    }

    /// A predefined operator; nulls are lifted ones.
    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        left: Val,
        right: Val,
        checked: bool,
        span: Span,
    ) -> Result<Val> {
        // Strings may be objects of the program.
        let left = self.as_scalar(left, span)?;
        let right = self.as_scalar(right, span)?;
        match (&left, &right) {
            (Val::Scalar(a), Val::Scalar(b)) => {
                self.outcome(scalar::binary(op, a, b, checked), span)
            }
            _ => Ok(lifted(op, &left, &right)),
        }
    }

    /// A string object as its text; other values stay.
    pub(super) fn as_scalar(&mut self, value: Val, span: Span) -> Result<Val> {
        match value {
            Val::Object(object) if object.ty == Type::STRING => {
                Ok(Val::units(self.units(&object, span)?))
            }
            Val::Boxed(_, inner) => Ok(*inner),
            other => Ok(other),
        }
    }

    /// Whether two references are the same.
    /// Whether a string of the program is the very one that a literal stands for: the one that the runtime keeps for all
    /// literals of that text.
    pub(super) fn is_interned(
        &mut self,
        object: &crate::values::Object,
        text: &[u16],
        span: Span,
    ) -> Result<bool> {
        if object.ty != Type::STRING || self.units(object, span)? != text {
            return Ok(false);
        }
        if !self.around.calls {
            let told = "whether a string is the very one that a literal stands for only the program can tell, by running code";
            let hint = "compare the texts: cast the other side to string";
            return Err(Fail::new(span, told).hint(hint).into());
        }
        let string = self.types.core_named("System", "String");
        let methods = string.and_then(|it| self.types.methods(&it, Some("IsInterned")).ok());
        let takes_text = |it: &crate::types::Method| matches!(it.parameters.as_slice(), [text] if text.ty == Type::STRING);
        let method = methods.unwrap_or_default().into_iter().find(takes_text);
        let text = vec![Val::units(text.to_vec())];
        let kept = self.in_program(method, None, text, "string.IsInterned", span)?;
        // The object may have moved meanwhile; the journal knows where it is.
        Ok(matches!(&kept, Val::Object(kept) if kept.address == object.address))
    }

    pub(super) fn same(&mut self, left: &Val, right: &Val) -> bool {
        match (left, right) {
            (Val::Null, Val::Null) => true,
            (Val::Object(a), Val::Object(b)) => a.address == b.address,
            (Val::Made(a), Val::Made(b)) => match (&**a, &**b) {
                (Made::Type(a), Made::Type(b)) => a == b,
                _ => Rc::ptr_eq(a, b),
            },
            // Literals are interned: equal text of ours is one object.
            (Val::Scalar(Scalar::String(a)), Val::Scalar(Scalar::String(b))) => a == b,
            _ => false,
        }
    }
}

/// An operator of which an operand is null.
fn lifted(op: BinaryOp, left: &Val, right: &Val) -> Val {
    let both = matches!((left, right), (Val::Null, Val::Null));
    match op {
        BinaryOp::Equal => Val::bool(both),
        BinaryOp::NotEqual => Val::bool(!both),
        BinaryOp::Less | BinaryOp::Greater | BinaryOp::LessOrEqual | BinaryOp::GreaterOrEqual => {
            Val::bool(false)
        }
        // Three-valued logic: a known side may decide.
        BinaryOp::And | BinaryOp::Or => {
            let decides = op == BinaryOp::Or;
            let known = [left, right]
                .into_iter()
                .any(|it| matches!(it, Val::Scalar(Scalar::Bool(value)) if *value == decides));
            if known { Val::bool(decides) } else { Val::Null }
        }
        _ => Val::Null,
    }
}
