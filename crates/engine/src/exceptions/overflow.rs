//! Stack overflows that the runtime does not survive telling.
//!
//! A runtime before 10 that has a debugger handles a stack overflow on a stack of its own, and overflows that too: the thread then
//! sleeps in its signal handler for ever, the program cannot be stopped, and no debugger is told. Nobody else notices, so a thread
//! of ours looks now and then; what it finds is ended the way the runtime would have ended it.

use std::sync::mpsc::Sender;
use std::time::Duration;

use cordebug::pidfd::ProcessHandle;
use cordebug::procfs;

use crate::api::Origin;
use crate::engine::{Engine, Input};

/// The time between two looks.
const INTERVAL: Duration = Duration::from_secs(1);
/// The time between two looks at a program that seems to hang, and between two signals that end it.
const SOON: Duration = Duration::from_millis(150);
/// How often in a row it has to be seen: once may be a moment in the life of a healthy program.
const SEEN: u32 = 4;
/// How often the program is told to end: the first signal takes away the runtime's handler for it, which hangs too.
const ABORTS: u32 = 3;
/// The first version whose runtime tells of a stack overflow.
const TELLS: u32 = 10;

impl Engine<'_> {
    /// Begins to look after the program, if its runtime needs that.
    pub(crate) fn watch_for_overflow(&self, pid: u32) {
        let version = self.runtime.as_ref().and_then(|it| it.0.split('.').next());
        let major = version.and_then(|it| it.parse::<u32>().ok());
        if major.is_none_or(|major| major >= TELLS) {
            return;
        }
        let ours = self.origin == Some(Origin::Launched);
        let inbox = self.inbox.clone();
        let watch = std::thread::Builder::new().name("overflow".into());
        if let Err(error) = watch.spawn(move || watch_program(pid, ours, &inbox)) {
            tracing::warn!(%error, "a stack overflow would not be noticed");
        }
    }

    /// The program's stack overflowed, and its runtime hangs.
    pub(crate) fn stack_overflowed(&mut self) {
        let end = match self.origin {
            Some(Origin::Launched) => {
                "so it was ended with SIGABRT, as it would have been without a debugger"
            }
            _ => "it can only be ended from outside now",
        };
        self.notes.push(format!(
            "the program's stack overflowed: its runtime hangs when that happens under a debugger; {end}"
        ));
    }
}

fn watch_program(pid: u32, ours: bool, inbox: &Sender<Input>) {
    let Ok(process) = ProcessHandle::open(pid) else {
        return;
    };
    let mut seen = 0;
    while !process.ends_within(if seen == 0 { INTERVAL } else { SOON }) {
        seen = match procfs::sleeps_in_fault_handler(pid) {
            true => seen + 1,
            false => 0,
        };
        if seen < SEEN {
            continue;
        }
        // The engine may be waiting for the program to stop, which it never will; whether it is there does not matter.
        let _ = inbox.send(Input::StackOverflow);
        for _ in 0..if ours { ABORTS } else { 0 } {
            process.abort();
            if process.ends_within(SOON) {
                break;
            }
        }
        return;
    }
}
