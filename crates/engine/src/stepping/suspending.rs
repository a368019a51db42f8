//! Awaiters of the user's own: the code that an `await` calls in them has a caller without text.
//!
//! `IsCompleted` and `GetResult` return to the statement of the `await`. `OnCompleted` is called by the framework when the
//! invocation counts as suspended: a step goes into it from the `await`, and a step that leaves it goes on where the
//! invocation does, which may be before it has returned.

use cordebug::stepper::Stepper;
use cordebug::thread::{Frame, Thread};
use metadata::pdb::Await;

use super::awaiters::{Awaiter, Caller, Waiting};
use super::invocation::Invocation;
use super::position::{MethodId, Position, Standing};
use super::{Leg, MAX_WALK};
use crate::api::StepKind;
use crate::engine::Engine;
use crate::fields::Fields;
use crate::stack;

impl Engine<'_> {
    /// A stepper into what is called to suspend an invocation, for a step into the statement of an `await`.
    pub(super) fn stepper_into_suspension(&self, thread: &Thread, pause: Await) -> Option<Stepper> {
        let steps = self.stepping.steps.as_ref()?;
        if steps.kind != StepKind::Into || steps.wanted.is_some() {
            return None;
        }
        let begin = || -> Result<Stepper, cordebug::Error> {
            let stepper = thread.stepper()?;
            stepper.prepare(true)?;
            stepper.step_range(true, pause.yield_offset.0, pause.resume_offset.0)?;
            Ok(stepper)
        };
        begin()
            .map_err(|error| tracing::debug!(%error, "no step into what suspends a method"))
            .ok()
    }

    /// A thread that suspends our invocation has got somewhere; whether that stops the program: in code of the user's
    /// that is called to do it.
    pub(super) fn suspending(&mut self, thread: &Thread, invocation: Option<&Invocation>) -> bool {
        let steps = self.stepping.steps.as_ref();
        let Some(awaits) = steps.and_then(|steps| steps.leg.at) else {
            return false;
        };
        let mut called = || {
            let target = self.target.as_mut()?;
            let at = Position::of(target, thread).ok()?;
            let is_caller = |it: &Frame| it.stack_end().ok() == Some(awaits.frame.0);
            let caller = target
                .frames(thread)
                .skip(1)
                .take(MAX_WALK)
                .find(is_caller)?;
            // A `finally` block around the await runs on the way out, and finds that there is nothing to do.
            let block = target.frames(thread).next();
            if block.is_some_and(|it| it.is_funclet_of(&caller)) {
                return None;
            }
            let is_ours = Position::of_frame(target, &caller).method == awaits.method
                && invocation.is_none_or(|it| self.is_invocation(it, &caller));
            is_ours.then_some(at)
        };
        match called() {
            Some(at) if self.ends_in(thread, at) => self.landed(thread, at),
            _ => false,
        }
    }

    /// Prepares a leg out of what an invocation is suspended by, if the innermost method of a thread is that: the step ends
    /// where the invocation goes on. Whether it is so.
    pub(super) fn await_suspended(&mut self, thread: &Thread, leg: &mut Leg) -> bool {
        let Some((depth, at, caller)) = self.suspended_below(thread) else {
            return false;
        };
        let Some((state, pause)) = self.pause_at(at) else {
            return false;
        };
        if self.state(&caller) == Some(state) {
            let awaiter = self.invocation(&caller).zip(at.method);
            let awaiter = awaiter.map(|(invocation, method)| Awaiter {
                invocation,
                method: MethodId {
                    token: pause.resume_method,
                    ..method
                },
                resumes: vec![pause.resume_offset],
            });
            self.follow_awaiters(thread, awaiter.into_iter().collect(), false, leg);
            return leg.is_awaited();
        }
        // It has gone on meanwhile, on another thread: if nothing of the user's called it here, who awaits it is what is left.
        if matches!(self.caller(thread, depth + 1), Caller::User) {
            return false;
        }
        match self.who_awaits(&caller) {
            Waiting::Told { awaiters, wakes } => self.follow_awaiters(thread, awaiters, wakes, leg),
            Waiting::Nobody(taken) => {
                if let Some(result) = taken.or_else(|| self.run_of(&caller)) {
                    self.await_handed_on(None, &result, leg);
                }
            }
        }
        leg.is_awaited() || leg.alone.is_some()
    }

    /// The innermost frame with symbols below the innermost one of a thread, how many lie above it, and where it is.
    fn suspended_below(&mut self, thread: &Thread) -> Option<(usize, Position, Frame)> {
        let target = self.target.as_mut()?;
        let mut walk = stack::Walk::new(thread);
        walk.next_method(target)?;
        (1..MAX_WALK).find_map(|depth| {
            let caller = walk.next_method(target)?;
            let at = Position::of_frame(target, &caller);
            (at.standing != Standing::NoSymbols).then_some((depth, at, caller))
        })
    }

    /// The await that a position in an async method suspends it for, and the number of its state.
    fn pause_at(&mut self, at: Position) -> Option<(usize, Await)> {
        let stepping = self.async_stepping(at.method?)?;
        let mut awaits = stepping.awaits.into_iter().enumerate();
        awaits.find(|(_, it)| it.yield_offset <= at.ip && at.ip < it.resume_offset)
    }

    /// The await at which the invocation of a frame is suspended now.
    fn state(&mut self, frame: &Frame) -> Option<usize> {
        let machine = frame.first_argument().ok()?.dereference().ok()??;
        let task = self.run_of(frame);
        let mut fields = Fields::new(self.target.as_mut()?);
        // A struct has moved into its task: what the frame has is a copy that nobody changes any more.
        let moved = task.and_then(|task| fields.object(&task, "StateMachine"));
        let state = fields.number(&moved.unwrap_or(machine), "<>1__state")?;
        usize::try_from(state).ok()
    }

    /// Whether a position is in the code without text of an `await` that is about to ask whether it has to wait, or to take
    /// the result: what that calls returns to the statement.
    pub(super) fn is_in_await(&mut self, at: Position) -> bool {
        let (Standing::Hidden(range), Some(method)) = (at.standing, at.method) else {
            return false;
        };
        if self.pause_at(at).is_some() {
            return false;
        }
        let stepping = self.async_stepping(method);
        stepping.is_some_and(|it| {
            let mut awaits = it.awaits.iter();
            awaits.any(|it| range.contains(it.yield_offset) || range.contains(it.resume_offset))
        })
    }
}
