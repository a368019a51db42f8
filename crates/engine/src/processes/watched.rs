//! A process that may end at any time after its debugger has gone: whether it has, and how, as far as the system tells.

use std::sync::OnceLock;
use std::time::Duration;

use cordebug::pidfd::ProcessHandle;
use cordebug::procfs;
use cordebug::spawn::ExitReport;

use super::identity;
use crate::api::{Exit, Origin, ProcessId};

/// One process, for ever: no later one with the same id is taken for it.
#[derive(Debug)]
pub struct Watched {
    pid: ProcessId,
    start_time: Option<u64>,
    /// Tells how it ended, where the kernel gives one.
    handle: Option<ProcessHandle>,
    end: OnceLock<Exit>,
}

impl Watched {
    /// The process with this id, which is there now.
    pub fn of(pid: ProcessId) -> Self {
        Self {
            pid,
            start_time: identity(pid).map(|(_, start_time)| start_time),
            handle: ProcessHandle::open(pid.0).ok(),
            end: OnceLock::new(),
        }
    }

    /// Its id.
    pub fn pid(&self) -> ProcessId {
        self.pid
    }

    /// Ends it, if it lives.
    pub fn kill(&self) {
        if self.end().is_none() {
            super::kill_all(&[self.pid.0]);
        }
    }

    /// How it has ended; nothing while it lives. May take half a second, once.
    pub fn end(&self) -> Option<Exit> {
        if let Some(end) = self.end.get() {
            return Some(end.clone());
        }
        let report = match &self.handle {
            Some(handle) => handle.ends_within(Duration::ZERO).then(|| handle.wait()),
            None => (!self.is_listed()).then_some(ExitReport::Unknown),
        }?;
        let end = crate::ending::exit(report, false, Some(Origin::Attached));
        Some(self.end.get_or_init(|| end).clone())
    }

    fn is_listed(&self) -> bool {
        procfs::stat(self.pid.0)
            .is_ok_and(|it| Some(it.start_time) == self.start_time && !it.has_ended())
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_process_lives_until_it_has_ended() {
        for handle in [true, false] {
            let mut child = Command::new("/bin/sleep")
                .arg("1000")
                .stdin(Stdio::null())
                .spawn()
                .expect("sleep runs");
            let mut watched = Watched::of(ProcessId(child.id()));
            if !handle {
                watched.handle = None;
            }
            assert_eq!(watched.end(), None);
            child.kill().expect("our own child");
            child.wait().expect("our own child");
            let end = watched.end().expect("it has ended");
            assert!(
                matches!(end, Exit::Signal { number: 9, .. } | Exit::Unknown { .. }),
                "{end:?}"
            );
            assert_eq!(watched.end(), Some(end));
        }
    }
}
