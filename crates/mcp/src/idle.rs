//! Sessions that nobody asks anything of: how long that is so, and their end.
//!
//! Invariant: a session that a call waits for is in use for as long as it waits.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::policy;
use crate::session::DebugSession;

/// How often the end of a session is tried again that could not be ended.
const AGAIN: Duration = Duration::from_secs(10);

/// When a session was used last.
#[derive(Debug)]
pub(crate) struct Usage(Mutex<Used>);

#[derive(Debug)]
struct Used {
    last: Instant,
    /// Calls that wait for it.
    waiting: u32,
}

impl Usage {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Used {
            last: Instant::now(),
            waiting: 0,
        }))
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something is asked of it.
    pub(crate) fn note(&self) {
        self.used().last = Instant::now();
    }

    /// It is in use until this is dropped.
    pub(crate) fn wait(&self) -> Waiting<'_> {
        self.used().waiting += 1;
        Waiting(self)
    }

    /// For how long nobody has used it.
    fn idle(&self) -> Duration {
        let used = self.used();
        match used.waiting {
            0 => used.last.elapsed(),
            _ => Duration::ZERO,
        }
    }
}

/// A call that waits for a session.
pub(crate) struct Waiting<'u>(&'u Usage);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut used = self.0.used();
        used.waiting -= 1;
        used.last = Instant::now();
    }
}

/// Ends a session when it has been idle for that long: a launched program is ended, an attached one runs on.
pub(crate) async fn watch(session: Arc<DebugSession>, limit: Duration) {
    while !session.is_over() {
        let idle = session.usage.idle();
        if idle < limit {
            tokio::time::sleep(limit - idle).await;
            continue;
        }
        let why = format!(
            "nothing was asked of {} for {}, so it was ended (--idle-limit)",
            session.id(),
            policy::minutes(limit)
        );
        tracing::info!("{why}");
        match session.end_idle(why).await {
            Ok(()) => return,
            Err(error) => {
                tracing::warn!(%error, "an idle session cannot be ended");
                tokio::time::sleep(AGAIN).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_uses_it() {
        let usage = Usage::new();
        let (one, other) = (usage.wait(), usage.wait());
        drop(one);
        assert_eq!(usage.idle(), Duration::ZERO);
        drop(other);
        usage.used().last = Instant::now() - Duration::from_secs(1);
        assert!(usage.idle() >= Duration::from_secs(1));
        usage.note();
        assert!(usage.idle() < Duration::from_secs(1));
    }
}
