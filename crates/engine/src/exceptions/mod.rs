//! Exceptions: where they stop the program, and what is told of them.
//!
//! The runtime tells of an exception up to three times: thrown, reaching the user's code, and a catch block found or
//! nobody catching it. Which of these stops the program is decided here, by the breakpoints that the user set;
//! an exception that nobody catches always stops it unless that was switched off.

mod report;

use std::collections::HashMap;

use cordebug::bindings::{
    CorDebugExceptionCallbackType, DEBUG_EXCEPTION_CATCH_HANDLER_FOUND,
    DEBUG_EXCEPTION_FIRST_CHANCE, DEBUG_EXCEPTION_UNHANDLED, DEBUG_EXCEPTION_USER_FIRST_CHANCE,
};
use cordebug::thread::{Frame, Thread};

use crate::api::{
    BreakpointId, Error, ErrorCode, ExceptionBreakpoint, ExceptionSpec, ExceptionStage, StopReason,
    ThreadId,
};
use crate::engine::Engine;
pub(crate) use report::Reader;

/// The exception breakpoints, and how far the exceptions in flight have come.
#[derive(Debug, Default)]
pub(crate) struct Exceptions {
    wanted: Vec<ExceptionBreakpoint>,
    /// Threads whose exception has reached the user's code.
    in_user_code: HashMap<u32, bool>,
    /// Whether exceptions that nobody catches do not stop the program.
    ignore_unhandled: bool,
}

impl Exceptions {
    pub(crate) fn list(&self) -> &[ExceptionBreakpoint] {
        &self.wanted
    }

    /// Removes one; whether it was there.
    pub(crate) fn remove(&mut self, id: BreakpointId) -> bool {
        let before = self.wanted.len();
        self.wanted.retain(|it| it.id != id);
        self.wanted.len() != before
    }

    /// Adds or changes one; whether it was there.
    pub(crate) fn set(
        &mut self,
        spec: ExceptionSpec,
        new_id: impl FnOnce() -> BreakpointId,
    ) -> (ExceptionBreakpoint, bool) {
        let same = self
            .wanted
            .iter_mut()
            .find(|it| it.spec.types == spec.types && it.spec.except == spec.except);
        if let Some(same) = same {
            same.spec = spec;
            return (same.clone(), true);
        }
        let added = ExceptionBreakpoint {
            id: new_id(),
            spec,
            hits: 0,
        };
        self.wanted.push(added.clone());
        (added, false)
    }

    /// Switches one on or off.
    pub(crate) fn enable(
        &mut self,
        id: BreakpointId,
        enabled: bool,
    ) -> Option<ExceptionBreakpoint> {
        let found = self.wanted.iter_mut().find(|it| it.id == id)?;
        found.spec.enabled = enabled;
        Some(found.clone())
    }

    /// Whether exceptions that nobody catches stop the program.
    pub(crate) fn ignore_unhandled(&mut self, ignore: bool) {
        self.ignore_unhandled = ignore;
    }

    fn is_any_wanted(&self, stage: ExceptionStage) -> bool {
        self.wanted
            .iter()
            .any(|it| it.spec.enabled && wants(&it.spec, stage))
    }

    /// The breakpoints that an exception with these types, its own first, meets at a stage.
    fn hit(&mut self, stage: ExceptionStage, types: &[String]) -> Vec<BreakpointId> {
        let mut ids = Vec::new();
        for entry in self
            .wanted
            .iter_mut()
            .filter(|it| it.spec.enabled && wants(&it.spec, stage))
        {
            if matches(&entry.spec, types) {
                entry.hits += 1;
                ids.push(entry.id);
            }
        }
        ids
    }
}

fn wants(spec: &ExceptionSpec, stage: ExceptionStage) -> bool {
    match stage {
        ExceptionStage::Thrown => spec.thrown,
        ExceptionStage::UserUnhandled => spec.user_unhandled,
        ExceptionStage::Unhandled => spec.unhandled,
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
    wanted && !names(&spec.except, true)
}

/// A simple name matches in every namespace.
fn same_type(known: &str, wanted: &str) -> bool {
    let wanted = wanted.trim();
    known == wanted || (!wanted.contains('.') && known.rsplit(['.', '+']).next() == Some(wanted))
}

impl Engine<'_> {
    pub(crate) fn set_exception_breakpoint(
        &mut self,
        spec: ExceptionSpec,
    ) -> Result<(ExceptionBreakpoint, bool), Error> {
        let blank = |name: &String| name.trim().is_empty();
        if spec.types.iter().chain(&spec.except).any(blank) {
            return Err(Error::new(
                ErrorCode::InvalidParameter,
                "an exception type has an empty name",
            )
            .hint(
                "give a type name such as System.InvalidOperationException, or no types for all",
            ));
        }
        let Self {
            exceptions,
            breakpoints,
            ..
        } = self;
        Ok(exceptions.set(spec, || breakpoints.new_id()))
    }

    /// The runtime tells of an exception; whether it stops the program.
    pub(crate) fn exception_told(
        &mut self,
        thread: &Thread,
        frame: Option<&Frame>,
        kind: CorDebugExceptionCallbackType,
    ) -> bool {
        let Ok(id) = thread.id() else { return false };
        let stage = match kind {
            DEBUG_EXCEPTION_FIRST_CHANCE => {
                self.exceptions.in_user_code.insert(id, false);
                ExceptionStage::Thrown
            }
            DEBUG_EXCEPTION_USER_FIRST_CHANCE => {
                self.exceptions.in_user_code.insert(id, true);
                return false;
            }
            DEBUG_EXCEPTION_CATCH_HANDLER_FOUND => {
                let left_user_code = self.exceptions.in_user_code.remove(&id).unwrap_or(false);
                let caught_by_user = frame.is_some_and(|frame| self.is_user_code(frame));
                if !left_user_code || caught_by_user {
                    return false;
                }
                ExceptionStage::UserUnhandled
            }
            DEBUG_EXCEPTION_UNHANDLED => {
                self.exceptions.in_user_code.remove(&id);
                ExceptionStage::Unhandled
            }
            _ => return false,
        };
        let unhandled = stage == ExceptionStage::Unhandled;
        let always = unhandled && !self.exceptions.ignore_unhandled;
        if !always && !self.exceptions.is_any_wanted(stage) {
            return false;
        }
        let Some(target) = &mut self.target else {
            return false;
        };
        let exception = thread
            .current_exception()
            .ok()
            .flatten()
            .and_then(|it| it.dereference().ok()?);
        let types = exception
            .as_ref()
            .map(|it| Reader::new(target).types(it))
            .unwrap_or_default();
        let ids = self.exceptions.hit(stage, &types);
        if ids.is_empty() && !always {
            return false;
        }
        let report = self.exception_of(thread, unhandled);
        let reason = if unhandled {
            StopReason::UnhandledException
        } else {
            StopReason::Exception { ids, stage }
        };
        self.stopped(vec![reason], Some(ThreadId(id)), report);
        true
    }

    fn is_user_code(&mut self, frame: &Frame) -> bool {
        let Some(target) = &mut self.target else {
            return false;
        };
        let module = frame.function().and_then(|function| function.module());
        module.is_ok_and(|module| {
            target
                .modules
                .entry(&module)
                .symbols(&target.process)
                .is_ok()
        })
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
    }
}
