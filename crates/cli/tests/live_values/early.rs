//! Variables that closures and state machines hold, before their declarations are reached.

use host::api::{Reply, Request};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use crate::support::{locals, stopped};

const UNASSIGNED: &str = "not assigned yet";

#[track_caller]
fn check(program: &Debuggee<'_>, expected: &[(&str, &str)]) {
    let all = locals(program);
    for (name, text) in expected {
        let found = all.iter().find(|it| it.name == *name);
        let found = found.unwrap_or_else(|| panic!("no {name}"));
        assert_eq!(found.value.text, *text, "{name}");
    }
}

fn on(program: &Debuggee<'_>) {
    program.cont();
    program.wait_stop();
}

#[test]
fn what_closures_and_state_machines_hold_is_not_told_before_it_is_assigned() {
    let sandbox = Sandbox::new();
    let markers = [
        "captured",
        "after_captured",
        "round",
        "set",
        "hoisted",
        "after_hoisted",
    ];
    let program = stopped(&sandbox, "values_early", &markers);
    check(
        &program,
        &[
            ("given", "1"),
            ("number", UNASSIGNED),
            ("text", UNASSIGNED),
            ("zero", UNASSIGNED),
        ],
    );
    // It can be given a value before the program does that.
    let set = host::api::SetVariable {
        stop: None,
        thread: None,
        frame: 0,
        path: "zero".into(),
        value: "0".into(),
        force: false,
        mask_secrets: false,
    };
    match program.request(Request::SetVariable(Box::new(set))) {
        Ok(Reply::Variables(_)) => {}
        other => panic!("{other:?}"),
    }
    check(&program, &[("zero", "0"), ("number", UNASSIGNED)]);
    on(&program);
    check(
        &program,
        &[
            ("given", "1"),
            ("number", "2"),
            ("text", "null"),
            ("zero", "0"),
        ],
    );
    // Each round has a closure of its own.
    for _ in 0..2 {
        on(&program);
        check(&program, &[("inner", UNASSIGNED), ("number", "2")]);
    }
    // A lambda has assigned it.
    on(&program);
    check(&program, &[("set", "0")]);
    on(&program);
    check(
        &program,
        &[
            ("given", "2"),
            ("first", "2"),
            ("late", UNASSIGNED),
            ("word", UNASSIGNED),
        ],
    );
    on(&program);
    check(&program, &[("first", "2"), ("late", "0"), ("word", "null")]);
    program.cont();
    program.expect_exit(0);
}

#[test]
fn what_iterators_hold_is_not_told_before_it_is_assigned() {
    let sandbox = Sandbox::new();
    let markers = ["begins", "goes_on", "inside", "left"];
    let program = stopped(&sandbox, "values_yields", &markers);
    check(
        &program,
        &[
            ("given", "3"),
            ("number", UNASSIGNED),
            ("word", UNASSIGNED),
            ("last", UNASSIGNED),
        ],
    );
    on(&program);
    check(
        &program,
        &[("number", "0"), ("word", "null"), ("last", UNASSIGNED)],
    );
    for round in ["0", "1"] {
        on(&program);
        // Not what the field has from the round before.
        check(
            &program,
            &[("round", round), ("number", "0"), ("inner", UNASSIGNED)],
        );
        // A `finally` is a method of its own, which knows nothing of what was assigned.
        on(&program);
        check(&program, &[("round", round), ("number", "0")]);
    }
}

#[test]
fn what_async_iterators_and_their_closures_hold_is_not_told_before_it_is_assigned() {
    let sandbox = Sandbox::new();
    let markers = ["later", "later_goes_on", "closure", "round", "closed"];
    let program = stopped(&sandbox, "values_yields", &markers);
    check(&program, &[("given", "4"), ("number", UNASSIGNED)]);
    on(&program);
    check(&program, &[("given", "4"), ("number", "0")]);
    on(&program);
    check(&program, &[("given", "2")]);
    // Each round has a closure of its own.
    for round in ["0", "1"] {
        on(&program);
        check(
            &program,
            &[
                ("round", round),
                ("captured", UNASSIGNED),
                ("text", UNASSIGNED),
                ("kept", UNASSIGNED),
            ],
        );
        on(&program);
        check(
            &program,
            &[
                ("captured", "0"),
                ("text", "null"),
                ("kept", if round == "0" { "7" } else { "8" }),
            ],
        );
    }
}

#[test]
fn what_an_optimised_iterator_does_not_keep_is_not_told_as_unassigned() {
    let sandbox = Sandbox::new();
    let markers = ["before", "after", "last", "round", "later"];
    let program = stopped(&sandbox, "values_unkept", &markers);
    let told = |name: &str| {
        let all = locals(&program);
        let found = all.into_iter().find(|it| it.name == name);
        found.map(|it| it.value.text).unwrap_or_default()
    };
    // Either its value or that it is gone, never that it has none.
    let lost = |name: &str| {
        let text = told(name);
        assert!(
            text.starts_with("not kept over the yield") || text.starts_with("the optimiser has"),
            "{name}: {text}"
        );
    };
    assert_eq!(told("number"), "21");
    assert_eq!(told("list"), "Count = 1 { 3 }");
    on(&program);
    lost("number");
    lost("list");
    assert_eq!(told("after"), "4");
    on(&program);
    lost("number");
    lost("after");
    assert_eq!(told("last"), UNASSIGNED);
    for _round in 0..2 {
        on(&program);
        lost("each");
        lost("some");
    }
    on(&program);
    lost("number");
}

#[test]
fn what_a_filter_declares_is_told_in_its_block_and_nowhere_else() {
    let sandbox = Sandbox::new();
    let markers = ["asked", "after", "each", "inner", "outer"];
    let program = stopped(&sandbox, "values_filtered", &markers);
    let names = || -> Vec<String> {
        let all = locals(&program);
        all.into_iter().map(|it| it.name).collect()
    };
    check(
        &program,
        &[
            ("error", "System.Exception: outer"),
            ("why", "Refused: refused 4"),
            ("number", "5"),
            ("sum", "9"),
        ],
    );
    on(&program);
    for gone in ["why", "number", "sum"] {
        assert!(!names().contains(&gone.to_owned()), "{gone}");
    }
    on(&program);
    check(&program, &[("code", "6"), ("same", "8")]);
    on(&program);
    check(&program, &[("inner", "7")]);
    assert!(!names().contains(&"outer".to_owned()));
    on(&program);
    check(&program, &[("outer", "7"), ("given", "\"y\"")]);
    assert!(!names().contains(&"inner".to_owned()));
}

#[test]
fn what_is_left_inside_of_another_region_leads_nowhere_else() {
    let sandbox = Sandbox::new();
    let markers = [
        "disposed",
        "disposed_after",
        "locked",
        "locked_after",
        "awaited",
        "awaited_after",
    ];
    let program = stopped(&sandbox, "values_left", &markers);
    check(&program, &[("when", UNASSIGNED)]);
    for late in ["2", "2", "1"] {
        check(&program, &[("late", UNASSIGNED), ("word", UNASSIGNED)]);
        on(&program);
        check(&program, &[("late", late), ("word", "\"word\"")]);
        program.cont();
        if late != "1" {
            program.wait_stop();
        }
    }
    program.expect_exit(0);
}
