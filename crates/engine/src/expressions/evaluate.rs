//! Evaluates expressions on request.

use std::rc::Rc;
use std::time::{Duration, Instant};

use cordebug::thread::Thread;
use syntax::FormatKind;
use syntax::tree::PseudoVariable;

use super::bind::Binder;
use super::effecting::{Prepared, prepare};
use super::error::{Fail, Result};
use super::frames::{context, exception};
use super::plan::Node;
use super::run::{Interrupt, Journal, Limits, Runner, Surroundings};
use crate::api::{Error, ErrorCode, Evaluate, Evaluated, EvaluatedValue, ExpressionError, Reply};
use crate::calls::CallSite;
use crate::engine::Engine;
use crate::stack::frame_at;
use crate::values::Unreadable;

/// Values inside values that are told as text.
const DEPTH: u32 = 4;
/// Calls and writes of one evaluation.
const MAX_EFFECTS: u32 = 1_000;

/// What is evaluated, where.
struct Place<'p> {
    text: &'p str,
    thread: &'p Thread,
    tid: u32,
    request: &'p Evaluate,
    deadline: Instant,
}

/// How a run ended.
enum Ran {
    Value(EvaluatedValue),
    Effect(Prepared),
}

impl Engine<'_> {
    /// Answers [`crate::api::Request::Evaluate`].
    pub(crate) fn evaluate_expressions(&mut self, request: &Evaluate) -> Result<Reply, Error> {
        self.check_stop(request.stop)?;
        let (id, thread) = self.thread_of(request.thread)?;
        // A frame that is not there is an error of the request, not of each expression.
        frame_at(self.stopped_target()?, &thread, request.frame)?;
        let mut all = Vec::with_capacity(request.expressions.len());
        for text in &request.expressions {
            let limit = Duration::from_millis(request.time_limit_ms.into());
            let place = Place {
                text,
                thread: &thread,
                tid: id.0,
                request,
                deadline: Instant::now() + limit,
            };
            let outcome = self.evaluate_one(&place);
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

    fn evaluate_one(&mut self, place: &Place<'_>) -> Result<EvaluatedValue> {
        let mut plan = None;
        let mut journal = Journal::default();
        for _ in 0..MAX_EFFECTS {
            match self.run_once(place, &mut plan, &mut journal)? {
                Ran::Value(value) => return Ok(value),
                Ran::Effect(prepared) => {
                    let site = CallSite::on(place.thread.clone());
                    let (thread, frame) = (place.thread, place.request.frame);
                    let root = |engine: &mut Engine<'_>, number: usize| {
                        let target = engine.stopped_target().ok()?;
                        let frame = frame_at(target, thread, frame).ok()?;
                        let target = &*target;
                        let reader = target.reader();
                        let scope = target.scope(&reader, frame).ok()?;
                        scope.variables.get(number)?.root.clone()
                    };
                    self.bring_about(prepared, &site, place.deadline, root, &mut journal)?;
                }
            }
        }
        Err(Fail::new(
            syntax::Span::empty(0),
            format!("the expression calls the program more than {MAX_EFFECTS} times"),
        ))
    }

    /// Runs a plan as far as reading goes.
    fn run_once(
        &mut self,
        place: &Place<'_>,
        plan: &mut Option<(Rc<Node>, u32, Limits, bool)>,
        journal: &mut Journal,
    ) -> Result<Ran> {
        let pid = self.pid.unwrap_or(0);
        let whole = syntax::Span::empty(0);
        let told = |error: Error| Fail::new(whole, error.message);
        let target = self.stopped_target().map_err(told)?;
        let frame = frame_at(target, place.thread, place.request.frame).map_err(told)?;
        let target = &*target;
        let reader = target.reader();
        let scope = target.scope(&reader, frame).map_err(told)?;
        let exception = match syntax::parse_watch(place.text) {
            Ok(watch) => exception(&reader, place.thread, &watch.expr),
            Err(_) => None,
        };
        let returned = match place.request.frame {
            0 => target.returned.last(place.tid),
            _ => None,
        };
        let returned = match returned {
            Some(call) if place.text.to_ascii_lowercase().contains("$returnvalue") => {
                let value = call.value.as_ref().map_err(Unreadable::clone);
                let value = value.and_then(|it| reader.restored(it));
                Some(value.map_err(|why| {
                    let method = &call.method;
                    Fail::new(
                        whole,
                        format!("what {method} returned cannot be read: {why}"),
                    )
                })?)
            }
            _ => None,
        };
        let (node, slots, limits, effects) = match plan {
            Some(known) => known.clone(),
            None => {
                let watch = syntax::parse_watch(place.text)?;
                let mut context = context(&reader, &scope, exception.as_ref());
                context.return_value = returned.as_ref().map(|it| it.ty.clone());
                let mut binder = Binder::new(reader.types, &context);
                let node = binder.whole(&watch.expr)?;
                let mut effects = place.request.side_effects;
                let mut limits = Limits {
                    elements: place.request.max_elements as usize,
                    text: place.request.max_text as usize,
                    depth: DEPTH,
                };
                for format in &watch.formats {
                    match &format.kind {
                        FormatKind::NoSideEffects => effects = false,
                        FormatKind::AllowCode => effects = true,
                        FormatKind::Count(count) => {
                            let count = Binder::new(reader.types, &context).whole(count)?;
                            let number = count.scalar().and_then(super::scalar::Scalar::integer);
                            match number.and_then(|it| usize::try_from(it).ok()) {
                                Some(number) => limits.elements = number,
                                None => {
                                    return Err(Fail::new(
                                        count.span,
                                        "the count must be a constant",
                                    ));
                                }
                            }
                        }
                        _ => {}
                    }
                }
                let known = (Rc::new(node), binder.slots(), limits, effects);
                *plan = Some(known.clone());
                known
            }
        };
        journal.active = effects && node.may_act();
        let variables = |number: usize| match scope.variables.get(number) {
            Some(variable) => variable.value.clone(),
            None => Err(Unreadable::OptimizedAway),
        };
        let around = Surroundings {
            variables: &variables,
            calls: effects,
            writes: effects,
            deadline: place.deadline,
            numbers: (pid, place.tid, 0),
            special: &|pseudo| match pseudo {
                PseudoVariable::Exception => exception.clone(),
                PseudoVariable::ReturnValue => returned.clone(),
                _ => None,
            },
            frame: Some(&scope.context.frame),
        };
        let mut runner = Runner::new(&reader, &around, slots, journal);
        let value = runner.eval(&node);
        let described =
            value.and_then(|value| runner.describe(&value, &node.ty, limits, node.span));
        match described {
            Ok(text) => Ok(Ran::Value(EvaluatedValue {
                ty: reader.types.full_text(&node.ty),
                text,
            })),
            Err(Interrupt::Fail(fail)) => Err(fail),
            Err(Interrupt::Effect(effect)) => prepare(&reader, &scope, *effect).map(Ran::Effect),
        }
    }
}
