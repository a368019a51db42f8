//! Looking at a stopped program: threads, the exception, modules.

use std::path::Path;

use host::api::{
    ExceptionReport, ModuleReport, Reply, Request as EngineRequest, StopReason, ThreadId,
};

use crate::adapter::Adapter;
use crate::message::Refusal;
use crate::running::thread_of;
use crate::types::{
    ExceptionBreakMode, ExceptionDetails, ExceptionInfoArguments, ExceptionInfoResponseBody,
    Module, ModulesArguments, ModulesResponseBody, Thread, ThreadsArguments, ThreadsResponseBody,
};

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

    pub(crate) fn exception_info(
        &mut self,
        arguments: ExceptionInfoArguments,
    ) -> Result<ExceptionInfoResponseBody, Refusal> {
        let thread = thread_of(arguments.thread_id)?;
        let stop = self.session()?.status().stop;
        let Some((exception, stop)) = stop.and_then(|stop| Some((stop.exception.clone()?, stop)))
        else {
            return Err(Refusal::new(
                "noException",
                "the program did not stop at an exception",
            ));
        };
        if let Some(threw) = stop.thread.filter(|threw| *threw != thread) {
            let text = format!(
                "thread {} did not stop at an exception; thread {} did",
                thread.0, threw.0
            );
            return Err(Refusal::new("noException", text));
        }
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
        symbol_file_path: report.symbols_file.clone(),
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
