//! `ndbg debug` and `ndbg attach`: a prompt for people, and the same commands in scripts.

use std::path::PathBuf;

use clap::{ArgMatches, Args};
use host::api::{Launch, ProcessId};
use repl::{Script, Setup, Target};

use crate::args::ProgramArguments;
use crate::exit;

/// What `debug` and `attach` have in common.
#[derive(Debug, Args)]
pub(crate) struct ScriptArguments {
    /// Obeys the commands of a file first; can be given several times, in order with --ex
    #[arg(long = "command", short = 'x', value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Obeys a command first; can be given several times, in order with -x
    #[arg(long = "ex", value_name = "COMMAND")]
    commands: Vec<String>,
    /// Ends after these commands and asks nobody; without any, they are read from standard input
    #[arg(long)]
    batch: bool,
}

impl ScriptArguments {
    /// Files and commands in the order in which they stood, which the command line knows.
    fn scripts(&self, given: Option<&ArgMatches>) -> Vec<Script> {
        let places = |name| given.into_iter().flat_map(move |it| it.indices_of(name));
        let files = places("files").flatten();
        let commands = places("commands").flatten();
        let files = files.zip(self.files.iter().cloned().map(Script::File));
        let commands = commands.zip(self.commands.iter().cloned().map(Script::Command));
        let mut all: Vec<_> = files.chain(commands).collect();
        all.sort_by_key(|(place, _)| *place);
        all.into_iter().map(|(_, script)| script).collect()
    }
}

/// `ndbg debug`.
#[derive(Debug, Args)]
#[command(after_help = DEBUG, override_usage = "ndbg debug [OPTIONS] PROGRAM [--] [ARGS]...")]
pub(crate) struct DebugArguments {
    #[command(flatten)]
    program: ProgramArguments,
    #[command(flatten)]
    scripts: ScriptArguments,
    /// The terminal that the program uses instead of this one
    #[arg(long, value_name = "TTY")]
    tty: Option<PathBuf>,
}

/// `ndbg attach`.
#[derive(Debug, Args)]
#[command(after_help = ATTACH)]
pub(crate) struct AttachArguments {
    /// The process; `ndbg ps` lists those that can be attached to
    pid: u32,
    #[command(flatten)]
    scripts: ScriptArguments,
}

const DEBUG: &str = "\
The program is stopped at the first line of its Main. `help` at the prompt lists the commands, and docs/terminal.md
is their reference. While the program runs, what is typed is its input, and Ctrl-C stops it.

Exit codes: with --batch, or if standard input is no terminal,
    N      the program's own; 128+N if signal N ended it
    134    the commands ended at an exception that nobody catches: the program could only abort
    0      the commands ended before the program otherwise, which was then ended
    123    a command failed
    125    ndbg itself failed
    126    the program was found, but cannot be built, run or debugged
    127    there is no such program
A person who leaves the prompt gets 0, or N by `quit N`.";

const ATTACH: &str = "\
The program is stopped where it is, and runs on when ndbg leaves. `help` at the prompt lists the commands.

Exit codes: those of `ndbg debug`";

impl DebugArguments {
    /// Debugs a program; the exit code.
    pub(crate) fn run(self, given: Option<&ArgMatches>) -> u8 {
        let (program, args) = match self.program.command() {
            Ok(command) => command,
            Err(error) => {
                exit::tell(&error);
                return exit::USAGE;
            }
        };
        let ProgramArguments {
            cwd,
            env,
            configuration,
            framework,
            ..
        } = self.program;
        let launch = Launch {
            program,
            args,
            cwd,
            env: env.into_iter().collect(),
            ..Launch::default()
        };
        repl::run(Setup {
            target: Target::Launch {
                launch: Box::new(launch),
                configuration,
                framework,
                tty: self.tty,
            },
            scripts: self.scripts.scripts(given),
            batch: self.scripts.batch,
        })
    }
}

impl AttachArguments {
    /// Debugs a running program; the exit code.
    pub(crate) fn run(self, given: Option<&ArgMatches>) -> u8 {
        repl::run(Setup {
            target: Target::Attach(ProcessId(self.pid)),
            scripts: self.scripts.scripts(given),
            batch: self.scripts.batch,
        })
    }
}
