//! Steps that leave async methods which nobody awaits, in code of the program that resumes them, and ones that fail.

use host::api::{Request, StepKind, StopReason};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use super::walk::{assert_at, launch_to, step};

const FIXTURE: &str = "step_resumed";

/// Makes a step and asserts that it ended on the line of a marker.
fn expect(program: &Debuggee<'_>, fixture: &str, kind: StepKind, to: &str) {
    step(program, kind);
    let stop = program.status().stop.expect("a stop");
    assert_eq!(stop.reasons, [StopReason::Step], "to {to}");
    assert_at(program, fixture, to);
}

fn cont(program: &Debuggee<'_>) {
    program.request(Request::Continue).expect("continues");
    program.settle();
}

#[test]
fn a_step_out_of_a_method_that_nobody_awaits_ends_in_the_code_that_resumed_it() {
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, FIXTURE, &[], &["void", "inner"]);
    for (from, ends) in [
        ("void", &["opened"][..]),
        ("inner", &["awaits", "opened"]),
        ("void", &["loop"]),
    ] {
        assert_at(&program, FIXTURE, from);
        for to in ends {
            expect(&program, FIXTURE, StepKind::Out, to);
        }
        cont(&program);
    }
    program.expect_exit(0);
}

#[test]
fn a_step_over_or_into_the_end_of_a_method_that_nobody_awaits_does_so_too() {
    for kind in [StepKind::Over, StepKind::Into] {
        let sandbox = Sandbox::new();
        let program = launch_to(&sandbox, FIXTURE, &[], &["void", "outer"]);
        for (from, between, to) in [
            ("void", "void_end", "opened"),
            ("outer", "fails", "opened"),
            ("void", "void_end", "loop"),
        ] {
            assert_at(&program, FIXTURE, from);
            expect(&program, FIXTURE, kind, between);
            expect(&program, FIXTURE, kind, to);
            cont(&program);
        }
        program.expect_exit(0);
    }
}

/// The thread may look for the result still, or be blocked already; the result is there before the method has returned.
#[test]
fn a_step_out_of_a_method_that_fails_ends_with_who_waits_for_it() {
    const FAILS: &str = "step_fails";
    for kind in [StepKind::Over, StepKind::Into, StepKind::Out] {
        let sandbox = Sandbox::new();
        let program = launch_to(&sandbox, FAILS, &[], &["fails"]);
        for _ in 0..20 {
            assert_at(&program, FAILS, "fails");
            expect(&program, FAILS, kind, "caught");
            cont(&program);
        }
        program.expect_exit(0);
    }
}

/// Who takes the result after all gets an exception, and the compiler's own handler of that method is no place to stop.
#[test]
fn a_step_out_of_a_method_that_fails_ends_where_what_it_throws_is_caught() {
    let sandbox = Sandbox::new();
    for (who, expected) in [("takes", "end"), ("awaits", "catch")] {
        let program = launch_to(&sandbox, "step_taken_failed", &[who], &["inside"]);
        assert_at(&program, "step_taken_failed", "inside");
        step(&program, StepKind::Out);
        assert_at(&program, "step_taken_failed", expected);
        program.cont();
        program.expect_exit(0);
    }
}
