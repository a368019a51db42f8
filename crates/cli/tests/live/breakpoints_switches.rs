//! Breakpoints on `switch` expressions, whose own points no thread ever comes to.

use host::api::{
    AvailablePoint, BreakpointSpec, Details, Error, ErrorCode, Line, Reply, Request, StopReason,
};
use testkit::debuggee::Debuggee;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::breakpoints_support::{at_line, at_marker, at_text, here, line, lines, list};

const FIXTURE: &str = "bp_switches";

/// Where a breakpoint on a line comes to be, and how often it is hit.
const ON_LINES: &[(&str, &str, u64)] = &[
    ("kind", "kind", 2),
    ("on_own_line", "kind", 2),
    ("brace", "kind", 2),
    ("one", "one", 1),
    ("only_pattern", "kind", 2),
    ("other", "other", 1),
    ("end", "kind", 2),
    ("body", "body", 3),
    ("body_brace", "body", 3),
    ("long", "long", 1),
    ("body_end", "body", 3),
    ("continued", "return", 3),
    ("argument", "call", 2),
    ("outer", "call", 2),
    // The point of an arm comes behind the `switch` expression that the arm is.
    ("nested", "nested", 2),
    ("inner", "inner", 1),
    ("statement", "statement", 2),
    ("label", "first", 1),
    ("default", "default", 1),
    ("awaits", "awaits", 1),
    ("awaits_brace", "awaits", 1),
    ("lambda_arms", "lambda", 1),
];

fn launched<'s>(sandbox: &'s Sandbox, specs: Vec<BreakpointSpec>) -> Debuggee<'s> {
    let launch = sandbox.launch(FIXTURE);
    launch.with(|launch| launch.breakpoints = specs).start()
}

/// The words of points, or the line where one begins that ends on another.
fn words(points: Vec<AvailablePoint>) -> Vec<String> {
    let words = |it: AvailablePoint| match it.text {
        Some(text) if it.start_line == it.end_line => text,
        _ => format!("line {}", it.start_line),
    };
    points.into_iter().map(words).collect()
}

#[test]
fn lines_of_a_switch_expression_belong_to_the_statement_that_holds_it() {
    let sandbox = Sandbox::new();
    let asked = ON_LINES.iter().map(|(on, ..)| at_marker(FIXTURE, on));
    let program = launched(&sandbox, asked.collect());
    while program.settle().exit.is_none() {
        program.cont();
    }
    for ((on, at, hits), found) in ON_LINES.iter().zip(list(&program)) {
        let at = line(FIXTURE, at);
        assert_eq!((lines(&found), found.hits), (vec![at], *hits), "{on}");
        let moved = found.reason.unwrap_or_default();
        let told = moved.ends_with(&format!("moved to line {at}, where the statement begins"));
        let is_said = told || moved.contains("has no code");
        assert_eq!(is_said, line(FIXTURE, on) != at, "{on}: {moved}");
    }
}

#[test]
fn columns_of_a_switch_expression_belong_to_its_arms_and_the_statement_that_holds_it() {
    let sandbox = Sandbox::new();
    let asked = [
        ("switch", "return", 3),
        ("2, _", "continued", 2),
        ("n * 2", "continued", 1),
    ];
    let specs = asked.map(|(text, ..)| at_text(FIXTURE, "continued", text));
    let program = launched(&sandbox, specs.to_vec());
    while program.settle().exit.is_none() {
        program.cont();
    }
    for ((text, at, hits), found) in asked.iter().zip(list(&program)) {
        let at = line(FIXTURE, at);
        assert_eq!((lines(&found), found.hits), (vec![at], *hits), "{text}");
    }
}

#[test]
fn what_is_offered_can_be_reached() {
    let sandbox = Sandbox::new();
    let program = launched(&sandbox, vec![at_marker(FIXTURE, "return")]);
    program.wait_stop();
    let marker = Fixture::named(FIXTURE).marker("continued");
    let file = marker.file.display().to_string();
    let of_line = |from: u32, to| {
        let request = Request::Statements {
            file: file.clone(),
            from: Line(from),
            to: Line(to),
        };
        match program.request(request) {
            Ok(Reply::Statements(points)) => points,
            other => panic!("{other:?}"),
        }
    };
    let columns = |it: &AvailablePoint| it.end_column - it.start_column;
    let offered = of_line(marker.line, marker.line);
    assert_eq!(offered.iter().map(columns).collect::<Vec<_>>(), [1, 5]);
    // The statement around it is there once, though the compiler names it twice.
    assert_eq!(
        of_line(line(FIXTURE, "kind"), line(FIXTURE, "brace")).len(),
        1
    );

    let refused: Error = program
        .request(Request::SetBreakpoint(at_line(
            &file,
            marker.line,
            Some(200),
        )))
        .expect_err("no such column");
    assert_eq!(refused.code, ErrorCode::InvalidColumn);
    let Some(Details::AvailablePoints(points)) = refused.details.as_deref() else {
        panic!("{refused:#?}")
    };
    let statement = format!("line {}", line(FIXTURE, "return"));
    assert_eq!(words(points.clone()), [statement.as_str(), "2", "n * 2"]);

    let goto = |column| {
        program.request(Request::Goto {
            thread: None,
            file: None,
            line: Line(marker.line),
            column,
        })
    };
    let column = |text| match at_text(FIXTURE, "continued", text).place {
        host::api::Place::Line { column, .. } => column,
        other => panic!("{other:?}"),
    };
    let refused = goto(column("switch")).expect_err("nothing runs there");
    assert_eq!(refused.code, ErrorCode::InvalidColumn);
    goto(column("n * 2")).expect("an arm");
    assert_eq!(here(&program).1, marker.line);
}

#[test]
fn a_run_to_a_switch_expression_ends_at_the_statement_that_holds_it() {
    let sandbox = Sandbox::new();
    let program = sandbox.launch(FIXTURE).stop_at_entry().start();
    program.wait_stop();
    for (on, at) in [("on_own_line", "kind"), ("continued", "return")] {
        let place = at_marker(FIXTURE, on).place;
        program.request(Request::RunTo(place)).expect("running");
        let stop = program.wait_stop();
        assert_eq!(stop.reasons, [StopReason::RunTo], "{on}");
        assert_eq!(here(&program).1, line(FIXTURE, at), "{on}");
    }
}
