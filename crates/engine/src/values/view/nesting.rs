//! Values that lead to themselves, or to one another without an end.
//!
//! Lines, wrapped collections and members that stand for their own members are read by going down. Invariant: nothing
//! goes down further than the limits here, whatever objects refer to: the stack of this process has an end too.

use std::cell::{Cell, RefCell};

use super::Subject;

/// Lines that are parts of lines.
const MAX_LINES: usize = 32;
/// Collections that wrap collections.
const MAX_WRAPPERS: u32 = 16;
/// Members that are shown in place of members that are shown in place of a member.
const MAX_UNFOLDED: usize = 8;

/// How far down reading has got.
#[derive(Debug, Default)]
pub(in crate::values) struct Nesting {
    /// The objects whose lines are being written.
    lines: RefCell<Vec<u64>>,
    /// The objects whose members are being shown in their place.
    unfolded: RefCell<Vec<u64>>,
    wrappers: Cell<u32>,
}

impl Nesting {
    /// Does `write` for the line of something, unless that line is being written already.
    pub(super) fn line<T>(&self, subject: &Subject, write: impl FnOnce() -> T) -> Option<T> {
        guarded(&self.lines, address(subject), MAX_LINES, write)
    }

    /// Does `list` for the members of something, unless they are part of what is being listed already.
    pub(super) fn unfold<T>(&self, subject: &Subject, list: impl FnOnce() -> T) -> Option<T> {
        guarded(&self.unfolded, address(subject), MAX_UNFOLDED, list)
    }

    /// Does `read` for what is inside a wrapper, unless there are too many around it.
    pub(super) fn wrapper<T>(&self, read: impl FnOnce() -> T) -> Option<T> {
        let before = self.wrappers.get();
        if before >= MAX_WRAPPERS {
            return None;
        }
        self.wrappers.set(before + 1);
        let read = read();
        self.wrappers.set(before);
        Some(read)
    }
}

/// Where the object lies; 0 for what is none, which can be met again.
fn address(subject: &Subject) -> u64 {
    match subject {
        Subject::Object(object) | Subject::InPlace(_, Some(object)) => object.address,
        Subject::Null | Subject::InPlace(_, None) => 0,
    }
}

fn guarded<T>(
    trail: &RefCell<Vec<u64>>,
    address: u64,
    limit: usize,
    act: impl FnOnce() -> T,
) -> Option<T> {
    {
        let mut trail = trail.borrow_mut();
        if trail.len() >= limit || address != 0 && trail.contains(&address) {
            return None;
        }
        trail.push(address);
    }
    let done = act();
    trail.borrow_mut().pop();
    Some(done)
}
