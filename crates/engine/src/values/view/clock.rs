//! The time that one look may take, and what of it each part may.
//!
//! Invariant: what takes long uses up its own share, never that of what comes behind it: a part gets some steps even where
//! all the time is over, so that what is small is always told.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// A look takes no longer, whatever was asked for.
const MAX_LOOK: Duration = Duration::from_mins(1);
/// Counting what does not know how many it has takes no longer: it is done for a line.
const COUNT: Duration = Duration::from_millis(100);
/// Questions between two looks at the clock.
const STEPS: u32 = 256;

/// Says when a look has taken long enough.
#[derive(Debug)]
pub(in crate::values) struct Clock {
    until: Cell<Instant>,
    steps: Cell<u32>,
    is_over: Cell<bool>,
    was_late: Cell<bool>,
}

impl Clock {
    /// Starts now, and is over after so many milliseconds.
    pub(super) fn start(limit: u32) -> Self {
        let limit = Duration::from_millis(limit.into());
        Self {
            until: Cell::new(Instant::now() + limit.min(MAX_LOOK)),
            steps: Cell::new(0),
            is_over: Cell::new(false),
            was_late: Cell::new(false),
        }
    }

    /// Does the first of so many things that are left to do, in its share of the time.
    pub(super) fn share<T>(&self, left: u64, act: impl FnOnce() -> T) -> T {
        let parts = u32::try_from(left).unwrap_or(u32::MAX).max(1);
        self.within(self.left() / parts, act)
    }

    /// The same, of parts of one line: where the time of that is over, theirs is, too.
    pub(super) fn part<T>(&self, left: u64, act: impl FnOnce() -> T) -> T {
        match self.is_over() {
            true => act(),
            false => self.share(left, act),
        }
    }

    /// Counts something, and leaves time to tell what was counted.
    pub(super) fn counting<T>(&self, act: impl FnOnce() -> T) -> T {
        self.within(COUNT.min(self.left() / 2), act)
    }

    fn left(&self) -> Duration {
        self.until.get().saturating_duration_since(Instant::now())
    }

    fn within<T>(&self, limit: Duration, act: impl FnOnce() -> T) -> T {
        let outer = (self.until.get(), self.steps.get(), self.is_over.get());
        self.until.set(Instant::now() + limit);
        self.steps.set(0);
        self.is_over.set(false);
        let done = act();
        self.until.set(outer.0);
        self.steps.set(outer.1);
        self.is_over.set(outer.2);
        done
    }

    /// Whether the time is over, as far as was looked.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.get()
    }

    /// Whether the time of any part was over since that was forgotten.
    pub(super) fn was_late(&self) -> bool {
        self.was_late.get()
    }

    /// Forgets that, and says what was known.
    pub(super) fn forget_lateness(&self) -> bool {
        self.was_late.replace(self.is_over())
    }

    /// Takes back that it was forgotten.
    pub(super) fn remember_lateness(&self, was_late: bool) {
        self.was_late.set(was_late || self.was_late());
    }

    /// Whether the time is over; asked for every small step.
    pub(super) fn is_late(&self) -> bool {
        let steps = self.steps.get().wrapping_add(1);
        self.steps.set(steps);
        if steps.is_multiple_of(STEPS) && Instant::now() >= self.until.get() {
            self.is_over.set(true);
            self.was_late.set(true);
        }
        self.is_over.get()
    }
}
