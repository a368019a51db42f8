//! The terminal front end: a prompt with gdb's habits for a person, and the same commands in scripts.
//!
//! Everything that can happen arrives in one channel (`inbox`): a typed line, an event of the debugged program, a
//! signal. One thread drains it and owns all state (`Repl`); the keyboard has a thread of its own, so that the prompt
//! stays whole whatever the program writes. Texts are those of `report`, so a person reads what an agent reads.
//!
//! This crate knows no COM, and sees the engine through `host` only.
#![forbid(unsafe_code)]

mod colour;
mod commands;
mod complete;
mod failure;
mod history;
mod inbox;
mod keyboard;
mod orders;
mod place;
mod program;
mod repl;
mod screen;
mod script;
mod session;
mod stop;
mod words;

use std::path::PathBuf;

use host::api::{Launch, ProcessId};

pub use commands::reference;
use repl::Repl;

/// What is to be debugged.
#[derive(Debug, Clone)]
pub enum Target {
    /// A program or project is started.
    Launch {
        /// How; a project is built first.
        launch: Box<Launch>,
        /// Build configuration of a project.
        configuration: String,
        /// Framework of a project that targets several.
        framework: Option<String>,
        /// The terminal that the program uses instead of this one.
        tty: Option<PathBuf>,
    },
    /// A running program.
    Attach(ProcessId),
}

/// Commands that are given before the first prompt.
#[derive(Debug, Clone)]
pub enum Script {
    /// A file of them.
    File(PathBuf),
    /// One of them.
    Command(String),
}

/// How a session at the terminal begins.
#[derive(Debug, Clone)]
pub struct Setup {
    /// What is debugged.
    pub target: Target,
    /// Commands that run first, in this order.
    pub scripts: Vec<Script>,
    /// Ends after the scripts instead of asking a person; without scripts, standard input is one.
    pub batch: bool,
}

/// A command of a script failed.
pub const SCRIPT_FAILED: u8 = 123;
/// What was to be debugged could not be started or attached to; the others are as those of `ndbg run`.
pub const FAILED: u8 = 125;
/// The program was found, but cannot be built, run or debugged.
pub const CANNOT_RUN: u8 = 126;
/// There is no such program.
pub const NOT_FOUND: u8 = 127;
/// A signal ended it, plus its number.
pub const SIGNALLED: u8 = 128;

/// Debugs until the person or the script is done; the exit code.
pub fn run(setup: Setup) -> u8 {
    match Repl::new(setup) {
        Ok(repl) => repl.run(),
        Err(error) => {
            screen::complain(&format!("error: {error}\n"));
            FAILED
        }
    }
}
