//! What calls returned: kept from the moment right behind each call until the program runs on.

use cordebug::thread::ReturnRegisters;
use metadata::IlOffset;
use metadata::signature::Primitive;

use crate::stepping::StoredResult;
use crate::types::{Type, TypeNotes};

use super::snapshot::Leaf;
use super::{Reader, Result, Snapshot, Unreadable, Value};

/// A struct of more bytes is returned in memory.
const IN_REGISTERS: u32 = 16;
/// No frame has more bytes on the stack.
const MAX_FRAME: u64 = 1 << 20;

/// What the calls of the last step returned.
#[derive(Debug, Default)]
pub(crate) struct ReturnedValues {
    /// The thread that made them.
    pub(crate) thread: u32,
    /// In the order in which they returned.
    pub(crate) calls: Vec<ReturnedCall>,
    /// What the last one returned, as long as it lies in a variable and nobody has asked.
    pub(crate) stored: Option<StoredResult>,
}

/// A call that has returned.
#[derive(Debug, Clone)]
pub(crate) struct ReturnedCall {
    /// Where it was called, in the code that it returned to.
    pub(crate) at: IlOffset,
    /// The method, as `Type.Method`.
    pub(crate) method: String,
    /// The type that it says it returns.
    pub(crate) ty: Type,
    /// What its declaration adds to that.
    pub(crate) notes: TypeNotes,
    /// What it returned, or why that cannot be told.
    pub(crate) value: Result<Snapshot>,
}

impl ReturnedCall {
    /// Whether the method's name says that what it returns is not for everybody's eyes.
    pub(crate) fn is_secret(&self) -> bool {
        let name = self.method.rsplit('.').next().unwrap_or_default();
        self.ty != Type::BOOL && super::view::secrets::is_secret_named(name)
    }
}

impl ReturnedValues {
    /// The program runs on, or another step begins.
    pub(crate) fn forget(&mut self) {
        self.calls.clear();
        self.stored = None;
    }

    /// A call of a thread has returned.
    pub(crate) fn add(&mut self, thread: u32, call: ReturnedCall) {
        if self.thread != thread {
            self.calls.clear();
        }
        self.thread = thread;
        self.calls.push(call);
    }

    /// What a thread's calls returned, with the names that they have: the last is `$returnvalue`, those before it
    /// `$returnvalue1` and so on.
    pub(crate) fn named(&self, thread: u32) -> impl Iterator<Item = (String, &ReturnedCall)> {
        let calls: &[ReturnedCall] = if thread == self.thread {
            &self.calls
        } else {
            &[]
        };
        let last = calls.len();
        (1..).zip(calls).map(move |(number, call)| {
            let name = if number == last {
                "$returnvalue".to_owned()
            } else {
                format!("$returnvalue{number}")
            };
            (name, call)
        })
    }

    /// What a thread's call returned that has a number: 0 is the last.
    pub(crate) fn numbered(&self, thread: u32, number: u32) -> Option<&ReturnedCall> {
        let call = match number {
            0 => self.calls.last(),
            _ => self.calls.get(number as usize - 1),
        };
        call.filter(|_| thread == self.thread)
    }
}

impl Reader<'_> {
    /// A number, an enum or a reference that a call gave back, read from the registers right behind it; `None` for others.
    pub(crate) fn returned_word(&self, ty: &Type, registers: &ReturnRegisters) -> Option<Value> {
        let [integer, _] = registers.integers;
        let [float, _] = registers.floats;
        let (word, size) = match ty.underlying() {
            Some(Primitive::Void | Primitive::TypedReference) => return None,
            Some(primitive @ (Primitive::R4 | Primitive::R8)) => (float, primitive.size()?),
            Some(Primitive::Object | Primitive::String) => (integer, 8),
            Some(primitive) => (integer, primitive.size().unwrap_or(8)),
            None if ty.is_reference() => (integer, 8),
            None => return None,
        };
        let bytes = word.to_le_bytes().get(..size)?.to_vec();
        Some(self.copied(ty.clone(), bytes))
    }

    /// What a call gave back, read from the registers right behind it (System V ABI, 3.2.3): a struct of at most 16 bytes
    /// comes in registers, by eight bytes each; a larger one in memory of the caller's frame, whose address comes back.
    /// `stack` is where that frame ends.
    pub(crate) fn returned_struct(
        &self,
        ty: &Type,
        registers: &ReturnRegisters,
        stack: u64,
    ) -> Result<Value> {
        let untold = || Unreadable::NotReturned {
            ty: self.types.text(ty),
        };
        let size = self.size_of(ty)?;
        if size > IN_REGISTERS {
            let address = registers.integers[0];
            if !(stack..stack.saturating_add(MAX_FRAME)).contains(&address) {
                return Err(untold());
            }
            return Ok(self.at(ty.clone(), address));
        }
        let leaves = self.leaves(ty)?;
        let (mut integers, mut floats) = (registers.integers.iter(), registers.floats.iter());
        let mut bytes = Vec::new();
        for word in 0..size.div_ceil(8) {
            let mut inside = leaves.iter().filter(|(at, _)| at / 8 == word).peekable();
            let is_float = inside.peek().is_some() && inside.all(|(_, leaf)| *leaf == Leaf::Float);
            let register = if is_float {
                floats.next()
            } else {
                integers.next()
            };
            bytes.extend(register.ok_or_else(untold)?.to_le_bytes());
        }
        bytes.truncate(size as usize);
        Ok(self.copied(ty.clone(), bytes))
    }
}
