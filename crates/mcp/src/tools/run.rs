//! Letting a program run, stopping it, looking at its state.

use std::sync::Arc;

use host::api::{Error, ErrorCode, Line, Reply, Request, State, StepKind, ThreadId};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Call;
use super::breakpoints::{self, Spot};
use crate::registry::Which;
use crate::report::{Overview, Report};
use crate::reporting::{self, PULSE, Purpose};
use crate::session::{self, DebugSession};

/// How long a call waits unless told otherwise.
pub(super) const TIMEOUT_MS: u64 = 30_000;

pub(super) fn timeout_ms() -> u64 {
    TIMEOUT_MS
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WaitArguments {
    /// Id, if several.
    pub(super) session: Option<String>,
    /// How long to wait at most.
    #[serde(default = "timeout_ms")]
    #[schemars(range(max = 600_000))]
    pub(super) timeout_ms: u64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionArguments {
    /// Id, if several.
    pub(super) session: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StepArguments {
    /// Id, if several.
    session: Option<String>,
    /// over: to the next statement; into: also into a method it calls; out: to the caller.
    kind: StepName,
    /// How many steps.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1000))]
    count: u32,
    /// Id; else the one that reported the stop.
    thread: Option<u32>,
    /// As for debug_launch, from now on.
    just_my_code: Option<bool>,
    /// Pass over accessors and operators, from now on.
    skip_properties: Option<bool>,
    /// How long to wait at most.
    #[serde(default = "timeout_ms")]
    #[schemars(range(max = 600_000))]
    timeout_ms: u64,
}

#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum StepName {
    Over,
    Into,
    Out,
}

fn one() -> u32 {
    1
}

pub(super) fn yes() -> bool {
    true
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct RunToArguments {
    /// Id, if several.
    session: Option<String>,
    #[serde(flatten)]
    place: Spot,
    /// How long to wait at most.
    #[serde(default = "timeout_ms")]
    #[schemars(range(max = 600_000))]
    timeout_ms: u64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GotoArguments {
    /// Id, if several.
    session: Option<String>,
    /// The line, in the method of the innermost frame.
    #[schemars(range(min = 1))]
    line: u32,
    /// Column inside the statement, if the line has several.
    #[schemars(range(min = 1))]
    column: Option<u32>,
    /// Id; else the one that reported the stop.
    thread: Option<u32>,
}

pub(super) async fn run_to(call: &Call, arguments: RunToArguments) -> Result<Report, Error> {
    let session = call
        .registry
        .find(arguments.session.as_deref(), Which::Live)?;
    let by_text = arguments.place.is_by_text();
    let place = breakpoints::resolved(&session, arguments.place).await?;
    let reply = breakpoints::with_or_without_column(&session, place, by_text, Request::RunTo).await;
    let resumed = match reply? {
        Reply::Status(status) => status.resumes,
        other => return Err(session::unexpected(&other)),
    };
    call.stop_report(&session, resumed, arguments.timeout_ms)
        .await
}

pub(super) async fn goto(call: &Call, arguments: GotoArguments) -> Result<Report, Error> {
    let session = call
        .registry
        .find(arguments.session.as_deref(), Which::Live)?;
    let request = Request::Goto {
        thread: arguments.thread.map(ThreadId),
        file: None,
        line: Line(arguments.line),
        column: arguments.column,
    };
    match session.request(request).await? {
        Reply::Status(_) => reporting::report(&session, Purpose::Stop { waited: None }).await,
        other => Err(session::unexpected(&other)),
    }
}

pub(super) async fn resume(call: &Call, arguments: WaitArguments) -> Result<Report, Error> {
    let session = call
        .registry
        .find(arguments.session.as_deref(), Which::Live)?;
    let resumed = match session.request(Request::Continue).await? {
        Reply::Status(status) => status.resumes,
        other => return Err(session::unexpected(&other)),
    };
    call.stop_report(&session, resumed, arguments.timeout_ms)
        .await
}

pub(super) async fn step(call: &Call, arguments: StepArguments) -> Result<Report, Error> {
    let session = call
        .registry
        .find(arguments.session.as_deref(), Which::Live)?;
    session
        .change_steps(arguments.just_my_code, arguments.skip_properties)
        .await?;
    let request = Request::Step {
        count: arguments.count,
        thread: arguments.thread.map(ThreadId),
        kind: match arguments.kind {
            StepName::Over => StepKind::Over,
            StepName::Into => StepKind::Into,
            StepName::Out => StepKind::Out,
        },
    };
    let resumed = match session.request(request).await? {
        Reply::Status(status) => status.resumes,
        other => return Err(session::unexpected(&other)),
    };
    call.stop_report(&session, resumed, arguments.timeout_ms)
        .await
}

pub(super) async fn wait(call: &Call, arguments: WaitArguments) -> Result<Report, Error> {
    let session = call
        .registry
        .find(arguments.session.as_deref(), Which::Any)?;
    let resumed = session.news().status.resumes;
    call.stop_report(&session, resumed, arguments.timeout_ms)
        .await
}

pub(super) async fn pause(call: &Call, arguments: SessionArguments) -> Result<Report, Error> {
    let session = call
        .registry
        .find(arguments.session.as_deref(), Which::Live)?;
    match session.request(Request::Pause).await? {
        // The stop was told before the answer. It is reported as it is now: another call may have ended it already.
        Reply::Status(status) if status.state == State::Stopped => {
            reporting::report(&session, Purpose::Stop { waited: None }).await
        }
        // A program that is still starting stops when it is there.
        Reply::Status(status) => call.stop_report(&session, status.resumes, TIMEOUT_MS).await,
        other => Err(session::unexpected(&other)),
    }
}

pub(super) async fn status(call: &Call, arguments: SessionArguments) -> Result<Overview, Error> {
    let brief = arguments.session.is_none();
    let wanted = match arguments.session.as_deref() {
        Some(id) => vec![call.registry.find(Some(id), Which::Any)?],
        None => call.registry.all(),
    };
    let mut sessions = Vec::with_capacity(wanted.len());
    for session in wanted {
        see_whether_it_lives(&session).await;
        sessions.push(reporting::report(&session, Purpose::Status { brief }).await?);
    }
    let overview = Overview {
        sessions,
        ..Overview::default()
    };
    Ok(overview.fit())
}

/// A host that was killed a moment ago has told nothing: what was heard of it last would be told as if it were so now.
async fn see_whether_it_lives(session: &Arc<DebugSession>) {
    if session.is_over() {
        return;
    }
    let asked = session.blocking(|session| {
        let sent = session.send(Request::Status)?;
        sent.wait(std::time::Instant::now() + PULSE)
    });
    match asked.await {
        Ok(Err(error)) if error.code == ErrorCode::HostDied => {
            // What became of the program is told right after.
            let soon = tokio::time::Instant::now() + 4 * PULSE;
            session.wait_over(soon).await;
        }
        Ok(Ok(Reply::Status(status))) => session.learn_notes(*status),
        _ => {}
    }
}
