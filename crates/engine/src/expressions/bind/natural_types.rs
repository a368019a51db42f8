//! What lambdas and method groups are by themselves, and method groups as delegates.

use metadata::signature::Primitive;
use syntax::Span;
use syntax::tree::Lambda;

use super::lambdas::does_not_return;
use super::overloads::Arg;
use super::{Binder, Group, Operand, local_functions};
use crate::expressions::error::{Fail, Result};
use crate::expressions::plan::{Conversion, Node, Op};
use crate::types::{Method, Type};

impl Binder<'_> {
    /// The delegate that a lambda is by itself, whose parameters all say their types (C# 10.7.1): one of the framework's.
    pub(super) fn natural_lambda(&mut self, lambda: &Lambda, span: Span) -> Result<Node> {
        let written = lambda.parameters.iter().all(|it| it.ty.is_some());
        if !written {
            let told = "the delegate type of a lambda cannot be inferred here";
            return Err(
                Fail::cs("CS8917", span, told).hint("cast it: (Func<int, int>)(x => x + 1)")
            );
        }
        let mut shape = Vec::new();
        for it in lambda.parameters.iter().filter_map(|it| it.ty.as_ref()) {
            shape.push(self.ty(it)?);
        }
        let returns = match self.written_return(lambda)? {
            Some(returns) => returns,
            None => {
                let slots = self.slots;
                let body = self.lambda_parts(lambda, &shape, Self::natural_of);
                self.slots = slots;
                let ty = body?.2.ty;
                match does_not_return(lambda) {
                    true => Type::Primitive(Primitive::Void),
                    false => ty,
                }
            }
        };
        let is_plain =
            |it: &syntax::tree::LambdaParameter| it.modifier.is_none() && it.default.is_none();
        let plain = lambda.parameters.iter().all(is_plain) && lambda.return_ref.is_none();
        let Some(ty) = plain
            .then(|| self.framework_delegate(shape, returns))
            .flatten()
        else {
            let told = "the compiler would make up a delegate type for this lambda, as none of the framework fits it; that cannot be done in the debugger";
            return Err(Fail::new(span, told).hint("cast it to a delegate type of the program"));
        };
        self.lambda_to(lambda, &ty, span)
    }

    /// The delegate of the framework that takes and returns these types.
    fn framework_delegate(&self, mut shape: Vec<Type>, returns: Type) -> Option<Type> {
        let is_void = returns == Type::Primitive(Primitive::Void);
        if !is_void {
            shape.push(returns);
        }
        let by_itself = |it: &Type| !matches!(it, Type::ByRef(_) | Type::Pointer(_));
        if !shape.iter().all(by_itself) {
            return None;
        }
        let name = if is_void { "Action" } else { "Func" };
        let open = self.types.find("System", name, shape.len());
        match open.first() {
            Some(Type::Named(open)) if !shape.is_empty() => self.types.close(open, &shape).ok(),
            plain => plain.cloned(),
        }
    }

    /// The value of an operand in its own type; of a method the delegate that it is by itself.
    pub(super) fn natural_or_group(&mut self, operand: Operand<'_>) -> Result<Node> {
        match operand {
            Operand::Group(group) if self.is_found(&group) => self.natural_group(&group),
            other => self.natural(other),
        }
    }

    /// The delegate that a method is by itself, if it is the only one of its name (C# 10.2.15).
    fn natural_group(&mut self, group: &Group) -> Result<Node> {
        let ty = self.natural_type_of_group(group).ok_or_else(|| {
            let told = format!("`{}` is a method; call it with arguments", group.name);
            let fail = Fail::cs("CS8917", group.span, told);
            fail.hint(format!("write {}(…)", group.name))
        })?;
        self.group_to(group, &ty)
    }

    fn natural_type_of_group(&mut self, group: &Group) -> Option<Type> {
        let arguments = &group.type_arguments;
        let fits = |it: &&Method| it.arity as usize == arguments.len();
        let methods: Vec<Method> = local_functions::written(&group.methods)
            .iter()
            .filter(fits)
            .map(|it| self.types.construct_method(it, arguments))
            .collect();
        let takes = |it: &Method| -> Vec<Type> {
            let parameters = it.parameters.iter();
            parameters.map(|it| it.ty.clone()).collect()
        };
        let first = methods.first()?;
        let same = |it: &Method| takes(it) == takes(first) && it.returns == first.returns;
        // A generic one could be meant too.
        if !methods.iter().all(same) || arguments.is_empty() && methods.len() != group.methods.len()
        {
            return None;
        }
        self.framework_delegate(takes(first), first.returns.clone())
    }

    fn natural_of(&mut self, operand: Operand<'_>) -> Result<Node> {
        self.natural(operand)
    }

    /// Whether a method of a group can be a delegate of a type.
    pub(super) fn group_fits(&mut self, group: &Group, to: &Type) -> bool {
        self.group_to(group, to).is_ok()
    }

    /// What the method of a group that takes these types returns.
    pub(super) fn group_return(&mut self, group: &Group, inputs: &[Type]) -> Option<Type> {
        let arguments: Vec<Arg<'_>> = inputs
            .iter()
            .map(|ty| Arg {
                operand: Operand::Value(Node::new(Op::Default, ty.clone(), group.span)),
                name: None,
                by_ref: None,
                is_in: false,
                receiver: false,
                span: group.span,
            })
            .collect();
        let node = self.call_group(group, arguments, group.span).ok()?;
        Some(node.ty)
    }

    /// A group as a delegate: a lambda that calls it.
    pub(super) fn group_to(&mut self, group: &Group, to: &Type) -> Result<Node> {
        let Some(invoke) = self.invoke(to) else {
            if self.takes_any_delegate(to) {
                let node = self.natural_group(group)?;
                let op = Op::Convert(Conversion::Keep, Box::new(node));
                return Ok(Node::new(op, to.clone(), group.span));
            }
            return Err(Fail::cs(
                "CS0428",
                group.span,
                format!(
                    "the method group `{}` cannot be converted to `{}`",
                    group.name,
                    self.text(to)
                ),
            ));
        };
        // What the method is called on is computed when the delegate is made, not when it is called.
        let (mut group, mut before) = (group.clone(), None);
        if let Some(target) = group.target.as_mut().filter(|it| it.may_act()) {
            let slot = self.slot();
            let read = self.slot_node(slot, &target.ty, target.span);
            before = Some((slot, std::mem::replace(target, read)));
        }
        let group = &group;
        let first = self.slots;
        let mut slots = Vec::new();
        let mut arguments = Vec::new();
        for parameter in &invoke.parameters {
            let slot = self.slot();
            slots.push(slot);
            arguments.push(Arg {
                operand: Operand::Value(self.slot_node(
                    slot,
                    parameter.ty.without_ref(),
                    group.span,
                )),
                name: None,
                by_ref: None,
                is_in: false,
                receiver: false,
                span: group.span,
            });
        }
        let call = self.call_group(group, arguments, group.span)?;
        self.as_delegate_takes(&call, &invoke, group, to)?;
        let body = if invoke.returns == Type::Primitive(Primitive::Void) {
            call
        } else {
            self.convert(Operand::Value(call), &invoke.returns, group.span)?
        };
        let closure = self.closure(first, slots, body, Some(to.clone()))?;
        let node = Node::new(Op::Lambda(closure), to.clone(), group.span);
        Ok(match before {
            Some(before) => {
                let op = Op::Let(vec![before], Box::new(node));
                Node::new(op, to.clone(), group.span)
            }
            None => node,
        })
    }

    /// Refuses a method whose parameters or result are not those of a delegate but for reference conversions (C# 10.8).
    fn as_delegate_takes(
        &self,
        call: &Node,
        invoke: &Method,
        group: &Group,
        to: &Type,
    ) -> Result<()> {
        let Op::Call(callee, target, arguments) = &call.op else {
            return Ok(());
        };
        let near = |from: &Type, to: &Type| {
            from == to || from.is_reference() && self.reference_converts(from, to)
        };
        let method = &callee.method;
        // An extension method is called on its first argument; what a local function captured comes last.
        let written = local_functions::as_written(method);
        let captured = method.parameters.len() - written.parameters.len();
        let given = arguments.len().saturating_sub(captured);
        let extended = given.saturating_sub(invoke.parameters.len());
        let skipped = match target {
            None if written.parameters.len() > invoke.parameters.len() => extended,
            _ => 0,
        };
        let taken = method.parameters.iter().skip(skipped);
        let unlike = invoke
            .parameters
            .iter()
            .zip(taken)
            .any(|(given, taken)| !near(given.ty.without_ref(), taken.ty.without_ref()));
        if unlike {
            let told = format!(
                "no overload of `{}` takes what `{}` does",
                group.name,
                self.text(to)
            );
            return Err(Fail::cs("CS0123", group.span, told));
        }
        let (gives, wanted) = (method.returns.without_ref(), invoke.returns.without_ref());
        if !near(gives, wanted) {
            let told = format!("`{}` returns a `{}`", group.name, self.text(gives));
            return Err(Fail::cs("CS0407", group.span, told));
        }
        Ok(())
    }
}
