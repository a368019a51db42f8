//! Whether a debugger may be attached to a process, and if not: why, and what to do about it.
//!
//! Everything is checked before the runtime's own library is asked, which would hang for seconds or say only a number.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use cordebug::procfs::{self, MappedLibrary, Stat};
use cordebug::runtime;

use super::builds;
use super::claim::{Claim, Leaving};
use super::listing::Users;
use super::lost::{is_bound_to_lost_debugger, lost_debugger, was_debugged};
use crate::api::{Error, ErrorCode};
use crate::program;

/// The runtime's library.
const RUNTIME: &str = "libcoreclr.so";
/// The libraries that must lie beside it.
const DEBUGGER_PARTS: [&str; 2] = ["libmscordbi.so", "libmscordaccore.so"];

/// Whether a debugger may be attached to the process; an error says why not and what to do.
pub fn check_attachable(pid: u32) -> Result<(), Error> {
    let seen = Seen::look(pid)?;
    let users = Users::load();
    check_owner(&seen, &users)?;
    let runtime = seen.runtime().map_err(|error| not_permitted(pid, &error))?;
    match runtime {
        Some(runtime) => check_runtime(&seen, &runtime),
        None => Err(no_runtime(&seen)),
    }
}

/// How long a runtime may take to be ready for the next debugger after one has left.
pub(super) const BETWEEN_DEBUGGERS: Duration = Duration::from_secs(2);

/// As [`check_attachable`], but a runtime that a debugger has only just left is given the time to notice it, and one
/// that had a debugger before is asked whether it still waits for that one. The process is claimed before anybody does
/// anything to it.
pub(crate) fn await_attachable(pid: u32) -> Result<Claim, Error> {
    await_check(pid)?;
    let (claim, waited) = Claim::of(pid)?;
    if waited {
        await_check(pid)?;
    }
    if !was_debugged(pid) {
        return Ok(claim);
    }
    if is_bound_to_lost_debugger(pid) {
        return Err(lost_debugger(pid));
    }
    // It has made its pipes anew.
    await_check(pid)?;
    Ok(claim)
}

fn await_check(pid: u32) -> Result<(), Error> {
    let deadline = Instant::now() + BETWEEN_DEBUGGERS;
    loop {
        match check_attachable(pid) {
            Err(error) if may_pass(pid, &error) && Instant::now() < deadline => {
                thread::sleep(Duration::from_millis(2));
            }
            result => return result,
        }
    }
}

/// Whether an error may only tell that the runtime is between two debuggers: its pipes are still open, or gone and not
/// yet made anew, or the one that is there is leaving.
fn may_pass(pid: u32, error: &Error) -> bool {
    let variable = |name: &str| procfs::environment_variable(pid, name).ok().flatten();
    match error.code {
        ErrorCode::AlreadyDebugged => {
            runtime::debugger_pipes(pid).is_ok_and(|pipes| debugger_of(pid, &pipes).is_none())
                || Leaving::is_said_of(pid)
        }
        ErrorCode::DebuggingDisabled => program::debugging_switched_off(variable).is_none(),
        _ => false,
    }
}

/// A process as `/proc` shows it.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) pid: u32,
    pub(super) stat: Stat,
    pub(super) owner: u32,
}

impl Seen {
    /// Looks at a process that must exist and live.
    pub(super) fn look(pid: u32) -> Result<Self, Error> {
        let gone = || {
            Error::new(
                ErrorCode::ProcessNotFound,
                format!("there is no process {pid}"),
            )
            .hint("`ndbg ps` lists the .NET processes")
        };
        let stat = procfs::stat(pid).map_err(|_| gone())?;
        let owner = procfs::owner(pid).map_err(|_| gone())?;
        if matches!(stat.state, 'Z' | 'X') {
            return Err(Error::new(
                ErrorCode::ProcessNotFound,
                format!(
                    "process {pid} has ended already; its parent {} has not taken note of it yet",
                    stat.parent
                ),
            )
            .hint("`ndbg ps` lists the .NET processes"));
        }
        if let Some(process) = status_number(pid, "Tgid:").filter(|process| *process != pid) {
            return Err(Error::new(
                ErrorCode::ProcessNotFound,
                format!("{pid} is a thread of process {process}, not a process"),
            )
            .hint(format!("use the process id {process}")));
        }
        Ok(Self { pid, stat, owner })
    }

    /// The runtime that the process has loaded.
    pub(super) fn runtime(&self) -> io::Result<Option<MappedLibrary>> {
        procfs::loaded_library(self.pid, RUNTIME)
    }

    /// Whether the process has a runtime linked into it: no library, but the runtime's pipe or socket.
    pub(super) fn has_embedded_runtime(&self) -> bool {
        let folder = runtime::temporary_folder(self.pid).unwrap_or_else(|_| PathBuf::from("/tmp"));
        let (pid, start) = (self.pid, self.stat.start_time);
        [
            format!("clr-debug-pipe-{pid}-{start}-in"),
            format!("dotnet-diagnostic-{pid}-{start}-socket"),
        ]
        .iter()
        .any(|name| folder.join(name).exists())
    }
}

/// A debugger may read and change everything: only one's own processes, unless one is root.
pub(super) fn check_owner(seen: &Seen, users: &Users) -> Result<(), Error> {
    let me = rustix::process::geteuid().as_raw();
    if me == 0 || me == seen.owner {
        return Ok(());
    }
    let owner = users.name(seen.owner);
    let root = if seen.owner == 0 { "" } else { " or as root" };
    Err(Error::new(
        ErrorCode::PermissionDenied,
        format!(
            "process {} belongs to {owner}, not to {}",
            seen.pid,
            users.name(me)
        ),
    )
    .hint(format!("run ndbg as {owner}{root}")))
}

/// Whether the runtime in a process takes a debugger.
pub(super) fn check_runtime(seen: &Seen, library: &MappedLibrary) -> Result<(), Error> {
    let pid = seen.pid;
    check_stopped(seen)?;
    let pipes = runtime::debugger_pipes(pid)
        .map_err(|error| not_permitted(pid, &io::Error::other(error.to_string())))?;
    check_undebugged(pid, &pipes)?;
    if pipes.iter().any(|pipe| !pipe.exists()) {
        return Err(no_pipe(pid, &pipes));
    }
    check_library(pid, library)
}

/// A process that a signal has stopped cannot answer a debugger.
fn check_stopped(seen: &Seen) -> Result<(), Error> {
    let pid = seen.pid;
    match seen.stat.state {
        'T' => Err(Error::new(
            ErrorCode::AttachFailed,
            format!("process {pid} is stopped by a signal and cannot answer a debugger"),
        )
        .hint(format!("let it run first: kill -CONT {pid}"))),
        't' => {
            let tracer = status_number(pid, "TracerPid:").map(describe);
            Err(Error::new(
                ErrorCode::AttachFailed,
                format!(
                    "process {pid} is held by a native debugger, {}",
                    tracer.unwrap_or_else(|| "which is gone".into())
                ),
            )
            .hint("let it run there, or end that debugger"))
        }
        _ => Ok(()),
    }
}

/// A runtime opens its pipes only when a debugger comes, so an open one means that there is or was a debugger.
fn check_undebugged(pid: u32, pipes: &[PathBuf]) -> Result<(), Error> {
    if !holds(pid, pipes) {
        return Ok(());
    }
    Err(match debugger_of(pid, pipes) {
        Some(debugger) => Error::new(
            ErrorCode::AlreadyDebugged,
            format!(
                "process {pid} is already being debugged, by {}",
                describe(debugger)
            ),
        )
        .hint("a program can have one debugger: end the other session first"),
        None => Error::new(
            ErrorCode::AlreadyDebugged,
            format!("the runtime of process {pid} is still bound to a debugger that is gone or cannot be seen"),
        )
        .hint("if that debugger was killed, only restarting the program helps"),
    })
}

/// The other process that has the pipes open.
fn debugger_of(pid: u32, pipes: &[PathBuf]) -> Option<u32> {
    let me = std::process::id();
    let pids = procfs::all_pids().unwrap_or_default();
    pids.into_iter()
        .find(|other| *other != pid && *other != me && holds(*other, pipes))
}

/// Whether a process has one of the files open.
pub(super) fn holds(pid: u32, files: &[PathBuf]) -> bool {
    held(pid, files).next().is_some()
}

/// Those of the files that a process has open, as often as it has.
pub(super) fn held(pid: u32, files: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
    let open = fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten();
    open.flatten()
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .filter(|target| files.contains(target))
}

/// Why a runtime has no debugger pipe.
fn no_pipe(pid: u32, pipes: &[PathBuf]) -> Error {
    let setting = program::debugging_switched_off(|name| {
        procfs::environment_variable(pid, name).ok().flatten()
    });
    if let Some(setting) = setting {
        return Error::new(
            ErrorCode::DebuggingDisabled,
            format!("process {pid} was started with {setting}, which switches debugging off in its runtime"),
        )
        .hint("start the program again without that variable");
    }
    if let Some(error) = elsewhere(pid) {
        return error;
    }
    let missing = pipes.iter().find(|pipe| !pipe.exists());
    let missing = missing.map_or_else(|| Path::new("its pipe"), |pipe| pipe.as_path());
    Error::new(
        ErrorCode::DebuggingDisabled,
        format!(
            "the runtime of process {pid} cannot be reached: {} is not there",
            missing.display()
        ),
    )
    .hint(
        "if the program has just been started, try again; otherwise its temporary folder was cleaned up or was not \
         writable when it started: start it again",
    )
}

/// An error if the process is in another container, where its files and its own number are not ours.
fn elsewhere(pid: u32) -> Option<Error> {
    let differs = |kind: &str| {
        let ours = fs::read_link(format!("/proc/self/ns/{kind}")).ok();
        let theirs = fs::read_link(format!("/proc/{pid}/ns/{kind}")).ok();
        ours.is_some() && theirs.is_some() && ours != theirs
    };
    (differs("pid") || differs("mnt")).then(|| {
        Error::new(
            ErrorCode::AttachFailed,
            format!("process {pid} runs in another container: its debugger pipes cannot be reached from here"),
        )
        .hint("run ndbg inside that container")
    })
}

/// The debugger's part of the runtime must lie beside it and be of the same build.
fn check_library(pid: u32, library: &MappedLibrary) -> Result<(), Error> {
    if library.deleted {
        return Err(Error::new(
            ErrorCode::RuntimeMismatch,
            format!(
                "the runtime of process {pid}, {}, was updated or removed since the program started",
                library.path.display()
            ),
        )
        .hint("restart the program"));
    }
    check_parts(pid, &library.path)
}

/// The debugger's libraries must lie beside the runtime's, and be of its very build.
pub(crate) fn check_parts(pid: u32, runtime: &Path) -> Result<(), Error> {
    let build = builds::of(runtime);
    for part in DEBUGGER_PARTS {
        let path = runtime.with_file_name(part);
        if !path.is_file() {
            if let Some(error) = elsewhere(pid) {
                return Err(error);
            }
            return Err(Error::new(
                ErrorCode::RuntimeMismatch,
                format!("process {pid} cannot be debugged: {} is missing", path.display()),
            )
            .hint(
                "install the whole runtime: libmscordbi.so and libmscordaccore.so must lie beside its libcoreclr.so",
            ));
        }
        if let (Some(ours), Some(theirs)) = (builds::of(&path), &build)
            && ours != *theirs
        {
            return Err(Error::new(
                ErrorCode::RuntimeMismatch,
                format!(
                    "process {pid} cannot be debugged: {} is of build {ours}, but the runtime is of build {theirs}",
                    path.display()
                ),
            )
            .hint("install the runtime again: its files are of different builds"));
        }
    }
    Ok(())
}

/// Why a process without the runtime's library cannot be debugged.
pub(super) fn no_runtime(seen: &Seen) -> Error {
    let pid = seen.pid;
    if seen.has_embedded_runtime() {
        return Error::new(
            ErrorCode::RuntimeMismatch,
            format!(
                "process {pid} has its runtime inside its executable (a self-contained single file), and the debugger \
                 library of that runtime (libmscordbi.so) is not shipped with it"
            ),
        )
        .hint("debug a build of it that is not published as a self-contained single file");
    }
    Error::new(
        ErrorCode::NotDotnet,
        format!(
            "process {} is not a .NET program: it has no {RUNTIME} loaded",
            describe(pid)
        ),
    )
    .hint("`ndbg ps` lists the .NET processes; if the program has just been started, try again")
}

/// Why a process may not be looked into, although its owner is not the reason.
pub(super) fn not_permitted(pid: u32, error: &io::Error) -> Error {
    if !procfs::is_alive(pid) {
        return Error::new(
            ErrorCode::ProcessNotFound,
            format!("process {pid} has just ended"),
        )
        .hint("`ndbg ps` lists the .NET processes");
    }
    let me = rustix::process::geteuid().as_raw();
    let is_limited_root = me == 0 && !crate::doctor::may_inspect_others();
    let owner = procfs::owner(pid).ok();
    let (message, hint) = not_inspected(me, is_limited_root, owner, &Users::load());
    Error::new(
        ErrorCode::PermissionDenied,
        format!("process {pid} may not be inspected: {message}{error}"),
    )
    .hint(hint)
}

/// Why one user may not look into a process of another, or of the same, as far as it can be told, and what may help.
fn not_inspected(
    me: u32,
    is_limited_root: bool,
    owner: Option<u32>,
    users: &Users,
) -> (String, String) {
    match owner {
        Some(owner) if is_limited_root && owner != 0 => {
            let owner = users.name(owner);
            (
                format!("it belongs to {owner}, and root lacks CAP_SYS_PTRACE here: "),
                format!(
                    "run ndbg as {owner} (docker exec --user {owner}), or start the container with --cap-add=SYS_PTRACE"
                ),
            )
        }
        _ if me == 0 || owner == Some(me) => (
            String::new(),
            "the user is not the reason: the system protects this process, or ndbg lacks CAP_SYS_PTRACE here; \
             `ndbg doctor` tells more"
                .into(),
        ),
        _ => (
            String::new(),
            "run ndbg as the same user; `ndbg doctor` tells what else may forbid it".into(),
        ),
    }
}

/// A process for people: its number and command.
pub(super) fn describe(pid: u32) -> String {
    const SHOWN: usize = 80;
    let line = procfs::command_line(pid).unwrap_or_default().join(" ");
    if line.is_empty() {
        return pid.to_string();
    }
    let mut shown: String = line.chars().take(SHOWN).collect();
    if shown.len() < line.len() {
        shown.push('…');
    }
    format!("{pid} ({shown})")
}

/// A number of `/proc/PID/status`.
fn status_number(pid: u32, field: &str) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    text.lines()
        .find_map(|line| line.strip_prefix(field)?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command};

    /// A process that does nothing, ended with the test.
    struct Sleeper(Child);

    impl Sleeper {
        fn start() -> Self {
            let child = Command::new("/bin/sleep").arg("1000").spawn();
            let sleeper = Self(child.expect("sleep runs"));
            // The kernel shows the command line a moment after the program has begun.
            while procfs::command_line(sleeper.pid()).is_ok_and(|line| line.is_empty()) {
                std::thread::yield_now();
            }
            sleeper
        }

        fn pid(&self) -> u32 {
            self.0.id()
        }
    }

    impl Drop for Sleeper {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[track_caller]
    fn check(pid: u32, code: ErrorCode, message: &str) {
        let error = check_attachable(pid).expect_err("it cannot be debugged");
        assert_eq!(error.code, code, "{error}");
        assert!(error.message.contains(message), "{error}");
        assert!(error.hint.is_some(), "{error}");
    }

    #[test]
    fn a_process_that_does_not_exist_is_told() {
        check(u32::MAX, ErrorCode::ProcessNotFound, "there is no process");
        check(0, ErrorCode::ProcessNotFound, "there is no process 0");
    }

    #[test]
    fn a_native_process_is_not_dotnet() {
        let sleeper = Sleeper::start();
        check(sleeper.pid(), ErrorCode::NotDotnet, "sleep 1000");
    }

    #[test]
    fn a_zombie_has_ended() {
        let mut child = Command::new("/bin/true").spawn().expect("true runs");
        while procfs::is_alive(child.id()) {
            std::thread::yield_now();
        }
        check(child.id(), ErrorCode::ProcessNotFound, "has ended already");
        child.wait().expect("it is reaped");
    }

    #[test]
    fn a_thread_is_not_a_process() {
        let me = std::process::id();
        let (tell, told) = std::sync::mpsc::channel();
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            let id = rustix::thread::gettid().as_raw_nonzero().get();
            tell.send(id as u32).expect("the test listens");
            let _ = stopped.recv();
        });
        let id = told.recv().expect("the thread runs");
        check(
            id,
            ErrorCode::ProcessNotFound,
            &format!("a thread of process {me}"),
        );
        drop(stop);
        thread.join().expect("it ends");
    }

    #[test]
    fn another_users_process_is_refused_by_its_owners_name() {
        let owner = rustix::process::geteuid().as_raw() + 1;
        let seen = Seen {
            owner,
            ..Seen::look(std::process::id()).expect("we live")
        };
        let refused = check_owner(&seen, &Users::load());
        if rustix::process::geteuid().is_root() {
            refused.expect("root may try to debug everything");
        } else {
            let error = refused.expect_err("not ours");
            assert_eq!(error.code, ErrorCode::PermissionDenied, "{error}");
        }
    }

    #[test]
    fn who_may_not_look_into_a_process_is_told_whom_to_be() {
        let users = Users::parse("root:x:0:0::/:\nann:x:1000:1000::/:\n");
        let hint = |me, owner| not_inspected(me, false, owner, &users).1;
        assert!(hint(1000, Some(0)).contains("same user"));
        assert!(hint(1000, None).contains("same user"));
        // Who is the same user already is not told to be.
        for (me, owner) in [(0, Some(0)), (0, None), (0, Some(7)), (7, Some(7))] {
            assert!(hint(me, owner).starts_with("the user is not the reason"));
        }
        // Root of a container with the usual rights.
        let (message, hint) = not_inspected(0, true, Some(1000), &users);
        assert!(message.contains("belongs to ann"), "{message}");
        assert!(message.contains("CAP_SYS_PTRACE"), "{message}");
        assert!(hint.starts_with("run ndbg as ann ("), "{hint}");
    }

    #[test]
    fn an_open_file_is_seen_in_its_holder() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().canonicalize().expect("it exists");
        let path = folder.join("pipe");
        let me = std::process::id();
        assert!(!holds(me, std::slice::from_ref(&path)));
        let _file = fs::File::create(&path).expect("a file");
        assert!(holds(me, std::slice::from_ref(&path)));
    }
}
