//! Helps a runtime that waits for a thread that does not come to rest: one that is gone, or one that waits itself.
//!
//! To stop its threads the runtime counts those that must come to rest first, marks each of them, and looks every 20 ms
//! which have done so. A thread that ends in between is not looked at any more, but stays counted: the runtime then
//! waits for ever with all its threads held, no debugger is told anything, and nothing can be done to the program any
//! more. Programs that start and end many threads come to that within seconds of passing a breakpoint.
//!
//! The other way to that: a thread that begins is held while it has the lock of the runtime's debugger
//! (`crate::beginners`), and one that meets a breakpoint waits for that lock, which does not count as rest. What is told
//! of the stop lets the first go on, so it has to be told.
//!
//! The cure gives the count back: a thread that is held anyway gets the mark too, the runtime's next look finds it at rest
//! and takes it off the count. Where the threads and their states lie is told by the runtime itself, from .NET 9 on.
//!
//! Invariant: nothing is written unless, over several looks, the runtime's helper was seen to look for threads that are
//! not at rest while every thread that it could find is, or waits for one that is held as it begins; and what was written
//! and not used is taken back.

pub(crate) mod layout;

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use cordebug::pidfd::ProcessHandle;

use crate::beginners::{Begun, is_compiler};
use crate::engine::Engine;
use layout::KnownLayout;

/// The time between two looks at a program that seems well.
const INTERVAL: Duration = Duration::from_millis(250);
/// How often in a row a program must look stuck, and the time between: longer than two looks of the runtime.
const LOOKS: u32 = 4;
const PAUSE: Duration = Duration::from_millis(50);
/// How long the runtime is given to see what was done for it, in pauses.
const PATIENCE: u32 = 20;
/// The name of the thread that stops the others.
const HELPER: &str = ".NET Debugger";

/// The number of the system call that waits for a lock.
pub(crate) const WAIT_CALL: u32 = if cfg!(target_arch = "x86_64") {
    202
} else {
    98
};

/// States of a thread, as the runtime has written them since its first version.
const SUSPEND_PENDING: u32 = 0x8;
const UNSTARTED: u32 = 0x400;
const DEAD: u32 = 0x800;
const HELD: u32 = 0x8_0000;
const WAITED_FOR: u32 = 0x10_0000;

impl Engine<'_> {
    /// Begins to look after the program, if its runtime tells where its threads are.
    pub(crate) fn watch_for_stragglers(&self, pid: u32) {
        let Some(target) = &self.target else { return };
        let begun = target.beginners.begun.clone();
        let layout = target.beginners.layout.clone();
        let watch = thread::Builder::new().name("stragglers".into());
        if let Err(error) = watch.spawn(move || watch_program(pid, &begun, &layout)) {
            tracing::warn!(%error, "a runtime that waits for a thread for ever would not be noticed");
        }
    }
}

fn watch_program(pid: u32, begun: &Begun, layout: &KnownLayout) {
    let Ok(process) = ProcessHandle::open(pid) else {
        return;
    };
    // The first stop needs it as well, and would have to wait for it.
    let Some(layout) = layout.of(pid) else {
        return;
    };
    let mut helpers = Helpers::default();
    while !process.ends_within(INTERVAL) {
        if !helpers.look_for_threads(pid) {
            continue;
        }
        let Ok(memory) = memory_of(pid) else {
            return;
        };
        let held = || {
            let threads = layout.threads(&memory).ok()?;
            let begins = |id| !begun.contains(id) && !is_compiler(pid, id);
            held_thread(&threads, begins, |id| waits_for_ever(pid, id))
        };
        let mut is_stuck = || helpers.look_for_threads(pid) && held().is_some();
        let stays = (0..LOOKS).all(|_| is_stuck() && !process.ends_within(PAUSE));
        if stays && let Some(thread) = held() {
            let helped = help(&memory, thread);
            tracing::warn!(pid, ?helped, "the runtime waited for a thread for ever");
        }
    }
}

fn memory_of(pid: u32) -> io::Result<File> {
    File::options()
        .read(true)
        .write(true)
        .open(format!("/proc/{pid}/mem"))
}

/// The threads of a process that stop the others, once they are there.
#[derive(Debug, Default)]
struct Helpers(Vec<PathBuf>);

impl Helpers {
    /// Whether one of them is between two looks for threads that are not at rest: only then it waits for a time.
    fn look_for_threads(&mut self, pid: u32) -> bool {
        if self.0.is_empty() {
            let is_helper = |thread: &PathBuf| {
                let name = fs::read_to_string(thread.join("comm"));
                name.is_ok_and(|name| name.trim_end() == HELPER)
            };
            let threads = fs::read_dir(format!("/proc/{pid}/task"));
            let threads = threads.into_iter().flatten().flatten();
            self.0 = threads.map(|it| it.path()).filter(is_helper).collect();
        }
        self.0.iter().any(|thread| {
            let call = fs::read_to_string(thread.join("syscall"));
            call.is_ok_and(|line| waits_for_a_time(&line))
        })
    }
}

/// Whether a thread of a process waits for a lock until somebody gives it.
fn waits_for_ever(pid: u32, thread: u32) -> bool {
    let call = fs::read_to_string(format!("/proc/{pid}/task/{thread}/syscall"));
    call.is_ok_and(|line| time_of_wait(&line) == Some("0x0"))
}

/// Whether a line of `/proc/PID/task/TID/syscall` tells of a wait for a lock that ends by itself.
fn waits_for_a_time(line: &str) -> bool {
    time_of_wait(line).is_some_and(|time| time != "0x0")
}

/// For how long a line of `/proc/PID/task/TID/syscall` says that a lock is waited for.
fn time_of_wait(line: &str) -> Option<&str> {
    let mut fields = line.split_ascii_whitespace();
    let call = fields.next().and_then(|it| it.parse().ok());
    // The address, the operation, the value, and then the time.
    let time = fields.nth(3)?;
    (call == Some(WAIT_CALL)).then_some(time)
}

/// A thread of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Thread {
    /// Its number in the system.
    pub(crate) id: u32,
    /// Where its state lies.
    at: u64,
    state: u32,
    /// Whether it may run code of the program.
    cooperative: bool,
    /// Whether it is on its way into code of the program, or in it: the runtime has put a frame on top of its first.
    pub(crate) enters: bool,
}

impl Thread {
    /// Whether the runtime holds it.
    pub(crate) fn is_held(&self) -> bool {
        self.state & HELD != 0
    }

    fn is_alive(&self) -> bool {
        self.state & (DEAD | UNSTARTED) == 0
    }

    fn is_at_rest(&self) -> bool {
        !self.cooperative && self.state & (SUSPEND_PENDING | WAITED_FOR) == SUSPEND_PENDING
    }

    fn is_waited_for(&self) -> bool {
        self.cooperative && self.state & WAITED_FOR != 0
    }
}

/// A thread that is held, if all are at rest and none of them is waited for; or if those that are waited for wait
/// themselves, and another is held as it begins, which may have what they wait for.
fn held_thread(
    threads: &[Thread],
    begins: impl Fn(u32) -> bool,
    waits: impl Fn(u32) -> bool,
) -> Option<Thread> {
    let alive = || threads.iter().filter(|it| it.is_alive());
    if alive().all(Thread::is_at_rest) {
        return alive().find(|it| it.is_held()).copied();
    }
    let stuck = alive().all(|it| it.is_at_rest() || it.is_waited_for() && waits(it.id));
    let begins = |it: &&Thread| it.is_at_rest() && it.is_held() && it.enters && begins(it.id);
    alive().find(begins).filter(|_| stuck).copied()
}

/// Marks a held thread as waited for; whether the runtime then found it at rest.
fn help(memory: &File, thread: Thread) -> io::Result<bool> {
    let write = |state: u32| memory.write_all_at(&state.to_ne_bytes(), thread.at);
    // The thread itself is held, and the runtime changes only states of those that it waits for.
    write(thread.state | WAITED_FOR)?;
    for _ in 0..PATIENCE {
        thread::sleep(PAUSE);
        if layout::word(memory, thread.at)? & WAITED_FOR == 0 {
            return Ok(true);
        }
    }
    write(layout::word(memory, thread.at)? & !WAITED_FOR)?;
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(id: u32, state: u32, cooperative: bool) -> Thread {
        Thread {
            id,
            at: 0,
            state,
            cooperative,
            enters: true,
        }
    }

    #[test]
    fn nothing_is_done_unless_all_rest_or_wait_for_one_that_begins() {
        let held = thread(1, SUSPEND_PENDING | HELD, false);
        let gone = thread(2, DEAD | WAITED_FOR, true);
        let native = thread(3, SUSPEND_PENDING, false);
        let runs = thread(4, SUSPEND_PENDING | WAITED_FOR, true);
        let find = |threads: &[Thread], begins: bool, waits: bool| {
            held_thread(threads, |_| begins, |_| waits).map(|it| it.id)
        };
        assert_eq!(find(&[gone, native, held], false, false), Some(1));
        assert_eq!(find(&[gone, native], true, true), None);
        assert_eq!(find(&[native, held, runs], false, true), None);
        assert_eq!(find(&[native, held, runs], true, false), None);
        assert_eq!(find(&[native, held, runs], true, true), Some(1));
    }

    #[test]
    fn only_waits_with_an_end_are_seen_as_looks() {
        let line = |time: &str| {
            format!(
                "{WAIT_CALL} 0x36539f54 0x89 0x0 {time} 0x0 0xffffffff 0x7fb0577fd970 0x7fb0dcba3f16"
            )
        };
        assert!(waits_for_a_time(&line("0x7fb0577fda80")));
        assert!(!waits_for_a_time(&line("0x0")));
        for other in [
            "running",
            "",
            "7 0x1 0x1 0x1 0x1 0x0",
            "202",
            "202 0x1 0x1 0x1",
        ] {
            assert!(!waits_for_a_time(other), "{other}");
        }
    }
}
