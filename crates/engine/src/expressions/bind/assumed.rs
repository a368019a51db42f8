//! LINQ that the program has not loaded, where a condition is only checked: what its methods take and give is assumed, so that
//! what stands in their lambdas and around them is bound. Such a plan is never run.

use syntax::Span;
use syntax::tree::{Argument, Expr, ExprKind};

use super::{Binder, LINQ, Operand};
use crate::expressions::error::{Fail, Result};
use crate::expressions::plan::{Node, Op};
use crate::types::Type;

/// What a method of LINQ gives, by what it is called on and what its lambda gives.
enum Gives {
    /// A sequence of the same elements.
    Same,
    /// A sequence of what the lambda gives.
    Each,
    /// An element.
    Element,
    /// A type of its own.
    This(Type),
    /// What cannot be told here; its lambdas take an element.
    Unknown,
    /// Nothing is assumed of it: its lambdas may take something else.
    Nothing,
}

impl<'t> Binder<'t> {
    /// Takes LINQ for loaded: for checking only.
    pub(crate) fn assuming(mut self) -> Self {
        self.assumes = true;
        self
    }

    /// What a call gives that fails as LINQ is not loaded. `None` if nothing is assumed of the method: then its failure counts.
    pub(super) fn assumed(
        &mut self,
        fail: &Fail,
        target: &Expr,
        arguments: &[Argument],
        span: Span,
    ) -> Result<Option<Node>> {
        let ExprKind::Member {
            target: receiver,
            name,
            ..
        } = &target.kind
        else {
            return Ok(None);
        };
        if !self.assumes || fail.lacks.as_deref() != Some(LINQ) {
            return Ok(None);
        }
        let method = &*name.identifier.text;
        if matches!(gives(method), Gives::Nothing) {
            return Ok(None);
        }
        let Ok(Operand::Value(receiver)) = self.bind(receiver) else {
            return Ok(None);
        };
        let Some(element) = self.iterated(&receiver.ty) else {
            return Ok(None);
        };
        let mut given = None;
        for argument in arguments {
            match self.bind(&argument.value)? {
                Operand::Lambda(lambda, _) if lambda.parameters.len() == 1 => {
                    let body = self.lambda_body(lambda, std::slice::from_ref(&element))?;
                    given = given.or(body.value().map(|it| it.ty.clone()));
                }
                // What others take depends on the method.
                Operand::Lambda(..) => return Ok(None),
                _ => {}
            }
        }
        let ty = match gives(method) {
            Gives::Same => self.sequence_of(&element),
            Gives::Each => given.as_ref().and_then(|it| self.sequence_of(it)),
            Gives::Element => Some(element),
            Gives::This(ty) => Some(ty),
            Gives::Unknown | Gives::Nothing => None,
        };
        Ok(ty.map(|ty| Node::new(Op::Default, ty, span)))
    }

    fn sequence_of(&self, element: &Type) -> Option<Type> {
        let generic = self
            .types
            .core_named("System.Collections.Generic", "IEnumerable`1")?;
        let element = std::slice::from_ref(element);
        self.types.close(&generic, element).ok()
    }
}

fn gives(method: &str) -> Gives {
    match method {
        "Where" | "Skip" | "Take" | "SkipWhile" | "TakeWhile" | "Reverse" | "Distinct"
        | "OrderBy" | "OrderByDescending" | "DistinctBy" | "Concat" | "Union" | "Except"
        | "Intersect" | "Append" | "Prepend" => Gives::Same,
        "Select" => Gives::Each,
        "First" | "FirstOrDefault" | "Last" | "LastOrDefault" | "Single" | "SingleOrDefault"
        | "ElementAt" | "ElementAtOrDefault" | "MinBy" | "MaxBy" => Gives::Element,
        "Any" | "All" | "Contains" | "SequenceEqual" => Gives::This(Type::BOOL),
        "Count" => Gives::This(Type::INT),
        "GroupBy" | "ToDictionary" | "ToLookup" | "SelectMany" | "Sum" | "Min" | "Max"
        | "Average" | "LongCount" | "ToHashSet" | "ToList" | "ToArray" => Gives::Unknown,
        _ => Gives::Nothing,
    }
}
