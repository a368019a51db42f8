//! Development commands: `cargo xtask dotnet | fixtures | test | demo | bench`.
#![forbid(unsafe_code)]
#![allow(
    clippy::print_stdout,
    reason = "a command's results go to standard output"
)]

mod codegen;
mod dotnet;
mod fixtures;
mod lock;
mod ui;
mod workspace;

use std::{env, process::ExitCode};

use anyhow::{Result, bail};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  codegen     write the ICorDebug bindings: codegen cordebug <cordebug.idl> <corerror.h>
  dotnet      find a .NET, or make a private one; print its folder
  fixtures    compile the C# programs of fixtures/; print their folder
";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<()> {
    let (command, rest) = match arguments {
        [command, rest @ ..] => (command.as_str(), rest),
        [] => ("help", arguments),
    };
    match command {
        "codegen" => codegen::run(&rest.iter().map(String::as_str).collect::<Vec<_>>()),
        "dotnet" => dotnet::command(rest),
        "fixtures" => fixtures::command(rest),
        "help" | "--help" | "-h" => {
            print!("{USAGE}");
            Ok(())
        }
        other => bail!("there is no command {other}\n{USAGE}"),
    }
}
