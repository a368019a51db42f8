//! Names of tuple elements on their way through calls.
//!
//! Types know no names, so what a generic method returns has those that its arguments gave to the same tuple type: of
//! `points.Where(p => p.X > 1).First()` the names of `points`. Where two arguments name one type differently, nobody's count.

use std::rc::Rc;

use metadata::signature::Primitive;
use syntax::Span;
use syntax::tree::{TypeArguments, TypeKind};

use super::overloads::Arg;
use super::{Binder, Operand, TupleNames};
use crate::expressions::plan::{Callee, Node, Op, Referred};
use crate::types::{Method, Named, Type};

/// Stands before the names of what a call is given.
const OF_A_CALL: Type = Type::Primitive(Primitive::Void);

/// The names in a type as it is written: of a tuple its own, then those inside its elements.
fn written_names(ty: &syntax::tree::Type, names: &mut Vec<Option<Rc<str>>>) {
    match &ty.kind {
        TypeKind::Tuple(elements) => {
            let own = elements.iter().map(|it| it.name.as_ref());
            names.extend(own.map(|it| it.map(|it| Rc::from(&*it.text))));
            elements.iter().for_each(|it| written_names(&it.ty, names));
        }
        TypeKind::Name(name) => {
            for part in &name.parts {
                if let Some(TypeArguments::Types(types)) = part.arguments.as_deref() {
                    types.iter().for_each(|it| written_names(it, names));
                }
            }
        }
        TypeKind::Nullable(inner) | TypeKind::Array { element: inner, .. } => {
            written_names(inner, names);
        }
        _ => {}
    }
}

/// The names that are known for each type parameter of a type and a method.
pub(super) struct KnownNames {
    of_type: Vec<Option<TupleNames>>,
    of_method: Vec<Option<TupleNames>>,
    /// The type parameters of the method that a lambda takes something of: what a lambda returns does not count for them.
    taken: Vec<u32>,
}

impl KnownNames {
    /// None yet, for so many type parameters.
    pub(super) fn of(of_type: usize, of_method: usize) -> Self {
        Self {
            of_type: vec![None; of_type],
            of_method: vec![None; of_method],
            taken: Vec::new(),
        }
    }

    /// Those of the type arguments of a type.
    pub(super) fn of_arguments(of_type: Vec<Option<TupleNames>>) -> Self {
        Self {
            of_type,
            ..Self::of(0, 0)
        }
    }

    /// Notes that a lambda takes something of the type parameters in a type.
    pub(super) fn take(&mut self, input: &Type) {
        match input {
            Type::MethodVariable(number) => self.taken.push(*number),
            other => parts_of(other).iter().for_each(|it| self.take(it)),
        }
    }

    fn variable(&self, variable: &Type) -> Option<&TupleNames> {
        match variable {
            Type::Variable(number) => self.of_type.get(*number as usize)?.as_ref(),
            Type::MethodVariable(number) => self.of_method.get(*number as usize)?.as_ref(),
            _ => None,
        }
    }
}

/// The names of what the lambda at a place takes, if it takes these types.
pub(super) struct InputNames {
    at: Span,
    inputs: Vec<Type>,
    names: Vec<TupleNames>,
}

impl Binder<'_> {
    /// Notes the names that arguments give to tuple types, while a call of these is bound.
    pub(super) fn note_names(&mut self, target: Option<&Node>, arguments: &[Arg<'_>]) -> usize {
        let mark = self.tuple_names.len();
        self.tuple_names.push((OF_A_CALL, TupleNames::default()));
        if let Some(target) = target {
            self.note_names_of(target);
            // What a class derives from has the names that are written there.
            for base in self.types.ancestry(&target.ty).unwrap_or_default() {
                let base = Type::Named(base);
                if self.count_names(&base) > 0
                    && base != target.ty
                    && let Some(names) = self.names_as(&target.ty, &target.names, &base)
                {
                    self.note_names_in(&base, &names);
                }
            }
        }
        for argument in arguments {
            if let Operand::Value(node) = &argument.operand {
                self.note_names_of(node);
            }
        }
        mark
    }

    /// Notes the names of all tuples inside a value's type.
    pub(super) fn note_names_of(&mut self, node: &Node) {
        if node.names.iter().any(Option::is_some) {
            let (ty, names) = (node.ty.clone(), node.names.clone());
            self.note_names_in(&ty, &names);
        }
    }

    fn note_names_in(&mut self, ty: &Type, names: &[Option<Rc<str>>]) {
        if let Some(elements) = self.types.tuple_elements(ty) {
            let count = self.count_names(ty);
            let own: TupleNames = names.get(..count).map(Rc::from).unwrap_or_default();
            self.tuple_names.push((ty.clone(), own));
            for (number, element) in elements.iter().enumerate() {
                let start = self.types.names_inside(&elements, number);
                let inside = names.get(start..start + self.count_names(element));
                self.note_names_in(element, inside.unwrap_or_default());
            }
            return;
        }
        match ty {
            Type::Named(named) => self.note_names_among(&named.arguments, names),
            Type::SzArray(inner) | Type::Array { element: inner, .. } => {
                self.note_names_in(inner, names);
            }
            _ => {}
        }
    }

    fn note_names_among(&mut self, types: &[Type], names: &[Option<Rc<str>>]) {
        let mut at = 0;
        for ty in types {
            let count = self.count_names(ty);
            if count > 0 {
                self.note_names_in(ty, names.get(at..at + count).unwrap_or_default());
            }
            at += count;
        }
    }

    /// The names that the tuples inside a type have here; empty if none has any.
    pub(super) fn known_names(&self, ty: &Type) -> TupleNames {
        if self.tuple_names.is_empty() || self.count_names(ty) == 0 {
            return TupleNames::default();
        }
        let mut names = Vec::new();
        self.known_names_in(ty, &mut names);
        if names.iter().any(Option::is_some) {
            names.into()
        } else {
            TupleNames::default()
        }
    }

    fn known_names_in(&self, ty: &Type, names: &mut Vec<Option<Rc<str>>>) {
        if self.types.tuple_elements(ty).is_some() {
            // Those of the innermost call, if it has any.
            let call = self.tuple_names.iter().rposition(|it| it.0 == OF_A_CALL);
            let inner = self.tuple_names.get(call.unwrap_or(0)..);
            let inner = inner.filter(|all| all.iter().any(|(it, _)| it == ty));
            let noted = inner.unwrap_or(&self.tuple_names);
            let mut known = noted.iter().filter(|(it, _)| it == ty);
            let count = self.count_names(ty);
            match known.next() {
                Some((_, first)) if first.len() == count && known.all(|(_, it)| it == first) => {
                    names.extend(first.iter().cloned());
                }
                _ => names.extend(std::iter::repeat_n(None, count)),
            }
            return;
        }
        match ty {
            Type::Named(named) => {
                for argument in &named.arguments {
                    self.known_names_in(argument, names);
                }
            }
            Type::SzArray(inner) | Type::Array { element: inner, .. } => {
                self.known_names_in(inner, names);
            }
            _ => {}
        }
    }

    /// Gives a value the names that its type is written with: `new List<(int Id, string Title)>()`.
    pub(super) fn name_as_written(&self, node: &mut Node, written: &syntax::tree::Type) {
        let names = self.names_as_written(&node.ty, written);
        if !names.is_empty() {
            node.names = names;
        }
    }

    /// The names that a type is written with; empty if it is written without.
    pub(super) fn names_as_written(&self, ty: &Type, written: &syntax::tree::Type) -> TupleNames {
        let mut names = Vec::new();
        written_names(written, &mut names);
        // What an alias stands for is not seen.
        match names.iter().any(Option::is_some) && names.len() == self.count_names(ty) {
            true => names.into(),
            false => TupleNames::default(),
        }
    }

    /// The names that several values give to the elements of one tuple type: those on which all of them agree.
    pub(super) fn common_names(&self, operands: &[Operand<'_>], ty: &Type) -> TupleNames {
        let mut all = operands.iter().filter_map(Operand::value);
        let Some(first) = all.next().filter(|it| it.ty == *ty) else {
            return TupleNames::default();
        };
        let mut names = first.names.to_vec();
        for other in all {
            for (index, name) in names.iter_mut().enumerate() {
                if other.names.get(index) != Some(name) {
                    *name = None;
                }
            }
        }
        match names.iter().any(Option::is_some) {
            true => names.into(),
            false => TupleNames::default(),
        }
    }

    /// A call with the names of what it returns.
    pub(super) fn named_result(&mut self, mut node: Node) -> Node {
        if self.count_names(&node.ty) == 0 {
            return node;
        }
        if let Some(names) = self.inferred_names(&node) {
            node.names = names;
            return node;
        }
        if !node.names.is_empty() {
            return node;
        }
        if let Op::Call(callee, _, arguments) = &node.op {
            // What is declared without names has none, whatever its arguments have.
            if !self.returns_parameters(callee) {
                return node;
            }
            let bodies: Vec<Node> = arguments
                .iter()
                .filter_map(|it| match &it.op {
                    Op::Lambda(closure) => Some(closure.body.clone()),
                    _ => None,
                })
                .collect();
            for body in &bodies {
                self.note_names_of(body);
            }
        }
        node.names = self.known_names(&node.ty);
        node
    }

    /// The names in what a generic method returns, or a method of a generic type: those that its declaration has, and those of
    /// the arguments and the object that its type parameters were inferred from. `None` for other calls.
    fn inferred_names(&mut self, node: &Node) -> Option<TupleNames> {
        let Op::Call(callee, target, arguments) = &node.op else {
            return None;
        };
        let (open, known) = self.known_of_call(callee, target.as_deref(), arguments)?;
        if !open.returns.is_open() {
            return None;
        }
        Some(self.joined_names(&node.names, &open.returns, &callee.method.returns, &known))
    }

    /// A method as it is declared, and the names that a call of it has for each type parameter.
    fn known_of_call(
        &mut self,
        callee: &Callee,
        target: Option<&Node>,
        arguments: &[Node],
    ) -> Option<(Method, KnownNames)> {
        let method = &callee.method;
        let home = &method.declared_in;
        let is_known = target.is_some() || home.arguments.is_empty();
        if !is_known || callee.arguments.is_empty() && home.arguments.is_empty() {
            return None;
        }
        let open = self.types.open_named(home.module, home.token).ok()?;
        let open = self.types.method(&open, method.token).ok()?;
        let mut known = KnownNames::of(0, callee.arguments.len());
        if let Some(target) = target {
            known.of_type = self.names_of_arguments(target, home);
        }
        // What is given counts before what lambdas return.
        for lambdas in [false, true] {
            let parameters = open.parameters.iter().zip(&method.parameters);
            for ((open, closed), argument) in parameters.zip(arguments) {
                if matches!(argument.op, Op::Lambda(_)) == lambdas {
                    let (open, closed) = (open.ty.without_ref(), closed.ty.without_ref());
                    self.note_given(open, closed, argument, &mut known);
                }
            }
        }
        Some((open, known))
    }

    /// The names that a value has for each type argument of its type, or of a base of that.
    pub(super) fn names_of_arguments(
        &mut self,
        value: &Node,
        of: &Named,
    ) -> Vec<Option<TupleNames>> {
        let home = Type::Named(Rc::new(of.clone()));
        if let Some(names) = self.names_as(&value.ty, &value.names, &home) {
            return self.split_names(&of.arguments, &names);
        }
        let outer = std::mem::take(&mut self.tuple_names);
        self.note_names_of(value);
        let arguments = of.arguments.iter();
        let names = arguments.map(|it| Some(self.known_names(it))).collect();
        self.tuple_names = outer;
        names
    }

    /// The part of a list of names that belongs to each of several types.
    pub(super) fn split_names(
        &self,
        types: &[Type],
        names: &[Option<Rc<str>>],
    ) -> Vec<Option<TupleNames>> {
        let mut at = 0;
        let mut split = Vec::new();
        for ty in types {
            let count = self.count_names(ty);
            let own = names.get(at..at + count).unwrap_or_default();
            split.push(Some(own.into()));
            at += count;
        }
        split
    }

    /// Notes the names that an argument has for the type parameters in what its parameter is declared as.
    fn note_given(&mut self, open: &Type, closed: &Type, given: &Node, known: &mut KnownNames) {
        let (mut open, mut closed) = (open, closed);
        let names = match &given.op {
            // Of a delegate what it returns counts, which is its last type argument.
            Op::Lambda(closure) => {
                let returned = |it: &'_ Type| it.as_named()?.arguments.last().cloned();
                let (Some(outer), Some(inner)) = (returned(open), returned(closed)) else {
                    return;
                };
                let inputs = open.as_named().map(|it| &*it.arguments);
                if let Some((_, inputs)) = inputs.and_then(<[Type]>::split_last) {
                    inputs.iter().for_each(|it| known.take(it));
                }
                let body = as_it_was(&closure.body);
                if let Some(names) = self.names_as(&body.ty, &body.names, &inner) {
                    self.note_variables(&outer, &inner, &names, known);
                }
                return;
            }
            _ => {
                let given = as_it_was(given);
                (open, closed) = (open.without_ref(), closed.without_ref());
                match self.names_as(&given.ty, &given.names, closed) {
                    Some(names) => names,
                    None => {
                        let outer = std::mem::take(&mut self.tuple_names);
                        self.note_names_of(given);
                        let names = self.known_names(closed);
                        self.tuple_names = outer;
                        names
                    }
                }
            }
        };
        self.note_variables(open, closed, &names, known);
    }

    /// The names that a declaration has, and where it has none those of the type parameters in it.
    pub(super) fn joined_names(
        &self,
        declared: &[Option<Rc<str>>],
        open: &Type,
        closed: &Type,
        known: &KnownNames,
    ) -> TupleNames {
        let mut names = Vec::new();
        self.names_by_variables(open, closed, known, &mut names);
        let declared = declared.iter().cloned().chain(std::iter::repeat(None));
        let names: Vec<_> = declared
            .zip(names)
            .map(|(one, other)| one.or(other))
            .collect();
        match names.iter().any(Option::is_some) {
            true => names.into(),
            false => TupleNames::default(),
        }
    }

    /// Gives the variables that a call declares (`out var`) the names that its parameters have.
    pub(super) fn name_declared(&mut self, call: &Node) {
        let Op::Call(callee, target, arguments) = &call.op else {
            return;
        };
        for (index, argument) in arguments.iter().enumerate() {
            let Op::Reference(Referred::Slot(slot), _) = argument.op else {
                continue;
            };
            let Some(at) = self.out_variables.iter().position(|it| *it == slot) else {
                continue;
            };
            self.out_variables.swap_remove(at);
            if self.count_names(&argument.ty) == 0 {
                continue;
            }
            let declared = self.parameter_names(&callee.method, index);
            let known = self.known_of_call(callee, target.as_deref(), arguments);
            let names = match &known {
                Some((open, known)) => {
                    let Some(open) = open.parameters.get(index) else {
                        continue;
                    };
                    self.joined_names(&declared, open.ty.without_ref(), &argument.ty, known)
                }
                None => declared,
            };
            if let Some(local) = self.locals.iter_mut().rfind(|it| it.slot == slot) {
                local.names = names;
            }
        }
    }

    /// The names that a parameter is declared with.
    fn parameter_names(&self, method: &Method, index: usize) -> TupleNames {
        let module = method.declared_in.module;
        let metadata = self.types.metadata(module).ok();
        let token = metadata.and_then(|it| {
            let parameters = it.metadata().method(method.token).ok()?.parameters().ok()?;
            parameters.get(index)?.token
        });
        token.map_or_else(TupleNames::default, |it| self.names_of(module, it))
    }

    /// What a call of a delegate returns, with its names.
    pub(super) fn named_return(&mut self, called: Node, delegate: &Node) -> Node {
        let mut called = called;
        if self.count_names(&called.ty) == 0 {
            return called;
        }
        called.names = match (&called.op, &delegate.op) {
            (Op::Invoke(..), Op::Lambda(closure)) => closure.body.names.clone(),
            (Op::Call(callee, ..), _) => self.return_names(&callee.method),
            _ => TupleNames::default(),
        };
        if let Some(names) = self.inferred_names(&called) {
            called.names = names;
        }
        called
    }

    /// Notes the names of what a lambda takes that is an argument for a delegate declared as `open`.
    pub(super) fn note_inputs(
        &mut self,
        at: Span,
        open: &Type,
        closed: &Type,
        inputs: &[Type],
        known: &KnownNames,
    ) {
        let (Type::Named(delegate), true) = (closed, open.is_open()) else {
            return;
        };
        let mut whole = Vec::new();
        self.names_by_variables(open, closed, known, &mut whole);
        let known = KnownNames {
            of_type: self.split_names(&delegate.arguments, &whole),
            ..KnownNames::of(0, 0)
        };
        let declared = self.types.open_named(delegate.module, delegate.token);
        let Some(invoke) = declared.ok().and_then(|it| self.invoke(&Type::Named(it))) else {
            return;
        };
        let names = invoke.parameters.iter().zip(inputs).map(|(open, closed)| {
            self.joined_names(&[], open.ty.without_ref(), closed.without_ref(), &known)
        });
        let names: Vec<TupleNames> = names.collect();
        let inputs = inputs.to_vec();
        self.input_names
            .retain(|it| it.at != at || it.inputs != inputs);
        self.input_names.push(InputNames { at, inputs, names });
    }

    /// The names of a parameter of a lambda, where the call that it is an argument of tells them.
    pub(super) fn noted_input(&self, at: Span, inputs: &[Type], index: usize) -> TupleNames {
        let mut noted = self.input_names.iter();
        let noted = noted.find(|it| it.at == at && it.inputs == inputs);
        let names = noted.and_then(|it| it.names.get(index).cloned());
        names.unwrap_or_default()
    }

    /// The names that values have for the type parameters of a method, before it is known what all of these stand for.
    pub(super) fn note_value(
        &mut self,
        open: &Type,
        closed: &Type,
        value: &Node,
        known: &mut KnownNames,
    ) {
        if !closed.is_open() {
            self.note_given(open, closed, value, known);
        }
    }

    /// Notes the names that a value has for each type parameter of a method; where two differ, neither counts.
    pub(super) fn note_variables(
        &self,
        open: &Type,
        closed: &Type,
        names: &[Option<Rc<str>>],
        known: &mut KnownNames,
    ) {
        if let Type::MethodVariable(number) = open {
            if known.taken.contains(number) {
                return;
            }
            let Some(place) = known.of_method.get_mut(*number as usize) else {
                return;
            };
            let given: TupleNames = match names.is_empty() {
                true => vec![None; self.count_names(closed)].into(),
                false => names.into(),
            };
            *place = Some(match place.take() {
                None => given,
                Some(other) => {
                    let both = other.iter().zip(given.iter());
                    both.map(|(a, b)| a.clone().filter(|_| a == b)).collect()
                }
            });
            return;
        }
        let own = match self.types.tuple_elements(closed) {
            Some(elements) if elements.len() > 7 => return,
            Some(elements) => elements.len(),
            None => 0,
        };
        let mut at = own;
        for (open, closed) in parts_of(open).iter().zip(parts_of(closed)) {
            let count = self.count_names(closed);
            let inside = names.get(at..at + count).unwrap_or_default();
            self.note_variables(open, closed, inside, known);
            at += count;
        }
    }

    fn names_by_variables(
        &self,
        open: &Type,
        closed: &Type,
        known: &KnownNames,
        names: &mut Vec<Option<Rc<str>>>,
    ) {
        let count = self.count_names(closed);
        let end = names.len() + count;
        if let Type::MethodVariable(_) | Type::Variable(_) = open {
            let found = known.variable(open);
            names.extend(found.into_iter().flat_map(|it| it.iter().cloned()));
        } else {
            let own = self.types.tuple_elements(closed).map_or(0, |it| it.len());
            names.extend(std::iter::repeat_n(None, own));
            if own < 8 {
                for (open, closed) in parts_of(open).iter().zip(parts_of(closed)) {
                    self.names_by_variables(open, closed, known, names);
                }
            }
        }
        names.resize(end, None);
    }

    /// Whether a method is declared to return something of a type parameter.
    fn returns_parameters(&self, callee: &Callee) -> bool {
        let declared_in = &callee.method.declared_in;
        let open = self.types.open_named(declared_in.module, declared_in.token);
        let open = open.and_then(|it| self.types.method(&it, callee.method.token));
        open.map_or(true, |it| it.returns.is_open())
    }

    /// What is read of a value, with the names that the value's type has for it.
    pub(super) fn named_part(&mut self, mut part: Node, whole: &Node) -> Node {
        if part.names.is_empty() && self.count_names(&part.ty) > 0 {
            if let Some(names) = self.names_of_member(&part, whole) {
                part.names = names;
                return part;
            }
            let outer = std::mem::take(&mut self.tuple_names);
            self.note_names_of(whole);
            part.names = self.known_names(&part.ty);
            self.tuple_names = outer;
        }
        part
    }
}

/// A value before it was converted to something that has no names of its own.
fn as_it_was(node: &Node) -> &Node {
    let mut node = node;
    while let (Op::Convert(_, inner), true) = (&node.op, node.names.is_empty()) {
        node = inner;
    }
    node
}

/// The types that a type is made of.
fn parts_of(ty: &Type) -> &[Type] {
    match ty {
        Type::Named(named) => &named.arguments,
        Type::SzArray(inner) | Type::Array { element: inner, .. } | Type::ByRef(inner) => {
            std::slice::from_ref(&**inner)
        }
        _ => &[],
    }
}
