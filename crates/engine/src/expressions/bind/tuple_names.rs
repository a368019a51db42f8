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
        if !node.names.is_empty() || self.count_names(&node.ty) == 0 {
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
