//! Development commands: `cargo xtask codegen | dotnet | fixtures | test | demo | bench | soak`.
#![forbid(unsafe_code)]
#![allow(
    clippy::print_stdout,
    reason = "a command's results go to standard output"
)]

mod bench;
mod codegen;
mod demo;
mod dotnet;
mod fixtures;
mod fuzz;
mod lock;
mod soak;
mod test;
mod ui;
mod workspace;

use std::{env, process::ExitCode};

use anyhow::{Result, bail};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  codegen     write the ICorDebug bindings: codegen cordebug <cordebug.idl> <corerror.h>
  dotnet      find a .NET, or make a private one; print its folder
  fixtures    compile the C# programs of fixtures/; print their folder
  test        check formatting and lints, run all tests, build the documentation
  demo        debug a small buggy program over MCP and print the conversation
  bench       measure what the debugger costs
  fuzz        run each fuzz target for a bounded time: fuzz [--write] [SECONDS] [TARGET …]
  soak        stop a program 10,000 times in mixed ways and compare the counts: soak [STOPS]
";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match run(&arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<ExitCode> {
    let (command, rest) = match arguments {
        [command, rest @ ..] => (command.as_str(), rest),
        [] => ("help", arguments),
    };
    match command {
        "codegen" => codegen::run(&rest.iter().map(String::as_str).collect::<Vec<_>>())?,
        "dotnet" => dotnet::command(rest)?,
        "fixtures" => fixtures::command(rest)?,
        "demo" => demo::command(rest)?,
        "bench" => bench::command(rest)?,
        "fuzz" => fuzz::command(rest)?,
        "soak" => soak::command(rest)?,
        "test" => return test::command(rest),
        "help" | "--help" | "-h" => print!("{USAGE}"),
        other => bail!("there is no command {other}\n{USAGE}"),
    }
    Ok(ExitCode::SUCCESS)
}
