//! A program of some 300 modules, with and without breakpoints that wait for other ones.

use host::api::{BreakpointSpec, Line, Place};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::Outcome;
use crate::figures::Figure;
use crate::program::{Memory, Program, breakpoint, launch};

const ROUNDS: usize = 22;
const PENDING: u32 = 100;

/// Bare runs, launches to a stop, and launches with breakpoints that no module has.
pub(crate) fn pending(sandbox: &Sandbox) -> Outcome {
    let fixture = Fixture::named("bench_modules");
    let stop = || vec![breakpoint(&fixture, "loaded")];
    let mut waiting = stop();
    waiting.extend((1..=PENDING).map(nowhere));
    let few = launch(&fixture, &[], stop());
    let many = launch(&fixture, &[], waiting);
    let mut bare = Figure::time("modules.bare");
    let mut launched = Figure::time("modules.stop");
    let mut with_pending = Figure::time("modules.pending");
    for round in 0..ROUNDS {
        bare.timed(|| {
            let program = sandbox.bare_fixture(&fixture).start();
            program.line();
            Ok::<_, String>(program)
        })?;
        // What runs behind a bare program meets a quieter machine than what runs behind a debugged one.
        let mut pair = [(&mut launched, &few), (&mut with_pending, &many)];
        if !round.is_multiple_of(2) {
            pair.reverse();
        }
        for (figure, wanted) in pair {
            figure.timed(|| Program::launch(sandbox, Memory::Fast, wanted.clone()))?;
        }
    }
    bare.print();
    launched.print();
    with_pending.print();
    Ok(())
}

/// A breakpoint on a line or a method that does not exist.
fn nowhere(number: u32) -> BreakpointSpec {
    BreakpointSpec::at(if number.is_multiple_of(2) {
        Place::Line {
            file: format!("/nowhere/Nothing{number}.cs"),
            line: Line(number),
            column: None,
        }
    } else {
        Place::Function {
            name: format!("Nowhere.Nothing{number}.Method"),
        }
    })
}
