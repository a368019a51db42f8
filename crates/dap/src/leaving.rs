//! How a program and its session end: disconnect, terminate, and what is given up.

use std::thread;
use std::time::{Duration, Instant};

use host::Session;
use host::api::{Request as EngineRequest, State};
use rustix::process::{Pid, Signal};

use crate::adapter::{Adapter, Input, Phase, arguments};
use crate::message::{Refusal, Request};
use crate::starting::progress_id;
use crate::types::{CancelArguments, DisconnectArguments, TerminateArguments};

/// How long a program that was asked to end may take.
const GRACE: Duration = Duration::from_secs(5);

/// How long an ordered end may take.
const END: Duration = Duration::from_secs(20);

impl Adapter {
    pub(crate) fn disconnect(&mut self, request: &Request) {
        let wish = arguments::<DisconnectArguments>(request).unwrap_or_default();
        if wish.suspend_debuggee == Some(true) && self.session.is_some() {
            self.say("suspendDebuggee is not supported: nothing could wake the program again");
        }
        self.leave(wish.terminate_debuggee);
        // Every request is answered, also those that nothing will come of any more.
        let refuse = |it: &Request| {
            self.client.answer(it, Err::<(), _>(Refusal::cancelled()));
        };
        if let Some((evaluated, _)) = self.evaluating.take() {
            refuse(&evaluated);
        }
        if let (Phase::Starting, Some(start)) = (self.phase, &self.start) {
            refuse(&start.request);
        }
        self.refuse_waiting_start(&Refusal::cancelled());
        self.deferred.drain(..).for_each(|it| refuse(&it));
        self.client.answer(request, Ok(()));
        self.over = true;
    }

    /// Answers a launch that waits for the end of the configuration and will not get it.
    pub(crate) fn refuse_waiting_start(&self, refusal: &Refusal) {
        if let (Phase::Configuring, Some(start)) = (self.phase, &self.start) {
            let refusal = refusal.clone();
            self.client.answer(&start.request, Err::<(), _>(refusal));
        }
    }

    /// Asks the program to end as a shell would, with SIGTERM. If it does not within [`GRACE`], or is asked again, it is
    /// ended by force.
    pub(crate) fn terminate(&mut self, request: &Request) {
        let _ = arguments::<TerminateArguments>(request);
        let running = self.session().is_ok();
        if running && self.ask_to_end() {
            return self.client.answer(request, Ok(()));
        }
        self.leave(Some(true));
        self.client.answer(request, Ok(()));
        if running && self.phase != Phase::Ended {
            // The engine tells the end with its code; that is passed on as always.
            self.phase = Phase::Debugging;
        }
    }

    /// Whether the program was asked to end, for the first time.
    fn ask_to_end(&mut self) -> bool {
        let first = self.asked_to_end.replace(self.generation) != Some(self.generation);
        if self.phase != Phase::Debugging || !first {
            return false;
        }
        let status = self.session.as_ref().map(Session::status);
        let pid = status.as_ref().and_then(|status| status.pid);
        let pid = pid.and_then(|pid| i32::try_from(pid.0).ok());
        let Some(pid) = pid.and_then(Pid::from_raw) else {
            return false;
        };
        let (inbox, generation) = (self.inbox.clone(), self.generation);
        let timer = thread::Builder::new().name("grace".into()).spawn(move || {
            thread::sleep(GRACE);
            let _ = inbox.send(Input::Overdue(generation));
        });
        if timer.is_err() || rustix::process::kill_process(pid, Signal::TERM).is_err() {
            return false;
        }
        // A program that is stopped takes no signals.
        if status.is_some_and(|status| status.state == State::Stopped) {
            match self.ask(EngineRequest::Continue) {
                Ok(_) => self.forget_looks(),
                Err(refusal) => tracing::debug!(?refusal, "letting the program end"),
            }
        }
        true
    }

    /// The program was asked to end, and has not.
    pub(crate) fn overdue(&mut self) {
        if self.phase == Phase::Debugging {
            let seconds = GRACE.as_secs();
            self.say(&format!(
                "the program did not end within {seconds} s of SIGTERM: it is ended by force"
            ));
            self.leave(Some(true));
        }
    }

    /// Ends the session: what was launched is ended and what was attached to is let go, unless the wish is other.
    fn leave(&mut self, terminate: Option<bool>) {
        if let Some(start) = &self.start {
            start.cancel();
        }
        let Some(session) = &self.session else { return };
        if self.phase == Phase::Ended {
            return;
        }
        let request = EngineRequest::Disconnect {
            terminate,
            children: true,
        };
        if let Err(error) = session.request(request, Instant::now() + END) {
            tracing::debug!(%error, "ending the session");
        }
    }

    pub(crate) fn cancel(&mut self, request: &Request) {
        let wish = arguments::<CancelArguments>(request).unwrap_or_default();
        let id = wish.request_id.map(i64::from);
        let waiting = self.deferred.iter().position(|it| Some(it.seq) == id);
        if let Some(waiting) = waiting.and_then(|at| self.deferred.remove(at)) {
            self.client
                .answer(&waiting, Err::<(), _>(Refusal::cancelled()));
        } else if let Some((evaluated, given_up)) = &self.evaluating
            && Some(evaluated.seq) == id
            && let Some(session) = &self.session
        {
            given_up.give_up(session);
        } else {
            let start = self.start.as_ref().filter(|start| {
                id == Some(start.request.seq)
                    || wish.progress_id.as_deref() == Some(&progress_id(start))
            });
            if let Some(start) = start {
                start.cancel();
            }
        }
        self.client.answer(request, Ok(()));
    }
}
