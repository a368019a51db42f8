//! Overload resolution (C# 12.6.4).

use std::cmp::Ordering;
use std::rc::Rc;

use metadata::signature::Primitive;
use syntax::Span;
use syntax::tree::{Argument, ArgumentModifier, Designation, ExprKind, Identifier};

use super::conversions::Conv;
use super::misfits::{Misfit, Unresolved, nearer};
use super::{Binder, Operand};
use crate::expressions::error::{Fail, Result};
use crate::expressions::plan::{Constant, Node, Op, Referred};
use crate::types::{Method, Named, Parameter, Type};

/// An argument of a call.
#[derive(Clone)]
pub(super) struct Arg<'e> {
    pub(super) operand: Operand<'e>,
    pub(super) name: Option<Box<str>>,
    pub(super) by_ref: Option<ByRef>,
    /// Whether it is written with `in`.
    pub(super) is_in: bool,
    /// Whether it is what an extension method is called on: it converts to bases and boxes only.
    pub(super) receiver: bool,
    pub(super) span: Span,
}

/// How an argument is passed by reference.
#[derive(Clone)]
pub(super) struct ByRef {
    /// Whether it is `out`, else `ref`.
    is_out: bool,
    to: Leads,
}

impl ByRef {
    /// `out _`
    pub(super) const NOWHERE: Self = Self {
        is_out: true,
        to: Leads::Nowhere,
    };
}

/// Where an argument that is passed by reference leads.
#[derive(Clone)]
enum Leads {
    /// To a new variable of that name, and whether it is declared with `var`.
    New(Identifier, bool),
    /// To what the operand is.
    Operand,
    /// Nowhere.
    Nowhere,
}

/// A method that can be called with the arguments.
pub(super) struct Candidate {
    pub(super) method: Method,
    pub(super) type_arguments: Vec<Type>,
    /// The parameter of each argument.
    places: Vec<usize>,
    /// The type each argument is converted to.
    wanted: Vec<Type>,
    /// Whether the last parameter takes several arguments one by one.
    expanded: bool,
    /// The method before its type parameters were replaced.
    open: Method,
}

/// Whether it is an `in` or `ref readonly` parameter.
pub(in crate::expressions) fn is_in(parameter: &Parameter) -> bool {
    matches!(parameter.ty, Type::ByRef(_)) && parameter.flags.is_in()
}

impl Binder<'_> {
    /// Binds the arguments of a call.
    pub(super) fn arguments<'e>(&mut self, arguments: &'e [Argument]) -> Result<Vec<Arg<'e>>> {
        let mut bound = Vec::with_capacity(arguments.len());
        for argument in arguments {
            if let Some(ArgumentModifier::Ref | ArgumentModifier::Out) = argument.modifier {
                bound.push(self.by_reference(argument)?);
                continue;
            }
            let operand = self.bind(&argument.value)?;
            match &operand {
                Operand::Type(..) | Operand::Namespace(..) => {
                    self.natural(operand.clone())?;
                }
                Operand::Value(node) if node.ty == Type::Primitive(Primitive::Void) => {
                    return Err(Fail::cs(
                        "CS1503",
                        node.span,
                        "an argument cannot be of type `void`",
                    ));
                }
                _ => {}
            }
            bound.push(Arg {
                operand,
                name: argument.name.as_ref().map(|it| it.text.clone()),
                by_ref: None,
                is_in: argument.modifier == Some(ArgumentModifier::In),
                receiver: false,
                span: argument.value.span,
            });
        }
        Ok(bound)
    }

    /// Binds an argument with `ref` or `out`.
    fn by_reference<'e>(&mut self, argument: &'e Argument) -> Result<Arg<'e>> {
        let span = argument.value.span;
        let is_out = argument.modifier == Some(ArgumentModifier::Out);
        let (operand, to) = match &argument.value.kind {
            ExprKind::Declaration(ty, designation) => {
                let operand = if ty.is_var() {
                    Operand::Default(span)
                } else {
                    let written = ty;
                    let ty = self.ty(written)?;
                    let mut value = self.default_value(&ty, span)?;
                    self.name_as_written(&mut value, written);
                    Operand::Value(value)
                };
                let to = match designation {
                    Designation::Single(name) => Leads::New(name.clone(), ty.is_var()),
                    Designation::Discard(_) => Leads::Nowhere,
                    Designation::Tuple(..) => {
                        return Err(Fail::cs(
                            "CS8199",
                            span,
                            "an argument declares one variable",
                        ));
                    }
                };
                (operand, to)
            }
            ExprKind::Name(name) if is_out && &*name.identifier.text == "_" => {
                (Operand::Default(span), Leads::Nowhere)
            }
            _ => {
                // A property stays one, whatever field is behind it.
                let outer = std::mem::replace(&mut self.assigning, true);
                let operand = self.bind(&argument.value);
                self.assigning = outer;
                let operand = operand?;
                match operand.value() {
                    Some(node) => self.must_be_place(node, span)?,
                    None => return Err(no_place(span)),
                }
                (operand, Leads::Operand)
            }
        };
        Ok(Arg {
            operand,
            name: argument.name.as_ref().map(|it| it.text.clone()),
            by_ref: Some(ByRef { is_out, to }),
            is_in: false,
            receiver: false,
            span,
        })
    }

    /// Refuses what cannot be passed by reference.
    fn must_be_place(&self, node: &Node, span: Span) -> Result<()> {
        if self.is_read_only(node) {
            return Err(Fail::cs(
                "CS8329",
                span,
                "an `in` parameter cannot be passed with ref or out",
            ));
        }
        if let Op::Field(_, field) | Op::StaticField(field) = &node.op
            && !self.forced
            && self.is_readonly(field)
        {
            let code = match (&node.op, &field.ty) {
                (_, Type::ByRef(_)) => "CS8329",
                (Op::StaticField(_), _) => "CS0199",
                _ => "CS0192",
            };
            let told = format!(
                "`{}` may only be read and cannot be passed with ref or out",
                field.name
            );
            return Err(Fail::cs(code, span, told));
        }
        fn is_place(node: &Node) -> bool {
            match &node.op {
                Op::Variable(_) | Op::Slot(_) | Op::Field(..) | Op::StaticField(_) => true,
                Op::Element(..) => true,
                Op::Let(_, inner) => is_place(inner),
                Op::Call(callee, ..) => super::postfix::returns_reference(callee),
                _ => false,
            }
        }
        if let Op::Call(callee, ..) = &node.op
            && self.returns_read_only(callee)
        {
            let told = "what is returned as `ref readonly` cannot be passed with ref or out";
            return Err(Fail::cs("CS8329", span, told));
        }
        if let Op::Call(callee, ..) = &node.op
            && callee.method.flags.is_special_name()
            && !is_place(node)
        {
            let told =
                "a property or indexer cannot be passed with ref or out, as it is no variable";
            return Err(Fail::cs("CS0206", span, told));
        }
        match is_place(node) {
            true => Ok(()),
            false => Err(no_place(span)),
        }
    }

    /// The best of several methods for the arguments.
    pub(super) fn resolve(
        &mut self,
        methods: &[Method],
        type_arguments: &[Type],
        arguments: &[Arg<'_>],
    ) -> Result<Candidate, Unresolved> {
        // What the user's code could not see is chosen only if nothing else fits.
        let (visible, hidden): (Vec<_>, Vec<_>) = methods
            .iter()
            .partition(|it| self.is_visible(it.flags.visibility(), &it.declared_in));
        let mut misfit: Option<Box<(Method, Misfit)>> = None;
        for methods in [visible, hidden] {
            let mut candidates = Vec::new();
            let mut misfits = Vec::new();
            for method in methods {
                match self.candidate(method, type_arguments, arguments, false) {
                    Ok(candidate) => candidates.push(candidate),
                    Err(why) => {
                        let expanded = self
                            .takes_params(method)
                            .then(|| self.candidate(method, type_arguments, arguments, true));
                        match expanded {
                            Some(Ok(candidate)) => candidates.push(candidate),
                            Some(Err(other)) if why.is_of_count() && !other.is_of_count() => {
                                misfits.push((method.clone(), other));
                            }
                            _ => misfits.push((method.clone(), why)),
                        }
                    }
                }
            }
            misfit = misfit.or_else(|| nearer(misfits));
            if candidates.is_empty() {
                continue;
            }
            // Methods of a derived type hide those of its bases if they fit.
            let first = candidates.first().map(|it| it.method.declared_in.clone());
            if let Some(first) = first
                && candidates.len() > 1
            {
                let ty = Type::Named(first.clone());
                let levels = self.types.ancestry(&ty).unwrap_or_default();
                let rank = |it: &Candidate| {
                    let own = levels
                        .iter()
                        .position(|level| *level == it.method.declared_in)?;
                    Some(self.first_declared(&it.open, &levels, own))
                };
                let nearest = candidates.iter().filter_map(rank).min();
                candidates.retain(|it| rank(it).is_none() || rank(it) == nearest);
            }
            return self.best(candidates, arguments).ok_or((None, true));
        }
        Err((misfit, false))
    }

    /// The level that a method is declared at first: an override belongs to the type whose method it overrides.
    fn first_declared(&self, method: &Method, levels: &[Rc<Named>], own: usize) -> usize {
        let overrides = |it: &Method| it.flags.is_virtual() && !it.flags.is_new_slot();
        let mut found = own;
        let mut current = method.clone();
        for (level, named) in levels.iter().enumerate().skip(own + 1) {
            if !overrides(&current) {
                break;
            }
            let same = |it: &Method| {
                it.flags.is_virtual()
                    && it.arity == method.arity
                    && it.parameters.len() == method.parameters.len()
                    && it
                        .parameters
                        .iter()
                        .zip(&method.parameters)
                        .all(|(one, other)| one.ty == other.ty)
            };
            let methods = self.types.methods(named, Some(&method.name));
            if let Some(it) = methods.unwrap_or_default().into_iter().find(same) {
                found = level;
                current = it;
            }
        }
        found
    }

    fn best(&mut self, candidates: Vec<Candidate>, arguments: &[Arg<'_>]) -> Option<Candidate> {
        let mut winner = None;
        for index in 0..candidates.len() {
            let mut wins = true;
            for other in 0..candidates.len() {
                if index != other {
                    let (Some(one), Some(other)) = (candidates.get(index), candidates.get(other))
                    else {
                        continue;
                    };
                    wins &= self.is_better(one, other, arguments);
                }
            }
            if wins {
                winner = Some(index);
                break;
            }
        }
        winner.and_then(|index| candidates.into_iter().nth(index))
    }

    fn is_better(&mut self, one: &Candidate, other: &Candidate, arguments: &[Arg<'_>]) -> bool {
        let (mut better, mut worse) = (false, false);
        for (index, argument) in arguments.iter().enumerate() {
            let (Some(a), Some(b)) = (one.wanted.get(index), other.wanted.get(index)) else {
                continue;
            };
            match self.better_conversion(&argument.operand, a, b) {
                Ordering::Greater => better = true,
                Ordering::Less => worse = true,
                Ordering::Equal => {}
            }
        }
        if better || worse {
            return better && !worse;
        }
        // Equally good by their arguments.
        if (one.method.arity == 0) != (other.method.arity == 0) {
            return one.method.arity == 0;
        }
        if one.expanded != other.expanded {
            return !one.expanded;
        }
        let omitted = |it: &Candidate| it.method.parameters.len() > it.places.len() && !it.expanded;
        if omitted(one) != omitted(other) {
            return !omitted(one);
        }
        if one.expanded && one.method.parameters.len() != other.method.parameters.len() {
            return one.method.parameters.len() > other.method.parameters.len();
        }
        // The more specific parameters, before type parameters were replaced.
        let types = |it: &Candidate| -> Vec<Type> {
            it.places
                .iter()
                .filter_map(|place| it.open.parameters.get(*place).map(|it| it.ty.clone()))
                .collect()
        };
        let (mut better, mut worse) = (false, false);
        for (a, b) in types(one).iter().zip(&types(other)) {
            match specificity(a, b) {
                Ordering::Greater => better = true,
                Ordering::Less => worse = true,
                Ordering::Equal => {}
            }
        }
        if better || worse {
            return better && !worse;
        }
        // What is given without `in` is rather passed by value.
        let takes_in = |it: &Candidate, index: usize| {
            let place = it.places.get(index);
            let parameter = place.and_then(|place| it.method.parameters.get(*place));
            parameter.is_some_and(is_in)
        };
        for index in 0..arguments.len() {
            better |= !takes_in(one, index) && takes_in(other, index);
            worse |= takes_in(one, index) && !takes_in(other, index);
        }
        better && !worse
    }

    pub(super) fn takes_params(&self, method: &Method) -> bool {
        let Some(last) = method.parameters.last() else {
            return false;
        };
        let Some(token) = last.token else {
            return false;
        };
        matches!(last.ty, Type::SzArray(_))
            && self
                .types
                .metadata(method.declared_in.module)
                .is_ok_and(|it| it.metadata().is_params(token))
    }

    fn candidate(
        &mut self,
        method: &Method,
        type_arguments: &[Type],
        arguments: &[Arg<'_>],
        expanded: bool,
    ) -> Result<Candidate, Misfit> {
        let places = self.places(method, arguments, expanded)?;
        if !type_arguments.is_empty() && method.arity as usize != type_arguments.len() {
            return Err(Misfit::Arity);
        }
        let last = method.parameters.len().wrapping_sub(1);
        let wanted_open: Vec<Type> = places
            .iter()
            .filter_map(|place| {
                let ty = method.parameters.get(*place)?.ty.without_ref();
                match ty {
                    Type::SzArray(element) if expanded && *place == last => {
                        Some((**element).clone())
                    }
                    _ => Some(ty.clone()),
                }
            })
            .collect();
        let type_arguments = if method.arity == 0 {
            Vec::new()
        } else if type_arguments.is_empty() {
            self.infer(method.arity as usize, &wanted_open, arguments)
                .ok_or(Misfit::Inference)?
        } else {
            type_arguments.to_vec()
        };
        if let Some(violation) = self.violated(method, &type_arguments) {
            return Err(Misfit::Constraint(violation));
        }
        let constructed = self.types.construct_method(method, &type_arguments);
        let wanted: Vec<Type> = places
            .iter()
            .filter_map(|place| {
                let ty = constructed.parameters.get(*place)?.ty.without_ref();
                match ty {
                    Type::SzArray(element) if expanded && *place == last => {
                        Some((**element).clone())
                    }
                    _ => Some(ty.clone()),
                }
            })
            .collect();
        for (index, (argument, to)) in arguments.iter().zip(&wanted).enumerate() {
            let place = places.get(index).copied().unwrap_or(0);
            let parameter = constructed.parameters.get(place);
            let is_out =
                parameter.is_some_and(|it| it.flags.is_out() && matches!(it.ty, Type::ByRef(_)));
            let is_ref = parameter.is_some_and(|it| matches!(it.ty, Type::ByRef(_)) && !is_in(it));
            // An extension method may take what it is called on by reference without a word.
            let refers = argument.receiver && is_ref && !is_out && to.is_value() == Some(true);
            let given = match refers {
                true => Some(false),
                false => argument.by_ref.as_ref().map(|it| it.is_out),
            };
            let is_given = argument.operand.value().is_none_or(|it| it.ty == *to);
            // What a method only reads may be passed with `ref`.
            let is_read = given == Some(false) && parameter.is_some_and(is_in);
            if given != is_ref.then_some(is_out) && !is_read {
                let modifier = is_ref.then_some(if is_out { "out" } else { "ref" });
                return Err(Misfit::Modifier(index, modifier));
            }
            if argument.is_in && !parameter.is_some_and(is_in) {
                return Err(Misfit::Modifier(index, None));
            }
            if (given.is_some() || argument.is_in) && !is_given {
                return Err(Misfit::Argument(index, to.clone()));
            }
            let conv = self.implicit(&argument.operand, to);
            let near = conv.as_ref().is_some_and(is_near);
            // No extension of `T?` is called on a `T`.
            let becomes_nullable = || {
                let from = argument.operand.value().map(|it| &it.ty);
                self.nullable_of(to).is_some() && from.is_some_and(|it| it != to)
            };
            if conv.is_none() || argument.receiver && (!near || becomes_nullable()) {
                return Err(Misfit::Argument(index, to.clone()));
            }
        }
        Ok(Candidate {
            method: constructed,
            type_arguments,
            places,
            wanted,
            expanded,
            open: method.clone(),
        })
    }

    /// Which parameter each argument is for.
    fn places(
        &self,
        method: &Method,
        arguments: &[Arg<'_>],
        expanded: bool,
    ) -> Result<Vec<usize>, Misfit> {
        let count = method.parameters.len();
        let last = count.wrapping_sub(1);
        let mut places = Vec::with_capacity(arguments.len());
        // Positions count on as long as named arguments are where their parameters are.
        let mut moved = false;
        for (index, argument) in arguments.iter().enumerate() {
            let place = match &argument.name {
                Some(name) => {
                    let found = method.parameters.iter().position(|it| *it.name == **name);
                    let found = found.ok_or_else(|| Misfit::Named(name.clone()))?;
                    moved |= found != index;
                    found
                }
                None if moved => return Err(Misfit::Moved(index)),
                None if index < count => index,
                None if expanded => last,
                None => return Err(Misfit::Count),
            };
            if places.contains(&place) && !(expanded && place == last) {
                let earlier = places.iter().position(|it| *it == place);
                let earlier = earlier.and_then(|it| arguments.get(it));
                let is_named = earlier.is_some_and(|it| it.name.is_some());
                return Err(match &argument.name {
                    Some(name) => Misfit::Twice(name.clone(), is_named),
                    None => Misfit::Count,
                });
            }
            places.push(place);
        }
        for (index, parameter) in method.parameters.iter().enumerate() {
            let optional = parameter.flags.is_optional() || expanded && index == last;
            if !places.contains(&index) && !optional {
                return Err(if arguments.len() < count {
                    Misfit::Missing(parameter.name.clone())
                } else {
                    Misfit::Count
                });
            }
        }
        Ok(places)
    }

    /// The arguments of a chosen method in the order of its parameters.
    pub(super) fn apply_arguments(
        &mut self,
        candidate: &Candidate,
        arguments: Vec<Arg<'_>>,
        span: Span,
    ) -> Result<Vec<Node>> {
        let mut given: Vec<Vec<Node>> = candidate
            .method
            .parameters
            .iter()
            .map(|_| Vec::new())
            .collect();
        let mut spans = vec![None; given.len()];
        for (argument, place) in arguments.iter().zip(&candidate.places) {
            if let Some(known) = spans.get_mut(*place) {
                *known = Some(argument.span);
            }
        }
        // Arguments are evaluated as they are written, not as their parameters are declared.
        let moved = !candidate.places.is_sorted();
        let mut before = Vec::new();
        for ((argument, place), to) in arguments
            .into_iter()
            .zip(&candidate.places)
            .zip(&candidate.wanted)
        {
            let mut node = self.convert(argument.operand, to, argument.span)?;
            let parameter = candidate.method.parameters.get(*place);
            let is_ref = parameter.is_some_and(|it| matches!(it.ty, Type::ByRef(_)) && !is_in(it));
            if argument.receiver && is_ref {
                self.must_be_place(&node, argument.span)?;
                node = self.referred(Leads::Operand, node)?;
            } else if let Some(by_ref) = argument.by_ref
                && !parameter.is_some_and(is_in)
            {
                node = self.referred(by_ref.to, node)?;
            } else if parameter.is_some_and(is_in) && !moved && self.is_referable(&node, to) {
                node = self.referred(Leads::Operand, node)?;
            } else if parameter.is_some_and(is_in)
                && !moved
                && matches!(candidate.method.returns, Type::ByRef(_))
            {
                node = self.referred(Leads::Nowhere, node)?;
            } else if moved && node.constant.is_none() && !matches!(node.op, Op::Lambda(_)) {
                let slot = self.slot();
                let stored = self.slot_node(slot, &node.ty, node.span);
                before.push((slot, std::mem::replace(&mut node, stored)));
            }
            if let Some(slot) = given.get_mut(*place) {
                slot.push(node);
            }
        }
        let last = candidate.method.parameters.len().wrapping_sub(1);
        let mut nodes = Vec::new();
        for (index, (parameter, given)) in candidate.method.parameters.iter().zip(given).enumerate()
        {
            let ty = parameter.ty.without_ref().clone();
            if candidate.expanded && index == last {
                nodes.push(Node::new(Op::ArrayOf(given), ty, span));
                continue;
            }
            match given.into_iter().next() {
                Some(node) => nodes.push(node),
                None => {
                    let method = &candidate.method;
                    nodes.push(self.default_argument(method, index, &ty, (span, &spans))?);
                }
            }
        }
        if let (Some(first), false) = (nodes.first_mut(), before.is_empty()) {
            let (ty, at) = (first.ty.clone(), first.span);
            let inner = Box::new(first.clone());
            *first = Node::new(Op::Let(before, inner), ty, at);
        }
        Ok(nodes)
    }

    /// Whether an argument for an `in` parameter is a place of the very type, which is passed itself.
    fn is_referable(&self, node: &Node, to: &Type) -> bool {
        fn is_place(node: &Node) -> bool {
            match &node.op {
                Op::Variable(_) | Op::StaticField(_) | Op::Element(..) => true,
                Op::Field(target, _) => target.ty.is_reference() || is_place(target),
                _ => false,
            }
        }
        node.ty == *to.without_ref() && is_place(node) && !self.is_read_only(node)
    }

    /// An argument that is passed by reference.
    fn referred(&mut self, to: Leads, node: Node) -> Result<Node> {
        let (ty, span) = (node.ty.clone(), node.span);
        let to = match (to, &node.op) {
            (Leads::Nowhere, _) => Referred::Nothing,
            (Leads::New(name, is_var), _) => {
                let slot = self.declare_written(&name, &ty, Rc::clone(&node.names))?;
                if is_var {
                    self.out_variables.push(slot);
                }
                Referred::Slot(slot)
            }
            (Leads::Operand, Op::Slot(slot)) => Referred::Slot(*slot),
            (Leads::Operand, _) => Referred::Place(Box::new(node.clone())),
        };
        Ok(Node::new(Op::Reference(to, Box::new(node)), ty, span))
    }

    fn default_argument(
        &mut self,
        method: &Method,
        index: usize,
        ty: &Type,
        (span, given): (Span, &[Option<Span>]),
    ) -> Result<Node> {
        let parameter = method.parameters.get(index);
        let module = self.types.metadata(method.declared_in.module).ok();
        if let Some(told) = self.caller_argument(method, index, given, span) {
            return self.cast_operand(Operand::Value(told), ty, span);
        }
        let value = parameter
            .and_then(|it| it.token)
            .and_then(|token| module?.metadata().constant(token).ok().flatten());
        let Some(value) = value else {
            return match self.attributed_default(method, index, ty, span) {
                Some(node) => self.cast_operand(Operand::Value(node), ty, span),
                None => self.default_value(ty, span),
            };
        };
        match super::names::constant(value) {
            Constant::Null => self.default_value(ty, span),
            constant => {
                let mut inner = self.without_nullable(ty);
                // The defaults of native integers are stored as integers of 32 bits.
                if matches!(
                    inner,
                    Type::Primitive(Primitive::IntPtr | Primitive::UIntPtr)
                ) && let Constant::Scalar(scalar) = &constant
                    && let Some(stored) = super::well_known::type_of_kind(self.types, scalar.kind())
                {
                    inner = stored;
                }
                let mut node = Node::new(Op::Constant(constant.clone()), inner, span);
                node.constant = Some(constant);
                self.cast_operand(Operand::Value(node), ty, span)
            }
        }
    }
}

fn no_place(span: Span) -> Box<Fail> {
    Fail::cs(
        "CS1510",
        span,
        "a ref or out argument must be a variable, field or element",
    )
}

/// Whether an extension method can be called on what is converted so.
fn is_near(conv: &Conv) -> bool {
    match conv {
        Conv::Identity | Conv::Keep | Conv::Box => true,
        Conv::Tuple(parts) => parts.iter().all(is_near),
        _ => false,
    }
}

/// Which of two parameter types says more: a type parameter says less than anything else.
fn specificity(one: &Type, other: &Type) -> Ordering {
    let variable = |it: &Type| matches!(it, Type::MethodVariable(_) | Type::Variable(_));
    match (variable(one), variable(other)) {
        (false, true) => return Ordering::Greater,
        (true, false) => return Ordering::Less,
        (true, true) => return Ordering::Equal,
        _ => {}
    }
    match (one, other) {
        (Type::Named(one), Type::Named(other)) if one.token == other.token => {
            let mut result = Ordering::Equal;
            for (a, b) in one.arguments.iter().zip(&*other.arguments) {
                match specificity(a, b) {
                    Ordering::Equal => {}
                    found if result == Ordering::Equal || result == found => result = found,
                    _ => return Ordering::Equal,
                }
            }
            result
        }
        (Type::SzArray(one), Type::SzArray(other)) => specificity(one, other),
        _ => Ordering::Equal,
    }
}
