//! What front ends ask of breakpoints: setting, changing, removing, listing.

use std::rc::Rc;

use super::function::FunctionName;
use super::hit::BadHitCondition;
use super::{Bound, Breakpoints, Parsed, Wanted, WrongText, offer};
use crate::api::{
    BreakpointChange, BreakpointId, BreakpointSpec, Details, Error, ErrorCode, Place, Reply,
    SourceMap,
};
use crate::engine::Engine;
use crate::target::Target;

impl Parsed {
    /// Understands the texts of a breakpoint, or says where one is wrong.
    fn of(spec: &BreakpointSpec) -> Result<Self, Error> {
        let text = |text: &Option<String>| text.clone().filter(|it| !it.trim().is_empty());
        let mut parsed = Self::default();
        if let Some(text) = text(&spec.hit_condition) {
            let hit_condition = text.trim().parse().map_err(|error: BadHitCondition| {
                Error::new(ErrorCode::InvalidCondition, error.to_string())
                    .hint("write 5, ==5, >=5, >5 or %5")
            })?;
            parsed.hit_condition = Some(hit_condition);
        }
        if let Some(text) = text(&spec.condition) {
            parsed.condition = Some(Rc::new(condition(&text)?));
        }
        if let Some(text) = text(&spec.log_message) {
            let message = syntax::parse_message(&text)
                .map_err(|error| wrong("log message", &text, &error))?;
            if let Some(error) = message.error() {
                return Err(wrong("log message", &text, error));
            }
            parsed.message = Some(Rc::new(super::Message::new(
                &text,
                message,
                spec.mask_secrets,
            )));
        }
        if spec.max_hits == Some(0) {
            return Err(Error::new(
                ErrorCode::InvalidParameter,
                "a breakpoint of no hits would never do anything",
            )
            .hint("give a maximum of at least 1, or none"));
        }
        Ok(parsed)
    }

    /// Refuses texts that are wrong at every one of some locations, or that run code where that is not allowed.
    pub(super) fn check(
        &self,
        target: &Target,
        bound: &[Bound],
        may_run: bool,
    ) -> Result<(), WrongText> {
        let wrong = |in_condition| {
            move |error| WrongText {
                in_condition,
                error,
            }
        };
        let mut refused = None;
        for bound in bound {
            let at = bound.at;
            let condition = self.condition.as_ref();
            let condition = condition.map_or(Ok(()), |it| it.check(target, at, may_run));
            let message = self.message.as_ref();
            let message = message.map_or(Ok(()), |it| it.check(target, at, may_run));
            match condition
                .map_err(wrong(true))
                .and(message.map_err(wrong(false)))
            {
                Ok(()) => return Ok(()),
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        refused.map_or(Ok(()), Err)
    }
}

/// Understands a condition, or says where it is wrong.
pub(crate) fn condition(text: &str) -> Result<super::Condition, Error> {
    let parsed = syntax::parse(text).map_err(|error| wrong("condition", text, &error))?;
    Ok(super::Condition::new(text, parsed))
}

/// Says where a text is wrong.
fn wrong(what: &str, text: &str, error: &syntax::SyntaxError) -> Error {
    let offset = |byte: u32| {
        let before = text.get(..byte as usize).unwrap_or(text);
        u32::try_from(before.chars().count()).unwrap_or(u32::MAX)
    };
    let (start, end) = (offset(error.span.start), offset(error.span.end));
    Error::new(
        ErrorCode::InvalidCondition,
        format!(
            "the {what} {text:?} is wrong at character {}: {error}",
            start + 1
        ),
    )
    .details(Details::Position { start, end })
}

impl Breakpoints {
    /// Takes a breakpoint in without looking at any module; whether it was there before.
    fn want(&mut self, spec: BreakpointSpec) -> Result<(BreakpointId, bool), Error> {
        offer::check(&spec.place)?;
        let parsed = Parsed::of(&spec)?;
        let mut same = self.wanted.iter_mut();
        if let Some(same) = same.find(|it| it.spec.place == spec.place && !spec.beside_others) {
            same.change(spec, parsed);
            return Ok((same.id, true));
        }
        let id = match spec.id {
            Some(id) => self.take_id(id)?,
            None => self.new_id(),
        };
        self.wanted.push(Wanted::new(id, spec, parsed));
        self.await_names();
        Ok((id, false))
    }

    fn await_names(&mut self) {
        let names = self.wanted.iter().filter_map(|it| match &it.spec.place {
            Place::Function { name } => FunctionName::parse(name).ok(),
            Place::Line { .. } => None,
        });
        self.awaited.set(names.collect());
    }

    /// Leaves the number of a breakpoint that came to nothing to the next.
    fn give_back(&mut self, id: BreakpointId) {
        if self.next == id.0 {
            self.next -= 1;
        }
    }

    /// Gives a breakpoint the name that it had in an earlier run.
    pub(crate) fn take_id(&mut self, id: BreakpointId) -> Result<BreakpointId, Error> {
        let taken = self.wanted.iter().any(|it| it.id == id);
        if taken || id.0 == 0 {
            return Err(Error::new(
                ErrorCode::InvalidParameter,
                format!("a breakpoint cannot be called {}: that is taken", id.0),
            )
            .hint("leave the id out, and it gets a new one"));
        }
        self.next = self.next.max(id.0);
        Ok(id)
    }

    /// A breakpoint at the very same place that was set before, with the place written otherwise. Of two names of a method the
    /// one that says less must be kept: it may mean more as soon as other modules are loaded. Neither is kept where each may.
    pub(super) fn same_as(&self, id: BreakpointId) -> Option<(BreakpointId, Option<Kept>)> {
        let entry = self.wanted.iter().find(|it| it.id == id)?;
        if entry.spec.beside_others {
            return None;
        }
        let written = |entry: &Wanted| match &entry.spec.place {
            Place::Line { line, column, .. } => Some((*line, *column)),
            Place::Function { .. } => None,
        };
        let line = written(entry);
        let code = |entry: &Wanted| -> Vec<_> { entry.bound.iter().map(|it| it.at).collect() };
        let same = |other: &&Wanted| {
            let document = line.is_some()
                && other.document.as_ref().map(|it| &it.path)
                    == entry.document.as_ref().map(|it| &it.path);
            let function = line.is_none() && code(other) == code(entry);
            // Two columns of one statement are one place; so is the line, if it has no other.
            let columns = matches!((line, written(other)), (Some((one, _)), Some((two, _))) if one == two)
                && code(other) == code(entry);
            other.id != id
                && (written(other) == line || columns)
                && !entry.bound.is_empty()
                && (document || function)
        };
        let same = self.wanted.iter().filter(same);
        let mut same: Vec<_> = same
            .map(|it| (it.id, Kept::of(&it.spec.place, &entry.spec.place)))
            .collect();
        same.sort_by_key(|(_, kept)| kept.is_none());
        same.into_iter().next()
    }
}

/// Which place stays of two that are the same so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    First,
    Second,
}

impl Kept {
    /// None stays where each may come to mean what the other does not.
    fn of(first: &Place, second: &Place) -> Option<Self> {
        let (first, second) = match (first, second) {
            (Place::Function { name: first }, Place::Function { name: second }) => (first, second),
            // The whole line may be more in a module that comes later.
            (
                Place::Line {
                    column: Some(_), ..
                },
                Place::Line { column: None, .. },
            ) => return Some(Self::Second),
            _ => return Some(Self::First),
        };
        let (first, second) = (
            FunctionName::parse(first).ok()?,
            FunctionName::parse(second).ok()?,
        );
        match (first.covers(&second), second.covers(&first)) {
            (true, _) => Some(Self::First),
            (_, true) => Some(Self::Second),
            _ => None,
        }
    }
}

impl Wanted {
    /// Takes new texts; counts begin anew where what is counted is another thing.
    fn change(&mut self, spec: BreakpointSpec, parsed: Parsed) {
        if spec.condition != self.spec.condition {
            (self.hits, self.passes, self.failures) = (0, 0, 0);
            self.acted_before += std::mem::take(&mut self.acted);
        }
        if spec.max_hits != self.spec.max_hits || (spec.enabled && !self.spec.enabled) {
            self.effects = 0;
        }
        self.exhausted &= !spec.enabled;
        let place = std::mem::replace(&mut self.spec, spec).place;
        // The place stays as it was written first.
        self.spec.place = place;
        self.parsed = parsed;
        self.invalid = None;
    }

    /// Takes the place of another one, which is the same so far.
    fn moves_to(&mut self, other: Self) {
        self.spec.place = other.spec.place;
        self.bound = other.bound;
        self.slots = other.slots;
        self.document = other.document;
        self.failure = other.failure;
    }
}

impl Engine<'_> {
    /// Takes in the breakpoints of a launch, before there is any module.
    pub(crate) fn want_breakpoints(&mut self, specs: Vec<BreakpointSpec>) -> Result<(), Error> {
        for mut spec in specs {
            // Two of one list are two, unless they want the same.
            let known = self.breakpoints.wanted.iter().map(|it| &it.spec);
            let mut there = known.filter(|it| it.place == spec.place).peekable();
            let is_there = there.peek().is_some();
            let is_same = |it: &BreakpointSpec| {
                let (id, beside_others) = (it.id, it.beside_others);
                let renamed = BreakpointSpec {
                    id,
                    beside_others,
                    ..spec.clone()
                };
                renamed == *it
            };
            if !spec.beside_others && there.any(is_same) {
                continue;
            }
            spec.beside_others |= is_there;
            self.want_breakpoint(spec)?;
        }
        Ok(())
    }

    fn want_breakpoint(&mut self, spec: BreakpointSpec) -> Result<(BreakpointId, bool), Error> {
        if let Some(id) = spec.id
            && self.exceptions.list().iter().any(|it| it.id == id)
        {
            let message = format!("{} is the name of an exception breakpoint", id.0);
            return Err(Error::new(ErrorCode::InvalidParameter, message)
                .hint("leave the id out, and it gets a new one"));
        }
        self.breakpoints.want(spec)
    }

    pub(crate) fn set_breakpoint(&mut self, spec: BreakpointSpec) -> Result<Reply, Error> {
        let kept = spec.clone();
        let known = self.breakpoints.wanted.iter();
        let mut known = known.filter(|it| it.spec.place == spec.place);
        if let (Some(known), Some(target)) = (known.next(), &self.target) {
            let may_run = !self.evaluations.is_forbidden();
            Parsed::of(&spec)?.check(target, &known.bound, may_run)?;
        }
        let (mut id, mut duplicate) = self.want_breakpoint(spec)?;
        let bound = self.bind_everywhere(id);
        if let Err(error) = bound.and_then(|()| Ok(self.check_texts(id)?)) {
            if !duplicate {
                self.breakpoints.wanted.retain(|it| it.id != id);
                self.breakpoints.give_back(id);
                self.synchronize_breakpoints()?;
            }
            return Err(error);
        }
        if !duplicate && let Some((first, Some(which))) = self.breakpoints.same_as(id) {
            let parsed = Parsed::of(&kept)?;
            let second = self.breakpoints.wanted.pop_if(|it| it.id == id);
            self.breakpoints.give_back(id);
            let entry = self.breakpoints.find(first)?;
            entry.change(kept, parsed);
            if let Some(second) = second.filter(|_| which == Kept::Second) {
                entry.moves_to(second);
            }
            self.breakpoints.await_names();
            self.synchronize_breakpoints()?;
            (id, duplicate) = (first, true);
        }
        let mut told = self.breakpoints.wanted.iter().filter(|it| it.id == id);
        let breakpoint = told.next().map(|it| self.breakpoints.told(it));
        Ok(Reply::Breakpoint {
            breakpoint: breakpoint.ok_or_else(|| self.breakpoints.unknown(id))?,
            duplicate,
        })
    }

    pub(crate) fn change_breakpoint(
        &mut self,
        id: BreakpointId,
        change: BreakpointChange,
    ) -> Result<Reply, Error> {
        if let Some(changed) = self.change_exception_breakpoint(id, &change) {
            return changed;
        }
        let entry = self.breakpoints.find(id)?;
        let before = vec![(id, entry.report())];
        let changed = |new: Option<String>, old: &Option<String>| match new {
            Some(text) if text.trim().is_empty() => None,
            Some(text) => Some(text),
            None => old.clone(),
        };
        let old = &entry.spec;
        let spec = BreakpointSpec {
            place: old.place.clone(),
            condition: changed(change.condition, &old.condition),
            hit_condition: changed(change.hit_condition, &old.hit_condition),
            log_message: changed(change.log_message, &old.log_message),
            max_hits: change.max_hits.or(old.max_hits).filter(|it| *it > 0),
            mask_secrets: old.mask_secrets,
            beside_others: old.beside_others,
            enabled: change.enabled.unwrap_or(old.enabled),
            id: old.id,
        };
        let parsed = Parsed::of(&spec)?;
        if let Some(target) = &self.target {
            parsed.check(target, &entry.bound, !self.evaluations.is_forbidden())?;
        }
        entry.change(spec, parsed);
        self.synchronize_breakpoints()?;
        self.tell_changes(before);
        Ok(Reply::Breakpoint {
            breakpoint: self.breakpoints.find(id)?.report(),
            duplicate: true,
        })
    }

    pub(crate) fn remove_breakpoint(&mut self, id: BreakpointId) -> Result<Reply, Error> {
        if !self.exceptions.remove(id) {
            let entry = self.breakpoints.find(id)?;
            // One that only told where something is leaves its number to the next.
            let told_only = entry.spec.beside_others && !entry.spec.enabled && entry.passes == 0;
            self.breakpoints.wanted.retain(|it| it.id != id);
            if told_only {
                self.breakpoints.give_back(id);
            }
            self.synchronize_breakpoints()?;
        }
        Ok(self.list_breakpoints())
    }

    pub(crate) fn list_breakpoints(&mut self) -> Reply {
        self.suggest_names();
        let exceptions = self.exception_breakpoints();
        Reply::Breakpoints {
            breakpoints: self.breakpoints.reports(),
            exceptions,
        }
    }

    /// Takes new source maps; breakpoints on lines are looked for anew.
    pub(crate) fn require_exact_source(&mut self, exact: bool) -> Result<Reply, Error> {
        self.source_files.require_exact(exact);
        self.forget_reports();
        self.rebind_lines()?;
        Ok(self.list_breakpoints())
    }

    pub(crate) fn set_source_maps(&mut self, maps: Vec<SourceMap>) -> Result<Reply, Error> {
        self.source_files.set_maps(maps)?;
        self.forget_reports();
        self.rebind_lines()?;
        Ok(self.list_breakpoints())
    }

    /// What was told of this stop names files, which are others now.
    fn forget_reports(&self) {
        if let Some(target) = &self.target {
            target.places.forget();
        }
    }
}
