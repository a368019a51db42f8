//! Looking at a program: stacks, exceptions, threads, modules, source.

use host::api::{Error, ErrorCode, Reply, Request, ThreadId};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Call;
use crate::registry::Which;
use crate::report::awaits::AwaitsReport;
use crate::report::build;
use crate::report::exception::ExceptionAnswer;
use crate::report::inventory::{ModulesReport, ThreadsReport};
use crate::report::source::SourceReport;
use crate::report::stack::{FrameReport, StackReport};
use crate::session;

/// Frames told unless asked otherwise.
const FRAMES: u32 = 20;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StackArguments {
    /// Id, if several.
    session: Option<String>,
    /// Id; else the one that reported the stop.
    thread: Option<u32>,
    /// First frame; 0 is the innermost.
    #[serde(default)]
    start: u32,
    /// How many frames.
    #[serde(default = "frames")]
    #[schemars(range(min = 1, max = 60))]
    count: u32,
}

fn frames() -> u32 {
    FRAMES
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ThreadArguments {
    /// Id, if several.
    session: Option<String>,
    /// Id; else the one that reported the stop.
    thread: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ThreadsArguments {
    /// Id, if several.
    session: Option<String>,
    /// Ids of threads to keep stopped.
    #[serde(default)]
    freeze: Vec<u32>,
    /// Ids of frozen threads to let run.
    #[serde(default)]
    thaw: Vec<u32>,
    /// First one told.
    #[serde(default)]
    start: u32,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SourceArguments {
    /// Id, if several.
    session: Option<String>,
    /// Full path, the end of one, or a name; where the program is stopped if absent.
    file: Option<String>,
    /// First line wanted.
    #[schemars(range(min = 1))]
    line: Option<u32>,
    /// How many lines.
    #[serde(default = "lines")]
    #[schemars(range(min = 1, max = 300))]
    count: u32,
}

fn lines() -> u32 {
    40
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ModulesArguments {
    /// Id, if several.
    session: Option<String>,
    /// Part of their name, else path.
    name: Option<String>,
}

pub(super) async fn stack(call: &Call, arguments: StackArguments) -> Result<StackReport, Error> {
    let session = call
        .registry
        .find(arguments.session.as_deref(), Which::Live)?;
    let request = Request::Stack {
        thread: arguments.thread.map(ThreadId),
        start: arguments.start,
        count: arguments.count,
    };
    match session.request(request).await? {
        Reply::Stack {
            stop,
            thread,
            frames,
            more,
            ..
        } => {
            let awaits = match arguments.start {
                0 => awaits(&session, thread).await,
                _ => None,
            };
            let after = frames.last().map(|last| last.index + 1);
            Ok(StackReport {
                session: session.id().to_owned(),
                stop: stop.0,
                thread: thread.0,
                frames: frames.iter().map(FrameReport::from).collect(),
                awaits,
                more,
                next_start: after.filter(|_| more),
            })
        }
        other => Err(session::unexpected(&other)),
    }
}

/// The chains of awaits of a thread; a stack is worth telling without them, too.
async fn awaits(
    session: &std::sync::Arc<session::DebugSession>,
    thread: ThreadId,
) -> Option<AwaitsReport> {
    let thread = Some(thread);
    match session.request(Request::AsyncStack { thread }).await {
        Ok(Reply::AsyncStack(stack)) => AwaitsReport::of(&stack),
        Ok(other) => {
            session::unexpected(&other);
            None
        }
        Err(error) => {
            tracing::debug!(%error, "no chains of awaits");
            None
        }
    }
}

pub(super) async fn exception(
    call: &Call,
    arguments: ThreadArguments,
) -> Result<ExceptionAnswer, Error> {
    let session = call
        .registry
        .find(arguments.session.as_deref(), Which::Live)?;
    let thread = arguments.thread.map(ThreadId);
    match session.request(Request::Exception { thread }).await? {
        Reply::Exception(exception) => Ok(ExceptionAnswer::of(session.id(), exception.as_deref())),
        other => Err(session::unexpected(&other)),
    }
}

pub(super) async fn threads(
    call: &Call,
    arguments: ThreadsArguments,
) -> Result<ThreadsReport, Error> {
    let session = call
        .registry
        .find(arguments.session.as_deref(), Which::Live)?;
    let twice = |id: &&u32| arguments.thaw.contains(id);
    if let Some(id) = arguments.freeze.iter().find(twice) {
        let message = format!("thread {id} cannot be frozen and thawed at once");
        return Err(Error::new(ErrorCode::InvalidParameter, message)
            .hint("name it in freeze or in thaw; no thread was frozen or thawed"));
    }
    // All or none: whoever is told that something was wrong need not find out what was done.
    let wanted: Vec<_> = arguments.freeze.iter().chain(&arguments.thaw).collect();
    if wanted.len() > 1
        && let Reply::Threads(known) = session.request(Request::Threads).await?
        && let Some(unknown) = wanted
            .iter()
            .find(|id| known.iter().all(|it| it.id.0 != ***id))
    {
        let message = format!("there is no thread {unknown}; no thread was frozen or thawed");
        return Err(Error::new(ErrorCode::InvalidThread, message)
            .hint("threads_get lists them with their ids"));
    }
    let frozen = arguments.freeze.iter().map(|thread| (*thread, true));
    let thawed = arguments.thaw.iter().map(|thread| (*thread, false));
    for (thread, frozen) in frozen.chain(thawed) {
        let thread = ThreadId(thread);
        session.request(Request::Freeze { thread, frozen }).await?;
    }
    match session.request(Request::Threads).await? {
        Reply::Threads(threads) => {
            let mut report = ThreadsReport::of(session.id(), &threads).page(arguments.start);
            for thread in report.awaiting() {
                thread.awaits = awaits(&session, ThreadId(thread.id)).await;
            }
            Ok(report)
        }
        other => Err(session::unexpected(&other)),
    }
}

pub(super) async fn modules(
    call: &Call,
    arguments: ModulesArguments,
) -> Result<ModulesReport, Error> {
    let session = call
        .registry
        .find(arguments.session.as_deref(), Which::Live)?;
    match session.request(Request::Modules).await? {
        Reply::Modules(modules) => Ok(ModulesReport::of(
            session.id(),
            &modules,
            arguments.name.as_deref(),
        )),
        other => Err(session::unexpected(&other)),
    }
}

pub(super) async fn source(call: &Call, arguments: SourceArguments) -> Result<SourceReport, Error> {
    let session = call
        .registry
        .find(arguments.session.as_deref(), Which::Live)?;
    let (file, current) = match arguments.file {
        Some(file) => (file, None),
        None => {
            let place = current_place(&session).await?;
            let file = place.path.to_string_lossy().into_owned();
            (file, Some((place.line.0, place.column.unwrap_or(1))))
        }
    };
    let first = match (arguments.line, current) {
        (Some(line), _) => line,
        (None, Some((line, _))) => line.saturating_sub(arguments.count / 2).max(1),
        (None, None) => 1,
    };
    match session.request(Request::Source { file }).await? {
        Reply::Source(source) => Ok(SourceReport::of(
            session.id(),
            &source,
            first,
            arguments.count,
            current,
        )),
        other => Err(session::unexpected(&other)),
    }
}

/// The nearest place with source of the thread that reported the stop.
async fn current_place(
    session: &std::sync::Arc<session::DebugSession>,
) -> Result<host::api::Source, Error> {
    let request = Request::Stack {
        thread: None,
        start: 0,
        count: build::FRAMES,
    };
    let frames = match session.request(request).await? {
        Reply::Stack { frames, .. } => frames,
        other => return Err(session::unexpected(&other)),
    };
    let mut places = frames.into_iter().filter_map(|frame| frame.source);
    places.next().ok_or_else(|| {
        Error::new(
            ErrorCode::InvalidFile,
            "no frame near the top of the stack has source",
        )
        .hint("name a file; modules_get tells which modules have symbols")
    })
}
