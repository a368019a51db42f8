//! What happens when the program comes by a breakpoint: counting, conditions, messages, stops.

use cordebug::bindings::ICorDebugBreakpoint;
use cordebug::com::Com;
use cordebug::module::Breakpoint;
use cordebug::thread::Thread;

use super::CodeLocation;
use super::turns::{instruction_of, may_be_relative};
use crate::api::{BreakpointId, Event, RuntimeVersion, StopReason, ThreadId, Trace};
use crate::engine::Engine;
use crate::expressions::Hit;
use crate::target::Target;

/// Longer messages are cut.
const MAX_MESSAGE: usize = 64 << 10;

/// What a condition comes to.
enum Verdict {
    Holds,
    DoesNot,
    /// It cannot be told, and why.
    Failed(String),
}

impl Engine<'_> {
    /// Keeps the program itself right: see [`Breakpoint::set_anew`], which .NET 10 and newer need on x64.
    ///
    /// A hit of another thread that is on its way would be lost by that; where one may be, the breakpoint stays as it is.
    pub(crate) fn keep_statics_fresh(&self, reported: &Com<ICorDebugBreakpoint>, thread: &Thread) {
        if !cfg!(target_arch = "x86_64") || self.is_before_10() {
            return;
        }
        let (Some(target), Ok(id)) = (&self.target, thread.id()) else {
            return;
        };
        let Some(address) = instruction_of(&target.process, id) else {
            return;
        };
        if !may_be_relative(&target.process, address) || !is_alone(target, id, address) {
            return;
        }
        if let Err(error) = Breakpoint::set_anew(reported) {
            tracing::warn!(%error, "a breakpoint was not set anew");
        }
    }

    /// Whether the runtime is older than .NET 10.
    pub(crate) fn is_before_10(&self) -> bool {
        let major = |it: &RuntimeVersion| it.0.split('.').next()?.parse().ok();
        let version: Option<u32> = self.runtime.as_ref().and_then(major);
        version.is_some_and(|it| it < 10)
    }

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
        let mut ids = Vec::new();
        let mut reasons = Vec::new();
        let mut exhausted = Vec::new();
        for id in self.breakpoints_at(at) {
            match self.condition(id, thread) {
                Verdict::Holds => {}
                Verdict::DoesNot => continue,
                Verdict::Failed(error) => {
                    let Ok(entry) = self.breakpoints.find(id) else {
                        continue;
                    };
                    entry.failures += 1;
                    let condition = entry.spec.condition.clone().unwrap_or_default();
                    reasons.push(StopReason::ConditionFailed {
                        id,
                        condition,
                        error,
                    });
                    continue;
                }
            }
            let Ok(entry) = self.breakpoints.find(id) else {
                continue;
            };
            entry.hits += 1;
            let wanted = entry
                .parsed
                .hit_condition
                .is_none_or(|it| it.holds(entry.hits));
            if !wanted {
                continue;
            }
            entry.effects += 1;
            entry.acted += 1;
            if entry.spec.max_hits.is_some_and(|max| entry.effects >= max) {
                exhausted.push(id);
            }
            if entry.parsed.message.is_some() {
                self.log(id, at, thread);
            } else {
                ids.push(id);
            }
        }
        if !ids.is_empty() {
            reasons.insert(0, StopReason::Breakpoint { ids });
        }
        self.switch_off(&exhausted);
        reasons
    }

    /// Whether the condition of a breakpoint holds for a thread that came by.
    fn condition(&mut self, id: BreakpointId, thread: &Thread) -> Verdict {
        let pid = self.pid.unwrap_or(0);
        let Ok(entry) = self.breakpoints.find(id) else {
            return Verdict::DoesNot;
        };
        entry.passes += 1;
        let Some(condition) = entry.parsed.condition.clone() else {
            return Verdict::Holds;
        };
        let hit = Hit {
            thread,
            frame: None,
            count: entry.passes,
            pid,
        };
        match self.holds(&condition, hit) {
            Ok(true) => Verdict::Holds,
            Ok(false) => Verdict::DoesNot,
            Err(error) => Verdict::Failed(error.message),
        }
    }

    /// Logs the message of a breakpoint in its place in the output.
    fn log(&mut self, id: BreakpointId, at: CodeLocation, thread: &Thread) {
        let pid = self.pid.unwrap_or(0);
        let Ok(entry) = self.breakpoints.find(id) else {
            return;
        };
        let Some(message) = entry.parsed.message.clone() else {
            return;
        };
        let hit = Hit {
            thread,
            frame: None,
            count: entry.passes,
            pid,
        };
        let text = self.message_at(&message, hit);
        let Ok(entry) = self.breakpoints.find(id) else {
            return;
        };
        let bound = entry.bound.iter().find(|bound| bound.at == at);
        let trace = Trace {
            breakpoint: id,
            hit: entry.hits,
            thread: thread.id().ok().map(ThreadId),
            source: bound.and_then(|bound| bound.shown.source.clone()),
            text: cut(text),
            at: self.capture.end(),
        };
        self.tell_trace(trace);
    }

    fn tell_trace(&mut self, mut trace: Trace) {
        let (at, tell) = self.capture.trace(&format!("{}\n", trace.text));
        trace.at = at;
        self.tell(Event::Trace(trace));
        if tell {
            let end = self.capture.end();
            self.tell(Event::Output { end });
        }
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

/// Bounds a message, and says so.
fn cut(mut text: String) -> String {
    if text.len() <= MAX_MESSAGE {
        return text;
    }
    let mut end = MAX_MESSAGE;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let left = text.len() - end;
    text.truncate(end);
    text.push_str(&format!("… ({left} more bytes)"));
    text
}

/// Whether no other thread has met the breakpoint that a thread is at and is not told of yet.
fn is_alone(target: &Target, thread: u32, address: u64) -> bool {
    let (Ok(false), Ok(threads)) = (
        target.process.has_queued_callbacks(),
        target.process.threads(),
    ) else {
        return false;
    };
    let mut others = threads.iter().filter_map(|it| it.id().ok());
    others.all(|id| id == thread || instruction_of(&target.process, id) != Some(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_are_cut_between_characters() {
        assert_eq!(cut("short".into()), "short");
        let long = cut("ä".repeat(MAX_MESSAGE));
        assert!(long.ends_with("more bytes)") && long.len() < MAX_MESSAGE + 100);
    }
}
