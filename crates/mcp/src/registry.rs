//! All sessions of the server: named, found, kept for a while after their end.
//!
//! Invariant: at most [`LIVE`] sessions have a host; of those that are over at most [`ENDED`] are kept, and their
//! output together takes at most [`ENDED_OUTPUT`] (the newest one is always kept).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use host::api::{Error, ErrorCode};
use host::{HostProgram, SpareHost};
use tokio::sync::watch;

use crate::policy::Policy;
use crate::session::{DebugSession, Recipe};

/// Sessions that may be debugged at once.
const LIVE: usize = 16;
/// Ended sessions that are kept.
const ENDED: usize = 8;
/// Bytes of output of ended sessions that are kept.
const ENDED_OUTPUT: usize = 4 << 20;

/// The sessions of a server. Shared by all of its connections.
#[derive(Debug)]
pub struct Registry {
    hosts: Arc<SpareHost>,
    policy: Arc<Policy>,
    sessions: Mutex<Sessions>,
    closing: watch::Sender<Option<Closing>>,
}

#[derive(Debug, Default)]
struct Sessions {
    /// Number of the last id given.
    last: u32,
    /// Oldest first.
    all: Vec<Arc<DebugSession>>,
}

/// Why the server ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closing {
    /// Its client is gone.
    ClientGone,
    /// A signal of this name asked for it.
    Signal(&'static str),
}

/// Which sessions a tool can work with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// Those with a program.
    Live,
    /// Also those that are over.
    Any,
}

impl Registry {
    /// An empty registry whose sessions run in hosts of this kind.
    pub fn new(host: HostProgram) -> Arc<Self> {
        Self::with_policy(host, Policy::default())
    }

    /// As [`new`](Self::new), for clients that may not do everything.
    pub fn with_policy(host: HostProgram, policy: Policy) -> Arc<Self> {
        Arc::new(Self {
            hosts: Arc::new(SpareHost::new(host)),
            policy: Arc::new(policy),
            sessions: Mutex::default(),
            closing: watch::Sender::new(None),
        })
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What clients may do.
    pub(crate) fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    /// Starts a host for the next session, beside this thread.
    pub(crate) fn prepare_host(&self) {
        crate::session::prepare_host(self.hosts.clone());
    }

    /// Begins a session.
    pub(crate) fn begin(&self, recipe: Recipe) -> Result<Arc<DebugSession>, Error> {
        self.policy.check_start(&recipe)?;
        let mut sessions = self.sessions();
        if let Some(why) = *self.closing.borrow() {
            return Err(closing(why));
        }
        let live = sessions
            .all
            .iter()
            .filter(|session| !session.is_over())
            .count();
        if live >= LIVE {
            let message = format!("{live} programs are being debugged already, which is the limit");
            return Err(Error::new(ErrorCode::InvalidParameter, message)
                .hint("end one of them with debug_disconnect; debug_status lists them"));
        }
        sessions.last += 1;
        let session = DebugSession::begin(
            format!("s{}", sessions.last),
            &self.hosts,
            self.policy.clone(),
            recipe,
        )?;
        sessions.all.push(session.clone());
        sessions.prune();
        Ok(session)
    }

    /// The session a tool is to work with: the one named, or the only one there is.
    pub(crate) fn find(&self, id: Option<&str>, which: Which) -> Result<Arc<DebugSession>, Error> {
        let sessions = self.sessions();
        let Some(id) = id else {
            return sessions.only(which).inspect(|session| session.usage.note());
        };
        let found = sessions.all.iter().find(|session| session.id() == id);
        let found = found.inspect(|session| session.usage.note());
        found.cloned().ok_or_else(|| {
            let error = Error::new(ErrorCode::NoSession, format!("there is no session {id:?}"));
            match sessions.names(Which::Any).as_str() {
                "" => error.hint("debug_launch or debug_attach begins one"),
                names => error.hint(format!("there are {names}")),
            }
        })
    }

    /// All sessions, oldest first.
    pub(crate) fn all(&self) -> Vec<Arc<DebugSession>> {
        let mut sessions = self.sessions();
        sessions.prune();
        sessions.all.clone()
    }

    /// The session that debugs a process.
    pub(crate) fn of_process(&self, pid: u32) -> Option<String> {
        let sessions = self.sessions();
        let debugs = |session: &&Arc<DebugSession>| {
            let news = session.news();
            news.over.is_none() && news.status.pid.is_some_and(|found| found.0 == pid)
        };
        sessions
            .all
            .iter()
            .find(debugs)
            .map(|session| session.id().to_owned())
    }

    /// Forgets a session whose story was told to the end.
    pub(crate) fn forget(&self, session: &DebugSession) {
        self.sessions()
            .all
            .retain(|other| other.id() != session.id());
    }

    /// Completes when the server is closing, with the error for whoever waits.
    pub(crate) async fn closed(&self) -> Error {
        let mut changes = self.closing.subscribe();
        // The sender lives as long as the registry.
        let why = changes.wait_for(Option::is_some).await;
        closing(why.ok().and_then(|why| *why).unwrap_or(Closing::ClientGone))
    }

    /// Lets everything that waits give up, and refuses new sessions. The first reason counts.
    pub fn start_closing(&self, why: Closing) {
        self.closing.send_if_modified(|closing| {
            let first = closing.is_none();
            closing.get_or_insert(why);
            first
        });
    }

    /// Ends every session: launched programs end, attached ones are let go. Blocks until that is done.
    pub fn close(&self) {
        self.start_closing(Closing::ClientGone);
        let all = std::mem::take(&mut self.sessions().all);
        // Each may take seconds; together they take no longer than the slowest.
        std::thread::scope(|scope| {
            for session in &all {
                scope.spawn(|| session.close());
            }
            self.hosts.dismiss();
        });
    }
}

/// Why nothing is done any more.
fn closing(why: Closing) -> Error {
    let why = match why {
        Closing::ClientGone => "its client is gone",
        Closing::Signal(name) => name,
    };
    Error::new(
        ErrorCode::Closing,
        format!(
            "ndbg is ending ({why}), so this call was given up; launched programs are ended, attached ones run on"
        ),
    )
}

impl Sessions {
    fn only(&self, which: Which) -> Result<Arc<DebugSession>, Error> {
        let live: Vec<_> = self
            .all
            .iter()
            .filter(|session| !session.is_over())
            .collect();
        match (live.as_slice(), which) {
            ([only], _) => Ok((*only).clone()),
            ([], Which::Any) if !self.all.is_empty() => {
                self.all.last().cloned().ok_or_else(no_session)
            }
            ([], _) => match self.all.last() {
                Some(last) => {
                    let message = format!("no program is being debugged; {} is over", last.id());
                    Err(Error::new(ErrorCode::NoSession, message)
                        .hint("debug_launch or debug_attach begins a session; debug_status tells how the last one ended"))
                }
                None => Err(no_session()),
            },
            _ => {
                let message = format!(
                    "several programs are being debugged: {}",
                    self.names(Which::Live)
                );
                Err(Error::new(ErrorCode::NoSession, message)
                    .hint("say which one with the parameter session"))
            }
        }
    }

    /// Ids, for messages.
    fn names(&self, which: Which) -> String {
        let wanted = |session: &&Arc<DebugSession>| which == Which::Any || !session.is_over();
        let name = |session: &Arc<DebugSession>| {
            let over = if session.is_over() { " (over)" } else { "" };
            format!("{}{over}", session.id())
        };
        self.all
            .iter()
            .filter(wanted)
            .map(name)
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Forgets the oldest ended sessions when there are too many.
    fn prune(&mut self) {
        let (mut kept, mut bytes) = (0, 0);
        for index in (0..self.all.len()).rev() {
            let Some(session) = self.all.get(index) else {
                continue;
            };
            if !session.is_over() {
                continue;
            }
            kept += 1;
            bytes += session.archive_size();
            if kept > ENDED || (kept > 1 && bytes > ENDED_OUTPUT) {
                self.all.remove(index);
            }
        }
    }
}

fn no_session() -> Error {
    Error::new(ErrorCode::NoSession, "no program is being debugged")
        .hint("debug_launch starts one, debug_attach takes a running one")
}
