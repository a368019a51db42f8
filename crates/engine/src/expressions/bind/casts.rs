//! Conversions applied: the operations that make one, casts, `as`, default values (C# 10, 12.9.7, 12.12.13).

use std::rc::Rc;

use metadata::signature::Primitive;
use syntax::Span;

use super::conversions::Conv;
use super::well_known::primitive_kind;
use super::{Binder, Late, Operand};
use crate::expressions::error::{Fail, Result};
use crate::expressions::plan::{Callee, Constant, Conversion, Node, Op};
use crate::expressions::scalar::{self, Kind, Scalar};
use crate::types::{Method, Type};

impl Binder<'_> {
    pub(super) fn explicit(&self, node: &Node, to: &Type) -> Option<Conv> {
        if let Some(conv) = self.implicit_constant(node, to) {
            return Some(conv);
        }
        self.explicit_types(&node.ty, to)
            .or_else(|| self.user_conversion(&node.ty, to, true))
    }

    /// A cast.
    pub(super) fn cast(
        &mut self,
        ty: &syntax::tree::Type,
        inner: &syntax::tree::Expr,
        span: Span,
    ) -> Result<Node> {
        let to = self.ty(ty)?;
        let operand = self.bind(inner)?;
        let mut node = self.cast_operand(operand, &to, span)?;
        self.name_as_written(&mut node, ty);
        // What is cast to `dynamic` is bound when it runs.
        if to == Type::OBJECT && ty.is_dynamic() {
            return Ok(self.late(Late::Value, vec![node], span));
        }
        Ok(node)
    }

    pub(super) fn cast_operand(
        &mut self,
        operand: Operand<'_>,
        to: &Type,
        span: Span,
    ) -> Result<Node> {
        if let Some(late) = self.late_conversion(&operand, to, true, span) {
            return Ok(late);
        }
        if let Operand::Value(node) = &operand {
            if let Op::Tuple(elements) = &node.op
                && let Some(wanted) = self.tuple_elements(&self.without_nullable(to))
                && wanted.len() == elements.len()
            {
                let cast = elements
                    .clone()
                    .into_iter()
                    .zip(&wanted)
                    .map(|(it, to)| self.cast_operand(Operand::Value(it), to, span))
                    .collect::<Result<Vec<_>>>()?;
                return Ok(Node::new(Op::Tuple(cast), to.clone(), span));
            }
            let conv = match self.implicit(&operand, to) {
                // A cast looks at the explicit conversions of one's own too, and takes the one that fits best.
                Some(own) if own.is_own() => match self.explicit(node, to) {
                    Some(best) => Some(best),
                    None if self.user_conversion(&node.ty, to, false).is_some() => {
                        let told = format!(
                            "`{}` converts to `{}` in several ways, of which none fits best",
                            self.text(&node.ty),
                            self.text(to)
                        );
                        return Err(Fail::cs("CS0457", span, told));
                    }
                    None => Some(own),
                },
                Some(conv) => Some(conv),
                None => self.explicit(node, to),
            };
            let Some(conv) = conv else {
                return Err(Fail::cs(
                    "CS0030",
                    span,
                    format!(
                        "`{}` cannot be converted to `{}`",
                        self.text(&node.ty),
                        self.text(to)
                    ),
                ));
            };
            return self.apply(operand, &conv, to, span);
        }
        self.convert(operand, to, span)
    }

    /// Makes a conversion that exists.
    pub(super) fn apply(
        &mut self,
        operand: Operand<'_>,
        conv: &Conv,
        to: &Type,
        span: Span,
    ) -> Result<Node> {
        match operand {
            Operand::Value(node) => self.apply_node(node, conv, to, span),
            Operand::Null(at) if let Conv::User(_, method, _) = conv => {
                let from = method.parameters.first().map(|it| it.ty.clone());
                let null = self.convert(Operand::Null(at), &from.unwrap_or(Type::OBJECT), span)?;
                self.apply_node(null, conv, to, span)
            }
            Operand::Null(_) if to.is_pointer() => self.default_value(to, span),
            Operand::Null(_) => {
                let mut node = Node::new(Op::Constant(Constant::Null), to.clone(), span);
                if to.is_reference() {
                    node.constant = Some(Constant::Null);
                }
                Ok(node)
            }
            Operand::Default(_) => self.default_value(to, span),
            Operand::Lambda(lambda, span) => self.lambda_to(lambda, to, span),
            Operand::Group(group) => self.group_to(&group, to),
            Operand::Untyped(expr) => self.untyped_value(expr, to),
            other => self.natural(other),
        }
    }

    pub(super) fn apply_node(
        &mut self,
        node: Node,
        conv: &Conv,
        to: &Type,
        span: Span,
    ) -> Result<Node> {
        let made = |op| Node::new(op, to.clone(), span);
        if let (Conv::Target, true) = (conv, self.is_formattable(&node, to)) {
            return self.formattable(&node, to, span);
        }
        Ok(match conv {
            Conv::Identity => {
                let mut node = node;
                node.span = span;
                node
            }
            Conv::Keep | Conv::Literal | Conv::Target => {
                let constant = node.constant.clone().filter(|_| to.is_reference());
                let mut kept = made(Op::Convert(Conversion::Keep, Box::new(node)));
                kept.constant = constant.filter(|it| *it == Constant::Null);
                kept
            }
            Conv::Numeric(kind) => return self.numeric(node, *kind, to, span),
            Conv::Box => {
                // What is boxed is known by its type.
                made(Op::Convert(Conversion::Box, Box::new(node)))
            }
            Conv::Unbox => made(Op::Convert(Conversion::Unbox, Box::new(node))),
            Conv::Cast => made(Op::Convert(Conversion::Cast, Box::new(node))),
            Conv::Unwrap(inner) => {
                let value = self.without_nullable(&node.ty);
                let unwrapped =
                    Node::new(Op::Convert(Conversion::Unwrap, Box::new(node)), value, span);
                return self.apply_node(unwrapped, inner, to, span);
            }
            Conv::Lifted(inner) => {
                let slot = self.slot();
                let value = self.without_nullable(&node.ty);
                let target = self.without_nullable(to);
                let read = self.slot_node(slot, &value, span);
                let converted = self.apply_node(read, inner, &target, span)?;
                made(Op::Access(Box::new(node), slot, Box::new(converted)))
            }
            Conv::Tuple(convs) => {
                let target = self.without_nullable(to);
                let wanted = self.tuple_elements(&target).unwrap_or_default();
                let names = node.names.clone();
                let (elements, source) = match node.op {
                    Op::Tuple(elements) => (elements, None),
                    _ => {
                        let slot = self.slot();
                        let read = self.slot_node(slot, &node.ty, span);
                        let n = convs.len();
                        let elements = (0..n)
                            .map(|index| self.tuple_item(&read, index, span))
                            .collect::<Result<Vec<_>>>()?;
                        (elements, Some((slot, node)))
                    }
                };
                let mut converted = Vec::new();
                for ((element, conv), to) in elements.into_iter().zip(convs).zip(&wanted) {
                    converted.push(self.apply_node(element, conv, to, span)?);
                }
                let mut tuple = Node::new(Op::Tuple(converted), target, span);
                tuple.names = names;
                match source {
                    Some(source) => made(Op::Let(vec![source], Box::new(tuple))),
                    None if tuple.ty == *to => tuple,
                    None => made(Op::Convert(Conversion::Keep, Box::new(tuple))),
                }
            }
            Conv::User(before, method, after) => {
                let parameter = method
                    .parameters
                    .first()
                    .map_or(Type::OBJECT, |it| it.ty.without_ref().clone());
                let argument = self.apply_node(node, before, &parameter, span)?;
                let returns = method.returns.clone();
                let callee = self.callee((**method).clone(), Vec::new(), false);
                let call = Node::new(
                    Op::Call(Rc::new(callee), None, vec![argument]),
                    returns,
                    span,
                );
                return self.apply_node(call, after, to, span);
            }
        })
    }

    /// A method with what it takes to call it.
    pub(super) fn callee(&self, method: Method, arguments: Vec<Type>, is_virtual: bool) -> Callee {
        let intrinsic = crate::expressions::intrinsics::find(self.types, &method);
        Callee {
            is_virtual: is_virtual && method.flags.is_virtual(),
            checked: self.checked,
            method,
            arguments,
            intrinsic,
        }
    }

    /// To another number; a constant is converted now.
    pub(super) fn numeric(
        &mut self,
        node: Node,
        kind: Kind,
        to: &Type,
        span: Span,
    ) -> Result<Node> {
        let Some(value) = node.scalar().filter(|_| self.nullable_of(to).is_none()) else {
            return Ok(Node::new(
                Op::Convert(Conversion::Numeric(kind, self.checked), Box::new(node)),
                to.clone(),
                span,
            ));
        };
        // C# refuses a constant that does not fit, unless told not to check.
        let floating = matches!(value, Scalar::Float(_) | Scalar::Double(_));
        let strict = self.strict() && (!floating || kind.is_integral());
        // What does not fit is nothing sure; the compiler makes it zero.
        if floating
            && kind.is_integral()
            && !strict
            && !matches!(scalar::convert(value, kind, true), Some(Ok(_)))
        {
            let zero = Scalar::zero(kind).unwrap_or(Scalar::Int(kind, 0));
            return Ok(Node::constant(zero, to.clone(), span));
        }
        match scalar::convert(value, kind, strict) {
            Some(Ok(converted)) => Ok(Node::constant(converted, to.clone(), span)),
            _ if matches!(value, Scalar::Decimal(_)) || kind == Kind::Decimal => Err(Fail::cs(
                "CS0031",
                span,
                format!(
                    "the constant {} cannot be converted to `{}`",
                    scalar::text(value),
                    self.text(to)
                ),
            )),
            _ => Err(Fail::cs(
                "CS0221",
                span,
                format!(
                    "the constant {} cannot be converted to `{}`",
                    scalar::text(value),
                    self.text(to)
                ),
            )
            .hint("write unchecked(…) to cut it")),
        }
    }

    /// Whether constants are checked for overflow here, which they are unless C# is told otherwise.
    pub(super) fn strict(&self) -> bool {
        !self.unchecked
    }

    /// The default value of a type.
    pub(super) fn default_value(&mut self, ty: &Type, span: Span) -> Result<Node> {
        if ty.is_open() {
            return Err(Fail::cs(
                "CS7003",
                span,
                format!("`{}` has no type arguments", self.text(ty)),
            ));
        }
        if *ty == Type::Primitive(Primitive::Void) {
            return Err(Fail::cs("CS1547", span, "`void` has no values"));
        }
        if let Some(zero) = ty
            .underlying()
            .and_then(primitive_kind)
            .or_else(|| self.kind(ty))
            .and_then(Scalar::zero)
        {
            return Ok(Node::constant(zero, ty.clone(), span));
        }
        let mut node = Node::new(Op::Default, ty.clone(), span);
        if self.admits_null(ty) {
            node.op = Op::Constant(Constant::Null);
            node.constant = ty.is_reference().then_some(Constant::Null);
        }
        Ok(node)
    }

    /// `e as T`
    pub(super) fn as_type(
        &mut self,
        inner: &syntax::tree::Expr,
        ty: &syntax::tree::Type,
        span: Span,
    ) -> Result<Node> {
        let to = self.ty(ty)?;
        let operand = self.bind(inner)?;
        if to.is_value() == Some(true) && self.nullable_of(&to).is_none() {
            return Err(Fail::cs(
                "CS0077",
                span,
                format!(
                    "`as` needs a reference type or a nullable one; `{}` is neither",
                    self.text(&to)
                ),
            )
            .hint("write `is` or a cast"));
        }
        if let Operand::Null(_) = operand {
            return self.convert(operand, &to, span);
        }
        let node = self.natural(operand)?;
        let node = self.tested(node);
        if self.explicit_types(&node.ty, &to).is_none()
            && self.implicit_types(&node.ty, &to).is_none()
            && !self.may_be_any_exception(&node)
        {
            return Err(Fail::cs(
                "CS0039",
                span,
                format!(
                    "`{}` can never be `{}`",
                    self.text(&node.ty),
                    self.text(&to)
                ),
            ));
        }
        if let Some(conv) = self.implicit_types(&node.ty, &to) {
            return self.apply_node(node, &conv, &to, span);
        }
        Ok(Node::new(
            Op::Convert(Conversion::As, Box::new(node)),
            to,
            span,
        ))
    }

    /// Whether an explicit conversion could succeed, as patterns ask.
    pub(super) fn may_be(&self, from: &Type, to: &Type) -> bool {
        self.implicit_types(from, to).is_some()
            && !matches!(
                self.implicit_types(from, to),
                Some(Conv::Numeric(_) | Conv::Tuple(_))
            )
            || matches!(
                self.explicit_types(from, to),
                Some(Conv::Keep | Conv::Cast | Conv::Unbox | Conv::Box | Conv::Identity)
            )
            || self
                .nullable_of(from)
                .is_some_and(|inner| self.may_be(&inner, to))
    }
}
