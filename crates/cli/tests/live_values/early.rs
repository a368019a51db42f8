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
