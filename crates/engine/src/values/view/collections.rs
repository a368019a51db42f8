//! The collections of the framework that are more than an array, a chain or a tree.

use crate::types::Type;

use super::super::{Object, Result, Value};
use super::Viewer;
use super::known::Known;
use super::source::{Entry, EntryFields, Items, Source};

/// Elements collected at most where they can only be listed as a whole.
const MAX_LISTED: usize = 100_000;
/// Parts of a collection that refer to each other.
const MAX_PARTS: u32 = 100_000;

impl Viewer<'_, '_> {
    /// The elements of a collection; `None` for what is none.
    pub(super) fn framework_items(&self, known: Known, value: &Value) -> Result<Option<Items>> {
        Ok(Some(match known {
            Known::Collection => self.inside(value, &["items"])?,
            Known::ReadOnlyCollection => self.inside(value, &["list"])?,
            Known::ReadOnlyDictionary => self.inside(value, &["m_dictionary", "_dictionary"])?,
            Known::ReadOnlySet => self.inside(value, &["_set"])?,
            Known::BlockingCollection => self.inside(value, &["_collection"])?,
            Known::UnboundedChannel => self.inside(value, &["_items"])?,
            Known::BoundedChannel => {
                let items = self.any_field(value, &["_items"])?;
                let size = self.int(&items, &["_size"])?;
                let head = self.int(&items, &["_head"])?;
                let mut items = self.in_array(&items, &["_array"], size)?;
                if let Source::Array { array, first, wrap } = &mut items.source {
                    *first = head.max(0).cast_unsigned();
                    *wrap = self.reader.array(array)?.count.max(1);
                }
                items
            }
            Known::ImmutableArray => {
                let Some(array) = self.object_in(value, &["array"])? else {
                    return Ok(None);
                };
                self.whole_array(array)?
            }
            Known::ImmutableList => {
                let root = self.any_field(value, &["_root"])?;
                let count = self.int(&root, &["_count"])?;
                self.tree(count, root, ("_left", "_right"), EntryFields::value("_key"))
            }
            Known::ImmutableSortedSet => {
                let root = self.any_field(value, &["_root"])?;
                let count = self.int(&root, &["_count"])?;
                self.tree(count, root, ("_left", "_right"), EntryFields::value("_key"))
            }
            Known::ImmutableSortedDictionary => {
                let root = self.any_field(value, &["_root"])?;
                let count = self.int(value, &["_count"])?;
                let fields = EntryFields::pair("_key", "_value");
                self.tree(count, root, ("_left", "_right"), fields)
            }
            Known::ImmutableDictionary | Known::ImmutableHashSet => {
                self.hash_buckets(value, known == Known::ImmutableDictionary)?
            }
            Known::ImmutableStack => {
                let mut entries = Vec::new();
                self.immutable_stack(value, &mut entries)?;
                Items::listed(entries)
            }
            Known::ImmutableQueue => {
                let mut entries = Vec::new();
                self.immutable_stack(&self.any_field(value, &["_forwards"])?, &mut entries)?;
                let mut backwards = Vec::new();
                self.immutable_stack(&self.any_field(value, &["_backwards"])?, &mut backwards)?;
                entries.extend(backwards.into_iter().rev());
                Items::listed(entries)
            }
            Known::ConcurrentDictionary => self.concurrent_dictionary(value)?,
            Known::ConcurrentQueue => self.concurrent_queue(value)?,
            Known::ConcurrentBag => self.concurrent_bag(value)?,
            Known::FrozenDictionary => self.frozen_dictionary(value)?,
            Known::FrozenSet => match self.frozen_array(value, "_items")? {
                Some(array) => self.whole_array(array)?,
                None => Items::listed(Vec::new()),
            },
            Known::Span | Known::ReadOnlySpan => self.span(value)?,
            Known::Memory | Known::ReadOnlyMemory => self.memory(value)?,
            Known::ArraySegment => {
                let offset = self.int(value, &["_offset"])?;
                let count = self.int(value, &["_count"])?;
                let mut items = self.in_array(value, &["_array"], offset.saturating_add(count))?;
                if let Source::Array { first, .. } = &mut items.source {
                    *first = offset.max(0).cast_unsigned();
                    items.count = items.count.saturating_sub(*first);
                }
                items
            }
            Known::Lookup => self.lookup(value)?,
            Known::Grouping => {
                let size = self.int(value, &["_count"])?;
                self.in_array(value, &["_elements"], size)?
            }
            Known::Hashtable => self.hashtable(value)?,
            Known::ExpandoObject => self.expando(value)?,
            _ => return Ok(None),
        }))
    }

    /// The elements of the collection that another wraps.
    fn inside(&self, value: &Value, names: &[&str]) -> Result<Items> {
        let inner = self.any_field(value, names)?;
        let subject = self.subject(&inner)?;
        self.items(&subject)?
            .ok_or_else(|| super::super::Unreadable::WrongKind {
                ty: self
                    .type_of(&subject)
                    .map_or_else(|| "null".into(), |ty| self.reader.types.text(ty)),
                wanted: "a collection whose elements can be read without running code",
            })
    }

    fn whole_array(&self, array: Object) -> Result<Items> {
        let count = self.reader.array(&array)?.count;
        Ok(Items::new(
            count,
            Source::Array {
                array,
                first: 0,
                wrap: u64::MAX,
            },
        ))
    }

    fn is_null(&self, value: &Value) -> Result<bool> {
        Ok(self.reader.word(value)? == 0)
    }

    fn immutable_stack(&self, stack: &Value, entries: &mut Vec<Entry>) -> Result<()> {
        let mut here = stack.clone();
        for _ in 0..MAX_PARTS {
            if self.is_null(&here)? {
                return Ok(());
            }
            let tail = self.any_field(&here, &["_tail"])?;
            // The empty stack is an object of its own.
            if self.is_null(&tail)? {
                return Ok(());
            }
            entries.push(plain(self.any_field(&here, &["_head"])));
            here = tail;
        }
        Ok(())
    }

    /// Immutable dictionaries and sets: a tree of buckets, each with one element and perhaps more.
    fn hash_buckets(&self, value: &Value, has_values: bool) -> Result<Items> {
        let root = self.any_field(value, &["_root"])?;
        let tree = self.tree(
            i64::from(MAX_PARTS),
            root,
            ("_left", "_right"),
            EntryFields::value("_value"),
        );
        let mut entries = Vec::new();
        for bucket in self.entries(&tree, 0, MAX_LISTED as u64) {
            let bucket = bucket.value?;
            let first = self.any_field(&bucket, &["_firstValue"])?;
            entries.push(self.pair_or_plain(first, has_values));
            let more = self.any_field(&bucket, &["_additionalElements"])?;
            if !self.is_null(&more)? {
                let count = self.int(&more, &["_count"]).unwrap_or(0);
                let fields = EntryFields::value("_key");
                let more = self.tree(count, more, ("_left", "_right"), fields);
                for entry in self.entries(&more, 0, MAX_LISTED as u64) {
                    entries.push(self.pair_or_plain(entry.value?, has_values));
                }
            }
        }
        Ok(Items::listed(entries))
    }

    fn pair_or_plain(&self, value: Value, is_pair: bool) -> Entry {
        if !is_pair {
            return plain(Ok(value));
        }
        Entry {
            key: self.any_field(&value, &["key"]).ok(),
            ..plain(self.any_field(&value, &["value"]))
        }
    }

    fn concurrent_dictionary(&self, value: &Value) -> Result<Items> {
        let tables = self.any_field(value, &["_tables"])?;
        let Some(buckets) = self.object_in(&tables, &["_buckets"])? else {
            return Ok(Items::listed(Vec::new()));
        };
        let mut entries = Vec::new();
        for bucket in 0..self.reader.array(&buckets)?.count {
            let bucket = self.reader.element(&buckets, bucket)?;
            // A struct around the first node since .NET 8.
            let mut node = match bucket.ty.is_value() {
                Some(true) => self.any_field(&bucket, &["_node"])?,
                _ => bucket,
            };
            for _ in 0..MAX_PARTS {
                if self.is_null(&node)? || entries.len() >= MAX_LISTED {
                    break;
                }
                entries.push(Entry {
                    key: self.any_field(&node, &["_key"]).ok(),
                    ..plain(self.any_field(&node, &["_value"]))
                });
                node = self.any_field(&node, &["_next"])?;
            }
        }
        Ok(Items::listed(entries))
    }

    fn concurrent_queue(&self, value: &Value) -> Result<Items> {
        let mut segment = self.any_field(value, &["_head"])?;
        let mut entries = Vec::new();
        for _ in 0..MAX_PARTS {
            if self.is_null(&segment)? || entries.len() >= MAX_LISTED {
                break;
            }
            let ends = self.any_field(&segment, &["_headAndTail"])?;
            let head = self.int(&ends, &["Head"])? as u32;
            let mut tail = self.int(&ends, &["Tail"])? as u32;
            let mask = self.int(&segment, &["_slotsMask"])? as u32;
            let frozen = self.int(&segment, &["_frozenForEnqueues"]).unwrap_or(0) != 0;
            if frozen {
                // A closed segment's tail was moved by twice its length.
                tail = tail.wrapping_sub(mask.wrapping_add(1).wrapping_mul(2));
            }
            if let Some(slots) = self.object_in(&segment, &["_slots"])? {
                let count = tail.wrapping_sub(head);
                if count <= mask.wrapping_add(1) {
                    for at in 0..count {
                        let slot = u64::from(head.wrapping_add(at) & mask);
                        let slot = self.reader.element(&slots, slot)?;
                        entries.push(plain(self.any_field(&slot, &["Item"])));
                    }
                }
            }
            segment = self.any_field(&segment, &["_nextSegment"])?;
        }
        Ok(Items::listed(entries))
    }

    fn concurrent_bag(&self, value: &Value) -> Result<Items> {
        let mut queue = self.any_field(value, &["_workStealingQueues"])?;
        let mut entries = Vec::new();
        for _ in 0..MAX_PARTS {
            if self.is_null(&queue)? || entries.len() >= MAX_LISTED {
                break;
            }
            let head = self.int(&queue, &["_headIndex"])?;
            let tail = self.int(&queue, &["_tailIndex"])?;
            let mask = self.int(&queue, &["_mask"])?;
            if let Some(array) = self.object_in(&queue, &["_array"])? {
                let count = self.reader.array(&array)?.count;
                // Its own enumeration starts with the newest.
                for at in (head..tail).rev().take(count as usize) {
                    let element = self.reader.element(&array, (at & mask).cast_unsigned());
                    entries.push(plain(element));
                }
            }
            queue = self.any_field(&queue, &["_nextQueue"])?;
        }
        Ok(Items::listed(entries))
    }

    /// The keys or elements of a frozen collection; whole numbers are their own hash codes, and kept as such.
    fn frozen_array(&self, value: &Value, name: &str) -> Result<Option<Object>> {
        match self.reader.field(value, "_hashTable") {
            Ok(table) if self.reader.field(value, name).is_err() => {
                self.object_in(&table, &["HashCodes", "_hashCodes"])
            }
            _ => self.object_in(value, &[name]),
        }
    }

    fn frozen_dictionary(&self, value: &Value) -> Result<Items> {
        let keys = self.frozen_array(value, "_keys")?;
        let values = self.object_in(value, &["_values"])?;
        match (keys, values) {
            (Some(keys), Some(values)) => {
                let count = self.reader.array(&keys)?.count;
                Ok(Items::new(
                    count.min(self.reader.array(&values)?.count),
                    Source::Parallel { keys, values },
                ))
            }
            _ => Ok(Items::listed(Vec::new())),
        }
    }

    fn span(&self, value: &Value) -> Result<Items> {
        let length = self.int(value, &["_length"])?;
        let reference = self.any_field(value, &["_reference", "_pointer"])?;
        let ty = match &reference.ty {
            Type::ByRef(inner) => (**inner).clone(),
            // Before .NET 7 the reference was in a struct of the runtime's.
            _ => element_type(value)?,
        };
        let address = self.reader.word(&reference)?;
        let stride = self.reader.size_of(&ty)?;
        let start = self.reader.at(ty.clone(), address);
        Ok(Items::new(
            length.max(0).cast_unsigned(),
            Source::Places { ty, start, stride },
        ))
    }

    fn memory(&self, value: &Value) -> Result<Items> {
        let Some(object) = self.object_in(value, &["_object"])? else {
            return Ok(Items::listed(Vec::new()));
        };
        let index = self.int(value, &["_index"])? & 0x7fff_ffff;
        let length = self.int(value, &["_length"])?.max(0).cast_unsigned();
        if object.ty == Type::STRING {
            let limit = u32::try_from(index + i64::try_from(length).unwrap_or(0)).unwrap_or(0);
            let (units, _) = self.reader.string_units(&object, limit)?;
            let units = units.into_iter().skip(index as usize);
            let char_type = Type::Primitive(metadata::signature::Primitive::Char);
            let entries = units.map(|unit| {
                plain(Ok(self
                    .reader
                    .copied(char_type.clone(), unit.to_le_bytes())))
            });
            return Ok(Items::listed(entries.collect()));
        }
        let count = self.reader.array(&object)?.count;
        let first = index.cast_unsigned();
        Ok(Items::new(
            length.min(count.saturating_sub(first)),
            Source::Array {
                array: object,
                first,
                wrap: u64::MAX,
            },
        ))
    }

    fn lookup(&self, value: &Value) -> Result<Items> {
        let last = self.any_field(value, &["_lastGrouping"])?;
        let mut entries = Vec::new();
        if self.is_null(&last)? {
            return Ok(Items::listed(entries));
        }
        let end = self.reader.word(&last)?;
        let mut group = last;
        for _ in 0..MAX_PARTS {
            group = self.any_field(&group, &["_next"])?;
            entries.push(Entry {
                key: self.any_field(&group, &["_key"]).ok(),
                ..plain(Ok(group.clone()))
            });
            if self.reader.word(&group)? == end || entries.len() >= MAX_LISTED {
                break;
            }
        }
        Ok(Items::listed(entries))
    }

    fn hashtable(&self, value: &Value) -> Result<Items> {
        let Some(buckets) = self.object_in(value, &["_buckets", "buckets"])? else {
            return Ok(Items::listed(Vec::new()));
        };
        let mut entries = Vec::new();
        for at in 0..self.reader.array(&buckets)?.count {
            let bucket = self.reader.element(&buckets, at)?;
            let key = self.any_field(&bucket, &["key"])?;
            let word = self.reader.word(&key)?;
            // A removed entry's key is the array itself.
            if word == 0 || word == buckets.address || entries.len() >= MAX_LISTED {
                continue;
            }
            entries.push(Entry {
                key: Some(key),
                ..plain(self.any_field(&bucket, &["val"]))
            });
        }
        Ok(Items::listed(entries))
    }

    fn expando(&self, value: &Value) -> Result<Items> {
        let data = self.any_field(value, &["_data"])?;
        let class = self.any_field(&data, &["Class"])?;
        let (Some(keys), Some(values)) = (
            self.object_in(&class, &["_keys"])?,
            self.object_in(&data, &["_dataArray"])?,
        ) else {
            return Ok(Items::listed(Vec::new()));
        };
        let mut entries = Vec::new();
        for at in 0..self.reader.array(&keys)?.count {
            let key = self.reader.element(&keys, at)?;
            let value = self.reader.element(&values, at);
            // What was removed holds an object of the runtime's own.
            if let Ok(value) = &value
                && let Ok(Some(object)) = self.reader.object(value)
                && object.ty == Type::OBJECT
            {
                continue;
            }
            if let Some((name, _)) = self.reader.string(&key, 1024)? {
                entries.push(Entry {
                    name: Some(name),
                    ..plain(value)
                });
            }
        }
        Ok(Items::listed(entries))
    }
}

fn plain(value: Result<Value>) -> Entry {
    Entry {
        position: 0,
        key: None,
        value,
        name: None,
    }
}

fn element_type(span: &Value) -> Result<Type> {
    let named = span.ty.as_named();
    let first = named.and_then(|named| named.arguments.first());
    first.cloned().ok_or(super::super::Unreadable::Type(
        crate::types::TypeError::Open,
    ))
}
