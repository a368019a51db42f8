//! Keeps threads suspendable that were made to give up an evaluation.
//!
//! What the runtime leaves behind then is told in [`cordebug::suspension`]. One thing more has to be seen to: the thread stands
//! in the handler of a trap, which puts the signal mask back that the thread came with when the program goes on. If the
//! suspension signal was blocked when it came, it is so again. So something harmless is run during which the signal is
//! unblocked; the thread comes to the trap at its end with a clean mask, and goes on with that.

use std::time::{Duration, Instant};

use cordebug::bindings::USER_WAIT_SLEEP_JOIN;
use cordebug::thread::Thread;
use cordebug::{procfs, suspension};
use metadata::signature::Primitive;

use crate::engine::Engine;
use crate::types::{Method, Type};

use super::evaluate::{Ended, refused};
use super::{CallError, CallSite};

/// How long the harmless thing takes, one attempt after the other, in milliseconds.
const ATTEMPTS: [i32; 3] = [20, 100, 500];

/// Between two looks at the mask of a thread that runs.
const LOOK_STEP: Duration = Duration::from_millis(1);

/// How long a thread is looked for at a place where it can be suspended.
const HOLD_LIMIT: Duration = Duration::from_millis(500);

/// How much longer than it should an attempt may take.
const GRACE: Duration = Duration::from_secs(2);

impl Engine<'_> {
    /// Makes sure that the thread can be suspended while it runs, or until it goes on; `asked` if it was asked to give up.
    pub(super) fn keep_suspendable(&self, site: &CallSite, asked: bool) -> Result<(), CallError> {
        let (Some(pid), Ok(thread)) = (self.pid, site.thread.id()) else {
            return Ok(());
        };
        let done = if asked {
            suspension::renew(pid, thread)
        } else {
            suspension::allow(pid, thread)
        };
        done.map_err(|error| CallError::Unstoppable {
            thread,
            why: error.to_string(),
        })
    }

    /// Makes sure that a thread that has given up can be suspended from now on.
    pub(super) fn make_suspendable(&mut self, site: &CallSite) -> Result<(), CallError> {
        for milliseconds in ATTEMPTS {
            let (Some(pid), Ok(thread)) = (self.pid, site.thread.id()) else {
                return Ok(());
            };
            // Inside the handler of the trap the mask has what the thread came with.
            if !procfs::blocks_suspension(pid, thread) {
                break;
            }
            self.sleep_unblocked(site, milliseconds)?;
        }
        self.keep_suspendable(site, true)
    }

    /// Holds a thread that runs where the runtime can suspend it, so that the program can be stopped at once.
    pub(super) fn hold(&self, site: &CallSite) -> Option<suspension::Held> {
        let (pid, thread) = (self.pid?, site.thread.id().ok()?);
        if procfs::is_thread_asleep(pid, thread) {
            return None;
        }
        suspension::hold_in_code(pid, thread, HOLD_LIMIT)
    }

    /// Lets the thread sleep for a moment, and unblocks the signal meanwhile.
    fn sleep_unblocked(&mut self, site: &CallSite, milliseconds: i32) -> Result<(), CallError> {
        let stopped = |error: crate::api::Error| CallError::Refused(error.message);
        let target = self.stopped_target().map_err(stopped)?;
        let types = target.types();
        let missing = || CallError::Refused("the runtime has no Thread.Sleep".into());
        let thread = types.core_named("System.Threading", "Thread");
        let methods = types.methods(&thread.ok_or_else(missing)?, Some("Sleep"))?;
        let takes_number = |it: &Method| matches!(it.parameters.as_slice(), [one] if one.ty == Type::Primitive(Primitive::I4));
        let sleep = methods.into_iter().find(takes_number).ok_or_else(missing)?;
        let module = types.module(sleep.declared_in.module)?;
        let function = module.module.function(sleep.token.0);
        let function = function.map_err(|error| refused(&error))?;
        let eval = site.thread.eval().map_err(|error| refused(&error))?;
        let argument = eval.zero(Primitive::I4 as u32);
        let argument = argument.map_err(|error| refused(&error))?;
        let set = argument.set_bytes(&milliseconds.to_le_bytes());
        set.map_err(|error| refused(&error))?;
        let started = eval.call(&function, &[], &[argument]);
        started.map_err(|error| refused(&error))?;
        let target = self.stopped_target().map_err(stopped)?;
        target.resume_all().map_err(stopped)?;
        let slept = Duration::from_millis(milliseconds.unsigned_abs().into());
        let deadline = Instant::now() + slept + GRACE;
        while Instant::now() < deadline {
            match self.pump(site, &eval, Instant::now() + LOOK_STEP) {
                Ended::Done { .. } => return Ok(()),
                Ended::Program => return Err(CallError::ProgramEnded),
                Ended::Late | Ended::Wanted(_) | Ended::NeedsOthers => {
                    self.keep_suspendable(site, false)?
                }
            }
        }
        self.leave_stuck(site, &eval);
        Err(CallError::Refused("the thread does not wake up".into()))
    }
}

/// Whether the abort of a thread that has been stopped finds somebody to catch it. Since .NET 10 the runtime throws it as an
/// exception of C++ (dotnet/runtime#118354), also where it has caught the thread by its return address, and there nothing
/// catches that. In the handler of the suspension signal, which has it blocked, something does, and so it does where the thread
/// comes back from waiting outside of the runtime.
pub(super) fn is_safe_to_abort(pid: Option<u32>, thread: &Thread) -> bool {
    let (Some(pid), Ok(id)) = (pid, thread.id()) else {
        return false;
    };
    let waits_outside = || {
        let call = procfs::system_call(pid, id);
        let wait = u64::from(crate::stragglers::WAIT_CALL);
        procfs::is_thread_asleep(pid, id) && call.is_some_and(|it| it.first() != Some(&wait))
    };
    procfs::blocks_suspension(pid, id)
        || (thread.user_state()).is_ok_and(|it| it & USER_WAIT_SLEEP_JOIN != 0)
        || waits_outside()
}
