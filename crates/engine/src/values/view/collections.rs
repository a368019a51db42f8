//! The collections of the framework that are more than an array, a chain or a tree.

use crate::types::Type;

use super::super::{Object, Result, Value};
use super::Viewer;
use super::asking::Opens;
use super::known::Known;
use super::source::{Entry, EntryFields, Half, Items, Parts, RingKind, Source};

/// Elements collected at most where they can only be listed as a whole.
const MAX_LISTED: usize = 100_000;

impl Viewer<'_, '_> {
    /// The elements of a collection; `None` for what is none.
    pub(super) fn framework_items(&self, known: Known, value: &Value) -> Result<Option<Items>> {
        Ok(Some(match known {
            Known::Collection => self.inside(value, &["items"])?,
            Known::ReadOnlyCollection => self.inside(value, &["list"])?,
            Known::ReadOnlyDictionary => self.inside(value, &["m_dictionary", "_dictionary"])?,
            Known::ReadOnlyPart => self.inside(value, &["_collection"])?,
            Known::CollectionExpression => self.inside(value, &["_items"])?,
            Known::SingleElement => Items::listed(vec![Entry {
                position: 0,
                key: None,
                value: self.any_field(value, &["_item"]),
                name: None,
            }]),
            Known::ImmutableArrayBuilder => {
                let size = self.int(value, &["_count"])?;
                self.in_array(value, &["_elements"], size)?
            }
            Known::OldWrapper => self.inside(value, &["_list", "_table", "_q", "_s"])?,
            Known::OldRange => {
                let claimed_index = self.int(value, &["_baseIndex"])?;
                let index = claimed_index.max(0).cast_unsigned();
                let count = self.int(value, &["_baseSize"])?.max(0).cast_unsigned();
                let mut items = self.inside(value, &["_baseList"])?;
                let Source::Array { first, .. } = &mut items.source else {
                    return Ok(None);
                };
                *first = first.saturating_add(index);
                let there = items.count.saturating_sub(index);
                items.count = there.min(count);
                items.noted(|| {
                    let is_wrong = count > there || index.cast_signed() != claimed_index;
                    is_wrong.then(|| {
                        format!("it says that it has {count} elements from {claimed_index} on, but its list has {there} there: it is damaged or being changed")
                    })
                })
            }
            Known::KeysOf | Known::ValuesOf => {
                let half = match known {
                    Known::KeysOf => Half::Key,
                    _ => Half::Value,
                };
                let names = [
                    "_hashtable",
                    "sortedList",
                    "_sortedList",
                    "_coll",
                    "_dictionary",
                ];
                self.inside(value, &names)?.halved(half)
            }
            Known::KeysOrValuesOf => {
                let half = match self.int(value, &["_isKeys", "isKeys"])? {
                    0 => Half::Value,
                    _ => Half::Key,
                };
                self.inside(value, &["_list", "list"])?.halved(half)
            }
            Known::OldOrderedPart => {
                let table = self.any_field(value, &["_objectsTable"])?;
                let half = match self.is_null(&table)? {
                    true => Half::Value,
                    false => Half::Key,
                };
                let pair = EntryFields::pair("_key", "_value");
                self.listed_pairs(value, "_objects", pair)?.halved(half)
            }
            Known::SortedRange => self.sorted_range(value)?,
            Known::Delegate => return self.methods(value),
            Known::StringCollection => self.inside(value, &["data"])?,
            Known::StringDictionary => self.inside(value, &["contents"])?,
            Known::UnorderedItems => self.inside(value, &["_queue"])?,
            Known::ListDictionary | Known::InternalDictionary => {
                let count = self.int(value, &["count"])?;
                let first = self.any_field(value, &["head"])?;
                self.chain(count, first, "next", EntryFields::pair("key", "value"))
            }
            // A list while it is short, then a table.
            Known::HybridDictionary => {
                let table = self.any_field(value, &["hashtable"])?;
                let list = self.any_field(value, &["list"])?;
                match (self.is_null(&table)?, self.is_null(&list)?) {
                    (false, _) => self.inside(value, &["hashtable"])?,
                    (true, false) => self.inside(value, &["list"])?,
                    (true, true) => Items::listed(Vec::new()),
                }
            }
            Known::OldOrderedDictionary => {
                self.listed_pairs(value, "_objectsArray", EntryFields::pair("_key", "_value"))?
            }
            Known::NameObjectCollection => {
                self.listed_pairs(value, "_entriesArray", EntryFields::pair("Key", "Value"))?
            }
            Known::ReadOnlySet => self.inside(value, &["_set"])?,
            Known::BlockingCollection => self.inside(value, &["_collection"])?,
            Known::UnboundedChannel | Known::SingleReaderChannel => {
                self.inside(value, &["_items"])?
            }
            Known::SingleReaderQueue => {
                let first = self.any_field(value, &["_head", "m_head"])?;
                self.rings(RingKind::SingleReader, first)?
            }
            // Its elements are the priorities of its queue.
            Known::PrioritizedChannel => {
                let queue = self.any_field(value, &["_items"])?;
                let size = self.int(&queue, &["_size"])?;
                let mut items = self.in_array(&queue, &["_nodes"], size)?;
                items.source = match items.source {
                    Source::Array { array, .. } => Source::Table {
                        array,
                        used: items.count,
                        has_gaps: false,
                        fields: EntryFields::value("Item2"),
                    },
                    other => other,
                };
                items.in_order_of_heap()
            }
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
                    let mut items = Items::listed(Vec::new());
                    items.note =
                        Some("it is default: it has no array, and its members throw".into());
                    return Ok(Some(items));
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
            Known::ImmutableStack => self.count_by_walking(immutable_stack(value.clone())),
            Known::ImmutableQueue => {
                let forwards = self.any_field(value, &["_forwards"])?;
                let backwards = self.any_field(value, &["_backwards"])?;
                self.immutable_queue(forwards, backwards)
            }
            Known::ConcurrentDictionary => self.concurrent_dictionary(value)?,
            Known::ConcurrentQueue => self.concurrent_queue(value)?,
            Known::ConcurrentBag => self.concurrent_bag(value)?,
            // The empty ones are types of their own, without fields.
            Known::FrozenDictionary | Known::FrozenSet if self.is_empty_frozen(value) => {
                Items::listed(Vec::new())
            }
            Known::FrozenDictionary => self.frozen_dictionary(value)?,
            Known::FrozenSet => match self.frozen_array(value, "_items")? {
                Some(array) => self.whole_array(array)?,
                None => Items::listed(Vec::new()),
            },
            Known::Vector
            | Known::Vector64
            | Known::Vector128
            | Known::Vector256
            | Known::Vector512 => return self.vector(value),
            Known::ReadOnlySequence => self.segments(value)?,
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

    /// Keys and values in objects that are the elements of an `ArrayList`.
    fn listed_pairs(&self, value: &Value, list: &str, fields: EntryFields) -> Result<Items> {
        let list = self.any_field(value, &[list])?;
        if self.is_null(&list)? {
            return Ok(Items::listed(Vec::new()));
        }
        let size = self.int(&list, &["_size"])?;
        let mut items = self.in_array(&list, &["_items"], size)?;
        items.source = match items.source {
            Source::Array { array, .. } => Source::Objects { array, fields },
            other => other,
        };
        Ok(items)
    }

    /// The elements of the collection that another wraps.
    pub(super) fn inside(&self, value: &Value, names: &[&str]) -> Result<Items> {
        let inner = self.any_field(value, names)?;
        let subject = self.subject(&inner)?;
        let items = self.nesting.wrapper(|| self.items(&subject));
        let items = items.unwrap_or_else(|| {
            let why = "it wraps a collection that wraps another, and so on".into();
            Err(super::super::Unreadable::Failed { why })
        });
        match items? {
            Some(items) => Ok(items),
            // One of the program's own.
            None if self.inquiry.is_some() && self.opens(&subject) == Some(Opens::Elements) => {
                self.enumerated(&inner)
            }
            None => Err(super::super::Unreadable::WrongKind {
                ty: self
                    .type_of(&subject)
                    .map_or_else(|| "null".into(), |ty| self.reader.types.text(ty)),
                wanted: "a collection whose elements can be read without running code",
            }),
        }
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

    /// A stack to take from, and one to put on whose last element is the newest of all.
    fn immutable_queue(&self, forwards: Value, backwards: Value) -> Items {
        let listed = |stack: Value| {
            let mut items = self.count_by_walking(immutable_stack(stack));
            items.is_cut |= items.count > MAX_LISTED as u64;
            let entries = self.entries(&items, 0, items.count.min(MAX_LISTED as u64));
            (entries, items.is_cut)
        };
        let (mut entries, is_cut) = listed(forwards);
        let mut is_all = !is_cut;
        if is_all {
            let (backwards, is_cut) = listed(backwards);
            is_all = !is_cut;
            // The oldest of a cut list are not known.
            if is_all {
                entries.extend(backwards.into_iter().rev());
            }
        }
        let mut items = Items::listed(entries);
        items.is_cut = !is_all;
        items
    }

    /// Immutable dictionaries and sets: a tree of buckets, each with one element and perhaps more.
    fn hash_buckets(&self, value: &Value, has_values: bool) -> Result<Items> {
        let root = self.any_field(value, &["_root"])?;
        self.counted(value, &["_count"], Parts::HashTree { root, has_values })
    }

    /// Elements in parts; as many as a field says.
    fn counted(&self, value: &Value, names: &[&str], parts: Parts) -> Result<Items> {
        let count = self.int(value, names)?.max(0).cast_unsigned();
        Ok(Items::new(count, Source::Parts(parts)))
    }

    fn concurrent_dictionary(&self, value: &Value) -> Result<Items> {
        let tables = self.any_field(value, &["_tables"])?;
        let Some(buckets) = self.object_in(&tables, &["_buckets"])? else {
            return Ok(Items::listed(Vec::new()));
        };
        let source = Source::Parts(Parts::Buckets(buckets));
        let Some(counts) = self.object_in(&tables, &["_countPerLock"])? else {
            return Ok(self.count_by_walking(source));
        };
        let mut count = 0_i128;
        for at in 0..self.reader.array(&counts)?.count.min(MAX_LISTED as u64) {
            let part = self.reader.scalar(&self.reader.element(&counts, at)?)?;
            count += part.as_i128().unwrap_or_default();
        }
        Ok(Items::new(u64::try_from(count).unwrap_or(0), source))
    }

    fn concurrent_queue(&self, value: &Value) -> Result<Items> {
        let first = self.any_field(value, &["_head"])?;
        let is_damaged = self.is_null(&first)?;
        let mut items = self.rings(RingKind::Segments, first)?;
        if is_damaged {
            items.note = Some("it has no first segment: it is damaged".into());
        }
        Ok(items)
    }

    fn concurrent_bag(&self, value: &Value) -> Result<Items> {
        let first = self.any_field(value, &["_workStealingQueues"])?;
        self.rings(RingKind::WorkQueues, first)
    }

    fn is_empty_frozen(&self, value: &Value) -> bool {
        self.reader.types.text(&value.ty).starts_with("EmptyFrozen")
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

    /// The numbers of a vector: as many as it is large.
    fn vector(&self, value: &Value) -> Result<Option<Items>> {
        let ty = element_type(value)?;
        if !matches!(ty, Type::Primitive(_)) {
            return Ok(None);
        }
        let stride = self.reader.size_of(&ty)?.max(1);
        let start = self.reader.offset(value, 0, &ty)?;
        let count = self.reader.size_of(&value.ty)? / stride;
        Ok(Some(Items::new(
            count.into(),
            Source::Places { ty, start, stride },
        )))
    }

    fn memory(&self, value: &Value) -> Result<Items> {
        let Some(object) = self.object_in(value, &["_object"])? else {
            return Ok(Items::listed(Vec::new()));
        };
        let index = self.int(value, &["_index"])? & 0x7fff_ffff;
        let length = self.int(value, &["_length"])?.max(0).cast_unsigned();
        self.part_of(object, index, length)
    }

    /// Elements of an array, or characters of a string, from one on.
    pub(super) fn part_of(&self, object: Object, index: i64, length: u64) -> Result<Items> {
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
            let items = Items::listed(entries.collect());
            let there = items.count;
            return Ok(items.noted(|| {
                (length > there).then(|| {
                    format!("it says that it has {length} characters, but its string has {there} there: it is damaged or being changed")
                })
            }));
        }
        let count = self.reader.array(&object)?.count;
        let first = index.cast_unsigned();
        let there = count.saturating_sub(first);
        let mut items = Items::new(
            length.min(there),
            Source::Array {
                array: object,
                first,
                wrap: u64::MAX,
            },
        );
        if length > there {
            items.note = Some(format!(
                "it says that it has {length} elements, but its array has {there} there: it is damaged or being changed"
            ));
        }
        Ok(items)
    }

    /// Groups in a ring, of which the last is known.
    fn lookup(&self, value: &Value) -> Result<Items> {
        let last = self.any_field(value, &["_lastGrouping"])?;
        if self.is_null(&last)? {
            return Ok(Items::listed(Vec::new()));
        }
        let fields = EntryFields {
            value: None,
            ..EntryFields::pair("_key", "")
        };
        let first = self.any_field(&last, &["_next"])?;
        let count = self.int(value, &["_count"])?;
        Ok(self.chain(count, first, "_next", fields))
    }

    fn hashtable(&self, value: &Value) -> Result<Items> {
        let Some(buckets) = self.object_in(value, &["_buckets", "buckets"])? else {
            return Ok(Items::listed(Vec::new()));
        };
        self.counted(value, &["_count", "count"], Parts::Hashtable(buckets))
    }

    fn expando(&self, value: &Value) -> Result<Items> {
        let (Some(object), Some(values)) = (
            self.reader.object(value)?,
            self.object_in(&self.any_field(value, &["_data"])?, &["_dataArray"])?,
        ) else {
            return Ok(Items::listed(Vec::new()));
        };
        let members = self.reader.expando_members(&object)?.into_iter();
        let entries = members.map(|(at, name)| Entry {
            name: Some(name),
            ..plain(self.reader.element(&values, at))
        });
        Ok(Items::listed(entries.collect()))
    }
}

/// Each leads to the next; the last is the empty stack, which is an object of its own.
fn immutable_stack(first: Value) -> Source {
    Source::Chain {
        first,
        next: "_tail",
        fields: EntryFields::value("_head"),
        has_end: true,
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
