//! Evaluating C# expressions in a frame of a stopped program.

use std::sync::Arc;

use host::api::{Error, ErrorCode, Evaluate, Reply, Request, StopId, ThreadId, View};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Call;
use super::values::FrameArguments;
use crate::failure;
use crate::registry::Which;
use crate::report::evaluations::EvaluationsReport;
use crate::session::{self, DebugSession};

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
    let mut guard = GiveUp(Some(session.clone()));
    let reply = session.request(Request::Evaluate(request)).await;
    guard.0 = None;
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

/// Gives an evaluation up whose call was cancelled before it was answered.
struct GiveUp(Option<Arc<DebugSession>>);

impl Drop for GiveUp {
    fn drop(&mut self) {
        let Some(session) = self.0.take() else {
            return;
        };
        tokio::task::spawn_blocking(move || {
            if let Err(error) = session.ask(Request::CancelEvaluation) {
                tracing::debug!(%error, "giving an evaluation up");
            }
        });
    }
}
