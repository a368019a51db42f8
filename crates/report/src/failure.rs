//! Errors as text.
//!
//! An error may quote the program (what it printed before it died), so its text is made harmless and capped, and
//! every line after the first is marked as quoted.

use engine::api::{Details, Error, Severity};

use super::{Reader, text};

/// Bytes of an error's message.
pub const MESSAGE: usize = 6000;
/// Things told as data beside it.
const DETAILS: usize = 20;
/// Characters of one of them.
const LINE: usize = 200;

/// The same error, harmless and bounded.
pub fn bounded(mut error: Error) -> Error {
    let cleaned = text::clean(&error.message);
    error.message = match text::tail(&cleaned, MESSAGE) {
        (0, whole) => whole.to_owned(),
        (left_out, end) => format!("({} left out) {end}", text::bytes(left_out as u64)),
    };
    if let Some(details) = error.details.as_deref_mut() {
        match details {
            Details::Diagnostics(diagnostics) => {
                // What stopped the build comes first.
                diagnostics.sort_by_key(|diagnostic| diagnostic.severity != Severity::Error);
                diagnostics.truncate(DETAILS);
            }
            Details::Candidates(candidates) => candidates.truncate(DETAILS),
            Details::AvailablePoints(points) => points.truncate(DETAILS),
            Details::NearestLines(lines) => lines.truncate(DETAILS),
            Details::Position { .. } => {}
        }
    }
    error.hint = error.hint.map(|hint| text::one_line(&hint, MESSAGE));
    error
}

/// What a reader needs of the data beside an error; lines and compiler errors are in its message already.
fn details(error: &Error) -> Vec<String> {
    match error.details.as_deref() {
        Some(Details::Candidates(candidates)) => candidates
            .iter()
            .map(|candidate| text::one_line(candidate, LINE))
            .collect(),
        Some(Details::AvailablePoints(points)) => points
            .iter()
            .map(|point| {
                let place = format!(
                    "line {} column {} to line {} column {}",
                    point.start_line, point.start_column, point.end_line, point.end_column,
                );
                match &point.text {
                    Some(text) => format!("{place}: {}", text::one_line(text, LINE)),
                    None => place,
                }
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// The error as text, for an agent.
pub fn render(error: &Error) -> String {
    render_for(error, Reader::Agent)
}

/// The error as text; a person needs no code to branch on.
pub fn render_for(error: &Error, reader: Reader) -> String {
    let mut out = match reader {
        Reader::Agent => format!("{}: ", error.code.name()),
        Reader::Person => "error: ".to_owned(),
    };
    let mut lines = error.message.trim_end().split('\n');
    out.push_str(lines.next().unwrap_or_default());
    for line in lines {
        out.push_str("\n| ");
        out.push_str(line);
    }
    for line in details(error) {
        out.push_str("\n  ");
        out.push_str(&line);
    }
    if let Some(hint) = &error.hint {
        out.push_str("\nHint: ");
        out.push_str(hint);
    }
    out
}
