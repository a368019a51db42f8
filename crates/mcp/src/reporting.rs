//! Reports of live sessions: asks the host for what a report needs, and remembers what was told.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use host::api::{
    Breakpoint, BreakpointState, Error, ErrorCode, Exit, Frame, Origin, OutputCursor, OutputQuery,
    Reply, Request, State, Status, Stop, StopId, TestResults, ThreadId,
};

use crate::ahead::Ahead;
use crate::news::News;
use crate::policy::Policy;
use crate::report::inventory::ThreadsReport;
use crate::report::stack::FrameReport;
use crate::report::testing::TestsReport;
use crate::report::told::Told;
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
    let output = OutputQuery {
        from: OutputCursor(told.output),
        stream: None,
        max_bytes: build::OUTPUT_BUDGET,
        tail: true,
    };
    let ahead = Ahead::send(session, likely(stop, &told, &output, purpose));
    // A report that lacks what the host did not live to tell must say so.
    let died = RefCell::new(None);
    if let Some(stop) = stop
        && (told.stale || told.stack.as_ref().is_none_or(|(id, _)| *id != stop.id))
    {
        told.stale = false;
        let asked = |request| {
            let reply = ahead.ask(request);
            if let Err(error) = &reply
                && error.code == ErrorCode::HostDied
            {
                died.replace(Some(error.message.clone()));
            }
            reply
        };
        let mut stack = gather::stack(&asked, stop, true);
        if let Some(stack) = &mut stack {
            told.mark_changes(stack);
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
    if news.status.state == State::Detached {
        report.exit = session.ended_since().as_ref().map(build::exit_report);
    }
    match purpose {
        Purpose::Status { brief } => {
            if news.over.is_some() {
                let last = news.last_stop.as_ref();
                report.last_stop =
                    last.map(|stop| build::stop_report(stop, known(stop.id).filter(|_| !brief)));
            }
            if news.over.is_none() {
                // How often they were hit is no news, and is asked for.
                let counted = match soon(session, Request::Breakpoints) {
                    Ok(Reply::Breakpoints { breakpoints, .. }) => breakpoints,
                    _ => news.breakpoints.values().cloned().collect(),
                };
                let all: Vec<_> = counted.iter().collect();
                let (bound, not): (Vec<_>, Vec<_>) = all
                    .into_iter()
                    .partition(|it| it.state == BreakpointState::Bound);
                // Those that will not stop the program are the ones to know of.
                let all = not.into_iter().chain(bound);
                report.breakpoints = all.clone().take(BREAKPOINTS).map(Into::into).collect();
                report.more_breakpoints = count(all.count().saturating_sub(BREAKPOINTS));
                threads(session, &mut report);
            }
            report.notes = build::notes(&news.status, 0);
            report.notes.extend(build::stuck(&news.status));
            if let Some(error) = failure {
                report.state = SessionState::Failed;
                // The message says it.
                report.notes.retain(|note| session.is_true_now(note));
                let message = text::one_line(&error.message, 1000);
                // What became of the program is a note of the session and part of the message.
                report.notes.retain(|note| !message.contains(note.as_str()));
                report.notes.push(message);
            }
        }
        Purpose::Stop { waited } => {
            report.waited_ms =
                waited.map(|waited| u64::try_from(waited.as_millis()).unwrap_or(u64::MAX));
            let page = match ahead.guessed(&Request::Output(output)) {
                Some(Ok(Reply::Output(page))) => Ok(page),
                _ => session.output(output),
            };
            let lost = match page {
                Ok(page) => {
                    let next = page.next.0;
                    report.output = build::output(page, told.output);
                    told.output = next;
                    None
                }
                // A host that was told to end has told all but what the program wrote.
                Err(error) if error.code == ErrorCode::NoSession => Some(error.message),
                // What is not captured, or lost, is told as that.
                Err(error) => return Err(error),
            };
            let is_new = |it: &Breakpoint| !told.breakpoints.contains_key(&it.id.0);
            let is_pending = |it: &Breakpoint| it.state == BreakpointState::Pending;
            let mut all = news.breakpoints.values();
            // Why one is pending is worth a question the first time.
            if stop.is_some()
                && all.any(|it| is_pending(it) && is_new(it))
                && let Ok(Reply::Breakpoints { breakpoints, .. }) =
                    session.ask(Request::Breakpoints)
            {
                session.learn_reasons(breakpoints);
            }
            let known = session.news().breakpoints;
            report.breakpoints = told.changed_breakpoints(&known, news.over.is_some());
            // What is known of one is how it was when it was bound; the stop has counted since.
            if stop.is_some()
                && !report.breakpoints.is_empty()
                && let Ok(Reply::Breakpoints { breakpoints, .. }) =
                    session.ask(Request::Breakpoints)
            {
                build::count_anew(&mut report.breakpoints, &breakpoints);
            }
            let mut status = news.status.clone();
            // What came up while it runs is no news of the host's.
            if waited.is_some()
                && status.state == State::Running
                && let Ok(Reply::Status(now)) = soon(session, Request::Status)
                && now.state == State::Running
            {
                status = *now;
            }
            report.notes = build::notes(&status, told.notes);
            report.notes.extend(lost);
            report.notes.extend(died.take());
            report.notes.extend(session.take_remarks());
            if waited.is_some()
                && news.status.state == State::Running
                && news.breakpoints.values().any(|it| it.spec.enabled)
                && let Ok(Reply::Breakpoints { breakpoints, .. }) =
                    soon(session, Request::Breakpoints)
            {
                let hot = told.pace.look(&breakpoints, Instant::now());
                report.notes.extend(hot.into_iter().map(|(_, note)| note));
            }
            if waited.is_some() && news.status.state == State::Running {
                report.notes.extend(build::frozen(&status));
            }
            if waited.is_none()
                && news.status.state == State::Running
                && let Some(stop) = &news.last_stop
            {
                report.last_stop = Some(build::stop_report(stop, None));
                report
                    .notes
                    .push("it stopped, and another request has let it run on since".into());
            }
            report.notes.extend(build::stuck(&status));
            told.notes = status.notes.len();
            if std::mem::replace(&mut told.introduced, report.program.is_some()) {
                report.program = None;
                report.runtime = None;
                report.origin = None;
            }
        }
    }
    report.notes.extend(news.idle.clone());
    if news.status.state == State::Running
        && let Some(error) = news.status.pid.and_then(host::processes::suspended)
    {
        // What it says to do is as much worth knowing as that it is so.
        let hint = error.hint.unwrap_or_default();
        report.notes.push(format!("{}; {hint}", error.message));
    }
    if let Some(output) = &report.output
        && output
            .chunks
            .iter()
            .any(|it| it.text.contains("/ndbg-tests-"))
    {
        let note = "the results file that the output names was ndbg's own, and is gone: what it says is told here";
        report.notes.push(note.into());
    }
    match session.tests() {
        Some(Some(results)) if results.total > 0 || news.over.is_some() => {
            // What was told of a run that goes on is not told again; its end tells all.
            report.tests = Some(match purpose {
                Purpose::Stop { .. } if news.over.is_none() => {
                    let before = std::mem::replace(&mut told.failures, results.failures.len());
                    TestsReport::since(&results, before)
                }
                _ => TestsReport::from(&results),
            });
            if news.over.is_some()
                && let Some(note) = broken_off(&results, &news.status, &told)
            {
                report.notes.push(note);
            } else if results.total == 0 {
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
    report.next = next(&report, session.policy(), news.status.origin);
    Ok(report.fit())
}

/// What is to be said of a run whose host ended before its tests did.
fn broken_off(results: &TestResults, status: &Status, told: &Told) -> Option<String> {
    let exit = status.exit.as_ref();
    let program = status.program.as_deref().unwrap_or_default();
    let crashed = match exit {
        Some(Exit::Signal { by_debugger, .. }) => !by_debugger,
        // VSTest's host ends with 0 whatever its tests do; a program of the other platform tells failures by its code.
        Some(Exit::Code(code)) => *code != 0 && program.contains("testhost"),
        _ => false,
    };
    if results.complete && !crashed {
        return None;
    }
    let how = match exit {
        Some(exit) => build::ended(exit),
        None => "has ended".into(),
    };
    let mut note = format!(
        "the test host {how} while tests ran: the test that ran then, and those after it, have no result"
    );
    let mut frames = told.stack.iter().flat_map(|(_, stack)| &stack.frames);
    // The outermost method whose source is here is the test, or what it has started; those of test frameworks are not.
    let is_here = |frame: &&Frame| {
        let source = frame.source.as_ref();
        frame.user_code && source.is_some_and(|source| source.path.is_file())
    };
    if let Some(frame) = frames.rfind(is_here) {
        let method = text::one_line(&frame.method, 200);
        note += &format!("; at the last stop {method} ran");
    } else {
        note += "; a filter with fewer tests, or breakpoints in them, tells which it is";
    }
    Some(note)
}

/// What a stop report will most likely ask for.
fn likely(
    stop: Option<&Stop>,
    told: &Told,
    output: &OutputQuery,
    purpose: Purpose,
) -> Vec<Request> {
    let (Some(stop), Purpose::Stop { .. }) = (stop, purpose) else {
        return Vec::new();
    };
    let last = told.stack.as_ref();
    let mut requests = Vec::new();
    if last.is_none_or(|(id, _)| *id != stop.id) {
        requests = gather::likely(stop, last.map(|(_, stack)| stack), true);
    }
    requests.push(Request::Output(*output));
    requests
}

/// The frame whose variables a stop report tells, of any thread; the innermost if none of them has source.
///
/// What cannot be told now is no error here: the request that follows says why.
pub(crate) async fn shown_frame(session: &Arc<DebugSession>, thread: Option<ThreadId>) -> u32 {
    let Some(stop) = session.news().status.stop else {
        return 0;
    };
    if (thread.is_none() || thread == stop.thread)
        && let Some((_, stack)) = session.told().stack.as_ref().filter(|it| it.0 == stop.id)
    {
        return build::shown_frame(&stop, &stack.frames).map_or(0, |it| it.index);
    }
    let request = Request::Stack {
        thread,
        start: 0,
        count: build::FRAMES,
    };
    match session.request(request).await {
        Ok(Reply::Stack { frames, .. }) => {
            build::shown_frame(&stop, &frames).map_or(0, |it| it.index)
        }
        _ => 0,
    }
}

/// How long a host is given to answer, or its death to be noticed, before its state is told as last heard.
pub(crate) const PULSE: Duration = Duration::from_millis(250);

/// Breakpoints told in a status.
const BREAKPOINTS: usize = 20;
/// Threads told in a status.
const THREADS: usize = 8;

fn count(of: usize) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
}

/// Asks for what a status can do without: an engine that is busy with an evaluation does not hold it up.
fn soon(session: &DebugSession, request: Request) -> Result<Reply, Error> {
    session.send(request)?.wait(Instant::now() + PULSE)
}

/// Adds the threads of a program that is there, as far as they can be told.
fn threads(session: &DebugSession, report: &mut Report) {
    let Ok(Reply::Threads(threads)) = soon(session, Request::Threads) else {
        return;
    };
    let mut all = ThreadsReport::of(session.id(), &threads);
    report.more_threads = count(all.threads.len().saturating_sub(THREADS));
    all.threads.truncate(THREADS);
    for thread in &mut all.threads {
        // threads_get tells where they are.
        thread.top = None;
    }
    report.threads = all.threads;
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
fn next(report: &Report, policy: &Policy, origin: Option<Origin>) -> Option<String> {
    let is = |kinds: &[&str]| {
        let reasons = report.stop.as_ref().map(|stop| stop.reasons.iter());
        reasons.is_some_and(|mut it| it.any(|reason| kinds.contains(&reason.kind)))
    };
    let unhandled = is(&[Reason::UNHANDLED, Reason::FAIL_FAST]);
    let text = match report.state {
        SessionState::Starting => "debug_wait waits on; debug_disconnect gives up.",
        SessionState::Running
            if report.waited_ms.is_some()
                && origin == Some(Origin::Launched)
                && policy.offers("process_input") =>
        {
            "debug_wait waits on; debug_pause stops it where it is; process_input if it waits for input."
        }
        SessionState::Running if report.waited_ms.is_some() => {
            "debug_wait waits on; debug_pause stops it where it is."
        }
        SessionState::Running => "debug_wait waits for a stop; debug_pause stops it where it is.",
        SessionState::Stopped if unhandled && let Some(name) = thrown_elsewhere(report) => {
            return Some(format!(
                "breakpoint_set_exception with types=[\"{name}\"], then debug_restart, stops where it is thrown, with its \
                 variables; debug_continue lets it end as it would without a debugger."
            ));
        }
        SessionState::Stopped if unhandled => {
            "debug_continue lets it end as it would without a debugger; debug_disconnect ends it now."
        }
        SessionState::Stopped if is(&[Reason::PAUSED]) => {
            "threads_get tells what all threads do and wait for; debug_continue lets it run on."
        }
        SessionState::Stopped if is_without_symbols(report, is(&["breakpoint"])) => {
            "debug_continue lets it run on; debug_step runs to the next code with symbols, and with just_my_code=false one \
             step of this code, which has none."
        }
        SessionState::Stopped => "debug_continue lets it run on; debug_step runs one statement.",
        SessionState::Failed => "debug_launch or debug_attach begins a new session.",
        SessionState::Exited | SessionState::Detached => return None,
    };
    Some(text.into())
}

/// Whether what is looked at is code that no symbols tell the statements of.
fn is_without_symbols(report: &Report, wanted: bool) -> bool {
    let stop = report
        .stop
        .as_ref()
        .filter(|it| wanted || it.source.is_empty());
    let first = stop.and_then(|stop| stop.frames.first());
    first.is_some_and(|it| it.kind == FrameReport::EXTERNAL && it.file.is_none())
}

/// The type of an exception whose place is gone: an await, or a task, has thrown it again.
fn thrown_elsewhere(report: &Report) -> Option<&str> {
    let stop = report.stop.as_ref()?;
    let first = stop.exceptions.first()?;
    let is_user = |kind| kind == FrameReport::USER;
    let is_here = stop
        .frames
        .iter()
        .any(|it| is_user(it.kind) && it.file.is_some());
    let can_begin_again = report.origin != Some("attached") && !is_here;
    first.thrown_at.as_ref().filter(|_| can_begin_again)?;
    Some(&first.type_name)
}
