//! Type inference of generic methods (C# 12.6.3).

use std::rc::Rc;

use syntax::Span;
use syntax::tree::Lambda;

use super::overloads::Arg;
use super::relations::Variance;
use super::tuple_names::KnownNames;
use super::{Binder, Operand};
use crate::types::{Generics, Type};

/// What is known of a type parameter.
#[derive(Debug, Clone, Default)]
struct Bounds {
    exact: Vec<Type>,
    lower: Vec<Type>,
    upper: Vec<Type>,
    fixed: Option<Type>,
}

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Exact,
    Lower,
    Upper,
}

impl Binder<'_> {
    /// What the type parameters of a method stand for, or `None` if that cannot be told.
    pub(super) fn infer(
        &mut self,
        arity: usize,
        parameters: &[Type],
        arguments: &[Arg<'_>],
    ) -> Option<Vec<Type>> {
        let known = self.infer_partly(arity, parameters, arguments);
        known.into_iter().collect()
    }

    /// What is known of the type parameters of a method, of each by itself.
    pub(super) fn infer_partly(
        &mut self,
        arity: usize,
        parameters: &[Type],
        arguments: &[Arg<'_>],
    ) -> Vec<Option<Type>> {
        let mut bounds = vec![Bounds::default(); arity];
        for (argument, parameter) in arguments.iter().zip(parameters) {
            match &argument.operand {
                Operand::Value(node) => {
                    self.bound(&mut bounds, parameter, &node.ty, Mode::Lower, 0);
                }
                Operand::Untyped(expr) => {
                    let found = self.collection_bounds(expr, parameter);
                    let (inner, types) = found.unwrap_or((Type::OBJECT, Vec::new()));
                    for ty in types {
                        self.bound(&mut bounds, &inner, &ty, Mode::Lower, 0);
                    }
                }
                Operand::Lambda(lambda, span) => {
                    self.written_bounds(&mut bounds, lambda, parameter, *span);
                }
                _ => {}
            }
        }
        // Lambdas add what they return as soon as what they take is known.
        let mut pending: Vec<(&Arg<'_>, &Type)> = arguments
            .iter()
            .zip(parameters)
            .filter(|(it, _)| {
                matches!(
                    it.operand,
                    Operand::Lambda(..) | Operand::Group(_) | Operand::Untyped(_)
                )
            })
            .collect();
        let mut known = KnownNames::of(0, arity);
        while !pending.is_empty() {
            let mut progress = false;
            let mut left = Vec::new();
            for (argument, parameter) in pending {
                let given = (parameters, arguments);
                match self.infer_lambda(&mut bounds, argument, parameter, given, &mut known) {
                    Some(()) => progress = true,
                    None => left.push((argument, parameter)),
                }
            }
            pending = left;
            if !progress {
                break;
            }
        }
        (0..arity)
            .map(|index| self.fix(&mut bounds, index))
            .collect()
    }

    /// What a lambda tells by the types that are written in it: of a delegate what it takes, of a type parameter what delegate
    /// it is by itself.
    fn written_bounds(
        &mut self,
        bounds: &mut [Bounds],
        lambda: &Lambda,
        parameter: &Type,
        span: Span,
    ) {
        if let Type::MethodVariable(_) = parameter {
            if let Ok(node) = self.natural_lambda(lambda, span) {
                self.bound(bounds, parameter, &node.ty, Mode::Lower, 0);
            }
            return;
        }
        let (Some(invoke), Some(written)) = (self.invoke(parameter), self.written_inputs(lambda))
        else {
            return;
        };
        for (input, written) in invoke.parameters.iter().zip(&written) {
            self.bound(bounds, &input.ty, written, Mode::Exact, 0);
        }
    }

    /// Adds what a lambda tells; `None` if what it takes is not known yet.
    fn infer_lambda(
        &mut self,
        bounds: &mut [Bounds],
        argument: &Arg<'_>,
        parameter: &Type,
        given: (&[Type], &[Arg<'_>]),
        known: &mut KnownNames,
    ) -> Option<()> {
        let invoke = match self.invoke(parameter) {
            Some(invoke) => invoke,
            None => return matches!(argument.operand, Operand::Untyped(_)).then_some(()),
        };
        let mut inputs = Vec::new();
        for it in &invoke.parameters {
            for variable in variables(&it.ty) {
                self.fix(bounds, variable as usize)?;
            }
            inputs.push(self.replaced(bounds, &it.ty));
        }
        if let Operand::Lambda(lambda, _) = &argument.operand {
            for (open, argument) in given.0.iter().zip(given.1) {
                if let Operand::Value(node) = &argument.operand {
                    let closed = self.replaced(bounds, open);
                    self.note_value(open, &closed, node, known);
                }
            }
            for it in &invoke.parameters {
                known.take(&it.ty);
            }
            let closed = self.replaced(bounds, parameter);
            self.note_inputs(lambda.body.span, parameter, &closed, &inputs, known);
        }
        if !invoke.returns.is_open() {
            return Some(());
        }
        match &argument.operand {
            Operand::Lambda(lambda, _) => {
                let body = self.lambda_body(lambda, &inputs).ok()?;
                if let Operand::Value(node) = &body {
                    self.note_variables(&invoke.returns, &node.ty, &node.names, known);
                }
                if let Operand::Value(node) = body
                    && !super::lambdas::does_not_return(lambda)
                {
                    let mode = match lambda.return_type {
                        Some(_) => Mode::Exact,
                        None => Mode::Lower,
                    };
                    self.bound(bounds, &invoke.returns, &node.ty, mode, 0);
                }
                Some(())
            }
            Operand::Group(group) => {
                let returns = self.group_return(group, &inputs)?;
                self.bound(bounds, &invoke.returns, &returns, Mode::Lower, 0);
                Some(())
            }
            _ => Some(()),
        }
    }

    fn replaced(&self, bounds: &[Bounds], ty: &Type) -> Type {
        let of_method: Rc<[Type]> = bounds
            .iter()
            .zip(0_u32..)
            .map(|(it, index)| it.fixed.clone().unwrap_or(Type::MethodVariable(index)))
            .collect();
        ty.with(&Generics {
            of_type: Rc::default(),
            of_method,
        })
    }

    fn bound(
        &self,
        bounds: &mut [Bounds],
        parameter: &Type,
        argument: &Type,
        mode: Mode,
        depth: u32,
    ) {
        if depth > 32 {
            return;
        }
        match parameter {
            Type::MethodVariable(number) => {
                let Some(bounds) = bounds.get_mut(*number as usize) else {
                    return;
                };
                let list = match mode {
                    Mode::Exact => &mut bounds.exact,
                    Mode::Lower => &mut bounds.lower,
                    Mode::Upper => &mut bounds.upper,
                };
                if !list.contains(argument) {
                    list.push(argument.clone());
                }
            }
            Type::SzArray(inner) => {
                if let Type::SzArray(element) = argument {
                    let mode = if element.is_reference() {
                        mode
                    } else {
                        Mode::Exact
                    };
                    self.bound(bounds, inner, element, mode, depth + 1);
                }
            }
            Type::Array {
                element: inner,
                rank,
            } => {
                if let Type::Array {
                    element,
                    rank: other,
                } = argument
                    && rank == other
                {
                    self.bound(bounds, inner, element, mode, depth + 1);
                }
            }
            Type::Named(named) if parameter.is_open() => {
                if let Some(inner) = self.nullable_of(parameter) {
                    if let Some(argument) = self.nullable_of(argument) {
                        self.bound(bounds, &inner, &argument, Mode::Exact, depth + 1);
                    }
                    return;
                }
                if let Type::SzArray(element) = argument
                    && self.is_array_interface(named)
                    && let [inner] = &*named.arguments
                {
                    let mode = if element.is_reference() {
                        Mode::Lower
                    } else {
                        Mode::Exact
                    };
                    self.bound(bounds, inner, element, mode, depth + 1);
                    return;
                }
                let found = match mode {
                    Mode::Exact => argument
                        .as_named()
                        .filter(|it| it.module == named.module && it.token == named.token)
                        .cloned(),
                    _ => {
                        let mut all = self.constructions(argument, named);
                        all.dedup();
                        // Several constructions of one interface tell nothing.
                        if all.len() > 1 && all.iter().any(|it| Some(it) != all.first()) {
                            None
                        } else {
                            all.into_iter().next()
                        }
                    }
                };
                let Some(found) = found else { return };
                let variances = self.variances(named);
                for ((inner, argument), variance) in
                    named.arguments.iter().zip(&*found.arguments).zip(variances)
                {
                    let mode = match (variance, argument.is_reference()) {
                        (Variance::Out, true) => mode,
                        (Variance::In, true) if mode == Mode::Lower => Mode::Upper,
                        (Variance::In, true) if mode == Mode::Upper => Mode::Lower,
                        _ => Mode::Exact,
                    };
                    self.bound(bounds, inner, argument, mode, depth + 1);
                }
            }
            _ => {}
        }
    }

    fn fix(&self, bounds: &mut [Bounds], index: usize) -> Option<Type> {
        let known = bounds.get(index)?;
        if let Some(fixed) = &known.fixed {
            return Some(fixed.clone());
        }
        let mut candidates: Vec<Type> = known.exact.clone();
        candidates.extend(known.lower.iter().cloned());
        candidates.extend(known.upper.iter().cloned());
        let fits = |it: &Type| {
            known.exact.iter().all(|exact| exact == it)
                && known
                    .lower
                    .iter()
                    .all(|lower| self.implicit_types(lower, it).is_some())
                && known
                    .upper
                    .iter()
                    .all(|upper| self.implicit_types(it, upper).is_some())
        };
        candidates.retain(fits);
        candidates.dedup();
        // The one that all others convert to is the best.
        let best = candidates.iter().find(|one| {
            candidates
                .iter()
                .all(|other| self.implicit_types(other, one).is_some())
        })?;
        let best = best.clone();
        bounds.get_mut(index)?.fixed = Some(best.clone());
        Some(best)
    }

    /// The best common type of the elements of an array, where null has no say: that it does not fit is told then.
    pub(super) fn common_of_values(&mut self, operands: &[Operand<'_>]) -> Option<Type> {
        self.common_type(operands).or_else(|| {
            let is_value = |it: &&Operand<'_>| !matches!(it, Operand::Null(_));
            let values: Vec<_> = operands.iter().filter(is_value).cloned().collect();
            self.common_type(&values)
        })
    }

    /// The best common type of several values (C# 12.6.3.15).
    pub(super) fn common_type(&mut self, operands: &[Operand<'_>]) -> Option<Type> {
        let mut candidates: Vec<Type> = Vec::new();
        for operand in operands {
            let ty = match operand {
                Operand::Value(node) => Some(node.ty.clone()),
                Operand::Lambda(lambda, span) => {
                    self.natural_lambda(lambda, *span).ok().map(|it| it.ty)
                }
                _ => None,
            };
            candidates.extend(ty.filter(|it| !candidates.contains(it)));
        }
        let mut best: Vec<Type> = Vec::new();
        for candidate in candidates {
            let mut fits = true;
            for operand in operands {
                fits &= match operand {
                    // Its type counts, not which types its value would fit.
                    Operand::Value(node) if !super::late::is_late(node) => {
                        self.converts(&node.ty, &candidate)
                    }
                    other => self.implicit(other, &candidate).is_some(),
                };
            }
            if fits {
                best.push(candidate);
            }
        }
        match best.as_slice() {
            [] => None,
            [one] => Some(one.clone()),
            many => many
                .iter()
                .find(|one| {
                    many.iter()
                        .all(|other| self.implicit_types(other, one).is_some())
                })
                .cloned(),
        }
    }
}

/// The method variables in a type.
fn variables(ty: &Type) -> Vec<u32> {
    match ty {
        Type::MethodVariable(number) => vec![*number],
        Type::Named(named) => named.arguments.iter().flat_map(variables).collect(),
        Type::SzArray(inner)
        | Type::Array { element: inner, .. }
        | Type::Pointer(inner)
        | Type::ByRef(inner) => variables(inner),
        _ => Vec::new(),
    }
}
