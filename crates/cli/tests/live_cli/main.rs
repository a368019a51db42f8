//! Live tests of the command line: `ndbg` as a person runs it, on real C# programs and a real runtime.
//!
//! Each test makes a sandbox first, which asserts at its end that no process, semaphore, pipe or socket is left.

mod attaching;
mod bad_programs;
mod listing;
mod project;
mod running;
mod symbols;

use std::process::{Child, Command, ExitStatus, Stdio};

use testkit::fixtures::{self, Fixture};
use testkit::ran::Ran;
use testkit::sandbox::Sandbox;

/// `ndbg` with these arguments, in a sandbox, on the .NET under test.
fn ndbg<'a>(sandbox: &Sandbox, arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = Command::new(fixtures::ndbg());
    command
        .args(arguments)
        .envs(fixtures::dotnet_environment())
        .env("DOTNET_ROOT", fixtures::dotnet_root())
        .stdin(Stdio::null());
    sandbox.adopt(&mut command);
    command
}

/// `ndbg run` of a fixture.
#[track_caller]
fn run(sandbox: &Sandbox, fixture: &str, arguments: &[&str]) -> Command {
    run_fixture(sandbox, &Fixture::named(fixture), arguments)
}

fn run_fixture(sandbox: &Sandbox, fixture: &Fixture, arguments: &[&str]) -> Command {
    let mut command = ndbg(sandbox, ["run"]);
    command.arg(fixture.dll()).arg("--").args(arguments);
    command.env("DOTNET_ROOT", fixture.dotnet_root());
    command
}

/// Waits for the end of a command; it is killed if that does not come.
#[track_caller]
fn wait(child: &mut Child) -> ExitStatus {
    let ended = testkit::eventually(|| match child.try_wait() {
        Ok(Some(status)) => Ok(status),
        Ok(None) => Err("it still runs".to_owned()),
        Err(error) => Err(error.to_string()),
    });
    ended.unwrap_or_else(|why| {
        // Not waited for below either: the sandbox sees to it.
        let _ = child.kill();
        panic!("waiting for ndbg: {why}")
    })
}
