//! How a session ends: the program's own end, ending it, letting it go.
//!
//! A program's end comes in pieces, in any order: the runtime says goodbye, the process is reaped, its output reaches
//! the end. `Exited` is told once, when the exit status is known and the output has been read; output that a
//! grandchild keeps open is waited for only briefly.

use std::time::{Duration, Instant};

use cordebug::procfs;
use cordebug::spawn::ExitReport;

use crate::api::{Error, ErrorCode, Event, Exit, Origin, State};
use crate::engine::Engine;

/// How long the end of the output is waited for after the process is gone.
const OUTPUT_GRACE: Duration = Duration::from_millis(300);
/// How long a launched program may take to end after the child of it that was debugged, where that is waited for.
const LAUNCHER_GRACE: Duration = Duration::from_secs(20);
/// How long a killed process may take to be gone.
const KILL_GRACE: Duration = Duration::from_secs(5);

/// The pieces of an end that are there, and what waits for the rest.
#[derive(Debug, Default)]
pub(crate) struct Ending {
    /// A pause was asked for before the program was there.
    pub(crate) pause_wanted: bool,
    /// The program is to be let go as soon as the library is ready for it.
    pub(crate) let_go_wanted: bool,
    /// Nobody listens any more, and the program is let go when a signal lets it run.
    pub(crate) waits_for_suspended: Option<crate::processes::Leaving>,
    /// How the process ended.
    report: Option<ExitReport>,
    /// Whether the end of the launched program is waited for as well.
    pub(crate) awaits_launcher: bool,
    /// Whether we sent the signal.
    killed_by_us: bool,
    /// Whether somebody will tell us when the process ends.
    pub(crate) watched: bool,
    /// Requests to answer when it is over.
    waiting: Vec<u64>,
    deadline: Option<Instant>,
}

impl Ending {
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Something is waited for, but not for ever.
    pub(crate) fn wait_until(&mut self, deadline: Instant) {
        self.deadline = Some(deadline);
    }

    /// Nothing is waited for any more.
    pub(crate) fn stop_waiting(&mut self) {
        self.deadline = None;
    }

    /// Whether we killed the process and its end has not been seen yet.
    pub(crate) fn process_expected(&self) -> bool {
        self.killed_by_us && self.watched && self.report.is_none() && self.deadline.is_some()
    }
}

impl Engine<'_> {
    /// The program is gone or let go: the library is left as it is, since its threads may still be busy with that.
    pub(crate) fn abandon_target(&mut self) {
        // Breakpoints that were never reached are told at the end, when no module is there to look into.
        self.suggest_names();
        self.note_unknown_exceptions();
        self.note_other_documents();
        self.claim = None;
        if let Some(target) = self.target.take() {
            cordebug::fast_memory::disable();
            std::mem::forget(target);
            std::mem::forget(std::mem::take(&mut self.postponed));
        }
    }

    /// The runtime library says that the program is over.
    pub(crate) fn runtime_ended(&mut self) {
        self.abandon_target();
        if !self.ending.watched {
            self.process_ended(ExitReport::Unknown);
        } else if self.ending.report.is_none() {
            self.ending.deadline = Some(Self::in_time(KILL_GRACE));
        }
    }

    /// The process is gone.
    pub(crate) fn process_ended(&mut self, report: ExitReport) {
        self.ending.report.get_or_insert(report);
        self.capture.hold_up_nobody();
        if self.starting.is_some() {
            self.ended_while_starting();
            return;
        }
        if self.ending.awaits_launcher {
            self.ending.deadline = Some(Self::in_time(LAUNCHER_GRACE));
        } else if self.capture.is_closed() {
            self.finish();
        } else {
            self.ending.deadline = Some(Self::in_time(OUTPUT_GRACE));
        }
    }

    /// Whether the process is gone, but its end has not been told yet.
    pub(crate) fn is_ending(&self) -> bool {
        self.ending.report.is_some()
            && self.ending.deadline.is_some()
            && !matches!(self.state, State::Exited | State::Detached)
    }

    pub(crate) fn exit_report(&self) -> Option<ExitReport> {
        self.ending.report
    }

    /// Both output streams are at their end.
    pub(crate) fn output_closed(&mut self) {
        if self.ending.report.is_none() {
            return;
        }
        if self.starting.is_some() {
            self.starting_failed_at_last();
        } else if !self.ending.awaits_launcher {
            self.finish();
        }
    }

    pub(crate) fn ending_deadline_passed(&mut self) {
        if self
            .ending
            .deadline
            .is_some_and(|deadline| deadline <= Instant::now())
        {
            self.ending.deadline = None;
            if self.library_is_late() {
                return;
            }
            if self.starting.is_some() {
                self.starting_failed_at_last();
            } else {
                self.ending.report.get_or_insert(ExitReport::Unknown);
                self.finish();
            }
        }
    }

    /// The program has ended and all of its output is here.
    fn finish(&mut self) {
        self.note_unfinished_step(true);
        self.ending.deadline = None;
        self.abandon_target();
        if let Some(leftovers) = self.leftovers.take() {
            leftovers.remove();
        }
        if matches!(self.state, State::Exited | State::Detached) {
            self.answer_waiting();
            return;
        }
        let report = self.ending.report.unwrap_or(ExitReport::Unknown);
        let exit = exit(report, self.ending.killed_by_us, self.origin);
        self.exit = Some(exit);
        self.state = State::Exited;
        self.stop = None;
        let status = Box::new(self.status());
        self.tell(Event::Exited(status));
        self.answer_waiting();
    }

    pub(crate) fn answer_waiting(&mut self) {
        for id in std::mem::take(&mut self.ending.waiting) {
            self.answer_status(id);
        }
    }

    pub(crate) fn refuse_waiting(&mut self, error: &Error) {
        for id in std::mem::take(&mut self.ending.waiting) {
            self.answer(id, Err(error.clone()));
        }
    }

    /// Ends the session on request.
    pub(crate) fn disconnect(&mut self, id: u64, terminate: Option<bool>, children: bool) {
        if matches!(self.state, State::Exited | State::Detached) {
            self.answer_status(id);
            return;
        }
        if self.origin.is_none() {
            let error = Error::new(
                ErrorCode::NoSession,
                "there is no program in this session yet",
            );
            self.answer(id, Err(error));
            return;
        }
        let end_it = terminate.unwrap_or(self.origin == Some(Origin::Launched));
        if end_it {
            self.ending.waiting.push(id);
            self.kill(children);
            if !self.ending.process_expected() {
                self.answer_waiting();
            }
            return;
        }
        if self.target.is_none() {
            let message = "the program has not reached the debugger yet and cannot be let go";
            self.answer(
                id,
                Err(Error::new(ErrorCode::NoSession, message)
                    .hint("end it instead, or wait until it runs")),
            );
            return;
        }
        // Also while it waits for us: the library would wait for its answer.
        if let Err(error) = self.refuse_suspended() {
            self.answer(id, Err(error));
            return;
        }
        self.ending.waiting.push(id);
        self.detach();
    }

    /// Nobody listens any more: a launched program is ended, an attached one let go.
    pub(crate) fn let_go(&mut self) {
        if matches!(self.state, State::Exited | State::Detached) {
            return;
        }
        match self.origin {
            Some(Origin::Launched) => self.kill(true),
            _ if self.target.is_some() => self.detach(),
            _ => self.cancel_start(),
        }
    }

    /// A launched tool whose child was debugged must not stay behind, nor anything that it started.
    pub(crate) fn end_followed_tree(&mut self) {
        if self.following.take().is_some() {
            crate::processes::kill_all(&procfs::descendants(std::process::id()));
        }
    }

    /// Ends the program's process, and those below it if asked for. A launched tool that only started the program is
    /// always ended with everything below it.
    fn kill(&mut self, children: bool) {
        self.cancel_start();
        let all = || procfs::descendants(std::process::id());
        let below = match (self.pid, &self.following) {
            (_, Some(_)) => all(),
            (Some(pid), None) if children => {
                let below = procfs::descendants(pid);
                // What it started is ours if it was gone by then.
                let was_there = self.ending.report.is_none() && procfs::is_alive(pid);
                if was_there { below } else { all() }
            }
            _ => Vec::new(),
        };
        self.ending.killed_by_us = true;
        if let Some(pid) = self.pid {
            crate::processes::kill(pid);
        }
        crate::processes::kill_all(&below);
        self.ending.deadline = Some(Self::in_time(KILL_GRACE));
    }
}

pub(crate) fn exit(report: ExitReport, killed_by_us: bool, origin: Option<Origin>) -> Exit {
    match report {
        ExitReport::Code(code) => Exit::Code(code),
        ExitReport::Signal(number) => Exit::Signal {
            number,
            name: crate::processes::signal_name(number),
            by_debugger: killed_by_us && number == 9,
        },
        ExitReport::Unknown => Exit::Unknown {
            reason: match origin {
                Some(Origin::Attached) => "the process is not a child of the debugger",
                _ => "the system has not told it",
            }
            .into(),
        },
    }
}
