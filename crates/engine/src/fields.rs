//! Fields of objects by name, through the chain of classes: nothing runs in the program.
//!
//! The framework's private fields are part of no contract, so each of these may be missing on another version: every read is
//! an option, and whoever asks says what it means that a field is not there.

use cordebug::module::Class;
use cordebug::process::Process;
use cordebug::value::Value;
use metadata::Token;

use crate::modules::Modules;
use crate::target::Target;

/// Characters of a text that are read.
const MAX_TEXT: u32 = 8192;

/// Reads fields of objects by name.
pub(crate) struct Fields<'a> {
    pub(crate) modules: &'a mut Modules,
    pub(crate) process: &'a Process,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(target: &'a mut Target) -> Self {
        let Target {
            modules, process, ..
        } = target;
        Self { modules, process }
    }

    /// The types of an object: its own, then those it is derived from.
    pub(crate) fn types(&mut self, object: &Value) -> Vec<String> {
        let classes = object.class_chain().unwrap_or_default();
        classes
            .iter()
            .filter_map(|class| self.class_name(class))
            .collect()
    }

    /// The name of a class, with the declared names of its generic parameters: `System.Collections.Generic.List<T>`.
    pub(crate) fn class_name(&mut self, class: &Class) -> Option<String> {
        let module = self.modules.entry(&class.module().ok()?);
        let metadata = module.metadata(self.process).ok()?;
        Some(crate::names::type_name(
            metadata.metadata(),
            Token(class.token().ok()?),
        ))
    }

    /// The name of an object's class as metadata has it, without namespace: `` List`1 ``; empty if that cannot be told.
    pub(crate) fn raw_name(&mut self, object: &Value) -> String {
        let name = object
            .class()
            .ok()
            .and_then(|class| self.class_raw_name(&class));
        name.unwrap_or_default()
    }

    fn class_raw_name(&mut self, class: &Class) -> Option<String> {
        let module = self.modules.entry(&class.module().ok()?);
        let metadata = module.metadata(self.process).ok()?.metadata();
        let (_, name) = metadata.simple_name(Token(class.token().ok()?)).ok()?;
        Some(name.into_owned())
    }

    /// The metadata names of the classes of an object, its own first.
    pub(crate) fn raw_names(&mut self, object: &Value) -> Vec<String> {
        let classes = object.class_chain().unwrap_or_default();
        classes
            .iter()
            .filter_map(|class| self.class_raw_name(class))
            .collect()
    }

    /// The type of an object with its arguments.
    pub(crate) fn type_text(&mut self, object: &Value) -> String {
        match object.exact_type() {
            Ok(ty) => crate::names::type_text(self.modules, self.process, &ty),
            Err(error) => format!("an object whose type cannot be told: {error}"),
        }
    }

    /// An instance field by name, of the object's class or one that it is derived from.
    pub(crate) fn field(&mut self, object: &Value, name: &str) -> Option<Value> {
        for class in object.class_chain().ok()? {
            let (Ok(module), Ok(token)) = (class.module(), class.token()) else {
                continue;
            };
            let module = self.modules.entry(&module);
            let Ok(metadata) = module.metadata(self.process) else {
                continue;
            };
            let Ok(definition) = metadata.metadata().type_def(Token(token)) else {
                continue;
            };
            let field = definition
                .fields()
                .flatten()
                .find(|field| field.name().is_ok_and(|it| it == name));
            if let Some(field) = field {
                return object.field(&class, field.token().0).ok();
            }
        }
        None
    }

    /// The instance fields of the object's own class whose names begin so.
    pub(crate) fn own_fields(&mut self, object: &Value, prefix: &str) -> Vec<Value> {
        let mut found = || -> Option<Vec<Value>> {
            let class = object.class().ok()?;
            let module = self.modules.entry(&class.module().ok()?);
            let metadata = module.metadata(self.process).ok()?.metadata();
            let definition = metadata.type_def(Token(class.token().ok()?)).ok()?;
            let fields = definition.fields().flatten();
            let wanted = fields.filter(|field| {
                !field.flags().is_static() && field.name().is_ok_and(|it| it.starts_with(prefix))
            });
            Some(
                wanted
                    .filter_map(|field| object.field(&class, field.token().0).ok())
                    .collect(),
            )
        };
        found().unwrap_or_default()
    }

    /// The object that a field refers to; `None` for null.
    pub(crate) fn object(&mut self, object: &Value, name: &str) -> Option<Value> {
        self.field(object, name)?.dereference().ok()?
    }

    /// A string field.
    pub(crate) fn string(&mut self, object: &Value, name: &str) -> Option<String> {
        let value = self.object(object, name)?;
        let (text, length) = value.string(MAX_TEXT).ok()?;
        Some(if length > MAX_TEXT {
            format!("{text}… ({length} characters)")
        } else {
            text
        })
    }

    /// A field that holds an `int`.
    pub(crate) fn number(&mut self, object: &Value, name: &str) -> Option<i32> {
        let bytes = self.field(object, name)?.bytes().ok()?;
        bytes.first_chunk().map(|bytes| i32::from_le_bytes(*bytes))
    }
}
