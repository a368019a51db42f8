//! How a session begins, and how it begins again: what was launched, with the breakpoints as they are now.
//!
//! A breakpoint that was named by the text of its statement keeps to that statement when the program is built again.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use host::Session;
use host::api::{
    Attach, Breakpoint, BreakpointSpec, BreakpointState, Error, ErrorCode, ExceptionBreakpoint,
    ExceptionSpec, Launch, Reply, Request, SourceMap, StepOptions,
};

use super::{ANSWER, DebugSession, lock, unexpected};
use crate::program::Build;
use crate::tools::statement::ByText;

/// How a session begins.
#[derive(Debug, Clone)]
pub(crate) enum Start {
    /// Starts a program, or builds a project first.
    Launch(Box<Launch>, Build),
    /// Takes a running one.
    Attach(Attach),
}

impl Start {
    /// Where steps stop.
    pub(super) fn steps(&self) -> StepOptions {
        match self {
            Self::Launch(launch, _) => launch.steps,
            Self::Attach(attach) => attach.steps,
        }
    }
}

/// All that a session begins with.
#[derive(Debug, Clone)]
pub(crate) struct Recipe {
    pub(crate) start: Start,
    pub(crate) maps: Vec<SourceMap>,
    /// Whether unhandled exceptions do not stop the program.
    pub(crate) passes_unhandled: bool,
    /// Which breakpoints are named by the text of a statement.
    pub(crate) texts: Vec<ByText>,
    /// What its first report says besides.
    pub(crate) remarks: Vec<String>,
}

/// Breakpoints of both kinds.
pub(super) type Breakpoints = (Vec<Breakpoint>, Vec<ExceptionBreakpoint>);

impl DebugSession {
    /// Asks for all breakpoints: those that never change are not told otherwise.
    pub(super) fn learn_breakpoints(&self, session: &Session) {
        match session.request(Request::Breakpoints, Instant::now() + ANSWER) {
            Ok(Reply::Breakpoints {
                breakpoints,
                exceptions,
            }) => {
                *lock(&self.breakpoints) = Some((breakpoints.clone(), exceptions));
                self.news.send_modify(|news| {
                    for breakpoint in breakpoints {
                        // What an event told meanwhile may be newer, except for the hits and what may be meant.
                        let (hits, state) = (breakpoint.hits, breakpoint.state);
                        let (passes, failures) = (breakpoint.passes, breakpoint.failures);
                        let (acted, before) = (breakpoint.acted, breakpoint.acted_before);
                        let reason = breakpoint.reason.clone();
                        let known = news.breakpoints.entry(breakpoint.id.0);
                        let known = known.or_insert(breakpoint);
                        known.hits = known.hits.max(hits);
                        known.passes = known.passes.max(passes);
                        known.failures = known.failures.max(failures);
                        known.acted = known.acted.max(acted);
                        known.acted_before = known.acted_before.max(before);
                        if known.state == state && state == BreakpointState::Pending {
                            known.reason = reason;
                        }
                    }
                });
            }
            Ok(other) => {
                unexpected(&other);
            }
            Err(error) => tracing::debug!(%error, "the breakpoints cannot be read"),
        }
    }

    /// The breakpoints as they were when the program was over. Those of a start that failed are not known.
    pub(crate) fn last_breakpoints(&self) -> Breakpoints {
        lock(&self.breakpoints).clone().unwrap_or_default()
    }

    /// Takes over why breakpoints are not bound yet: what may be meant by their names is known only when modules are
    /// loaded, and is no event.
    pub(crate) fn learn_reasons(&self, breakpoints: Vec<Breakpoint>) {
        self.news.send_modify(|news| {
            for told in breakpoints {
                if let Some(known) = news.breakpoints.get_mut(&told.id.0)
                    && known.state == told.state
                {
                    known.reason = told.reason;
                }
            }
        });
    }

    /// Changes where steps stop from now on; what is not told stays as it is.
    pub(crate) async fn change_steps(
        self: &Arc<Self>,
        just_my_code: Option<bool>,
        skip_properties: Option<bool>,
    ) -> Result<(), Error> {
        let before = *lock(&self.steps);
        let wanted = StepOptions {
            just_my_code: just_my_code.unwrap_or(before.just_my_code),
            skip_properties: skip_properties.unwrap_or(before.skip_properties),
        };
        if wanted != before {
            self.request(Request::SetStepOptions(wanted)).await?;
            *lock(&self.steps) = wanted;
        }
        Ok(())
    }

    /// How to begin again, with the breakpoints as they are now. For threads that may block.
    pub(crate) fn again(&self) -> Result<Recipe, Error> {
        let mut recipe = self.recipe.clone();
        let Start::Launch(launch, _) = &mut recipe.start else {
            return Err(Error::new(
                ErrorCode::NotSupported,
                format!(
                    "{} was attached to, and can only be launched by whoever launched it",
                    self.id
                ),
            )
            .hint("start it as it was started, then debug_attach"));
        };
        launch.steps = *lock(&self.steps);
        let live = self.held().live.clone();
        if let Some(session) = live {
            self.learn_breakpoints(&session);
        }
        // A start that failed has only what it was given.
        if let Some((breakpoints, exceptions)) = lock(&self.breakpoints).clone() {
            recipe.texts.clear();
            recipe.remarks.clear();
            launch.breakpoints.clear();
            for it in breakpoints {
                let spec = it.again();
                let place = match self.found_again(&it) {
                    None => it.spec.place,
                    Some(Ok(named)) => {
                        recipe.texts.push(named.clone());
                        named.place
                    }
                    Some(Err(error)) => {
                        let id = it.id.0;
                        let why = error.message;
                        let stays =
                            format!("breakpoint {id} stays at the line that it was at: {why}");
                        recipe.remarks.push(stays);
                        it.spec.place
                    }
                };
                launch.breakpoints.push(BreakpointSpec { place, ..spec });
            }
            launch.exceptions = exceptions
                .into_iter()
                .map(|it| ExceptionSpec {
                    id: Some(it.id),
                    ..it.spec
                })
                .collect();
        }
        recipe.passes_unhandled = self.passes_unhandled.load(Ordering::Relaxed);
        Ok(recipe)
    }

    /// Where the text stands now that names the place of a breakpoint, if one does. A breakpoint keeps to its statement,
    /// not to its line, when the program is built again.
    fn found_again(&self, breakpoint: &Breakpoint) -> Option<Result<ByText, Error>> {
        let place = &breakpoint.spec.place;
        let texts = lock(&self.texts);
        let named = texts.iter().find(|it| it.place == *place)?.clone();
        drop(texts);
        let mut sources = breakpoint
            .locations
            .iter()
            .filter_map(|it| it.source.as_ref());
        let path = sources.next().map(|it| Path::new(&it.path));
        let found = named.found_again(&self.policy, path);
        Some(found.map(|place| ByText { place, ..named }))
    }

    /// Notes that a breakpoint is named by a text.
    pub(crate) fn named_by_text(&self, named: ByText) {
        let mut texts = lock(&self.texts);
        texts.retain(|it| it.place != named.place);
        texts.push(named);
    }

    /// Notes whether unhandled exceptions stop the program.
    pub(crate) fn stops_at_unhandled(&self, stops: bool) {
        self.passes_unhandled.store(!stops, Ordering::Relaxed);
    }

    /// Notes a breakpoint that the client is told of right now.
    pub(crate) fn told_breakpoint(&self, breakpoint: &Breakpoint) {
        let mut told = self.told();
        told.breakpoints.insert(breakpoint.id.0, breakpoint.into());
        // From here on it is counted how often it is passed.
        told.pace.look([breakpoint], Instant::now());
        drop(told);
        self.news.send_modify(|news| {
            news.breakpoints.insert(breakpoint.id.0, breakpoint.clone());
        });
    }

    /// Forgets all breakpoints but these.
    pub(crate) fn keep_breakpoints(&self, left: &[Breakpoint]) {
        self.news.send_modify(|news| {
            news.breakpoints
                .retain(|id, _| left.iter().any(|breakpoint| breakpoint.id.0 == *id));
        });
    }
}
