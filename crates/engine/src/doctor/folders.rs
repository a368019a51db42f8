//! The two folders through which a debugger and a runtime meet.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{CWD, FileType, Mode};

use super::Check;
use crate::processes::PROBE;

/// Room below which a folder counts as full.
const MIN_ROOM: u64 = 1 << 20;
/// Files that a runtime makes at least.
const MIN_FILES: u64 = 3;
/// A socket's path may have 107 bytes; the runtime's socket is named `dotnet-diagnostic-PID-STARTTIME-socket`.
const MAX_FOLDER: usize = 107 - "/dotnet-diagnostic-4194304-9999999999-socket".len();

/// The folder of the runtime's pipes and sockets.
pub(super) fn temporary(folder: &Path) -> Check {
    let name = "temporary folder";
    let shown = folder.display();
    let advice =
        "set TMPDIR to a folder that exists and is writable, for ndbg and for the program alike";
    if let Err(error) = try_pipes(folder) {
        return Check::problem(
            name,
            format!("no pipe can be made in {shown}: {error}"),
            advice,
        );
    }
    if let Some(full) = full(folder) {
        return Check::warning(
            name,
            full,
            "remove files there, or set TMPDIR to another folder",
        );
    }
    if folder.as_os_str().len() > MAX_FOLDER {
        return Check::warning(
            name,
            format!("the path {shown} is too long for the runtime's sockets"),
            "children of a program (dotnet run, dotnet test) can be debugged only with a shorter TMPDIR",
        );
    }
    Check::ok(name, format!("{shown} is writable"))
}

/// The folder of the semaphores by which a starting runtime waits for its debugger.
pub(super) fn shared_memory(folder: &Path) -> Check {
    let name = "shared memory";
    let shown = folder.display();
    let advice = format!(
        "mount a tmpfs there (mount -t tmpfs tmpfs {shown}); until then programs can be attached to, but not launched"
    );
    let file = probe_path(folder);
    match fs::write(&file, "ndbg") {
        Ok(()) => {
            let _ = fs::remove_file(&file);
            Check::ok(name, format!("{shown} is writable"))
        }
        Err(error) => {
            let _ = fs::remove_file(&file);
            Check::problem(name, format!("{shown} is not writable: {error}"), advice)
        }
    }
}

/// Makes as many pipes as a runtime makes pipes and sockets when it starts, and removes them again; an error says why that
/// cannot be done.
pub(crate) fn try_pipes(folder: &Path) -> io::Result<()> {
    let pipes = ["in", "out", "socket"].map(|end| probe_path(folder).with_extension(end));
    let made = pipes.iter().try_for_each(|pipe| {
        rustix::fs::mknodat(CWD, pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
    });
    for pipe in pipes {
        // Made a moment ago under names of our own, if at all.
        let _ = fs::remove_file(pipe);
    }
    Ok(made?)
}

/// Says that there is no room, if there is none.
pub(crate) fn full(folder: &Path) -> Option<String> {
    let room = rustix::fs::statvfs(folder).ok()?;
    let free = room.f_bavail.saturating_mul(room.f_frsize);
    // Some file systems have no fixed number of files and tell 0 of 0.
    let no_files = room.f_files > 0 && room.f_favail < MIN_FILES;
    (free < MIN_ROOM || no_files).then(|| {
        format!(
            "the file system of {} is full: {} KiB and {} files are free",
            folder.display(),
            free >> 10,
            room.f_favail
        )
    })
}

/// A name that no other thread or process uses.
fn probe_path(folder: &Path) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    folder.join(format!("{PROBE}{}-{count}", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Outcome;

    #[test]
    fn folders_are_tried() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_ne!(temporary(folder.path()).outcome, Outcome::Problem);
        assert_eq!(shared_memory(folder.path()).outcome, Outcome::Ok);
        let missing = folder.path().join("missing");
        for check in [temporary(&missing), shared_memory(&missing)] {
            assert_eq!(check.outcome, Outcome::Problem);
            assert!(check.message.contains("No such file"), "{check:?}");
        }
        let file = folder.path().join("file");
        fs::write(&file, "").expect("a file");
        assert_eq!(temporary(&file).outcome, Outcome::Problem);
        let long = folder.path().join("x".repeat(60));
        fs::create_dir(&long).expect("a folder");
        assert_eq!(temporary(&long).outcome, Outcome::Warning);
    }

    #[test]
    fn a_read_only_file_system_is_a_problem() {
        // Nobody, root included, can make files there.
        let folder = Path::new("/proc/self");
        assert_eq!(temporary(folder).outcome, Outcome::Problem);
        assert_eq!(shared_memory(folder).outcome, Outcome::Problem);
    }
}
