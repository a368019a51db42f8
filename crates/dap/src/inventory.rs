//! Looking at a stopped program: threads, stacks, the exception, modules.

use std::path::Path;

use host::api::{
    Block, ExceptionReport, Frame, FrameKind, ModuleReport, Reply, Request as EngineRequest,
    StopReason, ThreadId, Variable as EngineVariable, VariableScope,
};

use crate::adapter::Adapter;
use crate::message::Refusal;
use crate::naming;
use crate::running::{FrameOf, thread_of};
use crate::settings::Shown;
use crate::types::{
    ExceptionBreakMode, ExceptionDetails, ExceptionInfoArguments, ExceptionInfoResponseBody,
    Module, ModulesArguments, ModulesResponseBody, StackFrame, StackFrameFormat,
    StackFramePresentationHint, StackTraceArguments, StackTraceResponseBody, Thread,
    ThreadsArguments, ThreadsResponseBody, ValueFormat,
};
use crate::values::{Inside, Parent, query};

/// Frames that are told with the values of their arguments.
const VALUED: u32 = 50;

/// Frames told at once if the client does not say how many it wants.
const FRAMES: u32 = 1_000;

impl Adapter {
    pub(crate) fn threads(&mut self, _: ThreadsArguments) -> Result<ThreadsResponseBody, Refusal> {
        let status = self.session()?.status();
        let main = status.pid.map_or(0, |pid| pid.0);
        let threads = match self.ask(EngineRequest::Threads) {
            Ok(Reply::Threads(threads)) => threads,
            // A running program's threads cannot be asked for; those that began and have not ended are there.
            _ => Vec::new(),
        };
        let mut told: Vec<Thread> = threads
            .iter()
            .map(|thread| Thread {
                id: i32::try_from(thread.id.0).unwrap_or_default(),
                name: match &thread.name {
                    Some(name) => name.clone(),
                    None if thread.id.0 == main => "Main thread".into(),
                    None if thread.pool => format!("Pool thread {}", thread.id.0),
                    None => format!("Thread {}", thread.id.0),
                },
            })
            .collect();
        if told.is_empty() {
            let mut live = self.live_threads.clone();
            live.insert(ThreadId(main));
            told.extend(live.iter().map(|id| Thread {
                id: i32::try_from(id.0).unwrap_or_default(),
                name: match id.0 == main {
                    true => "Main thread".into(),
                    false => format!("Thread {}", id.0),
                },
            }));
        }
        Ok(ThreadsResponseBody { threads: told })
    }

    pub(crate) fn stack_trace(
        &mut self,
        arguments: StackTraceArguments,
    ) -> Result<StackTraceResponseBody, Refusal> {
        let start = arguments.start_frame.unwrap_or(0);
        let start = u32::try_from(start).unwrap_or(0);
        let levels = arguments
            .levels
            .and_then(|levels| u32::try_from(levels).ok());
        let count = levels.filter(|levels| *levels > 0).unwrap_or(FRAMES);
        let reply = self.ask(EngineRequest::Stack {
            thread: Some(thread_of(arguments.thread_id)?),
            start,
            count,
        })?;
        let Reply::Stack {
            stop,
            thread,
            frames,
            total,
            more,
        } = reply
        else {
            return Err(Refusal::new("internal", "a bug in ndbg: no stack was told"));
        };
        let format = arguments.format.unwrap_or_default();
        let told = frames.iter().map(|frame| {
            let of = FrameOf {
                stop,
                thread,
                index: frame.index,
            };
            let with_values = format.parameter_values == Some(true) && frame.index < VALUED;
            let values = with_values.then(|| self.values_of_arguments(of, &format));
            let number = self.frames.number(of);
            self.frame(number, frame, &format, values.as_deref())
        });
        let told: Vec<_> = told.collect();
        Ok(StackTraceResponseBody {
            stack_frames: told,
            // More than was walked: the client asks on for as long as it gets frames.
            total_frames: Some(i64::from(total) + i64::from(more)),
        })
    }

    /// The arguments of a frame, as far as they can be told.
    fn values_of_arguments(&self, of: FrameOf, format: &StackFrameFormat) -> Vec<EngineVariable> {
        let format = ValueFormat { hex: format.hex };
        let parent = Parent {
            frame: of,
            inside: Inside::Scope(VariableScope::Arguments),
        };
        let shown = Shown {
            run_code: false,
            ..self.shown
        };
        let query = query(&parent, Some(&format), shown);
        match self.ask(EngineRequest::Variables(Box::new(query))) {
            Ok(Reply::Variables(found)) => found.variables,
            _ => Vec::new(),
        }
    }

    fn frame(
        &mut self,
        number: i32,
        frame: &Frame,
        format: &StackFrameFormat,
        values: Option<&[EngineVariable]>,
    ) -> StackFrame {
        let source = frame.source.as_ref().map(|source| {
            let path = source.path.to_string_lossy();
            self.source_of(&path, frame.user_code)
        });
        StackFrame {
            id: number,
            name: self.frame_name(frame, format, values),
            line: frame
                .source
                .as_ref()
                .map_or(0, |it| self.client_line(it.line.0)),
            column: frame
                .source
                .as_ref()
                .and_then(|it| it.column)
                .map_or(0, |column| self.client_column(column)),
            module_id: frame.module.clone().map(serde_json::Value::String),
            presentation_hint: match frame.kind {
                FrameKind::User => None,
                // Not a method: nothing to go to.
                FrameKind::Transition => Some(StackFramePresentationHint::Label),
                _ => Some(StackFramePresentationHint::Subtle),
            },
            source,
            ..StackFrame::default()
        }
    }

    /// The name of a frame, with what the client asks for beyond it.
    fn frame_name(
        &self,
        frame: &Frame,
        format: &StackFrameFormat,
        values: Option<&[EngineVariable]>,
    ) -> String {
        let mut name = naming::method(&frame.method, format, values);
        if format.module == Some(true)
            && let Some(module) = &frame.module
        {
            name = format!("{module}!{name}");
        }
        if format.line == Some(true)
            && let Some(source) = &frame.source
        {
            name = format!("{name} Line {}", self.client_line(source.line.0));
        }
        match frame.block {
            Some(Block::Catch) => name.push_str(" [catch]"),
            Some(Block::Filter) => name.push_str(" [when]"),
            Some(Block::Finally) => name.push_str(" [finally]"),
            None => {}
        }
        name
    }

    pub(crate) fn exception_info(
        &mut self,
        _: ExceptionInfoArguments,
    ) -> Result<ExceptionInfoResponseBody, Refusal> {
        let stop = self.session()?.status().stop;
        let Some((exception, stop)) = stop.and_then(|stop| Some((stop.exception.clone()?, stop)))
        else {
            return Err(Refusal::new(
                "noException",
                "the program did not stop at an exception",
            ));
        };
        let thrown = stop.reasons.iter().any(|reason| {
            let thrown = host::api::ExceptionStage::Thrown;
            matches!(reason, StopReason::Exception { stage, .. } if *stage == thrown)
        });
        Ok(ExceptionInfoResponseBody {
            exception_id: exception.type_name.clone(),
            description: exception.message.clone(),
            break_mode: match (thrown, exception.unhandled) {
                (true, _) => ExceptionBreakMode::Always,
                (false, true) => ExceptionBreakMode::Unhandled,
                (false, false) => ExceptionBreakMode::UserUnhandled,
            },
            details: Some(details(&exception, "$exception")),
        })
    }

    pub(crate) fn modules(
        &mut self,
        arguments: ModulesArguments,
    ) -> Result<ModulesResponseBody, Refusal> {
        let Reply::Modules(modules) = self.ask(EngineRequest::Modules)? else {
            return Err(Refusal::new(
                "internal",
                "a bug in ndbg: no modules were told",
            ));
        };
        let total = modules.len() as u64;
        let start = arguments
            .start_module
            .and_then(|it| usize::try_from(it).ok())
            .unwrap_or(0);
        let count = arguments
            .module_count
            .and_then(|it| usize::try_from(it).ok());
        let count = count.filter(|count| *count > 0).unwrap_or(usize::MAX);
        let page = modules.iter().skip(start).take(count);
        Ok(ModulesResponseBody {
            modules: page.map(module).collect(),
            total_modules: Some(total),
        })
    }
}

/// What is known of an exception that an expression leads to.
fn details(exception: &ExceptionReport, expression: &str) -> ExceptionDetails {
    let short = exception.type_name.rsplit('.').next();
    let is_one = exception.inner.len() < 2;
    // Those of an AggregateException are several.
    let inner = |at: usize| match is_one {
        true => format!("{expression}.InnerException"),
        false => format!("((System.AggregateException){expression}).InnerExceptions[{at}]"),
    };
    ExceptionDetails {
        message: exception.message.clone(),
        type_name: short.map(str::to_owned),
        full_type_name: Some(exception.type_name.clone()),
        evaluate_name: Some(expression.to_owned()),
        stack_trace: (!exception.trace.is_empty()).then(|| trace_of(exception)),
        inner_exception: Some(
            exception
                .inner
                .iter()
                .enumerate()
                .map(|(at, it)| details(it, &inner(at)))
                .collect(),
        ),
    }
}

/// The way an exception came, a line each.
fn trace_of(exception: &ExceptionReport) -> String {
    let lines = exception.trace.iter().map(|frame| match &frame.source {
        Some(source) => format!(
            "at {} in {}:{}",
            frame.method,
            source.path.display(),
            source.line.0
        ),
        None => format!("at {}", frame.method),
    });
    lines.collect::<Vec<_>>().join("\n")
}

pub(crate) fn module(report: &ModuleReport) -> Module {
    Module {
        id: serde_json::Value::String(report.name.clone()),
        name: report.name.clone(),
        path: report.path.clone(),
        version: report.version.clone(),
        is_optimized: report.optimized,
        is_user_code: Some(report.user_code),
        symbol_status: Some(if report.symbols {
            symbol_status(true)
        } else {
            report.symbols_detail.clone()
        }),
        symbol_file_path: report
            .path
            .as_deref()
            .filter(|_| report.symbols)
            .and_then(symbol_file),
        ..Module::default()
    }
}

/// Whether a module has symbols, in a few words.
pub(crate) fn symbol_status(has_symbols: bool) -> String {
    let status = if has_symbols {
        "Symbols loaded."
    } else {
        "No symbols loaded."
    };
    status.into()
}

/// The file with the symbols of a module, unless they lie inside the module.
pub(crate) fn symbol_file(module: &str) -> Option<String> {
    let file = Path::new(module).with_extension("pdb");
    file.is_file().then(|| file.to_string_lossy().into_owned())
}
