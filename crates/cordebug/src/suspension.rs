//! Lets a thread be suspended again after the runtime has made it give up an evaluation.
//!
//! The runtime does that inside the handler of the signal that suspends threads, by an exception that never returns from the
//! handler. Two things stay behind: the signal is blocked, and the runtime believes that one is on its way to the thread, so
//! it sends no other. From then on a loop without calls on that thread can be suspended by nobody, neither a debugger nor the
//! garbage collector, and whoever waits for it waits for ever. Here the signal is unblocked, for which the thread is traced
//! for a moment, as only a tracer may change another thread's mask; and the signal is sent once more as the runtime would
//! send it, whose handler then forgets the one that was on its way.
//!
//! A thread that allocates without end is hard to suspend: whenever it collects, which it may do nearly all of the time, it has the
//! lock that the runtime's own suspension needs, and takes it again before anybody else. So such a thread is held, by a tracer again,
//! at a moment at which it runs compiled code, until the signal has been sent to it: [`hold_in_code`].
//!
//! Invariant: whatever happens, the thread is traced by nobody when a function here returns, and no signal that was on its
//! way to it is lost. No exit status is taken: the stop is not waited for but looked for.

use std::io;
use std::sync::mpsc;
use std::thread::JoinHandle;
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

/// How long a thread is held for the runtime to send it the signal.
const HOLD_LIMIT: Duration = Duration::from_millis(200);

/// A thread that is held. It is let go when the signal is on its way to it, or this is dropped.
#[derive(Debug)]
pub struct Held {
    /// Dropped to let it go.
    release: Option<mpsc::Sender<()>>,
    tracer: Option<JoinHandle<()>>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.release = None;
        if let Some(tracer) = self.tracer.take()
            && tracer.join().is_err()
        {
            tracing::warn!("the tracer of a thread panicked");
        }
    }
}

/// Holds a thread at a moment at which it runs code that was compiled while the program runs; nothing if there is none within
/// the time, or the thread cannot be traced.
#[must_use]
pub fn hold_in_code(pid: u32, thread: u32, limit: Duration) -> Option<Held> {
    let id = libc::pid_t::try_from(thread).ok()?;
    let code = procfs::compiled_code(pid);
    let (release, released) = mpsc::channel();
    let (hold, held) = mpsc::channel();
    let tracer = std::thread::Builder::new()
        .name("suspension".into())
        .spawn(move || {
            let outcome = hold_traced(id, limit, &code, || {
                if hold.send(()).is_err() {
                    return;
                }
                let deadline = Instant::now() + HOLD_LIMIT;
                while Instant::now() < deadline
                    && !procfs::awaits_suspension(pid, thread)
                    && released.recv_timeout(LOOK_STEP) == Err(mpsc::RecvTimeoutError::Timeout)
                {
                }
            });
            if let Err(error) = outcome {
                tracing::debug!(%error, thread, "holding a thread");
            }
        })
        .ok()?;
    let tracer = Held {
        release: Some(release),
        tracer: Some(tracer),
    };
    held.recv().ok().map(|()| tracer)
}

fn hold_traced(
    thread: libc::pid_t,
    limit: Duration,
    code: &[std::ops::Range<u64>],
    meanwhile: impl FnOnce(),
) -> io::Result<()> {
    let deadline = Instant::now() + limit;
    // SAFETY: attaches to a thread by its number; no pointer is read or written.
    checked(unsafe { libc::ptrace(libc::PTRACE_SEIZE, thread, 0_usize, 0_usize) })?;
    loop {
        // SAFETY: as above.
        checked(unsafe { libc::ptrace(libc::PTRACE_INTERRUPT, thread, 0_usize, 0_usize) })?;
        let at = stopped_at(thread)?;
        let is_in_code = code.iter().any(|it| it.contains(&at));
        if is_in_code || Instant::now() > deadline {
            if is_in_code {
                meanwhile();
            }
            let signal = pending(thread) as usize;
            // SAFETY: lets the thread go on with the signal that it was about to get; no pointer is read or written.
            return checked(unsafe { libc::ptrace(libc::PTRACE_DETACH, thread, 0_usize, signal) });
        }
        let signal = pending(thread) as usize;
        // SAFETY: as above.
        checked(unsafe { libc::ptrace(libc::PTRACE_CONT, thread, 0_usize, signal) })?;
        std::thread::sleep(LOOK_STEP);
    }
}

/// Where a thread stands that was told to stop for its tracer, as soon as it has.
fn stopped_at(thread: libc::pid_t) -> io::Result<u64> {
    let deadline = Instant::now() + STOP_LIMIT;
    loop {
        // SAFETY: an all-zero value is valid for the kernel to overwrite.
        let mut registers: libc::user_regs_struct = unsafe { std::mem::zeroed() };
        let mut place = libc::iovec {
            iov_base: (&raw mut registers).cast(),
            iov_len: size_of::<libc::user_regs_struct>(),
        };
        // SAFETY: the kernel writes as many bytes as `place` says at most, which `registers`, a live local, has.
        let asked = checked(unsafe {
            libc::ptrace(
                libc::PTRACE_GETREGSET,
                thread,
                libc::NT_PRSTATUS as usize,
                &raw mut place,
            )
        });
        match asked {
            #[cfg(target_arch = "x86_64")]
            Ok(()) => return Ok(registers.rip),
            #[cfg(target_arch = "aarch64")]
            Ok(()) => return Ok(registers.pc),
            // It has not stopped yet.
            Err(error)
                if error.raw_os_error() == Some(libc::ESRCH) && Instant::now() < deadline =>
            {
                std::thread::sleep(LOOK_STEP / 4);
            }
            Err(error) => return Err(error),
        }
    }
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
