//! The `finally` blocks of iterators, which the compiler makes methods of their own, are parts of the iterator for steps.

use std::fmt::Write;

use expect_test::expect_file;
use host::api::{BreakpointSpec, State, StepKind};
use testkit::debuggee::Debuggee;
use testkit::sandbox::Sandbox;

use super::walk::{frame, here, place, step};

const FIXTURE: &str = "step_yields";

/// Launches the fixture, to be stopped where an iterator goes on, and in the block of the one that is given up.
fn launch(sandbox: &Sandbox) -> Debuggee<'_> {
    let at = |marker, condition: &str| BreakpointSpec {
        condition: Some(condition.into()),
        ..BreakpointSpec::at(place(FIXTURE, marker))
    };
    let program = sandbox
        .launch(FIXTURE)
        .with(|launch| {
            launch.breakpoints = vec![at("row", "how < 3"), at("inner", "how == 3")];
        })
        .start();
    program.wait_stop();
    program
}

/// From each of these stops, steps to `Main` and where each one ends.
fn ways(program: &Debuggee<'_>, kind: StepKind) -> String {
    let mut told = String::new();
    while program.status().state != State::Exited {
        writeln!(told, "from {}", here(program).trim()).expect("written");
        loop {
            step(program, kind);
            let frame = frame(program, None);
            writeln!(told, "{} {}", here(program), frame.method).expect("written");
            if frame.method == "Program.Main()" {
                break;
            }
        }
        program.cont();
        program.settle();
    }
    told
}

#[test]
fn steps_over_go_through_the_finally_blocks_of_an_iterator() {
    let sandbox = Sandbox::new();
    let program = launch(&sandbox);
    expect_file!["walks/yields_over.txt"].assert_eq(&ways(&program, StepKind::Over));
}

#[test]
fn steps_into_come_back_from_finally_blocks_to_what_comes_next() {
    let sandbox = Sandbox::new();
    let program = launch(&sandbox);
    expect_file!["walks/yields_into.txt"].assert_eq(&ways(&program, StepKind::Into));
}

#[test]
fn a_step_out_of_a_finally_block_leaves_its_iterator() {
    let sandbox = Sandbox::new();
    let program = launch(&sandbox);
    expect_file!["walks/yields_out.txt"].assert_eq(&ways(&program, StepKind::Out));
}
