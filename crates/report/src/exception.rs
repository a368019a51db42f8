//! The exception in flight as an agent sees it.

use std::fmt::Write as _;

use engine::api::{ExceptionReport, Handler, Then, TraceFrame};
use schemars::JsonSchema;
use serde::Serialize;

use super::render::push_exceptions;
use super::stack::FrameReport;
use super::{ExceptionEntry, Reader, Render, build, is_false, is_zero, text};

/// Exceptions told of one chain.
const EXCEPTIONS: usize = 100;
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
    /// The helper of the framework that threw it for that frame: for a cast, for `new T()`, or because that is its only task.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-minor" = true))]
    pub raised_by: Option<String>,
    /// Who will handle it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handler: Option<HandlerReport>,
    /// The methods it came through so far, innermost first; of an exception that was just thrown there are none yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<TraceEntry>,
    /// Entries of the trace that are not told.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_trace: u32,
    /// Whether it came through more methods than were looked at.
    #[serde(skip_serializing_if = "is_false")]
    #[schemars(extend("x-minor" = true))]
    pub trace_is_cut: bool,
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
    /// Of a task: what becomes of the exception where that is awaited, if it can be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-minor" = true))]
    pub then: Option<String>,
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
    /// How many entries like this one follow it directly: a method that calls itself.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(extend("x-minor" = true))]
    pub times: u32,
}

impl HandlerReport {
    /// From the engine's.
    pub fn of(handler: &Handler) -> Self {
        let (kind, frame) = match handler {
            Handler::Nobody => ("nobody", None),
            Handler::Catch { frame } => ("catch", Some(frame)),
            Handler::Filter { frame } => ("filter", Some(frame)),
            Handler::FilterFails { frame } => ("filter_fails", Some(frame)),
            Handler::Task { frame, .. } => ("task", Some(frame)),
            Handler::TypeInitializer { frame } => ("type_initializer", Some(frame)),
            Handler::Unknown => ("unknown", None),
        };
        Self {
            kind,
            frame: frame.map(|frame| FrameReport::from(frame.as_ref())),
            then: match handler {
                Handler::Task { then, .. } => told_then(then),
                _ => None,
            },
        }
    }

    /// A sentence; none if there is nothing to say.
    pub(super) fn render(&self) -> Option<String> {
        let frame = self.frame.as_ref()?;
        let place = frame.told(&mut Vec::new());
        Some(match self.kind {
            "catch" => format!("It will be caught in {place}."),
            "filter" => format!("A when filter decides whether it is caught in {place}."),
            "filter_fails" => format!(
                "It leaves the when filter in {place}: the runtime drops it there, and the filter counts as false."
            ),
            "task" => {
                let then = self.then.as_deref();
                let then = then.unwrap_or("whoever awaits or waits for the task gets it");
                match frame.kind {
                    "user" => format!("It leaves the async method {place}: {then}."),
                    _ => format!("It leaves what a task runs: {then}."),
                }
            }
            "type_initializer" => format!(
                "It leaves the static constructor {place}: whoever used the type gets a TypeInitializationException."
            ),
            _ => return None,
        })
    }
}

fn told_place(method: &str, source: Option<&engine::api::Source>) -> String {
    let mut place = text::one_line(method, NAME);
    if let Some(source) = source {
        let file = text::one_line(&source.path.to_string_lossy(), NAME);
        // Writing to a String cannot fail.
        let _ = write!(place, " at {file}:{}", source.line.0);
    }
    place
}

/// What becomes of an exception that a task keeps.
fn told_then(then: &Then) -> Option<String> {
    Some(match then {
        Then::Caught {
            method,
            source,
            filter,
            ..
        } => {
            let place = told_place(method, source.as_ref());
            match filter {
                true => format!("a when filter decides whether it is caught in {place}"),
                false => format!("it will be caught in {place}"),
            }
        }
        Then::Suppressed { method, source, .. } => {
            let place = told_place(method, source.as_ref());
            format!("the await in {place} passes over it (SuppressThrowing)")
        }
        Then::NotCaught => "nobody who awaits or waits for it catches it".into(),
        Then::NotAwaited => "nobody awaits the task now, only who does later gets it".into(),
        Then::Unknown => return None,
    })
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
            times: 0,
        }
    }
}

impl TraceEntry {
    /// `Order.Total() at /src/shop.cs:20`.
    pub(super) fn told(&self) -> String {
        match (&self.file, self.line, &self.module) {
            (Some(file), Some(line), _) => format!("{} at {file}:{line}", self.method),
            (_, _, Some(module)) => format!("{} in {module}", self.method),
            _ => self.method.clone(),
        }
    }

    /// Whether another entry tells the same.
    fn is_like(&self, other: &Self) -> bool {
        !self.rethrown
            && (&self.method, &self.file, self.line) == (&other.method, &other.file, other.line)
            && self.module == other.module
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
        // Its own trace follows, and where it is thrown now is told: a place of its own has only what was thrown before.
        let before = exception.trace.iter().any(|it| it.rethrown);
        if let Some(first) = answer.exceptions.first_mut().filter(|_| !before) {
            first.thrown_at = None;
        }
        answer.trace_is_cut = exception.trace_is_cut;
        for frame in &exception.trace {
            let entry = TraceEntry::from(frame);
            let told = answer.trace.len();
            match answer.trace.last_mut() {
                Some(last) if last.is_like(&entry) && answer.more_trace == 0 => {
                    last.times += 1;
                    last.rethrown = entry.rethrown;
                }
                _ if told < TRACE => answer.trace.push(entry),
                _ => answer.more_trace += 1,
            }
        }
        let earlier = exception.earlier_trace.as_deref();
        answer.earlier_trace = earlier.map(|trace| {
            let cleaned = text::clean(trace);
            text::tail(&cleaned, EARLIER).1.to_owned()
        });
        if let Some(flight) = &exception.flight {
            answer.rethrown = flight.rethrown;
            answer.thrown_at = flight.thrown_at.as_ref().map(FrameReport::from);
            let helper = flight.raised_by.as_deref();
            answer.raised_by = helper.map(|it| text::one_line(it, NAME));
            answer.handler = Some(HandlerReport::of(&flight.handler));
        } else if exception.unhandled {
            answer.handler = Some(HandlerReport::of(&Handler::Nobody));
        }
        answer.fit()
    }

    /// Leaves so many exceptions, characters of each message, and entries of the trace.
    pub(super) fn cut(&mut self, exceptions: usize, message: usize, trace: usize) {
        let more = self.exceptions.len().saturating_sub(exceptions);
        self.exceptions.truncate(exceptions);
        self.left_out += u32::try_from(more).unwrap_or(u32::MAX);
        for entry in &mut self.exceptions {
            entry.type_name = text::one_line(&entry.type_name, message);
            let told = entry.message.as_deref();
            entry.message = told.map(|it| text::one_line(it, message));
        }
        let more = self.trace.len().saturating_sub(trace);
        self.trace.truncate(trace);
        self.more_trace += u32::try_from(more).unwrap_or(u32::MAX);
        let earlier = self.earlier_trace.as_deref();
        self.earlier_trace = earlier.map(|it| text::tail(it, message * 3).1.to_owned());
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
            let how = "evaluate $exception.InnerException and so on tells them";
            let _ = writeln!(out, "  … {} more: {how}", self.left_out);
        }
        if let Some(frame) = &self.thrown_at {
            // An await throws what a task has kept as if it were new.
            let first = self.exceptions.first().and_then(|it| it.thrown_at.as_ref());
            let again = if self.rethrown || first.is_some() {
                "again "
            } else {
                ""
            };
            let _ = write!(out, "Thrown {again}in {}", frame.told(&mut known));
            if let Some(helper) = &self.raised_by {
                let _ = write!(out, ", by {helper}");
            }
            if let Some(origin) = first {
                let _ = write!(out, ", first in {}", origin.told());
            }
            out.push_str(".\n");
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
            let _ = write!(out, "  {}", entry.told());
            if entry.times > 0 {
                let _ = write!(out, " ({} times)", entry.times + 1);
            }
            out.push_str(if entry.rethrown {
                ", and was thrown again\n"
            } else {
                "\n"
            });
        }
        match (self.more_trace, self.trace_is_cut) {
            (0, false) => {}
            (0, true) => out.push_str("  … and more, which were not looked at\n"),
            (more, cut) => {
                let least = if cut { "at least " } else { "" };
                let _ = writeln!(out, "  … {least}{more} more");
            }
        }
        if let Some(trace) = &self.earlier_trace {
            out.push_str("Before that, as it was told elsewhere:\n");
            text::push_quoted_lines(&mut out, "  | ", trace);
        }
        super::finish(out)
    }
}
