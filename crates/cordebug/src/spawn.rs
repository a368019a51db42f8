//! Starts a program that waits, before its first instruction, until the debugger is ready for it.
//!
//! The child is forked, tells its pid and blocks on a pipe before `exec`. Its pid and start time, which name the
//! runtime's start-up semaphores, are therefore known before the runtime can look for them; `exec` changes neither.
//!
//! Invariant: a child never outlives the process that started it. The kernel kills it when the thread that forked it
//! ends, so that thread lives as long as the child and is the one that waits for it.

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::fast_memory;

/// A child that was forked but has not run its program yet.
#[derive(Debug)]
pub struct Gated {
    pid: u32,
    gate: io::PipeWriter,
    started: mpsc::Receiver<io::Result<()>>,
}

/// How a child ended, as the kernel tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitReport {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// The status was lost.
    Unknown,
}

impl From<ExitStatus> for ExitReport {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => ExitReport::Code(code),
            (None, Some(signal)) => ExitReport::Signal(signal),
            (None, None) => ExitReport::Unknown,
        }
    }
}

/// Whether and how the child leaves the process group of its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessGroup {
    /// A group of its own.
    Own,
    /// An existing group: that of the terminal's foreground job.
    Join(i32),
}

/// Forks a child that will run `command` once [`Gated::release`] is called. `exited` is told how it ended.
pub fn spawn_gated(
    mut command: Command,
    group: ProcessGroup,
    exited: impl FnOnce(ExitReport) + Send + 'static,
) -> io::Result<Gated> {
    let (mut pid_reader, pid_writer) = io::pipe()?;
    let (gate_reader, gate) = io::pipe()?;
    let (started_sender, started) = mpsc::channel();
    let parent = std::process::id();
    let (pid_fd, gate_fd): (OwnedFd, OwnedFd) = (pid_writer.into(), gate_reader.into());
    command.process_group(match group {
        ProcessGroup::Own => 0,
        ProcessGroup::Join(group) => group,
    });
    let (pid_raw, gate_raw, gate_writer_raw) =
        (pid_fd.as_raw_fd(), gate_fd.as_raw_fd(), gate.as_raw_fd());
    // SAFETY: between fork and exec the closure only makes async-signal-safe calls (prctl, getppid, getpid, write,
    // close, read) on descriptors that the parent keeps open until `spawn` returns, and it allocates nothing.
    unsafe {
        command.pre_exec(move || wait_at_the_gate(parent, pid_raw, gate_raw, gate_writer_raw));
    }
    thread::Builder::new()
        .name("launcher".into())
        .spawn(move || {
            let spawned = command.spawn();
            // Closing our copies here and not earlier keeps the numbers in the closure valid.
            drop((pid_fd, gate_fd));
            match spawned {
                Ok(mut child) => {
                    let pid = child.id();
                    // The other end is gone if the launch was given up; the child is then killed by its owner.
                    let _ = started_sender.send(Ok(()));
                    exited(wait_for(pid, &mut child));
                }
                Err(error) => {
                    let _ = started_sender.send(Err(error));
                }
            }
        })?;
    let mut pid = [0; 4];
    match pid_reader.read_exact(&mut pid) {
        Ok(()) => Ok(Gated {
            pid: u32::from_ne_bytes(pid),
            gate,
            started,
        }),
        // The child never reached the gate: `spawn` says why.
        Err(_) => match started.recv() {
            Ok(Err(error)) => Err(error),
            Ok(Ok(())) | Err(mpsc::RecvError) => {
                Err(io::Error::other("the child did not reach its gate"))
            }
        },
    }
}

/// Has the kernel kill the command's process when the thread that starts it ends.
pub fn end_with_this_thread(command: &mut Command) {
    let parent = std::process::id();
    // SAFETY: between fork and exec the closure only makes async-signal-safe calls and allocates nothing.
    unsafe {
        command.pre_exec(move || end_with_parent(parent));
    }
}

/// Makes processes whose parent ends children of this one, so that nothing below a launched program is ever lost.
pub fn adopt_orphans() {
    // SAFETY: PR_SET_CHILD_SUBREAPER takes a flag and touches no memory.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
}

/// Runs in the child between fork and exec.
fn end_with_parent(parent: u32) -> io::Result<()> {
    // SAFETY: PR_SET_PDEATHSIG takes a signal number and touches no memory.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    // The parent may have died before the line above.
    // SAFETY: getppid has no precondition.
    if unsafe { libc::getppid() } as u32 != parent {
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    Ok(())
}

/// Runs in the child between fork and exec.
fn wait_at_the_gate(parent: u32, pid_fd: i32, gate_fd: i32, gate_writer: i32) -> io::Result<()> {
    end_with_parent(parent)?;
    // SAFETY: getpid has no precondition.
    let pid = (unsafe { libc::getpid() } as u32).to_ne_bytes();
    // SAFETY: `pid` is a live local of four bytes; the descriptor is open in the child.
    if unsafe { libc::write(pid_fd, pid.as_ptr().cast(), pid.len()) } != 4 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: closing our write end; the parent's copy stays.
    unsafe { libc::close(pid_fd) };
    // With our own copy open, the end of the parent's would never be seen.
    // SAFETY: closing our copy; the parent's stays.
    unsafe { libc::close(gate_writer) };
    let mut go = 0_u8;
    loop {
        // SAFETY: `go` is a live local of one byte.
        match unsafe { libc::read(gate_fd, (&raw mut go).cast(), 1) } {
            1 => return Ok(()),
            -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            // The parent gave up.
            _ => return Err(io::Error::from_raw_os_error(libc::ECANCELED)),
        }
    }
}

/// Waits without reaping first, so that the status is ours even if the runtime library reaps the child.
fn wait_for(pid: u32, child: &mut std::process::Child) -> ExitReport {
    loop {
        // SAFETY: an all-zero siginfo is a valid value for the kernel to overwrite.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        // SAFETY: `info` is a live local of the type waitid writes.
        let result =
            unsafe { libc::waitid(libc::P_PID, pid, &mut info, libc::WEXITED | libc::WNOWAIT) };
        // A thread that is traced for a moment (see `suspension`) is told of too.
        if result == 0 && matches!(info.si_code, libc::CLD_TRAPPED | libc::CLD_STOPPED) {
            std::thread::sleep(Duration::from_millis(1));
            continue;
        }
        if result == 0 {
            // SAFETY: waitid succeeded, so the SIGCHLD fields are set.
            let status = unsafe { info.si_status() };
            // Reaped now, by us or by the runtime library: the zombie must not stay.
            let _ = child.wait();
            return if info.si_code == libc::CLD_EXITED {
                ExitReport::Code(status)
            } else {
                ExitReport::Signal(status)
            };
        }
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return stolen_report(fast_memory::stolen_status);
        }
    }
}

/// How often the status of a child that another thread reaped is looked for, a millisecond apart. That thread may be
/// between two instructions on a processor that is busy with others, for as long as those please.
const LOOKS: u32 = 4000;

/// How the child ended according to the call that reaped it instead of us. That call notes the status a moment after
/// the kernel has forgotten the child, so it is waited for.
fn stolen_report(mut noted: impl FnMut() -> Option<i32>) -> ExitReport {
    for _ in 0..LOOKS {
        if let Some(status) = noted() {
            return ExitStatus::from_raw(status).into();
        }
        thread::sleep(Duration::from_millis(1));
    }
    ExitReport::Unknown
}

impl Gated {
    /// The child's process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Lets the child run its program; an error says why that could not be started.
    pub fn release(mut self) -> io::Result<()> {
        self.gate.write_all(&[1])?;
        match self.started.recv() {
            Ok(result) => result,
            Err(mpsc::RecvError) => Err(io::Error::other("the launcher thread ended")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::procfs;

    #[test]
    fn a_gated_child_runs_only_after_its_release_and_its_exit_code_is_told() {
        let (sender, receiver) = mpsc::channel();
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "exit 7"]);
        let gated = spawn_gated(command, ProcessGroup::Own, move |report| {
            let _ = sender.send(report);
        })
        .expect("sh can be forked");
        let before = procfs::stat(gated.pid()).expect("the child exists");
        assert!(receiver.try_recv().is_err());
        assert_eq!(
            procfs::stat(gated.pid()).expect("still there").start_time,
            before.start_time
        );
        gated.release().expect("sh starts");
        assert_eq!(receiver.recv(), Ok(ExitReport::Code(7)));
    }

    #[test]
    fn the_status_of_a_child_that_another_thread_reaped_is_waited_for() {
        let mut looks = 0;
        let report = stolen_report(|| {
            looks += 1;
            (looks > 300).then_some(5 << 8)
        });
        assert_eq!(report, ExitReport::Code(5));
    }

    #[test]
    fn a_program_that_does_not_exist_is_an_error_and_leaves_no_child() {
        let gated = spawn_gated(Command::new("/no/such/program"), ProcessGroup::Own, |_| {})
            .expect("fork works");
        let pid = gated.pid();
        assert_eq!(
            gated.release().expect_err("exec fails").kind(),
            io::ErrorKind::NotFound
        );
        assert!(!procfs::is_alive(pid));
    }

    #[test]
    fn a_launch_that_is_given_up_ends_the_child() {
        let gated =
            spawn_gated(Command::new("/bin/sh"), ProcessGroup::Own, |_| {}).expect("fork works");
        let pid = gated.pid();
        let Gated { gate, started, .. } = gated;
        drop(gate);
        assert!(started.recv().expect("the launcher answers").is_err());
        assert!(!procfs::is_alive(pid));
    }

    #[test]
    fn a_signal_is_told_as_a_signal() {
        let (sender, receiver) = mpsc::channel();
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "kill -KILL $$"]);
        let gated = spawn_gated(command, ProcessGroup::Own, move |report| {
            let _ = sender.send(report);
        })
        .expect("fork works");
        gated.release().expect("sh starts");
        assert_eq!(receiver.recv(), Ok(ExitReport::Signal(libc::SIGKILL)));
    }
}
