//! Operators that types define themselves, lifted where operands may be null (C# 12.4.4 to 12.4.6, 12.4.8).

use std::rc::Rc;

use syntax::Span;
use syntax::tree::{BinaryOp, UnaryOp};

use super::operators::is_comparison;
use super::overloads::Arg;
use super::{Binder, Operand};
use crate::expressions::error::{Fail, Result};
use crate::expressions::plan::{Conversion, Node, Op};
use crate::expressions::scalar::Kind;
use crate::types::{self, Method, Type};

impl Binder<'_> {
    fn user_operators(&self, name: &str, types: &[&Type]) -> Vec<Method> {
        let mut found: Vec<Method> = Vec::new();
        for ty in types {
            let inner = self.without_nullable(ty);
            let Type::Named(named) = &inner else { continue };
            if matches!(
                named.kind,
                types::Kind::Enum(_) | types::Kind::Interface | types::Kind::Delegate
            ) || self.kind(&inner) == Some(Kind::Decimal)
            {
                continue;
            }
            for level in self.types.ancestry(&inner).unwrap_or_default() {
                let mut methods = self.types.methods(&level, Some(name)).unwrap_or_default();
                // In a checked context the operator for that comes first. Those of numbers are computed here.
                if self.checked && self.kind(&inner).is_none() {
                    let checked = name.replacen("op_", "op_Checked", 1);
                    let checked = self.types.methods(&level, Some(&checked));
                    let checked = checked.unwrap_or_default();
                    methods.retain(|it| !checked.iter().any(|other| takes_the_same(it, other)));
                    methods.extend(checked);
                }
                if !methods.is_empty() {
                    for method in methods {
                        if !found.iter().any(|it| {
                            it.token == method.token && it.declared_in == method.declared_in
                        }) {
                            found.push(method);
                        }
                    }
                    break;
                }
            }
        }
        found
    }

    pub(super) fn user_unary(
        &mut self,
        op: UnaryOp,
        node: &Node,
        span: Span,
    ) -> Result<Option<Node>> {
        let name = match op {
            UnaryOp::Plus => "op_UnaryPlus",
            UnaryOp::Minus => "op_UnaryNegation",
            UnaryOp::Not => "op_LogicalNot",
            UnaryOp::Complement => "op_OnesComplement",
            _ => return Ok(None),
        };
        let methods = self.user_operators(name, &[&node.ty]);
        self.user_operator(methods, vec![Operand::Value(node.clone())], false, span)
    }

    /// `++` or `--` that a type defines.
    pub(super) fn user_step(&mut self, up: bool, node: &Node, span: Span) -> Result<Option<Node>> {
        let name = if up { "op_Increment" } else { "op_Decrement" };
        let methods = self.user_operators(name, &[&node.ty]);
        self.user_operator(methods, vec![Operand::Value(node.clone())], false, span)
    }

    pub(super) fn user_binary(
        &mut self,
        op: BinaryOp,
        left: &Operand<'_>,
        right: &Operand<'_>,
        span: Span,
    ) -> Result<Option<Node>> {
        if matches!(op, BinaryOp::ConditionalAnd | BinaryOp::ConditionalOr) {
            return self.user_logical(op == BinaryOp::ConditionalAnd, left, right, span);
        }
        let Some(name) = method_name(op) else {
            return Ok(None);
        };
        let is_shift = matches!(
            op,
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight | BinaryOp::UnsignedShiftRight
        );
        // What shifts is looked for in the type of the left operand only.
        let types: Vec<&Type> = [left, right]
            .iter()
            .take(if is_shift { 1 } else { 2 })
            .filter_map(|it| Some(&it.value()?.ty))
            .collect();
        let methods = self.user_operators(name, &types);
        self.user_operator(
            methods,
            vec![left.clone(), right.clone()],
            is_comparison(op),
            span,
        )
    }

    /// What is asked whether it is true: a `bool`, or what has an operator for that.
    pub(super) fn boolean(&mut self, operand: Operand<'_>, span: Span) -> Result<Node> {
        if let Operand::Value(node) = &operand
            && self.implicit(&operand, &Type::BOOL).is_none()
            && let Some(test) = self.user_truth(true, node, span)?
        {
            return Ok(test);
        }
        self.convert(operand, &Type::BOOL, span)
    }

    /// A type's own `true` or `false`.
    fn user_truth(&mut self, wanted: bool, node: &Node, span: Span) -> Result<Option<Node>> {
        let name = if wanted { "op_True" } else { "op_False" };
        let methods = self.user_operators(name, &[&node.ty]);
        let test = self.user_operator(methods, vec![Operand::Value(node.clone())], false, span)?;
        Ok(test.filter(|it| it.ty == Type::BOOL))
    }

    /// `x && y` of a type with its own `&` and `false`, `x || y` of one with `|` and `true` (C# 12.14.3).
    fn user_logical(
        &mut self,
        and: bool,
        left: &Operand<'_>,
        right: &Operand<'_>,
        span: Span,
    ) -> Result<Option<Node>> {
        let (Operand::Value(first), Operand::Value(second)) = (left, right) else {
            return Ok(None);
        };
        let name = if and { "op_BitwiseAnd" } else { "op_BitwiseOr" };
        let methods = self.user_operators(name, &[&first.ty, &second.ty]);
        if methods.is_empty() {
            return Ok(None);
        }
        let slot = self.slot();
        let read = self.slot_node(slot, &first.ty, first.span);
        let operands = vec![Operand::Value(read.clone()), right.clone()];
        let Some(both) = self.user_operator(methods, operands, false, span)? else {
            return Ok(None);
        };
        if both.ty != first.ty {
            let converted = Operand::Value(first.clone());
            if self.implicit(&converted, &both.ty).is_none() {
                return Ok(None);
            }
            let converted = self.convert(converted, &both.ty, first.span)?;
            return self.user_logical(and, &Operand::Value(converted), right, span);
        }
        let Some(decided) = self.user_truth(!and, &read, span)? else {
            return Ok(None);
        };
        let ty = both.ty.clone();
        let chosen = Op::Conditional(Box::new(decided), Box::new(read), Box::new(both));
        let chosen = Node::new(chosen, ty.clone(), span);
        let op = Op::Let(vec![(slot, first.clone())], Box::new(chosen));
        Ok(Some(Node::new(op, ty, span)))
    }

    /// `+` and `-` of delegates.
    pub(super) fn delegate_operator(
        &mut self,
        op: BinaryOp,
        left: &Operand<'_>,
        right: &Operand<'_>,
        span: Span,
    ) -> Result<Option<Node>> {
        let name = match op {
            BinaryOp::Add => "Combine",
            BinaryOp::Subtract => "Remove",
            _ => return Ok(None),
        };
        let is_delegate =
            |it: &Type| matches!(it, Type::Named(it) if it.kind == types::Kind::Delegate);
        let ty = [left, right]
            .iter()
            .filter_map(|it| it.value())
            .map(|it| it.ty.clone())
            .find(is_delegate);
        let Some(ty) = ty else { return Ok(None) };
        let fits = |this: &mut Self, it: &Operand<'_>| this.implicit(it, &ty).is_some();
        if !fits(self, left) || !fits(self, right) {
            return Ok(None);
        }
        let delegate = self.types.core_named("System", "Delegate");
        let methods = delegate.and_then(|it| self.types.methods(&it, Some(name)).ok());
        let method = methods
            .unwrap_or_default()
            .into_iter()
            .find(|it| it.parameters.len() == 2);
        let Some(method) = method else {
            return Ok(None);
        };
        let both = vec![
            self.convert(left.clone(), &ty, left.span())?,
            self.convert(right.clone(), &ty, right.span())?,
        ];
        let returns = method.returns.clone();
        let callee = self.callee(method, Vec::new(), false);
        let call = Node::new(Op::Call(Rc::new(callee), None, both), returns, span);
        let cast = Op::Convert(Conversion::Cast, Box::new(call));
        Ok(Some(Node::new(cast, ty, span)))
    }

    fn user_operator(
        &mut self,
        methods: Vec<Method>,
        operands: Vec<Operand<'_>>,
        comparison: bool,
        span: Span,
    ) -> Result<Option<Node>> {
        if methods.is_empty() {
            return Ok(None);
        }
        let args = |operands: &[Operand<'_>]| -> Vec<Arg<'static>> {
            operands
                .iter()
                .filter_map(|it| match it {
                    Operand::Value(node) => Some(Operand::Value(node.clone())),
                    Operand::Null(span) => Some(Operand::Null(*span)),
                    Operand::Default(span) => Some(Operand::Default(*span)),
                    _ => None,
                })
                .map(|operand| Arg {
                    span: operand.span(),
                    operand,
                    name: None,
                    by_ref: None,
                    is_in: false,
                    receiver: false,
                })
                .collect()
        };
        let arguments = args(&operands);
        if arguments.len() != operands.len() {
            return Ok(None);
        }
        let ambiguous = match self.resolve(&methods, &[], &arguments) {
            Ok(candidate) => {
                let nodes = self.apply_arguments(&candidate, arguments, span)?;
                let ty = candidate.method.returns.clone();
                let callee = self.callee(candidate.method, Vec::new(), false);
                return Ok(Some(Node::new(
                    Op::Call(Rc::new(callee), None, nodes),
                    ty,
                    span,
                )));
            }
            Err((_, ambiguous)) => ambiguous,
        };
        if ambiguous {
            return Err(Fail::cs(
                "CS0034",
                span,
                "the operator is ambiguous between several definitions",
            ));
        }
        // Lifted: the values inside, if all are there.
        let any_null = operands.iter().any(|it| match it {
            Operand::Value(node) => self.nullable_of(&node.ty).is_some(),
            Operand::Null(_) => true,
            _ => false,
        });
        if !any_null {
            return Ok(None);
        }
        let liftable: Vec<Method> = methods
            .into_iter()
            .filter(|it| {
                it.parameters
                    .iter()
                    .all(|it| it.ty.is_value() == Some(true) && self.nullable_of(&it.ty).is_none())
                    && it.returns.is_value() == Some(true)
            })
            .collect();
        let lifted: Vec<Method> = liftable
            .iter()
            .cloned()
            .map(|mut it| {
                for parameter in &mut it.parameters {
                    parameter.ty = self.nullable(&parameter.ty);
                }
                it
            })
            .collect();
        let Ok(candidate) = self.resolve(&lifted, &[], &arguments) else {
            return Ok(None);
        };
        let Some(method) = liftable
            .into_iter()
            .find(|it| it.token == candidate.method.token)
        else {
            return Ok(None);
        };
        let nodes = self.apply_arguments(&candidate, arguments, span)?;
        let mut slots = Vec::new();
        let mut inner = Vec::new();
        for (node, parameter) in nodes.into_iter().zip(&method.parameters) {
            let slot = self.slot();
            inner.push(self.slot_node(slot, &parameter.ty, span));
            slots.push((slot, node));
        }
        let returns = method.returns.clone();
        let equality = match &*method.name {
            "op_Equality" => Some(true),
            "op_Inequality" => Some(false),
            _ => None,
        };
        let callee = self.callee(method, Vec::new(), false);
        let call = Node::new(
            Op::Call(Rc::new(callee), None, inner),
            returns.clone(),
            span,
        );
        let ty = if comparison {
            Type::BOOL
        } else {
            self.nullable(&returns)
        };
        let op = Op::Lifted(slots, Box::new(call), comparison, equality);
        Ok(Some(Node::new(op, ty, span)))
    }
}

/// Whether two operators are for the same operands.
pub(super) fn takes_the_same(one: &Method, other: &Method) -> bool {
    one.parameters.len() == other.parameters.len()
        && one
            .parameters
            .iter()
            .zip(&other.parameters)
            .all(|(a, b)| a.ty == b.ty)
}

/// The method behind an operator of a type's own.
pub(super) fn method_name(op: BinaryOp) -> Option<&'static str> {
    Some(match op {
        BinaryOp::Add => "op_Addition",
        BinaryOp::Subtract => "op_Subtraction",
        BinaryOp::Multiply => "op_Multiply",
        BinaryOp::Divide => "op_Division",
        BinaryOp::Remainder => "op_Modulus",
        BinaryOp::ShiftLeft => "op_LeftShift",
        BinaryOp::ShiftRight => "op_RightShift",
        BinaryOp::UnsignedShiftRight => "op_UnsignedRightShift",
        BinaryOp::Less => "op_LessThan",
        BinaryOp::Greater => "op_GreaterThan",
        BinaryOp::LessOrEqual => "op_LessThanOrEqual",
        BinaryOp::GreaterOrEqual => "op_GreaterThanOrEqual",
        BinaryOp::Equal => "op_Equality",
        BinaryOp::NotEqual => "op_Inequality",
        BinaryOp::And => "op_BitwiseAnd",
        BinaryOp::Xor => "op_ExclusiveOr",
        BinaryOp::Or => "op_BitwiseOr",
        _ => return None,
    })
}
