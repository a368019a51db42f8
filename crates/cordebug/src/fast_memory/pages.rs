//! The pages of the target that one thread has read, and those that it will want again.
//!
//! A debugger that stops a program again and again reads much the same pages each time: those of the runtime's tables and
//! of the top of a stack. So when the first page of a new generation is wanted, all pages that were used lately are
//! fetched with it, in one call of the system instead of dozens.
//!
//! Invariant: a page that is handed out was read in the generation that was asked for, or is being read now.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

use super::{HITS, MISSES, PAGE, TARGET};

/// Pages kept; direct-mapped by page number. 256 pages are 1 MiB and hold several stack walks.
const SLOTS: usize = 256;
/// A page that was not used in this many generations is not fetched ahead any more.
const LATELY: u64 = 3;
/// Pages that are fetched ahead at a time.
const AHEAD: usize = 96;

/// Whether the system lets us read many pages at a time: some containers do not.
static AT_ONCE: AtomicBool = AtomicBool::new(true);

struct Slot {
    page: u64,
    /// When it was read; 0 if its bytes are none.
    generation: u64,
    /// The epoch in which it was last handed out.
    used: u64,
    bytes: Box<[u8; PAGE]>,
}

/// The cache of one thread.
pub(super) struct Pages {
    slots: Vec<Option<Slot>>,
    /// The generation of the last read.
    generation: u64,
    /// How many generations this thread has read in.
    epoch: u64,
    /// Reads that were answered from here and are not in [`HITS`] yet.
    hits: u64,
}

impl Pages {
    pub(super) const fn new() -> Self {
        Self {
            slots: Vec::new(),
            generation: 0,
            epoch: 0,
            hits: 0,
        }
    }

    pub(super) fn clear(&mut self) {
        self.slots.clear();
    }

    /// Adds to [`HITS`] what was counted here.
    pub(super) fn count_hits(&mut self) {
        HITS.fetch_add(std::mem::take(&mut self.hits), Ordering::Relaxed);
    }

    /// The bytes of a page, as they are in a generation; `None` if it cannot be read as a whole.
    pub(super) fn page(&mut self, fd: c_int, page: u64, generation: u64) -> Option<&[u8; PAGE]> {
        if self.slots.len() != SLOTS {
            self.slots.resize_with(SLOTS, || None);
        }
        if self.generation != generation {
            self.generation = generation;
            self.epoch += 1;
            self.count_hits();
            self.fetch_ahead(generation);
        }
        let epoch = self.epoch;
        let slot = self.slots.get_mut(page as usize % SLOTS)?;
        let is_here = slot
            .as_ref()
            .is_some_and(|slot| slot.page == page && slot.generation == generation);
        if is_here {
            self.hits += 1;
        } else {
            MISSES.fetch_add(1, Ordering::Relaxed);
            let filled = slot.get_or_insert_with(|| Slot {
                page,
                generation: 0,
                used: 0,
                bytes: Box::new([0; PAGE]),
            });
            filled.generation = 0;
            if !read_one(fd, page, &mut filled.bytes) {
                return None;
            }
            filled.page = page;
            filled.generation = generation;
        }
        let slot = slot.as_mut()?;
        slot.used = epoch;
        Some(&slot.bytes)
    }

    /// Reads again what was used lately.
    fn fetch_ahead(&mut self, generation: u64) {
        if !AT_ONCE.load(Ordering::Relaxed) {
            return;
        }
        let since = self.epoch.saturating_sub(LATELY);
        let wanted = self.slots.iter_mut().flatten();
        let mut wanted: Vec<&mut Slot> = wanted
            .filter(|slot| slot.used > 0 && slot.used >= since && slot.generation != 0)
            .take(AHEAD)
            .collect();
        if wanted.len() < 2 {
            return;
        }
        let mut here: Vec<libc::iovec> = Vec::with_capacity(wanted.len());
        let mut there: Vec<libc::iovec> = Vec::with_capacity(wanted.len());
        for slot in &mut wanted {
            // Whatever comes of it, the old bytes are gone.
            slot.generation = 0;
            here.push(libc::iovec {
                iov_base: slot.bytes.as_mut_ptr().cast::<c_void>(),
                iov_len: PAGE,
            });
            there.push(libc::iovec {
                iov_base: std::ptr::without_provenance_mut((slot.page * PAGE as u64) as usize),
                iov_len: PAGE,
            });
        }
        // SAFETY: `here` names the buffers of distinct slots, PAGE bytes each, that live as long as `wanted`; the kernel
        // checks `there`, which are addresses of the target.
        let read = unsafe {
            libc::process_vm_readv(
                TARGET.load(Ordering::Relaxed) as libc::pid_t,
                here.as_ptr(),
                here.len() as libc::c_ulong,
                there.as_ptr(),
                there.len() as libc::c_ulong,
                0,
            )
        };
        MISSES.fetch_add(1, Ordering::Relaxed);
        let Ok(read) = usize::try_from(read) else {
            let error = std::io::Error::last_os_error().raw_os_error();
            if matches!(error, Some(libc::EPERM | libc::ENOSYS)) {
                AT_ONCE.store(false, Ordering::Relaxed);
            }
            return;
        };
        // It ends at the first page that is gone; those behind are read one by one, if they are wanted.
        for slot in wanted.into_iter().take(read / PAGE) {
            slot.generation = generation;
        }
    }
}

fn read_one(fd: c_int, page: u64, bytes: &mut [u8; PAGE]) -> bool {
    // SAFETY: `bytes` is a live buffer of PAGE bytes.
    let read = unsafe {
        libc::syscall(
            libc::SYS_pread64,
            fd,
            bytes.as_mut_ptr(),
            PAGE,
            (page * PAGE as u64) as libc::off_t,
        )
    };
    read == PAGE as libc::c_long
}
