//! Setting by the rules of C#, where a literal or a path to another value is not enough: what is widened, boxed or
//! computed, and statics of other types.
//!
//! Only a place that may be written, or that no variable stands for, comes here; what is constant or readonly is refused
//! before, and by the binder.

use cordebug::thread::Thread;
use metadata::csharp::field_display_name;

use super::assign::{BY_FORCE, refused};
use super::roots::Roots;
use super::view::Viewer;
use super::{Place, buffer_length, literal};
use crate::api::{
    Error, ErrorCode, Evaluate, EvaluatedValue, ExpressionError, Reply, SetVariable, ThreadId,
    Value, ValueKind, Variable, VariableKind, Variables,
};
use crate::engine::Engine;
use crate::types::Type;

/// Has the program hold a value: what is computed may exist only in the debugger.
const HOLD: &str = "System.Tuple.Create<object>";
/// Parts of a struct that are set one by one at most, and how deeply these may lie.
const MAX_PARTS: usize = 100;
const MAX_PART_DEPTH: u32 = 16;
/// What the binder says of a name that means nothing.
const UNKNOWN_NAME: &str = "CS0103";
/// Of what is returned to be read only, and a part of it.
const READ_ONLY: [&str; 2] = ["CS8331", "CS8332"];
/// And of a field that only constructors assign, and a static one.
const READONLY: [&str; 2] = ["CS0191", "CS0198"];

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
        // And it may be a struct with references that the library knows no place of, which is set part by part.
        if let Some(parts) = self.seen_from(set, thread, |roots, viewer| {
            Ok(roots.parts_to_set(viewer, set))
        })? {
            return self.set_in_parts(set, thread, &request, parts);
        }
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
        let (done, notes) = match all.into_iter().next() {
            Some(done) => (Some(done.outcome), done.notes),
            None => (None, Vec::new()),
        };
        let told = self.told_as_set(set, thread, first, done, &request)?;
        Ok(match told {
            Reply::Variables(mut told) => {
                told.notes.extend(notes);
                Reply::Variables(told)
            }
            other => other,
        })
    }

    /// What came of an assignment: the value as it is then.
    fn told_as_set(
        &mut self,
        set: &SetVariable,
        thread: &Thread,
        first: Error,
        done: Option<Result<EvaluatedValue, ExpressionError>>,
        request: &Evaluate,
    ) -> Result<Reply, Error> {
        let id = thread.id();
        let id = id.map_err(|error| Error::new(ErrorCode::Runtime, error.to_string()))?;
        match done {
            Some(Ok(value)) if value.masked => self.told_as_evaluated(set, ThreadId(id), value),
            Some(Ok(value)) => match self.told_after(set, thread) {
                Ok(Reply::Variables(told)) if !is_told_by_code(&told) => Ok(Reply::Variables(told)),
                // A static of another type is no variable that a path leads to. What a property is now only its getter
                // can tell: its setter may have made something else of what it was given.
                _ => {
                    let request = Evaluate {
                        expressions: vec![set.path.clone()],
                        ..request.clone()
                    };
                    let now = match self.evaluate_expressions(&request)? {
                        Reply::Evaluated(all) => all.into_iter().next(),
                        _ => None,
                    };
                    let now = now.and_then(|it| it.outcome.ok()).unwrap_or(value);
                    self.told_as_evaluated(set, ThreadId(id), now)
                }
            },
            // The number of an object is no C#.
            Some(Err(_)) if set.value.trim_start().starts_with('#') => Err(first),
            Some(Err(failed))
                if failed
                    .code
                    .as_deref()
                    .is_some_and(|it| READ_ONLY.contains(&it))
                    || is_thrown_by_code(&failed)
                    || literal::parse(set.value.trim()).is_none()
                    || failed.code.as_deref() != Some(UNKNOWN_NAME)
                        && !self.is_variable(set, thread)? =>
            {
                let message = failed.error.message.lines().next().unwrap_or_default();
                let mut error = refused(set, &message);
                error.hint = failed.error.hint.or(error.hint);
                if failed
                    .code
                    .as_deref()
                    .is_some_and(|it| READONLY.contains(&it))
                {
                    error = error.hint(BY_FORCE);
                }
                Err(error)
            }
            _ => Err(first),
        }
    }

    /// Computes a struct, and puts its parts into those of the place.
    fn set_in_parts(
        &mut self,
        set: &SetVariable,
        thread: &Thread,
        request: &Evaluate,
        parts: PartsToSet,
    ) -> Result<Reply, Error> {
        let PartsToSet { ty, parts, source } = parts;
        if let Some(source) = source {
            return self.set_parts_from(set, thread, parts, &source);
        }
        let kept = &self.stopped_target()?.kept;
        let free = (1..=u64::from(u32::MAX)).rev();
        let number = free.into_iter().find(|it| !kept.contains_key(it));
        let number = number.unwrap_or(u64::from(u32::MAX));
        let request = Evaluate {
            expressions: vec![format!("${number} = {HOLD}(({ty})({}))", set.value)],
            ..request.clone()
        };
        let Reply::Evaluated(all) = self.evaluate_expressions(&request)? else {
            return Err(refused(set, &"it could not be computed"));
        };
        if let Some(Err(failed)) = all.into_iter().next().map(|it| it.outcome) {
            let message = failed.error.message.lines().next().unwrap_or_default();
            let mut error = refused(set, &message);
            error.hint = failed.error.hint.or(error.hint);
            return Err(error);
        }
        let source = Source::Parts(format!("(({ty})${number}.Item1)"));
        let done = self.set_parts_from(set, thread, parts, &source);
        // It was kept by this request, so letting go of it cannot fail.
        let _ = self.release_object(number);
        done
    }

    fn set_parts_from(
        &mut self,
        set: &SetVariable,
        thread: &Thread,
        parts: Vec<String>,
        source: &Source,
    ) -> Result<Reply, Error> {
        for part in parts {
            let set = SetVariable {
                value: match source {
                    Source::Parts(of) => format!("{of}{part}"),
                    Source::Nothing => "default".into(),
                },
                path: format!("{}{part}", set.path),
                ..set.clone()
            };
            self.set_on(&set, thread)?;
        }
        self.told_after(set, thread)
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
            call: None,
            declarations: Vec::new(),
            code_runs: 0,
        })))
    }
}

/// A struct that is set part by part.
struct PartsToSet {
    ty: String,
    /// Where its parts are in it.
    parts: Vec<String>,
    /// What they are taken from, if not from what is computed.
    source: Option<Source>,
}

/// Where parts come from.
enum Source {
    /// From the same places in this.
    Parts(String),
    Nothing,
}

impl Roots<'_, '_> {
    /// How a struct with references is set that the library knows no place of, or not of all of its parts.
    fn parts_to_set(&self, viewer: &Viewer<'_, '_>, set: &SetVariable) -> Option<PartsToSet> {
        let to = self.destination(viewer, set).ok()?;
        let (types, ty) = (self.reader.types, &to.value.ty);
        let is_struct = ty.is_value() == Some(true) && self.has_references(ty, 0);
        if !is_struct || types.nullable_of(ty).is_some() {
            return None;
        }
        let mut parts = Vec::new();
        let has_buffers = self.add_parts(ty, "", &mut parts, 0)?;
        let is_known = to.runtime.is_some() || !matches!(to.value.place, Place::Memory(_));
        if is_known && !has_buffers {
            return None;
        }
        // What has inline arrays of references cannot be computed first: only something that is there can be copied.
        let source = match set.value.trim() {
            _ if !has_buffers => None,
            "default" => Some(Source::Nothing),
            path => {
                let from = self.at_path(viewer, path).ok()?;
                Some((from.ty == *ty).then(|| Source::Parts(format!("({path})")))?)
            }
        };
        let ty = types.full_text(ty);
        Some(PartsToSet { ty, parts, source })
    }

    /// Whether there are inline arrays of references among the parts.
    fn add_parts(
        &self,
        ty: &Type,
        before: &str,
        parts: &mut Vec<String>,
        depth: u32,
    ) -> Option<bool> {
        if parts.len() >= MAX_PARTS || depth > MAX_PART_DEPTH {
            return None;
        }
        // A number, or a reference.
        if ty.is_value() != Some(true) || !self.has_references(ty, 0) {
            parts.push(before.to_owned());
            return Some(false);
        }
        let members = self.reader.struct_members(ty).ok()?;
        let named = ty.as_named();
        if let Some(length) = named.and_then(|it| buffer_length(self.reader.types, it)) {
            let element = &members.first()?.field.ty;
            for number in 0..length {
                self.add_parts(element, &format!("{before}[{number}]"), parts, depth + 1)?;
            }
            return Some(true);
        }
        let mut has_buffers = false;
        for member in members.iter() {
            let path = format!("{before}.{}", field_display_name(&member.field.name)?);
            has_buffers |= self.add_parts(&member.field.ty, &path, parts, depth + 1)?;
        }
        Some(has_buffers)
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

/// Whether an exception came through code of the program, and is none that only the debugger gives as C# would.
fn is_thrown_by_code(failed: &ExpressionError) -> bool {
    let thrown = failed.thrown.as_ref();
    thrown.is_some_and(|it| !it.trace.is_empty())
}

fn is_told_by_code(told: &Variables) -> bool {
    let parent = told.parent.as_ref();
    parent.is_some_and(|it| it.value.kind == ValueKind::NotRun)
}
