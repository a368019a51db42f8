//! Looking at a stopped program: stacks, threads, modules.

use host::api::{Error, ErrorCode, Reply, Request, ThreadId};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Call;
use crate::registry::Which;
use crate::report::build;
use crate::report::exception::ExceptionAnswer;
use crate::report::inventory::{ModulesReport, ThreadsReport};
use crate::report::stack::{FrameReport, StackReport};
use crate::session;

/// Frames told unless asked otherwise.
const FRAMES: u32 = 20;
/// Exceptions told of one chain.
const EXCEPTIONS: usize = 12;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StackArguments {
    /// Which session; needed only when there are several.
    session: Option<String>,
    /// Thread id; the one that reported the stop if absent.
    #[schemars(range(max = 4_294_967_295_u32))]
    thread: Option<u32>,
    /// First frame; 0 is the innermost.
    #[serde(default)]
    #[schemars(range(max = 4_294_967_295_u32))]
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
pub(super) struct ThreadsArguments {
    /// Which session; needed only when there are several.
    session: Option<String>,
    /// Ids of threads to keep stopped while the program runs.
    #[serde(default)]
    freeze: Vec<u32>,
    /// Ids of frozen threads to let run again.
    #[serde(default)]
    thaw: Vec<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ModulesArguments {
    /// Which session; needed only when there are several.
    session: Option<String>,
    /// Only modules whose name or path contains this.
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
            let after = frames.last().map(|last| last.index + 1);
            Ok(StackReport {
                session: session.id().to_owned(),
                stop: stop.0,
                thread: thread.0,
                frames: frames.iter().map(FrameReport::from).collect(),
                hidden: 0,
                more,
                next_start: after.filter(|_| more),
            })
        }
        other => Err(session::unexpected(&other)),
    }
}

pub(super) async fn exception(
    call: &Call,
    arguments: super::run::SessionArguments,
) -> Result<ExceptionAnswer, Error> {
    let session = call
        .registry
        .find(arguments.session.as_deref(), Which::Live)?;
    let status = match session.request(Request::Status).await? {
        Reply::Status(status) => status,
        other => return Err(session::unexpected(&other)),
    };
    let Some(stop) = &status.stop else {
        return Err(Error::new(
            ErrorCode::NotStopped,
            "the program is running: an exception is looked at when it has stopped the program",
        ));
    };
    let exception = stop.exception.as_ref();
    let (exceptions, left_out) =
        exception.map_or_else(Default::default, |it| build::exceptions(it, EXCEPTIONS));
    Ok(ExceptionAnswer {
        session: session.id().to_owned(),
        thread: stop.thread.map(|thread| thread.0),
        unhandled: exception.is_some_and(|it| it.unhandled),
        exceptions,
        left_out,
    })
}

pub(super) async fn threads(
    call: &Call,
    arguments: ThreadsArguments,
) -> Result<ThreadsReport, Error> {
    let session = call
        .registry
        .find(arguments.session.as_deref(), Which::Live)?;
    let frozen = arguments.freeze.iter().map(|thread| (*thread, true));
    let thawed = arguments.thaw.iter().map(|thread| (*thread, false));
    for (thread, frozen) in frozen.chain(thawed) {
        let thread = ThreadId(thread);
        session.request(Request::Freeze { thread, frozen }).await?;
    }
    match session.request(Request::Threads).await? {
        Reply::Threads(threads) => Ok(ThreadsReport::of(session.id(), &threads)),
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
