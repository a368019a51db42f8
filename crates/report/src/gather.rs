//! Asks an engine for what a stop report needs.

use engine::api::{
    AsyncFrame, AsyncStack, Error, ErrorCode, Frame, Reply, Request, Source, Stop, StopId,
    VariablesQuery, View,
};

use super::awaits::AwaitsReport;
use super::build::{self, Stack};
use super::shared::Shared;
use super::variables::VariableEntry;
use super::{SourceLine, source};

/// Variables looked at for a stop report, which tells the ones that matter most (`Told::mark_changes`).
const VARIABLES: u32 = 60;
/// Characters told of each.
const VARIABLE_TEXT: u32 = 100;

/// Asks an engine something that it answers at once.
pub type Ask<'a> = &'a dyn Fn(Request) -> Result<Reply, Error>;

/// The top of the stopped thread's stack, if it can be had.
pub fn stack(ask: Ask<'_>, stop: &Stop, mask_secrets: bool) -> Option<Stack> {
    match ask(top()) {
        Ok(Reply::Stack {
            stop: found,
            frames,
            more,
            ..
        }) if found == stop.id => {
            let shown = build::shown_frame(stop, &frames);
            let place = build::sourced_frame(stop, &frames);
            let place = place.and_then(|frame| frame.source.as_ref());
            let variables = shown.map_or_else(Default::default, |frame| {
                variables(ask, stop.id, frame.index, mask_secrets)
            });
            let idle = place.is_none() && stop.exception.is_none() && shown.is_none();
            let awaits = (idle || may_be_resumed(&frames)).then(|| awaits(ask));
            let awaits = awaits.flatten().filter(|it| idle || it.resumed.is_some());
            let waits_at = awaits.as_ref().and_then(|it| it.blocked.as_ref());
            let waits_at = waits_at.and_then(|it| it.chain.iter().rev().find_map(at));
            let thrown_at = stop.exception.as_ref().and_then(build::origin);
            let thrown_at = thrown_at.and_then(|it| it.source.as_ref());
            let place = place.or(thrown_at).or(waits_at);
            let text = place.map_or_else(Default::default, |place| lines(ask, place));
            let (variables, call) = variables;
            Some(Stack {
                call,
                frames,
                more,
                source: text.lines,
                changed_source: text.changed,
                awaits: awaits.as_ref().and_then(AwaitsReport::in_short),
                variables,
            })
        }
        Ok(_) => None,
        Err(error) => {
            tracing::debug!(%error, "no stack for a report");
            None
        }
    }
}

/// What [`stack`] will ask for if the program has gone on only a little since `last`, as it does in a step.
pub fn likely(stop: &Stop, last: Option<&Stack>, mask_secrets: bool) -> Vec<Request> {
    let mut requests = vec![top()];
    let awaits = last.and_then(|last| last.awaits.as_ref());
    if awaits.is_some_and(|it| it.resumed_frame.is_some()) {
        requests.push(Request::AsyncStack { thread: None });
    }
    let shown = last.and_then(|last| build::shown_frame(stop, &last.frames));
    if let Some(shown) = shown.filter(|_| stop.exception.is_none()) {
        requests.push(variables_of(stop.id, shown.index, mask_secrets));
    }
    let sourced = last.and_then(|last| build::sourced_frame(stop, &last.frames));
    if let Some(sourced) = sourced.filter(|_| stop.exception.is_none()) {
        requests.extend(sourced.source.as_ref().map(text_of));
    }
    requests
}

/// The request for the frames that a report looks at.
fn top() -> Request {
    Request::Stack {
        thread: None,
        start: 0,
        count: build::FRAMES,
    }
}

/// The request for the variables of a frame in short.
fn variables_of(stop: StopId, frame: u32, mask_secrets: bool) -> Request {
    let query = VariablesQuery {
        stop: Some(stop),
        frame,
        count: VARIABLES,
        view: View {
            mask_secrets,
            text_length: VARIABLE_TEXT,
            to_compare: true,
            ..View::default()
        },
        ..VariablesQuery::default()
    };
    Request::Variables(Box::new(query))
}

/// The request for the text of the file that a place is in.
fn text_of(place: &Source) -> Request {
    let file = place.path.to_string_lossy().into_owned();
    Request::Source { file }
}

/// Variables of a frame in short, how many more there are, and which call the frame is.
fn variables(
    ask: Ask<'_>,
    stop: StopId,
    frame: u32,
    mask_secrets: bool,
) -> ((Vec<VariableEntry>, u64), Option<u64>) {
    match ask(variables_of(stop, frame, mask_secrets)) {
        Ok(Reply::Variables(found)) => {
            let mut shared = Shared::default();
            let declarations = found.declarations.iter().copied().map(Some);
            let declarations = declarations.chain(std::iter::repeat(None));
            let variables = found
                .variables
                .iter()
                .zip(declarations)
                // The exception has lines of its own.
                .filter(|(variable, _)| variable.name != "$exception")
                .map(|(variable, declaration)| {
                    let mut entry = VariableEntry::from(variable);
                    entry.declaration = declaration;
                    shared.mark(variable, &mut entry);
                    entry
                })
                .collect();
            let more = found.omitted.as_ref().map_or(0, |omitted| omitted.count);
            ((variables, more), found.call)
        }
        Ok(_) => Default::default(),
        Err(error) => {
            tracing::debug!(%error, "no variables for a report");
            Default::default()
        }
    }
}

/// Where an await is.
fn at(link: &AsyncFrame) -> Option<&Source> {
    link.source.as_ref()
}

/// What the stopped thread waits for.
/// Whether a user's method of these frames may have been resumed after an await, or is run by a task, so that its callers are others
/// than the frames below it.
fn may_be_resumed(frames: &[Frame]) -> bool {
    const RUNS_TASK: &str = "System.Threading.Tasks.Task.ExecuteWithThreadLocal(";
    frames
        .iter()
        .any(|it| (it.user_code && it.is_async) || it.method.starts_with(RUNS_TASK))
}

fn awaits(ask: Ask<'_>) -> Option<AsyncStack> {
    match ask(Request::AsyncStack { thread: None }) {
        Ok(Reply::AsyncStack(stack)) => Some(*stack),
        Ok(_) => None,
        Err(error) => {
            tracing::debug!(%error, "no chains of awaits for a report");
            None
        }
    }
}

/// Lines around a place.
#[derive(Debug, Default)]
pub struct Lines {
    /// The lines; none if they cannot be had, or are not those that were compiled.
    pub lines: Vec<SourceLine>,
    /// The file, if it was changed since the program was built.
    pub changed: Option<String>,
}

/// The lines around a place as they were compiled: from the file if it is still that one, else from the program's symbols.
pub fn lines(ask: Ask<'_>, place: &Source) -> Lines {
    match ask(text_of(place)) {
        Ok(Reply::Source(text)) if text.changed == Some(true) && !text.embedded => Lines {
            lines: Vec::new(),
            changed: Some(text.path),
        },
        Ok(Reply::Source(text)) => Lines {
            lines: source::excerpt(&text.text, place.line.0, place.column.unwrap_or(1)),
            changed: None,
        },
        Err(error) if error.code == ErrorCode::PermissionDenied => Lines::default(),
        // Whether it was changed cannot be told then.
        _ => Lines {
            lines: source::around(&place.path, place.line.0, place.column.unwrap_or(1)),
            changed: None,
        },
    }
}
