//! What front ends ask of exception breakpoints: setting, changing, removing, listing.

use std::rc::Rc;

use super::{Exceptions, bare, names};
use crate::api::{
    BreakpointChange, BreakpointId, Error, ErrorCode, ExceptionBreakpoint, ExceptionSpec, Reply,
};
use crate::engine::Engine;
use crate::expressions::Condition;
use crate::target::Target;

impl Exceptions {
    /// Adds or changes one; whether it was there.
    pub(super) fn set(
        &mut self,
        spec: ExceptionSpec,
        notes: Vec<String>,
        new_id: impl FnOnce() -> BreakpointId,
    ) -> (ExceptionBreakpoint, bool) {
        let same = self
            .wanted
            .iter_mut()
            .find(|it| same_exceptions(&it.spec, &spec));
        if let Some(same) = same {
            same.spec = spec;
            same.notes = notes;
            self.came.remove(&same.id);
            return (same.clone(), true);
        }
        let added = ExceptionBreakpoint {
            id: new_id(),
            spec,
            hits: 0,
            notes,
        };
        self.wanted.push(added.clone());
        (added, false)
    }

    /// Replaces the condition of one.
    fn set_condition(&mut self, id: BreakpointId, condition: Option<Rc<Condition>>) {
        match condition {
            Some(condition) => self.conditions.insert(id, condition),
            None => self.conditions.remove(&id),
        };
    }

    /// Says of a breakpoint that another one, whose types are named otherwise, is for the same exceptions.
    fn note_twins(&self, target: &Target, breakpoint: &mut ExceptionBreakpoint) {
        let spec = &breakpoint.spec;
        let mut others = self.wanted.iter().filter(|it| {
            it.id != breakpoint.id
                && stages(&it.spec) == stages(spec)
                && it.spec.subtypes == spec.subtypes
        });
        // Names that end otherwise never mean the same: that is told without a look at any type.
        let means_same = |one: &[String], other: &[String]| {
            simple(one) == simple(other)
                && (canonical(one) == canonical(other)
                    || names::meant(target, one) == names::meant(target, other))
        };
        let twin = others.find(|it| {
            means_same(&it.spec.types, &spec.types) && means_same(&it.spec.except, &spec.except)
        });
        if let Some(twin) = twin {
            breakpoint.notes.push(format!(
                "breakpoint {} is for the same exceptions: each counts and stops for itself, and one may be removed",
                twin.id.0
            ));
        }
    }
}

/// Understands a condition, if there is one.
fn understood(text: Option<&str>) -> Result<Option<Rc<Condition>>, Error> {
    let text = text.filter(|it| !it.trim().is_empty());
    let condition = text.map(crate::breakpoints::condition).transpose()?;
    Ok(condition.map(Rc::new))
}

/// Whether two breakpoints are for the same exceptions at the same stage: the later one then replaces the earlier.
pub(super) fn same_exceptions(one: &ExceptionSpec, other: &ExceptionSpec) -> bool {
    wanted_types(one) == wanted_types(other)
        && canonical(&one.except) == canonical(&other.except)
        && stages(one) == stages(other)
}

fn stages(spec: &ExceptionSpec) -> (bool, bool, bool) {
    (spec.thrown, spec.user_unhandled, spec.escaping)
}

/// The types of a breakpoint; none where all are meant.
fn wanted_types(spec: &ExceptionSpec) -> Vec<String> {
    let types = canonical(&spec.types);
    let is_base = |it: &String| it == "System.Exception";
    match spec.subtypes && types.iter().any(is_base) {
        true => Vec::new(),
        false => types,
    }
}

/// The names of a list, whatever their order.
fn canonical(names: &[String]) -> Vec<String> {
    let mut names: Vec<String> = names.iter().map(|it| bare(it)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The last parts of the names of a list.
fn simple(names: &[String]) -> Vec<String> {
    let last = |it: &String| it.rsplit('.').next().unwrap_or_default().to_owned();
    canonical(&canonical(names).iter().map(last).collect::<Vec<_>>())
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
        let condition = understood(spec.condition.as_deref())?;
        names::check(self.target.as_ref(), &spec)?;
        let notes = names::notes(self.target.as_ref(), &spec);
        let Self {
            exceptions,
            breakpoints,
            target,
            ..
        } = self;
        let known = exceptions
            .wanted
            .iter()
            .any(|it| same_exceptions(&it.spec, &spec));
        let id = match spec.id {
            Some(id) if !known => Some(breakpoints.take_id(id)?),
            _ => None,
        };
        let new_id = || id.unwrap_or_else(|| breakpoints.new_id());
        let (mut breakpoint, duplicate) = exceptions.set(spec, notes, new_id);
        exceptions.set_condition(breakpoint.id, condition);
        if let Some(target) = target {
            exceptions.note_twins(target, &mut breakpoint);
        }
        Ok((breakpoint, duplicate))
    }

    /// The exception breakpoints as they are now: what their names mean changes with the modules that are loaded.
    pub(crate) fn exception_breakpoints(&mut self) -> Vec<ExceptionBreakpoint> {
        for it in &mut self.exceptions.wanted {
            if let Some(target) = &self.target {
                it.notes = names::notes(Some(target), &it.spec);
            }
        }
        let mut told = self.exceptions.wanted.clone();
        if let Some(target) = &self.target {
            for it in &mut told {
                self.exceptions.note_twins(target, it);
            }
        }
        told
    }

    /// Changes one, if the name is that of one. It has no hit condition, log message or maximum: that it is asked for these is
    /// told, and nothing is changed then.
    pub(crate) fn change_exception_breakpoint(
        &mut self,
        id: BreakpointId,
        change: &BreakpointChange,
    ) -> Option<Result<Reply, Error>> {
        let at = self.exceptions.wanted.iter().position(|it| it.id == id)?;
        Some(self.change_exception_breakpoint_at(at, change))
    }

    fn change_exception_breakpoint_at(
        &mut self,
        at: usize,
        change: &BreakpointChange,
    ) -> Result<Reply, Error> {
        let text = |text: &Option<String>| text.as_deref().is_some_and(|it| !it.trim().is_empty());
        let entry = &mut self.exceptions.wanted[at];
        let id = entry.id;
        let asked = [
            ("hit condition", text(&change.hit_condition)),
            ("log message", text(&change.log_message)),
            ("max_hits", change.max_hits.is_some_and(|it| it > 0)),
        ];
        if let Some((what, _)) = asked.iter().find(|(_, is_asked)| *is_asked) {
            return Err(Error::new(
                ErrorCode::NotSupported,
                format!("{} is an exception breakpoint, which has no {what}", id.0),
            )
            .hint("give a condition on $exception, or switch it on or off with enabled"));
        }
        let condition = change.condition.as_deref();
        let understood = understood(condition)?;
        if let Some(enabled) = change.enabled {
            entry.spec.enabled = enabled;
        }
        if let Some(text) = condition {
            let text = Some(text.to_owned()).filter(|it| !it.trim().is_empty());
            if entry.spec.condition != text {
                entry.hits = 0;
                self.exceptions.came.remove(&id);
            }
            entry.spec.condition = text;
            self.exceptions.set_condition(id, understood);
        }
        let breakpoint = self.exceptions.wanted[at].clone();
        Ok(Reply::ExceptionBreakpoint {
            breakpoint,
            duplicate: true,
        })
    }
}
