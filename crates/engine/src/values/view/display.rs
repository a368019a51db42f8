//! `DebuggerDisplay`: the text that a type asks to be shown with.
//!
//! Its expressions are member paths as a rule, and those are followed here without running code: fields, automatic
//! properties, properties whose getter only returns a field, lengths and counts. [`Viewer::display_part`] is the one place
//! where an expression becomes text: the evaluator of expressions takes over there for everything else.

use std::rc::Rc;

use crate::expressions::{self, Behind, Looks, Shown, field_behind};
use crate::types::{Named, Property, Type};

use super::super::questions::{Answer, What};
use super::super::{Result, Unreadable, Value};
use super::known::Known;
use super::labels::Display;
use super::masking::has_secrets;
use super::{Subject, Viewer};

/// A display string longer than this is not meant to be read.
const MAX_DISPLAY: usize = 4096;
/// Expressions of one display string.
const MAX_PARTS: usize = 32;

impl Viewer<'_, '_> {
    /// What the type's attribute asks for; a note if it asks for more than can be told without running code.
    pub(super) fn debugger_display(
        &self,
        subject: &Subject,
        level: u32,
    ) -> (Option<String>, Option<String>) {
        let display = self.type_of(subject).and_then(|ty| self.display_of(ty));
        self.as_said(subject, display, level)
    }

    /// The same of a type that has a view of its own: only what the program says of it goes before that.
    pub(super) fn said_by_program(
        &self,
        subject: &Subject,
        ty: &Type,
        level: u32,
    ) -> (Option<String>, Option<String>) {
        let is_own = matches!(ty, Type::Named(_)) && self.reader.known(ty) != Known::AnonymousType;
        let display = is_own.then(|| self.own_display(ty)).flatten();
        let (text, note) = self.as_said(subject, display, level);
        // Its view shows more than fields.
        let note = note.map(|it| it.replace("shown by its fields: ", ""));
        (text, note)
    }

    fn as_said(
        &self,
        subject: &Subject,
        display: Option<Display>,
        level: u32,
    ) -> (Option<String>, Option<String>) {
        let Some(display) = display else {
            return (None, None);
        };
        let Some(format) = &display.value else {
            return (None, None);
        };
        // `{this}` is the value without what is said of it.
        let in_place = match subject {
            Subject::InPlace(value, _) => Some((value.ty.clone(), value.place.clone())),
            _ => None,
        };
        if let Some(value) = in_place {
            if self.saying.borrow().contains(&value) {
                return (None, None);
            }
            self.saying.borrow_mut().push(value);
        }
        let said = self.format(subject, format, &display.named, level);
        if let Subject::InPlace(..) = subject {
            self.saying.borrow_mut().pop();
        }
        match said {
            Ok(text) => (Some(text), None),
            Err(Unreadable::WouldRunCode) => (
                None,
                Some("shown by its fields: its DebuggerDisplay would run code".into()),
            ),
            Err(why) => (
                None,
                Some(format!("its DebuggerDisplay cannot be shown: {why}")),
            ),
        }
    }

    fn format(
        &self,
        subject: &Subject,
        format: &str,
        named: &Rc<Named>,
        level: u32,
    ) -> Result<String> {
        match self.formatted(subject, format, named, level)? {
            // There is nothing in it that says more than the fields do.
            (_, Some((why, false))) => Err(why),
            (text, _) => Ok(text),
        }
    }

    /// The text, and why a part of it could not be told, with whether another could.
    pub(super) fn formatted(
        &self,
        subject: &Subject,
        format: &str,
        named: &Rc<Named>,
        level: u32,
    ) -> Result<(String, Option<(Unreadable, bool)>)> {
        let mut text = String::new();
        let mut rest = format;
        let mut parts = 0;
        let mut told = 0;
        let mut failed = None;
        let mut needs_code = false;
        while let Some(open) = rest.find(['{', '\\']) {
            text.push_str(rest.get(..open).unwrap_or_default());
            let after = rest.get(open + 1..).unwrap_or_default();
            if rest.get(open..).is_some_and(|it| it.starts_with('\\')) {
                // `\{` is a brace.
                let mut letters = after.chars();
                text.extend(letters.next());
                rest = letters.as_str();
                continue;
            }
            let close = closing(after).ok_or_else(|| Unreadable::Path {
                path: format.to_owned(),
                at: open,
                why: "a brace is never closed".into(),
            })?;
            let expression = after.get(..close).unwrap_or_default();
            match self.display_part(subject, expression, named, level) {
                Ok(part) => {
                    told += 1;
                    text.push_str(&part);
                }
                // What can be told is told.
                Err(Unreadable::WouldRunCode) => {
                    needs_code = true;
                    text.push_str("<would run code>");
                }
                Err(why) => {
                    text.push_str(&format!("<{why}>"));
                    told += u32::from(matches!(why, Unreadable::Failed { .. }));
                    failed.get_or_insert(why);
                }
            }
            rest = after.get(close + 1..).unwrap_or_default();
            parts += 1;
            if parts > MAX_PARTS || text.len() > MAX_DISPLAY {
                break;
            }
        }
        text.push_str(rest);
        if told == 0 && needs_code {
            failed.get_or_insert(Unreadable::WouldRunCode);
        }
        Ok((text, failed.map(|why| (why, told > 0))))
    }

    /// One expression of a display string, as text: a member path, or whatever C# has.
    fn display_part(
        &self,
        subject: &Subject,
        whole: &str,
        named: &Rc<Named>,
        level: u32,
    ) -> Result<String> {
        if self.is_late() {
            let why = "reading took too long".into();
            return Err(Unreadable::Failed { why });
        }
        let mut expression = whole;
        let mut unquoted = false;
        let mut hex = self.is_hex.get();
        while let Some((path, format)) = expression.rsplit_once(',')
            && is_format(format)
        {
            expression = path;
            match format.trim() {
                "nq" => unquoted = true,
                "h" => hex = true,
                "d" => hex = false,
                _ => {}
            }
        }
        let expression = expression.trim();
        if let Some(literal) = expression
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'))
        {
            return Ok(literal.to_owned());
        }
        if self.view.mask_secrets && super::secrets::is_secret_named(expression) {
            return Ok("***".into());
        }
        // Code of something that has a secret in it could tell that under any name.
        let is_secretive = self.view.mask_secrets
            && has_secrets(self.reader.types, &Type::Named(Rc::clone(named)));
        let before = self.is_hushed.replace(is_secretive || self.is_hushed.get());
        let outside = self.is_hex.replace(hex);
        let shown = self.display_value(subject, (whole, expression, unquoted), named, level);
        self.is_hex.set(outside);
        self.is_hushed.set(before);
        shown
    }

    fn display_value(
        &self,
        subject: &Subject,
        (whole, expression, unquoted): (&str, &str, bool),
        named: &Rc<Named>,
        level: u32,
    ) -> Result<String> {
        let value = match self.follow(subject, expression) {
            Ok(value) => value,
            // Its getter was run, or is to be.
            Err(why @ (Unreadable::Failed { .. } | Unreadable::WouldRunCode))
                if self.inquiry.is_some() && !self.is_hushed.get() =>
            {
                return Err(why);
            }
            Err(why) => {
                let Some(this) = self.as_value(subject) else {
                    return Err(why);
                };
                let looks = Looks {
                    text: self.view.text_length,
                    masked: self.view.mask_secrets,
                    hex: self.is_hex.get(),
                };
                match expressions::display(self.reader, &this, named, whole, looks) {
                    Ok(Shown::Text(text)) => return Ok(text),
                    Ok(Shown::Value(value)) => value,
                    Err(Unreadable::WouldRunCode) => {
                        let what = What::Display(whole.to_owned(), Rc::clone(named));
                        match self.ask(&this, what)? {
                            Answer::Text(text) => return Ok(text.clone()),
                            Answer::Value(value) => self.reader.restored(value)?,
                            _ => return Err(Unreadable::WouldRunCode),
                        }
                    }
                    Err(why) => return Err(why),
                }
            }
        };
        if unquoted
            && value.ty == Type::STRING
            && let Some((text, length)) = self.reader.string(&value, self.view.text_length)?
        {
            let cut = if text.encode_utf16().count() as u64 == length {
                ""
            } else {
                "…"
            };
            return Ok(text + cut);
        }
        let notes = self.notes_along(subject, expression, &value.ty);
        Ok(self.brief_with(&Ok(value), &notes, level + 1))
    }

    /// A member path from what is looked at, without running code.
    pub(crate) fn follow(&self, subject: &Subject, path: &str) -> Result<Value> {
        let steps = super::super::walk::steps(path)?;
        let mut value = match subject {
            Subject::Null => {
                return Err(Unreadable::Null {
                    what: "members".into(),
                });
            }
            Subject::InPlace(value, _) => value.clone(),
            Subject::Object(object) => self.reader.reference_to(object),
        };
        for (at, (_, step)) in steps.iter().enumerate() {
            if at == 0 && *step == super::super::walk::Step::Member("this".into()) {
                continue;
            }
            value = self.step(&value, step)?;
        }
        Ok(value)
    }

    /// A member or element of a value, as a path names it: fields, properties that a field stands behind, lengths and
    /// counts, elements of collections.
    pub(crate) fn step(&self, from: &Value, step: &super::super::walk::Step) -> Result<Value> {
        use super::super::walk::Step;
        match step {
            Step::Member(name) if name == super::asking::PROXY => {
                let subject = self.subject(from)?;
                let value = self.as_value(&subject).ok_or_else(|| Unreadable::Null {
                    what: "DebuggerTypeProxy".into(),
                })?;
                self.ask_value(&value, What::Proxy)
            }
            Step::Member(name) => self
                .meant_member(from, name)
                .unwrap_or_else(|| self.first_member(from, name)),
            Step::Index(indexes) => self.element_by_index(from, indexes),
            Step::Key(key) => self.element_by_key(from, key),
            Step::Constant(name) => self.element_by_constant(from, name),
            Step::Position(position) => self.element_at(from, *position),
        }
    }

    /// The first member of a name that an object has.
    fn first_member(&self, from: &Value, name: &str) -> Result<Value> {
        match self.field_unless_secret(from, name) {
            Err(missing @ Unreadable::NoField { .. }) => {
                let found = self.property(from, name);
                found
                    .or_else(|| self.named_element(from, name))
                    .or_else(|| self.static_member(from, name))
                    .unwrap_or(Err(missing))
            }
            found => found,
        }
    }

    /// A static member by the name that it is listed with beside those of an object.
    fn static_member(&self, from: &Value, name: &str) -> Option<Result<Value>> {
        let subject = self.subject(from).ok()?;
        let all = self.static_list(self.type_of(&subject)?).ok()?.into_iter();
        { all }.find(|it| it.name == name).map(|it| it.value)
    }

    /// A property that can be told without running its getter.
    fn property(&self, from: &Value, name: &str) -> Option<Result<Value>> {
        let subject = self.subject(from).ok()?;
        let ty = self.type_of(&subject)?.clone();
        if matches!(name, "Length" | "Count" | "LongLength")
            && let Some(count) = self.count_of(&subject)
        {
            return Some(Ok(self
                .reader
                .copied(Type::INT, (count as u32).to_le_bytes())));
        }
        if name == "Target"
            && self.reader.known(&ty) == Known::Delegate
            && let Ok(Some(target)) = self.delegate_target(&self.as_value(&subject)?)
        {
            return Some(Ok(target));
        }
        if let Some(child) = self.named_tuple_item(&subject, name) {
            return Some(child);
        }
        // `Name (Base)` is how a hidden member is told.
        if let Some(value) = self.shown_member(&subject, name) {
            return Some(value);
        }
        let mut is_set_only = false;
        for named in self.reader.types.ancestry(&ty).ok()? {
            let properties = self.reader.types.properties(&named).ok()?;
            let Some(property) = properties.into_iter().find(|it| it.name == name) else {
                continue;
            };
            // The getter of one that is overridden without may stand in a base type.
            if property.getter.is_none() {
                is_set_only = true;
                continue;
            }
            return self.told_by_getter(&subject, property, name);
        }
        is_set_only.then(|| Err(Unreadable::no_getter()))
    }

    /// What a getter gives, if it only returns a field; else it is asked for, by the name that the property is listed with.
    pub(super) fn told_by_getter(
        &self,
        subject: &Subject,
        property: Property,
        listed: &str,
    ) -> Option<Result<Value>> {
        let types = self.reader.types;
        let getter = property
            .getter
            .map(|it| types.method(&property.declared_in, it));
        let behind = getter.and_then(|it| field_behind(types, &it.ok()?));
        Some(match behind {
            // The getter has a harmless name, what it returns has not.
            Some(Behind::Own(field) | Behind::Static(field))
                if self.is_secret_variable(&field.name, &property.ty) =>
            {
                Err(Unreadable::Masked(property.ty))
            }
            Some(Behind::Static(field)) => self.static_named(&field.declared_in, &field.name),
            Some(Behind::Own(field)) => match subject {
                Subject::Null => return None,
                Subject::Object(object) => self.reader.declared_field(object, &field),
                Subject::InPlace(value, _) => self.reader.field(value, &field.name),
            },
            None => {
                let value = self.as_value(subject)?;
                self.ask_value(&value, What::Getter(listed.to_owned()))
            }
        })
    }

    fn static_named(&self, named: &Rc<Named>, name: &str) -> Result<Value> {
        let fields = self.reader.types.fields(named)?;
        let found = fields.iter().find(|it| &*it.name == name);
        let field = found.ok_or_else(|| Unreadable::NoField {
            ty: self.reader.types.text(&Type::Named(Rc::clone(named))),
            name: name.to_owned(),
        })?;
        self.reader.static_field(named, field, None)
    }

    /// A property, of whatever kind; its getter is asked for if only that can tell.
    pub(super) fn computed(&self, from: &Value, name: &str) -> Result<Value> {
        self.property(from, name).unwrap_or_else(|| {
            Err(Unreadable::NoField {
                ty: self.reader.types.text(&from.ty),
                name: name.to_owned(),
            })
        })
    }

    fn named_tuple_item(&self, subject: &Subject, name: &str) -> Option<Result<Value>> {
        let ty = self.type_of(subject)?;
        self.reader.types.tuple_elements(ty)?;
        let members = self.member_list(subject, &Default::default()).ok()?;
        let found = members.into_iter().find(|it| it.name == name)?;
        Some(found.value)
    }

    fn shown_member(&self, subject: &Subject, name: &str) -> Option<Result<Value>> {
        if !name.ends_with(')') {
            return None;
        }
        let members = self.member_list(subject, &Default::default()).ok()?;
        let found = members.into_iter().find(|it| it.name == name)?;
        Some(match found.value {
            Err(Unreadable::WouldRunCode) => {
                let value = self.as_value(subject)?;
                self.ask_value(&value, What::Getter(name.to_owned()))
            }
            value => value,
        })
    }
}

/// Whether what follows the last comma of an expression is a format such as `nq`.
fn is_format(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'!')
}

/// The offset of the brace that closes one opened before `text`.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 1_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}
