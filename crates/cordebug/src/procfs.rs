//! What `/proc` tells of a process: start time, runtime library, environment, owner, command line.
//!
//! Everything here may be gone, unreadable or lie by the time it is used: all functions return `io::Result` or
//! `Option`, and nothing is cached.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Room for what most files here hold. Their size is told as zero, and the system's functions would feel their way with a
/// dozen small reads.
const USUAL: usize = 8 << 10;

fn read_bytes(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(USUAL);
    // As a reader of unknown length: a file would be asked for its size first.
    File::open(path)?.take(u64::MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn read_text(path: impl AsRef<Path>) -> io::Result<String> {
    String::from_utf8(read_bytes(path)?)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// The fields of `/proc/PID/stat` that a debugger needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// One letter: `R`, `S`, `Z`, ….
    pub state: char,
    /// The parent process.
    pub parent: u32,
    /// The group that it belongs to: the process that leads it.
    pub group: u32,
    /// How many threads it has.
    pub threads: u32,
    /// Start time in clock ticks since boot: with the pid it names a process for ever.
    pub start_time: u64,
}

impl Stat {
    /// Whether nothing of it is left but its status. Its first thread counts as ended while others still are on their way,
    /// with the files that they all have open.
    pub fn has_ended(&self) -> bool {
        matches!(self.state, 'Z' | 'X') && self.threads <= 1
    }
}

/// The signal by which the runtime suspends threads: the first of the real-time ones that the C library leaves to programs.
pub(crate) const SUSPENSION_SIGNAL: libc::c_int = 34;
/// The same in a mask.
pub(crate) const SUSPENSION_BIT: u64 = 1 << (SUSPENSION_SIGNAL - 1);

/// The number that a process has for itself, which in a container is another than ours for it.
pub(crate) fn own_pid(pid: libc::pid_t) -> libc::pid_t {
    let text = read_text(format!("/proc/{pid}/status")).unwrap_or_default();
    let numbers = text.lines().find_map(|line| line.strip_prefix("NSpid:"));
    let innermost = numbers.and_then(|it| it.split_ascii_whitespace().last());
    innermost.and_then(|it| it.parse().ok()).unwrap_or(pid)
}

/// Whether a thread blocks the signal by which the runtime suspends threads.
#[must_use]
pub fn blocks_suspension(pid: u32, thread: u32) -> bool {
    let Ok(text) = read_text(format!("/proc/{pid}/task/{thread}/status")) else {
        return false;
    };
    let mask = text.lines().find_map(|line| line.strip_prefix("SigBlk:"));
    mask.and_then(|it| u64::from_str_radix(it.trim(), 16).ok())
        .is_some_and(|blocked| blocked & SUSPENSION_BIT != 0)
}

/// Whether the signal by which the runtime suspends threads is on its way to a thread.
pub(crate) fn awaits_suspension(pid: u32, thread: u32) -> bool {
    let text = read_text(format!("/proc/{pid}/task/{thread}/status")).unwrap_or_default();
    let waiting = text.lines().find_map(|line| line.strip_prefix("SigPnd:"));
    waiting
        .and_then(|it| u64::from_str_radix(it.trim(), 16).ok())
        .is_some_and(|it| it & SUSPENSION_BIT != 0)
}

/// Where the code of a process lies that comes from no file: what was compiled while it runs.
pub(crate) fn compiled_code(pid: u32) -> Vec<std::ops::Range<u64>> {
    let maps = read_text(format!("/proc/{pid}/maps")).unwrap_or_default();
    let range = |line: &str| {
        let mut fields = line.split_ascii_whitespace();
        let (begin, end) = fields.next()?.split_once('-')?;
        let is_code = fields.next()?.contains('x');
        // Compiled code may lie in memory that is mapped twice, which has a name.
        let has_file = fields.nth(3).is_some_and(|it| !it.starts_with("/memfd:"));
        let number = |it| u64::from_str_radix(it, 16).ok();
        (is_code && !has_file).then_some(number(begin)?..number(end)?)
    };
    maps.lines().filter_map(range).collect()
}

/// The system call that a thread is in: its number and arguments. Nothing while it runs.
pub fn system_call(pid: u32, thread: u32) -> Option<Vec<u64>> {
    let line = read_text(format!("/proc/{pid}/task/{thread}/syscall")).ok()?;
    let mut fields = line.split_ascii_whitespace();
    let number = fields.next()?.parse().ok()?;
    let hex = |it: &str| u64::from_str_radix(it.strip_prefix("0x")?, 16).ok();
    let arguments = fields.map(hex).collect::<Option<Vec<_>>>()?;
    Some([vec![number], arguments].concat())
}

/// The name of a thread.
#[must_use]
pub fn thread_name(pid: u32, thread: u32) -> Option<String> {
    let name = std::fs::read_to_string(format!("/proc/{pid}/task/{thread}/comm"));
    name.ok().map(|name| name.trim_end().to_owned())
}

/// Whether a thread sleeps in the kernel, and so does nothing until what it waits for comes.
#[must_use]
pub fn is_thread_asleep(pid: u32, thread: u32) -> bool {
    let status = read_text(format!("/proc/{pid}/task/{thread}/status"));
    status.is_ok_and(|text| {
        let state = text.lines().find_map(|line| line.strip_prefix("State:"));
        state.is_some_and(|it| it.trim_start().starts_with('S'))
    })
}

/// Reads `/proc/PID/stat`.
pub fn stat(pid: u32) -> io::Result<Stat> {
    let text = read_text(format!("/proc/{pid}/stat"))?;
    parse_stat(&text).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!("/proc/{pid}/stat is malformed"),
        )
    })
}

/// Fields are counted after the LAST `)`: the command name before it may hold anything.
fn parse_stat(text: &str) -> Option<Stat> {
    let (_, rest) = text.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    // Fields 20 and 22 of the line; state is field 3, parent field 4 and group field 5.
    let threads = fields.nth(14)?.parse().ok()?;
    let start_time = fields.nth(1)?.parse().ok()?;
    Some(Stat {
        state,
        parent,
        group,
        threads,
        start_time,
    })
}

/// What a thread is at.
#[derive(Debug, Clone, Copy)]
pub struct ThreadWork {
    /// Its id.
    pub id: u32,
    /// The system's letter for its state.
    pub state: char,
    /// How long processors have worked for it.
    pub worked_ns: u64,
}

impl ThreadWork {
    /// Whether it waits for something and will not do anything until that happens.
    pub fn is_asleep(&self) -> bool {
        !matches!(self.state, 'R' | 'D')
    }
}

/// The threads of a process, as far as they can be read.
pub fn threads(pid: u32) -> Vec<ThreadWork> {
    let Ok(tasks) = std::fs::read_dir(format!("/proc/{pid}/task")) else {
        return Vec::new();
    };
    let ids = tasks
        .flatten()
        .filter_map(|it| it.file_name().to_str()?.parse().ok());
    let read = |id: u32| {
        let folder = format!("/proc/{pid}/task/{id}");
        let stat = read_text(format!("{folder}/stat")).ok()?;
        // Not every kernel keeps it.
        let worked = read_text(format!("{folder}/schedstat")).ok();
        let worked_ns = worked.and_then(|it| it.split(' ').next()?.parse().ok());
        Some(ThreadWork {
            id,
            state: parse_stat(&stat)?.state,
            worked_ns: worked_ns.unwrap_or(0),
        })
    };
    ids.filter_map(read).collect()
}

/// Whether the process exists and is not a zombie.
pub fn is_alive(pid: u32) -> bool {
    stat(pid).is_ok_and(|stat| !stat.has_ended())
}

/// The wait status of a process that has ended and that its parent has not reaped yet. The kernel shows 0 to those who
/// may not know it.
pub fn zombie_status(pid: u32, start_time: u64) -> Option<i32> {
    let text = read_text(format!("/proc/{pid}/stat")).ok()?;
    let stat = parse_stat(&text)?;
    // The last field, `exit_code`.
    let status = text.split_ascii_whitespace().next_back()?.parse().ok()?;
    (stat.state == 'Z' && stat.start_time == start_time).then_some(status)
}

/// The wait status of a process that has ended, with all of its threads, and that its parent has not reaped yet.
pub(crate) fn unreaped_status(pid: u32) -> Option<i32> {
    let start_time = stat(pid).ok().filter(|it| it.state == 'Z')?.start_time;
    // A first thread that ended before the others looks like a dead process.
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).ok()?.count();
    (threads <= 1)
        .then(|| zombie_status(pid, start_time))
        .flatten()
}

/// Whether a thread of the process runs, is ready to run, or waits for a disk.
pub fn is_at_work(pid: u32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task"));
    threads.into_iter().flatten().flatten().any(|thread| {
        let text = read_text(thread.path().join("stat")).unwrap_or_default();
        parse_stat(&text).is_some_and(|stat| matches!(stat.state, 'R' | 'D'))
    })
}

/// Whether a thread of the process sleeps inside its handler of invalid memory accesses.
pub fn sleeps_in_fault_handler(pid: u32) -> bool {
    const SEGMENTATION_FAULT: u64 = 1 << (libc::SIGSEGV - 1);
    let threads = std::fs::read_dir(format!("/proc/{pid}/task"));
    threads.into_iter().flatten().flatten().any(|thread| {
        let read = |name| read_text(thread.path().join(name)).unwrap_or_default();
        // A handler runs with its own signal blocked.
        let status = read("status");
        let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:"));
        let blocked = blocked.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        blocked.is_some_and(|mask| mask & SEGMENTATION_FAULT != 0)
            && read("wchan").contains("nanosleep")
    })
}

/// The user that the process runs as.
pub fn owner(pid: u32) -> io::Result<u32> {
    let text = read_text(format!("/proc/{pid}/status"))?;
    let uid = text.lines().find_map(|line| {
        line.strip_prefix("Uid:")?
            .split_ascii_whitespace()
            .nth(1)?
            .parse()
            .ok()
    });
    uid.ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!("/proc/{pid}/status has no Uid line"),
        )
    })
}

/// The command line as an array.
pub fn command_line(pid: u32) -> io::Result<Vec<String>> {
    let bytes = read_bytes(format!("/proc/{pid}/cmdline"))?;
    let bytes = bytes.strip_suffix(&[0]).unwrap_or(&bytes);
    if bytes.is_empty() {
        return Ok(Vec::new());
    }
    Ok(bytes
        .split(|byte| *byte == 0)
        .map(|arg| String::from_utf8_lossy(arg).into_owned())
        .collect())
}

/// One variable of the environment the process was started with.
pub fn environment_variable(pid: u32, name: &str) -> io::Result<Option<OsString>> {
    let bytes = read_bytes(format!("/proc/{pid}/environ"))?;
    let found = bytes.split(|byte| *byte == 0).find_map(|entry| {
        let value = entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
        Some(OsString::from_vec(value.to_vec()))
    });
    Ok(found)
}

/// A library that a process has mapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MappedLibrary {
    /// Its path, as the process sees it.
    pub path: PathBuf,
    /// Where its first byte is mapped.
    pub base: u64,
    /// Whether the file was replaced or removed since.
    pub deleted: bool,
}

/// The first mapping of a file named `file_name`.
pub fn mapped_library(pid: u32, file_name: &str) -> io::Result<Option<MappedLibrary>> {
    let maps = read_text(format!("/proc/{pid}/maps"))?;
    Ok(find_mapping(&maps, file_name))
}

/// The library named `file_name` that the process has loaded to run code of. One who only reads the file, as debuggers do
/// with the runtime's, has not.
pub fn loaded_library(pid: u32, file_name: &str) -> io::Result<Option<MappedLibrary>> {
    let maps = read_text(format!("/proc/{pid}/maps"))?;
    Ok(find_mapping(&maps, file_name).filter(|_| is_executable(&maps, file_name)))
}

fn is_executable(maps: &str, file_name: &str) -> bool {
    maps.lines().any(|line| {
        let may_run = line
            .split_ascii_whitespace()
            .nth(1)
            .is_some_and(|rights| rights.contains('x'));
        may_run && find_mapping(line, file_name).is_some()
    })
}

fn find_mapping(maps: &str, file_name: &str) -> Option<MappedLibrary> {
    maps.lines().find_map(|line| {
        let path_at = line.find('/')?;
        let (range, path) = (line.split('-').next()?, line.get(path_at..)?);
        let (path, deleted) = match path.strip_suffix(" (deleted)") {
            Some(path) => (path, true),
            None => (path, false),
        };
        let path = Path::new(path);
        if path.file_name()? != file_name {
            return None;
        }
        Some(MappedLibrary {
            path: path.to_owned(),
            base: u64::from_str_radix(range, 16).ok()?,
            deleted,
        })
    })
}

/// All process ids.
pub fn all_pids() -> io::Result<Vec<u32>> {
    let entries = std::fs::read_dir("/proc")?;
    Ok(entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect())
}

/// The processes that have `root` as an ancestor, `root` itself left out.
pub fn descendants(root: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> = all_pids()
        .unwrap_or_default()
        .into_iter()
        .filter_map(|pid| Some((pid, stat(pid).ok()?.parent)))
        .collect();
    let mut found = vec![root];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        found.extend(
            parents
                .iter()
                .filter(|(pid, of)| *of == parent && *pid != root)
                .map(|(pid, _)| *pid),
        );
        next += 1;
        // A pid that is reused while we look could close a circle.
        if next > parents.len() {
            break;
        }
    }
    found.remove(0);
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether `ancestor` is a parent, grandparent, … of `pid`.
pub fn is_descendant(pid: u32, ancestor: u32) -> bool {
    let mut at = pid;
    for _ in 0..64 {
        let Ok(stat) = stat(at) else { return false };
        if stat.parent == ancestor {
            return true;
        }
        if stat.parent <= 1 {
            return false;
        }
        at = stat.parent;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_is_parsed_after_the_last_parenthesis() {
        let line = "42 (a) b) (c) S 7 42 42 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 1000 2";
        assert_eq!(
            parse_stat(line),
            Some(Stat {
                state: 'S',
                parent: 7,
                group: 42,
                threads: 1,
                start_time: 987_654
            })
        );
        assert_eq!(parse_stat("42 (cut S 7"), None);
        assert_eq!(parse_stat(""), None);
    }

    #[test]
    fn the_first_mapping_of_a_library_is_its_base() {
        let maps = "7f00-7f10 r--p 00000000 08:01 1 /usr/lib/libc.so.6\n\
                    7f20abc000-7f20 r--p 00000000 08:01 2 /opt/my dotnet/libcoreclr.so\n\
                    7f30-7f40 r-xp 00001000 08:01 2 /opt/my dotnet/libcoreclr.so\n";
        let found = find_mapping(maps, "libcoreclr.so").expect("libcoreclr.so is mapped");
        assert_eq!(
            found,
            MappedLibrary {
                path: "/opt/my dotnet/libcoreclr.so".into(),
                base: 0x7f_20ab_c000,
                deleted: false
            }
        );
        assert_eq!(find_mapping(maps, "coreclr.so"), None);
        assert!(is_executable(maps, "libcoreclr.so"));
        assert!(!is_executable(maps, "libc.so.6"), "it is only read");
        assert!(
            find_mapping("1-2 r--p 0 0 0 /a/libcoreclr.so (deleted)", "libcoreclr.so")
                .is_some_and(|it| it.deleted)
        );
    }

    #[test]
    fn this_process_is_alive_and_descends_from_its_parent() {
        let me = std::process::id();
        let parent = stat(me).expect("our own stat").parent;
        assert!(is_alive(me));
        assert!(is_descendant(me, parent));
        assert!(!is_descendant(parent, me));
        assert!(descendants(parent).contains(&me));
    }

    #[test]
    fn a_process_is_at_work_while_one_of_its_threads_is() {
        assert!(is_at_work(std::process::id()));
        let mut child = std::process::Command::new("sleep")
            .arg("1000")
            .spawn()
            .expect("sleep can be started");
        while is_at_work(child.id()) {
            std::thread::yield_now();
        }
        child.kill().expect("our own child");
        child.wait().expect("our own child");
        assert!(!is_at_work(u32::MAX - 1));
    }
}
