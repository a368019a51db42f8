//! What the engine does with each thing the runtime tells.
//!
//! Invariant: each callback is either answered (the program runs on) or becomes a stop that is told. Several things can
//! happen to a thread at one instruction (two breakpoints, a breakpoint where a step ends); the runtime tells them one
//! after the other. They are gathered until nothing more of that thread is queued, and told as one stop.

use cordebug::callback::{self, Callback};
use cordebug::module::{Class, Module};
use cordebug::thread::{Frame, Thread};

use crate::api::{Event, ExceptionReport, StopReason, ThreadId};
use crate::engine::Engine;

/// Why the program stops, as far as it has been told.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) reasons: Vec<StopReason>,
    pub(crate) thread: Option<ThreadId>,
    pub(crate) exception: Option<ExceptionReport>,
}

impl Gathered {
    pub(crate) fn add(
        &mut self,
        reasons: Vec<StopReason>,
        thread: Option<ThreadId>,
        exception: Option<ExceptionReport>,
    ) {
        self.reasons.extend(reasons);
        self.thread = self.thread.or(thread);
        self.exception = self.exception.take().or(exception);
    }
}

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
        callback::tell_all(self.ending.let_go_wanted);
        if let Callback::Breakpoint { thread, .. } | Callback::StepComplete { thread, .. } =
            &callback
            && let Ok(id) = Thread::new(thread.clone()).id()
        {
            target.hits.insert(id, std::time::Instant::now());
        }
        tracing::trace!(?callback, "the runtime tells");
        // A program that is being let go stops for nothing.
        self.gathered.get_or_insert_default();
        let stops = !self.ending.let_go_wanted && self.wants_to_stop(callback);
        let stops = self.gathered_a_stop(stops);
        let settled = self.is_settled();
        if settled && self.ending.let_go_wanted {
            self.arrived();
            self.let_go_now();
            return;
        }
        if !stops
            && !self.handle_postponed()
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

    /// Handles what was put aside for evaluations, as if the runtime told it now; whether something of it stops the program.
    pub(crate) fn handle_postponed(&mut self) -> bool {
        while let Some(callback) = self.postponed.pop_front() {
            if let Some(ended) = self.thread_that_ended(&callback) {
                self.notes.push(format!(
                    "what thread {ended} met while code was evaluated is not told as a stop: it has ended since"
                ));
                continue;
            }
            self.gathered.get_or_insert_default();
            let stops = !self.ending.let_go_wanted && self.wants_to_stop(callback);
            if self.gathered_a_stop(stops) {
                return true;
            }
        }
        false
    }

    /// The thread that a callback tells of, if there is none of that number any more.
    fn thread_that_ended(&self, callback: &Callback) -> Option<u32> {
        let process = &self.target.as_ref()?.process;
        let id = callback.thread()?.id().ok()?;
        process.thread(id).is_err().then_some(id)
    }

    /// Tells what was gathered if nothing more of it is on its way; whether the program stays stopped for it.
    fn gathered_a_stop(&mut self, stops: bool) -> bool {
        let Some(gathered) = self.gathered.take() else {
            return stops;
        };
        if gathered.reasons.is_empty() {
            return stops;
        }
        if !self.ending.let_go_wanted
            && let (Some(thread), Some(target)) = (gathered.thread, &self.target)
            && (self
                .postponed
                .iter()
                .any(|it| is_of(it, thread).unwrap_or(false))
                || target
                    .process
                    .thread(thread.0)
                    .and_then(|thread| target.process.has_queued_callbacks_of(&thread))
                    .unwrap_or(false))
        {
            self.gathered = Some(gathered);
            // The program is let go only to hear the rest; what is passed by would leave it running.
            callback::tell_all(true);
            return false;
        }
        self.tell_stop(gathered);
        true
    }

    /// Handles a callback; whether it stopped the program.
    pub(crate) fn wants_to_stop(&mut self, callback: Callback) -> bool {
        match callback {
            Callback::LoadModule { module } => {
                self.module_loaded(&Module::new(module));
                false
            }
            Callback::LoadClass { class } => {
                if let Ok(module) = Class::new(class).module() {
                    self.type_emitted(&module);
                }
                false
            }
            Callback::UnloadModule { module } => {
                let module = Module::new(module);
                self.unbind_from_module(module.identity());
                self.module_unloaded(&module);
                false
            }
            Callback::UpdateModuleSymbols { module, symbols } => {
                self.symbols_arrived(&Module::new(module), symbols);
                false
            }
            Callback::Breakpoint { thread, breakpoint } => {
                let thread = Thread::new(thread);
                let Some(breakpoint) = breakpoint else {
                    return false;
                };
                if !self.let_threads_begin() {
                    return false;
                }
                self.keep_statics_fresh(&breakpoint, &thread);
                self.take_turn(&thread);
                let identity = cordebug::module::identity(&breakpoint);
                if let Some(stops) = self.trap_reached(&thread, identity) {
                    return stops;
                }
                let at_entry = self
                    .target
                    .as_mut()
                    .is_some_and(|target| target.entry.reached(&breakpoint));
                let mut reasons = Vec::new();
                if at_entry {
                    reasons.push(StopReason::Entry);
                }
                reasons.extend(self.fail_fast_called(identity, &thread));
                if self.is_run_to(identity) {
                    reasons.push(StopReason::RunTo);
                }
                reasons.extend(self.breakpoint_reached(identity, &thread));
                if reasons.is_empty() {
                    return false;
                }
                self.stopped(reasons, thread.id().ok().map(ThreadId), None);
                true
            }
            Callback::StepComplete {
                thread, stepper, ..
            } => {
                self.let_threads_begin()
                    && self.step_completed(&Thread::new(thread), stepper.as_ref())
            }
            Callback::EvalComplete { thread, eval } | Callback::EvalException { thread, eval } => {
                if let Some(eval) = eval {
                    self.stray_evaluation_ended(&Thread::new(thread), &eval);
                }
                false
            }
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
            Callback::CreateThread { thread } => {
                if let Ok(id) = Thread::new(thread).id() {
                    if let Some(target) = &mut self.target {
                        target.beginners.note(id);
                    }
                    self.tell(Event::ThreadStarted(ThreadId(id)));
                }
                false
            }
            Callback::ExitThread { thread } => {
                if let Ok(id) = Thread::new(thread).id() {
                    if let Some(target) = &mut self.target {
                        target.hits.remove(&id);
                        target.turns.forget(id);
                    }
                    self.frozen.remove(&id);
                    self.thread_ended(id);
                    self.tell(Event::ThreadEnded(ThreadId(id)));
                }
                false
            }
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

/// Whether a callback tells of a thread; `None` if it tells of none.
fn is_of(callback: &Callback, thread: ThreadId) -> Option<bool> {
    Some(callback.thread()?.id().ok() == Some(thread.0))
}
