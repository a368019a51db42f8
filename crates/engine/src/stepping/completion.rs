//! Leaving an invocation that nobody awaits yet: the step goes on where somebody does.
//!
//! Whoever takes the result of a task (`await`, `Wait`, `Result`, `WaitAll`) looks at a flag of it that is there for
//! debuggers, and calls a method that does nothing if it is set. We set the flag in memory, without running code, and
//! trap that method. Without a trap the step would end in whatever its pool thread runs next.
//!
//! An async iterator hands out its values itself, and so does the pooled box of a method that returns a `ValueTask`: whoever
//! takes one calls `GetResult` of that very object, or is still inside the call that asked for it, which looks again
//! whether the value is there by now. Those places are trapped instead, and count if the object is the one that was left.
//!
//! Invariant: the flag is taken back when the step ends before.

use std::ops::RangeInclusive;

use cordebug::handle::Handle;
use cordebug::thread::{Step, Thread};
use cordebug::value::Value;
use metadata::{IlOffset, Token};

use super::awaiters::{Caller, PROMISE, Waiting};
use super::il;
use super::invocation::{Invocation, task_of};
use super::position::{FrameId, MethodId, Position, Standing};
use super::{Leg, MAX_WALK, TrapKind, my_code};
use crate::api::StepKind;
use crate::engine::Engine;
use crate::fields::Fields;
use crate::stack;

/// The field with a task's flags.
pub(super) const FLAGS: &str = "m_stateFlags";
/// The flag that asks for a call of [`NOTIFY`].
const NOTIFICATION: u32 = 0x1000_0000;
/// The framework's method that does nothing but tell debuggers that a task was waited for.
const NOTIFY: &str = "NotifyDebuggerOfWaitCompletion";
/// The framework's tasks that result in what another one does, or in that one itself, and their methods that are told of it:
/// of `Unwrap` and `Task.Run`, and of `WhenAny`.
const TAKES_OVER: [(&str, &str); 3] = [
    ("System.Threading.Tasks.UnwrapPromise`1", "TrySetFromTask"),
    (
        "System.Threading.Tasks.TaskFactory+CompleteOnInvokePromise`1",
        "Invoke",
    ),
    (
        "System.Threading.Tasks.Task+TwoTaskWhenAnyPromise`1",
        "Invoke",
    ),
];
/// Given two tasks, it makes no such task if one of them is done.
const CHOOSES: (&str, &str) = ("System.Threading.Tasks.Task", "WhenAny");
/// The method of a source of results that hands one out.
const RESULT: &str = "GetResult";

/// An invocation that a step leaves while nobody awaits it.
#[derive(Debug)]
pub(super) struct Alone {
    /// Nothing if it is behind the step already.
    invocation: Option<Invocation>,
    /// What its result is taken from.
    source: Source,
}

/// What the result of an invocation is taken from.
#[derive(Debug)]
enum Source {
    /// A task, whose flag is set.
    Task(Handle),
    /// An object with results of its own.
    Own(Handle),
}

impl Engine<'_> {
    /// Prepares a leg out of an invocation that was resumed and that nobody awaits so far, or only code that is not shown,
    /// which hands its result on by an object.
    pub(super) fn await_completion(
        &mut self,
        thread: &Thread,
        handed_on: Option<Value>,
        leg: &mut Leg,
    ) {
        let Some(mut alone) = self.alone(thread) else {
            return;
        };
        if let Some(source) = handed_on.and_then(|object| self.source_of(&object)) {
            alone.source = source;
        }
        self.await_taker(alone, leg);
    }

    /// Prepares a leg out of an invocation whose caller hands its result on by an object.
    pub(super) fn await_handed_on(
        &mut self,
        invocation: Option<Invocation>,
        object: &Value,
        leg: &mut Leg,
    ) {
        if let Some(source) = self.source_of(object) {
            self.await_taker(Alone { invocation, source }, leg);
        }
    }

    /// Sets the traps at which the result of an invocation is taken.
    fn await_taker(&mut self, alone: Alone, leg: &mut Leg) {
        match &alone.source {
            Source::Task(task) => {
                let notify = self.notify_method(task);
                let trap = notify.and_then(|it| self.trap(it, IlOffset(0), TrapKind::Completion));
                leg.traps.extend(trap);
                for takes_over in TAKES_OVER {
                    let methods = self.framework_methods(takes_over, 1..=2).into_iter();
                    leg.traps.extend(
                        methods.filter_map(|it| self.trap(it, IlOffset(0), TrapKind::Unwrapped)),
                    );
                }
                let methods = self.framework_methods(CHOOSES, 2..=2).into_iter();
                leg.traps
                    .extend(methods.filter_map(|it| self.trap(it, IlOffset(0), TrapKind::Chosen)));
            }
            Source::Own(object) => {
                for (method, offset) in self.takers(object).unwrap_or_default() {
                    leg.traps.extend(self.trap(method, offset, TrapKind::Taken));
                }
            }
        }
        leg.alone = Some(alone);
    }

    /// The invocation of the innermost frame, if it was resumed by code that is not shown.
    fn alone(&mut self, thread: &Thread) -> Option<Alone> {
        let frame = self.active_frame(thread)?;
        let machine = frame.first_argument().ok()?.dereference().ok()??;
        let source = self.source_of_machine(&machine)?;
        let target = self.target.as_mut()?;
        // Below one that was resumed there may be a method of the user's all the same: the one whose result it has waited for.
        let resumer = my_code::caller(target, thread);
        if resumer.is_some_and(|it| stack::calls(target, &it, &frame)) {
            let frames = thread.stack().ok()?.take(MAX_WALK).flatten();
            let called = frames.skip(1).any(|step| match step {
                Step::Frame(frame) => {
                    Position::of_frame(target, &frame).standing != Standing::NoSymbols
                }
                Step::Native => false,
            });
            if called {
                return None;
            }
        }
        let invocation = Some(self.invocation(&frame)?);
        Some(Alone { invocation, source })
    }

    /// What the result of a state machine's run is taken from.
    fn source_of_machine(&mut self, machine: &Value) -> Option<Source> {
        let mut reader = Fields::new(self.target.as_mut()?);
        if reader.field(machine, PROMISE).is_some() {
            return Some(Source::Own(machine.hold().ok()?));
        }
        // One that was never suspended has no task, and its caller below it.
        let task = task_of(&mut reader, machine)?.dereference().ok()??;
        self.source_of(&task)
    }

    /// What the result of a task, or of whatever else stands for a run, is taken from.
    fn source_of(&mut self, object: &Value) -> Option<Source> {
        let mut reader = Fields::new(self.target.as_mut()?);
        let machine = reader.object(object, "StateMachine");
        if let Some(machine) = machine.filter(|it| reader.field(it, PROMISE).is_some()) {
            return Some(Source::Own(machine.hold().ok()?));
        }
        let held = object.hold().ok()?;
        Some(match reader.field(object, FLAGS) {
            Some(_) => Source::Task(held),
            None => Source::Own(held),
        })
    }

    /// The places at which results of an object are taken.
    fn takers(&mut self, object: &Handle) -> Option<Vec<(MethodId, IlOffset)>> {
        let class = object.object().ok()??.class().ok()?;
        let target = self.target.as_mut()?;
        let module = target.modules.entry(&class.module().ok()?);
        let image = module.metadata(&target.process).ok()?;
        let metadata = image.metadata();
        let definition = metadata.type_def(Token(class.token().ok()?)).ok()?;
        let is_result = |token| {
            let member = metadata.member_ref(token);
            member.is_ok_and(|member| member.name == RESULT)
        };
        let methods = definition.methods().flatten().filter_map(|method| {
            let name = method.name().ok()?;
            let place = match name.rsplit('.').next()? {
                RESULT => IlOffset(0),
                "MoveNextAsync" | "DisposeAsync" => {
                    let body = image.body(method.token()).ok()??;
                    il::start_of_call(body.code, is_result)?
                }
                _ => return None,
            };
            let method = MethodId {
                module: module.identity(),
                token: method.token(),
            };
            Some((method, place))
        });
        Some(methods.collect())
    }

    /// The method that tells debuggers that a task was waited for.
    fn notify_method(&mut self, task: &Handle) -> Option<MethodId> {
        let classes = task.object().ok()??.class_chain().ok()?;
        let target = self.target.as_mut()?;
        classes.iter().find_map(|class| {
            let module = target.modules.entry(&class.module().ok()?);
            let metadata = module.metadata(&target.process).ok()?.metadata();
            let token = Token(class.token().ok()?);
            if !metadata.is_type_named(token, "System.Threading.Tasks", "Task") {
                return None;
            }
            let mut methods = metadata.type_def(token).ok()?.methods().flatten();
            let notify = methods.find(|method| method.name().is_ok_and(|name| name == NOTIFY))?;
            Some(MethodId {
                module: module.identity(),
                token: notify.token(),
            })
        })
    }

    /// The methods of a type of the framework's that have a name and so many parameters.
    fn framework_methods(
        &self,
        (class, name): (&str, &str),
        parameters: RangeInclusive<usize>,
    ) -> Vec<MethodId> {
        let found = || {
            let target = self.target.as_ref()?;
            let module = target.modules.iter().next()?;
            let image = module.metadata(&target.process).ok()?;
            let definition = image.types().find_def(image.metadata(), class)?;
            let methods = definition.methods().flatten().filter(|it| {
                it.name_bytes().is_ok_and(|it| it == name.as_bytes())
                    && it
                        .signature()
                        .is_ok_and(|it| parameters.contains(&it.parameters.len()))
            });
            let methods = methods.map(|it| MethodId {
                module: module.identity(),
                token: it.token(),
            });
            Some(methods.collect())
        };
        found().unwrap_or_default()
    }

    /// Sets the flag of a task, or takes it back.
    fn set_notification(&mut self, task: &Handle, on: bool) -> Option<()> {
        let task = task.object().ok()??;
        let flags: Value = Fields::new(self.target.as_mut()?).field(&task, FLAGS)?;
        let bytes: [u8; 4] = flags.bytes().ok()?.try_into().ok()?;
        let before = u32::from_le_bytes(bytes);
        let after = if on {
            before | NOTIFICATION
        } else {
            before & !NOTIFICATION
        };
        flags.set_bytes(&after.to_le_bytes()).ok()
    }

    /// Sets the flag of the task that a result is taken from.
    pub(super) fn expect_completion(&mut self, alone: &Alone) {
        if let Source::Task(task) = &alone.source
            && self.set_notification(task, true).is_none()
        {
            tracing::debug!("the flag of a task cannot be set");
        }
    }

    /// Takes the flag back.
    pub(super) fn forget_completion(&mut self, alone: &Alone) {
        let Source::Task(task) = &alone.source else {
            return;
        };
        if self.set_notification(task, false).is_none() {
            tracing::debug!("the flag of a task cannot be taken back");
        }
    }

    /// Whether a step has left the invocation that its leg began in, to wait for who goes on with the result: what it met
    /// is then somebody else's. A thread of the pool goes from one continuation to the next, which may be another
    /// invocation of the same method, at the same place on the stack.
    pub(super) fn has_left_invocation(&mut self, thread: &Thread) -> bool {
        let steps = self.stepping.steps.as_ref();
        let Some((from, left)) = steps.map(|steps| (steps.from.frame, steps.left())) else {
            return false;
        };
        let leg = self.take_leg();
        // A block that runs apart from its method is left for that, and what the method has called for the method.
        let begun = leg.at.map_or(from, |at| at.frame);
        let frames = [begun, leg.home.unwrap_or(begun), from, left];
        let mut is_left = |invocation: &Invocation, frames: &[FrameId]| {
            let mut frames = frames.iter();
            !frames.any(|it| self.is_on_stack(thread, invocation, *it))
        };
        let left = match (&leg.alone, &leg.own) {
            (Some(alone), _) => {
                let invocation = alone.invocation.as_ref();
                invocation.is_none_or(|it| is_left(it, &frames))
            }
            (None, Some(own)) => is_left(own, frames.get(..2).unwrap_or_default()),
            (None, None) => false,
        };
        if let Some(steps) = &mut self.stepping.steps {
            steps.leg = leg;
        }
        left
    }

    /// Whether a frame of a thread's stack still belongs to an invocation.
    fn is_on_stack(&mut self, thread: &Thread, invocation: &Invocation, at: FrameId) -> bool {
        if let Invocation::Work(task) = invocation {
            return self.runs(thread, task);
        }
        let steps = thread.stack().into_iter().flat_map(|it| it.take(MAX_WALK));
        let mut frames = steps.flatten().filter_map(|step| match step {
            Step::Frame(frame) => Some(frame),
            Step::Native => None,
        });
        let frame = frames.find(|frame| frame.stack_end().ok() == Some(at.0));
        frame.is_some_and(|frame| self.is_invocation(invocation, &frame))
    }

    /// A thread takes a result where ours may be taken; whether that stops the program.
    pub(super) fn result_taken(&mut self, thread: &Thread) -> bool {
        let steps = self.stepping.steps.as_ref();
        let alone = steps.and_then(|steps| steps.leg.alone.as_ref());
        let Some(Alone {
            source: Source::Own(object),
            ..
        }) = alone
        else {
            return false;
        };
        let is_ours = || {
            let this = self.active_frame(thread)?.first_argument().ok()?;
            Some(this.reference()? == object.address().ok()?)
        };
        is_ours().unwrap_or(false) && self.completion_taken(thread)
    }

    /// One of two tasks is chosen; whether that stops the program. If ours is one and done, the step goes on where that is.
    pub(super) fn chosen(&mut self, thread: &Thread) -> bool {
        let steps = self.stepping.steps.as_ref();
        let alone = steps.and_then(|steps| steps.leg.alone.as_ref());
        let Some(Alone {
            source: Source::Task(task),
            ..
        }) = alone
        else {
            return false;
        };
        let ours = || {
            let frame = self.active_frame(thread)?;
            let address = task.address().ok()?;
            let is_ours = |index| {
                let argument = frame.argument(index).ok();
                argument.and_then(|it| it.reference()) == Some(address)
            };
            (is_ours(0) || is_ours(1)).then(|| task.object().ok()?)?
        };
        let ours = ours();
        let is_done = ours.and_then(|task| Some(Fields::new(self.target.as_mut()?).is_done(&task)));
        is_done.unwrap_or(false) && self.completion_taken(thread)
    }

    /// A task of the framework's takes over what a task has resulted in; if that is ours, the step goes on with whoever
    /// awaits the framework's, or takes its result.
    pub(super) fn unwrapped(&mut self, thread: &Thread) {
        let steps = self.stepping.steps.as_ref();
        let alone = steps.and_then(|steps| steps.leg.alone.as_ref());
        let Some(Alone {
            source: Source::Task(task),
            ..
        }) = alone
        else {
            return;
        };
        let promise = || {
            let frame = self.active_frame(thread)?;
            let taken = frame.argument(1).ok()?.reference()?;
            let promise = frame.first_argument().ok()?.dereference().ok()??;
            (taken == task.address().ok()?).then_some(promise)
        };
        let Some(promise) = promise() else { return };
        let mut leg = Leg::default();
        match self.who_awaits_task(&promise) {
            Waiting::Told { awaiters, wakes } => {
                self.follow_awaiters(thread, awaiters, wakes, &mut leg);
            }
            Waiting::Nobody(taken) => {
                let source = self.source_of(&taken.unwrap_or(promise));
                if let Some(source) = source {
                    let alone = Alone {
                        invocation: None,
                        source,
                    };
                    self.await_taker(alone, &mut leg);
                }
            }
        }
        if leg.is_awaited() || leg.alone.is_some() {
            self.replace_leg(leg);
        }
    }

    /// A thread takes the result of the task: the step goes on in the statement that does.
    pub(super) fn completion_taken(&mut self, thread: &Thread) -> bool {
        if self.is_handed_on(thread) {
            return false;
        }
        let at = match self.target().and_then(|it| Position::of(it, thread)) {
            Ok(at) => at,
            Err(error) => return self.step_failed(thread, &error),
        };
        self.replace_leg(Leg::default());
        let Some(steps) = &mut self.stepping.steps else {
            return false;
        };
        steps.thread = thread.id().unwrap_or(steps.thread);
        steps.from = at;
        steps.follows_taker = true;
        match self.begin_leg(thread, at, StepKind::Out) {
            Ok(()) => false,
            Err(error) => self.step_failed(thread, &error),
        }
    }

    /// The method of the user's that takes the result of the invocation that a step has left, by code without symbols in which
    /// the thread is.
    pub(super) fn taker(&mut self, thread: &Thread) -> Option<MethodId> {
        let steps = self.stepping.steps.as_ref();
        steps.filter(|steps| steps.follows_taker)?;
        let target = self.target.as_mut()?;
        let frames: Vec<_> = target.frames(thread).take(MAX_WALK).collect();
        let mut frames = frames.iter().map(|it| Position::of_frame(target, it));
        frames.find(|it| it.standing != Standing::NoSymbols)?.method
    }

    /// Whether it is an async method that is not shown which takes the result, having been resumed for it: then the step
    /// goes on with whoever takes the result of that.
    fn is_handed_on(&mut self, thread: &Thread) -> bool {
        let Caller::Unseen(frame) = self.caller(thread, 0) else {
            return false;
        };
        let mut leg = Leg::default();
        match self.who_awaits(&frame) {
            Waiting::Told { awaiters, wakes } => {
                self.follow_awaiters(thread, awaiters, wakes, &mut leg);
            }
            Waiting::Nobody(object) => {
                let machine = frame.first_argument().ok();
                let source = match object {
                    Some(object) => self.source_of(&object),
                    None => machine
                        .and_then(|machine| machine.dereference().ok()?)
                        .and_then(|machine| self.source_of_machine(&machine)),
                };
                if let Some(source) = source {
                    let alone = Alone {
                        invocation: None,
                        source,
                    };
                    self.await_taker(alone, &mut leg);
                }
            }
        }
        if !leg.is_awaited() && leg.alone.is_none() {
            return false;
        }
        self.replace_leg(leg);
        true
    }

    /// Whether a step has come to the `await` that takes the result of the invocation it left: the code behind it has no
    /// text of its own.
    pub(super) fn is_at_taker(&mut self, at: Position) -> bool {
        let follows = self.stepping.steps.as_ref();
        follows.is_some_and(|steps| steps.follows_taker)
            && matches!(at.standing, Standing::Hidden(_))
            && at
                .method
                .is_some_and(|method| self.async_stepping(method).is_some())
    }

    /// Whether a thread is at the start of the method that awaits the result after all, since it went on inside the very
    /// call that completes it: the trap for whoever takes the result is near.
    pub(super) fn is_before_taker(&mut self, thread: &Thread, at: Position) -> bool {
        let steps = self.stepping.steps.as_ref();
        let is_alone = steps.is_some_and(|steps| steps.leg.alone.is_some());
        let is_async = is_alone
            && at
                .method
                .is_some_and(|method| self.async_stepping(method).is_some());
        if !is_async {
            return false;
        }
        let Some(frame) = self.active_frame(thread) else {
            return false;
        };
        let leg = self.take_leg();
        let mut awaits_ours = || {
            let (Source::Task(source) | Source::Own(source)) = &leg.alone.as_ref()?.source;
            let machine = frame.first_argument().ok()?.dereference().ok()??;
            let awaited = Fields::new(self.target.as_mut()?).awaited(&machine)?;
            Some(awaited.address().ok()? == source.address().ok()?)
        };
        let awaits_ours = awaits_ours().unwrap_or(false);
        if let Some(steps) = &mut self.stepping.steps {
            steps.leg = leg;
        }
        awaits_ours
    }
}
