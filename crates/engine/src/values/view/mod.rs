//! Values as a person wants to see them, as plain data.
//!
//! A [`Viewer`] turns typed places into [`api::Value`]s: one line of text, a kind, how many children there are, and the
//! children themselves where they were asked for. What a type looks like is decided by [`known::Known`]; collections and
//! other types of the framework are read by the names of their fields, and one whose fields are not as expected is shown
//! raw and says so. [`display`] is the seam to the evaluator of expressions.
//!
//! Invariants: nothing runs in the program; what only code could tell is asked for where that is allowed ([`asking`]). The work is bounded by the view's limits whatever the memory holds: texts,
//! children, depth and the length of the whole reply.

mod asking;
mod behind;
mod clock;
mod collections;
mod display;
mod elements;
mod exceptions;
mod framework;
mod hiding;
mod ids;
mod items;
pub(crate) mod known;
mod labels;
pub(crate) mod masking;
mod members;
mod nesting;
mod numbers;
mod ranges;
mod reflection;
mod rings;
pub(crate) mod secrets;
mod segments;
mod source;
pub(super) mod structures;
pub(super) mod targeted;
pub(crate) mod telling;
mod text;
mod tuple_notes;
mod walking;

use std::cell::{Cell, RefCell};

use crate::api;
use crate::types::{Type, TypeNotes};

use super::questions::Inquiry;
use super::walk::Step;
use super::{Object, Reader, Result, Unreadable, Value};

pub(crate) use asking::Opens;
pub(crate) use elements::Holder;
pub(crate) use ids::ObjectIds;
pub(crate) use members::{Child, MemberView};
pub(crate) use source::Items;

/// What is looked at: a value in place, or an object.
#[derive(Debug, Clone)]
pub(crate) enum Subject {
    /// No object.
    Null,
    /// A struct, number or pointer; with the box it lies in, if it does.
    InPlace(Value, Option<Object>),
    /// An object.
    Object(Object),
}

/// Shows values. Made for one reply.
pub(crate) struct Viewer<'r, 't> {
    pub(crate) reader: &'r Reader<'t>,
    pub(crate) view: &'r api::View,
    ids: &'r ObjectIds,
    /// Bytes of text that may still be told.
    left: Cell<u64>,
    /// The objects that led to what is being shown.
    trail: RefCell<Vec<u64>>,
    /// Where to ask for what only code can tell, if that may run.
    inquiry: Option<&'r Inquiry<'r>>,
    /// Set inside the lines of values: nothing is asked there.
    is_hushed: Cell<bool>,
    /// Whether the key of the group whose line comes next stands before it already.
    is_key_told: Cell<bool>,
    /// Whether integers are shown in hexadecimal: as the look asks for, or a part of a `DebuggerDisplay`.
    is_hex: Cell<bool>,
    /// Where the reading of wrappers inside wrappers has got to.
    nesting: nesting::Nesting,
    clock: clock::Clock,
    /// Elements that lines may still show while they are made with wide limits ([`behind`]).
    wide: Cell<Option<u64>>,
    /// How many each variable of a frame may use for that.
    share: Cell<u64>,
    /// Elements that lines may still show because they were asked for.
    asked_left: Cell<u64>,
    /// Whether an enumeration was ended before its end, and can be taken further.
    is_enumeration_cut: Cell<bool>,
    /// The structs and enums whose `DebuggerDisplay` is being made.
    saying: RefCell<Vec<(Type, super::Place)>>,
}

impl<'r, 't> Viewer<'r, 't> {
    /// A viewer for one reply.
    pub(crate) fn new(reader: &'r Reader<'t>, view: &'r api::View, ids: &'r ObjectIds) -> Self {
        Self {
            reader,
            view,
            ids,
            left: Cell::new(view.total_text.into()),
            trail: RefCell::default(),
            inquiry: None,
            is_hushed: Cell::new(false),
            is_key_told: Cell::new(false),
            is_hex: Cell::new(view.hex),
            nesting: nesting::Nesting::default(),
            clock: clock::Clock::start(view.look_limit),
            wide: Cell::new(None),
            share: Cell::new(0),
            asked_left: Cell::new(MAX_PAGE),
            is_enumeration_cut: Cell::new(false),
            saying: RefCell::default(),
        }
    }

    /// The same, that asks for what only code can tell.
    pub(crate) fn asking(self, inquiry: Option<&'r Inquiry<'r>>) -> Self {
        Self { inquiry, ..self }
    }

    /// Whether the reply is as long as it may get.
    pub(crate) fn is_full(&self) -> bool {
        self.left.get() == 0
    }

    /// Whether looking has taken as long as it may.
    fn is_late(&self) -> bool {
        self.clock.is_late()
    }

    fn spend(&self, text: &str) {
        let cost = text.len() as u64 + 16;
        self.left.set(self.left.get().saturating_sub(cost));
    }

    /// What a value leads to: by-refs are followed, references too, and boxes are opened.
    pub(crate) fn subject(&self, value: &Value) -> Result<Subject> {
        let value = self.reader.behind_ref(value)?;
        if let super::Place::Text(_) = value.place {
            return Ok(Subject::InPlace(value, None));
        }
        if value.ty.is_value() == Some(true) {
            return match self.nullable(&value)? {
                Some(None) => Ok(Subject::Null),
                Some(Some(inner)) => Ok(Subject::InPlace(inner, None)),
                None => Ok(Subject::InPlace(value, None)),
            };
        }
        let Some(object) = self.reader.object(&value)? else {
            return Ok(Subject::Null);
        };
        Ok(match self.reader.unboxed(&object) {
            Some(inner) => Subject::InPlace(inner, Some(object)),
            None => Subject::Object(object),
        })
    }

    /// What is in a `T?`; `None` for other types.
    fn nullable(&self, value: &Value) -> Result<Option<Option<Value>>> {
        if self.reader.known(&value.ty) != known::Known::Nullable {
            return Ok(None);
        }
        let has = self.reader.field(value, "hasValue")?;
        if self.reader.scalar(&has)? == super::Scalar::Bool(false) {
            return Ok(Some(None));
        }
        self.reader.field(value, "value").map(|it| Some(Some(it)))
    }

    /// A step from a `T?`, which has a `Value` and says whether it has one.
    pub(crate) fn step_into_nullable(&self, value: &Value, step: &Step) -> Result<Value> {
        let value = self.reader.behind_ref(value)?;
        let found = self.step(&value, step);
        match step {
            Step::Member(name) if found.is_err() && name == "HasValue" => {
                self.reader.field(&value, "hasValue")
            }
            Step::Member(name) if found.is_err() && name == "Value" => {
                let inner = self.nullable(&value)?.flatten();
                inner.ok_or_else(|| Unreadable::Null {
                    what: "value".into(),
                })
            }
            _ => found,
        }
    }

    pub(crate) fn is_nullable(&self, value: &Value) -> bool {
        self.reader.known(value.ty.without_ref()) == known::Known::Nullable
    }

    /// A variable with a name, which may be one whose value is not to be seen.
    pub(crate) fn variable(&self, child: &Child, depth: u32) -> api::Variable {
        if let (api::VariableKind::TypeArgument, Ok(value)) = (child.kind, &child.value) {
            return self.type_argument(child, value);
        }
        let declared = self.reader.types.text_with(&child.ty, &child.notes, false);
        let is_secret = self.is_secret_variable(&child.name, &child.ty);
        let mut label = None;
        let value = if is_secret {
            masked(declared.clone())
        } else {
            match &child.value {
                Ok(value) => {
                    let mut shown = self.value(value, &child.notes, depth, &child.path);
                    label = self.labelled(child, &mut shown);
                    let is_delegate = shown.kind == api::ValueKind::Delegate;
                    if self.view.to_compare && (is_delegate || shown.text.contains(['…', '{'])) {
                        shown.behind_cut = self.behind_cut(value, &child.notes);
                    }
                    shown
                }
                Err(why) => unreadable(declared.clone(), why),
            }
        };
        self.spend(&child.name);
        self.spend(&child.path);
        api::Variable {
            name: child.name.clone(),
            kind: child.kind,
            path: child.path.clone(),
            declared_type: (declared != value.type_name).then_some(declared),
            shadowed: child.shadowed,
            label,
            value,
        }
    }

    /// What a type parameter stands for: a type, which has none itself.
    fn type_argument(&self, child: &Child, name: &Value) -> api::Variable {
        let name = self.reader.string(name, self.view.text_length);
        let (mut text, length) = name.ok().flatten().unwrap_or_default();
        if (text.encode_utf16().count() as u64) < length {
            text.push('…');
        }
        self.spend(&text);
        api::Variable {
            name: child.name.clone(),
            kind: child.kind,
            path: String::new(),
            declared_type: None,
            shadowed: false,
            label: None,
            value: told(String::new(), text, api::ValueKind::Type),
        }
    }

    /// A value, with so many levels of children.
    pub(crate) fn value(
        &self,
        value: &Value,
        notes: &TypeNotes,
        depth: u32,
        path: &str,
    ) -> api::Value {
        match self.subject(value) {
            Ok(subject) => self.shown(value, &subject, notes, depth, path),
            Err(why) => unreadable(self.reader.types.text(&value.ty).to_string(), &why),
        }
    }

    fn shown(
        &self,
        value: &Value,
        subject: &Subject,
        notes: &TypeNotes,
        depth: u32,
        path: &str,
    ) -> api::Value {
        let (ty, object) = match subject {
            Subject::Null => (value.ty.without_ref(), None),
            // A `T?` is one whether it has a value or not.
            Subject::InPlace(..) if self.is_nullable(value) => (value.ty.without_ref(), None),
            Subject::InPlace(inner, boxed) => (&inner.ty, boxed.as_ref()),
            Subject::Object(object) => (&object.ty, Some(object)),
        };
        let type_name = self.reader.types.text_with(ty, notes, false);
        let mut shown = api::Value {
            type_name,
            text: "null".into(),
            kind: api::ValueKind::Null,
            object: object.map(|object| self.ids.of(object)),
            children: 0,
            indexed: false,
            full_length: None,
            behind_cut: None,
            cycle: false,
            notes: Vec::new(),
            members: Vec::new(),
            omitted: None,
        };
        if let Subject::Null = subject {
            return shown;
        }
        let line = self.line(subject, notes, 0);
        shown.kind = line.kind;
        shown.text = line.text;
        shown.full_length = line.full_length;
        shown.notes = line.notes;
        self.spend(&shown.text);
        let address = object.map(|object| object.address);
        if let Some(address) = address
            && self.trail.borrow().contains(&address)
        {
            shown.cycle = true;
            return shown;
        }
        if line.kind == api::ValueKind::Unreadable {
            return shown;
        }
        let whole = self.type_of(subject).unwrap_or(ty);
        let depth = match self.reader.known(whole).is_told_by_its_line() && !self.view.raw {
            true => 0,
            false => depth,
        };
        // What is not told along is not opened either: nobody asked for code to run for it.
        let children = if depth > 0 {
            self.opened(subject, notes)
        } else {
            self.children(subject, notes).map(|it| (it, None))
        };
        match children {
            Ok((mut children, note)) => {
                shown.children = children.count();
                shown.notes.extend(note);
                if shown.children == 0 && self.inquiry.is_some() && self.opens(subject).is_some() {
                    // Something to open, though only code can tell how much.
                    shown.children = 1;
                }
                shown.indexed = children.is_indexed();
                if depth > 0 && !self.is_full() {
                    self.lead(value, &mut children);
                    self.trail.borrow_mut().extend(address);
                    let (members, omitted) =
                        self.page(&children, path, 0, DEFAULT_CHILDREN, depth - 1);
                    shown.members = members;
                    shown.omitted = omitted;
                    if address.is_some() {
                        self.trail.borrow_mut().pop();
                    }
                }
            }
            Err(why) => shown.notes.push(why.to_string()),
        }
        shown
    }

    /// Some children of what was asked for, with so many levels of theirs: a child that leads back to it is marked.
    pub(crate) fn page_of(
        &self,
        subject: &Subject,
        children: &Children,
        path: &str,
        (start, count): (u64, u64),
        depth: u32,
    ) -> (Vec<api::Variable>, Option<api::Omitted>) {
        let address = match subject {
            // Who asks level by level may go round.
            Subject::Object(object) if depth > 0 => Some(object.address),
            _ => None,
        };
        self.trail.borrow_mut().extend(address);
        let page = self.page(children, path, start, count, depth);
        if address.is_some() {
            self.trail.borrow_mut().pop();
        }
        page
    }

    /// Some children as variables, and what was left out of them.
    pub(crate) fn page(
        &self,
        children: &Children,
        path: &str,
        start: u64,
        count: u64,
        depth: u32,
    ) -> (Vec<api::Variable>, Option<api::Omitted>) {
        let total = children.count();
        let is_enumeration_cut = self.is_enumeration_cut.take();
        let mut told = Vec::new();
        let mut reason = api::OmitReason::Count;
        let wanted = count.min(MAX_PAGE);
        if self.view.to_compare && self.share.get() == 0 {
            self.share_among(children);
        }
        match children {
            Children::Members(list) => {
                let from = usize::try_from(start).unwrap_or(usize::MAX);
                let list = list.iter().skip(from).take(wanted as usize);
                let mut left = list.len() as u64;
                for child in list {
                    // One is told at least, or nobody would get on from there.
                    if self.is_full() && !told.is_empty() {
                        reason = api::OmitReason::Size;
                        break;
                    }
                    let child = child.under(path);
                    told.push(self.clock.share(left, || self.variable(&child, depth)));
                    left -= 1;
                }
            }
            Children::Items(items) => {
                let entries = self.entries(items, start, wanted);
                if (entries.len() as u64) < wanted.min(total.saturating_sub(start)) {
                    reason = match self.clock.is_over() {
                        true => api::OmitReason::Time,
                        false => api::OmitReason::Missing,
                    };
                }
                let mut left = entries.len() as u64;
                for entry in entries {
                    // One is told at least, or nobody would get on from there.
                    if self.is_full() && !told.is_empty() {
                        reason = api::OmitReason::Size;
                        break;
                    }
                    let child = self.entry_child(items, entry, path);
                    told.push(self.clock.share(left, || self.variable(&child, depth)));
                    left -= 1;
                }
            }
        }
        let next = start.saturating_add(told.len() as u64);
        // Who asks for more than there is has nothing left out.
        let mut left = total.saturating_sub(next);
        if let Children::Items(items) = children
            && items.is_cut
            && told.len() as u64 == wanted
        {
            // There are more than were counted.
            left = left.max(1);
        }
        if is_enumeration_cut {
            left = left.max(1);
        }
        let omitted = (left > 0).then_some(api::Omitted {
            count: left,
            start: next,
            reason,
            at_least: is_enumeration_cut,
        });
        (told, omitted)
    }

    /// The elements whose keys or numbers fit one of the patterns, among the first that there are; `None` if no elements
    /// or no patterns were given.
    pub(crate) fn named_elements(
        &self,
        children: &Children,
        patterns: &[String],
    ) -> Option<(Children, Option<String>)> {
        let Children::Items(items) = children else {
            return None;
        };
        if patterns.is_empty() {
            return None;
        }
        let entries = self.entries(items, 0, MAX_SEARCHED);
        let note = (items.count > MAX_SEARCHED)
            .then(|| format!("names were looked for among the first {MAX_SEARCHED} elements"));
        let mut found: Vec<Child> = entries
            .into_iter()
            .map(|entry| self.entry_child(items, entry, ""))
            .collect();
        found.retain(|child| {
            let bare = child.name.trim_start_matches('[').trim_end_matches(']');
            let bare = bare.trim_matches('"');
            let fits = |it: &String| is_like(&child.name, it) || is_like(bare, it);
            patterns.iter().any(fits)
        });
        Some((Children::Members(found), note))
    }

    /// The children of what is looked at: elements of a collection, members of anything else.
    pub(crate) fn children(&self, subject: &Subject, notes: &TypeNotes) -> Result<Children> {
        // The elements of an array are no view of it: it has nothing else.
        let array = self.type_of(subject);
        let array = array.is_some_and(|it| matches!(it, Type::SzArray(_) | Type::Array { .. }));
        let items = match self.items(subject) {
            // Its line says that its fields are shown, and why.
            Err(_) if !array => None,
            items => items?,
        };
        if (array || !self.view.raw)
            && let Some(items) = items
        {
            let items = self.declared_in(subject, notes, items);
            return Ok(Children::Items(Box::new(items)));
        }
        self.member_list(subject, notes).map(Children::Members)
    }

    /// The type of what is looked at.
    pub(crate) fn type_of<'s>(&self, subject: &'s Subject) -> Option<&'s Type> {
        match subject {
            Subject::Null => None,
            Subject::InPlace(value, _) => Some(&value.ty),
            Subject::Object(object) => Some(&object.ty),
        }
    }
}

/// Children told with a value that was asked for with some depth.
const DEFAULT_CHILDREN: u64 = 50;
/// Elements that are searched for names.
const MAX_SEARCHED: u64 = 10_000;
/// Children of one value that are told at most in one reply.
const MAX_PAGE: u64 = 10_000;

/// What lies inside a value.
#[derive(Debug)]
pub(crate) enum Children {
    /// Fields and properties.
    Members(Vec<Child>),
    /// Elements.
    Items(Box<Items>),
}

impl Children {
    fn count(&self) -> u64 {
        match self {
            Self::Members(list) => list.len() as u64,
            Self::Items(items) => items.count,
        }
    }

    /// Only those whose names fit one of the patterns; all if there are none.
    pub(crate) fn named_like(self, patterns: &[String]) -> Self {
        match self {
            Self::Members(mut list) if !patterns.is_empty() => {
                list.retain(|child| patterns.iter().any(|it| is_like(&child.name, it)));
                Self::Members(list)
            }
            other => other,
        }
    }

    fn is_indexed(&self) -> bool {
        matches!(self, Self::Items(_))
    }
}

/// Whether a name fits a pattern, in which `*` stands for any letters; case does not matter.
pub(crate) fn is_like(name: &str, pattern: &str) -> bool {
    let (name, pattern) = (name.to_lowercase(), pattern.to_lowercase());
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// A value that says why there is none.
pub(crate) fn unreadable(type_name: String, why: &Unreadable) -> api::Value {
    let kind = match why {
        Unreadable::Masked(_) => return masked(type_name),
        Unreadable::WouldRunCode => api::ValueKind::NotRun,
        _ => api::ValueKind::Unreadable,
    };
    told(type_name, why.to_string(), kind)
}

/// What is shown in place of a secret.
pub(crate) fn masked(type_name: String) -> api::Value {
    let text = "*** (masked because of its name)".into();
    told(type_name, text, api::ValueKind::Masked)
}

/// What is shown in place of something that was made from a secret.
pub(crate) fn masked_source(type_name: String) -> api::Value {
    let text = "*** (masked because of a name in the expression)".into();
    told(type_name, text, api::ValueKind::Masked)
}

/// A value that is only its text.
pub(crate) fn told(type_name: String, text: String, kind: api::ValueKind) -> api::Value {
    api::Value {
        type_name,
        text,
        kind,
        object: None,
        children: 0,
        indexed: false,
        full_length: None,
        behind_cut: None,
        cycle: false,
        notes: Vec::new(),
        members: Vec::new(),
        omitted: None,
    }
}
