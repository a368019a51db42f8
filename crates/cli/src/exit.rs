//! Exit codes, and the way an error is told to a person.

use std::io::{self, Write};
use std::process::ExitCode;

use host::api::{Details, Error, ErrorCode, Severity};

use crate::output::plain;

/// `doctor` found something that stops debugging.
pub(crate) const CANNOT_DEBUG: u8 = 1;
/// The command line makes no sense; clap's own code.
pub(crate) const USAGE: u8 = 2;
/// ndbg itself failed. 125 to 127 are as `env`, `timeout` and `docker run` use them.
pub(crate) const FAILED: u8 = 125;
/// The program was found, but cannot be built, run or debugged.
pub(crate) const CANNOT_RUN: u8 = 126;
/// There is no such program.
pub(crate) const NOT_FOUND: u8 = 127;
/// A program that a signal ended, plus the signal's number.
pub(crate) const SIGNALLED: u8 = 128;

/// The code for an error of `run`.
pub(crate) fn code_of(error: &Error, exists: bool) -> u8 {
    match error.code {
        ErrorCode::InvalidFile if !exists => NOT_FOUND,
        ErrorCode::InvalidFile
        | ErrorCode::InvalidParameter
        | ErrorCode::NotDotnet
        | ErrorCode::RuntimeNotFound
        | ErrorCode::RuntimeMismatch
        | ErrorCode::DebuggingDisabled
        | ErrorCode::LaunchFailed
        | ErrorCode::BuildFailed => CANNOT_RUN,
        _ => FAILED,
    }
}

/// Tells an error and what to do about it.
pub(crate) fn tell(error: &Error) {
    let mut text = match &error.details {
        // All of them, one per line, in the form that editors and terminals turn into links.
        Some(details) if let Details::Diagnostics(diagnostics) = &**details => {
            let mut text = String::new();
            for diagnostic in diagnostics {
                if diagnostic.severity == Severity::Error {
                    text += &format!("{}\n", plain(&diagnostic.to_string()));
                }
            }
            let summary = error.message.lines().next().unwrap_or_default();
            text + &format!("error: {}\n", plain(summary.trim_end_matches(':')))
        }
        _ => format!("error: {}\n", plain(&error.message)),
    };
    if let Some(hint) = &error.hint {
        text += &format!("Hint: {}\n", plain(&in_a_terminal(hint)));
    }
    // Nobody can be told that nobody can be told.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// A hint in the words of the command line, whose options are not the engine's fields and which follows no children.
fn in_a_terminal(hint: &str) -> String {
    hint.replace("; for a tool that starts one, follow its child", "")
        .replace(", or follow its child", "")
        .replace("in `env`, null removes one", "`--env NAME` removes one")
        .replace("leave `cwd` out", "leave `--cwd` out")
}

/// The end of a subcommand that could not write or read something.
pub(crate) fn failed(error: &io::Error) -> ExitCode {
    let _ = writeln!(io::stderr().lock(), "error: {error}");
    FAILED.into()
}
