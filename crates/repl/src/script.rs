//! Files of commands: one a line, `#` begins a comment. The first that fails ends the script.

use std::fs;
use std::path::Path;

use host::api::{Error, ErrorCode};

use crate::repl::Repl;

/// A file larger than this is no script.
const MAX_BYTES: u64 = 1 << 20;
/// Scripts inside scripts.
const DEPTH: usize = 16;

/// Obeys the commands of a file.
pub(crate) fn run(repl: &mut Repl, file: &Path) -> Result<(), Error> {
    let wrong = |why: String| {
        let message = format!("the script {} cannot be read: {why}", file.display());
        Error::new(ErrorCode::InvalidFile, message)
    };
    if repl.reading.len() >= DEPTH {
        return Err(wrong(format!("{DEPTH} scripts call each other")));
    }
    let size = fs::metadata(file).map_err(|error| wrong(error.to_string()))?;
    if size.is_dir() {
        return Err(wrong("it is a folder".into()));
    }
    if size.len() > MAX_BYTES {
        return Err(wrong("it is too large".into()));
    }
    let text = fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    repl.reading.push(file.to_owned());
    let outcome = lines(repl, file, &text);
    repl.reading.pop();
    outcome
}

fn lines(repl: &mut Repl, file: &Path, text: &str) -> Result<(), Error> {
    for (number, line) in (1..).zip(text.lines()) {
        repl.command(line).map_err(|mut error| {
            error.message = format!("{}:{number}: {}", file.display(), error.message);
            error
        })?;
        if repl.quit.is_some() {
            break;
        }
        if repl.interrupted {
            let message = format!("{}:{number}: interrupted", file.display());
            return Err(Error::new(ErrorCode::Closing, message));
        }
    }
    if repl.orders.is_reading() && repl.orders.give_up() {
        let message = format!("{}: `commands` without `end`", file.display());
        return Err(Error::new(ErrorCode::InvalidParameter, message));
    }
    Ok(())
}
