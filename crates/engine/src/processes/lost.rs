//! Programs whose debugger was killed: their runtimes wait for that one for ever, and freeze the program at any other.
//!
//! From outside such a runtime looks like one that a debugger has left in order, so it is asked. Asking costs it two
//! open files, because a runtime makes its pipes anew for every visitor and does not close the old ones. Therefore only
//! a runtime that had a debugger is asked, and again only if somebody else has been there since; for lists no more once
//! it has many, so that a list that is made every second never takes the last of them.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Instant;

use cordebug::procfs;
use cordebug::runtime;
use cordebug::transport::{self, Readiness};

use super::attachable::{BETWEEN_DEBUGGERS, held};
use super::claim::Asking;
use crate::api::{Error, ErrorCode};

/// How many old pipes a runtime may have and still be asked for a list; a process may often have no more than 1,024 files.
const MANY: usize = 64;

/// Why a process whose debugger was killed cannot be attached to.
pub fn lost_debugger(pid: u32) -> Error {
    let message = format!(
        "process {pid} cannot be attached to again: its debugger was killed, and its runtime waits for that one only"
    );
    Error::new(ErrorCode::AlreadyDebugged, message).hint("restart the program, then attach")
}

/// Whether the process had a debugger before. Its runtime keeps the old pipes, which are deleted, after every end of a
/// debugger; a debugger that was killed looks like one that let go.
pub(crate) fn was_debugged(pid: u32) -> bool {
    old_pipes(pid) > 0
}

fn old_pipes(pid: u32) -> usize {
    let pipes = runtime::debugger_pipes(pid).into_iter().flatten();
    let old: Vec<PathBuf> = pipes
        .map(|pipe| format!("{} (deleted)", pipe.display()).into())
        .collect();
    held(pid, &old).count()
}

/// Whether the runtime waits for a debugger that was killed; `false` also if it does not answer.
pub(super) fn is_bound_to_lost_debugger(pid: u32) -> bool {
    let Ok(pipes) = runtime::debugger_pipes(pid) else {
        return false;
    };
    let deadline = Instant::now() + BETWEEN_DEBUGGERS;
    match transport::ask(&pipes, deadline, || procfs::is_alive(pid)) {
        Ok(readiness) => readiness == Readiness::BoundToLostDebugger,
        Err(error) => {
            tracing::debug!(%error, "asking the runtime whether it is free");
            false
        }
    }
}

/// The pipes of a runtime at the moment when it was asked, by their first file, and what it answered.
type Answers = HashMap<(u32, u64), ((u64, i64, i64), bool)>;

/// For lists: an error if the process, which looks free, waits for a debugger that was killed.
pub(super) fn check_not_lost(pid: u32, start_time: u64) -> Result<(), Error> {
    static ANSWERS: LazyLock<Mutex<Answers>> = LazyLock::new(Mutex::default);

    if !(1..MANY).contains(&old_pipes(pid)) {
        return Ok(());
    }
    let pipe = || {
        let [pipe, _] = runtime::debugger_pipes(pid).ok()?;
        let file = fs::metadata(pipe).ok()?;
        Some((file.ino(), file.ctime(), file.ctime_nsec()))
    };
    let mut answers = ANSWERS.lock().unwrap_or_else(PoisonError::into_inner);
    answers.retain(|(pid, start), _| procfs::stat(*pid).is_ok_and(|it| it.start_time == *start));
    let before = answers.get(&(pid, start_time)).copied();
    let lost = match before {
        Some((then, lost)) if pipe() == Some(then) => lost,
        _ => {
            // Held while it is asked: a debugger that comes at this moment waits for us.
            let _claim = Asking::of(pid)?;
            let lost = is_bound_to_lost_debugger(pid);
            if let Some(now) = pipe() {
                answers.insert((pid, start_time), (now, lost));
            }
            lost
        }
    };
    if lost {
        return Err(lost_debugger(pid));
    }
    Ok(())
}
