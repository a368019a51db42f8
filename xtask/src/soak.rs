//! `cargo xtask soak [--dotnet DIR] [STOPS]`: stops a program some 10,000 times in mixed ways and compares every count
//! with what the program itself counted.
//!
//! The work is done by a live test that makes a few hundred stops otherwise; it ends by itself, and each wait in it has
//! a deadline.

use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};

use crate::{dotnet, fixtures::Fixtures, ui, workspace};

const USAGE: &str = "usage: cargo xtask soak [--dotnet DIR] [STOPS]";

/// Stops made unless told otherwise.
const STOPS: u32 = 10_000;

/// The test that does it.
const TEST: &str = "stepping::soak::stops_of_mixed_kinds_are_counted_exactly";

/// The command itself.
pub(crate) fn command(arguments: &[String]) -> Result<()> {
    let mut folder = None;
    let mut stops = STOPS;
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--dotnet" => folder = Some(arguments.next().context(USAGE)?),
            number => match number.parse() {
                Ok(number) => stops = number,
                Err(_) => bail!("{number}: {USAGE}"),
            },
        }
    }
    let dotnet = match folder {
        Some(folder) => dotnet::named(Path::new(folder))?,
        None => dotnet::set_up()?,
    };
    let fixtures = Fixtures::compile(dotnet)?;
    ui::heading(&format!("at least {stops} stops"));
    let built = workspace::cargo()
        .args(["build", "--package=cli", "--bins"])
        .status()
        .context("cannot start cargo")?;
    ensure!(built.success(), "ndbg does not compile");
    let status = workspace::cargo()
        .args(["test", "--package=cli", "--test=live", "--"])
        .args(["--exact", TEST, "--nocapture"])
        .envs(fixtures.environment()?)
        .env("NDBG_SOAK_STOPS", stops.to_string())
        .status()
        .context("cannot start cargo")?;
    ensure!(status.success(), "a stop was lost, wrong, or too many");
    Ok(())
}
