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
