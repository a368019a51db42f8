//! Answers the runtime library's memory reads from a page cache while the target is stopped.
//!
//! libmscordbi and libmscordaccore read the target with more than a thousand 4-byte `pread64` calls on
//! `/proc/PID/mem` for one stack walk, and on .NET 9 and older map and unmap a 4 MiB arena at every stop. They import
//! these calls dynamically, so the ones exported by our executable are used instead of libc's. Each of them does
//! exactly what libc's does, plus:
//!
//! * `pread64` on `/proc/PID/mem` reads whole pages into a cache (`pages`), **only while the target is stopped**, and reads
//!   megabytes that are a file's only where they are looked at (`deferred`);
//! * `mmap64`/`munmap` keep one freed 4 MiB block and hand it back zeroed;
//! * `read` from a debugger pipe sees when the target says that it has stopped: the library looks through its stack,
//!   page by page, before it calls us;
//! * `write` to one of the debugger pipes (every change to the target goes through them) empties the cache;
//! * `close` forgets what is known of a descriptor;
//! * `waitpid` notes the exit status of a child that the runtime library reaps before we do.
//!
//! Invariant: a cached page was read after the last event, continue and write, and while the target was stopped.
//! Whoever lets the target run must call [`target_runs`] before it does. Between the target's word that it has stopped and
//! the library's call of ours, only the library can let it run, by a message: the first of them ends what is kept.
//!
//! `NDBG_FAST_MEMORY=0` switches the cache and the arena off; the calls then only forward.

pub(crate) mod deferred;
mod pages;

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering};

use crate::borrowed_memory;
use pages::Pages;

const PAGE: usize = 4096;
/// The arena that the data access component maps at each stop.
const ARENA: usize = 4 << 20;
/// The last major version of the runtime whose library has one.
const LAST_WITH_ARENA: u32 = 9;
/// A large page of the processor's.
const LARGE_PAGE: usize = 2 << 20;
/// Descriptors whose kind is remembered.
const FDS: usize = 256;

static ENABLED: AtomicBool = AtomicBool::new(false);
static STOPPED: AtomicBool = AtomicBool::new(false);
/// Whether the target has said that it is stopped, and the library has told nobody yet.
static SYNCHRONIZED: AtomicBool = AtomicBool::new(false);
/// Pages of another generation are invalid.
static GENERATION: AtomicU64 = AtomicU64::new(1);
static TARGET: AtomicU32 = AtomicU32::new(0);
/// Where the last arena was mapped; only that one is kept when it is unmapped.
static ARENA_IN_USE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static KEPT_ARENA: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static HITS: AtomicU64 = AtomicU64::new(0);
static MISSES: AtomicU64 = AtomicU64::new(0);

const KIND_UNKNOWN: u8 = 0;
const KIND_OTHER: u8 = 1;
const KIND_TARGET_MEMORY: u8 = 2;
const KIND_PIPE: u8 = 3;
static KINDS: [AtomicU8; FDS] = [const { AtomicU8::new(KIND_UNKNOWN) }; FDS];

/// The exit status of the target if the runtime library reaped it: `status | REAPED`.
static REAPED_STATUS: AtomicU64 = AtomicU64::new(0);
const REAPED: u64 = 1 << 32;

thread_local! {
    /// Each thread its own: a lock at every read would wait for everything that the library has written before.
    static CACHE: RefCell<Pages> = const { RefCell::new(Pages::new()) };
}

/// Switches the layer on for the target `pid`, unless `NDBG_FAST_MEMORY=0`.
pub fn enable(pid: u32) {
    TARGET.store(pid, Ordering::SeqCst);
    borrowed_memory::enable(pid);
    REAPED_STATUS.store(0, Ordering::SeqCst);
    ENABLED.store(!is_off(), Ordering::SeqCst);
}

/// Makes an arena while the target is still starting, if its runtime's library will want one: filling four megabytes with
/// zeros takes as long as a dozen stops, and the target would have to wait for it.
pub fn prepare(runtime: Option<&str>) {
    let major = runtime.and_then(|version| version.split('.').next()?.parse::<u32>().ok());
    if is_off() || major.is_none_or(|major| major > LAST_WITH_ARENA) {
        return;
    }
    let Some(arena) = new_arena() else { return };
    // A kernel that cannot do that leaves it to whoever touches the pages first.
    // SAFETY: the block was just mapped, and nobody else knows of it.
    unsafe { libc::mprotect(arena, ARENA, libc::PROT_READ | libc::PROT_WRITE) };
    // SAFETY: see above.
    unsafe { libc::madvise(arena, ARENA, libc::MADV_POPULATE_WRITE) };
    let kept = KEPT_ARENA.compare_exchange(
        std::ptr::null_mut(),
        arena,
        Ordering::SeqCst,
        Ordering::SeqCst,
    );
    if kept.is_err() {
        // SAFETY: see above.
        unsafe { libc::syscall(libc::SYS_munmap, arena, ARENA) };
    }
}

fn is_off() -> bool {
    std::env::var_os("NDBG_FAST_MEMORY").is_some_and(|value| value == "0")
}

/// Switches the layer off and drops what it holds.
pub fn disable() {
    ENABLED.store(false, Ordering::SeqCst);
    target_runs();
    borrowed_memory::disable();
    // Other threads' pages are of another generation.
    CACHE.with_borrow_mut(Pages::clear);
}

/// The target is stopped from now on: pages may be kept.
pub fn target_stopped() {
    borrowed_memory::find_component();
    SYNCHRONIZED.store(false, Ordering::SeqCst);
    GENERATION.fetch_add(1, Ordering::SeqCst);
    STOPPED.store(true, Ordering::SeqCst);
}

/// The target is about to run: nothing that was read is valid any longer.
pub fn target_runs() {
    borrowed_memory::take_back();
    SYNCHRONIZED.store(false, Ordering::SeqCst);
    STOPPED.store(false, Ordering::SeqCst);
    GENERATION.fetch_add(1, Ordering::SeqCst);
}

/// Reads answered from the cache and reads that went to the kernel; of other threads, those before
/// the stop that they read last.
pub fn statistics() -> (u64, u64) {
    CACHE.with_borrow_mut(Pages::count_hits);
    (HITS.load(Ordering::Relaxed), MISSES.load(Ordering::Relaxed))
}

/// The wait status of the target, if the runtime library reaped it before we could.
pub fn stolen_status() -> Option<i32> {
    let value = REAPED_STATUS.load(Ordering::SeqCst);
    (value & REAPED != 0).then_some(value as u32 as i32)
}

fn kind(fd: c_int) -> u8 {
    let Some(slot) = usize::try_from(fd).ok().and_then(|index| KINDS.get(index)) else {
        return classify(fd);
    };
    match slot.load(Ordering::Relaxed) {
        KIND_UNKNOWN => {
            let kind = classify(fd);
            slot.store(kind, Ordering::Relaxed);
            kind
        }
        kind => kind,
    }
}

fn classify(fd: c_int) -> u8 {
    // SAFETY: an all-zero `stat` is a valid value for the kernel to overwrite.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `stat` is a live local of the type fstat writes.
    if unsafe { libc::fstat(fd, &mut stat) } != 0 {
        return KIND_OTHER;
    }
    match stat.st_mode & libc::S_IFMT {
        libc::S_IFIFO => KIND_PIPE,
        // /proc/PID/mem is a regular file by mode; only its name tells which target it is.
        libc::S_IFREG if is_target_memory(fd) => KIND_TARGET_MEMORY,
        _ => KIND_OTHER,
    }
}

fn is_target_memory(fd: c_int) -> bool {
    let target = TARGET.load(Ordering::Relaxed);
    target != 0
        && std::fs::read_link(format!("/proc/self/fd/{fd}"))
            .is_ok_and(|path| path.as_os_str() == format!("/proc/{target}/mem").as_str())
}

/// Serves a read of at most a few pages from the cache; `None` if it must go to the kernel as it is.
fn cached_read(fd: c_int, out: &mut [u8], address: u64) -> Option<()> {
    let end = address.checked_add(out.len() as u64)?;
    let generation = GENERATION.load(Ordering::SeqCst);
    // A thread that is ending has none any more.
    let read = CACHE.try_with(|cache| {
        let mut cache = cache.try_borrow_mut().ok()?;
        let mut at = address;
        let mut rest = out;
        while at < end {
            let page = at / PAGE as u64;
            let offset = (at % PAGE as u64) as usize;
            let bytes = cache.page(fd, page, generation)?.get(offset..)?;
            let n = bytes.len().min(rest.len());
            let (head, tail) = rest.split_at_mut(n);
            head.copy_from_slice(bytes.get(..n)?);
            rest = tail;
            at += n as u64;
        }
        Some(())
    });
    read.ok()??;
    // The target may have been let go, or written to, while we copied.
    (STOPPED.load(Ordering::SeqCst) && GENERATION.load(Ordering::SeqCst) == generation)
        .then_some(())
}

/// libc's `pread64`, with the page cache for the target's memory.
///
/// # Safety
/// As libc's: `buffer` must be writable for `count` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pread64(
    fd: c_int,
    buffer: *mut c_void,
    count: usize,
    offset: i64,
) -> isize {
    let usable = ENABLED.load(Ordering::Relaxed)
        && STOPPED.load(Ordering::Relaxed)
        && (1..=4 * PAGE).contains(&count)
        && !buffer.is_null()
        && kind(fd) == KIND_TARGET_MEMORY;
    if usable {
        // SAFETY: the caller promises `count` writable bytes at `buffer`, which is not null.
        let out = unsafe { std::slice::from_raw_parts_mut(buffer.cast::<u8>(), count) };
        if cached_read(fd, out, offset as u64).is_some() {
            return count as isize;
        }
    } else if kind(fd) == KIND_TARGET_MEMORY {
        MISSES.fetch_add(1, Ordering::Relaxed);
        let target = (TARGET.load(Ordering::Relaxed), fd);
        let may_defer = ENABLED.load(Ordering::Relaxed) && count >= deferred::SHORTEST;
        // SAFETY: forwards the caller's own promise.
        if may_defer && unsafe { deferred::copy(target, buffer, count, offset as u64) } {
            return count as isize;
        }
    }
    // SAFETY: forwards the caller's own promise.
    unsafe { libc::syscall(libc::SYS_pread64, fd, buffer, count, offset) as isize }
}

/// The size of the message with which a runtime says that all its threads are stopped.
const SYNC_COMPLETE_SIZE: usize = 48;
/// Its kind, the third word of it; the fourth is the process.
const SYNC_COMPLETE: u32 = 0x102;

/// Whether a message of the target says that all its threads are stopped.
fn is_sync_complete(message: &[u8], target: u32) -> bool {
    let word = |at: usize| {
        let bytes = message.get(4 * at..)?.first_chunk()?;
        Some(u32::from_le_bytes(*bytes))
    };
    message.len() == SYNC_COMPLETE_SIZE
        && [word(0), word(1)] == [Some(0); 2]
        && word(2) == Some(SYNC_COMPLETE)
        && word(3) == Some(target)
}

/// The kind of message, its first word, that asks for a write to the target's memory.
const WRITE_MEMORY: u32 = 7;
/// The bytes of a word that is written so; they follow the message.
const WORD: usize = 4;

/// Whether a message, or what follows it, writes a word to the target's memory: the library does that before it tells of
/// an event, and the target stays stopped. Whatever else is sent begins with a message that is another.
///
/// # Safety
/// `buffer` is null or readable for `count` bytes.
unsafe fn writes_a_word(buffer: *const c_void, count: usize) -> bool {
    match count {
        WORD => true,
        SYNC_COMPLETE_SIZE if !buffer.is_null() => {
            // SAFETY: the caller promises more bytes than that.
            let kind = unsafe { buffer.cast::<[u8; 4]>().read() };
            u32::from_le_bytes(kind) == WRITE_MEMORY
        }
        _ => false,
    }
}

/// libc's `read`, which sees when the target says that it has stopped.
///
/// # Safety
/// As libc's: `buffer` must be writable for `count` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn read(fd: c_int, buffer: *mut c_void, count: usize) -> isize {
    // SAFETY: forwards the caller's own promise.
    let length = unsafe { libc::syscall(libc::SYS_read, fd, buffer, count) as isize };
    // The answer to a write: what was read before it may be older.
    if SYNCHRONIZED.load(Ordering::Relaxed) && kind(fd) == KIND_PIPE {
        GENERATION.fetch_add(1, Ordering::SeqCst);
    }
    if count == SYNC_COMPLETE_SIZE
        && length == SYNC_COMPLETE_SIZE as isize
        && ENABLED.load(Ordering::Relaxed)
        && kind(fd) == KIND_PIPE
    {
        // SAFETY: the kernel has just written this many bytes to it.
        let message = unsafe { std::slice::from_raw_parts(buffer.cast::<u8>(), count) };
        if is_sync_complete(message, TARGET.load(Ordering::Relaxed)) {
            GENERATION.fetch_add(1, Ordering::SeqCst);
            SYNCHRONIZED.store(true, Ordering::SeqCst);
            STOPPED.store(true, Ordering::SeqCst);
        }
    }
    length
}

/// libc's `write`; a write to a debugger pipe may change the target, so the cache is emptied.
///
/// # Safety
/// As libc's: `buffer` must be readable for `count` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn write(fd: c_int, buffer: *const c_void, count: usize) -> isize {
    if STOPPED.load(Ordering::Relaxed) && kind(fd) == KIND_PIPE {
        // It may be the library's own word that the target may run.
        // SAFETY: the caller promises `count` readable bytes, and a pointer that is null is not looked at.
        if SYNCHRONIZED.load(Ordering::SeqCst) && !unsafe { writes_a_word(buffer, count) } {
            SYNCHRONIZED.store(false, Ordering::SeqCst);
            STOPPED.store(false, Ordering::SeqCst);
        }
        GENERATION.fetch_add(1, Ordering::SeqCst);
    }
    // SAFETY: forwards the caller's own promise.
    let written = unsafe { libc::syscall(libc::SYS_write, fd, buffer, count) as isize };
    if STOPPED.load(Ordering::Relaxed) && kind(fd) == KIND_PIPE {
        GENERATION.fetch_add(1, Ordering::SeqCst);
    }
    written
}

/// libc's `close`, which also forgets what the descriptor was.
///
/// # Safety
/// As libc's: the caller must own `fd`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn close(fd: c_int) -> c_int {
    if let Some(slot) = usize::try_from(fd).ok().and_then(|index| KINDS.get(index)) {
        slot.store(KIND_UNKNOWN, Ordering::Relaxed);
    }
    // SAFETY: forwards the caller's own promise.
    unsafe { libc::syscall(libc::SYS_close, fd) as c_int }
}

/// libc's `mmap64`, with one 4 MiB block kept for the next caller who wants such a one.
///
/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap64(
    address: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> *mut c_void {
    // The platform layer reserves with PROT_NONE and then makes the block readable and writable.
    let arena = ENABLED.load(Ordering::Relaxed)
        && address.is_null()
        && length == ARENA
        && protection == libc::PROT_NONE
        && flags == libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    if arena {
        let kept = KEPT_ARENA.swap(std::ptr::null_mut(), Ordering::SeqCst);
        if !kept.is_null() && make_fresh(kept) {
            ARENA_IN_USE.store(kept, Ordering::SeqCst);
            return kept;
        }
    }
    if arena && let Some(new) = new_arena() {
        ARENA_IN_USE.store(new, Ordering::SeqCst);
        return new;
    }
    // SAFETY: forwards the caller's own promise.
    unsafe { raw_mmap(address, length, protection, flags, fd, offset) }
}

/// The system call.
///
/// # Safety
/// As libc's `mmap64`.
unsafe fn raw_mmap(
    address: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> *mut c_void {
    // SAFETY: forwards the caller's own promise.
    let mapped = unsafe {
        libc::syscall(
            libc::SYS_mmap,
            address,
            length,
            protection,
            flags,
            fd,
            offset,
        )
    };
    mapped as *mut c_void
}

/// Reserves a block for an arena, of pages as large as the processor has them: it is touched in a thousand places at
/// every stop, and a small page for each of them is a fault the first time and a search for its address ever after.
fn new_arena() -> Option<*mut c_void> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    let size = ARENA + LARGE_PAGE;
    // SAFETY: a new private mapping, wherever the kernel has room.
    let mapped = unsafe { raw_mmap(std::ptr::null_mut(), size, libc::PROT_NONE, flags, -1, 0) };
    if mapped == libc::MAP_FAILED {
        return None;
    }
    let before = mapped.align_offset(LARGE_PAGE).min(LARGE_PAGE);
    let block = mapped.wrapping_byte_add(before);
    let behind = block.wrapping_byte_add(ARENA);
    for (start, length) in [(mapped, before), (behind, LARGE_PAGE - before)] {
        if length > 0 {
            // SAFETY: a part of the mapping that was just made, which nobody else knows of.
            unsafe { libc::syscall(libc::SYS_munmap, start, length) };
        }
    }
    // A kernel without large pages says no, and then small ones do.
    // SAFETY: the rest of that mapping.
    unsafe { libc::madvise(block, ARENA, libc::MADV_HUGEPAGE) };
    Some(block)
}

/// Makes a kept block look newly mapped: zeros everywhere.
fn make_fresh(block: *mut c_void) -> bool {
    // Its last owner may have left it unwritable.
    // SAFETY: `block` is a whole private mapping of ARENA bytes that nobody uses.
    let result = unsafe { libc::mprotect(block, ARENA, libc::PROT_READ | libc::PROT_WRITE) };
    if result != 0 {
        return false;
    }
    // SAFETY: see above; it is writable now, and a mapping is aligned to pages.
    let pages = unsafe { std::slice::from_raw_parts_mut(block.cast::<[u8; PAGE]>(), ARENA / PAGE) };
    // From the end: the component comes by all pages from the first to the last before and after this, and they lie so
    // that the processor's cache holds the headers of only half of them.
    for page in pages.iter_mut().rev() {
        let first = first_used(page);
        clear_bucket(page, first);
    }
    true
}

/// The header of a page of an arena.
const HEADER: usize = 16;

/// The index of the first entry in use, as the header of a page of an arena tells it.
fn first_used(page: &[u8; PAGE]) -> u32 {
    let bytes = page.get(8..12).and_then(|bytes| bytes.try_into().ok());
    bytes.map_or(0, u32::from_le_bytes)
}

/// Zeroes one page of an arena, of which the entry `first` is the first in use.
///
/// The arena is a hash table with a page per bucket: a pointer, the index of the first entry in use, and 255 entries of
/// 16 bytes that are filled from the end. What lies between the header and that entry was never written, and leaving
/// it alone saves a third of a millisecond at every stop. A page that does not look like that is zeroed as a whole.
fn clear_bucket(page: &mut [u8; PAGE], first: u32) {
    let (header, entries) = page.split_at_mut(HEADER);
    header.fill(0);
    match entries.get_mut((first as usize).saturating_mul(16)..) {
        Some([]) => {}
        Some(used) => used.fill(0),
        None => entries.fill(0),
    }
}

/// libc's `munmap`, which keeps one arena for the next [`mmap64`].
///
/// # Safety
/// As libc's: nobody may use the range afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn munmap(address: *mut c_void, length: usize) -> c_int {
    let keep = length == ARENA
        && ENABLED.load(Ordering::Relaxed)
        && ARENA_IN_USE
            .compare_exchange(
                address,
                std::ptr::null_mut(),
                Ordering::SeqCst,
                Ordering::SeqCst,
            )
            .is_ok()
        && KEPT_ARENA
            .compare_exchange(
                std::ptr::null_mut(),
                address,
                Ordering::SeqCst,
                Ordering::SeqCst,
            )
            .is_ok();
    if keep {
        return 0;
    }
    // SAFETY: forwards the caller's own promise.
    unsafe { libc::syscall(libc::SYS_munmap, address, length) as c_int }
}

/// libc's `waitpid`, which notes the target's exit status when the runtime library is the one to reap it.
///
/// A target that is somebody else's child, has ended, and that its parent has not taken note of yet is told as ended
/// too: the library takes it for alive, and waits for its answer for as long as that lasts.
///
/// # Safety
/// As libc's: `status` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn waitpid(
    pid: libc::pid_t,
    status: *mut c_int,
    options: c_int,
) -> libc::pid_t {
    let mut own_status: c_int = 0;
    let reaped = loop {
        // SAFETY: `own_status` is a live local; no rusage is asked for.
        let reaped = unsafe {
            libc::syscall(
                libc::SYS_wait4,
                pid,
                &raw mut own_status,
                options,
                std::ptr::null_mut::<libc::rusage>(),
            )
        } as libc::pid_t;
        // A thread that is traced for a moment (see `suspension`) has not ended, which is what the library asks for.
        if reaped <= 0 || !libc::WIFSTOPPED(own_status) || options & libc::WUNTRACED != 0 {
            break reaped;
        }
    };
    if reaped < 0 {
        // SAFETY: no precondition.
        let errno = unsafe { libc::__errno_location() };
        // SAFETY: the location belongs to this thread for as long as it lives.
        let why = unsafe { errno.read() };
        if let Ok(target) = u32::try_from(pid)
            && target == TARGET.load(Ordering::SeqCst)
            && let Some(zombie) = crate::procfs::unreaped_status(target)
        {
            if !status.is_null() {
                // SAFETY: not null, and the caller promises that it is writable.
                unsafe { status.write(zombie) };
            }
            return pid;
        }
        // Looking has changed it, and the caller goes by it.
        // SAFETY: see above.
        unsafe { errno.write(why) };
    }
    if reaped > 0 {
        if reaped as u32 == TARGET.load(Ordering::SeqCst) {
            REAPED_STATUS.store(REAPED | u64::from(own_status as u32), Ordering::SeqCst);
        }
        if !status.is_null() {
            // SAFETY: not null, and the caller promises that it is writable.
            unsafe { status.write(own_status) };
        }
    }
    reaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn child_that_is_not_there_is_refused_with_the_systems_own_reason() {
        let nobody = libc::pid_t::MAX - 1;
        TARGET.store(nobody as u32, Ordering::SeqCst);
        let mut status = 0;
        // SAFETY: `status` is a live local.
        let waited = unsafe { waitpid(nobody, &raw mut status, libc::WNOHANG) };
        let error = std::io::Error::last_os_error();
        TARGET.store(0, Ordering::SeqCst);
        assert_eq!((waited, error.raw_os_error()), (-1, Some(libc::ECHILD)));
    }

    #[test]
    fn only_the_targets_own_word_that_it_has_stopped_is_taken_for_it() {
        let message = |kind: u32, pid: u32| {
            let mut bytes = vec![0; SYNC_COMPLETE_SIZE];
            bytes[8..12].copy_from_slice(&kind.to_le_bytes());
            bytes[12..16].copy_from_slice(&pid.to_le_bytes());
            bytes
        };
        assert!(is_sync_complete(&message(SYNC_COMPLETE, 7), 7));
        assert!(!is_sync_complete(&message(SYNC_COMPLETE, 8), 7));
        assert!(!is_sync_complete(&message(SYNC_COMPLETE + 1, 7), 7));
        assert!(!is_sync_complete(&message(SYNC_COMPLETE, 7)[..40], 7));
        let mut header = message(SYNC_COMPLETE, 7);
        header[0] = 5;
        assert!(!is_sync_complete(&header, 7));
    }

    #[test]
    fn used_entries_of_a_bucket_are_zeroed_and_a_stranger_is_zeroed_whole() {
        for first in [0_u32, 1, 200, 254, 255] {
            let mut page = [0_u8; PAGE];
            page[..8].fill(0xaa);
            page[8..12].copy_from_slice(&first.to_le_bytes());
            page[16 + 16 * first as usize..].fill(0xbb);
            let told = first_used(&page);
            clear_bucket(&mut page, told);
            assert!(page.iter().all(|byte| *byte == 0), "first entry {first}");
        }
        let mut page = [0xcc_u8; PAGE];
        let told = first_used(&page);
        clear_bucket(&mut page, told);
        assert!(page.iter().all(|byte| *byte == 0));
    }
}
