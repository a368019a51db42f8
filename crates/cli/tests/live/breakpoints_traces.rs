//! Breakpoints that log: their messages stand in their place in the output, and they never stop.

use host::api::{
    BreakpointChange, BreakpointSpec, BreakpointState, ErrorCode, Event, Request, Stream, Trace,
};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::breakpoints_support::{at_marker, hit, line, list, told_states};

const FIXTURE: &str = "bp_traces";

fn tracing(message: &str) -> BreakpointSpec {
    BreakpointSpec {
        log_message: Some(message.into()),
        ..at_marker(FIXTURE, "passed")
    }
}

fn launched<'s>(sandbox: &'s Sandbox, rounds: &str, specs: &[BreakpointSpec]) -> Debuggee<'s> {
    let specs = specs.to_vec();
    sandbox
        .launch(FIXTURE)
        .args([rounds])
        .with(|launch| launch.breakpoints = specs)
        .start()
}

fn traces(program: &Debuggee<'_>) -> Vec<Trace> {
    let told = program
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::Trace(trace) => Some(trace),
            _ => None,
        });
    told.collect()
}

#[test]
fn messages_stand_between_what_the_program_wrote_before_and_after() {
    let sandbox = Sandbox::new();
    let program = launched(&sandbox, "50", &[tracing("passed {{once}}")]);
    program.expect_exit(0);
    let mut expected = Vec::new();
    for round in 0..50 {
        expected.push((Stream::Stdout, format!("before {round}\n")));
        expected.push((Stream::Trace, "passed {once}\n".into()));
        expected.push((Stream::Stderr, format!("after {round}\n")));
    }
    expected.push((Stream::Stdout, "end\n".into()));
    let chunks = program.output().into_iter();
    let found: Vec<_> = chunks.map(|it| (it.stream, it.text)).collect();
    // Standard output and error are two pipes, whose order among each other only the stops in between make certain.
    let until_passed = |all: &[(Stream, String)]| -> Vec<Vec<(Stream, String)>> {
        let parts = all.split(|(stream, _)| *stream == Stream::Trace);
        parts
            .map(|part| {
                let mut part = part.to_vec();
                part.sort_by_key(|(stream, _)| *stream == Stream::Stderr);
                part
            })
            .collect()
    };
    assert_eq!(until_passed(&found), until_passed(&expected));
    let traces = traces(&program);
    assert_eq!(traces.len(), 50);
    assert!((1..).zip(&traces).all(|(hit, trace)| trace.hit == hit));
    let source = traces[0].source.as_ref().expect("a source");
    assert_eq!(source.line.0, line(FIXTURE, "passed"));
    assert!(traces[0].thread.is_some());
    assert_eq!(traces[0].at.0, "before 0\n".len() as u64);
}

#[test]
fn a_breakpoint_switches_itself_off_after_its_most_hits() {
    let sandbox = Sandbox::new();
    let few = BreakpointSpec {
        max_hits: Some(3),
        ..tracing("hello")
    };
    let stopping = BreakpointSpec {
        max_hits: Some(1),
        ..at_marker(FIXTURE, "call")
    };
    let program = launched(&sandbox, "10", &[few, stopping, at_marker(FIXTURE, "end")]);
    assert_eq!(program.wait_stop().reasons, hit(2));
    assert_eq!(list(&program)[1].state, BreakpointState::Disabled);
    program.cont();
    assert_eq!(program.wait_stop().reasons, hit(3));
    assert_eq!(traces(&program).len(), 3);
    let breakpoints = list(&program);
    use BreakpointState::{Bound, Disabled};
    for breakpoint in &breakpoints[..2] {
        assert_eq!(breakpoint.state, Disabled);
        let reason = breakpoint.reason.as_deref().unwrap_or_default();
        assert!(reason.contains("switched itself off"), "{breakpoint:#?}");
        assert_eq!(told_states(&program, breakpoint.id), [Bound, Disabled]);
    }
    // Switched on again it counts anew.
    let change = BreakpointChange {
        enabled: Some(true),
        ..BreakpointChange::default()
    };
    let id = breakpoints[0].id;
    program
        .request(Request::ChangeBreakpoint { id, change })
        .expect("changed");
    assert_eq!(told_states(&program, id), [Bound, Disabled, Bound]);
    program.cont();
    program.expect_exit(0);
}

#[test]
fn messages_and_conditions_that_are_no_expressions_are_refused_with_the_place() {
    let sandbox = Sandbox::new();
    let program = launched(&sandbox, "1", &[at_marker(FIXTURE, "call")]);
    program.wait_stop();
    for (message, at) in [("x is {i +} now", 9), ("open {i", 5), ("{}", 1)] {
        let error = program
            .request(Request::SetBreakpoint(tracing(message)))
            .expect_err("no message");
        assert_eq!(error.code, ErrorCode::InvalidCondition, "{message}");
        let details = format!("{:?}", error.details);
        assert!(
            details.contains(&format!("start: {at},")),
            "{message}: {details}"
        );
    }
    for (condition, at) in [
        ("i ==", 4),
        ("i == 5)", 6),
        ("\"ä\" + = 2", 6),
        ("int x", 0),
    ] {
        let spec = BreakpointSpec {
            condition: Some(condition.into()),
            ..at_marker(FIXTURE, "passed")
        };
        let error = program
            .request(Request::SetBreakpoint(spec))
            .expect_err("no condition");
        assert_eq!(error.code, ErrorCode::InvalidCondition, "{condition}");
        let details = format!("{:?}", error.details);
        assert!(
            details.contains(&format!("start: {at},")),
            "{condition}: {details}"
        );
    }
    let change = BreakpointChange {
        condition: Some("i =".into()),
        ..BreakpointChange::default()
    };
    let id = list(&program)[0].id;
    assert_eq!(
        program.refused(Request::ChangeBreakpoint { id, change }),
        ErrorCode::InvalidCondition
    );
    assert_eq!(list(&program).len(), 1, "what is refused is not kept");
    assert_eq!(list(&program)[0].spec.condition, None);
    program.cont();
    program.expect_exit(0);
}
