//! Connections that nobody was let in on yet: they make room for others.
//!
//! Invariant: whoever has the token is not kept waiting by those who have not. Where there is no room left for a
//! connection, the one goes that has been there longest without a request that was let in.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The connections without a request that was let in, by the order of their coming.
#[derive(Debug, Clone, Default)]
pub(super) struct Guests(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    last: u64,
    all: BTreeMap<u64, Arc<Notify>>,
}

impl Guests {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection that has just come.
    pub(super) fn welcome(&self) -> Guest {
        let mut waiting = self.waiting();
        waiting.last += 1;
        let number = waiting.last;
        let leave = Arc::new(Notify::new());
        waiting.all.insert(number, leave.clone());
        Guest {
            guests: self.clone(),
            number,
            leave,
        }
    }

    /// Asks the one to go that has been there longest.
    pub(super) fn send_one_away(&self) {
        if let Some((_, leave)) = self.waiting().all.pop_first() {
            leave.notify_one();
        }
    }
}

/// A connection, for as long as it lasts.
#[derive(Debug)]
pub(super) struct Guest {
    guests: Guests,
    number: u64,
    leave: Arc<Notify>,
}

impl Guest {
    /// A request on it was let in: it stays.
    pub(super) fn let_in(&self) {
        self.guests.waiting().all.remove(&self.number);
    }

    /// Completes when it has to go.
    pub(super) async fn sent_away(&self) {
        self.leave.notified().await;
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.let_in();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt as _;

    #[test]
    fn those_who_were_let_in_stay() {
        let guests = Guests::default();
        let [first, second, third] = [(); 3].map(|()| guests.welcome());
        first.let_in();
        guests.send_one_away();
        let gone = [&first, &second, &third].map(|it| it.sent_away().now_or_never().is_some());
        assert_eq!(gone, [false, true, false]);
        drop(third);
        // Nobody is left who could go.
        guests.send_one_away();
        assert!(first.sent_away().now_or_never().is_none());
    }
}
