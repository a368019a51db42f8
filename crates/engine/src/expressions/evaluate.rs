//! Evaluates expressions on request.

use std::cell::OnceCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use cordebug::thread::{Frame, Thread};
use metadata::signature::Primitive;
use syntax::tree::PseudoVariable;
use syntax::{FormatKind, Watch};

use super::bind::{Binder, Context, Given, Late, Variable};
use super::effecting::Asked;
use super::error::{Fail, Result};
use super::frames::{context, exception, held_by_dynamic, open_dynamic};
use super::incoming::Incoming;
use super::keeping::keeping;
use super::passing::{Prepared, prepare};
use super::plan::Node;
use super::probing::Looking;
use super::run::{Interrupt, Journal, Limits, Runner, Surroundings};
use crate::api::{
    Error, ErrorCode, Evaluate, Evaluated, EvaluatedValue, ExpressionError, Reply, SetVariable,
    StopReason, View,
};
use crate::calls::CallSite;
use crate::engine::Engine;
use crate::stack::frame_at;
use crate::target::Target;
use crate::types::{Type, TypeNotes};
use crate::values::roots::Roots;
use crate::values::view::{Viewer, secrets};
use crate::values::{Destination, Reader, ReturnedCall, Unreadable, Value};

/// Values inside values that are told as text.
const DEPTH: u32 = 4;
/// What is told of a call that gives no value.
const RETURNED_NOTHING: &str = "(returned nothing)";
/// Calls and writes of one evaluation.
const MAX_EFFECTS: u32 = 1_000;
/// What stands for a place that C# has no expression for, in an assignment to it.
const DESTINATION: &str = "__ndbg_place";
/// The method that puts a reference where another leads.
const PUT: &str = "System.Threading.Volatile.Write";
/// Assemblies that are loaded for one expression at most.
const MAX_LOADED: usize = 8;

/// What is evaluated, where.
struct Place<'p> {
    text: &'p str,
    watch: Watch,
    thread: &'p Thread,
    /// `$pid`, `$tid`, `$hitcount`.
    numbers: (u32, u32, u64),
    request: &'p Evaluate,
    /// Whether the result is to be kept.
    keeps: bool,
    /// The place that [`DESTINATION`] stands for.
    into: Option<&'p SetVariable>,
    /// Whether a method of the framework is to put a reference there, which is its only variable: the library cannot.
    through_call: bool,
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
        self.evaluate_all(request, None)
    }

    /// Assigns to a place that a path leads to; all else is as the request says. Where the library has no value of the place,
    /// a reference is put there `through_call`: the collector must hear of it.
    pub(crate) fn evaluate_into(
        &mut self,
        set: &SetVariable,
        request: &Evaluate,
        through_call: bool,
    ) -> Result<Reply, Error> {
        let value = &set.value;
        let text = match through_call {
            true => format!("{PUT}(ref {DESTINATION}, {value})"),
            false => format!("{DESTINATION} = {value}"),
        };
        let request = Evaluate {
            expressions: vec![text],
            ..request.clone()
        };
        self.evaluate_all(&request, Some((set, through_call)))
    }

    fn evaluate_all(
        &mut self,
        request: &Evaluate,
        into: Option<(&SetVariable, bool)>,
    ) -> Result<Reply, Error> {
        self.check_stop(request.stop)?;
        let (id, thread) = self.thread_of(request.thread)?;
        // A frame that is not there is an error of the request, not of each expression.
        frame_at(self.stopped_target()?, &thread, request.frame)?;
        let numbers = (self.pid.unwrap_or(0), id.0, self.hits_of_stop());
        let mut all = Vec::with_capacity(request.expressions.len());
        self.evaluations.begin();
        let limit = Duration::from_millis(request.time_limit_ms.into());
        let end = Instant::now() + limit;
        let reading = Evaluate {
            side_effects: false,
            ..request.clone()
        };
        for (index, asked) in request.expressions.iter().enumerate() {
            // Then a value can still be read, if that takes no time.
            let is_over = request.shared_time && Instant::now() >= end;
            let request = if is_over { &reading } else { request };
            let kept = keeping(asked);
            let text = kept.map_or(asked.as_str(), |(_, value)| value);
            // What was not begun when the request was given up is left alone.
            let begun = if self.evaluations.is_cancelled() {
                let why = "it was cancelled before it was begun";
                Err(Fail::new(syntax::Span::empty(0), why))
            } else if kept.is_some() && !request.side_effects {
                let why = "keeping an object alive changes the program, which is not allowed here";
                let fail = Fail::new(syntax::Span::empty(0), why);
                Err(fail.hint("side_effects allows it"))
            } else {
                Ok(())
            };
            let limit = match u32::try_from(request.expressions.len() - index) {
                Ok(rest) if request.shared_time => {
                    end.saturating_duration_since(Instant::now()) / rest.max(1)
                }
                _ => limit,
            };
            let outcome = begun
                .and_then(|()| syntax::parse_watch(text).map_err(Box::<Fail>::from))
                .and_then(|watch| {
                    self.evaluate_one(&Place {
                        text,
                        watch,
                        thread: &thread,
                        numbers,
                        request,
                        keeps: kept.is_some(),
                        into: into.map(|(set, _)| set),
                        through_call: into.is_some_and(|(_, through_call)| through_call),
                        deadline: Instant::now() + limit,
                    })
                })
                .and_then(|value| match kept {
                    // Who asks only for types does not mean it yet.
                    Some((Some(_), "null")) if request.types_only => Ok(value),
                    Some((Some(number), "null")) => self.let_go_of_kept(number, value),
                    Some((number, _)) => self.keep_evaluated(request, &thread, number, value),
                    None => Ok(value),
                })
                .map_err(|fail| match fail.code {
                    None if is_over && fail.thrown.is_none() => not_run(fail.span),
                    _ => fail,
                });
            all.push(Evaluated {
                expression: asked.clone(),
                notes: self.evaluations.take_notes(),
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
            StopReason::Breakpoint { ids } | StopReason::Exception { ids, .. } => {
                ids.first().copied()
            }
            StopReason::ConditionFailed { id, .. } => Some(*id),
            _ => None,
        });
        let id = ids.next();
        id.map_or(0, |id| {
            self.breakpoints.passes(id) + self.exceptions.passes(id)
        })
    }

    fn evaluate_one(&mut self, place: &Place<'_>) -> Result<EvaluatedValue> {
        let given = |this: &Self| this.target.as_ref().map(|it| it.layouts.given.mark());
        let mark = given(self);
        let value = self.evaluate_through(place);
        // What was not set has no value.
        if value.is_err()
            && let (Some(target), Some(mark)) = (&self.target, mark)
        {
            target.layouts.given.forget_since(mark);
        }
        value
    }

    fn evaluate_through(&mut self, place: &Place<'_>) -> Result<EvaluatedValue> {
        let mut plan = None;
        let mut journal = Journal::default();
        let mut loaded = Vec::new();
        for _ in 0..MAX_EFFECTS {
            let incoming = Incoming::new(self.inputs);
            let ran = self.run_once(place, &mut plan, &mut journal, &incoming);
            self.see_to(incoming);
            let ran = match ran {
                // The program would load it when it comes to code that needs it.
                Err(fail) if plan.is_none() && place.request.side_effects => {
                    let site = CallSite::on(place.thread.clone());
                    match self.load_what_lacks(&site, &fail, &mut loaded) {
                        true => continue,
                        false => return Err(fail),
                    }
                }
                ran => ran?,
            };
            match ran {
                Ran::Value(value) => return Ok(value),
                Ran::Effect(prepared) => {
                    let site = CallSite {
                        others: place.may_let_others_go(),
                        ..CallSite::on(place.thread.clone())
                    };
                    let root = |engine: &mut Engine<'_>, asked: Asked<'_>| {
                        let target = engine.stopped_target().ok()?;
                        let frame = frame_at(target, place.thread, place.request.frame).ok()?;
                        let target = &*target;
                        let reader = target.reader();
                        match asked {
                            Asked::Variable(number) => {
                                let variables = target.frame_variables(&reader, frame.clone());
                                let variables = variables.ok()?;
                                if number == variables.shape.variables.len() {
                                    if place.through_call {
                                        let at = |engine: &mut Engine<'_>| place.address(engine);
                                        return engine.led_place(&site, at);
                                    }
                                    return place.destination(target, frame)?.ok()?.runtime;
                                }
                                variables.runtime_place(&reader, number)
                            }
                            Asked::Static(field) => {
                                let named = &field.declared_in;
                                let reader = reader.looking_from(Some(&frame));
                                reader.runtime_static(named, field.token)
                            }
                        }
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

    /// Loads the assembly without which an expression does not bind, once; whether it is worth while to bind again.
    pub(super) fn load_what_lacks(
        &mut self,
        site: &CallSite,
        fail: &Fail,
        loaded: &mut Vec<Box<str>>,
    ) -> bool {
        let Some(assembly) = &fail.lacks else {
            return false;
        };
        if self.evaluations.is_forbidden()
            || loaded.contains(assembly)
            || loaded.len() >= MAX_LOADED
        {
            return false;
        }
        loaded.push(assembly.clone());
        self.load_assembly(site, assembly).is_ok()
    }

    /// Runs a plan as far as reading goes.
    fn run_once(
        &mut self,
        place: &Place<'_>,
        plan: &mut Option<Planned>,
        journal: &mut Journal,
        incoming: &Incoming<'_>,
    ) -> Result<Ran> {
        let forbidden = self.evaluations.is_forbidden();
        let whole = syntax::Span::empty(0);
        let told = |error: Error| Fail::new(whole, error.message);
        let target = self.stopped_target().map_err(told)?;
        let frame = frame_at(target, place.thread, place.request.frame).map_err(told)?;
        let target = &*target;
        let reader = target.reader();
        let scope = target
            .frame_variables(&reader, frame.clone())
            .map_err(told)?;
        let exception = exception(&reader, place.thread, &place.watch.expr);
        let returned = place.returned(target, &reader)?;
        let into = place.destination(target, frame).transpose().map_err(told)?;
        let into = into.map(|it| it.value);
        let own = scope.shape.variables.len();
        let around_here = || {
            let mut context = context(&reader, &scope, exception.as_ref());
            open_dynamic(&held_by_dynamic(&reader, &scope), &mut context);
            if let Some(into) = &into {
                context
                    .variables
                    .push(Variable::named(DESTINATION, into.ty.clone()));
            }
            context.handles = target.handle_types();
            context.return_values = returned
                .iter()
                .map(|(number, call, value)| {
                    let names = super::frames::tuple_names(&call.notes);
                    (*number, value.ty.clone(), names)
                })
                .collect();
            context
        };
        let variables = |number: usize| match &into {
            Some(into) if number == own => Ok(into.clone()),
            _ => scope.value(&reader, number),
        };
        let planned = match plan {
            Some(known) => known.clone(),
            None => {
                let context = around_here();
                let around = Surroundings {
                    variables: &variables,
                    calls: false,
                    writes: false,
                    forced: false,
                    deadline: place.deadline,
                    given_up: &|| incoming.given_up(),
                    numbers: place.numbers,
                    special: &|_| None,
                    late: None,
                    frame: Some(&scope.context.frame),
                };
                let looking = Looking {
                    reader: &reader,
                    around: &around,
                };
                let mut planned = place.plan(&reader, &context, &looking)?;
                // Also where the expression itself asks for them.
                planned.effects &= !forbidden;
                if planned.effects && !place.request.types_only {
                    let assigned = planned.node.first_assigned();
                    for number in assigned.into_iter().filter(|it| *it < own) {
                        scope.give(&reader, number);
                    }
                }
                plan.insert(planned).clone()
            }
        };
        if place.request.types_only {
            return Ok(Ran::Value(EvaluatedValue {
                ty: type_text(&reader, &planned.node),
                text: String::new(),
                masked: false,
                variable: None,
            }));
        }
        let keeps = place.keeps && planned.effects;
        journal.active = keeps || planned.effects && planned.node.may_act();
        let known = OnceCell::new();
        let late = |late: &Late, given: &[Given], slots: u32, span: syntax::Span| {
            let context = known.get_or_init(around_here);
            let binder = Binder::new(reader.types, context).until(place.deadline);
            binder
                .reading(place.text)
                .bind_late(late, given, slots, span)
        };
        let around = Surroundings {
            variables: &variables,
            calls: planned.effects,
            writes: planned.effects,
            forced: place.request.force,
            deadline: place.deadline,
            given_up: &|| incoming.given_up(),
            numbers: place.numbers,
            special: &|pseudo| match pseudo {
                PseudoVariable::Exception => exception.clone(),
                PseudoVariable::Handle(number) => target.handle(&reader, number),
                PseudoVariable::ReturnValue(number) => {
                    let mut all = returned.iter();
                    let found = all.find(|(it, ..)| *it == number);
                    found.map(|(.., value)| value.clone())
                }
                _ => None,
            },
            late: Some(&late),
            frame: Some(&scope.context.frame),
        };
        let node = &planned.node;
        let mut runner = Runner::new(&reader, &around, planned.slots, journal)
            .noticing_secrets(place.request.mask_secrets);
        let value = runner.eval(node);
        let told = value.and_then(|value| {
            let mut value = runner.settled(value, node.span)?;
            if keeps {
                value = runner.made_object(value, node.span)?;
            }
            let text = match runner.describe(&value, &node.ty, planned.limits, node.span) {
                // What is damaged is told as a variable is: with what is wrong in its place.
                Err(failed @ Interrupt::Fail(_)) => runner
                    .line_of_damaged(&value, planned.limits)
                    .ok_or(failed)?,
                text => text?,
            };
            runner.ended(node.span)?;
            Ok((value, text))
        });
        match told {
            Ok((value, text)) => {
                // A comparison with a secret tells no secret.
                let may_tell = place.request.mask_secrets && node.ty != Type::BOOL;
                let is_named =
                    secrets::is_secret_named(place.text) || place.asks_for_secret(target);
                // Of a list of tuples all elements are told.
                let is_secret = may_tell
                    && (is_named
                        || runner.tells_secret(&value, &text)
                        || node.names.iter().flatten().any(|it| secrets::is_secret(it)));
                let masked = match is_named {
                    true => "*** (masked because of a name in the expression)",
                    false => "*** (masked because of a name in what it reads)",
                };
                let is_void = node.ty == Type::Primitive(Primitive::Void);
                let text = if is_void {
                    RETURNED_NOTHING.into()
                } else {
                    text
                };
                let opened = || {
                    let of = (&node.ty, &notes_of(&reader, node));
                    let result = target.result(&reader, &planned.view, &value, place.text, of);
                    // A text is its own line; only where it is to be kept it needs a path.
                    result.or_else(|| match place.keeps {
                        true => target.text_result(&reader, &planned.view, &value, place.text),
                        false => None,
                    })
                };
                Ok(Ran::Value(EvaluatedValue {
                    ty: type_text(&reader, node),
                    variable: (!is_secret).then(opened).flatten().map(Box::new),
                    text: if is_secret { masked.into() } else { text },
                    masked: is_secret,
                }))
            }
            Err(Interrupt::Fail(fail)) => Err(fail),
            Err(Interrupt::Effect(effect)) => {
                journal.secure(&reader, place.deadline, node.span)?;
                prepare(&reader, *effect).map(Ran::Effect)
            }
        }
    }
}

/// What is told of an expression whose turn came when the time was over.
fn not_run(span: syntax::Span) -> Box<Fail> {
    let told =
        "it was not run: the expressions before it have used up the time limit of all of them";
    Fail::new(span, told).hint("evaluate it by itself, or allow more time")
}

/// What an expression says of its type beside the type itself: the names of tuple elements.
fn notes_of(reader: &Reader<'_>, node: &Node) -> TypeNotes {
    let names = match reader.types.count_tuple_names(&node.ty) {
        count if count == node.names.len() => &*node.names,
        _ => &[],
    };
    let names = names.iter().map(|it| it.as_ref().map(ToString::to_string));
    TypeNotes {
        tuple_names: names.collect(),
        dynamic: Vec::new(),
    }
}

/// The static type of an expression, as C# writes it with namespaces.
fn type_text(reader: &Reader<'_>, node: &Node) -> String {
    let notes = notes_of(reader, node);
    reader.types.text_with(&node.ty, &notes, true)
}

impl Place<'_> {
    /// Where in memory [`DESTINATION`] is now.
    fn address(&self, engine: &mut Engine<'_>) -> Option<u64> {
        let target = engine.stopped_target().ok()?;
        let frame = frame_at(target, self.thread, self.request.frame).ok()?;
        match self.destination(target, frame)?.ok()?.value.place {
            crate::values::Place::Memory(address) => Some(address),
            _ => None,
        }
    }

    /// Where [`DESTINATION`] lies now.
    fn destination(&self, target: &Target, frame: Frame) -> Option<Result<Destination, Error>> {
        let set = self.into?;
        let reader = target.reader().looking_from(Some(&frame));
        let view = View::default();
        let viewer = Viewer::new(&reader, &view, &target.object_ids);
        let roots = Roots {
            target,
            reader: &reader,
            thread: self.thread,
            frame: Ok(frame),
            index: set.frame,
        };
        Some(roots.destination(&viewer, set))
    }

    /// Whether the other threads are let go if code waits for them.
    fn may_let_others_go(&self) -> bool {
        let mut formats = self.watch.formats.iter();
        self.request.other_threads || formats.any(|it| it.kind == FormatKind::Threads)
    }

    /// The calls whose results the expression asks for, with their numbers (`$returnvalue2`); 0 is `$returnvalue`.
    fn asked_calls<'t>(&self, target: &'t Target) -> Vec<(u32, &'t ReturnedCall)> {
        if self.request.frame != 0 {
            return Vec::new();
        }
        let (_, tid, _) = self.numbers;
        let text = self.text.to_ascii_lowercase();
        let behind = text.split("$returnvalue").skip(1);
        behind
            .filter_map(|it| {
                let end = it.find(|c: char| !c.is_ascii_digit());
                let number = it[..end.unwrap_or(it.len())].parse().unwrap_or(0);
                Some((number, target.returned.numbered(tid, number)?))
            })
            .collect()
    }

    /// Whether what a method with a name of a secret returned is asked for.
    fn asks_for_secret(&self, target: &Target) -> bool {
        let calls = self.asked_calls(target);
        calls.iter().any(|(_, call)| call.is_secret())
    }

    /// What `$returnvalue` and those with numbers stand for that the expression asks for.
    fn returned<'t>(
        &self,
        target: &'t Target,
        reader: &Reader<'_>,
    ) -> Result<Vec<(u32, &'t ReturnedCall, Value)>> {
        let calls = self.asked_calls(target).into_iter();
        let told = calls.map(|(number, call)| {
            let value = call.value.as_ref().map_err(Unreadable::clone);
            let value = value.and_then(|it| reader.restored(it));
            let value = value.map_err(|why| {
                let method = &call.method;
                Fail::new(
                    syntax::Span::empty(0),
                    format!("what {method} returned cannot be read: {why}"),
                )
            })?;
            Ok((number, call, value))
        });
        told.collect()
    }

    fn plan(
        &self,
        reader: &Reader<'_>,
        context: &Context,
        looking: &Looking<'_, '_>,
    ) -> Result<Planned> {
        let mut binder = Binder::new(reader.types, context)
            .probing(looking)
            .until(self.deadline)
            .reading(self.text)
            .forcing(self.request.force);
        let node = binder.whole(&self.watch.expr)?;
        let request = self.request;
        let mut planned = Planned {
            node: Rc::new(node),
            slots: binder.slots(),
            limits: Limits {
                elements: request.max_elements as usize,
                counted: false,
                text: request.max_text as usize,
                depth: DEPTH,
                hex: request.view.hex,
                numbers: false,
                quotes: true,
                masked: request.mask_secrets,
                raw: request.view.raw,
                as_variables: request.as_variables,
                level: 0,
                keyed: false,
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
                FormatKind::Hex | FormatKind::Decimal => {
                    let hex = format.kind == FormatKind::Hex;
                    (planned.limits.hex, planned.view.hex) = (hex, hex);
                    planned.limits.numbers = true;
                }
                FormatKind::NoQuotes => planned.limits.quotes = false,
                FormatKind::Raw => (planned.view.raw, planned.limits.raw) = (true, true),
                FormatKind::Count(count) => {
                    let count = Binder::new(reader.types, context).whole(count)?;
                    let number = count.scalar().and_then(super::scalar::Scalar::integer);
                    let number = number.and_then(|it| usize::try_from(it).ok());
                    let number = number
                        .ok_or_else(|| Fail::new(count.span, "the count must be a constant"))?;
                    (planned.limits.elements, planned.limits.counted) = (number, true);
                    planned.view.elements = Some(number as u64);
                }
                // All members are told as it is, and elements of a sequence are its text.
                FormatKind::Hidden
                | FormatKind::Dynamic
                | FormatKind::Results
                | FormatKind::Threads => {}
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

    /// A kept object; of a box what is in it, which is of the type that is told.
    pub(super) fn handle(&self, reader: &Reader<'_>, number: u32) -> Option<Value> {
        let held = self.kept.get(&u64::from(number))?;
        let object = reader.held(held).ok()?;
        let inner = reader.unboxed(&object);
        Some(inner.unwrap_or_else(|| reader.reference_to(&object)))
    }
}
