//! Which invocation of an async method a frame belongs to.
//!
//! In code that was compiled for debugging the state machine is an object, and so is the invocation. In optimised code
//! it is a struct that moves into the invocation's task when it is suspended for the first time; then the task is it.
//! Everything is read from fields; nothing runs in the program.

use cordebug::handle::Handle;
use cordebug::thread::Frame;
use cordebug::value::Value;

use crate::engine::Engine;
use crate::fields::Fields;

/// `ELEMENT_TYPE_BYREF`: the state machine is a struct.
const BY_REF: u32 = 0x10;

/// Objects in objects that are looked through for the task of a builder of the program's own.
const MAX_NESTING: u32 = 2;

/// An invocation, followed while the program runs.
#[derive(Debug)]
pub(super) enum Invocation {
    /// The state machine is this object.
    StateMachine(Handle),
    /// The state machine's builder has this task.
    Task(Handle),
    /// A delegate's method with this object as its first argument; any call of it if there is none.
    Callback(Option<Handle>),
    /// What a thread does for this task.
    Work(Handle),
}

impl Engine<'_> {
    /// The invocation that a frame of `MoveNext` belongs to; `None` if it cannot be told, or not yet.
    pub(super) fn invocation(&mut self, frame: &Frame) -> Option<Invocation> {
        let machine = frame.first_argument().ok()?;
        let is_struct = machine.element_type().ok()? == BY_REF;
        let object = machine.dereference().ok()??;
        if !is_struct {
            return object.hold().ok().map(Invocation::StateMachine);
        }
        let task = task_of(&mut Fields::new(self.target.as_mut()?), &object)?;
        task.dereference().ok()??.hold().ok().map(Invocation::Task)
    }

    /// The task of the invocation that a frame of `MoveNext` belongs to, once it was suspended.
    pub(super) fn run_of(&mut self, frame: &Frame) -> Option<Value> {
        let machine = frame.first_argument().ok()?.dereference().ok()??;
        let task = task_of(&mut Fields::new(self.target.as_mut()?), &machine)?;
        task.dereference().ok()?
    }

    /// The address at which the task of a struct will be written when it is suspended for the first time.
    pub(super) fn task_slot(&mut self, frame: &Frame) -> Option<u64> {
        let machine = frame.first_argument().ok()?.dereference().ok()??;
        let task = task_of(&mut Fields::new(self.target.as_mut()?), &machine)?;
        task.slot()
    }

    /// Whether a frame of `MoveNext` belongs to an invocation.
    pub(super) fn is_invocation(&mut self, invocation: &Invocation, frame: &Frame) -> bool {
        let mut same = || {
            if let Invocation::Callback(None) = invocation {
                return Some(true);
            }
            let machine = frame.first_argument().ok()?;
            match invocation {
                Invocation::Work(_) => None,
                Invocation::Callback(object) => {
                    Some(machine.reference()? == object.as_ref()?.address().ok()?)
                }
                Invocation::StateMachine(handle) => {
                    Some(machine.reference()? == handle.address().ok()?)
                }
                Invocation::Task(handle) => {
                    let object = machine.dereference().ok()??;
                    let task = task_of(&mut Fields::new(self.target.as_mut()?), &object)?;
                    Some(task.reference()? == handle.address().ok()?)
                }
            }
        };
        same().unwrap_or(false)
    }
}

/// The reference to the task that the builder of a state machine completes, or to what the program has in its place.
pub(super) fn task_of(reader: &mut Fields<'_>, machine: &Value) -> Option<Value> {
    let builder = reader.field(machine, "<>t__builder")?;
    task_of_builder(reader, &builder)
        // The builder of `async void` methods is around another.
        .or_else(|| {
            let inner = reader.field(&builder, "_builder")?;
            task_of_builder(reader, &inner)
        })
        .or_else(|| task_within(reader, &builder, MAX_NESTING))
        // Without a task, what the method returns stands for the run.
        .or_else(|| {
            let mut fields = reader.own_fields(&builder, "").into_iter();
            fields.find(|field| field.dereference().is_ok_and(|it| it.is_some()))
        })
}

fn task_of_builder(reader: &mut Fields<'_>, builder: &Value) -> Option<Value> {
    reader.field(builder, "m_task")
}

/// The reference to the task that a builder of the program's own has: itself, in the framework's builder that it is around, or in
/// what the method returns.
fn task_within(reader: &mut Fields<'_>, holder: &Value, nesting: u32) -> Option<Value> {
    let fields = reader.own_fields(holder, "");
    let found = fields.iter().find_map(|field| {
        if let Some(task) = task_of_builder(reader, field) {
            return Some(task);
        }
        let object = field.dereference().ok()??;
        let is_task = reader.raw_names(&object).iter().any(|name| name == "Task");
        is_task.then(|| field.clone())
    });
    if found.is_some() || nesting == 0 {
        return found;
    }
    fields.iter().find_map(|field| {
        let object = field.dereference().ok().flatten();
        task_within(reader, object.as_ref().unwrap_or(field), nesting - 1)
    })
}
