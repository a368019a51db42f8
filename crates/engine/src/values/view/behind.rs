//! What lies behind the cut of a line, as one number: whoever compares two stops learns that it has changed.
//!
//! The number is made of the same line with wider limits, and of all elements of an array that holds no references. It
//! depends on what is there alone, not on where it lies: a garbage collection changes nothing. The limits are of work, not
//! of time, so that the same values give the same number.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use crate::api::ValueKind;

use super::super::{Place, Value};
use super::source::Source;
use super::{Subject, Viewer};
use crate::types::{Type, TypeNotes};

/// Elements and members that one value's number is made of, and those of a whole reply.
const ELEMENTS: u64 = 400;
pub(super) const ELEMENTS_OF_REPLY: u64 = 2000;
/// Of one collection or object inside.
const WIDE: u64 = 256;
/// Characters of one text.
const TEXT: usize = 1 << 16;
/// Characters of one value inside another.
const TEXT_INSIDE: usize = 1 << 12;
/// Bytes of elements that are no references.
const BYTES: u64 = 1 << 18;

impl Viewer<'_, '_> {
    /// How many elements or members a line shows, of so many that there are.
    pub(super) fn shown_in_line(&self, narrow: u64, count: u64) -> u64 {
        let Some(left) = self.wide.get() else {
            return narrow.min(count);
        };
        let shown = count.min(WIDE).min(left);
        self.wide.set(Some(left - shown));
        shown
    }

    /// Whether the line is made for its number.
    pub(super) fn is_wide(&self) -> bool {
        self.wide.get().is_some()
    }

    /// How deep a line goes into values.
    pub(super) fn depth_of_line(&self, narrow: u32) -> u32 {
        narrow + u32::from(self.wide.get().is_some())
    }

    /// How many characters a line shows.
    pub(super) fn length_of_line(&self, level: u32, narrow: usize) -> usize {
        match (self.wide.get(), level) {
            (None, _) => narrow,
            (Some(_), 0) => TEXT,
            (Some(_), _) => TEXT_INSIDE,
        }
    }

    /// The number of a value whose line was cut.
    pub(super) fn behind_cut(&self, value: &Value, notes: &TypeNotes) -> Option<u64> {
        let subject = self.subject(value).ok()?;
        let left = self.wide_of_reply.get();
        let given = ELEMENTS.min(left);
        if given == 0 {
            return None;
        }
        self.wide.set(Some(given));
        let line = self.line(&subject, notes, 0);
        let rest = self.wide.take().unwrap_or_default();
        self.wide_of_reply.set(left - (given - rest));
        let mut hasher = DefaultHasher::new();
        line.text.hash(&mut hasher);
        self.bytes_of_elements(&subject).hash(&mut hasher);
        // Lambdas of one method have the same text.
        if line.kind == ValueKind::Delegate {
            let value = self.as_value(&subject)?;
            self.delegate_functions(&value).hash(&mut hasher);
        }
        Some(hasher.finish())
    }

    /// The elements of an array, or of what keeps its own in one, that are no references.
    fn bytes_of_elements(&self, subject: &Subject) -> Option<Vec<u8>> {
        let items = self.items(subject).ok()??;
        let Source::Array { array, first, .. } = &items.source else {
            return None;
        };
        let shape = self.reader.array(array).ok()?;
        let is_plain = matches!(shape.element, Type::Primitive(_));
        if items.count == 0 || !is_plain || shape.element.is_reference() {
            return None;
        }
        // Behind the last element of a list is nothing that counts.
        let used = match first {
            0 => items.count.min(shape.count),
            _ => shape.count,
        };
        let first = self.reader.element(array, 0).ok()?;
        let Place::Memory(start) = first.place else {
            return None;
        };
        let size = u64::from(self.reader.size_of(&first.ty).ok()?);
        let length = used.checked_mul(size)?.min(BYTES);
        let all = self.reader.at(first.ty, start);
        self.reader.bytes(&all, u32::try_from(length).ok()?).ok()
    }
}
