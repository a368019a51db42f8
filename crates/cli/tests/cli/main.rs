//! The `ndbg` command where no runtime is needed: help, usage errors, exit codes, pipes, refusals.

mod help;
mod machine;
mod pipes;
mod refusals;
mod terminals;

use std::process::{Command, Output, Stdio};

/// The command under test, without standard input.
fn ndbg(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ndbg"));
    command
        .args(arguments)
        .stdin(Stdio::null())
        .env_remove("NDBG_LOG");
    command
}

/// Runs it to its end.
#[track_caller]
fn run(arguments: &[&str]) -> Ran {
    Ran::of(ndbg(arguments).output().expect("ndbg starts"))
}

/// How a command ended.
#[derive(Debug)]
struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Ran {
    fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}
