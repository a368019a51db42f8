//! What a declaration says of the parts of a value: the names of tuple elements, by which secrets are known.
//!
//! Invariant: every line and every child is made with the names that are known of it, so that what is masked where it is
//! asked for is masked in the lines of all that it lies in.

use super::super::walk::Step;
use super::super::{Result, Value};
use super::source::{Entry, Items};
use super::{Child, Subject, Viewer};
use crate::types::{Type, TypeNotes};

impl Viewer<'_, '_> {
    /// Elements, with what they belong to.
    pub(super) fn declared_in(&self, subject: &Subject, notes: &TypeNotes, of: Items) -> Items {
        let ty = self
            .type_of(subject)
            .filter(|_| !notes.tuple_names.is_empty());
        Items {
            declared: ty.map(|ty| Box::new((ty.clone(), notes.clone()))),
            ..of
        }
    }

    /// What is known of an element: of its key, and of itself.
    pub(super) fn notes_of_entry(&self, items: &Items, entry: &Entry) -> (TypeNotes, TypeNotes) {
        let Some((ty, notes)) = items.declared.as_deref() else {
            return (TypeNotes::default(), TypeNotes::default());
        };
        let types = self.reader.types;
        let of_key = entry.key.as_ref();
        let of_key = of_key.map(|key| notes.of_key(types, ty, &key.ty));
        let of_value = entry.value.as_ref().ok();
        let of_value = of_value.map(|value| notes.of_part(types, ty, &value.ty, true));
        (of_key.unwrap_or_default(), of_value.unwrap_or_default())
    }

    /// What is known of the key of a pair or a group.
    pub(super) fn notes_of_key(
        &self,
        of: &Value,
        notes: &TypeNotes,
        key: Option<&Value>,
    ) -> TypeNotes {
        let key = key.map_or(&Type::OBJECT, |it| &it.ty);
        notes.of_key(self.reader.types, &of.ty, key)
    }

    /// What is known of something that a value of the framework holds.
    pub(super) fn notes_of_part(
        &self,
        of: &Value,
        notes: &TypeNotes,
        part: &Result<Value>,
    ) -> TypeNotes {
        let part = part.as_ref().map_or(&Type::OBJECT, |it| &it.ty);
        notes.of_part(self.reader.types, &of.ty, part, true)
    }

    /// Something that a value of the framework holds, as part of its line.
    pub(super) fn brief_part(
        &self,
        of: &Value,
        notes: &TypeNotes,
        part: &Result<Value>,
        level: u32,
    ) -> String {
        let notes = self.notes_of_part(of, notes, part);
        self.brief_with(part, &notes, level)
    }

    /// What a weak reference leads to: it is declared as any object.
    pub(super) fn brief_target(
        &self,
        of: &Value,
        notes: &TypeNotes,
        target: Value,
        level: u32,
    ) -> String {
        let object = self.reader.object(&target).ok().flatten();
        let target = object.map_or(target, |it| self.reader.reference_to(&it));
        self.brief_part(of, notes, &Ok(target), level)
    }

    /// What is known of what a member path leads to, if there are names to be known.
    pub(super) fn notes_along(&self, subject: &Subject, path: &str, ty: &Type) -> TypeNotes {
        let mut notes = TypeNotes::default();
        let steps = match self.reader.types.count_tuple_names(ty) {
            0 => return notes,
            _ => super::super::walk::steps(path).unwrap_or_default(),
        };
        let mut here = self.as_value(subject);
        for (_, step) in &steps {
            let Some(value) = here else { break };
            let next = self.step(&value, step).ok();
            notes = match (step, &next) {
                (Step::Member(name), _) => {
                    let member = self.member_named(&value, &notes, name);
                    member.map(|it| it.notes).unwrap_or_default()
                }
                (_, Some(next)) => self.notes_of_part(&value, &notes, &Ok(next.clone())),
                _ => TypeNotes::default(),
            };
            here = next;
        }
        notes
    }

    /// What is known of a member that says nothing of itself.
    pub(super) fn notes_of_member(&self, child: &Child, of: &Type, notes: &TypeNotes) -> TypeNotes {
        if notes.tuple_names.is_empty() {
            return TypeNotes::default();
        }
        // The framework keeps arrays of what it is over as objects.
        let object = child
            .value
            .as_ref()
            .ok()
            .filter(|_| child.ty == Type::OBJECT);
        let object = object.filter(|_| self.reader.is_of_framework(of));
        let object = object.and_then(|value| self.reader.object(value).ok().flatten());
        let ty = object.as_ref().map_or(&child.ty, |it| &it.ty);
        notes.of_part(self.reader.types, of, ty, false)
    }

    /// Gives the elements of a tuple that is shown by its fields what is known of what is in them.
    pub(super) fn name_items(&self, list: &mut [Child], ty: &Type, notes: &TypeNotes) {
        let types = self.reader.types;
        let elements = types.tuple_elements(ty).unwrap_or_default();
        for child in list {
            let number = child.name.strip_prefix("Item");
            let number = number.and_then(|it| it.parse::<usize>().ok()?.checked_sub(1));
            if let Some(number) = number {
                child.notes = notes.of_item(types, &elements, number);
            }
        }
    }
}
