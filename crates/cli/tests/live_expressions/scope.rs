//! What a name means where something else of that name is near: local functions of other methods, members that cannot be called.

use engine::api::{BreakpointSpec, Line, Place, Request, SourceMap};
use testkit::debuggee::Debuggee;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::hits::traces;
use crate::language::stopped_in;
use crate::sequences::{evaluate, told};

const FIXTURE: &str = "expressions_scope";

fn check(program: &Debuggee<'_>, rows: &[(&str, &str)]) {
    let texts = rows.iter().map(|(text, _)| (*text).to_owned());
    for ((text, expected), answer) in rows.iter().zip(evaluate(program, texts.collect())) {
        let told = told(&answer);
        assert!(told.starts_with(expected), "{text}: {told}");
    }
}

#[test]
fn local_functions_of_other_methods_are_not_in_scope() {
    const UNKNOWN: &str = "error\terror CS0103: the name `";
    for (marker, rows) in [
        (
            "within",
            &[
                ("own(3)", "ok\tint\t9"),
                ("helper.Length", "ok\tint\t1"),
                ("around()", UNKNOWN),
                ("doubled(1)", UNKNOWN),
            ][..],
        ),
        // The variable of this name is the method's around, and this local function has not captured it.
        ("apart", &[("helper", UNKNOWN), ("helper.Length", UNKNOWN)]),
        // Also where the code is in a state machine.
        (
            "later",
            &[("doubled(3)", "ok\tint\t6"), ("helper(3)", UNKNOWN)],
        ),
        (
            "inner",
            &[("doubled(3)", "ok\tint\t6"), ("own(3)", UNKNOWN)],
        ),
    ] {
        let sandbox = Sandbox::new();
        check(&stopped_in(&sandbox, FIXTURE, marker), rows);
    }
}

#[test]
fn local_functions_of_methods_that_share_a_name_are_told_apart() {
    const UNKNOWN: &str = "error\terror CS0103: the name `";
    for (marker, rows) in [
        ("first", &[("Local(1)", "ok\tint\t2"), ("Only()", UNKNOWN)]),
        (
            "second",
            &[("Local(1)", "ok\tint\t101"), ("Only()", "ok\tint\t7")],
        ),
        ("third", &[("Local(1)", UNKNOWN), ("Only()", UNKNOWN)]),
        ("fourth", &[("Local(1)", "ok\tint\t8"), ("Only()", UNKNOWN)]),
    ] {
        let sandbox = Sandbox::new();
        let program = stopped_in(&sandbox, "expressions_named", marker);
        // Without the source too, by what the compiler made for each method.
        hide_sources(&program);
        check(&program, rows);
    }
}

/// Lets no source be found.
fn hide_sources(program: &Debuggee<'_>) {
    let file = Fixture::named(FIXTURE).marker("main").file;
    let folder = file.parent().expect("the folder of the fixtures");
    let map = SourceMap {
        from: folder.display().to_string(),
        to: "/nonexistent".into(),
    };
    let set = program.request(Request::SetSourceMaps(vec![map]));
    set.expect("source maps are taken");
}

const HIDDEN: &str = "expressions_hidden";

#[test]
fn a_local_function_in_scope_hides_members_of_its_name() {
    for (marker, rows) in [
        (
            "run",
            &[
                ("Score(i)", "ok\tint\t2"),
                ("Calc.Score(i)", "ok\tint\t100"),
                ("new[] { 1, 2 }.Select(it => Score(it)).Sum()", "ok\tint\t5"),
                ("new[] { 1, 2 }.Select(Score).Sum()", "ok\tint\t5"),
                ("Score(\"a\")", "error\terror CS1503"),
                ("nameof(Score)", "ok\tstring\t\"Score\""),
            ][..],
        ),
        ("lambda", &[("Score(it)", "ok\tint\t2")]),
        (
            "before",
            &[("Score(i)", "ok\tint\t400"), ("Add(i)", "ok\tint\t12")],
        ),
        (
            "block",
            &[
                ("Score(i)", "ok\tint\t6"),
                ("Add(i)", "ok\tint\t8"),
                ("base.Add(i)", "ok\tint\t12"),
            ],
        ),
        (
            "behind",
            &[("Score(i)", "ok\tint\t400"), ("Add(i)", "ok\tint\t12")],
        ),
        (
            "later",
            &[
                ("Score(1)", "ok\tint\t6"),
                ("ToString()", "ok\tstring\t\"local\""),
            ],
        ),
        // This lambda has not got what the function captured; the method is not meant all the same.
        (
            "apart",
            &[(
                "Score(1)",
                "error\tthe local function cannot be called here: what it captured is not in scope",
            )],
        ),
        ("each", &[("Shift(1)", "ok\tint\t7")]),
    ] {
        let sandbox = Sandbox::new();
        check(&stopped_in(&sandbox, HIDDEN, marker), rows);
    }
}

#[test]
fn a_local_function_in_scope_hides_types_and_those_of_other_blocks() {
    for (marker, rows) in [
        (
            "first",
            &[("Twice(3)", "ok\tint\t6"), ("Order(5).Id", "ok\tint\t10")][..],
        ),
        (
            "second",
            &[
                ("Twice(3)", "ok\tint\t1003"),
                ("new Order { Id = 4 }.Id", "ok\tint\t4"),
            ],
        ),
        (
            "last",
            &[
                (
                    "new[] { 1 }.Select(it => Order(it)).First().Id",
                    "ok\tint\t2",
                ),
                ("Twice(3)", "error\terror CS0103: the name `Twice`"),
            ],
        ),
    ] {
        let sandbox = Sandbox::new();
        check(
            &stopped_in(&sandbox, "expressions_hidden_types", marker),
            rows,
        );
    }
}

#[test]
fn conditions_and_messages_take_the_local_function_in_scope() {
    let marker = Fixture::named(HIDDEN).marker("run");
    let place = Place::Line {
        file: marker.file.display().to_string(),
        line: Line(marker.line),
        column: None,
    };
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch(HIDDEN)
        .with(|launch| {
            launch.breakpoints = vec![BreakpointSpec {
                condition: Some("Score(i) > 2".into()),
                log_message: Some("{Score(i)}".into()),
                ..BreakpointSpec::at(place)
            }];
        })
        .start();
    program.expect_exit(0);
    assert_eq!(traces(&program), ["3", "4"]);
}

#[test]
fn what_gets_its_type_from_its_place_fits_every_overload() {
    let sandbox = Sandbox::new();
    let program = stopped_in(&sandbox, "expressions_named", "main");
    check(
        &program,
        &[
            ("Overloads.Take(new() { 1 })", "error\terror CS0121"),
            ("Overloads.Take(new())", "error\terror CS0121"),
            ("Overloads.Take(new List<int> { 1 })", "ok\tint\t2"),
            ("\"a\"u8 + \"b\"", "error\terror CS0019"),
            ("pairs.ToString == null", "error\terror CS0019"),
        ],
    );
}

#[test]
fn a_static_member_that_cannot_be_called_hides_no_extension_method() {
    let sandbox = Sandbox::new();
    let program = stopped_in(&sandbox, FIXTURE, "main");
    check(
        &program,
        &[
            ("bag.Count()", "ok\tint\t3"),
            ("bag?.Max()", "ok\tint?\t3"),
            ("bag.Count(it => it > 1)", "ok\tint\t2"),
            ("Bag.Count", "ok\tint\t99"),
            ("bag.Count", "error\terror CS0176"),
            ("bag.Lost()", "error\terror CS1955"),
            ("bag.Made()", "error\terror CS0176"),
        ],
    );
}
