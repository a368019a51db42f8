//! Predefined operators at run time, and what they need of values.

use std::rc::Rc;

use syntax::Span;
use syntax::tree::BinaryOp;

use super::{Interrupt, Made, Result, Runner, Val, misfit, thrown};
use crate::expressions::error::Fail;
use crate::expressions::plan::Node;
use crate::expressions::scalar::{self, Fault, Scalar};
use crate::types::{Type, Types};

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
        if matches!(op, BinaryOp::Equal | BinaryOp::NotEqual)
            && let Some(same) = self.same_long_texts(&left, &right, span)?
        {
            return Ok(Val::bool(same == (op == BinaryOp::Equal)));
        }
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

    /// Whether two references lead to the same object; the nodes tell what is a literal.
    pub(super) fn same_as_written(
        &mut self,
        (one, left): (&Val, &Node),
        (other, right): (&Val, &Node),
        span: Span,
    ) -> Result<bool> {
        // A text that was computed here stands for an object that only the program could make, or have already.
        let unknown = || -> Interrupt {
            let told = "which object a text is that was computed here cannot be told";
            let hint = "compare the texts: cast both sides to string";
            Fail::new(span, told).hint(hint).into()
        };
        match (one, other) {
            (Val::Object(object), Val::Scalar(Scalar::String(text))) if right.is_literal() => {
                self.is_interned(object, text, span)
            }
            (Val::Scalar(Scalar::String(text)), Val::Object(object)) if left.is_literal() => {
                self.is_interned(object, text, span)
            }
            (Val::Scalar(Scalar::String(text)), Val::Object(object))
            | (Val::Object(object), Val::Scalar(Scalar::String(text))) => {
                let is_alike = object.ty == Type::STRING && *self.units(object, span)? == **text;
                match is_alike {
                    true => Err(unknown()),
                    false => Ok(false),
                }
            }
            (Val::Scalar(Scalar::String(a)), Val::Scalar(Scalar::String(b))) => {
                match a == b && !(left.is_literal() && right.is_literal()) {
                    true => Err(unknown()),
                    false => Ok(a == b),
                }
            }
            _ => self.same(one, other, span),
        }
    }

    fn same(&mut self, left: &Val, right: &Val, span: Span) -> Result<bool> {
        // The keys and values of a dictionary are objects of the program, read as what is in them.
        let stands_in = |it: &Val| {
            let nested = matches!(it, Val::Made(_))
                .then(|| self.exact_type(it))
                .flatten();
            nested.is_some_and(|it| is_part_of_dictionary(self.types, &it))
        };
        let is_null = |it: &Val| matches!(it, Val::Null);
        if (stands_in(left) && !is_null(right)) || (stands_in(right) && !is_null(left)) {
            return Err(self.refuse("telling which object `Keys` or `Values` is", span));
        }
        Ok(match (left, right) {
            (Val::Null, Val::Null) => true,
            (Val::Object(a), Val::Object(b)) => a.address == b.address,
            (Val::Made(a), Val::Made(b)) => match (&**a, &**b) {
                (Made::Type(a), Made::Type(b)) => a == b,
                _ => Rc::ptr_eq(a, b),
            },
            _ => false,
        })
    }
}

fn is_part_of_dictionary(types: Types<'_>, ty: &Type) -> bool {
    let name = |it: &Rc<crate::types::Named>| types.simple_name(it).map(|it| it.1.to_string());
    let name = ty.as_named().and_then(|it| name(it).ok());
    matches!(name.as_deref(), Some("KeyCollection" | "ValueCollection"))
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
