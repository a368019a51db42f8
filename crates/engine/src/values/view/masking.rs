//! What is masked because of something other than its own name: values of entries whose key names a secret.
//!
//! A value is replaced where it is read ([`Unreadable::Masked`]), so that lines, pages, paths and raw views agree.

use crate::types::{Type, TypeNotes, Types};

use super::super::{Reader, Result, Unreadable, Value};
use super::known::Known;
use super::source::Entry;
use super::{Child, Viewer, secrets};

/// Types over types over types that are looked at.
const MAX_DEPTH: u32 = 4;
/// Letters of a key that are looked at.
const KEY: u32 = 256;
/// What the field of a key, and that of its value, are called in entries and nodes of collections.
const PAIRS: [(&str, &str); 4] = [
    ("key", "value"),
    ("Key", "Value"),
    ("_key", "_value"),
    ("<Key>k__BackingField", "<Value>k__BackingField"),
];

/// Whether a field or property of a type, or of one that it is over, has the name of a secret: a record's `ToString` tells
/// them all, and that of a `Lazy<Account>` tells what the account's does.
pub(crate) fn has_secrets(types: Types<'_>, ty: &Type) -> bool {
    has_secrets_at(types, ty, 0)
}

fn has_secrets_at(types: Types<'_>, ty: &Type, depth: u32) -> bool {
    let ancestry = types.ancestry(ty).unwrap_or_default();
    let mut arguments = ancestry.iter().flat_map(|it| it.arguments.iter());
    if depth < MAX_DEPTH && arguments.any(|it| has_secrets_at(types, it, depth + 1)) {
        return true;
    }
    ancestry.iter().any(|named| {
        let fields = types.fields(named).unwrap_or_default();
        let properties = types.properties(named).unwrap_or_default();
        fields.iter().any(|it| secrets::is_secret(&it.name))
            || properties.iter().any(|it| secrets::is_secret(&it.name))
    })
}

/// The name of the field that holds the key, given that of one which may hold its value.
pub(crate) fn key_beside(value: &str) -> Option<&'static str> {
    let pair = PAIRS.iter().find(|(_, it)| *it == value);
    pair.map(|(key, _)| *key)
}

impl Reader<'_> {
    /// Whether no value of a type is a secret, whatever it is called: a `CancellationToken token`, a number that tells one
    /// use of a task from the next.
    pub(crate) fn is_never_secret(&self, ty: &Type) -> bool {
        let ty = ty.without_ref();
        *ty == Type::BOOL
            || *ty == Type::Primitive(metadata::signature::Primitive::I2)
            || matches!(
                self.known(ty),
                Known::CancellationToken | Known::CancellationTokenSource | Known::Delegate
            )
    }

    /// Whether what has that name and type is a secret.
    pub(crate) fn is_secret(&self, name: &str, ty: &Type) -> bool {
        // Members of reflection have a metadata token.
        let is_metadata = name == "m_token" && *ty.without_ref() == Type::INT;
        secrets::is_secret(name) && !is_metadata && !self.is_never_secret(ty)
    }
}

impl Viewer<'_, '_> {
    /// Whether a variable of that name and type is masked for those who asked for it.
    pub(crate) fn is_secret_variable(&self, name: &str, ty: &Type) -> bool {
        self.view.mask_secrets && self.reader.is_secret(name, ty)
    }

    /// The value of a key, unless that says that it is not to be seen.
    pub(super) fn behind_key(&self, key: Option<&Value>, value: Result<Value>) -> Result<Value> {
        match (key, value) {
            (Some(key), Ok(value)) if self.names_secret(key) => Err(Unreadable::Masked(value.ty)),
            (_, value) => value,
        }
    }

    /// An element, whose value is not to be seen if its key says so.
    pub(super) fn veiled(&self, entry: Entry) -> Entry {
        Entry {
            value: self.behind_key(entry.key.as_ref(), entry.value),
            ..entry
        }
    }

    /// Masks the value of an entry, a pair or a node that is shown by its fields, if its key says so.
    pub(super) fn veil_pairs(&self, list: &mut [Child]) {
        if !self.view.mask_secrets {
            return;
        }
        for (key, value) in PAIRS {
            let secret = list
                .iter()
                .filter(|it| it.name == key)
                .any(|it| it.value.as_ref().is_ok_and(|it| self.names_secret(it)));
            for child in list.iter_mut().filter(|it| secret && it.name == value) {
                child.value = Err(Unreadable::Masked(child.ty.clone()));
            }
        }
    }

    /// Masks the elements of a tuple that is shown by its fields, if its declaration gives them names of secrets.
    pub(super) fn veil_items(&self, list: &mut [Child], notes: &TypeNotes) {
        if !self.view.mask_secrets {
            return;
        }
        let mut names = notes.tuple_names.iter();
        for child in list {
            let is_rest = child.name == "Rest";
            let own = names.by_ref().take(if is_rest { usize::MAX } else { 1 });
            if own.flatten().any(|name| secrets::is_secret(name)) {
                child.value = Err(Unreadable::Masked(child.ty.clone()));
            }
        }
    }

    /// A field, unless the key beside it says that it is not to be seen.
    pub(super) fn field_unless_secret(&self, from: &Value, name: &str) -> Result<Value> {
        let field = self.reader.field(from, name);
        let key = key_beside(name).filter(|_| self.view.mask_secrets);
        let key = key.and_then(|key| self.reader.field(from, key).ok());
        self.behind_key(key.as_ref(), field)
    }

    fn names_secret(&self, key: &Value) -> bool {
        if !self.view.mask_secrets {
            return false;
        }
        // A key may be declared as an object.
        let text = self.reader.string(key, KEY);
        matches!(text, Ok(Some((text, _))) if secrets::is_secret(&text))
    }
}
