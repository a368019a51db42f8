//! What a reader of reports knows already: a report tells the difference.

use std::collections::{BTreeMap, VecDeque};

use engine::api::{BehindCut, Breakpoint, BreakpointState, StopId};

use super::breakpoints::BreakpointEntry;
use super::build::Stack;
use super::pace::Pace;
use super::variables::{RETURNED, VariableEntry};

/// A variable across stops: its name, and what tells it from others of that.
type Declaration = (String, Option<u64>);

/// What the reader of reports knows already.
#[derive(Debug, Default)]
pub struct Told {
    /// Output before this was reported.
    pub output: u64,
    /// Notes that were reported.
    pub notes: usize,
    /// Failures of tests that were reported.
    pub failures: usize,
    /// Whether it was told what is debugged.
    pub introduced: bool,
    /// Breakpoints that were reported, as they were then.
    pub breakpoints: BTreeMap<u32, SeenBreakpoint>,
    /// How often they were passed.
    pub pace: Pace,
    /// Whether those that were never reached were reported at the end.
    pub never_reached: bool,
    /// Variables of the last stops that were reported, by the call that their frame was; the newest last.
    variables: VecDeque<(u64, BTreeMap<Declaration, Seen>)>,
    /// The stack of the last stop that was reported.
    pub stack: Option<(StopId, Stack)>,
    /// Whether something was changed since: variables are read again for the next report.
    pub stale: bool,
}

/// What a variable was.
#[derive(Debug)]
struct Seen {
    value: String,
    type_name: String,
    /// Tells whether it has changed behind what its text shows.
    behind_cut: Option<BehindCut>,
}

impl Seen {
    fn of(variable: &VariableEntry) -> Self {
        Self {
            value: variable.value.clone(),
            type_name: variable.type_name.clone(),
            behind_cut: variable.behind_cut,
        }
    }

    /// Whether it is known that something behind the cut has changed: only looks that went as far can be compared.
    fn differs_behind_cut(&self, now: &VariableEntry) -> bool {
        let both = self.behind_cut.zip(now.behind_cut);
        both.is_some_and(|(then, now)| then.share == now.share && then.number != now.number)
    }

    /// The text of what it was, if it is something else now: `5` of another type is.
    fn unless(&self, now: &VariableEntry) -> Option<String> {
        if self.value != now.value {
            return Some(self.value.clone());
        }
        let is_other = self.type_name != now.type_name;
        is_other.then(|| format!("{} ({})", self.value, self.type_name))
    }
}

/// What was told of a breakpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct SeenBreakpoint {
    state: BreakpointState,
    reason: Option<String>,
    notes: Vec<String>,
}

impl From<&Breakpoint> for SeenBreakpoint {
    fn from(breakpoint: &Breakpoint) -> Self {
        Self {
            state: breakpoint.state,
            reason: breakpoint.reason.clone(),
            notes: breakpoint.notes.clone(),
        }
    }
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
            let now = SeenBreakpoint::from(breakpoint);
            let is_plain =
                now.state == BreakpointState::Bound && now.reason.is_none() && now.notes.is_empty();
            let worth_telling = match self.breakpoints.get(id) {
                Some(before) => *before != now,
                None => !is_plain,
            };
            self.breakpoints.insert(*id, now);
            let never_reached = first_end && breakpoint.spec.enabled && breakpoint.acted == 0;
            // The end of a program unbinds everything: that is no news.
            if never_reached || (worth_telling && !ended) {
                changed.push(BreakpointEntry::from(breakpoint));
            }
        }
        changed
    }

    /// Says of each variable what it was at the last stop in the same call of the method, and leaves those that matter most.
    pub fn mark_changes(&mut self, stack: &mut Stack) {
        if let Some(call) = stack.call {
            self.compare(call, &mut stack.variables.0);
        }
        leave_those_that_matter(stack);
    }

    fn compare(&mut self, call: u64, variables: &mut [VariableEntry]) {
        let declaration = |it: &VariableEntry| (it.name.clone(), it.declaration);
        // What one call returned is not what another did.
        let lasting = variables.iter().filter(|it| !it.name.starts_with(RETURNED));
        let now = lasting.map(|it| (declaration(it), Seen::of(it))).collect();
        let known = self.variables.iter().position(|(it, _)| *it == call);
        if let Some((_, before)) = known.and_then(|at| self.variables.remove(at)) {
            for variable in variables {
                let Some(seen) = before.get(&declaration(variable)) else {
                    continue;
                };
                variable.was = seen.unless(variable);
                variable.changed_inside =
                    variable.was.is_none() && seen.differs_behind_cut(variable);
            }
        }
        if self.variables.len() >= PLACES {
            self.variables.pop_front();
        }
        self.variables.push_back((call, now));
    }
}

/// Frames of which it is remembered what was told: a step goes into other methods and comes back.
const PLACES: usize = 16;

/// Variables told in a stop report.
const VARIABLES: usize = 12;

/// Leaves all that was returned and has changed; then what the lines around use; then the first ones.
fn leave_those_that_matter(stack: &mut Stack) {
    let (variables, more) = &mut stack.variables;
    if variables.len() <= VARIABLES {
        return;
    }
    let rank = |it: &VariableEntry| {
        let uses = |here: bool| {
            let mut lines = stack.source.iter().filter(|line| line.current == here);
            lines.any(|line| has_word(&line.text, &it.name))
        };
        if it.name.starts_with(RETURNED) {
            0
        } else if it.was.is_some() || it.changed_inside {
            1
        } else if uses(true) {
            2
        } else if uses(false) {
            3
        } else {
            4
        }
    };
    let mut ranked: Vec<(u32, usize)> = variables.iter().map(rank).zip(0..).collect();
    ranked.sort_unstable();
    let news = ranked.partition_point(|(rank, _)| *rank <= 1);
    ranked.truncate(news.max(VARIABLES));
    // They stay in the order of the program.
    let mut at = 0;
    let before = variables.len();
    variables.retain(|_| {
        at += 1;
        ranked.iter().any(|(_, it)| *it == at - 1)
    });
    *more += (before - variables.len()) as u64;
}

/// Whether a name stands alone in a line.
fn has_word(line: &str, name: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    line.split(|letter| !is_part(letter)).any(|it| it == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SourceLine;

    #[test]
    fn what_was_returned_changed_or_is_used_here_is_told_before_the_rest() {
        let named = |name: &str| VariableEntry {
            name: name.into(),
            ..VariableEntry::default()
        };
        let mut variables: Vec<_> = (0..30).map(|at| named(&format!("v{at}"))).collect();
        if let Some(changed) = variables.get_mut(25) {
            changed.was = Some("1".into());
        }
        variables.push(named("$returnvalue"));
        let mut stack = Stack {
            frames: Vec::new(),
            call: None,
            more: false,
            source: vec![SourceLine {
                line: 1,
                text: "v27 += v3x;".into(),
                current: true,
            }],
            variables: (variables, 2),
            changed_source: None,
            awaits: None,
        };
        leave_those_that_matter(&mut stack);
        let (left, more) = &stack.variables;
        let names: Vec<_> = left.iter().map(|it| it.name.as_str()).collect();
        let expected = "v0 v1 v2 v3 v4 v5 v6 v7 v8 v25 v27 $returnvalue";
        assert_eq!(names.join(" "), expected);
        assert_eq!(*more, 2 + 31 - 12);
    }

    #[test]
    fn change_of_the_type_alone_is_one() {
        let of = |type_name: &str, value: &str| VariableEntry {
            type_name: type_name.into(),
            value: value.into(),
            ..VariableEntry::default()
        };
        let seen = Seen::of(&of("int", "5"));
        assert_eq!(seen.unless(&of("int", "5")), None);
        assert_eq!(seen.unless(&of("int", "6")), Some("5".into()));
        assert_eq!(seen.unless(&of("long", "5")), Some("5 (int)".into()));
    }

    #[test]
    fn all_that_has_changed_is_told() {
        let named = |at: u32| VariableEntry {
            name: format!("v{at}"),
            was: (at >= 10).then(|| "1".into()),
            ..VariableEntry::default()
        };
        let mut stack = Stack {
            frames: Vec::new(),
            call: None,
            more: false,
            source: Vec::new(),
            variables: ((0..30).map(named).collect(), 0),
            changed_source: None,
            awaits: None,
        };
        leave_those_that_matter(&mut stack);
        let (left, more) = &stack.variables;
        assert_eq!((left.len(), *more), (20, 10));
        assert!(left.iter().all(|it| it.was.is_some()), "{left:?}");
    }
}
