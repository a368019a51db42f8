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
use super::view::{Children, Opens, Viewer};
use super::{Unreadable, Value};

/// Getters run for one request at most.
const MAX_GETTERS: usize = 200;

/// A property and its getter; none if that is not to be run.
type Getter = (String, Option<Method>);

/// What a getter gave.
pub(super) struct Computed {
    name: String,
    result: Result<Outcome, CallError>,
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
        for (name, getter) in getters {
            let Some(getter) = getter else {
                let why = "its getter was not run: it may tell what is masked".into();
                let result = Err(CallError::Refused(why));
                computed.push(Computed { name, result });
                continue;
            };
            if let Some(why) = allowance.is_used_up(self.evaluations.is_cancelled()) {
                let result = Err(CallError::Refused(why));
                computed.push(Computed { name, result });
                continue;
            }
            let call = Call {
                method: &getter,
                type_arguments: &[],
                this: Some(this.clone()),
                arguments: Vec::new(),
            };
            let result = self.call(&allowance.site(), &call);
            // The frames that paths begin in are not where they were.
            if let Err(why) = &result
                && (self.evaluations.is_disabled() || matches!(why, CallError::ProgramEnded))
            {
                return Err(Error::from(why.clone()));
            }
            computed.push(Computed { name, result });
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
                let is_kept_back = may_tell && getter.returns == Type::STRING;
                getters.push((member.name, (!is_kept_back).then_some(getter)));
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
        for child in list {
            if !matches!(child.value, Err(Unreadable::WouldRunCode)) {
                continue;
            }
            let Some(found) = computed.iter().find(|it| it.name == child.name) else {
                continue;
            };
            child.value = viewer.outcome(&found.result);
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
            Err(why) => Err(Unreadable::NotRun {
                why: why.to_string(),
            }),
        }
    }
}
