//! What a runtime and a killed debugger leave in the file system, and its removal.
//!
//! A runtime that ends in order removes its pipes and its socket; one that is killed cannot. Their names hold the pid
//! and the start time, so what belongs to a dead process can be told from what belongs to a new one with its number.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use cordebug::diagnostics_port::owner_of_folder;
use cordebug::{procfs, runtime};

use super::ports;

/// The files that a process will leave if it is killed. Note it while the process lives: its temporary folder and
/// its start time are not to be had afterwards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftovers {
    pid: u32,
    /// Unknown if the process was gone already.
    start_time: Option<u64>,
    /// The process group that it is in.
    group: Option<u32>,
    folder: PathBuf,
}

impl Leftovers {
    /// Notes what the process would leave. Of one that is gone already only what lies in our own temporary folder is
    /// known.
    pub fn of(pid: u32) -> Self {
        let stat = procfs::stat(pid).ok();
        Self {
            pid,
            start_time: stat.map(|stat| stat.start_time),
            group: stat.map(|stat| stat.group),
            folder: runtime::temporary_folder(pid).unwrap_or_else(|_| std::env::temp_dir()),
        }
    }

    /// Where the process has its pipes and its socket, and most likely what it starts has too.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The group in which what the process has started is found: its own, which it may share with who started it.
    pub(super) fn group(&self) -> u32 {
        self.group.unwrap_or(self.pid)
    }

    /// Removes the files, unless the process still lives.
    pub fn remove(&self) {
        if self.still_there() {
            return;
        }
        for file in self.files() {
            if let Err(error) = fs::remove_file(&file)
                && error.kind() != std::io::ErrorKind::NotFound
            {
                tracing::debug!(%error, file = %file.display(), "a leftover stays");
            }
        }
    }

    fn still_there(&self) -> bool {
        is_there(self.pid, self.start_time)
    }

    fn files(&self) -> Vec<PathBuf> {
        let pid = self.pid;
        let Some(start_time) = self.start_time else {
            // Any file of that pid: the process is gone, and there is no other with its number.
            let marks = [
                format!("clr-debug-pipe-{pid}-"),
                format!("dotnet-diagnostic-{pid}-"),
            ];
            let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
            return entries
                .filter(|entry| {
                    let name = entry.file_name();
                    let name = name.to_string_lossy();
                    marks.iter().any(|mark| name.starts_with(mark))
                })
                .map(|entry| entry.path())
                .collect();
        };
        let theirs = [
            format!("clr-debug-pipe-{pid}-{start_time}-in"),
            format!("clr-debug-pipe-{pid}-{start_time}-out"),
            format!("dotnet-diagnostic-{pid}-{start_time}-socket"),
        ];
        // Those of a debugger that was killed while the process started.
        let semaphores =
            ["clrst", "clrco"].map(|kind| format!("sem.{kind}{pid:08x}{start_time:016x}"));
        let theirs = theirs.map(|name| self.folder.join(name));
        let semaphores = semaphores.map(|name| Path::new(SHARED_MEMORY).join(name));
        theirs.into_iter().chain(semaphores).collect()
    }
}

/// Whether the process lives, and is the one that began then.
pub(super) fn is_there(pid: u32, start_time: Option<u64>) -> bool {
    let Ok(stat) = procfs::stat(pid) else {
        return false;
    };
    let same = start_time.is_none_or(|start_time| start_time == stat.start_time);
    same && !stat.has_ended()
}

/// Removes what runtimes left in a temporary folder that were killed together with whoever would have tidied up after
/// them: sockets of our user that nobody listens on, of processes that are gone, and the pipes that belong to them. What
/// hosts left there that were killed is removed as well.
///
/// The folder may be shared with another container, where the numbers mean other processes: nobody listening is the
/// proof, and a runtime has its socket before its pipes.
pub fn sweep_temporary(folder: &Path) {
    let user = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_str().is_some_and(|it| it.starts_with(PROBE)) {
            sweep_probe(&entry, user);
            continue;
        }
        if let Some(owner) = name.to_str().and_then(owner_of_folder) {
            ports::sweep(&entry, owner, user);
            continue;
        }
        let Some((pid, start_time)) = name.to_str().and_then(process_of_socket) else {
            continue;
        };
        let ours = entry
            .metadata()
            .is_ok_and(|it| it.file_type().is_socket() && it.uid() == user);
        let left = Leftovers {
            pid,
            start_time: Some(start_time),
            group: None,
            folder: folder.to_owned(),
        };
        if ours && !left.still_there() && nobody_listens(&entry.path()) {
            tracing::debug!(pid, "removing what a killed runtime left");
            left.remove();
        }
    }
}

/// Removes a pipe by which a debugger has tried whether a folder takes pipes, and was killed just then.
fn sweep_probe(entry: &fs::DirEntry, user: u32) {
    let abandoned = entry.metadata().is_ok_and(|it| {
        let age = it.modified().ok().and_then(|then| then.elapsed().ok());
        it.file_type().is_fifo() && it.uid() == user && age.is_some_and(|age| age > ABANDONED)
    });
    if abandoned {
        // Another host may sweep at the same moment.
        let _ = fs::remove_file(entry.path());
    }
}

/// The process that a runtime's socket belongs to: `dotnet-diagnostic-PID-START-socket`.
fn process_of_socket(name: &str) -> Option<(u32, u64)> {
    let numbers = name.strip_prefix("dotnet-diagnostic-")?;
    let (pid, start_time) = numbers.strip_suffix("-socket")?.split_once('-')?;
    Some((pid.parse().ok()?, start_time.parse().ok()?))
}

pub(super) fn nobody_listens(socket: &Path) -> bool {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

    let Ok(address) = SocketAddrUnix::new(socket) else {
        return false;
    };
    // Without waiting: one who listens may be busy.
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).is_ok_and(
        |ours| rustix::net::connect(&ours, &address) == Err(rustix::io::Errno::CONNREFUSED),
    )
}

/// How names of pipes begin that are made to try a folder.
pub(crate) const PROBE: &str = "ndbg-probe-";
/// Where named semaphores lie.
const SHARED_MEMORY: &str = "/dev/shm";
/// No start-up takes longer. A semaphore for a process of another container, whose number means nothing here, is
/// thereby left alone while it is in use.
pub(super) const ABANDONED: Duration = Duration::from_secs(180);

/// Removes start-up semaphores of debuggers that were killed: our user's, for processes that are gone.
pub fn sweep_semaphores() {
    sweep(Path::new(SHARED_MEMORY), SystemTime::now());
}

fn sweep(folder: &Path, now: SystemTime) {
    let user = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Some((pid, start_time)) = process_of(&entry.file_name()) else {
            continue;
        };
        let Ok(data) = entry.metadata() else { continue };
        let age = data
            .modified()
            .ok()
            .and_then(|then| now.duration_since(then).ok());
        let abandoned = data.is_file()
            && data.uid() == user
            && age.is_some_and(|age| age > ABANDONED)
            && !procfs::stat(pid).is_ok_and(|stat| stat.start_time == start_time);
        if abandoned {
            tracing::debug!(file = %entry.path().display(), "removing an abandoned semaphore");
            // Another host may sweep at the same moment.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The process that a start-up semaphore is for: `sem.clrst` or `sem.clrco`, 8 and 16 hexadecimal digits.
fn process_of(name: &OsStr) -> Option<(u32, u64)> {
    let name = name.to_str()?;
    let digits = name
        .strip_prefix("sem.clrst")
        .or_else(|| name.strip_prefix("sem.clrco"))?;
    if digits.len() != 24 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let pid = u32::from_str_radix(digits.get(..8)?, 16).ok()?;
    let start_time = u64::from_str_radix(digits.get(8..)?, 16).ok()?;
    Some((pid, start_time))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process that has ended, with what it would have left in `folder`.
    fn dead(folder: &Path) -> Leftovers {
        let mut child = std::process::Command::new("/bin/sleep")
            .arg("1000")
            .env("TMPDIR", folder)
            .spawn()
            .expect("sleep runs");
        // The kernel shows the environment a moment after the program has begun.
        while runtime::temporary_folder(child.id()).is_ok_and(|it| it != folder) {
            std::thread::yield_now();
        }
        let leftovers = Leftovers::of(child.id());
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        leftovers
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("the folder is there").flatten();
        let mut names: Vec<_> = entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_files_of_a_dead_process_are_removed_from_its_own_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let leftovers = dead(folder.path());
        assert_eq!(leftovers.folder, folder.path());
        for file in leftovers.files() {
            fs::write(file, "").expect("a file");
        }
        let other = format!("clr-debug-pipe-{}-1-in", leftovers.pid);
        fs::write(folder.path().join(&other), "").expect("a file");
        leftovers.remove();
        assert_eq!(names(folder.path()), [other]);
        // Its semaphores lie elsewhere.
        assert_eq!(leftovers.files().len(), 5);
        assert!(leftovers.files().iter().all(|file| !file.exists()));
    }

    #[test]
    fn only_pipes_of_ours_that_are_old_are_swept() {
        use rustix::fs::{AtFlags, CWD, FileType, Mode, Timespec, Timestamps};

        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let long_ago = Timespec {
            tv_sec: 1_000_000_000,
            tv_nsec: 0,
        };
        let times = Timestamps {
            last_access: long_ago,
            last_modification: long_ago,
        };
        for name in ["ndbg-probe-1-0.in", "ndbg-probe-2-0.in", "other.in"] {
            rustix::fs::mknodat(CWD, at(name), FileType::Fifo, Mode::RUSR, 0).expect("a pipe");
        }
        fs::write(at("ndbg-probe-notes"), "").expect("a file");
        for name in ["ndbg-probe-1-0.in", "other.in", "ndbg-probe-notes"] {
            rustix::fs::utimensat(CWD, at(name), &times, AtFlags::empty()).expect("its own file");
        }
        sweep_temporary(folder.path());
        assert_eq!(
            names(folder.path()),
            ["ndbg-probe-2-0.in", "ndbg-probe-notes", "other.in"]
        );
    }

    #[test]
    fn the_files_of_a_living_process_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut leftovers = Leftovers::of(std::process::id());
        leftovers.folder = folder.path().to_owned();
        let files = leftovers.files().into_iter();
        for file in files.filter(|it| it.starts_with(folder.path())) {
            fs::write(file, "").expect("a file");
        }
        leftovers.remove();
        assert_eq!(names(folder.path()).len(), 3);
    }

    #[test]
    fn only_sockets_of_dead_processes_that_nobody_listens_on_are_swept_with_their_pipes() {
        use std::os::unix::net::UnixListener;

        let folder = tempfile::tempdir().expect("a folder");
        let gone = dead(folder.path());
        let me = std::process::id();
        let start = procfs::stat(me).expect("our own stat").start_time;
        let socket = |pid: u32, start| {
            let name = format!("dotnet-diagnostic-{pid}-{start}-socket");
            UnixListener::bind(folder.path().join(name)).expect("a new socket")
        };
        for file in gone.files() {
            if !file.to_string_lossy().ends_with("-socket") {
                fs::write(file, "").expect("a file");
            }
        }
        drop(socket(gone.pid, gone.start_time.expect("it was alive")));
        // Of this process, which lives; of another container, where somebody listens; and what only looks like one.
        drop(socket(me, start));
        let listening = socket(me, start.wrapping_sub(1));
        fs::write(folder.path().join("dotnet-diagnostic-1-2-socket"), "").expect("a file");
        fs::write(folder.path().join("dotnet-diagnostic-x"), "").expect("a file");
        sweep_temporary(folder.path());
        let mut expected = vec![
            format!("dotnet-diagnostic-{me}-{start}-socket"),
            format!("dotnet-diagnostic-{me}-{}-socket", start.wrapping_sub(1)),
            "dotnet-diagnostic-1-2-socket".to_owned(),
            "dotnet-diagnostic-x".to_owned(),
        ];
        expected.sort();
        assert_eq!(names(folder.path()), expected);
        drop(listening);
    }

    #[test]
    fn only_abandoned_semaphores_of_dead_processes_are_swept() {
        let folder = tempfile::tempdir().expect("a folder");
        let gone = dead(folder.path());
        let me = std::process::id();
        let start = procfs::stat(me).expect("our own stat").start_time;
        let gone_start = gone.start_time.expect("it was alive");
        let kept = [
            format!("sem.clrst{me:08x}{start:016x}"),
            format!("sem.clrxx{:08x}{gone_start:016x}", gone.pid),
            format!("sem.clrst{:08x}{gone_start:015x}", gone.pid),
            "sem.other".to_owned(),
        ];
        let removed = [
            format!("sem.clrst{:08x}{gone_start:016x}", gone.pid),
            format!("sem.clrco{:08x}{gone_start:016x}", gone.pid),
            // Our number, but another start time: an earlier process.
            format!("sem.clrco{me:08x}{:016x}", start.wrapping_sub(1)),
        ];
        for name in kept.iter().chain(&removed) {
            fs::write(folder.path().join(name), "").expect("a file");
        }
        sweep(folder.path(), SystemTime::now());
        assert_eq!(names(folder.path()).len(), 7, "all are new");
        sweep(folder.path(), SystemTime::now() + 2 * ABANDONED);
        let mut expected = kept.to_vec();
        expected.sort();
        assert_eq!(names(folder.path()), expected);
    }
}
