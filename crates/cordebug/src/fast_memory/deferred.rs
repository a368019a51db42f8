//! Copies of whole assemblies' metadata that are made page by page, when somebody looks at them.
//!
//! For the first type of an assembly that it is asked for, libmscordbi copies all metadata of that assembly from the target
//! and then looks at a twentieth of it: of the core library three megabytes, two and a half milliseconds of the first look,
//! in every session. The target has these bytes from a file that this machine has too. So the pages of the copy are made
//! inaccessible, and a fault fills the one that is wanted, and its neighbours, from that file.
//!
//! Invariant: a copy is deferred only if the target maps all of it from one file without the right to write there, if that
//! file is the one under its name here, and if what was copied at once agrees with it; and only into a block that malloc
//! has mapped for this alone, which nothing else can be in after it was freed. Every other read is made as it was asked for.

use std::ffi::{c_int, c_void};
use std::fs::File;
use std::os::fd::IntoRawFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use super::PAGE;

/// Shorter reads are made at once.
pub(super) const SHORTEST: usize = 1 << 20;
/// The longest metadata that is deferred.
const LONGEST: usize = 64 << 20;
/// Copies that are deferred at a time; those after them are made at once.
const MAX_COPIES: usize = 32;
/// Pages that are filled for one that is wanted.
const TOGETHER: usize = 4;
/// What malloc writes before a block: its size and its kind.
const HEADER: usize = 16;
/// The kind of a block that was mapped for one allocation, in the size.
const IS_MAPPED: u64 = 2;

/// A copy. Written once, before its `end` is.
struct Copy {
    /// Where the copy begins, of which `start..end` is deferred.
    buffer: AtomicUsize,
    start: AtomicUsize,
    end: AtomicUsize,
    /// The file, never closed: a fault may come at any moment. It is the place of the buffer's first byte in it that follows.
    file: AtomicU32,
    offset: AtomicU64,
    /// The words before and at the beginning of the block: as long as they are the same it has not been freed.
    marks: [AtomicU64; 2],
}

static COPIES: [Copy; MAX_COPIES] = [const {
    Copy {
        buffer: AtomicUsize::new(0),
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        file: AtomicU32::new(0),
        offset: AtomicU64::new(0),
        marks: [AtomicU64::new(0), AtomicU64::new(0)],
    }
}; MAX_COPIES];
/// How many of them are taken.
static TAKEN: AtomicUsize = AtomicUsize::new(0);
/// Held while a page is filled.
static FILLING: AtomicBool = AtomicBool::new(false);

/// Makes a copy of the memory of `target`, which `fd` is, to be filled as it is looked at; `false` if it must be made at once.
///
/// # Safety
/// `buffer` must be writable for `count` bytes, and nobody else may use them until this returns.
pub(super) unsafe fn copy(
    (target, fd): (u32, c_int),
    buffer: *mut c_void,
    count: usize,
    address: u64,
) -> bool {
    if !(SHORTEST..=LONGEST).contains(&count) || buffer.addr() % PAGE != HEADER {
        return false;
    }
    // SAFETY: it is a multiple of 16 and not the beginning of a page, so what lies before it is of the same page.
    let size = unsafe { buffer.cast::<u64>().wrapping_sub(1).read() };
    if size & IS_MAPPED == 0 || (size & !7) < (count + HEADER) as u64 {
        return false;
    }
    let Some((file, offset)) = origin(target, address, count as u64) else {
        return false;
    };
    // The pages at both ends hold something else as well.
    let start = buffer.addr() - HEADER + PAGE;
    let end = (buffer.addr() + count) / PAGE * PAGE;
    let (head, tail) = (start - buffer.addr(), end - buffer.addr());
    // SAFETY: the caller says that it is writable, and `head` and `tail` lie in it, in this order.
    let bytes = unsafe { std::slice::from_raw_parts_mut(buffer.cast::<u8>(), count) };
    let agrees = |bytes: &mut [u8], at: usize| {
        let mut here = vec![0; bytes.len()];
        read_at_once(fd, bytes, address + at as u64)
            && file.read_exact_at(&mut here, offset + at as u64).is_ok()
            && here == bytes
    };
    let (first, rest) = bytes.split_at_mut(head);
    let (_, last) = rest.split_at_mut(tail - head);
    if !agrees(first, 0) || !agrees(last, tail) {
        return false;
    }
    let word = first.first_chunk().map_or(0, |it| u64::from_le_bytes(*it));
    let marks = [size, word];
    // Some containers do not let us ask.
    if !has_marks(buffer.addr(), marks) {
        return false;
    }
    let Ok(taken) = TAKEN.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |it| {
        (it < MAX_COPIES).then_some(it + 1)
    }) else {
        return false;
    };
    let Some(copy) = COPIES.get(taken) else {
        return false;
    };
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
    // SAFETY: whole pages of the buffer, whose contents nobody wants any more.
    let mapped = unsafe {
        libc::syscall(
            libc::SYS_mmap,
            start,
            end - start,
            libc::PROT_NONE,
            flags,
            -1,
            0,
        )
    };
    if mapped != start as i64 {
        return false;
    }
    copy.buffer.store(buffer.addr(), Ordering::SeqCst);
    copy.start.store(start, Ordering::SeqCst);
    copy.file
        .store(file.into_raw_fd().cast_unsigned(), Ordering::SeqCst);
    copy.offset.store(offset, Ordering::SeqCst);
    for (mark, value) in copy.marks.iter().zip(marks) {
        mark.store(value, Ordering::SeqCst);
    }
    copy.end.store(end, Ordering::SeqCst);
    true
}

/// The file that the target has memory from, and where in it, if all of it is of one file that nobody writes to there.
fn origin(target: u32, address: u64, length: u64) -> Option<(File, u64)> {
    let maps = std::fs::read_to_string(format!("/proc/{target}/maps")).ok()?;
    let (path, (device, inode), offset) = maps
        .lines()
        .find_map(|line| mapped(line, address, length))?;
    let file = File::open(path).ok()?;
    let is = file.metadata().ok()?;
    let is_same = is.ino() == inode
        && (libc::major(is.dev()), libc::minor(is.dev())) == device
        && is.len() >= offset.checked_add(length)?;
    is_same.then_some((file, offset))
}

/// A file by name, device and number, and a place in it.
type Place<'a> = (&'a str, ((u32, u32), u64), u64);

/// Where a line of `/proc/PID/maps` has an address from, if it is a file that is not written to there.
fn mapped(line: &str, address: u64, length: u64) -> Option<Place<'_>> {
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    let mut words = line.splitn(6, ' ');
    let (start, end) = words.next()?.split_once('-')?;
    let (start, end) = (number(start)?, number(end)?);
    let rights = words.next()?;
    if !(start..end).contains(&address)
        || address.checked_add(length)? > end
        || !rights.starts_with("r-")
    {
        return None;
    }
    let offset = number(words.next()?)?;
    let (major, minor) = words.next()?.split_once(':')?;
    let device = (number(major)? as u32, number(minor)? as u32);
    let inode = words.next()?.parse().ok()?;
    let path = words.next()?.trim_start();
    path.starts_with('/')
        .then_some((path, (device, inode), offset + (address - start)))
}

/// Answers a fault, if it is one of a deferred copy. Does nothing that is not allowed in a signal handler.
pub(crate) fn answers(info: &libc::siginfo_t) -> bool {
    // SAFETY: a fault has an address.
    let address = unsafe { info.si_addr() }.addr();
    // SAFETY: it takes nothing and gives an address.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: this thread's errno, which lives as long as the thread.
    let errno = unsafe { &mut *errno };
    let before = *errno;
    let answered = info.si_code == SEGV_ACCERR && fill(address);
    // The code that was interrupted must find it as it was.
    *errno = before;
    answered
}

/// The fault is that a page may not be used so; `libc` does not have the constant for all platforms.
const SEGV_ACCERR: c_int = 2;

/// Fills the page at an address, if it is one of a copy.
fn fill(address: usize) -> bool {
    let holds = |it: &&Copy| {
        (it.start.load(Ordering::SeqCst)..it.end.load(Ordering::SeqCst)).contains(&address)
    };
    // The last that was made: others at the same place were freed.
    let Some(copy) = COPIES.iter().rev().find(holds) else {
        return false;
    };
    while FILLING.swap(true, Ordering::SeqCst) {
        std::hint::spin_loop();
    }
    let filled = copy.is_there() && (is_accessible(address) || copy.fill(address));
    FILLING.store(false, Ordering::SeqCst);
    filled
}

impl Copy {
    /// Whether the block is still the one that was made for it.
    fn is_there(&self) -> bool {
        let marks = self.marks.each_ref();
        let marks = marks.map(|it| it.load(Ordering::SeqCst));
        has_marks(self.buffer.load(Ordering::SeqCst), marks)
    }

    /// Puts the page at an address, and those behind it that are wanted by nobody yet, where they belong.
    fn fill(&self, address: usize) -> bool {
        let first = address & !(PAGE - 1);
        let end = self.end.load(Ordering::SeqCst);
        let mut count = 1;
        while count < TOGETHER && first + count * PAGE < end && !is_accessible(first + count * PAGE)
        {
            count += 1;
        }
        let length = count * PAGE;
        let from = self.offset.load(Ordering::SeqCst)
            + (first - self.buffer.load(Ordering::SeqCst)) as u64;
        let file = self.file.load(Ordering::SeqCst);
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping, wherever there is room.
        let new = unsafe { libc::syscall(libc::SYS_mmap, 0, length, rights, kind, -1, 0) };
        if new <= 0 {
            return false;
        }
        // SAFETY: it goes to the pages that were just mapped, which nobody else knows of.
        let read = unsafe { libc::syscall(libc::SYS_pread64, file, new, length, from) };
        let moving = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        // They come to their place as a whole: another thread finds them missing or finds all of them.
        // SAFETY: the pages they go to are inaccessible and part of the copy, which the marks say is still there.
        let moved = read == length as i64
            && unsafe { libc::syscall(libc::SYS_mremap, new, length, length, moving, first) }
                == first as i64;
        if !moved {
            // SAFETY: as mapped above.
            unsafe { libc::syscall(libc::SYS_munmap, new, length) };
        }
        moved
    }
}

/// Reads the target as it was asked for.
fn read_at_once(fd: c_int, bytes: &mut [u8], address: u64) -> bool {
    let (to, count) = (bytes.as_mut_ptr(), bytes.len());
    // SAFETY: `bytes` is a live buffer of that length.
    let read = unsafe { libc::syscall(libc::SYS_pread64, fd, to, count, address) };
    usize::try_from(read).is_ok_and(|read| read == count)
}

/// Whether a block has these words before and at its beginning.
fn has_marks(buffer: usize, marks: [u64; 2]) -> bool {
    let mut words = [0; 2];
    own_memory(buffer - 8, &mut words) && words == marks
}

/// Whether a page of this process can be read.
fn is_accessible(address: usize) -> bool {
    own_memory(address & !7, &mut [0])
}

/// Reads words of this process without a fault; `false` if they are not there.
fn own_memory(address: usize, words: &mut [u64]) -> bool {
    let length = size_of_val(words);
    let here = libc::iovec {
        iov_base: words.as_mut_ptr().cast(),
        iov_len: length,
    };
    let there = libc::iovec {
        iov_base: std::ptr::without_provenance_mut(address),
        iov_len: length,
    };
    // SAFETY: it has no precondition.
    let own = unsafe { libc::getpid() };
    // SAFETY: `words` is a live buffer; the kernel checks the address that is read.
    let read = unsafe { libc::process_vm_readv(own, &here, 1, &there, 1, 0) };
    usize::try_from(read).is_ok_and(|read| read == length)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    const LENGTH: usize = 2 << 20;
    /// Metadata begins anywhere in a page.
    const AT: usize = 1236;

    /// A block of malloc's.
    struct Block(*mut c_void);

    impl Block {
        fn new(length: usize) -> Self {
            // SAFETY: it has no precondition.
            Self(unsafe { libc::malloc(length) })
        }

        fn bytes(&self) -> &[u8] {
            // SAFETY: all blocks of these tests are as long, and whoever calls this has filled it.
            unsafe { std::slice::from_raw_parts(self.0.cast(), LENGTH) }
        }
    }

    impl Drop for Block {
        fn drop(&mut self) {
            // SAFETY: malloc gave it.
            unsafe { libc::free(self.0) };
        }
    }

    /// This process is its own target, and its executable the assembly.
    fn own_executable() -> (File, memmap2::Mmap) {
        let own = File::open(std::env::current_exe().expect("we run")).expect("our own");
        // SAFETY: nobody writes to a program that runs.
        let map = unsafe { memmap2::Mmap::map(&own) }.expect("it can be mapped");
        assert!(map.len() > LENGTH + AT);
        let memory = File::open("/proc/self/mem").expect("our own");
        (memory, map)
    }

    fn deferred(memory: &File, block: &Block, count: usize, from: *const u8) -> bool {
        let target = (std::process::id(), memory.as_raw_fd());
        // SAFETY: the block is as long.
        unsafe { copy(target, block.0, count, from.addr() as u64) }
    }

    #[test]
    fn copy_is_filled_where_it_is_looked_at_and_is_the_file() {
        crate::borrowed_memory::enable(std::process::id());
        let (memory, map) = own_executable();
        let wanted = &map[AT..AT + LENGTH];
        let block = Block::new(LENGTH);
        assert!(deferred(&memory, &block, LENGTH, wanted.as_ptr()));
        let page = |number: usize| block.0.addr() + number * PAGE;
        assert!(!is_accessible(page(8)) && !is_accessible(page(100)));
        assert_eq!(block.bytes()[100 * PAGE], wanted[100 * PAGE]);
        assert!(is_accessible(page(100)) && !is_accessible(page(8)));
        let bytes = block.bytes();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert!(bytes == wanted));
            }
        });
    }

    #[test]
    fn only_what_is_a_files_is_deferred() {
        let (memory, map) = own_executable();
        let block = Block::new(LENGTH);
        assert!(!deferred(&memory, &block, PAGE, map.as_ptr()), "short");
        let end = map.as_ptr().wrapping_add(map.len() - PAGE);
        assert!(!deferred(&memory, &block, LENGTH, end), "not all of it");
        let ours = vec![1_u8; LENGTH];
        assert!(!deferred(&memory, &block, LENGTH, ours.as_ptr()), "no file");
        let inside = Block(block.0.wrapping_byte_add(64));
        let is_deferred = deferred(&memory, &inside, LENGTH - 64, map.as_ptr());
        std::mem::forget(inside);
        assert!(!is_deferred, "not a block of its own");
        let line = "7f0000000000-7f0000400000 rw-p 00001000 fe:00 42    /a/b c.dll";
        assert_eq!(mapped(line, 0x7f00_0000_1000, 16), None);
        let line = line.replace("rw-p", "r-xp");
        let place = ("/a/b c.dll", ((0xfe, 0), 42), 0x2000);
        assert_eq!(mapped(&line, 0x7f00_0000_1000, 16), Some(place));
    }
}
