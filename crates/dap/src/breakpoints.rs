//! Breakpoints as an editor has them: per file, each time the whole list.
//!
//! The engine has one list and its own names; here is which of them belong to which file, and which number the editor
//! knows each by. Numbers stay over a restart.

use std::collections::BTreeMap;
use std::time::Instant;

use host::api::{
    Breakpoint as EngineBreakpoint, BreakpointChange, BreakpointId, BreakpointSpec,
    BreakpointState, ExceptionSpec, Line, Place, Reply, Request as EngineRequest,
};

use crate::adapter::{ANSWER, Adapter};
use crate::capabilities::{ALL, USER_UNHANDLED};
use crate::events::without_code;
use crate::message::Refusal;
use crate::types::{
    Breakpoint, BreakpointEventBody, BreakpointReason, DataBreakpointInfoArguments,
    DataBreakpointInfoResponseBody, SetBreakpointsArguments, SetBreakpointsResponseBody,
    SetExceptionBreakpointsArguments, SetExceptionBreakpointsResponseBody,
    SetFunctionBreakpointsArguments, SetFunctionBreakpointsResponseBody,
};

/// What the editor has set.
#[derive(Debug, Default)]
pub(crate) struct Breakpoints {
    /// By file, or `None` for functions.
    sets: BTreeMap<Option<String>, Vec<Entry>>,
    exceptions: Vec<Entry<ExceptionSpec>>,
    numbers: i32,
}

#[derive(Debug, Clone)]
struct Entry<Spec = BreakpointSpec> {
    /// The editor's number for it.
    number: i32,
    spec: Spec,
    /// The engine's name for it, if it took it.
    id: Option<BreakpointId>,
}

impl Breakpoints {
    fn new_number(&mut self) -> i32 {
        self.numbers += 1;
        self.numbers
    }

    /// The editor's numbers of the engine's breakpoints.
    pub(crate) fn numbers(&self, ids: &[BreakpointId]) -> Vec<i32> {
        let all = self.sets.values().flatten();
        let all = all.map(|entry| (entry.id, entry.number));
        let exceptions = self.exceptions.iter().map(|it| (it.id, it.number));
        let hit = all
            .chain(exceptions)
            .filter(|(id, _)| id.is_some_and(|id| ids.contains(&id)));
        hit.map(|(_, number)| number).collect()
    }

    /// Whether one of them is at a function.
    pub(crate) fn has_function(&self, ids: &[BreakpointId]) -> bool {
        let functions = self.sets.get(&None).into_iter().flatten();
        let mut ids = functions
            .filter_map(|entry| entry.id)
            .filter(|id| ids.contains(id));
        ids.next().is_some()
    }
}

impl Adapter {
    pub(crate) fn set_breakpoints(
        &mut self,
        arguments: SetBreakpointsArguments,
    ) -> Result<SetBreakpointsResponseBody, Refusal> {
        let file = self.engine_path(arguments.source).ok_or_else(|| {
            Refusal::new(
                "badArguments",
                "setBreakpoints needs the path of a source file, or the number that it was told with",
            )
        })?;
        let lines = arguments.lines.unwrap_or_default().into_iter();
        let bare = lines.map(|line| crate::types::SourceBreakpoint {
            line,
            ..Default::default()
        });
        let wanted = arguments.breakpoints.unwrap_or_else(|| bare.collect());
        let specs = wanted.into_iter().map(|wanted| BreakpointSpec {
            condition: wanted.condition,
            hit_condition: wanted.hit_condition,
            log_message: wanted.log_message,
            ..BreakpointSpec::at(Place::Line {
                file: file.clone(),
                line: Line(self.engine_line(wanted.line)),
                column: wanted.column.map(|column| self.engine_column(column)),
            })
        });
        let specs = specs.collect();
        let breakpoints = self.set(Some(file), specs)?;
        Ok(SetBreakpointsResponseBody { breakpoints })
    }

    pub(crate) fn set_function_breakpoints(
        &mut self,
        arguments: SetFunctionBreakpointsArguments,
    ) -> Result<SetFunctionBreakpointsResponseBody, Refusal> {
        let specs = arguments
            .breakpoints
            .into_iter()
            .map(|wanted| BreakpointSpec {
                condition: wanted.condition,
                hit_condition: wanted.hit_condition,
                ..BreakpointSpec::at(Place::Function { name: wanted.name })
            });
        let breakpoints = self.set(None, specs.collect())?;
        Ok(SetFunctionBreakpointsResponseBody { breakpoints })
    }

    /// Makes the set of a file what the editor says.
    fn set(
        &mut self,
        set: Option<String>,
        specs: Vec<BreakpointSpec>,
    ) -> Result<Vec<Breakpoint>, Refusal> {
        let session = self.engine()?;
        let ask = |request| session.request(request, Instant::now() + ANSWER);
        let mut old = self.breakpoints.sets.remove(&set).unwrap_or_default();
        // Several may be at one place, with conditions or messages of their own. What stays as it is comes first.
        let mut known: Vec<Option<Entry>> = specs
            .iter()
            .map(|spec| take(&mut old, |entry| entry.spec == *spec))
            .collect();
        for (spec, known) in specs.iter().zip(&mut known) {
            if known.is_none() {
                *known = take(&mut old, |entry| entry.spec.place == spec.place);
            }
        }
        for id in old.iter().filter_map(|entry| entry.id) {
            // One that the engine lost with its program need not be removed.
            if let Err(error) = ask(EngineRequest::RemoveBreakpoint(id)) {
                tracing::debug!(%error, "removing a breakpoint");
            }
        }
        let mut entries: Vec<Entry> = Vec::new();
        let mut told = Vec::new();
        for (spec, known) in specs.into_iter().zip(known) {
            let number = match &known {
                Some(entry) => entry.number,
                None => self.breakpoints.new_number(),
            };
            let known = known.and_then(|entry| entry.id);
            let request = match known {
                Some(id) => EngineRequest::ChangeBreakpoint {
                    id,
                    change: change_to(&spec),
                },
                None => EngineRequest::SetBreakpoint(BreakpointSpec {
                    beside_others: true,
                    ..spec.clone()
                }),
            };
            let (breakpoint, id) = match ask(request) {
                Ok(Reply::Breakpoint { breakpoint, .. }) => {
                    (self.describe(number, &breakpoint), Some(breakpoint.id))
                }
                Ok(_) => (
                    failed(number, "a bug in ndbg: no breakpoint was told"),
                    known,
                ),
                Err(error) => {
                    // What it was before is not wanted any more.
                    if let Some(id) = known
                        && let Err(error) = ask(EngineRequest::RemoveBreakpoint(id))
                    {
                        tracing::debug!(%error, "removing a breakpoint");
                    }
                    (failed(number, &Refusal::from(error).text), None)
                }
            };
            told.push(breakpoint);
            entries.push(Entry { number, spec, id });
        }
        self.breakpoints.sets.insert(set, entries);
        Ok(told)
    }

    /// A breakpoint as the editor is told of it.
    fn describe(&mut self, number: i32, breakpoint: &EngineBreakpoint) -> Breakpoint {
        let places = breakpoint.locations.iter();
        let place = places.filter_map(|it| it.source.clone()).next();
        let reason = breakpoint.reason.iter().chain(&breakpoint.notes);
        let message = reason
            .map(|it| without_code(it))
            .collect::<Vec<_>>()
            .join("; ");
        Breakpoint {
            id: Some(number),
            verified: breakpoint.state == BreakpointState::Bound,
            message: Some(message).filter(|text| !text.is_empty()),
            line: place.as_ref().map(|it| self.client_line(it.line.0)),
            column: place
                .as_ref()
                .and_then(|it| it.column)
                .map(|it| self.client_column(it)),
            source: place.map(|it| self.source_of(&it.path.to_string_lossy(), true)),
            reason: match breakpoint.state {
                BreakpointState::Pending | BreakpointState::Unbound => {
                    Some(BreakpointReason::Pending)
                }
                BreakpointState::Failed => Some(BreakpointReason::Failed),
                BreakpointState::Bound | BreakpointState::Disabled => None,
            },
            ..Breakpoint::default()
        }
    }

    /// A breakpoint changed by itself.
    pub(crate) fn breakpoint_changed(&mut self, breakpoint: &EngineBreakpoint) {
        for number in self.breakpoints.numbers(&[breakpoint.id]) {
            let breakpoint = self.describe(number, breakpoint);
            let reason = "changed".into();
            self.client
                .tell(&BreakpointEventBody { reason, breakpoint });
        }
    }

    pub(crate) fn set_exception_breakpoints(
        &mut self,
        arguments: SetExceptionBreakpointsArguments,
    ) -> Result<SetExceptionBreakpointsResponseBody, Refusal> {
        let plain = arguments
            .filters
            .iter()
            .map(|filter| (filter.clone(), None));
        let options = arguments.filter_options.into_iter().flatten();
        let options = options.map(|option| (option.filter_id, option.condition));
        let filters: Vec<(String, Option<String>)> = plain.chain(options).collect();
        let session = self.engine()?;
        for entry in std::mem::take(&mut self.breakpoints.exceptions) {
            let Some(id) = entry.id else { continue };
            let request = EngineRequest::RemoveBreakpoint(id);
            if let Err(error) = session.request(request, Instant::now() + ANSWER) {
                tracing::debug!(%error, "removing an exception breakpoint");
            }
        }
        let mut told = Vec::new();
        for (filter, condition) in filters {
            self.breakpoints.numbers += 1;
            let number = self.breakpoints.numbers;
            let set = spec_of(&filter, condition.as_deref()).and_then(|spec| {
                let request = EngineRequest::SetExceptionBreakpoint(spec.clone());
                match session.request(request, Instant::now() + ANSWER)? {
                    Reply::ExceptionBreakpoint { breakpoint, .. } => {
                        self.breakpoints.exceptions.push(Entry {
                            number,
                            spec,
                            id: Some(breakpoint.id),
                        });
                        Ok(())
                    }
                    _ => Err(Refusal::new(
                        "internal",
                        "a bug in ndbg: no breakpoint was told",
                    )),
                }
            });
            told.push(match set {
                Ok(()) => Breakpoint {
                    id: Some(number),
                    verified: true,
                    ..Breakpoint::default()
                },
                Err(refusal) => failed(number, &refusal.text),
            });
        }
        Ok(SetExceptionBreakpointsResponseBody {
            breakpoints: Some(told),
        })
    }

    /// Gives a new engine everything that the old one had.
    pub(crate) fn set_all_again(&mut self) -> Result<(), Refusal> {
        let sets: Vec<_> = self.breakpoints.sets.iter_mut().collect();
        let mut again = Vec::new();
        for (set, entries) in sets {
            for entry in entries.iter_mut() {
                entry.id = None;
            }
            let specs = entries.iter().map(|entry| entry.spec.clone());
            again.push((set.clone(), specs.collect()));
        }
        for (set, specs) in again {
            self.set(set, specs)?;
        }
        let session = self.engine()?;
        for entry in &mut self.breakpoints.exceptions {
            let request = EngineRequest::SetExceptionBreakpoint(entry.spec.clone());
            entry.id = match session.request(request, Instant::now() + ANSWER)? {
                Reply::ExceptionBreakpoint { breakpoint, .. } => Some(breakpoint.id),
                _ => None,
            };
        }
        Ok(())
    }

    pub(crate) fn data_breakpoint_info(
        &mut self,
        _: DataBreakpointInfoArguments,
    ) -> Result<DataBreakpointInfoResponseBody, Refusal> {
        Ok(DataBreakpointInfoResponseBody {
            data_id: serde_json::Value::Null,
            description: "the runtime cannot watch memory on Linux".into(),
            ..DataBreakpointInfoResponseBody::default()
        })
    }

    pub(crate) fn engine_line(&self, line: u64) -> u32 {
        let zero_based = u64::from(self.about.lines_start_at1 == Some(false));
        u32::try_from(line.saturating_add(zero_based)).unwrap_or(u32::MAX)
    }

    pub(crate) fn engine_column(&self, column: u64) -> u32 {
        let zero_based = u64::from(self.about.columns_start_at1 == Some(false));
        u32::try_from(column.saturating_add(zero_based)).unwrap_or(u32::MAX)
    }

    pub(crate) fn client_line(&self, line: u32) -> u64 {
        let zero_based = u64::from(self.about.lines_start_at1 == Some(false));
        u64::from(line).saturating_sub(zero_based)
    }

    pub(crate) fn client_column(&self, column: u32) -> u64 {
        let zero_based = u64::from(self.about.columns_start_at1 == Some(false));
        u64::from(column).saturating_sub(zero_based)
    }
}

/// Takes the first that is wanted out of a list.
fn take(list: &mut Vec<Entry>, wanted: impl Fn(&Entry) -> bool) -> Option<Entry> {
    let at = list.iter().position(wanted)?;
    Some(list.remove(at))
}

/// What makes a breakpoint that is there what it is to be.
fn change_to(spec: &BreakpointSpec) -> BreakpointChange {
    // An empty text takes the old one away.
    let text = |text: &Option<String>| Some(text.clone().unwrap_or_default());
    BreakpointChange {
        condition: text(&spec.condition),
        hit_condition: text(&spec.hit_condition),
        log_message: text(&spec.log_message),
        ..BreakpointChange::default()
    }
}

fn failed(number: i32, why: &str) -> Breakpoint {
    Breakpoint {
        id: Some(number),
        verified: false,
        message: Some(why.into()),
        ..Breakpoint::default()
    }
}

/// What a filter with its condition means: types separated by commas, `!` before those that are left out.
fn spec_of(filter: &str, condition: Option<&str>) -> Result<ExceptionSpec, Refusal> {
    let mut spec = ExceptionSpec {
        types: Vec::new(),
        ..ExceptionSpec::of_type("")
    };
    match filter {
        ALL => (spec.thrown, spec.user_unhandled) = (true, false),
        USER_UNHANDLED => (spec.thrown, spec.user_unhandled) = (false, true),
        other => {
            let text =
                format!("there is no exception filter {other}; use {ALL} or {USER_UNHANDLED}");
            return Err(Refusal::new("badArguments", text));
        }
    }
    let condition = condition.unwrap_or_default().trim();
    // The editors of others write a leading `!` for the whole list.
    let (all_out, condition) = match condition.strip_prefix('!') {
        Some(rest) if !rest.contains('!') => (true, rest),
        _ => (false, condition),
    };
    let names = condition.split([',', ' ']).map(str::trim);
    for name in names.filter(|name| !name.is_empty()) {
        // A name that no type can have would wait for ever.
        let is_part = |it: char| it.is_alphanumeric() || "_.+`<>".contains(it);
        let bare = name.strip_prefix('!').unwrap_or(name);
        let begins = |it: char| it.is_alphabetic() || it == '_';
        if !bare.starts_with(begins) || !bare.chars().all(is_part) {
            let text = format!(
                "{name:?} is not the name of an exception type; write names such as System.IO.IOException with commas \
                 between them, and ! before those that are not meant"
            );
            return Err(Refusal::new("badArguments", text));
        }
        match name.strip_prefix('!') {
            Some(name) => spec.except.push(name.into()),
            None if all_out => spec.except.push(name.into()),
            None => spec.types.push(name.into()),
        }
    }
    Ok(spec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(condition: &str, types: &[&str], except: &[&str]) {
        let spec = spec_of(ALL, Some(condition)).expect("a filter");
        assert_eq!(spec.types, types, "{condition}");
        assert_eq!(spec.except, except, "{condition}");
    }

    #[test]
    fn conditions_of_exception_filters_name_types() {
        for nonsense in ["System.*", "A, !", "A && B", "ex is B?", "!!A"] {
            let refused = spec_of(ALL, Some(nonsense)).expect_err(nonsense).text;
            assert!(refused.contains("is not the name of"), "{refused}");
        }
        check("", &[], &[]);
        check(
            "System.IO.IOException, A.B",
            &["System.IO.IOException", "A.B"],
            &[],
        );
        check(
            "!System.IO.IOException, A.B",
            &[],
            &["System.IO.IOException", "A.B"],
        );
        check("System.Exception, !A.B", &["System.Exception"], &["A.B"]);
        assert!(spec_of("none", None).is_err());
    }
}
