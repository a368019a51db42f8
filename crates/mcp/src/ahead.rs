//! What a report will most likely ask its host for, sent all at once: the report then waits for the host once, and not for
//! each request.
//!
//! Guesses change nothing that is told: what was not guessed is asked for when it is needed.

use std::cell::RefCell;
use std::time::Instant;

use host::api::{Error, Reply, Request};

use crate::session::{ANSWER, DebugSession, Sent};

/// Requests that are on their way.
pub(crate) struct Ahead<'s> {
    session: &'s DebugSession,
    sent: RefCell<Vec<(Request, Sent<'s>)>>,
}

impl<'s> Ahead<'s> {
    /// Sends the requests that are likely; one that cannot be sent is not likely.
    pub(crate) fn send(session: &'s DebugSession, likely: Vec<Request>) -> Self {
        let sent = likely
            .into_iter()
            .filter_map(|request| Some((request.clone(), session.send(request).ok()?)));
        Self {
            session,
            sent: RefCell::new(sent.collect()),
        }
    }

    /// The answer to a request, which may be on its way already.
    pub(crate) fn ask(&self, request: Request) -> Result<Reply, Error> {
        match self.guessed(&request) {
            Some(answer) => answer,
            None => self.session.ask(request),
        }
    }

    /// The answer to a request if it is on its way already.
    pub(crate) fn guessed(&self, request: &Request) -> Option<Result<Reply, Error>> {
        let mut sent = self.sent.borrow_mut();
        let at = sent.iter().position(|(guess, _)| guess == request)?;
        let (_, sent) = sent.swap_remove(at);
        Some(sent.wait(Instant::now() + ANSWER))
    }
}
