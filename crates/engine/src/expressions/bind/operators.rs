//! Unary and binary operators: predefined, lifted, user-defined (C# 12.4, 12.9 to 12.15).

use std::rc::Rc;

use metadata::signature::Primitive;
use syntax::Span;
use syntax::tree::{BinaryOp, Expr, ExprKind, Literal, UnaryOp};

use super::late::{Late, is_late};
use super::literals::integer_kind;
use super::well_known::primitive_kind;
use super::{Binder, Group, Operand, pointers};
use crate::expressions::error::{Fail, Result};
use crate::expressions::plan::{Conversion, Node, Op};
use crate::expressions::scalar::{self, Fault, Kind, NoOperator, Scalar};
use crate::types::{Named, Type};

impl Binder<'_> {
    pub(super) fn unary(&mut self, op: UnaryOp, inner: &Expr, span: Span) -> Result<Node> {
        match op {
            UnaryOp::Increment | UnaryOp::Decrement => {
                return self.increment(op == UnaryOp::Increment, true, inner, span);
            }
            UnaryOp::FromEnd => return self.index_value(inner, span),
            UnaryOp::Dereference | UnaryOp::AddressOf => {
                return Err(pointers::refusal(op.text(), span));
            }
            _ => {}
        }
        // The smallest int and long can only be written with their minus.
        if op == UnaryOp::Minus
            && let ExprKind::Literal(Literal::Integer(integer)) = &inner.kind
            && let Some(ty) = integer.ty_after_minus()
        {
            let kind = integer_kind(ty);
            let value = Scalar::Int(kind, -i128::from(integer.value));
            return Ok(Node::constant(value, self.kind_type(kind, span)?, span));
        }
        let operand = self.bind(inner)?;
        self.unary_operand(op, operand, span)
    }

    /// An operator on a bound operand.
    pub(super) fn unary_operand(
        &mut self,
        op: UnaryOp,
        operand: Operand<'_>,
        span: Span,
    ) -> Result<Node> {
        if let Operand::Value(node) = &operand
            && is_late(node)
        {
            return Ok(self.late(Late::Unary(op), vec![node.clone()], span));
        }
        if let Operand::Null(at) | Operand::Default(at) = operand {
            let what = if matches!(operand, Operand::Null(_)) {
                "null"
            } else {
                "default"
            };
            return Err(Fail::cs(
                "CS8310",
                at,
                format!("`{}` cannot be applied to `{what}`", op.text()),
            ));
        }
        let mut node = self.natural(operand)?;
        if let Some(found) = self.user_unary(op, &node, span)? {
            return Ok(found);
        }
        if let Some(converted) = self.converted_unary(op, &node, span)? {
            node = converted;
        }
        let inner_ty = self.without_nullable(&node.ty);
        if let Some(underlying) = Self::enum_of(&inner_ty)
            && op == UnaryOp::Complement
        {
            let kind = primitive_kind(underlying).unwrap_or(Kind::Int);
            let promoted = if kind.size() < 4 { Kind::Int } else { kind };
            let as_number = self.numeric_node(node.clone(), promoted, span)?;
            let computed = self.fold_unary(op, as_number, promoted, span)?;
            // The complement of an enum is never checked.
            let ty = node.ty.clone();
            return self.narrow(computed, kind, &ty, span);
        }
        let kind = self.kind(&inner_ty).filter(|it| *it != Kind::String);
        let chosen = kind.map(|kind| {
            scalar::unary_kind(
                op,
                scalar::Operand {
                    kind,
                    constant: node.scalar(),
                },
            )
        });
        match chosen {
            Some(Ok(kind)) => {
                let converted = self.numeric_node(node, kind, span)?;
                self.fold_unary(op, converted, kind, span)
            }
            Some(Err(NoOperator::Ambiguous)) => Err(Fail::cs(
                "CS0035",
                span,
                format!(
                    "`{}` is ambiguous for an operand of type `{}`",
                    op.text(),
                    self.text(&node.ty)
                ),
            )),
            _ => Err(Fail::cs(
                "CS0023",
                span,
                format!(
                    "`{}` cannot be applied to an operand of type `{}`",
                    op.text(),
                    self.text(&node.ty)
                ),
            )),
        }
    }

    /// A number of a kind, nullable if it was.
    pub(super) fn numeric_node(&mut self, node: Node, kind: Kind, span: Span) -> Result<Node> {
        let mut to = self.kind_type(kind, span)?;
        if self.nullable_of(&node.ty).is_some() {
            to = self.nullable(&to);
        }
        if node.ty == to {
            return Ok(node);
        }
        let at = node.span;
        self.cast_operand(Operand::Value(node), &to, at)
    }

    /// Cuts a number to the kind of an enum without a check.
    pub(super) fn narrow(&mut self, node: Node, kind: Kind, to: &Type, span: Span) -> Result<Node> {
        if let Some(value) = node.scalar().filter(|_| self.nullable_of(to).is_none())
            && let Some(Ok(value)) = scalar::convert(value, kind, false)
        {
            return Ok(Node::constant(value, to.clone(), span));
        }
        Ok(Node::new(
            Op::Convert(Conversion::Numeric(kind, false), Box::new(node)),
            to.clone(),
            span,
        ))
    }

    fn fold_unary(&mut self, op: UnaryOp, node: Node, _kind: Kind, span: Span) -> Result<Node> {
        let ty = node.ty.clone();
        if let Some(value) = node.scalar() {
            return match scalar::unary(op, value, self.strict()) {
                Some(Ok(value)) => Ok(Node::constant(value, ty, span)),
                _ => Err(Fail::cs("CS0220", span, "the constant overflows its type")
                    .hint("write unchecked(…) to wrap")),
            };
        }
        Ok(Node::new(
            Op::Unary(op, Box::new(node), self.checked),
            ty,
            span,
        ))
    }

    pub(super) fn binary<'e>(
        &mut self,
        op: BinaryOp,
        left: &'e Expr,
        right: &'e Expr,
        span: Span,
    ) -> Result<Operand<'e>> {
        if op == BinaryOp::Coalesce {
            return self.coalesce(left, right, span).map(Operand::Value);
        }
        // Long sums nest to the left: without recursion for each of them.
        let mut chain = vec![(op, right, span)];
        let mut first = left;
        while let ExprKind::Binary(op, left, right) = &first.kind
            && *op != BinaryOp::Coalesce
        {
            chain.push((*op, right, first.span));
            first = left;
        }
        let mut value = self.bind(first)?;
        while let Some((op, right, span)) = chain.pop() {
            // Variables of patterns on the left are in scope on the right of && only if it is true; C# checks that, we need not.
            if matches!(op, BinaryOp::Equal | BinaryOp::NotEqual) {
                self.note_compared(&value, right);
            }
            let right = self.bind(right)?;
            value = Operand::Value(self.binary_operands(op, value, right, span)?);
        }
        Ok(value)
    }

    /// An operator on bound operands.
    pub(super) fn binary_operands(
        &mut self,
        op: BinaryOp,
        left: Operand<'_>,
        right: Operand<'_>,
        span: Span,
    ) -> Result<Node> {
        if let Some(late) = self.late_binary(op, &left, &right, span)? {
            return Ok(late);
        }
        for operand in [&left, &right] {
            match operand {
                Operand::Type(..) | Operand::Namespace(..) => {
                    self.natural(operand.clone())?;
                }
                _ => {}
            }
        }
        if op == BinaryOp::Add
            && left
                .value()
                .is_some_and(|it| self.is_read_only_span(&it.ty))
            && let Some(joined) = joined_bytes(&left, &right, span)
        {
            return Ok(joined);
        }
        let equality = matches!(op, BinaryOp::Equal | BinaryOp::NotEqual);
        let (left, right) = match equality {
            true => self.compared_as_bound(left, right),
            false => (left, right),
        };
        // Tuples compare element by element.
        if equality && let Some(node) = self.tuple_equality(op, &left, &right, span)? {
            return Ok(node);
        }
        match (&left, &right) {
            // A static method that is the only one of its name is a delegate, which is never null.
            (Operand::Group(group), Operand::Null(_))
            | (Operand::Null(_), Operand::Group(group))
                if equality && is_one_function(group) =>
            {
                let differs = Scalar::Bool(op == BinaryOp::NotEqual);
                return Ok(Node::constant(differs, Type::BOOL, span));
            }
            (Operand::Null(_), Operand::Null(_)) if equality => {
                return Ok(Node::constant(
                    Scalar::Bool(op == BinaryOp::Equal),
                    Type::BOOL,
                    span,
                ));
            }
            (Operand::Null(_), Operand::Null(_))
                if matches!(
                    op,
                    BinaryOp::Add | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor
                ) =>
            {
                return Err(Fail::cs(
                    "CS0034",
                    span,
                    format!("`{}` is ambiguous for two nulls", op.text()),
                ));
            }
            (Operand::Null(_), Operand::Null(_))
                if !matches!(
                    op,
                    BinaryOp::Add
                        | BinaryOp::And
                        | BinaryOp::Or
                        | BinaryOp::Xor
                        | BinaryOp::ConditionalAnd
                        | BinaryOp::ConditionalOr
                ) =>
            {
                // Of all operators the one of `int?` is chosen.
                let ty = self.nullable(&Type::INT);
                let left = self.convert(left, &ty, span)?;
                let right = self.convert(right, &ty, span)?;
                let result = if is_comparison(op) { Type::BOOL } else { ty };
                return self.fold_binary(op, left, right, result, true, span);
            }
            (Operand::Default(_), Operand::Value(node))
            | (Operand::Value(node), Operand::Default(_))
                if equality =>
            {
                let ty = node.ty.clone();
                let left = self.convert(left, &ty, span)?;
                let right = self.convert(right, &ty, span)?;
                return self.binary_operands(op, Operand::Value(left), Operand::Value(right), span);
            }
            _ => {}
        }
        if let Some(node) = self.user_binary(op, &left, &right, span)? {
            return Ok(node);
        }
        if let Some(node) = self.delegate_operator(op, &left, &right, span)? {
            return Ok(node);
        }
        if op == BinaryOp::Add
            && let Some(node) = self.concat(&left, &right, span)?
        {
            return Ok(node);
        }
        if let Some(node) = self.pointer_operator(op, &left, &right, span)? {
            return Ok(node);
        }
        if let Some(node) = self.enum_operator(op, &left, &right, span)? {
            return Ok(node);
        }
        if let Some(node) = self.predefined_operator(op, &left, &right, span)? {
            return Ok(node);
        }
        if op == BinaryOp::Add
            && let (Operand::Value(_), Operand::Null(at)) | (Operand::Null(at), Operand::Value(_)) =
                (&left, &right)
        {
            let null = Operand::Value(self.convert(Operand::Null(*at), &Type::STRING, *at)?);
            let pair = match &left {
                Operand::Null(_) => (null, right),
                _ => (left, null),
            };
            if let Some(node) = self.concat(&pair.0, &pair.1, span)? {
                return Ok(node);
            }
            return Err(self.no_operator(op, &pair.0, &pair.1, span));
        }
        if equality && let Some(node) = self.reference_equality(op, &left, &right, span)? {
            return Ok(node);
        }
        if let Some((left, right)) = self.as_texts(op, &left, &right)? {
            return self.binary_operands(op, left, right, span);
        }
        if let Some(node) = self.converted_binary(op, &left, &right, span)? {
            return Ok(node);
        }
        Err(self.no_operator(op, &left, &right, span))
    }

    /// The operands of an operator of texts, if a type that converts itself to one is among them.
    fn as_texts(
        &mut self,
        op: BinaryOp,
        left: &Operand<'_>,
        right: &Operand<'_>,
    ) -> Result<Option<(Operand<'static>, Operand<'static>)>> {
        let (Operand::Value(left), Operand::Value(right)) = (left, right) else {
            return Ok(None);
        };
        let becomes = |it: &Node| {
            it.ty != Type::STRING && self.user_conversion(&it.ty, &Type::STRING, false).is_some()
        };
        let (one, other) = (becomes(left), becomes(right));
        let is_text = |it: &Node| it.ty == Type::STRING;
        let fits = match op {
            BinaryOp::Add => one || other,
            BinaryOp::Equal | BinaryOp::NotEqual => {
                (one && is_text(right)) || (other && is_text(left))
            }
            _ => false,
        };
        if !fits {
            return Ok(None);
        }
        let mut texts = Vec::with_capacity(2);
        for (node, becomes) in [(left, one), (right, other)] {
            let operand = Operand::Value(node.clone());
            texts.push(match becomes {
                true => Operand::Value(self.convert(operand, &Type::STRING, node.span)?),
                false => Operand::Value(node.clone()),
            });
        }
        let right = texts.pop();
        Ok(texts.pop().zip(right))
    }

    fn describe(&self, operand: &Operand<'_>) -> String {
        match operand {
            Operand::Value(node) => self.text(&node.ty),
            Operand::Null(_) => "<null>".into(),
            Operand::Default(_) => "default".into(),
            Operand::Lambda(..) => "lambda expression".into(),
            Operand::Group(_) => "method group".into(),
            _ => "expression".into(),
        }
    }

    fn no_operator(
        &self,
        op: BinaryOp,
        left: &Operand<'_>,
        right: &Operand<'_>,
        span: Span,
    ) -> Box<Fail> {
        if let Some(told) = self
            .two_ways(op, left, right)
            .or_else(|| self.two_ways(op, right, left))
        {
            return Fail::cs("CS0457", span, told);
        }
        let is_default = |it: &Operand<'_>| matches!(it, Operand::Default(_));
        Fail::cs(
            match is_default(left) || is_default(right) {
                true => "CS8310",
                false => "CS0019",
            },
            span,
            format!(
                "`{}` cannot be applied to operands of type `{}` and `{}`",
                op.text(),
                self.describe(left),
                self.describe(right)
            ),
        )
    }

    /// Whether a constant could be converted to a type that has the operator in several ways, none of them better.
    fn two_ways(&self, op: BinaryOp, of: &Operand<'_>, given: &Operand<'_>) -> Option<String> {
        let (Operand::Value(of), Operand::Value(given)) = (of, given) else {
            return None;
        };
        let Type::Named(named) = self.without_nullable(&of.ty) else {
            return None;
        };
        let has_it = super::user_operators::method_name(op).is_some_and(|name| {
            self.types
                .methods(&named, Some(name))
                .is_ok_and(|it| !it.is_empty())
        });
        self.constant_ways(given, &named).filter(|_| has_it)
    }

    /// That a constant converts to a type by several operators, if it does.
    pub(super) fn constant_ways(&self, given: &Node, named: &Rc<Named>) -> Option<String> {
        given.constant.as_ref()?;
        let conversions = self.types.methods(named, Some("op_Implicit")).ok()?;
        let ways = conversions.iter().filter(|it| {
            let takes = it.parameters.first().map(|it| it.ty.without_ref());
            it.returns.as_named() == Some(named)
                && takes.is_some_and(|it| self.implicit_constant(given, it).is_some())
        });
        (ways.count() > 1).then(|| {
            format!(
                "`{}` can be converted to `{}` in several ways, none of which is better",
                self.text(&given.ty),
                self.text(&Type::Named(Rc::clone(named)))
            )
        })
    }

    /// Numbers, truth values and strings, lifted if an operand is nullable.
    fn predefined_operator(
        &mut self,
        op: BinaryOp,
        left: &Operand<'_>,
        right: &Operand<'_>,
        span: Span,
    ) -> Result<Option<Node>> {
        let lifted = [left, right].into_iter().any(|it| match it {
            Operand::Value(node) => self.nullable_of(&node.ty).is_some(),
            Operand::Null(_) => true,
            _ => false,
        });
        // Null takes the type of the other side.
        let kind_of = |it: &Operand<'_>| match it {
            Operand::Value(node) => Some(self.kind(&self.without_nullable(&node.ty))),
            Operand::Null(_) => None,
            _ => Some(None),
        };
        let (left_kind, right_kind) = match (kind_of(left), kind_of(right)) {
            (Some(Some(left)), Some(Some(right))) => (left, right),
            (None, Some(Some(kind))) | (Some(Some(kind)), None) if kind != Kind::String => {
                // A shift by null has an int there.
                let shift = matches!(
                    op,
                    BinaryOp::ShiftLeft | BinaryOp::ShiftRight | BinaryOp::UnsignedShiftRight
                );
                match (left, shift) {
                    (Operand::Null(_), true) => (Kind::Int, kind),
                    (_, true) => (kind, Kind::Int),
                    _ => (kind, kind),
                }
            }
            _ => return Ok(None),
        };
        if [left_kind, right_kind]
            .iter()
            .any(|it| matches!(it, Kind::Int128 | Kind::UInt128 | Kind::Half))
        {
            return Ok(None);
        }
        if lifted && matches!(op, BinaryOp::ConditionalAnd | BinaryOp::ConditionalOr) {
            return Ok(None);
        }
        let operand = |it: &'_ Operand<'_>, kind| -> (Kind, Option<Scalar>) {
            (kind, it.value().and_then(Node::scalar).cloned())
        };
        let (l, r) = (operand(left, left_kind), operand(right, right_kind));
        let chosen = scalar::operand_kind(
            op,
            scalar::Operand {
                kind: l.0,
                constant: l.1.as_ref(),
            },
            scalar::Operand {
                kind: r.0,
                constant: r.1.as_ref(),
            },
        );
        let kind = match chosen {
            Ok(kind) => kind,
            Err(NoOperator::None) => return Ok(None),
            Err(NoOperator::Ambiguous) => {
                return Err(Fail::cs(
                    "CS0034",
                    span,
                    format!(
                        "`{}` is ambiguous for operands of type `{}` and `{}`",
                        op.text(),
                        self.describe(left),
                        self.describe(right)
                    ),
                ));
            }
        };
        if kind == Kind::String && lifted {
            return Ok(None);
        }
        let shift = matches!(
            op,
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight | BinaryOp::UnsignedShiftRight
        );
        let mut ty = self.kind_type(kind, span)?;
        let mut count_ty = if shift { Type::INT } else { ty.clone() };
        if lifted {
            ty = self.nullable(&ty);
            count_ty = self.nullable(&count_ty);
        }
        let left = self.convert(left.clone(), &ty, left.span())?;
        let right = self.convert(right.clone(), &count_ty, right.span())?;
        let comparison = is_comparison(op);
        let result = if comparison { Type::BOOL } else { ty };
        self.fold_binary(op, left, right, result, lifted, span)
            .map(Some)
    }

    pub(super) fn fold_binary(
        &mut self,
        op: BinaryOp,
        left: Node,
        right: Node,
        ty: Type,
        lifted: bool,
        span: Span,
    ) -> Result<Node> {
        if !lifted && let (Some(a), Some(b)) = (left.scalar(), right.scalar()) {
            match scalar::binary(op, a, b, self.strict()) {
                // Native integers are constants where 32 bits hold them on every machine.
                Some(Ok(value)) if fits_natively(&value) => {
                    return Ok(Node::constant(value, ty, span));
                }
                Some(Ok(_)) => {}
                Some(Err(_)) if is_native(a.kind()) && op != BinaryOp::Divide => {}
                // The smallest number through -1 is itself where nothing is checked.
                Some(Err(Fault::Overflow)) if op == BinaryOp::Divide && self.unchecked => {
                    return Ok(Node::constant(a.clone(), ty, span));
                }
                Some(Err(Fault::DivideByZero)) => {
                    return Err(Fail::cs("CS0020", span, "division by the constant zero"));
                }
                // Only at run time does the smallest number have no remainder of -1.
                Some(Err(Fault::Overflow)) if op == BinaryOp::Remainder => {
                    let nothing = scalar::binary(BinaryOp::Subtract, a, a, false);
                    if let Some(Ok(nothing)) = nothing {
                        return Ok(Node::constant(nothing, ty, span));
                    }
                }
                Some(Err(Fault::Overflow | Fault::Unfit(_))) => {
                    let decimal = matches!(a, Scalar::Decimal(_));
                    return Err(Fail::cs(
                        if decimal { "CS0463" } else { "CS0220" },
                        span,
                        "the operation overflows at compile time",
                    )
                    .hint("write unchecked(…) to wrap"));
                }
                None => {}
            }
        }
        let op = match op {
            BinaryOp::ConditionalAnd => Op::Logical(true, Box::new(left), Box::new(right)),
            BinaryOp::ConditionalOr => Op::Logical(false, Box::new(left), Box::new(right)),
            _ => Op::Binary(op, Box::new(left), Box::new(right), self.checked),
        };
        Ok(Node::new(op, ty, span))
    }

    fn concat(
        &mut self,
        left: &Operand<'_>,
        right: &Operand<'_>,
        span: Span,
    ) -> Result<Option<Node>> {
        let is_string =
            |it: &Operand<'_>| matches!(it, Operand::Value(node) if node.ty == Type::STRING);
        if !is_string(left) && !is_string(right) {
            return Ok(None);
        }
        let mut parts = Vec::new();
        for operand in [left, right] {
            let node = match operand.clone() {
                Operand::Null(span) | Operand::Default(span) => {
                    self.convert(Operand::Null(span), &Type::STRING, span)?
                }
                Operand::Value(node) if node.ty == Type::Primitive(Primitive::Void) => {
                    return Err(self.no_operator(BinaryOp::Add, left, right, span));
                }
                // A text that a type makes of itself is preferred to its ToString.
                Operand::Value(node)
                    if node.ty.as_named().is_some()
                        && self
                            .user_conversion(&node.ty, &Type::STRING, false)
                            .is_some() =>
                {
                    let at = node.span;
                    self.convert(Operand::Value(node), &Type::STRING, at)?
                }
                // A span cannot become an object.
                Operand::Value(node)
                    if node
                        .ty
                        .as_named()
                        .is_some_and(|it| self.types.is_by_ref_like(it)) =>
                {
                    return Err(self.no_operator(BinaryOp::Add, left, right, span));
                }
                Operand::Value(node) => node,
                _ => return Err(self.no_operator(BinaryOp::Add, left, right, span)),
            };
            match node.op {
                Op::Concat(more) if node.ty == Type::STRING => parts.extend(more),
                _ => parts.push(node),
            }
        }
        // Constants join at once; null adds nothing.
        let text = |node: &Node| match &node.constant {
            Some(crate::expressions::plan::Constant::Null) => Some(Vec::new()),
            Some(crate::expressions::plan::Constant::Scalar(Scalar::String(units))) => {
                Some(units.to_vec())
            }
            _ => None,
        };
        if let Some(all) = parts.iter().map(text).collect::<Option<Vec<_>>>() {
            return Ok(Some(Node::constant(
                Scalar::String(all.concat().into()),
                Type::STRING,
                span,
            )));
        }
        Ok(Some(Node::new(Op::Concat(parts), Type::STRING, span)))
    }
}

/// Whether a method alone has a delegate type of its own without looking at what it is compared with (C# 10.2.15).
fn is_one_function(group: &Group) -> bool {
    let [method] = group.methods.as_slice() else {
        return false;
    };
    method.flags.is_static() && method.arity == 0
}

/// `"a"u8 + "b"u8`, which C# joins while it compiles.
fn joined_bytes(left: &Operand<'_>, right: &Operand<'_>, span: Span) -> Option<Node> {
    let (left, right) = (left.value()?, right.value()?);
    let (Op::Collection(first), Op::Collection(second)) = (&left.op, &right.op) else {
        return None;
    };
    let is_constant = |(_, it): &(_, Node)| it.constant.is_some();
    let all = first.iter().chain(second);
    (left.ty == right.ty && all.clone().all(is_constant)).then(|| {
        Node::new(
            Op::Collection(all.cloned().collect()),
            left.ty.clone(),
            span,
        )
    })
}

/// Whether an operator gives a `bool` even of nullables.
pub(super) fn is_comparison(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::Greater
            | BinaryOp::LessOrEqual
            | BinaryOp::GreaterOrEqual
    )
}

fn is_native(kind: Kind) -> bool {
    matches!(kind, Kind::NInt | Kind::NUInt)
}

/// Whether a number is a constant of its type: of a native integer only what 32 bits hold is.
fn fits_natively(value: &Scalar) -> bool {
    match value {
        Scalar::Int(Kind::NInt, number) => i32::try_from(*number).is_ok(),
        Scalar::Int(Kind::NUInt, number) => u32::try_from(*number).is_ok(),
        _ => true,
    }
}
