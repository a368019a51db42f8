//! What a reader of reports knows already: a report tells the difference.

use std::collections::BTreeMap;

use engine::api::{Breakpoint, BreakpointState, Stop, StopId, ThreadId};

use super::breakpoints::BreakpointEntry;
use super::build::{self, Stack};
use super::variables::{RETURNED, VariableEntry};

/// A frame across stops: its thread, its method and its depth.
type FramePlace = (Option<ThreadId>, String, u32);

/// What the reader of reports knows already.
#[derive(Debug, Default)]
pub struct Told {
    /// Output before this was reported.
    pub output: u64,
    /// Notes that were reported.
    pub notes: usize,
    /// Whether it was told what is debugged.
    pub introduced: bool,
    /// Breakpoints that were reported: their state and the reason for it.
    pub breakpoints: BTreeMap<u32, (BreakpointState, Option<String>)>,
    /// Whether those that were never reached were reported at the end.
    pub never_reached: bool,
    /// Variables of the last stop that was reported: by thread, method and depth.
    variables: Option<(FramePlace, BTreeMap<String, String>)>,
    /// The stack of the last stop that was reported.
    pub stack: Option<(StopId, Stack)>,
}

impl Told {
    /// Breakpoints worth telling: those that cannot be hit, or could not until now; at the end, those that never were.
    pub fn changed_breakpoints(
        &mut self,
        known: &BTreeMap<u32, Breakpoint>,
        ended: bool,
    ) -> Vec<BreakpointEntry> {
        let first_end = ended && !std::mem::replace(&mut self.never_reached, ended);
        let mut changed = Vec::new();
        for (id, breakpoint) in known {
            let now = (breakpoint.state, breakpoint.reason.clone());
            let before = self.breakpoints.insert(*id, now.clone());
            let worth_telling = match &before {
                Some(before) => *before != now,
                None => breakpoint.state != BreakpointState::Bound || breakpoint.reason.is_some(),
            };
            let never_reached = first_end && breakpoint.spec.enabled && breakpoint.hits == 0;
            // The end of a program unbinds everything: that is no news.
            if never_reached || (worth_telling && !ended) {
                changed.push(BreakpointEntry::from(breakpoint));
            }
        }
        changed
    }

    /// Says of each variable what it was at the last stop in the same method at the same depth of the same thread.
    pub fn mark_changes(&mut self, stop: &Stop, stack: &mut Stack) {
        let Some(frame) = build::shown_frame(stop, &stack.frames) else {
            return;
        };
        let depth = u32::try_from(stack.frames.len()).unwrap_or(u32::MAX) - frame.index;
        let place = (stop.thread, frame.method.clone(), depth);
        let values = |variables: &[VariableEntry]| {
            let value = |it: &VariableEntry| (it.name.clone(), it.value.clone());
            // What one call returned is not what another did.
            let lasting = variables.iter().filter(|it| !it.name.starts_with(RETURNED));
            lasting.map(value).collect::<BTreeMap<_, _>>()
        };
        let now = values(&stack.variables.0);
        if let Some((known, before)) = &self.variables
            && *known == place
        {
            for variable in &mut stack.variables.0 {
                let was = before.get(&variable.name);
                variable.was = was.filter(|was| **was != variable.value).cloned();
            }
        }
        self.variables = Some((place, now));
    }
}
