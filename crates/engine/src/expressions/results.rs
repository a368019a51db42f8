//! Results of expressions as values that can be opened: each is held while the program stays stopped.
//!
//! A result has a path, `#e1` and so on, which leads to it as any other path does; so its children are paged like those of a
//! variable. What exists only in the debugger has no place in the program: its elements come with it, and so do those of what
//! lies inside, to a depth and a number that are bounded.

use std::cell::Cell;
use std::collections::VecDeque;

use metadata::csharp::{GeneratedKind, GeneratedName};

use super::run::{Made, Val};
use crate::api::{self, VariableKind, View};
use crate::target::Target;
use crate::types::{Type, TypeNotes};
use crate::values::view::{Child, Viewer};
use crate::values::{Held, Reader, Snapshot, Unreadable, Value};

/// Results that are held; each keeps memory of the program alive.
const MAX_RESULTS: usize = 1_000;
/// Elements that come with what exists only here.
const MAX_MEMBERS: usize = 100;
/// Elements that come with it altogether.
const MAX_INSIDE: usize = 1_000;
/// How deep inside each other.
const MAX_DEPTH: u32 = 4;
/// Elements in a line of their own whole, and characters of each.
const IN_LINE: usize = 8;
const BRIEF: usize = 64;

/// The results of this stop.
#[derive(Debug, Default)]
pub(crate) struct Results {
    last: u64,
    known: VecDeque<(u64, Kept, Formats)>,
}

/// How an expression asked for its result to be shown, which goes for what lies inside it as well.
#[derive(Debug)]
struct Formats {
    hex: bool,
    raw: bool,
    elements: Option<u64>,
    /// What its static type says beside the type itself.
    notes: TypeNotes,
}

#[derive(Debug)]
enum Kept {
    Object(Held),
    /// A struct or pointer as it was.
    Struct(Snapshot),
}

impl Results {
    fn keep(&mut self, kept: Kept, view: &View, notes: TypeNotes) -> u64 {
        self.last += 1;
        if self.known.len() >= MAX_RESULTS {
            self.known.pop_front();
        }
        let formats = Formats {
            hex: view.hex,
            raw: view.raw,
            elements: view.elements,
            notes,
        };
        self.known.push_back((self.last, kept, formats));
        self.last
    }

    /// Lets go of all of them.
    pub(crate) fn clear(&mut self) {
        self.known.clear();
    }
}

/// The number of the result that a path begins with.
fn number_in(path: &str) -> Option<u64> {
    let digits = path.strip_prefix("#e")?;
    let end = digits.find(|it: char| !it.is_ascii_digit());
    digits.get(..end.unwrap_or(digits.len()))?.parse().ok()
}

impl Target {
    /// Where a result lies, by its number, and what is known of its type.
    pub(crate) fn result_place(
        &self,
        reader: &Reader<'_>,
        number: u64,
    ) -> Option<(Result<Value, Unreadable>, TypeNotes)> {
        let results = self.results.borrow();
        let (_, kept, formats) = results.known.iter().find(|(it, ..)| *it == number)?;
        let place = match kept {
            Kept::Object(held) => reader.held(held).map(|it| reader.reference_to(&it)),
            Kept::Struct(snapshot) => reader.restored(snapshot),
        };
        Some((place, formats.notes.clone()))
    }

    /// How what a path leads to is to be shown, if that begins with a result whose expression said so.
    pub(crate) fn view_of_result(&self, path: &str, view: &View) -> Option<View> {
        let number = number_in(path)?;
        let results = self.results.borrow();
        let (.., formats) = results.known.iter().find(|(it, ..)| *it == number)?;
        Some(View {
            hex: view.hex || formats.hex,
            raw: view.raw || formats.raw,
            elements: view.elements.or(formats.elements),
            ..view.clone()
        })
    }

    /// Whether a path begins with a result that is no object of the program, but a value as it was.
    pub(super) fn is_copy(&self, path: &str) -> bool {
        let results = self.results.borrow();
        let mut known = results.known.iter();
        let number = number_in(path);
        known.any(|(it, kept, _)| Some(*it) == number && matches!(kept, Kept::Struct(_)))
    }

    /// Holds what code of the program gave; its path.
    pub(crate) fn keep_result(
        &self,
        reader: &Reader<'_>,
        value: &Value,
        view: &View,
    ) -> Option<String> {
        let kept = if value.ty.is_value() == Some(true) {
            Kept::Struct(reader.snapshot(value).ok()?)
        } else {
            Kept::Object(reader.hold(&reader.object(value).ok()??).ok()?)
        };
        let notes = TypeNotes::default();
        let number = self.results.borrow_mut().keep(kept, view, notes);
        Some(format!("#e{number}"))
    }

    /// A result as a variable, if it is something that can be opened.
    pub(super) fn result(
        &self,
        reader: &Reader<'_>,
        view: &View,
        value: &Val,
        name: &str,
        (ty, notes): (&Type, &TypeNotes),
    ) -> Option<api::Variable> {
        let viewer = Viewer::new(reader, view, &self.object_ids);
        let room = Cell::new(MAX_INSIDE);
        self.variable(&viewer, value, name, (ty, notes), MAX_DEPTH, &room)
    }

    /// A text of the program as a variable, which has a path as objects have.
    pub(super) fn text_result(
        &self,
        reader: &Reader<'_>,
        view: &View,
        value: &Val,
        name: &str,
    ) -> Option<api::Variable> {
        let Val::Object(object) = value else {
            return None;
        };
        let viewer = Viewer::new(reader, view, &self.object_ids);
        let place = reader.reference_to(object);
        let path = self.keep_result(reader, &place, view)?;
        Some(viewer.variable(&child(name, path, place, TypeNotes::default()), 0))
    }

    fn variable(
        &self,
        viewer: &Viewer<'_, '_>,
        value: &Val,
        name: &str,
        (ty, notes): (&Type, &TypeNotes),
        depth: u32,
        room: &Cell<usize>,
    ) -> Option<api::Variable> {
        let reader = viewer.reader;
        let (kept, place) = match value {
            Val::Object(object) if object.ty != Type::STRING => {
                let place = reader.reference_to(object);
                (Kept::Object(reader.hold(object).ok()?), place)
            }
            Val::Struct(place) => (Kept::Struct(reader.snapshot(place).ok()?), place.clone()),
            Val::Scalar(address) if ty.is_pointer() => {
                let place = reader.copied(ty.clone(), address.to_bytes()?);
                // Only what it leads to is inside.
                reader.target(&place).ok()??;
                (Kept::Struct(reader.snapshot(&place).ok()?), place)
            }
            Val::Made(made) if depth > 0 => {
                return self.made(viewer, made, name, notes, depth, room);
            }
            Val::Boxed(ty, inner) => {
                return self.variable(viewer, inner, name, (ty, notes), depth, room);
            }
            _ => return None,
        };
        // Names are given to the parts of the static type: those of another one lie otherwise.
        let notes = match place.ty == *ty {
            true => notes.clone(),
            false => TypeNotes::default(),
        };
        let mut results = self.results.borrow_mut();
        let number = results.keep(kept, viewer.view, notes.clone());
        drop(results);
        let child = child(name, format!("#e{number}"), place, notes);
        Some(viewer.variable(&child, 0))
    }

    /// What exists only here, with its elements.
    fn made(
        &self,
        viewer: &Viewer<'_, '_>,
        made: &Made,
        name: &str,
        notes: &TypeNotes,
        depth: u32,
        room: &Cell<usize>,
    ) -> Option<api::Variable> {
        let types = viewer.reader.types;
        let (ty, parts): (&Type, Vec<(String, &Val)>) = match made {
            Made::Sequence(ty, items, _) => {
                let named = |(index, it)| (format!("[{index}]"), it);
                (ty, items.iter().enumerate().map(named).collect())
            }
            Made::Fields(ty, fields) => {
                let given = match types.tuple_elements(ty) {
                    Some(_) => &*notes.tuple_names,
                    None => &[],
                };
                let given = given.iter().map(Option::as_deref);
                let given = given.chain(std::iter::repeat(None));
                let named = fields.iter().zip(given);
                let named = named.map(|((name, it), given)| {
                    let shown = given.unwrap_or_else(|| property_of(name));
                    (shown.to_owned(), it)
                });
                (ty, named.collect())
            }
            _ => return None,
        };
        let count = parts.len();
        let shown = parts.iter().take(MAX_MEMBERS.min(room.get()));
        room.set(room.get() - shown.len());
        let items = types.tuple_elements(ty).unwrap_or_default();
        let members: Vec<api::Variable> = shown
            .enumerate()
            .map(|(number, (name, value))| {
                let (part, notes) = match items.get(number) {
                    Some(item) => (item.clone(), notes.of_item(types, &items, number)),
                    None => {
                        let part = part_type(value, ty);
                        let notes = notes.of_part(types, ty, &part, true);
                        (part, notes)
                    }
                };
                let known = self.variable(viewer, value, name, (&part, &notes), depth - 1, room);
                known.unwrap_or_else(|| self.plain(viewer, value, name))
            })
            .collect();
        let left = (count - members.len()) as u64;
        let is_sequence = matches!(made, Made::Sequence(..));
        let has_length = ty.element().is_some()
            || ty.as_named().is_some_and(|it| {
                let mut spans = ["Span`1", "ReadOnlySpan`1"].into_iter();
                spans.any(|name| types.is_named(it, "System", name))
            });
        let text = line_of_made(
            has_length,
            count,
            &members,
            is_sequence,
            viewer.view.elements,
        );
        Some(api::Variable {
            name: name.to_owned(),
            kind: VariableKind::Pseudo,
            path: String::new(),
            declared_type: None,
            label: None,
            shadowed: false,
            value: api::Value {
                type_name: types.text_with(ty, notes, false),
                text,
                kind: api::ValueKind::Object,
                object: None,
                children: count as u64,
                indexed: is_sequence,
                full_length: None,
                behind_cut: None,
                cycle: false,
                notes: Vec::new(),
                omitted: (left > 0).then_some(api::Omitted {
                    count: left,
                    start: members.len() as u64,
                    reason: api::OmitReason::Count,
                    at_least: false,
                }),
                members,
            },
        })
    }

    /// A number, text or null, and what is made of others, without opening it.
    fn plain(&self, viewer: &Viewer<'_, '_>, value: &Val, name: &str) -> api::Variable {
        let reader = viewer.reader;
        let place = match value {
            Val::Scalar(super::scalar::Scalar::String(units)) => reader.text(units.clone()),
            Val::Scalar(scalar) => {
                let ty = super::bind::well_known::type_of_kind(reader.types, scalar.kind());
                reader.copied(
                    ty.unwrap_or(Type::OBJECT),
                    scalar.to_bytes().unwrap_or_default(),
                )
            }
            Val::Boxed(_, inner) => return self.plain(viewer, inner, name),
            Val::Object(text) => reader.reference_to(text),
            _ => reader.copied(Type::OBJECT, vec![0; 8]),
        };
        let child = child(name, String::new(), place, TypeNotes::default());
        let mut told = viewer.variable(&child, 0);
        if let Val::Made(made) = value {
            let ty = made_type(made).map(|ty| reader.types.text(ty).to_string());
            told.value.type_name = ty.unwrap_or_default();
            told.value.kind = api::ValueKind::Object;
            told.value.text = format!("{{{}}}", told.value.type_name);
        }
        told
    }
}

/// The name of a field, or of the property of an anonymous type that it is behind.
fn property_of(field: &str) -> &str {
    let anonymous = GeneratedName::parse(field).filter(|it| it.kind == GeneratedKind::Other('i'));
    anonymous.map_or(field, |it| it.text)
}

/// The line of what exists only here, as that of a variable is written.
fn line_of_made(
    has_length: bool,
    count: usize,
    members: &[api::Variable],
    is_sequence: bool,
    asked: Option<u64>,
) -> String {
    let asked = asked.filter(|_| is_sequence);
    let most = asked.map_or(IN_LINE, |it| usize::try_from(it).unwrap_or(usize::MAX));
    let parts = members.iter().take(most).map(|it| {
        let mut text: String = it.value.text.chars().take(BRIEF).collect();
        if text.len() < it.value.text.len() {
            text.push('…');
        }
        match is_sequence {
            true => text,
            false => format!("{} = {text}", it.name),
        }
    });
    let mut parts: Vec<String> = parts.collect();
    if parts.len() < count {
        parts.push(match asked {
            Some(_) => format!("… {} more", count - parts.len()),
            None => "…".into(),
        });
    }
    let parts = parts.join(", ");
    match (has_length, is_sequence, count) {
        (_, false, _) => format!("{{ {parts} }}"),
        (true, _, 0) => "Length = 0".into(),
        (true, ..) => format!("Length = {count} {{ {parts} }}"),
        (false, _, 0) => "Count = 0".into(),
        (false, ..) => format!("Count = {count} {{ {parts} }}"),
    }
}

fn made_type(made: &Made) -> Option<&Type> {
    match made {
        Made::Fields(ty, _) | Made::Default(ty) | Made::Sequence(ty, ..) => Some(ty),
        _ => None,
    }
}

/// The type that an element of what exists only here has.
fn part_type(value: &Val, whole: &Type) -> Type {
    match value {
        Val::Struct(place) => place.ty.clone(),
        Val::Object(object) => object.ty.clone(),
        Val::Made(made) => made_type(made).unwrap_or(whole).clone(),
        _ => Type::OBJECT,
    }
}

fn child(name: &str, path: String, value: Value, notes: TypeNotes) -> Child {
    Child {
        name: name.to_owned(),
        kind: VariableKind::Pseudo,
        path,
        ty: value.ty.clone(),
        notes,
        value: Ok(value),
        shadowed: false,
        display: None,
    }
}
