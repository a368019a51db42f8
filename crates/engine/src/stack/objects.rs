//! Objects that a stack refers to, found among its words.
//!
//! The code of the framework is optimised and tells no variables, and the library must not be asked about an address that may be
//! anything: it crashes on some, or later. So an address counts as an object only if it lies where the collector keeps objects, and
//! the type that its first word names is derived, step by step, from the very type that the thread's own object is derived from:
//! `System.Object`. (The stack, the runtime's tables of types and dictionaries are full of words that name types.)

use std::ops::Range;

use cordebug::heap::HeapPart;
use cordebug::process::Process;
use cordebug::thread::Thread;
use cordebug::value::Value;

use crate::target::Target;

/// Where a type of the runtime keeps the type that it is derived from. Checked against a known object before it is relied on.
const PARENT: u64 = 0x10;
/// Types that one is derived from at most.
const MAX_BASES: usize = 32;

/// Tells objects from other addresses.
pub(crate) struct Objects {
    /// The type of `System.Object`.
    root: u64,
    /// Where objects lie, in order.
    heap: Vec<Range<u64>>,
}

impl Objects {
    /// `None` if types do not lie in memory as is known here, or it cannot be told where objects do.
    pub(crate) fn new(target: &Target, thread: &Thread) -> Option<Self> {
        let known = thread.object().ok()?.dereference().ok()??;
        let mut bases = known.class_chain().ok()?.len();
        let mut ty = target.process.read_word(known.address().ok()?)?;
        while bases > 1 {
            ty = parent(&target.process, ty)?;
            bases -= 1;
        }
        Self::derived_from(target, ty)
    }

    /// From where a string lies: a thread may have no object of its own.
    pub(crate) fn of_string(target: &Target, address: u64) -> Option<Self> {
        let process = &target.process;
        Self::derived_from(target, parent(process, process.read_word(address)?)?)
    }

    fn derived_from(target: &Target, root: u64) -> Option<Self> {
        if parent(&target.process, root)? != 0 {
            return None;
        }
        let mut heap = target.process.heap_regions(HeapPart::All).ok()?;
        heap.sort_unstable_by_key(|it| it.start);
        Some(Self { root, heap })
    }

    /// The object at an address, if there is one.
    pub(crate) fn at(&self, target: &Target, address: u64) -> Option<Value> {
        let before = self.heap.partition_point(|it| it.start <= address);
        let region = before.checked_sub(1).and_then(|at| self.heap.get(at))?;
        if !region.contains(&address) {
            return None;
        }
        let is_pointer = |at: &u64| at.is_multiple_of(8) && *at > 0xffff && *at < 1 << 56;
        let mut ty = Some(address)
            .filter(is_pointer)
            .and_then(|address| target.process.read_word(address))?;
        for _ in 0..MAX_BASES {
            if ty == self.root {
                return target.process.object_at(address).ok();
            }
            ty = Some(ty)
                .filter(is_pointer)
                .and_then(|ty| parent(&target.process, ty))?;
        }
        None
    }
}

/// The type that a type is derived from; zero if that is none.
fn parent(process: &Process, ty: u64) -> Option<u64> {
    process.read_word(ty.checked_add(PARENT)?)
}
