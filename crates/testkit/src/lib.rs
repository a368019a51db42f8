//! Dev only: fixtures, launching, scripted clients, leak checks.
//!
//! A live test makes a [`Sandbox`](sandbox::Sandbox) first and starts everything through it. Whatever the test did, the
//! sandbox asserts at its end that no process, semaphore, pipe or socket is left.
#![forbid(unsafe_code)]

mod autopsy;
pub mod bare;
pub mod debuggee;
pub mod fixtures;
pub mod frontend;
pub mod procfs;
pub mod ran;
pub mod sandbox;
pub mod terminal;

use std::time::{Duration, Instant};

/// How long a test waits for anything: far more than it takes on a loaded machine, so that reaching it is a bug.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The moment at which waiting is given up.
pub fn deadline() -> Instant {
    Instant::now() + PATIENCE
}

/// Looks at something every few milliseconds until it holds; the last look at it if it never does.
///
/// For what nobody tells of: processes and files that the kernel removes in its own time. Whatever the debugger tells
/// is waited for, not looked at.
pub fn eventually<T>(mut look: impl FnMut() -> Result<T, String>) -> Result<T, String> {
    let deadline = deadline();
    loop {
        match look() {
            Err(_) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(5)),
            last => return last,
        }
    }
}
