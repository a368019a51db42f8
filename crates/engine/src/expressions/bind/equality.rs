//! Equality of references, delegates and tuples (C# 12.12.7, 12.12.9, 12.12.11).

use std::rc::Rc;

use syntax::Span;
use syntax::tree::{BinaryOp, ExprKind};

use super::{Binder, Operand};
use crate::expressions::error::{Fail, Result};
use crate::expressions::plan::{Node, Op};
use crate::types::{self, Type};

impl Binder<'_> {
    pub(super) fn reference_equality(
        &mut self,
        op: BinaryOp,
        left: &Operand<'_>,
        right: &Operand<'_>,
        span: Span,
    ) -> Result<Option<Node>> {
        let equal = op == BinaryOp::Equal;
        let (left, right) = match (left, right) {
            // A method is compared as the delegate that the other one is.
            (Operand::Value(node), Operand::Group(_))
            | (Operand::Group(_), Operand::Value(node))
                if self.invoke(&node.ty).is_some() =>
            {
                let ty = node.ty.clone();
                let left = self.convert(left.clone(), &ty, left.span())?;
                let right = self.convert(right.clone(), &ty, right.span())?;
                return self.delegate_equality(equal, &left, &right, span);
            }
            (Operand::Value(node), Operand::Null(at))
            | (Operand::Null(at), Operand::Value(node)) => {
                if !self.admits_null(&node.ty) {
                    return Ok(None);
                }
                let null = self.convert(Operand::Null(*at), &node.ty, *at)?;
                (node.clone(), null)
            }
            (Operand::Value(left), Operand::Value(right)) => {
                if !left.ty.is_reference() || !right.ty.is_reference() {
                    return Ok(None);
                }
                let related = self.reference_converts(&left.ty, &right.ty)
                    || self.reference_converts(&right.ty, &left.ty)
                    || self.may_be(&left.ty, &right.ty);
                if !related {
                    return Ok(None);
                }
                // Delegates of one type compare by what they call.
                let delegates = left.ty == right.ty
                    && matches!(&left.ty, Type::Named(named) if named.kind == types::Kind::Delegate);
                if delegates && let Some(node) = self.delegate_equality(equal, left, right, span)? {
                    return Ok(Some(node));
                }
                (left.clone(), right.clone())
            }
            _ => return Ok(None),
        };
        Ok(Some(Node::new(
            Op::Same(equal, Box::new(left), Box::new(right)),
            Type::BOOL,
            span,
        )))
    }

    pub(super) fn delegate_equality(
        &mut self,
        equal: bool,
        left: &Node,
        right: &Node,
        span: Span,
    ) -> Result<Option<Node>> {
        let Some(delegate) = self.types.core_named("System", "Delegate") else {
            return Ok(None);
        };
        let name = if equal {
            "op_Equality"
        } else {
            "op_Inequality"
        };
        let method = self
            .types
            .methods(&delegate, Some(name))
            .unwrap_or_default()
            .into_iter()
            .next();
        Ok(method.map(|method| {
            let callee = self.callee(method, Vec::new(), false);
            Node::new(
                Op::Call(Rc::new(callee), None, vec![left.clone(), right.clone()]),
                Type::BOOL,
                span,
            )
        }))
    }

    pub(super) fn tuple_equality(
        &mut self,
        op: BinaryOp,
        left: &Operand<'_>,
        right: &Operand<'_>,
        span: Span,
    ) -> Result<Option<Node>> {
        let (Operand::Value(left), Operand::Value(right)) = (left, right) else {
            return self.literal_equality(op, left, right, span);
        };
        // One that may be null equals null only, or what it holds.
        let inner = [&left.ty, &right.ty].map(|it| self.without_nullable(it));
        if inner != [left.ty.clone(), right.ty.clone()]
            && inner.iter().all(|it| self.tuple_elements(it).is_some())
        {
            let slots = [self.slot(), self.slot()];
            let mut sides = Vec::with_capacity(2);
            for (slot, ty) in slots.iter().zip(&inner) {
                sides.push(Operand::Value(self.slot_node(*slot, ty, span)));
            }
            let [one, other] = sides.as_slice() else {
                return Ok(None);
            };
            let Some(body) = self.tuple_equality(op, one, other, span)? else {
                return Ok(None);
            };
            let [first, second] = slots;
            let operands = vec![(first, left.clone()), (second, right.clone())];
            let equality = Some(op == BinaryOp::Equal);
            let lifted = Op::Lifted(operands, Box::new(body), true, equality);
            return Ok(Some(Node::new(lifted, Type::BOOL, span)));
        }
        let (Some(lefts), Some(rights)) = (
            self.tuple_elements(&left.ty),
            self.tuple_elements(&right.ty),
        ) else {
            return Ok(None);
        };
        if lefts.len() != rights.len() {
            return Err(Fail::cs(
                "CS8384",
                span,
                format!(
                    "the tuples have {} and {} elements",
                    lefts.len(),
                    rights.len()
                ),
            ));
        }
        let mut lets = Vec::new();
        let mut sides = Vec::new();
        for node in [left, right] {
            if let Op::Tuple(elements) = &node.op {
                sides.push(elements.clone());
                continue;
            }
            let slot = self.slot();
            let read = self.slot_node(slot, &node.ty, span);
            let elements = (0..lefts.len())
                .map(|index| self.tuple_item(&read, index, span))
                .collect::<Result<Vec<_>>>()?;
            lets.push((slot, node.clone()));
            sides.push(elements);
        }
        let mut sides = sides
            .into_iter()
            .map(|it| it.into_iter().map(Operand::Value).collect());
        let (left, right) = (sides.next(), sides.next());
        self.equal_elements(
            op,
            (left.unwrap_or_default(), right.unwrap_or_default()),
            lets,
            span,
        )
        .map(Some)
    }

    /// Whether all elements of two tuples are equal.
    fn equal_elements(
        &mut self,
        op: BinaryOp,
        (left, right): (Vec<Operand<'_>>, Vec<Operand<'_>>),
        lets: Vec<(u32, Node)>,
        span: Span,
    ) -> Result<Node> {
        let mut parts = Vec::new();
        for (a, b) in left.into_iter().zip(right) {
            let part = self.binary_operands(BinaryOp::Equal, a, b, span)?;
            parts.push(self.convert(Operand::Value(part), &Type::BOOL, span)?);
        }
        let all = Node::new(Op::All(op == BinaryOp::Equal, parts), Type::BOOL, span);
        Ok(if lets.is_empty() {
            all
        } else {
            Node::new(Op::Let(lets, Box::new(all)), Type::BOOL, span)
        })
    }

    /// The equality of tuples of which one at least is written with an element that has no type of its own: `(a, null)`.
    fn literal_equality(
        &mut self,
        op: BinaryOp,
        left: &Operand<'_>,
        right: &Operand<'_>,
        span: Span,
    ) -> Result<Option<Node>> {
        let mut sides = Vec::with_capacity(2);
        let mut lets = Vec::new();
        for operand in [left, right] {
            let elements = match operand {
                Operand::Untyped(expr) => {
                    let ExprKind::Tuple(written) = &expr.without_parens().kind else {
                        return Ok(None);
                    };
                    written
                        .iter()
                        .map(|it| self.bind(&it.value))
                        .collect::<Result<Vec<_>>>()?
                }
                Operand::Value(node) => {
                    let Some(count) = self.tuple_elements(&node.ty).map(|it| it.len()) else {
                        return Ok(None);
                    };
                    let slot = self.slot();
                    let read = self.slot_node(slot, &node.ty, span);
                    lets.push((slot, node.clone()));
                    (0..count)
                        .map(|index| self.tuple_item(&read, index, span).map(Operand::Value))
                        .collect::<Result<Vec<_>>>()?
                }
                _ => return Ok(None),
            };
            sides.push(elements);
        }
        let (Some(right), Some(left)) = (sides.pop(), sides.pop()) else {
            return Ok(None);
        };
        if left.len() != right.len() {
            return Ok(None);
        }
        self.equal_elements(op, (left, right), lets, span).map(Some)
    }
}
