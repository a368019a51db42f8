//! Lets threads begin that the program was stopped upon while they did.
//!
//! The runtime tells of a new thread when that reaches its first code, for which it sets a breakpoint of its own there.
//! If that code has to be made ready first, which happens to the first thread of a program and to its finalizer, the
//! thread holds the lock of the runtime's debugger meanwhile. Where the program stops at that very moment, the thread is
//! held with the lock: whatever is asked next that needs it, such as a step, is never answered, and the program can only
//! be killed (dotnet/runtime#65047, #126096).
//!
//! Such a thread runs on alone, before anything is asked, until it is told as begun. It has not run any of the user's
//! code then.
//!
//! Invariant: afterwards the program is as stopped as before; threads that the user froze are frozen again.

use std::collections::HashSet;
use std::fs::File;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use cordebug::callback::Callback;
use cordebug::procfs;
use cordebug::thread::Thread;

use crate::api::Event;
use crate::calls::CallError;
use crate::engine::{Engine, Input};
use crate::output::Notice;
use crate::stragglers::layout::KnownLayout;

/// How long a thread may take to begin; it takes a fraction of a millisecond.
const LIMIT: Duration = Duration::from_millis(100);

/// How long a thread may take to come to rest, and how often that is looked at.
const REST: Duration = Duration::from_millis(20);
const LOOK: Duration = Duration::from_micros(100);

/// The name, as far as the system keeps it, of the runtime's own thread that compiles and never comes to code.
const COMPILER: &str = ".NET Tiered Com";

/// Threads that were told of, and those that did not begin when they were let.
#[derive(Debug, Default, Clone)]
pub(crate) struct Begun(Arc<Mutex<HashSet<u32>>>);

impl Begun {
    pub(crate) fn contains(&self, id: u32) -> bool {
        let begun = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        begun.contains(&id)
    }

    fn note(&self, id: u32) {
        let mut begun = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        begun.insert(id);
    }
}

/// Which threads have begun, and how the others are found.
#[derive(Debug, Default)]
pub(crate) struct Beginners {
    pub(crate) begun: Begun,
    pub(crate) layout: KnownLayout,
    memory: Option<File>,
}

impl Beginners {
    /// A thread was told of.
    pub(crate) fn note(&mut self, id: u32) {
        self.begun.note(id);
    }

    /// The threads of the stopped program that the runtime holds, or that are on their way to where it does; the others run
    /// native code, or what runs them is too old to tell.
    pub(crate) fn held(&mut self, pid: u32) -> HashSet<u32> {
        let found = || {
            let memory = File::open(format!("/proc/{pid}/mem")).ok()?;
            let layout = self.layout.of(pid)?;
            let before = layout.threads(&memory).ok()?.into_iter();
            let moving: HashSet<_> = before.map(|it| it.id).filter(|id| is_moving(*id)).collect();
            // One that has come to rest meanwhile is held now.
            let now = layout.threads(&memory).ok()?.into_iter();
            let held = now.filter(|it| it.is_held() || moving.contains(&it.id));
            Some(held.map(|it| it.id).collect())
        };
        found().unwrap_or_default()
    }

    /// A thread that is on its way to its first code.
    fn find(&mut self, pid: u32) -> Option<u32> {
        let layout = self.layout.of(pid)?;
        if self.memory.is_none() {
            self.memory = File::open(format!("/proc/{pid}/mem")).ok();
        }
        let memory = self.memory.as_ref()?;
        let deadline = Instant::now() + REST;
        loop {
            let found = layout.threads(memory).ok()?;
            let found = found
                .iter()
                .filter(|it| it.enters && !self.begun.contains(it.id));
            let mut moving = false;
            for thread in found {
                if is_compiler(pid, thread.id) {
                    self.begun.note(thread.id);
                } else if thread.is_held() {
                    return Some(thread.id);
                } else {
                    // On its way to where it is held; one that waits for something else is not.
                    moving |= is_moving(thread.id);
                }
            }
            if !moving || Instant::now() > deadline {
                return None;
            }
            thread::sleep(LOOK);
        }
    }
}

impl Engine<'_> {
    /// Lets threads begin that are about to, so that the runtime takes requests; whether the program is still there.
    pub(crate) fn let_threads_begin(&mut self) -> bool {
        // It may not have come so far, or be on its way out.
        if self.starting.is_some() || self.evaluations.is_running() {
            return true;
        }
        while let (Some(target), Some(pid)) = (&mut self.target, self.pid) {
            let Some(id) = target.beginners.find(pid) else {
                return true;
            };
            let run = self.run_until_begun(id);
            if let Some(target) = &mut self.target {
                target.beginners.note(id);
            }
            match run {
                Ok(()) => tracing::debug!(id, "a thread has begun while the program was stopped"),
                Err(CallError::ProgramEnded) => return false,
                Err(error) => {
                    tracing::warn!(id, %error, "letting a thread begin");
                    return true;
                }
            }
        }
        false
    }

    /// Lets nothing run but a thread, until it is told of or does not come to that.
    fn run_until_begun(&mut self, id: u32) -> Result<(), CallError> {
        self.take_queued()?;
        let refused = |error: &dyn std::fmt::Display| CallError::Refused(error.to_string());
        let target = self.target.as_mut().ok_or(CallError::ProgramEnded)?;
        if target.beginners.begun.contains(id) {
            return Ok(());
        }
        let thread = target.process.thread(id).map_err(|it| refused(&it))?;
        let frozen = self.freeze_all_but(&thread)?;
        let target = self.target.as_mut().ok_or(CallError::ProgramEnded)?;
        target.resume_all().map_err(|it| refused(&it.message))?;
        let run = self.wait_until_begun(id);
        if !matches!(run, Err(CallError::ProgramEnded)) {
            self.thaw_all_but(&thread, &frozen);
        }
        run
    }

    fn wait_until_begun(&mut self, id: u32) -> Result<(), CallError> {
        let deadline = Instant::now() + LIMIT;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.inputs.recv_timeout(left) {
                Ok(Input::Callback(delivered)) => {
                    let Some(callback) = self.receive(delivered) else {
                        continue;
                    };
                    if let Callback::ExitProcess = callback {
                        self.runtime_ended();
                        return Err(CallError::ProgramEnded);
                    }
                    let target = self.target.as_mut().ok_or(CallError::ProgramEnded)?;
                    target.delivered();
                    let begun = is_beginning_of(&callback, id);
                    self.put_aside(callback);
                    if begun {
                        return Ok(());
                    }
                    let target = self.target.as_mut().ok_or(CallError::ProgramEnded)?;
                    if let Err(error) = target.answer() {
                        tracing::debug!(%error, "answering a callback while a thread begins");
                    }
                }
                Ok(Input::Console(Notice::New)) => {
                    let end = self.capture.end();
                    self.tell(Event::Output { end });
                }
                Ok(input @ Input::ProcessEnded(_)) => {
                    self.deferred.push_back(input);
                    return Err(CallError::ProgramEnded);
                }
                Ok(other) => self.deferred.push_back(other),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    let target = self.target.as_mut().ok_or(CallError::ProgramEnded)?;
                    let stopped = target.stop();
                    stopped.map_err(|error| CallError::Refused(error.message))?;
                    return Err(CallError::Refused("it does not come to its code".into()));
                }
            }
        }
    }
}

/// Whether a thread is the runtime's own that compiles, and never begins.
pub(crate) fn is_compiler(pid: u32, thread: u32) -> bool {
    let name = std::fs::read_to_string(format!("/proc/{pid}/task/{thread}/comm"));
    name.is_ok_and(|name| name.trim_end() == COMPILER)
}

fn is_moving(thread: u32) -> bool {
    procfs::stat(thread).is_ok_and(|stat| matches!(stat.state, 'R' | 'D'))
}

fn is_beginning_of(callback: &Callback, id: u32) -> bool {
    let Callback::CreateThread { thread } = callback else {
        return false;
    };
    Thread::new(thread.clone()).id().ok() == Some(id)
}
