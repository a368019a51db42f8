//! The command line as a person types it; its help is the reference.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::Styles;
use clap::builder::styling::AnsiColor;
use clap::{Args, Parser, Subcommand};
use host::api::{Error, ErrorCode};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// A debugger for .NET programs on Linux: for AI agents, editors and people.
#[derive(Debug, Parser)]
#[command(name = "ndbg", version, styles = STYLES, after_help = ENVIRONMENT, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const ENVIRONMENT: &str = "\
Exit codes:
    0    success; of `run`: the program returned 0
    1    `doctor` found something that stops debugging
    2    the command line makes no sense
    125  ndbg itself failed
         `run`, `debug` and `attach` have more, see their --help

Environment:
    DOTNET_ROOT         the .NET to use; else dotnet is looked for in PATH and the usual folders
    NDBG_LOG            what to log to standard error: error, warn (default), info, debug, trace
    NDBG_FAST_MEMORY=0  reads the program's memory the slow way, to rule out a fault of the fast one";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Runs a program under the debugger and explains the exception that ends it
    Run(RunArguments),
    /// Starts a program or project under the debugger and asks for commands, as gdb does
    Debug(crate::debug::DebugArguments),
    /// Attaches to a running program and asks for commands
    Attach(crate::debug::AttachArguments),
    /// Lists the .NET processes that a debugger can be attached to, and why not to others
    #[command(after_help = PS_EXIT)]
    Ps {
        /// Prints JSON for programs
        #[arg(long)]
        json: bool,
    },
    /// Finds what would stop debugging on this machine and says what to do about it
    #[command(after_help = DOCTOR_EXIT)]
    Doctor {
        /// Prints JSON for programs
        #[arg(long)]
        json: bool,
    },
    /// Shows what the symbols of an assembly or a PDB know, or what a breakpoint on a line would bind to
    Symbols(crate::symbols::SymbolsArguments),
    /// Serves AI agents over the Model Context Protocol, on standard input and output or over HTTP
    #[command(after_help = MCP_EXIT)]
    Mcp(crate::mcp::Mcp),
    /// Serves editors over the Debug Adapter Protocol, on standard input and output
    #[command(after_help = DAP_EXIT)]
    Dap(crate::dap::Dap),
    /// Prints a script that completes ndbg's arguments in a shell
    #[command(after_help = COMPLETIONS)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Runs a debugger for one program (internal)
    #[command(hide = true)]
    Host,
    /// Lends this terminal to a program that an editor debugs (internal)
    #[command(hide = true)]
    Terminal {
        /// Who waits for it
        name: String,
    },
}

const PS_EXIT: &str = "\
Processes of other users are listed as far as they can be seen.

Exit codes:
    0    the list was printed, even if it is empty
    125  ndbg itself failed";

const DOCTOR_EXIT: &str = "\
Exit codes:
    0    programs can be debugged here, maybe with something missing (see the warnings)
    1    programs cannot be debugged here
    125  ndbg itself failed";

const MCP_EXIT: &str = "\
Runs until the client closes standard input (with --http: for ever) or a signal comes; everything launched is then
ended and everything attached is released.

Over HTTP clients share the debugged programs. Each request needs the token, also on this machine: the random one that
is printed, the one in --token-file, or the one in the variable NDBG_MCP_TOKEN.

Exit codes:
    0    the client is gone
    2    the command line makes no sense, or the token cannot be used
    129, 130, 143  SIGHUP, SIGINT, SIGTERM
    125  ndbg itself failed";

const DAP_EXIT: &str = "\
One connection debugs one program. When the client is gone, a launched program is ended and an attached one is
released.

Exit codes:
    0    the client is gone
    129, 130, 143  SIGHUP, SIGINT, SIGTERM
    125  ndbg itself failed";

const COMPLETIONS: &str = "\
For bash:   ndbg completions bash > ~/.local/share/bash-completion/completions/ndbg
For zsh:    ndbg completions zsh > a file named _ndbg in a folder of $fpath
For fish:   ndbg completions fish > ~/.config/fish/completions/ndbg.fish";

#[derive(Debug, Args)]
#[command(after_help = RUN_EXIT, override_usage = "ndbg run [OPTIONS] PROGRAM [--] [ARGS]...")]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) program: ProgramArguments,
}

/// What is started, and how.
#[derive(Debug, Args)]
pub(crate) struct ProgramArguments {
    /// A .dll, an executable, a project or a folder with one (built first), then its own arguments
    // One list, because what follows the program is its own even if it looks like an option of ours.
    #[arg(required = true, trailing_var_arg = true, value_names = ["PROGRAM", "ARGS"])]
    command: Vec<OsString>,
    /// Working folder of the program
    #[arg(long, value_name = "FOLDER")]
    pub(crate) cwd: Option<PathBuf>,
    /// Sets a variable in the program's environment; NAME alone removes it
    #[arg(long = "env", short = 'e', value_name = "NAME[=VALUE]", value_parser = variable)]
    pub(crate) env: Vec<(String, Option<String>)>,
    /// Build configuration of a project
    #[arg(long, short = 'c', value_name = "NAME", default_value = "Debug")]
    pub(crate) configuration: String,
    /// Framework of a project that targets several, such as net9.0
    #[arg(long, short = 'f', value_name = "NAME")]
    pub(crate) framework: Option<String>,
}

const RUN_EXIT: &str = "\
The program has ndbg's own console. If an exception that nobody catches ends it, ndbg prints the exception and
its stack to standard error, then lets the program end as it would without a debugger. Ctrl-C goes to the program.

Exit codes:
    N      the program's own
    128+N  the program was ended by signal N (134: an unhandled exception)
    2      the command line makes no sense
    125    ndbg itself failed
    126    the program was found, but cannot be built, run or debugged
    127    there is no such program";

impl ProgramArguments {
    /// The program and its arguments.
    pub(crate) fn command(&self) -> Result<(PathBuf, Vec<String>), Error> {
        let mut words = self.command.iter();
        let program = words.next().map(PathBuf::from).unwrap_or_default();
        let mut words = words.peekable();
        words.next_if(|word| *word == "--");
        let args: Result<Vec<String>, &OsString> = words
            .map(|word| word.to_str().map(str::to_owned).ok_or(word))
            .collect();
        let args = args.map_err(|word| {
            Error::new(
                ErrorCode::InvalidParameter,
                format!("the argument {word:?} is not UTF-8, and .NET programs take no other"),
            )
        })?;
        Ok((program, args))
    }
}

/// `NAME=VALUE`, or `NAME` to remove it.
fn variable(text: &str) -> Result<(String, Option<String>), String> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (text, None),
    };
    if name.is_empty() {
        return Err("a variable needs a name".into());
    }
    Ok((name.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[track_caller]
    fn check_run(line: &[&str], program: &str, args: &[&str]) {
        let line = ["ndbg", "run"].iter().chain(line);
        match Arguments::try_parse_from(line).expect("it parses").command {
            Command::Run(run) => {
                let (found, rest) = run.program.command().expect("UTF-8");
                assert_eq!(found, PathBuf::from(program));
                assert_eq!(rest, args);
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn everything_behind_the_program_is_its_own() {
        check_run(&["a.dll"], "a.dll", &[]);
        check_run(&["a.dll", "--", "x", "--y"], "a.dll", &["x", "--y"]);
        check_run(
            &["a.dll", "-e", "A=1", "--help"],
            "a.dll",
            &["-e", "A=1", "--help"],
        );
        check_run(&["a.dll", "--", "x", "--", "y"], "a.dll", &["x", "--", "y"]);
        check_run(&["a.dll", "--", "--"], "a.dll", &["--"]);
        check_run(
            &["-e", "A=1", "--cwd", "/", "a.dll", "", "a b"],
            "a.dll",
            &["", "a b"],
        );
        check_run(&["--", "-odd.dll", "x"], "-odd.dll", &["x"]);
    }

    #[test]
    fn variables_are_set_emptied_and_removed() {
        let set = |value: &str| ("A".to_owned(), Some(value.to_owned()));
        assert_eq!(variable("A=b=c"), Ok(set("b=c")));
        assert_eq!(variable("A="), Ok(set("")));
        assert_eq!(variable("A"), Ok(("A".to_owned(), None)));
        assert!(variable("=b").is_err());
    }
}
