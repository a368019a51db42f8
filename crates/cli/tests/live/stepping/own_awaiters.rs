//! Steps into and out of what an `await` calls in an awaiter of the program's own, and out of async methods that return a
//! type of its own.

use host::api::{Request, StepKind, StopReason};
use testkit::sandbox::Sandbox;

use super::walk::{assert_at, here, launch_to, step};

const FIXTURE: &str = "step_awaiters";

#[test]
fn a_step_out_of_what_an_await_calls_ends_in_its_statement() {
    let places = ["get_awaiter", "is_completed", "on_completed", "get_result"];
    for kind in [StepKind::Out, StepKind::Over] {
        let sandbox = Sandbox::new();
        let program = launch_to(&sandbox, FIXTURE, &[], &places);
        for from in places {
            assert_at(&program, FIXTURE, from);
            // Over the braces and statements that are left in it.
            loop {
                step(&program, kind);
                let stop = program.status().stop.expect("a stop");
                assert_eq!(stop.reasons, [StopReason::Step], "from {from}");
                if here(&program).contains("await") {
                    break;
                }
                assert_eq!(kind, StepKind::Over, "from {from}");
            }
            assert_at(&program, FIXTURE, "own");
            program.request(Request::Continue).expect("continues");
            program.settle();
        }
        program.expect_exit(0);
    }
}

#[test]
fn a_step_into_an_await_leads_through_the_awaiter_to_what_follows() {
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, FIXTURE, &[], &["own"]);
    let mut visited: Vec<String> = Vec::new();
    while !here(&program).contains("return found;") && visited.len() < 60 {
        visited.push(
            here(&program)
                .split_whitespace()
                .skip(1)
                .collect::<Vec<_>>()
                .join(" "),
        );
        step(&program, StepKind::Into);
    }
    let mut rest = visited.iter();
    for wanted in [
        "int found = await new Own();",
        "return this; }",
        "int found = await new Own();",
        "return false; } }",
        "int found = await new Own();",
        "Program.Told.Enqueue(goesOn);",
        "int found = await new Own();",
        "return 1; }",
        "int found = await new Own();",
        "await new Captures();",
        "int number = 2;",
        "await new Captures();",
    ] {
        assert!(rest.any(|it| it == wanted), "{wanted} in {visited:#?}");
    }
}

#[test]
fn a_step_out_of_a_method_with_a_builder_of_its_own_ends_where_it_is_awaited() {
    leave_work("step_builder", &["first", "second"]);
    leave_work("step_builder_bare", &["first"]);
}

/// Steps out of, and over the end of, what is called at one place after the other.
fn leave_work(fixture: &str, ends: &[&str]) {
    for kind in [StepKind::Out, StepKind::Over] {
        let sandbox = Sandbox::new();
        let program = launch_to(&sandbox, fixture, &[], &["work"]);
        for to in ends {
            assert_at(&program, fixture, "work");
            step(&program, kind);
            if kind == StepKind::Over {
                // The end of the method.
                step(&program, kind);
            }
            let stop = program.status().stop.expect("a stop");
            assert_eq!(stop.reasons, [StopReason::Step], "to {to}");
            assert_at(&program, fixture, to);
            program.request(Request::Continue).expect("continues");
            program.settle();
        }
        program.expect_exit(0);
    }
}
