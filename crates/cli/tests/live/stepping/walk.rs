//! Walks a program by steps and writes down where each one ends.

use std::fmt::Write;

use expect_test::ExpectFile;
use host::api::{
    BreakpointSpec, Frame, Line, Place, Reply, Request, State, StepKind, StopReason, ThreadId,
};
use testkit::debuggee::Debuggee;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

/// More steps than any walk takes: one that does not end fails.
const LIMIT: u32 = 400;

/// The innermost frame of a thread, of the reporting one if none is named.
#[track_caller]
pub(super) fn frame(program: &Debuggee<'_>, thread: Option<ThreadId>) -> Frame {
    let request = Request::Stack {
        thread,
        start: 0,
        count: 1,
    };
    match program.request(request) {
        Ok(Reply::Stack { mut frames, .. }) if !frames.is_empty() => frames.remove(0),
        other => panic!("no stack: {other:?}"),
    }
}

/// Line number and text of the innermost frame, with its method where that is another than before.
pub(super) fn describe(frame: &Frame) -> String {
    let Some(source) = &frame.source else {
        return format!("   ? {}", frame.method);
    };
    let text = std::fs::read_to_string(&source.path).expect("the source");
    let line = text.lines().nth(source.line.0 as usize - 1);
    let line = line.unwrap_or_default();
    let line = line.split("//@").next().unwrap_or_default().trim_end();
    let shown = line
        .get(source.column.unwrap_or(1) as usize - 1..)
        .unwrap_or_default();
    format!("{:4} {}", source.line.0, shown)
}

/// Makes a step and waits for what comes of it.
#[track_caller]
pub(super) fn step(program: &Debuggee<'_>, kind: StepKind) {
    let request = Request::Step {
        thread: None,
        kind,
        count: 1,
    };
    program.request(request).expect("stepping");
    program.settle();
}

/// Line number and text of where the program is.
#[track_caller]
pub(super) fn here(program: &Debuggee<'_>) -> String {
    describe(&frame(program, None))
}

/// Walks a stopped program to its end.
#[track_caller]
pub(crate) fn walk(program: &Debuggee<'_>, kind: StepKind) -> String {
    let mut visited = String::new();
    let mut method = String::new();
    for _ in 0..LIMIT {
        let frame = frame(program, None);
        if frame.method != method {
            writeln!(visited, "{}", frame.method).expect("written");
            method.clone_from(&frame.method);
        }
        writeln!(visited, "{}", describe(&frame)).expect("written");
        step(program, kind);
        let status = program.status();
        if status.state == State::Exited {
            writeln!(visited, "exit {:?}", status.exit.expect("how it ended")).expect("written");
            return visited;
        }
        let stop = status.stop.expect("a stop");
        assert_eq!(stop.reasons, [StopReason::Step], "{visited}");
        let steps = stop.steps.expect("steps were asked for");
        assert_eq!((steps.made, steps.asked), (1, 1), "{visited}");
    }
    panic!("the walk does not end:\n{visited}");
}

/// Walks a fixture from the first line of `Main` to its end.
#[track_caller]
pub(crate) fn check(fixture: &str, kind: StepKind, expected: &ExpectFile) {
    let sandbox = Sandbox::new();
    let program = sandbox.launch(fixture).stop_at_entry().start();
    program.wait_stop();
    expected.assert_eq(&walk(&program, kind));
}

/// The place of a marker.
pub(super) fn place(fixture: &str, marker: &str) -> Place {
    let marker = Fixture::named(fixture).marker(marker);
    Place::Line {
        file: marker.file.display().to_string(),
        line: Line(marker.line),
        column: None,
    }
}

/// Asserts that the innermost frame is on the line of a marker.
#[track_caller]
pub(super) fn assert_at(program: &Debuggee<'_>, fixture: &str, marker: &str) {
    let wanted = Fixture::named(fixture).marker(marker).line;
    let frame = frame(program, None);
    let line = frame.source.as_ref().map(|source| source.line.0);
    assert_eq!(line, Some(wanted), "{marker}, not {}", describe(&frame));
}

/// Launches a fixture and waits until it is stopped at the first of these markers that it reaches.
#[track_caller]
pub(super) fn launch_to<'s>(
    sandbox: &'s Sandbox,
    fixture: &str,
    args: &[&str],
    markers: &[&str],
) -> Debuggee<'s> {
    let breakpoints = markers
        .iter()
        .map(|marker| BreakpointSpec::at(place(fixture, marker)));
    let breakpoints = breakpoints.collect();
    let program = sandbox
        .launch(fixture)
        .args(args.iter().copied())
        .with(|launch| launch.breakpoints = breakpoints)
        .start();
    program.wait_stop();
    program
}
