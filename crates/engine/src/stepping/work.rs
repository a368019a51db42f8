//! Leaving code that a task runs and that nobody of the user's has called: what `Task.Run` was given, the body of a loop of
//! `Parallel`, a lambda of PLINQ. The step goes on with whoever waits for the task.
//!
//! Which task a thread runs is read from the framework's own field for that. A task that belongs to another one, as those of
//! PLINQ do, is not waited for itself: that one is.

use cordebug::stepper::Stepper;
use cordebug::thread::{Frame, Step, Thread};
use cordebug::value::Value;
use metadata::Token;

use super::awaiters::{Caller, Waiting};
use super::invocation::Invocation;
use super::{Leg, MAX_WALK, my_code};
use crate::engine::Engine;
use crate::fields::Fields;
use crate::stack;
use crate::target::Target;

/// The framework's method that runs a task, and its field with the one that a thread runs.
const EXECUTE: &str = "ExecuteWithThreadLocal";
const CURRENT: &str = "t_currentTask";

/// `TaskCreationOptions.AttachedToParent` among a task's flags.
const ATTACHED: i32 = 4;
/// Tasks that may belong to one another in a row.
const MAX_PARENTS: usize = 100;

impl Engine<'_> {
    /// Prepares a leg that leaves the innermost method of a thread, if a task runs it.
    pub(super) fn await_work(&mut self, thread: &Thread, leg: &mut Leg) {
        let Caller::Nobody = self.caller(thread, 1) else {
            return;
        };
        let Some(task) = self.running_task(thread) else {
            return;
        };
        let Ok(held) = task.hold() else { return };
        let own = Invocation::Work(held);
        leg.leaves_work = true;
        let Some(target) = &mut self.target else {
            return;
        };
        if let Some(replicator) = replicator(target, &task) {
            leg.waiters = self.steppers_of_loop(thread, &replicator);
            leg.own = leg.is_awaited().then_some(own);
            return;
        }
        let awaited = outermost(target, task);
        match self.who_awaits_task(&awaited) {
            Waiting::Told { awaiters, wakes } => self.follow_awaiters(thread, awaiters, wakes, leg),
            Waiting::Nobody(Some(taken)) => return self.await_handed_on(Some(own), &taken, leg),
            Waiting::Nobody(None) => {}
        }
        if leg.is_awaited() {
            leg.own = Some(own);
        } else {
            self.await_handed_on(Some(own), &awaited, leg);
        }
    }

    /// Whether a thread runs a task.
    pub(super) fn runs(&mut self, thread: &Thread, task: &cordebug::handle::Handle) -> bool {
        let running = self.running_task(thread);
        running.is_some_and(|it| it.address().ok() == task.address().ok())
    }

    /// Whether code without symbols has called the innermost method of a thread: most steps are made where that is not so.
    pub(super) fn is_called_by_unseen(&self, thread: &Thread) -> Option<bool> {
        let target = self.target.as_ref()?;
        let caller = my_code::caller(target, thread)?;
        let module = caller.function().ok()?.module().ok()?;
        let module = target.modules.get(module.identity())?;
        Some(module.symbols(&target.process).is_err())
    }

    /// The task that a thread runs.
    fn running_task(&mut self, thread: &Thread) -> Option<Value> {
        let frames = thread.stack().ok()?.take(MAX_WALK).flatten();
        let mut frames = frames.filter_map(|step| match step {
            Step::Frame(frame) if frame.internal_kind().is_none() => Some(frame),
            _ => None,
        });
        let target = self.target.as_mut()?;
        frames.find_map(|frame| task_of_runner(target, &frame))
    }

    /// A stepper of the thread that has called a loop of `Parallel`, to the statement that did. It has a part of the loop
    /// itself, and need not wait for others if they are done before.
    fn steppers_of_loop(&mut self, other_than: &Thread, replicator: &Value) -> Vec<Stepper> {
        let (Some(target), Ok(address)) = (&mut self.target, replicator.address()) else {
            return Vec::new();
        };
        let own = other_than.id().ok();
        let threads = target.process.threads().unwrap_or_default();
        let others = threads.into_iter().filter(|it| it.id().ok() != own);
        let runs: Vec<_> = others
            .flat_map(|thread| {
                let runs = runs_of_loops(target, &thread, address).into_iter();
                runs.map(move |(frame, is_ours)| (thread.clone(), frame, is_ours))
            })
            .collect();
        // A register may have what the stack has not; if only one loop runs it is that.
        let found = match runs.as_slice() {
            [only] => Some(only),
            several => several.iter().find(|(_, _, is_ours)| *is_ours),
        };
        let begin = |thread: &Thread, frame: &Frame| -> Result<Stepper, cordebug::Error> {
            let stepper = frame.stepper(thread)?;
            stepper.prepare(true)?;
            stepper.step_out()?;
            Ok(stepper)
        };
        let stepper = found.and_then(|(thread, frame, _)| begin(thread, frame).ok());
        stepper.into_iter().collect()
    }
}

/// What shares a loop of `Parallel` among threads, if a task has a part of it.
pub(crate) fn replicator(target: &mut Target, task: &Value) -> Option<Value> {
    let mut fields = Fields::new(target);
    let part = fields.object(task, "m_stateObject")?;
    let is_part = fields.raw_name(&part).starts_with("Replica");
    is_part.then(|| fields.object(&part, "_replicator"))?
}

/// The task that is done only when this one is.
pub(crate) fn outermost(target: &mut Target, task: Value) -> Value {
    let mut task = task;
    let mut fields = Fields::new(target);
    for _ in 0..MAX_PARENTS {
        let is_attached = fields
            .number(&task, super::completion::FLAGS)
            .is_some_and(|flags| flags & ATTACHED != 0);
        let parent = fields
            .object(&task, "m_contingentProperties")
            .and_then(|it| fields.object(&it, "m_parent"));
        match parent {
            Some(parent) if is_attached => task = parent,
            _ => break,
        }
    }
    task
}

/// The task of a frame that runs one.
pub(crate) fn task_of_runner(target: &mut Target, frame: &Frame) -> Option<Value> {
    let function = frame.function().ok()?;
    let module = target.modules.entry(&function.module().ok()?);
    let metadata = module.metadata(&target.process).ok()?.metadata();
    let method = metadata.method(Token(function.token().ok()?)).ok()?;
    let class = method.declaring_type().ok()?;
    if method.name_bytes().ok()? != EXECUTE.as_bytes()
        || !metadata.is_type_named(class, "System.Threading.Tasks", "Task")
    {
        return None;
    }
    let mut fields = metadata.type_def(class).ok()?.fields().flatten();
    let current = fields.find(|field| field.name().is_ok_and(|name| name == CURRENT))?;
    let class = module.module.class(class.0).ok()?;
    let class = class.with_arguments(false, &[]).ok()?;
    let task = class.static_field(current.token().0, Some(frame)).ok()?;
    task.dereference().ok()?
}

/// The frames of a thread that run loops of `Parallel` until all their parts are done, and whether they refer to what shares
/// one among threads.
pub(crate) fn runs_of_loops(
    target: &mut Target,
    thread: &Thread,
    replicator: u64,
) -> Vec<(Frame, bool)> {
    let frames: Vec<_> = target.frames(thread).take(MAX_WALK).collect();
    let mut inner = None;
    let mut found = Vec::new();
    for frame in frames {
        let Some((start, end)) = frame.stack_range() else {
            continue;
        };
        let from = *inner.get_or_insert(start);
        if is_run_of_loop(target, &frame).unwrap_or(false) {
            // What a method keeps may be kept for it by what it has called.
            let is_ours = stack::words(target, from, end).contains(&replicator);
            found.push((frame, is_ours));
            inner = Some(end);
        }
    }
    found
}

fn is_run_of_loop(target: &mut Target, frame: &Frame) -> Option<bool> {
    let function = frame.function().ok()?;
    let module = target.modules.entry(&function.module().ok()?);
    let metadata = module.metadata(&target.process).ok()?.metadata();
    let method = metadata.method(Token(function.token().ok()?)).ok()?;
    let class = method.declaring_type().ok()?;
    let is_run = method.name_bytes().ok()?.starts_with(b"Run");
    Some(is_run && metadata.is_type_named(class, "System.Threading.Tasks", "TaskReplicator"))
}
