//! Conversions: which one C# chooses, and the operations that make it (C# 10).

use std::cmp::Ordering;
use std::rc::Rc;

use syntax::Span;
use syntax::tree::ExprKind;

use super::late::is_late;
use super::user_operators::takes_the_same;
use super::well_known::primitive_kind;
use super::{Binder, Operand};
use crate::expressions::error::{Fail, Result};
use crate::expressions::plan::{Node, Op};
use crate::expressions::scalar::{self, Kind, Scalar, constant_fits, implicit_numeric};
use crate::types::{self, Method, Type};

/// A conversion that exists.
#[derive(Debug, Clone)]
pub(super) enum Conv {
    /// None is needed.
    Identity,
    /// The value stays as it is.
    Keep,
    /// Between numbers, enums included.
    Numeric(Kind),
    /// Of null or default.
    Literal,
    Box,
    Unbox,
    Cast,
    /// Of a nullable to its value, then on.
    Unwrap(Box<Conv>),
    /// Of what may be null, if it is not.
    Lifted(Box<Conv>),
    /// Element by element.
    Tuple(Vec<Conv>),
    /// By a method, with standard conversions before and after.
    User(Box<Conv>, Rc<Method>, Box<Conv>),
    /// A lambda, group, `new()` or the like.
    Target,
}

impl Conv {
    /// Whether a type of the program defines it.
    pub(super) fn is_own(&self) -> bool {
        match self {
            Self::User(..) => true,
            Self::Lifted(inner) | Self::Unwrap(inner) => inner.is_own(),
            _ => false,
        }
    }
}

/// An operator that converts: what it takes, the conversions before and after it, and whether it is lifted.
type Operator = (Method, Type, Conv, Conv, bool);

impl Binder<'_> {
    /// The implicit conversion of an operand to a type.
    pub(super) fn implicit(&mut self, operand: &Operand<'_>, to: &Type) -> Option<Conv> {
        match operand {
            Operand::Value(node) if is_late(node) && *to != Type::OBJECT => Some(Conv::Target),
            Operand::Value(node) => {
                if let Some(conv) = self.implicit_constant(node, to) {
                    return Some(conv);
                }
                if self.is_formattable(node, to) {
                    return Some(Conv::Target);
                }
                if let Op::Tuple(_) = node.op
                    && let Some(conv) = self.tuple_literal(node, to)
                {
                    return Some(conv);
                }
                self.implicit_types(&node.ty.clone(), to)
                    .or_else(|| self.user_conversion(&node.ty, to, false))
                    .or_else(|| self.user_conversion_of(Some(node), &node.ty, to, false))
            }
            Operand::Null(_) if self.admits_null(to) || to.is_pointer() => Some(Conv::Literal),
            Operand::Null(_) => self.null_converts(to),
            Operand::Default(_) => Some(Conv::Literal),
            Operand::Lambda(lambda, _) => self.lambda_fits(lambda, to).then_some(Conv::Target),
            Operand::Group(group) => self.group_fits(group, to).then_some(Conv::Target),
            Operand::Untyped(expr) => self.untyped_fits(expr, to).then_some(Conv::Target),
            Operand::Type(..) | Operand::Namespace(..) => None,
        }
    }

    /// The conversion that a struct defines for a type that null is of: `(ReadOnlySpan<char>)null`.
    fn null_converts(&self, to: &Type) -> Option<Conv> {
        let named = to.as_named()?;
        let methods = self.types.methods(named, Some("op_Implicit")).ok()?;
        let mut fitting = methods.into_iter().filter(|it| {
            it.returns == *to
                && matches!(it.parameters.as_slice(), [from] if self.admits_null(&from.ty))
        });
        let method = fitting.next()?;
        if fitting.next().is_some() {
            return None;
        }
        let (before, after) = (Box::new(Conv::Literal), Box::new(Conv::Identity));
        Some(Conv::User(before, Rc::new(method), after))
    }

    pub(super) fn tuple_literal(&mut self, node: &Node, to: &Type) -> Option<Conv> {
        let Op::Tuple(elements) = &node.op else {
            return None;
        };
        let target = self.without_nullable(to);
        let wanted = self.tuple_elements(&target)?;
        if wanted.len() != elements.len() {
            return None;
        }
        let mut convs = Vec::new();
        for (element, to) in elements.clone().into_iter().zip(&wanted) {
            convs.push(self.implicit(&Operand::Value(element), to)?);
        }
        Some(Conv::Tuple(convs))
    }

    /// Constants convert to smaller types if they fit, and zero to every enum.
    pub(super) fn implicit_constant(&self, node: &Node, to: &Type) -> Option<Conv> {
        let value = node.scalar()?;
        let target = self.without_nullable(to);
        if Self::enum_of(&node.ty).is_some() {
            return None;
        }
        if let Some(underlying) = Self::enum_of(&target) {
            let zero = matches!(value, Scalar::Int(kind, 0) if *kind != Kind::Char);
            let kind = primitive_kind(underlying)?;
            return zero.then_some(Conv::Numeric(kind));
        }
        let kind = self.kind(&target)?;
        (node.ty != target && constant_fits(value, kind)).then_some(Conv::Numeric(kind))
    }

    /// A standard implicit conversion between types.
    pub(super) fn implicit_types(&self, from: &Type, to: &Type) -> Option<Conv> {
        if from == to {
            return Some(Conv::Identity);
        }
        if let (Some(from), Some(to)) = (self.kind(from), self.kind(to))
            && from.is_numeric()
            && to.is_numeric()
            && implicit_numeric(from, to)
        {
            return Some(Conv::Numeric(to));
        }
        if let Some(target) = self.nullable_of(to) {
            if let Some(source) = self.nullable_of(from) {
                let inner = self.implicit_types(&source, &target)?;
                return Some(Conv::Lifted(Box::new(inner)));
            }
            if from.is_value() == Some(true) {
                return self.implicit_types(from, &target).and_then(|it| match it {
                    Conv::Box => None,
                    Conv::Identity => Some(Conv::Keep),
                    other => Some(other),
                });
            }
            return None;
        }
        if let Some(conv) = Self::pointer_converts(from, to) {
            return Some(conv);
        }
        if from.is_reference() {
            return self.reference_converts(from, to).then_some(Conv::Keep);
        }
        if self.boxes_to(from, to) {
            return Some(Conv::Box);
        }
        let (from, to) = (self.tuple_elements(from)?, self.tuple_elements(to)?);
        if from.len() != to.len() {
            return None;
        }
        let convs = from
            .iter()
            .zip(&to)
            .map(|(from, to)| self.implicit_types(from, to));
        Some(Conv::Tuple(convs.collect::<Option<_>>()?))
    }

    /// A standard explicit conversion between types, where there is no implicit one.
    pub(super) fn explicit_types(&self, from: &Type, to: &Type) -> Option<Conv> {
        if let Some(conv) = self.implicit_types(from, to) {
            return Some(conv);
        }
        match (self.nullable_of(from), self.nullable_of(to)) {
            (Some(source), Some(target)) => {
                let inner = self.explicit_types(&source, &target)?;
                return Some(Conv::Lifted(Box::new(inner)));
            }
            (Some(source), None) if to.is_value() == Some(true) => {
                let inner = self.explicit_types(&source, to)?;
                return Some(Conv::Unwrap(Box::new(inner)));
            }
            (None, Some(target)) if from.is_value() == Some(true) => {
                return self.explicit_types(from, &target);
            }
            _ => {}
        }
        // Numbers and enums among each other.
        let number = |ty: &Type| match Self::enum_of(ty) {
            Some(underlying) => primitive_kind(underlying),
            None => self.kind(ty).filter(|it| it.is_numeric()),
        };
        if let (Some(_), Some(kind)) = (number(from), number(to)) {
            return Some(Conv::Numeric(kind));
        }
        if let Some(conv) = self.pointer_casts(from, to) {
            return Some(conv);
        }
        if from.is_reference() && to.is_value() == Some(true) {
            let inner = self.without_nullable(to);
            return self.boxes_to(&inner, from).then_some(Conv::Unbox);
        }
        if from.is_reference() && to.is_reference() {
            let sealed = |ty: &Type| match ty {
                Type::Named(named) => {
                    named.kind == types::Kind::Delegate
                        || self
                            .types
                            .definition(named)
                            .is_ok_and(|it| it.flags().is_sealed())
                }
                _ => *ty == Type::STRING || ty.element().is_some(),
            };
            let down = self.reference_converts(to, from);
            let across = Self::is_interface(from) && (!sealed(to) || down)
                || Self::is_interface(to) && !sealed(from)
                || Self::is_interface(from) && Self::is_interface(to);
            let arrays = match (from, to) {
                (Type::SzArray(from), Type::SzArray(to)) => {
                    from.is_reference()
                        && to.is_reference()
                        && self.explicit_types(from, to).is_some()
                }
                _ => false,
            };
            return (down || across || arrays).then_some(Conv::Cast);
        }
        let (from, to) = (self.tuple_elements(from)?, self.tuple_elements(to)?);
        if from.len() != to.len() {
            return None;
        }
        let convs = from
            .iter()
            .zip(&to)
            .map(|(from, to)| self.explicit_types(from, to));
        Some(Conv::Tuple(convs.collect::<Option<_>>()?))
    }

    /// A conversion that one of the two types defines (C# 10.5).
    pub(super) fn user_conversion(&self, from: &Type, to: &Type, explicit: bool) -> Option<Conv> {
        self.user_conversion_of(None, from, to, explicit)
    }

    /// The same; a constant converts to what its value fits before.
    fn user_conversion_of(
        &self,
        constant: Option<&Node>,
        from: &Type,
        to: &Type,
        explicit: bool,
    ) -> Option<Conv> {
        if constant.is_some_and(|it| it.constant.is_none()) {
            return None;
        }
        let (source, target) = (self.without_nullable(from), self.without_nullable(to));
        let builtin = |ty: &Type| {
            *ty == Type::OBJECT || Self::is_interface(ty) || Self::enum_of(ty).is_some()
        };
        if builtin(&source) && builtin(&target)
            || Self::is_interface(from)
            || Self::is_interface(to)
        {
            return None;
        }
        let mut methods: Vec<Method> = Vec::new();
        for ty in [&source, &target] {
            if !matches!(ty, Type::Named(_)) && *ty != Type::STRING {
                continue;
            }
            for named in self.types.ancestry(ty).unwrap_or_default() {
                for name in ["op_Implicit", "op_Explicit"] {
                    if explicit || name == "op_Implicit" {
                        methods.extend(self.types.methods(&named, Some(name)).unwrap_or_default());
                    }
                }
                if explicit && self.checked && self.kind(ty).is_none() {
                    let checked = self.types.methods(&named, Some("op_CheckedExplicit"));
                    let checked = checked.unwrap_or_default();
                    methods.retain(|it| {
                        let replaces = |other: &Method| {
                            takes_the_same(it, other) && it.returns == other.returns
                        };
                        &*it.name != "op_Explicit" || !checked.iter().any(replaces)
                    });
                    methods.extend(checked);
                }
            }
        }
        let standard = |from: &Type, to: &Type| {
            if explicit {
                self.implicit_types(from, to).or_else(|| {
                    self.implicit_types(to, from)
                        .and_then(|_| self.explicit_types(from, to))
                })
            } else {
                self.implicit_types(from, to)
            }
        };
        let mut found: Vec<Operator> = Vec::new();
        let mut to_inside = Vec::new();
        for method in methods {
            let [parameter] = method.parameters.as_slice() else {
                continue;
            };
            let parameter = parameter.ty.without_ref().clone();
            let lifted = from != &source && parameter.is_value() == Some(true);
            // A reference can be null as what is converted can.
            if lifted && !explicit && *to == target && !to.is_reference() {
                continue;
            }
            let given = if lifted { &source } else { from };
            let wanted = if lifted { &target } else { to };
            let before = match constant {
                Some(node) => self.implicit_constant(node, &parameter),
                None => standard(given, &parameter),
            };
            let after = standard(&method.returns, wanted);
            let inside = standard(&method.returns, &target);
            match (before, after, inside) {
                (Some(before), Some(after), _) => {
                    found.push((method, parameter, before, after, lifted));
                }
                (Some(before), None, Some(after)) if explicit => {
                    to_inside.push((method, parameter, before, after, lifted));
                }
                _ => {}
            }
        }
        // What is converted may become nullable in the end.
        if found.is_empty() {
            found = to_inside;
        }
        if explicit && constant.is_none() {
            let index = self.most_specific(&found, (from, &source), (to, &target))?;
            found.swap(0, index);
            found.truncate(1);
        }
        // The most specific source and target: exact ones win, then those that all others convert to.
        let score = |entry: &Operator| {
            let exact = |conv: &Conv| u8::from(!matches!(conv, Conv::Identity));
            exact(&entry.2) * 2 + exact(&entry.3)
        };
        let best = found.iter().map(score).min()?;
        found.retain(|it| score(it) == best);
        if found.len() > 1 {
            let specific = found.iter().position(|one| {
                found.iter().all(|other| {
                    self.implicit_types(&one.1, &other.1).is_some()
                        && self
                            .implicit_types(&other.0.returns, &one.0.returns)
                            .is_some()
                })
            });
            if specific.is_none() && constant.is_some() {
                return None;
            }
            let index = specific.unwrap_or(0);
            found.swap(0, index);
        }
        let (method, _, before, after, lifted) = found.into_iter().next()?;
        let user = Conv::User(Box::new(before), Rc::new(method), Box::new(after));
        Some(match (lifted, self.admits_null(to)) {
            (true, true) => Conv::Lifted(Box::new(user)),
            (true, false) => Conv::Unwrap(Box::new(user)),
            _ => user,
        })
    }

    /// The operator from the most specific source to the most specific target (C# 10.5.5): the type itself, else the nearest one
    /// around the source and inside the target, else the nearest one on the other side. Nothing if no operator has both.
    fn most_specific(
        &self,
        found: &[Operator],
        (from, source): (&Type, &Type),
        (to, target): (&Type, &Type),
    ) -> Option<usize> {
        let within = |one: &Type, other: &Type| self.implicit_types(one, other).is_some();
        let innermost = |types: &[&Type]| {
            let mut all = types.iter();
            all.find(|one| types.iter().all(|other| within(one, other)))
                .map(|it| (*it).clone())
        };
        let outermost = |types: &[&Type]| {
            let mut all = types.iter();
            all.find(|one| types.iter().all(|other| within(other, one)))
                .map(|it| (*it).clone())
        };
        let takes: Vec<&Type> = found.iter().map(|it| &it.1).collect();
        let gives: Vec<&Type> = found.iter().map(|it| &it.0.returns).collect();
        let taken = match [from, source].into_iter().find(|it| takes.contains(it)) {
            Some(exact) => exact.clone(),
            None => {
                let around = |it: &&&Type| within(from, it) || within(source, it);
                let around: Vec<&Type> = takes.iter().filter(around).copied().collect();
                match around.is_empty() {
                    true => outermost(&takes)?,
                    false => innermost(&around)?,
                }
            }
        };
        let given = match [to, target].into_iter().find(|it| gives.contains(it)) {
            Some(exact) => exact.clone(),
            None => {
                let inside = |it: &&&Type| within(it, to);
                let inside: Vec<&Type> = gives.iter().filter(inside).copied().collect();
                match inside.is_empty() {
                    true => innermost(&gives)?,
                    false => outermost(&inside)?,
                }
            }
        };
        found
            .iter()
            .position(|it| it.1 == taken && it.0.returns == given)
    }

    /// Which of two types is the better target for an operand (C# 12.6.4.5).
    pub(super) fn better_conversion(
        &mut self,
        operand: &Operand<'_>,
        one: &Type,
        other: &Type,
    ) -> Ordering {
        if one == other {
            return Ordering::Equal;
        }
        if let Operand::Value(node) = operand {
            match (node.ty == *one, node.ty == *other) {
                (true, false) => return Ordering::Greater,
                (false, true) => return Ordering::Less,
                _ => {}
            }
        }
        if let Operand::Lambda(lambda, _) = operand {
            return self.better_lambda(lambda, one, other);
        }
        if let Operand::Untyped(expr) = operand
            && let ExprKind::Collection(_) = expr.without_parens().kind
        {
            return self.better_collection(one, other);
        }
        self.better_target(one, other)
    }

    pub(super) fn better_target(&self, one: &Type, other: &Type) -> Ordering {
        let forth = self.converts(one, other);
        let back = self.converts(other, one);
        match (forth, back) {
            (true, false) => return Ordering::Greater,
            (false, true) => return Ordering::Less,
            _ => {}
        }
        let kind = |ty: &Type| self.kind(&self.without_nullable(ty));
        match (kind(one), kind(other)) {
            (Some(one), Some(other)) if one.is_integral() && other.is_integral() => {
                match (one.is_signed(), other.is_signed()) {
                    (true, false) if one.size() <= other.size() => Ordering::Greater,
                    (false, true) if one.size() >= other.size() => Ordering::Less,
                    _ => Ordering::Equal,
                }
            }
            _ => Ordering::Equal,
        }
    }

    pub(super) fn converts(&self, from: &Type, to: &Type) -> bool {
        self.implicit_types(from, to).is_some() || self.user_conversion(from, to, false).is_some()
    }

    /// Converts implicitly, or says why that cannot be.
    pub(super) fn convert(&mut self, operand: Operand<'_>, to: &Type, span: Span) -> Result<Node> {
        if let Some(late) = self.late_conversion(&operand, to, false, span) {
            return Ok(late);
        }
        match self.implicit(&operand, to) {
            Some(conv) => self.apply(operand, &conv, to, span),
            None => Err(self.no_conversion(operand, to, span)),
        }
    }

    pub(super) fn no_conversion(
        &mut self,
        operand: Operand<'_>,
        to: &Type,
        span: Span,
    ) -> Box<Fail> {
        let target = self.text(to);
        let node = match operand {
            Operand::Value(node) => node,
            Operand::Null(span) => {
                return Fail::cs(
                    "CS0037",
                    span,
                    format!("null cannot be converted to `{target}`, which is a value type"),
                );
            }
            Operand::Lambda(lambda, span) => return self.lambda_misfit(lambda, to, span),
            Operand::Group(group) => {
                if let Some(fail) = self.returns_other(&group, to) {
                    return fail;
                }
                let code = match self.invoke(to) {
                    Some(_) => "CS0123",
                    None => "CS0428",
                };
                return Fail::cs(
                    code,
                    group.span,
                    format!(
                        "the method group `{}` cannot be converted to `{target}`",
                        group.name
                    ),
                );
            }
            Operand::Untyped(expr) => {
                return self.untyped_value(expr, to).err().unwrap_or_else(|| {
                    Fail::cs(
                        "CS0029",
                        span,
                        format!("the expression cannot be converted to `{target}`"),
                    )
                });
            }
            other => {
                return self.natural(other).err().unwrap_or_else(|| {
                    Fail::cs(
                        "CS0029",
                        span,
                        format!("the expression cannot be converted to `{target}`"),
                    )
                });
            }
        };
        if let Type::Named(named) = self.without_nullable(to)
            && let Some(told) = self.constant_ways(&node, &named)
        {
            return Fail::cs("CS0457", span, told);
        }
        let source = self.text(&node.ty);
        let is_number = self
            .kind(to)
            .is_some_and(|it| it.is_integral() && it != Kind::Char);
        if let Some(value) = node.scalar()
            && is_number
            && matches!(
                value.kind(),
                Kind::Int | Kind::UInt | Kind::Long | Kind::ULong
            )
            && Self::enum_of(&node.ty).is_none()
            && !self.is_in_range(value, to)
        {
            return Fail::cs(
                "CS0031",
                span,
                format!(
                    "the constant {} cannot be converted to `{target}`",
                    scalar::text(value)
                ),
            );
        }
        let suffix = match self.kind(to) {
            Some(Kind::Float) => Some('f'),
            Some(Kind::Decimal) => Some('m'),
            _ => None,
        };
        if let (Some(suffix), Some(Scalar::Double(_))) = (suffix, node.scalar())
            && matches!(node.op, Op::Constant(_))
        {
            let told =
                format!("a literal of type double cannot be converted to `{target}` implicitly");
            return Fail::cs("CS0664", span, told).hint(format!("write the suffix {suffix}"));
        }
        if self.explicit(&node, to).is_some() {
            return Fail::cs(
                "CS0266",
                span,
                format!("`{source}` cannot be converted to `{target}` implicitly"),
            )
            .hint(format!("cast it: ({target})…"));
        }
        Fail::cs(
            "CS0029",
            span,
            format!("`{source}` cannot be converted to `{target}`"),
        )
    }

    /// Whether an integral type has a number, whatever type that has itself.
    fn is_in_range(&self, value: &Scalar, to: &Type) -> bool {
        let range = self.kind(to).and_then(Kind::range);
        match (range, value.integer()) {
            (Some((low, high)), Some(value)) => (low..=high).contains(&value),
            _ => false,
        }
    }

    /// Whether what gets its type from its place fits there.
    pub(super) fn untyped_fits(&mut self, expr: &syntax::tree::Expr, to: &Type) -> bool {
        match &expr.kind {
            // Whatever the type: that it cannot be made is told only of the one that is chosen (C# 12.6.4.5).
            ExprKind::New(_) => !matches!(to, Type::Pointer(_) | Type::ByRef(_)),
            _ => {
                let (slots, locals) = (self.slots, self.locals.len());
                let fits = self.untyped_value(expr, to).is_ok();
                self.slots = slots;
                self.locals.truncate(locals);
                fits
            }
        }
    }
}
