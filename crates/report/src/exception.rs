//! The exception in flight as an agent sees it.

use std::fmt::Write as _;

use engine::api::{ExceptionReport, Handler, TraceFrame};
use schemars::JsonSchema;
use serde::Serialize;

use super::render::push_exceptions;
use super::stack::FrameReport;
use super::{ExceptionEntry, Reader, Render, build, is_false, is_zero, text};

/// Exceptions told of one chain.
const EXCEPTIONS: usize = 10;
/// Entries told of a stack trace.
const TRACE: usize = 25;
/// Characters told of a name or path.
const NAME: usize = 160;
/// Characters told of a trace that is text.
const EARLIER: usize = 1500;

/// The exception in flight on a thread, with all its inner ones.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct ExceptionAnswer {
    /// The session's id.
    pub session: String,
    /// The exception, then its inner ones; none if none is in flight.
    pub exceptions: Vec<ExceptionEntry>,
    /// Inner exceptions that are not told.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: u32,
    /// Whether it was thrown before and is thrown again.
    #[serde(skip_serializing_if = "is_false")]
    pub rethrown: bool,
    /// The frame that throws.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thrown_at: Option<FrameReport>,
    /// Who will handle it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handler: Option<HandlerReport>,
    /// The methods it came through so far, innermost first; of an exception that was just thrown there are none yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<TraceEntry>,
    /// Entries of the trace that are not told.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_trace: u32,
    /// The part of its trace that came with it as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub earlier_trace: Option<String>,
}

/// Who will handle an exception.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct HandlerReport {
    /// `nobody` (the program ends), `catch`, `filter` (a `when` that has not run yet), `task` (the async method it leaves
    /// becomes faulted), `type_initializer` or `unknown`.
    pub kind: &'static str,
    /// The method that handles it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<FrameReport>,
}

/// A method that an exception came through.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct TraceEntry {
    /// The method.
    pub method: String,
    /// File name of its module.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// Source file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// 1-based line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Whether the exception was thrown again behind this entry, as `await` does.
    #[serde(skip_serializing_if = "is_false")]
    pub rethrown: bool,
}

impl HandlerReport {
    /// From the engine's.
    pub fn of(handler: &Handler) -> Self {
        let (kind, frame) = match handler {
            Handler::Nobody => ("nobody", None),
            Handler::Catch { frame } => ("catch", Some(frame)),
            Handler::Filter { frame } => ("filter", Some(frame)),
            Handler::Task { frame } => ("task", Some(frame)),
            Handler::TypeInitializer { frame } => ("type_initializer", Some(frame)),
            Handler::Unknown => ("unknown", None),
        };
        Self {
            kind,
            frame: frame.map(|frame| FrameReport::from(frame.as_ref())),
        }
    }

    /// A sentence; none if there is nothing to say.
    pub(super) fn render(&self) -> Option<String> {
        let frame = self.frame.as_ref()?;
        let place = frame.told(&mut Vec::new());
        Some(match self.kind {
            "catch" => format!("It will be caught in {place}."),
            "filter" => format!("A when filter decides whether it is caught in {place}."),
            "task" if frame.kind != "user" => {
                "It leaves what a task runs: whoever awaits or waits for the task gets the exception.".into()
            }
            "task" => {
                format!("It leaves the async method {place}: whoever awaits it gets the exception.")
            }
            "type_initializer" => format!(
                "It leaves the static constructor {place}: whoever used the type gets a TypeInitializationException."
            ),
            _ => return None,
        })
    }
}

impl From<&TraceFrame> for TraceEntry {
    fn from(frame: &TraceFrame) -> Self {
        let source = frame.source.as_ref();
        Self {
            method: text::one_line(&frame.method, NAME),
            module: frame.module.as_deref().map(|it| text::one_line(it, NAME)),
            file: source.map(|it| text::one_line(&it.path.to_string_lossy(), NAME)),
            line: source.map(|it| it.line.0),
            rethrown: frame.rethrown,
        }
    }
}

impl ExceptionAnswer {
    /// What is known of an exception, if there is one.
    pub fn of(session: &str, exception: Option<&ExceptionReport>) -> Self {
        let mut answer = Self {
            session: session.to_owned(),
            ..Self::default()
        };
        let Some(exception) = exception else {
            return answer;
        };
        (answer.exceptions, answer.left_out) = build::exceptions(exception, EXCEPTIONS);
        answer.trace = exception.trace.iter().take(TRACE).map(Into::into).collect();
        let more = exception.trace.len().saturating_sub(TRACE);
        answer.more_trace = u32::try_from(more).unwrap_or(u32::MAX);
        let earlier = exception.earlier_trace.as_deref();
        answer.earlier_trace = earlier.map(|trace| {
            let cleaned = text::clean(trace);
            text::tail(&cleaned, EARLIER).1.to_owned()
        });
        if let Some(flight) = &exception.flight {
            answer.rethrown = flight.rethrown;
            answer.thrown_at = flight.thrown_at.as_ref().map(FrameReport::from);
            answer.handler = Some(HandlerReport::of(&flight.handler));
        } else if exception.unhandled {
            answer.handler = Some(HandlerReport::of(&Handler::Nobody));
        }
        answer
    }
}

impl Render for ExceptionAnswer {
    fn render_for(&self, _: Reader) -> String {
        if self.exceptions.is_empty() {
            return "No exception is in flight on that thread.".into();
        }
        let mut out = String::new();
        let mut known = Vec::new();
        push_exceptions(&mut out, &self.exceptions);
        if self.left_out > 0 {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "  … {} more", self.left_out);
        }
        if let Some(frame) = &self.thrown_at {
            let again = if self.rethrown { "again " } else { "" };
            let _ = writeln!(out, "Thrown {again}in {}.", frame.told(&mut known));
        }
        match &self.handler {
            Some(handler) if handler.kind == "nobody" => {
                out.push_str("Nobody catches it: the program ends if it continues.\n");
            }
            Some(handler) => {
                if let Some(line) = handler.render() {
                    out.push_str(&line);
                    out.push('\n');
                }
            }
            None => {}
        }
        if !self.trace.is_empty() {
            out.push_str("It came through:\n");
        }
        for entry in &self.trace {
            let _ = write!(out, "  {}", entry.method);
            let _ = match (&entry.file, entry.line, &entry.module) {
                (Some(file), Some(line), _) => write!(out, " at {file}:{line}"),
                (_, _, Some(module)) => write!(out, " in {module}"),
                _ => Ok(()),
            };
            out.push_str(if entry.rethrown {
                ", and was thrown again\n"
            } else {
                "\n"
            });
        }
        if self.more_trace > 0 {
            let _ = writeln!(out, "  … {} more", self.more_trace);
        }
        if let Some(trace) = &self.earlier_trace {
            out.push_str("Before that, as it was told elsewhere:\n");
            text::push_quoted_lines(&mut out, "  | ", trace);
        }
        super::finish(out)
    }
}
