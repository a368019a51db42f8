//! Evaluates expressions on request.

use std::time::{Duration, Instant};

use super::bind::Binder;
use super::error::{Fail, Result};
use super::frames::context;
use super::run::{Interrupt, Journal, Limits, Runner, Surroundings};
use crate::api::{Error, ErrorCode, Evaluate, Evaluated, EvaluatedValue, ExpressionError, Reply};
use crate::engine::Engine;
use crate::stack::frame_at;
use crate::values::Unreadable;
use crate::values::scope::Scope;

/// Values inside values that are told as text.
const DEPTH: u32 = 4;

impl Engine<'_> {
    /// Answers [`crate::api::Request::Evaluate`].
    pub(crate) fn evaluate_expressions(&mut self, request: &Evaluate) -> Result<Reply, Error> {
        self.check_stop(request.stop)?;
        let pid = self.pid.unwrap_or(0);
        let (id, thread) = self.thread_of(request.thread)?;
        let tid = id.0;
        let target = self.stopped_target()?;
        let frame = frame_at(target, &thread, request.frame)?;
        let target = &*target;
        let reader = target.reader();
        let scope = target.scope(&reader, frame)?;
        let limits = Limits {
            elements: request.max_elements as usize,
            text: request.max_text as usize,
            depth: DEPTH,
        };
        let mut all = Vec::with_capacity(request.expressions.len());
        for text in &request.expressions {
            let deadline = Instant::now() + Duration::from_millis(request.time_limit_ms.into());
            let outcome = one(&reader, &scope, text, limits, deadline, (pid, tid));
            all.push(Evaluated {
                expression: text.clone(),
                outcome: outcome.map_err(|fail| ExpressionError {
                    code: fail.code.map(str::to_owned),
                    exception: fail.thrown.as_ref().map(|it| it.ty.clone()),
                    error: fail.to_api(text, ErrorCode::EvaluationFailed),
                }),
            });
        }
        Ok(Reply::Evaluated(all))
    }
}

fn one(
    reader: &crate::values::Reader<'_>,
    scope: &Scope,
    text: &str,
    limits: Limits,
    deadline: Instant,
    (pid, tid): (u32, u32),
) -> Result<EvaluatedValue> {
    let watch = syntax::parse_watch(text)?;
    let context = context(reader, scope);
    let mut binder = Binder::new(reader.types, &context);
    let plan = binder.whole(&watch.expr)?;
    let slots = binder.slots();
    let variables = |number: usize| match scope.variables.get(number) {
        Some(variable) => variable.value.clone(),
        None => Err(Unreadable::OptimizedAway),
    };
    let around = Surroundings {
        variables: &variables,
        calls: false,
        writes: false,
        deadline,
        numbers: (pid, tid, 0),
        special: &|_| None,
        frame: Some(&scope.context.frame),
    };
    let mut journal = Journal::default();
    let mut runner = Runner::new(reader, &around, slots, &mut journal);
    let value = runner.eval(&plan);
    let described = value.and_then(|value| runner.describe(&value, &plan.ty, limits, plan.span));
    match described {
        Ok(text) => Ok(EvaluatedValue {
            ty: reader.types.full_text(&plan.ty),
            text,
        }),
        Err(Interrupt::Fail(fail)) => Err(fail),
        Err(Interrupt::Effect(_)) => Err(Fail::new(plan.span, "it would run code in the program")),
    }
}
