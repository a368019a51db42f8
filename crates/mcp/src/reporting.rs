//! Reports of live sessions: asks the host for what a report needs, and remembers what was told.

use std::sync::Arc;
use std::time::Duration;

use host::api::{BreakpointState, Error, OutputCursor, OutputQuery, State, StopId};

use crate::news::News;
use crate::report::breakpoints::BreakpointEntry;
use crate::report::testing::TestsReport;
use crate::report::{Reason, Report, SessionState, build, gather, text};
use crate::session::DebugSession;

/// What a report is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The answer to a call that let the program run or waited: new output is told and counts as told.
    Stop {
        /// How long a stop was waited for, if none came.
        waited: Option<Duration>,
    },
    /// A look at the state: nothing counts as told.
    Status {
        /// Without the stack of a stop that is over.
        brief: bool,
    },
}

/// The report of a session; an error if it could not be started or its host died.
pub(crate) async fn report(session: &Arc<DebugSession>, purpose: Purpose) -> Result<Report, Error> {
    session
        .blocking(move |session| build_report(session, purpose))
        .await?
}

fn build_report(session: &DebugSession, purpose: Purpose) -> Result<Report, Error> {
    let news = session.news();
    let failure = session.failure(&news);
    let mut told = session.told();
    if let Purpose::Stop { .. } = purpose
        && let Some(error) = failure
    {
        return Err(error);
    }
    let stop = news
        .status
        .stop
        .as_ref()
        .filter(|_| news.status.state == State::Stopped);
    if let Some(stop) = stop
        && told.stack.as_ref().is_none_or(|(id, _)| *id != stop.id)
    {
        let mut stack = gather::stack(&|request| session.ask(request), stop, true);
        if let Some(stack) = &mut stack {
            told.mark_changes(stop, stack);
        }
        told.stack = stack.map(|stack| (stop.id, stack));
    }
    let known = |id: StopId| {
        told.stack
            .as_ref()
            .filter(|(found, _)| *found == id)
            .map(|(_, stack)| stack)
    };
    let mut report = build::report(
        session.id(),
        &news.status,
        stop.and_then(|stop| known(stop.id)),
    );
    match purpose {
        Purpose::Status { brief } => {
            if news.over.is_some() {
                let last = news.last_stop.as_ref();
                report.last_stop =
                    last.map(|stop| build::stop_report(stop, known(stop.id).filter(|_| !brief)));
            }
            if news.over.is_none() {
                let unbound = news.breakpoints.values().filter(|breakpoint| {
                    !matches!(
                        breakpoint.state,
                        BreakpointState::Bound | BreakpointState::Disabled
                    )
                });
                report.breakpoints = unbound.map(BreakpointEntry::from).collect();
            }
            report.notes = build::notes(&news.status, 0);
            if let Some(error) = failure {
                report.state = SessionState::Failed;
                let message = text::one_line(&error.message, 1000);
                // What became of the program is a note of the session and part of the message.
                report.notes.retain(|note| !message.contains(note.as_str()));
                report.notes.push(message);
            }
        }
        Purpose::Stop { waited } => {
            report.waited_ms =
                waited.map(|waited| u64::try_from(waited.as_millis()).unwrap_or(u64::MAX));
            let page = session.output(OutputQuery {
                from: OutputCursor(told.output),
                stream: None,
                max_bytes: build::OUTPUT_BUDGET,
                tail: true,
            })?;
            let next = page.next.0;
            report.output = build::output(page, told.output);
            told.output = next;
            report.breakpoints = told.changed_breakpoints(&news.breakpoints, news.over.is_some());
            report.notes = build::notes(&news.status, told.notes);
            report.notes.extend(session.take_remarks());
            told.notes = news.status.notes.len();
            if std::mem::replace(&mut told.introduced, report.program.is_some()) {
                report.program = None;
                report.runtime = None;
                report.origin = None;
            }
        }
    }
    report.notes.extend(news.idle.clone());
    match session.tests() {
        Some(Some(results)) if results.total > 0 || news.over.is_some() => {
            report.tests = Some(TestsReport::from(&results));
            if results.total == 0 {
                report.notes.push(
                    "no test was run: look at the filter, and whether the project has tests".into(),
                );
            }
        }
        Some(None) if news.over.is_some() => {
            report.notes.push("the run was broken off before its results were there; process_output tells how far it came".into());
        }
        _ => {}
    }
    if news.status.state == State::Starting {
        report.progress = news
            .progress
            .as_deref()
            .map(|progress| text::one_line(progress, 300));
    }
    report.next = next(&report);
    Ok(report.fit())
}

/// How a wait goes on, for somebody who watches it.
pub(crate) fn progress(session: &str, news: &News) -> String {
    match (news.status.state, &news.progress) {
        (State::Starting, Some(progress)) => {
            format!("{session} is starting: {}", text::one_line(progress, 300))
        }
        (State::Starting, None) => format!("{session} is starting"),
        (State::Stopped, _) => format!("{session} is stopped"),
        _ => match news.status.output_end.0 {
            0 => format!("{session} is running"),
            written => format!(
                "{session} is running; {} of output so far",
                text::bytes(written)
            ),
        },
    }
}

/// What is sensible to call next.
fn next(report: &Report) -> Option<String> {
    let unhandled = report.stop.as_ref().is_some_and(|stop| {
        stop.reasons
            .iter()
            .any(|reason| [Reason::UNHANDLED, Reason::FAIL_FAST].contains(&reason.kind))
    });
    let text = match report.state {
        SessionState::Starting => "debug_wait waits on; debug_disconnect gives up.",
        SessionState::Running if report.waited_ms.is_some() => {
            "debug_wait waits on; debug_pause stops it where it is; process_input if it waits for input."
        }
        SessionState::Running => "debug_wait waits for a stop; debug_pause stops it where it is.",
        SessionState::Stopped if unhandled => {
            "debug_continue lets it end as it would without a debugger; debug_disconnect ends it now."
        }
        SessionState::Stopped => "debug_continue lets it run on; debug_step runs one statement.",
        SessionState::Failed => "debug_launch or debug_attach begins a new session.",
        SessionState::Exited | SessionState::Detached => return None,
    };
    Some(text.into())
}
