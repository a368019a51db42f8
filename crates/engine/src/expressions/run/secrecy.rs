//! Whether what an expression gives may be a secret, although its text names none: the value of a dictionary's entry whose
//! key does, the text of an object that has a secret in it, a field of such a name that a getter of another returns.
//!
//! Seen as the plan runs, for whoever wants secrets masked; coarse by intention, since nobody can tell which part of a
//! result came from where.

use super::{Made, Result, Runner, Val};
use crate::expressions::plan::{Callee, FieldRef, Node};
use crate::expressions::scalar::Scalar;
use crate::types::Type;
use crate::values::view::masking;
use crate::values::view::secrets::is_secret;

/// Entries of a dictionary that are looked through for keys of secrets.
const MAX_KEYS: usize = 10_000;

impl Runner<'_, '_> {
    /// The same, that notices when a secret is read.
    pub(in crate::expressions) fn noticing_secrets(mut self, is_wanted: bool) -> Self {
        self.notices_secrets = is_wanted;
        self
    }

    /// Whether something was read that is a secret.
    pub(in crate::expressions) fn has_read_secret(&self) -> bool {
        self.has_read_secret
    }

    /// Notices a call that gives a secret.
    pub(super) fn notice_call(
        &mut self,
        callee: &Callee,
        target: Option<&(Val, Type)>,
        arguments: &[Val],
    ) {
        if !self.notices_secrets || self.has_read_secret {
            return;
        }
        let Some((value, declared)) = target else {
            return;
        };
        self.has_read_secret = match &*callee.method.name {
            "ToString" => {
                let exact = self.exact_type(value);
                masking::has_secrets(self.types, exact.as_ref().unwrap_or(declared))
            }
            "get_Values" => self.has_secret_key(value),
            "get_Item" | "GetValueOrDefault" | "TryGetValue" => {
                arguments.first().is_some_and(|key| self.is_secret_key(key))
            }
            "get_Value" => {
                let key = self.part(value, "key").or_else(|| self.part(value, "_key"));
                key.is_some_and(|key| self.is_secret_key(&key))
            }
            _ => false,
        };
    }

    /// Notices the reading of a field that has the name of a secret, which a getter of another name may only return, or
    /// that belongs to a key.
    pub(super) fn notice_field(&mut self, target: &Val, field: &FieldRef) {
        self.notice_static(field);
        if !self.notices_secrets || self.has_read_secret {
            return;
        }
        if let Some(key) = masking::key_beside(&field.name)
            && let Some(key) = self.part(target, key)
        {
            self.has_read_secret = self.is_secret_key(&key);
        }
    }

    /// Notices the reading of a static field that has the name of a secret.
    pub(super) fn notice_static(&mut self, field: &FieldRef) {
        self.has_read_secret |=
            self.notices_secrets && self.reader.is_secret(&field.name, &field.ty);
    }

    /// Notices the reading of a tuple that has an element with the name of a secret.
    pub(super) fn notice_tuple(&mut self, node: &Node) {
        if !self.notices_secrets || node.names.is_empty() {
            return;
        }
        let ty = node.ty.without_ref();
        let inner = self.types.nullable_of(ty);
        let ty = inner.as_ref().unwrap_or(ty);
        if self.types.tuple_elements(ty).is_some() {
            self.has_read_secret |= node.names.iter().flatten().any(|name| is_secret(name));
        }
    }

    /// Notices the reading of a tuple's element that has the name of a secret, by its number.
    pub(super) fn notice_item(&mut self, tuple: &Node, field: &str) {
        if !self.notices_secrets || tuple.names.is_empty() {
            return;
        }
        let number = field.strip_prefix("Item").and_then(|it| it.parse().ok());
        let number = number.and_then(|it: usize| it.checked_sub(1));
        let name = number.and_then(|number| tuple.names.get(number)?.as_deref());
        if self.types.tuple_elements(&tuple.ty).is_some() {
            self.has_read_secret |= name.is_some_and(is_secret);
        }
    }

    /// Whether the fields of a pair say that its value is a secret.
    pub(super) fn is_secret_pair(&self, parts: &[(String, Val, Type)], value: &str) -> bool {
        let Some(key) = masking::key_beside(value) else {
            return false;
        };
        let key = parts.iter().find(|(name, ..)| name == key);
        key.is_some_and(|(_, key, _)| self.is_secret_key(key))
    }

    fn has_secret_key(&mut self, dictionary: &Val) -> bool {
        // What is looked at here is not what the expression looks at: nothing is noted, and nothing runs.
        let before = self.items;
        let keys = self.keys_now(dictionary);
        self.items = before;
        let keys = keys.unwrap_or_default();
        keys.iter().any(|key| self.is_secret_key(key))
    }

    /// The keys of a dictionary, of one that is derived from the framework's too.
    fn keys_now(&mut self, dictionary: &Val) -> Result<Vec<Val>> {
        let span = syntax::Span::empty(0);
        let of_items = |this: &Self, items: Vec<Val>| {
            let items = items.iter().take(MAX_KEYS);
            items.filter_map(|it| this.part(it, "key")).collect()
        };
        let Val::Object(object) = dictionary else {
            let items = self.items_of(dictionary, span)?;
            return Ok(of_items(self, items));
        };
        if !self.is_dictionary(&object.ty) {
            let items = self.viewed_items(object, span)?;
            return Ok(of_items(self, items.unwrap_or_default()));
        }
        let Val::Object(entries) = self.raw(object, "_entries", span)? else {
            return Ok(Vec::new());
        };
        let mut keys = Vec::new();
        for at in self
            .live_entries(object, true, span)?
            .into_iter()
            .take(MAX_KEYS)
        {
            let entry = self.reader.element(&entries, at);
            let key = entry.and_then(|it| self.reader.field(&it, "key"));
            let key = key.map_err(|why| self.unreadable(&why, span))?;
            keys.push(self.decode(&key, span)?);
        }
        Ok(keys)
    }

    /// A field of a pair.
    fn part(&self, of: &Val, name: &str) -> Option<Val> {
        match of {
            Val::Made(made) => match &**made {
                Made::Fields(_, fields) => {
                    let found = fields.iter().find(|(it, _)| **it == *name);
                    found.map(|(_, value)| value.clone())
                }
                _ => None,
            },
            Val::Struct(place) => {
                let field = self.reader.field(place, name).ok()?;
                self.reader.object(&field).ok()?.map(Val::Object)
            }
            Val::Object(object) => {
                let field = self.reader.object_field(object, name).ok()?;
                self.reader.object(&field).ok()?.map(Val::Object)
            }
            _ => None,
        }
    }

    fn is_secret_key(&self, key: &Val) -> bool {
        match key {
            Val::Scalar(Scalar::String(units)) => is_secret(&String::from_utf16_lossy(units)),
            Val::Object(object) => self
                .reader
                .string_units(object, 256)
                .is_ok_and(|(units, _)| is_secret(&String::from_utf16_lossy(&units))),
            _ => false,
        }
    }
}
