//! Coming to a running program and leaving it again, both with its events in order.
//!
//! After attaching, the runtime replays what had happened before (modules, threads) as callbacks; the program counts
//! as attached to when all of them were handled. Leaving is possible only when no callback is on its way: the runtime's
//! library crashes when it is told to detach while it delivers one. So whatever waits is handled first.

use std::time::{Duration, Instant};

use crate::api::{Error, Event, State};
use crate::engine::Engine;
use crate::target::runtime_error;

/// How long the events before an arrival or a departure may take.
const LIMIT: Duration = Duration::from_secs(3);

/// An arrival or a departure under way.
#[derive(Debug)]
pub(crate) struct Transition {
    /// Requests to answer at its end.
    ids: Vec<u64>,
    deadline: Instant,
}

impl Transition {
    pub(crate) fn new(id: Option<u64>) -> Self {
        Self {
            ids: id.into_iter().collect(),
            deadline: Instant::now() + LIMIT,
        }
    }

    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }
}

impl Engine<'_> {
    /// A callback was handled and not answered yet: an arrival or departure may be complete.
    ///
    /// Whether the program was let go, so that nothing is left to answer.
    pub(crate) fn transition_after_callback(&mut self) -> bool {
        let quiet = self.target.as_ref().is_some_and(|target| target.is_quiet());
        if quiet
            && self
                .target
                .as_ref()
                .is_some_and(|target| !target.modules.is_empty())
        {
            self.complete_arrival();
        }
        if quiet && self.departing.is_some() {
            self.detach_now();
        }
        self.target.is_none()
    }

    /// The program is there, with everything that happened before us.
    pub(crate) fn complete_arrival(&mut self) {
        if let Some(arrival) = self.arriving.take() {
            for id in arrival.ids {
                self.arrived(id);
            }
        }
    }

    /// Lets go of the program as soon as nothing is on its way; the request is answered then.
    pub(crate) fn depart(&mut self, id: Option<u64>) {
        if let Some(departing) = &mut self.departing {
            departing.ids.extend(id);
            return;
        }
        self.departing = Some(Transition::new(id));
        self.give_up_step();
        let Some(target) = &mut self.target else {
            return;
        };
        if !target.is_stopped() && target.has_undelivered() {
            // The program is stopped for that callback; it comes to us next.
            return;
        }
        if !target.is_stopped()
            && let Err(error) = target.stop()
        {
            self.departure_failed(error);
            return;
        }
        target.entry.forget();
        self.breakpoints.remove_all_from_code();
        if self.target.as_ref().is_some_and(|target| target.is_quiet()) {
            self.detach_now();
        } else if let Some(target) = &mut self.target {
            // What waits is delivered now, one by one, without the program running in between.
            self.state = State::Running;
            self.stop = None;
            if let Err(error) = target.resume_all() {
                self.departure_failed(error);
            }
        }
    }

    /// The program is stopped and nothing is on its way.
    fn detach_now(&mut self) {
        let Some(target) = &mut self.target else {
            return;
        };
        target.entry.forget();
        self.breakpoints.remove_all_from_code();
        if let Err(error) = target.process.detach() {
            self.departure_failed(runtime_error(&error).hint("try again, or end the program"));
            return;
        }
        cordebug::fast_memory::disable();
        if let Some(target) = self.target.take() {
            target.debugger.terminate();
        }
        self.state = State::Detached;
        self.stop = None;
        let status = Box::new(self.status());
        self.tell(Event::Detached(status));
        for id in self.departing.take().map(|it| it.ids).unwrap_or_default() {
            self.answer_status(id);
        }
    }

    fn departure_failed(&mut self, error: Error) {
        for id in self.departing.take().map(|it| it.ids).unwrap_or_default() {
            self.answer(id, Err(error.clone()));
        }
        if self.leaving {
            tracing::warn!(%error, "the program could not be let go");
            self.target = None;
        }
    }

    /// The program ended while we came or went: who waits is told what there is.
    pub(crate) fn transitions_overtaken(&mut self) {
        let ids = [self.arriving.take(), self.departing.take()];
        for id in ids.into_iter().flatten().flat_map(|it| it.ids) {
            self.answer_status(id);
        }
    }

    /// Events that never end must not keep us.
    pub(crate) fn transition_deadline_passed(&mut self) {
        let now = Instant::now();
        if self.arriving.as_ref().is_some_and(|it| it.deadline <= now) {
            self.complete_arrival();
        }
        if self.departing.as_ref().is_some_and(|it| it.deadline <= now) {
            if let Some(target) = &mut self.target
                && !target.is_stopped()
                && let Err(error) = target.stop()
            {
                self.departure_failed(error);
                return;
            }
            self.detach_now();
        }
    }
}
