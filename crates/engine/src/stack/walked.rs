//! The stacks that were walked since the program stopped.
//!
//! The runtime's library lets go of a walk and of its frames only when the program runs again, however often they are
//! released. So each stack is walked once for each stop, as far as somebody asks; whoever asks again gets the same frames.
//!
//! Invariant: a frame is given only in the run of the program that it was walked in.

use std::collections::HashMap;

use cordebug::thread::{Frame as RuntimeFrame, Thread};

use super::{Walk, Walked, runtime_error};
use crate::api::Error;
use crate::target::Target;

/// What was walked so far, by thread.
#[derive(Debug, Default)]
pub(crate) struct WalkedStacks {
    run: u64,
    by_thread: HashMap<u32, WalkedStack>,
}

#[derive(Debug)]
struct WalkedStack {
    walk: Walk,
    frames: Vec<Walked>,
    /// Whether the walk has come to its end.
    is_whole: bool,
}

impl WalkedStacks {
    /// Frames are no more where they were.
    pub(crate) fn forget(&mut self) {
        self.by_thread.clear();
    }
}

impl WalkedStack {
    /// Walks until there is a frame with this index, or no more.
    fn reach(&mut self, target: &mut Target, index: usize) -> Result<Option<Walked>, Error> {
        while self.frames.len() <= index && !self.is_whole {
            match self.walk.next(target)? {
                Some(walked) => self.frames.push(walked),
                None => self.is_whole = true,
            }
        }
        Ok(self.frames.get(index).cloned())
    }
}

/// The frame of a stopped thread with this index, 0 is the innermost; `None` if it has not so many.
pub(super) fn walked(
    target: &mut Target,
    thread: &Thread,
    index: u32,
) -> Result<Option<Walked>, Error> {
    let id = thread.id().map_err(|error| runtime_error(&error))?;
    if target.stacks.run != target.runs {
        target.stacks.forget();
        target.stacks.run = target.runs;
    }
    let mut stack = match target.stacks.by_thread.remove(&id) {
        Some(stack) => stack,
        None => WalkedStack {
            walk: Walk::new(thread)?,
            frames: Vec::new(),
            is_whole: false,
        },
    };
    // A walk that failed is not gone on with.
    let found = stack.reach(target, index as usize)?;
    target.stacks.by_thread.insert(id, stack);
    Ok(found)
}

/// The frame of a thread with that index, as the runtime knows it.
pub(super) fn frame(
    target: &mut Target,
    thread: &Thread,
    index: u32,
) -> Result<Option<RuntimeFrame>, Error> {
    Ok(walked(target, thread, index)?.map(|it| it.frame))
}
