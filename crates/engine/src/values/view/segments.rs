//! The elements of a `ReadOnlySequence<T>`: parts of memory that were read one after another, as from a pipe.
//!
//! Two objects with a position each say where it begins and ends. Of what kind these are is told by the highest bits of the
//! positions: the first and the last of a chain of segments, or one array or string.

use super::super::{Object, Result, Unreadable, Value};
use super::Viewer;
use super::source::{Items, Source};

/// Segments looked at at most.
const MAX_SEGMENTS: usize = 10_000;
/// What is a position without the bit that tells a kind.
const POSITION: i64 = 0x7fff_ffff;

impl Viewer<'_, '_> {
    pub(super) fn segments(&self, value: &Value) -> Result<Items> {
        let (Some(first), Some(last)) = (
            self.object_in(value, &["_startObject"])?,
            self.object_in(value, &["_endObject"])?,
        ) else {
            return Ok(Items::listed(Vec::new()));
        };
        let start = self.int(value, &["_startInteger"])?;
        let end = self.int(value, &["_endInteger"])?;
        match (start < 0, end < 0) {
            (false, false) => self.chained(first, &last, start, end),
            (true, false) => Err(Unreadable::Failed {
                why: "it lies in memory that an object of the program manages, which only that object's code can tell".into(),
            }),
            (false, true) | (true, true) => {
                let (start, end) = (start & POSITION, end & POSITION);
                let length = end.saturating_sub(start).max(0).cast_unsigned();
                Ok(self.part_of(first, start, length)?.noted(|| {
                    (end < start).then(|| {
                        format!("it says that it goes from {start} to {end}: it is damaged or being changed")
                    })
                }))
            }
        }
    }

    /// From a position in the first segment on, to one in the last.
    fn chained(&self, first: Object, last: &Object, start: i64, end: i64) -> Result<Items> {
        let mut parts = Vec::new();
        let mut count = 0_u64;
        let mut note = None;
        let mut here = first;
        let mut skipped = start.max(0).cast_unsigned();
        for number in 0.. {
            let segment = self.reader.reference_to(&here);
            let memory = self.any_field(&segment, &["<Memory>k__BackingField"])?;
            let subject = self.subject(&memory)?;
            let items = self
                .items(&subject)?
                .unwrap_or_else(|| Items::listed(Vec::new()));
            let is_last = here == *last;
            let to = match is_last {
                true => items.count.min(end.max(0).cast_unsigned()),
                false => items.count,
            };
            note = note.or_else(|| items.note.clone());
            let from = skipped.min(to);
            skipped = 0;
            if to > from {
                let part = Items::among(items, from, to - from, super::source::Half::Both);
                parts.push((count, part));
                count = count.saturating_add(to - from);
            }
            if is_last {
                break;
            }
            let next = self.object_in(&segment, &["<Next>k__BackingField"])?;
            let Some(next) = next.filter(|_| number < MAX_SEGMENTS) else {
                note = note.or_else(|| {
                    Some("its last segment does not follow from its first one: it is damaged or being changed".into())
                });
                break;
            };
            here = next;
        }
        Ok(Items::new(count, Source::Joined(parts)).noted(|| note))
    }
}
