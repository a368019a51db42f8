//! The other threads while code runs on one: they stand still, or are let go when it waits for them.
//!
//! Code that is about to wait for another thread may say so (`Debugger.NotifyOfCrossThreadDependency`; the framework
//! does before it waits for a task), which the runtime tells us if it is asked to. Whoever waits for a lock does not: if others
//! may be let go, they are when an evaluation is not done in a moment.
//!
//! Invariant: nothing is lost that a thread meets once it was let go. What may stop the program holds that thread where it
//! is, and is handled when the program continues; what a thread meets that the evaluation itself has begun is passed over, as on
//! its own thread. Threads of which something waits to be handled stay where they are, too,
//! and so does the one that the program is stopped at.

use std::fmt::Write as _;
use std::time::Duration;

use cordebug::callback::Callback;
use cordebug::module::Class;
use cordebug::procfs;
use cordebug::thread::Thread;

use super::evaluate::refused;
use super::{CallError, CallSite};
use crate::engine::Engine;
use crate::types::Type;

/// How long an evaluation that may let other threads go is left alone with its own.
pub(super) const ALONE: Duration = Duration::from_millis(100);

/// The name of the runtime's threads that collect while the program runs.
const COLLECTOR: &str = ".NET BGC";

/// What the other threads do while an evaluation runs.
#[derive(Debug, Default)]
pub(super) struct Others {
    /// Those that were frozen before.
    frozen: Vec<Thread>,
    /// Those that there were before.
    before: Vec<u32>,
    /// Those that what is evaluated has begun.
    begun: Vec<u32>,
    /// Whether it was told that they are needed, although they may not be let go.
    pub(super) needed: bool,
    /// Whether they were let go.
    gone: bool,
    /// Those that were let go alone.
    released: Vec<u32>,
    /// Those that met something meanwhile that may stop the program, and what.
    held: Vec<(u32, &'static str)>,
}

impl Others {
    /// Whether any were let go.
    pub(super) fn were_let_go(&self) -> bool {
        self.gone || !self.released.is_empty()
    }

    /// Those that were frozen before.
    pub(super) fn frozen(&self) -> &[Thread] {
        &self.frozen
    }

    /// A thread is let go alone, for a lock that it has.
    pub(super) fn release(&mut self, id: u32) {
        self.released.push(id);
    }

    pub(super) fn is_released(&self, id: u32) -> bool {
        self.released.contains(&id)
    }

    /// Whether what is evaluated has begun a thread itself: one that was not there before, while none but its own ran.
    pub(super) fn has_begun(&self, thread: &Thread) -> bool {
        let id = thread.id();
        id.is_ok_and(|id| self.begun.contains(&id))
    }

    /// A thread begins.
    pub(super) fn begins(&mut self, thread: &Thread) {
        if let Ok(id) = thread.id()
            && !self.were_let_go()
            && !self.before.contains(&id)
        {
            self.begun.push(id);
        }
    }

    /// What became of those that were let go, to be said behind why an evaluation was given up.
    pub(super) fn told(&self) -> String {
        let mut told = String::new();
        for (thread, what) in &self.held {
            let _ = write!(told, "; thread {thread} {what} meanwhile and stands there");
        }
        told
    }
}

impl Engine<'_> {
    /// Keeps all other threads still.
    pub(super) fn freeze_others(&mut self, site: &CallSite) -> Result<(), CallError> {
        let target = self.stopped_target();
        let target = target.map_err(|error| CallError::Refused(error.message))?;
        let threads = target.process.threads().map_err(|error| refused(&error))?;
        self.evaluations.others = Others {
            before: threads.iter().filter_map(|it| it.id().ok()).collect(),
            frozen: self.freeze_all_but(&site.thread)?,
            ..Others::default()
        };
        Ok(())
    }

    /// Keeps all threads still but one; those that were so already, to be left so afterwards.
    pub(crate) fn freeze_all_but(&mut self, thread: &Thread) -> Result<Vec<Thread>, CallError> {
        let target = self.target.as_mut().ok_or(CallError::ProgramEnded)?;
        let threads = target.process.threads().map_err(|error| refused(&error))?;
        let frozen = threads
            .iter()
            .filter(|it| it.is_frozen().unwrap_or(false))
            .cloned()
            .collect();
        let all = target.process.freeze_all(true, thread);
        all.map_err(|error| refused(&error))?;
        target.turns.suspend(true);
        self.let_collector_run(&threads);
        Ok(frozen)
    }

    /// Lets the threads of the background collector go on. They run no code of the program, and a thread that begins a collection
    /// waits for them: frozen, they would hold it for ever.
    fn let_collector_run(&self, threads: &[Thread]) {
        let Some(pid) = self.pid else {
            return;
        };
        for thread in threads {
            let name = thread.id().ok().and_then(|id| procfs::thread_name(pid, id));
            if name.is_some_and(|name| name == COLLECTOR)
                && let Err(error) = thread.freeze(false)
            {
                tracing::warn!(%error, "letting the collector run");
            }
        }
    }

    /// Undoes [`freeze_others`](Self::freeze_others), however far it was undone already.
    pub(super) fn thaw_others(&mut self, site: &CallSite) {
        let others = std::mem::take(&mut self.evaluations.others);
        self.thaw_all_but(&site.thread, &others.frozen);
        for thread in &others.released {
            self.evaluations.note(format!(
                "thread {thread} was let run for it: it had a lock of the runtime that was needed"
            ));
        }
        if others.gone {
            self.evaluations
                .note("the other threads were let run for it".into());
        } else if others.released.is_empty() {
            return;
        }
        for (thread, what) in others.held {
            self.evaluations.note(format!(
                "thread {thread} {what} meanwhile: it stands there, and that is told when the program continues"
            ));
        }
        // One of them may have begun a thread.
        self.let_threads_begin();
    }

    /// Undoes [`freeze_all_but`](Self::freeze_all_but).
    pub(crate) fn thaw_all_but(&mut self, thread: &Thread, frozen: &[Thread]) {
        let Some(target) = &mut self.target else {
            return;
        };
        target.turns.suspend(false);
        if let Err(error) = target.process.freeze_all(false, thread) {
            tracing::warn!(%error, "letting threads run again");
        }
        freeze(frozen);
    }

    /// Lets the other threads go while an evaluation runs, for which the program must be stopped for a moment.
    pub(super) fn let_others_go(&mut self, site: &CallSite) -> Result<(), CallError> {
        if self.evaluations.others.gone {
            return Ok(());
        }
        self.keep_suspendable(site, false)?;
        let told = |error: crate::api::Error| CallError::Refused(error.message);
        let target = self.target.as_mut().ok_or(CallError::ProgramEnded)?;
        target.stop().map_err(told)?;
        self.thaw_for(site);
        let target = self.target.as_mut().ok_or(CallError::ProgramEnded)?;
        target.resume_all().map_err(told)
    }

    /// Lets the other threads go, in a program that is stopped for a moment.
    pub(super) fn thaw_for(&mut self, site: &CallSite) {
        if std::mem::replace(&mut self.evaluations.others.gone, true) {
            return;
        }
        let mut still = self.evaluations.others.frozen.clone();
        still.extend(self.postponed.iter().filter_map(Callback::thread));
        let Some(target) = &self.target else { return };
        let stopped_at = self.stop.as_ref().and_then(|it| it.thread);
        still.extend(stopped_at.and_then(|it| target.process.thread(it.0).ok()));
        let own = site.thread.id().ok();
        still.retain(|it| it.id().ok() != own);
        self.thaw_all_but(&site.thread, &still);
    }

    /// Something is told of another thread than the one that evaluates.
    pub(super) fn told_of_another(&mut self, callback: Callback) {
        // Those that stand still have met it before.
        let others = &self.evaluations.others;
        let id = callback.thread().and_then(|it| it.id().ok());
        if !others.gone && !id.is_some_and(|it| others.is_released(it)) {
            self.put_aside(callback);
            return;
        }
        let what = match &callback {
            Callback::Breakpoint { .. } => "met a breakpoint",
            Callback::StepComplete { .. } => "ended a step",
            Callback::Break { .. } => "called Debugger.Break",
            Callback::Exception2 { kind, .. } if self.exceptions.may_stop_at(*kind) => {
                "threw an exception"
            }
            _ => {
                self.wants_to_stop(callback);
                return;
            }
        };
        if let Some(thread) = callback.thread() {
            freeze(std::slice::from_ref(&thread));
            let held = &mut self.evaluations.others.held;
            let id = thread.id().unwrap_or(0);
            if !held.iter().any(|(it, _)| *it == id) {
                held.push((id, what));
            }
        }
        self.postponed.push_back(callback);
    }

    /// Has the runtime tell, or not, of code that is about to wait for another thread: while the program runs for itself
    /// that would only hold it up.
    pub(crate) fn hear_of_dependencies(&mut self, wanted: bool) {
        let Some(target) = &mut self.target else {
            return;
        };
        if std::mem::replace(&mut target.hears_of_dependencies, wanted) == wanted {
            return;
        }
        if target.dependency.is_none() {
            target.dependency = Some(notification(target));
        }
        if let Some(Some(class)) = &target.dependency
            && let Err(error) = target.process.notify_of(class, wanted)
        {
            tracing::debug!(%error, "notifications of waiting for other threads");
        }
    }
}

fn freeze(threads: &[Thread]) {
    for thread in threads {
        if let Err(error) = thread.freeze(true) {
            tracing::warn!(%error, "freezing a thread again");
        }
    }
}

/// The class of the framework's notifications that code is about to wait for another thread.
fn notification(target: &crate::target::Target) -> Option<Class> {
    let types = target.types();
    let debugger = types.core_named("System.Diagnostics", "Debugger")?;
    let found = types.nested(&debugger, "CrossThreadDependencyNotification", 0);
    let Ok(Some(Type::Named(found))) = found else {
        return None;
    };
    let module = types.module(found.module).ok()?;
    module.module.class(found.token.0).ok()
}
