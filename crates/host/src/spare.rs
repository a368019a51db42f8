//! A host that waits for its program: the next session begins in it, and does not wait for its start.
//!
//! Invariant: at most one is kept; a session never begins in one that has died meanwhile.

use std::sync::{Mutex, MutexGuard, PoisonError};

use engine::api::Error;

use crate::session::{HostProgram, Session};

/// Where sessions of a front end that has several come from.
#[derive(Debug)]
pub struct SpareHost {
    program: HostProgram,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    host: Option<Session>,
    /// Set when no session will begin any more.
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

    /// Starts a host if none waits. What is wrong with it is told to who needs one.
    pub fn prepare(&self) {
        let mut waiting = self.waiting();
        if waiting.host.is_none() && !waiting.over {
            waiting.host = Session::start(&self.program).ok();
        }
    }

    /// The host that waits, or a new one.
    pub fn take(&self) -> Result<Session, Error> {
        let waiting = self.waiting().host.take();
        let waiting = waiting.filter(|session| session.died().is_none());
        waiting.map_or_else(|| Session::start(&self.program), Ok)
    }

    /// Ends the host that waits; none is started ahead any more.
    pub fn dismiss(&self) {
        let mut waiting = self.waiting();
        waiting.over = true;
        let host = waiting.host.take();
        // Its end takes a moment.
        drop(waiting);
        drop(host);
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

    #[test]
    fn a_host_that_died_while_it_waited_is_not_used() {
        let folder = std::env::temp_dir().join(format!("ndbg-spare-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a new folder");
        // The first one dies at once, all others stay.
        let script = r#"[ -e "$0" ] && exec cat > /dev/null; : > "$0"; exit 3"#;
        let mark = folder.join("started").display().to_string();
        let spare = SpareHost::new(HostProgram {
            path: "/bin/sh".into(),
            args: vec!["-c".into(), script.into(), mark],
            env: Vec::new(),
        });
        spare.prepare();
        let deadline = Instant::now() + Duration::from_secs(60);
        let waiting = spare.waiting().host.clone();
        let error = waiting.map(|it| it.request(Request::Status, deadline));
        assert!(matches!(error, Some(Err(_))), "it has ended: {error:?}");
        let session = spare.take().expect("another one");
        assert!(session.died().is_none());
        spare.prepare();
        assert!(spare.waiting().host.is_some());
        spare.dismiss();
        spare.prepare();
        assert!(spare.waiting().host.is_none());
        std::fs::remove_dir_all(&folder).expect("our own");
    }
}
