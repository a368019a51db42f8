//! Calls of `Environment.FailFast` from inside `catch` blocks, of which the runtime tells nothing.
//!
//! The runtime tells a debugger that the program gives up as it tells an unhandled exception, but not while another
//! exception is being handled, which is where most programs give up. Breakpoints of our own at the framework's methods
//! tell it instead. Nobody can be in a `catch` block before the first exception was told: they are set then, and cost a
//! program that throws none nothing.
//!
//! Invariant: what was told at the call is not told again by the runtime.

use std::collections::HashSet;

use cordebug::module::Breakpoint;
use cordebug::thread::Thread;
use cordebug::value::Value;
use metadata::IlOffset;

use crate::api::StopReason;
use crate::breakpoints::CodeLocation;
use crate::engine::Engine;
use crate::fields::Fields;
use crate::target::Target;

/// The class that gives up, and how.
const CLASS: &str = "System.Environment";
const METHOD: &str = "FailFast";
/// The parameter that those which programs call begin with; others are the framework's own.
const MESSAGE: &str = "message";
/// Characters told of what it says.
const MAX_MESSAGE: u32 = 16 << 10;

/// The breakpoints at these methods.
#[derive(Debug, Default)]
pub(crate) struct FailFastCalls {
    /// Nothing as long as no exception was told.
    set: Option<Vec<Breakpoint>>,
    /// Threads whose call was told.
    told: HashSet<u32>,
}

impl FailFastCalls {
    /// An exception was thrown: from now on there may be handlers that give up.
    pub(super) fn watch(&mut self, target: &Target) {
        self.set.get_or_insert_with(|| set(target));
    }

    /// Whether the call of a thread was told.
    pub(super) fn was_told(&self, thread: u32) -> bool {
        self.told.contains(&thread)
    }

    /// Takes the breakpoints away.
    pub(crate) fn forget(&mut self) {
        for breakpoint in self.set.take().into_iter().flatten() {
            if let Err(error) = breakpoint.deactivate() {
                tracing::debug!(%error, "removing a breakpoint at the framework's end of programs");
            }
        }
    }
}

fn set(target: &Target) -> Vec<Breakpoint> {
    let places = || {
        let module = target.modules.iter().next()?;
        let image = module.metadata(&target.process).ok()?;
        let metadata = image.metadata();
        let class = image.types().find(metadata, CLASS).into_iter().next()?;
        let methods = metadata.type_def(class).ok()?.methods().flatten();
        let called = methods.filter(|method| {
            method.name().is_ok_and(|name| name == METHOD)
                && method.parameters().is_ok_and(|it| {
                    let first = it.first().and_then(|it| it.name.as_deref());
                    first == Some(MESSAGE)
                })
                && image.body(method.token()).is_ok_and(|body| body.is_some())
        });
        let places = called.map(|method| CodeLocation {
            module: module.identity(),
            method: method.token(),
            offset: IlOffset(0),
        });
        Some(places.collect::<Vec<_>>())
    };
    let places = places().unwrap_or_default().into_iter();
    let set = places.filter_map(|at| {
        let set = target.modules.set_breakpoint(at);
        set.map_err(|error| tracing::debug!(%error, "FailFast is not watched"))
            .ok()
    });
    set.collect()
}

/// The type and message of an exception; nothing if the object is none.
pub(super) fn exception_text(target: &mut Target, object: &Value) -> Option<String> {
    let mut fields = Fields::new(target);
    let types = fields.types(object);
    let is_one = types.iter().any(|name| name == "System.Exception");
    let name = types.into_iter().next().filter(|_| is_one)?;
    Some(match fields.string(object, "_message") {
        Some(message) => format!("{name}: {message}"),
        None => name,
    })
}

impl Engine<'_> {
    /// The runtime reached one of its breakpoints: why that stops the program, if it is at one of these calls.
    pub(crate) fn fail_fast_called(
        &mut self,
        identity: usize,
        thread: &Thread,
    ) -> Option<StopReason> {
        let calls = &mut self.exceptions.fail_fast;
        let mut set = calls.set.iter().flatten();
        set.find(|it| it.identity() == identity)?;
        if self.exceptions.ignore_unhandled {
            return None;
        }
        calls.told.insert(thread.id().ok()?);
        let message = || {
            let frame = self.target.as_ref()?.active_frame(thread).ok()??;
            let text = frame.argument(0).ok()?.dereference().ok()??;
            Some(text.string(MAX_MESSAGE).ok()?.0)
        };
        let message = message();
        let mut exception = || {
            let target = self.target.as_mut()?;
            let frame = target.active_frame(thread).ok()??;
            let given = frame.argument(1).ok()?.dereference().ok()??;
            exception_text(target, &given)
        };
        let exception = exception();
        Some(StopReason::FailFast { message, exception })
    }
}
