//! Delegates of methods that the program has: where its code is to see one, it is made there.
//!
//! A lambda exists only here; a method group is one that calls the method, and what is looked at is that call.

use std::rc::Rc;

use syntax::Span;

use super::{Effect, Result, Runner, Val, null_reference};
use crate::expressions::error::Fail;
use crate::expressions::plan::{Callee, Closure, Conversion, Node, Op};
use crate::types::Method;

impl Runner<'_, '_> {
    /// The delegate that a method group stands for; `None` for lambdas.
    pub(super) fn delegate_in_program(
        &mut self,
        closure: &Closure,
        captured: &[(u32, Val)],
        span: Span,
    ) -> Result<Option<Val>> {
        let Some(ty) = &closure.method_of else {
            return Ok(None);
        };
        let Some((callee, target)) = called(closure) else {
            let told = "no delegate of this method can be made in the program: it is a local function with captured variables, or what it takes or returns has to be converted";
            return Err(Fail::new(span, told).into());
        };
        if !callee.arguments.is_empty() {
            let told = "a delegate of a generic method cannot be made in the program from here";
            return Err(Fail::new(span, told).into());
        }
        if !self.around.calls {
            return Err(self.refuse("making a delegate", span));
        }
        for (slot, value) in captured {
            self.set(*slot, value.clone());
        }
        let target = match target {
            Some(node) => {
                let value = self.eval(node)?;
                let value = self.materialised(value, span)?;
                if matches!(value, Val::Null) && !callee.method.flags.is_static() {
                    return Err(null_reference(span));
                }
                match node.ty.is_value() {
                    Some(true) => self.boxed(value, &node.ty),
                    _ => value,
                }
            }
            None => Val::Null,
        };
        let method = self.method_that_runs(callee, &target, span)?;
        let ty = ty.clone();
        self.effect(span, || Effect::Delegate {
            method,
            target,
            ty,
            span,
        })
        .map(Some)
    }

    /// A virtual method is the one of the object's own type from the start.
    fn method_that_runs(&self, callee: &Callee, target: &Val, span: Span) -> Result<Method> {
        if !callee.is_virtual || !callee.method.flags.is_virtual() {
            return Ok(callee.method.clone());
        }
        let exact = self.exact_type(target);
        let found = exact.and_then(|exact| self.types.implementation(&exact, &callee.method));
        let told = "which method the object has for this one is not known";
        let found = found.ok_or_else(|| Fail::new(span, told))?;
        Ok(Rc::unwrap_or_clone(found))
    }
}

/// The call that a method group stands for: the method, and what it is called on or, of an extension method, given first.
fn called(closure: &Closure) -> Option<(&Rc<Callee>, Option<&Node>)> {
    let Op::Call(callee, target, arguments) = &kept(&closure.body).op else {
        return None;
    };
    let given = arguments.len().checked_sub(closure.slots.len())?;
    let (first, rest) = arguments.split_at(given);
    let is_slot =
        |(node, slot): (&Node, &u32)| matches!(kept(node).op, Op::Slot(it) if it == *slot);
    if !rest.iter().zip(&closure.slots).all(is_slot) {
        return None;
    }
    match (target, first) {
        (target, []) => Some((callee, target.as_deref())),
        (None, [first]) if first.ty.is_reference() => Some((callee, Some(first))),
        _ => None,
    }
}

/// A node without conversions that change nothing.
fn kept(node: &Node) -> &Node {
    match &node.op {
        Op::Convert(Conversion::Keep, inner)
            if inner.ty.is_reference() == node.ty.is_reference() =>
        {
            kept(inner)
        }
        _ => node,
    }
}
