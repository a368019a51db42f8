//! Whether a getter may tell what is masked: its code reads a field of such a name, or one whose key says so.
//!
//! Coarse by intention, as `expressions::run::secrecy` is: what the code makes of a secret nobody can tell.

use metadata::csharp::field_display_name;
use metadata::tables::Table;
use metadata::{Metadata, Token};

use super::super::{Unreadable, Value};
use super::{Viewer, masking, secrets};
use crate::stepping::il;
use crate::types::{Method, ModuleId};

/// Why a getter is not run.
pub(crate) const MAY_TELL: &str = "it may tell what is masked";
/// Methods that call others which are looked into.
const MAX_CALLS: u32 = 4;
/// Names that are looked at.
const MAX_NAMES: usize = 200;

impl Viewer<'_, '_> {
    /// Whether what a getter of a value returns may be what is masked.
    pub(crate) fn may_tell(&self, this: &Value, getter: &Method) -> bool {
        if !self.view.mask_secrets || self.reader.is_never_secret(&getter.returns) {
            return false;
        }
        let mut read = Vec::new();
        self.names_read(getter.declared_in.module, getter.token, 0, &mut read);
        read.iter().any(|name| {
            let is_masked = || {
                matches!(
                    self.field_unless_secret(this, name),
                    Err(Unreadable::Masked(_))
                )
            };
            secrets::is_secret(name) || masking::key_beside(name).is_some() && is_masked()
        })
    }

    /// The names of fields and properties that a method reads, by itself or through methods of its own module.
    fn names_read(&self, module: ModuleId, method: Token, depth: u32, names: &mut Vec<String>) {
        let Ok(opened) = self.reader.types.metadata(module) else {
            return;
        };
        let Ok(Some(body)) = opened.body(method) else {
            return;
        };
        let (code, metadata) = (body.code, opened.metadata());
        let mut at = 0;
        while let Some(instruction) = il::read(code, at)
            && names.len() < MAX_NAMES
        {
            let token = code.get(at + 1..).and_then(<[u8]>::first_chunk);
            let token = token.map(|bytes| Token(u32::from_le_bytes(*bytes)));
            match (code.get(at), token) {
                // ldfld, ldflda, ldsfld, ldsflda
                (Some(0x7b | 0x7c | 0x7e | 0x7f), Some(field)) => {
                    let name = field_name(metadata, field).unwrap_or_default();
                    let shown = field_display_name(&name).map(std::borrow::Cow::into_owned);
                    names.push(shown.unwrap_or(name));
                }
                // call, callvirt
                (Some(0x28 | 0x6f), Some(called)) => {
                    let name = method_name(metadata, called).unwrap_or_default();
                    names.extend(name.strip_prefix("get_").map(str::to_owned));
                    if called.table() == Some(Table::Method) && depth < MAX_CALLS {
                        self.names_read(module, called, depth + 1, names);
                    }
                }
                _ => {}
            }
            at = instruction.next;
        }
    }
}

fn field_name(metadata: Metadata<'_>, token: Token) -> Option<String> {
    match token.table()? {
        Table::Field => Some(metadata.field(token).ok()?.name().ok()?.into_owned()),
        // A generic type names its own fields in its instantiation.
        Table::MemberRef => Some(metadata.member_ref(token).ok()?.name.into_owned()),
        _ => None,
    }
}

fn method_name(metadata: Metadata<'_>, token: Token) -> Option<String> {
    match token.table()? {
        Table::Method => Some(metadata.method(token).ok()?.name().ok()?.into_owned()),
        Table::MemberRef => Some(metadata.member_ref(token).ok()?.name.into_owned()),
        _ => None,
    }
}
