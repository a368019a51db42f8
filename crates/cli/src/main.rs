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
mod logging;
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
    // A host starts with every program, and has no arguments that would have to be understood.
    let mut words = std::env::args_os().skip(1);
    let is_host = words.next().is_some_and(|it| it == HOST) && words.next().is_none();
    logging::begin(!is_host);
    if is_host {
        return serve_as_host();
    }
    let matches = match Arguments::command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) if error.use_stderr() => error.exit(),
        // Help or the version, which was asked for: that it cannot be written is a failure as for any other answer.
        Err(text) => {
            let text = text.render();
            let text = if output::coloured() {
                text.ansi().to_string()
            } else {
                text.to_string()
            };
            let written = output::write(text.as_bytes());
            return written.map_or_else(|error| exit::failed(&error), |()| ExitCode::SUCCESS);
        }
    };
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let given = matches.subcommand().map(|(_, given)| given);
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
        Command::Host => return serve_as_host(),
    };
    outcome.unwrap_or_else(|error| exit::failed(&error))
}

/// The word that makes this program the host of one debugged program.
const HOST: &str = "host";

fn serve_as_host() -> ExitCode {
    let Err(error) = host::serve();
    exit::failed(&error)
}

fn completions(shell: clap_complete::Shell) -> std::io::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "ndbg", &mut script);
    output::write(&script)?;
    Ok(ExitCode::SUCCESS)
}
