//! Setting the next statement.

use host::api::{Details, Error, ErrorCode, Line, Request, StepKind, StopReason};
use testkit::debuggee::Debuggee;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use super::walk::{assert_at, frame, launch_to, step};

const FIXTURE: &str = "step_next";

fn goto(program: &Debuggee<'_>, marker: &str) -> Result<(), Error> {
    let line = Line(Fixture::named(FIXTURE).marker(marker).line);
    let request = Request::Goto {
        thread: None,
        file: None,
        line,
        column: None,
    };
    program.request(request).map(drop)
}

#[track_caller]
fn check_refused(program: &Debuggee<'_>, marker: &str, code: ErrorCode, why: &str) {
    let before = frame(program, None);
    let error = goto(program, marker).expect_err("refused");
    assert_eq!(error.code, code, "{error:?}");
    assert!(error.message.contains(why), "{error:?}");
    assert!(error.hint.is_some(), "{error:?}");
    assert_eq!(frame(program, None), before, "nothing moved");
}

#[test]
fn the_next_statement_can_be_set_back_and_forth_in_the_method() {
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, FIXTURE, &[], &["second"]);
    let first = program.status().stop.expect("a stop").id;
    goto(&program, "third").expect("forth");
    let stop = program.status().stop.expect("a stop");
    assert_eq!(stop.reasons, [StopReason::Goto]);
    assert_ne!(stop.id, first, "frames of before are gone");
    assert_at(&program, FIXTURE, "third");
    step(&program, StepKind::Over);
    goto(&program, "first").expect("back");
    assert_at(&program, FIXTURE, "first");
    step(&program, StepKind::Over);
    assert_at(&program, FIXTURE, "second");
    program.request(Request::Continue).expect("continues");
    program.expect_exit(0);
    let text = program.text(host::api::Stream::Stdout);
    assert!(text.starts_with("first\nthird\nfirst\nsecond\n"), "{text}");
}

#[test]
fn where_the_next_statement_cannot_be_is_told_with_the_reason() {
    let sandbox = Sandbox::new();
    let program = launch_to(
        &sandbox,
        FIXTURE,
        &[],
        &["second", "in_catch", "in_finally"],
    );
    check_refused(
        &program,
        "elsewhere",
        ErrorCode::InvalidLine,
        "the method that runs",
    );
    check_refused(&program, "in_catch", ErrorCode::StepFailed, "catch block");
    check_refused(&program, "filter", ErrorCode::StepFailed, "filters");
    check_refused(
        &program,
        "in_finally",
        ErrorCode::StepFailed,
        "finally block",
    );
    let error = program
        .request(Request::Goto {
            thread: None,
            file: Some("other.cs".into()),
            line: Line(1),
            column: None,
        })
        .expect_err("refused");
    assert_eq!(error.code, ErrorCode::InvalidFile);
    let error = program
        .request(Request::Goto {
            thread: None,
            file: None,
            line: Line(1),
            column: None,
        })
        .expect_err("refused");
    assert!(
        matches!(error.details.as_deref(), Some(Details::NearestLines(lines)) if lines.len() == 4),
        "{error:?}"
    );
    program.request(Request::Continue).expect("continues");
    program.wait_stop();
    assert_at(&program, FIXTURE, "in_catch");
    check_refused(&program, "last", ErrorCode::StepFailed, "");
    program.request(Request::Continue).expect("continues");
    program.wait_stop();
    assert_at(&program, FIXTURE, "in_finally");
    check_refused(&program, "last", ErrorCode::StepFailed, "finally");
    program.request(Request::Continue).expect("continues");
    program.expect_exit(0);
}

#[test]
fn in_the_middle_of_a_statement_a_step_over_helps() {
    let fixture = "stack_kinds";
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, fixture, &["local"], &["local"]);
    step(&program, StepKind::Into);
    // The first is stopped by `Debugger.Break()` in what that calls.
    for _ in 0..3 {
        step(&program, StepKind::Out);
    }
    assert_at(&program, fixture, "local");
    let request = || Request::Goto {
        thread: None,
        file: None,
        line: Line(Fixture::named(fixture).marker("local").line),
        column: None,
    };
    let error = program.request(request()).expect_err("refused");
    assert_eq!(error.code, ErrorCode::StepFailed, "{error:?}");
    let hint = error.hint.as_deref().unwrap_or_default();
    assert!(hint.contains("step over"), "{error:?}");
    step(&program, StepKind::Over);
    program.request(request()).expect("back");
    assert_at(&program, fixture, "local");
}

#[test]
fn a_column_chooses_the_statement_of_a_line() {
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, FIXTURE, &[], &["second"]);
    let line = Line(Fixture::named(FIXTURE).marker("two").line);
    let goto = |column| {
        program.request(Request::Goto {
            thread: None,
            file: None,
            line,
            column: Some(column),
        })
    };
    goto(30).expect("the second statement");
    let at = frame(&program, None).source.expect("a source");
    assert_eq!((at.line, at.column), (line, Some(22)));
    let error = goto(120).expect_err("no statement there");
    assert_eq!(error.code, ErrorCode::InvalidColumn);
}
