//! Leaving an invocation that nobody awaits and that code of the user's has resumed: `SetResult` of what it awaited, a loop
//! that runs callbacks, a context of the program's own. It returns to that code, and so does the step.
//!
//! On the way the framework may run others that awaited the same. A stepper of the frame that it returns to stops there
//! and nowhere else.

use cordebug::stepper::Stepper;
use cordebug::thread::{Frame, Thread};

use super::position::{FrameId, Position, Standing};
use super::waiters::stepper_back_to;
use super::{Leg, MAX_WALK};
use crate::engine::Engine;
use crate::stack;

impl Engine<'_> {
    /// Prepares a leg out of the invocation of a thread's innermost frame to the user's code that has resumed it; whether
    /// there is any.
    pub(super) fn await_return(&mut self, thread: &Thread, frame: &Frame, leg: &mut Leg) -> bool {
        let Some(resumer) = self.resumer(thread, frame) else {
            return false;
        };
        if self.is_waited_for_soon(frame) {
            return false;
        }
        let begin = || -> Result<(Stepper, FrameId), cordebug::Error> {
            let returns_to = FrameId(resumer.stack_end()?);
            Ok((stepper_back_to(&resumer, thread)?, returns_to))
        };
        match begin() {
            Ok((stepper, returns_to)) => {
                leg.beyond = Some(stepper);
                leg.returns_to = Some(returns_to);
                leg.own = self.invocation(frame);
                true
            }
            Err(error) => {
                tracing::debug!(%error, "the code that has resumed a method cannot be stepped");
                false
            }
        }
    }

    /// Whether a thread is about to wait for the task of an invocation: the step goes on there.
    fn is_waited_for_soon(&mut self, frame: &Frame) -> bool {
        let task = self.run_of(frame);
        let waits = task.and_then(|task| stack::about_to_wait(self.target.as_mut()?, &task));
        waits.is_some()
    }

    /// The innermost frame of the user's code below an invocation that was resumed. Async methods that are just being
    /// completed have nothing more to do: what has resumed those counts.
    fn resumer(&mut self, thread: &Thread, frame: &Frame) -> Option<Frame> {
        let mut walk = stack::Walk::new(thread);
        walk.next_method(self.target.as_mut()?)?;
        for depth in 0..MAX_WALK {
            let target = self.target.as_mut()?;
            let caller = walk.next_method(target)?;
            if depth == 0 && stack::calls(target, &caller, frame) {
                return None;
            }
            let at = Position::of_frame(target, &caller);
            let returns_to = match at.standing {
                Standing::NoSymbols | Standing::NoText => false,
                Standing::Hidden(_) => !self.is_being_completed(at),
                Standing::AtStatement(_) | Standing::InStatement(_) => true,
            };
            if returns_to {
                return Some(caller);
            }
        }
        None
    }

    /// Whether a position lies in the code that the step is to return to, and not inside what that has called; nothing if the
    /// step is to return to none.
    pub(super) fn is_back_in_resumer(&self, at: Position) -> Option<bool> {
        let returns_to = self.stepping.steps.as_ref()?.leg.returns_to?;
        Some(at.frame >= returns_to)
    }
}
