//! List patterns and what they ask a value for: its length and its elements (C# 11.2.11).

use syntax::Span;
use syntax::tree::{BinaryOp, Pattern, PatternKind};

use super::overloads::Arg;
use super::patterns::and;
use super::{Binder, Operand};
use crate::expressions::error::{Fail, Result};
use crate::expressions::plan::{Node, Op, Test};
use crate::expressions::scalar::{Kind, Scalar};
use crate::types::Type;

impl Binder<'_> {
    pub(super) fn list_pattern(
        &mut self,
        patterns: &[Pattern],
        subject: &Node,
        span: Span,
    ) -> Result<Test> {
        let inner = self.without_nullable(&subject.ty);
        let value = self.narrowed_to(subject, &inner);
        let length = self.length_of(&value, span);
        // What is counted but not indexed by number has an indexer that a number does not fit.
        if length.is_none()
            && !self.indexers(&value.ty).is_empty()
            && self.count_of(&value, span).is_some()
        {
            let told = format!("`{}` is not indexed by number", self.text(&value.ty));
            return Err(Fail::cs("CS1503", span, told));
        }
        let length = length.ok_or_else(|| {
            Fail::cs(
                "CS8985",
                span,
                format!(
                    "list patterns cannot be used for a value of type `{}`",
                    self.text(&subject.ty)
                ),
            )
        })?;
        let slice = patterns
            .iter()
            .position(|it| matches!(it.kind, PatternKind::Slice(_)));
        let count = patterns.len() - usize::from(slice.is_some());
        let wanted = Node::constant(Scalar::Int(Kind::Int, count as i128), Type::INT, span);
        let op = if slice.is_some() {
            BinaryOp::GreaterOrEqual
        } else {
            BinaryOp::Equal
        };
        let fits = self.binary_operands(
            op,
            Operand::Value(length.clone()),
            Operand::Value(wanted),
            span,
        )?;
        let mut test = if self.admits_null(&subject.ty) {
            Test::Not(Box::new(Test::Null))
        } else {
            Test::Any
        };
        test = and(test, Test::Check(Box::new(fits)));
        for (index, pattern) in patterns.iter().enumerate() {
            let behind = slice.is_some_and(|slice| index > slice);
            if let PatternKind::Slice(inner) = &pattern.kind {
                let Some(inner) = inner else { continue };
                let end = patterns.len() - index - 1;
                let int = |value: usize| {
                    Node::constant(Scalar::Int(Kind::Int, value as i128), Type::INT, span)
                };
                let by_range = self.index_type(&value.ty, "Range");
                let range = Node::new(
                    Op::Range(
                        Some(Box::new(Node::new(
                            Op::Index(Box::new(int(index)), false),
                            Type::INT,
                            span,
                        ))),
                        Some(Box::new(Node::new(
                            Op::Index(Box::new(int(end)), true),
                            Type::INT,
                            span,
                        ))),
                    ),
                    by_range.clone().unwrap_or(Type::INT),
                    span,
                );
                let is_plain = value.ty.element().is_some() || value.ty == Type::STRING;
                let part = if is_plain {
                    Node::new(
                        Op::Slice(Box::new(value.clone()), Box::new(range)),
                        value.ty.clone(),
                        span,
                    )
                } else if by_range.is_some() {
                    self.element_at(&value, range, span)?
                } else {
                    let count = self.binary_operands(
                        BinaryOp::Subtract,
                        Operand::Value(length.clone()),
                        Operand::Value(int(index + end)),
                        span,
                    )?;
                    self.sliced(&value, int(index), count, span)?
                };
                test = and(test, self.part_test(part, inner, pattern.span)?);
                continue;
            }
            // An indexer that takes an index comes before one that takes a number.
            let at = if let Some(ty) = self.index_type(&value.ty, "Index") {
                let number = match behind {
                    true => patterns.len() - index,
                    false => index,
                };
                let number = Scalar::Int(Kind::Int, number as i128);
                let number = Node::constant(number, Type::INT, span);
                Node::new(Op::Index(Box::new(number), behind), ty, span)
            } else if behind {
                let back = Node::constant(
                    Scalar::Int(Kind::Int, (patterns.len() - index) as i128),
                    Type::INT,
                    span,
                );
                self.binary_operands(
                    BinaryOp::Subtract,
                    Operand::Value(length.clone()),
                    Operand::Value(back),
                    span,
                )?
            } else {
                Node::constant(Scalar::Int(Kind::Int, index as i128), Type::INT, span)
            };
            let part = self.element_at(&value, at, span)?;
            test = and(test, self.part_test(part, pattern, pattern.span)?);
        }
        let mut slices = patterns
            .iter()
            .filter(|it| matches!(it.kind, PatternKind::Slice(_)));
        if let Some(second) = slices.nth(1) {
            let told = "a list pattern may have one slice only";
            return Err(Fail::cs("CS8980", second.span, told));
        }
        Ok(test)
    }

    /// `System.Index` or `System.Range`, if a type has an indexer for it.
    fn index_type(&self, ty: &Type, name: &str) -> Option<Type> {
        let wanted = self.types.core("System", name)?;
        let indexers = self.indexers(ty);
        let takes = indexers
            .iter()
            .any(|it| *it.parameters == *std::slice::from_ref(&wanted));
        takes.then_some(wanted)
    }

    /// The test of a part of the list, which is read once and kept.
    fn part_test(&mut self, part: Node, pattern: &Pattern, span: Span) -> Result<Test> {
        let part = self.tested(part);
        let slot = self.slot();
        let read = self.slot_node(slot, &part.ty, span);
        let inner = self.pattern(pattern, &read)?;
        Ok(Test::Part {
            part: Box::new(part),
            slot,
            test: Box::new(inner),
        })
    }

    /// A part of what has a method `Slice` for it.
    pub(super) fn sliced(
        &mut self,
        target: &Node,
        start: Node,
        count: Node,
        span: Span,
    ) -> Result<Node> {
        let methods: Vec<_> = self
            .levels(&target.ty)
            .iter()
            .flat_map(|it| self.types.methods(it, Some("Slice")).unwrap_or_default())
            .filter(|it| {
                it.parameters.len() == 2 && it.parameters.iter().all(|it| it.ty == Type::INT)
            })
            .collect();
        if methods.is_empty() {
            return Err(Fail::cs(
                "CS8985",
                span,
                format!(
                    "a part of `{}` cannot be taken: it has no `Slice`",
                    self.text(&target.ty)
                ),
            ));
        }
        let group = super::Group {
            name: "Slice".into(),
            ty: Some(target.ty.clone()),
            target: Some(target.clone()),
            on_type: false,
            methods,
            type_arguments: Vec::new(),
            is_base: false,
            implied: false,
            span,
        };
        let arguments = [start, count].map(|it| Arg {
            span: it.span,
            operand: Operand::Value(it),
            name: None,
            by_ref: None,
            is_in: false,
            receiver: false,
        });
        self.call_group(&group, arguments.into(), span)
    }

    /// An element by a number that is bound already.
    pub(super) fn element_at(&mut self, target: &Node, index: Node, span: Span) -> Result<Node> {
        if let Type::SzArray(element) = &target.ty {
            let ty = (**element).clone();
            let element = Node::new(Op::Element(Box::new(target.clone()), vec![index]), ty, span);
            return Ok(self.named_part(element, target));
        }
        let mut methods = Vec::new();
        for indexer in self.indexers(&target.ty) {
            if let Some(getter) = indexer.getter
                && let Ok(method) = self.types.method(&indexer.declared_in, getter)
            {
                methods.push(method);
            }
        }
        let group = super::Group {
            name: "this[]".into(),
            ty: Some(target.ty.clone()),
            target: Some(target.clone()),
            on_type: false,
            methods,
            type_arguments: Vec::new(),
            is_base: false,
            implied: false,
            span,
        };
        let arguments = vec![Arg {
            span: index.span,
            operand: Operand::Value(index),
            name: None,
            by_ref: None,
            is_in: false,
            receiver: false,
        }];
        self.call_group(&group, arguments, span)
    }

    /// The length or count of what can be indexed by number.
    pub(super) fn length_of(&mut self, target: &Node, span: Span) -> Option<Node> {
        if let Type::SzArray(_) = target.ty {
            return Some(Node::new(
                Op::Length(Box::new(target.clone())),
                Type::INT,
                span,
            ));
        }
        let by_number = self
            .indexers(&target.ty)
            .iter()
            .any(|it| it.parameters == [Type::INT]);
        if !by_number && self.index_type(&target.ty, "Index").is_none() {
            return None;
        }
        self.count_of(target, span)
    }

    /// The length or count of anything.
    pub(super) fn count_of(&mut self, target: &Node, span: Span) -> Option<Node> {
        ["Length", "Count"]
            .into_iter()
            .find_map(|name| self.member_value(target.clone(), name, span).ok())
            .filter(|it| it.ty == Type::INT)
    }
}
