//! Names of tuple elements on their way through calls.
//!
//! Types know no names, so what a generic method returns has those that its arguments gave to the same tuple type: of
//! `points.Where(p => p.X > 1).First()` the names of `points`. Where two arguments name one type differently, nobody's count.

use std::rc::Rc;

use syntax::tree::{TypeArguments, TypeKind};

use super::overloads::Arg;
use super::{Binder, Operand, TupleNames};
use crate::expressions::plan::{Callee, Node, Op};
use crate::types::Type;

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

impl Binder<'_> {
    /// Notes the names that arguments give to tuple types, while a call of these is bound.
    pub(super) fn note_names(&mut self, target: Option<&Node>, arguments: &[Arg<'_>]) -> usize {
        let mark = self.tuple_names.len();
        if let Some(target) = target {
            self.note_names_of(target);
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
            let mut known = self.tuple_names.iter().filter(|(it, _)| it == ty);
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

    /// The names in what a generic method returns: those that its declaration has, and those of the arguments that its type
    /// parameters were inferred from. `None` for other calls, and where the type around the method decides too.
    fn inferred_names(&mut self, node: &Node) -> Option<TupleNames> {
        let Op::Call(callee, None, arguments) = &node.op else {
            return None;
        };
        let method = &callee.method;
        let home = &method.declared_in;
        if callee.arguments.is_empty() || !home.arguments.is_empty() {
            return None;
        }
        let open = self.types.open_named(home.module, home.token).ok()?;
        let open = self.types.method(&open, method.token).ok()?;
        if !open.returns.is_open() {
            return None;
        }
        let mut known: Vec<Option<TupleNames>> = vec![None; callee.arguments.len()];
        let parameters = open.parameters.iter().zip(&method.parameters);
        for ((open, closed), argument) in parameters.zip(arguments) {
            let (mut open, mut closed) = (open.ty.without_ref(), closed.ty.without_ref());
            let names = match &argument.op {
                // Of a delegate what it returns counts, which is its last type argument.
                Op::Lambda(closure) => {
                    let (outer, inner) = (open.as_named()?, closed.as_named()?);
                    (open, closed) = (outer.arguments.last()?, inner.arguments.last()?);
                    match closure.body.ty == *closed {
                        true => closure.body.names.clone(),
                        false => continue,
                    }
                }
                _ => {
                    let mut given = argument;
                    while let (Op::Convert(_, inner), true) = (&given.op, given.names.is_empty()) {
                        given = inner;
                    }
                    let outer = std::mem::take(&mut self.tuple_names);
                    self.note_names_of(given);
                    let names = self.known_names(closed);
                    self.tuple_names = outer;
                    names
                }
            };
            self.note_variables(open, closed, &names, &mut known);
        }
        let mut names = Vec::new();
        self.names_by_variables(&open.returns, &method.returns, &known, &mut names);
        let declared = node.names.iter().cloned().chain(std::iter::repeat(None));
        let names: Vec<_> = declared
            .zip(names)
            .map(|(one, other)| one.or(other))
            .collect();
        let is_named = names.iter().any(Option::is_some);
        Some(match is_named {
            true => names.into(),
            false => TupleNames::default(),
        })
    }

    /// Notes the names that a value has for each type parameter of a method; where two differ, neither counts.
    fn note_variables(
        &self,
        open: &Type,
        closed: &Type,
        names: &[Option<Rc<str>>],
        known: &mut [Option<TupleNames>],
    ) {
        if let Type::MethodVariable(number) = open {
            let Some(place) = known.get_mut(*number as usize) else {
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
        known: &[Option<TupleNames>],
        names: &mut Vec<Option<Rc<str>>>,
    ) {
        let count = self.count_names(closed);
        let end = names.len() + count;
        if let Type::MethodVariable(number) = open {
            let found = known.get(*number as usize).and_then(Option::as_ref);
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
        if part.names.is_empty() && whole.names.iter().any(Option::is_some) {
            let outer = std::mem::take(&mut self.tuple_names);
            self.note_names_of(whole);
            part.names = self.known_names(&part.ty);
            self.tuple_names = outer;
        }
        part
    }
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
