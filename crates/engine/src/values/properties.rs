//! Properties that only their getters can tell: run when that was asked for.

use cordebug::thread::Thread;

use crate::api::{Error, VariablesQuery};
use crate::calls::{Argument, Call, CallError, Outcome};
use crate::engine::Engine;
use crate::stack::frame_at;
use crate::types::{Method, Type};

use super::answering::Allowance;
use super::roots::Roots;
use super::view::masking::has_secrets;
use super::view::telling::MAY_TELL;
use super::view::{Children, Opens, Subject, Viewer};
use super::{Unreadable, Value};

/// Getters run for one request at most.
const MAX_GETTERS: usize = 200;

/// A property and its getter; none if that is not to be run.
struct Getter {
    name: String,
    method: Option<Method>,
    root_hidden: bool,
}

/// What a getter gave.
pub(super) struct Computed {
    name: String,
    result: Result<Outcome, CallError>,
    /// Whether what it holds is shown in its place.
    root_hidden: bool,
}

impl Computed {
    /// How many of them were run.
    pub(super) fn runs(all: &[Self]) -> u32 {
        let refused = |it: &&Self| !matches!(it.result, Err(CallError::Refused(_)));
        all.iter().filter(refused).count() as u32
    }
}

impl Engine<'_> {
    /// Runs the getters of what a path leads to, until the time for all of them is used up or the request is given up;
    /// its own object is read anew afterwards, since it may have moved.
    pub(super) fn compute_properties(
        &mut self,
        query: &VariablesQuery,
        thread: &Thread,
        path: &str,
        allowance: &Allowance,
    ) -> Result<Vec<Computed>, Error> {
        let (this, getters) = self.getters(query, thread, path)?;
        let mut computed = Vec::new();
        for getter in getters {
            let (name, root_hidden) = (getter.name, getter.root_hidden);
            let told = |result| Computed {
                name: name.clone(),
                result,
                root_hidden,
            };
            let Some(getter) = getter.method else {
                computed.push(told(Err(CallError::Refused(MAY_TELL.into()))));
                continue;
            };
            // One before it may not have ended.
            if let Err(why) = self.evaluations.check() {
                computed.push(told(Err(why)));
                continue;
            }
            if let Some(why) = allowance.is_used_up(self.evaluations.is_cancelled()) {
                computed.push(told(Err(CallError::Refused(why))));
                continue;
            }
            let call = Call {
                method: &getter,
                type_arguments: &[],
                this: Some(this.clone()),
                arguments: Vec::new(),
            };
            let result = self.call(&allowance.site(), &call);
            match &result {
                Err(why @ CallError::ProgramEnded) => return Err(Error::from(why.clone())),
                // The frames that paths begin in are not where they were.
                Err(why) if self.evaluations.is_disabled() && !allowance.is_free_of_frames() => {
                    let mut error = Error::from(why.clone());
                    error.message = format!("the getter of {name}: {}", error.message);
                    return Err(error);
                }
                _ => {}
            }
            computed.push(told(result));
        }
        Ok(computed)
    }

    /// The object, and its getters.
    fn getters(
        &mut self,
        query: &VariablesQuery,
        thread: &Thread,
        path: &str,
    ) -> Result<(Argument, Vec<Getter>), Error> {
        let target = self.stopped_target()?;
        let frame = frame_at(target, thread, query.frame);
        let target = &*target;
        let reader = target.reader().looking_from(frame.as_ref().ok());
        let viewer = Viewer::new(&reader, &query.view, &target.object_ids);
        let roots = Roots {
            target,
            reader: &reader,
            thread,
            frame,
            index: query.frame,
        };
        let child = roots.at_path(&viewer, path)?;
        let nothing = (Argument::Null, Vec::new());
        let Ok(value) = &child.value else {
            return Ok(nothing);
        };
        let Ok(subject) = viewer.subject(value) else {
            return Ok(nothing);
        };
        let (Some(value), Some(ty)) = (viewer.as_value(&subject), viewer.type_of(&subject)) else {
            return Ok(nothing);
        };
        // What a DebuggerTypeProxy shows takes the place of all members.
        if viewer.opens(&subject) == Some(Opens::Proxy) {
            return Ok(nothing);
        }
        let Ok(Children::Members(members)) = viewer.children(&subject, &child.notes) else {
            return Ok(nothing);
        };
        let mut getters = Vec::new();
        // Texts that the framework makes of what it holds: `DebuggerDisplayResultDescription` of a task.
        let may_tell =
            query.view.mask_secrets && reader.is_of_framework(ty) && has_secrets(reader.types, ty);
        for member in members {
            if !matches!(member.value, Err(Unreadable::WouldRunCode)) {
                continue;
            }
            if let Ok(Some(getter)) = viewer.getter(ty, &member.name)
                && getters.len() < MAX_GETTERS
            {
                let is_kept_back =
                    may_tell && getter.returns == Type::STRING || viewer.may_tell(&value, &getter);
                getters.push(Getter {
                    root_hidden: viewer.is_root_hidden(ty, &member.name),
                    name: member.name,
                    method: (!is_kept_back).then_some(getter),
                });
            }
        }
        let this = if getters.is_empty() {
            Ok(Argument::Null)
        } else {
            reader.argument(&value)
        };
        match this {
            Ok(this) => Ok((this, getters)),
            Err(_) => Ok(nothing),
        }
    }
}

impl Children {
    /// Puts what getters gave in place of what would have run code.
    pub(super) fn fill_in(&mut self, viewer: &Viewer<'_, '_>, computed: &[Computed]) {
        let Children::Members(list) = self else {
            return;
        };
        for mut child in std::mem::take(list) {
            let is_open = matches!(child.value, Err(Unreadable::WouldRunCode));
            let found = computed.iter().find(|it| is_open && it.name == child.name);
            if let Some(found) = found {
                child.value = viewer.outcome(&found.result);
                // Of null, which code that is shared gives, the runtime knows only what stands for all that share it.
                if let Ok(value) = &mut child.value
                    && matches!(viewer.subject(value), Ok(Subject::Null))
                {
                    value.ty = child.ty.without_ref().clone();
                }
                if found.root_hidden
                    && let Ok(value) = &child.value
                    && let Some(inner) = viewer.root_hidden(value, &child.path)
                {
                    list.extend(inner);
                    continue;
                }
            }
            list.push(child);
        }
    }
}

impl Viewer<'_, '_> {
    /// What a getter gave, as a value.
    pub(super) fn outcome(&self, result: &Result<Outcome, CallError>) -> super::Result<Value> {
        match result {
            Ok(Outcome::Returned(Some(kept))) => self.reader.kept(kept),
            Ok(Outcome::Returned(None)) => Err(Unreadable::NotRun {
                why: "it returned nothing".into(),
            }),
            Ok(Outcome::Threw(exception)) => Err(Unreadable::Threw {
                exception: self.brief_kept(exception),
            }),
            Err(why @ CallError::Disabled { .. }) => Err(Unreadable::Failed {
                why: format!("its getter was not run: {why}"),
            }),
            Err(CallError::Refused(why)) => Err(Unreadable::Failed {
                why: format!("its getter was not run: {why}"),
            }),
            Err(why) => Err(Unreadable::NotRun {
                why: why.to_string(),
            }),
        }
    }
}
