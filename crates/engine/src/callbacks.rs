//! What the engine does with each thing the runtime tells.
//!
//! Invariant: each callback is either answered (the program runs on) or becomes a stop that is told.

use cordebug::callback::Callback;
use cordebug::module::Module;
use cordebug::thread::{Frame, Thread};

use crate::api::{StopReason, ThreadId};
use crate::engine::Engine;

impl Engine<'_> {
    pub(crate) fn callback(&mut self, callback: Callback) {
        let Some(target) = &mut self.target else {
            // Late news of a program that we have let go.
            return;
        };
        if let Callback::ExitProcess = callback {
            self.runtime_ended();
            return;
        }
        target.delivered();
        // A program that is being let go stops for nothing.
        let stops = !self.ending.let_go_wanted && self.wants_to_stop(callback);
        let settled = self.is_settled();
        if settled && self.ending.let_go_wanted {
            self.arrived();
            self.let_go_now();
            return;
        }
        if !stops
            && let Some(target) = &mut self.target
            && let Err(error) = target.answer()
        {
            // The process died meanwhile: its end is on its way to us.
            tracing::debug!(%error, "answering a callback");
        }
        // Told only now: who hears that the program runs may rely on it.
        if settled {
            self.arrived();
        }
    }

    /// Handles a callback; whether it stopped the program.
    fn wants_to_stop(&mut self, callback: Callback) -> bool {
        match callback {
            Callback::LoadModule { module } => {
                self.module_loaded(&Module::new(module));
                false
            }
            Callback::UnloadModule { module } => {
                let module = Module::new(module);
                self.unbind_from_module(module.identity());
                self.module_unloaded(&module);
                false
            }
            Callback::Breakpoint { thread, breakpoint } => {
                let thread = Thread::new(thread);
                let Some(breakpoint) = breakpoint else {
                    return false;
                };
                let at_entry = self
                    .target
                    .as_mut()
                    .is_some_and(|target| target.entry.reached(&breakpoint));
                let ids = self.breakpoints_reached(cordebug::module::identity(&breakpoint));
                let mut reasons = Vec::new();
                if at_entry {
                    reasons.push(StopReason::Entry);
                }
                if !ids.is_empty() {
                    reasons.push(StopReason::Breakpoint { ids });
                }
                if reasons.is_empty() {
                    return false;
                }
                self.stopped(reasons, thread.id().ok().map(ThreadId), None);
                true
            }
            Callback::StepComplete {
                thread, stepper, ..
            } => self.step_completed(&Thread::new(thread), stepper.as_ref()),
            Callback::Break { thread } => {
                self.break_called(&Thread::new(thread));
                true
            }
            Callback::Exception2 {
                thread,
                frame,
                offset,
                kind,
                ..
            } => self.exception_told(
                &Thread::new(thread),
                frame.map(Frame::new).as_ref(),
                offset,
                kind,
            ),
            Callback::LogMessage {
                thread,
                level,
                category,
                message,
            } => {
                self.logged(&Thread::new(thread), level, category, message);
                false
            }
            Callback::DebuggerError { error, code } => {
                tracing::warn!(%error, code, "the runtime's debugger library reports an error");
                self.notes
                    .push(format!("the runtime's debugger library reported {error}"));
                false
            }
            _ => false,
        }
    }
}
