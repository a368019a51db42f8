//! Assignments, `++`, `--`, indexes and ranges.

use syntax::Span;
use syntax::tree::{Argument, AssignOp, BinaryOp, Expr, ExprKind, PostfixOp, UnaryOp};

use super::{Binder, Operand};
use crate::expressions::error::{Fail, Result};
use crate::expressions::plan::{Node, Op};
use crate::expressions::scalar::{Kind, Scalar};
use crate::types::{Property, Type};

impl Binder<'_> {
    pub(super) fn postfix<'e>(
        &mut self,
        op: PostfixOp,
        inner: &'e Expr,
        span: Span,
    ) -> Result<Operand<'e>> {
        match op {
            PostfixOp::NullForgiving => {
                let bound = self.bind(inner)?;
                Ok(self.spanning(bound, span))
            }
            PostfixOp::Increment | PostfixOp::Decrement => self
                .increment(op == PostfixOp::Increment, false, inner, span)
                .map(Operand::Value),
        }
    }

    pub(super) fn increment(
        &mut self,
        up: bool,
        prefix: bool,
        inner: &Expr,
        span: Span,
    ) -> Result<Node> {
        let place = self.place(inner, span)?;
        let slot = self.slot();
        let old = self.slot_node(slot, &place.ty, span);
        let one = Node::constant(Scalar::Int(Kind::Int, 1), Type::INT, span);
        let op = if up {
            BinaryOp::Add
        } else {
            BinaryOp::Subtract
        };
        let changed = self.binary_operands(op, Operand::Value(old), Operand::Value(one), span);
        let changed = changed.map_err(|_| {
            Fail::cs(
                "CS0023",
                span,
                format!(
                    "`{}` cannot be applied to an operand of type `{}`",
                    if up { "++" } else { "--" },
                    self.text(&place.ty)
                ),
            )
        })?;
        let ty = place.ty.clone();
        let value = self.cast_operand(Operand::Value(changed), &ty, span)?;
        Ok(Node::new(
            Op::Update(Box::new(place), slot, Box::new(value), !prefix),
            ty,
            span,
        ))
    }

    pub(super) fn assign(
        &mut self,
        op: AssignOp,
        left: &Expr,
        right: &Expr,
        span: Span,
    ) -> Result<Node> {
        if matches!(left.kind, ExprKind::Tuple(_) | ExprKind::Declaration(..)) {
            return Err(Fail::new(
                span,
                "deconstruction is a statement that declares or sets several variables; assign them one by one",
            ));
        }
        let place = self.place(left, span)?;
        let ty = place.ty.clone();
        if op == AssignOp::Coalesce {
            let right = self.bind(right)?;
            if !self.admits_null(&ty) {
                return Err(Fail::cs(
                    "CS0019",
                    span,
                    format!("`??=` cannot be applied to `{}`", self.text(&ty)),
                ));
            }
            let slot = self.slot();
            let value = self.convert(right, &ty, span)?;
            let old = self.slot_node(slot, &ty, span);
            let keep = Node::new(
                Op::Coalesce(Box::new(old.clone()), slot, Box::new(old), Box::new(value)),
                ty.clone(),
                span,
            );
            return Ok(Node::new(
                Op::Update(Box::new(place), slot, Box::new(keep), false),
                ty,
                span,
            ));
        }
        let Some(binary) = op.binary() else {
            let value = self.bind(right)?;
            let value = self.convert(value, &ty, right.span)?;
            return Ok(Node::new(
                Op::Assign(Box::new(place), Box::new(value)),
                ty,
                span,
            ));
        };
        let slot = self.slot();
        let old = self.slot_node(slot, &ty, span);
        let right = self.bind(right)?;
        let computed = self.binary_operands(binary, Operand::Value(old), right, span)?;
        // `b += 1` converts back to a byte; the right side must fit it by itself.
        let value = self.cast_operand(Operand::Value(computed), &ty, span)?;
        Ok(Node::new(
            Op::Update(Box::new(place), slot, Box::new(value), false),
            ty,
            span,
        ))
    }

    /// Something that can be assigned.
    fn place(&mut self, expr: &Expr, span: Span) -> Result<Node> {
        let outer = std::mem::replace(&mut self.assigning, true);
        let bound = self.bind(expr);
        self.assigning = outer;
        let bound = bound?;
        if let Operand::Group(group) = &bound {
            return Err(Fail::cs(
                "CS1656",
                span,
                format!("`{}` is a method group and cannot be assigned", group.name),
            ));
        }
        let node = self.natural(bound)?;
        match &node.op {
            _ if node.constant.is_some() => Err(not_a_variable(span)),
            Op::Variable(number) if Some(*number) == self.context.this => {
                Err(Fail::cs("CS1604", span, "`this` cannot be assigned"))
            }
            Op::Variable(_) | Op::StaticField(_) | Op::Element(..) => Ok(node),
            Op::Field(target, _) => {
                // A field of a struct that is itself a value and not a variable is gone after the assignment.
                let is_variable = target.ty.is_reference()
                    || matches!(
                        target.op,
                        Op::Variable(_) | Op::StaticField(_) | Op::Element(..) | Op::Field(..)
                    );
                if is_variable {
                    Ok(node)
                } else {
                    Err(Fail::cs(
                        "CS1612",
                        span,
                        "the value whose field is assigned is not a variable",
                    ))
                }
            }
            Op::Call(callee, ..) if callee.method.name.starts_with("get_") => {
                let property = callee.method.name.trim_start_matches("get_");
                let found: Option<Property> = self
                    .types
                    .properties(&callee.method.declared_in)
                    .ok()
                    .and_then(|all| {
                        all.into_iter()
                            .find(|it| it.getter == Some(callee.method.token))
                    });
                match found.and_then(|it| it.setter) {
                    Some(_) => Ok(node),
                    None => Err(Fail::cs(
                        "CS0200",
                        span,
                        format!("`{property}` has no setter"),
                    )),
                }
            }
            Op::Access(_, _, rest) if matches!(&rest.op, Op::Call(callee, ..) if callee.method.name.starts_with("get_")) => {
                Err(Fail::cs(
                    "CS0200",
                    span,
                    "a property behind `?.` cannot be assigned",
                ))
            }
            Op::Slot(_) => Err(Fail::new(
                span,
                "a variable of the expression itself cannot be assigned",
            )),
            _ => Err(not_a_variable(span)),
        }
    }

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
        let mut read = self.slot_node(array, &target.ty, target.span);
        read.names = target.names.clone();
        let number_read = self.slot_node(at, &Type::INT, span);
        let Some(length) = self.length_of(&read, span) else {
            return Ok(None);
        };
        let zero = Node::constant(Scalar::Int(Kind::Int, 0), Type::INT, span);
        let one = Node::constant(Scalar::Int(Kind::Int, 1), Type::INT, span);
        let value = Operand::Value;
        let from_start = self.binary_operands(
            BinaryOp::GreaterOrEqual,
            value(number_read.clone()),
            value(zero),
            span,
        )?;
        let end = self.binary_operands(BinaryOp::Add, value(length), value(one), span)?;
        let from_end =
            self.binary_operands(BinaryOp::Add, value(end), value(number_read.clone()), span)?;
        let offset = Node::new(
            Op::Conditional(
                Box::new(from_start),
                Box::new(number_read),
                Box::new(from_end),
            ),
            Type::INT,
            span,
        );
        let element = self.element_at(&read, offset, span)?;
        let ty = element.ty.clone();
        let values = vec![(array, target.clone()), (at, number)];
        Ok(Some(Node::new(
            Op::Let(values, Box::new(element)),
            ty,
            span,
        )))
    }

    fn counted_back(&mut self, target: &Node, inner: &Expr, span: Span) -> Result<Node> {
        let slot = self.slot();
        let mut read = self.slot_node(slot, &target.ty, target.span);
        read.names = target.names.clone();
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

    /// `text[^1]` and `text[1..3]` on what has a length and an indexer by number.
    pub(super) fn implicit_index(
        &mut self,
        target: &Node,
        indexers: &[Property],
        argument: &Argument,
        span: Span,
    ) -> Result<Option<Node>> {
        let takes = |name: &str| {
            indexers.iter().any(|it| {
                it.parameters.iter().any(|it| {
                    it.as_named()
                        .is_some_and(|named| self.types.is_named(named, "System", name))
                })
            })
        };
        match &argument.value.without_parens().kind {
            ExprKind::Unary(UnaryOp::FromEnd, inner) if !takes("Index") => {
                if self.length_of(target, span).is_none() {
                    return Ok(None);
                }
                self.counted_back(target, inner, span).map(Some)
            }
            ExprKind::Range(start, end) if target.ty == Type::STRING => {
                let range = self.range(start.as_deref(), end.as_deref(), argument.value.span)?;
                Ok(Some(Node::new(
                    Op::Slice(Box::new(target.clone()), Box::new(range)),
                    Type::STRING,
                    span,
                )))
            }
            _ if takes("Index") || takes("Range") => Ok(None),
            _ => self.by_index_value(target, argument, span),
        }
    }
}

fn not_a_variable(span: Span) -> Box<Fail> {
    Fail::cs(
        "CS0131",
        span,
        "the left side of an assignment must be a variable, property or indexer",
    )
}
