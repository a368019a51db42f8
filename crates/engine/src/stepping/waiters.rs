//! Threads that block until an invocation completes: `task.Wait()`, `task.Result`, `GetAwaiter().GetResult()`.
//!
//! Such a thread is who a step out of the invocation leads to. It waits inside the framework; a stepper of its own takes
//! it back to the user's statement.

use cordebug::stepper::Stepper;
use cordebug::thread::{Frame, Thread};
use cordebug::value::Value;
use metadata::Token;

use crate::engine::Engine;
use crate::fields::Fields;

/// Frames of a thread looked at for the framework's wait.
const MAX_FRAMES: usize = 64;

/// The continuations that wake a blocked thread.
const WAKERS: [&str; 2] = ["SetOnInvokeMres", "SetOnCountdownMres"];

impl Engine<'_> {
    /// Whether a continuation wakes a blocked thread.
    pub(super) fn wakes_a_thread(&mut self, continuation: &Value) -> bool {
        let Some(target) = &mut self.target else {
            return false;
        };
        let types = Fields::new(target).types(continuation);
        types
            .iter()
            .filter_map(|name| name.rsplit(['.', '+']).next())
            .any(|name| WAKERS.contains(&name))
    }

    /// Steppers of the threads that block on tasks, other than one, each to the user's statement that does.
    pub(super) fn steppers_of_waiting_threads(&mut self, other_than: &Thread) -> Vec<Stepper> {
        let Some(target) = &self.target else {
            return Vec::new();
        };
        let own = other_than.id().ok();
        let threads = target.process.threads().unwrap_or_default();
        let others = threads.into_iter().filter(|thread| thread.id().ok() != own);
        let begin =
            |thread: Thread| stepper_back_to(&self.waits_for_a_task(&thread)?, &thread).ok();
        others.filter_map(begin).collect()
    }

    /// The innermost of the user's frames of a thread, if it has called a method of tasks that waits.
    fn waits_for_a_task(&self, thread: &Thread) -> Option<Frame> {
        let target = self.target.as_ref()?;
        let mut waits = false;
        for frame in target.frames(thread).take(MAX_FRAMES) {
            let Ok(function) = frame.function() else {
                continue;
            };
            let module = function.module().ok()?;
            let module = target.modules.get(module.identity())?;
            if module.symbols(&target.process).is_ok() {
                return waits.then_some(frame);
            }
            let metadata = module.metadata(&target.process).ok()?.metadata();
            let method = metadata.method(Token(function.token().ok()?)).ok()?;
            let is_wait = method.name().is_ok_and(|name| name.contains("Wait"));
            let class = method.declaring_type().ok()?;
            waits |= is_wait && metadata.is_type_named(class, "System.Threading.Tasks", "Task");
        }
        None
    }
}

/// A stepper that ends when a frame of a thread gets control back: what it has called returns, or throws what it, or whoever
/// called it, catches.
pub(super) fn stepper_back_to(frame: &Frame, thread: &Thread) -> Result<Stepper, cordebug::Error> {
    let stepper = frame.stepper(thread)?;
    stepper.prepare(false)?;
    stepper.step_over_instruction()?;
    Ok(stepper)
}
