//! What elements of collections are, and where they lie.

use crate::types::{Type, TypeNotes};

use super::super::{Object, Result, Scalar, Value};

/// The elements of something.
#[derive(Debug)]
pub(crate) struct Items {
    /// How many there are.
    pub(crate) count: u64,
    /// Whether there are more than were counted.
    pub(crate) is_cut: bool,
    /// What is wrong with them, if something is.
    pub(super) note: Option<String>,
    pub(super) source: Source,
    /// What they belong to, and what its declaration says of them.
    pub(super) declared: Option<Box<(Type, TypeNotes)>>,
    /// Lengths of the dimensions of an array that has several.
    pub(super) shape: Option<(Vec<u32>, Vec<i32>)>,
}

/// Where elements lie.
#[derive(Debug)]
pub(super) enum Source {
    /// In an array, from a position on; positions wrap around at `wrap`.
    Array {
        array: Object,
        first: u64,
        wrap: u64,
    },
    /// In an array, the last first.
    Reversed { array: Object },
    /// Two arrays: keys and values.
    Parallel { keys: Object, values: Object },
    /// In the objects of an array, each a key and a value.
    Objects { array: Object, fields: EntryFields },
    /// In memory, one behind another.
    Places { ty: Type, start: Value, stride: u32 },
    /// Bits of 32-bit or 8-bit numbers.
    Bits { array: Object },
    /// In an array with unused slots.
    Table {
        array: Object,
        used: u64,
        has_gaps: bool,
        fields: EntryFields,
    },
    /// Each leads to the next.
    Chain {
        first: Value,
        next: &'static str,
        fields: EntryFields,
        /// Whether the last is no element.
        has_end: bool,
    },
    /// Sorted, each with smaller ones on the left.
    Tree {
        root: Value,
        left: &'static str,
        right: &'static str,
        fields: EntryFields,
    },
    /// In a sorted tree, those between two bounds, which belong to them.
    Between {
        root: Value,
        low: Option<Scalar>,
        high: Option<Scalar>,
    },
    /// In parts that have a shape of their own.
    Parts(Parts),
    /// Among the elements of another collection, from a position on, or what is left or right of each.
    Among {
        of: Box<Items>,
        first: u64,
        half: Half,
    },
    /// In one collection behind another, each with the position at which it begins.
    Joined(Vec<(u64, Items)>),
    /// Read already.
    Listed(Vec<Entry>),
}

/// What of pairs is an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Half {
    Both,
    Key,
    Value,
}

impl Half {
    /// What is left of an element.
    pub(super) fn of(self, entry: Entry) -> Entry {
        let key = match self {
            Self::Both => return entry,
            Self::Value => None,
            Self::Key => entry.key,
        };
        Entry {
            position: entry.position,
            key: None,
            // One that is damaged says why.
            value: key.map_or(entry.value, Ok),
            name: None,
        }
    }
}

/// Collections whose elements are spread over parts.
#[derive(Debug)]
pub(super) enum Parts {
    /// A concurrent dictionary: an array of chains.
    Buckets(Object),
    /// An immutable dictionary or set: a tree of buckets.
    HashTree { root: Value, has_values: bool },
    /// A `Hashtable`: an array with unused slots.
    Hashtable(Object),
    /// A chain of arrays that are used as rings.
    Rings { kind: RingKind, first: Value },
}

/// Who makes chains of rings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RingKind {
    /// A concurrent queue.
    Segments,
    /// A bag: each thread has elements of its own.
    WorkQueues,
    /// The queue of a channel with one reader.
    SingleReader,
}

/// Which fields of an entry hold what.
#[derive(Debug, Clone, Copy)]
pub(super) struct EntryFields {
    pub(super) key: Option<&'static str>,
    /// The entry itself is the value if absent.
    pub(super) value: Option<&'static str>,
    /// Below -1 in unused slots.
    pub(super) next: Option<&'static str>,
    /// Whether the key only says whether the value is a secret, and is not told itself.
    pub(super) hides_key: bool,
}

impl EntryFields {
    pub(super) const fn value(value: &'static str) -> Self {
        Self {
            key: None,
            value: Some(value),
            next: None,
            hides_key: false,
        }
    }

    pub(super) const fn pair(key: &'static str, value: &'static str) -> Self {
        Self {
            key: Some(key),
            value: Some(value),
            next: None,
            hides_key: false,
        }
    }

    /// The same, of values whose keys are not told along.
    pub(super) const fn guarded_by(self, key: &'static str) -> Self {
        Self {
            key: Some(key),
            hides_key: true,
            ..self
        }
    }

    pub(super) const fn linked(self, next: &'static str) -> Self {
        Self {
            next: Some(next),
            ..self
        }
    }
}

/// One element.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Its position among all.
    pub(crate) position: u64,
    /// Its key, in a dictionary.
    pub(crate) key: Option<Value>,
    /// The element, or the key's value.
    pub(crate) value: Result<Value>,
    /// Its name, where it is neither a position nor a key.
    pub(crate) name: Option<String>,
}

impl Items {
    pub(super) fn new(count: u64, source: Source) -> Self {
        Self {
            count,
            is_cut: false,
            note: None,
            source,
            declared: None,
            shape: None,
        }
    }

    /// The keys or the values of these.
    pub(super) fn halved(self, half: Half) -> Self {
        let (count, is_cut, note) = (self.count, self.is_cut, self.note.clone());
        Self {
            is_cut,
            note,
            ..Self::among(self, 0, count, half)
        }
    }

    /// Some of these.
    pub(super) fn among(of: Self, first: u64, count: u64, half: Half) -> Self {
        let of = Box::new(of);
        Self::new(count, Source::Among { of, first, half })
    }

    /// Says what is wrong with them, unless something else was said.
    pub(super) fn noted(mut self, note: impl FnOnce() -> Option<String>) -> Self {
        self.note = self.note.or_else(note);
        self
    }

    pub(super) fn listed(entries: Vec<Entry>) -> Self {
        Self::new(entries.len() as u64, Source::Listed(entries))
    }

    /// Says of the elements of a heap that only the first is where it is for its rank.
    pub(super) fn in_order_of_heap(mut self) -> Self {
        if self.count > 2 && self.note.is_none() {
            self.note = Some(
                "the first comes out first; the others are told as they lie, not in the order in which they come out".into(),
            );
        }
        self
    }

    /// Whether these are the groups of a lookup, each with its key.
    pub(super) fn are_groups(&self) -> bool {
        matches!(
            &self.source,
            Source::Chain { fields, .. } if fields.key.is_some() && fields.value.is_none()
        )
    }

    pub(super) fn is_indexed(&self) -> bool {
        match &self.source {
            Source::Table { has_gaps, .. } => !has_gaps,
            Source::Chain { .. }
            | Source::Tree { .. }
            | Source::Between { .. }
            | Source::Parts(_) => false,
            Source::Among { of, .. } => of.is_indexed(),
            _ => true,
        }
    }

    /// `2 × 3` of an array of several dimensions.
    pub(super) fn lengths(&self) -> Option<String> {
        let (lengths, _) = self.shape.as_ref()?;
        let lengths: Vec<String> = lengths.iter().map(u32::to_string).collect();
        Some(lengths.join(" × "))
    }

    /// `[1, 2]` of a position in memory.
    pub(super) fn indexes(&self, position: u64) -> Option<String> {
        let (lengths, bounds) = self.shape.as_ref()?;
        let mut left = position;
        let mut indexes = Vec::with_capacity(lengths.len());
        for (length, bound) in lengths.iter().zip(bounds).rev() {
            let length = u64::from(*length).max(1);
            indexes.push((i64::from(*bound) + (left % length) as i64).to_string());
            left /= length;
        }
        indexes.reverse();
        Some(format!("[{}]", indexes.join(", ")))
    }
}
