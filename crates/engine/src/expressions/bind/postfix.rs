//! Assignments, `++` and `--`.

use syntax::Span;
use syntax::tree::{AssignOp, BinaryOp, Expr, ExprKind, PostfixOp, UnaryOp};

use super::{Binder, Late, Operand};
use crate::expressions::error::{Fail, Result};
use crate::expressions::plan::{Callee, Node, Op};
use crate::expressions::scalar::{Kind, Scalar};
use crate::types::Type;

/// How what is in a place is changed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Change {
    /// `x += y` and its like.
    By(BinaryOp),
    /// `x++` and its like.
    Step {
        /// Whether it is counted up.
        up: bool,
        /// Whether the new value is the result.
        prefix: bool,
    },
}

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
        let place = self.place(inner, span).map_err(|mut fail| {
            if fail.code == Some("CS0131") {
                fail.code = Some("CS1059");
                fail.message =
                    "what is counted up or down must be a variable, property or indexer".into();
            }
            fail
        })?;
        let how = Change::Step { up, prefix };
        if let Op::Late(..) = place.op {
            return self.late_change(&place, how, None, span);
        }
        must_be_readable(&place, span)?;
        self.stepped(place, how, span)
    }

    /// A place whose number is counted up or down.
    fn stepped(&mut self, place: Node, how: Change, span: Span) -> Result<Node> {
        let Change::Step { up, prefix } = how else {
            return Err(not_a_variable(span));
        };
        let slot = self.slot();
        let old = self.old_value(&place, slot, span);
        let held = old.ty.clone();
        let one = Node::constant(Scalar::Int(Kind::Int, 1), Type::INT, span);
        let op = if up {
            BinaryOp::Add
        } else {
            BinaryOp::Subtract
        };
        let own = self.user_step(up, &old, span)?;
        let inner = self.without_nullable(&held);
        let counts = self
            .kind(&inner)
            .is_some_and(|it| it != Kind::String && it != Kind::Bool)
            || Self::enum_of(&inner).is_some();
        let converted = match own {
            None if !counts => self.converted_unary(UnaryOp::Plus, &old, span)?,
            _ => None,
        };
        let changed = match own {
            Some(own) => Ok(own),
            // The number that it converts to is counted, and converts back.
            None if let Some(number) = converted => {
                self.binary_operands(op, Operand::Value(number), Operand::Value(one), span)
            }
            None if !counts => Err(not_a_variable(span)),
            None => self.binary_operands(op, Operand::Value(old), Operand::Value(one), span),
        };
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
        let value = self.cast_operand(Operand::Value(changed), &held, span)?;
        let value = self.convert(Operand::Value(value), &ty, span)?;
        if let Op::Slot(own) = place.op {
            let result = match prefix {
                true => place.clone(),
                false => self.slot_node(slot, &ty, span),
            };
            let values = vec![(slot, place), (own, value)];
            return Ok(Node::new(Op::Let(values, Box::new(result)), ty, span));
        }
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
        match &left.kind {
            ExprKind::Tuple(parts) if op == AssignOp::Assign => {
                return self.spread(parts, right, span);
            }
            // `_ = value` only computes, unless something is called so.
            ExprKind::Name(name) if op == AssignOp::Assign && &*name.identifier.text == "_" => {
                if let Err(fail) = self.bind(left)
                    && fail.code == Some("CS0103")
                {
                    return match self.bind(right)? {
                        Operand::Null(at) => {
                            let told = "the type of what is discarded cannot be inferred";
                            Err(Fail::cs("CS8183", at, told))
                        }
                        value => self.natural_or_group(value),
                    };
                }
            }
            ExprKind::Tuple(_) | ExprKind::Declaration(..) => {
                return Err(Fail::new(
                    span,
                    "an expression declares no variables: assign to those that the program has, or use the parts where they are needed",
                ));
            }
            _ => {}
        }
        let place = self.place(left, span)?;
        if let Op::Late(..) = place.op {
            let value = self.bind(right)?;
            if let Some(binary) = op.binary() {
                return self.late_change(&place, Change::By(binary), Some(value), span);
            }
            if op == AssignOp::Coalesce {
                let told = "`??=` cannot be applied to a member of something dynamic whose type is known only when it runs";
                let fail = Fail::new(span, told);
                return Err(fail.hint("write a = a ?? b, or cast what is dynamic to what it is"));
            }
            let assigned = self.late_assignment(&place, value, span)?;
            return assigned.ok_or_else(|| not_a_variable(span));
        }
        let ty = place.ty.clone();
        if op != AssignOp::Assign {
            must_be_readable(&place, span)?;
        }
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
            // Of `int?` it gives an `int` where the right side is one.
            let plain = self.types.nullable_of(&ty);
            let plain = plain.filter(|it| self.implicit(&right, it).is_some());
            let result = plain.unwrap_or_else(|| ty.clone());
            if self.implicit(&right, &result).is_none() {
                let told = match right.value() {
                    Some(node) => self.text(&node.ty),
                    None => "expression".into(),
                };
                let told = format!(
                    "`??=` cannot be applied to `{}` and `{told}`",
                    self.text(&ty)
                );
                return Err(Fail::cs("CS0019", span, told));
            }
            let value = self.convert(right, &result, span)?;
            let old = self.slot_node(slot, &result, span);
            if let Op::Slot(own) = place.op {
                let set = set_slot(own, value, place.clone(), span);
                let op = Op::Coalesce(Box::new(place), slot, Box::new(old), Box::new(set));
                return Ok(Node::new(op, result, span));
            }
            return Ok(Node::new(
                Op::Fill(Box::new(place), slot, Box::new(old), Box::new(value)),
                result,
                span,
            ));
        }
        let Some(binary) = op.binary() else {
            self.note_compared(&Operand::Value(place.clone()), right);
            let value = self.bind(right)?;
            let value = self.convert(value, &ty, right.span)?;
            if let Op::Slot(slot) = place.op {
                return Ok(set_slot(slot, value, place, span));
            }
            return Ok(Node::new(
                Op::Assign(Box::new(place), Box::new(value)),
                ty,
                span,
            ));
        };
        let right = self.bind(right)?;
        self.compounded(place, binary, &right, span)
    }

    /// `place += right` and its like.
    fn compounded(
        &mut self,
        place: Node,
        binary: BinaryOp,
        right: &Operand<'_>,
        span: Span,
    ) -> Result<Node> {
        let ty = place.ty.clone();
        let slot = self.slot();
        let old = self.old_value(&place, slot, span);
        let computed = self.binary_operands(binary, Operand::Value(old), right.clone(), span)?;
        let value = self.compound(binary, computed, right, &ty, span)?;
        if let Op::Slot(own) = place.op {
            let set = set_slot(own, value, place.clone(), span);
            let op = Op::Let(vec![(slot, place)], Box::new(set));
            return Ok(Node::new(op, ty, span));
        }
        Ok(Node::new(
            Op::Update(Box::new(place), slot, Box::new(value), false),
            ty,
            span,
        ))
    }

    /// Changes a place that was found only now, as it belongs to something dynamic.
    pub(super) fn changed(
        &mut self,
        place: Node,
        how: Change,
        right: Option<Operand<'_>>,
        span: Span,
    ) -> Result<Node> {
        must_be_readable(&place, span)?;
        // What it holds is dynamic too.
        let is_open = place.ty == Type::OBJECT;
        match (how, right) {
            (Change::By(binary), Some(right)) if !is_open => {
                self.compounded(place, binary, &right, span)
            }
            (Change::Step { .. }, _) if !is_open => self.stepped(place, how, span),
            (how, right) => {
                let slot = self.slot();
                let old = self.slot_node(slot, &Type::OBJECT, span);
                let one = Node::constant(Scalar::Int(Kind::Int, 1), Type::INT, span);
                let right = self.natural(right.unwrap_or(Operand::Value(one)))?;
                let (binary, is_old) = match how {
                    Change::By(binary) => (binary, false),
                    Change::Step { up: true, prefix } => (BinaryOp::Add, !prefix),
                    Change::Step { prefix, .. } => (BinaryOp::Subtract, !prefix),
                };
                let value = self.late(Late::Binary(binary), vec![old, right], span);
                let op = Op::Update(Box::new(place), slot, Box::new(value), is_old);
                Ok(Node::new(op, Type::OBJECT, span))
            }
        }
    }

    /// What a compound assignment sets: `b += 1` converts back to a byte, if the right side fits it by itself (C# 12.21.4).
    fn compound(
        &mut self,
        op: BinaryOp,
        computed: Node,
        right: &Operand<'_>,
        ty: &Type,
        span: Span,
    ) -> Result<Node> {
        let result = Operand::Value(computed.clone());
        if self.implicit(&result, ty).is_some() {
            return self.convert(result, ty, span);
        }
        let is_predefined = match &computed.op {
            Op::Call(..) => false,
            Op::Lifted(_, body, ..) => !matches!(body.op, Op::Call(..)),
            _ => true,
        };
        let is_shift = matches!(
            op,
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight | BinaryOp::UnsignedShiftRight
        );
        let fits = is_shift || self.implicit(right, ty).is_some();
        if is_predefined && fits {
            return self.cast_operand(result, ty, span);
        }
        if let Operand::Null(at) = right
            && is_predefined
            && !self.admits_null(ty)
        {
            let told = format!("null cannot be converted to `{}`", self.text(ty));
            return Err(Fail::cs("CS0037", *at, told));
        }
        match right {
            // A number that does not fit is told as that.
            Operand::Value(node) if is_predefined && node.constant.is_some() => {
                let mut fail = self.no_conversion(right.clone(), ty, node.span);
                // It is not the literal alone that is converted.
                if fail.code == Some("CS0664") {
                    fail.code = Some("CS0266");
                }
                Err(fail)
            }
            _ => Err(self.no_conversion(result, ty, span)),
        }
    }

    /// Something that can be assigned.
    pub(super) fn place(&mut self, expr: &Expr, span: Span) -> Result<Node> {
        if let ExprKind::Name(name) = &expr.kind
            && self.range_variables.contains(&name.identifier.text)
            && let Some(local) = self
                .locals
                .iter()
                .rfind(|it| it.name == name.identifier.text)
            && local.item.is_some()
        {
            let told = format!("the range variable `{}` cannot be assigned", local.name);
            return Err(Fail::cs("CS1947", span, told));
        }
        let outer = std::mem::replace(&mut self.assigning, true);
        let bound = self.bind(expr);
        self.assigning = outer;
        self.assigned_place(bound?, span)
    }

    /// What is assigned to, if it can be.
    pub(super) fn assigned_place(&mut self, bound: Operand<'_>, span: Span) -> Result<Node> {
        if let Operand::Group(group) = &bound {
            return Err(Fail::cs(
                "CS1656",
                span,
                format!("`{}` is a method group and cannot be assigned", group.name),
            ));
        }
        if let Operand::Type(ty, at) = &bound {
            let told = format!("`{}` is a type and cannot be assigned", self.text(ty));
            return Err(Fail::cs("CS0118", *at, told));
        }
        let node = self.natural(bound)?;
        match &node.op {
            _ if node.constant.is_some() => Err(not_a_variable(span)),
            Op::Length(_) => Err(Fail::cs(
                "CS0200",
                span,
                "the length of an array cannot be set",
            )),
            Op::Variable(_) if self.is_read_only(&node) => Err(self.fixed(&node, false, span)),
            Op::Field(target, _) | Op::Call(_, Some(target), _) if self.is_read_only(target) => {
                Err(self.fixed(target, true, span))
            }
            Op::Variable(number)
                if Some(*number) == self.context.this
                    && (node.ty.is_value() != Some(true) || self.is_read_only_struct(&node.ty)) =>
            {
                Err(Fail::cs("CS1604", span, "`this` cannot be assigned"))
            }
            Op::Field(_, field)
                if matches!(field.ty, Type::ByRef(_)) && self.is_readonly(field) =>
            {
                let told = format!("`{}` leads to what may only be read", field.name);
                Err(Fail::cs("CS8331", span, told))
            }
            Op::StaticField(field) | Op::Field(_, field)
                if !self.forced && self.is_readonly(field) =>
            {
                let code = match &node.op {
                    Op::StaticField(_) => "CS0198",
                    _ => "CS0191",
                };
                Err(Fail::cs(
                    code,
                    span,
                    format!("`{}` is readonly and cannot be assigned", field.name),
                ))
            }
            Op::Element(..) if self.is_read_only(&node) => Err(Fail::cs(
                "CS8331",
                span,
                "the elements of a read-only span or `in` parameter cannot be assigned",
            )),
            Op::Variable(_) | Op::StaticField(_) | Op::Element(..) => Ok(node),
            Op::ConditionalRef(_, yes, no) => {
                for place in [yes, no] {
                    self.assigned_place(Operand::Value((**place).clone()), place.span)?;
                }
                Ok(node)
            }
            Op::Late(..) => Ok(node),
            Op::Field(target, _) => {
                // A field of a struct that is itself a value and not a variable is gone after the assignment.
                if target.ty.is_reference() || is_variable(target) {
                    Ok(node)
                } else {
                    Err(lost(target, span, "field"))
                }
            }
            Op::Let(_, element) if matches!(element.op, Op::Element(..)) => Ok(node),
            Op::Let(_, element) if matches!(&element.op, Op::Call(callee, ..) if self.has_setter(callee) || returns_reference(callee)) => {
                Ok(node)
            }
            Op::Call(callee, ..) if returns_reference(callee) => {
                match self.returns_read_only(callee) {
                    true => Err(Fail::cs(
                        "CS8331",
                        span,
                        "what is returned as `ref readonly` cannot be assigned",
                    )),
                    false => Ok(node),
                }
            }
            Op::Call(callee, Some(target), _)
                if target.ty.is_value() == Some(true)
                    && callee.method.name.starts_with("get_")
                    && !is_variable(target) =>
            {
                Err(lost(target, span, "property"))
            }
            Op::Call(callee, ..) if is_set_only(callee) => Ok(node),
            Op::Call(callee, ..) if callee.method.name.starts_with("get_") => {
                let property = callee.method.name.trim_start_matches("get_");
                match self.has_setter(callee) {
                    true => Ok(node),
                    false => Err(Fail::cs(
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
            Op::Slot(slot) => self.assigned_slot(*slot, span).map(|()| node),
            _ => Err(not_a_variable(span)),
        }
    }

    /// Notes that a variable of the expression is assigned: one of the innermost lambda's own, which no other lambda has, as
    /// each keeps the values that it found.
    fn assigned_slot(&mut self, slot: u32, span: Span) -> Result<()> {
        let Some(local) = self.locals.iter().find(|it| it.slot == slot) else {
            return Err(not_a_variable(span));
        };
        if local.item.is_some() || self.range_variables.contains(&local.name) {
            let told = format!("the range variable `{}` cannot be assigned", local.name);
            return Err(Fail::cs("CS1947", span, told));
        }
        let own = self.locals.get(self.own_locals.0..).unwrap_or_default();
        if !own.iter().any(|it| it.slot == slot) || self.captured.contains(&slot) {
            return Err(Fail::new(
                span,
                "a variable that is shared with a lambda cannot be assigned in an expression",
            ));
        }
        self.assigned.push(slot);
        Ok(())
    }

    /// Whether a method returns `ref readonly`.
    pub(super) fn returns_read_only(&self, callee: &Callee) -> bool {
        let Ok(module) = self.types.metadata(callee.method.declared_in.module) else {
            return false;
        };
        let metadata = module.metadata();
        let Ok(definition) = metadata.method(callee.method.token) else {
            return false;
        };
        definition.param_rows().flatten().any(|(token, row)| {
            row.sequence == 0
                && metadata.has_attribute(
                    token,
                    "System.Runtime.CompilerServices",
                    "IsReadOnlyAttribute",
                )
        })
    }

    pub(super) fn has_setter(&self, getter: &Callee) -> bool {
        let properties = self.types.properties(&getter.method.declared_in);
        properties.is_ok_and(|all| {
            let mut all = all.iter();
            let token = Some(getter.method.token);
            let found = all.find(|it| it.getter == token || it.setter == token);
            found.is_some_and(|it| it.setter.is_some())
        })
    }
}

/// Whether something that is assigned has a setter only: it is known by that.
fn is_set_only(callee: &Callee) -> bool {
    callee.method.name.starts_with("set_")
}

/// Refuses to read what has a setter only.
fn must_be_readable(place: &Node, span: Span) -> Result<()> {
    match &place.op {
        Op::Call(callee, ..) if is_set_only(callee) => {
            let name = callee.method.name.trim_start_matches("set_");
            Err(Fail::cs("CS0154", span, format!("`{name}` has no getter")))
        }
        _ => Ok(()),
    }
}

fn not_a_variable(span: Span) -> Box<Fail> {
    Fail::cs(
        "CS0131",
        span,
        "the left side of an assignment must be a variable, property or indexer",
    )
}

/// Why a part of a struct that is no variable is not assigned: it would be gone right after.
fn lost(target: &Node, span: Span, part: &str) -> Box<Fail> {
    let code = match target.op {
        Op::New(..) | Op::Default | Op::Initialize(..) => "CS0131",
        _ => "CS1612",
    };
    let told = format!("the value whose {part} is assigned is not a variable");
    Fail::cs(code, span, told)
}

/// Whether a struct is a variable, or a part of one.
pub(super) fn is_variable(node: &Node) -> bool {
    match &node.op {
        Op::Variable(_) | Op::StaticField(_) | Op::Element(..) => true,
        Op::Field(target, _) => target.ty.is_reference() || is_variable(target),
        Op::Let(_, element) => is_variable(element),
        Op::Call(callee, ..) => returns_reference(callee),
        Op::ConditionalRef(..) => true,
        _ => false,
    }
}

pub(super) fn returns_reference(callee: &Callee) -> bool {
    matches!(callee.method.returns, Type::ByRef(_))
}

/// Sets a variable of the expression.
fn set_slot(slot: u32, value: Node, place: Node, span: Span) -> Node {
    let ty = place.ty.clone();
    Node::new(Op::Let(vec![(slot, value)], Box::new(place)), ty, span)
}
