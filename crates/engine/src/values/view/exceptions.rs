//! The lines of exceptions: their types with their messages.

use std::rc::Rc;

use crate::api::ValueKind;
use crate::exceptions::messages::{self, Parts};
use crate::types::{Named, Type};

use super::super::questions::What;
use super::super::{Result, Unreadable, Value};
use super::asking::on_one_line;
use super::text::{Line, PREVIEW};
use super::{Subject, Viewer, numbers};

/// Characters of the message of an inner exception.
const INNER_TEXT: u32 = 256;

impl Viewer<'_, '_> {
    /// `System.ArgumentException: no name (Parameter 'name')`.
    pub(super) fn exception(&self, value: &Value) -> Result<Line> {
        let subject = self.subject(value)?;
        let ty = self.type_of(&subject).cloned().unwrap_or(Type::OBJECT);
        let name = self.reader.types.full_text(&ty);
        let (text, overridden_by) = self.message(value, &ty, self.view.text_length);
        let mut notes = Vec::new();
        let text = match &overridden_by {
            None => text,
            Some(by) => {
                let asked = self.as_value(&subject).ok_or(Unreadable::WouldRunCode);
                let asked =
                    asked.and_then(|it| self.ask_value(&it, What::Getter("Message".into())));
                let told = asked.and_then(|it| self.reader.string(&it, self.view.text_length));
                match told {
                    Ok(told) => told.map(|(text, _)| text),
                    Err(why) => {
                        notes.push(messages::overridden(by, text.is_some()));
                        if !matches!(why, Unreadable::WouldRunCode) {
                            notes.push(why.to_string());
                        }
                        text
                    }
                }
            }
        };
        let text = match text {
            Some(text) => format!("{name}: {text}{}", self.inner_messages(value)),
            None => name,
        };
        let text: String = text.chars().flat_map(on_one_line).collect();
        let mut line = Line::new(text, ValueKind::Object);
        line.notes = notes;
        Ok(line)
    }

    /// The message of an exception, and the type that overrides it if only code can tell what it is now.
    fn message(&self, value: &Value, ty: &Type, limit: u32) -> (Option<String>, Option<String>) {
        let types = self.reader.types;
        let ancestry = types.ancestry(ty).unwrap_or_default();
        let overrides = |it: &&Rc<Named>| {
            let methods = types.methods(it, Some("get_Message"));
            methods.is_ok_and(|it| !it.is_empty())
        };
        let by = ancestry.iter().find(overrides);
        let full = |it: &Rc<Named>| {
            let metadata = types.metadata(it.module).ok()?.metadata();
            metadata.full_name(it.token).ok()
        };
        let by = by.and_then(full);
        let by = by.unwrap_or_else(|| "System.Exception".into());
        let name = ty.as_named().and_then(full).unwrap_or_default();
        let mut parts = Seen {
            viewer: self,
            value,
            limit,
        };
        match messages::message(&name, &by, &mut parts) {
            Some(text) => (Some(text), None),
            None => (parts.text("_message"), Some(by.replace('+', "."))),
        }
    }

    /// What the message of an `AggregateException` adds to what it was made with.
    fn inner_messages(&self, value: &Value) -> String {
        let names = ["_innerExceptions", "m_innerExceptions"];
        let Ok(Some(array)) = self.object_in(value, &names) else {
            return String::new();
        };
        let count = self.reader.array(&array).map_or(0, |it| it.count);
        let message = |at: u64| -> Option<String> {
            let inner = self.reader.element(&array, at).ok()?;
            let subject = self.subject(&inner).ok()?;
            let ty = self.type_of(&subject)?.clone();
            let (text, _) = self.message(&inner, &ty, INNER_TEXT);
            Some(format!(" ({})", text?))
        };
        let mut text: String = (0..count.min(PREVIEW)).filter_map(message).collect();
        if count > PREVIEW {
            text.push_str(" …");
        }
        text
    }
}

/// The fields of an exception that a viewer reads.
struct Seen<'v, 'r, 't> {
    viewer: &'v Viewer<'r, 't>,
    value: &'v Value,
    limit: u32,
}

impl Parts for Seen<'_, '_, '_> {
    fn text(&mut self, field: &str) -> Option<String> {
        let value = self.viewer.any_field(self.value, &[field]).ok()?;
        let (text, _) = self.viewer.reader.string(&value, self.limit).ok()??;
        Some(text)
    }

    fn is_null(&mut self, field: &str) -> bool {
        let value = self.viewer.any_field(self.value, &[field]);
        value.map_or(true, |it| {
            self.viewer.reader.word(&it).is_ok_and(|it| it == 0)
        })
    }

    fn plain(&mut self, field: &str) -> Option<String> {
        let value = self.viewer.any_field(self.value, &[field]).ok()?;
        match self.viewer.subject(&value).ok()? {
            Subject::InPlace(value, _) => {
                let scalar = self.viewer.reader.scalar(&value).ok()?;
                // What has a fraction, and letters, are written otherwise.
                scalar.as_i128()?;
                let is_whole = !matches!(
                    scalar,
                    super::super::Scalar::Bool(_) | super::super::Scalar::Char(_)
                );
                let is_number = is_whole && matches!(value.ty, Type::Primitive(_));
                is_number.then(|| numbers::scalar(scalar, false))
            }
            Subject::Object(_) => self.text(field),
            Subject::Null => None,
        }
    }
}
