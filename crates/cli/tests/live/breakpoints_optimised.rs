//! Breakpoints in code that stays optimised: what has no place of its own says so.

use host::api::BreakpointState;
use testkit::sandbox::Sandbox;

use crate::breakpoints_support::{at_function, at_marker, here, line, list, set};

/// Behind a call that returns something there is a place for a breakpoint only in code that is compiled for debuggers.
#[test]
fn lines_that_the_runtime_compiles_no_place_for_are_told_before_they_are_passed() {
    const OPTIMIZED: &str = "optimized_calls";
    let markers = ["held", "later", "last"];
    for keep in [true, false] {
        let sandbox = Sandbox::new();
        let program = sandbox
            .launch(OPTIMIZED)
            .env("DOTNET_TieredCompilation", "0")
            .with(|launch| {
                launch.keep_optimized = keep;
                launch.breakpoints = markers.map(|it| at_marker(OPTIMIZED, it)).into();
            })
            .start();
        let mut stops = Vec::new();
        while program.settle_exit().is_none() {
            stops.push(here(&program).1);
            program.cont();
        }
        program.expect_exit(0);
        let told = list(&program);
        let states: Vec<_> = told.iter().map(|it| it.state).collect();
        let wanted = if keep { &markers[..1] } else { &markers[..] };
        let bound = |marker: &&str| match wanted.contains(marker) {
            true => BreakpointState::Bound,
            false => BreakpointState::Failed,
        };
        assert_eq!(states, markers.each_ref().map(bound), "{told:#?}");
        let once: Vec<_> = wanted.iter().map(|it| line(OPTIMIZED, it)).collect();
        assert_eq!(stops, once.repeat(5), "optimised: {keep}");
        assert!(told[0].locations.iter().all(|it| it.may_be_passed == keep));
        if keep {
            let reason = told[2].reason.as_deref().unwrap_or_default();
            assert!(reason.contains("no code of its own"), "{reason}");
        }
    }
}

/// Behind its call it has run.
#[test]
fn a_statement_whose_only_place_is_behind_what_it_calls_is_refused() {
    let fixture = "bp_dissolved";
    for keep in [true, false] {
        let sandbox = Sandbox::new();
        let program = sandbox
            .launch(fixture)
            .with(|launch| {
                launch.keep_optimized = keep;
                launch.breakpoints = vec![at_marker(fixture, "put")];
            })
            .start();
        if keep {
            program.expect_exit(0);
            let reason = list(&program)[0].reason.clone().unwrap_or_default();
            assert!(reason.contains("no code of its own"), "{reason}");
        } else {
            program.wait_stop();
            assert_eq!(here(&program).1, line(fixture, "put"));
            program.cont();
            program.expect_exit(0);
        }
    }
}

/// Only the compiled code tells: a breakpoint there is refused by the runtime.
#[test]
fn a_brace_without_machine_code_says_so() {
    let fixture = "bp_dissolved";
    let sandbox = Sandbox::new();
    let program = sandbox
        .launch(fixture)
        .env("DOTNET_TieredCompilation", "0")
        .with(|launch| {
            launch.keep_optimized = true;
            launch.breakpoints = vec![at_marker(fixture, "worked")];
        })
        .start();
    program.wait_stop();
    let (brace, _) = set(&program, at_marker(fixture, "brace"));
    assert_eq!(brace.state, BreakpointState::Failed);
    let reason = brace.reason.expect("a reason");
    assert!(
        reason.contains("the optimiser has left no code of its own"),
        "{reason}"
    );
    program.cont();
    program.expect_exit(0);
}

/// Which case is taken, and whether the body of a loop runs, is not known where the method begins.
#[test]
fn methods_that_begin_with_a_switch_or_a_loop_stop_once_in_each_call() {
    let fixture = "bp_entered";
    let plain = ["entry", "two", "other", "one", "while", "while"];
    let machines = ["later", "later", "each", "each", "some"];
    for keep in [false, true] {
        let sandbox = Sandbox::new();
        let launch = sandbox.launch(fixture).stop_at_entry().with(|launch| {
            launch.keep_optimized = keep;
            // State machines that are optimised once more may have no place before their loops.
            let methods = ["Kind", "Down", "Later", "Each", "Some"].into_iter();
            let methods = methods.take(if keep { 2 } else { 5 });
            launch.breakpoints = methods
                .map(|it| at_function(&format!("Program.{it}")))
                .collect();
        });
        let program = launch.start();
        let mut stops = Vec::new();
        while program.settle_exit().is_none() {
            stops.push(here(&program).1);
            program.cont();
        }
        program.expect_exit(0);
        let expected = plain.iter().chain(machines.iter().filter(|_| !keep));
        let expected: Vec<_> = expected.map(|it| line(fixture, it)).collect();
        assert_eq!(stops, expected, "optimised: {keep}");
        let kind = &list(&program)[0];
        assert_eq!((kind.locations.len(), kind.hits), (3, 3), "{kind:#?}");
    }
}
