//! Outlives crashes of the runtime's library in threads of its own, when its target is dead.
//!
//! A target that is killed while the library reads its first structures makes some builds of the library follow a null
//! pointer, on a thread that only the library knows. Nothing of the library is needed any more at that moment, but this
//! process is: it has to tell how the program ended. So the thread is put to sleep for ever.
//!
//! Invariant: a crash of the thread that called [`outlive`], or with a target that lives, is what it would be without
//! us: the handler that was there before gets it.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::fast_memory::deferred;

/// A handle to the target, or -1.
static TARGET: AtomicI32 = AtomicI32::new(-1);
/// The thread whose crashes are never outlived.
static OWNER: AtomicI32 = AtomicI32::new(0);
/// Who handled it before us.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// How long a process that has stopped to answer may still be there, in milliseconds.
const DYING: c_int = 500;

/// From now on, crashes of other threads than this one are outlived if the process of this handle has ended.
pub(crate) fn outlive(target: BorrowedFd<'_>) {
    let Ok(target) = target.try_clone_to_owned() else {
        return;
    };
    OWNER.store(thread(), Ordering::SeqCst);
    // Never closed: a handler may be using it at any moment, and a host attaches once or a few times.
    TARGET.store(target.into_raw_fd(), Ordering::SeqCst);
    BEFORE.get_or_init(install);
}

fn install() -> libc::sigaction {
    // SAFETY: an all-zero sigaction is a valid value.
    let mut ours: libc::sigaction = unsafe { std::mem::zeroed() };
    ours.sa_sigaction = crashed as *const () as usize;
    // On the stack that a thread may have for this, since its own may be what is broken.
    ours.sa_flags = libc::SA_ONSTACK | libc::SA_SIGINFO;
    // SAFETY: `sa_mask` is a field of a live local.
    unsafe { libc::sigemptyset(&raw mut ours.sa_mask) };
    let mut before = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: both are live locals; the handler makes only calls that signal handlers may make.
    unsafe { libc::sigaction(libc::SIGSEGV, &raw const ours, before.as_mut_ptr()) };
    // SAFETY: written by the call, or all zero, which is the default action.
    unsafe { before.assume_init() }
}

extern "C" fn crashed(signal: c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
    // SAFETY: the kernel gives a valid one to a handler with SA_SIGINFO.
    if deferred::answers(unsafe { &*info }) {
        return;
    }
    if thread() != OWNER.load(Ordering::SeqCst) && target_is_dead() {
        loop {
            // SAFETY: pause has no precondition.
            unsafe { libc::pause() };
        }
    }
    let default = ptr::null();
    let before = BEFORE.get().map_or(default, ptr::from_ref);
    // Whatever crashed crashes again when this returns, and then finds the handler that was there before.
    // SAFETY: null, or a value that the kernel gave us; the old one is not asked for.
    unsafe { libc::sigaction(signal, before, ptr::null_mut()) };
}

fn target_is_dead() -> bool {
    let target = TARGET.load(Ordering::SeqCst);
    let mut polled = libc::pollfd {
        fd: target.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: `polled` is one live local. The kernel skips a negative descriptor.
    unsafe { libc::poll(&raw mut polled, 1, DYING) > 0 }
}

fn thread() -> libc::pid_t {
    // SAFETY: gettid has no precondition.
    unsafe { libc::gettid() }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;
    use crate::pidfd::ProcessHandle;

    #[test]
    fn thread_that_crashes_over_a_dead_target_sleeps_for_ever() {
        let mut child = Command::new("/bin/sleep")
            .arg("1000")
            .spawn()
            .expect("sleep runs");
        let handle = ProcessHandle::open(child.id()).expect("it runs");
        child.kill().expect("our own child");
        child.wait().expect("our own child");
        outlive(handle.as_fd());
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            sender.send(()).expect("we wait");
            // SAFETY: raise has no precondition; without the handler it would end this process.
            unsafe { libc::raise(libc::SIGSEGV) };
            let _ = sender.send(());
        });
        receiver.recv().expect("the thread runs");
        let second = receiver.recv_timeout(Duration::from_millis(50));
        assert_eq!(second, Err(mpsc::RecvTimeoutError::Timeout));
    }
}
