//! A host that is started ahead and waits for its program: a front end's first session begins in it.
//!
//! Invariant: none is started once a session has begun, and no session begins in one that has died meanwhile.

use std::sync::{Mutex, MutexGuard, PoisonError};

use engine::api::Error;

use crate::session::{HostProgram, Session};

/// Where the hosts of a front end come from.
#[derive(Debug)]
pub struct SpareHost {
    program: HostProgram,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    host: Option<Session>,
    /// Set when the first session has begun, or none will.
    over: bool,
}

impl SpareHost {
    /// Starts hosts of this kind, none yet.
    pub fn new(program: HostProgram) -> Self {
        Self {
            program,
            waiting: Mutex::default(),
        }
    }

    /// Starts a host for the first session. What is wrong with it is told to who needs one.
    pub fn prepare(&self) {
        let mut waiting = self.waiting();
        if waiting.host.is_none() && !waiting.over {
            waiting.host = Session::start(&self.program).ok();
        }
    }

    /// The host that waits, or a new one.
    pub fn take(&self) -> Result<Session, Error> {
        let waiting = self.end_waiting();
        let waiting = waiting.filter(|session| session.died().is_none());
        waiting.map_or_else(|| Session::start(&self.program), Ok)
    }

    /// Ends the host that waits, if one does.
    pub fn dismiss(&self) {
        drop(self.end_waiting());
    }

    fn end_waiting(&self) -> Option<Session> {
        let mut waiting = self.waiting();
        waiting.over = true;
        waiting.host.take()
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use engine::api::Request;

    use super::*;

    fn hosts(script: &str) -> SpareHost {
        SpareHost::new(HostProgram {
            path: "/bin/sh".into(),
            args: vec!["-c".into(), script.into()],
            env: Vec::new(),
        })
    }

    #[test]
    fn a_host_that_died_while_it_waited_is_not_used() {
        let hosts = hosts("exit 3");
        hosts.prepare();
        let deadline = Instant::now() + Duration::from_secs(60);
        let waiting = hosts.waiting().host.clone().expect("one was started");
        let dead = waiting.request(Request::Status, deadline);
        assert!(dead.is_err(), "{dead:?}");
        let session = hosts.take().expect("another one");
        assert!(!std::sync::Arc::ptr_eq(&session.0, &waiting.0));
    }

    #[test]
    fn only_the_first_session_has_a_host_that_waits() {
        let hosts = hosts("cat > /dev/null");
        hosts.prepare();
        let waiting = hosts.waiting().host.clone().expect("one was started");
        let first = hosts.take().expect("the one that waits");
        assert!(std::sync::Arc::ptr_eq(&first.0, &waiting.0));
        hosts.prepare();
        assert!(hosts.waiting().host.is_none());
    }
}
