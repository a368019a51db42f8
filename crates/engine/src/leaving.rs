//! Leaves a program so that it runs on as if nobody had been there.
//!
//! The runtime lets its debugger go at once, whatever its threads are at, and two things go wrong then:
//!
//! - A thread that goes on from a breakpoint executes the instruction under it elsewhere, and is brought back by a trap
//!   behind it. Once the debugger is gone nobody answers that trap: the thread runs into what follows there and the
//!   program crashes.
//! - A thread that is about to tell something, such as an exception, has found that there is a debugger, waits until it
//!   is its turn and stops all others. Nobody lets them go on then.
//!
//! So the program first runs without breakpoints until each thread has got past the one that it was at. Then it runs with
//! those threads frozen that have no exception in flight. The others tell what they have to tell of theirs, the last of
//! which is who catches it; there they are frozen too, before they can throw again. A frozen thread does not tell: those
//! with an exception must not be.
//!
//! Invariant: all waits are bounded. A program whose own native code keeps computing never rests; it is left all the same.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use cordebug::bindings::{DEBUG_EXCEPTION_CATCH_HANDLER_FOUND, DEBUG_EXCEPTION_UNHANDLED};
use cordebug::callback::Callback;
use cordebug::procfs::{self, ThreadWork};
use cordebug::thread::Thread;

use crate::api::Error;
use crate::breakpoints::turns::Turns;
use crate::calls::CallError;
use crate::engine::{Engine, Input};
use crate::target::Target;

/// For how long after a hit a thread may still be on its way past it.
const RECENT: Duration = Duration::from_secs(5);

/// How long the program runs at least and at most to get past breakpoints.
const RUN: Duration = Duration::from_millis(5);
const LONGEST_RUN: Duration = Duration::from_secs(3);

/// What a thread that has worked for so long has certainly left behind.
const ENOUGH_NS: u64 = 300_000;

/// How long frozen threads get until they rest, how often they are looked at, and how often they must be found so.
const REST: Duration = Duration::from_millis(100);
const LOOK: Duration = Duration::from_micros(200);
const LOOKS: u32 = 5;

/// How long they get to tell everything before the program is left all the same.
const LONGEST_REST: Duration = Duration::from_secs(4);

impl Engine<'_> {
    pub(crate) fn leave_the_program(&mut self) -> Result<(), Error> {
        self.refuse_suspended()?;
        let stopped = self.stop.as_ref().and_then(|stop| Some(stop.thread?.0));
        if !self.target()?.is_stopped() {
            self.stop_target()?;
        }
        self.target()?.entry.forget();
        self.breakpoints.remove_all_from_code();
        self.exceptions.fail_fast.forget();
        self.end_steps();
        let target = self.target()?;
        // The runtime keeps these alive for us, which nobody could undo later.
        target.kept.clear();
        target.activations = crate::values::Activations::default();
        target.results.get_mut().clear();
        target.turns = Turns::default();
        freeze(target, |_| false);
        // The thread that the program is stopped for rests where it tells so.
        let mut hits = target.hits.iter();
        let hit = hits.any(|(id, at)| Some(*id) != stopped && at.elapsed() < RECENT);
        let mut caught = HashSet::new();
        if hit && let Err(error) = self.run_past_breakpoints(&mut caught) {
            gone(&error)?;
        }
        if let Err(error) = self.come_to_rest(&mut caught) {
            gone(&error)?;
        }
        // Also where that went wrong half-way: nobody could thaw them later, nor is one that runs let go.
        if !self.target()?.is_stopped() {
            self.stop_target()?;
        }
        let target = self.target()?;
        freeze(target, |_| false);
        target
            .process
            .detach()
            .map_err(|error| crate::target::runtime_error(&error))?;
        self.abandon_target();
        Ok(())
    }

    /// Lets the program run until each thread has got past the breakpoint that it was at. Whatever is told holds them all
    /// up, so threads that have told of an exception are frozen; and it counts only if nothing was told meanwhile.
    fn run_past_breakpoints(&mut self, caught: &mut HashSet<u32>) -> Result<(), CallError> {
        self.drop_queued(caught)?;
        let deadline = Instant::now() + LONGEST_RUN;
        loop {
            let target = self.target.as_mut().ok_or(CallError::ProgramEnded)?;
            target.resume_all().map_err(refused)?;
            self.run_undisturbed(deadline, caught)?;
            let target = self.target.as_mut().ok_or(CallError::ProgramEnded)?;
            target.stop().map_err(refused)?;
            if !self.drop_queued(caught)? || Instant::now() >= deadline {
                return Ok(());
            }
        }
    }

    /// Waits until all threads have worked enough or sleep, and nothing has been told for a while.
    fn run_undisturbed(
        &mut self,
        deadline: Instant,
        caught: &mut HashSet<u32>,
    ) -> Result<(), CallError> {
        let pid = self.pid.unwrap_or_default();
        let (mut before, mut begun) = (work(pid), Instant::now());
        while Instant::now() < deadline {
            if self.answer_meanwhile(LOOK, caught)? {
                (before, begun) = (work(pid), Instant::now());
                continue;
            }
            let is_past = |it: &ThreadWork| {
                let before = before.get(&it.id);
                before.is_none_or(|before| it.worked_ns.saturating_sub(*before) >= ENOUGH_NS)
            };
            let threads = procfs::threads(pid);
            if begun.elapsed() >= RUN && threads.iter().all(|it| it.is_asleep() || is_past(it)) {
                break;
            }
        }
        Ok(())
    }

    /// Answers what the runtime tells, which does not stop a program that is being left; whether it told something.
    fn answer_meanwhile(
        &mut self,
        time: Duration,
        caught: &mut HashSet<u32>,
    ) -> Result<bool, CallError> {
        match self.inputs.recv_timeout(time) {
            Ok(Input::Callback(delivered)) => {
                let Some(callback) = self.receive(delivered) else {
                    return Ok(true);
                };
                if let Callback::ExitProcess = callback {
                    self.runtime_ended();
                    return Err(CallError::ProgramEnded);
                }
                let target = self.target.as_mut().ok_or(CallError::ProgramEnded)?;
                target.delivered();
                if let Some(id) = catches(&callback) {
                    caught.insert(id);
                    let frozen = target.process.thread(id).and_then(|it| it.freeze(true));
                    if let Err(error) = frozen {
                        tracing::debug!(%error, "freezing a thread of a program that is left");
                    }
                }
                if let Err(error) = target.answer() {
                    tracing::debug!(%error, "answering a callback of a program that is being left");
                }
                return Ok(true);
            }
            Ok(input @ Input::ProcessEnded(_)) => {
                self.deferred.push_back(input);
                return Err(CallError::ProgramEnded);
            }
            Ok(other) => self.deferred.push_back(other),
            Err(_) => {}
        }
        Ok(false)
    }

    /// Lets threads tell of the exceptions that they have thrown, and of nothing else; the program is stopped
    /// afterwards, with threads frozen.
    fn come_to_rest(&mut self, caught: &mut HashSet<u32>) -> Result<(), CallError> {
        self.drop_queued(caught)?;
        let deadline = Instant::now() + LONGEST_REST;
        while Instant::now() < deadline {
            let target = self.target.as_mut().ok_or(CallError::ProgramEnded)?;
            let free = throwing(target, caught);
            freeze(target, |id| !free.contains(&id));
            target.resume_all().map_err(refused)?;
            let told = self.answer_until_rest(caught);
            let target = self.target.as_mut().ok_or(CallError::ProgramEnded)?;
            target.stop().map_err(refused)?;
            // As long as one had something to tell, another may wait for its turn; and one that was frozen on its way to
            // a throw has something to tell now.
            if !told? && !self.drop_queued(caught)? {
                let target = self.target.as_ref().ok_or(CallError::ProgramEnded)?;
                if throwing(target, caught).is_subset(&free) {
                    break;
                }
            }
        }
        self.drop_queued(caught)?;
        Ok(())
    }

    /// Answers what is told until all threads rest; whether something was told. Threads whose exception is caught are
    /// frozen and noted.
    fn answer_until_rest(&mut self, caught: &mut HashSet<u32>) -> Result<bool, CallError> {
        let pid = self.pid.unwrap_or_default();
        let deadline = Instant::now() + REST;
        let (mut found, mut any) = (0, false);
        while found < LOOKS && Instant::now() < deadline {
            let told = self.answer_meanwhile(LOOK, caught)?;
            any |= told;
            let rests = !told && procfs::threads(pid).iter().all(ThreadWork::is_asleep);
            found = if rests { found + 1 } else { 0 };
        }
        Ok(any)
    }

    /// Takes what the stopped program has told and forgets it; whether there was something.
    fn drop_queued(&mut self, caught: &mut HashSet<u32>) -> Result<bool, CallError> {
        let target = self.target.as_ref().ok_or(CallError::ProgramEnded)?;
        let any = !target.is_quiet();
        self.take_queued()?;
        caught.extend(self.postponed.iter().filter_map(catches));
        self.postponed.clear();
        Ok(any)
    }
}

/// The thread whose exception is told to be caught, or not to be: it has nothing more to tell of it.
fn catches(callback: &Callback) -> Option<u32> {
    let Callback::Exception2 { thread, kind, .. } = callback else {
        return None;
    };
    let last = [
        DEBUG_EXCEPTION_CATCH_HANDLER_FOUND,
        DEBUG_EXCEPTION_UNHANDLED,
    ];
    let thread = Thread::new(thread.clone());
    last.contains(kind).then(|| thread.id().ok())?
}

/// How long processors have worked for each thread.
fn work(pid: u32) -> HashMap<u32, u64> {
    let threads = procfs::threads(pid).into_iter();
    threads.map(|it| (it.id, it.worked_ns)).collect()
}

fn refused(error: Error) -> CallError {
    CallError::Refused(error.message)
}

/// Only the end of the program keeps it from being left.
fn gone(error: &CallError) -> Result<(), Error> {
    match error {
        CallError::ProgramEnded => Err(Error::new(
            crate::api::ErrorCode::Exited,
            "the program has ended meanwhile",
        )),
        error => {
            tracing::warn!(%error, "leaving a program");
            Ok(())
        }
    }
}

/// Freezes those threads that shall be, and thaws the others. Those that were frozen for the user are thawed in the end:
/// nobody could do that later, not even another debugger, which is not told of it.
fn freeze(target: &Target, shall_be: impl Fn(u32) -> bool) {
    for thread in target.process.threads().unwrap_or_default() {
        let Ok(id) = thread.id() else { continue };
        if let Err(error) = thread.freeze(shall_be(id)) {
            // One that is ending cannot be frozen, and need not be.
            tracing::debug!(%error, "freezing or thawing a thread of a program that is left");
        }
    }
}

/// The threads with an exception in flight of which they may have something to tell.
fn throwing(target: &Target, caught: &HashSet<u32>) -> HashSet<u32> {
    let threads = target.process.threads().unwrap_or_default().into_iter();
    let throwing = threads.filter(|it| it.current_exception().is_ok_and(|it| it.is_some()));
    let ids = throwing.filter_map(|it| it.id().ok());
    ids.filter(|id| !caught.contains(id)).collect()
}
