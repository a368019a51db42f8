//! What the runtime's library has told since the program ran last: where variables of frames and static fields lie, and
//! what was made of its answers about threads.
//!
//! The library makes an object for every local, argument, static field and list of type arguments that it is asked for, and
//! keeps it until the program runs, whether anybody still wants it or not. Asked once, ten thousand looks at one stop cost
//! it no more than the first, and each look but the first is shorter.
//!
//! Invariant: what is kept was told after the program ran last, and about a frame that is still held, so that no other can
//! have taken its place. What lies in memory is kept as its address, never as its bytes; but a register is kept as a copy,
//! and a report says what was read. So all is forgotten when anything is written ([`Places::forget`]).

use std::cell::RefCell;
use std::collections::HashMap;

pub(crate) use cordebug::homes::Slot;
use cordebug::thread::Frame;
use metadata::Token;

use crate::api::{Reply, StopId, ThreadId};
use crate::types::{Named, Type};

use super::Value;
use super::shape::CodePlace;

/// Frames and static fields kept at most: one stop of a stack without end must not fill our memory.
const MAX_ENTRIES: usize = 1 << 12;

/// A question whose answer stays the same for as long as the program is neither run nor written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Question {
    /// All threads.
    Threads(StopId),
    /// Who awaits what a thread runs.
    AsyncStack(StopId, ThreadId),
    /// The exception in flight on a thread.
    Exception(StopId, ThreadId),
}

/// What has been told.
#[derive(Debug, Default)]
pub(crate) struct Places(RefCell<Told>);

#[derive(Debug, Default)]
struct Told {
    /// The run of the program after which it was told.
    run: u64,
    /// By the identity of the frame.
    frames: HashMap<usize, OfFrame>,
    /// By type, field, and the frame whose thread is meant.
    statics: HashMap<(Named, Token, Option<usize>), OfStatic>,
    /// Exceptions in flight, by thread.
    exceptions: HashMap<u32, Value>,
    replies: HashMap<Question, Reply>,
}

#[derive(Debug)]
struct OfFrame {
    /// Held so that its identity stays its own.
    _frame: Frame,
    /// Where its code is, and whether exactly there.
    at: Option<(CodePlace, bool)>,
    /// By slot and the type that it was asked as.
    variables: HashMap<(Slot, Type), Value>,
}

#[derive(Debug)]
struct OfStatic {
    _frame: Option<Frame>,
    value: Value,
}

impl Places {
    /// Forgets all of it.
    pub(crate) fn forget(&self) {
        let mut told = self.0.borrow_mut();
        told.frames.clear();
        told.statics.clear();
        told.exceptions.clear();
        told.replies.clear();
    }

    /// What was replied to a question.
    pub(crate) fn reply(&self, run: u64, question: Question) -> Option<Reply> {
        let told = self.0.borrow();
        let known = told.replies.get(&question);
        known.filter(|_| told.run == run).cloned()
    }

    /// Keeps a reply.
    pub(crate) fn keep_reply(&self, run: u64, question: Question, reply: &Reply) {
        let mut told = self.0.borrow_mut();
        told.make_room(run);
        told.replies.insert(question, reply.clone());
    }

    /// Where the code of a frame is; what `ask` gives if that is not known.
    pub(super) fn code(
        &self,
        run: u64,
        frame: &Frame,
        ask: impl FnOnce() -> super::Result<(CodePlace, bool)>,
    ) -> super::Result<(CodePlace, bool)> {
        let known = self.0.borrow().of(run, frame).and_then(|it| it.at.clone());
        if let Some(known) = known {
            return Ok(known);
        }
        let at = ask()?;
        self.0.borrow_mut().note(run, frame).at = Some(at.clone());
        Ok(at)
    }

    /// A variable of a frame; what `ask` gives if that is not known.
    pub(super) fn variable(
        &self,
        run: u64,
        frame: &Frame,
        (slot, ty): (Slot, &Type),
        ask: impl FnOnce() -> super::Result<Value>,
    ) -> super::Result<Value> {
        let key = (slot, ty.clone());
        let of_frame = |told: &Told| told.of(run, frame)?.variables.get(&key).cloned();
        let known = of_frame(&self.0.borrow());
        if let Some(known) = known {
            return Ok(known);
        }
        let value = ask()?;
        let mut told = self.0.borrow_mut();
        told.note(run, frame).variables.insert(key, value.clone());
        Ok(value)
    }

    /// The exception in flight on a thread.
    pub(super) fn exception(&self, run: u64, thread: u32) -> Option<Value> {
        let told = self.0.borrow();
        let known = told.exceptions.get(&thread);
        known.filter(|_| told.run == run).cloned()
    }

    /// Keeps where the exception in flight on a thread is.
    pub(super) fn keep_exception(&self, run: u64, thread: u32, value: &Value) {
        let mut told = self.0.borrow_mut();
        told.make_room(run);
        told.exceptions.insert(thread, value.clone());
    }

    /// A static field of a type, as the thread of a frame has it; what `ask` gives if that is not known.
    pub(super) fn static_field(
        &self,
        run: u64,
        (declared_in, field): (&Named, Token),
        frame: Option<&Frame>,
        ask: impl FnOnce() -> super::Result<Value>,
    ) -> super::Result<Value> {
        let key = (declared_in.clone(), field, frame.map(Frame::identity));
        let told = self.0.borrow();
        if told.run == run
            && let Some(known) = told.statics.get(&key)
        {
            return Ok(known.value.clone());
        }
        drop(told);
        let value = ask()?;
        let mut told = self.0.borrow_mut();
        told.make_room(run);
        let kept = OfStatic {
            _frame: frame.cloned(),
            value: value.clone(),
        };
        told.statics.insert(key, kept);
        Ok(value)
    }
}

impl Told {
    fn of(&self, run: u64, frame: &Frame) -> Option<&OfFrame> {
        let known = self.frames.get(&frame.identity());
        known.filter(|_| self.run == run)
    }

    fn note(&mut self, run: u64, frame: &Frame) -> &mut OfFrame {
        self.make_room(run);
        let known = self.frames.entry(frame.identity());
        known.or_insert_with(|| OfFrame {
            _frame: frame.clone(),
            at: None,
            variables: HashMap::new(),
        })
    }

    fn make_room(&mut self, run: u64) {
        let is_old = self.run != run;
        if is_old || self.frames.len() >= MAX_ENTRIES {
            self.frames.clear();
        }
        if is_old || self.statics.len() >= MAX_ENTRIES {
            self.statics.clear();
        }
        if is_old || self.exceptions.len() >= MAX_ENTRIES {
            self.exceptions.clear();
        }
        if is_old || self.replies.len() >= MAX_ENTRIES {
            self.replies.clear();
        }
        self.run = run;
    }
}
