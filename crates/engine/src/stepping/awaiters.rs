//! Who awaits an invocation: read from its task's continuations, through whatever stands in between.
//!
//! Nothing runs in the program: a getter could block, and asking a task to notify us would change it.

use cordebug::thread::{Frame, Step, Thread};
use cordebug::value::Value;
use metadata::{IlOffset, Token};

use super::MAX_WALK;
use super::awaits;
use super::invocation::{Invocation, task_of};
use super::position::{MethodId, Position, Standing};
use crate::engine::Engine;
use crate::fields::Fields;
use crate::stack;

/// The field of an async iterator's state machine through which it hands out values.
pub(crate) const PROMISE: &str = "<>v__promiseOfValueOrEnd";
/// Objects looked at on the way from a task to who awaits it.
const MAX_OBJECTS: usize = 200;
/// Awaiters of one task that are looked at.
const MAX_AWAITERS: u32 = 64;

/// `ELEMENT_TYPE_VALUETYPE`: the state machine in a box is a struct.
const VALUE_TYPE: u32 = 0x11;

/// The field of what `Task.WhenEach` waits with through which it is told of the next task.
const NEXT_OF_EACH: &str = "_waitForNextCompletedTask";

/// Fields that lead from a continuation to the next, in the framework's own types.
const LINKS: [&str; 8] = [
    // Task, and everything that is one: promises of WhenAll, WhenAny, Unwrap; boxes.
    "m_continuationObject",
    // Continuations that go through a synchronisation context or a scheduler.
    "m_action",
    // Delegates.
    "_target",
    // ContinueWith.
    "m_task",
    // Wrapped continuations.
    "_continuation",
    "_continuationState",
    // A promise inside another.
    "_task",
    "_box",
];

/// What the names of the framework's tasks for one other begin with: of `Unwrap` and `Task.Run`, and of `WaitAsync`.
const PROMISES_OF_ONE: [&str; 2] = ["UnwrapPromise", "CancellationPromise"];

/// What the framework's tasks of `WhenAll`, `WhenAny`, `WaitAny` and `WhenEach` have in their names.
const FOR_SEVERAL: [&str; 4] = [
    "WhenAllPromise",
    "WhenAnyPromise",
    "CompleteOnInvokePromise",
    "WhenEachState",
];

/// Who goes on when an invocation completes.
pub(super) enum Waiting {
    /// These methods of the user's, and perhaps a blocked thread.
    Told { awaiters: Vec<Awaiter>, wakes: bool },
    /// Nobody so far. Code that is not shown may await the invocation: then whoever takes the result of this object goes on.
    Nobody(Option<Value>),
}

/// Who has called a frame.
pub(super) enum Caller {
    /// A statement of the user's.
    User,
    /// An async method that is not shown.
    Unseen(Frame),
    /// Neither: a thread began with it.
    Nobody,
}

/// A method that goes on when an invocation completes.
#[derive(Debug)]
pub(super) struct Awaiter {
    pub(super) invocation: Invocation,
    pub(super) method: MethodId,
    /// Where it may go on.
    pub(super) resumes: Vec<IlOffset>,
}

impl Engine<'_> {
    /// Who awaits the invocation that a frame belongs to.
    pub(super) fn who_awaits(&mut self, frame: &Frame) -> Waiting {
        let mut start = || {
            let machine = frame.first_argument().ok()?.dereference().ok()??;
            let mut reader = Fields::new(self.target.as_mut()?);
            // An async iterator completes a promise of its own with each value.
            if let Some(promise) = reader.field(&machine, PROMISE) {
                return Some((promise, None));
            }
            let Some(task) = task_of(&mut reader, &machine)?.dereference().ok()? else {
                // Not suspended so far, it may be called by a loop.
                let source = reader.source_of_loop(&machine)?;
                return Some((source.clone(), Some(source)));
            };
            // The box of a pooled `ValueTask` is no task and keeps its continuation in a part of it.
            if let Some(core) = reader.field(&task, "_valueTaskSource") {
                return Some((core, None));
            }
            let continuation = reader.field(&task, "m_continuationObject")?;
            match continuation.dereference().ok()? {
                Some(continuation) => Some((continuation, None)),
                None => {
                    let source = reader.source_of_loop(&task)?;
                    Some((source.clone(), Some(source)))
                }
            }
        };
        match start() {
            Some(start) => self.who_goes_on(start),
            None => Waiting::Nobody(None),
        }
    }

    /// Who awaits a task.
    pub(super) fn who_awaits_task(&mut self, task: &Value) -> Waiting {
        let continuation = self.target.as_mut().and_then(|target| {
            let mut fields = Fields::new(target);
            fields.object(task, "m_continuationObject")
        });
        match continuation {
            Some(continuation) => self.who_goes_on((continuation, None)),
            None => Waiting::Nobody(None),
        }
    }

    /// Who goes on by a continuation, and the object that it hands a result on by.
    fn who_goes_on(&mut self, start: (Value, Option<Value>)) -> Waiting {
        let mut left = vec![start];
        let mut awaiters = Vec::new();
        let mut wakes = false;
        // What nobody awaits so far: the last object that code which is not shown hands a result on by.
        let mut open: Option<Option<Value>> = None;
        for _ in 0..MAX_OBJECTS {
            let Some((object, hands_on)) = left.pop() else {
                break;
            };
            let awaiter = self.awaiter(&object);
            if let Some(awaiter) = awaiter.or_else(|| self.called_back(&object)) {
                awaiters.push(awaiter);
                continue;
            }
            if self.wakes_a_thread(&object) {
                wakes = true;
                continue;
            }
            let hands_on = match self.hands_on(&object) {
                true => Some(object.clone()),
                false => hands_on,
            };
            let behind = self.behind(&object);
            if behind.is_empty() && (hands_on.is_some() || self.is_for_several(&object)) {
                open = Some(hands_on);
                continue;
            }
            let source = |it: Value, is_source: bool| match is_source {
                true => (it.clone(), Some(it)),
                false => (it, hands_on.clone()),
            };
            left.extend(
                behind
                    .into_iter()
                    .map(|(it, is_source)| source(it, is_source)),
            );
        }
        match open {
            Some(open) if awaiters.is_empty() && !wakes => Waiting::Nobody(open),
            _ => Waiting::Told { awaiters, wakes },
        }
    }

    /// Whether the invocation that a frame belongs to was suspended before: until then its caller is below it.
    pub(super) fn has_been_suspended(&mut self, frame: &Frame) -> bool {
        let mut has_task = || {
            let machine = frame.first_argument().ok()?.dereference().ok()??;
            let mut reader = Fields::new(self.target.as_mut()?);
            if reader.field(&machine, PROMISE).is_some() {
                return Some(true);
            }
            let task = task_of(&mut reader, &machine)?.dereference().ok()?;
            Some(task.is_some())
        };
        // What cannot be read is left alone.
        has_task().unwrap_or(true)
    }

    /// The innermost code outwards of a frame that is a statement of the user's or an async method that is not shown.
    /// What the compiler has made of the user's method to start it is passed by.
    pub(super) fn caller(&mut self, thread: &Thread, skip: usize) -> Caller {
        let mut found = || {
            let target = self.target.as_mut()?;
            let mut walk = stack::Walk::new(thread);
            for depth in 0..MAX_WALK {
                let frame = walk.next_method(target)?;
                if depth < skip {
                    continue;
                }
                match Position::of_frame(target, &frame).standing {
                    Standing::NoSymbols if stack::is_async(target, &frame) => {
                        return Some(Caller::Unseen(frame));
                    }
                    Standing::NoSymbols | Standing::NoText => {}
                    _ => return Some(Caller::User),
                }
            }
            None
        };
        found().unwrap_or(Caller::Nobody)
    }

    /// Whether an object is the run of an async method that is not shown, or the framework's task for one other: what ours
    /// results in, it results in.
    fn hands_on(&mut self, object: &Value) -> bool {
        let Some(target) = &mut self.target else {
            return false;
        };
        let mut fields = Fields::new(target);
        if fields.field(object, "StateMachine").is_some() {
            return true;
        }
        let name = fields.raw_name(object);
        PROMISES_OF_ONE.iter().any(|it| name.starts_with(it))
    }

    /// Whether an exception that the compiler's own handler of an async method takes goes to code that is not the user's:
    /// only such code awaits the method, or has called it. While nobody awaits it, that cannot be told.
    pub(crate) fn leaves_by_task(&mut self, thread: &Thread, frame: &Frame, handler: u32) -> bool {
        let Some(target) = &mut self.target else {
            return false;
        };
        let at = Position::of_frame(target, frame);
        let Some(method) = at.method else {
            return false;
        };
        if self.async_stepping(method).is_none()
            || !self.is_in_last_handler(method, IlOffset(handler))
        {
            return false;
        }
        match self.who_awaits(frame) {
            Waiting::Told { awaiters, wakes } => {
                awaiters.is_empty() && !wakes && !self.is_about_to_be_awaited(frame)
            }
            Waiting::Nobody(Some(_)) => true,
            Waiting::Nobody(None) => self.is_called_by_others(thread, at).unwrap_or(false),
        }
    }

    /// Whether a frame runs an async iterator that nobody awaits: whoever has asked it for a value is about to.
    fn is_about_to_be_awaited(&mut self, frame: &Frame) -> bool {
        let mut waits = || {
            let machine = frame.first_argument().ok()?.dereference().ok()??;
            let mut reader = Fields::new(self.target.as_mut()?);
            let promise = reader.field(&machine, PROMISE)?;
            let continuation = reader.field(&promise, "_continuation")?;
            Some(continuation.dereference().ok()?.is_none())
        };
        waits().unwrap_or(false)
    }

    /// Whether an async method that has not been suspended yet was called by code that is not the user's.
    fn is_called_by_others(&mut self, thread: &Thread, at: Position) -> Option<bool> {
        let target = self.target.as_mut()?;
        let frames = thread.stack().ok()?.take(MAX_WALK).flatten();
        let frames = frames.filter_map(|step| match step {
            Step::Frame(frame) if frame.internal_kind().is_none() => Some(frame),
            _ => None,
        });
        let positions: Vec<_> = frames
            .map(|frame| Position::of_frame(target, &frame))
            .skip_while(|it| it.frame != at.frame)
            .skip(1)
            .collect();
        // The framework starts it for the method that the compiler has made of the user's; what called that counts.
        let start = positions
            .iter()
            .position(|it| it.standing != Standing::NoSymbols)?;
        let caller = positions.get(start + 1)?;
        Some(
            positions.get(start)?.standing == Standing::NoText
                && caller.standing == Standing::NoSymbols,
        )
    }

    /// Whether an object is the framework's task for several others: whoever made it may be about to wait for it.
    fn is_for_several(&mut self, object: &Value) -> bool {
        let Some(target) = &mut self.target else {
            return false;
        };
        let types = Fields::new(target).types(object);
        let named = |name: &String| FOR_SEVERAL.iter().any(|it| name.contains(it));
        types.first().is_some_and(named)
    }

    /// The user's method that an object is the box of.
    fn awaiter(&mut self, object: &Value) -> Option<Awaiter> {
        let target = self.target.as_mut()?;
        let machine = Fields::new(target).field(object, "StateMachine")?;
        let is_struct = machine.element_type().ok()? == VALUE_TYPE;
        let machine = machine.dereference().ok()??;
        let class = machine.class().ok()?;
        let module = target.modules.entry(&class.module().ok()?);
        let metadata = module.metadata(&target.process).ok()?.metadata();
        let definition = metadata.type_def(Token(class.token().ok()?)).ok()?;
        let method = definition
            .methods()
            .flatten()
            .find(|method| method.name().is_ok_and(|name| awaits::is_move_next(&name)))?;
        // Code without symbols is not shown: who awaits that is what counts.
        let pdb = module.symbols(&target.process).ok()?.pdb();
        let stepping = pdb.async_stepping(method.token()).ok()??;
        let invocation = if is_struct {
            Invocation::Task(object.hold().ok()?)
        } else {
            Invocation::StateMachine(machine.hold().ok()?)
        };
        Some(Awaiter {
            invocation,
            method: MethodId {
                module: module.identity(),
                token: method.token(),
            },
            resumes: awaits::resumes(&stepping, method.token()),
        })
    }

    /// The user's method that a delegate calls: `ContinueWith` and `OnCompleted` are given one.
    fn called_back(&mut self, object: &Value) -> Option<Awaiter> {
        let function = object.delegate_function().ok()?;
        let target = self.target.as_mut()?;
        let module = target.modules.entry(&function.module().ok()?);
        let called = Token(function.token().ok()?);
        let pdb = module.symbols(&target.process).ok()?.pdb();
        let body = pdb.move_next_method(called).ok().flatten();
        let token = body.unwrap_or(called);
        let (first, ..) = module.first_point(&target.process, token)?;
        let method = MethodId {
            module: module.identity(),
            token,
        };
        let metadata = module.metadata(&target.process).ok()?.metadata();
        let is_static = metadata.method(called).ok()?.flags().is_static();
        // An async method has an object of its own, which is yet to be made.
        let object = match body.is_none() && !is_static {
            true => Fields::new(target).object(object, "_target"),
            false => None,
        };
        let object = object.and_then(|it| it.hold().ok());
        Some(Awaiter {
            invocation: Invocation::Callback(object),
            method,
            resumes: vec![first],
        })
    }

    /// The objects that a continuation leads to, and which of them others complete in its place.
    fn behind(&mut self, object: &Value) -> Vec<(Value, bool)> {
        let Some(target) = &mut self.target else {
            return Vec::new();
        };
        let mut reader = Fields::new(target);
        let mut found = Vec::new();
        let mut add = |value: Option<Value>| {
            found.extend(value.and_then(|value| value.dereference().ok()?));
        };
        for link in LINKS {
            add(reader.field(object, link));
        }
        // Several continuations of one task are in a list.
        let list = reader
            .field(object, "_items")
            .and_then(|items| items.dereference().ok()?);
        if let Some((elements, _)) = list.and_then(|list| list.elements(MAX_AWAITERS).ok()) {
            for element in elements {
                add(Some(element));
            }
        }
        // What hands out values one by one keeps who waits for the next in a part of it.
        let machine = reader.object(object, "StateMachine");
        let promise = machine.and_then(|machine| reader.field(&machine, PROMISE));
        for part in [promise, reader.field(object, NEXT_OF_EACH)]
            .into_iter()
            .flatten()
        {
            for link in ["_continuation", "_continuationState"] {
                add(reader.field(&part, link));
            }
        }
        let mut found: Vec<_> = found.into_iter().map(|it| (it, false)).collect();
        if found.is_empty() {
            found.extend(reader.source_of_loop(object).map(|source| (source, true)));
        }
        found
    }
}
