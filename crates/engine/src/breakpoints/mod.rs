//! Breakpoints: what the user wants, where it is set, and what a hit means.
//!
//! A breakpoint is wanted at a *place* (a line, a method); each loaded module that has the place gives it *locations*
//! (a method and an IL offset). Several breakpoints may share a location: the runtime is asked for one breakpoint per
//! location, so one hit is one stop that names them all.
//!
//! Invariant: a location is set in the runtime exactly while an enabled breakpoint uses it.

mod binding;
mod chosen;
pub(crate) mod dead_points;
mod function;
mod heads;
mod hit;
mod implementations;
mod instruction;
mod known_names;
pub(crate) mod line;
mod listing;
mod mappable;
mod name_parts;
mod offer;
mod reached;
mod requests;
mod signature;
mod source_text;
pub(crate) mod suggest;
pub(crate) mod turns;
mod type_names;

use std::rc::Rc;

use cordebug::module::Breakpoint as CodeBreakpoint;
use metadata::{IlOffset, Token};

use crate::api::{
    BoundLocation, Breakpoint, BreakpointId, BreakpointSpec, BreakpointState, Error, ErrorCode,
    Place,
};
use crate::expressions::{Condition, Message};
use crate::passing::AwaitedNames;
use crate::target::Target;
pub(crate) use function::FunctionName;
use hit::HitCondition;
use implementations::Slot;
use offer::Match;
pub(crate) use offer::locations;
pub(crate) use requests::condition;
pub(crate) use type_names::TypeNames;

/// Hints kept for a breakpoint that waits.
const MAX_HINTS: usize = 3;

/// All breakpoints of a session, in the order they were set.
#[derive(Debug, Default)]
pub(crate) struct Breakpoints {
    wanted: Vec<Wanted>,
    next: u32,
    set: Vec<SetLocation>,
    /// Whether something was asked for while the program could not be stopped for it.
    late: bool,
    /// The methods among the places.
    pub(crate) awaited: AwaitedNames,
}

/// A breakpoint that the user wants.
#[derive(Debug)]
struct Wanted {
    id: BreakpointId,
    spec: BreakpointSpec,
    parsed: Parsed,
    /// How often its condition was true.
    hits: u64,
    /// How often the program came by.
    passes: u64,
    /// How often its condition could not be told.
    failures: u64,
    /// How often it stopped the program or logged since it was last told how often it may.
    effects: u64,
    /// The same since its condition was last changed.
    acted: u64,
    /// The same before that.
    acted_before: u64,
    /// Whether it switched itself off.
    exhausted: bool,
    bound: Vec<Bound>,
    was_bound: bool,
    /// The methods among those meant that others are written for: it is set in these.
    slots: Vec<Slot>,
    /// The document that the path of its place was taken for.
    document: Option<Match>,
    /// Why a module that has the place could not take it.
    failure: Option<Failure>,
    /// Why its condition or message cannot mean anything where it is bound.
    invalid: Option<WrongText>,
    /// Why it may not be bound, as far as the loaded modules tell.
    hints: Vec<String>,
    /// How many modules there were when a name that may be meant was last looked for.
    modules_looked_into: usize,
    /// Other documents that the path could have meant as well.
    also: Vec<String>,
}

/// What the texts of a breakpoint mean.
#[derive(Debug, Default)]
struct Parsed {
    hit_condition: Option<HitCondition>,
    condition: Option<Rc<Condition>>,
    message: Option<Rc<Message>>,
}

/// A condition or message that cannot mean anything somewhere.
#[derive(Debug)]
struct WrongText {
    in_condition: bool,
    error: Error,
}

impl From<WrongText> for Error {
    fn from(wrong: WrongText) -> Self {
        wrong.error
    }
}

/// Why a module refused a breakpoint.
#[derive(Debug)]
struct Failure {
    module: usize,
    reason: String,
}

/// A place in code that a breakpoint belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Bound {
    at: CodeLocation,
    shown: BoundLocation,
    moved: Option<String>,
    notes: Vec<String>,
}

/// A place in code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CodeLocation {
    /// The module's identity.
    pub(crate) module: usize,
    pub(crate) method: Token,
    pub(crate) offset: IlOffset,
}

/// A breakpoint that the runtime has.
#[derive(Debug)]
struct SetLocation {
    at: CodeLocation,
    breakpoint: CodeBreakpoint,
    /// As in the runtime's callback.
    identity: usize,
}

impl Wanted {
    fn new(id: BreakpointId, spec: BreakpointSpec, parsed: Parsed) -> Self {
        Self {
            id,
            spec,
            parsed,
            hits: 0,
            passes: 0,
            failures: 0,
            effects: 0,
            acted: 0,
            acted_before: 0,
            exhausted: false,
            bound: Vec::new(),
            was_bound: false,
            slots: Vec::new(),
            document: None,
            failure: None,
            invalid: None,
            hints: Vec::new(),
            modules_looked_into: 0,
            also: Vec::new(),
        }
    }

    fn state(&self) -> BreakpointState {
        if !self.spec.enabled {
            BreakpointState::Disabled
        } else if !self.bound.is_empty() && self.invalid.is_some() {
            BreakpointState::Failed
        } else if !self.bound.is_empty() {
            BreakpointState::Bound
        } else if self.failure.is_some() {
            BreakpointState::Failed
        } else if self.was_bound {
            BreakpointState::Unbound
        } else {
            BreakpointState::Pending
        }
    }

    fn reason(&self, state: BreakpointState) -> Option<String> {
        match state {
            BreakpointState::Bound => self.bound.iter().find_map(|bound| bound.moved.clone()),
            BreakpointState::Failed => match &self.invalid {
                Some(wrong) if !self.bound.is_empty() => {
                    let then = if wrong.in_condition {
                        "the program stops there all the same, as the condition can be neither true nor false"
                    } else {
                        "the message says so in the place of the value"
                    };
                    let (code, message) = (wrong.error.code.name(), &wrong.error.message);
                    Some(format!("{code}: {message}\n{then}"))
                }
                _ => self.failure.as_ref().map(|it| it.reason.clone()),
            },
            BreakpointState::Unbound => Some("the module that held it was unloaded".into()),
            BreakpointState::Disabled if self.exhausted => Some(match self.effects {
                1 => "it switched itself off after its first hit".into(),
                hits => format!("it switched itself off after {hits} hits"),
            }),
            BreakpointState::Disabled => None,
            BreakpointState::Pending if !self.slots.is_empty() => {
                let waits: Vec<_> = self.slots.iter().map(Slot::waits).collect();
                Some(waits.join("; "))
            }
            BreakpointState::Pending => {
                let mut reason = match &self.spec.place {
                    Place::Line { file, .. } => {
                        format!("no loaded module was compiled from {file} with symbols")
                    }
                    Place::Function { name } => FunctionName::not_found(name),
                };
                for hint in &self.hints {
                    reason.push_str("; ");
                    reason.push_str(hint);
                }
                Some(reason)
            }
        }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        for note in self.bound.iter().flat_map(|bound| &bound.notes) {
            if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
        let is_set = |at| self.bound.iter().any(|bound| bound.at == at);
        notes.extend(self.slots.iter().filter_map(|it| it.told(is_set)));
        if !self.also.is_empty() {
            notes.push(format!(
                "the path could also mean {}: give more of it to be sure",
                self.also.join(", ")
            ));
        }
        // One module may have refused what another took.
        if let Some(failure) = self.failure.as_ref().filter(|_| !self.bound.is_empty()) {
            notes.push(failure.reason.clone());
        }
        notes
    }

    fn report(&self) -> Breakpoint {
        let state = self.state();
        Breakpoint {
            id: self.id,
            spec: BreakpointSpec {
                id: Some(self.id),
                ..self.spec.clone()
            },
            state,
            reason: self.reason(state),
            notes: self.notes(),
            locations: self.bound.iter().map(|it| it.shown.clone()).collect(),
            hits: self.hits,
            passes: self.passes,
            failures: self.failures,
            acted: self.acted,
            acted_before: self.acted_before,
            exhausted: self.exhausted,
        }
    }

    fn uses(&self, at: CodeLocation) -> bool {
        self.spec.enabled && self.bound.iter().any(|bound| bound.at == at)
    }
}

impl Breakpoints {
    /// Whether a thread that has reached one of the runtime's breakpoints stops the program for certain: nothing is left to
    /// be asked or counted.
    pub(crate) fn always_stops(&self, identity: usize) -> bool {
        self.location(identity).is_some_and(|at| {
            self.wanted.iter().any(|it| {
                let Parsed {
                    hit_condition,
                    condition,
                    message,
                } = &it.parsed;
                let is_plain = hit_condition.is_none() && condition.is_none() && message.is_none();
                it.uses(at) && is_plain && it.spec.max_hits.is_none()
            })
        })
    }

    fn find(&mut self, id: BreakpointId) -> Result<&mut Wanted, Error> {
        let at = self.wanted.iter().position(|it| it.id == id);
        let at = at.ok_or_else(|| self.unknown(id))?;
        Ok(&mut self.wanted[at])
    }

    fn unknown(&self, id: BreakpointId) -> Error {
        let ids: Vec<_> = self.wanted.iter().map(|it| it.id.0.to_string()).collect();
        let there = if ids.is_empty() {
            "there are none".to_owned()
        } else {
            format!("there are {}", ids.join(", "))
        };
        Error::new(
            ErrorCode::BreakpointNotFound,
            format!("there is no breakpoint {}; {there}", id.0),
        )
        .hint("list the breakpoints")
    }

    /// How often the program came by a breakpoint.
    pub(crate) fn passes(&self, id: BreakpointId) -> u64 {
        let entry = self.wanted.iter().find(|it| it.id == id);
        entry.map_or(0, |it| it.passes)
    }

    /// A new name, of one sequence for all kinds of breakpoints.
    pub(crate) fn new_id(&mut self) -> BreakpointId {
        self.next += 1;
        BreakpointId(self.next)
    }

    fn reports(&self) -> Vec<Breakpoint> {
        self.wanted.iter().map(|it| self.told(it)).collect()
    }

    /// The report of a breakpoint, with another one that turned out to be at the same place.
    fn told(&self, entry: &Wanted) -> Breakpoint {
        let mut report = entry.report();
        let is_meant = |id| {
            self.wanted
                .iter()
                .any(|it| it.id == id && it.spec.beside_others)
        };
        if let Some((other, _)) = self.same_as(entry.id).filter(|it| !is_meant(it.0)) {
            let other = other.0;
            report.notes.push(format!(
                "breakpoint {other} is at the same place: each counts and stops for itself, and one may be removed"
            ));
        }
        report
    }

    /// Makes the runtime's breakpoints those that are wanted now.
    fn synchronize(&mut self, target: &Target) {
        let Self { wanted, set, .. } = self;
        set.retain(|location| {
            let keep = wanted.iter().any(|it| it.uses(location.at));
            if !keep && let Err(error) = location.breakpoint.deactivate() {
                // Its module may be gone.
                tracing::debug!(%error, "removing a breakpoint");
            }
            keep
        });
        for entry in wanted.iter_mut().filter(|it| it.spec.enabled) {
            let mut failure = None;
            entry.bound.retain(|bound| {
                if set.iter().any(|location| location.at == bound.at) {
                    return true;
                }
                match target.modules.set_breakpoint(bound.at) {
                    Ok(breakpoint) => set.push(SetLocation {
                        at: bound.at,
                        identity: breakpoint.identity(),
                        breakpoint,
                    }),
                    Err(error) => {
                        failure = Some(Failure {
                            module: bound.at.module,
                            reason: format!(
                                "{} in {}: {error}",
                                bound.shown.method, bound.shown.module
                            ),
                        });
                        return false;
                    }
                }
                true
            });
            if failure.is_some() {
                entry.failure = failure;
            }
        }
    }

    /// The place in code of a runtime's breakpoint.
    fn location(&self, identity: usize) -> Option<CodeLocation> {
        let set = self.set.iter().find(|it| it.identity == identity);
        set.map(|it| it.at)
    }

    /// Switches everything off in the runtime, as letting go of the program demands.
    pub(crate) fn remove_all_from_code(&mut self) {
        for location in self.set.drain(..) {
            if let Err(error) = location.breakpoint.deactivate() {
                tracing::debug!(%error, "removing a breakpoint");
            }
        }
    }
}
