//! What the tests of breakpoints share.

use host::api::{
    Breakpoint, BreakpointId, BreakpointSpec, BreakpointState, Event, Line, Place, Reply, Request,
    StopReason,
};
use testkit::debuggee::Debuggee;
use testkit::fixtures::Fixture;

pub(crate) fn at_line(file: &str, line: u32, column: Option<u32>) -> BreakpointSpec {
    BreakpointSpec::at(Place::Line {
        file: file.into(),
        line: Line(line),
        column,
    })
}

pub(crate) fn at_marker(fixture: &str, marker: &str) -> BreakpointSpec {
    let marker = Fixture::named(fixture).marker(marker);
    at_line(&marker.file.display().to_string(), marker.line, None)
}

pub(crate) fn at_function(name: &str) -> BreakpointSpec {
    BreakpointSpec::at(Place::Function { name: name.into() })
}

pub(crate) fn set(program: &Debuggee<'_>, spec: BreakpointSpec) -> (Breakpoint, bool) {
    match program.request(Request::SetBreakpoint(spec)) {
        Ok(Reply::Breakpoint {
            breakpoint,
            duplicate,
        }) => (breakpoint, duplicate),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn list(program: &Debuggee<'_>) -> Vec<Breakpoint> {
    match program.request(Request::Breakpoints) {
        Ok(Reply::Breakpoints { breakpoints, .. }) => breakpoints,
        other => panic!("{other:?}"),
    }
}

/// Method and line of the innermost frame.
pub(crate) fn here(program: &Debuggee<'_>) -> (String, u32) {
    match program.request(Request::Stack {
        thread: None,
        start: 0,
        count: 1,
    }) {
        Ok(Reply::Stack { frames, .. }) => {
            let frame = frames.first().expect("a frame");
            (
                frame.method.clone(),
                frame.source.as_ref().map_or(0, |source| source.line.0),
            )
        }
        other => panic!("{other:?}"),
    }
}

pub(crate) fn hit(id: u32) -> Vec<StopReason> {
    vec![StopReason::Breakpoint {
        ids: vec![BreakpointId(id)],
    }]
}

/// A breakpoint on a column of a marked line: where `text` begins in it.
pub(crate) fn at_text(fixture: &str, marker: &str, text: &str) -> BreakpointSpec {
    let marker = Fixture::named(fixture).marker(marker);
    let source = std::fs::read_to_string(&marker.file).expect("the source");
    let line = source.lines().nth(marker.line as usize - 1);
    let column = line.and_then(|line| line.find(text)).expect("the text") as u32 + 1;
    let file = marker.file.display().to_string();
    at_line(&file, marker.line, Some(column))
}

/// The line of a marker.
pub(crate) fn line(fixture: &str, marker: &str) -> u32 {
    Fixture::named(fixture).marker(marker).line
}

/// The lines where a breakpoint is set.
pub(crate) fn lines(breakpoint: &Breakpoint) -> Vec<u32> {
    let sources = breakpoint.locations.iter().map(|it| it.source.as_ref());
    sources.map(|it| it.map_or(0, |it| it.line.0)).collect()
}

/// The states that a breakpoint was told to be in, in order.
pub(crate) fn told_states(program: &Debuggee<'_>, id: BreakpointId) -> Vec<BreakpointState> {
    let told = program
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::Breakpoint(it) if it.id == id => Some(it.state),
            _ => None,
        });
    let mut states: Vec<BreakpointState> = told.collect();
    states.dedup();
    states
}
