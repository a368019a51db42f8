//! The machine, the kernel and what they allow.

use std::ffi::OsString;
use std::fs;
use std::process::{Command, Stdio};

use cordebug::pidfd::ProcessHandle;
use cordebug::procfs;
use rustix::thread::CapabilitySet;

use super::Check;

/// The oldest GNU C library that current runtimes run on.
const MIN_GLIBC: (u32, u32) = (2, 23);

/// Kernel and processor.
pub(super) fn machine() -> Check {
    let system = rustix::system::uname();
    let text = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
    let message = format!(
        "Linux {} on {}",
        text(system.release()),
        text(system.machine())
    );
    match std::env::consts::ARCH {
        "x86_64" => Check::ok("system", message),
        "aarch64" => Check::warning(
            "system",
            message,
            "ndbg is tested on x86_64 only so far; please report what does not work",
        ),
        _ => Check::problem("system", message, "use an x86_64 or aarch64 machine"),
    }
}

/// The C library that the runtime's libraries are built for.
pub(super) fn c_library() -> Check {
    let name = "C library";
    if !cfg!(target_env = "gnu") {
        return Check::problem(
            name,
            "this ndbg is not built for the GNU C library",
            "use the glibc build of ndbg: the runtime's debugger library cannot be loaded otherwise",
        );
    }
    let Some((version, text)) = glibc_version() else {
        return Check::ok(name, "GNU C library");
    };
    if version < MIN_GLIBC {
        return Check::warning(
            name,
            format!("GNU C library {text} is older than any that .NET supports"),
            format!(
                "update to {}.{} or newer if a runtime does not start",
                MIN_GLIBC.0, MIN_GLIBC.1
            ),
        );
    }
    Check::ok(name, format!("GNU C library {text}"))
}

/// The version of the C library that this process uses, as its file tells it.
fn glibc_version() -> Option<((u32, u32), String)> {
    let library = procfs::mapped_library(std::process::id(), "libc.so.6")
        .ok()
        .flatten()?;
    let bytes = fs::read(library.path).ok()?;
    let mark = b"release version ";
    let at = bytes
        .windows(mark.len())
        .position(|window| window == mark)?
        + mark.len();
    let rest = bytes.get(at..at.saturating_add(16))?;
    let text: String = rest
        .iter()
        .map(|byte| char::from(*byte))
        .take_while(|char| char.is_ascii_digit() || *char == '.')
        .collect();
    let text = text.trim_end_matches('.').to_owned();
    let (major, minor) = text.split_once('.')?;
    Some(((major.parse().ok()?, minor.parse().ok()?), text))
}

/// Whether the memory of other processes can be read directly, which makes a stop fast.
pub(super) fn inspection() -> Vec<Check> {
    let privileged = may_inspect_others();
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope")
        .ok()
        .and_then(|text| text.trim().parse().ok());
    vec![launched_memory(), attached_memory(scope, privileged)]
}

/// Whether this process has the right to look into those of other users.
pub(crate) fn may_inspect_others() -> bool {
    rustix::thread::capabilities(None)
        .is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_PTRACE))
}

/// Whether programs of other users can be attached to.
pub(super) fn other_users(is_root: bool, privileged: bool) -> Check {
    let name = "other users";
    match (is_root, privileged) {
        (true, true) => Check::ok(name, "their programs can be attached to"),
        (true, false) => Check::warning(
            name,
            "their programs may be closed to ndbg: this root has no CAP_SYS_PTRACE",
            "run ndbg as the program's user (docker exec --user NAME), or start the container with --cap-add=SYS_PTRACE",
        ),
        (false, _) => Check::ok(
            name,
            "their programs are for them and for root to attach to",
        ),
    }
}

/// Tries to open the memory of a child, as is done with a launched program.
fn launched_memory() -> Check {
    let name = "launched programs";
    let child = Command::new("cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            return Check::warning(
                name,
                format!("could not be tried: cat cannot be started: {error}"),
                "install the usual command line tools",
            );
        }
    };
    let opened = fs::File::open(format!("/proc/{}/mem", child.id()));
    // It reads the end of its input and ends; killed in case it does not.
    drop(child.stdin.take());
    let _ = child.kill();
    let _ = child.wait();
    match opened {
        Ok(_) => Check::ok(name, "their memory can be read directly"),
        Err(error) => Check::warning(
            name,
            format!(
                "their memory cannot be read directly ({error}): each stop costs about a tenth of a second"
            ),
            "allow it: in a container --cap-add=SYS_PTRACE, elsewhere sysctl kernel.yama.ptrace_scope=1",
        ),
    }
}

/// What Yama says about processes that are not our children.
fn attached_memory(scope: Option<u32>, privileged: bool) -> Check {
    let name = "attached programs";
    let slow = "can be debugged, but their memory cannot be read directly: each stop costs about a tenth of a second";
    match scope {
        None | Some(0) => Check::ok(name, "their memory can be read directly"),
        Some(1 | 2) if privileged => Check::ok(
            name,
            "their memory can be read directly, because ndbg has CAP_SYS_PTRACE",
        ),
        Some(scope @ (1 | 2)) => Check::warning(
            name,
            format!("{slow} (kernel.yama.ptrace_scope is {scope})"),
            "launch programs from ndbg, or allow it until the next boot: sudo sysctl kernel.yama.ptrace_scope=0",
        ),
        Some(scope) => Check::warning(
            name,
            format!("{slow} (kernel.yama.ptrace_scope is {scope})"),
            "this setting can only be changed by a boot: set kernel.yama.ptrace_scope to 0 or 1",
        ),
    }
}

/// Whether the kernel tells the end of a process that is not our child.
pub(super) fn process_handles() -> Check {
    let name = "process handles";
    match ProcessHandle::open(std::process::id()) {
        Ok(_) => Check::ok(name, "the kernel tells when an attached program ends"),
        Err(error) => Check::warning(
            name,
            format!("the kernel does not tell when an attached program ends: {error}"),
            "use Linux 5.3 or newer, in a container with a seccomp profile that allows pidfd_open",
        ),
    }
}

/// The layer that makes the runtime's library quick.
pub(super) fn fast_memory(variable: &dyn Fn(&str) -> Option<OsString>) -> Check {
    let name = "fast memory";
    if variable("NDBG_FAST_MEMORY").is_some_and(|value| value == "0") {
        return Check::warning(
            name,
            "switched off by NDBG_FAST_MEMORY=0: stops and steps are several times slower",
            "unset NDBG_FAST_MEMORY",
        );
    }
    Check::ok(name, "on")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Outcome;

    #[test]
    fn the_c_library_tells_its_version() {
        let ((major, minor), text) = glibc_version().expect("this test uses glibc");
        assert_eq!(major, 2, "{text}");
        assert!(minor > 20, "{text}");
    }

    #[test]
    fn yama_slows_attaching_down_unless_we_are_privileged() {
        let outcome = |scope, privileged| attached_memory(scope, privileged).outcome;
        assert_eq!(outcome(None, false), Outcome::Ok);
        assert_eq!(outcome(Some(0), false), Outcome::Ok);
        assert_eq!(outcome(Some(1), false), Outcome::Warning);
        assert_eq!(outcome(Some(1), true), Outcome::Ok);
        assert_eq!(outcome(Some(2), false), Outcome::Warning);
        // Nobody may, whatever their rights.
        assert_eq!(outcome(Some(3), true), Outcome::Warning);
    }

    #[test]
    fn root_without_the_right_to_look_at_others_is_told() {
        assert_eq!(other_users(true, true).outcome, Outcome::Ok);
        assert_eq!(other_users(false, false).outcome, Outcome::Ok);
        let check = other_users(true, false);
        assert_eq!(check.outcome, Outcome::Warning);
        assert!(check.message.contains("CAP_SYS_PTRACE"), "{check:?}");
    }

    #[test]
    fn the_fast_memory_layer_is_on_unless_switched_off() {
        let outcome = |value: Option<&str>| {
            let value = value.map(OsString::from);
            fast_memory(&move |_| value.clone()).outcome
        };
        assert_eq!(outcome(None), Outcome::Ok);
        assert_eq!(outcome(Some("1")), Outcome::Ok);
        assert_eq!(outcome(Some("0")), Outcome::Warning);
    }
}
