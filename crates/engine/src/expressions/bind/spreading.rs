//! Assignments to several places at once: `(a, b) = (b, a)` (C# 12.7).

use std::rc::Rc;

use syntax::Span;
use syntax::tree::{Argument, Expr, ExprKind};

use super::literals::inferred_name;
use super::{Binder, Operand};
use crate::expressions::error::{Fail, Result};
use crate::expressions::plan::{Node, Op};
use crate::types::Type;

impl Binder<'_> {
    /// `(a, b) = right`
    pub(super) fn spread(&mut self, parts: &[Argument], right: &Expr, span: Span) -> Result<Node> {
        let mut places = Vec::with_capacity(parts.len());
        for part in parts {
            places.push(self.spread_place(&part.value)?);
        }
        let bound = self.bind(right)?;
        // What has no type by itself gets it from the places.
        let wanted: Option<Vec<Type>> = places
            .iter()
            .map(|it| it.as_ref().map(|it| it.ty.clone()))
            .collect();
        let value = match (bound, wanted.and_then(|it| self.tuple_type(&it))) {
            (Operand::Value(node), _) => self.fitted(node, &places, span)?,
            (other, Some(ty)) => self.convert(other, &ty, right.span)?,
            (other, None) => self.natural(other)?,
        };
        let slot = self.slot();
        let read = self.slot_node(slot, &value.ty, span);
        if let Some(elements) = self.tuple_elements(&value.ty)
            && elements.len() != places.len()
        {
            let (given, wanted) = (elements.len(), places.len());
            let told = format!("a tuple of {given} elements is assigned to {wanted} variables");
            return Err(Fail::cs("CS8132", span, told));
        }
        let (call, elements) = self.deconstruct(&read, places.len(), span)?;
        let mut values = Vec::with_capacity(elements.len());
        for (element, place) in elements.into_iter().zip(&places) {
            values.push(match place {
                Some(place) => self.convert(Operand::Value(element), &place.ty, place.span)?,
                None => element,
            });
        }
        // `Deconstruct` runs before the first part is taken.
        if let (Some(call), Some(first)) = (call, values.first_mut()) {
            let run = self.slot();
            let ty = first.ty.clone();
            let part = Op::Let(vec![(run, call)], Box::new(first.clone()));
            *first = Node::new(part, ty, span);
        }
        let types: Vec<Type> = values.iter().map(|it| it.ty.clone()).collect();
        let ty = self
            .tuple_type(&types)
            .ok_or_else(|| Fail::new(span, "the program has not loaded System.ValueTuple"))?;
        let op = Op::Spread(places, slot, Box::new(value), values);
        let mut node = Node::new(op, ty, span);
        // The variables name the parts, as in a tuple of them.
        let names: Vec<_> = parts.iter().map(|it| inferred_name(&it.value)).collect();
        let inside: usize = types.iter().map(|it| self.count_names(it)).sum();
        let once = |name: &&str| names.iter().filter(|it| **it == Some(name)).count() == 1;
        if names.len() < 8 {
            let own = names
                .iter()
                .map(|it| it.filter(|it| once(it)).map(Rc::from));
            node.names = own.chain(std::iter::repeat_n(None, inside)).collect();
        }
        Ok(node)
    }

    /// A tuple that is written out, each element as its place wants it: constants may fit there that other values do not.
    fn fitted(&mut self, node: Node, places: &[Option<Node>], span: Span) -> Result<Node> {
        let Op::Tuple(elements) = &node.op else {
            return Ok(node);
        };
        if elements.len() != places.len() {
            return Ok(node);
        }
        let mut fitted = Vec::with_capacity(elements.len());
        for (element, place) in elements.iter().zip(places) {
            let element = Operand::Value(element.clone());
            fitted.push(match place {
                Some(place) => {
                    let at = element.span();
                    self.convert(element, &place.ty, at)?
                }
                None => self.natural(element)?,
            });
        }
        let types: Vec<Type> = fitted.iter().map(|it| it.ty.clone()).collect();
        Ok(match self.tuple_type(&types) {
            Some(ty) => Node::new(Op::Tuple(fitted), ty, span),
            None => node,
        })
    }

    /// A place that gets a part; `None` for `_`.
    fn spread_place(&mut self, expr: &Expr) -> Result<Option<Node>> {
        match &expr.kind {
            ExprKind::Declaration(..) => Err(Fail::new(
                expr.span,
                "an expression declares no variables: assign to those that the program has",
            )),
            ExprKind::Tuple(_) => Err(Fail::new(
                expr.span,
                "parts of parts cannot be assigned at once: assign them one after the other",
            )),
            ExprKind::Name(name) if &*name.identifier.text == "_" => {
                Ok(self.place(expr, expr.span).ok())
            }
            _ => self.place(expr, expr.span).map(Some),
        }
    }
}
