//! Steps by source statement, running to a place, setting the next statement.
//!
//! A step is made of *legs*: each runs the thread out of one range of IL, or to the caller. Where a leg ends may be no
//! place for a person (code without text, a method the compiler made, one that an attribute takes out): then the same
//! step goes on with another leg (`landing`). An `await` that suspends ends the thread's part; *traps*, breakpoints of
//! our own, catch the continuation, and the invocation's identity tells it from others of the same method (`awaits`).
//!
//! Invariant: whatever stops the program ends the steps that are under way, and nothing of theirs (steppers, traps,
//! handles) outlives them.

pub(crate) mod awaiters;
mod awaits;
mod callbacks;
mod completion;
mod delegates;
mod finally_blocks;
pub(crate) mod il;
mod invocation;
mod items;
mod landing;
mod my_code;
mod next_statement;
mod position;
mod resumers;
mod returns;
mod run_to;
mod stored;
mod suspending;
mod targets;
mod unwritten;
mod waiters;
pub(crate) mod work;

use std::collections::HashMap;

use cordebug::module::Breakpoint;
use cordebug::stepper::Stepper;
use cordebug::thread::{Frame, Thread};
use metadata::IlOffset;
use metadata::pdb::Await;
use metadata::pe::ClauseKind;

use crate::api::{Error, ErrorCode, Origin, StepKind, StepOptions, StepsMade, ThreadId};
use crate::breakpoints::CodeLocation;
use crate::engine::Engine;
use crate::target::Target;
use awaiters::Awaiter;
use awaits::Suspended;
use completion::Alone;
use invocation::Invocation;
use items::Leaving;
use position::{FrameId, IlRange, MethodId, Position, Standing};
pub(crate) use stored::StoredResult;
use targets::Wanted;

/// Frames walked at most to find the user's code.
const MAX_WALK: usize = 1_000;

/// What runs under the program's steps.
#[derive(Debug, Default)]
pub(crate) struct Stepping {
    pub(crate) options: StepOptions,
    steps: Option<Steps>,
    /// The breakpoints of a run to a place.
    run_to: Vec<Breakpoint>,
    /// Steppers that were given up while news of them may be on its way.
    retired: Vec<Stepper>,
    /// Modules by whether the runtime itself can tell their code from other code.
    marked: HashMap<usize, bool>,
    /// The position of a thread, as long as the program has not been resumed since: the number of resumes tells.
    known: Option<(u32, u32, Position)>,
}

/// Steps under way: one thread's, as many as were asked for.
#[derive(Debug)]
struct Steps {
    kind: StepKind,
    count: StepsMade,
    /// The thread that the step is on now; a continuation may run on another.
    thread: u32,
    /// Where the step that is under way began.
    from: Position,
    /// If a step out, or one in a filter or an async method, began in a block that runs apart from the rest of its method: where it began,
    /// and the method's frame.
    block: Option<(FrameId, FrameId)>,
    /// Whether a return from the method that it began in makes it a run.
    boundary: bool,
    /// Whether it follows the thread that has just taken the result of the invocation that it left.
    follows_taker: bool,
    /// The one call of the statement that it goes into.
    wanted: Option<Wanted>,
    leg: Leg,
}

impl Steps {
    /// The frame of the method that the step began in, whatever block of it that was.
    fn left(&self) -> FrameId {
        match self.block {
            Some((block, method)) if block == self.from.frame => method,
            _ => self.from.frame,
        }
    }
}

/// What the runtime is asked for at a time.
#[derive(Debug, Default)]
struct Leg {
    /// Where it began.
    at: Option<Position>,
    /// If that is a block that runs apart from the rest of an async or optimised method: the method's frame.
    home: Option<FrameId>,
    /// Whether it is to leave the method.
    leaves: bool,
    /// Whether nothing of the method follows its range.
    is_last: bool,
    /// Whether a method has called it that the runtime itself suspends, where no step can end.
    is_called_by_suspended: bool,
    stepper: Option<Stepper>,
    /// Waits for what is run after a return to code that is not shown: see [`Engine::stepper_beyond`].
    beyond: Option<Stepper>,
    /// The frame of the user's code that an invocation which nobody awaits returns to; `beyond` waits for that.
    returns_to: Option<FrameId>,
    traps: Vec<Trap>,
    /// The result of a call that will be in a variable when the leg has ended.
    stored: Option<StoredResult>,
    /// The await that has suspended the invocation.
    suspended: Option<Suspended>,
    /// Who goes on when the invocation completes.
    awaiters: Vec<Awaiter>,
    /// Steppers of the threads that block until it completes.
    waiters: Vec<Stepper>,
    /// The invocation, if somebody awaits it.
    own: Option<Invocation>,
    /// The invocation, if nobody awaits it so far.
    alone: Option<Alone>,
    /// The iterator whose `finally` blocks it waits for.
    iterator: Option<Invocation>,
    /// Whether it leaves code that a task runs for somebody: what runs next for the same task is still a part of that.
    leaves_work: bool,
    /// What its thread runs for nobody, if it may leave that.
    leaving: Option<Leaving>,
    /// Returns to other invocations of the same code that were seen.
    strange_returns: u32,
    /// Calls that run in any case and of which the runtime does not say where they return to; where their code ends.
    untold: (Vec<IlOffset>, IlOffset),
}

impl Leg {
    /// Whether it is known where a step goes on when the invocation completes.
    fn is_awaited(&self) -> bool {
        !self.awaiters.is_empty() || !self.waiters.is_empty()
    }
}

/// Steps and runs that have ended, whose breakpoints and steppers are still there.
#[derive(Debug)]
#[must_use]
pub(crate) struct EndedSteps {
    /// How many steps were made; nothing if none were under way.
    pub(crate) made: Option<StepsMade>,
    leg: Option<Leg>,
    run_to: Vec<Breakpoint>,
}

/// A breakpoint of our own.
#[derive(Debug)]
struct Trap {
    breakpoint: Breakpoint,
    kind: TrapKind,
}

/// What a [`Trap`] waits for.
#[derive(Debug, Clone, Copy)]
enum TrapKind {
    /// The invocation is about to be suspended.
    Yield(Await),
    /// An invocation goes on behind the await.
    Resume,
    /// An invocation goes on that may await ours.
    Awaiter,
    /// Somebody takes the result of the task that nobody awaited.
    Completion,
    /// A task of the framework's takes over the result of another, which may be the one nobody awaited.
    Unwrapped,
    /// One of two tasks is chosen, which may be the one nobody awaited.
    Chosen,
    /// Somebody takes a result that may be the one nobody awaited.
    Taken,
    /// The call at this offset has returned.
    Return(IlOffset),
    /// The method is about to return to what calls several delegates.
    End,
    /// This begins, which the statement of this frame has handed to others.
    Callback(MethodId, FrameId),
    /// A `finally` block of an iterator begins.
    Finally,
}

fn remove(breakpoint: &Breakpoint) {
    if let Err(error) = breakpoint.deactivate() {
        // Its module may be gone.
        tracing::debug!(%error, "removing a breakpoint of a step");
    }
}

impl Engine<'_> {
    /// Begins steps of a thread and lets the program run.
    pub(crate) fn step(
        &mut self,
        thread: Option<ThreadId>,
        kind: StepKind,
        count: u32,
    ) -> Result<(), Error> {
        if count == 0 {
            return Err(Error::new(
                ErrorCode::InvalidParameter,
                "no step is not a number of steps",
            )
            .hint("ask for one step or more"));
        }
        if thread.is_none() && self.has_no_thread_yet() {
            let target = self.target()?;
            target.entry.want(&target.modules, &target.process);
            return self.resume();
        }
        let (id, thread) = self.thread_to_step(thread)?;
        let position = self.position(&thread)?;
        if let Some(error) = position
            .method
            .and_then(|method| self.step_obstacle(method))
        {
            return Err(error);
        }
        if self.is_before_main(&thread, position, kind) {
            return self.resume();
        }
        // It would end nowhere, or with the program.
        if position.method.is_none() && self.target()?.frames(&thread).next().is_none() {
            return Err(Error::new(
                ErrorCode::StepFailed,
                format!("thread {id} runs no code of .NET: there is nothing to step through"),
            )
            .hint("step another thread, or let the program run on"));
        }
        let mut count = count;
        if kind != StepKind::Out && self.has_done_what_was_told(&thread, position) {
            count -= 1;
            let target = self.target()?;
            target.broke = None;
            target.forget_walks();
            if count == 0 {
                // Frames of this stop are gone: what follows is a stop of its own.
                self.stop = None;
                self.step_made(&thread, position);
                return Ok(());
            }
        }
        self.begin_steps((id, &thread), position, kind, count, None)
    }

    /// Whether the program stands where a statement begins, and the one before was told: `Debugger.Break()` was the last of
    /// it. A step ends right there, with nothing to run.
    fn has_done_what_was_told(&self, thread: &Thread, position: Position) -> bool {
        let broke = self.target.as_ref().and_then(|it| it.broke);
        let end = || self.active_frame(thread)?.stack_end().ok();
        matches!(position.standing, Standing::AtStatement(_)) && broke.is_some() && end() == broke
    }

    /// Whether a launched program was stopped before its first thread was there: a step then ends in `Main` as well.
    fn has_no_thread_yet(&self) -> bool {
        let reported = self.stop.as_ref().and_then(|stop| stop.thread);
        let target = self.target.as_ref().filter(|it| it.is_stopped());
        self.origin == Some(Origin::Launched)
            && reported.is_none()
            && target.is_some_and(|it| it.first_thread().is_none())
    }

    /// Whether a launched program's first thread has come to no code of the program yet: a step then ends at the first
    /// line of `Main`, which is waited for.
    fn is_before_main(&mut self, thread: &Thread, position: Position, kind: StepKind) -> bool {
        let nowhere = position.method.is_none() && kind != StepKind::Out;
        if !nowhere || self.origin != Some(Origin::Launched) {
            return false;
        }
        let Some(target) = &mut self.target else {
            return false;
        };
        let first = target.first_thread().map(|it| it.0);
        if first != thread.id().ok() || target.frames(thread).next().is_some() {
            return false;
        }
        target.entry.want(&target.modules, &target.process);
        true
    }

    fn begin_steps(
        &mut self,
        (id, thread): (u32, &Thread),
        position: Position,
        kind: StepKind,
        count: u32,
        wanted: Option<Wanted>,
    ) -> Result<(), Error> {
        // It would never end, and nobody would be told why.
        if self.target()?.turns.is_frozen_by_user(thread) {
            return Err(Error::new(
                ErrorCode::StepFailed,
                format!("thread {id} is frozen: it cannot make a step"),
            )
            .hint("thaw it first, or step another thread"));
        }
        let from = self.origin_of_step(thread, position, kind);
        let block = self.block_of_step(thread, from, kind);
        self.stepping.steps = Some(Steps {
            kind,
            count: StepsMade {
                made: 0,
                asked: count,
            },
            thread: id,
            from,
            block,
            boundary: self.is_called_from_boundary(thread),
            follows_taker: false,
            wanted,
            leg: Leg::default(),
        });
        // The runtime would look for the way out of what is evaluated; but that ends by putting the thread back.
        if !self.evaluations.is_stray_on(id)
            && let Err(error) = self.begin_leg(thread, position, kind)
        {
            self.end_steps();
            return Err(error);
        }
        self.resume()
    }

    /// Begins steps that wait for an evaluation on their thread that could not be ended, and now has.
    pub(crate) fn begin_waiting_steps(&mut self, thread: &Thread) {
        let id = thread.id().unwrap_or(0);
        let steps = self.stepping.steps.as_ref();
        let Some(kind) = steps.filter(|it| it.thread == id).map(|it| it.kind) else {
            return;
        };
        let begun = self.position(thread).and_then(|at| {
            let from = self.origin_of_step(thread, at, kind);
            if let Some(steps) = &mut self.stepping.steps {
                steps.from = from;
            }
            self.begin_leg(thread, at, kind)
        });
        if let Err(error) = begun {
            tracing::warn!(%error, "a step behind an evaluation");
        }
    }

    /// The thread that is named, or the one that reported the stop.
    fn thread_to_step(&mut self, thread: Option<ThreadId>) -> Result<(u32, Thread), Error> {
        let reporting = self.stop.as_ref().and_then(|stop| stop.thread);
        let target = self.stopped_target()?;
        let Some(id) = thread.or(reporting) else {
            return Err(
                Error::new(ErrorCode::InvalidThread, "no thread reported this stop")
                    .hint("name the thread to step"),
            );
        };
        let thread = target.process.thread(id.0).map_err(|error| {
            tracing::debug!(%error, thread = id.0, "no such thread");
            Error::new(
                ErrorCode::InvalidThread,
                format!("there is no managed thread {}", id.0),
            )
            .hint("list the threads for their ids")
        })?;
        Ok((id.0, thread))
    }

    /// The innermost frame of a thread that is not native code.
    pub(crate) fn active_frame(&self, thread: &Thread) -> Option<Frame> {
        self.target.as_ref()?.active_frame(thread).ok().flatten()
    }

    /// Where a thread is; read once for each stop.
    fn position(&mut self, thread: &Thread) -> Result<Position, Error> {
        let id = thread.id().unwrap_or(0);
        let resumes = self.resumes;
        match self.stepping.known {
            Some((at, of, position)) if at == resumes && of == id => Ok(position),
            _ => Position::of(self.target()?, thread),
        }
    }

    /// Where a step counts as begun: in code that is not shown, in the statement of the user's that led there.
    fn origin_of_step(&mut self, thread: &Thread, at: Position, kind: StepKind) -> Position {
        let hidden = at.standing == Standing::NoSymbols && self.stepping.options.just_my_code;
        if !hidden || kind == StepKind::Out {
            return at;
        }
        let Ok(target) = self.target() else {
            return at;
        };
        let frames: Vec<_> = target.frames(thread).take(MAX_WALK).collect();
        let mut frames = frames.iter().map(|it| Position::of_frame(target, it));
        frames
            .find(|position| position.standing.statement().is_some())
            .unwrap_or(at)
    }

    /// Asks the runtime for the next part of the step that is under way.
    fn begin_leg(&mut self, thread: &Thread, at: Position, kind: StepKind) -> Result<(), Error> {
        if kind != StepKind::Out
            && let Some(pause) = self.is_being_suspended(at)
        {
            self.about_to_yield(thread, pause);
            return Ok(());
        }
        let just_my_code = self.stepping.options.just_my_code;
        let (range, kind) = match at.standing {
            Standing::AtStatement(range) | Standing::InStatement(range) => {
                (self.with_hidden_code(at, range), kind)
            }
            Standing::Hidden(range) => (range, kind),
            Standing::NoSymbols if just_my_code => (IlRange::ALL, StepKind::Out),
            Standing::NoText | Standing::NoSymbols => (IlRange::ALL, kind),
        };
        let mut leg = Leg {
            at: Some(at),
            leaves: kind == StepKind::Out,
            is_last: range.is_last(),
            ..Leg::default()
        };
        leg.is_called_by_suspended =
            (leg.leaves || leg.is_last) && self.is_called_by_suspended(thread);
        self.arm_awaits(thread, at, range, kind, &mut leg);
        let is_optimised = at.method.is_some_and(|method| !self.is_marked(method));
        if is_optimised || leg.alone.is_some() || leg.own.is_some() {
            leg.home = self.home(thread, at);
        }
        tracing::trace!(?range, ?kind, ?leg, "a leg of a step begins");
        self.arm_returns(thread, at, range, kind, &mut leg);
        self.arm_callbacks(thread, at, range, kind, &mut leg);
        self.arm_finally_blocks(thread, at, kind, &mut leg);
        // From code without symbols the way back may lead to code that the runtime does not take for the user's.
        let from = self.stepping.steps.as_ref();
        let from = from.and_then(|steps| steps.from.method);
        let taker = self.taker(thread);
        let mut methods = at.method.into_iter().chain(from).chain(taker);
        let only_marked = just_my_code && methods.all(|method| self.is_marked(method));
        let (is_awaited, is_alone) = (leg.is_awaited(), leg.alone.is_some());
        let returns = leg.returns_to.is_some();
        let is_left = leg.leaving.as_ref().is_some_and(Leaving::is_left);
        let is_followed = (is_awaited || is_alone || returns) && !leg.leaves_work;
        // What takes the result is called by the framework, at whose code a step into optimised code would end.
        let is_end = range.is_last() || self.is_being_completed(at);
        let hands_over = (is_awaited || is_alone) && is_end && !only_marked;
        let into = kind == StepKind::Into && !hands_over;
        let begin = || -> Result<Option<Stepper>, cordebug::Error> {
            if kind == StepKind::Out && (is_awaited || is_alone || returns || is_left) {
                return Ok(None);
            }
            let stepper = thread.stepper()?;
            stepper.prepare(only_marked)?;
            match kind {
                StepKind::Out => stepper.step_out()?,
                _ => stepper.step_range(into, range.start.0, range.end.0)?,
            }
            Ok(Some(stepper))
        };
        let begun = begin();
        match begun {
            Ok(stepper) => {
                leg.stepper = stepper;
                if only_marked && kind != StepKind::Out && range.is_last() && !is_followed {
                    leg.beyond = self.stepper_beyond(thread);
                    self.arm_end(thread, &mut leg);
                }
            }
            Err(error) => {
                self.end_leg(leg);
                return Err(Error::new(ErrorCode::StepFailed, error.to_string()));
            }
        }
        self.replace_leg(leg);
        Ok(())
    }

    /// A stepper of the method's caller, if that is code that is not shown.
    ///
    /// The runtime knows a stepper's range by native offsets and by its frame's place on the stack. When the method has
    /// returned, and its caller calls another one (or the same again) at that place, that one counts as inside the range
    /// as well, and is run through unseen. The caller's stepper stops there.
    fn stepper_beyond(&mut self, thread: &Thread) -> Option<Stepper> {
        let caller = my_code::caller(self.target.as_ref()?, thread)?;
        let module = caller.function().ok()?.module().ok()?;
        let target = self.target.as_ref()?;
        let module = target.modules.get(module.identity())?;
        if module.symbols(&target.process).is_ok() {
            return None;
        }
        let begin = || -> Result<Stepper, cordebug::Error> {
            let stepper = caller.stepper(thread)?;
            stepper.prepare(true)?;
            stepper.step_instruction()?;
            Ok(stepper)
        };
        begin()
            .map_err(|error| tracing::debug!(%error, "the caller of a method cannot be stepped"))
            .ok()
    }

    /// The range of a statement together with the code without text behind it, such as the branch of a condition: that
    /// saves a leg. Not where that code could lead back to the statement, which would then be run again unseen, and not
    /// where it is an exception handler or an async method's own.
    fn with_hidden_code(&mut self, at: Position, range: IlRange) -> IlRange {
        let hidden = IlRange {
            start: range.end,
            end: at.hidden_end,
        };
        let Some(method) = at.method.filter(|_| hidden.start < hidden.end) else {
            return range;
        };
        let is_async = self.async_stepping(method).is_some();
        // Optimised code that hands the result to the task may not know any more whose task that is.
        let ends_unknown = hidden.is_last() && is_async && !self.is_marked(method);
        if hidden.is_last() && !ends_unknown {
            return range;
        }
        let is_plain = || {
            let target = self.target.as_ref()?;
            let module = target.modules.get(method.module)?;
            let body = module.metadata(&target.process).ok()?.body(method.token);
            let body = body.ok()??;
            let handles = body.clauses.iter().any(|clause| match clause.kind {
                ClauseKind::Filter(filter) => {
                    hidden.contains(filter) || hidden.contains(clause.handler_start)
                }
                _ => hidden.contains(clause.handler_start),
            });
            Some(!handles && !il::may_jump(body.code, hidden, range))
        };
        if is_async != ends_unknown || !is_plain().unwrap_or(false) {
            return range;
        }
        IlRange {
            start: range.start,
            end: hidden.end,
        }
    }

    /// Sets a breakpoint of our own; without one the step may end late, never wrong.
    fn trap(&self, method: MethodId, offset: IlOffset, kind: TrapKind) -> Option<Trap> {
        let at = CodeLocation {
            module: method.module,
            method: method.token,
            offset,
        };
        match self.target.as_ref()?.modules.set_breakpoint(at) {
            Ok(breakpoint) => Some(Trap { breakpoint, kind }),
            Err(error) => {
                tracing::debug!(%error, ?kind, "a step has no trap there");
                None
            }
        }
    }

    /// Takes the leg away, to be ended or kept.
    fn take_leg(&mut self) -> Leg {
        match &mut self.stepping.steps {
            Some(steps) => std::mem::take(&mut steps.leg),
            None => Leg::default(),
        }
    }

    /// Ends the leg that is under way, and goes on with another.
    fn replace_leg(&mut self, mut leg: Leg) {
        let mut ended = self.take_leg();
        Self::keep_callbacks(&mut ended, &mut leg);
        self.end_leg(ended);
        if let Some(alone) = &leg.alone {
            // It may be the one that was left before, whose flag has just been taken back.
            self.expect_completion(alone);
        }
        if let Some(steps) = &mut self.stepping.steps {
            steps.leg = leg;
        }
    }

    fn end_leg(&mut self, leg: Leg) {
        for trap in leg.traps {
            remove(&trap.breakpoint);
        }
        if let Some(alone) = leg.alone {
            self.forget_completion(&alone);
        }
        self.stepping.retired.extend(leg.stepper);
        self.stepping.retired.extend(leg.beyond);
        self.stepping.retired.extend(leg.waiters);
        let leaving = leg.leaving.and_then(Leaving::into_stepper);
        self.stepping.retired.extend(leaving);
        // The library does not pass on news of a stepper that was deactivated meanwhile, and may wait for the answer
        // to it all the same.
        // What is on its way may also be that a thread ended, see `thread_ended`.
        let is_more_to_come = |target: &Target| {
            target.has_undelivered() || target.process.has_queued_callbacks().unwrap_or(false)
        };
        if self.target.as_ref().is_some_and(is_more_to_come) {
            return;
        }
        for stepper in self.stepping.retired.drain(..) {
            if let Err(error) = stepper.deactivate() {
                tracing::debug!(%error, "giving up a stepper");
            }
        }
    }

    /// Forgets the steppers of a thread that is about to be gone: the library crashes when one of them is given up later.
    pub(crate) fn thread_ended(&mut self, thread: u32) {
        let others = |it: &Stepper| it.thread() != thread;
        self.stepping.retired.retain(others);
        if let Some(steps) = &mut self.stepping.steps {
            let leg = &mut steps.leg;
            leg.waiters.retain(others);
            leg.stepper = leg.stepper.take().filter(others);
            leg.beyond = leg.beyond.take().filter(others);
            let own = steps.thread;
            let left = leg.leaving.as_mut();
            let note = left.and_then(|it| it.thread_ended(thread, own));
            self.notes.extend(note.map(Into::into));
        }
    }

    /// Ends steps and runs that are under way.
    pub(crate) fn end_steps(&mut self) {
        let ended = self.take_steps();
        self.clear_away(ended);
    }

    /// Takes steps and runs that are under way, to be cleared away: a stop is told before that, which asks the program
    /// to remove one breakpoint after the other.
    pub(crate) fn take_steps(&mut self) -> EndedSteps {
        self.note_unfinished_step(false);
        let mut steps = self.stepping.steps.take();
        let stored = steps.as_mut().and_then(|steps| steps.leg.stored.take());
        if let Some(target) = &mut self.target
            && stored.is_some()
        {
            target.returned.stored = stored;
        }
        EndedSteps {
            made: steps.as_ref().map(|steps| steps.count),
            leg: steps.map(|steps| steps.leg),
            run_to: std::mem::take(&mut self.stepping.run_to),
        }
    }

    /// Removes what ended steps and runs have left in the program.
    pub(crate) fn clear_away(&mut self, ended: EndedSteps) {
        for breakpoint in &ended.run_to {
            remove(breakpoint);
        }
        if let Some(leg) = ended.leg {
            self.end_leg(leg);
        }
    }

    /// Tells of a step that left what nobody waited for and has not ended since: the program stops for something else, or has
    /// ended.
    pub(crate) fn note_unfinished_step(&mut self, ended: bool) {
        let Some(Steps {
            leg, count, thread, ..
        }) = &self.stepping.steps
        else {
            return;
        };
        let is_known = leg.alone.is_some() || leg.is_called_by_suspended;
        if !is_known || count.made >= count.asked {
            return;
        }
        let (is_alone, leaves_work) = (leg.alone.is_some(), leg.leaves_work);
        let (thread, from) = (*thread, leg.at.map(|it| it.frame));
        let is_left = match ended {
            true => leg.stepper.is_none() || leg.is_last || leg.leaves,
            false => {
                let thread = self.target.as_ref().map(|it| it.process.thread(thread));
                match thread {
                    Some(Ok(thread)) if is_alone => self.has_left_invocation(&thread),
                    Some(Ok(thread)) => !self.has_frame(&thread, from),
                    _ => true,
                }
            }
        };
        let note = match leaves_work {
            _ if !is_alone => {
                "the step left a method that a method called which the runtime itself suspends (runtime-async): steps pass those by"
            }
            true => {
                "the step left what a task ran, and nobody has waited for that task: it would have ended where somebody does"
            }
            false => {
                "the step left an async method that nobody awaited: it would have ended where its result is taken"
            }
        };
        self.notes.extend(is_left.then(|| note.into()));
    }

    /// Whether a frame is still on a thread's stack.
    fn has_frame(&self, thread: &Thread, frame: Option<FrameId>) -> bool {
        let frames = self.target.as_ref().map(|it| it.frames(thread));
        let mut frames = frames.into_iter().flatten().take(MAX_WALK);
        frames.any(|it| it.stack_end().ok().map(FrameId) == frame)
    }

    /// Whether the method that has called a thread's innermost one is one that the runtime itself suspends.
    fn is_called_by_suspended(&self, thread: &Thread) -> bool {
        let called = || {
            let target = self.target.as_ref()?;
            let caller = my_code::caller(target, thread)?.function().ok()?;
            let module = target.modules.get(caller.module().ok()?.identity())?;
            let token = metadata::Token(caller.token().ok()?);
            Some(module.is_runtime_async(&target.process, token))
        };
        called().unwrap_or(false)
    }
}
