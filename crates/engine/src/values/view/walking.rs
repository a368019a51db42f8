//! Walks over the elements of collections that have to be gone through one by one.
//!
//! What comes before the page that is asked for is passed by reading links and nothing else; parts that know how many
//! elements they have are passed as a whole. Invariant: every walk ends, by what it looks for, by the end of the
//! collection, by damage, or by the time that one look may take ([`super::Clock`]).

use crate::types::Type;

use super::super::{Object, Place, Result, Unreadable, Value};
use super::Viewer;
use super::source::{Entry, EntryFields, Items, Parts, Source};

/// Trees are less deep.
pub(super) const MAX_DEPTH: usize = 128;
/// Bytes of a table that are read at once.
const TABLE_PART: u64 = 1 << 16;
/// Parts of a collection that refer to each other.
pub(super) const MAX_PARTS: u32 = 100_000;

/// How a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Walked {
    /// There is nothing more.
    All,
    /// Who looked has seen enough.
    Enough,
    /// It took too long.
    Late,
}

/// Takes elements; whether it wants more.
pub(super) type Visit<'v> = &'v mut dyn FnMut(Entry) -> bool;

impl Viewer<'_, '_> {
    /// Visits elements in order, after so many of them, until `visit` has enough.
    pub(super) fn walk_items(&self, items: &Items, skip: u64, visit: Visit<'_>) -> Walked {
        let walked = match &items.source {
            Source::Table {
                array,
                used,
                fields,
                has_gaps,
            } => self.walk_table(
                array,
                *used,
                (*has_gaps).then_some(*fields),
                skip,
                &mut |at| {
                    let slot = self.reader.element(array, at);
                    visit(entry(self.split(slot, *fields)))
                },
            ),
            Source::Chain {
                first,
                next,
                fields,
                has_end,
            } => self.walk_chain(first, next, *has_end, skip, &mut |nodes, node| {
                visit(entry(self.split(Ok(nodes.value(self, node)), *fields)))
            }),
            Source::Tree {
                root,
                left,
                right,
                fields,
            } => self.walk_tree(root, (left, right), skip, &mut |nodes, node| {
                visit(entry(self.split(Ok(nodes.value(self, node)), *fields)))
            }),
            Source::Between { root, low, high } => {
                let fields = EntryFields::value("Item");
                self.walk_between(root, (*low, *high), skip, &mut |nodes, node| {
                    visit(entry(self.split(Ok(nodes.value(self, node)), fields)))
                })
            }
            Source::Parts(parts) => {
                let visit = &mut |entry| visit(self.veiled(entry));
                self.walk_parts(parts, skip, visit)
            }
            Source::Among { of, first, half } if !of.is_indexed() => {
                let mut left = items.count.saturating_sub(skip);
                if left == 0 && !items.is_cut {
                    return Walked::All;
                }
                let walked = self.walk_items(of, first.saturating_add(skip), &mut |entry| {
                    left = left.saturating_sub(1);
                    visit(half.of(entry)) && (left > 0 || items.is_cut)
                });
                return match walked {
                    Walked::Enough if left == 0 => Walked::All,
                    walked => walked,
                };
            }
            _ => {
                for position in skip..items.count {
                    if self.is_late() {
                        return Walked::Late;
                    }
                    if !visit(self.entry_at(items, position)) {
                        return Walked::Enough;
                    }
                }
                Ok(Walked::All)
            }
        };
        // What is damaged is told as the last element.
        walked.unwrap_or_else(|why| {
            visit(entry((None, Err(why))));
            Walked::All
        })
    }

    /// How many elements a walk finds, and whether those are all.
    pub(super) fn count_by_walking(&self, source: Source) -> Items {
        let mut items = Items::new(u64::MAX, source);
        let mut count = 0;
        let walked = self.clock.counting(|| match &items.source {
            Source::Chain {
                first,
                next,
                has_end,
                ..
            } => {
                let walked = self.walk_chain(first, next, *has_end, 0, &mut |_, _| {
                    count += 1;
                    true
                });
                walked.unwrap_or(Walked::All)
            }
            Source::Between { root, low, high } => {
                let walked = self.walk_between(root, (*low, *high), 0, &mut |_, _| {
                    count += 1;
                    true
                });
                walked.unwrap_or(Walked::All)
            }
            _ => self.walk_items(&items, 0, &mut |entry| {
                count += u64::from(entry.value.is_ok());
                true
            }),
        });
        items.count = count;
        items.is_cut = walked != Walked::All;
        items
    }

    pub(super) fn offset_of(&self, object: &Object, name: &str) -> Result<u64> {
        let members = self.reader.members(object)?;
        let found = members.iter().find(|it| is_called(&it.field.name, name));
        let found = found.ok_or_else(|| Unreadable::UnknownLayout {
            ty: self.reader.types.text(&object.ty),
            field: name.to_owned(),
        });
        Ok(found?.offset.into())
    }

    fn struct_offset(&self, ty: &Type, name: &str) -> Result<u64> {
        let members = self.reader.struct_members(ty)?;
        let found = members.iter().find(|it| is_called(&it.field.name, name));
        let found = found.ok_or_else(|| Unreadable::UnknownLayout {
            ty: self.reader.types.text(ty),
            field: name.to_owned(),
        });
        Ok(found?.offset.into())
    }

    /// Where the first element of an array lies, and how far it is to the next; `None` if there is none.
    fn row(&self, array: &Object) -> Result<Option<(u64, u64)>> {
        if self.reader.array(array)?.count == 0 {
            return Ok(None);
        }
        let first = self.reader.element(array, 0)?;
        let Place::Memory(address) = first.place else {
            return Ok(None);
        };
        Ok(Some((address, self.reader.size_of(&first.ty)?.into())))
    }

    /// The slots of a table that are used; all of them if there are no `gaps`.
    pub(super) fn walk_table(
        &self,
        array: &Object,
        used: u64,
        gaps: Option<EntryFields>,
        skip: u64,
        visit: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Walked> {
        let Some((first, stride)) = self.row(array)? else {
            return Ok(Walked::All);
        };
        let link = gaps.and_then(|it| it.next);
        let element = self.reader.element(array, 0)?.ty;
        let offset = link
            .map(|it| self.struct_offset(&element, it))
            .transpose()?;
        // The old set uses hash codes, of which those of unused slots are negative.
        let least = if link == Some("hashCode") { 0 } else { -1 };
        let mut position = 0;
        let start = if offset.is_none() { skip } else { 0 };
        position += start;
        let mut links = Links::new(first, stride, used);
        for slot in start..used {
            // Most slots may be free: what was read as a whole is passed at once.
            let is_read = offset.is_some() && links.has(slot);
            if !is_read && self.is_late() {
                return Ok(Walked::Late);
            }
            if let Some(offset) = offset {
                let link = links.at(self, slot, offset)?;
                if link.cast_signed() < least {
                    continue;
                }
            }
            if is_read && self.is_late() {
                return Ok(Walked::Late);
            }
            if position >= skip && !visit(slot) {
                return Ok(Walked::Enough);
            }
            position += 1;
        }
        Ok(Walked::All)
    }

    /// Objects of one type, each of which leads to the next. With `has_end` the last is none of them.
    fn walk_chain(
        &self,
        first: &Value,
        next: &str,
        has_end: bool,
        skip: u64,
        visit: &mut dyn FnMut(&Nodes, u64) -> bool,
    ) -> Result<Walked> {
        let Some(start) = self.reader.object(first)? else {
            return Ok(Walked::All);
        };
        let nodes = Nodes::like(self, &start)?;
        let offset = self.offset_of(&start, next)?;
        let mut address = start.address;
        let mut position = 0;
        loop {
            if self.is_late() {
                return Ok(Walked::Late);
            }
            nodes.check(self, address)?;
            let following = self.reader.word_at(address + offset)?;
            if has_end && following == 0 {
                return Ok(Walked::All);
            }
            if position >= skip && !visit(&nodes, address) {
                return Ok(Walked::Enough);
            }
            position += 1;
            // A list may end where it began.
            if following == 0 || following == start.address {
                return Ok(Walked::All);
            }
            address = following;
        }
    }

    /// The nodes of a tree, in order.
    fn walk_tree(
        &self,
        root: &Value,
        (left, right): (&str, &str),
        skip: u64,
        visit: &mut dyn FnMut(&Nodes, u64) -> bool,
    ) -> Result<Walked> {
        let Some(root) = self.reader.object(root)? else {
            return Ok(Walked::All);
        };
        let nodes = Nodes::like(self, &root)?;
        let (to_left, to_right) = (self.offset_of(&root, left)?, self.offset_of(&root, right)?);
        // An empty node of an immutable tree is no element; some know how many there are below them.
        let is_immutable = left == "_left";
        let below = self
            .offset_of(&root, "_count")
            .ok()
            .filter(|_| is_immutable);
        let mut stack: Vec<u64> = Vec::new();
        let mut node = root.address;
        let mut position = 0;
        loop {
            while node != 0 && stack.len() <= MAX_DEPTH {
                if self.is_late() {
                    return Ok(Walked::Late);
                }
                nodes.check(self, node)?;
                let smaller = self.reader.word_at(node + to_left)?;
                if is_immutable && smaller == 0 {
                    break;
                }
                if position < skip
                    && let Some(below) = below
                {
                    let count = u64::from(self.reader.number_at(node + below)?);
                    if position + count <= skip {
                        position += count;
                        break;
                    }
                }
                stack.push(node);
                // One that leads back to those above it has no smaller ones.
                node = if stack.contains(&smaller) { 0 } else { smaller };
            }
            let Some(here) = stack.pop() else {
                return Ok(Walked::All);
            };
            if position >= skip && !visit(&nodes, here) {
                return Ok(Walked::Enough);
            }
            position += 1;
            let larger = self.reader.word_at(here + to_right)?;
            node = if larger == here || stack.contains(&larger) {
                0
            } else {
                larger
            };
        }
    }

    fn walk_parts(&self, parts: &Parts, skip: u64, visit: Visit<'_>) -> Result<Walked> {
        match parts {
            Parts::Buckets(buckets) => self.walk_buckets(buckets, skip, visit),
            Parts::HashTree { root, has_values } => {
                self.walk_hash_tree(root, *has_values, skip, visit)
            }
            Parts::Hashtable(buckets) => self.walk_hashtable(buckets, skip, visit),
            Parts::Rings { kind, first } => self.walk_rings(*kind, first, skip, visit),
        }
    }

    fn walk_hashtable(&self, buckets: &Object, skip: u64, visit: Visit<'_>) -> Result<Walked> {
        let Some((first, stride)) = self.row(buckets)? else {
            return Ok(Walked::All);
        };
        let to_key = self.struct_offset(&self.reader.element(buckets, 0)?.ty, "key")?;
        let mut position = 0;
        // Its own enumeration starts at the end.
        for at in (0..self.reader.array(buckets)?.count).rev() {
            if self.is_late() {
                return Ok(Walked::Late);
            }
            let key = self.reader.word_at(first + at * stride + to_key)?;
            // A removed entry's key is the array itself.
            if key == 0 || key == buckets.address {
                continue;
            }
            position += 1;
            if position > skip {
                let bucket = self.reader.element(buckets, at)?;
                let key = self.any_field(&bucket, &["key"])?;
                if !visit(entry((Some(key), self.any_field(&bucket, &["val"])))) {
                    return Ok(Walked::Enough);
                }
            }
        }
        Ok(Walked::All)
    }

    /// A concurrent dictionary: an array of chains.
    /// A node of a concurrent dictionary.
    pub(super) fn first_of_buckets(&self, buckets: &Object) -> Option<Value> {
        let (first, stride) = self.row(buckets).ok()??;
        for bucket in 0..self.reader.array(buckets).ok()?.count {
            if self.is_late() {
                break;
            }
            let address = self.reader.word_at(first + bucket * stride).ok()?;
            if address != 0 {
                let node = self.reader.object_at(address).ok()?;
                return Some(self.reader.reference_to(&node));
            }
        }
        None
    }

    fn walk_buckets(&self, buckets: &Object, skip: u64, visit: Visit<'_>) -> Result<Walked> {
        let Some((first, stride)) = self.row(buckets)? else {
            return Ok(Walked::All);
        };
        let mut nodes: Option<(Nodes, u64)> = None;
        let mut position = 0;
        for bucket in 0..self.reader.array(buckets)?.count {
            // A struct around the first node since .NET 8, with nothing else in it.
            let mut address = self.reader.word_at(first + bucket * stride)?;
            let mut length = 0;
            while address != 0 && length < MAX_PARTS {
                if self.is_late() {
                    return Ok(Walked::Late);
                }
                let (nodes, next) = match &nodes {
                    Some(known) => known,
                    None => {
                        let node = self.reader.object_at(address)?;
                        let next = self.offset_of(&node, "_next")?;
                        nodes.insert((Nodes::like(self, &node)?, next))
                    }
                };
                nodes.check(self, address)?;
                if position >= skip {
                    let node = nodes.value(self, address);
                    let key = self.any_field(&node, &["_key"]).ok();
                    if !visit(entry((key, self.any_field(&node, &["_value"])))) {
                        return Ok(Walked::Enough);
                    }
                }
                position += 1;
                length += 1;
                address = self.reader.word_at(address + next)?;
            }
            if self.is_late() {
                return Ok(Walked::Late);
            }
        }
        Ok(Walked::All)
    }

    /// Immutable dictionaries and sets: a tree of buckets, each with one element and perhaps more.
    fn walk_hash_tree(
        &self,
        root: &Value,
        has_values: bool,
        skip: u64,
        visit: Visit<'_>,
    ) -> Result<Walked> {
        let Some(node) = self.reader.object(root)? else {
            return Ok(Walked::All);
        };
        // Where a node says that its bucket has more than one element.
        let bucket = self.reader.object_field(&node, "_value")?;
        let to_more = self.offset_of(&node, "_value")?
            + self.struct_offset(&bucket.ty, "_additionalElements")?;
        let mut position = 0;
        let mut empty = None;
        let mut failed = None;
        let mut walked = self.walk_tree(root, ("_left", "_right"), 0, &mut |nodes, node| {
            let mut bucket = || -> Result<bool> {
                let more = self.reader.word_at(node + to_more)?;
                // All buckets without more share one empty list.
                if more != 0 && empty.is_none() {
                    let list = self.reader.object_at(more)?;
                    let left = self.reader.object_field(&list, "_left")?;
                    empty = (self.reader.word(&left)? == 0).then_some(more);
                }
                if position < skip && (more == 0 || empty == Some(more)) {
                    position += 1;
                    return Ok(true);
                }
                let bucket = self.any_field(&nodes.value(self, node), &["_value"])?;
                let more = self.any_field(&bucket, &["_additionalElements"])?;
                if position >= skip {
                    let first = self.any_field(&bucket, &["_firstValue"])?;
                    if !visit(self.pair_or_plain(first, has_values)) {
                        return Ok(false);
                    }
                }
                position += 1;
                if self.reader.word(&more)? == 0 {
                    return Ok(true);
                }
                let mut wants_more = true;
                self.walk_tree(&more, ("_left", "_right"), 0, &mut |nodes, node| {
                    if position >= skip {
                        let key = self.any_field(&nodes.value(self, node), &["_key"]);
                        wants_more = match key {
                            Ok(key) => visit(self.pair_or_plain(key, has_values)),
                            Err(why) => visit(entry((None, Err(why)))),
                        };
                    }
                    position += 1;
                    wants_more
                })?;
                Ok(wants_more)
            };
            bucket().unwrap_or_else(|why| {
                failed = Some(why);
                false
            })
        })?;
        if let Some(why) = failed {
            return Err(why);
        }
        if self.clock.is_over() {
            walked = Walked::Late;
        }
        Ok(walked)
    }

    fn pair_or_plain(&self, value: Value, is_pair: bool) -> Entry {
        if !is_pair {
            return entry((None, Ok(value)));
        }
        let key = self.any_field(&value, &["key"]).ok();
        entry((key, self.any_field(&value, &["value"])))
    }
}

/// The slots of a table as they lie in memory, many at a time.
struct Links {
    first: u64,
    stride: u64,
    used: u64,
    /// The first slot that was read, and the bytes from there on.
    read: (u64, Vec<u8>),
}

impl Links {
    fn new(first: u64, stride: u64, used: u64) -> Self {
        Self {
            first,
            stride: stride.max(1),
            used,
            read: (0, Vec::new()),
        }
    }

    fn has(&self, slot: u64) -> bool {
        let count = self.read.1.len() as u64 / self.stride;
        (self.read.0..self.read.0 + count).contains(&slot)
    }

    /// The number in a slot, so far behind its beginning.
    fn at(&mut self, viewer: &Viewer<'_, '_>, slot: u64, offset: u64) -> Result<u32> {
        let address = self.first.saturating_add(slot.saturating_mul(self.stride));
        if !self.has(slot) {
            let count = (TABLE_PART / self.stride).min(self.used - slot);
            self.read = (slot, Vec::new());
            // What cannot be read as a whole is read slot by slot, up to where that ends.
            if let Ok(bytes) = viewer.reader.bytes_at(address, count * self.stride) {
                self.read.1 = bytes;
            }
        }
        let at = (slot - self.read.0) * self.stride + offset;
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        let read = self.read.1.get(at..).and_then(<[u8]>::first_chunk);
        match read {
            Some(bytes) => Ok(u32::from_le_bytes(*bytes)),
            None => viewer.reader.number_at(address.saturating_add(offset)),
        }
    }
}

/// Objects of the same type as one that was looked at closely.
pub(super) struct Nodes {
    object: Object,
    kind: u64,
}

impl Nodes {
    pub(super) fn like(viewer: &Viewer<'_, '_>, object: &Object) -> Result<Self> {
        Ok(Self {
            object: object.clone(),
            kind: kind_at(viewer, object.address)?,
        })
    }

    /// Refuses what is no such object.
    pub(super) fn check(&self, viewer: &Viewer<'_, '_>, address: u64) -> Result<()> {
        if kind_at(viewer, address)? == self.kind {
            Ok(())
        } else {
            Err(Unreadable::NotAnObject { address })
        }
    }

    pub(super) fn value(&self, viewer: &Viewer<'_, '_>, address: u64) -> Value {
        viewer.reader.reference_to(&Object {
            address,
            ..self.object.clone()
        })
    }
}

/// Whether a field has a name, or is the one behind an automatic property of that name.
fn is_called(field: &str, name: &str) -> bool {
    let property = field.strip_prefix('<');
    let property = property.and_then(|it| it.strip_suffix(">k__BackingField"));
    field == name || property == Some(name)
}

fn kind_at(viewer: &Viewer<'_, '_>, address: u64) -> Result<u64> {
    let word = viewer.reader.word_at(address)?;
    Ok(cordebug::heap::TypeId::from_object_word(word).word())
}

pub(super) fn entry((key, value): (Option<Value>, Result<Value>)) -> Entry {
    Entry {
        position: 0,
        key,
        value,
        name: None,
    }
}
