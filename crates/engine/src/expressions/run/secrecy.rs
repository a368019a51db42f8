//! Whether what an expression gives may be a secret, although its text names none: the value of a dictionary's entry whose
//! key does, the text of an object that has a secret in it, a field of such a name that a getter of another returns.
//!
//! Seen as the plan runs, for whoever wants secrets masked; coarse by intention, since nobody can tell which part of a
//! result came from where.

use super::{Made, Result, Runner, Val};
use crate::expressions::plan::{Callee, FieldRef, Node};
use crate::expressions::scalar::Scalar;
use crate::types::{Field, Type};
use crate::values::view::masking;
use crate::values::view::secrets::is_secret;
use crate::values::{Member, Value};

/// Objects that are looked through for secrets at each call, and how deep inside each other.
const MAX_OBJECTS: usize = 64;
const MAX_DEPTH: u32 = 3;
/// Secrets that are remembered, and letters of each.
const MAX_SECRETS: usize = 64;
const MAX_SECRET: u32 = 1024;
/// Shorter ones stand in other texts by chance.
const LENGTH: usize = 4;
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
        let given = arguments.iter().chain(target.map(|(value, _)| value));
        given.for_each(|it| self.remember_secrets(it));
        let Some((value, declared)) = target else {
            return;
        };
        self.has_read_secret = match &*callee.method.name {
            "ToString" => {
                let exact = self.exact_type(value);
                let exact = exact.as_ref().unwrap_or(declared);
                masking::has_secrets(self.types, exact) && !self.remembers_all_of(value, exact)
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

    /// Remembers the texts in an object that are secrets by the names of their fields, and in what that refers to: what its
    /// code gives may hold them.
    fn remember_secrets(&mut self, value: &Val) {
        let place = match value {
            Val::Object(object) if object.ty != Type::STRING => self.reader.reference_to(object),
            Val::Struct(place) => place.clone(),
            _ => return,
        };
        let mut left = MAX_OBJECTS;
        self.remember_secrets_in(&place, &mut left, 0);
    }

    /// Whether all that is secret by its name in an object is a text that was remembered, and will be found in what its code gives.
    fn remembers_all_of(&self, value: &Val, exact: &Type) -> bool {
        let Val::Object(object) = value else {
            return false;
        };
        let Ok(members) = self.reader.members(object) else {
            return false;
        };
        let secrets: Vec<&Member> = members
            .iter()
            .filter(|it| is_secret(&it.field.name))
            .collect();
        let is_remembered = |member: &&Member| {
            let place = self.reader.member(object, member);
            match self.reader.object(&place) {
                Ok(None) => true,
                Ok(Some(text)) if text.ty == Type::STRING => {
                    let units = self.reader.string_units(&text, MAX_SECRET);
                    units.is_ok_and(|(units, length)| {
                        let is_found = length >= LENGTH as u64 && length <= MAX_SECRET.into();
                        length == 0 || is_found && self.secrets.contains(&units)
                    })
                }
                _ => false,
            }
        };
        // What another property or a static field has is not known.
        let levels = self.types.ancestry(exact).unwrap_or_default();
        let are_fields = levels.iter().all(|named| {
            let fields = self.types.fields(named).unwrap_or_default();
            let mut statics = fields.iter().filter(|it| it.flags.is_static());
            let properties = self.types.properties(named).unwrap_or_default();
            let mut properties = properties.iter().filter(|it| is_secret(&it.name));
            named.arguments.is_empty()
                && !statics.any(|it| is_secret(&it.name))
                && properties.all(|property| {
                    let field = format!("<{}>k__BackingField", property.name);
                    fields.iter().any(|it| *it.name == *field)
                })
        });
        are_fields && secrets.iter().all(is_remembered)
    }

    fn remember_secrets_in(&mut self, place: &Value, left: &mut usize, depth: u32) {
        let object = match place.ty.is_value() {
            Some(true) => None,
            _ => match self.reader.object(place) {
                Ok(Some(object)) => Some(object),
                _ => return,
            },
        };
        let ty = object.as_ref().map_or(&place.ty, |it| &it.ty);
        // Nor are numbers looked through, and what the framework keeps has no such names.
        if *left == 0 || !matches!(ty, Type::Named(_)) || self.reader.is_of_framework(ty) {
            return;
        }
        *left -= 1;
        let fields: Vec<(Field, Value)> = match &object {
            Some(object) => self.reader.members(object).map(|members| {
                let member = |it: &Member| (it.field.clone(), self.reader.member(object, it));
                members.iter().map(member).collect()
            }),
            None => self.reader.struct_members(&place.ty).map(|members| {
                let part = |it: &Member| {
                    let part = self.reader.struct_member(place, it).ok()?;
                    Some((it.field.clone(), part))
                };
                members.iter().filter_map(part).collect()
            }),
        }
        .unwrap_or_default();
        for (field, place) in fields {
            if field.ty != Type::STRING {
                if depth < MAX_DEPTH {
                    self.remember_secrets_in(&place, left, depth + 1);
                }
            } else if is_secret(&field.name)
                && self.secrets.len() < MAX_SECRETS
                && let Ok(Some(text)) = self.reader.object(&place)
                && let Ok((units, _)) = self.reader.string_units(&text, MAX_SECRET)
                && !units.is_empty()
                && !self.secrets.contains(&units)
            {
                self.secrets.push(units);
            }
        }
    }

    /// Notices a text that holds a secret of what the code was given that made it.
    pub(super) fn notice_result(&mut self, value: &Val) {
        if self.secrets.is_empty() || self.has_read_secret {
            return;
        }
        let is_text = match value {
            Val::Scalar(it) => matches!(it, Scalar::String(_)),
            Val::Object(object) => object.ty == Type::STRING,
            _ => false,
        };
        self.has_read_secret = is_text && self.tells_secret(value, "");
    }

    /// Whether a value, which is told by this text, holds a secret of what the code was given that made it.
    pub(in crate::expressions) fn tells_secret(&mut self, value: &Val, told: &str) -> bool {
        if self.has_read_secret || self.secrets.is_empty() {
            return self.has_read_secret;
        }
        // The text that is told may be cut.
        let whole = self.string_of(value, syntax::Span::empty(0));
        let told: Vec<u16> = told.encode_utf16().collect();
        let whole = whole.ok().flatten();
        let texts = [whole.as_deref().unwrap_or(&[]), &told];
        self.secrets.iter().any(|secret| {
            let holds = |text: &&[u16]| {
                **text == **secret
                    || secret.len() >= LENGTH && text.windows(secret.len()).any(|it| it == secret)
            };
            texts.iter().any(holds)
        })
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
