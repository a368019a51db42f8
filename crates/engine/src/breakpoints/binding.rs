//! Binding: which modules have the places of the breakpoints, as modules come and go.

use super::function::{FunctionName, code_of};
use super::implementations::Slot;
use super::offer::{self, Found, Match, Offer, Surroundings, ambiguous};
use super::{Bound, CodeLocation, Failure, MAX_HINTS, Wanted, WrongText, suggest};
use crate::api::{Breakpoint, BreakpointId, BreakpointState, Error, Event, Place};
use crate::engine::Engine;
use crate::modules::LoadedModule;
use crate::target::Target;

/// A way to say that nothing was refused.
type Refusal = Option<Error>;

impl Wanted {
    /// Takes what a module offers, unless another module has a better fit; what it refuses.
    fn consider(&mut self, module: &LoadedModule, offer: Offer) -> Refusal {
        match offer {
            Offer::Nothing { hint } => {
                if let Some(hint) = hint
                    && self.hints.len() < MAX_HINTS
                    && !self.hints.contains(&hint)
                {
                    self.hints.push(hint);
                }
                None
            }
            Offer::Ambiguous { rank, paths } => {
                if self.document.as_ref().is_some_and(|it| rank < it.rank) {
                    return None;
                }
                Some(ambiguous(&self.spec.place, paths))
            }
            Offer::Code {
                document,
                found,
                slots,
            } => {
                if self.accepts(document) {
                    self.take(module, found);
                    // A module may be looked at again when its symbols have come.
                    for slot in slots {
                        if !self.slots.iter().any(|it| it.is_same(&slot)) {
                            self.slots.push(slot);
                        }
                    }
                }
                None
            }
            Offer::Refused { document, error } => self.accepts(document).then_some(error),
        }
    }

    /// Whether code of a document is what this breakpoint wants: a better fit drops what was taken before.
    fn accepts(&mut self, document: Option<Match>) -> bool {
        let Some(new) = document else {
            return true;
        };
        match &self.document {
            Some(known) if known.path == new.path || (known.rank.same && new.rank.same) => true,
            Some(known) if known.rank > new.rank => false,
            Some(known) if known.rank == new.rank => {
                if !self.also.contains(&new.path) && self.also.len() < MAX_HINTS {
                    self.also.push(new.path);
                }
                false
            }
            _ => {
                self.bound.clear();
                self.failure = None;
                self.also.clear();
                self.document = Some(new);
                true
            }
        }
    }

    fn take(&mut self, module: &LoadedModule, found: Vec<Found>) {
        for found in found {
            let at = CodeLocation {
                module: module.identity(),
                method: found.method,
                offset: found.offset,
            };
            if self.bound.iter().all(|bound| bound.at != at) {
                self.bound.push(Bound {
                    at,
                    shown: found.shown,
                    moved: found.moved,
                    notes: found.notes,
                });
            }
            self.was_bound = true;
        }
    }

    /// Looks for what is written for the methods that others are written for: in the module that was loaded and in those
    /// that were unsure, and everywhere for methods that are new.
    fn implement(&mut self, loaded: Option<usize>, target: &Target, around: Surroundings<'_>) {
        let mut slots = std::mem::take(&mut self.slots);
        for slot in &mut slots {
            let unsure = std::mem::take(&mut slot.unsure);
            let is_new = !std::mem::replace(&mut slot.searched, true);
            let modules = target.modules.iter().filter(|it| {
                let id = it.identity();
                is_new || loaded == Some(id) || unsure.contains(&id)
            });
            for module in modules.filter(|it| it.is_users(around.process)) {
                self.implement_in(slot, module, target, around);
            }
        }
        self.slots = slots;
    }

    fn implement_in(
        &mut self,
        slot: &mut Slot,
        module: &LoadedModule,
        target: &Target,
        around: Surroundings<'_>,
    ) {
        for runs in slot.implementations_in(module, target.types()) {
            // An inherited one may lie in another module.
            let home = target.modules.get(runs.module.0);
            let Some(home) = home.filter(|it| it.is_users(around.process)) else {
                continue;
            };
            match code_of(home, runs.method, around) {
                Ok(mut code) => {
                    if let Some(first) = code.first_mut() {
                        first.notes.extend(runs.notes);
                    }
                    for code in &code {
                        slot.add(home.identity(), code);
                    }
                    self.take(home, code);
                }
                Err(error) => {
                    self.failure = Some(Failure {
                        module: home.identity(),
                        reason: error.message,
                    });
                }
            }
        }
    }

    /// Says what may be meant by a name that no module has.
    fn suggest(&mut self, target: &Target, around: Surroundings<'_>) {
        self.modules_looked_into = target.modules.iter().count();
        let modules = target.modules.iter();
        let similar: Vec<_> = match &self.spec.place {
            Place::Function { name } => match FunctionName::parse(name) {
                Ok(name) => modules
                    .flat_map(|it| suggest::similar(&name, it, around))
                    .collect(),
                Err(_) => return,
            },
            Place::Line { file, .. } => modules
                .flat_map(|it| suggest::files(file, it, around))
                .collect(),
        };
        self.hints.retain(|it| !it.starts_with(suggest::QUESTION));
        self.hints.extend(suggest::told(similar));
    }

    fn forget_bindings(&mut self) {
        self.bound.clear();
        self.document = None;
        self.failure = None;
        self.hints.clear();
        self.also.clear();
        self.slots.clear();
    }
}

impl Engine<'_> {
    /// Looks for the place of a breakpoint in all loaded modules.
    pub(super) fn bind_everywhere(&mut self, id: BreakpointId) -> Result<(), Error> {
        if self.is_arriving() {
            self.breakpoints.late = true;
            return Ok(());
        }
        let Some(target) = &self.target else {
            return Ok(());
        };
        let around = Surroundings {
            process: &target.process,
            files: &self.source_files,
            unoptimized: target.unoptimized,
        };
        let entry = self.breakpoints.find(id)?;
        entry.hints.clear();
        entry.also.clear();
        entry.slots.clear();
        let mut refused = None;
        for module in target.modules.iter() {
            let refusal = entry.consider(module, offer::of(&entry.spec.place, module, around));
            refused = refusal.or(refused);
        }
        entry.implement(None, target, around);
        if entry.bound.is_empty() && entry.slots.is_empty() {
            if let Some(error) = refused {
                return Err(error);
            }
            entry.suggest(target, around);
        } else if !entry.also.is_empty() {
            // Nothing says which one is meant: better to ask than to guess.
            let mut paths: Vec<String> = entry.document.iter().map(|it| it.path.clone()).collect();
            paths.append(&mut entry.also);
            let place = entry.spec.place.clone();
            entry.forget_bindings();
            return Err(ambiguous(&place, paths));
        }
        self.synchronize_breakpoints()
    }

    /// Says what may be meant by names that no module has: most are asked for before any module is there.
    pub(crate) fn suggest_names(&mut self) {
        let Some(target) = &self.target else {
            return;
        };
        let around = Surroundings {
            process: &target.process,
            files: &self.source_files,
            unoptimized: target.unoptimized,
        };
        let modules = target.modules.iter().count();
        for entry in &mut self.breakpoints.wanted {
            if entry.state() == BreakpointState::Pending && entry.modules_looked_into != modules {
                entry.suggest(target, around);
            }
        }
    }

    /// Brings the runtime up to date; it must be stopped for a moment for that.
    pub(super) fn synchronize_breakpoints(&mut self) -> Result<(), Error> {
        if self.is_arriving() {
            self.breakpoints.late = true;
            return Ok(());
        }
        let Some(target) = &self.target else {
            return Ok(());
        };
        let running = !target.is_stopped();
        if running {
            self.stop_target()?;
        }
        if let Some(target) = &mut self.target {
            self.breakpoints.synchronize(target);
            if running {
                target.answer()?;
            }
        }
        Ok(())
    }

    /// Does what could not be done while the program was arriving.
    pub(crate) fn bind_late_breakpoints(&mut self) {
        if !std::mem::take(&mut self.breakpoints.late) {
            return;
        }
        let ids: Vec<BreakpointId> = self.breakpoints.wanted.iter().map(|it| it.id).collect();
        for id in ids {
            let Ok(entry) = self.breakpoints.find(id) else {
                continue;
            };
            let before = vec![(id, entry.report())];
            if let Err(error) = self.bind_everywhere(id)
                && let Ok(entry) = self.breakpoints.find(id)
            {
                let reason = error.message;
                entry.failure = Some(Failure { module: 0, reason });
            }
            self.note_wrong_texts(id);
            self.tell_changes(before);
        }
    }

    /// Looks for all lines anew, as paths mean other documents now.
    pub(super) fn rebind_lines(&mut self) -> Result<(), Error> {
        let lines = self.breakpoints.wanted.iter_mut();
        let lines = lines.filter(|it| matches!(it.spec.place, Place::Line { .. }));
        let before: Vec<(BreakpointId, Breakpoint)> = lines
            .map(|entry| {
                let report = entry.report();
                entry.forget_bindings();
                (entry.id, report)
            })
            .collect();
        for (id, _) in &before {
            if let Err(error) = self.bind_everywhere(*id)
                && let Ok(entry) = self.breakpoints.find(*id)
            {
                let reason = error.message;
                entry.failure = Some(Failure { module: 0, reason });
            }
            self.note_wrong_texts(*id);
        }
        self.synchronize_breakpoints()?;
        self.tell_changes(before);
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
        let around = Surroundings {
            process: &target.process,
            files: &self.source_files,
            unoptimized: target.unoptimized,
        };
        let mut changed = Vec::new();
        for entry in &mut self.breakpoints.wanted {
            // Most modules have nothing for most breakpoints: that must cost nothing.
            let offer = offer::of(&entry.spec.place, module, around);
            if let Offer::Nothing { hint: None } = offer
                && entry.slots.is_empty()
            {
                continue;
            }
            changed.push((entry.id, entry.report()));
            if let Some(error) = entry.consider(module, offer) {
                entry.failure = Some(Failure {
                    module: identity,
                    reason: error.message,
                });
            }
            entry.implement(Some(identity), target, around);
        }
        if changed.is_empty() {
            return;
        }
        self.breakpoints.synchronize(target);
        for (id, _) in &changed {
            self.note_wrong_texts(*id);
        }
        self.tell_changes(changed);
    }

    /// Says which files were meant perhaps and have no breakpoint, when the program is over.
    pub(crate) fn note_other_documents(&mut self) {
        let named = self.breakpoints.wanted.iter();
        for it in named.filter(|it| it.spec.enabled && !it.also.is_empty()) {
            let Place::Line { file, line, .. } = &it.spec.place else {
                continue;
            };
            self.notes.push(format!(
                "breakpoint {} at {file}:{} was not set in {}, which {file} could also mean: give more of the path",
                it.id.0,
                line.0,
                it.also.join(", ")
            ));
        }
    }

    /// A module was loaded that the program did not wait for, and of which somebody wants something by now.
    pub(crate) fn bind_to_passed_module(&mut self, identity: usize) {
        if self.is_arriving() {
            self.breakpoints.late = true;
            return;
        }
        let running = self.target.as_ref().is_some_and(|it| !it.is_stopped());
        if running && let Err(error) = self.stop_target() {
            tracing::debug!(%error, "stopping the program to set a breakpoint");
            return;
        }
        self.bind_to_module(identity);
        if running
            && let Some(target) = &mut self.target
            && let Err(error) = target.answer()
        {
            tracing::debug!(%error, "letting the program go on");
        }
    }

    /// Refuses a condition or message that is wrong where the breakpoint is bound.
    pub(super) fn check_texts(&mut self, id: BreakpointId) -> Result<(), WrongText> {
        let Ok(entry) = self.breakpoints.find(id) else {
            return Ok(());
        };
        match &self.target {
            Some(target) => {
                let may_run = !self.evaluations.is_forbidden();
                entry.parsed.check(target, &entry.bound, may_run)
            }
            None => Ok(()),
        }
    }

    /// Notes of a breakpoint that was bound by itself whether its condition or message is wrong there.
    fn note_wrong_texts(&mut self, id: BreakpointId) {
        let wrong = self.check_texts(id).err();
        if let Ok(entry) = self.breakpoints.find(id) {
            entry.invalid = wrong;
        }
    }

    /// A module was unloaded: what was bound in it is not any more.
    pub(crate) fn unbind_from_module(&mut self, identity: usize) {
        let mut changed = Vec::new();
        for entry in &mut self.breakpoints.wanted {
            changed.push((entry.id, entry.report()));
            entry.bound.retain(|bound| bound.at.module != identity);
            entry.slots.retain(|slot| slot.module != identity);
            entry.failure.take_if(|it| it.module == identity);
            if entry.bound.is_empty() && entry.failure.is_none() {
                entry.document = None;
                entry.also.clear();
            }
        }
        self.breakpoints
            .set
            .retain(|location| location.at.module != identity);
        self.tell_changes(changed);
    }

    pub(super) fn tell_changes(&mut self, before: Vec<(BreakpointId, Breakpoint)>) {
        for (id, before) in before {
            let entry = self.breakpoints.wanted.iter().find(|it| it.id == id);
            let now = entry.map(|it| (it.report(), self.breakpoints.told(it)));
            // While it waits, what modules do not have is no news.
            let still_waits = |now: &Breakpoint| {
                now.state == BreakpointState::Pending && before.state == BreakpointState::Pending
            };
            if let Some((now, told)) = now
                && now != before
                && !still_waits(&now)
            {
                self.tell(Event::Breakpoint(told));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Parsed;
    use super::super::offer::Rank;
    use super::*;
    use crate::api::{BreakpointSpec, Line};

    fn wanted() -> Wanted {
        let place = Place::Line {
            file: "a/P.cs".into(),
            line: Line(1),
            column: None,
        };
        Wanted::new(
            BreakpointId(1),
            BreakpointSpec::at(place),
            Parsed::default(),
        )
    }

    fn document(path: &str, same: bool, folders: usize) -> Option<Match> {
        Some(Match {
            rank: Rank {
                same,
                case: true,
                folders,
            },
            path: path.into(),
        })
    }

    #[test]
    fn the_best_document_of_all_modules_is_taken() {
        let mut entry = wanted();
        assert!(entry.accepts(document("/x/b/P.cs", false, 0)));
        // One that fits as well is another file: it is told, and not taken.
        assert!(!entry.accepts(document("/y/c/P.cs", false, 0)));
        assert_eq!(entry.also, ["/y/c/P.cs"]);
        // A better one takes its place, whatever loaded first; the same file in another module is the same.
        assert!(entry.accepts(document("/z/a/P.cs", false, 1)));
        assert!(entry.also.is_empty());
        assert!(entry.accepts(document("/z/a/P.cs", false, 1)));
        assert!(!entry.accepts(document("/x/b/P.cs", false, 0)));
        assert!(entry.accepts(document("/here/a/P.cs", true, 1)));
        assert!(entry.accepts(None), "methods have no document");
    }
}
