//! Lends the data access component the pages of the target that it forgets to copy.
//!
//! libmscordaccore reads the target through a copy of each structure. On .NET 10 it follows one pointer without: the
//! signature of a method that the runtime itself suspends (runtime-async) lies in the target, and the component reads
//! its first byte at that address in *our* process, for every frame of such a method and on the runtime library's own
//! thread too. That ended the host with SIGSEGV. Here the fault is answered: the page is copied from the target to the
//! same address and the instruction runs again, with the byte that it wanted.
//!
//! Invariant: only faults of code of libmscordaccore, at addresses where we have nothing and the target has readable
//! memory, are answered; every other fault goes to whoever handled it before. What was lent is taken back before the
//! target runs.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use crate::fast_memory::deferred;

/// Pages lent at a time; one is enough for all methods of most modules.
const MAX_PAGES: usize = 256;
/// Nothing lies below: a null pointer with an offset is a fault like any other.
const LOWEST: usize = 1 << 16;
const COMPONENT: &str = "libmscordaccore.so";

static TARGET: AtomicU32 = AtomicU32::new(0);
/// Where the code of the component lies.
static CODE_START: AtomicUsize = AtomicUsize::new(0);
static CODE_END: AtomicUsize = AtomicUsize::new(0);
static PAGE: AtomicUsize = AtomicUsize::new(0);
static LENT: [AtomicUsize; MAX_PAGES] = [const { AtomicUsize::new(0) }; MAX_PAGES];
/// Whether anything is lent: most programs never need it, and this is asked each time that one is let run.
static ANY: AtomicBool = AtomicBool::new(false);
static PREVIOUS: OnceLock<libc::sigaction> = OnceLock::new();

/// Lends pages of the process `pid` from now on.
pub(crate) fn enable(pid: u32) {
    // SAFETY: it takes a number and gives one.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    PAGE.store(usize::try_from(page).unwrap_or(0), Ordering::SeqCst);
    TARGET.store(pid, Ordering::SeqCst);
    PREVIOUS.get_or_init(|| {
        // SAFETY: an all-zero `sigaction` is a valid value: default action, empty mask, no flags.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: as above.
        let mut previous: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = on_fault as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: both are live locals; `on_fault` has the signature that SA_SIGINFO asks for, and does nothing that
        // is not allowed in a signal handler.
        unsafe { libc::sigaction(libc::SIGSEGV, &action, &mut previous) };
        previous
    });
}

/// Lends nothing any longer.
pub(crate) fn disable() {
    TARGET.store(0, Ordering::SeqCst);
    take_back();
}

/// Notes where the component is, as soon as it is loaded.
pub(crate) fn find_component() {
    if CODE_END.load(Ordering::Relaxed) != 0 {
        return;
    }
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else {
        return;
    };
    if let Some((start, end)) = maps.lines().find_map(code_of_component) {
        CODE_START.store(start, Ordering::SeqCst);
        CODE_END.store(end, Ordering::SeqCst);
    }
}

/// The range of a line of `/proc/PID/maps`, if it is the component's code.
fn code_of_component(line: &str) -> Option<(usize, usize)> {
    let (range, rest) = line.split_once(' ')?;
    if !line.ends_with(COMPONENT) || rest.as_bytes().get(2) != Some(&b'x') {
        return None;
    }
    let (start, end) = range.split_once('-')?;
    Some((
        usize::from_str_radix(start, 16).ok()?,
        usize::from_str_radix(end, 16).ok()?,
    ))
}

/// Takes back all that was lent: the target is about to change it.
pub(crate) fn take_back() {
    if !ANY.load(Ordering::SeqCst) {
        return;
    }
    ANY.store(false, Ordering::SeqCst);
    for slot in &LENT {
        let page = slot.swap(0, Ordering::SeqCst);
        if page != 0 {
            // SAFETY: `lend` mapped this page for nobody but the component, which holds no pointer to it on purpose.
            unsafe { libc::syscall(libc::SYS_munmap, page, PAGE.load(Ordering::Relaxed)) };
        }
    }
}

/// Answers a fault of the component, or leaves it to whoever handled such before.
extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel gives a valid one to a handler with SA_SIGINFO.
    let info = unsafe { &*info };
    if deferred::answers(info) {
        return;
    }
    // SAFETY: as above, a `ucontext_t`.
    let context = unsafe { &*context.cast::<libc::ucontext_t>() };
    // SAFETY: it takes nothing and gives an address.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: this thread's errno, which lives as long as the thread.
    let errno = unsafe { &mut *errno };
    let before = *errno;
    // SAFETY: a fault has an address.
    let address = unsafe { info.si_addr() } as usize;
    let answered =
        info.si_code == SEGV_MAPERR && is_components(instruction(context)) && lend(address);
    // The code that was interrupted must find it as it was.
    *errno = before;
    if !answered && let Some(previous) = PREVIOUS.get() {
        // The instruction runs again, faults again, and this time it is theirs.
        // SAFETY: it is what sigaction gave.
        unsafe { libc::sigaction(signal, previous, std::ptr::null_mut()) };
    }
}

/// The fault is that nothing is mapped; `libc` does not have the constant for all platforms.
const SEGV_MAPERR: c_int = 1;

#[cfg(target_arch = "x86_64")]
fn instruction(context: &libc::ucontext_t) -> usize {
    let register = context.uc_mcontext.gregs.get(libc::REG_RIP as usize);
    register.map_or(0, |it| *it as usize)
}

#[cfg(target_arch = "aarch64")]
fn instruction(context: &libc::ucontext_t) -> usize {
    context.uc_mcontext.pc as usize
}

fn is_components(instruction: usize) -> bool {
    (CODE_START.load(Ordering::Relaxed)..CODE_END.load(Ordering::Relaxed)).contains(&instruction)
}

/// Copies the page at `address` from the target to the same address here.
fn lend(address: usize) -> bool {
    let (target, size) = (TARGET.load(Ordering::Relaxed), PAGE.load(Ordering::Relaxed));
    if target == 0 || size == 0 || address < LOWEST {
        return false;
    }
    let page = address & !(size - 1);
    let free = |slot: &&AtomicUsize| {
        slot.compare_exchange(0, page, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok()
    };
    let Some(slot) = LENT.iter().find(free) else {
        return false;
    };
    ANY.store(true, Ordering::SeqCst);
    let rights = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
    // The system calls are made directly: this executable exports `munmap` and `mmap64` of its own, which lock.
    // SAFETY: MAP_FIXED_NOREPLACE touches nothing that is mapped.
    let mapped = unsafe { libc::syscall(libc::SYS_mmap, page, size, rights, kind, -1, 0) };
    if mapped != page as i64 {
        slot.store(0, Ordering::SeqCst);
        return false;
    }
    let here = libc::iovec {
        iov_base: page as *mut c_void,
        iov_len: size,
    };
    // SAFETY: the copy goes to the page that was just mapped.
    let copied = unsafe { libc::process_vm_readv(target as libc::pid_t, &here, 1, &here, 1, 0) };
    if copied != size as isize {
        slot.store(0, Ordering::SeqCst);
        // SAFETY: as mapped above.
        unsafe { libc::syscall(libc::SYS_munmap, page, size) };
        return false;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_code_of_the_component_is_found() {
        let line = |rights: &str, file: &str| {
            format!("7f3c97e00000-7f3c98000000 {rights} 00100000 08:01 42    /dotnet/{file}")
        };
        assert_eq!(
            code_of_component(&line("r-xp", "libmscordaccore.so")),
            Some((0x7f3c_97e0_0000, 0x7f3c_9800_0000))
        );
        assert_eq!(code_of_component(&line("r--p", "libmscordaccore.so")), None);
        assert_eq!(code_of_component(&line("r-xp", "libmscordbi.so")), None);
        assert_eq!(code_of_component("x"), None);
    }
}
