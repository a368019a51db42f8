//! Steps over `await`: to the continuation of the same invocation, on whatever thread it runs.
//!
//! The compiler tells where an async method gives up control and where it goes on. A trap at the first says that the
//! invocation is being suspended; a trap at the second catches continuations of the method, of which only the one of
//! the same invocation counts.

use cordebug::stepper::Stepper;
use cordebug::thread::{Frame, Thread};
use cordebug::value::Value;
use metadata::pdb::{AsyncStepping, Await};
use metadata::{IlOffset, Token};

use super::awaiters::{self, Awaiter, Caller, Waiting};
use super::invocation::Invocation;
use super::landing::through;
use super::position::{IlRange, MethodId, Position, Standing};
use super::{Leg, TrapKind};
use crate::api::StepKind;
use crate::engine::Engine;
use crate::stack;

/// An invocation that is being, or has been, suspended.
#[derive(Debug)]
pub(super) struct Suspended {
    /// Who it is.
    who: Who,
    /// Whether the step is to leave it: that could not be prepared before it is resumed.
    leaves: bool,
}

/// Who is suspended.
#[derive(Debug)]
enum Who {
    Known(Invocation),
    /// A struct on its thread's stack that has never been suspended before: its task will be written at this address.
    ToBe(u64),
    /// It cannot be told.
    Unknown,
}

impl Engine<'_> {
    /// Sets the traps that a leg needs in an async method.
    pub(super) fn arm_awaits(
        &mut self,
        thread: &Thread,
        at: Position,
        range: IlRange,
        kind: StepKind,
        leg: &mut Leg,
    ) {
        let Some(method) = at.method else { return };
        let Some(stepping) = self.async_stepping(method) else {
            if kind == StepKind::Out || range.is_last() {
                let is_called_by_unseen = self.is_called_by_unseen(thread).unwrap_or(false);
                if is_called_by_unseen && !self.await_suspended(thread, leg) {
                    self.await_work(thread, leg);
                }
                self.watch_item(thread, leg);
            }
            return;
        };
        let leaves = kind == StepKind::Out
            || range.is_last()
            || self.is_in_last_handler(method, at.ip)
            || self.is_async_iterator(method);
        if leaves {
            self.await_end(thread, method, leg);
            self.watch_item(thread, leg);
        }
        // A method that is passed through returns where it is suspended: what called it goes on.
        if kind != StepKind::Out && at.standing != Standing::NoText {
            for pause in stepping.awaits {
                if range.contains(pause.yield_offset) {
                    let kind = TrapKind::Yield(pause);
                    leg.traps
                        .extend(self.trap(method, pause.yield_offset, kind));
                }
            }
        }
    }

    /// Prepares a leg out of the invocation of a thread's innermost frame: it goes on with whoever awaits that.
    fn await_end(&mut self, thread: &Thread, method: MethodId, leg: &mut Leg) {
        let Some(frame) = self.active_frame(thread) else {
            return;
        };
        let mut waiting = self.who_awaits(&frame);
        if matches!(waiting, Waiting::Nobody(None)) && !self.has_been_suspended(&frame) {
            match self.caller(thread, 1) {
                Caller::User => return,
                // Who awaits the method that called it goes on.
                Caller::Unseen(caller) => waiting = self.who_awaits(&caller),
                // Nobody can await it before it is suspended: then it is looked again.
                Caller::Nobody if leg.leaves => return self.await_suspension(method, leg),
                Caller::Nobody => {}
            }
            if let Waiting::Nobody(Some(taken)) = &waiting {
                let own = self.invocation(&frame);
                return self.await_handed_on(own, taken, leg);
            }
        }
        match waiting {
            Waiting::Told { awaiters, wakes } => self.follow_awaiters(thread, awaiters, wakes, leg),
            Waiting::Nobody(taken) => return self.await_later(thread, &frame, taken, leg),
        }
        if !leg.is_awaited() {
            self.await_later(thread, &frame, None, leg);
        } else if !self.is_async_iterator(method) {
            leg.own = self.invocation(&frame);
        }
    }

    /// Prepares a leg out of an invocation that nobody of the user's awaits so far: it goes on with the code that has resumed
    /// it, or with who takes the result.
    fn await_later(
        &mut self,
        thread: &Thread,
        frame: &Frame,
        handed_on: Option<Value>,
        leg: &mut Leg,
    ) {
        if self.await_return(thread, frame, leg) {
            return;
        }
        self.await_completion(thread, handed_on, leg);
        // What its thread does next is no part of the step, whoever may wait for it.
        if leg.alone.is_none() && self.is_resumed(thread, frame) {
            leg.own = self.invocation(frame);
        }
    }

    /// Whether the innermost frame of a thread goes on after an await, and was not called.
    fn is_resumed(&mut self, thread: &Thread, frame: &Frame) -> bool {
        let Some(target) = &mut self.target else {
            return false;
        };
        let mut walk = stack::Walk::new(thread);
        walk.next_method(target);
        let caller = walk.next_method(target);
        caller.is_some_and(|caller| !stack::calls(target, &caller, frame))
    }

    /// Sets the traps at which an invocation that is to be left is suspended.
    fn await_suspension(&mut self, method: MethodId, leg: &mut Leg) {
        let stepping = self.async_stepping(method);
        for pause in stepping.map(|it| it.awaits).unwrap_or_default() {
            let kind = TrapKind::Yield(pause);
            let trap = self.trap(method, pause.yield_offset, kind);
            leg.traps.extend(trap);
        }
    }

    /// Sets the traps at which those go on that await an invocation, and steppers of the threads that block until then.
    pub(super) fn follow_awaiters(
        &mut self,
        thread: &Thread,
        awaiters: Vec<Awaiter>,
        wakes: bool,
        leg: &mut Leg,
    ) {
        for awaiter in &awaiters {
            for offset in &awaiter.resumes {
                let trap = self.trap(awaiter.method, *offset, TrapKind::Awaiter);
                leg.traps.extend(trap);
            }
        }
        leg.awaiters = awaiters;
        if wakes {
            leg.waiters = self.steppers_of_waiting_threads(thread);
        }
    }

    pub(super) fn async_stepping(&mut self, method: MethodId) -> Option<AsyncStepping> {
        let target = self.target.as_mut()?;
        let module = target.modules.get(method.module)?;
        let pdb = module.symbols(&target.process).ok()?.pdb();
        pdb.async_stepping(method.token).ok().flatten()
    }

    /// Whether an offset lies in the handler that hands exceptions to the task of an async method.
    pub(super) fn is_in_last_handler(&self, method: MethodId, ip: IlOffset) -> bool {
        self.last_handler(method).is_some_and(|it| it.contains(ip))
    }

    /// Whether a position lies in the code of an async method without text that hands its result, or the exception that has
    /// left it, to its task: nothing else follows.
    pub(super) fn is_being_completed(&mut self, at: Position) -> bool {
        let (Standing::Hidden(_), Some(method)) = (at.standing, at.method) else {
            return false;
        };
        self.async_stepping(method).is_some()
            && self
                .last_handler(method)
                .is_some_and(|it| it.start <= at.ip)
    }

    /// The handler that is around everything in a method.
    fn last_handler(&self, method: MethodId) -> Option<IlRange> {
        let target = self.target.as_ref()?;
        let module = target.modules.get(method.module)?;
        let body = module.metadata(&target.process).ok()?.body(method.token);
        let body = body.ok()??;
        // Inner clauses come first: the last is around everything.
        let last = body.clauses.last()?;
        let end = last.handler_start.0.saturating_add(last.handler_length);
        Some(IlRange {
            start: last.handler_start,
            end: IlOffset(end),
        })
    }

    /// Whether an async method hands out values as it goes.
    pub(super) fn is_async_iterator(&self, method: MethodId) -> bool {
        let holds = || {
            let target = self.target.as_ref()?;
            let module = target.modules.get(method.module)?;
            let metadata = module.metadata(&target.process).ok()?.metadata();
            let class = metadata.method(method.token).ok()?.declaring_type().ok()?;
            let fields = metadata.type_def(class).ok()?.fields();
            let mut names = fields.flatten().filter_map(|field| field.name().ok());
            Some(names.any(|name| name == awaiters::PROMISE))
        };
        holds().unwrap_or(false)
    }

    /// Whether a frame belongs to an invocation that awaits ours.
    pub(super) fn is_awaiter(&mut self, frame: &Frame) -> bool {
        let leg = self.take_leg();
        let mut awaiters = leg.awaiters.iter();
        let is_one = awaiters.any(|awaiter| self.is_invocation(&awaiter.invocation, frame));
        if let Some(steps) = &mut self.stepping.steps {
            steps.leg = leg;
        }
        is_one
    }

    /// The await that a position lies in the suspension of: its trap would come too late. Optimised code has no place for where
    /// that begins if it asks nobody whether there is something to wait for.
    pub(super) fn is_being_suspended(&mut self, at: Position) -> Option<Await> {
        let (Standing::Hidden(_), Some(method)) = (at.standing, at.method) else {
            return None;
        };
        let mut awaits = self.async_stepping(method)?.awaits.into_iter();
        awaits.find(|it| {
            it.resume_method == method.token && (it.yield_offset..it.resume_offset).contains(&at.ip)
        })
    }

    /// Our invocation may be about to be suspended.
    pub(super) fn about_to_yield(&mut self, thread: &Thread, pause: Await) {
        let Some(at) = self.position_of_step(thread) else {
            return;
        };
        let Some(method) = at.method else { return };
        let Some(frame) = self.active_frame(thread) else {
            return;
        };
        let who = match self.invocation(&frame) {
            Some(invocation) => Who::Known(invocation),
            None => self.task_slot(&frame).map_or(Who::Unknown, Who::ToBe),
        };
        let steps = self.stepping.steps.as_ref();
        let leaves = steps.is_some_and(|steps| steps.leg.leaves);
        let mut leg = Leg::default();
        let resumes = MethodId {
            token: pause.resume_method,
            ..method
        };
        leg.traps
            .extend(self.trap(resumes, pause.resume_offset, TrapKind::Resume));
        if let Who::ToBe(_) = who {
            // The struct is gone when its caller's caller returns: its task is read before.
            leg.stepper = way_out(thread)
                .map_err(|error| tracing::debug!(%error, "a suspended invocation stays unknown"))
                .ok();
        }
        if let Who::Unknown = who {
            self.notes.push(
                "the invocation that is stepped cannot be told from others of its method: \
                 the step ends at the first that goes on"
                    .into(),
            );
        }
        if !leaves {
            leg.beyond = self.stepper_into_suspension(thread, pause);
        }
        leg.at = Some(at);
        leg.suspended = Some(Suspended { who, leaves });
        // What its thread begins from here on belongs to others.
        self.forget_callbacks();
        self.replace_leg(leg);
    }

    /// The position of the step's own frame, if that is the one a trap was met in.
    pub(super) fn position_of_step(&mut self, thread: &Thread) -> Option<Position> {
        let steps = self.stepping.steps.as_ref()?;
        if thread.id().ok() != Some(steps.thread) {
            return None;
        }
        let places = [Some(steps.from), steps.leg.at];
        let at = Position::of(self.target.as_mut()?, thread).ok()?;
        // A step that began in what the method called, such as a user's own awaiter, is back in it.
        let mut places = places.into_iter().flatten();
        places
            .any(|it| it.frame == at.frame && it.method == at.method)
            .then_some(at)
    }

    fn suspended(&mut self) -> Option<&mut Suspended> {
        self.stepping.steps.as_mut()?.leg.suspended.as_mut()
    }

    /// An invocation goes on behind the await; whether that stops the program.
    pub(super) fn resumed(&mut self, thread: &Thread) -> bool {
        let Some(frame) = self.active_frame(thread) else {
            return false;
        };
        self.identify_suspended();
        let Some(suspended) = self.suspended() else {
            return false;
        };
        let who = std::mem::replace(&mut suspended.who, Who::Unknown);
        let leaves = suspended.leaves;
        let same = match &who {
            Who::Known(invocation) => self.is_invocation(invocation, &frame),
            Who::ToBe(_) => false,
            Who::Unknown => true,
        };
        if !same {
            if let Some(suspended) = self.suspended() {
                suspended.who = who;
            }
            return false;
        }
        let Some(target) = &mut self.target else {
            return false;
        };
        let at = Position::of_frame(target, &frame);
        self.replace_leg(Leg::default());
        if let Some(steps) = &mut self.stepping.steps {
            steps.thread = thread.id().unwrap_or(steps.thread);
            // The rest of the statement belongs to it, as it would without the await.
            steps.from = Position {
                standing: match at.standing {
                    Standing::AtStatement(range) => Standing::InStatement(range),
                    standing => standing,
                },
                ..at
            };
        }
        if leaves {
            return match self.begin_leg(thread, at, StepKind::Out) {
                Ok(()) => false,
                Err(error) => self.step_failed(thread, &error),
            };
        }
        self.landed(thread, at)
    }

    /// A thread on which our invocation is being suspended has got somewhere; whether that stops the program.
    pub(super) fn got_on_suspending(&mut self, thread: &Thread) -> bool {
        self.identify_suspended();
        let Some(suspended) = self.suspended() else {
            return false;
        };
        let who = std::mem::replace(&mut suspended.who, Who::Unknown);
        let invocation = match &who {
            Who::Known(invocation) => Some(invocation),
            Who::ToBe(_) | Who::Unknown => None,
        };
        let stops = self.suspending(thread, invocation);
        if let Some(suspended) = self.suspended() {
            suspended.who = who;
        }
        stops
    }

    /// Finds out who was suspended, once its task exists.
    fn identify_suspended(&mut self) {
        let Some(&mut Suspended {
            who: Who::ToBe(slot),
            ..
        }) = self.suspended()
        else {
            return;
        };
        let task = self.target.as_ref().and_then(|target| {
            let address = target.process.read_word(slot)?;
            let object = (address != 0).then(|| target.process.object_at(address))?;
            object.ok()?.hold().ok()
        });
        if let (Some(task), Some(suspended)) = (task, self.suspended()) {
            suspended.who = Who::Known(Invocation::Task(task));
        }
    }

    /// A method goes on that may be the one which awaits ours; whether that stops the program.
    pub(super) fn awaiter_resumed(&mut self, thread: &Thread) -> bool {
        let Some(frame) = self.active_frame(thread) else {
            return false;
        };
        if !self.is_awaiter(&frame) {
            return false;
        }
        let Some(target) = &mut self.target else {
            return false;
        };
        let at = Position::of_frame(target, &frame);
        self.step_landed_at_awaiter(thread, at)
    }

    /// Stops in the statement of the `await` that is over, as a return stops in the statement of the call.
    pub(super) fn step_landed_at_awaiter(&mut self, thread: &Thread, at: Position) -> bool {
        self.replace_leg(Leg::default());
        let passes = at.method.is_some_and(|it| self.is_passed_through(it));
        let Some(steps) = &mut self.stepping.steps else {
            return false;
        };
        steps.thread = thread.id().unwrap_or(steps.thread);
        steps.follows_taker = false;
        if passes {
            return self.pass_through_awaiter(thread, at);
        }
        if self.is_of_unwritten_await(at) {
            return self.go_on_behind(thread, at);
        }
        let Some(steps) = &mut self.stepping.steps else {
            return false;
        };
        steps.count.made += 1;
        if steps.count.made >= steps.count.asked {
            return self.step_made(thread, at);
        }
        steps.from = at;
        let kind = steps.kind;
        if let Err(error) = self.begin_leg(thread, at, kind) {
            return self.step_failed(thread, &error);
        }
        false
    }

    /// Goes on to the next statement behind an await that nobody has written.
    fn go_on_behind(&mut self, thread: &Thread, at: Position) -> bool {
        let Some(steps) = &mut self.stepping.steps else {
            return false;
        };
        steps.from = at;
        let kind = through(steps.kind);
        match self.begin_leg(thread, at, kind) {
            Ok(()) => false,
            Err(error) => self.step_failed(thread, &error),
        }
    }

    /// Goes on through an awaiter that an attribute takes out of steps.
    fn pass_through_awaiter(&mut self, thread: &Thread, at: Position) -> bool {
        let Some(steps) = &mut self.stepping.steps else {
            return false;
        };
        let at = Position {
            standing: Standing::NoText,
            ..at
        };
        steps.from = at;
        let kind = steps.kind;
        match self.begin_leg(thread, at, kind) {
            Ok(()) => false,
            Err(error) => self.step_failed(thread, &error),
        }
    }
}

/// A step of the thread to the caller, whoever's code that is.
fn way_out(thread: &Thread) -> Result<Stepper, cordebug::Error> {
    let stepper = thread.stepper()?;
    stepper.prepare(false)?;
    stepper.step_out()?;
    Ok(stepper)
}

/// The state machine's method with that name.
pub(super) fn is_move_next(name: &str) -> bool {
    name.rsplit('.').next() == Some("MoveNext")
}

/// All offsets at which an async method goes on.
pub(super) fn resumes(stepping: &AsyncStepping, method: Token) -> Vec<IlOffset> {
    let own = stepping
        .awaits
        .iter()
        .filter(|it| it.resume_method == method);
    own.map(|it| it.resume_offset).collect()
}
