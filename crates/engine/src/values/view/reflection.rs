//! Objects of reflection: types, methods, fields and properties, by name.

use metadata::Token;

use crate::types::{ModuleId, Type};

use super::super::Value;
use super::Viewer;
use super::known::Known;
use super::structures::{BYREF, FNPTR, MVAR, PTR, VAR};

/// Names are shorter.
const MAX_NAME: u32 = 1024;

impl Viewer<'_, '_> {
    /// The name of the type that a `Type` of the program stands for.
    pub(super) fn runtime_type(&self, value: &Value) -> Option<String> {
        let handle = self.unsigned(value, &["m_handle", "_handle"]).ok()?;
        self.text_of_handle(handle, 0)
    }

    /// What a `Type` of the program stands for whose name cannot be read.
    pub(super) fn unnamed_type(&self, value: &Value) -> &'static str {
        let handle = self.unsigned(value, &["m_handle", "_handle"]).ok();
        match handle.and_then(|handle| self.kind_of_handle(handle)) {
            Some(PTR) => "a pointer type, whose name only code can tell",
            Some(FNPTR) => "the type of a function pointer, whose name only code can tell",
            Some(BYREF) => "a by-ref type, whose name only code can tell",
            Some(VAR | MVAR) => "a type parameter, whose name only code can tell",
            _ => "a type whose name only code can tell",
        }
    }

    /// The type that the runtime's own handle names; one that is generic and has no arguments has its own parameters.
    pub(super) fn type_of_handle(&self, handle: u64) -> Option<Type> {
        if handle == 0 {
            return None;
        }
        // The library knows no names of types that are no classes, and crashes when it is asked for some of them.
        if handle & 3 != 0 {
            return None;
        }
        let types = self.reader.types;
        let id = cordebug::heap::TypeId::from_object_word(handle);
        let runtime = types.process.type_of_id(id).ok()?;
        types.of_runtime(&runtime).ok().or_else(|| {
            let class = runtime.class().ok()?;
            let module = ModuleId(class.module().ok()?.identity());
            let open = types.open_named(module, Token(class.token().ok()?));
            open.ok().map(Type::Named)
        })
    }

    /// `Type.Member` of an object of reflection; `None` if its name cannot be read.
    pub(super) fn member_info(&self, value: &Value, known: Known) -> Option<String> {
        let declaring = self.any_field(value, &["m_declaringType"]).ok()?;
        let declaring = self.runtime_type(&declaring)?;
        let name = self.any_field(value, &["m_name", "_name"]).ok();
        let name = name.and_then(|it| self.reader.string(&it, MAX_NAME).ok().flatten());
        let name = match name {
            Some((name, _)) => name,
            None if known == Known::MethodInfo2 => ".ctor".into(),
            None => self.name_of_member(value, known)?,
        };
        Some(format!("{declaring}.{name}"))
    }

    /// The name of a member that nobody has asked for yet.
    fn name_of_member(&self, value: &Value, known: Known) -> Option<String> {
        let declaring = self.any_field(value, &["m_declaringType"]).ok()?;
        let declaring = self.unsigned(&declaring, &["m_handle", "_handle"]).ok()?;
        match known {
            Known::PropertyInfo => self.property_name(value),
            Known::MethodInfo => {
                let method = self.unsigned(value, &["m_handle"]).ok()?;
                self.method_of_handle(method, declaring)
            }
            Known::FieldInfo => {
                let field = self.unsigned(value, &["m_fieldHandle"]).ok()?;
                self.field_of_handle(field, declaring)
            }
            _ => None,
        }
    }

    /// The name of a property by its token.
    fn property_name(&self, value: &Value) -> Option<String> {
        let types = self.reader.types;
        let token = Token(u32::try_from(self.int(value, &["m_token"]).ok()?).ok()?);
        let declaring = self.any_field(value, &["m_declaringType"]).ok()?;
        let handle = self.unsigned(&declaring, &["m_handle", "_handle"]).ok()?;
        let declaring = self.type_of_handle(handle)?;
        let definition = types.definition(declaring.as_named()?).ok()?;
        let mut properties = definition.properties().flatten();
        let found = properties.find(|it| it.token() == token)?;
        Some(found.name().ok()?.into_owned())
    }
}
