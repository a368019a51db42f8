//! The tools: one table that registers, documents and runs them.
//!
//! A tool is a row of [`TOOLS`], an argument type whose documentation is the parameters' description, and an async
//! function from it to something that can be rendered. Nothing here knows rmcp: the server calls [`call`].

mod breakpoints;
mod console;
mod evaluate;
mod inspect;
mod launch;
mod processes;
mod run;
pub(crate) mod statement;
mod symbols;
mod values;

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use host::api::{Error, ErrorCode};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::arguments;
use crate::news::Over;
use crate::registry::Registry;
use crate::report::breakpoints::{BreakpointReport, BreakpointsReport};
use crate::report::evaluations::EvaluationsReport;
use crate::report::exception::ExceptionAnswer;
use crate::report::inventory::{ModulesReport, ThreadsReport};
use crate::report::objects::{MemoryReport, ObjectAnswer};
use crate::report::similar;
use crate::report::source::SourceReport;
use crate::report::stack::StackReport;
use crate::report::symbols::{SymbolsReport, TypeReport};
use crate::report::variables::{SetReport, VariablesReport};
use crate::report::{InputReport, OutputPageReport, Overview, ProcessesReport, Render, Report};
use crate::reporting::{self, Purpose};
use crate::schema::{self, JsonObject};
use crate::session::{DebugSession, Waited};

/// A tool of the server.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) nature: Nature,
    input: fn() -> JsonObject,
    output: fn() -> JsonObject,
    /// The type of its answer and those it is made of.
    pub(crate) answer: fn() -> BTreeMap<String, JsonObject>,
    /// The name of the first of them.
    pub(crate) answer_name: &'static str,
    run: fn(Call, JsonObject) -> Running,
}

type Running = Pin<Box<dyn Future<Output = Result<Answer, Error>> + Send>>;

/// What a client may believe of a tool: the annotations of MCP.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Nature {
    /// It changes nothing.
    pub(crate) read_only: bool,
    /// It can undo or lose something.
    pub(crate) destructive: bool,
    /// Calling it twice is calling it once.
    pub(crate) idempotent: bool,
    /// It touches more than the debugger: it runs programs, which can do anything.
    pub(crate) open_world: bool,
}

const LOOKS: Nature = Nature {
    read_only: true,
    destructive: false,
    idempotent: true,
    open_world: false,
};
const SETS: Nature = Nature {
    read_only: false,
    destructive: false,
    idempotent: true,
    open_world: false,
};
const STOPS: Nature = Nature {
    read_only: false,
    destructive: false,
    idempotent: true,
    open_world: false,
};
const RUNS_CODE: Nature = Nature {
    read_only: false,
    destructive: true,
    idempotent: false,
    open_world: true,
};
const ENDS: Nature = Nature {
    read_only: false,
    destructive: true,
    idempotent: true,
    open_world: false,
};

macro_rules! tool {
    ($name:ident, $title:literal, $nature:expr, $handler:path, $arguments:ty => $answer:ty, $description:expr) => {
        Tool {
            name: stringify!($name),
            title: $title,
            description: $description,
            nature: $nature,
            input: schema::input::<$arguments>,
            output: schema::output::<$answer>,
            answer: schema::definitions::<$answer>,
            answer_name: stringify!($answer),
            run: |call, arguments| {
                Box::pin(async move {
                    let arguments: $arguments = arguments::parse(stringify!($name), arguments)?;
                    let answer: $answer = $handler(&call, arguments).await?;
                    Answer::of(&answer)
                })
            },
        }
    };
}

/// Every tool, in the order of the reference.
#[rustfmt::skip]
pub(crate) static TOOLS: &[Tool] = &[
    tool!(debug_launch, "Launch a program", RUNS_CODE, launch::launch, launch::LaunchArguments => Report,
        "Starts a .NET program under the debugger and waits until it stops, ends or the time is up. \
         It stops at an unhandled exception by itself. Returns one stop report with the output so far."),
    tool!(debug_launch_test, "Debug tests", RUNS_CODE, launch::launch_test, launch::TestArguments => Report,
        "Runs the tests of a project (xunit, NUnit, MSTest; VSTest or Microsoft.Testing.Platform) under the debugger. \
         Stops where a test fails, with the assertion's exception in flight. Returns stop reports; the last one has the results."),
    tool!(debug_restart, "Restart", RUNS_CODE, launch::restart, run::WaitArguments => Report,
        "Launches the program of a session again, as a new session: built anew if it is a project, with the same settings \
         and the same breakpoints under their ids. Ends it first if it runs."),
    tool!(debug_attach, "Attach to a process", STOPS, launch::attach, launch::AttachArguments => Report,
        "Attaches to a running .NET program, which runs on. It is not ended when the session ends."),
    tool!(debug_continue, "Continue", RUNS_CODE, run::resume, run::WaitArguments => Report,
        "Lets a stopped program run and waits for the next stop, its end or the time to be up. Returns one stop report."),
    tool!(debug_step, "Step", RUNS_CODE, run::step, run::StepArguments => Report,
        "Runs a stopped program by one statement, or several, and waits for the stop. Returns one stop report; a \
         breakpoint or an exception on the way ends the step early."),
    tool!(debug_run_to, "Run to a place", RUNS_CODE, run::run_to, run::RunToArguments => Report,
        "Lets a stopped program run until a thread reaches a place, or something else stops it. Returns one stop report."),
    tool!(debug_goto, "Set the next statement", ENDS, run::goto, run::GotoArguments => Report,
        "Makes another statement of the current method the next to run; what is in between does not run."),
    tool!(debug_wait, "Wait for a stop", LOOKS, run::wait, run::WaitArguments => Report,
        "Waits for the next stop of a running program, its end or the time to be up, without changing anything. \
         Returns one stop report; at once if it is stopped or has ended."),
    tool!(debug_pause, "Pause", STOPS, run::pause, run::SessionArguments => Report,
        "Stops a running program where it is. Returns one stop report."),
    tool!(debug_status, "Status", LOOKS, run::status, run::SessionArguments => Overview,
        "Tells the state of all sessions or of one: running, stopped (why and where), or how it ended. Never waits."),
    tool!(debug_disconnect, "End a session", ENDS, launch::disconnect, launch::DisconnectArguments => Report,
        "Ends a session: a launched program is ended, an attached one is let go and runs on."),
    tool!(breakpoint_set, "Set a breakpoint", SETS, breakpoints::set, breakpoints::SetArguments => BreakpointReport,
        "Sets a breakpoint on a line, on a statement found by its text, or at the start of a method; also while the \
         program runs. Where no module has the place yet, it is set when one is loaded. The same place set again \
         changes the one that is there."),
    tool!(breakpoint_set_exception, "Set an exception breakpoint", SETS, breakpoints::set_exception,
        breakpoints::SetExceptionArguments => BreakpointReport,
        "Stops the program at exceptions of some types."),
    tool!(breakpoint_update, "Change a breakpoint", SETS, breakpoints::update, breakpoints::UpdateArguments => BreakpointReport,
        "Changes a breakpoint; what is not given stays."),
    tool!(breakpoint_remove, "Remove a breakpoint", ENDS, breakpoints::remove, breakpoints::RemoveArguments => BreakpointsReport,
        "Removes one breakpoint or all. Returns those that are left."),
    tool!(breakpoint_list, "List breakpoints", LOOKS, breakpoints::list, run::SessionArguments => BreakpointsReport,
        "Lists all breakpoints: state, why not bound, where they are set, how often they were hit."),
    tool!(stacktrace_get, "Stack of a thread", LOOKS, inspect::stack, inspect::StackArguments => StackReport,
        "Tells the stack of a thread of a stopped program, all frames."),
    tool!(variables_get, "Variables", LOOKS, values::variables, values::VariablesArguments => VariablesReport,
        "Tells arguments, locals and `this` of a frame of a stopped program, or what lies inside one of them. Runs no \
         code of the program; names such as password are masked."),
    tool!(variable_set, "Set a variable", ENDS, values::set, values::SetArguments => SetReport,
        "Sets a variable, field, element or property of a stopped program. Setters run in it."),
    tool!(evaluate, "Evaluate", RUNS_CODE, evaluate::evaluate, evaluate::EvaluateArguments => EvaluationsReport,
        "Evaluates C# expressions in a frame of a stopped program. Without side_effects or `,ac` nothing runs in it."),
    tool!(object_inspect, "Inspect an object", LOOKS, values::object, values::ObjectArguments => ObjectAnswer,
        "Tells how an object or struct lies in memory: address, size, fields with offsets, what it refers to."),
    tool!(memory_read, "Read memory", LOOKS, values::memory, values::MemoryArguments => MemoryReport,
        "Reads bytes of a stopped program's memory."),
    tool!(type_get, "Type", LOOKS, symbols::type_get, symbols::TypeArguments => TypeReport,
        "Tells what a type of a loaded module is derived from and declares: fields, properties, methods with signatures."),
    tool!(symbols_search, "Search symbols", LOOKS, symbols::search, symbols::SearchArguments => SymbolsReport,
        "Finds types and members of all loaded modules by parts of their names, the best first."),
    tool!(exception_get, "Exception", LOOKS, inspect::exception, inspect::ThreadArguments => ExceptionAnswer,
        "Tells the exception in flight on a thread: all its inner ones, where it was thrown, who will catch it, the way it came."),
    tool!(source_get, "Source", LOOKS, inspect::source, inspect::SourceArguments => SourceReport,
        "Reads source that loaded modules were compiled from, also where it is only in their symbols."),
    tool!(threads_get, "Threads", SETS, inspect::threads, inspect::ThreadsArguments => ThreadsReport,
        "Lists threads of a stopped program: top frame, what each does and waits for, deadlocks. Freezes and thaws."),
    tool!(modules_get, "Modules", LOOKS, inspect::modules, inspect::ModulesArguments => ModulesReport,
        "Lists loaded modules: path, version, symbols or why none, whether optimised."),
    tool!(process_list, "List .NET processes", LOOKS, processes::list, processes::ListArguments => ProcessesReport,
        "Lists running .NET processes: id, runtime, user, command line, whether attachable."),
    tool!(process_output, "Read output", LOOKS, console::output, console::OutputArguments => OutputPageReport,
        "Reads what a launched program wrote to standard output and error, also after its end. \
         Without cursor: the newest part."),
    tool!(process_input, "Write input", RUNS_CODE, console::input, console::InputArguments => InputReport,
        "Writes text to a launched program's standard input and can close it."),
];

/// The tools with their schemas, made once.
pub(crate) static CATALOGUE: LazyLock<Vec<Listed>> = LazyLock::new(|| {
    let listed = |tool: &'static Tool| Listed {
        tool,
        input: Arc::new((tool.input)()),
        shown: Arc::new(schema::shown((tool.input)())),
        output: Arc::new((tool.output)()),
    };
    TOOLS.iter().map(listed).collect()
});

/// A tool with its schemas.
pub(crate) struct Listed {
    pub(crate) tool: &'static Tool,
    pub(crate) input: Arc<JsonObject>,
    /// The same with fewer words, for the tool list.
    pub(crate) shown: Arc<JsonObject>,
    pub(crate) output: Arc<JsonObject>,
}

/// What a tool answers: one value, told twice.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) structured: Value,
}

impl Answer {
    fn of<T: Render + Serialize>(answer: &T) -> Result<Self, Error> {
        let structured = serde_json::to_value(answer).map_err(|error| {
            Error::new(
                ErrorCode::Internal,
                format!("the answer cannot be told: {error}"),
            )
        })?;
        Ok(Self {
            text: answer.render(),
            structured,
        })
    }
}

/// News of a call that takes long.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Progress {
    pub(crate) elapsed: Duration,
    pub(crate) total: Duration,
    pub(crate) message: String,
}

/// What a tool has to work with.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) registry: Arc<Registry>,
    /// Where progress goes, if the client wants it.
    pub(crate) progress: Option<mpsc::UnboundedSender<Progress>>,
}

/// Runs a tool by name.
pub(crate) async fn call(
    call: Call,
    name: &str,
    mut arguments: JsonObject,
) -> Result<Answer, Error> {
    let Some(listed) = CATALOGUE.iter().find(|listed| listed.tool.name == name) else {
        return Err(no_such_tool(name));
    };
    arguments::check(name, &listed.input, &mut arguments)?;
    (listed.tool.run)(call, arguments).await
}

fn no_such_tool(name: &str) -> Error {
    let names = || TOOLS.iter().map(|tool| tool.name);
    let message = format!("there is no tool {}", crate::report::text::quoted(name, 60));
    let hint = match similar::nearest(name, names()) {
        Some(meant) => format!("did you mean {meant}?"),
        None => format!("the tools are {}", names().collect::<Vec<_>>().join(", ")),
    };
    Error::new(ErrorCode::InvalidParameter, message).hint(hint)
}

impl Call {
    /// Waits for a stop after the resume with number `after`, then reports it; or that the program still runs.
    async fn stop_report(
        &self,
        session: &Arc<DebugSession>,
        after: u32,
        timeout_ms: u64,
    ) -> Result<Report, Error> {
        let begun = Instant::now();
        let total = Duration::from_millis(timeout_ms);
        let tell = |news: &crate::news::News| {
            if let Some(progress) = &self.progress {
                let message = reporting::progress(session.id(), news);
                // The call may be over.
                let _ = progress.send(Progress {
                    elapsed: begun.elapsed(),
                    total,
                    message,
                });
            }
        };
        let deadline = tokio::time::Instant::now() + total;
        let waited = tokio::select! {
            waited = session.wait(after, deadline, tell) => waited,
            error = self.registry.closed() => return Err(error),
        };
        let waited = match waited {
            Waited::Settled | Waited::Passed => None,
            Waited::TimedOut => Some(total),
        };
        reporting::report(session, Purpose::Stop { waited }).await
    }

    /// Waits until a program that is attached to is there, then tells its state.
    async fn attached(&self, session: &Arc<DebugSession>) -> Result<Report, Error> {
        tokio::select! {
            () = session.wait_started() => {}
            error = self.registry.closed() => return Err(error),
        }
        self.first(
            session,
            reporting::report(session, Purpose::Stop { waited: None }).await,
        )
    }

    /// As [`stop_report`](Self::stop_report) for a new session: one that never began is forgotten.
    async fn first_report(
        &self,
        session: &Arc<DebugSession>,
        timeout_ms: u64,
    ) -> Result<Report, Error> {
        self.first(session, self.stop_report(session, 0, timeout_ms).await)
    }

    fn first(
        &self,
        session: &DebugSession,
        report: Result<Report, Error>,
    ) -> Result<Report, Error> {
        if report.is_err() && matches!(session.news().over, Some(Over::Failed(_))) {
            self.registry.forget(session);
        }
        report
    }
}
