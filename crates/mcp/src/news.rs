//! What is known of a session, and what its client was told of it.

use std::collections::BTreeMap;

use host::api::{Breakpoint, Error, Event, State, Status, Stop};

/// What is known of a session right now.
#[derive(Debug, Clone)]
pub(crate) struct News {
    /// As the engine told it last.
    pub(crate) status: Status,
    /// What a slow start is doing.
    pub(crate) progress: Option<String>,
    /// The last stop, also after it.
    pub(crate) last_stop: Option<Stop>,
    /// After how many resumes that was.
    stopped_after: Option<u32>,
    /// Breakpoints at places in code, as they were last told.
    pub(crate) breakpoints: BTreeMap<u32, Breakpoint>,
    /// Whether the program has reached the debugger.
    pub(crate) started: bool,
    /// Whether the start was given up.
    pub(crate) given_up: bool,
    /// That it was ended because nobody used it, in words.
    pub(crate) idle: Option<String>,
    /// Set when nothing more will happen.
    pub(crate) over: Option<Over>,
}

/// How a session came to its end.
#[derive(Debug, Clone)]
pub(crate) enum Over {
    /// The program ended or was let go: the status says how.
    Ended,
    /// It could not be started, or its host died.
    Failed(Error),
}

impl News {
    /// Of a session that has just begun.
    pub(crate) fn starting() -> Self {
        Self {
            status: Status::starting(),
            progress: None,
            last_stop: None,
            stopped_after: None,
            breakpoints: BTreeMap::new(),
            started: false,
            given_up: false,
            idle: None,
            over: None,
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        matches!(self.status.state, State::Exited | State::Detached)
    }

    pub(crate) fn is_settled(&self, after: u32) -> bool {
        self.over.is_some() || (self.status.state == State::Stopped && self.status.resumes >= after)
    }

    /// Whether it has stopped after the resume with number `after`, and somebody else has let it run on.
    pub(crate) fn has_passed(&self, after: u32) -> bool {
        self.status.state == State::Running && self.stopped_after.is_some_and(|it| it >= after)
    }

    /// Takes an event of the host in.
    pub(crate) fn note(&mut self, event: &Event) {
        match event {
            Event::Stopped(status) => {
                self.status = (**status).clone();
                self.last_stop.clone_from(&self.status.stop);
                self.stopped_after = Some(self.status.resumes);
            }
            Event::Running(status) | Event::Exited(status) | Event::Detached(status) => {
                self.status = (**status).clone();
            }
            Event::Output { end } => self.status.output_end = *end,
            Event::Breakpoint(breakpoint) => {
                self.breakpoints.insert(breakpoint.id.0, breakpoint.clone());
            }
            Event::Progress { message } => self.progress = Some(message.clone()),
            // Everything else is told when it is asked for.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_that_somebody_else_ended_is_not_waited_for() {
        let mut news = News::starting();
        let at = |state, resumes| {
            Box::new(Status {
                state,
                resumes,
                ..Status::starting()
            })
        };
        assert!(!news.has_passed(0));
        news.note(&Event::Running(at(State::Running, 0)));
        assert!(!news.has_passed(0), "it has not stopped yet");
        news.note(&Event::Stopped(at(State::Stopped, 0)));
        assert!(news.is_settled(0) && !news.has_passed(0));
        news.note(&Event::Running(at(State::Running, 1)));
        assert!(news.has_passed(0), "the stop was there and is over");
        assert!(
            !news.has_passed(1),
            "whoever let it run waits for the next stop"
        );
    }
}
