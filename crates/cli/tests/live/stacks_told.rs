//! Stacks and exceptions as text, for snapshots that are the same on every runtime.

use std::fmt::Write;

use host::api::{
    ExceptionReport, ExceptionStage, Frame, FrameKind, Handler, Reply, Request, Source, ThreadId,
};
use testkit::debuggee::Debuggee;

/// The text of a source line without its marker.
pub(crate) fn line(source: Option<&Source>) -> String {
    let Some(source) = source else {
        return "?".into();
    };
    let text = std::fs::read_to_string(&source.path).expect("the source is there");
    let line = text
        .lines()
        .nth(source.line.0 as usize - 1)
        .unwrap_or_default();
    let line = line.split("//@").next().unwrap_or_default();
    line.trim().to_owned()
}

/// The frames of a thread.
#[track_caller]
pub(crate) fn frames(program: &Debuggee<'_>, thread: Option<ThreadId>) -> Vec<Frame> {
    match program.request(Request::Stack {
        thread,
        start: 0,
        count: 200,
    }) {
        Ok(Reply::Stack { frames, .. }) => frames,
        other => panic!("no stack: {other:?}"),
    }
}

/// One line for each frame that is not the framework's, whose own frames change from version to version.
#[track_caller]
pub(crate) fn stack(program: &Debuggee<'_>) -> String {
    let mut text = String::new();
    for frame in frames(program, None) {
        let of_framework = frame
            .module
            .as_ref()
            .is_some_and(|module| module.starts_with("System."));
        if !of_framework && frame.kind != FrameKind::Transition {
            writeln!(text, "{}", self::frame(&frame)).expect("text grows");
        }
    }
    text
}

/// `kind method: source line`.
pub(crate) fn frame(frame: &Frame) -> String {
    let mut marks = String::new();
    if frame.kind != FrameKind::User {
        write!(marks, "{:?} ", frame.kind).expect("text grows");
    }
    if frame.is_async {
        marks.push_str("async ");
    }
    if let Some(block) = frame.block {
        write!(marks, "{block:?} ").expect("text grows");
    }
    format!("{marks}{}: {}", frame.method, line(frame.source.as_ref()))
}

/// An exception with all it has.
pub(crate) fn exception(report: &ExceptionReport) -> String {
    let mut text = String::new();
    push(&mut text, report, 0);
    text
}

fn push(text: &mut String, report: &ExceptionReport, depth: usize) {
    let indent = "  ".repeat(depth);
    let message = report.message.as_deref().unwrap_or("?");
    let hresult = report.hresult.unwrap_or_default();
    writeln!(
        text,
        "{indent}{}: {message} ({hresult:#x})",
        report.type_name
    )
    .expect("text grows");
    if let Some(flight) = &report.flight {
        let stage = match flight.stage {
            ExceptionStage::Thrown => "thrown",
            ExceptionStage::UserUnhandled => "user-unhandled",
            ExceptionStage::Unhandled => "unhandled",
        };
        let again = if flight.rethrown { " again" } else { "" };
        let at = flight.thrown_at.as_ref().map_or("?".into(), frame);
        writeln!(text, "{indent}{stage}{again} at {at}").expect("text grows");
        let handler = match &flight.handler {
            Handler::Nobody => "nobody".into(),
            Handler::Unknown => "unknown".into(),
            Handler::Catch { frame: it } => format!("catch in {}", outer(it)),
            Handler::Filter { frame: it } => format!("filter in {}", outer(it)),
            Handler::Task { frame: it, .. } => format!("task of {}", outer(it)),
            Handler::TypeInitializer { frame: it } => format!("type initialiser {}", outer(it)),
            Handler::FilterFails { frame: it } => format!("filter fails {}", outer(it)),
        };
        writeln!(text, "{indent}handled by {handler}").expect("text grows");
    }
    // A new exception has only come through the frame that throws it.
    let fresh = report.flight.as_ref().is_some_and(|flight| {
        flight.stage == ExceptionStage::Thrown && !flight.rethrown && report.trace.len() <= 1
    });
    for entry in &report.trace {
        if !entry.user_code || fresh {
            continue;
        }
        let again = if entry.rethrown {
            " (thrown again)"
        } else {
            ""
        };
        let source = line(entry.source.as_ref());
        writeln!(text, "{indent}- {}: {source}{again}", entry.method).expect("text grows");
    }
    for inner in &report.inner {
        push(text, inner, depth + 1);
    }
}

/// The framework's own handlers have names that change.
fn outer(it: &Frame) -> String {
    if it.user_code {
        frame(it)
    } else {
        it.module.clone().unwrap_or_else(|| "?".into())
    }
}
