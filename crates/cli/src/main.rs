//! The `ndbg` command: reads its arguments, sets up logging, hands over to one subcommand.
//!
//! Invariant: standard output holds only what was asked for (a table, JSON, a protocol, the program's own output);
//! everything else goes to standard error, and the exit code is one of those that `exit` documents.
#![forbid(unsafe_code)]

mod args;
mod dap;
mod debug;
mod doctor;
mod exit;
mod mcp;
mod output;
mod ps;
mod report;
mod run;
mod signals;
mod symbols;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use crate::args::{Arguments, Command};

fn main() -> ExitCode {
    let matches = Arguments::command().get_matches();
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let given = matches.subcommand().map(|(_, given)| given);
    log_to_stderr();
    let outcome = match arguments.command {
        Command::Run(arguments) => return run::run(arguments),
        Command::Debug(arguments) => return arguments.run(given).into(),
        Command::Attach(arguments) => return arguments.run(given).into(),
        Command::Ps { json } => ps::ps(json),
        Command::Doctor { json } => doctor::doctor(json),
        Command::Symbols(arguments) => symbols::symbols(&arguments),
        Command::Completions { shell } => completions(shell),
        Command::Mcp(mcp) => mcp.run().map(ExitCode::from),
        Command::Dap(dap) => dap.run().map(|()| ExitCode::SUCCESS),
        Command::Terminal { name } => host::terminal::lend(&name).map(ExitCode::from),
        Command::Host => host::serve().map(|never| match never {}),
    };
    outcome.unwrap_or_else(|error| exit::failed(&error))
}

/// Logs what `NDBG_LOG` asks for; standard output is never written.
fn log_to_stderr() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("NDBG_LOG")
        // rmcp warns of every error that a client is told, and of streams that a client opens twice.
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn,rmcp=error"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .init();
}

fn completions(shell: clap_complete::Shell) -> std::io::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "ndbg", &mut script);
    output::write(&script)?;
    Ok(ExitCode::SUCCESS)
}
