//! Single elements: by position, by index, by key; and what they are called.

use crate::api::VariableKind;
use crate::expressions::field_in;
use crate::types::{Kind, Type, TypeNotes};

use super::super::{Object, Place, Result, Scalar, Unreadable, Value};
use super::asking::Opens;
use super::known::Known;
use super::source::{Entry, EntryFields, Items, Parts, Source};
use super::walking::Walked;
use super::{Child, Subject, Viewer, numbers};

/// What an element lies in.
#[derive(Debug)]
pub(crate) enum Holder {
    Array {
        array: Object,
        position: u64,
    },
    /// An object of its own, which leads to the next.
    Node(Object),
}

impl Viewer<'_, '_> {
    /// An element as a child, with the path that leads to it.
    pub(super) fn entry_child(&self, items: &Items, entry: Entry, parent: &str) -> Child {
        let (of_key, notes) = self.notes_of_entry(items, &entry);
        let name = match (&entry.name, &entry.key) {
            (Some(name), _) => name.clone(),
            (None, Some(key)) => format!("[{}]", self.brief_with(&Ok(key.clone()), &of_key, 1)),
            (None, None) => format!("[{}]", entry.position),
        };
        let step = match &entry.key {
            Some(key) => self
                .key_step(key)
                .unwrap_or_else(|| format!("[#{}]", entry.position)),
            None => name.clone(),
        };
        let dot = if step.starts_with('[') || parent.is_empty() {
            ""
        } else {
            "."
        };
        let ty = match &entry.value {
            Ok(value) => value.ty.clone(),
            Err(Unreadable::Masked(ty)) => ty.clone(),
            Err(_) => Type::OBJECT,
        };
        Child {
            name,
            kind: VariableKind::Element,
            path: format!("{parent}{dot}{step}"),
            ty,
            notes,
            value: entry.value,
            shadowed: false,
            display: None,
        }
    }

    /// A key that is a number, which lies in a box where keys may be anything.
    fn unboxed_key(&self, key: &Value) -> Option<Scalar> {
        match self.subject(key).ok()? {
            Subject::InPlace(inner, _) => self.reader.scalar(&inner).ok(),
            _ => None,
        }
    }

    /// `["text"]` or `[5]`, where that names the entry.
    fn key_step(&self, key: &Value) -> Option<String> {
        if key.ty == Type::STRING {
            let object = self.reader.object(key).ok()??;
            let (units, length) = self.reader.string_units(&object, 256).ok()?;
            let whole = units.len() as u64 == length;
            return whole.then(|| format!("[{}]", numbers::quoted(&units)));
        }
        match (&key.ty, self.reader.scalar(key).ok()?) {
            (Type::Primitive(_), Scalar::Bool(_) | Scalar::Char(_)) => None,
            (Type::Primitive(_), scalar) => Some(format!("[{}]", scalar.as_i128()?)),
            _ => None,
        }
    }

    /// An element by the number in brackets: an index, or the key of a dictionary.
    pub(super) fn element_by_index(&self, from: &Value, indexes: &[i64]) -> Result<Value> {
        let subject = self.subject(from)?;
        if let Some(Known::Array) = self.type_of(&subject).map(|ty| self.reader.known(ty)) {
            return self.reader.index(from, indexes);
        }
        if let (Type::Pointer(inner), [index]) = (&from.ty, indexes)
            && let Some(target) = self.reader.target(from)?
        {
            let offset = i64::from(self.reader.size_of(inner)?).wrapping_mul(*index);
            return self.reader.offset(&target, offset.cast_unsigned(), inner);
        }
        let &[index] = indexes else {
            return Err(self.no_element(from, format!("{indexes:?}")));
        };
        // The characters of a text are no places: those that there are are found by whoever evaluates the path.
        if self.type_of(&subject) == Some(&Type::STRING)
            && let Some(text) = self.reader.object(from)?
            && let (_, length) = self.reader.string_units(&text, 0)?
            && !(0..i128::from(length)).contains(&index.into())
        {
            return Err(Unreadable::OutOfRange {
                index: index.into(),
                first: 0,
                length,
            });
        }
        let items = self.items_of(from)?;
        // Their indexers take a key as an object or text, and a position as a number.
        let known = self.type_of(&subject).map(|ty| self.reader.known(ty));
        let takes_position = matches!(
            known,
            Some(Known::OldOrderedDictionary | Known::NameObjectCollection)
        );
        let is_keyed = !takes_position
            && self
                .entries(&items, 0, 1)
                .first()
                .is_some_and(|it| it.key.is_some());
        if !is_keyed {
            let Ok(position) = u64::try_from(index) else {
                return Err(Unreadable::OutOfRange {
                    index: index.into(),
                    first: 0,
                    length: items.count,
                });
            };
            return self.element_at(from, position);
        }
        let wanted = i128::from(index);
        self.find_entry(&items, |key| {
            let number = self.unboxed_key(key);
            number.and_then(Scalar::as_i128) == Some(wanted)
        })
        .unwrap_or_else(|| Err(self.no_element(from, index.to_string())))
    }

    /// An element by its key, a text.
    pub(super) fn element_by_key(&self, from: &Value, wanted: &str) -> Result<Value> {
        let items = match self.dictionary_of(from) {
            Some(dictionary) => self.items_of(&dictionary?)?,
            None => self.items_of(from)?,
        };
        let length = wanted.encode_utf16().count() as u64;
        let limit = u32::try_from(length).unwrap_or(u32::MAX);
        let is_wanted = |key: &Value| {
            self.reader
                .string(key, limit)
                .is_ok_and(|text| text.is_some_and(|(text, of)| of == length && text == wanted))
        };
        named(&items, wanted)
            .or_else(|| self.find_entry(&items, is_wanted))
            .unwrap_or_else(|| Err(self.no_element(from, format!("\"{wanted}\""))))
    }

    /// An element by its key as it is shown, a constant of an enum.
    pub(super) fn element_by_constant(&self, from: &Value, wanted: &str) -> Result<Value> {
        let is_enum = |ty: &Type| {
            ty.as_named()
                .is_some_and(|it| matches!(it.kind, Kind::Enum(_)))
        };
        let is_wanted = |key: &Value| {
            let key = self
                .subject(key)
                .map(|it| (self.line(&it, &TypeNotes::default(), 1), it));
            key.is_ok_and(|(line, key)| {
                line.text == wanted && self.type_of(&key).is_some_and(is_enum)
            })
        };
        self.find_entry(&self.items_of(from)?, is_wanted)
            .unwrap_or_else(|| Err(self.no_element(from, wanted.to_owned())))
    }

    /// The dictionary by which a `KeyedCollection` finds its elements, which know their keys by code alone. One of structs has
    /// copies of them.
    fn dictionary_of(&self, from: &Value) -> Option<Result<Value>> {
        let Subject::Object(object) = self.subject(from).ok()? else {
            return None;
        };
        let types = self.reader.types;
        let all = types.ancestry(&object.ty).ok()?.into_iter();
        let (namespace, name) = ("System.Collections.ObjectModel", "KeyedCollection`2");
        let keyed = { all }.find(|it| types.is_named(it, namespace, name))?;
        let owner = Type::Named(keyed.clone());
        let (field, _) = field_in(types, &owner, |it| &*it.name == "dict")?;
        let found = self.reader.declared_field(&object, &field);
        Some(found.and_then(|it| match self.reader.object(&it)? {
            Some(_) if keyed.arguments.get(1).is_some_and(Type::is_reference) => Ok(it),
            _ => Err(Unreadable::WouldRunCode),
        }))
    }

    /// The value of an entry of a dictionary, by its key.
    pub(crate) fn entry_with_key(
        &self,
        dictionary: &Object,
        is_wanted: impl Fn(&Value) -> bool,
    ) -> Option<Result<Value>> {
        let subject = Subject::Object(dictionary.clone());
        match self.items(&subject) {
            Ok(items) => self.find_entry(&items?, is_wanted),
            Err(why) => Some(Err(why)),
        }
    }

    /// What an element of a collection lies in, where that is an array or a node.
    pub(crate) fn holder(&self, from: &Value, element: &Value) -> Option<Holder> {
        let (items, Place::Memory(address)) = (self.items_of(from).ok()?, &element.place) else {
            return None;
        };
        let in_array = |array: Object| {
            let first = self.reader.element(&array, 0).ok()?;
            let stride = u64::from(self.reader.size_of(&first.ty).ok()?).max(1);
            let Place::Memory(start) = first.place else {
                return None;
            };
            let position = address.checked_sub(start)? / stride;
            let is_inside = position < self.reader.array(&array).ok()?.count;
            is_inside.then_some(Holder::Array { array, position })
        };
        // All nodes have the same fields.
        let in_node = |first: &Value, fields: EntryFields| {
            let node = self.reader.object(first).ok()??;
            let value = self.reader.walk(first, fields.value?).ok()?;
            let Place::Memory(of_first) = value.place else {
                return None;
            };
            let address = address.checked_sub(of_first.checked_sub(node.address)?)?;
            Some(Holder::Node(Object { address, ..node }))
        };
        match items.source {
            Source::Array { array, .. } | Source::Reversed { array } => in_array(array),
            Source::Table { array, .. } => in_array(array),
            Source::Parallel { values, .. } => in_array(values),
            Source::Chain { first, fields, .. } => in_node(&first, fields),
            Source::Tree { root, fields, .. } => in_node(&root, fields),
            Source::Parts(Parts::Buckets(buckets)) => {
                let first = self.first_of_buckets(&buckets)?;
                in_node(&first, EntryFields::value("_value"))
            }
            Source::Parts(Parts::Hashtable(buckets)) => in_array(buckets),
            Source::Parts(Parts::Rings { kind, first }) => {
                let arrays = self.arrays_of_rings(kind, &first);
                arrays.into_iter().find_map(in_array)
            }
            _ => None,
        }
    }

    /// An element that has a name of its own, as the members of dynamic objects have.
    pub(super) fn named_element(&self, from: &Value, wanted: &str) -> Option<Result<Value>> {
        named(&self.items_of(from).ok()?, wanted)
    }

    /// An element by its position.
    pub(super) fn element_at(&self, from: &Value, position: u64) -> Result<Value> {
        let items = self.items_of(from)?;
        if position >= items.count {
            return Err(Unreadable::OutOfRange {
                index: position.into(),
                first: 0,
                length: items.count,
            });
        }
        let entry = self.entries(&items, position, 1).into_iter().next();
        entry.map_or_else(
            || match self.clock.is_over() {
                true => {
                    let why = format!("reading took too long: element {position} was not reached");
                    Err(Unreadable::Failed { why })
                }
                false => Err(self.no_element(from, format!("#{position}"))),
            },
            |entry| entry.value,
        )
    }

    pub(super) fn items_of(&self, from: &Value) -> Result<Items> {
        let subject = self.subject(from)?;
        if let Some(items) = self.items(&subject)? {
            return Ok(items);
        }
        if self.opens(&subject) == Some(Opens::Elements)
            && self.inquiry.is_some()
            && let Some(value) = self.as_value(&subject)
        {
            return self.enumerated(&value);
        }
        if matches!(self.reader.object(from), Ok(None)) {
            return Err(Unreadable::Null {
                what: "elements".into(),
            });
        }
        Err(Unreadable::WrongKind {
            ty: self.reader.types.text(&from.ty),
            wanted: "a collection whose elements can be read without running code",
        })
    }

    fn no_element(&self, from: &Value, key: String) -> Unreadable {
        Unreadable::NoElement {
            ty: self.reader.types.text(&from.ty),
            key,
        }
    }

    fn find_entry(
        &self,
        items: &Items,
        is_wanted: impl Fn(&Value) -> bool,
    ) -> Option<Result<Value>> {
        let mut found = None;
        let mut seen = 0_u64;
        let walked = match &items.source {
            // Only the keys are read, until it is there.
            Source::Table {
                array,
                used,
                fields,
                has_gaps,
            } => {
                let gaps = has_gaps.then_some(*fields);
                let first = self.reader.element(array, 0).ok()?;
                let stride = u64::from(self.reader.size_of(&first.ty).ok()?);
                let first_key = self.reader.walk(&first, fields.key?).ok()?;
                let walked = self.walk_table(array, *used, gaps, 0, &mut |slot| {
                    seen += 1;
                    let key = self.reader.offset(&first_key, slot * stride, &first_key.ty);
                    if key.as_ref().is_ok_and(&is_wanted) {
                        let entry = self.reader.element(array, slot);
                        found = Some(self.split(entry, *fields).1);
                    }
                    found.is_none()
                });
                walked.unwrap_or(Walked::All)
            }
            _ => self.walk_items(items, 0, &mut |entry| {
                seen += 1;
                if entry.key.as_ref().is_some_and(&is_wanted) {
                    found = Some(entry.value);
                }
                found.is_none()
            }),
        };
        if walked == Walked::Late {
            let why = format!("reading took too long: it is not among the first {seen} entries");
            return Some(Err(Unreadable::Failed { why }));
        }
        found
    }
}

fn named(items: &Items, wanted: &str) -> Option<Result<Value>> {
    let Source::Listed(list) = &items.source else {
        return None;
    };
    let found = list.iter().find(|it| it.name.as_deref() == Some(wanted));
    found.map(|it| it.value.clone())
}
