//! What happens when a leg of a step ends: stop there, or go on.

use cordebug::bindings::ICorDebugStepper;
use cordebug::com::Com;
use cordebug::stepper::Stepper;
use cordebug::thread::{Frame, Mapping, Thread};
use metadata::pe::{ClauseKind, ExceptionClause};

use super::position::{FrameId, Position, Standing};
use super::{Leg, TrapKind};
use crate::api::{Error, StepKind, StopReason, ThreadId};
use crate::engine::Engine;

/// What follows a leg.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// A person expects to stop here.
    Stop,
    /// Another leg, of this kind.
    Leg(StepKind),
    /// A leg of this kind that leaves the whole method behind.
    Through(StepKind),
    /// Nothing more on this thread: traps wait for what follows, or nothing does.
    Wait,
}

impl Engine<'_> {
    /// A stepper is done; whether that stops the program.
    pub(crate) fn step_completed(
        &mut self,
        thread: &Thread,
        stepper: Option<&Com<ICorDebugStepper>>,
    ) -> bool {
        if let Some(stepper) = stepper
            && self.is_waiter(stepper)
        {
            return self.waiter_returned(thread);
        }
        if self.item_left(stepper) {
            return false;
        }
        let steps = self.stepping.steps.as_mut();
        let leg = steps.map(|steps| &mut steps.leg).filter(|leg| {
            let mut ours = leg.stepper.iter().chain(&leg.beyond);
            ours.any(|ours| stepper.is_some_and(|it| ours.is(it)))
        });
        let Some(leg) = leg else {
            // A step that was given up.
            let other = |it: &Stepper| !stepper.is_some_and(|stepper| it.is(stepper));
            self.stepping.retired.retain(other);
            return false;
        };
        let done = |it: &mut Stepper| stepper.is_some_and(|stepper| it.is(stepper));
        if leg.stepper.take_if(done).is_none() {
            leg.beyond.take_if(done);
        }
        if leg.suspended.is_some() {
            // The invocation has been suspended and its thread is on its way out: now it can be known by its task.
            return self.got_on_suspending(thread);
        }
        let mut at = match self
            .target()
            .and_then(|target| Position::of(target, thread))
        {
            Ok(at) => at,
            Err(error) => return self.step_failed(thread, &error),
        };
        if let Some(range) = at.standing.statement()
            && self.is_in_added_code(thread, at)
        {
            at.standing = Standing::Hidden(range);
        }
        if self.is_followed_already(thread, at) {
            return false;
        }
        // The other one is not needed any more; if it is done as well, that is news of a step that was given up.
        if let Some(steps) = &mut self.stepping.steps {
            let leg = &mut steps.leg;
            let both = [leg.stepper.take(), leg.beyond.take()];
            self.stepping.retired.extend(both.into_iter().flatten());
        }
        if self.is_still_inside(thread, at) {
            return match self.begin_leg(thread, at, StepKind::Out) {
                Ok(()) => false,
                Err(error) => self.step_failed(thread, &error),
            };
        }
        self.note_return(thread, at);
        self.landed(thread, at)
    }

    /// Whether a thread is in the middle of what counts as a statement's code without having come there from a call: by a jump, or
    /// because it throws.
    ///
    /// What the runtime's compiler adds to the beginning of a block (the counters of code that it may optimise later)
    /// belongs to no IL. The code counts to the statement before it, which may never have run. What throws is managed
    /// code of the runtime, of which no frame is told.
    fn is_in_added_code(&mut self, thread: &Thread, at: Position) -> bool {
        let Some(leg) = self.stepping.steps.as_ref().map(|steps| &steps.leg) else {
            return false;
        };
        let is_own = |from: Position| {
            from.method == at.method && (from.frame == at.frame || leg.home == Some(at.frame))
        };
        if !leg.at.is_some_and(is_own) || at.method.is_none_or(|method| self.is_marked(method)) {
            return false;
        }
        let place = || self.active_frame(thread)?.ip().ok()?;
        place().is_some_and(|(_, mapping)| mapping != Mapping::Exact)
    }

    /// Whether the rest of a step is not of this thread's: the result of the invocation that it leaves is just being handed
    /// on, or has been, and what waits for those who go on with it is there. Whoever was asked now who they are would
    /// not know any more.
    fn is_followed_already(&mut self, thread: &Thread, at: Position) -> bool {
        if self.is_back_in_resumer(at) == Some(false) && self.has_left_invocation(thread) {
            return true;
        }
        let steps = self.stepping.steps.as_ref();
        let is_prepared = steps.is_some_and(|steps| {
            let leg = &steps.leg;
            let leaves = leg.at.is_some_and(|from| from.method == at.method);
            leaves && (leg.is_awaited() || leg.alone.is_some() || leg.returns_to.is_some())
        });
        is_prepared && self.is_being_completed(at)
    }

    /// Whether a step out has come to a block of the very method that it is to leave, or of one that it has called: the
    /// runtime ends a step where an exception is caught, and where blocks run because a filter has decided to catch it. Such
    /// a block runs above all that the exception has left: what counts is the frame of its method.
    fn is_still_inside(&self, thread: &Thread, at: Position) -> bool {
        let Some(steps) = self.stepping.steps.as_ref() else {
            return false;
        };
        if steps.kind != StepKind::Out || !steps.leg.leaves || at.method.is_none() {
            return false;
        }
        self.home(thread, at).unwrap_or(at.frame) <= steps.left()
    }

    /// Whether a thread runs a block of a method further out than the one that a step began in: an exception has left that.
    fn is_block_further_out(&self, thread: &Thread, at: Position) -> bool {
        let steps = self.stepping.steps.as_ref();
        let left = steps.map(super::Steps::left);
        self.home(thread, at) > left && left.is_some()
    }

    /// What is to be known of the block that a step begins in: where it is left for good.
    pub(super) fn block_of_step(
        &mut self,
        thread: &Thread,
        from: Position,
        kind: StepKind,
    ) -> Option<(FrameId, FrameId)> {
        let is_async = |method| self.async_stepping(method).is_some();
        let is_needed =
            kind == StepKind::Out || from.method.is_some_and(is_async) || self.is_in_filter(from);
        let home = is_needed.then(|| self.home(thread, from)).flatten()?;
        Some((from.frame, home))
    }

    /// The frame of the method that a thread runs a block of, if it is in one.
    pub(super) fn home(&self, thread: &Thread, at: Position) -> Option<FrameId> {
        let target = self.target.as_ref()?;
        let mut frames = target.frames(thread);
        let block = frames.next()?;
        let token = |frame: &Frame| frame.function().ok()?.token().ok();
        let method = if block.is_funclet() {
            frames.find(|outer| block.is_funclet_of(outer))
        } else if self.is_in_filter(at) {
            // For the runtime a filter is a frame like any other.
            frames.find(|outer| token(outer) == token(&block) && !outer.is_funclet())
        } else {
            None
        };
        Some(FrameId(method?.stack_end().ok()?))
    }

    fn is_waiter(&self, stepper: &Com<ICorDebugStepper>) -> bool {
        let steps = self.stepping.steps.as_ref();
        steps.is_some_and(|steps| steps.leg.waiters.iter().any(|it| it.is(stepper)))
    }

    /// A thread that blocked until the invocation completed is back in the user's code: the step is there now.
    fn waiter_returned(&mut self, thread: &Thread) -> bool {
        let at = match self
            .target()
            .and_then(|target| Position::of(target, thread))
        {
            Ok(at) => at,
            Err(error) => return self.step_failed(thread, &error),
        };
        self.replace_leg(Leg::default());
        if let Some(steps) = &mut self.stepping.steps {
            steps.thread = thread.id().unwrap_or(steps.thread);
            steps.from = at;
        }
        self.landed(thread, at)
    }

    /// The thread of the step has got somewhere; whether that stops the program.
    pub(super) fn landed(&mut self, thread: &Thread, at: Position) -> bool {
        if self.is_at_taker(at) {
            if !self.is_in_handler(at) {
                return self.step_landed_at_awaiter(thread, at);
            }
            // What it took was an exception, which the compiler's own handler has caught: that is no place of the user's.
            if let Some(steps) = &mut self.stepping.steps {
                steps.follows_taker = false;
            }
        }
        if let Some(call) = self.unwanted_call(thread, at) {
            return match self.leave_call(thread, at, &call) {
                Ok(()) => false,
                Err(error) => self.step_failed(thread, &error),
            };
        }
        let mut next = match self.is_behind_finally_block(at) {
            true => self.go_on_in_iterator(thread, at),
            false => self.after(thread, at),
        };
        tracing::trace!(?at, ?next, "a leg of a step has ended");
        if self.is_back_in_resumer(at) != Some(true) && self.has_left_invocation(thread) {
            next = Next::Wait;
        }
        // Whoever awaits the invocation may go on inside the call that completes it: its trap is near.
        if self.may_be_awaiter(at)
            && let Some(frame) = self.active_frame(thread)
            && self.is_awaiter(&frame)
        {
            next = Next::Wait;
        }
        if self.is_before_taker(thread, at) {
            next = Next::Wait;
        }
        if next == Next::Stop {
            let Some(steps) = &mut self.stepping.steps else {
                return false;
            };
            steps.count.made += 1;
            if steps.count.made >= steps.count.asked {
                return self.step_made(thread, at);
            }
            steps.from = at;
            steps.follows_taker = false;
            let kind = steps.kind;
            next = Next::Leg(kind);
            self.forget_returns();
            self.forget_callbacks();
            let boundary = self.is_called_from_boundary(thread);
            let block = self.block_of_step(thread, at, kind);
            if let Some(steps) = &mut self.stepping.steps {
                (steps.boundary, steps.block) = (boundary, block);
            }
        }
        if matches!(next, Next::Leg(_) | Next::Through(_)) {
            self.settle_stored_result();
        }
        let standing = Standing::NoText;
        let begun = match next {
            Next::Leg(kind) => self.begin_leg(thread, at, kind),
            Next::Through(kind) => self.begin_leg(thread, Position { standing, ..at }, kind),
            Next::Wait | Next::Stop => Ok(()),
        };
        match begun {
            Ok(()) => false,
            Err(error) => self.step_failed(thread, &error),
        }
    }

    /// Goes on with the statement of an iterator that has called a `finally` block of it, as if the step had begun there.
    fn go_on_in_iterator(&mut self, thread: &Thread, at: Position) -> Next {
        let Some(kind) = self.stepping.steps.as_ref().map(|steps| steps.kind) else {
            return Next::Wait;
        };
        let boundary = self.is_called_from_boundary(thread);
        let block = self.block_of_step(thread, at, kind);
        if let Some(steps) = &mut self.stepping.steps {
            (steps.from, steps.boundary, steps.block) = (at, boundary, block);
        }
        Next::Leg(kind)
    }

    fn may_be_awaiter(&self, at: Position) -> bool {
        let steps = self.stepping.steps.as_ref();
        let awaiters = steps.map_or(&[][..], |steps| &steps.leg.awaiters);
        let mut methods = awaiters.iter().map(|awaiter| awaiter.method);
        methods.any(|method| at.method == Some(method))
    }

    /// The last step that was asked for is complete.
    pub(super) fn step_made(&mut self, thread: &Thread, at: Position) -> bool {
        let id = thread.id().ok();
        self.stopped(vec![StopReason::Step], id.map(ThreadId), None);
        self.stepping.known = id.map(|id| (self.resumes, id, at));
        true
    }

    pub(super) fn step_failed(&mut self, thread: &Thread, error: &Error) -> bool {
        self.notes.push(format!("a step ended early: {error}"));
        self.stopped(vec![StopReason::Step], thread.id().ok().map(ThreadId), None);
        true
    }

    /// Whether a step of the kind that is under way ends in the method of a position, there or behind code without text.
    pub(super) fn ends_in(&mut self, thread: &Thread, at: Position) -> bool {
        match self.after(thread, at) {
            Next::Stop => true,
            Next::Leg(kind) => kind != StepKind::Out && matches!(at.standing, Standing::Hidden(_)),
            Next::Through(_) | Next::Wait => false,
        }
    }

    fn after(&mut self, thread: &Thread, at: Position) -> Next {
        let Some(steps) = &self.stepping.steps else {
            return Next::Wait;
        };
        let (kind, from) = (steps.kind, steps.from);
        // Behind a block that runs apart from its method comes the rest of the method.
        let is_back_in_method = at.method == from.method && at.frame == steps.left();
        let has_returned = at.frame > from.frame && !is_back_in_method;
        // Back from a method that was not shown: the statement goes on. A call may be its very first instruction, so
        // that the code behind the call counts as its beginning.
        let was_inside = steps.leg.at.is_some_and(|leg| leg.frame < from.frame);
        // In the code that throws an exception a step into would end again and again.
        let has_stayed = matches!(at.standing, Standing::Hidden(_))
            && steps.leg.at.is_some_and(|leg| {
                leg.frame == at.frame && leg.standing.range() == at.standing.range()
            });
        let is_back = was_inside
            && at.frame == from.frame
            && at.standing.statement().is_some()
            && at.standing.statement() == from.standing.statement();
        if has_returned && (steps.boundary || steps.leg.is_awaited()) {
            return Next::Wait;
        }
        if at.method != from.method
            && let Some(method) = at.method
        {
            // A filter runs above the methods that its exception is about to leave: their finally blocks come next, and
            // belong to calls that were stepped over.
            if kind == StepKind::Over
                && has_returned
                && self.is_in_filter(from)
                && !self.is_block_further_out(thread, at)
            {
                return Next::Leg(StepKind::Out);
            }
            let entered = at.frame < from.frame;
            let is_chosen = self.is_in_wanted_call();
            if entered && kind == StepKind::Into && !is_chosen && self.is_skipped(method) {
                return Next::Leg(StepKind::Out);
            }
            // What is not the user's is left, not looked into, whatever its attributes say.
            let just_my_code = self.stepping.options.just_my_code;
            let is_foreign = just_my_code && at.standing == Standing::NoSymbols;
            if (!is_foreign && self.is_passed_through(method))
                || (is_chosen && self.is_type_initializer(method))
            {
                // What has started an async method is left with it.
                return Next::Through(match kind {
                    StepKind::Out => StepKind::Out,
                    kind => through(kind),
                });
            }
        }
        if kind != StepKind::Out && is_back {
            return Next::Leg(kind);
        }
        if has_stayed {
            return Next::Leg(StepKind::Over);
        }
        match at.standing {
            Standing::AtStatement(_) | Standing::InStatement(_) => Next::Stop,
            Standing::Hidden(_)
                if has_returned && self.is_in_await(at) && !self.is_of_unwritten_await(at) =>
            {
                Next::Stop
            }
            Standing::Hidden(_) | Standing::NoText => Next::Leg(through(kind)),
            Standing::NoSymbols if self.stepping.options.just_my_code => Next::Leg(StepKind::Out),
            Standing::NoSymbols => Next::Stop,
        }
    }

    /// Whether a position lies in the filter of a catch block.
    pub(super) fn is_in_filter(&self, at: Position) -> bool {
        self.is_in_clause(at, |clause| match clause.kind {
            ClauseKind::Filter(start) => start <= at.ip && at.ip < clause.handler_start,
            _ => false,
        })
    }

    /// Whether a position lies in a block that an exception enters.
    fn is_in_handler(&self, at: Position) -> bool {
        self.is_in_clause(at, |clause| {
            let end = clause.handler_start.0.saturating_add(clause.handler_length);
            clause.handler_start <= at.ip && at.ip.0 < end
        })
    }

    fn is_in_clause(&self, at: Position, is_in: impl Fn(&ExceptionClause) -> bool) -> bool {
        let lies = || {
            let method = at.method?;
            let target = self.target.as_ref()?;
            let module = target.modules.get(method.module)?;
            let body = module.metadata(&target.process).ok()?.body(method.token);
            Some(body.ok()??.clauses.iter().any(is_in))
        };
        lies().unwrap_or(false)
    }

    /// One of the runtime's breakpoints was reached: `None` if it is no trap of ours, else whether that stops.
    pub(crate) fn trap_reached(&mut self, thread: &Thread, identity: usize) -> Option<bool> {
        let steps = self.stepping.steps.as_ref()?;
        let trap = steps
            .leg
            .traps
            .iter()
            .find(|trap| trap.breakpoint.identity() == identity)?;
        let kind = trap.kind;
        Some(match kind {
            TrapKind::Yield(pause) => {
                self.about_to_yield(thread, pause);
                false
            }
            TrapKind::Resume => self.resumed(thread),
            TrapKind::Awaiter => self.awaiter_resumed(thread),
            TrapKind::Completion => self.completion_taken(thread),
            TrapKind::Unwrapped => {
                self.unwrapped(thread);
                false
            }
            TrapKind::Chosen => self.chosen(thread),
            TrapKind::Taken => self.result_taken(thread),
            TrapKind::Return(call) => {
                self.call_returned(thread, call);
                false
            }
            TrapKind::End => self.about_to_return(thread),
            TrapKind::Callback(_, from) => self.called_back_into(thread, from),
            TrapKind::Finally => self.finally_block_begins(thread),
        })
    }
}

/// The kind of a leg through code that is not shown.
pub(super) fn through(kind: StepKind) -> StepKind {
    match kind {
        StepKind::Into => StepKind::Into,
        StepKind::Over | StepKind::Out => StepKind::Over,
    }
}
