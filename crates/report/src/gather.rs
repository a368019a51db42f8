//! Asks an engine for what a stop report needs.

use engine::api::{Error, Reply, Request, Source, Stop, StopId, VariablesQuery, View};

use super::build::{self, Stack};
use super::variables::VariableEntry;
use super::{SourceLine, source};

/// Variables told in a stop report.
const VARIABLES: u32 = 12;
/// Characters told of each.
const VARIABLE_TEXT: u32 = 100;

/// Asks an engine something that it answers at once.
pub type Ask<'a> = &'a dyn Fn(Request) -> Result<Reply, Error>;

/// The top of the stopped thread's stack, if it can be had.
pub fn stack(ask: Ask<'_>, stop: &Stop, mask_secrets: bool) -> Option<Stack> {
    let request = Request::Stack {
        thread: None,
        start: 0,
        count: build::FRAMES,
    };
    match ask(request) {
        Ok(Reply::Stack {
            stop: found,
            frames,
            more,
            ..
        }) if found == stop.id => {
            let shown = build::shown_frame(stop, &frames);
            let place = shown.and_then(|frame| frame.source.as_ref());
            let variables = shown.map_or_else(Default::default, |frame| {
                variables(ask, stop.id, frame.index, mask_secrets)
            });
            let source = place.map_or_else(Vec::new, |place| lines(ask, place));
            Some(Stack {
                frames,
                more,
                source,
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

/// Variables of a frame in short, and how many more there are.
fn variables(
    ask: Ask<'_>,
    stop: StopId,
    frame: u32,
    mask_secrets: bool,
) -> (Vec<VariableEntry>, u64) {
    let query = VariablesQuery {
        stop: Some(stop),
        frame,
        count: VARIABLES,
        view: View {
            mask_secrets,
            text_length: VARIABLE_TEXT,
            ..View::default()
        },
        ..VariablesQuery::default()
    };
    match ask(Request::Variables(Box::new(query))) {
        Ok(Reply::Variables(found)) => (
            found
                .variables
                .iter()
                // The exception has lines of its own.
                .filter(|variable| variable.name != "$exception")
                .map(VariableEntry::from)
                .collect(),
            found.omitted.as_ref().map_or(0, |omitted| omitted.count),
        ),
        Ok(_) => Default::default(),
        Err(error) => {
            tracing::debug!(%error, "no variables for a report");
            Default::default()
        }
    }
}

/// The lines around a place: from its file, else from the program's symbols.
pub fn lines(ask: Ask<'_>, place: &Source) -> Vec<SourceLine> {
    let lines = source::around(&place.path, place.line.0);
    if !lines.is_empty() {
        return lines;
    }
    let file = place.path.to_string_lossy().into_owned();
    match ask(Request::Source { file }) {
        Ok(Reply::Source(text)) => source::excerpt(&text.text, place.line.0),
        _ => lines,
    }
}
