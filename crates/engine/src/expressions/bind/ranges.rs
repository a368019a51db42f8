//! Indexes and ranges: `^1`, `1..3`, and what is taken by them.

use syntax::Span;
use syntax::tree::{Argument, BinaryOp, Expr, ExprKind, UnaryOp};

use super::{Binder, Operand};
use crate::expressions::error::{Fail, Result};
use crate::expressions::plan::{Node, Op};
use crate::expressions::scalar::{Kind, Scalar};
use crate::types::{Property, Type};

impl Binder<'_> {
    /// `^n` alone.
    pub(super) fn index_value(&mut self, inner: &Expr, span: Span) -> Result<Node> {
        let operand = self.bind(inner)?;
        let number = self.convert(operand, &Type::INT, inner.span)?;
        let ty = self
            .types
            .core("System", "Index")
            .ok_or_else(|| Fail::new(span, "the program has not loaded System.Index"))?;
        Ok(Node::new(Op::Index(Box::new(number), true), ty, span))
    }

    pub(super) fn range(
        &mut self,
        start: Option<&Expr>,
        end: Option<&Expr>,
        span: Span,
    ) -> Result<Node> {
        let start = start.map(|it| self.range_end(it)).transpose()?;
        let end = end.map(|it| self.range_end(it)).transpose()?;
        let ty = self
            .types
            .core("System", "Range")
            .ok_or_else(|| Fail::new(span, "the program has not loaded System.Range"))?;
        Ok(Node::new(
            Op::Range(start.map(Box::new), end.map(Box::new)),
            ty,
            span,
        ))
    }

    fn range_end(&mut self, expr: &Expr) -> Result<Node> {
        if let ExprKind::Unary(UnaryOp::FromEnd, inner) = &expr.kind {
            return self.index_value(inner, expr.span);
        }
        let operand = self.bind(expr)?;
        let number = self.convert(operand, &Type::INT, expr.span)?;
        Ok(Node::new(
            Op::Index(Box::new(number), false),
            Type::INT,
            expr.span,
        ))
    }

    /// `array[^1]` and `array[1..3]`.
    pub(super) fn array_range(
        &mut self,
        target: &Node,
        element: &Type,
        argument: &Argument,
        span: Span,
    ) -> Result<Option<Node>> {
        let _ = element;
        match &argument.value.without_parens().kind {
            ExprKind::Unary(UnaryOp::FromEnd, inner) => {
                self.counted_back(target, inner, span).map(Some)
            }
            ExprKind::Range(start, end) => {
                let range = self.range(start.as_deref(), end.as_deref(), argument.value.span)?;
                Ok(Some(Node::new(
                    Op::Slice(Box::new(target.clone()), Box::new(range)),
                    target.ty.clone(),
                    span,
                )))
            }
            _ => self.by_index_value(target, argument, span),
        }
    }

    /// `array[i]` where `i` is a variable that holds an index or a range. Only plain names are looked at, as the argument is
    /// bound once more here.
    fn by_index_value(
        &mut self,
        target: &Node,
        argument: &Argument,
        span: Span,
    ) -> Result<Option<Node>> {
        let mut inner = argument.value.without_parens();
        while let ExprKind::Member { target, .. } = &inner.kind {
            inner = target;
        }
        if !matches!(inner.kind, ExprKind::Name(_) | ExprKind::This) {
            return Ok(None);
        }
        let Ok(Operand::Value(index)) = self.bind(&argument.value) else {
            return Ok(None);
        };
        let is = |name: &str| {
            let named = index.ty.as_named();
            named.is_some_and(|it| self.types.is_named(it, "System", name))
        };
        let is_sliced_here = matches!(target.ty, Type::SzArray(_)) || target.ty == Type::STRING;
        if is("Range") && !is_sliced_here {
            return self.sliced_by_value(target, index, span).map(Some);
        }
        if is("Range") {
            return Ok(Some(Node::new(
                Op::Slice(Box::new(target.clone()), Box::new(index)),
                target.ty.clone(),
                span,
            )));
        }
        if !is("Index") {
            return Ok(None);
        }
        // The struct has one number: what to count from the start, or the complement of what to count from the end.
        let number = self.member_value(index, "_value", argument.value.span)?;
        let (array, at) = (self.slot(), self.slot());
        let read = self.held_in(array, target);
        let number_read = self.slot_node(at, &Type::INT, span);
        let Some(length) = self.length_of(&read, span) else {
            return Ok(None);
        };
        let offset = self.offset(number_read, length, span)?;
        let element = self.element_at(&read, offset, span)?;
        let ty = element.ty.clone();
        let values = vec![(array, target.clone()), (at, number)];
        Ok(Some(Node::new(
            Op::Let(values, Box::new(element)),
            ty,
            span,
        )))
    }

    /// Where the number of an index leads: one below zero is the complement of what to count from the end.
    fn offset(&mut self, number: Node, length: Node, span: Span) -> Result<Node> {
        let zero = Node::constant(Scalar::Int(Kind::Int, 0), Type::INT, span);
        let one = Node::constant(Scalar::Int(Kind::Int, 1), Type::INT, span);
        let value = Operand::Value;
        let from_start = self.binary_operands(
            BinaryOp::GreaterOrEqual,
            value(number.clone()),
            value(zero),
            span,
        )?;
        let end = self.binary_operands(BinaryOp::Add, value(length), value(one), span)?;
        let from_end =
            self.binary_operands(BinaryOp::Add, value(end), value(number.clone()), span)?;
        Ok(Node::new(
            Op::Conditional(Box::new(from_start), Box::new(number), Box::new(from_end)),
            Type::INT,
            span,
        ))
    }

    /// `list[range]` of what has a length and a method `Slice`, by a range that is a value.
    fn sliced_by_value(&mut self, target: &Node, range: Node, span: Span) -> Result<Node> {
        let (list, ends, from) = (self.slot(), self.slot(), self.slot());
        let read = self.held_in(list, target);
        let ends_read = self.slot_node(ends, &range.ty, range.span);
        let Some(length) = self.count_of(&read, span) else {
            let told = format!(
                "`{}` has no length to take a part of",
                self.text(&target.ty)
            );
            return Err(Fail::cs("CS1503", span, told));
        };
        let end = |this: &mut Self, name: &str| {
            let index = this.member_value(ends_read.clone(), name, range.span)?;
            let number = this.member_value(index, "_value", range.span)?;
            this.offset(number, length.clone(), span)
        };
        let (start, end) = (end(self, "Start")?, end(self, "End")?);
        let from_read = self.slot_node(from, &Type::INT, span);
        let count = self.binary_operands(
            BinaryOp::Subtract,
            Operand::Value(end),
            Operand::Value(from_read.clone()),
            span,
        )?;
        let part = self.sliced(&read, from_read, count, span)?;
        let ty = part.ty.clone();
        let values = vec![(list, target.clone()), (ends, range), (from, start)];
        Ok(Node::new(Op::Let(values, Box::new(part)), ty, span))
    }

    fn counted_back(&mut self, target: &Node, inner: &Expr, span: Span) -> Result<Node> {
        let slot = self.slot();
        let read = self.held_in(slot, target);
        let operand = self.bind(inner)?;
        let back = self.convert(operand, &Type::INT, inner.span)?;
        let Some(length) = self.length_of(&read, span) else {
            return Err(Fail::cs(
                "CS1503",
                span,
                format!(
                    "`{}` has no length to count back from",
                    self.text(&target.ty)
                ),
            ));
        };
        let at = self.binary_operands(
            BinaryOp::Subtract,
            Operand::Value(length),
            Operand::Value(back),
            span,
        )?;
        let element = self.element_at(&read, at, span)?;
        let ty = element.ty.clone();
        Ok(Node::new(
            Op::Let(vec![(slot, target.clone())], Box::new(element)),
            ty,
            span,
        ))
    }

    /// `list[1..3]` of what has a length and a method `Slice`.
    fn sliced_by_method(
        &mut self,
        target: &Node,
        start: Option<&Expr>,
        end: Option<&Expr>,
        span: Span,
    ) -> Result<Node> {
        let (list, from) = (self.slot(), self.slot());
        let read = self.held_in(list, target);
        let zero = Node::constant(Scalar::Int(Kind::Int, 0), Type::INT, span);
        let length = self.count_of(&read, span).unwrap_or_else(|| zero.clone());
        let number = |this: &mut Self, end: Option<&Expr>, missing: Node| -> Result<Node> {
            let Some(end) = end else { return Ok(missing) };
            if let ExprKind::Unary(UnaryOp::FromEnd, inner) = &end.kind {
                let back = this.bind(inner)?;
                let back = this.convert(back, &Type::INT, inner.span)?;
                let (length, back) = (Operand::Value(length.clone()), Operand::Value(back));
                return this.binary_operands(BinaryOp::Subtract, length, back, span);
            }
            let operand = this.bind(end)?;
            this.convert(operand, &Type::INT, end.span)
        };
        let start = number(self, start, zero)?;
        let end = number(self, end, length.clone())?;
        let from_read = self.slot_node(from, &Type::INT, span);
        let count = self.binary_operands(
            BinaryOp::Subtract,
            Operand::Value(end),
            Operand::Value(from_read.clone()),
            span,
        )?;
        let part = self.sliced(&read, from_read, count, span)?;
        let ty = part.ty.clone();
        let values = vec![(list, target.clone()), (from, start)];
        Ok(Node::new(Op::Let(values, Box::new(part)), ty, span))
    }

    /// `text[^1]` and `text[1..3]` on what has a length and an indexer by number.
    pub(super) fn implicit_index(
        &mut self,
        target: &Node,
        indexers: &[Property],
        argument: &Argument,
        span: Span,
    ) -> Result<Option<Node>> {
        let takes = |this: &Self, name: &str| {
            indexers.iter().any(|it| {
                it.parameters.iter().any(|it| {
                    it.as_named()
                        .is_some_and(|named| this.types.is_named(named, "System", name))
                })
            })
        };
        let (by_index, by_range) = (takes(self, "Index"), takes(self, "Range"));
        match &argument.value.without_parens().kind {
            ExprKind::Unary(UnaryOp::FromEnd, inner) if !by_index => {
                if self.length_of(target, span).is_none() {
                    return Ok(None);
                }
                self.counted_back(target, inner, span).map(Some)
            }
            ExprKind::Range(start, end)
                if target.ty != Type::STRING
                    && self.count_of(target, span).is_some()
                    && !by_range =>
            {
                self.sliced_by_method(target, start.as_deref(), end.as_deref(), span)
                    .map(Some)
            }
            ExprKind::Range(start, end) if target.ty == Type::STRING => {
                let range = self.range(start.as_deref(), end.as_deref(), argument.value.span)?;
                Ok(Some(Node::new(
                    Op::Slice(Box::new(target.clone()), Box::new(range)),
                    Type::STRING,
                    span,
                )))
            }
            _ if by_index || by_range => Ok(None),
            _ => self.by_index_value(target, argument, span),
        }
    }
}
