//! The time that one look may take.

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
    until: Instant,
    steps: Cell<u32>,
    is_over: Cell<bool>,
}

impl Clock {
    /// Starts now, and is over after so many milliseconds.
    pub(super) fn start(limit: u32) -> Self {
        let limit = Duration::from_millis(limit.into());
        Self::until(Instant::now() + limit.min(MAX_LOOK))
    }

    fn until(until: Instant) -> Self {
        Self {
            until,
            steps: Cell::new(0),
            is_over: Cell::new(false),
        }
    }

    /// A shorter one, for a part of the work.
    pub(super) fn for_counting(&self) -> Self {
        Self::until(self.until.min(Instant::now() + COUNT))
    }

    /// Whether the time is over, as far as was looked.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.get()
    }

    /// Whether the time is over; asked for every small step.
    pub(super) fn is_late(&self) -> bool {
        let steps = self.steps.get().wrapping_add(1);
        self.steps.set(steps);
        if steps.is_multiple_of(STEPS) && Instant::now() >= self.until {
            self.is_over.set(true);
        }
        self.is_over.get()
    }
}
