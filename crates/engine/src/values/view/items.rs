//! The elements of arrays and collections, read by the names of their fields.
//!
//! A collection is described by a [`Source`]: where its elements lie and how one leads to the next. Elements that lie one
//! behind another are found in constant time; chains, trees and tables with gaps are walked up to the page that is asked
//! for. Counts that the collection claims are checked against the arrays that it has.

use crate::types::Type;

use super::super::{Object, Result, Unreadable, Value};
use super::known::Known;
use super::source::{Entry, EntryFields, Items, Source};
use super::{Subject, Viewer};

impl Viewer<'_, '_> {
    pub(crate) fn as_value(&self, subject: &Subject) -> Option<Value> {
        match subject {
            Subject::Null => None,
            Subject::InPlace(value, _) => Some(value.clone()),
            Subject::Object(object) => Some(self.reader.reference_to(object)),
        }
    }

    /// The first of several fields that there is: names change between versions.
    pub(super) fn any_field(&self, from: &Value, names: &[&str]) -> Result<Value> {
        for name in names {
            match self.reader.field(from, name) {
                Err(Unreadable::NoField { .. }) => {}
                found => return found,
            }
        }
        Err(Unreadable::UnknownLayout {
            ty: self.reader.types.text(&from.ty),
            field: names.join(" or "),
        })
    }

    /// A whole number in a field.
    pub(super) fn int(&self, from: &Value, names: &[&str]) -> Result<i64> {
        let scalar = self.reader.scalar(&self.any_field(from, names)?)?;
        let number = scalar.as_i128().and_then(|it| i64::try_from(it).ok());
        number.ok_or_else(|| Unreadable::UnknownLayout {
            ty: self.reader.types.text(&from.ty),
            field: names.join(" or "),
        })
    }

    /// An object in a field; `None` for null.
    pub(super) fn object_in(&self, from: &Value, names: &[&str]) -> Result<Option<Object>> {
        self.reader.object(&self.any_field(from, names)?)
    }

    /// How many elements something has, if that can be told without running code.
    pub(super) fn count_of(&self, subject: &Subject) -> Option<u64> {
        if let Subject::Object(object) = subject
            && object.ty == Type::STRING
        {
            return self
                .reader
                .string_units(object, 0)
                .ok()
                .map(|(_, length)| length);
        }
        Some(self.items(subject).ok()??.count)
    }

    /// The elements of an array or of a collection whose fields are known.
    pub(crate) fn items(&self, subject: &Subject) -> Result<Option<Items>> {
        let Some(ty) = self.type_of(subject) else {
            return Ok(None);
        };
        let known = self.reader.known(ty);
        if let (Known::Array, Subject::Object(array)) = (known, subject) {
            let shape = self.reader.array(array)?;
            let mut items = Items::new(
                shape.count,
                Source::Array {
                    array: array.clone(),
                    first: 0,
                    wrap: u64::MAX,
                },
            );
            if shape.lengths.len() > 1 || shape.bounds.first() != Some(&0) {
                let factors = shape.lengths.iter().map(|it| u64::from(*it));
                let product = factors.fold(1, u64::saturating_mul);
                items.shape = Some((shape.lengths, shape.bounds));
                let count = shape.count;
                items = items.noted(|| {
                    (product != count).then(|| {
                        format!("its dimensions make {product} elements, but it has {count}: it is damaged")
                    })
                });
            }
            return Ok(Some(items));
        }
        let Some(value) = self.as_value(subject) else {
            return Ok(None);
        };
        match self.sequence(known, &value)? {
            Some(items) => Ok(Some(items)),
            None => self.framework_items(known, &value),
        }
    }

    /// The collections whose elements lie in one array, chain or tree.
    fn sequence(&self, known: Known, value: &Value) -> Result<Option<Items>> {
        let dictionary = EntryFields::pair("key", "value").linked("next");
        Ok(Some(match known {
            Known::List | Known::ArrayList => {
                let size = self.int(value, &["_size"])?;
                self.in_array(value, &["_items"], size)?
            }
            Known::Dictionary => self.table(value, dictionary)?,
            Known::DictionaryKeys | Known::DictionaryValues => {
                let fields = match known {
                    Known::DictionaryKeys => EntryFields::value("key"),
                    _ => EntryFields::value("value").guarded_by("key"),
                };
                let dictionary = self.any_field(value, &["_dictionary"])?;
                self.table(&dictionary, fields.linked("next"))?
            }
            Known::OrderedDictionary => {
                let size = self.int(value, &["_count"])?;
                let mut items = self.in_array(value, &["_entries"], size)?;
                items.source = match items.source {
                    Source::Array { array, .. } => Source::Table {
                        array,
                        used: items.count,
                        has_gaps: false,
                        fields: EntryFields::pair("Key", "Value"),
                    },
                    other => other,
                };
                items
            }
            Known::HashSet => self.table(value, EntryFields::value("Value").linked("Next"))?,
            Known::Queue | Known::OldQueue => {
                let size = self.int(value, &["_size"])?;
                let head = self.int(value, &["_head"])?;
                let mut items = self.in_array(value, &["_array"], size)?;
                let mut length = 0;
                if let Source::Array { array, first, wrap } = &mut items.source {
                    *first = head.max(0).cast_unsigned();
                    length = self.reader.array(array)?.count;
                    *wrap = length.max(1);
                }
                let is_outside = u64::try_from(head).map_or(true, |it| it > length);
                items.noted(|| {
                    is_outside.then(|| {
                        format!("it says that it begins at {head}, but its array has {length}: it is damaged or being changed")
                    })
                })
            }
            Known::Stack | Known::OldStack => {
                let size = self.int(value, &["_size"])?;
                let mut items = self.in_array(value, &["_array"], size)?;
                items.source = match items.source {
                    Source::Array { array, .. } => Source::Reversed { array },
                    other => other,
                };
                items
            }
            Known::PriorityQueue => {
                let size = self.int(value, &["_size"])?;
                let items = self.in_array(value, &["_nodes"], size)?;
                items.in_order_of_heap()
            }
            Known::SortedList | Known::OldSortedList => {
                let size = self.int(value, &["_size"])?;
                let keys = self.in_array(value, &["keys", "_keys"], size)?;
                let values = self.in_array(value, &["values", "_values"], size)?;
                match (keys.source, values.source) {
                    (Source::Array { array: keys_of, .. }, Source::Array { array, .. }) => {
                        Items::new(
                            keys.count.min(values.count),
                            Source::Parallel {
                                keys: keys_of,
                                values: array,
                            },
                        )
                    }
                    _ => Items::listed(Vec::new()),
                }
                .noted(|| keys.note.or(values.note))
            }
            Known::LinkedList => {
                let count = self.int(value, &["count"])?;
                let first = self.any_field(value, &["head"])?;
                self.chain(count, first, "next", EntryFields::value("item"))
            }
            Known::SortedSet => {
                let count = self.int(value, &["_count", "count"])?;
                let root = self.any_field(value, &["_root", "root"])?;
                self.tree(count, root, ("Left", "Right"), EntryFields::value("Item"))
            }
            Known::SortedDictionary => {
                self.sorted(value, EntryFields::pair("Item.key", "Item.value"))?
            }
            Known::SortedKeys => {
                let dictionary = self.any_field(value, &["_dictionary"])?;
                self.sorted(&dictionary, EntryFields::value("Item.key"))?
            }
            Known::SortedValues => {
                let dictionary = self.any_field(value, &["_dictionary"])?;
                let fields = EntryFields::value("Item.value").guarded_by("Item.key");
                self.sorted(&dictionary, fields)?
            }
            Known::SortedListKeys | Known::SortedListValues => {
                let list = self.any_field(value, &["_dict"])?;
                let size = self.int(&list, &["_size"])?;
                let names: [&str; 2] = match known {
                    Known::SortedListKeys => ["keys", "_keys"],
                    _ => ["values", "_values"],
                };
                self.in_array(&list, &names, size)?
            }
            Known::ConcurrentStack => {
                let first = self.any_field(value, &["_head"])?;
                let fields = EntryFields::value("_value");
                self.count_by_walking(self.chain(0, first, "_next", fields).source)
            }
            Known::BitArray => {
                let length = self.int(value, &["m_length", "_bitLength", "_length"])?;
                match self.object_in(value, &["m_array", "_array"])? {
                    Some(array) => {
                        let shape = self.reader.array(&array)?;
                        let width = u64::from(self.reader.size_of(&shape.element)?) * 8;
                        let there = shape.count.saturating_mul(width);
                        let claimed = length.max(0).cast_unsigned();
                        Items::new(claimed.min(there), Source::Bits { array }).noted(|| {
                            (claimed > there || length < 0).then(|| {
                                format!("it says that it has {length} bits, but its array has {there}: it is damaged or being changed")
                            })
                        })
                    }
                    None => Items::listed(Vec::new()),
                }
            }
            Known::Buffer => {
                let Some(named) = value.ty.as_named() else {
                    return Ok(None);
                };
                let length = super::super::buffer_length(self.reader.types, named);
                let members = self.reader.struct_members(&value.ty)?;
                let Some(first) = members.first() else {
                    return Ok(None);
                };
                let ty = first.field.ty.clone();
                let stride = self.reader.size_of(&ty)?;
                let start = self.reader.struct_member(value, first)?;
                Items::new(
                    length.unwrap_or(0).into(),
                    Source::Places { ty, start, stride },
                )
            }
            _ => return Ok(None),
        }))
    }

    /// The entries of a sorted dictionary, which are the elements of a set.
    fn sorted(&self, dictionary: &Value, fields: EntryFields) -> Result<Items> {
        let set = self.any_field(dictionary, &["_set"])?;
        let count = self.int(&set, &["_count", "count"])?;
        let root = self.any_field(&set, &["_root", "root"])?;
        Ok(self.tree(count, root, ("Left", "Right"), fields))
    }

    /// Elements from the start of an array in a field; no more than the array has.
    pub(super) fn in_array(&self, from: &Value, names: &[&str], size: i64) -> Result<Items> {
        let Some(array) = self.object_in(from, names)? else {
            let mut items = Items::listed(Vec::new());
            if size != 0 {
                items.note = Some(format!(
                    "it says that it has {size} elements, but it has no array: it is damaged or being changed"
                ));
            }
            return Ok(items);
        };
        let length = self.reader.array(&array)?.count;
        let claimed = size.max(0).cast_unsigned();
        let mut items = Items::new(
            claimed.min(length),
            Source::Array {
                array,
                first: 0,
                wrap: u64::MAX,
            },
        );
        if claimed > length || size < 0 {
            items.note = Some(format!(
                "it says that it has {size} elements, but its array has {length}: it is damaged or being changed"
            ));
        }
        Ok(items)
    }

    fn table(&self, value: &Value, fields: EntryFields) -> Result<Items> {
        let used = self.int(value, &["_count", "_lastIndex"])?;
        let names = ["_entries", "_slots"];
        let old = self.reader.field(value, "_slots").is_ok();
        let fields = if old {
            EntryFields::value("value").linked("next")
        } else {
            fields
        };
        // The old set counts its elements, the others their free slots.
        let free = if old {
            self.int(value, &["_lastIndex"])? - self.int(value, &["_count"])?
        } else {
            self.int(value, &["_freeCount"])?
        };
        let used = if old {
            self.int(value, &["_lastIndex"])?
        } else {
            used
        };
        let mut items = self.in_array(value, &names, used)?;
        let slots = items.count;
        items.count = slots.saturating_sub(free.max(0).cast_unsigned());
        let mut items = items.noted(|| {
            let is_wrong = free < 0 || free.cast_unsigned() > slots;
            is_wrong.then(|| {
                format!("it says that {free} of its {slots} slots are free: it is damaged or being changed")
            })
        });
        items.source = match items.source {
            Source::Array { array, .. } => {
                // An old set marks unused slots by their hash code.
                let fields = if old {
                    EntryFields {
                        next: Some("hashCode"),
                        ..fields
                    }
                } else {
                    fields
                };
                Source::Table {
                    array,
                    used: slots,
                    has_gaps: free > 0,
                    fields,
                }
            }
            other => other,
        };
        Ok(items)
    }

    pub(super) fn chain(
        &self,
        count: i64,
        first: Value,
        next: &'static str,
        fields: EntryFields,
    ) -> Items {
        Items::new(
            count.max(0).cast_unsigned(),
            Source::Chain {
                first,
                next,
                fields,
                has_end: false,
            },
        )
    }

    pub(super) fn tree(
        &self,
        count: i64,
        root: Value,
        (left, right): (&'static str, &'static str),
        fields: EntryFields,
    ) -> Items {
        Items::new(
            count.max(0).cast_unsigned(),
            Source::Tree {
                root,
                left,
                right,
                fields,
            },
        )
    }

    /// Elements from a position on.
    pub(crate) fn entries(&self, items: &Items, start: u64, count: u64) -> Vec<Entry> {
        let mut end = start.saturating_add(count);
        if !items.is_cut {
            end = end.min(items.count);
        }
        if start >= end {
            return Vec::new();
        }
        if items.is_indexed() {
            return (start..end)
                .take_while(|_| !self.is_late())
                .map(|position| self.entry_at(items, position))
                .collect();
        }
        let mut entries = Vec::new();
        let mut position = start;
        self.walk_items(items, start, &mut |mut entry| {
            entry.position = position;
            entries.push(entry);
            position += 1;
            position < end
        });
        entries
    }

    pub(super) fn entry_at(&self, items: &Items, position: u64) -> Entry {
        let mut entry = Entry {
            position,
            key: None,
            value: Err(Unreadable::OutOfRange {
                index: position.into(),
                first: 0,
                length: items.count,
            }),
            name: items.indexes(position),
        };
        match &items.source {
            Source::Array { array, first, wrap } => {
                let at = first.saturating_add(position) % wrap;
                entry.value = self.reader.element(array, at);
            }
            Source::Reversed { array } => {
                let at = items.count.saturating_sub(position + 1);
                entry.value = self.reader.element(array, at);
            }
            Source::Parallel { keys, values } => {
                entry.key = self.reader.element(keys, position).ok();
                entry.value = self.reader.element(values, position);
            }
            Source::Places { ty, start, stride } => {
                entry.value =
                    self.reader
                        .offset(start, u64::from(*stride).saturating_mul(position), ty);
            }
            Source::Bits { array } => entry.value = self.bit(array, position),
            Source::Objects { array, fields } => {
                let slot = self.reader.element(array, position);
                (entry.key, entry.value) = self.split(slot, *fields);
            }
            Source::Table { array, fields, .. } => {
                let slot = self.reader.element(array, position);
                (entry.key, entry.value) = self.split(slot, *fields);
            }
            Source::Listed(list) => {
                let at = usize::try_from(position).unwrap_or(usize::MAX);
                if let Some(found) = list.get(at) {
                    return self.veiled(Entry {
                        position,
                        ..found.clone()
                    });
                }
            }
            Source::Among { of, first, half } => {
                let found = self.entry_at(of, first.saturating_add(position));
                return half.of(Entry { position, ..found });
            }
            Source::Joined(parts) => {
                let behind = parts.partition_point(|(start, _)| *start <= position);
                if let Some((start, part)) = behind.checked_sub(1).and_then(|it| parts.get(it)) {
                    let found = self.entry_at(part, position - start);
                    return Entry { position, ..found };
                }
            }
            Source::Chain { .. }
            | Source::Tree { .. }
            | Source::Between { .. }
            | Source::Parts(_) => {}
        }
        self.veiled(entry)
    }

    fn bit(&self, array: &Object, position: u64) -> Result<Value> {
        let shape = self.reader.array(array)?;
        let width = u64::from(self.reader.size_of(&shape.element)?) * 8;
        let word = self.reader.element(array, position / width.max(1))?;
        let bits = self.reader.scalar(&word)?.as_i128().unwrap_or_default();
        let bit = bits >> (position % width.max(1)) & 1;
        Ok(self.reader.copied(Type::BOOL, [bit as u8]))
    }

    pub(super) fn split(
        &self,
        entry: Result<Value>,
        fields: EntryFields,
    ) -> (Option<Value>, Result<Value>) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(why) => return (None, Err(why)),
        };
        let key = fields
            .key
            .filter(|_| !fields.hides_key || self.view.mask_secrets)
            .and_then(|path| self.reader.walk(&entry, path).ok());
        let value = match fields.value {
            Some(path) => self.reader.walk(&entry, path),
            None => Ok(entry),
        };
        let value = self.behind_key(key.as_ref(), value);
        (key.filter(|_| !fields.hides_key), value)
    }
}
