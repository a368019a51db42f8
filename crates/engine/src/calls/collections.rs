//! Whether the garbage collector ran, and so may have moved objects, while code did.
//!
//! Each thread allocates from a piece of the heap of its own. A collection takes these pieces away from all threads, and one that
//! allocates again afterwards gets another, which is counted with the bytes that the thread was given. (The runtime's
//! `gc_alloc_context`: `alloc_ptr`, `alloc_limit`, `alloc_bytes`.) So a thread that is still within the same piece, with the same
//! count, proves that there was none. A thread that used up its piece proves nothing: then there may have been one.
//!
//! Invariant: total over whatever lies in the program's memory; in doubt there was a collection.

use std::fs::File;

use crate::stragglers::layout::{Allocation, KnownLayout};

/// Threads that are looked at, and of these, those that allocate and are looked at again: any of them is proof enough.
const LOOKED_AT: usize = 16;
const LOOKED_AT_AGAIN: usize = 4;

/// Where threads allocate from, of a program that is stopped.
#[derive(Debug)]
pub(super) struct Collections {
    memory: File,
    layout: KnownLayout,
    pid: u32,
    before: Vec<(u64, Allocation)>,
}

impl Collections {
    /// Notes it; `None` if the runtime does not tell.
    pub(super) fn note(layout: &KnownLayout, pid: u32) -> Option<Self> {
        let memory = File::open(format!("/proc/{pid}/mem")).ok()?;
        let known = layout.of(pid)?;
        let threads = known.some_threads(&memory, LOOKED_AT).ok()?;
        let before = threads
            .into_iter()
            .filter_map(|it| Some((it, known.allocation(&memory, it)?)))
            .filter(|(_, it)| it.is_some())
            .take(LOOKED_AT_AGAIN)
            .collect();
        Some(Self {
            before,
            memory,
            layout: layout.clone(),
            pid,
        })
    }

    /// Whether it is sure that there was no collection since, in a program that is stopped again and in which none of the
    /// threads can have ended meanwhile.
    pub(super) fn were_none(&self) -> bool {
        self.layout.of(self.pid).is_some_and(|layout| {
            self.before.iter().any(|(thread, before)| {
                let now = layout.allocation(&self.memory, *thread);
                now.is_some_and(|now| now.continues(before))
            })
        })
    }
}
