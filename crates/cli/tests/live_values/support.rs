//! Asking for variables, and comparing them with what the program says of itself.

use host::api::{
    BreakpointSpec, Line, Place, Reply, Request, Stream, Variable, Variables, VariablesQuery, View,
};
use testkit::debuggee::Debuggee;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

/// A breakpoint at a marker of a fixture.
pub(crate) fn at(fixture: &str, marker: &str) -> BreakpointSpec {
    let marker = Fixture::named(fixture).marker(marker);
    BreakpointSpec::at(Place::Line {
        file: marker.file.display().to_string(),
        line: Line(marker.line),
        column: None,
    })
}

/// Launches a fixture and waits until it stops at the first of these markers.
pub(crate) fn stopped<'s>(sandbox: &'s Sandbox, fixture: &str, markers: &[&str]) -> Debuggee<'s> {
    let breakpoints = markers.iter().map(|marker| at(fixture, marker)).collect();
    let program = sandbox
        .launch(fixture)
        .with(|launch| launch.breakpoints = breakpoints)
        .start();
    program.wait_stop();
    program
}

/// Asks for variables.
#[track_caller]
pub(crate) fn variables(program: &Debuggee<'_>, query: VariablesQuery) -> Variables {
    match program.request(Request::Variables(Box::new(query))) {
        Ok(Reply::Variables(told)) => *told,
        other => panic!("{other:?}"),
    }
}

/// The variables of the innermost frame.
#[track_caller]
pub(crate) fn locals(program: &Debuggee<'_>) -> Vec<Variable> {
    variables(program, VariablesQuery::default()).variables
}

/// What a path leads to, without members.
#[track_caller]
pub(crate) fn look(program: &Debuggee<'_>, path: &str) -> Variable {
    let query = VariablesQuery {
        path: Some(path.into()),
        count: 0,
        ..VariablesQuery::default()
    };
    let told = variables(program, query);
    *told.parent.expect("what was asked for")
}

/// The children of what a path leads to.
#[track_caller]
pub(crate) fn children(program: &Debuggee<'_>, path: &str) -> Vec<Variable> {
    let query = VariablesQuery {
        path: Some(path.into()),
        ..VariablesQuery::default()
    };
    variables(program, query).variables
}

/// `name = text` of each.
pub(crate) fn lines(variables: &[Variable]) -> Vec<String> {
    let line = |it: &Variable| format!("{} = {}", it.name, it.value.text);
    variables.iter().map(line).collect()
}

/// Compares every path that the program printed with what the debugger says; all differences are told at once.
#[track_caller]
pub(crate) fn says_the_same(program: &Debuggee<'_>) {
    says_the_same_with(program, &View::default());
}

/// The same, as a view shows it.
#[track_caller]
pub(crate) fn says_the_same_with(program: &Debuggee<'_>, view: &View) {
    says_the_same_as(program, &program.text(Stream::Stdout), view);
}

/// Compares the paths of a part of what the program printed.
#[track_caller]
pub(crate) fn says_the_same_as(program: &Debuggee<'_>, truth: &str, view: &View) {
    let mut wrong = Vec::new();
    let mut compared = 0;
    for line in truth.lines() {
        let Some((path, expected)) = line.split_once('\t') else {
            continue;
        };
        compared += 1;
        let query = VariablesQuery {
            path: Some(path.into()),
            count: 0,
            view: view.clone(),
            ..VariablesQuery::default()
        };
        let said = match program.request(Request::Variables(Box::new(query))) {
            Ok(Reply::Variables(told)) => told.parent.expect("what was asked for").value.text,
            Ok(other) => panic!("{other:?}"),
            Err(error) => format!("error: {error}"),
        };
        if said != expected {
            wrong.push(format!(
                "{path}\n  the program says  {expected}\n  the debugger says {said}"
            ));
        }
    }
    assert!(compared > 0, "the program said nothing: {truth}");
    assert!(
        wrong.is_empty(),
        "{} of {compared} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
