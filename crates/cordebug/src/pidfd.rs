//! Watches a process that is not our child, and asks the kernel how it ended.
//!
//! Since Linux 6.15 a pidfd that was opened while the process lived tells its exit status after it was reaped; older
//! kernels only tell that it ended. Until its parent reaps it, `/proc/PID/stat` tells, if the process is our user's.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, PidfdFlags};

use crate::procfs;
use crate::spawn::ExitReport;

/// A handle to one process that no later process with the same id can take over.
#[derive(Debug)]
pub struct ProcessHandle {
    pidfd: OwnedFd,
    pid: u32,
    start_time: u64,
}

/// `struct pidfd_info` of linux/pidfd.h, first version.
#[repr(C)]
#[derive(Default)]
struct PidfdInfo {
    mask: u64,
    cgroup: u64,
    ids: [u32; 11],
    exit_code: i32,
}

const INFO_EXIT: u64 = 1 << 3;
/// `_IOWR(0xFF, 11, struct pidfd_info)`.
const GET_INFO: libc::Ioctl =
    ((3 << 30) | (size_of::<PidfdInfo>() << 16) | (0xff << 8) | 11) as libc::Ioctl;

impl ProcessHandle {
    /// Opens a handle to `pid`.
    pub fn open(pid: u32) -> io::Result<Self> {
        let raw = i32::try_from(pid)
            .ok()
            .and_then(Pid::from_raw)
            .ok_or(io::ErrorKind::InvalidInput)?;
        let start_time = procfs::stat(pid)?.start_time;
        Ok(Self {
            pidfd: rustix::process::pidfd_open(raw, PidfdFlags::empty())?,
            pid,
            start_time,
        })
    }

    /// The descriptor, for those who wait for the end among other things.
    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    /// Whether the process ends in that time.
    pub fn ends_within(&self, time: Duration) -> bool {
        let time = rustix::event::Timespec {
            tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(time.subsec_nanos()),
        };
        let mut polled = [PollFd::new(&self.pidfd, PollFlags::IN)];
        matches!(rustix::event::poll(&mut polled, Some(&time)), Ok(1))
    }

    /// Ends the process as `abort` does.
    pub fn abort(&self) {
        // It may have ended meanwhile.
        let _ = rustix::process::pidfd_send_signal(&self.pidfd, rustix::process::Signal::ABORT);
    }

    /// Waits for the end of the process; how it ended, if the kernel tells.
    pub fn wait(&self) -> ExitReport {
        loop {
            let mut polled = [PollFd::new(&self.pidfd, PollFlags::IN)];
            match rustix::event::poll(&mut polled, None) {
                Ok(_) => break,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return ExitReport::Unknown,
            }
        }
        if let Some(report) = self.reap() {
            return report;
        }
        // The handle knows it only after the parent has reaped it, which may take a moment or never happen; until then
        // the zombie does. Its 0 may also mean that we must not know, so the better answer is waited for first.
        let mut zero = None;
        for _ in 0..100 {
            let zombie = procfs::zombie_status(self.pid, self.start_time);
            match (zombie, self.exit_status()) {
                (Some(status @ 1..), _) | (_, Some(Some(status))) => {
                    return ExitStatus::from_raw(status).into();
                }
                (None, None) => break,
                _ => zero = zombie.or(zero),
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        zero.map_or(ExitReport::Unknown, |status| {
            ExitStatus::from_raw(status).into()
        })
    }

    /// Takes the status of a process that became our child because its parent ended. It must not stay a zombie: the
    /// runtime's debugger library takes one for alive and waits for its answer.
    fn reap(&self) -> Option<ExitReport> {
        let fd = libc::id_t::try_from(self.pidfd.as_raw_fd()).ok()?;
        // SAFETY: an all-zero siginfo is a valid value for the kernel to overwrite.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        // SAFETY: `info` is a live local of the type waitid writes; the descriptor is open.
        if unsafe { libc::waitid(libc::P_PIDFD, fd, &mut info, libc::WEXITED | libc::WNOHANG) } != 0
        {
            return None;
        }
        // SAFETY: waitid succeeded, so these fields are set, to zero if there was nothing to reap.
        if unsafe { info.si_pid() } == 0 {
            return None;
        }
        // SAFETY: see above.
        let status = unsafe { info.si_status() };
        Some(if info.si_code == libc::CLD_EXITED {
            ExitReport::Code(status)
        } else {
            ExitReport::Signal(status)
        })
    }

    /// The wait status; `Some(None)` if it is not there yet, `None` if this kernel does not tell.
    fn exit_status(&self) -> Option<Option<i32>> {
        let mut info = PidfdInfo {
            mask: INFO_EXIT,
            ..PidfdInfo::default()
        };
        // SAFETY: the request number carries the size of `info`, a live local that the kernel fills.
        let result = unsafe { libc::ioctl(self.pidfd.as_raw_fd(), GET_INFO, &raw mut info) };
        if result == 0 {
            return Some((info.mask & INFO_EXIT != 0).then_some(info.exit_code));
        }
        // ESRCH: gone, and this kernel keeps nothing; anything else: it does not know the request.
        None
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    use super::*;

    /// Runs a script that prints a process id; the id, and the shell.
    fn pid_from(script: &str) -> (u32, std::process::Child) {
        let mut shell = Command::new("/bin/sh")
            .args(["-c", script])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("sh runs");
        let stdout = shell.stdout.take().expect("piped");
        let mut line = String::new();
        BufReader::new(stdout)
            .read_line(&mut line)
            .expect("the shell prints a line");
        (line.trim().parse().expect("a pid"), shell)
    }

    #[test]
    fn a_process_whose_parent_does_not_reap_it_tells_its_signal() {
        // The shell becomes a program that never asks for its children.
        let script = "sleep 1000 >/dev/null & echo $!; exec sleep 1000 >/dev/null";
        let (pid, mut parent) = pid_from(script);
        let handle = ProcessHandle::open(pid).expect("it runs");
        rustix::process::kill_process(
            Pid::from_raw(pid as i32).expect("a pid"),
            rustix::process::Signal::KILL,
        )
        .expect("our own process");
        assert_eq!(handle.wait(), ExitReport::Signal(libc::SIGKILL));
        parent.kill().expect("our own child");
        parent.wait().expect("our own child");
    }

    #[test]
    fn the_end_of_a_strangers_process_is_told() {
        // Orphaned at once: it becomes a child of somebody else, who reaps it at any moment.
        let (pid, mut shell) = pid_from("(sleep 0.2; exit 3) >/dev/null & echo $!");
        shell.wait().expect("our own child");
        if let Ok(handle) = ProcessHandle::open(pid) {
            assert!(matches!(
                handle.wait(),
                ExitReport::Code(3) | ExitReport::Unknown
            ));
        }
    }
}
