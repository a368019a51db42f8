//! Which of the names of tuple elements that stand at a declaration belong to a part of its type.
//!
//! The names come in one list: those of a tuple, then those of the tuples inside of it; a generic type has those of its
//! arguments one after another, an array those of its elements.

use std::ops::Range;

use super::text::TUPLE_LENGTH;
use super::{Type, TypeNotes, Types};

/// Types lie less deeply inside each other.
const MAX_DEPTH: u32 = 32;

impl TypeNotes {
    /// What the declaration of a value says of a part of it; see [`Types::names_of_part`].
    pub(crate) fn of_part(
        &self,
        types: Types<'_>,
        ty: &Type,
        part: &Type,
        an_element: bool,
    ) -> Self {
        if self.tuple_names.is_empty() {
            return Self::default();
        }
        let range = types.names_of_part(ty, part, an_element);
        self.only(range.unwrap_or_default())
    }

    /// What the declaration of a dictionary, or of a pair, says of its keys.
    pub(crate) fn of_key(&self, types: Types<'_>, ty: &Type, key: &Type) -> Self {
        let arguments = ty.without_ref().as_named().map(|it| &*it.arguments);
        match arguments {
            Some([first, _]) if first == key => self.only(0..types.count_tuple_names(key)),
            _ => self.of_part(types, ty, key, false),
        }
    }

    /// What it says of an element of a tuple.
    pub(crate) fn of_item(&self, types: Types<'_>, items: &[Type], number: usize) -> Self {
        let start = types.names_inside(items, number);
        let count = items
            .get(number)
            .map_or(0, |it| types.count_tuple_names(it));
        self.only(start..start + count)
    }

    fn only(&self, range: Range<usize>) -> Self {
        Self {
            tuple_names: self.tuple_names.get(range).unwrap_or_default().to_vec(),
            dynamic: Vec::new(),
        }
    }
}

/// Names that stand among those of a tuple's first `count` elements for its rests: each counts as a tuple of its own, whose names
/// are never given.
pub(crate) fn rests(length: usize, count: usize) -> usize {
    let firsts = (TUPLE_LENGTH..length).step_by(TUPLE_LENGTH);
    firsts
        .filter(|first| *first < count)
        .map(|first| length - first)
        .sum()
}

impl Types<'_> {
    /// How many names the tuples in a type have.
    pub(crate) fn count_tuple_names(self, ty: &Type) -> usize {
        self.count_names_at(ty, 0)
    }

    fn count_names_at(self, ty: &Type, depth: u32) -> usize {
        if depth > MAX_DEPTH {
            return 0;
        }
        let inside = |all: &[Type]| -> usize {
            let counts = all.iter().map(|it| self.count_names_at(it, depth + 1));
            counts.sum()
        };
        if let Some(elements) = self.tuple_elements(ty) {
            return elements.len() + rests(elements.len(), elements.len()) + inside(&elements);
        }
        match ty {
            Type::Named(named) => inside(&named.arguments),
            Type::SzArray(element) | Type::Array { element, .. } => {
                self.count_names_at(element, depth + 1)
            }
            _ => 0,
        }
    }

    /// Where in the names of a tuple those inside of one of its elements begin: behind those of all elements, and those
    /// inside of the elements before.
    pub(crate) fn names_inside(self, items: &[Type], number: usize) -> usize {
        let before = items.iter().take(number);
        let before: usize = before.map(|it| self.count_tuple_names(it)).sum();
        items.len() + rests(items.len(), number + 1) + before
    }

    /// Where in the names of a type those of a part of it are, which is one of its arguments or what its elements are. If
    /// several arguments could be meant, it is the last one for `an_element`, as dictionaries have their values last, and
    /// none otherwise.
    pub(crate) fn names_of_part(
        self,
        ty: &Type,
        part: &Type,
        an_element: bool,
    ) -> Option<Range<usize>> {
        let (ty, part) = (ty.without_ref(), part.without_ref());
        let count = self.count_tuple_names(part);
        if count == 0 || self.tuple_elements(ty).is_some() {
            return None;
        }
        let arguments = match ty {
            Type::SzArray(element) | Type::Array { element, .. } => {
                return (**element == *part).then_some(0..count);
            }
            Type::Named(named) => &named.arguments,
            _ => return None,
        };
        let mut found = None;
        let mut start = 0;
        for argument in arguments.iter() {
            let names = self.count_tuple_names(argument);
            if argument == part {
                if found.is_some() && !an_element {
                    return None;
                }
                found = Some(start..start + names);
            }
            start += names;
        }
        found.or_else(|| {
            // What is made of the same arguments, or of the only one that has names, has the same names.
            let own = part.as_named().map(|it| &*it.arguments);
            let mut with_names = arguments
                .iter()
                .filter(|it| self.count_tuple_names(it) == start);
            let is_same = own == Some(&**arguments)
                || with_names.next().is_some_and(|it| is_made_of(part, it, 0));
            (count == start && is_same).then_some(0..count)
        })
    }
}

/// Whether a type is another, or one over it.
fn is_made_of(ty: &Type, of: &Type, depth: u32) -> bool {
    let inside = |it: &Type| is_made_of(it, of, depth + 1);
    ty == of
        || depth < MAX_DEPTH
            && match ty {
                Type::Named(named) => named.arguments.iter().any(inside),
                Type::SzArray(element) | Type::Array { element, .. } => inside(element),
                _ => false,
            }
}
