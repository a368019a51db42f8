//! Helps a runtime that waits for a thread that is gone.
//!
//! To stop its threads the runtime counts those that must come to rest first, marks each of them, and looks every 20 ms
//! which have done so. A thread that ends in between is not looked at any more, but stays counted: the runtime then
//! waits for ever with all its threads held, no debugger is told anything, and nothing can be done to the program any
//! more. Programs that start and end many threads come to that within seconds of passing a breakpoint.
//!
//! The cure gives the count back: a thread that is held anyway gets the mark too, the runtime's next look finds it at rest
//! and takes it off the count. Where the threads and their states lie is told by the runtime itself, from .NET 9 on.
//!
//! Invariant: nothing is written unless, over several looks, the runtime's helper was seen to look for threads that are
//! not at rest while every thread that it could find is; and what was written and not used is taken back.

pub(crate) mod layout;

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use cordebug::pidfd::ProcessHandle;

use crate::engine::Engine;
use layout::Layout;

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
const WAIT_CALL: u32 = if cfg!(target_arch = "x86_64") {
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
        let watch = thread::Builder::new().name("stragglers".into());
        if let Err(error) = watch.spawn(move || watch_program(pid)) {
            tracing::warn!(%error, "a runtime that waits for a thread that is gone would not be noticed");
        }
    }
}

fn watch_program(pid: u32) {
    let Ok(process) = ProcessHandle::open(pid) else {
        return;
    };
    let mut helpers = Helpers::default();
    let mut layout = None;
    while !process.ends_within(INTERVAL) {
        if !helpers.look_for_threads(pid) {
            continue;
        }
        // Worked out only when it is needed: hardly ever.
        let Some(layout) = layout.get_or_insert_with(|| Layout::of(pid)) else {
            return;
        };
        let Ok(memory) = memory_of(pid) else {
            return;
        };
        let mut is_stuck =
            || helpers.look_for_threads(pid) && held_thread(&memory, layout).is_some();
        let stays = (0..LOOKS).all(|_| is_stuck() && !process.ends_within(PAUSE));
        if stays && let Some(thread) = held_thread(&memory, layout) {
            let helped = help(&memory, thread);
            tracing::warn!(pid, ?helped, "the runtime waited for a thread that is gone");
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

/// Whether a line of `/proc/PID/task/TID/syscall` tells of a wait for a lock that ends by itself.
fn waits_for_a_time(line: &str) -> bool {
    let mut fields = line.split_ascii_whitespace();
    let call = fields.next().and_then(|it| it.parse().ok());
    // The address, the operation, the value, and then the time.
    call == Some(WAIT_CALL) && fields.nth(3).is_some_and(|time| time != "0x0")
}

/// A thread of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Thread {
    /// Where its state lies.
    at: u64,
    state: u32,
    /// Whether it may run code of the program.
    cooperative: bool,
}

/// A thread that is held, if all are and none of them is waited for.
fn held_thread(memory: &File, layout: &Layout) -> Option<Thread> {
    let threads = layout.threads(memory).ok()?;
    let mut alive = threads
        .iter()
        .filter(|it| it.state & (DEAD | UNSTARTED) == 0);
    let at_rest = |it: &Thread| {
        !it.cooperative && it.state & (SUSPEND_PENDING | WAITED_FOR) == SUSPEND_PENDING
    };
    if !alive.clone().all(at_rest) {
        return None;
    }
    alive.find(|it| it.state & HELD != 0).copied()
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
