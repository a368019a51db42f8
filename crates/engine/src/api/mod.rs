//! The engine's API: plain data that crosses a process boundary.
//!
//! A front end sends [`Request`]s and gets one [`Reply`] or one [`Error`] for each, in order; in between it is told
//! [`Event`]s. Nothing here knows COM, JSON-RPC, MCP or DAP, and nothing here borrows: every type can be sent,
//! stored, compared and printed.
//!
//! Requests never wait for the program. `Continue` answers at once with the state `running`; the stop that follows
//! is an [`Event::Stopped`]. That is why `Pause`, `Status` and `Disconnect` are never blocked by a long wait.

mod breakpoints;
mod build;
mod error;
mod exceptions;
mod expressions;
mod inventory;
mod launch;
mod output;
mod source;
mod stack;
mod state;
mod stepping;
mod symbols;
mod testing;
mod values;

use serde::{Deserialize, Serialize};

pub use breakpoints::{
    AvailablePoint, BoundLocation, Breakpoint, BreakpointChange, BreakpointId, BreakpointSpec,
    BreakpointState, Place, SourceMap, Trace,
};
pub use build::{Diagnostic, Severity};
pub use error::{Details, Error, ErrorCode};
pub use exceptions::{
    ExceptionBreakpoint, ExceptionReport, ExceptionSpec, ExceptionStage, Flight, Handler, Then,
    TraceFrame,
};
pub use expressions::{
    Complete, CompletedName, Completions, Evaluate, Evaluated, EvaluatedValue, ExpressionError,
    NameKind,
};
pub use inventory::{AwaitedLock, LogMessage, ModuleReport, ThreadActivity, ThreadReport};
pub use launch::{Attach, Console, EnvChange, Follow, Launch};
pub use output::{OutputChunk, OutputCursor, OutputPage, OutputQuery, Stream};
pub use source::{SourceFile, SourceText};
pub use stack::{
    AsyncEnd, AsyncFrame, AsyncKind, AsyncStack, Block, BlockedOn, Frame, FrameKind, Source,
};
pub use state::{
    Exit, Line, MemoryReads, Origin, ProcessId, RuntimeVersion, State, Status, Stop, StopId,
    StopReason, ThreadId,
};

pub use stepping::{StepKind, StepOptions, StepTarget, StepsMade};
pub use symbols::{
    FoundSymbols, Symbol, SymbolKind, SymbolsQuery, TypeDescription, TypeMember, TypeQuery,
};
pub use testing::{TestFailure, TestResults};
pub use values::{
    BY_PROXY, BehindCut, FieldLayout, Label, MemoryBytes, ObjectId, ObjectReport, OmitReason,
    Omitted, OutgoingReference, SetVariable, Value, ValueKind, Variable, VariableKind,
    VariableScope, Variables, VariablesQuery, View,
};

/// What a front end may ask of an engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// Starts a program under the debugger. Once per engine.
    Launch(Launch),
    /// Attaches to a running program. Once per engine.
    Attach(Attach),
    /// Lets a stopped program run.
    Continue,
    /// Stops a running program; a no-op when it is stopped.
    Pause,
    /// Tells the state as it is now.
    Status,
    /// Reads captured output from a cursor on.
    Output(OutputQuery),
    /// The same for somebody who shows all of the output as it comes: while they go on asking, the program waits when it
    /// writes faster than they show it, and nothing is lost.
    DrainOutput(OutputQuery),
    /// Writes bytes to the program's standard input.
    Input {
        /// Text to write, as UTF-8.
        text: String,
        /// Closes standard input afterwards.
        close: bool,
    },
    /// The stack of a thread of the stopped program.
    Stack {
        /// The thread; the one that reported the stop if absent.
        thread: Option<ThreadId>,
        /// First frame wanted, 0 is the innermost.
        start: u32,
        /// At most this many frames.
        count: u32,
    },
    /// Who awaits what a thread of the stopped program runs, and what it waits for.
    AsyncStack {
        /// The thread; the one that reported the stop if absent.
        thread: Option<ThreadId>,
    },
    /// The exception in flight on a thread of the stopped program, whole.
    Exception {
        /// The thread; the one that reported the stop if absent.
        thread: Option<ThreadId>,
    },
    /// Sets a breakpoint; the same place set again changes the one that is there.
    SetBreakpoint(BreakpointSpec),
    /// Changes a breakpoint.
    ChangeBreakpoint {
        /// Which.
        id: BreakpointId,
        /// How.
        change: BreakpointChange,
    },
    /// Removes a breakpoint.
    RemoveBreakpoint(BreakpointId),
    /// All breakpoints.
    Breakpoints,
    /// Says where source files are that a compiler saw elsewhere, in place of what was said before. May come before the
    /// program does.
    SetSourceMaps(Vec<SourceMap>),
    /// Whether breakpoints are refused in source files that were changed since the program was built; they are set, with a
    /// note, unless this says otherwise. May come before the program does.
    RequireExactSource(bool),
    /// Sets an exception breakpoint; the same types set again change the one that is there.
    SetExceptionBreakpoint(ExceptionSpec),
    /// Whether exceptions that nobody catches stop the program, which they do unless this says otherwise.
    StopAtUnhandled(bool),
    /// From now on expressions, conditions, log messages and views run no code of the program and assign nothing, whatever
    /// they ask for. It is not taken back. May come before the program does.
    ForbidSideEffects,
    /// Evaluates C# expressions in a frame of the stopped program.
    Evaluate(Evaluate),
    /// Gives up the evaluation that is under way, if there is one. The program stays stopped as it is.
    CancelEvaluation,
    /// What could be written at a position of an expression.
    Complete(Complete),
    /// All managed threads of the stopped program.
    Threads,
    /// Keeps a thread stopped while the program runs, or lets it run again.
    Freeze {
        /// The thread.
        thread: ThreadId,
        /// Whether it stays stopped.
        frozen: bool,
    },
    /// All loaded modules.
    Modules,
    /// Symbols of all loaded modules by what is remembered of their names.
    Symbols(Box<SymbolsQuery>),
    /// A type of a loaded module, with its members.
    Type(Box<TypeQuery>),
    /// The text of a source file that a loaded module was compiled from.
    Source {
        /// Full path, the end of one, or a file name.
        file: String,
    },
    /// All source files that loaded modules with symbols were compiled from.
    SourceFiles,
    /// The statements in a range of lines of a source file.
    Statements {
        /// Full path, the end of one, or a file name.
        file: String,
        /// The first line.
        from: Line,
        /// The last line.
        to: Line,
    },
    /// Lets the stopped program run one step of a thread.
    Step {
        /// The thread; the one that reported the stop if absent.
        thread: Option<ThreadId>,
        /// How far.
        kind: StepKind,
        /// How many steps to make, at least 1. Whatever else stops the program ends them early; the stop tells how
        /// many were made.
        count: u32,
    },
    /// The variables of a frame of the stopped program, or what lies inside one.
    Variables(Box<VariablesQuery>),
    /// The one value that a path leads to, for which the getters on the way run; nothing else does. What can be opened
    /// further has a path of its own in the reply, which is good until the program continues.
    OpenValue(Box<VariablesQuery>),
    /// Sets a variable, field or element of the stopped program.
    SetVariable(Box<SetVariable>),
    /// Bytes of the stopped program's memory.
    ReadMemory {
        /// Where.
        address: u64,
        /// How many; at most 64 KiB are told.
        count: u32,
    },
    /// How the object that a path leads to lies in memory; of the query frame, path and stop count.
    InspectObject(Box<VariablesQuery>),
    /// Keeps the object that a path leads to alive and known over continues; the reply names it `$1` and so on.
    KeepObject(Box<VariablesQuery>),
    /// Lets go of a kept object, by its number.
    ReleaseObject(u64),
    /// Lets the stopped program run until any thread reaches a place, or something else stops it.
    RunTo(Place),
    /// Makes a statement of the innermost frame's method the next to run, without running anything.
    Goto {
        /// The thread; the one that reported the stop if absent.
        thread: Option<ThreadId>,
        /// The source file; that of the innermost frame if absent.
        file: Option<String>,
        /// The line on which the statement begins.
        line: Line,
        /// A column inside the wanted statement, from 1.
        column: Option<u32>,
    },
    /// The statements of the innermost frame's method on a line that can be made the next to run; answered with
    /// [`Reply::Statements`].
    GotoTargets {
        /// The thread; the one that reported the stop if absent.
        thread: Option<ThreadId>,
        /// The source file; that of the innermost frame if absent.
        file: Option<String>,
        /// The line on which they begin.
        line: Line,
    },
    /// The calls of the statement that a thread of the stopped program is at, in the order in which it makes them.
    StepTargets {
        /// The thread; the one that reported the stop if absent.
        thread: Option<ThreadId>,
    },
    /// Steps into one of these calls and over the others; where it is not made after all, over the statement.
    StepIntoTarget {
        /// The thread; the one that reported the stop if absent.
        thread: Option<ThreadId>,
        /// [`StepTarget::call`].
        call: u32,
    },
    /// Changes where steps stop.
    SetStepOptions(StepOptions),
    /// Ends the session: a launched program is ended, an attached one is left running as before.
    Disconnect {
        /// Overrides the default: `Some(true)` ends the program, `Some(false)` lets it run on.
        terminate: Option<bool>,
        /// Ends the program's child processes too, if the program is ended.
        children: bool,
    },
}

/// The answer to a [`Request`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// To everything that only changes or tells the state.
    Status(Box<Status>),
    /// To [`Request::Output`] and [`Request::DrainOutput`].
    Output(OutputPage),
    /// To [`Request::Input`]: how many bytes were handed to the program's standard input so far.
    Input {
        /// Bytes accepted by this request.
        accepted: u64,
    },
    /// To [`Request::SetBreakpoint`] and [`Request::ChangeBreakpoint`].
    Breakpoint {
        /// As it is now.
        breakpoint: Breakpoint,
        /// Whether it was there before.
        duplicate: bool,
    },
    /// To [`Request::SetExceptionBreakpoint`].
    ExceptionBreakpoint {
        /// As it is now.
        breakpoint: ExceptionBreakpoint,
        /// Whether it was there before.
        duplicate: bool,
    },
    /// To [`Request::Breakpoints`], [`Request::SetSourceMaps`], [`Request::RequireExactSource`] and [`Request::RemoveBreakpoint`]: those that are left.
    Breakpoints {
        /// At places in code.
        breakpoints: Vec<Breakpoint>,
        /// At exceptions.
        exceptions: Vec<ExceptionBreakpoint>,
    },
    /// To [`Request::AsyncStack`].
    AsyncStack(Box<AsyncStack>),
    /// To [`Request::Exception`]: `None` if there is none in flight on that thread.
    Exception(Option<Box<ExceptionReport>>),
    /// To [`Request::Threads`] and [`Request::Freeze`].
    Threads(Vec<ThreadReport>),
    /// To [`Request::Evaluate`], one for each expression, in order.
    Evaluated(Vec<Evaluated>),
    /// To [`Request::Complete`].
    Completions(Completions),
    /// To [`Request::Modules`].
    Modules(Vec<ModuleReport>),
    /// To [`Request::Symbols`].
    Symbols(Box<FoundSymbols>),
    /// To [`Request::Type`].
    Type(Box<TypeDescription>),
    /// To [`Request::Source`].
    Source(Box<SourceText>),
    /// To [`Request::SourceFiles`].
    SourceFiles(Vec<SourceFile>),
    /// To [`Request::StepTargets`].
    StepTargets(Vec<StepTarget>),
    /// To [`Request::Statements`], in order.
    Statements(Vec<AvailablePoint>),
    /// To [`Request::Variables`], [`Request::OpenValue`], [`Request::SetVariable`] and [`Request::KeepObject`].
    Variables(Box<Variables>),
    /// To [`Request::ReadMemory`].
    Memory(MemoryBytes),
    /// To [`Request::InspectObject`].
    Object(Box<ObjectReport>),
    /// To [`Request::Stack`].
    Stack {
        /// The stop these frames belong to.
        stop: StopId,
        /// The thread asked for.
        thread: ThreadId,
        /// The frames from `start` on.
        frames: Vec<Frame>,
        /// How many frames the stack has in all, as far as it was walked.
        total: u32,
        /// Whether the walk ended before the stack did.
        more: bool,
    },
}

/// What an engine tells without being asked, in the order it happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// The program stopped; it stays so until a request lets it run.
    Stopped(Box<Status>),
    /// The process of a launched program is there; its runtime is not yet.
    Starting(Box<Status>),
    /// The program runs.
    Running(Box<Status>),
    /// The program ended; its output has been read to the end.
    Exited(Box<Status>),
    /// The engine let go of the program, which runs on.
    Detached(Box<Status>),
    /// A breakpoint changed: bound, unbound, failed, switched off or on.
    Breakpoint(Breakpoint),
    /// A breakpoint logged its message instead of stopping.
    Trace(Trace),
    /// A module was loaded.
    ModuleLoaded {
        /// Its path, or a bare name for one that is not a file.
        module: String,
        /// Whether it counts as the user's code.
        user_code: bool,
    },
    /// A module was unloaded.
    ModuleUnloaded {
        /// Its path, or a bare name for one that is not a file.
        module: String,
    },
    /// A managed thread began.
    ThreadStarted(ThreadId),
    /// A managed thread ended.
    ThreadEnded(ThreadId),
    /// The program called `Debugger.Log`, or wrote with `Debug` or `Trace`.
    Log(LogMessage),
    /// There is output after the last cursor that was read. Told once until it is read.
    Output {
        /// The cursor of the end of the output so far.
        end: OutputCursor,
    },
    /// Progress of something slow, for a person to read.
    Progress {
        /// What is going on.
        message: String,
    },
}
