//! The state of the debugged program, and what a stop is.

use serde::{Deserialize, Serialize};

/// An operating system process id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProcessId(pub u32);

/// An operating system thread id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ThreadId(pub u32);

/// Names one stop. Frames and values handed out during a stop carry it, so that a stale one is refused, never read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StopId(pub u32);

/// A 1-based source line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Line(pub u32);

/// Where in its life the program is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// No program yet, or it has not reached the debugger.
    Starting,
    /// The program runs.
    Running,
    /// The whole program is stopped and can be inspected.
    Stopped,
    /// The program has ended.
    Exited,
    /// The program runs on without us.
    Detached,
}

/// How the debugger came to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// We started it, and end it when the session ends.
    Launched,
    /// It ran before us, and runs on after us.
    Attached,
}

/// A runtime version such as 9.0.1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuntimeVersion(pub String);

/// Everything a front end needs to know of a session's state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Where in its life the program is.
    pub state: State,
    /// The debugged process, once known.
    pub pid: Option<ProcessId>,
    /// How we came to it.
    pub origin: Option<Origin>,
    /// The program: its file or command line.
    pub program: Option<String>,
    /// The runtime's version.
    pub runtime: Option<RuntimeVersion>,
    /// Counts resumes: a stop with an equal or higher number came after that resume.
    pub resumes: u32,
    /// Why and where it is stopped, if it is.
    pub stop: Option<Stop>,
    /// How it ended, if it did.
    pub exit: Option<Exit>,
    /// The threads that the user has frozen: they do not run when the program does.
    #[serde(default)]
    pub frozen: Vec<ThreadId>,
    /// The threads on which an evaluation still runs that could not be ended.
    #[serde(default)]
    pub stuck: Vec<ThreadId>,
    /// Things a user should know, such as a slow memory path or a wait that had to be given up.
    pub notes: Vec<String>,
    /// End of the captured output so far.
    pub output_end: super::OutputCursor,
    /// How the program's memory was read so far.
    pub memory: MemoryReads,
}

/// How often the program's memory was read, for those who want to know why something is slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MemoryReads {
    /// Reads that the cache of the fast memory layer answered.
    pub cached: u64,
    /// Reads that went to the kernel.
    pub kernel: u64,
}

/// One stop of the whole program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stop {
    /// Names this stop.
    pub id: StopId,
    /// Why; several things can happen at once.
    pub reasons: Vec<StopReason>,
    /// The thread that reported it.
    pub thread: Option<ThreadId>,
    /// The exception in flight on that thread.
    pub exception: Option<super::ExceptionReport>,
    /// How many steps were made, if steps were asked for.
    #[serde(default)]
    pub steps: Option<super::StepsMade>,
    /// Other threads that have reached a breakpoint at the same time: the stop there is told after the next resume.
    #[serde(default)]
    pub queued: Vec<ThreadId>,
}

/// Why the program stopped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// Asked for at launch: the first line of the user's `Main`.
    Entry,
    /// A pause was asked for.
    Pause,
    /// An exception nobody catches; the program ends if it continues.
    UnhandledException,
    /// Breakpoints were hit.
    Breakpoint {
        /// Which; several can be at one place.
        ids: Vec<super::BreakpointId>,
    },
    /// The condition of a breakpoint failed or is no `bool`: whether to stop there cannot be told.
    ConditionFailed {
        /// Which breakpoint.
        id: super::BreakpointId,
        /// Its condition.
        condition: String,
        /// What is wrong with it.
        error: String,
    },
    /// An exception met a breakpoint.
    Exception {
        /// Which.
        ids: Vec<super::BreakpointId>,
        /// How far the exception has come.
        stage: super::ExceptionStage,
    },
    /// A step is complete.
    Step,
    /// The place that was to be run to is reached.
    RunTo,
    /// The next statement was set.
    Goto,
    /// The program called `Debugger.Break()`.
    DebuggerBreak,
    /// A `Debug.Assert` or `Debug.Fail` failed.
    AssertionFailed {
        /// Its message.
        message: Option<String>,
        /// Its detailed message.
        detail: Option<String>,
    },
    /// The program called `Environment.FailFast`, or the runtime gave up; the program ends if it continues.
    FailFast {
        /// What was said.
        message: Option<String>,
        /// The exception that was given as the reason: its type and message.
        exception: Option<String>,
    },
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// It returned or called exit with this code.
    Code(i32),
    /// A signal ended it.
    Signal {
        /// The signal's number.
        number: i32,
        /// Its name, such as `SIGABRT`.
        name: String,
        /// Whether we sent it to end the program.
        by_debugger: bool,
    },
    /// It is gone, and the system does not tell how.
    Unknown {
        /// Why the system does not tell.
        reason: String,
    },
}

impl Exit {
    /// The code a shell would show: the program's own, or 128 + the signal.
    pub fn shell_code(&self) -> Option<i32> {
        match self {
            Exit::Code(code) => Some(*code),
            Exit::Signal { number, .. } => Some(128 + number),
            Exit::Unknown { .. } => None,
        }
    }
}
