//! One line of text for a value.

use std::fmt::Write;

use metadata::signature::Primitive;

use crate::api::ValueKind;
use crate::types::{Named, Type, TypeNotes};

use super::super::{Object, Place, Result, Scalar, Unreadable, Value};
use super::known::Known;
use super::source::{Entry, Items};
use super::{Children, Subject, Viewer, numbers};

/// Elements and members shown inside a line.
pub(super) const PREVIEW: u64 = 8;
/// Elements of a collection inside a line at most, where a number is asked for: more have no room in [`BRIEF`].
const ASKED_INSIDE: u64 = 32;
/// Characters of one value inside another's line.
const BRIEF: usize = 64;
/// How deep lines go into values.
const MAX_LEVEL: u32 = 2;
/// How deep they go into tuples, tasks and what else shows one value by another.
const MAX_NESTED: u32 = 4;

/// What stands in a line for elements that were not reached in time.
const TOO_LONG: &str = "<reading took too long>";

/// A line, and what it is.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) kind: ValueKind,
    pub(super) full_length: Option<u64>,
    pub(super) notes: Vec<String>,
}

impl Line {
    pub(super) fn new(text: impl Into<String>, kind: ValueKind) -> Self {
        Self {
            text: text.into(),
            kind,
            full_length: None,
            notes: Vec::new(),
        }
    }
}

impl Viewer<'_, '_> {
    /// The line of what is looked at; `level` 0 is a line of its own, others are parts of one.
    pub(super) fn line(&self, subject: &Subject, notes: &TypeNotes, level: u32) -> Line {
        let before = self.is_hushed.replace(level > 0 || self.is_hushed.get());
        let line = self.nesting.line(subject, || {
            self.try_line(subject, notes, level)
                .unwrap_or_else(|why| Line::new(why.to_string(), ValueKind::Unreadable))
        });
        self.is_hushed.set(before);
        // What its own line leads back to is told by its type.
        let mut line = line.unwrap_or_else(|| self.type_line(subject));
        let limit = if level == 0 {
            self.view.text_length.max(16) as usize
        } else {
            BRIEF
        };
        let limit = self.length_of_line(level, limit);
        if line.kind != ValueKind::String && line.text.chars().count() > limit {
            line.text = line.text.chars().take(limit).collect::<String>() + "…";
        }
        line
    }

    /// A value as part of another's line.
    pub(super) fn brief(&self, value: &Result<Value>, level: u32) -> String {
        self.brief_with(value, &TypeNotes::default(), level)
    }

    /// The same, of what a declaration says more about.
    pub(super) fn brief_with(
        &self,
        value: &Result<Value>,
        notes: &TypeNotes,
        level: u32,
    ) -> String {
        let subject = match value {
            Ok(value) => self.subject(value),
            Err(Unreadable::Masked(_)) => return "***".into(),
            Err(why) => return format!("<{why}>"),
        };
        match subject {
            Ok(Subject::Null) => "null".into(),
            Ok(subject) => self.line(&subject, notes, level).text,
            Err(why) => format!("<{why}>"),
        }
    }

    /// A value as part of another's line, so deep inside it.
    pub(crate) fn line_within(&self, value: &Value, level: u32) -> String {
        self.brief(&Ok(value.clone()), level)
    }

    /// A value as part of another's line, unless its name says that it is not to be seen.
    pub(super) fn brief_unless_secret(
        &self,
        name: &str,
        (value, notes): (&Result<Value>, &TypeNotes),
        level: u32,
    ) -> String {
        let ty = value.as_ref().map_or(&Type::OBJECT, |it| &it.ty);
        if self.is_secret_variable(name, ty) {
            "***".into()
        } else {
            self.brief_with(value, notes, level)
        }
    }

    /// What a call gave, as part of another's line.
    pub(crate) fn brief_kept(&self, kept: &crate::calls::Kept) -> String {
        self.brief(&self.reader.kept(kept), 0)
    }

    fn try_line(&self, subject: &Subject, notes: &TypeNotes, level: u32) -> Result<Line> {
        let ty = match subject {
            Subject::Null => return Ok(Line::new("null", ValueKind::Null)),
            Subject::InPlace(value, _) => {
                if let Place::Text(units) = &value.place {
                    return Ok(self.text_line(units, units.len() as u64, level));
                }
                &value.ty
            }
            Subject::Object(object) => &object.ty,
        };
        let known = self.reader.known(ty);
        let mut unsaid = None;
        if !self.view.raw && level <= self.depth_of_line(MAX_LEVEL) && known != Known::Plain {
            match self.said_by_program(subject, ty, level) {
                (Some(text), _) => return Ok(self.said_line(subject, known, level, text)),
                (None, note) => unsaid = note,
            }
        }
        let mut line = self.plain_line(subject, ty, known, notes, level)?;
        line.notes.extend(unsaid);
        Ok(line)
    }

    /// What attributes say of a value of a type that has a view of its own, with what is told of such values besides.
    fn said_line(&self, subject: &Subject, known: Known, level: u32, text: String) -> Line {
        let kind = match known {
            Known::Enum => ValueKind::Enum,
            Known::Delegate => ValueKind::Delegate,
            Known::Array => ValueKind::Array,
            _ => match self.items(subject) {
                Ok(Some(_)) => ValueKind::Collection,
                _ => ValueKind::Object,
            },
        };
        let mut line = Line::new(text, kind);
        if kind == ValueKind::Collection {
            line.notes
                .extend(self.note_of_fields(subject, known, level));
        }
        line
    }

    /// The line of a value, whatever the program says of its type where that has a view of its own.
    fn plain_line(
        &self,
        subject: &Subject,
        ty: &Type,
        known: Known,
        notes: &TypeNotes,
        level: u32,
    ) -> Result<Line> {
        if let Subject::InPlace(value, _) = subject
            && value.ty.underlying().is_some()
        {
            return self.scalar_line(value);
        }
        if self.view.raw {
            return Ok(match subject {
                Subject::Object(object) if known == Known::String => {
                    self.string_line(object, level)?
                }
                _ => Line::new(
                    format!("{{{}}}", self.reader.types.text(ty)),
                    ValueKind::Object,
                ),
            });
        }
        if let Subject::Object(object) = subject
            && known == Known::String
        {
            return self.string_line(object, level);
        }
        if level > MAX_NESTED && known.shows_others() {
            return Ok(self.type_line(subject));
        }
        if let Some(line) = self.framework_line(subject, known, notes, level)? {
            return Ok(line);
        }
        match self.items(subject) {
            Ok(Some(_)) => return self.collection_line(subject, known, notes, level),
            Ok(None) => {}
            // There is nothing else to an array.
            Err(why) if known == Known::Array => return Err(why),
            Err(why) => {
                let mut line = self.object_line(subject, notes, level)?;
                line.notes
                    .push(format!("shown by its fields, for its elements: {why}"));
                return Ok(line);
            }
        }
        if level > self.depth_of_line(MAX_LEVEL) {
            return Ok(self.type_line(subject));
        }
        let (shown, note) = self.debugger_display(subject, level);
        if let Some(shown) = shown {
            return Ok(Line::new(shown, ValueKind::Object));
        }
        let (text, failed) = match &note {
            None => self.own_text(subject),
            Some(_) => (None, None),
        };
        if let Some(text) = text {
            let mut line = Line::new(text, ValueKind::Object);
            line.notes.extend(failed);
            return Ok(line);
        }
        // The members of one line are not worth a call each.
        let before = self.is_hushed.replace(true);
        let line = self.object_line(subject, notes, level);
        self.is_hushed.set(before);
        let mut line = line?;
        line.notes.extend(note.or(failed));
        Ok(line)
    }

    fn scalar_line(&self, value: &Value) -> Result<Line> {
        match &value.ty {
            Type::Pointer(_) | Type::Function(_) => {
                let address = self.reader.word(value)?;
                let text = if address == 0 {
                    "null".into()
                } else {
                    format!("0x{address:x}")
                };
                return Ok(Line::new(text, ValueKind::Pointer));
            }
            Type::Named(named) => return self.enum_line(named, value),
            // Where something lies, and what it is, which only the runtime's own structures tell.
            Type::Primitive(Primitive::TypedReference) => {
                let address = self.reader.word(value)?;
                let text = format!("{{TypedReference to 0x{address:x}}}");
                return Ok(Line::new(text, ValueKind::Pointer));
            }
            _ => {}
        }
        let scalar = self.reader.scalar(value)?;
        let kind = match scalar {
            Scalar::Bool(_) => ValueKind::Bool,
            Scalar::Char(_) => ValueKind::Char,
            _ => ValueKind::Number,
        };
        let mut text = numbers::scalar(scalar, self.is_hex.get());
        // Tested it is true, compared it is neither.
        if kind == ValueKind::Bool
            && let Some(byte @ 2..) = self.reader.bytes(value, 1)?.first()
        {
            let _ = write!(text, " (0x{byte:02x})");
        }
        Ok(Line::new(text, kind))
    }

    /// `Red`, `Read | Write`, `Read | 0x40`, or a number that no member has.
    fn enum_line(&self, named: &Named, value: &Value) -> Result<Line> {
        let number = self.reader.scalar(value)?;
        let definition = self.reader.types.definition(named)?;
        let mask = match Scalar::size(number.primitive()) {
            Some(size) if size < 8 => (1_u64 << (size * 8)) - 1,
            _ => u64::MAX,
        };
        let bits = number.as_i128().unwrap_or_default() as u64 & mask;
        let mut members = Vec::new();
        for member in definition.enum_members() {
            let member = member?;
            let Some(of_member) = member.value.bits() else {
                continue;
            };
            let of_member = of_member & mask;
            if of_member == bits {
                return Ok(Line::new(member.name, ValueKind::Enum));
            }
            members.push((of_member, member.name));
        }
        let plain = numbers::scalar(number, self.is_hex.get());
        if !definition.is_flags_enum() || bits == 0 {
            return Ok(Line::new(plain, ValueKind::Enum));
        }
        // The largest members first, so that a named combination wins over its parts.
        members.sort_by_key(|&(of_member, _)| std::cmp::Reverse(of_member));
        let mut left = bits;
        let mut names = Vec::new();
        for (of_member, name) in &members {
            if *of_member != 0 && left & of_member == *of_member {
                left &= !of_member;
                names.push(name.as_ref());
            }
        }
        if names.is_empty() {
            return Ok(Line::new(plain, ValueKind::Enum));
        }
        names.reverse();
        let mut text = names.join(" | ");
        if left != 0 {
            let _ = write!(text, " | 0x{left:x}");
        }
        Ok(Line::new(text, ValueKind::Enum))
    }

    fn string_line(&self, object: &Object, level: u32) -> Result<Line> {
        let (units, length) = self.reader.string_units(object, self.string_limit(level))?;
        Ok(self.text_line(&units, length, level))
    }

    /// A part of a long text from one of its units on, where that part ends, and how long all of it is; `None` for what is no
    /// text.
    pub(crate) fn text_from(&self, value: &Value, start: u64) -> Option<(String, u64, u64)> {
        let Subject::Object(object) = self.subject(value).ok()? else {
            return None;
        };
        let limit = self.view.text_length;
        let (mut units, length) = match self.reader.known(&object.ty) {
            Known::StringBuilder => {
                let built = self.built(&self.reader.reference_to(&object), start, limit.into());
                let built = built.ok().filter(|it| !it.is_damaged)?;
                (built.units, built.claimed.cast_unsigned())
            }
            _ => self.reader.string_part(&object, start, limit).ok()?,
        };
        let end = start.saturating_add(units.len() as u64).min(length);
        // A character of two units is not cut in half.
        if let Some(0xd800..=0xdbff) = units.last()
            && end < length
            && units.len() > 1
        {
            units.pop();
            return Some((numbers::quoted(&units), end - 1, length));
        }
        Some((numbers::quoted(&units), end, length))
    }

    pub(super) fn string_limit(&self, level: u32) -> u32 {
        let narrow = if level == 0 {
            self.view.text_length as usize
        } else {
            BRIEF
        };
        self.length_of_line(level, narrow) as u32
    }

    /// Text of the program as a literal; what was cut is said.
    pub(super) fn text_line(&self, units: &[u16], length: u64, level: u32) -> Line {
        let limit = self.string_limit(level) as usize;
        let mut shown = units.get(..limit).unwrap_or(units);
        // A character of two units is not cut in half.
        if let Some((0xd800..=0xdbff, whole)) = shown.split_last()
            && (shown.len() as u64) < length
        {
            shown = whole;
        }
        let mut line = Line::new(numbers::quoted(shown), ValueKind::String);
        if (shown.len() as u64) < length {
            line.text.push('…');
            line.full_length = Some(length);
        }
        line
    }

    /// `Count = 3 { 1, 2, 3 }`.
    fn collection_line(
        &self,
        subject: &Subject,
        known: Known,
        notes: &TypeNotes,
        level: u32,
    ) -> Result<Line> {
        let Children::Items(items) = self.children(subject, notes)? else {
            return self.object_line(subject, notes, level);
        };
        let kind = if known == Known::Array {
            ValueKind::Array
        } else {
            ValueKind::Collection
        };
        let measure = match known {
            Known::Array => "Length",
            Known::Span
            | Known::ReadOnlySpan
            | Known::Memory
            | Known::ReadOnlyMemory
            | Known::ReadOnlySequence => "Length",
            _ => "Count",
        };
        let mut text = match items.lengths() {
            Some(lengths) => format!("Length = {lengths}"),
            None if items.is_cut => format!("{measure} ≥ {}", items.count),
            None => format!("{measure} = {}", items.count),
        };
        if known == Known::Grouping && !self.is_key_told.take() {
            let value = self.as_value(subject).ok_or(Unreadable::OptimizedAway)?;
            let key = self.any_field(&value, &["_key"]);
            let notes = self.notes_of_key(&value, notes, key.as_ref().ok());
            let key = self.brief_with(&key, &notes, level + 1);
            text = format!("Key = {key}, {text}");
        }
        let mut missing = None;
        if level < self.depth_of_line(MAX_LEVEL) && items.count > 0 {
            let shown = self.elements_in_line(level, items.count);
            let entries = self.entries(&items, 0, shown);
            let found = entries.len() as u64;
            let is_late = found < shown && self.clock.is_over();
            let mut parts: Vec<String> = entries
                .iter()
                .zip((1..=found).rev())
                .map(|(entry, left)| {
                    let write = || self.entry_in_line(&items, entry, level + 1);
                    self.clock.part(left, write)
                })
                .collect();
            if is_late {
                parts.push(TOO_LONG.into());
            }
            if found < shown && !is_late && !items.is_cut && items.note.is_none() {
                missing = Some(format!(
                    "it says that it has {} elements, but {found} were found: it is damaged or being changed",
                    items.count
                ));
            }
            if missing.is_none() && found < items.count && !is_late {
                let left = items.count - found;
                parts.push(match (self.view.elements, items.is_cut) {
                    (None, _) => "…".into(),
                    (Some(_), false) => format!("… {left} more"),
                    (Some(_), true) => format!("… at least {left} more"),
                });
            }
            let _ = write!(text, " {{ {} }}", parts.join(", "));
        }
        let mut line = Line::new(text, kind);
        line.notes.extend(items.note.clone().or(missing));
        line.notes
            .extend(self.note_of_fields(subject, known, level));
        if items.is_cut {
            line.notes
                .push("counting took too long: there are more than were counted".into());
        }
        Ok(line)
    }

    /// How many elements of a collection a line shows, of so many that there are.
    fn elements_in_line(&self, level: u32, count: u64) -> u64 {
        let narrow = if level == 0 { PREVIEW } else { 3 };
        let asked = self.view.elements.filter(|_| !self.is_wide());
        let Some(asked) = asked else {
            return self.shown_in_line(narrow, count);
        };
        let most = if level == 0 { u64::MAX } else { ASKED_INSIDE };
        let left = self.asked_left.get();
        let shown = asked.min(most).min(left.max(narrow)).min(count);
        self.asked_left.set(left.saturating_sub(shown));
        shown
    }

    /// An element as part of the line of what it lies in.
    fn entry_in_line(&self, items: &Items, entry: &Entry, level: u32) -> String {
        let (of_key, of_value) = self.notes_of_entry(items, entry);
        let value = (&entry.value, &of_value);
        match &entry.key {
            Some(key) => {
                let key = self.brief_with(&Ok(key.clone()), &of_key, level);
                self.is_key_told.set(items.are_groups());
                let value = self.brief_unless_secret(&key, value, level);
                self.is_key_told.set(false);
                let value = self.with_other_type(&entry.value, value);
                format!("[{key}] = {value}")
            }
            None => {
                let name = entry.name.as_deref().unwrap_or_default();
                let told = self.brief_unless_secret(name, value, level);
                let told = self.with_other_type(&entry.value, told);
                // The members of a dynamic object have names, the elements of an array only indexes.
                match name.is_empty() || name.starts_with('[') {
                    true => told,
                    false => format!("{name} = {told}"),
                }
            }
        }
    }

    /// The text of an element with its type, where that is another one than the collection's and the text does not tell it.
    fn with_other_type(&self, value: &Result<Value>, told: String) -> String {
        let Ok(value) = value else {
            return told;
        };
        // What is declared by its very type tells nothing new.
        if !value.ty.is_reference() || told == "null" || told == "***" {
            return told;
        }
        let Ok(subject) = self.subject(value) else {
            return told;
        };
        let (ty, is_boxed) = match &subject {
            Subject::InPlace(inner, Some(_)) => (&inner.ty, true),
            Subject::Object(object) if object.ty != value.ty => (&object.ty, false),
            _ => return told,
        };
        if let Type::Primitive(primitive) = ty {
            // `NaN` and `Infinity` have none.
            let is_number = told.ends_with(|it: char| it.is_ascii_digit());
            let suffix = match primitive {
                _ if !is_boxed || !is_number || self.is_hex.get() => "",
                Primitive::U4 => "u",
                Primitive::I8 => "L",
                Primitive::U8 => "UL",
                Primitive::R4 => "f",
                Primitive::R8 => "d",
                _ => "",
            };
            return told + suffix;
        }
        let is_decimal = is_boxed && self.reader.known(ty) == Known::Decimal;
        match told.starts_with("{ ") {
            true => format!("{} {told}", self.reader.types.text(ty)),
            false if is_decimal => told + "m",
            false => told,
        }
    }

    /// That there is more than elements, of something that shows these.
    fn note_of_fields(&self, subject: &Subject, known: Known, level: u32) -> Option<String> {
        // What these are made of are their elements.
        let is_all = matches!(known, Known::Array | Known::Buffer | Known::Delegate);
        let own = self.type_of(subject).filter(|_| level == 0 && !is_all)?;
        self.has_own_fields(own)
            .then(|| "it has fields of its own, which its raw view shows".into())
    }

    /// Whether a type of the program that is derived from a collection adds fields to it.
    fn has_own_fields(&self, ty: &Type) -> bool {
        let types = self.reader.types;
        let ancestry = types.ancestry(ty).unwrap_or_default();
        let mut own = ancestry
            .iter()
            .take_while(|it| !self.reader.is_of_framework(&Type::Named((*it).clone())));
        own.any(|named| {
            let fields = types.fields(named).unwrap_or_default();
            fields.iter().any(|it| !it.flags.is_static())
        })
    }

    /// `{ Id = 3, Name = "x" }`; deep inside a line only the type.
    fn object_line(&self, subject: &Subject, notes: &TypeNotes, level: u32) -> Result<Line> {
        if level >= self.depth_of_line(MAX_LEVEL) {
            return Ok(self.type_line(subject));
        }
        let members = self.member_list(subject, notes)?;
        let is_shown = |child: &&super::Child| {
            !matches!(
                child.kind,
                crate::api::VariableKind::Static | crate::api::VariableKind::Constant
            ) && !matches!(child.value, Err(Unreadable::WouldRunCode))
        };
        let members: Vec<_> = members.iter().filter(is_shown).collect();
        if members.is_empty() {
            return Ok(self.type_line(subject));
        }
        let mut parts = Vec::new();
        let count = members.len() as u64;
        let told = self.shown_in_line(PREVIEW, count);
        for (child, left) in members.iter().zip((1..=told).rev()) {
            let value = (&child.value, &child.notes);
            let write = || self.brief_unless_secret(&child.name, value, level + 1);
            let shown = self.clock.part(left, write);
            parts.push(format!("{} = {shown}", child.name));
        }
        let more = if count > told { ", …" } else { "" };
        Ok(Line::new(
            format!("{{ {}{more} }}", parts.join(", ")),
            ValueKind::Object,
        ))
    }

    /// `{Order}`.
    fn type_line(&self, subject: &Subject) -> Line {
        let ty = self.type_of(subject).unwrap_or(&Type::OBJECT);
        let text = format!("{{{}}}", self.reader.types.text(ty));
        Line::new(text, ValueKind::Object)
    }

    /// `(1, "a")`.
    pub(super) fn tuple_line(
        &self,
        subject: &Subject,
        notes: &TypeNotes,
        level: u32,
    ) -> Result<Line> {
        let members = self.member_list(subject, notes)?;
        let parts: Vec<String> = members
            .iter()
            .map(|child| {
                let value = (&child.value, &child.notes);
                self.brief_unless_secret(&child.name, value, level + 1)
            })
            .collect();
        Ok(Line::new(
            format!("({})", parts.join(", ")),
            ValueKind::Object,
        ))
    }
}
