//! The moment between attaching and the program being ours, and the moment in which it is let go.
//!
//! When a debugger comes, the library first tells everything that is there already: the process, its modules, its
//! threads. Until the last of these callbacks the library is not ready: stopping the program earlier may never return,
//! and letting go of it earlier, or while callbacks are queued, leaves it frozen for ever.
//!
//! Invariant: [`Engine::starting`] is set until the program has arrived, and nothing stops it or lets go of it while it
//! is set or while callbacks are queued.

use std::time::Duration;

use crate::api::{Error, ErrorCode, Event, Origin, State};
use crate::engine::Engine;

/// How long the library may take to tell what is there.
const ARRIVAL: Duration = Duration::from_secs(20);
/// How often a suspended program that is to be let go is looked at.
const SUSPENDED: Duration = Duration::from_millis(50);
/// How long queued callbacks are waited for before the program is let go all the same.
const DRAIN: Duration = Duration::from_secs(5);

impl Engine<'_> {
    /// We are attached: the request is answered when the program has arrived.
    pub(crate) fn await_arrival(&mut self) {
        self.ending.wait_until(Self::in_time(ARRIVAL));
    }

    /// Whether we are attached to a program that has not arrived yet.
    pub(crate) fn is_arriving(&self) -> bool {
        self.starting.is_some() && self.target.is_some()
    }

    /// Whether the callback that was just handled is the last one that we had to wait for.
    pub(crate) fn is_settled(&self) -> bool {
        (self.starting.is_some() || self.ending.let_go_wanted)
            && self.target.as_ref().is_some_and(|target| target.is_quiet())
    }

    /// The program is there: tell it, and honour what was asked for meanwhile.
    pub(crate) fn arrived(&mut self) {
        if self.exit_report().is_some() {
            // It is gone already: the start has failed, which is told with its last words.
            return;
        }
        let Some(starting) = self.starting.take() else {
            return;
        };
        cordebug::callback::arrived();
        self.ending.stop_waiting();
        if self.state == State::Starting {
            self.state = State::Running;
            let status = Box::new(self.status());
            self.tell(Event::Running(status));
        }
        self.bind_late_breakpoints();
        if std::mem::take(&mut self.ending.pause_wanted)
            && let Err(error) = self.pause()
        {
            tracing::debug!(%error, "pausing as was asked for");
        }
        self.answer_status(starting.id);
    }

    /// The time for something that the library owes us is over; whether there was such a thing.
    pub(crate) fn library_is_late(&mut self) -> bool {
        // A dead program owes nothing: then it is its last words that were waited for.
        if self.is_arriving() && self.exit_report().is_none() {
            self.never_arrived();
            return true;
        }
        if self.ending.let_go_wanted && self.target.is_some() {
            self.let_go_now();
            return true;
        }
        false
    }

    fn never_arrived(&mut self) {
        let seconds = ARRIVAL.as_secs();
        let error = Error::new(
            ErrorCode::Timeout,
            format!("the program's runtime did not answer its debugger within {seconds} s"),
        )
        .hint("if the program is suspended, let it run (kill -CONT) and try again");
        if self.origin == Some(Origin::Launched) {
            self.fail_start(error);
            return;
        }
        // It cannot be let go in order, for that the library would have to stop it first.
        self.abandon_target();
        self.state = State::Detached;
        self.notes.push(
            "the program's runtime may not accept another debugger until it is restarted".into(),
        );
        if let Some(starting) = self.starting.take() {
            self.answer(starting.id, Err(error));
        }
        let status = Box::new(self.status());
        self.tell(Event::Detached(status));
        self.answer_waiting();
    }

    /// Stops the program; a stop more if it is stopped already.
    pub(crate) fn stop_target(&mut self) -> Result<(), Error> {
        self.refuse_suspended()?;
        self.target()?.stop()
    }

    /// An error if a signal has suspended the process: the library would wait for an answer, and we with it, until
    /// somebody lets the process run.
    pub(crate) fn refuse_suspended(&self) -> Result<(), Error> {
        let pid = crate::api::ProcessId(self.pid.unwrap_or_default());
        crate::processes::suspended(pid).map_or(Ok(()), Err)
    }

    /// Lets go of the program, which runs on as before: at once, or as soon as the library is ready for that.
    ///
    /// Whoever asked is answered then.
    pub(crate) fn detach(&mut self) {
        self.ending.let_go_wanted = true;
        // The last of what is queued lets go, so it has to be heard of.
        cordebug::callback::tell_all(true);
        if self.starting.is_some() {
            return;
        }
        if self.target.as_ref().is_some_and(|it| !it.is_stopped())
            && let Err(error) = self.stop_target()
        {
            tracing::debug!(%error, "stopping the program to let go of it");
        }
        if let Some(target) = &mut self.target
            && target.is_stopped()
            && !target.is_quiet()
        {
            // The queued ones are delivered now; the last of them lets go.
            self.ending.wait_until(Self::in_time(DRAIN));
            if let Err(error) = target.resume_all() {
                tracing::debug!(%error, "delivering what is queued");
            }
            return;
        }
        self.let_go_now();
    }

    pub(crate) fn let_go_now(&mut self) {
        self.ending.let_go_wanted = false;
        self.ending.stop_waiting();
        let was_stopped = self.state == State::Stopped;
        let result = self.leave_the_program();
        match result {
            Ok(()) => {
                self.state = State::Detached;
                self.stop = None;
                let status = Box::new(self.status());
                self.tell(Event::Detached(status));
                self.answer_waiting();
            }
            Err(error) if self.refuse_suspended().is_err() => {
                // Whoever asked is told; nobody is there any more to try again, so we do.
                if self.leaving {
                    self.let_go_when_it_runs();
                }
                self.refuse_waiting(&error);
            }
            Err(error) if error.code == ErrorCode::Exited => {
                if self.leaving {
                    self.abandon_target();
                }
                self.refuse_waiting(&error);
            }
            Err(error) => {
                tracing::warn!(%error, "letting go of the program");
                if self.leaving {
                    self.abandon_target();
                }
                let hint = if was_stopped {
                    "continue the program and try again"
                } else {
                    "try again"
                };
                self.refuse_waiting(&error.hint(hint));
            }
        }
    }

    /// A suspended program cannot be let go: left now, it would wait for this debugger for ever. So we stay, quietly,
    /// until it runs again or ends.
    fn let_go_when_it_runs(&mut self) {
        if self.ending.waits_for_suspended.is_none() {
            let pid = self.pid.unwrap_or_default();
            self.ending.waits_for_suspended = Some(crate::processes::Leaving::of(pid));
            self.notes.push(format!(
                "process {pid} is suspended by a signal; it is let go as soon as it runs again (kill -CONT {pid})"
            ));
            let mut status = Box::new(self.status());
            status.state = State::Detached;
            status.stop = None;
            self.tell(Event::Detached(status));
            self.fall_silent();
        }
        self.ending.let_go_wanted = true;
        self.ending.wait_until(Self::in_time(SUSPENDED));
    }
}
