//! What is bound when it runs, converted on the way or made by the expression; who calls, in conditions and messages; locals that
//! are set before the program assigns them.

use engine::api::{
    BreakpointSpec, Evaluate, Line, Place, Reply, Request, SetVariable, StepKind, Stream,
};
use testkit::debuggee::Debuggee;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::evaluate::value;
use crate::hits::traces;
use crate::language::stopped_in;
use crate::sequences::{compare_with_program, told};

const FIXTURE: &str = "expressions_bound";

fn at(marker: &str) -> BreakpointSpec {
    let marker = Fixture::named(FIXTURE).marker(marker);
    BreakpointSpec::at(Place::Line {
        file: marker.file.display().to_string(),
        line: Line(marker.line),
        column: None,
    })
}

#[track_caller]
fn evaluated(program: &Debuggee<'_>, expression: &str, side_effects: bool) -> String {
    let request = Evaluate {
        side_effects,
        ..Evaluate::read(expression)
    };
    match program.request(Request::Evaluate(request)) {
        Ok(Reply::Evaluated(all)) => told(&all[0]),
        other => panic!("{expression}: {other:?}"),
    }
}

#[test]
fn what_is_bound_late_converted_or_made_here_is_csharps() {
    compare_with_program(FIXTURE);
}

#[test]
fn what_is_bound_late_runs_nothing_where_nothing_may_run() {
    let sandbox = Sandbox::new();
    let program = stopped_in(&sandbox, FIXTURE, "main");
    for (text, expected) in [
        ("holder.Method().Name", "`Method`"),
        ("holder.Kept.Name", "ok\tstring\t\"item\""),
        ("people[1].Number + 1", "ok\tint\t10"),
        ("$\"{new { A = 1 }}\"", "ok\tstring\t\"{ A = 1 }\""),
        ("new { A = 1 }.Equals(new { A = 2 })", "ok\tbool\tfalse"),
        (
            "string.Format(\"{0}\", new { A = 1 })",
            "ok\tstring\t\"{ A = 1 }\"",
        ),
        ("literal == (object)\"other\"", "ok\tbool\tfalse"),
        ("literal == (object)\"literal\"", "the very one"),
    ] {
        let here = evaluated(&program, text, false);
        assert!(here.contains(expected), "{text}: {here}");
    }
    // The member that what it holds does not have is told of that, not of object.
    let missing = evaluated(&program, "holder.Method().Missing", true);
    assert!(
        missing.contains("CS1061") && missing.contains("`Item`"),
        "{missing}"
    );
    let lambda = evaluated(&program, "holder.Method().Deep().Find(x => x > 1)", true);
    assert!(lambda.contains("CS1977"), "{lambda}");
    program.disconnect(None, true);
}

#[test]
fn dynamic_locals_of_an_async_method_are_known() {
    let sandbox = Sandbox::new();
    let condition = BreakpointSpec {
        condition: Some("hidden.Name == \"hidden\"".into()),
        ..at("waits")
    };
    let program = sandbox
        .launch(FIXTURE)
        .with(|launch| launch.breakpoints = vec![condition])
        .start();
    program.wait_stop();
    assert_eq!(value(&program, "hidden.Number + 1").1, "6");
    let set = evaluated(&program, "hidden.Number = 8", true);
    assert_eq!(set, "ok\tint\t8");
    program.cont();
    program.expect_exit(0);
    assert!(program.text(Stream::Stdout).ends_with("hidden\n8\n"));
}

#[test]
fn who_calls_is_known_in_conditions_and_messages() {
    let sandbox = Sandbox::new();
    let line = Fixture::named(FIXTURE).marker("step").line;
    let spec = BreakpointSpec {
        condition: Some(format!(
            "Says( step + 1 ) == \"step + 1|Steps|{line}\" && step > 0"
        )),
        log_message: Some("{step}: {Says(step  * 2)}, {Says(it: \"{\")}".into()),
        ..at("step")
    };
    let program = sandbox
        .launch(FIXTURE)
        .with(|launch| launch.breakpoints = vec![spec])
        .start();
    program.expect_exit(0);
    let expected = [1, 2].map(|it| format!("{it}: step  * 2|Steps|{line}, \"{{\"|Steps|{line}"));
    assert_eq!(traces(&program), expected);
}

#[test]
fn locals_can_be_set_before_the_program_assigns_them() {
    let sandbox = Sandbox::new();
    let program = stopped_in(&sandbox, FIXTURE, "before");
    let unassigned = evaluated(&program, "number", false);
    assert!(unassigned.contains("not assigned yet"), "{unassigned}");
    let set = |path: &str, value: &str| {
        program.request(Request::SetVariable(Box::new(SetVariable {
            stop: None,
            thread: None,
            frame: 0,
            path: path.into(),
            value: value.into(),
            force: false,
            mask_secrets: false,
        })))
    };
    match set("number", "41") {
        Ok(Reply::Variables(told)) => {
            assert_eq!(told.parent.expect("what was set").value.text, "41");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(value(&program, "number + 1").1, "42");
    assert_eq!(
        evaluated(&program, "word = \"given\"", true),
        "ok\tstring\t\"given\""
    );
    assert_eq!(value(&program, "word.Length").1, "5");
    // What fails sets nothing, and what is read first has no value.
    assert!(set("other", "\"text\"").is_err());
    for text in ["other = other + 1", "other++", "other = int.Parse(\"x\")"] {
        let told = evaluated(&program, text, true);
        assert!(
            told.starts_with("error") || told.starts_with("throws"),
            "{text}: {told}"
        );
        let read = evaluated(&program, "other", false);
        assert!(read.contains("not assigned yet"), "{text}: {read}");
    }
    assert_eq!(
        evaluated(&program, "int.TryParse(\"5\", out other)", true),
        "ok\tbool\ttrue"
    );
    assert_eq!(value(&program, "other").1, "5");
    // They stay what they are until the program assigns them.
    let step = Request::Step {
        thread: None,
        kind: StepKind::Over,
        count: 1,
    };
    program.request(step).expect("a step");
    program.wait_stop();
    assert_eq!(value(&program, "number").1, "41");
    program.cont();
    program.expect_exit(0);
    assert!(program.text(Stream::Stdout).contains("7own"));
}
