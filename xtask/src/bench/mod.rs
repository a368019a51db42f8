//! `cargo xtask bench`: what the debugger costs, as ratios measured in one run.
//!
//! `ndbg-bench`, a program of `testkit`, measures and prints samples; here they become figures with something to be
//! compared with and a budget. Nothing fails because the machine was slow: a budget that is not kept is told, not
//! enforced. With `--write` the table also goes to `docs/benchmarks.md`, with the day and the machine's shape.

mod figures;
mod history;
pub(crate) mod machine;
mod samples;
mod symbols;
mod table;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, bail, ensure};

use self::samples::Run;
use crate::{dotnet, fixtures::Fixtures, ui, workspace};

const USAGE: &str = "usage: cargo xtask bench [--dotnet DIR] [--write] [NAME …]";

/// The command itself.
pub(crate) fn command(arguments: &[String]) -> Result<()> {
    let benches = figures::benches();
    let mut folder = None;
    let mut write = false;
    let mut names = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--dotnet" => folder = Some(arguments.next().context(USAGE)?),
            "--write" => write = true,
            name if benches.contains(&name) => names.push(name),
            other => bail!("{other}: {USAGE}\nthe names are {}", benches.join(", ")),
        }
    }
    let dotnet = match folder {
        Some(folder) => dotnet::named(Path::new(folder))?,
        None => dotnet::set_up()?,
    };
    let mut chosen = benches;
    chosen.retain(|name| names.is_empty() || names.contains(name));
    let live = chosen.iter().any(|&name| name != symbols::NAME);
    let programs = if live { Some(build()?) } else { None };
    let fixtures = Fixtures::compile(dotnet)?;
    let mut run = Run::default();
    for name in chosen {
        ui::heading(name);
        let printed = match &programs {
            Some(programs) if name != symbols::NAME => measure(programs, &fixtures, name)?,
            _ => symbols::measure(&fixtures)?,
        };
        run.read(&printed)?;
    }
    let table = table::table(&run);
    let summary = table::summary(&run);
    print!("{table}\n{summary}\n");
    if write {
        remember(&fixtures.dotnet.version.to_string(), &table, &summary)?;
    }
    Ok(())
}

/// What is measured, and what measures.
struct Programs {
    ndbg: PathBuf,
    bench: PathBuf,
}

/// Builds both as users have them.
fn build() -> Result<Programs> {
    ui::heading("building ndbg and ndbg-bench");
    let status = workspace::cargo()
        .args([
            "build",
            "--release",
            "--package=cli",
            "--package=testkit",
            "--bins",
        ])
        .status()
        .context("cannot start cargo")?;
    ensure!(status.success(), "ndbg does not compile");
    let folder = workspace::target()?.join("release");
    Ok(Programs {
        ndbg: folder.join("ndbg"),
        bench: folder.join("ndbg-bench"),
    })
}

/// Runs one benchmark; what it printed.
fn measure(programs: &Programs, fixtures: &Fixtures, name: &str) -> Result<String> {
    let output = Command::new(&programs.bench)
        .arg(name)
        .envs(fixtures.environment()?)
        .env("NDBG_TEST_BIN", &programs.ndbg)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start {}", programs.bench.display()))?;
    ensure!(output.status.success(), "the benchmark {name} failed");
    String::from_utf8(output.stdout).context("the samples are no text")
}

/// Puts the run on top of `docs/benchmarks.md`.
fn remember(dotnet: &str, table: &str, summary: &str) -> Result<()> {
    let path = workspace::root().join("docs/benchmarks.md");
    let old = fs::read_to_string(&path).unwrap_or_default();
    let title = format!("{}, .NET {dotnet}", machine::today());
    let text = format!("{}; release build; {summary}.\n\n{table}", machine::shape());
    fs::write(&path, history::with_run(&old, &title, &text))
        .with_context(|| format!("cannot write {}", path.display()))?;
    ui::detail(&format!("written to {}", path.display()));
    Ok(())
}
