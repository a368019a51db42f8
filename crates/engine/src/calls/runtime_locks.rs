//! Locks of the runtime itself, for which an evaluation waits while the thread that has them stands still.
//!
//! The program may stop while another thread loads a type or compiles a method, with a lock that the next such work needs. What
//! is evaluated would wait for it in vain and could not even be given up. So one that takes long is looked at: the lock says
//! which thread has it, and that one alone is let go.
//!
//! Invariant: only a thread that has the very lock which the evaluation waits for is let go, and none that the user froze or that
//! waits to be told of. What may stop the program holds it where it is, as [`others`](super::others) says.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use cordebug::callback::Callback;
use cordebug::eval::Eval;
use cordebug::procfs;

use super::evaluate::Ended;
use super::{CallError, CallSite};
use crate::engine::Engine;

/// How long an evaluation is left alone before it is looked at, the first time and at most.
const FIRST_LOOK: Duration = Duration::from_millis(20);
const LAST_LOOK: Duration = Duration::from_millis(500);

/// What `futex` is asked for to wait for a lock of one process, and for a condition.
const WAIT_PRIVATE: u64 = 0x80;
const WAIT_CONDITION: u64 = 0x189;
/// The word of a lock that others wait for, as glibc writes it; the thread that has it stands two words behind.
const CONTENDED: u64 = 2;
const OWNER: u64 = 8;
/// The bit by which musl marks the word of such a lock; the rest names the thread.
const WAITERS: u64 = 1 << 31;
const THREAD: u64 = (1 << 30) - 1;
/// Up to .NET 9 the runtime makes its locks of a mutex and a condition of glibc. Before them stand how often the lock is taken,
/// by whom, and that it can be used. Where the word waited for, one of two, lies behind the mutex:
const FROM_MUTEX: u64 = 0x28 + 0x28;
const TIMES: u64 = 0x1c;
const TAKEN_BY: u64 = 0x18;
const STATE: u64 = 8;
const USABLE: u32 = 3;

impl Engine<'_> {
    /// Handles what comes in until the evaluation ends or the time is over, and lets go who has a lock that it waits for. What
    /// that takes is not the evaluation's time.
    pub(super) fn pump_with_locks(
        &mut self,
        site: &CallSite,
        eval: &Eval,
        mut deadline: Instant,
    ) -> Result<Ended, CallError> {
        let mut pause = FIRST_LOOK;
        loop {
            let until = deadline.min(Instant::now() + pause);
            match self.pump(site, eval, until) {
                Ended::Late if Instant::now() < deadline => {}
                ended => return Ok(ended),
            }
            let begun = Instant::now();
            pause = match self.let_holder_go(site)? {
                true => FIRST_LOOK,
                false => LAST_LOOK.min(pause * 2),
            };
            deadline += begun.elapsed();
        }
    }

    /// Lets the thread go that has the lock which an evaluation waits for, if there is one.
    fn let_holder_go(&mut self, site: &CallSite) -> Result<bool, CallError> {
        let (Some(pid), Ok(own)) = (self.pid, site.thread.id()) else {
            return Ok(false);
        };
        let Some(id) = holder(pid, own) else {
            return Ok(false);
        };
        let target = self.target.as_ref().ok_or(CallError::ProgramEnded)?;
        let others = &self.evaluations.others;
        let is_it = |it: &cordebug::thread::Thread| it.id().ok() == Some(id);
        let stands = others.is_released(id)
            || others.frozen().iter().any(is_it)
            || (self.postponed.iter().filter_map(Callback::thread)).any(|it| is_it(&it));
        let Some(thread) = target.process.thread(id).ok().filter(|_| !stands) else {
            return Ok(false);
        };
        tracing::debug!(id, "a lock of the runtime that an evaluation waits for");
        self.keep_suspendable(site, false)?;
        let told = |error: crate::api::Error| CallError::Refused(error.message);
        let target = self.target.as_mut().ok_or(CallError::ProgramEnded)?;
        target.stop().map_err(told)?;
        if let Err(error) = thread.freeze(false) {
            tracing::warn!(%error, id, "letting a thread go for an evaluation");
        }
        self.evaluations.others.release(id);
        let target = self.target.as_mut().ok_or(CallError::ProgramEnded)?;
        target.resume_all().map_err(told)?;
        Ok(true)
    }
}

/// The thread of a process that has the lock another one waits for, as the C library keeps it.
fn holder(pid: u32, thread: u32) -> Option<u32> {
    let call = procfs::system_call(pid, thread)?;
    let [number, lock, operation, value, limit, ..] = *call.as_slice() else {
        return None;
    };
    if number != u64::from(crate::stragglers::WAIT_CALL) || limit != 0 {
        return None;
    }
    let owner = match (operation, value) {
        (WAIT_PRIVATE, CONTENDED) => word(pid, lock.checked_add(OWNER)?)?,
        (WAIT_PRIVATE, value) if value & WAITERS != 0 => u32::try_from(value & THREAD).ok()?,
        (WAIT_CONDITION, _) => {
            let mutex = (lock & !7).checked_sub(FROM_MUTEX)?;
            let before = |bytes: u64| word(pid, mutex.checked_sub(bytes)?);
            let is_lock = before(STATE)? == USABLE && before(TIMES)? > 0;
            is_lock.then(|| before(TAKEN_BY))??
        }
        _ => return None,
    };
    (owner != 0 && owner != thread).then_some(owner)
}

fn word(pid: u32, address: u64) -> Option<u32> {
    let mut bytes = [0; 4];
    let memory = File::open(format!("/proc/{pid}/mem")).ok()?;
    memory.read_exact_at(&mut bytes, address).ok()?;
    Some(u32::from_ne_bytes(bytes))
}
