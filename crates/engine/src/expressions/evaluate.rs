//! Evaluates expressions on request.

use std::rc::Rc;
use std::time::{Duration, Instant};

use cordebug::thread::Thread;
use syntax::tree::PseudoVariable;
use syntax::{FormatKind, Watch};

use super::bind::{Binder, Context};
use super::effecting::{Prepared, prepare};
use super::error::{Fail, Result};
use super::frames::{context, exception};
use super::plan::Node;
use super::run::{Interrupt, Journal, Limits, Runner, Surroundings};
use crate::api::{
    Error, ErrorCode, Evaluate, Evaluated, EvaluatedValue, ExpressionError, Reply, StopReason, View,
};
use crate::calls::CallSite;
use crate::engine::Engine;
use crate::stack::frame_at;
use crate::target::Target;
use crate::types::Type;
use crate::values::view::secrets;
use crate::values::{Reader, Unreadable, Value};

/// Values inside values that are told as text.
const DEPTH: u32 = 4;
/// Calls and writes of one evaluation.
const MAX_EFFECTS: u32 = 1_000;

/// What is evaluated, where.
struct Place<'p> {
    text: &'p str,
    watch: Watch,
    thread: &'p Thread,
    /// `$pid`, `$tid`, `$hitcount`.
    numbers: (u32, u32, u64),
    request: &'p Evaluate,
    deadline: Instant,
}

/// A plan, and how its value is told.
#[derive(Clone)]
struct Planned {
    node: Rc<Node>,
    slots: u32,
    limits: Limits,
    view: View,
    effects: bool,
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
        let numbers = (self.pid.unwrap_or(0), id.0, self.hits_of_stop());
        let mut all = Vec::with_capacity(request.expressions.len());
        self.evaluations.begin();
        for text in &request.expressions {
            // What was not begun when the request was given up is left alone.
            let begun = if self.evaluations.is_cancelled() {
                let why = "it was cancelled before it was begun";
                Err(Fail::new(syntax::Span::empty(0), why))
            } else {
                Ok(())
            };
            let limit = Duration::from_millis(request.time_limit_ms.into());
            let outcome = begun
                .and_then(|()| syntax::parse_watch(text).map_err(Box::<Fail>::from))
                .and_then(|watch| {
                    self.evaluate_one(&Place {
                        text,
                        watch,
                        thread: &thread,
                        numbers,
                        request,
                        deadline: Instant::now() + limit,
                    })
                });
            all.push(Evaluated {
                expression: text.clone(),
                outcome: outcome.map_err(|fail| ExpressionError {
                    code: fail.code.map(str::to_owned),
                    exception: fail.thrown.as_ref().map(|it| it.type_name.clone()),
                    thrown: fail.thrown.clone(),
                    error: fail.to_api(text, ErrorCode::EvaluationFailed),
                }),
            });
        }
        Ok(Reply::Evaluated(all))
    }

    /// How often the program came by the breakpoint that stopped it.
    fn hits_of_stop(&mut self) -> u64 {
        let reasons = self.stop.iter().flat_map(|stop| &stop.reasons);
        let mut ids = reasons.filter_map(|reason| match reason {
            StopReason::Breakpoint { ids } => ids.first().copied(),
            StopReason::ConditionFailed { id, .. } => Some(*id),
            _ => None,
        });
        let id = ids.next();
        id.map_or(0, |id| self.breakpoints.passes(id))
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
                        let variables = target.frame_variables(&reader, frame).ok()?;
                        variables.runtime_place(&reader, number)
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
        plan: &mut Option<Planned>,
        journal: &mut Journal,
    ) -> Result<Ran> {
        let forbidden = self.evaluations.is_forbidden();
        let whole = syntax::Span::empty(0);
        let told = |error: Error| Fail::new(whole, error.message);
        let target = self.stopped_target().map_err(told)?;
        let frame = frame_at(target, place.thread, place.request.frame).map_err(told)?;
        let target = &*target;
        let reader = target.reader();
        let scope = target.frame_variables(&reader, frame).map_err(told)?;
        let exception = exception(&reader, place.thread, &place.watch.expr);
        let returned = place.returned(target, &reader)?;
        let planned = match plan {
            Some(known) => known.clone(),
            None => {
                let mut context = context(&reader, &scope, exception.as_ref());
                context.handles = target.handle_types();
                context.return_value = returned.as_ref().map(|it| it.ty.clone());
                let mut planned = place.plan(&reader, &context)?;
                // Also where the expression itself asks for them.
                planned.effects &= !forbidden;
                plan.insert(planned).clone()
            }
        };
        journal.active = planned.effects && planned.node.may_act();
        let variables = |number: usize| scope.value(&reader, number);
        let around = Surroundings {
            variables: &variables,
            calls: planned.effects,
            writes: planned.effects,
            deadline: place.deadline,
            numbers: place.numbers,
            special: &|pseudo| match pseudo {
                PseudoVariable::Exception => exception.clone(),
                PseudoVariable::Handle(number) => target.handle(&reader, number),
                PseudoVariable::ReturnValue => returned.clone(),
                _ => None,
            },
            frame: Some(&scope.context.frame),
        };
        let node = &planned.node;
        let mut runner = Runner::new(&reader, &around, planned.slots, journal);
        let value = runner.eval(node);
        let told = value.and_then(|value| {
            let text = runner.describe(&value, &node.ty, planned.limits, node.span)?;
            Ok((value, text))
        });
        match told {
            Ok((value, text)) => {
                // A comparison with a secret tells no secret.
                let is_secret = place.request.mask_secrets
                    && node.ty != Type::BOOL
                    && secrets::is_secret_named(place.text);
                let masked = "*** (masked because of a name in the expression)";
                let opened = || target.result(&reader, &planned.view, &value, place.text);
                Ok(Ran::Value(EvaluatedValue {
                    ty: reader.types.full_text(&node.ty),
                    variable: (!is_secret).then(opened).flatten().map(Box::new),
                    text: if is_secret { masked.into() } else { text },
                }))
            }
            Err(Interrupt::Fail(fail)) => Err(fail),
            Err(Interrupt::Effect(effect)) => {
                prepare(&reader, Some(&scope), *effect).map(Ran::Effect)
            }
        }
    }
}

impl Place<'_> {
    /// What `$returnvalue` stands for, if the expression asks for it.
    fn returned(&self, target: &Target, reader: &Reader<'_>) -> Result<Option<Value>> {
        if self.request.frame != 0 || !self.text.to_ascii_lowercase().contains("$returnvalue") {
            return Ok(None);
        }
        let (_, tid, _) = self.numbers;
        let Some(call) = target.returned.last(tid) else {
            return Ok(None);
        };
        let value = call.value.as_ref().map_err(Unreadable::clone);
        let value = value.and_then(|it| reader.restored(it));
        value.map(Some).map_err(|why| {
            let method = &call.method;
            Fail::new(
                syntax::Span::empty(0),
                format!("what {method} returned cannot be read: {why}"),
            )
        })
    }

    fn plan(&self, reader: &Reader<'_>, context: &Context) -> Result<Planned> {
        let mut binder = Binder::new(reader.types, context).until(self.deadline);
        let node = binder.whole(&self.watch.expr)?;
        let request = self.request;
        let mut planned = Planned {
            node: Rc::new(node),
            slots: binder.slots(),
            limits: Limits {
                elements: request.max_elements as usize,
                text: request.max_text as usize,
                depth: DEPTH,
                hex: request.view.hex,
                quotes: true,
                masked: request.mask_secrets,
            },
            view: View {
                mask_secrets: request.mask_secrets || request.view.mask_secrets,
                ..request.view.clone()
            },
            effects: request.side_effects,
        };
        for format in &self.watch.formats {
            match &format.kind {
                FormatKind::NoSideEffects => planned.effects = false,
                FormatKind::AllowCode => planned.effects = true,
                FormatKind::Hex => (planned.limits.hex, planned.view.hex) = (true, true),
                FormatKind::Decimal => (planned.limits.hex, planned.view.hex) = (false, false),
                FormatKind::NoQuotes => planned.limits.quotes = false,
                FormatKind::Raw => planned.view.raw = true,
                FormatKind::Count(count) => {
                    let count = Binder::new(reader.types, context).whole(count)?;
                    let number = count.scalar().and_then(super::scalar::Scalar::integer);
                    let number = number.and_then(|it| usize::try_from(it).ok());
                    planned.limits.elements = number
                        .ok_or_else(|| Fail::new(count.span, "the count must be a constant"))?;
                }
                // All members are told as it is, and elements of a sequence are its text.
                FormatKind::Hidden | FormatKind::Dynamic | FormatKind::Results => {}
            }
        }
        Ok(planned)
    }
}

impl Target {
    /// The types of kept objects, by their numbers.
    pub(super) fn handle_types(&self) -> Vec<(u32, crate::types::Type)> {
        let kept = self.kept.iter();
        kept.filter_map(|(number, held)| Some((u32::try_from(*number).ok()?, held.ty().clone())))
            .collect()
    }

    /// A kept object.
    pub(super) fn handle(&self, reader: &Reader<'_>, number: u32) -> Option<Value> {
        let held = self.kept.get(&u64::from(number))?;
        let object = reader.held(held).ok()?;
        Some(reader.reference_to(&object))
    }
}
