//! Lambdas and method groups: they get their type from the delegate that is wanted.

use std::cmp::Ordering;
use std::rc::Rc;
use std::time::Instant;

use metadata::signature::Primitive;
use syntax::Span;
use syntax::tree::Lambda;

use super::overloads::Arg;
use super::{Binder, Group, Operand};
use crate::expressions::error::{Fail, Result};
use crate::expressions::plan::{Closure, Node, Op};
use crate::types::{Method, Type};

impl Binder<'_> {
    /// Binds the body of a lambda whose parameters have these types.
    pub(super) fn lambda_body<'e>(
        &mut self,
        lambda: &'e Lambda,
        inputs: &[Type],
    ) -> Result<Operand<'e>> {
        let parts = self.lambda_parts(lambda, inputs, |_, body| Ok(body))?;
        Ok(parts.1)
    }

    /// The slots of a lambda's parameters and what is made of its body, where they can be seen: a lambda inside has no type
    /// before it is converted.
    fn lambda_parts<'e, T>(
        &mut self,
        lambda: &'e Lambda,
        inputs: &[Type],
        made: impl FnOnce(&mut Self, Operand<'e>) -> Result<T>,
    ) -> Result<(Vec<u32>, T)> {
        self.lambda_binds = self.lambda_binds.saturating_sub(1);
        if self.lambda_binds == 0 {
            return Err(Fail::new(
                lambda.body.span,
                "the lambdas are nested too deeply for their types to be worked out",
            ));
        }
        if Instant::now() > self.deadline {
            return Err(Fail::new(
                lambda.body.span,
                "the types of the lambdas were not worked out within the time limit",
            ));
        }
        if lambda.is_async {
            return Err(Fail::new(
                lambda.body.span,
                "an async lambda cannot be evaluated",
            ));
        }
        if lambda.parameters.len() != inputs.len() {
            return Err(Fail::cs(
                "CS1593",
                lambda.body.span,
                format!(
                    "the lambda takes {} arguments where {} are given",
                    lambda.parameters.len(),
                    inputs.len()
                ),
            ));
        }
        let outer = self.locals.len();
        let outermost = self.outermost_lambda;
        self.outermost_lambda = outermost.or(Some(self.slots));
        let parts = match self.lambda_inside(lambda, inputs) {
            Ok((slots, body)) => made(self, body).map(|made| (slots, made)),
            Err(fail) => Err(fail),
        };
        self.outermost_lambda = outermost;
        self.locals.truncate(outer);
        parts
    }

    fn lambda_inside<'e>(
        &mut self,
        lambda: &'e Lambda,
        inputs: &[Type],
    ) -> Result<(Vec<u32>, Operand<'e>)> {
        let mut slots = Vec::new();
        for (parameter, input) in lambda.parameters.iter().zip(inputs) {
            let ty = match &parameter.ty {
                Some(written) => self.ty(written)?,
                None => input.clone(),
            };
            slots.push(self.declare_parameter(&parameter.name.text, &ty));
        }
        let body = self.bind(&lambda.body)?;
        Ok((slots, body))
    }

    /// A lambda whose own variables begin at the slot `first`.
    fn closure(&self, first: u32, slots: Vec<u32>, body: Node) -> Rc<Closure> {
        let mut captures = Vec::new();
        // What belongs to no lambda is set once, and may be set after the lambda is made.
        if let Some(outermost) = self.outermost_lambda {
            body.visit(&mut |node| match node.op {
                Op::Slot(slot)
                    if slot < first && slot >= outermost && !captures.contains(&slot) =>
                {
                    captures.push(slot);
                }
                _ => {}
            });
        }
        Rc::new(Closure {
            slots,
            captures,
            body,
        })
    }

    /// Whether a lambda can be a delegate of a type.
    pub(super) fn lambda_fits(&mut self, lambda: &Lambda, to: &Type) -> bool {
        let slots = self.slots;
        let fits = self.lambda_to(lambda, to, lambda.body.span).is_ok();
        self.slots = slots;
        fits
    }

    /// A lambda as a delegate of a type.
    pub(super) fn lambda_to(&mut self, lambda: &Lambda, to: &Type, span: Span) -> Result<Node> {
        let Some(invoke) = self.invoke(to) else {
            return Err(Fail::cs(
                "CS1660",
                span,
                format!(
                    "a lambda cannot be converted to `{}`, which is not a delegate type",
                    self.text(to)
                ),
            ));
        };
        let inputs: Vec<Type> = invoke
            .parameters
            .iter()
            .map(|it| it.ty.without_ref().clone())
            .collect();
        let first = self.slots;
        let (slots, body) = self.lambda_parts(lambda, &inputs, |this, body| {
            if invoke.returns == Type::Primitive(Primitive::Void) {
                this.natural(body)
            } else {
                let span = body.span();
                this.convert(body, &invoke.returns, span)
            }
        })?;
        let closure = self.closure(first, slots, body);
        Ok(Node::new(Op::Lambda(closure), to.clone(), span))
    }

    /// Says why a lambda is not a delegate of a type.
    pub(super) fn lambda_misfit(&mut self, lambda: &Lambda, to: &Type, span: Span) -> Box<Fail> {
        match self.lambda_to(lambda, to, span) {
            Err(fail) if fail.code == Some("CS0029") || fail.code == Some("CS0266") => fail,
            Err(fail) => fail,
            Ok(_) => Fail::cs(
                "CS1503",
                span,
                format!("the lambda cannot be converted to `{}`", self.text(to)),
            ),
        }
    }

    /// The error inside a lambda's body that keeps a method's types from being inferred.
    pub(super) fn lambda_error(
        &mut self,
        methods: &[Method],
        arguments: &[Arg<'_>],
    ) -> Option<Box<Fail>> {
        for method in methods {
            if method.parameters.len() != arguments.len() {
                continue;
            }
            let parameters: Vec<Type> = method
                .parameters
                .iter()
                .map(|it| it.ty.without_ref().clone())
                .collect();
            for (index, argument) in arguments.iter().enumerate() {
                let Operand::Lambda(lambda, _) = &argument.operand else {
                    continue;
                };
                let Some(parameter) = parameters.get(index) else {
                    continue;
                };
                let inputs = self.lambda_inputs(method, &parameters, arguments, parameter);
                let Some(inputs) = inputs.filter(|it| it.len() == lambda.parameters.len()) else {
                    continue;
                };
                if inputs.iter().any(Type::is_open) {
                    continue;
                }
                if let Err(fail) = self.lambda_body(lambda, &inputs) {
                    return Some(fail);
                }
            }
        }
        None
    }

    fn lambda_inputs(
        &mut self,
        method: &Method,
        parameters: &[Type],
        arguments: &[Arg<'_>],
        parameter: &Type,
    ) -> Option<Vec<Type>> {
        let known: Rc<[Type]> = self
            .infer_plain(method.arity as usize, parameters, arguments)
            .into_iter()
            .zip(0_u32..)
            .map(|(it, index)| it.unwrap_or(Type::MethodVariable(index)))
            .collect();
        let invoke = self.invoke(parameter)?;
        let generics = crate::types::Generics {
            of_type: Rc::default(),
            of_method: known,
        };
        Some(
            invoke
                .parameters
                .iter()
                .map(|it| it.ty.with(&generics))
                .collect(),
        )
    }

    /// Which delegate type is better for a lambda: the one that returns the better type.
    pub(super) fn better_lambda(&mut self, lambda: &Lambda, one: &Type, other: &Type) -> Ordering {
        let (Some(one_invoke), Some(other_invoke)) = (self.invoke(one), self.invoke(other)) else {
            return Ordering::Equal;
        };
        let same = one_invoke.parameters.len() == other_invoke.parameters.len()
            && one_invoke
                .parameters
                .iter()
                .zip(&other_invoke.parameters)
                .all(|(a, b)| a.ty == b.ty);
        if !same {
            return Ordering::Equal;
        }
        let inputs: Vec<Type> = one_invoke
            .parameters
            .iter()
            .map(|it| it.ty.clone())
            .collect();
        let body = self.lambda_body(lambda, &inputs);
        match body {
            Ok(operand) => {
                self.better_conversion(&operand, &one_invoke.returns, &other_invoke.returns)
            }
            Err(_) => Ordering::Equal,
        }
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
                receiver: false,
                span: group.span,
            });
        }
        let call = self.call_group(group, arguments, group.span)?;
        let body = if invoke.returns == Type::Primitive(Primitive::Void) {
            call
        } else {
            self.convert(Operand::Value(call), &invoke.returns, group.span)?
        };
        let closure = self.closure(first, slots, body);
        Ok(Node::new(Op::Lambda(closure), to.clone(), group.span))
    }
}
