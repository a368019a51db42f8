//! Evaluating C# expressions in a frame of a stopped program.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use host::api::{Error, ErrorCode, Evaluate, Reply, Request, StopId, ThreadId, View};
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

#[derive(Deserialize, JsonSchema)]
pub(super) struct EvaluateArguments {
    #[serde(flatten)]
    at: FrameArguments,
    /// C# expressions, at most 20.
    expressions: Vec<String>,
    /// Allow calls and assignments.
    #[serde(default)]
    side_effects: bool,
    /// For all of them together.
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
    let each = arguments.timeout_ms / u32::try_from(wanted).unwrap_or(u32::MAX);
    let request = Evaluate {
        expressions: arguments.expressions,
        thread: at.thread.map(ThreadId),
        frame: at.frame,
        stop: at.stop.map(StopId),
        side_effects: arguments.side_effects,
        time_limit_ms: each.max(1),
        max_elements: 50,
        max_text: 1000,
        view: View::default(),
        mask_secrets: !arguments.show_secrets,
    };
    // What does not end has to be ended, which takes longer than its time.
    let limit = Duration::from_millis(arguments.timeout_ms.into()) + ANSWER;
    let turn = session.turn_to_evaluate().await;
    let state = Arc::new(Mutex::new(State::Waiting));
    let _give_up = GiveUp(session.clone(), state.clone());
    let reply = session
        .blocking(move |session| {
            // Held until the engine has answered, whoever still waits for that.
            let _turn = turn;
            let sent = {
                let mut state = lock(&state);
                if *state == State::Over {
                    return Err(Error::new(ErrorCode::Timeout, "the call was cancelled"));
                }
                let sent = session.send(Request::Evaluate(request))?;
                *state = State::Sent;
                sent
            };
            let reply = sent.wait(Instant::now() + limit);
            *lock(&state) = State::Over;
            reply
        })
        .await?;
    match reply? {
        Reply::Evaluated(mut results) => {
            for result in &mut results {
                if let Err(why) = &mut result.outcome {
                    why.error = failure::for_agents(why.error.clone());
                    call.registry.policy().correct_hint(&mut why.error);
                }
            }
            Ok(EvaluationsReport::of(session.id(), &results))
        }
        other => Err(session::unexpected(&other)),
    }
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
