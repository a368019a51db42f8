//! Setting the next statement: the innermost frame goes on elsewhere in its method, and nothing runs for that.

use cordebug::hresult;
use cordebug::thread::{Frame, Thread};
use metadata::pdb::{SequencePoint, Span};

use super::position::Position;
use crate::api::{AvailablePoint, Details, Error, ErrorCode, Line, Reply, StopReason, ThreadId};
use crate::breakpoints::dead_points::DeadPoints;
use crate::breakpoints::line::{available, text_of};
use crate::engine::Engine;

/// Lines offered when the wanted one has no statement.
const NEAREST: usize = 4;

/// The statements of a method that runs.
struct Statements {
    frame: Frame,
    /// The method.
    name: String,
    /// All that it has.
    all: Vec<Point>,
    /// Those that begin on the line that was asked for.
    on_line: Vec<Point>,
    /// The source that they stand in.
    text: Option<String>,
}

impl Statements {
    /// A statement with its words.
    fn told(&self, (_, span): &Point) -> AvailablePoint {
        available(*span, self.text.as_deref())
    }
}

impl Engine<'_> {
    /// The statements of the innermost frame's method on a line that can be the next to run.
    pub(crate) fn next_statements(
        &mut self,
        thread: Option<ThreadId>,
        file: Option<&str>,
        line: Line,
    ) -> Result<Reply, Error> {
        let (id, thread) = self.thread_to_step(thread)?;
        let found = self.statements_of(id, &thread, file, line)?;
        let points = found.on_line.iter();
        let points = points.filter(|(point, _)| found.frame.can_set_ip(point.offset.0).is_ok());
        let points = points.map(|point| found.told(point));
        Ok(Reply::Statements(points.collect()))
    }

    /// Makes a statement of the innermost frame's method the next to run.
    pub(crate) fn set_next_statement(
        &mut self,
        thread: Option<ThreadId>,
        file: Option<&str>,
        line: Line,
        column: Option<u32>,
    ) -> Result<(), Error> {
        let (id, thread) = self.thread_to_step(thread)?;
        let found = self.statements_of(id, &thread, file, line)?;
        let Statements { frame, name, .. } = &found;
        let chosen = match column {
            None => found.on_line.first(),
            Some(column) => {
                let mut points = found.on_line.iter();
                points.find(|(_, span)| span.contains(line.0, column))
            }
        };
        let Some((point, _)) = chosen else {
            return Err(no_statement(&found, line, column));
        };
        let offset = point.offset.0;
        frame
            .can_set_ip(offset)
            .and_then(|()| frame.set_ip(offset))
            .map_err(|error| refusal(name, line, &error))?;
        let target = self.target()?;
        target.forget_walks();
        target.broke = None;
        self.stepping.known = None;
        // Frames of this stop are gone: what follows is a stop of its own.
        self.stop = None;
        self.stopped(vec![StopReason::Goto], Some(ThreadId(id)), None);
        Ok(())
    }

    fn statements_of(
        &mut self,
        id: u32,
        thread: &Thread,
        file: Option<&str>,
        line: Line,
    ) -> Result<Statements, Error> {
        let frame = self.active_frame(thread).ok_or_else(|| {
            Error::new(
                ErrorCode::InvalidThread,
                format!("thread {id} is in native code: its next statement cannot be set"),
            )
            .hint("step out to the user's code first")
        })?;
        let target = self.target()?;
        let at = Position::of_frame(target, &frame);
        let no_symbols = || {
            Error::new(
                ErrorCode::InvalidLine,
                "the innermost frame's method has no source: its next statement cannot be set",
            )
            .hint("step out to the user's code first")
        };
        let method = at.method.ok_or_else(no_symbols)?;
        let module = target.modules.get(method.module).ok_or_else(no_symbols)?;
        let name = module.method_name(&target.process, method.token);
        let symbols = module.symbols(&target.process).map_err(|_| no_symbols())?;
        let dead = DeadPoints::of(module, &target.process);
        let points: Vec<Point> = symbols
            .sequence_points(method.token)
            .map_err(|_| no_symbols())?
            .filter_map(|point| Some((point, point.span?)))
            .filter(|(point, _)| !dead.has(method.token, point.offset))
            .collect();
        let mut documents: Vec<_> = points.iter().map(|(point, _)| point.document).collect();
        documents.dedup();
        if let Some(file) = file {
            let matches = symbols.documents().find(file);
            let known: Vec<_> = matches.iter().flat_map(|it| &it.documents).collect();
            documents.retain(|document| known.iter().any(|(_, it)| it == document));
            if documents.is_empty() {
                return Err(Error::new(
                    ErrorCode::InvalidFile,
                    format!("the next statement must be in the method that runs, {name}, and {file} does not hold it"),
                )
                .hint("give a line of that method, and no file"));
            }
        }
        let on_line = points.iter().filter(|(point, span)| {
            documents.contains(&point.document) && span.start_line == line.0
        });
        let on_line: Vec<Point> = on_line.copied().collect();
        let document = on_line.first().map(|(point, _)| point.document);
        let text = document.and_then(|it| text_of(symbols, it, module.source_files()));
        Ok(Statements {
            frame,
            name,
            on_line,
            text,
            all: points,
        })
    }
}

type Point = (SequencePoint, Span);

fn no_statement(found: &Statements, line: Line, column: Option<u32>) -> Error {
    let method = &found.name;
    if let (Some(column), false) = (column, found.on_line.is_empty()) {
        let available = found.on_line.iter().map(|point| found.told(point));
        return Error::new(
            ErrorCode::InvalidColumn,
            format!(
                "no statement of {method} on line {} holds column {column}",
                line.0
            ),
        )
        .hint("give a column inside one of the available statements, or none")
        .details(Details::AvailablePoints(available.collect()));
    }
    let mut nearest: Vec<u32> = found.all.iter().map(|(_, span)| span.start_line).collect();
    nearest.sort_unstable();
    nearest.dedup();
    nearest.sort_by_key(|it| it.abs_diff(line.0));
    nearest.truncate(NEAREST);
    nearest.sort_unstable();
    let listed: Vec<String> = nearest.iter().map(u32::to_string).collect();
    Error::new(
        ErrorCode::InvalidLine,
        format!(
            "no statement of {method}, the method that runs, begins on line {}; the nearest are on {}",
            line.0,
            listed.join(", ")
        ),
    )
    .hint("the next statement can only be set inside the method of the innermost frame")
    .details(Details::NearestLines(nearest))
}

/// Why the runtime does not go there.
fn refusal(method: &str, line: Line, error: &cordebug::Error) -> Error {
    let mut hint =
        "go to a statement outside try, catch and finally blocks that the thread is not in";
    let why = match error.code() {
        Some(hresult::CORDBG_E_CANT_SET_IP_INTO_FINALLY) => {
            "it is in a finally block, which only runs on the way out of its try block"
        }
        Some(
            hresult::CORDBG_E_CANT_SET_IP_OUT_OF_FINALLY
            | hresult::CORDBG_E_CANT_SET_IP_OUT_OF_FINALLY_ON_WIN64,
        ) => "the thread is in a finally block, which must run to its end",
        Some(hresult::CORDBG_E_CANT_SET_IP_INTO_CATCH) => {
            "it is in a catch block, which only an exception enters"
        }
        Some(hresult::CORDBG_E_CANT_SETIP_INTO_OR_OUT_OF_FILTER) => {
            "filters of catch blocks (`when`) run for an exception only, and to their end"
        }
        Some(hresult::CORDBG_E_CANT_SET_IP_OUT_OF_CATCH_ON_WIN64) => {
            "the thread is in a catch block, which must run to its end"
        }
        Some(hresult::CORDBG_E_SET_IP_NOT_ALLOWED_ON_EXCEPTION) => {
            hint = "let the program run until the exception is caught";
            "an exception is being handled on the thread"
        }
        Some(hresult::CORDBG_E_SET_IP_NOT_ALLOWED_ON_NONLEAF_FRAME) => {
            "the method is waiting for one that it called"
        }
        Some(hresult::CORDBG_S_BAD_START_SEQUENCE_POINT) => {
            hint = "make a step over: it ends where the next statement begins";
            "the thread is in the middle of a statement"
        }
        Some(hresult::CORDBG_S_BAD_END_SEQUENCE_POINT) => {
            "no statement begins there in the compiled code"
        }
        _ => {
            return Error::new(
                ErrorCode::StepFailed,
                format!(
                    "the next statement of {method} cannot be line {}: {error}",
                    line.0
                ),
            )
            .hint("go to a statement of the same block");
        }
    };
    Error::new(
        ErrorCode::StepFailed,
        format!(
            "the next statement of {method} cannot be line {}: {why}",
            line.0
        ),
    )
    .hint(hint)
}
