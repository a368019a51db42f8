//! Collections whose elements lie in a chain of arrays, each used as a ring: concurrent queues and bags, channels.
//!
//! Invariant: what a ring says of itself is checked against the array that it has; a chain ends, by itself, by
//! [`MAX_PARTS`], where it leads back to itself, or by the time that one look may take.

use std::collections::HashSet;

use super::super::{Object, Result, Unreadable, Value};
use super::Viewer;
use super::source::{Items, Parts, RingKind, Source};
use super::walking::{MAX_PARTS, Visit, Walked, entry};

/// One array of a chain.
struct Ring {
    array: Object,
    /// The position of the first element, before it is masked.
    first: u64,
    count: u64,
    mask: u64,
    /// Whether the elements are told from the one before `first` backwards.
    is_reversed: bool,
    /// The field of a slot that holds the element, if a slot is more than that.
    field: Option<&'static str>,
}

impl Viewer<'_, '_> {
    pub(super) fn walk_rings(
        &self,
        kind: RingKind,
        first: &Value,
        skip: u64,
        visit: Visit<'_>,
    ) -> Result<Walked> {
        let mut left = skip;
        self.each_ring(kind, first, |ring| {
            for at in left.min(ring.count)..ring.count {
                if self.is_late() {
                    return Ok(Walked::Late);
                }
                let at = if ring.is_reversed {
                    ring.first.wrapping_sub(at + 1)
                } else {
                    ring.first.wrapping_add(at)
                };
                let mut item = self.reader.element(&ring.array, at & ring.mask);
                if let Some(field) = ring.field {
                    item = self.any_field(&item?, &[field]);
                }
                if !visit(entry((None, item))) {
                    return Ok(Walked::Enough);
                }
            }
            left = left.saturating_sub(ring.count);
            Ok(Walked::All)
        })
    }

    /// The elements of a chain of rings, as far as they can be counted.
    pub(super) fn rings(&self, kind: RingKind, first: Value) -> Result<Items> {
        let (mut count, mut rings) = (0_u64, 0_u64);
        let walked = self.clock.counting(|| {
            self.each_ring(kind, &first, |ring| {
                count = count.saturating_add(ring.count);
                rings += 1;
                Ok(Walked::All)
            })
        });
        let mut items = Items::new(count, Source::Parts(Parts::Rings { kind, first }));
        match walked {
            Ok(walked) => items.is_cut = walked != Walked::All,
            // What was found before is told.
            Err(why) if rings > 0 => items.note = Some(format!("{why}: there may be more")),
            Err(why) => return Err(why),
        }
        Ok(items)
    }

    /// The arrays that a chain of rings lies in.
    pub(super) fn arrays_of_rings(&self, kind: RingKind, first: &Value) -> Vec<Object> {
        let mut all = Vec::new();
        let walked = self.each_ring(kind, first, |ring| {
            all.push(ring.array.clone());
            Ok(Walked::All)
        });
        // What is damaged ends the list.
        let _ = walked;
        all
    }

    /// Does something for each ring of a chain, as long as it wants all.
    fn each_ring(
        &self,
        kind: RingKind,
        first: &Value,
        mut act: impl FnMut(&Ring) -> Result<Walked>,
    ) -> Result<Walked> {
        let next: &[&str] = match kind {
            RingKind::Segments => &["_nextSegment"],
            RingKind::WorkQueues => &["_nextQueue"],
            RingKind::SingleReader => &["_next", "m_next"],
        };
        let mut part = first.clone();
        let mut seen = HashSet::new();
        for _ in 0..MAX_PARTS {
            let address = self.reader.word(&part)?;
            if address == 0 {
                return Ok(Walked::All);
            }
            if !seen.insert(address) {
                let why = "its parts lead back to one before them: it is damaged".into();
                return Err(Unreadable::Failed { why });
            }
            if self.is_late() {
                return Ok(Walked::Late);
            }
            let ring = match kind {
                RingKind::Segments => self.segment(&part)?,
                RingKind::WorkQueues => self.work_queue(&part)?,
                RingKind::SingleReader => self.single_reader_segment(&part)?,
            };
            if let Some(ring) = ring {
                match act(&ring)? {
                    Walked::All => {}
                    other => return Ok(other),
                }
            }
            part = self.any_field(&part, next)?;
        }
        Ok(Walked::Late)
    }

    /// A segment of a concurrent queue.
    fn segment(&self, segment: &Value) -> Result<Option<Ring>> {
        let ends = self.any_field(segment, &["_headAndTail"])?;
        let head = self.int(&ends, &["Head"])? as u32;
        let mut tail = self.int(&ends, &["Tail"])? as u32;
        let mask = self.int(segment, &["_slotsMask"])? as u32;
        if self.int(segment, &["_frozenForEnqueues"]).unwrap_or(0) != 0 {
            // A closed segment's tail was moved by twice its length.
            tail = tail.wrapping_sub(mask.wrapping_add(1).wrapping_mul(2));
        }
        let count = tail.wrapping_sub(head);
        let slots = self.object_in(segment, &["_slots"])?;
        Ok(slots
            .filter(|_| count <= mask.wrapping_add(1))
            .map(|array| Ring {
                array,
                first: head.into(),
                count: count.into(),
                mask: mask.into(),
                is_reversed: false,
                field: Some("Item"),
            }))
    }

    /// A thread's part of a bag; the bag's own enumeration starts with the newest.
    fn work_queue(&self, queue: &Value) -> Result<Option<Ring>> {
        let head = self.int(queue, &["_headIndex"])?;
        let tail = self.int(queue, &["_tailIndex"])?;
        let mask = self.int(queue, &["_mask"])?;
        let Some(array) = self.object_in(queue, &["_array"])? else {
            return Ok(None);
        };
        let count = tail.saturating_sub(head).max(0).cast_unsigned();
        let count = count.min(self.reader.array(&array)?.count);
        Ok(Some(Ring {
            array,
            first: tail.cast_unsigned(),
            count,
            mask: mask.cast_unsigned(),
            is_reversed: true,
            field: None,
        }))
    }

    /// A segment of the queue of a channel that has one reader.
    fn single_reader_segment(&self, segment: &Value) -> Result<Option<Ring>> {
        let state = self.any_field(segment, &["_state", "m_state"])?;
        let first = self.int(&state, &["_first", "m_first"])?.cast_unsigned();
        let last = self.int(&state, &["_last", "m_last"])?.cast_unsigned();
        let Some(array) = self.object_in(segment, &["_array", "m_array"])? else {
            return Ok(None);
        };
        // Lengths are powers of two.
        let Some(mask) = self.reader.array(&array)?.count.checked_sub(1) else {
            return Ok(None);
        };
        Ok(Some(Ring {
            array,
            first,
            count: last.wrapping_sub(first) & mask,
            mask,
            is_reversed: false,
            field: None,
        }))
    }
}
