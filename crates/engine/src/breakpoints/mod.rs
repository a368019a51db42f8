//! Breakpoints: what the user wants, where it is set, and what a hit means.
//!
//! A breakpoint is wanted at a *place* (a line, a method); each loaded module that has the place gives it *locations*
//! (a method and an IL offset). Several breakpoints may share a location: the runtime is asked for one breakpoint per
//! location, so one hit is one stop that names them all.
//!
//! Invariant: a location is set in the runtime exactly while an enabled breakpoint uses it.

mod bind;
mod function;
mod hit;
mod type_names;

use cordebug::module::Breakpoint as CodeBreakpoint;
use metadata::{IlOffset, Token};

use crate::api::{
    BoundLocation, Breakpoint, BreakpointChange, BreakpointId, BreakpointSpec, BreakpointState,
    Error, ErrorCode, Event, Place, Reply,
};
use crate::engine::Engine;
use crate::modules::LoadedModule;
use crate::target::Target;
use bind::Found;
use hit::HitCondition;
pub(crate) use type_names::TypeNames;

/// All breakpoints of a session, in the order they were set.
#[derive(Debug, Default)]
pub(crate) struct Breakpoints {
    wanted: Vec<Wanted>,
    next: u32,
    set: Vec<SetLocation>,
}

/// A breakpoint that the user wants.
#[derive(Debug)]
struct Wanted {
    id: BreakpointId,
    spec: BreakpointSpec,
    hit_condition: Option<HitCondition>,
    hits: u64,
    bound: Vec<Bound>,
    was_bound: bool,
    /// Why a module that has the place could not take it.
    failure: Option<String>,
    /// Something to know though it is bound, such as that it moved.
    remark: Option<String>,
}

/// A place in code that a breakpoint belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Bound {
    at: CodeLocation,
    shown: BoundLocation,
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
}

/// The places in the code of a module that a place stands for; an error if it has the file but no code there.
pub(crate) fn locations(
    place: &Place,
    module: &LoadedModule,
    process: &cordebug::process::Process,
) -> Result<Vec<CodeLocation>, Error> {
    bind::check(place)?;
    let found = bind::find(place, module, process)?;
    let locations = found.into_iter().map(|found| CodeLocation {
        module: module.identity(),
        method: found.method,
        offset: found.offset,
    });
    Ok(locations.collect())
}

impl Wanted {
    fn state(&self) -> BreakpointState {
        if !self.spec.enabled {
            BreakpointState::Disabled
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

    fn report(&self) -> Breakpoint {
        let state = self.state();
        let reason = match state {
            BreakpointState::Bound => self.remark.clone(),
            BreakpointState::Failed => self.failure.clone(),
            BreakpointState::Unbound => Some("the module that held it was unloaded".into()),
            BreakpointState::Disabled => None,
            BreakpointState::Pending => Some(match &self.spec.place {
                Place::Line { file, .. } => {
                    format!("no loaded module was compiled from {file} with symbols")
                }
                Place::Function { name } => format!("no loaded module has a method {name}"),
            }),
        };
        let locations = self.bound.iter().map(|bound| bound.shown.clone()).collect();
        Breakpoint {
            id: self.id,
            spec: self.spec.clone(),
            state,
            reason,
            locations,
            hits: self.hits,
        }
    }
}

impl Breakpoints {
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
    }

    /// A new name, of one sequence for all kinds of breakpoints.
    pub(crate) fn new_id(&mut self) -> BreakpointId {
        self.next += 1;
        BreakpointId(self.next)
    }

    fn reports(&self) -> Vec<Breakpoint> {
        self.wanted.iter().map(Wanted::report).collect()
    }

    /// Takes a breakpoint in without looking at any module; whether it was there before.
    fn want(&mut self, spec: BreakpointSpec) -> Result<(BreakpointId, bool), Error> {
        let hit_condition = parse_hit_condition(spec.hit_condition.as_deref())?;
        if let Some(same) = self
            .wanted
            .iter_mut()
            .find(|it| it.spec.place == spec.place)
        {
            same.spec = spec;
            same.hit_condition = hit_condition;
            return Ok((same.id, true));
        }
        let id = self.new_id();
        self.wanted.push(Wanted {
            id,
            spec,
            hit_condition,
            hits: 0,
            bound: Vec::new(),
            was_bound: false,
            failure: None,
            remark: None,
        });
        Ok((id, false))
    }

    /// Makes the runtime's breakpoints those that are wanted now.
    fn synchronize(&mut self, target: &Target) {
        let Self { wanted, set, .. } = self;
        let needed = |at: CodeLocation| {
            wanted
                .iter()
                .any(|it| it.spec.enabled && it.bound.iter().any(|bound| bound.at == at))
        };
        set.retain(|location| {
            let keep = needed(location.at);
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
                        breakpoint,
                    }),
                    Err(error) => {
                        failure = Some(format!(
                            "{} in {}: {error}",
                            bound.shown.method, bound.shown.module
                        ));
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
        self.set
            .iter()
            .find(|it| it.breakpoint.identity() == identity)
            .map(|it| it.at)
    }

    /// The breakpoints that want to stop at a place that was reached; those that only count have counted.
    fn reached(&mut self, at: CodeLocation) -> Vec<BreakpointId> {
        let here = self
            .wanted
            .iter_mut()
            .filter(|it| it.spec.enabled && it.bound.iter().any(|bound| bound.at == at));
        let mut ids = Vec::new();
        for entry in here {
            entry.hits += 1;
            if entry
                .hit_condition
                .is_none_or(|condition| condition.holds(entry.hits))
            {
                ids.push(entry.id);
            }
        }
        ids
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

fn parse_hit_condition(text: Option<&str>) -> Result<Option<HitCondition>, Error> {
    match text.map(str::trim) {
        None | Some("") => Ok(None),
        Some(text) => text
            .parse()
            .map(Some)
            .map_err(|error: hit::BadHitCondition| {
                Error::new(ErrorCode::InvalidCondition, error.to_string())
                    .hint("write 5, ==5, >=5, >5 or %5")
            }),
    }
}

impl Engine<'_> {
    /// Takes in the breakpoints of a launch, before there is any module.
    pub(crate) fn want_breakpoints(&mut self, specs: Vec<BreakpointSpec>) -> Result<(), Error> {
        for spec in specs {
            self.breakpoints.want(spec)?;
        }
        Ok(())
    }

    pub(crate) fn set_breakpoint(&mut self, spec: BreakpointSpec) -> Result<Reply, Error> {
        bind::check(&spec.place)?;
        let (id, duplicate) = self.breakpoints.want(spec)?;
        if let Err(error) = self.bind_everywhere(id) {
            if !duplicate {
                self.breakpoints.wanted.retain(|it| it.id != id);
            }
            return Err(error);
        }
        Ok(Reply::Breakpoint {
            breakpoint: self.breakpoints.find(id)?.report(),
            duplicate,
        })
    }

    pub(crate) fn change_breakpoint(
        &mut self,
        id: BreakpointId,
        change: BreakpointChange,
    ) -> Result<Reply, Error> {
        if let Some(enabled) = change.enabled
            && let Some(breakpoint) = self.exceptions.enable(id, enabled)
        {
            return Ok(Reply::ExceptionBreakpoint {
                breakpoint,
                duplicate: true,
            });
        }
        let entry = self.breakpoints.find(id)?;
        let changed = |new: Option<String>, old: &Option<String>| match new {
            Some(text) if text.trim().is_empty() => None,
            Some(text) => Some(text),
            None => old.clone(),
        };
        let spec = BreakpointSpec {
            place: entry.spec.place.clone(),
            condition: changed(change.condition, &entry.spec.condition),
            hit_condition: changed(change.hit_condition, &entry.spec.hit_condition),
            log_message: changed(change.log_message, &entry.spec.log_message),
            enabled: change.enabled.unwrap_or(entry.spec.enabled),
        };
        entry.hit_condition = parse_hit_condition(spec.hit_condition.as_deref())?;
        entry.spec = spec;
        self.synchronize_breakpoints()?;
        Ok(Reply::Breakpoint {
            breakpoint: self.breakpoints.find(id)?.report(),
            duplicate: true,
        })
    }

    pub(crate) fn remove_breakpoint(&mut self, id: BreakpointId) -> Result<Reply, Error> {
        if !self.exceptions.remove(id) {
            self.breakpoints.find(id)?;
            self.breakpoints.wanted.retain(|it| it.id != id);
            self.synchronize_breakpoints()?;
        }
        Ok(self.list_breakpoints())
    }

    pub(crate) fn list_breakpoints(&self) -> Reply {
        let exceptions = self.exceptions.list().to_vec();
        Reply::Breakpoints {
            breakpoints: self.breakpoints.reports(),
            exceptions,
        }
    }

    /// Looks for the place of a breakpoint in all loaded modules.
    fn bind_everywhere(&mut self, id: BreakpointId) -> Result<(), Error> {
        let Some(target) = &mut self.target else {
            return Ok(());
        };
        let entry = self.breakpoints.find(id)?;
        let mut refused = None;
        for module in target.modules.iter() {
            match bind::find(&entry.spec.place, module, &target.process) {
                Ok(found) => entry.take(module, found),
                Err(error) => refused = Some(error),
            }
        }
        if let Some(error) = refused
            && entry.bound.is_empty()
        {
            return Err(error);
        }
        self.synchronize_breakpoints()
    }

    /// Brings the runtime up to date; it must be stopped for a moment for that.
    fn synchronize_breakpoints(&mut self) -> Result<(), Error> {
        let Some(target) = &mut self.target else {
            return Ok(());
        };
        let running = !target.is_stopped();
        if running {
            target.stop()?;
        }
        self.breakpoints.synchronize(target);
        if running {
            target.answer()?;
        }
        Ok(())
    }

    /// A module was loaded: breakpoints that wait for it are bound.
    pub(crate) fn bind_to_module(&mut self, identity: usize) {
        let Some(target) = &mut self.target else {
            return;
        };
        let Some(module) = target.modules.get(identity) else {
            return;
        };
        let mut changed = Vec::new();
        for entry in &mut self.breakpoints.wanted {
            // Most modules have nothing for most breakpoints: that must cost nothing.
            match bind::find(&entry.spec.place, module, &target.process) {
                Ok(found) if found.is_empty() => {}
                Ok(found) => {
                    changed.push((entry.id, entry.report()));
                    entry.take(module, found);
                }
                Err(error) => {
                    changed.push((entry.id, entry.report()));
                    entry.failure = Some(error.message);
                }
            }
        }
        if changed.is_empty() {
            return;
        }
        self.breakpoints.synchronize(target);
        self.tell_changes(changed);
    }

    /// A module was unloaded: what was bound in it is not any more.
    pub(crate) fn unbind_from_module(&mut self, identity: usize) {
        let mut changed = Vec::new();
        for entry in &mut self.breakpoints.wanted {
            changed.push((entry.id, entry.report()));
            entry.bound.retain(|bound| bound.at.module != identity);
        }
        self.breakpoints
            .set
            .retain(|location| location.at.module != identity);
        self.tell_changes(changed);
    }

    fn tell_changes(&mut self, before: Vec<(BreakpointId, Breakpoint)>) {
        for (id, before) in before {
            let now = self.breakpoints.find(id).map(|entry| entry.report());
            if let Ok(now) = now
                && now != before
            {
                self.tell(Event::Breakpoint(now));
            }
        }
    }

    /// The runtime reached one of its breakpoints: those of ours that want to stop there.
    pub(crate) fn breakpoints_reached(&mut self, identity: usize) -> Vec<BreakpointId> {
        match self.breakpoints.location(identity) {
            Some(at) => self.breakpoints.reached(at),
            None => Vec::new(),
        }
    }
}

impl Wanted {
    /// Takes what a module offers.
    fn take(&mut self, module: &LoadedModule, found: Vec<Found>) {
        for Found {
            method,
            offset,
            shown,
            remark,
        } in found
        {
            let at = CodeLocation {
                module: module.identity(),
                method,
                offset,
            };
            if self.bound.iter().all(|bound| bound.at != at) {
                self.bound.push(Bound { at, shown });
            }
            self.was_bound = true;
            self.failure = None;
            self.remark = remark.or(self.remark.take());
        }
    }
}
