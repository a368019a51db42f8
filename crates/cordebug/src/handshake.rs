//! The start-up handshake: two named semaphores by which a starting runtime waits for its debugger.
//!
//! A starting runtime that finds a semaphore named after its pid and start time posts it (`clrst`: "I am here, my
//! debugger pipes exist") and waits for another one (`clrco`: "go on"). Whoever creates them must create `clrco`
//! first: a runtime that sees only `clrst` would not wait.
//!
//! Invariant: the names are unlinked when the value is dropped, whatever happened, and a runtime that waits is let go.

use std::ffi::CString;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::procfs;

/// How long the threads of a runtime that has posted may take to come to rest.
const REST: Duration = Duration::from_secs(3);
/// How often they are looked at meanwhile.
const LOOK: Duration = Duration::from_micros(20);

/// The two semaphores of one starting process.
#[derive(Debug)]
pub struct Handshake {
    pid: u32,
    go_on: Semaphore,
    started: Semaphore,
}

impl Handshake {
    /// Creates the semaphores that the runtime in `pid` will look for.
    pub fn prepare(pid: u32) -> io::Result<Self> {
        let start_time = procfs::stat(pid)?.start_time;
        let go_on = Semaphore::create(&format!("/clrco{pid:08x}{start_time:016x}"))?;
        let started = Semaphore::create(&format!("/clrst{pid:08x}{start_time:016x}"))?;
        Ok(Self {
            pid,
            go_on,
            started,
        })
    }

    /// Waits until the runtime is there; `false` if `give_up` said so first. `give_up` is asked every few milliseconds.
    pub fn wait_started(
        &self,
        deadline: Instant,
        mut give_up: impl FnMut() -> bool,
    ) -> io::Result<bool> {
        loop {
            if self.started.wait(Duration::from_millis(1))? {
                self.wait_for_rest(&mut give_up);
                return Ok(true);
            }
            if give_up() || Instant::now() >= deadline {
                return Ok(false);
            }
        }
    }

    /// Waits until no thread of the runtime is at work: its main thread waits for us, and its debugger thread is up.
    ///
    /// The debugger thread is started shortly before the post, and then writes its id into a block of memory that the
    /// library reads, changes and writes back as a whole. An id that is written in between is lost: the runtime
    /// believes that it has no debugger thread, and hangs at the first event. On a busy machine that was one launch in
    /// 300.
    fn wait_for_rest(&self, give_up: &mut impl FnMut() -> bool) {
        let deadline = Instant::now() + REST;
        // The runtime waits as well: a sleep is to be no longer than it says.
        // SAFETY: the call sets a number of this thread, which is there to wait and then ends.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
        // One look sees one thread after the other: one that sleeps may be woken by one that is looked at later and
        // sleeps by then. So nobody may be at work twice in a row.
        let mut quiet = 0;
        while quiet < 2 && !give_up() && Instant::now() < deadline {
            quiet = if procfs::is_at_work(self.pid) {
                0
            } else {
                quiet + 1
            };
            std::thread::sleep(LOOK);
        }
    }

    /// Lets the runtime go on; the semaphores are removed.
    pub fn finish(self) {
        // Drop does both.
    }
}

impl Drop for Handshake {
    fn drop(&mut self) {
        // A runtime that waits and is not let go would wait for ever.
        self.go_on.post();
    }
}

/// The names that exist at this moment.
static NAMES: Mutex<Vec<CString>> = Mutex::new(Vec::new());

/// Removes all semaphores of this process that still exist. For its end: other threads may hold handshakes that they
/// do not get to drop any more.
pub fn remove_all() {
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    for name in names.drain(..) {
        // SAFETY: `name` is a valid C string.
        unsafe { libc::sem_unlink(name.as_ptr()) };
    }
}

/// A named POSIX semaphore that we created.
#[derive(Debug)]
struct Semaphore {
    name: CString,
    raw: *mut libc::sem_t,
}

// SAFETY: POSIX semaphores may be used from any thread; the pointer is owned by this value alone.
unsafe impl Send for Semaphore {}

impl Semaphore {
    fn create(name: &str) -> io::Result<Self> {
        let name = CString::new(name)?;
        // Left over by a debugger that was killed: pid and start time say that it was for this very process.
        // SAFETY: `name` is a valid C string.
        unsafe { libc::sem_unlink(name.as_ptr()) };
        let (mode, value): (libc::c_uint, libc::c_uint) = (0o600, 0);
        // SAFETY: `name` is a valid C string; with O_CREAT a mode and a value follow.
        let raw =
            unsafe { libc::sem_open(name.as_ptr(), libc::O_CREAT | libc::O_EXCL, mode, value) };
        if raw == libc::SEM_FAILED {
            return Err(io::Error::last_os_error());
        }
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        names.push(name.clone());
        Ok(Self { name, raw })
    }

    fn post(&self) {
        // SAFETY: `raw` is an open semaphore until drop.
        unsafe { libc::sem_post(self.raw) };
    }

    /// Whether it was posted within `timeout`.
    fn wait(&self, timeout: Duration) -> io::Result<bool> {
        let mut now = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: `now` is a live local of the type clock_gettime writes.
        unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &mut now) };
        let nanos = now.tv_nsec + i64::from(timeout.subsec_nanos());
        let until = libc::timespec {
            tv_sec: now.tv_sec + timeout.as_secs() as i64 + nanos / 1_000_000_000,
            tv_nsec: nanos % 1_000_000_000,
        };
        // SAFETY: `raw` is an open semaphore and `until` a live local.
        if unsafe { libc::sem_timedwait(self.raw, &until) } == 0 {
            return Ok(true);
        }
        match io::Error::last_os_error() {
            error if error.raw_os_error() == Some(libc::ETIMEDOUT) => Ok(false),
            error if error.kind() == io::ErrorKind::Interrupted => Ok(false),
            error => Err(error),
        }
    }
}

impl Drop for Semaphore {
    fn drop(&mut self) {
        // SAFETY: `raw` is open and not used afterwards.
        unsafe { libc::sem_close(self.raw) };
        // SAFETY: `name` is a valid C string.
        unsafe { libc::sem_unlink(self.name.as_ptr()) };
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        names.retain(|name| *name != self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, because both halves use the semaphores of this very process.
    #[test]
    fn waiting_can_be_given_up_and_no_semaphore_is_left() {
        let pid = std::process::id();
        let left = || {
            let entries = std::fs::read_dir("/dev/shm").expect("/dev/shm is there");
            let mark = format!("{pid:08x}");
            entries
                .filter(|entry| {
                    entry
                        .as_ref()
                        .is_ok_and(|it| it.file_name().to_string_lossy().contains(&mark))
                })
                .count()
        };
        let handshake = Handshake::prepare(pid).expect("semaphores can be made");
        assert_eq!(left(), 2);
        let started = handshake.wait_started(Instant::now() + Duration::from_secs(60), || true);
        assert!(!started.expect("waiting works"));
        drop(handshake);
        assert_eq!(left(), 0);
        // The end of the process comes before the end of the thread that waits.
        let handshake = Handshake::prepare(pid).expect("semaphores can be made");
        remove_all();
        assert_eq!(left(), 0);
        drop(handshake);
    }
}
