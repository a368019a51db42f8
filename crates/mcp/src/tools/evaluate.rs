//! Evaluating C# expressions in a frame of a stopped program, and opening what they give.
//!
//! Looking (`variables_get`) runs nothing. What only code of the program can show of a value is therefore asked for here,
//! where code may run: `open` tells results as `ToString`, `DebuggerTypeProxy`, getters and enumerators do.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use host::api::{
    Error, ErrorCode, Evaluate, Evaluated, Reply, Request, StopId, ThreadId, VariablesQuery, View,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Call;
use super::values::FrameArguments;
use crate::failure;
use crate::registry::Which;
use crate::report::evaluations::EvaluationsReport;
use crate::session::{self, ANSWER, DebugSession};

/// Expressions evaluated in one call.
const EXPRESSIONS: usize = 20;
/// Members or elements told of each result that is opened.
const MEMBERS: u32 = 50;
/// Characters of each text in them, and bytes of all texts of one result.
const TEXT: (u32, u32) = (200, 8000);
/// How many times the limit of one piece of code the engine gives to all of a request.
const PIECES: u32 = 4;

#[derive(Deserialize, JsonSchema)]
pub(super) struct EvaluateArguments {
    #[serde(flatten)]
    at: FrameArguments,
    /// C# expressions, at most 20.
    expressions: Vec<String>,
    /// Allow calls and assignments.
    #[serde(default)]
    side_effects: bool,
    /// Show what is in results by ToString, getters, proxies, enumerators. Needs side_effects.
    #[serde(default)]
    open: bool,
    /// Let other threads run if it waits for them (task.Result). Needs side_effects.
    #[serde(default)]
    other_threads: bool,
    /// First member, with open.
    #[serde(default)]
    #[schemars(range(max = 9_007_199_254_740_991_u64))]
    start: u64,
    /// For all, shared equally.
    #[serde(default = "time_limit")]
    #[schemars(range(min = 1, max = 8000))]
    timeout_ms: u32,
    /// Unmask.
    #[serde(default)]
    show_secrets: bool,
}

fn time_limit() -> u32 {
    5000
}

pub(super) async fn evaluate(
    call: &Call,
    arguments: EvaluateArguments,
) -> Result<EvaluationsReport, Error> {
    let at = &arguments.at;
    let session = call.registry.find(at.session.as_deref(), Which::Live)?;
    let wanted = arguments.expressions.len();
    if wanted == 0 || wanted > EXPRESSIONS {
        return Err(Error::new(
            ErrorCode::InvalidParameter,
            format!("evaluate takes 1 to {EXPRESSIONS} expressions, not {wanted}"),
        ));
    }
    if arguments.other_threads && !arguments.side_effects {
        let message =
            "other_threads is for code of the program, which only side_effects=true allows";
        return Err(Error::new(ErrorCode::InvalidParameter, message).hint("set it, too"));
    }
    if arguments.open && !arguments.side_effects {
        let message = "open runs code of the program, which only side_effects=true allows";
        return Err(Error::new(ErrorCode::InvalidParameter, message)
            .hint("set it, or look without running code: variables_get with the result's path"));
    }
    let deadline = Instant::now() + Duration::from_millis(arguments.timeout_ms.into());
    let frame = at.frame(&session).await;
    let request = Evaluate {
        expressions: arguments.expressions,
        thread: at.thread.map(ThreadId),
        frame,
        stop: at.stop.map(StopId),
        side_effects: arguments.side_effects,
        other_threads: arguments.other_threads,
        time_limit_ms: arguments.timeout_ms.max(1),
        shared_time: true,
        max_elements: MEMBERS,
        max_text: 1000,
        view: View::default(),
        mask_secrets: !arguments.show_secrets,
        as_variables: true,
        types_only: false,
        force: false,
    };
    let turn = Arc::new(session.turn_to_evaluate().await);
    // What does not end has to be ended, which takes longer than its time.
    let limit = Duration::from_millis(arguments.timeout_ms.into()) + ANSWER;
    let answer = ask(&session, &turn, Request::Evaluate(request), limit).await;
    if arguments.side_effects {
        session.told().stale = true;
    }
    let mut results = match answer? {
        Reply::Evaluated(results) => results,
        other => return Err(session::unexpected(&other)),
    };
    for result in &mut results {
        if let Err(why) = &mut result.outcome {
            why.error = failure::for_agents(why.error.clone());
            call.registry.policy().correct_hint(&mut why.error);
        }
    }
    let mut report = EvaluationsReport::of(session.id(), &results);
    report.frame = frame;
    if arguments.open {
        let query = VariablesQuery {
            thread: at.thread.map(ThreadId),
            frame,
            stop: at.stop.map(StopId),
            start: arguments.start,
            count: MEMBERS,
            view: View {
                run_code: true,
                other_threads: arguments.other_threads,
                properties: true,
                mask_secrets: !arguments.show_secrets,
                text_length: TEXT.0,
                total_text: TEXT.1,
                ..View::default()
            },
            ..VariablesQuery::default()
        };
        let request = Request::Variables(Box::new(query.clone()));
        session.policy().check_request(&request, false)?;
        open(&session, &turn, &results, query, deadline, &mut report).await;
    }
    Ok(report.fit())
}

/// Tells what is in each result, which runs code of the program.
async fn open(
    session: &Arc<DebugSession>,
    turn: &Arc<Turn>,
    results: &[Evaluated],
    query: VariablesQuery,
    deadline: Instant,
    report: &mut EvaluationsReport,
) {
    let mut left = results.len();
    for (result, entry) in results.iter().zip(&mut report.results) {
        let shares = u32::try_from(left).unwrap_or(u32::MAX).max(1);
        left -= 1;
        let variable = result.outcome.as_ref().ok();
        let variable = variable.and_then(|value| value.variable.as_deref());
        let Some(variable) = variable.filter(|it| !it.path.is_empty()) else {
            continue;
        };
        // What is left of the time is shared by those that are left.
        let remaining = deadline.saturating_duration_since(Instant::now()) / shares;
        let remaining = u32::try_from(remaining.as_millis()).unwrap_or(u32::MAX);
        let query = VariablesQuery {
            path: Some(variable.path.clone()),
            view: View {
                time_limit: (remaining / PIECES).max(1),
                ..query.view.clone()
            },
            ..query.clone()
        };
        let request = Request::Variables(Box::new(query));
        match ask(session, turn, request, ANSWER).await {
            Ok(Reply::Variables(told)) => entry.open(session.id(), &told),
            Ok(other) => entry.cannot_open(&session::unexpected(&other)),
            Err(error) => entry.cannot_open(&failure::for_agents(error)),
        }
    }
}

/// The turn of a call to evaluate.
type Turn = tokio::sync::OwnedMutexGuard<()>;

/// Asks the engine for something that may run code; whoever gives up waiting gives that up.
async fn ask(
    session: &Arc<DebugSession>,
    turn: &Arc<Turn>,
    request: Request,
    limit: Duration,
) -> Result<Reply, Error> {
    let state = Arc::new(Mutex::new(State::Waiting));
    let _give_up = GiveUp(session.clone(), state.clone());
    let turn = turn.clone();
    session
        .blocking(move |session| {
            // Held until the engine has answered, whoever still waits for that.
            let _turn = turn;
            let sent = {
                let mut state = lock(&state);
                if *state == State::Over {
                    return Err(Error::new(ErrorCode::Timeout, "the call was cancelled"));
                }
                let sent = session.send(request)?;
                *state = State::Sent;
                sent
            };
            let reply = sent.wait(Instant::now() + limit);
            *lock(&state) = State::Over;
            reply
        })
        .await?
}

/// How far an evaluation has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The engine has not been asked.
    Waiting,
    /// The engine has been asked.
    Sent,
    /// The engine has answered, or shall not be asked any more.
    Over,
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives an evaluation up whose call was cancelled before it was answered. The engine hears of that behind the evaluation and
/// before any other.
struct GiveUp(Arc<DebugSession>, Arc<Mutex<State>>);

impl Drop for GiveUp {
    fn drop(&mut self) {
        let (session, state) = (self.0.clone(), self.1.clone());
        if *lock(&state) == State::Over {
            return;
        }
        tokio::task::spawn_blocking(move || {
            let cancelled = {
                let mut state = lock(&state);
                let was = std::mem::replace(&mut *state, State::Over);
                (was == State::Sent).then(|| session.send(Request::CancelEvaluation))
            };
            let told = cancelled.map(|sent| sent?.wait(Instant::now() + ANSWER));
            if let Some(Err(error)) = told {
                tracing::debug!(%error, "giving an evaluation up");
            }
        });
    }
}
