//! What a name means where something else of that name is near: local functions of other methods, members that cannot be called.

use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

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
        check(&stopped_in(&sandbox, "expressions_named", marker), rows);
    }
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
