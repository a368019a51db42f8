//! Steps out of what hands out its results itself (async iterators, pooled ValueTasks) end with whoever takes them, also
//! if nobody awaits the result when it is there.

use host::api::{Request, StepKind, StopReason};
use testkit::sandbox::Sandbox;

use super::walk::{assert_at, launch_to, step};

const FIXTURE: &str = "step_taken";

#[test]
fn results_that_nobody_awaits_yet_are_followed_to_who_takes_them() {
    // Where a step begins, its kind, and where it ends: in the statement that takes the result, whether that was awaited
    // before or not.
    let expected = [
        ("first", StepKind::Over, "late"),
        ("second", StepKind::Over, "inside"),
        ("third", StepKind::Over, "soon"),
        ("done", StepKind::Out, "disposed"),
        ("value", StepKind::Out, "pooled_late"),
        ("value", StepKind::Out, "pooled_soon"),
    ];
    let sandbox = Sandbox::new();
    let traps = ["first", "second", "third", "done", "value"];
    let program = launch_to(&sandbox, FIXTURE, &[], &traps);
    for (from, kind, to) in expected {
        assert_at(&program, FIXTURE, from);
        step(&program, kind);
        let stop = program.status().stop.expect("a stop");
        assert_eq!(stop.reasons, [StopReason::Step], "from {from}");
        assert_at(&program, FIXTURE, to);
        program.request(Request::Continue).expect("continues");
        program.settle();
    }
    program.expect_exit(0);
}

#[test]
fn results_that_only_callbacks_are_told_of_lead_to_the_callbacks() {
    const CALLBACKS: &str = "step_callbacks";
    let expected = [
        (StepKind::Out, "told"),
        (StepKind::Over, "lambda"),
        (StepKind::Out, "completed"),
        (StepKind::Out, "async_lambda"),
    ];
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, CALLBACKS, &[], &["work"]);
    for (kind, to) in expected {
        assert_at(&program, CALLBACKS, "work");
        step(&program, kind);
        if kind == StepKind::Over {
            // The end of the method.
            step(&program, kind);
        }
        let stop = program.status().stop.expect("a stop");
        assert_eq!(stop.reasons, [StopReason::Step], "to {to}");
        // A lambda in braces begins with them.
        if super::walk::here(&program).trim_end().ends_with('{') {
            step(&program, StepKind::Over);
        }
        assert_at(&program, CALLBACKS, to);
        program.request(Request::Continue).expect("continues");
        program.settle();
    }
    program.expect_exit(0);
}

#[test]
fn results_that_nobody_takes_lead_to_where_their_tasks_are_chosen() {
    const CHOSEN: &str = "step_chosen";
    for kind in [StepKind::Out, StepKind::Over] {
        let sandbox = Sandbox::new();
        let program = launch_to(&sandbox, CHOSEN, &[], &["work"]);
        for to in ["two", "three"] {
            assert_at(&program, CHOSEN, "work");
            step(&program, kind);
            if kind == StepKind::Over {
                // The end of the method.
                step(&program, kind);
            }
            let stop = program.status().stop.expect("a stop");
            assert_eq!(stop.reasons, [StopReason::Step], "to {to}");
            assert_at(&program, CHOSEN, to);
            program.request(Request::Continue).expect("continues");
            program.settle();
        }
        program.expect_exit(0);
    }
}
