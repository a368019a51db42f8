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

/// The reference to the task that the builder of a state machine completes.
pub(super) fn task_of(reader: &mut Fields<'_>, machine: &Value) -> Option<Value> {
    let builder = reader.field(machine, "<>t__builder")?;
    if let Some(task) = reader.field(&builder, "m_task") {
        return Some(task);
    }
    // The builder of `async void` methods is around another.
    let inner = reader.field(&builder, "_builder")?;
    reader.field(&inner, "m_task")
}
