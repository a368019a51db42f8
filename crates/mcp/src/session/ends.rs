//! How a session comes to its end: by its program, by a client, with its host or with the server; and what is kept then.

use std::sync::{Arc, PoisonError};
use std::time::Instant;

use host::api::{Error, ErrorCode, Exit, Origin, OutputCursor, OutputQuery, Reply, Request, State};
use host::{LeftBehind, Session};

use super::{ANSWER, DebugSession, GIVING_UP, Tests, spawn_thread, unexpected};
use crate::archive::{self, Archive};
use crate::news::{News, Over};
use crate::report::build;

impl DebugSession {
    /// Notes the end, keeps the output and lets the host go. Blocks; the first call counts.
    pub(super) fn finish(&self, error: Option<Error>) {
        let session = {
            let mut held = self.held();
            if std::mem::replace(&mut held.finishing, true) {
                return;
            }
            held.live.clone()
        };
        let mut archive = Archive::default();
        let mut lost = None;
        let mut failed = error;
        if let Some(session) = &session {
            // A host that died on its own is news; one that has ended its work is not.
            failed = failed.or_else(|| {
                session
                    .died()
                    .filter(|error| error.code == ErrorCode::HostDied)
            });
            lost = fill(&mut archive, session).err();
            if lost.is_some() && session.status().origin == Some(Origin::Attached) {
                (archive, lost) = (Archive::elsewhere(), None);
            }
            self.learn_breakpoints(session);
        }
        let place = {
            let mut held = self.held();
            held.left = session.as_ref().and_then(Session::left_behind);
            held.live = None;
            if let Some(Tests::Running(run)) = &held.tests {
                held.tests = Some(Tests::Over(run.results()));
            }
            held.archive = archive;
            held.lost = lost;
            // Told under the lock: whoever finds no host any more knows why.
            self.news.send_modify(|news| {
                news.over.get_or_insert(match failed {
                    Some(error) => Over::Failed(error),
                    None => Over::Ended,
                });
            });
            held.place.take()
        };
        drop(session);
        if let Some(place) = place {
            super::prepare_host(place.leave());
        }
    }

    /// Why the session has failed, if it has; also in the moment after its host's death in which the output that is
    /// left is still being looked for, and the session is not over yet.
    pub(crate) fn failure(&self, news: &News) -> Option<Error> {
        match &news.over {
            Some(Over::Failed(error)) => Some(self.as_it_is_now(error.clone())),
            Some(Over::Ended) => None,
            None => {
                let live = self.held().live.clone();
                live?
                    .died()
                    .filter(|error| error.code == ErrorCode::HostDied)
                    .map(|error| self.as_it_is_now(error))
            }
        }
    }

    /// The program, if it went on without the debugger.
    fn left_behind(&self) -> Option<LeftBehind> {
        let held = self.held();
        let live = held.live.as_ref().and_then(Session::left_behind);
        held.left.clone().or(live)
    }

    /// How a program that went on without the debugger has ended since, if it has. Blocks.
    pub(crate) fn ended_since(&self) -> Option<Exit> {
        self.left_behind()?.program.end()
    }

    /// Whether what was said of the program when its host died still holds.
    pub(crate) fn is_true_now(&self, note: &str) -> bool {
        let left = self.left_behind();
        left.is_none_or(|left| left.said.as_deref() != Some(note) || left.program.end().is_none())
    }

    /// An error that tells what became of a program says it of now, not of the moment in which its host died.
    fn as_it_is_now(&self, error: Error) -> Error {
        let end = self.left_behind().and_then(|left| {
            let end = left.program.end()?;
            Some((left.program.pid(), left.said?, end))
        });
        let Some((pid, said, end)) = end else {
            return error;
        };
        let now = format!(
            "process {} was left behind, and since then it {}",
            pid.0,
            build::ended(&end)
        );
        Error {
            message: error.message.replace(&said, &now),
            ..error
        }
    }

    /// Ends the session: `terminate` and `children` as the engine has them.
    pub(crate) async fn disconnect(
        self: &Arc<Self>,
        terminate: Option<bool>,
        children: bool,
    ) -> Result<(), Error> {
        if self.is_over() {
            // A program that its debugger has left frozen can still be ended.
            if terminate == Some(true)
                && matches!(self.news.borrow().over, Some(Over::Failed(_)))
                && let Some(left) = self.left_behind()
            {
                left.program.kill();
            }
            return Ok(());
        }
        let starting = !self.news.borrow().started;
        if starting {
            self.news.send_modify(|news| news.given_up = true);
        }
        if self.held().live.is_none() {
            // Still building, or over meanwhile.
            return Ok(());
        }
        let disconnect = Request::Disconnect {
            terminate,
            children,
        };
        match self.request(disconnect).await {
            Ok(_) => Ok(()),
            Err(error) if matches!(error.code, ErrorCode::HostDied | ErrorCode::Exited) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Ends a session that nobody uses, and keeps why.
    pub(crate) async fn end_idle(self: &Arc<Self>, why: String) -> Result<(), Error> {
        self.news.send_modify(|news| news.idle = Some(why));
        let ended = self.disconnect(None, false).await;
        if ended.is_err() {
            self.news.send_modify(|news| news.idle = None);
        }
        ended
    }

    /// Closes the session at the server's end: a launched program ends, an attached one is let go. Blocks.
    pub(crate) fn close(&self) {
        self.news.send_modify(|news| news.given_up = true);
        let live = self.held().live.take();
        if live.is_none() && !self.is_over() {
            // Still building: the build's processes and files go with the thread that gives it up.
            let start = self.start.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = start.recv_timeout(GIVING_UP);
        }
        if let Some(session) = live {
            if !self.news.borrow().started {
                // The starting thread holds the connection open: the host is told in words instead.
                let disconnect = Request::Disconnect {
                    terminate: None,
                    children: true,
                };
                if let Err(error) = session.request(disconnect, Instant::now() + ANSWER) {
                    tracing::debug!(%error, "closing a session that is starting");
                }
            }
            drop(session);
        }
    }

    /// Why there is nothing to ask.
    pub(super) fn not_there(&self) -> Error {
        let news = self.news();
        match &news.over {
            Some(Over::Failed(error)) => self.as_it_is_now(error.clone()),
            Some(Over::Ended) if news.idle.is_some() => Error::new(
                ErrorCode::NoSession,
                news.idle.clone().unwrap_or_default(),
            )
            .hint("debug_launch or debug_attach begins a new one; debug_status tells how this one was left"),
            Some(Over::Ended) if news.status.state == State::Detached => {
                let message = format!("{} has let go of its program", self.id);
                match self.ended_since() {
                    Some(end) => Error::new(
                        ErrorCode::NoSession,
                        format!("{message}; since then it {}", build::ended(&end)),
                    )
                    .hint("debug_launch or debug_attach begins a new session"),
                    None => Error::new(ErrorCode::NoSession, message)
                        .hint("debug_attach takes it again"),
                }
            }
            Some(Over::Ended) => Error::new(
                ErrorCode::Exited,
                format!("the program of {} has ended", self.id),
            )
            .hint(match news.status.origin {
                Some(Origin::Attached) => "debug_status tells how it ended; debug_attach takes another process",
                _ => "debug_restart starts it again with its breakpoints; debug_status tells how it ended",
            }),
            None => Error::new(
                ErrorCode::NotStopped,
                format!("{} is still starting", self.id),
            )
            .hint("debug_wait waits for it"),
        }
    }
}

impl Drop for DebugSession {
    fn drop(&mut self) {
        let held = self.held.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = held.live.take() {
            // Dropping waits for the host, and nobody knows on which thread we are.
            if let Err(error) = spawn_thread("close", move || drop(session)) {
                tracing::warn!(%error, "a session cannot be closed");
            }
        }
    }
}

/// Reads everything that is still captured.
fn fill(archive: &mut Archive, session: &Session) -> Result<(), Error> {
    let mut from = 0;
    loop {
        let query = OutputQuery {
            from: OutputCursor(from),
            stream: None,
            max_bytes: archive::SEGMENT,
            tail: false,
        };
        match session.request(Request::Output(query), Instant::now() + ANSWER) {
            Ok(Reply::Output(page)) => {
                let (next, end) = (page.next.0, page.end.0);
                archive.push(from, page);
                if next >= end || next <= from {
                    return Ok(());
                }
                from = next;
            }
            Ok(other) => return Err(unexpected(&other)),
            Err(error) => return Err(error),
        }
    }
}
