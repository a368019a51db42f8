//! Whether the program has asked to hear of exceptions that nobody catches (`AppDomain.UnhandledException`).
//!
//! It hears of them before a debugger does, and may end for itself then. It is read from the framework's own field at each
//! exception: no code is run.

use cordebug::types::Type;
use cordebug::value::Value;
use metadata::Token;

use crate::fields::Fields;
use crate::target::Target;

const CLASS: &str = "System.AppContext";
const EVENT: &str = "UnhandledException";
/// Those that are looked at.
const MAX_HANDLERS: u32 = 100;

/// The field that keeps who wants to hear.
#[derive(Debug, Default)]
pub(super) struct OwnHandler {
    /// Nothing as long as no exception was told; then the class and the field, if they are there.
    found: Option<Option<(Type, Token)>>,
}

impl OwnHandler {
    /// Whether any of these is not the framework's own: its console puts the terminal in order.
    pub(super) fn is_there(&mut self, target: &mut Target) -> bool {
        let found = self.found.get_or_insert_with(|| find(target)).as_ref();
        let mut is_set = || {
            let (class, field) = found?;
            let value = class.static_field(field.0, None).ok()?;
            let delegate = value.dereference().ok()??;
            let mut fields = Fields::new(target);
            let Some(several) = fields.object(&delegate, "_invocationList") else {
                return Some(is_of_program(&mut fields, &delegate));
            };
            let (several, _) = several.elements(MAX_HANDLERS).ok()?;
            let mut several = several.iter().filter_map(|it| it.dereference().ok()?);
            Some(several.any(|it| is_of_program(&mut fields, &it)))
        };
        is_set().unwrap_or(false)
    }
}

fn is_of_program(fields: &mut Fields<'_>, delegate: &Value) -> bool {
    let module = || delegate.delegate_function().ok()?.module().ok();
    module().is_some_and(|it| !fields.modules.entry(&it).is_framework())
}

fn find(target: &Target) -> Option<(Type, Token)> {
    let module = target.modules.iter().next()?;
    let image = module.metadata(&target.process).ok()?;
    let metadata = image.metadata();
    let class = image.types().find(metadata, CLASS).into_iter().next()?;
    let mut fields = metadata.type_def(class).ok()?.fields().flatten();
    let field = fields.find(|it| it.name().is_ok_and(|name| name == EVENT))?;
    let loaded = module.module.class(class.0).ok()?;
    Some((loaded.with_arguments(false, &[]).ok()?, field.token()))
}
