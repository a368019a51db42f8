//! Setting by the rules of C#, where a literal or a path to another value is not enough: what is widened, boxed or
//! computed, and statics of other types.
//!
//! Only a place that may be written, or that no variable stands for, comes here; what is constant or readonly is refused
//! before, and by the binder.

use cordebug::thread::Thread;

use super::assign::{BY_FORCE, refused};
use super::roots::Roots;
use super::view::Viewer;
use super::{Place, literal};
use crate::api::{
    Error, ErrorCode, Evaluate, EvaluatedValue, Reply, SetVariable, ThreadId, Value, ValueKind,
    Variable, VariableKind, Variables,
};
use crate::engine::Engine;

/// What the binder says of a name that means nothing.
const UNKNOWN_NAME: &str = "CS0103";
/// And of a field that only constructors assign.
const READONLY: &str = "CS0191";

impl Engine<'_> {
    /// Sets by an assignment that is evaluated. `first` is why it could not be set otherwise, which is told if it was a
    /// literal for a variable: that is the nearer reason.
    pub(super) fn set_by_expression(
        &mut self,
        set: &SetVariable,
        thread: &Thread,
        first: Error,
    ) -> Result<Reply, Error> {
        let id = thread.id();
        let id = id.map_err(|error| Error::new(ErrorCode::Runtime, error.to_string()))?;
        let request = Evaluate {
            thread: Some(ThreadId(id)),
            frame: set.frame,
            stop: set.stop,
            side_effects: true,
            mask_secrets: set.mask_secrets,
            force: set.force,
            ..Evaluate::read(format!("{} = {}", set.path, set.value))
        };
        // Before anything runs: what C# does not assign to may still be a place, such as a field of a struct in a box.
        let binds = self.evaluate_expressions(&Evaluate {
            types_only: true,
            ..request.clone()
        })?;
        let is_bound =
            matches!(&binds, Reply::Evaluated(all) if all.iter().all(|it| it.outcome.is_ok()));
        // And what it does assign to may be a reference that the library knows no place of: in an inline array or a span.
        let place = |roots: &Roots<'_, '_>, viewer: &Viewer<'_, '_>| {
            let place = roots.destination(viewer, set).ok();
            Ok(place.map(|it| {
                let is_in_memory = matches!(it.value.place, Place::Memory(_));
                it.runtime.is_none() && it.value.ty.is_reference() && is_in_memory
            }))
        };
        let evaluated = match self.seen_from(set, thread, place)? {
            Some(true) => self.evaluate_into(set, &request, true)?,
            Some(false) if !is_bound => self.evaluate_into(set, &request, false)?,
            _ => self.evaluate_expressions(&request)?,
        };
        let Reply::Evaluated(all) = evaluated else {
            return Err(first);
        };
        match all.into_iter().next().map(|it| it.outcome) {
            Some(Ok(value)) if value.masked => self.told_as_evaluated(set, ThreadId(id), value),
            Some(Ok(value)) => match self.told_after(set, thread) {
                Ok(Reply::Variables(told)) if !is_told_by_code(&told) => Ok(Reply::Variables(told)),
                // A static of another type is no variable that a path leads to. What a property is now only its getter
                // can tell: its setter may have made something else of what it was given.
                _ => {
                    let request = Evaluate {
                        expressions: vec![set.path.clone()],
                        ..request
                    };
                    let now = match self.evaluate_expressions(&request)? {
                        Reply::Evaluated(all) => all.into_iter().next(),
                        _ => None,
                    };
                    let now = now.and_then(|it| it.outcome.ok()).unwrap_or(value);
                    self.told_as_evaluated(set, ThreadId(id), now)
                }
            },
            Some(Err(failed))
                if literal::parse(set.value.trim()).is_none()
                    || failed.code.as_deref() != Some(UNKNOWN_NAME)
                        && !self.is_variable(set, thread)? =>
            {
                let message = failed.error.message.lines().next().unwrap_or_default();
                let mut error = refused(set, &message);
                error.hint = failed.error.hint.or(error.hint);
                if failed.code.as_deref() == Some(READONLY) {
                    error = error.hint(BY_FORCE);
                }
                Err(error)
            }
            _ => Err(first),
        }
    }

    fn told_as_evaluated(
        &self,
        set: &SetVariable,
        thread: ThreadId,
        value: EvaluatedValue,
    ) -> Result<Reply, Error> {
        let value = evaluated(value);
        Ok(Reply::Variables(Box::new(Variables {
            stop: self.stop_id()?,
            thread,
            frame: set.frame,
            parent: Some(Box::new(Variable {
                name: set.path.clone(),
                kind: VariableKind::Static,
                path: set.path.clone(),
                declared_type: None,
                label: None,
                shadowed: false,
                value,
            })),
            variables: Vec::new(),
            omitted: None,
            notes: Vec::new(),
            code_runs: 0,
        })))
    }
}

/// What an expression gives, as the value of a variable.
pub(super) fn evaluated(value: EvaluatedValue) -> Value {
    let is_number = |text: &str| text.starts_with(|it: char| it.is_ascii_digit() || it == '-');
    let kind = match &*value.ty {
        _ if value.masked => ValueKind::Masked,
        _ if value.text == "null" => ValueKind::Null,
        "bool" => ValueKind::Bool,
        "char" => ValueKind::Char,
        "string" => ValueKind::String,
        _ if is_number(&value.text) => ValueKind::Number,
        _ => ValueKind::Object,
    };
    let variable = value.variable.map(|it| it.value);
    variable.unwrap_or_else(|| super::view::told(value.ty, value.text, kind))
}

fn is_told_by_code(told: &Variables) -> bool {
    let parent = told.parent.as_ref();
    parent.is_some_and(|it| it.value.kind == ValueKind::NotRun)
}
