//! Steps in code that the runtime compiles as it does without a debugger: quickly at first, with counters where there are loops.

use host::api::{BreakpointId, BreakpointSpec, Request, StepKind};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use super::walk::{assert_at, place, step};

/// Launches a fixture whose code stays as it is, runs it to a marker, and takes the breakpoint there away.
fn launch_kept<'s>(sandbox: &'s Sandbox, fixture: &str, from: &str) -> Debuggee<'s> {
    let program = sandbox
        .launch(fixture)
        .with(|launch| {
            launch.keep_optimized = true;
            launch.breakpoints = vec![BreakpointSpec::at(place(fixture, from))];
        })
        .start();
    program.wait_stop();
    let only = Request::RemoveBreakpoint(BreakpointId(1));
    program.request(only).expect("removed");
    program
}

/// Makes steps of a kind from one marker to the others.
#[track_caller]
fn check(fixture: &str, kind: StepKind, from: &str, markers: &[&str]) {
    let sandbox = Sandbox::new();
    let program = launch_kept(&sandbox, fixture, from);
    for marker in markers {
        step(&program, kind);
        assert_at(&program, fixture, marker);
    }
    program.cont();
    program.expect_exit(0);
}

/// Counters at the beginning of a block belong to no IL, so that they count to the statement before it.
#[test]
fn a_step_ends_at_no_statement_that_is_jumped_over() {
    let to_the_end = ["known", "add", "switch", "default", "if", "return"];
    for kind in [StepKind::Over, StepKind::Into] {
        check("tiered_blocks", kind, "fee", &to_the_end);
        check("tiered_blocks", kind, "throw", &["when", "catch", "return"]);
    }
    check("tiered_blocks", StepKind::Over, "wait", &["yield", "each"]);
}

/// The runtime's own code that throws is managed, but no frame of it is told.
#[test]
fn a_step_into_a_throw_ends_where_it_is_caught() {
    for (from, markers) in [
        ("plain", ["plain_caught"].as_slice()),
        ("made", &["make", "made", "made_caught"]),
        ("awaited", &["awaits", "awaited_caught"]),
    ] {
        check("tiered_throws", StepKind::Into, from, markers);
    }
}

/// Nobody awaits the method when it throws: who takes the result gets the exception.
#[test]
fn a_step_over_or_into_a_throw_ends_where_the_task_is_awaited_later() {
    for kind in [StepKind::Over, StepKind::Into] {
        check("tiered_throws", kind, "dropped", &["taken_caught"]);
    }
}

/// When a method returns whose call is the last of the lambda, nothing of the lambda is left to stop in.
#[test]
fn a_step_out_of_what_a_lambda_calls_last_ends_in_its_next_call() {
    let fixture = "optimized_callbacks";
    let (into, over) = (StepKind::Into, StepKind::Over);
    for then in [into, over] {
        let sandbox = Sandbox::new();
        let program = launch_kept(&sandbox, fixture, "tail");
        let mut kind = into;
        for _ in 0..3 {
            step(&program, kind);
            assert_at(&program, fixture, "tail");
            step(&program, into);
            assert_at(&program, fixture, "add");
            kind = then;
        }
        step(&program, kind);
        assert_at(&program, fixture, "after");
        program.cont();
        program.expect_exit(0);
    }
}

/// What the framework puts around an async iterator asks it for the next value.
#[test]
fn a_step_into_an_async_iterator_goes_through_what_is_around_it() {
    let fixture = "optimized_enumerated";
    for from in ["configured", "cancelled"] {
        let sandbox = Sandbox::new();
        let program = launch_kept(&sandbox, fixture, from);
        // What is enumerated, then the first value.
        step(&program, StepKind::Into);
        step(&program, StepKind::Into);
        assert_at(&program, fixture, "begins");
        program.cont();
        program.expect_exit(0);
    }
}
