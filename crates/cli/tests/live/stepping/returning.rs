//! Steps that leave a method end in its caller, whatever is run on the way.

use host::api::{BreakpointId, BreakpointSpec, Request, State, StepKind};
use testkit::debuggee::Debuggee;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use super::walk::{assert_at, frame, here, launch_to, place, step};

fn without_breakpoints(program: &Debuggee<'_>) {
    let only = Request::RemoveBreakpoint(BreakpointId(1));
    program.request(only).expect("removed");
}

#[test]
fn a_step_out_leaves_a_method_that_catches_with_a_filter() {
    let fixture = "out_of_filters";
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, fixture, &[], &["catches"]);
    without_breakpoints(&program);
    step(&program, StepKind::Out);
    assert_at(&program, fixture, "around");
    program.cont();
    program.expect_exit(0);
}

#[test]
fn a_step_into_the_framework_from_optimised_code_comes_back() {
    let fixture = "optimized_calls";
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch(fixture)
        .env("DOTNET_TieredCompilation", "0")
        .with(|launch| {
            launch.keep_optimized = true;
            launch.breakpoints = vec![BreakpointSpec::at(place(fixture, "cut"))];
        })
        .start();
    program.wait_stop();
    without_breakpoints(&program);
    step(&program, StepKind::Into);
    assert_at(&program, fixture, "substring");
    step(&program, StepKind::Into);
    assert_at(&program, fixture, "calls");
    program.cont();
    program.expect_exit(0);
}

#[test]
fn a_step_into_a_throw_in_optimised_code_ends_where_it_is_caught() {
    let fixture = "optimized_calls";
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch(fixture)
        .env("DOTNET_TieredCompilation", "0")
        .with(|launch| {
            launch.keep_optimized = true;
            launch.breakpoints = vec![BreakpointSpec::at(place(fixture, "refused"))];
        })
        .start();
    program.wait_stop();
    without_breakpoints(&program);
    for marker in ["throw", "caught"] {
        step(&program, StepKind::Into);
        assert_at(&program, fixture, marker);
    }
    program.cont();
    program.expect_exit(0);
}

#[test]
fn a_step_into_what_the_framework_calls_back_from_optimised_code_ends_there() {
    let fixture = "optimized_callbacks";
    let (into, over) = (StepKind::Into, StepKind::Over);
    let query = [
        "query", "twice", "query", "twice", "query", "twice", "query", "each",
    ];
    for (then, from, inside) in [
        (into, "await", ["get"].as_slice()),
        (into, "find", &["find", "twice", "find", "find"]),
        (into, "query", &query),
        (into, "each", &["add", "add", "add", "behind"]),
        // What comes next is called back, too, or is the statement itself.
        (over, "each", &["add", "add", "add", "behind"]),
        (over, "find", &["find", "find", "find"]),
    ] {
        let sandbox = Sandbox::new();
        let program = sandbox
            .launch(fixture)
            .env("DOTNET_TieredCompilation", "0")
            .with(|launch| {
                launch.keep_optimized = true;
                launch.breakpoints = vec![BreakpointSpec::at(place(fixture, from))];
            })
            .start();
        program.wait_stop();
        without_breakpoints(&program);
        let mut kind = StepKind::Into;
        for marker in inside {
            step(&program, kind);
            assert_at(&program, fixture, marker);
            kind = then;
        }
        program.cont();
        program.expect_exit(0);
    }
}

/// What is compiled without regard for debuggers has no place for where such an `await` suspends the method, and does not know at
/// its end any more whose task gets the result.
#[test]
fn steps_in_optimised_async_methods_stay_with_their_invocation() {
    let fixture = "optimized_awaits";
    let (into, over) = (StepKind::Into, StepKind::Over);
    let yields = ["yield", "returns", "end", "awaits"];
    let waits = ["returned", "end_of_value", "awaits_value"];
    for (from, first, then, inside) in [
        ("twice", over, over, yields.as_slice()),
        ("twice", over, into, &yields),
        ("waited", over, over, &waits),
        ("waited", over, into, &waits),
    ] {
        for tiers in ["0", "1"] {
            let sandbox = Sandbox::new();
            let program = sandbox
                .launch(fixture)
                .env("DOTNET_TieredCompilation", tiers)
                .with(|launch| {
                    launch.keep_optimized = true;
                    launch.breakpoints = vec![BreakpointSpec::at(place(fixture, from))];
                })
                .start();
            program.wait_stop();
            without_breakpoints(&program);
            let mut kind = first;
            for marker in inside {
                step(&program, kind);
                assert_at(&program, fixture, marker);
                kind = then;
            }
            program.cont();
            program.expect_exit(0);
        }
    }
}

/// The framework's code that takes the result is between both, and the runtime takes no optimised code for the user's.
#[test]
fn a_step_that_leaves_an_optimised_async_method_ends_where_its_result_is_taken_later() {
    let fixture = "optimized_awaits";
    for (from, kind) in [
        ("late", StepKind::Out),
        ("end_of_late", StepKind::Over),
        ("end_of_late", StepKind::Into),
    ] {
        for tiers in ["0", "1"] {
            let sandbox = Sandbox::new();
            let program = sandbox
                .launch(fixture)
                .env("DOTNET_TieredCompilation", tiers)
                .with(|launch| {
                    launch.keep_optimized = true;
                    launch.breakpoints = vec![BreakpointSpec::at(place(fixture, from))];
                })
                .start();
            program.wait_stop();
            without_breakpoints(&program);
            step(&program, kind);
            assert_at(&program, fixture, "awaits_late");
            program.cont();
            program.expect_exit(0);
        }
    }
}

#[test]
fn steps_into_optimised_async_iterators_go_into_their_bodies_for_each_value() {
    let fixture = "optimized_awaits";
    for tiers in ["0", "1"] {
        let sandbox = Sandbox::new();
        let program = sandbox
            .launch(fixture)
            .env("DOTNET_TieredCompilation", tiers)
            .with(|launch| {
                launch.keep_optimized = true;
                launch.breakpoints = vec![BreakpointSpec::at(place(fixture, "items"))];
            })
            .start();
        program.wait_stop();
        without_breakpoints(&program);
        let mut visited = Vec::new();
        while program.status().state == State::Stopped && visited.len() < 40 {
            visited.push(here(&program));
            step(&program, StepKind::Into);
        }
        for wanted in ["\"asked\"", "\"asked again\""] {
            let n = visited.iter().filter(|it| it.contains(wanted)).count();
            assert_eq!(n, 1, "{wanted} in {visited:#?}");
        }
        program.expect_exit(0);
    }
}

#[test]
fn a_step_out_of_a_method_that_throws_ends_where_that_is_caught() {
    let fixture = "out_by_exceptions";
    let cases = [
        ("throws", "catch"),
        ("cleans", "catch"),
        ("rethrows", "catch"),
        ("deepest", "recursed"),
    ];
    for (from, to) in cases {
        let sandbox = Sandbox::new();
        let program = launch_to(&sandbox, fixture, &[], &[from]);
        without_breakpoints(&program);
        step(&program, StepKind::Out);
        assert_at(&program, fixture, to);
        program.cont();
        program.expect_exit(0);
    }
}

#[test]
fn a_step_behind_a_filter_that_declines_ends_where_the_exception_is_caught() {
    let fixture = "filter_declines";
    for kind in [StepKind::Over, StepKind::Into, StepKind::Out] {
        let sandbox = Sandbox::new();
        let program = launch_to(&sandbox, fixture, &[], &["throws"]);
        without_breakpoints(&program);
        step(&program, StepKind::Over);
        assert_at(&program, fixture, "filter");
        step(&program, kind);
        assert_at(&program, fixture, "catch");
        program.cont();
        program.expect_exit(0);
    }
}

/// Newer compilers end the code of such lambdas with the brace of the method around them.
#[test]
fn the_closing_brace_of_a_method_is_no_line_of_its_lambdas() {
    let fixture = "step_braces";
    let sandbox = Sandbox::new();
    let program = launch_to(&sandbox, fixture, &[], &["disposes", "end"]);
    let end = Fixture::named(fixture).marker("end").line;
    let mut left = false;
    for _ in 0..10 {
        step(&program, StepKind::Over);
        let here = frame(&program, None);
        let line = here.source.expect("a line").line.0;
        assert_ne!(line, end, "{}", here.method);
        left = here.method.starts_with("Program.Run(");
        if left {
            break;
        }
    }
    assert!(left, "the lambda ends");
    program.cont();
    program.wait_stop();
    assert_at(&program, fixture, "end");
    assert_eq!(frame(&program, None).method, "Program.Main()");
    program.cont();
    program.expect_exit(0);
}
