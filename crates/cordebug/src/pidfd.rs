//! Watches a process that is not our child, and asks the kernel how it ended.
//!
//! Since Linux 6.15 a pidfd that was opened while the process lived tells its exit status after it was reaped; older
//! kernels only tell that it ended.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, PidfdFlags};

use crate::spawn::ExitReport;

/// A handle to one process that no later process with the same id can take over.
#[derive(Debug)]
pub struct ProcessHandle(OwnedFd);

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
        let pid = i32::try_from(pid)
            .ok()
            .and_then(Pid::from_raw)
            .ok_or(io::ErrorKind::InvalidInput)?;
        Ok(Self(rustix::process::pidfd_open(pid, PidfdFlags::empty())?))
    }

    /// Waits for the end of the process; how it ended, if the kernel tells.
    pub fn wait(&self) -> ExitReport {
        loop {
            let mut polled = [PollFd::new(&self.0, PollFlags::IN)];
            match rustix::event::poll(&mut polled, None) {
                Ok(_) => break,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return ExitReport::Unknown,
            }
        }
        if let Some(report) = self.reap() {
            return report;
        }
        // The status is there only after its parent has reaped it, which may take a moment or never happen.
        for _ in 0..100 {
            match self.exit_status() {
                Some(Some(status)) => {
                    let status: std::process::ExitStatus =
                        std::os::unix::process::ExitStatusExt::from_raw(status);
                    return status.into();
                }
                Some(None) => std::thread::sleep(Duration::from_millis(5)),
                None => break,
            }
        }
        ExitReport::Unknown
    }

    /// Takes the status of a process that became our child because its parent ended. It must not stay a zombie: the
    /// runtime's debugger library takes one for alive and waits for its answer.
    fn reap(&self) -> Option<ExitReport> {
        let fd = libc::id_t::try_from(self.0.as_raw_fd()).ok()?;
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
        let result = unsafe { libc::ioctl(self.0.as_fd().as_raw_fd(), GET_INFO, &raw mut info) };
        if result == 0 {
            return Some((info.mask & INFO_EXIT != 0).then_some(info.exit_code));
        }
        // ESRCH: gone, and this kernel keeps nothing; anything else: it does not know the request.
        None
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_end_of_a_strangers_process_is_told() {
        // Orphaned at once: sleep becomes a child of somebody else.
        let script = "(sleep 0.2; exit 3) & echo $!";
        let output = Command::new("/bin/sh")
            .args(["-c", script])
            .stderr(std::process::Stdio::null())
            .output();
        let output = output.expect("sh runs");
        let pid = String::from_utf8_lossy(&output.stdout)
            .trim()
            .parse()
            .expect("a pid");
        if let Ok(handle) = ProcessHandle::open(pid) {
            assert!(matches!(
                handle.wait(),
                ExitReport::Code(3) | ExitReport::Unknown
            ));
        }
    }
}
