//! Exceptions: where they stop the program, and what is told of them.
//!
//! The runtime tells of an exception up to three times: thrown, reaching the user's code, and a catch block found or
//! nobody catching it. Which of these stops the program is decided here, by the breakpoints that the user set;
//! an exception that nobody catches always stops it unless that was switched off.

mod asked;
mod at_once;
mod awaited;
mod compiled;
mod escaping;
mod fail_fast;
mod giving_up;
mod handler;
pub(crate) mod messages;
mod names;
mod overflow;
mod own_handler;
mod report;
mod requests;

pub(crate) use report::report_of;
#[cfg(test)]
use requests::same_exceptions;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use cordebug::bindings::{
    CorDebugExceptionCallbackType, DEBUG_EXCEPTION_CATCH_HANDLER_FOUND,
    DEBUG_EXCEPTION_FIRST_CHANCE, DEBUG_EXCEPTION_UNHANDLED, DEBUG_EXCEPTION_USER_FIRST_CHANCE,
};
use cordebug::thread::{Frame, Thread};

use crate::api::{
    BreakpointId, ExceptionBreakpoint, ExceptionSpec, ExceptionStage, Handler, StopReason, Then,
    ThreadId,
};
use crate::engine::Engine;
use crate::expressions::{Condition, Hit};
use crate::fields::Fields;
use crate::target::Target;

/// The exception breakpoints, and how far the exceptions in flight have come.
#[derive(Debug, Default)]
pub(crate) struct Exceptions {
    wanted: Vec<ExceptionBreakpoint>,
    /// Their conditions, of those that have one.
    conditions: HashMap<BreakpointId, Rc<Condition>>,
    /// How often exceptions came by each, whatever its condition said.
    came: HashMap<BreakpointId, u64>,
    /// How far the exceptions of threads have come.
    in_flight: HashMap<u32, InFlight>,
    /// Whether exceptions that nobody catches do not stop the program.
    ignore_unhandled: bool,
    /// What the last failed assertion said.
    pub(crate) assertion: giving_up::Assertion,
    pub(crate) fail_fast: fail_fast::FailFastCalls,
    own_handler: own_handler::OwnHandler,
    /// Threads whose exception that nobody catches was told when it was thrown.
    told_early: HashSet<u32>,
}

impl Exceptions {
    pub(crate) fn list(&self) -> &[ExceptionBreakpoint] {
        &self.wanted
    }

    /// Removes one; whether it was there.
    pub(crate) fn remove(&mut self, id: BreakpointId) -> bool {
        let before = self.wanted.len();
        self.wanted.retain(|it| it.id != id);
        self.conditions.remove(&id);
        self.came.remove(&id);
        self.wanted.len() != before
    }

    /// How often exceptions came by one.
    pub(crate) fn passes(&self, id: BreakpointId) -> u64 {
        self.came.get(&id).copied().unwrap_or(0)
    }

    /// Whether exceptions that nobody catches stop the program.
    pub(crate) fn ignore_unhandled(&mut self, ignore: bool) {
        self.ignore_unhandled = ignore;
    }

    /// Whether it matters for any whose code catches an exception.
    fn asks_who_catches(&self) -> bool {
        self.wanted.iter().any(|it| {
            it.spec.enabled && (it.spec.user_unhandled || it.spec.caught_by_user.is_some())
        })
    }

    fn asks_whether_caught(&self) -> bool {
        let mut wanted = self.wanted.iter();
        wanted.any(|it| it.spec.enabled && it.spec.caught_by_user.is_some())
    }

    /// Whether what the runtime tells of an exception may stop the program.
    pub(crate) fn may_stop_at(&self, kind: CorDebugExceptionCallbackType) -> bool {
        let any = |wants: fn(&ExceptionSpec) -> bool| {
            let mut wanted = self.wanted.iter();
            wanted.any(|it| it.spec.enabled && wants(&it.spec))
        };
        match kind {
            DEBUG_EXCEPTION_FIRST_CHANCE => self.is_any_wanted(Told::Thrown(Fate::Open)),
            DEBUG_EXCEPTION_CATCH_HANDLER_FOUND => {
                any(|it| it.user_unhandled || it.escaping || it.caught_by_user.is_some())
            }
            DEBUG_EXCEPTION_UNHANDLED => {
                !self.ignore_unhandled || self.is_any_wanted(Told::Unhandled)
            }
            _ => false,
        }
    }

    fn is_any_wanted(&self, told: Told) -> bool {
        self.wanted
            .iter()
            .any(|it| it.spec.enabled && wants(&it.spec, told).is_some())
    }

    /// Whether a breakpoint that an exception with these types meets has a condition.
    fn has_condition(&self, told: Told, types: &[String]) -> bool {
        let met = self.meeting(told, types);
        met.iter().any(|(id, _)| self.conditions.contains_key(id))
    }

    /// The breakpoints that an exception with these types, its own first, meets if their conditions hold.
    fn meeting(&self, told: Told, types: &[String]) -> Vec<(BreakpointId, ExceptionStage)> {
        let met = |entry: &ExceptionBreakpoint| {
            let stage = wants(&entry.spec, told).filter(|_| entry.spec.enabled)?;
            let fails = !entry.spec.escaping || !escaping::ends_a_test_without_failure(types);
            let matches = |spec, types| fails && matches(spec, types);
            matches(&entry.spec, types).then_some((entry.id, stage))
        };
        self.wanted.iter().filter_map(met).collect()
    }
}

/// An exception whose handler is being looked for.
#[derive(Debug, Clone, Copy, Default)]
struct InFlight {
    /// Whether it has reached the user's code.
    in_user_code: bool,
    /// Whether it was thrown before, if anybody wants to know.
    rethrown: bool,
}

/// Breakpoints that an exception meets.
#[derive(Debug, Default)]
struct Met {
    ids: Vec<BreakpointId>,
    /// Those whose condition cannot be told.
    failed: Vec<StopReason>,
    stage: Option<ExceptionStage>,
}

/// What the runtime tells of an exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Thrown(Fate),
    /// Its handler was found.
    HandlerFound {
        /// Whether it came through the user's code.
        left_user_code: bool,
        /// Whether the handler is the user's code.
        by_user: bool,
        /// Whether the user's code catches it, there or where a task that keeps it is awaited; `None` if that cannot be told.
        caught_by_user: Option<bool>,
        /// Whether no more of the user's code gets to see it.
        escapes: bool,
    },
    Unhandled,
}

/// What is known of an exception when it is thrown, where nothing more is told of it in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// The runtime will tell of it.
    Open,
    /// Nobody catches it. The program has asked to hear of that, and does before a debugger.
    Unhandled,
    /// The runtime itself takes it: it leaves a static constructor or a filter.
    TakenByRuntime,
}

/// The stage at which a breakpoint stops the program now, if it does.
fn wants(spec: &ExceptionSpec, told: Told) -> Option<ExceptionStage> {
    match told {
        Told::Unhandled | Told::Thrown(Fate::Unhandled)
            if spec.unhandled || spec.thrown && spec.caught_by_user == Some(false) =>
        {
            Some(ExceptionStage::Unhandled)
        }
        Told::Thrown(Fate::TakenByRuntime) if spec.thrown && spec.caught_by_user == Some(false) => {
            Some(ExceptionStage::Thrown)
        }
        Told::Thrown(_) if spec.thrown && spec.caught_by_user.is_none() => {
            Some(ExceptionStage::Thrown)
        }
        Told::HandlerFound {
            left_user_code: true,
            by_user: false,
            caught_by_user,
            ..
        } if spec.user_unhandled && caught_by_user != Some(true) => {
            Some(ExceptionStage::UserUnhandled)
        }
        Told::HandlerFound {
            left_user_code: true,
            escapes: true,
            ..
        } if spec.escaping => Some(ExceptionStage::UserUnhandled),
        Told::HandlerFound {
            caught_by_user: Some(caught),
            ..
        } if spec.thrown && spec.caught_by_user == Some(caught) => Some(ExceptionStage::Thrown),
        _ => None,
    }
}

/// `types`: the exception's own type first, then those it is derived from.
fn matches(spec: &ExceptionSpec, types: &[String]) -> bool {
    let names = |list: &[String], subtypes: bool| {
        let considered = if subtypes {
            types
        } else {
            types.get(..1).unwrap_or_default()
        };
        considered
            .iter()
            .any(|known| list.iter().any(|wanted| same_type(known, wanted)))
    };
    let wanted = spec.types.is_empty() || names(&spec.types, spec.subtypes);
    wanted && !names(&spec.except, spec.subtypes)
}

/// The end of a name matches in every namespace and type; generic ones are named without their arguments.
fn same_type(known: &str, wanted: &str) -> bool {
    let (known, wanted) = (bare(known), bare(wanted));
    let before = known.strip_suffix(&wanted);
    before.is_some_and(|it| it.is_empty() || it.ends_with('.'))
}

/// A name of a type without type arguments and arities.
fn bare(name: &str) -> String {
    let (mut bare, mut depth, mut in_arity) = (String::new(), 0_u32, false);
    for it in name.trim().chars() {
        in_arity = it == '`' || in_arity && it.is_ascii_digit();
        match it {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth > 0 || in_arity => {}
            '+' => bare.push('.'),
            _ => bare.push(it),
        }
    }
    bare
}

impl Engine<'_> {
    /// Says which names of breakpoints no exception can have had, when the program is over.
    pub(crate) fn note_unknown_exceptions(&mut self) {
        let Some(target) = &self.target else { return };
        for it in &self.exceptions.wanted {
            if !it.spec.enabled {
                continue;
            }
            // Others of its types may have been met, and a wrong one among those left out leaves out nothing.
            let what = match it.hits {
                0 => " was never met",
                _ => "",
            };
            for why in names::unknown(target, &it.spec) {
                let id = it.id.0;
                self.notes
                    .push(format!("exception breakpoint {id}{what}: {why}"));
            }
        }
    }

    /// Which frame of a thread is the innermost of the user's code. What the framework throws was asked for by that: a
    /// condition means it, as what is shown at the stop does.
    fn nearest_user_frame(&mut self, thread: &Thread) -> Option<usize> {
        let target = self.target.as_mut()?;
        for index in 0..handler::MAX_FRAMES as usize {
            let frame = target.frames(thread).nth(index)?;
            if crate::stack::is_user(target, &frame) {
                return Some(index);
            }
        }
        None
    }

    /// The breakpoints that an exception meets, with their conditions.
    fn met(&mut self, told: Told, types: &[String], thread: &Thread) -> Met {
        let pid = self.pid.unwrap_or(0);
        let mut met = Met::default();
        let frame = match self.exceptions.has_condition(told, types) {
            true => self.nearest_user_frame(thread),
            false => None,
        };
        for (id, stage) in self.exceptions.meeting(told, types) {
            let condition = self.exceptions.conditions.get(&id).cloned();
            let came = self.exceptions.came.entry(id).or_default();
            *came += 1;
            let hit = Hit {
                thread,
                frame,
                count: *came,
                pid,
            };
            let holds = condition.map_or(Ok(true), |condition| self.holds(&condition, hit));
            let Some(entry) = self.exceptions.wanted.iter_mut().find(|it| it.id == id) else {
                continue;
            };
            match holds {
                Ok(false) => continue,
                Ok(true) => met.ids.push(id),
                Err(error) => met.failed.push(StopReason::ConditionFailed {
                    id,
                    condition: entry.spec.condition.clone().unwrap_or_default(),
                    error: error.message,
                }),
            }
            entry.hits += 1;
            // What is worse is told.
            met.stage = met.stage.max(Some(stage));
        }
        met
    }

    /// Whether the user's code catches an exception whose handler was found, there or where a task that keeps it is awaited.
    fn caught_by_user(
        &mut self,
        thread: &Thread,
        frame: &Frame,
        offset: u32,
        by_user: bool,
    ) -> Option<bool> {
        let target = self.target.as_mut()?;
        let Handler::Task { frame, .. } = handler::found(target, thread, frame, offset) else {
            return Some(by_user);
        };
        let types = handler::type_names(target, &report::current(thread)?);
        match awaited::then(target, thread, frame.index, &types) {
            Then::Caught { user_code, .. } | Then::Suppressed { user_code, .. } => Some(user_code),
            Then::NotCaught | Then::NotAwaited => Some(false),
            // Whoever throws it again will be told of.
            Then::Unknown => (!frame.user_code).then_some(false),
        }
    }

    /// What must be known of an exception now, because it is not told later, or too late.
    fn fate(&mut self, thread: &Thread) -> Fate {
        let asks_whether_caught = self.exceptions.asks_whether_caught();
        let asks_of_unhandled = self.exceptions.may_stop_at(DEBUG_EXCEPTION_UNHANDLED);
        let Some(target) = &mut self.target else {
            return Fate::Open;
        };
        let hears = asks_of_unhandled && self.exceptions.own_handler.is_there(target);
        if !hears && !asks_whether_caught {
            return Fate::Open;
        }
        let exception = report::current(thread);
        match exception.map(|it| handler::predict(target, thread, &it)) {
            Some(Handler::Nobody) if hears => Fate::Unhandled,
            Some(Handler::TypeInitializer { .. } | Handler::FilterFails { .. }) => {
                Fate::TakenByRuntime
            }
            _ => Fate::Open,
        }
    }

    /// The runtime tells of an exception; whether it stops the program. `frame` and `offset` are those of the handler, if
    /// one was found.
    pub(crate) fn exception_told(
        &mut self,
        thread: &Thread,
        frame: Option<&Frame>,
        offset: u32,
        kind: CorDebugExceptionCallbackType,
    ) -> bool {
        let (Ok(id), Some(target)) = (thread.id(), &mut self.target) else {
            return false;
        };
        let asks_who_catches = self.exceptions.asks_who_catches();
        let asks = kind == DEBUG_EXCEPTION_CATCH_HANDLER_FOUND && asks_who_catches;
        let unnamed = (asks && frame.is_none())
            .then(|| handler::unnamed(target, thread, &report::current(thread)?, offset))
            .flatten();
        let frame = frame.or(unnamed.as_ref());
        let by_user = frame.is_some_and(|frame| asks && crate::stack::is_user(target, frame))
            && !frame.is_some_and(|frame| {
                let target = self.target.as_mut();
                let offset = target.map(|it| handler::decisive(it, thread, frame, offset));
                offset.is_some_and(|offset| self.leaves_by_task(thread, frame, offset))
            });
        if let Some(target) = &self.target
            && kind == DEBUG_EXCEPTION_FIRST_CHANCE
        {
            self.exceptions.fail_fast.watch(target);
        }
        let in_flight = &mut self.exceptions.in_flight;
        let mut rethrown = false;
        let told = match kind {
            DEBUG_EXCEPTION_FIRST_CHANCE => {
                // Later the trace has the methods that it came through since.
                let mut before = || report::was_thrown_before(self.target.as_mut()?, thread);
                rethrown = asks_who_catches && before().unwrap_or(false);
                let begun = InFlight {
                    in_user_code: false,
                    rethrown,
                };
                in_flight.insert(id, begun);
                Told::Thrown(self.fate(thread))
            }
            DEBUG_EXCEPTION_USER_FIRST_CHANCE => {
                in_flight.entry(id).or_default().in_user_code = true;
                return false;
            }
            DEBUG_EXCEPTION_CATCH_HANDLER_FOUND => {
                let come = in_flight.remove(&id).unwrap_or_default();
                rethrown = come.rethrown;
                // The runtime takes methods for the user's that an attribute takes out.
                let passes = |target: &mut Target| match frame {
                    Some(handler) if asks => {
                        crate::stack::passes_user_code(target, thread, handler)
                    }
                    _ => true,
                };
                let left_user_code = come.in_user_code && self.target.as_mut().is_some_and(passes);
                let wanted = |it: &ExceptionBreakpoint| it.spec.enabled && it.spec.escaping;
                let asked = left_user_code && self.exceptions.wanted.iter().any(wanted);
                // What a task keeps goes on to whoever awaits that.
                let may_go_on = asks && left_user_code && !by_user;
                let caught_by_user = match frame {
                    Some(frame) if may_go_on || self.exceptions.asks_whether_caught() => {
                        self.caught_by_user(thread, frame, offset, by_user)
                    }
                    _ => Some(by_user),
                };
                Told::HandlerFound {
                    left_user_code,
                    by_user,
                    caught_by_user,
                    escapes: asked
                        && self
                            .target
                            .as_mut()
                            .zip(frame)
                            .is_some_and(|(target, frame)| {
                                escaping::escapes(target, thread, frame, offset)
                            }),
                }
            }
            DEBUG_EXCEPTION_UNHANDLED => {
                in_flight.remove(&id);
                if self.exceptions.told_early.contains(&id) {
                    return false;
                }
                Told::Unhandled
            }
            _ => return false,
        };
        let is_lost = matches!(told, Told::Unhandled | Told::Thrown(Fate::Unhandled));
        let always = is_lost && !self.exceptions.ignore_unhandled;
        if !always && !self.exceptions.is_any_wanted(told) {
            return false;
        }
        let Some(target) = &mut self.target else {
            return false;
        };
        let exception = report::current(thread);
        let types = exception
            .as_ref()
            .map(|it| Fields::new(target).types(it))
            .unwrap_or_default();
        // A condition may run code: what the runtime named is dead then, and the exception has to be read again.
        let conditional = self.exceptions.has_condition(told, &types);
        let named = match (told, frame, &mut self.target) {
            (Told::HandlerFound { .. }, Some(frame), Some(target)) if conditional => {
                Some(handler::found(target, thread, frame, offset))
            }
            _ => None,
        };
        let Met { ids, failed, stage } = self.met(told, &types, thread);
        let exception = if conditional {
            report::current(thread)
        } else {
            exception
        };
        let Some(target) = &mut self.target else {
            return false;
        };
        let Some(stage) = stage.max(always.then_some(ExceptionStage::Unhandled)) else {
            return false;
        };
        if told == Told::Unhandled
            && let Some(giving_up::GivenUp { message, exception }) =
                giving_up::fail_fast(target, thread)
        {
            if self.exceptions.fail_fast.was_told(id) {
                return false;
            }
            self.stopped(
                vec![StopReason::FailFast { message, exception }],
                Some(ThreadId(id)),
                None,
            );
            return true;
        }
        let mut handler = match (told, frame) {
            _ if is_lost => Handler::Nobody,
            _ if let Some(named) = named => named,
            (Told::HandlerFound { .. }, Some(frame)) => {
                handler::found(target, thread, frame, offset)
            }
            (Told::HandlerFound { .. } | Told::Unhandled, _) => Handler::Unknown,
            (Told::Thrown(_), _) => exception.as_ref().map_or(Handler::Unknown, |exception| {
                handler::predict(target, thread, exception)
            }),
        };
        if let (Handler::Task { frame, then }, Some(exception)) = (&mut handler, &exception) {
            let types = handler::type_names(target, exception);
            **then = awaited::then(target, thread, frame.index, &types);
        }
        let rethrown = rethrown
            || matches!(told, Told::Thrown(_))
                && report::was_thrown_before(target, thread).unwrap_or(false);
        let flight = report::Found {
            stage,
            handler,
            rethrown,
        };
        let report =
            exception.map(|exception| report::in_flight(target, thread, &exception, flight));
        let mut reasons = Vec::new();
        if is_lost && stage == ExceptionStage::Unhandled {
            reasons.push(StopReason::UnhandledException);
            self.exceptions.told_early.insert(id);
        }
        if !ids.is_empty() {
            reasons.push(StopReason::Exception { ids, stage });
        }
        reasons.extend(failed);
        self.stopped(reasons, Some(ThreadId(id)), report);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(types: &[&str], except: &[&str], subtypes: bool, expected: bool) {
        let own = |list: &[&str]| list.iter().map(|it| (*it).to_owned()).collect();
        let spec = ExceptionSpec {
            types: own(types),
            except: own(except),
            subtypes,
            ..ExceptionSpec::of_type("")
        };
        let thrown: Vec<String> = own(&[
            "System.IO.FileNotFoundException",
            "System.IO.IOException",
            "System.Exception",
            "System.Object",
        ]);
        assert_eq!(matches(&spec, &thrown), expected, "{types:?} {except:?}");
    }

    #[test]
    fn types_match_by_full_or_simple_name_with_subtypes_and_exclusions() {
        check(&["System.IO.IOException"], &[], true, true);
        check(&["System.IO.IOException"], &[], false, false);
        check(&["FileNotFoundException"], &[], false, true);
        check(&["ArgumentException"], &[], true, false);
        check(&[], &[], true, true);
        check(&[], &["IOException"], true, false);
        check(&["Exception"], &["System.ArgumentException"], true, true);
        check(&["IO.IOException"], &[], true, true);
        check(&["O.IOException"], &[], true, false);
        check(&[], &["IOException"], false, true);
        check(&[], &["FileNotFoundException"], false, false);
    }

    #[test]
    fn a_breakpoint_replaces_another_of_the_same_types_at_the_same_stage_only() {
        let thrown = ExceptionSpec::all();
        let leaving = ExceptionSpec {
            thrown: false,
            user_unhandled: true,
            ..ExceptionSpec::all()
        };
        let conditional = ExceptionSpec {
            condition: Some("true".into()),
            ..ExceptionSpec::all()
        };
        assert!(same_exceptions(&thrown, &conditional));
        assert!(!same_exceptions(&thrown, &leaving));
        assert!(!same_exceptions(&thrown, &ExceptionSpec::of_type("A")));
    }

    #[test]
    fn nested_and_generic_types_are_named_in_either_way() {
        for wanted in [
            "Shop.Cart+Full",
            "Shop.Cart.Full",
            "Full",
            "Shop.Cart+Full`1",
        ] {
            assert!(same_type("Shop.Cart.Full<T>", wanted), "{wanted}");
        }
        assert!(!same_type("Shop.Cart.Full<T>", "Shop.Full"));
        for wanted in ["Cart+Full", "Cart.Full", "Shop.Cart<int>.Full"] {
            assert!(same_type("Shop.Cart`1+Full", wanted), "{wanted}");
        }
    }
}
