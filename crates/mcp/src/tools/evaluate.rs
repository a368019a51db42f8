//! Evaluating C# expressions in a frame of a stopped program, and opening what they give.
//!
//! Looking (`variables_get`) runs nothing. What only code of the program can show of a value is therefore asked for here,
//! where code may run: `open` tells results as `ToString`, `DebuggerTypeProxy`, getters and enumerators do.

use std::sync::Arc;
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
use crate::session::{self, DebugSession};

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
    /// First member, with open.
    #[serde(default)]
    #[schemars(range(max = 9_007_199_254_740_991_u64))]
    start: u64,
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
    if arguments.open && !arguments.side_effects {
        let message = "open runs code of the program, which only side_effects=true allows";
        return Err(Error::new(ErrorCode::InvalidParameter, message)
            .hint("set it, or look without running code: variables_get with the result's path"));
    }
    let each = arguments.timeout_ms / u32::try_from(wanted).unwrap_or(u32::MAX);
    let deadline = Instant::now() + Duration::from_millis(arguments.timeout_ms.into());
    let request = Evaluate {
        expressions: arguments.expressions,
        thread: at.thread.map(ThreadId),
        frame: at.frame,
        stop: at.stop.map(StopId),
        side_effects: arguments.side_effects,
        time_limit_ms: each.max(1),
        max_elements: MEMBERS,
        max_text: 1000,
        view: View::default(),
        mask_secrets: !arguments.show_secrets,
    };
    let mut guard = GiveUp(Some(session.clone()));
    let reply = session.request(Request::Evaluate(request)).await;
    let mut results = match reply {
        Ok(Reply::Evaluated(results)) => results,
        Ok(other) => return Err(session::unexpected(&other)),
        Err(error) => {
            guard.0 = None;
            return Err(error);
        }
    };
    for result in &mut results {
        if let Err(why) = &mut result.outcome {
            why.error = failure::for_agents(why.error.clone());
            call.registry.policy().correct_hint(&mut why.error);
        }
    }
    let mut report = EvaluationsReport::of(session.id(), &results);
    if arguments.open {
        let query = VariablesQuery {
            thread: at.thread.map(ThreadId),
            frame: at.frame,
            stop: at.stop.map(StopId),
            start: arguments.start,
            count: MEMBERS,
            view: View {
                run_code: true,
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
        open(&session, &results, query, deadline, &mut report).await;
    }
    guard.0 = None;
    Ok(report)
}

/// Tells what is in each result, which runs code of the program.
async fn open(
    session: &Arc<DebugSession>,
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
        match session.request(Request::Variables(Box::new(query))).await {
            Ok(Reply::Variables(told)) => entry.open(session.id(), &told),
            Ok(other) => entry.cannot_open(&session::unexpected(&other)),
            Err(error) => entry.cannot_open(&failure::for_agents(error)),
        }
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
