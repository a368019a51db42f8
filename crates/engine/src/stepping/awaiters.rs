//! Who awaits an invocation: read from its task's continuations, through whatever stands in between.
//!
//! Nothing runs in the program: a getter could block, and asking a task to notify us would change it.

use cordebug::stepper::Stepper;
use cordebug::thread::{Frame, Step, Thread};
use cordebug::value::Value;
use metadata::{IlOffset, Token};

use super::MAX_WALK;
use super::awaits;
use super::invocation::{Invocation, task_of};
use super::position::{MethodId, Position, Standing};
use crate::engine::Engine;
use crate::fields::Fields;

/// The field of an async iterator's state machine through which it hands out values.
pub(super) const PROMISE: &str = "<>v__promiseOfValueOrEnd";
/// Objects looked at on the way from a task to who awaits it.
const MAX_OBJECTS: usize = 200;
/// Awaiters of one task that are looked at.
const MAX_AWAITERS: u32 = 64;

/// `ELEMENT_TYPE_VALUETYPE`: the state machine in a box is a struct.
const VALUE_TYPE: u32 = 0x11;

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

/// What the framework's tasks of `WhenAll`, `WhenAny` and `WaitAny` have in their names.
const FOR_SEVERAL: [&str; 3] = [
    "WhenAllPromise",
    "WhenAnyPromise",
    "CompleteOnInvokePromise",
];

/// A method that goes on when an invocation completes.
#[derive(Debug)]
pub(super) struct Awaiter {
    pub(super) invocation: Invocation,
    pub(super) method: MethodId,
    /// Where it may go on.
    pub(super) resumes: Vec<IlOffset>,
}

impl Engine<'_> {
    /// Who awaits the invocation that a thread's innermost frame belongs to, and steppers of the threads that block until
    /// it completes; none while its caller is below it on the stack.
    pub(super) fn awaiters(&mut self, thread: &Thread) -> (Vec<Awaiter>, Vec<Stepper>) {
        let Some(frame) = self.active_frame(thread) else {
            return Default::default();
        };
        let (found, wakes) = self.who_awaits(&frame).unwrap_or_default();
        let waiters = if wakes {
            self.steppers_of_waiting_threads(thread)
        } else {
            Vec::new()
        };
        (found, waiters)
    }

    /// Who awaits the invocation that a frame belongs to, and whether its end wakes a thread; `None` if nobody does so far,
    /// or only the framework's task for several others does, which nobody awaits so far.
    fn who_awaits(&mut self, frame: &Frame) -> Option<(Vec<Awaiter>, bool)> {
        let mut start = || {
            let machine = frame.first_argument().ok()?.dereference().ok()??;
            let mut reader = Fields::new(self.target.as_mut()?);
            // An async iterator completes a promise of its own with each value.
            if let Some(promise) = reader.field(&machine, PROMISE) {
                return Some(vec![promise]);
            }
            let task = task_of(&mut reader, &machine)?.dereference().ok()??;
            // The box of a pooled `ValueTask` is no task and keeps its continuation in a part of it.
            if let Some(core) = reader.field(&task, "_valueTaskSource") {
                return Some(vec![core]);
            }
            let continuation = reader.field(&task, "m_continuationObject")?;
            Some(vec![continuation.dereference().ok()??])
        };
        let mut left = start()?;
        let mut found = Vec::new();
        let (mut wakes, mut is_open) = (false, false);
        for _ in 0..MAX_OBJECTS {
            let Some(object) = left.pop() else { break };
            if let Some(awaiter) = self.awaiter(&object) {
                found.push(awaiter);
            } else if self.wakes_a_thread(&object) {
                wakes = true;
            } else {
                let behind = self.behind(&object);
                is_open |= behind.is_empty() && self.is_for_several(&object);
                left.extend(behind);
            }
        }
        let is_untold = is_open && found.is_empty() && !wakes;
        (!is_untold).then_some((found, wakes))
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
        if let Some((awaiters, wakes)) = self.who_awaits(frame) {
            return awaiters.is_empty() && !wakes;
        }
        self.is_called_by_others(thread, at).unwrap_or(false)
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

    /// The objects that a continuation leads to.
    fn behind(&mut self, object: &Value) -> Vec<Value> {
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
        found
    }
}
