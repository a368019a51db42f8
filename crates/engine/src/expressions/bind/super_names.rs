//! Names of tuple elements on their way from a type to what it derives from or implements: a `List<(int Id, string Name)>` is an
//! `IEnumerable<(int Id, string Name)>`, and a class may be derived from one.

use std::rc::Rc;

use metadata::Token;

use super::tuple_names::KnownNames;
use super::{Binder, TupleNames};
use crate::expressions::plan::{Node, Op};
use crate::types::{Generics, Named, Type, TypeNotes};

/// Base types and interfaces between a type and what it is taken as.
const MAX_STEPS: u32 = 16;

impl Binder<'_> {
    /// The names that a value of a type has as what it is taken as; `None` where the way from one to the other is not known.
    pub(super) fn names_as(
        &self,
        ty: &Type,
        names: &[Option<Rc<str>>],
        to: &Type,
    ) -> Option<TupleNames> {
        self.names_upwards(ty, names, to, MAX_STEPS)
    }

    fn names_upwards(
        &self,
        ty: &Type,
        names: &[Option<Rc<str>>],
        to: &Type,
        steps: u32,
    ) -> Option<TupleNames> {
        if ty == to {
            return Some(names.into());
        }
        let steps = steps.checked_sub(1)?;
        match (ty, to) {
            // An array is a sequence of its elements.
            (Type::SzArray(element), Type::Named(sequence)) => {
                (*sequence.arguments == [(**element).clone()]).then(|| names.into())
            }
            (Type::Named(named), Type::Named(wanted)) => {
                // Types that differ in their arguments alone do so by variance.
                if (named.module, named.token) == (wanted.module, wanted.token) {
                    return None;
                }
                let known = KnownNames::of_arguments(self.split_names(&named.arguments, names));
                let above = self.above(named);
                above.into_iter().find_map(|(open, declared)| {
                    let closed = open.with(&named.generics());
                    if !self.leads_to(&closed, wanted) {
                        return None;
                    }
                    let names = self.joined_names(&declared, &open, &closed, &known);
                    self.names_upwards(&closed, &names, to, steps)
                })
            }
            _ => None,
        }
    }

    fn leads_to(&self, ty: &Type, wanted: &Named) -> bool {
        self.types.derives_from(ty, wanted).unwrap_or(false)
    }

    /// What a type is declared to derive from and to implement, with the names that are written there.
    fn above(&self, named: &Named) -> Vec<(Type, TupleNames)> {
        let mut found = Vec::new();
        let (Ok(open), Ok(definition), Ok(module)) = (
            self.types.open_named(named.module, named.token),
            self.types.definition(named),
            self.types.metadata(named.module),
        ) else {
            return found;
        };
        let generics: Generics = open.generics();
        let mut add = |declared_at: Token, token: Token| {
            if let Ok(ty) = self.types.of_token(named.module, token, &generics) {
                let notes = TypeNotes::of(module.metadata(), declared_at);
                found.push((ty, crate::expressions::frames::tuple_names(&notes)));
            }
        };
        if let Some(base) = definition.base() {
            add(named.token, base);
        }
        for (row, interface) in definition.interface_rows().flatten() {
            add(row, interface);
        }
        found
    }

    /// The names of an element of an array, or of a field or property of a generic type by what it is declared as there.
    pub(super) fn names_of_member(&mut self, part: &Node, whole: &Node) -> Option<TupleNames> {
        let (home, open) = match &part.op {
            Op::Element(array, _) if array.ty.element() == Some(&part.ty) => {
                return Some(Rc::clone(&whole.names));
            }
            Op::Field(_, field) => {
                let home = &field.declared_in;
                let open = self.types.open_named(home.module, home.token).ok()?;
                let fields = self.types.fields(&open).ok()?;
                let found = fields.iter().find(|it| it.token == field.token)?;
                (home, found.ty.clone())
            }
            Op::Call(callee, Some(_), _) => {
                let home = &callee.method.declared_in;
                let open = self.types.open_named(home.module, home.token).ok()?;
                (
                    home,
                    self.types.method(&open, callee.method.token).ok()?.returns,
                )
            }
            _ => return None,
        };
        if !open.is_open() || home.arguments.is_empty() {
            return None;
        }
        let arguments = self.names_of_arguments(whole, home);
        let known = KnownNames::of_arguments(arguments);
        Some(self.joined_names(&part.names, &open, &part.ty, &known))
    }
}
