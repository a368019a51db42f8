//! Whether the field behind a property is all that the property tells.
//!
//! The compiler makes such a field for automatic properties, and for accessors that say `field`; a getter of the latter
//! may make anything of it, so its field is no value of the property.

use std::rc::Rc;

use metadata::attributes::BrowsableState;
use metadata::csharp::{GeneratedKind, GeneratedName};
use metadata::{Metadata, Token};

use super::Reader;
use crate::types::{Field, Named};

/// The field that a getter returns, if that is all that its code does.
pub(crate) fn returned_field(code: &[u8]) -> Option<Token> {
    match *code {
        // ldarg.0, ldfld, ret
        [0x02, 0x7b, a, b, c, d, 0x2a]
        // nop, ldarg.0, ldfld, stloc.0, br.s 0, ldloc.0, ret: the same without optimisation
        | [0x00, 0x02, 0x7b, a, b, c, d, 0x0a, 0x2b, 0x00, 0x06, 0x2a]
        // ldsfld, ret; and without optimisation
        | [0x7e, a, b, c, d, 0x2a]
        | [0x00, 0x7e, a, b, c, d, 0x0a, 0x2b, 0x00, 0x06, 0x2a] => {
            Some(Token(u32::from_le_bytes([a, b, c, d])))
        }
        _ => None,
    }
}

/// Whether a setter, or what is called in place of one, only puts what it is given into a field.
pub(super) fn only_sets_field(code: &[u8]) -> bool {
    matches!(
        *code,
        // ldarg.0, ldarg.1, stfld, ret; and the same without optimisation
        [0x02, 0x03, 0x7d, _, _, _, _, 0x2a]
            | [0x00, 0x02, 0x03, 0x7d, _, _, _, _, 0x2a]
            | [0x00, 0x02, 0x03, 0x7d, _, _, _, _, 0x00, 0x2a]
            // ldarg.0, stsfld, ret
            | [0x02, 0x80, _, _, _, _, 0x2a]
            | [0x00, 0x02, 0x80, _, _, _, _, 0x2a]
            | [0x00, 0x02, 0x80, _, _, _, _, 0x00, 0x2a]
    )
}

impl Reader<'_> {
    /// Whether a field is shown as the property that it is behind; of other fields nothing is said.
    pub(super) fn tells_property(&self, declared_in: &Rc<Named>, field: &Field) -> bool {
        let Some(name) = GeneratedName::parse(&field.name) else {
            return true;
        };
        if name.kind != GeneratedKind::BackingField {
            return true;
        }
        let key = (declared_in.module, field.token);
        if let Some(known) = self.layouts.backing.get(&key) {
            return known;
        }
        let tells = self.getter_returns_field(declared_in, name.text);
        self.layouts.backing.insert(key, tells);
        tells
    }

    /// What the user said of how a field is shown. The compiler hides those of events, which hold what was added to these, and
    /// of captured parameters.
    pub(super) fn browsable(
        &self,
        metadata: Metadata<'_>,
        declared_in: &Rc<Named>,
        field: Token,
        name: &str,
    ) -> Option<BrowsableState> {
        let browsable = metadata.debugger_browsable(field);
        if browsable != Some(BrowsableState::Never) || !metadata.is_compiler_generated(field) {
            return browsable;
        }
        // In builds that are not optimised those of a primary constructor, too, which are the object's state.
        let generated = GeneratedName::parse(name).map(|it| it.kind);
        if generated == Some(GeneratedKind::PrimaryParameter) {
            return None;
        }
        let is_of_event = self.types.definition(declared_in).is_ok_and(|it| {
            let mut events = it.events().flatten();
            events.any(|it| it.name().is_ok_and(|it| it == name))
        });
        browsable.filter(|_| !is_of_event)
    }

    fn getter_returns_field(&self, declared_in: &Rc<Named>, property: &str) -> bool {
        let Ok(definition) = self.types.definition(declared_in) else {
            return true;
        };
        let mut properties = definition.properties().flatten();
        let found = properties.find(|it| it.name().is_ok_and(|it| it == property));
        let getter = found.and_then(|it| it.accessors().ok()?.getter);
        let body = getter.and_then(|getter| {
            let module = self.types.metadata(declared_in.module).ok()?;
            module.body(getter).ok()?
        });
        // One that has no getter to ask is told by its field.
        body.is_none_or(|body| returned_field(body.code).is_some())
    }
}
