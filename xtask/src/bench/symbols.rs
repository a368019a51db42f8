//! What reading symbols costs, beside System.Reflection.Metadata doing the same work in the same run.
//!
//! No program is debugged for it, so the measuring program is a plain benchmark. It is the engine's, which maps files.

use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};

use crate::{fixtures::Fixtures, workspace};

/// As `cargo xtask bench` knows it.
pub(crate) const NAME: &str = "symbols";

/// Runs the benchmark; what it printed.
pub(crate) fn measure(fixtures: &Fixtures) -> Result<String> {
    let output = workspace::cargo()
        .args(["bench", "--package=engine", "--bench=reflection_metadata"])
        .envs(fixtures.environment()?)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo")?;
    ensure!(output.status.success(), "the benchmark {NAME} failed");
    String::from_utf8(output.stdout).context("the samples are no text")
}
