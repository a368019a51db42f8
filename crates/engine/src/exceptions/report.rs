//! Exceptions as data, read from fields: nothing runs in the program.

use cordebug::module::Class;
use cordebug::process::Process;
use cordebug::thread::Thread;
use cordebug::value::Value;

use crate::api::ExceptionReport;
use crate::engine::Engine;
use crate::modules::Modules;
use crate::target::Target;

/// Inner exceptions followed at most.
const MAX_DEPTH: usize = 32;
/// Characters of a message that are read.
const MAX_MESSAGE: u32 = 8192;

impl Engine<'_> {
    /// The exception in flight on a thread.
    pub(crate) fn exception_of(
        &mut self,
        thread: &Thread,
        unhandled: bool,
    ) -> Option<ExceptionReport> {
        let target = self.target.as_mut()?;
        let exception = thread.current_exception().ok()??.dereference().ok()??;
        let mut report = Reader::new(target).report(&exception, 0);
        report.unhandled = unhandled;
        Some(report)
    }
}

/// Reads fields of objects by name.
pub(crate) struct Reader<'a> {
    modules: &'a mut Modules,
    process: &'a Process,
}

impl<'a> Reader<'a> {
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

    fn class_name(&mut self, class: &Class) -> Option<String> {
        let module = self.modules.entry(&class.module().ok()?);
        let metadata = module.metadata(self.process).ok()?;
        Some(crate::names::type_name(
            metadata.metadata(),
            metadata::Token(class.token().ok()?),
        ))
    }

    fn report(&mut self, exception: &Value, depth: usize) -> ExceptionReport {
        let type_name = self.type_name(exception);
        let mut report = ExceptionReport {
            message: self.message(exception, &type_name),
            hresult: self.number(exception, "_HResult"),
            type_name,
            inner: Vec::new(),
            unhandled: false,
        };
        if depth < MAX_DEPTH {
            report.inner = self
                .inner(exception)
                .iter()
                .map(|inner| self.report(inner, depth + 1))
                .collect();
        }
        report
    }

    fn type_name(&mut self, object: &Value) -> String {
        let class = object.class().ok();
        class
            .and_then(|class| self.class_name(&class))
            .unwrap_or_else(|| "an exception whose type cannot be read".into())
    }

    /// An instance field by name, of the object's class or one that it is derived from.
    pub(crate) fn field(&mut self, object: &Value, name: &str) -> Option<Value> {
        for class in object.class_chain().ok()? {
            let Ok(module) = class.module() else { continue };
            let Ok(token) = class.token() else { continue };
            let module = self.modules.entry(&module);
            let Ok(metadata) = module.metadata(self.process) else {
                continue;
            };
            let Ok(definition) = metadata.metadata().type_def(metadata::Token(token)) else {
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

    /// A string field.
    pub(crate) fn string(&mut self, object: &Value, name: &str) -> Option<String> {
        let value = self.field(object, name)?.dereference().ok()??;
        value.string(MAX_MESSAGE).ok().map(|(text, _)| text)
    }

    fn number(&mut self, object: &Value, name: &str) -> Option<i32> {
        let bytes = self.field(object, name)?.bytes().ok()?;
        bytes.first_chunk().map(|bytes| i32::from_le_bytes(*bytes))
    }

    /// What the exception's `Message` gives for the framework's own types, without calling it.
    fn message(&mut self, exception: &Value, type_name: &str) -> Option<String> {
        let Some(text) = self.string(exception, "_message") else {
            return Some(format!("Exception of type '{type_name}' was thrown."));
        };
        match self.string(exception, "_paramName") {
            Some(name) if !name.is_empty() => Some(format!("{text} (Parameter '{name}')")),
            _ => Some(text),
        }
    }

    /// The inner exceptions: all of an `AggregateException`, else the one.
    fn inner(&mut self, exception: &Value) -> Vec<Value> {
        if let Some(list) = self
            .field(exception, "_innerExceptions")
            .and_then(|list| list.dereference().ok()?)
        {
            // An array since .NET 7, a read-only collection around a list or an array before.
            let array = match list.elements(MAX_DEPTH as u32) {
                Ok((elements, _)) => Some(elements),
                Err(_) => self
                    .field(&list, "list")
                    .and_then(|inner| inner.dereference().ok()?)
                    .and_then(|inner| inner.elements(MAX_DEPTH as u32).ok())
                    .map(|(elements, _)| elements),
            };
            if let Some(elements) = array {
                return elements
                    .iter()
                    .filter_map(|element| element.dereference().ok()?)
                    .collect();
            }
        }
        let inner = self
            .field(exception, "_innerException")
            .and_then(|inner| inner.dereference().ok()?);
        inner.into_iter().collect()
    }
}
