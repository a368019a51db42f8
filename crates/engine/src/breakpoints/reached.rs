//! What happens when the program comes by a breakpoint: counting, conditions, messages, stops.

use super::CodeLocation;
use crate::api::{BreakpointId, Event, StopReason};
use crate::engine::Engine;
use cordebug::thread::Thread;

impl Engine<'_> {
    /// The runtime reached one of its breakpoints: why that stops the program, if it does.
    pub(crate) fn breakpoint_reached(
        &mut self,
        identity: usize,
        thread: &Thread,
    ) -> Vec<StopReason> {
        let Some(at) = self.breakpoints.location(identity) else {
            // It was removed while its hit was on the way.
            return Vec::new();
        };
        let _ = thread;
        let mut ids = Vec::new();
        let mut reasons = Vec::new();
        let mut exhausted = Vec::new();
        for id in self.breakpoints_at(at) {
            let Ok(entry) = self.breakpoints.find(id) else {
                continue;
            };
            if let Some(condition) = &entry.spec.condition {
                reasons.push(StopReason::ConditionFailed {
                    id,
                    condition: condition.clone(),
                    error: "conditions cannot be evaluated yet".into(),
                });
                continue;
            }
            entry.hits += 1;
            let holds = entry
                .parsed
                .hit_condition
                .is_none_or(|it| it.holds(entry.hits));
            if !holds {
                continue;
            }
            entry.effects += 1;
            if entry.spec.max_hits.is_some_and(|max| entry.effects >= max) {
                exhausted.push(id);
            }
            ids.push(id);
        }
        if !ids.is_empty() {
            reasons.insert(0, StopReason::Breakpoint { ids });
        }
        self.switch_off(&exhausted);
        reasons
    }

    /// The breakpoints that are switched on at a place in code.
    fn breakpoints_at(&self, at: CodeLocation) -> Vec<BreakpointId> {
        let wanted = self.breakpoints.wanted.iter();
        wanted.filter(|it| it.uses(at)).map(|it| it.id).collect()
    }

    /// Switches breakpoints off that have done what they were set for.
    fn switch_off(&mut self, ids: &[BreakpointId]) {
        if ids.is_empty() {
            return;
        }
        for &id in ids {
            if let Ok(entry) = self.breakpoints.find(id) {
                entry.spec.enabled = false;
                entry.exhausted = true;
            }
        }
        if let Some(target) = &self.target {
            self.breakpoints.synchronize(target);
        }
        for &id in ids {
            if let Ok(entry) = self.breakpoints.find(id) {
                let report = entry.report();
                self.tell(Event::Breakpoint(report));
            }
        }
    }
}
