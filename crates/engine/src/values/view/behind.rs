//! What lies behind the cut of a line, as one number: whoever compares two stops learns that it has changed.
//!
//! The number is made of the same line with wider limits, and of all elements of an array that holds no references. It
//! depends on what is there alone, not on where it lies: a garbage collection changes nothing.
//!
//! Invariants: the limits are of work, not of time, so that the same values give the same number; where the time was over
//! there is none. What one variable may use does not depend on what others have used: how far each was looked into is told
//! with its number, and only numbers of looks that went as far can be compared.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use crate::api::{BehindCut, ValueKind};

use super::super::{Place, Value};
use super::source::Source;
use super::{Children, Subject, Viewer};
use crate::types::{Type, TypeNotes};

/// Elements and members that one variable's number is made of, where few share the work, and those of all together.
const ELEMENTS: u64 = 400;
const ELEMENTS_OF_REPLY: u64 = 4000;
/// Of how many variables' shares there are: where some come into scope the share is the same, as a rule.
const SHARED_BY: [u64; 4] = [10, 20, 40, 60];
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
        // What lies inside the elements has its part.
        let most = (self.share.get() / 8 * 5).max(1);
        let shown = count.min(most).min(left);
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

    /// Finds how many elements and members each of these variables may use, from how many could need any.
    pub(super) fn share_among(&self, variables: &Children) {
        let Children::Members(list) = variables else {
            return;
        };
        let needs_some = |it: &&super::Child| {
            let ty = it.ty.without_ref();
            *ty != Type::STRING && ty.underlying().is_none()
        };
        let count = list.iter().filter(needs_some).count() as u64;
        let by = SHARED_BY.into_iter().find(|it| count <= *it);
        // Those behind the last are not told, and so not compared.
        let by = by.unwrap_or(SHARED_BY[SHARED_BY.len() - 1]);
        self.share.set(ELEMENTS.min(ELEMENTS_OF_REPLY / by));
    }

    /// The number of a value whose line was cut; `None` if there was no time to make it.
    pub(super) fn behind_cut(&self, value: &Value, notes: &TypeNotes) -> Option<BehindCut> {
        let subject = self.subject(value).ok()?;
        let share = self.share.get();
        let mut hasher = DefaultHasher::new();
        let was_late = self.clock.forget_lateness();
        match self.bytes_of_elements(&subject) {
            Some(all) => all.hash(&mut hasher),
            None => {
                self.wide.set(Some(share));
                let line = self.line(&subject, notes, 0);
                self.wide.set(None);
                line.text.hash(&mut hasher);
                // Lambdas of one method have the same text.
                if line.kind == ValueKind::Delegate {
                    let value = self.as_value(&subject)?;
                    self.delegate_functions(&value).hash(&mut hasher);
                }
            }
        }
        let is_late = self.clock.was_late();
        self.clock.remember_lateness(was_late);
        (!is_late).then(|| BehindCut {
            share,
            number: hasher.finish(),
        })
    }

    /// The elements of an array, or of what keeps its own in one, that are no references, in their order.
    fn bytes_of_elements(&self, subject: &Subject) -> Option<(u64, Vec<u8>)> {
        let items = self.items(subject).ok()??;
        let Source::Array { array, first, wrap } = &items.source else {
            return None;
        };
        let shape = self.reader.array(array).ok()?;
        let is_plain = matches!(shape.element, Type::Primitive(_));
        if items.count == 0 || !is_plain || shape.element.is_reference() {
            return None;
        }
        let size = u64::from(self.reader.size_of(&shape.element).ok()?).max(1);
        // What lies before and behind them is not shown, and may be others'.
        let count = items.count.min(shape.count).min(BYTES / size);
        let ahead = count.min((*wrap).min(shape.count).checked_sub(*first)?);
        let mut bytes = Vec::new();
        for (start, count) in [(*first, ahead), (0, count - ahead)] {
            if count == 0 {
                continue;
            }
            let element = self.reader.element(array, start).ok()?;
            let Place::Memory(at) = element.place else {
                return None;
            };
            let all = self.reader.at(element.ty, at);
            let length = u32::try_from(count * size).ok()?;
            bytes.extend(self.reader.bytes(&all, length).ok()?);
        }
        Some((items.count, bytes))
    }
}
