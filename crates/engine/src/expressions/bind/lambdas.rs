//! Lambdas and method groups: they get their type from the delegate that is wanted.

use std::cmp::Ordering;
use std::rc::Rc;
use std::time::Instant;

use metadata::signature::Primitive;
use syntax::Span;
use syntax::tree::{Expr, ExprKind, Lambda, PostfixOp, Statement, UnaryOp};

use super::overloads::Arg;
use super::{Binder, Operand};
use crate::expressions::error::{Fail, Result};
use crate::expressions::plan::{Closure, Conversion, Node, Op};
use crate::types::{Method, Type};

/// What is computed before the body of a lambda, and the slots that it goes to.
pub(super) type Before = Vec<(u32, Node)>;

/// Whether a lambda has braces without `return`.
pub(super) fn does_not_return(lambda: &Lambda) -> bool {
    lambda.block.as_ref().is_some_and(|it| !it.returns)
}

/// Refuses an expression that is no statement (C# 13.7).
fn must_do_something(expr: &Expr) -> Result<()> {
    let does = match &expr.kind {
        ExprKind::Call { .. } | ExprKind::Assign(..) | ExprKind::New(_) => true,
        ExprKind::Postfix(op, _) => *op != PostfixOp::NullForgiving,
        ExprKind::Unary(op, _) => matches!(op, UnaryOp::Increment | UnaryOp::Decrement),
        ExprKind::ConditionalAccess { .. } => true,
        _ => false,
    };
    match does {
        true => Ok(()),
        false => Err(Fail::cs(
            "CS0201",
            expr.span,
            "only assignments, calls, `++`, `--` and `new` are statements",
        )),
    }
}

impl Binder<'_> {
    /// Binds the body of a lambda whose parameters have these types.
    pub(super) fn lambda_body<'e>(
        &mut self,
        lambda: &'e Lambda,
        inputs: &[Type],
    ) -> Result<Operand<'e>> {
        let parts = self.lambda_parts(lambda, inputs, |_, body| Ok(body))?;
        Ok(parts.2)
    }

    /// The slots of a lambda's parameters, what is done before its body, and what is made of that, where they can be seen: a
    /// lambda inside has no type before it is converted.
    pub(super) fn lambda_parts<'e, T>(
        &mut self,
        lambda: &'e Lambda,
        inputs: &[Type],
        made: impl FnOnce(&mut Self, Operand<'e>) -> Result<T>,
    ) -> Result<(Vec<u32>, Before, T)> {
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
        for (index, parameter) in lambda.parameters.iter().enumerate() {
            let name = &*parameter.name.text;
            let mut before = lambda.parameters.iter().take(index);
            if name != "_" && before.any(|it| *it.name.text == *name) {
                let told = format!("the lambda has a parameter `{name}` already");
                return Err(Fail::cs("CS0100", parameter.name.span, told));
            }
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
        let own = self.own_locals;
        let outermost = self.outermost_lambda;
        self.outermost_lambda = outermost.or(Some(self.slots));
        let parts = match self.lambda_inside(lambda, inputs) {
            Ok((slots, before, body)) => made(self, body).map(|made| (slots, before, made)),
            Err(fail) => Err(fail),
        };
        self.outermost_lambda = outermost;
        self.own_locals = own;
        self.locals.truncate(outer);
        parts
    }

    fn lambda_inside<'e>(
        &mut self,
        lambda: &'e Lambda,
        inputs: &[Type],
    ) -> Result<(Vec<u32>, Before, Operand<'e>)> {
        let first = self.locals.len();
        let mut slots = Vec::new();
        for (index, (parameter, input)) in lambda.parameters.iter().zip(inputs).enumerate() {
            let name = &*parameter.name.text;
            let noted = self.noted_input(lambda.body.span, inputs, index);
            let Some(written) = &parameter.ty else {
                slots.push(self.declare_parameter(name, input, noted));
                self.note_written(&parameter.name);
                continue;
            };
            let ty = self.ty(written)?;
            let names = self.names_as_written(&ty, written);
            slots.push(match names.is_empty() {
                true => self.declare_parameter(name, &ty, noted),
                false => self.declare(name, &ty, names),
            });
            self.note_written(&parameter.name);
        }
        self.own_locals = (first, self.locals.len());
        let before = self.done_before(lambda)?;
        let body = self.bind(&lambda.body)?;
        let returns = self.written_return(lambda)?;
        match returns.filter(|it| *it != Type::Primitive(Primitive::Void)) {
            Some(returns) => {
                let span = body.span();
                let node = self.convert(body, &returns, span)?;
                Ok((slots, before, Operand::Value(node)))
            }
            None => Ok((slots, before, body)),
        }
    }

    /// What the statements of a lambda compute, and the slots that it goes to.
    fn done_before(&mut self, lambda: &Lambda) -> Result<Before> {
        let mut before = Vec::new();
        let Some(block) = &lambda.block else {
            return Ok(before);
        };
        for statement in &block.statements {
            match statement {
                Statement::Declare { ty, name, value } => {
                    let operand = self.bind(value)?;
                    let mut node = match ty.is_var() {
                        true => self.natural_or_group(operand)?,
                        false => {
                            let ty = self.ty(ty)?;
                            self.convert(operand, &ty, value.span)?
                        }
                    };
                    self.name_as_written(&mut node, ty);
                    if node.ty == Type::Primitive(Primitive::Void) {
                        let told = format!("`void` cannot be assigned to `{}`", name.text);
                        return Err(Fail::cs("CS0815", value.span, told));
                    }
                    let (ty, names) = (node.ty.clone(), node.names.clone());
                    before.push((self.declare_written(name, &ty, names)?, node));
                }
                Statement::Expr(expr) => {
                    must_do_something(expr)?;
                    let operand = self.bind(expr)?;
                    let node = self.natural(operand)?;
                    before.push((self.slot(), node));
                }
            }
        }
        if !block.returns {
            must_do_something(&lambda.body)?;
        }
        Ok(before)
    }

    /// The type that a lambda says it returns.
    pub(super) fn written_return(&mut self, lambda: &Lambda) -> Result<Option<Type>> {
        let written = lambda.return_type.as_ref();
        written.map(|it| self.ty(it)).transpose()
    }

    /// The types that a lambda says it takes, if it says them.
    pub(super) fn written_inputs(&mut self, lambda: &Lambda) -> Option<Vec<Type>> {
        let written = lambda.parameters.iter().map(|it| it.ty.as_ref());
        let written: Vec<_> = written.collect::<Option<_>>()?;
        written.into_iter().map(|it| self.ty(it).ok()).collect()
    }

    /// Refuses a lambda that says it takes or returns something else than the delegate.
    fn as_delegate_says(
        &mut self,
        lambda: &Lambda,
        inputs: &[Type],
        returns: &Type,
        to: &Type,
    ) -> Result<()> {
        let taken = self.written_inputs(lambda);
        for ((parameter, input), ty) in lambda
            .parameters
            .iter()
            .zip(inputs)
            .zip(taken.iter().flatten())
        {
            if ty != input {
                let told = format!(
                    "the parameter `{}` is a `{}`, but the delegate `{}` takes a `{}`",
                    parameter.name.text,
                    self.text(ty),
                    self.text(to),
                    self.text(input)
                );
                return Err(Fail::cs("CS1678", parameter.name.span, told));
            }
        }
        let written = self.written_return(lambda)?;
        if let Some(written) = written.filter(|it| it != returns) {
            let told = format!(
                "the lambda returns a `{}`, but the delegate `{}` a `{}`",
                self.text(&written),
                self.text(to),
                self.text(returns)
            );
            return Err(Fail::cs("CS8934", lambda.body.span, told));
        }
        Ok(())
    }

    /// A lambda whose own variables begin at the slot `first`.
    pub(super) fn closure(
        &mut self,
        first: u32,
        slots: Vec<u32>,
        body: Node,
        method_of: Option<Type>,
    ) -> Result<Rc<Closure>> {
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
        let mut outside = captures.clone();
        if self.outermost_lambda.is_none() {
            body.visit(&mut |node| match node.op {
                Op::Slot(slot) if slot < first => outside.push(slot),
                _ => {}
            });
        }
        if outside.iter().any(|it| self.assigned.contains(it)) {
            let told = "a lambda cannot read a variable of the expression that is assigned";
            return Err(Fail::new(body.span, told));
        }
        self.captured.extend(outside);
        Ok(Rc::new(Closure {
            slots,
            captures,
            body,
            method_of,
        }))
    }

    /// Whether a lambda can be a delegate of a type.
    pub(super) fn lambda_fits(&mut self, lambda: &Lambda, to: &Type) -> bool {
        let (slots, assigned, captured) = (self.slots, self.assigned.len(), self.captured.len());
        let fits = self.lambda_to(lambda, to, lambda.body.span).is_ok();
        self.slots = slots;
        self.assigned.truncate(assigned);
        self.captured.truncate(captured);
        fits
    }

    /// A lambda as a delegate of a type.
    pub(super) fn lambda_to(&mut self, lambda: &Lambda, to: &Type, span: Span) -> Result<Node> {
        let Some(invoke) = self.invoke(to) else {
            if self.takes_any_delegate(to) {
                let node = self.natural_lambda(lambda, span)?;
                let op = Op::Convert(Conversion::Keep, Box::new(node));
                return Ok(Node::new(op, to.clone(), span));
            }
            if self.is_expression_tree(to) {
                let told = "an expression tree cannot be made of a lambda here: lambdas exist only in the debugger";
                let fail = Fail::new(span, told);
                return Err(fail.hint("compute it here: put .AsEnumerable() before the operator"));
            }
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
        let is_void = invoke.returns == Type::Primitive(Primitive::Void);
        match &lambda.block {
            Some(block) if block.returns && is_void && !self.is_completing() => {
                let told = "the lambda returns something, but its delegate returns nothing";
                return Err(Fail::cs("CS8030", lambda.body.span, told));
            }
            Some(block) if !block.returns && !is_void => {
                let told = format!(
                    "the lambda returns nothing, but its delegate a `{}`",
                    self.text(&invoke.returns)
                );
                return Err(
                    Fail::cs("CS1643", lambda.body.span, told).hint("write return before it")
                );
            }
            _ => {}
        }
        if lambda.parameters.len() == inputs.len() {
            self.as_delegate_says(lambda, &inputs, &invoke.returns, to)?;
        }
        let first = self.slots;
        let (slots, before, body) = self.lambda_parts(lambda, &inputs, |this, body| {
            if is_void {
                if lambda.block.is_none() && !is_statement(&lambda.body) {
                    let told = "only calls, assignments, ++, -- and new can be statements";
                    return Err(Fail::cs("CS0201", lambda.body.span, told));
                }
                this.natural(body)
            } else {
                let span = body.span();
                this.convert(body, &invoke.returns, span)
            }
        })?;
        let body = match before.is_empty() {
            true => body,
            false => {
                let (ty, at) = (body.ty.clone(), body.span);
                Node::new(Op::Let(before, Box::new(body)), ty, at)
            }
        };
        let closure = self.closure(first, slots, body, None)?;
        Ok(Node::new(Op::Lambda(closure), to.clone(), span))
    }

    /// Whether a lambda would be taken as its tree, in a type whose assembly may not be loaded.
    fn is_expression_tree(&self, to: &Type) -> bool {
        match to {
            Type::Named(named) => {
                self.types
                    .is_named(named, "System.Linq.Expressions", "Expression`1")
            }
            Type::Missing { name, .. } => name.starts_with("System.Linq.Expressions.Expression`1"),
            _ => false,
        }
    }

    /// Whether a type is a base of all delegates, so that a lambda is converted to its own type first.
    pub(super) fn takes_any_delegate(&self, to: &Type) -> bool {
        let is = |it: &str| {
            let named = to.as_named();
            named.is_some_and(|named| self.types.is_named(named, "System", it))
        };
        *to == Type::OBJECT || is("Delegate") || is("MulticastDelegate")
    }

    /// Says why a lambda is not a delegate of a type.
    pub(super) fn lambda_misfit(&mut self, lambda: &Lambda, to: &Type, span: Span) -> Box<Fail> {
        match self.lambda_to(lambda, to, span) {
            Err(fail) => fail,
            Ok(_) => Fail::cs(
                "CS1503",
                span,
                format!("the lambda cannot be converted to `{}`", self.text(to)),
            ),
        }
    }

    /// The error inside a lambda that keeps a call from being bound: one that it has whichever of the methods is meant.
    pub(super) fn lambda_error(
        &mut self,
        methods: &[Method],
        type_arguments: &[Type],
        arguments: &[Arg<'_>],
    ) -> Option<Box<Fail>> {
        for (index, argument) in arguments.iter().enumerate() {
            let Operand::Lambda(lambda, at) = &argument.operand else {
                continue;
            };
            let mut error = None;
            for method in methods {
                match self.lambda_as(method, type_arguments, arguments, (index, lambda, *at)) {
                    Some(Ok(())) => {
                        error = None;
                        break;
                    }
                    Some(Err(fail)) => error = error.or(Some(fail)),
                    None => {}
                }
            }
            if error.is_some() {
                return error;
            }
        }
        None
    }

    /// Whether a lambda can be an argument of a method; `None` if that has no delegate with as many parameters there.
    fn lambda_as(
        &mut self,
        method: &Method,
        type_arguments: &[Type],
        arguments: &[Arg<'_>],
        (index, lambda, at): (usize, &Lambda, Span),
    ) -> Option<Result<()>> {
        if method.parameters.len() != arguments.len() {
            return None;
        }
        let parameters = method.parameters.iter();
        let parameters: Vec<Type> = parameters.map(|it| it.ty.without_ref().clone()).collect();
        let parameter = parameters.get(index)?;
        let invoke = self.invoke(parameter)?;
        if invoke.parameters.len() != lambda.parameters.len() {
            return None;
        }
        let arity = method.arity as usize;
        let known = match type_arguments.len() == arity {
            true => Some(type_arguments.to_vec()),
            false => self.infer(arity, &parameters, arguments),
        };
        let slots = self.slots;
        let bound = match known {
            Some(known) => {
                let method = self.types.construct_method(method, &known);
                let to = method.parameters.get(index)?.ty.without_ref();
                self.lambda_to(lambda, to, at).map(|_| ())
            }
            None => {
                let inputs = self.lambda_inputs(method, &parameters, arguments, parameter)?;
                if inputs.iter().any(Type::is_open) {
                    return None;
                }
                self.lambda_body(lambda, &inputs).map(|_| ())
            }
        };
        self.slots = slots;
        Some(bound)
    }

    fn lambda_inputs(
        &mut self,
        method: &Method,
        parameters: &[Type],
        arguments: &[Arg<'_>],
        parameter: &Type,
    ) -> Option<Vec<Type>> {
        let known: Rc<[Type]> = self
            .infer_partly(method.arity as usize, parameters, arguments)
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
        let (one_invoke, other_invoke) = match (self.invoke(one), self.invoke(other)) {
            (Some(one), Some(other)) => (one, other),
            // What it has a type of its own for comes last.
            (Some(_), None) => return Ordering::Greater,
            (None, Some(_)) => return Ordering::Less,
            (None, None) => return self.better_target(one, other),
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
}

/// Whether an expression may be a statement (C# 13.7).
fn is_statement(body: &Expr) -> bool {
    match &body.kind {
        ExprKind::Call { .. }
        | ExprKind::Assign(..)
        | ExprKind::New(_)
        | ExprKind::ConditionalAccess { .. } => true,
        ExprKind::Unary(op, _) => matches!(op, UnaryOp::Increment | UnaryOp::Decrement),
        ExprKind::Postfix(op, _) => *op != PostfixOp::NullForgiving,
        _ => false,
    }
}
