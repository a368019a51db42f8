//! Runs what is bound only now, as its operands are dynamic: against the types that they have.

use syntax::Span;

use super::{Result, Runner, Val};
use crate::expressions::bind::{Given, Late};
use crate::expressions::error::Fail;
use crate::expressions::plan::{Node, Op};
use crate::expressions::scalar::Scalar;
use crate::types::Type;
use crate::values::view::known::Known;

impl Runner<'_, '_> {
    pub(super) fn late(
        &mut self,
        late: &Late,
        operands: &[(u32, Node)],
        span: Span,
    ) -> Result<Val> {
        if let (Late::Value, [(_, operand)]) = (late, operands) {
            return self.eval(operand);
        }
        let mut given = Vec::with_capacity(operands.len());
        for (slot, operand) in operands {
            let value = self.eval(operand)?;
            let is_object = operand.ty == Type::OBJECT;
            if is_object && matches!(value, Val::Null) {
                given.push(Given::Null(operand.span));
                continue;
            }
            if operand.constant.is_some()
                && !matches!(late, Late::Index | Late::SetIndex | Late::ChangeIndex(_))
            {
                given.push(Given::Value(operand.clone()));
                continue;
            }
            let (ty, value) = match is_object {
                true => self.out_of_object(value, operand.span)?,
                false => (operand.ty.clone(), value),
            };
            if let (Late::Member(name) | Late::ChangeMember(name, _), true) =
                (late, given.is_empty())
            {
                self.must_have(&value, &name.identifier.text, span)?;
            }
            self.set(*slot, value);
            let mut node = Node::new(Op::Slot(*slot), ty, operand.span);
            node.names = operand.names.clone();
            given.push(Given::Value(node));
        }
        let Some(bind) = self.around.late else {
            let told = "what is dynamic here is known only when code of the program has run";
            return Err(Fail::new(span, told).into());
        };
        let used = u32::try_from(self.slots.len()).unwrap_or(u32::MAX);
        let (node, slots) = bind(late, &given, used, span)?;
        self.slots.resize(slots as usize, None);
        let value = self.eval(&node);
        self.slots.truncate(used as usize);
        let value = value?;
        if let Late::Convert(..) = late {
            return Ok(value);
        }
        Ok(self.as_object(value, &node.ty))
    }

    /// What is read or changed has to be there: an `ExpandoObject` gets members only by being assigned them.
    fn must_have(&self, target: &Val, name: &str, span: Span) -> Result<()> {
        let Val::Object(object) = target else {
            return Ok(());
        };
        if self.reader.known(&object.ty) != Known::ExpandoObject
            || self
                .reader
                .expando_members(object)
                .map_or(true, |all| all.iter().any(|(_, it)| it == name))
        {
            return Ok(());
        }
        // The words of the framework.
        let told =
            format!("'System.Dynamic.ExpandoObject' does not contain a definition for '{name}'");
        let thrown = "Microsoft.CSharp.RuntimeBinder.RuntimeBinderException";
        Err(Fail::thrown(span, thrown, Some(told)).into())
    }

    /// What an object is, and as which type.
    fn out_of_object(&mut self, value: Val, span: Span) -> Result<(Type, Val)> {
        Ok(match value {
            Val::Boxed(ty, inner) => (ty, *inner),
            Val::Object(object) => {
                let ty = object.ty.clone();
                match self.reader.unboxed(&object) {
                    Some(place) => (ty, self.decode(&place, span)?),
                    None => (ty, Val::Object(object)),
                }
            }
            Val::Scalar(Scalar::String(_)) => (Type::STRING, value),
            other => {
                let ty = self.exact_type(&other).unwrap_or(Type::OBJECT);
                (ty, other)
            }
        })
    }

    /// A value as the object that something dynamic is.
    fn as_object(&self, value: Val, ty: &Type) -> Val {
        let inner = self.types.nullable_of(ty).unwrap_or_else(|| ty.clone());
        match (value, inner.is_value()) {
            (Val::Null, _) => Val::Null,
            (value, Some(true)) => Val::Boxed(inner, Box::new(value)),
            (value, _) => value,
        }
    }
}
