//! Interpolated strings as a `FormattableString`: their parts, which are made a text later.

use std::rc::Rc;

use syntax::Span;

use super::{Binder, Operand};
use crate::expressions::error::{Fail, Result};
use crate::expressions::plan::{Node, Op, Piece};
use crate::expressions::scalar::Scalar;
use crate::types::Type;

impl Binder<'_> {
    /// Whether an interpolated string is wanted with its parts.
    pub(super) fn is_formattable(&self, node: &Node, to: &Type) -> bool {
        matches!(node.op, Op::Interpolate(_))
            && to.as_named().is_some_and(|it| {
                let mut names = ["FormattableString", "IFormattable"].into_iter();
                names.any(|name| self.types.is_named(it, "System", name))
            })
    }

    /// The interpolated string with its parts, made by the program.
    pub(super) fn formattable(&mut self, node: &Node, to: &Type, span: Span) -> Result<Node> {
        let made = self.format_and_arguments(node, span)?;
        self.convert(Operand::Value(made), to, span)
    }

    /// `string.Create(provider, $"…")`: what a provider makes of the parts.
    pub(super) fn formatted_by(
        &mut self,
        provider: Operand<'_>,
        node: &Node,
        span: Span,
    ) -> Result<Option<Node>> {
        let made = self.format_and_arguments(node, span)?;
        let Some(named) = made.ty.as_named() else {
            return Ok(None);
        };
        let methods = self.types.methods(named, Some("ToString"));
        let mut methods = methods.unwrap_or_default().into_iter();
        let method = methods.find(|it| it.parameters.len() == 1);
        let Some(method) = method else {
            return Ok(None);
        };
        let ty = method.parameters.first().map(|it| it.ty.clone());
        let ty = ty.unwrap_or(Type::OBJECT);
        if self.implicit(&provider, &ty).is_none() {
            return Ok(None);
        }
        let provider = self.convert(provider, &ty, span)?;
        let callee = self.callee(method, Vec::new(), true);
        let op = Op::Call(Rc::new(callee), Some(Box::new(made)), vec![provider]);
        Ok(Some(Node::new(op, Type::STRING, span)))
    }

    fn format_and_arguments(&mut self, node: &Node, span: Span) -> Result<Node> {
        let Op::Interpolate(pieces) = &node.op else {
            return Err(Fail::new(span, "it is no interpolated string"));
        };
        let mut format: Vec<u16> = Vec::new();
        let mut arguments = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Text(units) => {
                    for unit in units.iter() {
                        let is_brace = [u16::from(b'{'), u16::from(b'}')].contains(unit);
                        format.extend(std::iter::repeat_n(*unit, 1 + usize::from(is_brace)));
                    }
                }
                Piece::Hole(value, alignment, with) => {
                    let alignment = alignment.map(|it| format!(",{it}")).unwrap_or_default();
                    let with = with.as_ref().map(|it| format!(":{it}")).unwrap_or_default();
                    let hole = format!("{{{}{alignment}{with}}}", arguments.len());
                    format.extend(hole.encode_utf16());
                    let value = Operand::Value(value.clone());
                    arguments.push(self.convert(value, &Type::OBJECT, span)?);
                }
            }
        }
        let factory = self.types.core_named(
            "System.Runtime.CompilerServices",
            "FormattableStringFactory",
        );
        let methods = factory.and_then(|it| self.types.methods(&it, Some("Create")).ok());
        let Some(method) = methods.unwrap_or_default().into_iter().next() else {
            return Err(Fail::new(
                span,
                "the program's framework has no FormattableStringFactory",
            ));
        };
        let returns = method.returns.clone();
        let array = Type::SzArray(Rc::new(Type::OBJECT));
        let inputs = vec![
            Node::constant(Scalar::String(format.into()), Type::STRING, span),
            Node::new(Op::ArrayOf(arguments), array, span),
        ];
        let callee = self.callee(method, Vec::new(), false);
        let op = Op::Call(Rc::new(callee), None, inputs);
        Ok(Node::new(op, returns, span))
    }
}
