//! Processes of this machine: which are .NET, may they be debugged, ending them, removing what they leave.

use cordebug::{procfs, runtime};

use crate::api::{Error, ErrorCode, ProcessId};

/// Whether the process exists and is not a zombie.
pub fn is_alive(pid: ProcessId) -> bool {
    procfs::is_alive(pid.0)
}

/// Ends a launched program whose host died, and removes what its runtime leaves behind.
pub fn end_orphan(pid: ProcessId) {
    for child in procfs::descendants(pid.0) {
        kill(child);
    }
    kill(pid.0);
    remove_leftovers(pid.0);
}

/// Sends SIGKILL; a process that is gone already is no error.
pub(crate) fn kill(pid: u32) {
    if let Some(pid) = i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw)
    {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

/// The name of a signal.
pub(crate) fn signal_name(number: i32) -> String {
    let name = match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        10 => "SIGUSR1",
        11 => "SIGSEGV",
        12 => "SIGUSR2",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        _ => return format!("signal {number}"),
    };
    name.to_owned()
}

/// Removes the pipes and sockets that the runtime of a killed process leaves in its temporary folder.
pub(crate) fn remove_leftovers(pid: u32) {
    // The process is gone, and its environment with it: the launched program had ours.
    let folder = std::env::temp_dir();
    let Ok(entries) = std::fs::read_dir(&folder) else {
        return;
    };
    let marks = [
        format!("clr-debug-pipe-{pid}-"),
        format!("dotnet-diagnostic-{pid}-"),
    ];
    for entry in entries.flatten() {
        let name = entry.file_name();
        if marks
            .iter()
            .any(|mark| name.to_string_lossy().starts_with(mark))
            && !procfs::is_alive(pid)
        {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Whether a debugger may be attached to the process; an error says why not and what to do.
pub fn check_attachable(pid: u32) -> Result<(), Error> {
    if procfs::stat(pid).is_err() {
        return Err(Error::new(
            ErrorCode::ProcessNotFound,
            format!("there is no process {pid}"),
        )
        .hint("`ndbg ps` lists the .NET processes"));
    }
    let pipes = runtime::debugger_pipes(pid)
        .map_err(|error| Error::new(ErrorCode::PermissionDenied, error.to_string()))?;
    runtime::Runtime::of(pid)
        .map_err(|error| Error::new(ErrorCode::NotDotnet, error.to_string()))?;
    if pipes.iter().any(|pipe| !pipe.exists()) {
        return Err(Error::new(
            ErrorCode::DebuggingDisabled,
            format!("process {pid} has no debugger pipe"),
        ));
    }
    Ok(())
}
