//! What comes in while the debugger itself computes an expression: whoever waits for it may give it up.
//!
//! Everything that is taken out of the inbox on the way is handled afterwards, in its order.

use std::cell::{Cell, RefCell};
use std::sync::mpsc::Receiver;

use crate::api::Request;
use crate::engine::{Engine, Input};

/// Looks into the inbox from time to time.
pub(super) struct Incoming<'i> {
    inputs: &'i Receiver<Input>,
    taken: RefCell<Vec<Input>>,
    /// Why the computation is given up.
    why: Cell<Option<&'static str>>,
}

impl<'i> Incoming<'i> {
    pub(super) fn new(inputs: &'i Receiver<Input>) -> Self {
        Self {
            inputs,
            taken: RefCell::default(),
            why: Cell::default(),
        }
    }

    /// Why nobody wants the result any more, if that is so.
    pub(super) fn given_up(&self) -> Option<&'static str> {
        while self.why.get().is_none()
            && let Ok(input) = self.inputs.try_recv()
        {
            self.why.set(ends(&input));
            self.taken.borrow_mut().push(input);
        }
        self.why.get()
    }
}

/// Why something that comes in ends an evaluation, if it does.
fn ends(input: &Input) -> Option<&'static str> {
    match input {
        Input::Command { request, .. } => match request {
            Request::CancelEvaluation => Some("it was cancelled"),
            Request::Pause => Some("the program was to be paused"),
            Request::Disconnect { .. } => Some("the session ends"),
            _ => None,
        },
        Input::FrontEndGone | Input::ToldToEnd(_) => Some("nobody listens any more"),
        Input::ProcessEnded(_) => Some("the program has ended"),
        _ => None,
    }
}

impl Engine<'_> {
    /// Sees to what came in during a computation.
    pub(super) fn see_to(&mut self, incoming: Incoming<'_>) {
        // What the same request asks for besides is not begun, whoever wanted it to end.
        if incoming.why.get().is_some() {
            self.evaluations.cancel();
        }
        for input in incoming.taken.into_inner() {
            match input {
                Input::Command {
                    id,
                    request: Request::CancelEvaluation,
                    ..
                } => self.answer_status(id),
                // What runs code next waits for these in the inbox.
                callback @ Input::Callback(_) => {
                    // The engine holds the other end itself.
                    let _ = self.inbox.send(callback);
                }
                other => self.deferred.push_back(other),
            }
        }
    }
}
