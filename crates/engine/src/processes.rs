//! Processes of this machine: which are .NET, may they be debugged, ending them, removing what they leave.
//!
//! Invariant: looking changes nothing in the processes looked at, except as `lost` says, and what is removed belonged to a process that is
//! gone for certain: its pid *and* its start time are not there any more.

mod attachable;
pub(crate) mod builds;
mod claim;
mod command_line;
mod leftovers;
mod listing;
mod lost;
mod ports;
mod watched;

use std::time::{Duration, Instant};

use cordebug::procfs;

use crate::api::{Error, ErrorCode, ProcessId};
pub use attachable::check_attachable;
pub(crate) use attachable::{await_attachable, check_parts};
pub(crate) use claim::{Claim, Leaving};
pub use command_line::quoted;
pub(crate) use leftovers::PROBE;
pub use leftovers::{Leftovers, sweep_semaphores, sweep_temporary};
pub use listing::{Attachable, ProcessSummary, find_by_name, list};
pub use lost::lost_debugger;
pub(crate) use lost::was_debugged;
pub use ports::HostTraces;
pub use watched::Watched;

/// Whether the process exists and is not a zombie.
pub fn is_alive(pid: ProcessId) -> bool {
    procfs::is_alive(pid.0)
}

/// Has the kernel kill the command's process when the thread that starts it ends.
pub fn end_with_this_thread(command: &mut std::process::Command) {
    cordebug::spawn::end_with_this_thread(command);
}

/// Names a process for ever: its id and when it was started.
pub fn identity(pid: ProcessId) -> Option<(ProcessId, u64)> {
    procfs::stat(pid.0).ok().map(|stat| (pid, stat.start_time))
}

/// Why a process cannot answer a debugger, if a signal has suspended it.
pub fn suspended(pid: ProcessId) -> Option<Error> {
    let pid = pid.0;
    procfs::stat(pid).ok().filter(|it| it.state == 'T')?;
    let message = format!("process {pid} is suspended by a signal and cannot answer");
    let error = Error::new(ErrorCode::Runtime, message);
    Some(error.hint(format!("let it run first: kill -CONT {pid}")))
}

/// How long a killed process may take to be gone.
const DEATH: Duration = Duration::from_secs(2);

/// Ends a launched program whose host died, and removes what its runtime leaves behind.
pub fn end_orphan(pid: ProcessId, leftovers: &Leftovers) {
    let mut all = procfs::descendants(pid.0);
    all.push(pid.0);
    kill_all(&all);
    // If it was gone already, its children have another parent; they are still in the group that it was started in, unless
    // that is ours, too.
    let group = leftovers.group();
    let is_ours = procfs::stat(std::process::id()).is_ok_and(|it| it.group == group);
    if let Some(leader) = raw(group).filter(|_| !is_ours) {
        let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        // Nobody knows the numbers of those children any more, but what they leave says that they are gone. Whether anybody
        // takes note of their ends does not matter.
        let deadline = Instant::now() + DEATH;
        while is_alive_in_group(group) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        sweep_temporary(leftovers.folder());
    }
    leftovers.remove();
}

/// Whether a process of a group has not ended yet.
fn is_alive_in_group(group: u32) -> bool {
    let mut all = procfs::all_pids().unwrap_or_default().into_iter();
    all.any(|pid| procfs::stat(pid).is_ok_and(|it| it.group == group && !it.has_ended()))
}

/// Ends a process that leads a group, with everything below it and in its group, and removes what their runtimes leave
/// behind.
pub fn end_tree(leader: ProcessId) {
    end_orphan(leader, &Leftovers::of(leader.0));
}

/// Makes processes whose parent ends children of this one: nothing that a host started is lost when the host is killed.
pub fn adopt_orphans() {
    cordebug::spawn::adopt_orphans();
}

/// Ends every process below this one.
pub fn end_everything_below() {
    let deadline = Instant::now() + DEATH;
    loop {
        let mut below = procfs::descendants(std::process::id());
        below.retain(|pid| procfs::is_alive(*pid));
        if below.is_empty() || Instant::now() > deadline {
            return;
        }
        // They may have started others meanwhile.
        kill_all(&below);
    }
}

/// Kills processes and removes what their runtimes leave behind; waits for their end, but not for long.
pub(crate) fn kill_all(pids: &[u32]) {
    let left: Vec<Leftovers> = pids.iter().map(|pid| Leftovers::of(*pid)).collect();
    for pid in pids {
        kill(*pid);
    }
    // The files are removed only when the process is gone for certain.
    let deadline = Instant::now() + DEATH;
    while pids.iter().any(|pid| procfs::is_alive(*pid)) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(1));
    }
    for leftovers in left {
        leftovers.remove();
    }
}

/// Sends SIGKILL; a process that is gone already is no error.
pub(crate) fn kill(pid: u32) {
    if let Some(pid) = raw(pid) {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

fn raw(pid: u32) -> Option<rustix::process::Pid> {
    i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw)
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
