//! `?:`, `??`, `?.`, `switch`, and other expressions that may get their type from their place.

use std::rc::Rc;

use metadata::signature::Primitive;
use syntax::Span;
use syntax::tree::{Expr, ExprKind, SwitchArm};

use super::conversions::Conv;
use super::late::{Late, is_late};
use super::postfix::is_variable;
use super::{Binder, Operand, TupleNames};
use crate::expressions::error::{Fail, Result};
use crate::expressions::plan::{Arm, Node, Op};
use crate::types::Type;

impl Binder<'_> {
    pub(super) fn conditional<'e>(
        &mut self,
        expr: &'e Expr,
        condition: &'e Expr,
        yes: &'e Expr,
        no: &'e Expr,
    ) -> Result<Operand<'e>> {
        let test = self.bind(condition)?;
        let test = self.boolean(test, condition.span)?;
        match (&yes.kind, &no.kind) {
            (ExprKind::Ref(yes), ExprKind::Ref(no)) => {
                let chosen = self.conditional_ref(test, yes, no, expr.span)?;
                return Ok(Operand::Value(chosen));
            }
            (ExprKind::Ref(_), _) | (_, ExprKind::Ref(_)) => {
                let told = "either both sides of a conditional are `ref`, or none";
                return Err(Fail::cs("CS8326", expr.span, told));
            }
            _ => {}
        }
        let (yes, no) = (self.bind(yes)?, self.bind(no)?);
        for operand in [&yes, &no] {
            if matches!(operand, Operand::Type(..) | Operand::Namespace(..)) {
                self.natural(operand.clone())?;
            }
        }
        let ty = match (&yes, &no) {
            (Operand::Value(a), Operand::Value(b)) if a.ty == b.ty => Some(a.ty.clone()),
            (Operand::Value(a), Operand::Value(b)) => {
                let (a, b) = (a.ty.clone(), b.ty.clone());
                let both = (self.implicit(&no, &a), self.implicit(&yes, &b));
                if let (Some(Conv::User(..)), Some(Conv::User(..))) = both {
                    let (a, b) = (self.text(&a), self.text(&b));
                    let told = format!("`{a}` and `{b}` convert to one another");
                    let fail = Fail::cs("CS0172", expr.span, told);
                    return Err(fail.hint("cast one of them to the type you mean"));
                }
                match (both.0.is_some(), both.1.is_some()) {
                    (true, false) => Some(a),
                    (false, true) => Some(b),
                    // Both ways happens with constants: the wider type.
                    (true, true) => self.implicit_types(&a, &b).map(|_| b).or(Some(a)),
                    _ => None,
                }
            }
            (Operand::Value(node), other) | (other, Operand::Value(node)) => {
                let ty = node.ty.clone();
                self.implicit(other, &ty).map(|_| ty)
            }
            _ => None,
        };
        let Some(ty) = ty else {
            return Ok(Operand::Untyped(expr));
        };
        self.conditional_of(test, yes, no, &ty, expr.span)
            .map(Operand::Value)
    }

    /// `a ? ref b : ref c`, which is a variable (C# 12.18).
    fn conditional_ref(&mut self, test: Node, yes: &Expr, no: &Expr, span: Span) -> Result<Node> {
        let mut places = Vec::with_capacity(2);
        for side in [yes, no] {
            let bound = self.bind(side)?;
            let place = self.natural(bound)?;
            if !is_variable(&place) {
                let told = "only a variable, a field or an element has a reference";
                return Err(Fail::cs("CS8156", side.span, told));
            }
            places.push(Box::new(place));
        }
        let [yes, no] = <[_; 2]>::try_from(places).map_err(|_| Fail::new(span, "no places"))?;
        if yes.ty != no.ty {
            let told = format!(
                "it must be of type `{}`, as the other side",
                self.text(&yes.ty)
            );
            return Err(Fail::cs("CS8327", no.span, told));
        }
        let ty = yes.ty.clone();
        let names = common_names(&yes.names, &no.names);
        let mut node = Node::new(Op::ConditionalRef(Box::new(test), yes, no), ty, span);
        node.names = names;
        Ok(node)
    }

    fn conditional_of(
        &mut self,
        test: Node,
        yes: Operand<'_>,
        no: Operand<'_>,
        ty: &Type,
        span: Span,
    ) -> Result<Node> {
        if *ty == Type::Primitive(Primitive::Void) {
            return Err(Fail::cs(
                "CS0173",
                span,
                "a conditional expression cannot be of type `void`",
            ));
        }
        let yes = self.convert(yes, ty, span)?;
        let no = self.convert(no, ty, span)?;
        let constant = match (test.scalar(), &yes.constant, &no.constant) {
            (Some(crate::expressions::scalar::Scalar::Bool(test)), Some(yes), Some(no)) => {
                Some(if *test { yes.clone() } else { no.clone() })
            }
            _ => None,
        };
        let names = common_names(&yes.names, &no.names);
        let mut node = Node::new(
            Op::Conditional(Box::new(test), Box::new(yes), Box::new(no)),
            ty.clone(),
            span,
        );
        node.constant = constant;
        node.names = names;
        Ok(node)
    }

    pub(super) fn coalesce(&mut self, left: &Expr, right: &Expr, span: Span) -> Result<Node> {
        let left = self.bind(left)?;
        let right = self.bind(right)?;
        let fail = |this: &Self, left: &Operand<'_>, right: &Operand<'_>| {
            let text = |it: &Operand<'_>| match it {
                Operand::Value(node) => this.text(&node.ty),
                Operand::Null(_) => "<null>".into(),
                Operand::Default(_) => "default".into(),
                _ => "expression".into(),
            };
            Fail::cs(
                "CS0019",
                span,
                format!(
                    "`??` cannot be applied to operands of type `{}` and `{}`",
                    text(left),
                    text(right)
                ),
            )
        };
        let Operand::Value(node) = &left else {
            if let (Operand::Null(_), Operand::Value(node)) = (&left, &right)
                && self.admits_null(&node.ty)
            {
                return self.natural(right);
            }
            return Err(fail(self, &left, &right));
        };
        let tested = self.tested(node.clone());
        if !self.admits_null(&tested.ty) {
            return Err(fail(self, &left, &right));
        }
        let left = Operand::Value(tested.clone());
        let node = &tested;
        let inner = self.without_nullable(&node.ty);
        let slot = self.slot();
        let read = Operand::Value(self.slot_node(slot, &inner, node.span));
        // The value inside, then the nullable itself, then the type of the right side.
        let mut wanted = Vec::new();
        if inner != node.ty {
            wanted.push(inner.clone());
        }
        wanted.push(node.ty.clone());
        for ty in wanted {
            if self.implicit(&right, &ty).is_some() {
                let right = self.convert(right, &ty, span)?;
                let value = self.convert(read, &ty, span)?;
                let left = self.natural(left)?;
                let names = left.names.clone();
                let mut made = Node::new(
                    Op::Coalesce(Box::new(left), slot, Box::new(value), Box::new(right)),
                    ty,
                    span,
                );
                made.names = names;
                return Ok(made);
            }
        }
        if let Operand::Value(other) = &right {
            let ty = other.ty.clone();
            if self.implicit(&read, &ty).is_some() {
                let value = self.convert(read, &ty, span)?;
                let (left, right) = (self.natural(left)?, self.natural(right)?);
                return Ok(Node::new(
                    Op::Coalesce(Box::new(left), slot, Box::new(value), Box::new(right)),
                    ty,
                    span,
                ));
            }
        }
        Err(fail(self, &left, &right))
    }

    pub(super) fn conditional_access(
        &mut self,
        target: &Expr,
        access: &Expr,
        span: Span,
    ) -> Result<Node> {
        let target = self.value(target)?;
        if self.is_dynamic_null(&target) {
            return Ok(Node::new(Op::Default, Type::OBJECT, span));
        }
        if !self.admits_null(&target.ty) {
            return Err(Fail::cs(
                "CS0023",
                span,
                format!(
                    "`?` cannot be applied to an operand of type `{}`, which is never null",
                    self.text(&target.ty)
                ),
            ));
        }
        let inner = self.without_nullable(&target.ty);
        let slot = self.slot();
        let mut receiver = self.slot_node(slot, &inner, target.span);
        receiver.names = target.names.clone();
        if is_late(&target) {
            receiver = self.late(Late::Value, vec![receiver], target.span);
        }
        self.receivers.push(receiver);
        let rest = self.bind(access).and_then(|it| self.natural(it));
        self.receivers.pop();
        let rest = rest?;
        let ty = match &rest.ty {
            nothing @ Type::Primitive(Primitive::Void) => nothing.clone(),
            ty => self.nullable(ty),
        };
        let names = rest.names.clone();
        let is_late = is_late(&rest);
        let mut node = Node::new(Op::Access(Box::new(target), slot, Box::new(rest)), ty, span);
        node.names = names;
        if is_late {
            return Ok(self.late(Late::Value, vec![node], span));
        }
        Ok(node)
    }

    pub(super) fn switch<'e>(
        &mut self,
        expr: &'e Expr,
        subject: &'e Expr,
        arms: &'e [SwitchArm],
    ) -> Result<Operand<'e>> {
        let (subject, slot, bound) = self.switch_arms(subject, arms)?;
        let operands: Vec<Operand<'_>> = bound.iter().map(|(_, _, value)| value.clone()).collect();
        let Some(ty) = self.common_type(&operands) else {
            return Ok(Operand::Untyped(expr));
        };
        self.switch_of(subject, slot, bound, &ty, expr.span)
            .map(Operand::Value)
    }

    #[expect(
        clippy::type_complexity,
        reason = "the parts of the arms before their common type is known"
    )]
    fn switch_arms<'e>(
        &mut self,
        subject: &'e Expr,
        arms: &'e [SwitchArm],
    ) -> Result<(
        Node,
        u32,
        Vec<(crate::expressions::plan::Test, Option<Node>, Operand<'e>)>,
    )> {
        let subject = self.value(subject)?;
        let subject = self.tested(subject);
        let slot = self.slot();
        let mut read = self.slot_node(slot, &subject.ty, subject.span);
        read.names = subject.names.clone();
        self.note_exception(&subject, slot);
        let mut bound = Vec::new();
        for arm in arms {
            let outer = self.locals.len();
            let test = self.pattern(&arm.pattern, &read)?;
            let guard = match &arm.guard {
                None => None,
                Some(guard) => {
                    let operand = self.bind(guard)?;
                    Some(self.boolean(operand, guard.span)?)
                }
            };
            let value = self.bind(&arm.value)?;
            if matches!(value, Operand::Type(..) | Operand::Namespace(..)) {
                self.natural(value.clone())?;
            }
            self.locals.truncate(outer);
            bound.push((test, guard, value));
        }
        Ok((subject, slot, bound))
    }

    fn switch_of(
        &mut self,
        subject: Node,
        slot: u32,
        bound: Vec<(crate::expressions::plan::Test, Option<Node>, Operand<'_>)>,
        ty: &Type,
        span: Span,
    ) -> Result<Node> {
        let mut arms = Vec::new();
        for (test, guard, value) in bound {
            let at = value.span();
            let value = self.convert(value, ty, at)?;
            arms.push(Arm { test, guard, value });
        }
        Ok(Node::new(
            Op::Switch(Box::new(subject), slot, arms),
            ty.clone(),
            span,
        ))
    }

    /// What has no type of its own, as a value of a type.
    pub(super) fn untyped_value(&mut self, expr: &Expr, to: &Type) -> Result<Node> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Paren(inner) => self.untyped_value(inner, to),
            ExprKind::Conditional(condition, yes, no) => {
                let test = self.bind(condition)?;
                let test = self.boolean(test, condition.span)?;
                let (yes, no) = (self.bind(yes)?, self.bind(no)?);
                self.conditional_of(test, yes, no, to, span)
            }
            ExprKind::Switch(subject, arms) => {
                let (subject, slot, bound) = self.switch_arms(subject, arms)?;
                self.switch_of(subject, slot, bound, to, span)
            }
            ExprKind::Tuple(elements) => {
                let target = self.without_nullable(to);
                let wanted = self
                    .tuple_elements(&target)
                    .filter(|it| it.len() == elements.len());
                let Some(wanted) = wanted else {
                    return Err(Fail::cs(
                        "CS0029",
                        span,
                        format!("the tuple cannot be converted to `{}`", self.text(to)),
                    ));
                };
                let mut nodes = Vec::new();
                for (element, ty) in elements.iter().zip(&wanted) {
                    let operand = self.bind(&element.value)?;
                    nodes.push(self.convert(operand, ty, element.value.span)?);
                }
                Ok(Node::new(Op::Tuple(nodes), to.clone(), span))
            }
            ExprKind::New(new) => self.new_of(new, to, span),
            ExprKind::Collection(elements) => self.collection(elements, to, span),
            _ => {
                let operand = self.bind(expr)?;
                match operand {
                    Operand::Untyped(_) => Err(Fail::cs(
                        "CS0029",
                        span,
                        format!("the expression cannot be converted to `{}`", self.text(to)),
                    )),
                    other => self.convert(other, to, span),
                }
            }
        }
    }
}

/// The names on which two tuples agree, element by element.
fn common_names(one: &TupleNames, other: &TupleNames) -> TupleNames {
    if one == other {
        return one.clone();
    }
    let both = one.iter().zip(other.iter());
    let names: Vec<_> = both
        .map(|(one, other)| one.clone().filter(|_| one == other))
        .collect();
    let is_any = one.len() == other.len() && names.iter().any(Option::is_some);
    if is_any { names.into() } else { Rc::default() }
}
