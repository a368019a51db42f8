//! Where a runtime keeps its threads, as it tells itself.
//!
//! Invariant: total over whatever lies in the program's memory; every read and every list is bounded.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, OnceLock};

use super::Thread;
use crate::contract::Contract;

const MAX_THREADS: usize = 1 << 16;
/// Where a frame has the address of the next one: behind the word that tells its kind.
const NEXT_FRAME: u64 = 8;

/// What is needed of the description.
#[derive(Debug, PartialEq, Eq)]
struct Offsets {
    /// Which entry of the table of addresses is that of the list's owner.
    store_index: u64,
    first_link: u64,
    next_link: u64,
    state: u64,
    mode: u64,
    /// Where a thread has its number in the system, and the newest of its frames.
    system_id: u64,
    frame: u64,
}

/// Where a thread has the piece of the heap that it allocates from.
#[derive(Debug, PartialEq, Eq)]
struct AllocationOffsets {
    /// Where it leads to what is the thread's own.
    locals: u64,
    /// Where that has the piece: its first free byte, its end, and behind that the number of bytes that the thread was given.
    free: u64,
    end: u64,
}

/// The piece of the heap that a thread allocates from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Allocation {
    free: u64,
    end: u64,
    given: u64,
}

impl Allocation {
    /// Whether there is one.
    pub(crate) fn is_some(&self) -> bool {
        self.free != 0
    }

    /// Whether it is the same piece as before, of which more may be used.
    pub(crate) fn continues(&self, before: &Self) -> bool {
        before.is_some()
            && (before.free..=before.end).contains(&self.free)
            && (self.end, self.given) == (before.end, before.given)
    }
}

/// Where the threads of one process are.
#[derive(Debug)]
pub(crate) struct Layout {
    offsets: Offsets,
    allocation: Option<AllocationOffsets>,
    /// The address of the pointer to the list's owner.
    store: u64,
}

/// The layout of one process for all who need it, worked out once: the runtime may not tell it.
#[derive(Debug, Default, Clone)]
pub(crate) struct KnownLayout(Arc<OnceLock<Option<Layout>>>);

impl KnownLayout {
    pub(crate) fn of(&self, pid: u32) -> Option<&Layout> {
        self.0.get_or_init(|| Layout::of(pid)).as_ref()
    }
}

impl Layout {
    /// The layout of a process; `None` if its runtime is older or cannot be read.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        let contract = Contract::of(pid)?;
        let offsets = Offsets::of(&contract)?;
        let memory = File::open(format!("/proc/{pid}/mem")).ok()?;
        let store = pointer(&memory, contract.entry(offsets.store_index)?).ok()?;
        let allocation = AllocationOffsets::of(&contract);
        Some(Self {
            offsets,
            allocation,
            store,
        })
    }

    /// Where the runtime has so many of its threads.
    pub(crate) fn some_threads(&self, memory: &File, most: usize) -> io::Result<Vec<u64>> {
        self.addresses(memory, most)
    }

    /// Where the runtime has the thread of a number in the system.
    pub(crate) fn thread(&self, memory: &File, id: u32) -> Option<u64> {
        let threads = self.addresses(memory, MAX_THREADS).ok()?;
        let has_id = |it: &u64| {
            let its = word(memory, it.wrapping_add(self.offsets.system_id));
            its.is_ok_and(|its| its == id)
        };
        threads.into_iter().find(has_id)
    }

    /// What a thread allocates from; `None` if the runtime does not tell.
    pub(crate) fn allocation(&self, memory: &File, thread: u64) -> Option<Allocation> {
        let it = self.allocation.as_ref()?;
        let locals = pointer(memory, thread.wrapping_add(it.locals)).ok()?;
        let at = |offset| pointer(memory, locals.wrapping_add(offset)).ok();
        Some(Allocation {
            free: at(it.free)?,
            end: at(it.end)?,
            given: at(it.end.wrapping_add(8))?,
        })
    }

    /// The threads that the runtime has in its list, dead ones and those that were not started included.
    pub(crate) fn threads(&self, memory: &File) -> io::Result<Vec<Thread>> {
        let it = &self.offsets;
        let states = self
            .addresses(memory, MAX_THREADS)?
            .into_iter()
            .map(|thread| {
                let at = thread.wrapping_add(it.state);
                let newest = pointer(memory, thread.wrapping_add(it.frame))?;
                // The one below is that which each thread has from its start.
                let enters =
                    is_frame(newest) && is_frame(pointer(memory, newest.wrapping_add(NEXT_FRAME))?);
                Ok(Thread {
                    id: word(memory, thread.wrapping_add(it.system_id))?,
                    at,
                    state: word(memory, at)?,
                    cooperative: word(memory, thread.wrapping_add(it.mode))? != 0,
                    enters,
                })
            });
        states.collect()
    }

    /// Where the runtime has its threads, so many at most.
    fn addresses(&self, memory: &File, most: usize) -> io::Result<Vec<u64>> {
        let it = &self.offsets;
        let store = pointer(memory, self.store)?;
        let mut link = pointer(memory, store.wrapping_add(it.first_link))?;
        let mut threads = Vec::new();
        while link != 0 && threads.len() < most {
            threads.push(link.wrapping_sub(it.next_link));
            link = pointer(memory, link)?;
        }
        Ok(threads)
    }
}

/// Whether there is a frame at an address: the list ends with all bits set.
fn is_frame(at: u64) -> bool {
    at != 0 && at != u64::MAX
}

pub(super) fn word(memory: &File, at: u64) -> io::Result<u32> {
    let mut bytes = [0; 4];
    memory.read_exact_at(&mut bytes, at)?;
    Ok(u32::from_ne_bytes(bytes))
}

fn pointer(memory: &File, at: u64) -> io::Result<u64> {
    let mut bytes = [0; 8];
    memory.read_exact_at(&mut bytes, at)?;
    Ok(u64::from_ne_bytes(bytes))
}

impl Offsets {
    /// Takes the numbers out of the description.
    fn of(contract: &Contract) -> Option<Self> {
        Some(Self {
            store_index: contract.index("ThreadStore")?,
            first_link: contract.field("ThreadStore", "FirstThreadLink")?,
            next_link: contract.field("Thread", "LinkNext")?,
            state: contract.field("Thread", "State")?,
            mode: contract.field("Thread", "PreemptiveGCDisabled")?,
            system_id: contract.field("Thread", "OSId")?,
            frame: contract.field("Thread", "Frame")?,
        })
    }
}

impl AllocationOffsets {
    fn of(contract: &Contract) -> Option<Self> {
        let own = contract.field("RuntimeThreadLocals", "AllocContext")?;
        // From .NET 10 on there is something of the runtime's around it.
        let around = contract.field("EEAllocContext", "GCAllocationContext");
        let at = own.wrapping_add(around.unwrap_or(0));
        let field = |name| Some(at.wrapping_add(contract.field("GCAllocContext", name)?));
        Some(Self {
            locals: contract.field("Thread", "RuntimeThreadLocals")?,
            free: field("Pointer")?,
            end: field("Limit")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"version":0,"types":{"Thread":{"Id":16,"OSId":296,"State":0,"PreemptiveGCDisabled":4,"Frame":8,"LinkNext":[112,"pointer"]},
        "ThreadStore":{"FirstThreadLink":160,"ThreadCount":184}},"globals":{"AppDomain":[[1],"pointer"],"ThreadStore":[[2],"pointer"]}}"#;

    fn parse(text: &str) -> Option<Offsets> {
        Offsets::of(&Contract::parse(text, (0, 0))?)
    }

    #[test]
    fn offsets_are_taken_out_of_the_description() {
        let expected = Offsets {
            store_index: 2,
            first_link: 160,
            next_link: 112,
            state: 0,
            mode: 4,
            system_id: 296,
            frame: 8,
        };
        assert_eq!(parse(TEXT), Some(expected));
    }

    #[test]
    fn pieces_of_the_heap_are_found_on_all_versions() {
        let offsets = |more: &str| {
            let text = format!(
                r#"{{"types":{{"Thread":{{"RuntimeThreadLocals":32}},{more}"GCAllocContext":{{"Pointer":0,"Limit":8}}}},"globals":{{}}}}"#
            );
            AllocationOffsets::of(&Contract::parse(&text, (0, 0))?)
                .map(|it| (it.locals, it.free, it.end))
        };
        let nine = r#""RuntimeThreadLocals":{"AllocContext":[16,"AllocContext"]},"#;
        let ten = r#""RuntimeThreadLocals":{"AllocContext":16},"EEAllocContext":{"GCAllocationContext":8},"#;
        assert_eq!(offsets(nine), Some((32, 16, 24)));
        assert_eq!(offsets(ten), Some((32, 24, 32)));
        assert_eq!(offsets(""), None);
    }

    #[test]
    fn only_the_same_piece_of_the_heap_proves_that_nothing_was_collected() {
        let before = Allocation {
            free: 0x100,
            end: 0x200,
            given: 0x1000,
        };
        let now = |free, end, given| Allocation { free, end, given }.continues(&before);
        assert!(now(0x100, 0x200, 0x1000) && now(0x1f0, 0x200, 0x1000));
        // Taken away; another piece; the same place given out again.
        assert!(!now(0, 0, 0xf00) && !now(0x300, 0x400, 0x1100) && !now(0x120, 0x200, 0x1080));
        assert!(!now(0x80, 0x200, 0x1000));
        let none = Allocation {
            free: 0,
            end: 0,
            given: 0,
        };
        assert!(!none.continues(&none));
    }

    #[test]
    fn descriptions_that_are_cut_anywhere_are_not_believed() {
        for (end, _) in TEXT.char_indices() {
            let text = TEXT.get(..end).unwrap_or_default();
            assert!(parse(text).is_none() || text.ends_with("[[2]") || text.contains("[[2],"));
        }
        assert_eq!(parse("\"globals\":\"ThreadStore\":[[x"), None);
    }
}
