//! Literals, tuples and interpolated strings.

use std::rc::Rc;

use syntax::Span;
use syntax::tree::{Argument, Expr, ExprKind, IntegerType, InterpolationPart, Literal};

use super::well_known::type_of_kind;
use super::{Binder, Operand};
use crate::expressions::error::{Fail, Result};
use crate::expressions::plan::{Constant, Node, Op, Piece};
use crate::expressions::scalar::{Decimal, Kind, Scalar};
use crate::types::{Type, rests};

impl Binder<'_> {
    pub(super) fn literal<'e>(&mut self, literal: &Literal, span: Span) -> Result<Operand<'e>> {
        let value = match literal {
            Literal::Null => return Ok(Operand::Null(span)),
            Literal::Bool(value) => Scalar::Bool(*value),
            Literal::Integer(integer) => {
                let kind = integer_kind(integer.ty());
                Scalar::Int(kind, i128::from(integer.value))
            }
            Literal::Float(value) => Scalar::Float(*value),
            Literal::Double(value) => Scalar::Double(*value),
            Literal::Decimal(value) => {
                let value = Decimal::new(false, value.mantissa(), value.scale());
                Scalar::Decimal(value.unwrap_or(Decimal::ZERO))
            }
            Literal::Char(unit) => Scalar::Int(Kind::Char, i128::from(*unit)),
            Literal::String(text) => Scalar::String(text.units().into()),
            Literal::Utf8(bytes) => {
                let byte = Type::Primitive(metadata::signature::Primitive::U1);
                let open = self.types.core("System", "ReadOnlySpan`1");
                let closed = open.and_then(|open| {
                    let of = std::slice::from_ref(&byte);
                    self.types.close(open.as_named()?, of).ok()
                });
                let Some(ty) = closed else {
                    let told =
                        "the program has no System.ReadOnlySpan<byte>, which a `u8` literal is";
                    return Err(Fail::new(span, told));
                };
                let items = bytes.iter().map(|it| {
                    let number = Scalar::Int(Kind::Byte, (*it).into());
                    (None, Node::constant(number, byte.clone(), span))
                });
                let op = Op::Collection(items.collect());
                return Ok(Operand::Value(Node::new(op, ty, span)));
            }
        };
        let ty = self.kind_type(value.kind(), span)?;
        Ok(Operand::Value(Node::constant(value, ty, span)))
    }

    /// The type of a kind.
    pub(super) fn kind_type(&self, kind: Kind, span: Span) -> Result<Type> {
        type_of_kind(self.types, kind).ok_or_else(|| {
            Fail::new(
                span,
                format!(
                    "`{}` is not known before the program has loaded its core library",
                    kind.name()
                ),
            )
        })
    }

    pub(super) fn tuple<'e>(
        &mut self,
        expr: &'e Expr,
        elements: &'e [Argument],
    ) -> Result<Operand<'e>> {
        let mut nodes = Vec::new();
        let mut names: Vec<Option<Rc<str>>> = Vec::new();
        let mut inner_names: Vec<Option<Rc<str>>> = Vec::new();
        for element in elements {
            let operand = self.bind(&element.value)?;
            let node = match operand {
                Operand::Value(node) => node,
                Operand::Null(_)
                | Operand::Default(_)
                | Operand::Lambda(..)
                | Operand::Untyped(_)
                | Operand::Group(_) => {
                    return Ok(Operand::Untyped(expr));
                }
                other => self.natural(other)?,
            };
            let name = match &element.name {
                Some(name) => Some(Rc::from(&*name.text)),
                None => inferred_name(&element.value).map(Rc::from),
            };
            names.push(name);
            let (number, all) = (nodes.len(), elements.len());
            let rest = rests(all, number + 1) - rests(all, number);
            inner_names.extend(std::iter::repeat_n(None, rest));
            inner_names.extend(self.names_within(&node));
            nodes.push(node);
        }
        for (index, element) in elements.iter().enumerate() {
            let Some(name) = &element.name else { continue };
            let same = |it: &Argument| it.name.as_ref().is_some_and(|it| it.text == name.text);
            if elements.iter().take(index).any(same) {
                let told = format!("a tuple has one element `{}`", name.text);
                return Err(Fail::cs("CS8127", name.span, told));
            }
            let number = name.text.strip_prefix("Item");
            if let Some(number) = number.and_then(|it| it.parse::<usize>().ok())
                && number != index + 1
            {
                let told = format!("`{}` is the name of another element", name.text);
                return Err(Fail::cs("CS8125", name.span, told));
            }
        }
        // A name that is used twice is inferred for neither.
        let written: Vec<_> = elements.iter().map(|it| it.name.is_some()).collect();
        let all = names.clone();
        for (index, name) in names.iter_mut().enumerate() {
            let twice = all
                .iter()
                .enumerate()
                .any(|(other, it)| other != index && it.is_some() && it == name);
            if twice && !written.get(index).copied().unwrap_or(false) {
                *name = None;
            }
        }
        let types: Vec<Type> = nodes.iter().map(|it| it.ty.clone()).collect();
        if types.contains(&Type::Primitive(metadata::signature::Primitive::Void)) {
            return Err(Fail::cs(
                "CS8210",
                expr.span,
                "a tuple cannot hold a value of type `void`",
            ));
        }
        let ty = self
            .tuple_type(&types)
            .ok_or_else(|| Fail::new(expr.span, "the program has not loaded System.ValueTuple"))?;
        let mut node = Node::new(Op::Tuple(nodes), ty, expr.span);
        names.extend(inner_names);
        if names.iter().any(Option::is_some) {
            node.names = names.into();
        }
        Ok(Operand::Value(node))
    }

    /// The names below a node's type, padded so that the lists of all elements can be joined.
    fn names_within(&self, node: &Node) -> Vec<Option<Rc<str>>> {
        let count = self.count_names(&node.ty);
        let mut names = node.names.to_vec();
        names.resize(count, None);
        names
    }

    /// How many tuple elements there are in a type, at all depths.
    pub(super) fn count_names(&self, ty: &Type) -> usize {
        self.types.count_tuple_names(ty)
    }

    pub(super) fn interpolated(&mut self, parts: &[InterpolationPart], span: Span) -> Result<Node> {
        let mut pieces = Vec::new();
        for part in parts {
            match part {
                InterpolationPart::Text(text, _) => pieces.push(Piece::Text(text.units().into())),
                InterpolationPart::Hole(hole) => {
                    let operand = self.bind(&hole.value)?;
                    let value = match operand {
                        Operand::Null(span) => {
                            self.convert(Operand::Null(span), &Type::OBJECT, span)?
                        }
                        other => self.natural(other)?,
                    };
                    if value.ty == Type::Primitive(metadata::signature::Primitive::Void) {
                        return Err(Fail::cs(
                            "CS0029",
                            hole.span,
                            "a value of type `void` has no text",
                        ));
                    }
                    let alignment = match &hole.alignment {
                        None => None,
                        Some(alignment) => {
                            let bound = self.bind(alignment)?;
                            let node = self.convert(bound, &Type::INT, alignment.span)?;
                            let value = node.scalar().and_then(Scalar::integer);
                            let Some(value) = value else {
                                return Err(Fail::cs(
                                    "CS0150",
                                    alignment.span,
                                    "the alignment must be a constant",
                                ));
                            };
                            Some(i32::try_from(value).unwrap_or(0))
                        }
                    };
                    let format: Option<Rc<str>> =
                        hole.format.as_ref().map(|it| it.to_string_lossy().into());
                    let wrong = match format.as_deref() {
                        Some("") => Some(("CS8089", "the format of the hole is empty")),
                        Some(format) if format.ends_with(char::is_whitespace) => {
                            Some(("CS8088", "a format cannot end with white space"))
                        }
                        _ => None,
                    };
                    if let Some((code, told)) = wrong {
                        return Err(Fail::cs(code, hole.span, told));
                    }
                    pieces.push(Piece::Hole(value, alignment, format));
                }
            }
        }
        // Constants only make a constant.
        let constant = pieces
            .iter()
            .try_fold(Vec::new(), |mut text, piece| match piece {
                Piece::Text(units) => {
                    text.extend_from_slice(units);
                    Some(text)
                }
                Piece::Hole(node, None, None) => match node.scalar() {
                    Some(Scalar::String(units)) => {
                        text.extend_from_slice(units);
                        Some(text)
                    }
                    _ => None,
                },
                Piece::Hole(..) => None,
            });
        let mut node = Node::new(Op::Interpolate(pieces), Type::STRING, span);
        node.constant = constant.map(|it| Constant::Scalar(Scalar::String(it.into())));
        Ok(node)
    }
}

/// The kind of an integer literal.
pub(super) fn integer_kind(ty: IntegerType) -> Kind {
    match ty {
        IntegerType::Int => Kind::Int,
        IntegerType::UInt => Kind::UInt,
        IntegerType::Long => Kind::Long,
        IntegerType::ULong => Kind::ULong,
    }
}

/// The name that a tuple element or anonymous member gets from its value.
pub(super) fn inferred_name(expr: &Expr) -> Option<&str> {
    let name = match &expr.kind {
        ExprKind::Name(name) => name,
        ExprKind::Member { name, .. } => name,
        ExprKind::MemberBinding(name) => name,
        ExprKind::ConditionalAccess { access, .. } => return inferred_name(access),
        _ => return None,
    };
    let text = &*name.identifier.text;
    let is_position = text
        .strip_prefix("Item")
        .is_some_and(|it| it.parse::<u32>().is_ok())
        || matches!(
            text,
            "Rest" | "ToString" | "GetHashCode" | "Equals" | "GetType" | "Deconstruct"
        );
    (!is_position).then_some(text)
}
