//! What the kernel tells of processes: which belong to a test, how much they hold, whether they are frozen.
//!
//! A process belongs to a test if its environment holds the test's mark: it is inherited by everything the test
//! starts, however far away, and survives the death of any parent.

use std::fs;
use std::path::{Path, PathBuf};

/// A process of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// Its parent's id.
    pub parent: u32,
    /// `R`, `S`, `D`, `T`, `Z`, ….
    pub state: char,
    /// Its command line.
    pub command: String,
}

/// All processes whose environment holds `mark` (`NAME=value`).
pub fn marked(mark: &str) -> Vec<Process> {
    all()
        .filter(|process| has_mark(process.pid, mark))
        .collect()
}

/// All processes that `pid` started and that are still there, zombies included.
pub fn children(pid: u32) -> Vec<Process> {
    all().filter(|process| process.parent == pid).collect()
}

fn all() -> impl Iterator<Item = Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    entries.filter_map(|entry| process(entry.ok()?.file_name().to_str()?.parse().ok()?))
}

fn has_mark(pid: u32, mark: &str) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment
        .split(|byte| *byte == 0)
        .any(|entry| entry == mark.as_bytes())
}

/// The process with that id, if it exists.
pub fn process(pid: u32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let command = String::from_utf8_lossy(&command).replace('\0', " ");
    Some(Process {
        pid,
        parent,
        state,
        command,
    })
}

/// Whether the process exists and is not a zombie.
pub fn is_alive(pid: u32) -> bool {
    process(pid).is_some_and(|process| !matches!(process.state, 'Z' | 'X'))
}

/// How many descriptors the process has open.
pub fn open_files(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count)
}

/// How many threads the process has.
pub fn threads(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count)
}

/// Memory of the process in KiB: `VmRSS` is what is resident now, `VmHWM` the most there ever was.
#[track_caller]
pub fn memory_kib(pid: u32, field: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let value = status.lines().find_map(|line| {
        let rest = line.strip_prefix(field)?.strip_prefix(':')?;
        rest.split_ascii_whitespace().next()?.parse().ok()
    });
    value.unwrap_or_else(|| panic!("process {pid} has no {field}"))
}

/// Sends a signal; a process that is gone already is no error.
pub fn signal(pid: u32, signal: rustix::process::Signal) {
    let target = i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    if let Some(target) = target {
        let _ = rustix::process::kill_process(target, signal);
    }
}

/// A process for ever: its number may be given to another one, but not with its start time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity {
    pid: u32,
    start_time: u64,
}

impl Identity {
    /// Of a process that exists.
    pub fn of(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
        // Field 22 of the line; the first one here is field 3.
        let start_time = fields.nth(19)?.parse().ok()?;
        Some(Self { pid, start_time })
    }

    /// What its runtime, and a debugger that starts it, call their files.
    pub fn file_names(self) -> [String; 5] {
        let Self { pid, start_time } = self;
        [
            format!("sem.clrst{pid:08x}{start_time:016x}"),
            format!("sem.clrco{pid:08x}{start_time:016x}"),
            format!("clr-debug-pipe-{pid}-{start_time}-in"),
            format!("clr-debug-pipe-{pid}-{start_time}-out"),
            format!("dotnet-diagnostic-{pid}-{start_time}-socket"),
        ]
    }

    /// Its runtime's files in `/dev/shm` and in a temporary folder.
    pub fn leftovers(self, tmp: &Path) -> Vec<PathBuf> {
        let folders = [Path::new("/dev/shm"), tmp];
        let names = self.file_names();
        let all = names
            .iter()
            .flat_map(|name| folders.map(|folder| folder.join(name)));
        all.filter(|file| file.exists()).collect()
    }
}
