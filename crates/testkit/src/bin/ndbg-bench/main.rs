//! Measures what the debugger costs, for `cargo xtask bench`: `ndbg-bench NAME …`.
//!
//! Prints one line per figure on standard output: its name, its unit and all samples, separated by tabs and blanks.
//! What the figures are compared with and what they may cost is `xtask`'s business; this program only measures. What is
//! to be compared is measured in turns, so that a slow moment of the machine meets both sides.
//!
//! It needs what the live tests need (`NDBG_TEST_DOTNET`, `NDBG_TEST_FIXTURES`, `NDBG_TEST_BIN`), and fails if it leaves
//! anything behind.
#![forbid(unsafe_code)]
#![allow(
    clippy::print_stdout,
    reason = "the samples go to standard output, for the program that started us"
)]

mod dap;
mod figures;
mod looks;
mod mcp;
mod memory;
mod modules;
mod program;
mod start;
mod stops;

use std::error::Error;
use std::process::ExitCode;

use testkit::sandbox::Sandbox;

/// What a measurement comes to.
type Outcome = Result<(), Box<dyn Error>>;
/// Measures and prints.
type Measurement = fn(&Sandbox) -> Outcome;

/// All measurements with the names that select them.
const MEASUREMENTS: &[(&str, Measurement)] = &[
    ("start", start::launch),
    ("attach", start::attach),
    ("pause", stops::pause),
    ("step", stops::step),
    ("hits", stops::hits),
    ("conditions", stops::conditions),
    ("traces", stops::traces),
    ("stack", stops::stack),
    ("values", looks::values),
    ("memory", memory::all),
    ("mcp", mcp::server),
    ("modules", modules::pending),
    ("dap", dap::all),
];

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).collect();
    match run(&names) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(names: &[String]) -> Outcome {
    for name in names {
        let Some((_, measure)) = MEASUREMENTS.iter().find(|(known, _)| known == name) else {
            let known: Vec<_> = MEASUREMENTS.iter().map(|(name, _)| *name).collect();
            return Err(format!("there is no {name}; there are {}", known.join(", ")).into());
        };
        let sandbox = Sandbox::new();
        measure(&sandbox).map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(())
}
