//! Targets that need a live program: live tests that go on for as long as they are told and end as libFuzzer does, with
//! lines of what they did.

use std::{
    io::{BufRead, BufReader},
    process::Stdio,
};

use anyhow::{Context as _, Result, ensure};

use super::record::Runs;
use crate::{dotnet, fixtures::Fixtures, workspace};

/// Each target with the test program and the test that does it.
const TARGETS: &[(&str, &str, &str)] = &[(
    "binder",
    "live_expressions",
    "mutations::whatever_is_asked_has_an_answer",
)];

/// The names of all.
pub(super) fn names() -> impl Iterator<Item = String> {
    TARGETS.iter().map(|(name, ..)| (*name).to_owned())
}

/// Whether a target is one of these.
pub(super) fn is_live(target: &str) -> bool {
    TARGETS.iter().any(|(name, ..)| *name == target)
}

/// Runs one target on the .NET that the tests use.
pub(super) fn run(target: &str, seconds: u32) -> Result<Runs> {
    let known = TARGETS.iter().find(|(name, ..)| *name == target);
    let (_, program, test) = known.with_context(|| format!("{target} is no live target"))?;
    let fixtures = Fixtures::compile(dotnet::set_up()?)?;
    let built = workspace::cargo()
        .args(["build", "--package=cli", "--bins"])
        .status()
        .context("cannot start cargo")?;
    ensure!(built.success(), "ndbg does not compile");
    let mut child = workspace::cargo()
        .args(["test", "--package=cli", "--test", program, "--"])
        .args(["--exact", test, "--nocapture"])
        .envs(fixtures.environment()?)
        .env("NDBG_FUZZ_SECONDS", seconds.to_string())
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start cargo")?;
    let mut runs = Runs::default();
    if let Some(stderr) = child.stderr.take() {
        for line in BufReader::new(stderr).split(b'\n') {
            let line = line.context("cargo cannot be heard")?;
            let line = String::from_utf8_lossy(&line);
            eprintln!("{line}");
            runs.read(&line);
        }
    }
    let status = child.wait().context("cargo cannot be waited for")?;
    ensure!(
        status.success(),
        "{target} failed: make a named test of the text that is named above"
    );
    ensure!(
        runs.executions > 0,
        "{target} ran, but did not say how often"
    );
    Ok(runs)
}
