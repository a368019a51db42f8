//! A host that is started ahead and waits for its program: a front end's next session begins in it.
//!
//! Invariant: none waits while a session lives, and no session begins in one that has died meanwhile.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use engine::api::{Error, Request};

use crate::session::{HostProgram, Session};

/// How long a host that waits may take to answer.
const AWAKE: Duration = Duration::from_secs(1);

/// Where the hosts of a front end come from.
#[derive(Debug)]
pub struct SpareHost {
    program: HostProgram,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    host: Option<Session>,
    /// Sessions that live: whoever debugs one program seldom needs a second host soon.
    live: usize,
    /// Set when no session will begin any more.
    over: bool,
}

/// The place of a session that lives, or is about to.
#[derive(Debug)]
pub struct Place(Arc<SpareHost>);

impl SpareHost {
    /// Starts hosts of this kind, none yet.
    pub fn new(program: HostProgram) -> Self {
        Self {
            program,
            waiting: Mutex::default(),
        }
    }

    /// Starts a host for the next session, unless one lives. What is wrong with it is told to who needs one.
    pub fn prepare(&self) {
        let mut waiting = self.waiting();
        if waiting.host.is_none() && waiting.live == 0 && !waiting.over {
            waiting.host = Session::start(&self.program).ok();
        }
    }

    /// A session begins: as long as it has its place, no further host is started ahead.
    pub fn begin(self: Arc<Self>) -> Place {
        self.waiting().live += 1;
        Place(self)
    }

    /// The host that waits, or a new one.
    pub fn take(&self) -> Result<Session, Error> {
        let waiting = self.waiting().host.take();
        if let Some(session) = waiting {
            // Its death may not be known yet, and one that is suspended would hold up whoever needs it.
            match session.request(Request::Status, Instant::now() + AWAKE) {
                Ok(_) => return Ok(session),
                Err(error) => tracing::info!(%error, "the host that waited is not used"),
            }
            let name = thread::Builder::new().name("dismiss".into());
            // Without a thread, here.
            let _ = name.spawn(move || drop(session));
        }
        Session::start(&self.program)
    }

    /// Ends the host that waits, if one does; none is started ahead any more.
    pub fn dismiss(&self) {
        let waiting = {
            let mut waiting = self.waiting();
            waiting.over = true;
            waiting.host.take()
        };
        // Takes as long as that host does.
        drop(waiting);
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// The session is over. Tells where the next one may be prepared.
    pub fn leave(self) -> Arc<SpareHost> {
        self.0.clone()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut waiting = self.0.waiting();
        waiting.live = waiting.live.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(script: &str) -> Arc<SpareHost> {
        Arc::new(SpareHost::new(HostProgram {
            path: "/bin/sh".into(),
            args: vec!["-c".into(), script.into()],
            env: Vec::new(),
        }))
    }

    fn waiting(hosts: &SpareHost) -> Option<Session> {
        hosts.waiting().host.clone()
    }

    #[test]
    fn a_host_that_died_while_it_waited_is_not_used() {
        let hosts = hosts("exit 3");
        hosts.prepare();
        let deadline = Instant::now() + Duration::from_secs(60);
        let waiting = waiting(&hosts).expect("one was started");
        let dead = waiting.request(Request::Status, deadline);
        assert!(dead.is_err(), "{dead:?}");
        let session = hosts.take().expect("another one");
        assert!(!Arc::ptr_eq(&session.0, &waiting.0));
    }

    #[test]
    fn a_host_waits_only_while_no_session_lives() {
        let hosts = hosts("cat > /dev/null");
        hosts.prepare();
        let place = hosts.clone().begin();
        // It answers nothing, so that nobody would take it.
        hosts.waiting().host.take().expect("one was started");
        hosts.prepare();
        assert!(waiting(&hosts).is_none());
        let second = hosts.clone().begin();
        second.leave().prepare();
        assert!(waiting(&hosts).is_none(), "the first lives");
        place.leave().prepare();
        assert!(waiting(&hosts).is_some());
        hosts.dismiss();
        hosts.prepare();
        assert!(waiting(&hosts).is_none());
    }
}
