//! `cargo xtask bench`: what the debugger costs, as ratios measured in one run.
//!
//! A benchmark is a function of [`BENCHES`]. With `--write` the table also goes to
//! `docs/benchmarks.md`, with the day and the machine's shape.

mod machine;
mod runs;
#[allow(
    dead_code,
    reason = "rates, sizes and budgets come with the debugger's own rows"
)]
mod stats;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, bail, ensure};

use self::stats::{Row, Value};
use crate::{dotnet, fixtures::Fixtures, ui, workspace};

const USAGE: &str = "usage: cargo xtask bench [--dotnet DIR] [--write] [NAME …]";

/// What a benchmark may use.
pub(crate) struct Context {
    fixtures: Fixtures,
    /// `ndbg`, built for release.
    #[allow(
        dead_code,
        reason = "the first benchmarks that need it come with the debugger"
    )]
    ndbg: PathBuf,
}

impl Context {
    /// The command that runs a fixture without a debugger.
    fn bare(&self, fixture: &str, arguments: &[&str]) -> Result<Command> {
        let dll = self
            .fixtures
            .folder
            .join(fixture)
            .join(format!("{fixture}.dll"));
        let mut command = Command::new(self.fixtures.dotnet.command());
        command
            .arg(dll)
            .args(arguments)
            .envs(self.fixtures.environment()?);
        Ok(command)
    }
}

type Bench = fn(&Context) -> Result<Vec<Row>>;

/// All benchmarks with the names that select them.
const BENCHES: &[(&str, Bench)] = &[("start", start)];

/// How long a program takes to its first line, without a debugger: what launches are compared with.
fn start(context: &Context) -> Result<Vec<Row>> {
    let measured = runs::median_of(11, || runs::to_first_line(&mut context.bare("hello", &[])?))?;
    let bare = Row::new("hello: bare run to its first line", Value::Time(measured));
    let mut rows = Vec::new();
    let apphost = context.fixtures.folder.join("hello/hello");
    if apphost.is_file() {
        let environment = context.fixtures.environment()?;
        let measured = runs::median_of(11, || {
            runs::to_first_line(Command::new(&apphost).envs(environment.iter().cloned()))
        })?;
        let row = Row::new("hello: the same from its apphost", Value::Time(measured));
        rows.push(row.compared_with(&bare));
    }
    rows.insert(0, bare);
    Ok(rows)
}

/// The command itself.
pub(crate) fn command(arguments: &[String]) -> Result<()> {
    let mut folder = None;
    let mut write = false;
    let mut names = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--dotnet" => folder = Some(arguments.next().context(USAGE)?),
            "--write" => write = true,
            name if BENCHES.iter().any(|(known, _)| *known == name) => names.push(name),
            other => {
                let known: Vec<_> = BENCHES.iter().map(|(name, _)| *name).collect();
                bail!("{other}: {USAGE}\nthe names are {}", known.join(", "));
            }
        }
    }
    let dotnet = match folder {
        Some(folder) => dotnet::named(Path::new(folder))?,
        None => dotnet::set_up()?,
    };
    let context = Context {
        ndbg: build()?,
        fixtures: Fixtures::compile(dotnet)?,
    };
    let mut rows = Vec::new();
    for (name, bench) in BENCHES {
        if names.is_empty() || names.contains(name) {
            ui::heading(name);
            rows.extend(bench(&context).with_context(|| format!("the benchmark {name} failed"))?);
        }
    }
    let table = stats::table(&rows);
    print!("{table}");
    if write {
        let path = workspace::root().join("docs/benchmarks.md");
        let text = document(&context.fixtures.dotnet.version.to_string(), &table);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        ui::detail(&format!("written to {}", path.display()));
    }
    Ok(())
}

/// Builds `ndbg` as users have it.
fn build() -> Result<PathBuf> {
    ui::heading("building ndbg");
    let status = workspace::cargo()
        .args(["build", "--release", "--package", "cli"])
        .status()
        .context("cannot start cargo")?;
    ensure!(status.success(), "ndbg does not compile");
    Ok(workspace::target()?.join("release/ndbg"))
}

fn document(version: &str, table: &str) -> String {
    format!(
        "# Benchmarks\n\n\
         Written by `cargo xtask bench --write`. Results are medians; ratios compare two rows of the \
         same run.\n\n\
         {}, {}, .NET {version}\n\n{table}",
        machine::today(),
        machine::shape(),
    )
}
