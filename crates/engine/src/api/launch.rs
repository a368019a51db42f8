//! How a session begins: launching a program or attaching to one.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::ProcessId;

/// Starts a program under the debugger.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Launch {
    /// A managed `.dll`, an apphost or single-file executable.
    pub program: PathBuf,
    /// Arguments of the program, each as it is: no shell looks at them.
    pub args: Vec<String>,
    /// Working directory; the front end's if absent.
    pub cwd: Option<PathBuf>,
    /// Changes to the inherited environment.
    pub env: BTreeMap<String, EnvChange>,
    /// Breakpoints that are there before the first line runs.
    #[serde(default)]
    pub breakpoints: Vec<super::BreakpointSpec>,
    /// Exception breakpoints that are there from the start.
    #[serde(default)]
    pub exceptions: Vec<super::ExceptionSpec>,
    /// Leaves code optimised where its compiler wants that; else the user's code is compiled for debuggers.
    #[serde(default)]
    pub keep_optimized: bool,
    /// Runs the program without a debugger: it can be ended, and its output and exit are told, but nothing else.
    #[serde(default)]
    pub no_debug: bool,
    /// Stops at the first line of the user's `Main`.
    pub stop_at_entry: bool,
    /// Where the program's standard streams go.
    pub console: Console,
    /// Which process is to be debugged: the program itself or a .NET child of it.
    pub follow: Follow,
    /// Of a child that is followed: its end is told only when the launched program has ended too, which may have the last
    /// word of it, as a runner of tests has.
    #[serde(default)]
    pub await_launcher: bool,
    /// Where steps stop.
    #[serde(default)]
    pub steps: super::StepOptions,
    /// The front end's process group, joined by a program that shares its terminal.
    pub process_group: Option<i32>,
}

/// A change to one environment variable: JSON's `null` removes it.
pub type EnvChange = Option<String>;

/// Where the program's standard streams go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Console {
    /// Standard input is a pipe we write, output and error are captured.
    #[default]
    Capture,
    /// The program uses the front end's own three streams.
    Inherit,
}

/// Which process of a launch is debugged.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Follow {
    /// The launched program itself.
    #[default]
    Program,
    /// The first .NET process below the launched one that matches; the launched one is not debugged.
    ///
    /// Processes that do not match (the `dotnet` command line tool, compilers, build servers) run on untouched.
    Child {
        /// A part of the child's command line that must be present; any program that is not part of the SDK if absent.
        command_line: Option<String>,
    },
}

/// Attaches to a running program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attach {
    /// The process to attach to.
    pub pid: ProcessId,
    /// Where steps stop.
    #[serde(default)]
    pub steps: super::StepOptions,
}

impl Attach {
    /// Attaches to a process with everything else as usual.
    pub fn to(pid: ProcessId) -> Self {
        Self {
            pid,
            steps: super::StepOptions::default(),
        }
    }
}
