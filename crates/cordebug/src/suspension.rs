//! Lets a thread be suspended again after the runtime has made it give up an evaluation.
//!
//! The runtime does that inside the handler of the signal that suspends threads, by an exception that never returns from the
//! handler. Two things stay behind: the signal is blocked, and the runtime believes that one is on its way to the thread, so
//! it sends no other. From then on a loop without calls on that thread can be suspended by nobody, neither a debugger nor the
//! garbage collector, and whoever waits for it waits for ever. Here the signal is unblocked, for which the thread is traced
//! for a moment, as only a tracer may change another thread's mask; and the signal is sent once more as the runtime would
//! send it, whose handler then forgets the one that was on its way.
//!
//! Invariant: whatever happens, the thread is traced by nobody when a function here returns, and no signal that was on its
//! way to it is lost. No exit status is taken: the stop is not waited for but looked for.

use std::io;
use std::time::{Duration, Instant};

use crate::procfs;

/// How long a thread may take to stop for its tracer.
const STOP_LIMIT: Duration = Duration::from_secs(2);

/// Between two looks at a thread that shall stop.
const LOOK_STEP: Duration = Duration::from_micros(200);

/// `PTRACE_EVENT_STOP` of linux/ptrace.h: a stop that no signal caused.
const EVENT_STOP: i32 = 128;

/// Makes sure that the signal by which the runtime suspends threads reaches a thread, if it is blocked.
///
/// # Errors
/// The system does not let us trace the thread, as when another tracer is there, or the thread does not stop for it.
pub fn allow(pid: u32, thread: u32) -> io::Result<()> {
    if procfs::blocks_suspension(pid, thread) {
        renew(pid, thread)
    } else {
        Ok(())
    }
}

/// Makes a thread suspendable that may have given up an evaluation.
///
/// # Errors
/// As for [`allow`]; or the process may not be sent signals.
pub fn renew(pid: u32, thread: u32) -> io::Result<()> {
    let invalid = |_| io::Error::from(io::ErrorKind::InvalidInput);
    let process = libc::pid_t::try_from(pid).map_err(invalid)?;
    let id = libc::pid_t::try_from(thread).map_err(invalid)?;
    if procfs::blocks_suspension(pid, thread) {
        // A tracer is a thread, and what it traces is let go when it ends, whatever went wrong before.
        let tracer = std::thread::Builder::new()
            .name("suspension".into())
            .spawn(move || unblock(id))?;
        let unblocked = tracer.join();
        unblocked.unwrap_or_else(|_| Err(io::Error::other("the tracer panicked")))?;
    }
    signal(process, id)
}

/// A `siginfo_t` of a signal that a process has queued.
#[repr(C)]
struct Queued {
    signal: libc::c_int,
    error: libc::c_int,
    code: libc::c_int,
    padding: libc::c_int,
    sender: libc::pid_t,
    user: libc::uid_t,
    value: u64,
    rest: [u64; 12],
}

const _: () = assert!(size_of::<Queued>() == size_of::<libc::siginfo_t>());

/// Sends the signal as the runtime does, which heeds only those of its own process.
fn signal(process: libc::pid_t, thread: libc::pid_t) -> io::Result<()> {
    let info = Queued {
        signal: procfs::SUSPENSION_SIGNAL,
        error: 0,
        code: libc::SI_QUEUE,
        padding: 0,
        sender: procfs::own_pid(process),
        user: 0,
        value: 0,
        rest: [0; 12],
    };
    // SAFETY: the kernel reads one siginfo, which `info`, a live local, has the size and the layout of.
    checked(unsafe {
        libc::syscall(
            libc::SYS_rt_tgsigqueueinfo,
            process,
            thread,
            procfs::SUSPENSION_SIGNAL,
            &raw const info,
        )
    })
}

fn unblock(thread: libc::pid_t) -> io::Result<()> {
    // SAFETY: attaches to a thread by its number; no pointer is read or written.
    checked(unsafe { libc::ptrace(libc::PTRACE_SEIZE, thread, 0_usize, 0_usize) })?;
    // SAFETY: as above.
    checked(unsafe { libc::ptrace(libc::PTRACE_INTERRUPT, thread, 0_usize, 0_usize) })?;
    let deadline = Instant::now() + STOP_LIMIT;
    let mut mask = loop {
        let mut mask = 0_u64;
        // SAFETY: the kernel writes as many bytes as it is told, which `mask`, a live local, has.
        let asked = checked(unsafe {
            libc::ptrace(
                libc::PTRACE_GETSIGMASK,
                thread,
                size_of::<u64>(),
                &raw mut mask,
            )
        });
        match asked {
            Ok(()) => break mask,
            // It has not stopped yet.
            Err(error)
                if error.raw_os_error() == Some(libc::ESRCH) && Instant::now() < deadline =>
            {
                std::thread::sleep(LOOK_STEP);
            }
            Err(error) => return Err(error),
        }
    };
    mask &= !procfs::SUSPENSION_BIT;
    // SAFETY: the kernel reads as many bytes as it is told, which `mask`, a live local, has.
    let set = checked(unsafe {
        libc::ptrace(
            libc::PTRACE_SETSIGMASK,
            thread,
            size_of::<u64>(),
            &raw mut mask,
        )
    });
    let signal = pending(thread);
    // SAFETY: lets the thread go on with the signal that it was about to get; no pointer is read or written.
    checked(unsafe { libc::ptrace(libc::PTRACE_DETACH, thread, 0_usize, signal as usize) })?;
    set
}

/// The signal that the thread was stopped at, which it still has to get; zero if it stopped because we wanted it.
fn pending(thread: libc::pid_t) -> i32 {
    // SAFETY: an all-zero siginfo is a valid value for the kernel to overwrite.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one siginfo, which `info`, a live local, is.
    let asked = unsafe { libc::ptrace(libc::PTRACE_GETSIGINFO, thread, 0_usize, &raw mut info) };
    if asked == -1 || info.si_code >> 8 == EVENT_STOP {
        0
    } else {
        info.si_signo
    }
}

fn checked(result: libc::c_long) -> io::Result<()> {
    if result == -1 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}
