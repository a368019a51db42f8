//! Patterns (C# 11).

use syntax::Span;
use syntax::tree::BinaryOp;
use syntax::tree::{
    Designation, Expr, Identifier, Pattern, PatternKind, RecursivePattern, RelationalOp,
    SimpleName, Subpattern,
};

use super::conversions::Conv;
use super::{Binder, Operand, pointers};
use crate::expressions::error::{Fail, Result};
use crate::expressions::plan::{Constant, Conversion, Node, Op, Test};
use crate::expressions::scalar::{Kind, Scalar};
use crate::types::Type;

impl Binder<'_> {
    /// `e is pattern`
    pub(super) fn is(&mut self, inner: &Expr, pattern: &Pattern, span: Span) -> Result<Node> {
        let operand = self.bind(inner)?;
        if let Operand::Null(at) = operand {
            let told = "null has no type that a pattern could be tested on";
            return Err(Fail::cs("CS8117", at, told));
        }
        let subject = self.natural(operand)?;
        let subject = self.tested(subject);
        if subject.ty == Type::Primitive(metadata::signature::Primitive::Void) {
            return Err(Fail::cs(
                "CS8117",
                span,
                "a value of type `void` cannot be tested",
            ));
        }
        let slot = self.slot();
        let mut read = self.slot_node(slot, &subject.ty, inner.span);
        read.names = subject.names.clone();
        self.note_exception(&subject, slot);
        if let PatternKind::TypeOrConstant(expr) = &pattern.kind {
            self.note_compared(&Operand::Value(read.clone()), expr);
        }
        let test = match self.plain_type_test(pattern)? {
            Some(ty) => Test::Is(self.without_nullable(&ty)),
            None => self.pattern(pattern, &read)?,
        };
        Ok(Node::new(
            Op::Is(Box::new(subject), slot, Box::new(test)),
            Type::BOOL,
            span,
        ))
    }

    /// The type of `e is T`, which is no pattern: it may name any type.
    fn plain_type_test(&mut self, pattern: &Pattern) -> Result<Option<Type>> {
        Ok(match &pattern.kind {
            PatternKind::Type(ty) => Some(self.ty(ty)?),
            PatternKind::TypeOrConstant(expr) => match self.bind(expr) {
                Ok(Operand::Type(ty, _)) => Some(ty),
                // What is no constant was meant as a type.
                Err(mut fail) if fail.code == Some("CS0103") => {
                    fail.code = Some("CS0246");
                    fail.message = fail.message.replace("the name", "the type or constant");
                    return Err(fail);
                }
                Err(mut fail) if fail.code == Some("CS0117") => {
                    fail.code = Some("CS0426");
                    return Err(fail);
                }
                _ => None,
            },
            _ => None,
        })
    }

    /// A test of the value that `subject` reads.
    pub(super) fn pattern(&mut self, pattern: &Pattern, subject: &Node) -> Result<Test> {
        let span = pattern.span;
        Ok(match &pattern.kind {
            PatternKind::Discard => Test::Any,
            PatternKind::Paren(inner) => self.pattern(inner, subject)?,
            PatternKind::Not(inner) => Test::Not(Box::new(self.pattern(inner, subject)?)),
            PatternKind::And(one, two) => {
                let first = self.pattern(one, subject)?;
                // What the first half says of the type holds in the second.
                let narrowed = self.narrowed(&first, subject);
                let second = self.pattern(two, &narrowed)?;
                Test::And(Box::new(first), Box::new(second))
            }
            PatternKind::Or(one, two) => {
                let one = self.pattern(one, subject)?;
                let two = self.pattern(two, subject)?;
                Test::Or(Box::new(one), Box::new(two))
            }
            PatternKind::Constant(expr) => self.constant_pattern(expr, subject, span)?,
            PatternKind::TypeOrConstant(expr) => match self.bind_compared(expr, subject) {
                Ok(Operand::Type(ty, _)) => self.type_test(&ty, subject, span)?,
                Ok(operand) => self.constant_test(operand, subject, span)?,
                Err(fail) => return Err(fail),
            },
            PatternKind::Type(ty) => {
                let ty = self.ty(ty)?;
                self.type_test(&ty, subject, span)?
            }
            PatternKind::Declaration(ty, designation) => {
                if ty.is_var() {
                    return self.designation(designation, subject, &subject.ty.clone());
                }
                let ty = self.ty(ty)?;
                if self.nullable_of(&ty).is_some() {
                    return Err(Fail::cs(
                        "CS8116",
                        span,
                        "a nullable type cannot be used in a pattern",
                    ));
                }
                let test = self.type_test(&ty, subject, span)?;
                let bind = self.designation(designation, subject, &ty)?;
                Test::And(Box::new(test), Box::new(bind))
            }
            PatternKind::Var(designation) => {
                self.designation(designation, subject, &subject.ty.clone())?
            }
            PatternKind::Relational(op, expr) => self.relational(*op, expr, subject, span)?,
            PatternKind::Recursive(recursive) => self.recursive(recursive, subject, span)?,
            PatternKind::List {
                patterns,
                designation,
            } => {
                let test = self.list_pattern(patterns, subject, span)?;
                match designation {
                    None => test,
                    Some(designation) => {
                        let bind = self.designation(designation, subject, &subject.ty.clone())?;
                        Test::And(Box::new(test), Box::new(bind))
                    }
                }
            }
            PatternKind::Slice(_) => {
                return Err(Fail::cs(
                    "CS8980",
                    span,
                    "a slice pattern may only stand in a list pattern",
                ));
            }
        })
    }

    /// What a value is compared with by a pattern.
    fn bind_compared<'e>(&mut self, expr: &'e Expr, subject: &Node) -> Result<Operand<'e>> {
        self.note_compared(&Operand::Value(subject.clone()), expr);
        self.bind(expr)
    }

    /// The subject with the type that a test has shown.
    fn narrowed(&self, test: &Test, subject: &Node) -> Node {
        match test {
            Test::Is(ty) if *ty != subject.ty => self.narrowed_to(subject, ty),
            Test::And(one, two) => {
                let first = self.narrowed(one, subject);
                if first.ty == subject.ty {
                    self.narrowed(two, subject)
                } else {
                    first
                }
            }
            _ => subject.clone(),
        }
    }

    /// The subject as a type that it is known to be.
    pub(super) fn narrowed_to(&self, subject: &Node, ty: &Type) -> Node {
        if *ty == subject.ty {
            return subject.clone();
        }
        let conversion = if subject.ty.is_reference() && ty.is_value() == Some(true) {
            Conversion::Unbox
        } else if subject.ty.is_value() == Some(true) && ty.is_reference() {
            Conversion::Box
        } else {
            Conversion::Keep
        };
        Node::new(
            Op::Convert(conversion, Box::new(subject.clone())),
            ty.clone(),
            subject.span,
        )
    }

    fn type_test(&mut self, ty: &Type, subject: &Node, span: Span) -> Result<Test> {
        if self.nullable_of(ty).is_some() {
            return Err(Fail::cs(
                "CS8116",
                span,
                "a nullable type cannot be used in a pattern",
            ));
        }
        if !self.may_be(&subject.ty, ty) && !self.may_be_any_exception(subject) {
            return Err(Fail::cs(
                "CS8121",
                span,
                format!(
                    "a value of type `{}` can never be of type `{}`",
                    self.text(&subject.ty),
                    self.text(ty)
                ),
            ));
        }
        Ok(Test::Is(ty.clone()))
    }

    fn constant_pattern(&mut self, expr: &Expr, subject: &Node, span: Span) -> Result<Test> {
        let operand = self.bind(expr)?;
        self.constant_test(operand, subject, span)
    }

    fn constant_test(&mut self, operand: Operand<'_>, subject: &Node, span: Span) -> Result<Test> {
        if let Operand::Null(_) = operand {
            if subject.ty.is_pointer() {
                return Ok(Test::Equal(
                    Constant::Scalar(pointers::NULL),
                    subject.ty.clone(),
                ));
            }
            if !self.admits_null(&subject.ty) {
                return Err(Fail::cs(
                    "CS0037",
                    span,
                    format!(
                        "null cannot be converted to `{}`, which is a value type",
                        self.text(&subject.ty)
                    ),
                ));
            }
            return Ok(Test::Null);
        }
        let at = operand.span();
        let node = self.natural(operand)?;
        if let Some(Scalar::String(units)) = node.scalar()
            && self.is_span_of_chars(&subject.ty)
        {
            let units = units.clone();
            return self.text_test(&units, subject, span);
        }
        let target = self.without_nullable(&subject.ty);
        // An object is compared with the constant's own type.
        let by_type =
            target.is_reference() && target != Type::STRING && self.may_be(&target, &node.ty);
        let is_null = node.constant == Some(Constant::Null);
        let node = if by_type && (!is_null || self.converts(&node.ty, &target)) {
            node
        } else {
            self.convert(Operand::Value(node), &target, at)?
        };
        if node.constant.is_none() {
            return Err(
                Fail::cs("CS9135", at, "a constant value is expected in a pattern")
                    .hint("write == to compare with a variable"),
            );
        }
        Ok(match node.constant.clone() {
            Some(Constant::Null) | None => Test::Null,
            Some(constant) => Test::Equal(constant, node.ty),
        })
    }

    fn is_span_of_chars(&self, ty: &Type) -> bool {
        let char = Type::Primitive(metadata::signature::Primitive::Char);
        ty.as_named().is_some_and(|it| {
            let mut spans = ["Span`1", "ReadOnlySpan`1"].into_iter();
            spans.any(|name| self.types.is_named(it, "System", name)) && *it.arguments == [char]
        })
    }

    /// A text that the characters of a span must be.
    fn text_test(&mut self, units: &[u16], subject: &Node, span: Span) -> Result<Test> {
        let int =
            |value: usize| Node::constant(Scalar::Int(Kind::Int, value as i128), Type::INT, span);
        let length = self.member_value(subject.clone(), "Length", span)?;
        let (length, wanted) = (Operand::Value(length), Operand::Value(int(units.len())));
        let fits = self.binary_operands(BinaryOp::Equal, length, wanted, span)?;
        let mut test = Test::Check(Box::new(fits));
        for (index, unit) in units.iter().enumerate() {
            let part = self.element_at(subject, int(index), span)?;
            let wanted = Constant::Scalar(Scalar::Int(Kind::Char, (*unit).into()));
            let equal = Test::Equal(wanted, part.ty.clone());
            let slot = self.slot();
            let part = Test::Part {
                part: Box::new(part),
                slot,
                test: Box::new(equal),
            };
            test = and(test, part);
        }
        Ok(test)
    }

    fn relational(
        &mut self,
        op: RelationalOp,
        expr: &Expr,
        subject: &Node,
        span: Span,
    ) -> Result<Test> {
        let operand = self.bind(expr)?;
        let node = self.natural(operand)?;
        if node.constant.is_none() {
            let code = match self.implicit_types(&node.ty, &subject.ty) {
                Some(Conv::Box) | None => "CS0150",
                Some(_) => "CS9135",
            };
            return Err(Fail::cs(
                code,
                expr.span,
                "a constant value is expected in a pattern",
            ));
        }
        let target = self.without_nullable(&subject.ty);
        let is_enum = Self::enum_of(&target).is_some();
        let numeric = self.kind(&target).is_some_and(|it| it.is_numeric()) || is_enum;
        let (test, node) = if numeric {
            let node = self.convert(Operand::Value(node), &target, expr.span)?;
            (None, node)
        } else {
            let own = self.kind(&node.ty).is_some_and(|it| it.is_numeric())
                || Self::enum_of(&node.ty).is_some();
            if !own {
                return Err(Fail::cs(
                    "CS8781",
                    span,
                    format!(
                        "relational patterns cannot be used for a value of type `{}`",
                        self.text(&node.ty)
                    ),
                ));
            }
            if !self.may_be(&target, &node.ty) {
                return Err(Fail::cs(
                    "CS0029",
                    span,
                    format!(
                        "`{}` cannot be converted to `{}`",
                        self.text(&node.ty),
                        self.text(&target)
                    ),
                ));
            }
            (Some(Test::Is(node.ty.clone())), node)
        };
        let op = match op {
            RelationalOp::Less => BinaryOp::Less,
            RelationalOp::LessOrEqual => BinaryOp::LessOrEqual,
            RelationalOp::Greater => BinaryOp::Greater,
            RelationalOp::GreaterOrEqual => BinaryOp::GreaterOrEqual,
        };
        let value = node.scalar().cloned().unwrap_or(Scalar::Bool(false));
        let compare = Test::Compare(op, value);
        Ok(match test {
            Some(test) => Test::And(Box::new(test), Box::new(compare)),
            None => compare,
        })
    }

    /// Puts the value into the variables of a designation.
    fn designation(
        &mut self,
        designation: &Designation,
        subject: &Node,
        ty: &Type,
    ) -> Result<Test> {
        match designation {
            Designation::Discard(_) => Ok(Test::Any),
            Designation::Single(name) => {
                let value = self.narrowed_to(subject, ty);
                let slot = self.declare_written(name, ty, subject.names.clone())?;
                Ok(Test::Bind {
                    slot,
                    value: Box::new(value),
                })
            }
            Designation::Tuple(parts, span) => {
                let value = self.narrowed_to(subject, ty);
                let (mut test, elements) = match self.unnamed_parts(&value, parts.len(), *span)? {
                    Some(parts) => parts,
                    None => {
                        let (call, elements) = self.deconstruct(&value, parts.len(), *span)?;
                        (self.called(call), elements)
                    }
                };
                for (part, element) in parts.iter().zip(elements) {
                    let slot = self.slot();
                    let read = self.slot_node(slot, &element.ty, *span);
                    let inner = self.designation(part, &read, &element.ty)?;
                    test = and(
                        test,
                        Test::Part {
                            part: Box::new(element),
                            slot,
                            test: Box::new(inner),
                        },
                    );
                }
                Ok(test)
            }
        }
    }

    /// A member by name, as a value.
    pub(super) fn member_value(&mut self, target: Node, name: &str, span: Span) -> Result<Node> {
        let name = SimpleName {
            identifier: Identifier {
                text: name.into(),
                verbatim: false,
                span,
            },
            arguments: None,
            span,
        };
        let operand = self.instance_member(target, &name, span)?;
        self.natural(operand)
    }

    fn recursive(
        &mut self,
        pattern: &RecursivePattern,
        subject: &Node,
        span: Span,
    ) -> Result<Test> {
        let ty = match &pattern.ty {
            Some(ty) => self.ty(ty)?,
            None => self.without_nullable(&subject.ty),
        };
        let mut test = if pattern.ty.is_some() {
            self.type_test(&ty, subject, span)?
        } else if self.admits_null(&subject.ty) {
            Test::Not(Box::new(Test::Null))
        } else {
            Test::Any
        };
        let mut value = self.narrowed_to(subject, &ty);
        value.names = subject.names.clone();
        if let Some(positional) = &pattern.positional {
            // Of an object only what it is at run time can tell the parts, if nothing else says what it is.
            let is_plain = pattern.ty.is_none()
                && pattern.properties.is_none()
                && !matches!(pattern.designation, Some(Designation::Single(_)))
                && positional.iter().all(|it| it.path.is_empty());
            let unnamed = match is_plain {
                true => self.unnamed_parts(&value, positional.len(), span)?,
                false => None,
            };
            let (before, parts) = match unnamed {
                Some(parts) => parts,
                None => {
                    let (call, parts) = self.deconstruct(&value, positional.len(), span)?;
                    (self.called(call), parts)
                }
            };
            test = and(test, before);
            for (sub, part) in positional.iter().zip(parts) {
                test = and(test, self.part(sub, part)?);
            }
        }
        for sub in pattern.properties.iter().flatten() {
            test = and(test, self.property_part(sub, value.clone())?);
        }
        if let Some(designation) = &pattern.designation {
            test = and(test, self.designation(designation, subject, &ty)?);
        }
        Ok(test)
    }

    fn part(&mut self, sub: &Subpattern, part: Node) -> Result<Test> {
        let part = self.tested(part);
        let slot = self.slot();
        let mut read = self.slot_node(slot, &part.ty, sub.pattern.span);
        read.names = part.names.clone();
        let test = self.pattern(&sub.pattern, &read)?;
        Ok(Test::Part {
            part: Box::new(part),
            slot,
            test: Box::new(test),
        })
    }

    /// `A.B: pattern`: each but the last must not be null.
    fn property_part(&mut self, sub: &Subpattern, value: Node) -> Result<Test> {
        let Some((last, path)) = sub.path.split_last() else {
            self.note_part(sub, &value);
            return self.part(sub, value);
        };
        let mut at = value;
        let mut steps: Vec<(Node, u32)> = Vec::new();
        for name in path {
            let member = self.pattern_member(at, name)?;
            let slot = self.slot();
            let inner = self.without_nullable(&member.ty);
            at = self.slot_node(slot, &inner, name.span);
            at.names = member.names.clone();
            steps.push((member, slot));
        }
        let part = self.pattern_member(at, last)?;
        let mut test = self.part(sub, part)?;
        for (member, slot) in steps.into_iter().rev() {
            let not_null = if self.admits_null(&member.ty) {
                Test::Not(Box::new(Test::Null))
            } else {
                Test::Any
            };
            test = Test::Part {
                part: Box::new(member),
                slot,
                test: Box::new(and(not_null, test)),
            };
        }
        Ok(test)
    }

    fn pattern_member(&mut self, target: Node, name: &Identifier) -> Result<Node> {
        let ty = target.ty.clone();
        self.member_value(target, &name.text, name.span)
            .map_err(|fail| {
                if matches!(fail.code, Some("CS1061" | "CS8917")) {
                    Fail::cs(
                        "CS0117",
                        name.span,
                        format!("`{}` has no member `{}`", self.text(&ty), name.text),
                    )
                } else {
                    fail
                }
            })
    }
}

pub(super) fn and(one: Test, two: Test) -> Test {
    match (one, two) {
        (Test::Any, other) | (other, Test::Any) => other,
        (one, two) => Test::And(Box::new(one), Box::new(two)),
    }
}
