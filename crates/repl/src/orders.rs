//! What is obeyed whenever a breakpoint stops the program: `commands 1`, lines, `end`.
//!
//! The lines wait in a queue that the loop takes them from, one after the other. So a `continue` among them whose next stop
//! has orders of its own goes on in the same loop, however often that happens; what was left of the earlier ones is dropped,
//! as it was meant for a stop that is over.

use std::collections::{BTreeMap, VecDeque};

use host::api::{Error, StopReason};

use crate::commands;
use crate::failure::usage;
use crate::repl::Repl;

/// Lines for one breakpoint.
const MAX_LINES: usize = 1000;
/// The first line that keeps a stop from being shown.
const SILENT: &str = "silent";

/// The orders of all breakpoints.
#[derive(Debug, Default)]
pub(crate) struct Orders {
    known: BTreeMap<u32, Vec<String>>,
    /// For whom lines are being read, and the lines so far.
    reading: Option<(Vec<u32>, Vec<String>)>,
    queue: VecDeque<String>,
    /// Whether the queue is being obeyed.
    busy: bool,
}

impl Orders {
    /// Lines follow for these breakpoints.
    pub(crate) fn read(&mut self, breakpoints: Vec<u32>) {
        self.reading = Some((breakpoints, Vec::new()));
    }

    /// Whether lines are being read.
    pub(crate) fn is_reading(&self) -> bool {
        self.reading.is_some()
    }

    /// Takes a line if it is one of them; without lines, breakpoints have no orders any more.
    pub(crate) fn take(&mut self, line: &str) -> Result<bool, Error> {
        let Some((breakpoints, lines)) = &mut self.reading else {
            return Ok(false);
        };
        if line != "end" {
            if lines.len() >= MAX_LINES {
                self.reading = None;
                return Err(usage(format!(
                    "at most {MAX_LINES} lines are obeyed at a stop"
                )));
            }
            lines.push(line.to_owned());
            return Ok(true);
        }
        for id in breakpoints {
            match lines.is_empty() {
                true => self.known.remove(id),
                false => self.known.insert(*id, lines.clone()),
            };
        }
        self.reading = None;
        Ok(true)
    }

    /// What was to follow does not: the file ended, or something failed.
    pub(crate) fn give_up(&mut self) -> bool {
        self.queue.clear();
        self.reading.take().is_some()
    }

    /// A breakpoint is gone.
    pub(crate) fn forget(&mut self, breakpoint: u32) {
        self.known.remove(&breakpoint);
    }

    /// The orders of a breakpoint.
    pub(crate) fn of(&self, breakpoint: u32) -> Option<&[String]> {
        self.known.get(&breakpoint).map(Vec::as_slice)
    }

    /// The program stopped: what is to be obeyed now takes the place of what was left. Whether the stop is to be shown.
    pub(crate) fn stopped(&mut self, reasons: &[StopReason]) -> bool {
        let ids = reasons.iter().flat_map(|reason| match reason {
            StopReason::Breakpoint { ids } | StopReason::Exception { ids, .. } => ids.as_slice(),
            _ => &[],
        });
        let lines = ids.filter_map(|id| self.known.get(&id.0)).flatten();
        self.queue = lines.cloned().collect();
        self.queue.front().is_none_or(|line| line != SILENT)
    }
}

impl Repl {
    /// Obeys what breakpoints ordered, until nothing is left or the session is to end.
    pub(crate) fn obey_orders(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.orders.busy, true) {
            return Ok(());
        }
        let mut outcome = Ok(());
        while let Some(line) = self.orders.queue.pop_front()
            && outcome.is_ok()
            && self.quit.is_none()
            && !self.interrupted
        {
            if line != SILENT {
                outcome = commands::obey(self, &line);
            }
        }
        self.orders.queue.clear();
        self.orders.busy = false;
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::api::BreakpointId;

    fn hit(id: u32) -> [StopReason; 1] {
        let ids = vec![BreakpointId(id)];
        [StopReason::Breakpoint { ids }]
    }

    #[test]
    fn lines_belong_to_breakpoints_until_they_are_taken_back() {
        let mut orders = Orders::default();
        assert_eq!(orders.take("print a").ok(), Some(false));
        orders.read(vec![1, 2]);
        for line in ["silent", "print a", "end"] {
            assert_eq!(orders.take(line).ok(), Some(true));
        }
        assert!(!orders.stopped(&hit(2)));
        assert_eq!(orders.queue, ["silent", "print a"]);
        assert!(orders.stopped(&hit(3)));
        assert!(orders.queue.is_empty());
        orders.read(vec![2]);
        assert_eq!(orders.take("end").ok(), Some(true));
        assert!(orders.stopped(&hit(2)));
        assert_eq!(orders.of(1).map(<[_]>::len), Some(2));
        orders.forget(1);
        assert_eq!(orders.of(1), None);
    }

    #[test]
    fn a_file_without_an_end_does_not_swallow_what_follows() {
        let mut orders = Orders::default();
        orders.read(vec![1]);
        for _ in 0..MAX_LINES {
            assert_eq!(orders.take("next").ok(), Some(true));
        }
        assert!(orders.take("next").is_err());
        assert!(!orders.is_reading());
        orders.read(vec![1]);
        assert!(orders.give_up());
        assert!(!orders.give_up());
    }
}
