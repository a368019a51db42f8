//! What there is to say about a session: one value, told as structured data and as text for a reader.
//!
//! A [`Report`] is built from the engine's plain data ([`build`]) and knows nothing of MCP, so that the terminal uses
//! it too. Invariant: every string of the debugged program in it has gone through [`text`], so that both the
//! structured form and the rendered text are harmless and bounded.
#![forbid(unsafe_code)]

pub mod awaits;
pub mod breakpoints;
mod budget;
pub mod build;
pub mod evaluations;
pub mod exception;
pub mod failure;
pub mod gather;
pub mod inventory;
pub mod locks;
pub mod objects;
pub mod pace;
mod reader;
mod render;
mod shared;
pub mod similar;
pub mod source;
pub mod stack;
pub mod symbols;
pub mod testing;
pub mod text;
pub mod told;
pub mod variables;

pub use reader::Reader;
use schemars::JsonSchema;
use serde::Serialize;

use breakpoints::BreakpointEntry;
use exception::HandlerReport;
use stack::FrameReport;
use testing::TestsReport;
use variables::VariableEntry;

/// The state of one session, and what is new since the last report.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct Report {
    /// The session's id.
    pub session: String,
    /// Where in its life the program is.
    pub state: SessionState,
    /// The debugged process.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-minor" = true))]
    pub pid: Option<u32>,
    /// The program with its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-minor" = true))]
    pub program: Option<String>,
    /// Version of its .NET runtime.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-minor" = true))]
    pub runtime: Option<String>,
    /// `launched` (ends with the session) or `attached` (runs on after it).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-minor" = true))]
    pub origin: Option<&'static str>,
    /// How long a stop was waited for, if none came.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-minor" = true))]
    pub waited_ms: Option<u64>,
    /// What a slow start is doing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-minor" = true))]
    pub progress: Option<String>,
    /// Why and where it is stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopReport>,
    /// The last stop, if it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-minor" = true))]
    pub last_stop: Option<StopReport>,
    /// How it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<ExitReport>,
    /// Results of the tests that it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-minor" = true))]
    pub tests: Option<TestsReport>,
    /// Output since the last report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputReport>,
    /// Its threads, in a status.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-minor" = true))]
    pub threads: Vec<inventory::ThreadEntry>,
    /// Threads that there was no room for: `threads_get` tells them.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(extend("x-minor" = true))]
    pub more_threads: u32,
    /// Breakpoints that have changed since the last report; at the end, those that were never reached; in a status all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub breakpoints: Vec<BreakpointEntry>,
    /// Breakpoints that there was no room for: `breakpoint_list` tells them.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(extend("x-minor" = true))]
    pub more_breakpoints: u32,
    /// Things worth knowing, told once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-minor" = true))]
    pub notes: Vec<String>,
    /// What to call next.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-minor" = true))]
    pub next: Option<String>,
}

/// Where in its life a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SessionState {
    /// The program has not reached the debugger yet.
    #[default]
    Starting,
    /// The program runs.
    Running,
    /// The whole program is stopped.
    Stopped,
    /// The program has ended.
    Exited,
    /// The program runs on without the debugger.
    Detached,
    /// The program could not be started, or the debugger lost it.
    Failed,
}

/// One stop of the whole program.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct StopReport {
    /// Counts stops.
    pub id: u32,
    /// Why; several things can happen at once.
    pub reasons: Vec<Reason>,
    /// The thread that reported it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<u32>,
    /// Other threads that have reached a breakpoint at the same time: told after the next resume.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-minor" = true))]
    pub queued_threads: Vec<u32>,
    /// Whether the exception was thrown before and is thrown again.
    #[serde(skip_serializing_if = "is_false")]
    #[schemars(extend("x-minor" = true))]
    pub rethrown: bool,
    /// Steps that were made, if several were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<StepsReport>,
    /// The exception in flight, then its inner ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exceptions: Vec<ExceptionEntry>,
    /// Exceptions of the chain that are not told: `exception_get` tells all.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_exceptions: u32,
    /// Who will handle the exception.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handler: Option<HandlerReport>,
    /// The innermost frame of that thread and the user's own below it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<FrameReport>,
    /// Frames between those, which are not the user's code.
    #[serde(skip_serializing_if = "is_zero")]
    pub hidden_frames: u32,
    /// Whether the stack goes on: `stacktrace_get` tells all of it.
    #[serde(skip_serializing_if = "is_false")]
    pub more_frames: bool,
    /// Source around the first frame that has any; else where the exception was thrown, or what the thread waits for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub source: Vec<SourceLine>,
    /// The file of that place, if it was changed since the program was built: its lines are others now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-minor" = true))]
    pub changed_source: Option<String>,
    /// Who awaits the frame that was resumed after an await: its callers, in place of the frames below it. Which async methods the
    /// thread waits for, where none of its frames is the user's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-minor" = true))]
    pub awaits: Option<awaits::AwaitsReport>,
    /// Arguments and locals of that frame.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<VariableEntry>,
    /// Variables that are not told: `variables_get` tells all.
    #[serde(skip_serializing_if = "is_zero_u64")]
    pub more_variables: u64,
}

/// Why the program stopped.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Reason {
    /// Such as `breakpoint`, `step`, `pause`, `unhandled_exception`.
    pub kind: &'static str,
    /// The breakpoints that were hit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub breakpoints: Vec<u32>,
    /// What more there is to say, such as why a condition failed, or what a failed assertion says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

impl Reason {
    /// The kind of an exception that nobody catches.
    pub const UNHANDLED: &str = "unhandled_exception";
    /// The kind of an exception that was just thrown.
    pub const THROWN: &str = "exception_thrown";
    /// The kind of a program that gave up on its own.
    pub const FAIL_FAST: &str = "fail_fast";
    /// Somebody asked it to stop.
    pub const PAUSED: &str = "pause";
    /// The kind of an exception that left the user's code and is caught elsewhere.
    pub const USER_UNHANDLED: &str = "exception_user_unhandled";
}

/// How far a request for several steps has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct StepsReport {
    /// Steps that were made.
    pub made: u32,
    /// Steps that were asked for.
    pub asked: u32,
}

/// An exception or one of its inner ones.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ExceptionEntry {
    /// 0 for the outermost.
    pub depth: u32,
    /// Full type name.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Its message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The type whose own `Message` the exception has, which only running code can tell: `message` is then the text that
    /// it was made with.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-minor" = true))]
    pub message_overridden_by: Option<String>,
    /// Its `HResult`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hresult: Option<i32>,
    /// The user's own place that it came from first, if that is not where the program is stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-minor" = true))]
    pub thrown_at: Option<exception::TraceEntry>,
}

/// One line of source.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SourceLine {
    /// 1-based.
    pub line: u32,
    /// Its text.
    pub text: String,
    /// Whether this is the line the program is at.
    #[serde(skip_serializing_if = "is_false")]
    pub current: bool,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct ExitReport {
    /// The code a shell shows: the program's own, or 128 + the signal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// The signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// Whether the debugger ended it.
    #[serde(skip_serializing_if = "is_false")]
    pub by_debugger: bool,
    /// Why nothing is known of its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
}

/// Output of the program.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct OutputReport {
    /// The output in order.
    pub chunks: Vec<Chunk>,
    /// Bytes before it that are not shown.
    #[serde(skip_serializing_if = "is_zero_u64")]
    pub left_out: u64,
    /// How many of them are gone for good: only the newest output is kept.
    #[serde(skip_serializing_if = "is_zero_u64")]
    pub lost: u64,
    /// Where what is not shown begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out_from: Option<u64>,
    /// Bytes that were not UTF-8, shown as U+FFFD.
    #[serde(skip_serializing_if = "is_zero_u64")]
    pub invalid_bytes: u64,
    /// Position after it.
    pub cursor: u64,
}

/// Output of one stream.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Chunk {
    /// `stdout` or `stderr`.
    pub stream: &'static str,
    /// The text; control characters are escaped.
    pub text: String,
}

/// All sessions.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct Overview {
    /// One report each, oldest first.
    pub sessions: Vec<Report>,
    /// Whether some are told in short: `debug_status` with `session` tells one whole.
    #[serde(skip_serializing_if = "is_false")]
    #[schemars(extend("x-minor" = true))]
    pub shortened: bool,
    /// Sessions that there was no room for.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(extend("x-minor" = true))]
    pub left_out: u32,
}

/// A page of captured output.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct OutputPageReport {
    /// The session's id.
    pub session: String,
    /// The output in order; with a filter, matching lines only.
    pub chunks: Vec<Chunk>,
    /// Bytes before the page that are not shown.
    #[serde(skip_serializing_if = "is_zero_u64")]
    pub skipped: u64,
    /// How many of them are gone for good: only the newest output is kept.
    #[serde(skip_serializing_if = "is_zero_u64")]
    pub lost: u64,
    /// Whether the output cannot be read here, because the program was attached to.
    #[serde(skip_serializing_if = "is_false")]
    pub elsewhere: bool,
    /// Bytes that were not UTF-8, shown as U+FFFD.
    #[serde(skip_serializing_if = "is_zero_u64")]
    pub invalid_bytes: u64,
    /// How many lines matched the filter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matches: Option<u64>,
    /// Read on from here.
    pub cursor: u64,
    /// The end of the output so far.
    pub end: u64,
    /// Whether the program has closed its output: no more will come.
    pub closed: bool,
}

/// What became of text for the program's standard input.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct InputReport {
    /// The session's id.
    pub session: String,
    /// Bytes handed over.
    pub accepted: u64,
    /// Whether standard input was closed.
    pub closed: bool,
    /// What to call next.
    pub next: String,
}

/// .NET processes of this machine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct ProcessesReport {
    /// By process id.
    pub processes: Vec<ProcessEntry>,
    /// Processes that were not shown.
    #[serde(skip_serializing_if = "is_zero_u64")]
    pub left_out: u64,
    /// Processes whose command line does not contain the name that was asked for.
    #[serde(skip_serializing_if = "is_zero_u64")]
    pub others: u64,
}

/// One .NET process.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct ProcessEntry {
    /// Its process id.
    pub pid: u32,
    /// Version of its runtime.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// Its command line.
    pub command_line: String,
    /// Whose it is.
    pub user: String,
    /// Whether a debugger can be attached.
    pub attachable: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The session that debugs it already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// Something that can be told to a reader as text.
pub trait Render {
    /// The text for a reader: short, complete sentences where a person would use them.
    fn render_for(&self, reader: Reader) -> String;

    /// The text for an agent.
    fn render(&self) -> String {
        self.render_for(Reader::Agent)
    }
}

fn is_zero(value: &u32) -> bool {
    *value == 0
}

fn is_false(value: &bool) -> bool {
    !*value
}

/// A text without the blank lines at its end.
fn finish(mut out: String) -> String {
    out.truncate(out.trim_end().len());
    out
}

fn is_zero_u64(value: &u64) -> bool {
    *value == 0
}
