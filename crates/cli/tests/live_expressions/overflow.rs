//! Overflow in a project that checks for it: expressions throw where the program would.

use engine::api::{BreakpointSpec, Evaluate, Line, Place};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::evaluate::ask;
use crate::hits::traces;
use crate::sequences::{compare_with_program, told};

const FIXTURE: &str = "expressions_checked";

#[test]
fn what_overflows_throws_as_the_project_says() {
    compare_with_program(FIXTURE);
}

#[test]
fn conditions_and_messages_check_for_overflow_too() {
    let marker = Fixture::named(FIXTURE).marker("main");
    let place = Place::Line {
        file: marker.file.display().to_string(),
        line: Line(marker.line),
        column: None,
    };
    let sandbox = Sandbox::new();
    let message = "{unchecked(big + one)} {big + one}";
    let program = sandbox
        .launch(FIXTURE)
        .with(|launch| {
            launch.breakpoints = vec![
                BreakpointSpec {
                    log_message: Some(message.into()),
                    ..BreakpointSpec::at(place.clone())
                },
                BreakpointSpec {
                    condition: Some("big + one < 0".into()),
                    ..BreakpointSpec::at(place)
                },
            ];
        })
        .start();
    let stop = program.wait_stop();
    let reasons = format!("{:?}", stop.reasons);
    assert!(reasons.contains("System.OverflowException"), "{reasons}");
    let traces = traces(&program);
    let [trace] = traces.as_slice() else {
        panic!("one message: {traces:?}");
    };
    assert!(
        trace.starts_with("-2147483648 <error:") && trace.contains("System.OverflowException"),
        "{trace}"
    );
    let read = told(&ask(&program, Evaluate::read("(byte)big")));
    assert!(
        read.starts_with("throws\tSystem.OverflowException"),
        "{read}"
    );
}
