//! Conditions and messages of breakpoints: parsed once, bound once per method and instantiation, then only run.
//!
//! They read first. Where only code of the program can tell, it is run on the thread that came by, while the others stand
//! still; nothing is ever written.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use cordebug::thread::Thread;
use syntax::tree::{Expr, PseudoVariable};
use syntax::{MessagePart, Watch};

use super::bind::{Binder, Given, Late};
use super::error::{Fail, Result};
use super::frames::{context, exception, held_by_dynamic, open_dynamic};
use super::passing::{Prepared, prepare};
use super::plan::Node;
use super::probing::Looking;
use super::run::{Interrupt, Journal, Limits, Runner, Surroundings, Val};
use super::scalar::{self, Scalar};
use crate::api::{Error, ErrorCode};
use crate::calls::CallSite;
use crate::engine::Engine;
use crate::target::Target;
use crate::types::{Generics, ModuleId, Type};
use crate::values::scope::FrameVariables;
use crate::values::view::secrets::is_secret_named;
use crate::values::{Reader, Unreadable, Value};

/// How long a condition may take.
const LIMIT: Duration = Duration::from_secs(2);
/// Elements of a sequence in a message.
const MAX_SHOWN: usize = 10;
/// Characters of a text inside a value in a message.
const MAX_TEXT: usize = 200;
/// Calls of the program in one condition or message.
const MAX_CALLS: u32 = 100;
/// Plans kept per expression: generic code may run in many instantiations.
const MAX_PLANS: usize = 256;

/// Where a breakpoint was hit.
#[derive(Clone, Copy)]
pub(crate) struct Hit<'h> {
    /// The thread.
    pub(crate) thread: &'h Thread,
    /// Which of its frames is meant, if it is not the innermost.
    pub(crate) frame: Option<usize>,
    /// How often the breakpoint was hit, this hit included.
    pub(crate) count: u64,
    /// The process.
    pub(crate) pid: u32,
}

/// A plan and the place it was made for.
#[derive(Debug)]
struct Bound {
    module: ModuleId,
    method: metadata::Token,
    offset: u32,
    generics: Generics,
    /// The type of `$exception`.
    exception: Option<Type>,
    /// What `dynamic` variables held.
    held: Vec<(usize, Type)>,
    plan: Rc<Node>,
    slots: u32,
}

/// How a run ended.
enum Ran<T> {
    Value(T),
    /// Code of the program has to run first.
    Effect(Prepared),
}

/// An expression with the plans that were made of it.
#[derive(Debug)]
pub(super) struct Planned {
    expr: Expr,
    /// What the expression was written in; its spans count from the start of that.
    written: Rc<str>,
    is_condition: bool,
    plans: RefCell<Vec<Bound>>,
}

impl Planned {
    fn new(written: &Rc<str>, expr: Expr, is_condition: bool) -> Self {
        Self {
            expr,
            written: Rc::clone(written),
            is_condition,
            plans: RefCell::default(),
        }
    }

    /// Runs it where a breakpoint was hit as far as reading goes, and lets `show` make something of the value.
    fn run<T>(
        &self,
        target: &Target,
        hit: Hit<'_>,
        deadline: Instant,
        journal: &mut Journal,
        show: impl Fn(&mut Runner<'_, '_>, Val, &Type) -> super::run::Result<T>,
    ) -> Result<Ran<T>> {
        let reader = target.reader();
        let span = self.expr.span;
        let unreadable =
            |why: Unreadable| Fail::new(span, format!("the frame cannot be read: {why}"));
        let named = hit.frame.and_then(|it| target.frames(hit.thread).nth(it));
        let frame = match named {
            Some(frame) => Some(frame),
            None => target
                .active_frame(hit.thread)
                .map_err(|error| unreadable(error.into()))?,
        };
        // An exception may be thrown in code that the runtime has made itself, such as a call of native code.
        let frame = match frame {
            Some(made) if made.function().is_err() => {
                let mut callers = target.frames(hit.thread);
                callers.find(|it| it.function().is_ok()).or(Some(made))
            }
            frame => frame,
        };
        let Some(frame) = frame else {
            return Err(Fail::new(span, "the thread is not in managed code"));
        };
        let frame = reader.context(frame).map_err(unreadable)?;
        let scope = FrameVariables::of(&reader, frame).map_err(unreadable)?;
        let exception = exception(&reader, hit.thread, &self.expr);
        let handles = || target.handle_types();
        let (plan, slots) = self.plan(&reader, &scope, exception.as_ref(), handles)?;
        // What a message tells of an object may be its own text.
        journal.active = plan.may_act() || !self.is_condition;
        let variables = |number: usize| scope.value(&reader, number);
        let known = OnceCell::new();
        let late = |late: &Late, given: &[Given], slots: u32, span: syntax::Span| {
            let context = known.get_or_init(|| {
                let mut context = context(&reader, &scope, exception.as_ref());
                open_dynamic(&held_by_dynamic(&reader, &scope), &mut context);
                context.handles = target.handle_types();
                context
            });
            let mut binder = Binder::new(reader.types, context);
            binder.read(&self.written);
            binder.bind_late(late, given, slots, span)
        };
        let around = Surroundings {
            variables: &variables,
            calls: true,
            writes: false,
            forced: false,
            deadline,
            given_up: &|| None,
            numbers: (hit.pid, hit.thread.id().unwrap_or(0), hit.count),
            special: &|pseudo| match pseudo {
                PseudoVariable::Exception => exception.clone(),
                PseudoVariable::Handle(number) => target.handle(&reader, number),
                _ => None,
            },
            late: Some(&late),
            frame: Some(&scope.context.frame),
        };
        let mut runner =
            Runner::new(&reader, &around, slots, journal).noticing_secrets(!self.is_condition);
        let value = runner
            .eval(&plan)
            .and_then(|value| show(&mut runner, value, &plan.ty))
            .and_then(|shown| runner.ended(plan.span).map(|()| shown));
        match value {
            Ok(value) => Ok(Ran::Value(value)),
            Err(Interrupt::Fail(fail)) => Err(fail),
            Err(Interrupt::Effect(effect)) => {
                journal.secure(&reader, deadline, span)?;
                prepare(&reader, *effect).map(Ran::Effect)
            }
        }
    }

    /// What the expression is written in.
    pub(super) fn written(&self) -> &str {
        &self.written
    }

    /// Where in that it stands.
    pub(super) fn span(&self) -> syntax::Span {
        self.expr.span
    }

    /// The plan in a context.
    pub(super) fn bind(&self, binder: &mut Binder<'_>) -> Result<Node> {
        binder.read(&self.written);
        if self.is_condition {
            binder.condition(&self.expr)
        } else {
            binder.whole(&self.expr)
        }
    }

    fn plan(
        &self,
        reader: &Reader<'_>,
        scope: &FrameVariables,
        exception: Option<&Value>,
        handles: impl FnOnce() -> Vec<(u32, Type)>,
    ) -> Result<(Rc<Node>, u32)> {
        let exception_type = exception.map(|it| &it.ty);
        let at = &scope.context;
        let held = held_by_dynamic(reader, scope);
        let mut plans = self.plans.borrow_mut();
        let known = plans.iter().find(|it| {
            it.module == at.module
                && it.method == at.method
                && it.offset == at.offset.0
                && it.generics == at.generics
                && it.exception.as_ref() == exception_type
                && it.held == held
        });
        if let Some(known) = known {
            return Ok((known.plan.clone(), known.slots));
        }
        let mut context = context(reader, scope, exception);
        open_dynamic(&held, &mut context);
        context.handles = handles();
        let around = Surroundings {
            variables: &|number| scope.value(reader, number),
            calls: false,
            writes: false,
            forced: false,
            deadline: Instant::now() + LIMIT,
            given_up: &|| None,
            numbers: (0, 0, 0),
            special: &|_| None,
            late: None,
            frame: Some(&scope.context.frame),
        };
        let looking = Looking {
            reader,
            around: &around,
        };
        let mut binder = Binder::new(reader.types, &context).probing(&looking);
        let (plan, slots) = (Rc::new(self.bind(&mut binder)?), binder.slots());
        // What is dynamic may hold something else at the next hit.
        if binder.has_met_dynamic() {
            return Ok((plan, slots));
        }
        // What a type parameter stands for is then known by the values only, which the next frame has others of.
        if scope.shape.is_open() {
            return Ok((plan, slots));
        }
        if plans.len() >= MAX_PLANS {
            plans.clear();
        }
        plans.push(Bound {
            module: at.module,
            method: at.method,
            offset: at.offset.0,
            generics: at.generics.clone(),
            exception: exception_type.cloned(),
            held,
            plan: plan.clone(),
            slots,
        });
        Ok((plan, slots))
    }
}

/// The condition of a breakpoint.
#[derive(Debug)]
pub(crate) struct Condition {
    pub(super) text: String,
    pub(super) planned: Planned,
}

impl Condition {
    /// A condition that was parsed from `text`.
    pub(crate) fn new(text: &str, expr: Expr) -> Self {
        Self {
            text: text.to_owned(),
            planned: Planned::new(&text.into(), expr, true),
        }
    }
}

/// The message of a tracepoint.
#[derive(Debug)]
pub(crate) struct Message {
    pub(super) text: String,
    parts: Vec<Part>,
}

#[derive(Debug)]
enum Part {
    Text(String),
    Hole(Planned, Told),
}

/// How many elements a format wants to see.
fn count(format: &syntax::Format) -> Option<usize> {
    use syntax::tree::{ExprKind, Literal};
    let syntax::FormatKind::Count(count) = &format.kind else {
        return None;
    };
    match &count.without_parens().kind {
        ExprKind::Literal(Literal::Integer(number)) => usize::try_from(number.value).ok(),
        _ => None,
    }
}

/// How a value of a message is told.
#[derive(Debug, Clone, Copy)]
struct Told {
    /// Whether texts stand in quotes.
    quotes: bool,
    /// Whether whole numbers are told in hexadecimal.
    hex: bool,
    /// Elements of a sequence.
    elements: usize,
    /// Whether code of the program may run to tell it.
    calls: bool,
    /// Whether secrets are masked.
    masked: bool,
    /// Whether the expression has the name of one.
    is_secret: bool,
}

impl Message {
    /// A message that was parsed; a hole that is no expression stays empty, its owner refuses it.
    pub(crate) fn new(text: &str, message: syntax::Message, masked: bool) -> Self {
        let mut parts = Vec::new();
        let written: Rc<str> = text.into();
        for part in message.parts {
            match part {
                MessagePart::Text(text, _) => parts.push(Part::Text(text)),
                MessagePart::Hole(Ok(Watch { expr, formats }), span) => {
                    // Strings are shown as text, unless they are wanted as they are written.
                    let asks = |kind| formats.iter().any(|it| it.kind == kind);
                    let raw = asks(syntax::FormatKind::Raw);
                    let named = text
                        .get(span.start as usize..span.end as usize)
                        .unwrap_or(text);
                    let told = Told {
                        quotes: raw,
                        hex: asks(syntax::FormatKind::Hex),
                        elements: formats.iter().find_map(count).unwrap_or(MAX_SHOWN),
                        calls: !raw && !asks(syntax::FormatKind::NoSideEffects),
                        masked,
                        is_secret: masked && is_secret_named(named),
                    };
                    parts.push(Part::Hole(Planned::new(&written, expr, false), told));
                }
                MessagePart::Hole(Err(_), _) => {}
            }
        }
        let text = text.to_owned();
        Self { text, parts }
    }

    /// Its expressions.
    pub(super) fn holes(&self) -> impl Iterator<Item = &Planned> {
        self.parts.iter().filter_map(|part| match part {
            Part::Hole(planned, _) => Some(planned),
            Part::Text(_) => None,
        })
    }
}

impl Engine<'_> {
    /// Whether a condition holds at a hit. An error says why that cannot be told; it is never a silent yes or no.
    pub(crate) fn holds(&mut self, condition: &Condition, hit: Hit<'_>) -> Result<bool, Error> {
        let span = condition.planned.expr.span;
        self.run_at_hit(&condition.planned, hit, |_, value, _| match value {
            Val::Scalar(Scalar::Bool(value)) => Ok(value),
            _ => Err(Fail::new(span, "the condition is not a bool").into()),
        })
        .map_err(|fail| fail.to_api(&condition.text, ErrorCode::InvalidCondition))
    }

    /// A message at a hit; what cannot be told stands in its place as `<error: …>`.
    pub(crate) fn message_at(&mut self, message: &Message, hit: Hit<'_>) -> String {
        let mut told = String::new();
        for part in &message.parts {
            match part {
                Part::Text(text) => told.push_str(text),
                Part::Hole(planned, how) => {
                    let how = Told {
                        calls: how.calls && !self.evaluations.is_forbidden(),
                        ..*how
                    };
                    let shown = self.run_at_hit(planned, hit, |runner, value, ty| {
                        let text = runner.shown(&value, ty, how, planned.expr.span)?;
                        let is_secret =
                            how.is_secret || how.masked && runner.tells_secret(&value, &text);
                        // A comparison with a secret tells no secret.
                        Ok(if is_secret && *ty != Type::BOOL {
                            "***".into()
                        } else {
                            text
                        })
                    });
                    match shown {
                        Ok(text) => told.push_str(&text),
                        Err(fail) => {
                            let code = fail.code.map(|it| format!("{it} ")).unwrap_or_default();
                            told.push_str(&format!("<error: {code}{}>", fail.message));
                        }
                    }
                }
            }
        }
        told
    }

    fn run_at_hit<T>(
        &mut self,
        planned: &Planned,
        hit: Hit<'_>,
        show: impl Fn(&mut Runner<'_, '_>, Val, &Type) -> super::run::Result<T>,
    ) -> Result<T> {
        let span = planned.expr.span;
        let deadline = Instant::now() + LIMIT;
        let mut journal = Journal::default();
        let mut loaded = Vec::new();
        for _ in 0..MAX_CALLS {
            let Some(target) = &self.target else {
                return Err(Fail::new(span, "the program has ended"));
            };
            let ran = match planned.run(target, hit, deadline, &mut journal, &show) {
                // The program would load it when it comes to code that needs it.
                Err(fail) if fail.lacks.is_some() => {
                    let site = CallSite::on(hit.thread.clone());
                    self.evaluations.at_hit(true);
                    let done = self.load_what_lacks(&site, &fail, &mut loaded);
                    self.evaluations.at_hit(false);
                    match done {
                        true => continue,
                        false => return Err(fail),
                    }
                }
                ran => ran?,
            };
            match ran {
                Ran::Value(value) => return Ok(value),
                Ran::Effect(prepared) => {
                    let site = CallSite::on(hit.thread.clone());
                    self.evaluations.at_hit(true);
                    let done =
                        self.bring_about(prepared, &site, deadline, |_, _| None, &mut journal);
                    self.evaluations.at_hit(false);
                    done?;
                }
            }
        }
        Err(Fail::new(
            span,
            format!("it calls the program more than {MAX_CALLS} times"),
        ))
    }
}

impl Runner<'_, '_> {
    /// A value in a line of text: as an interpolated string has it, but for what that tells badly: null, exceptions, and sequences
    /// without a text of their own.
    fn shown(
        &mut self,
        value: &Val,
        ty: &Type,
        shown: Told,
        span: syntax::Span,
    ) -> super::run::Result<String> {
        if let Val::Null = value {
            return Ok("null".into());
        }
        let limits = Limits {
            elements: shown.elements,
            counted: false,
            text: MAX_TEXT,
            depth: 2,
            hex: shown.hex,
            numbers: false,
            quotes: shown.quotes,
            raw: false,
            masked: shown.masked,
            as_variables: false,
            level: 0,
            keyed: false,
        };
        let is_number =
            matches!(value, Val::Scalar(Scalar::Int(kind, _)) if *kind != scalar::Kind::Char);
        if shown.hex && is_number {
            return self.describe(value, ty, limits, span);
        }
        let exact = self.exact_type(value).unwrap_or_else(|| ty.clone());
        if let Val::Object(object) = value
            && let Some(told) = self.exception_line(object, span)?
        {
            return Ok(told);
        }
        // The name of a sequence's type says less than its elements.
        let is_told = match value {
            Val::Object(object) => object.ty != Type::STRING && self.is_readable_sequence(&exact),
            Val::Made(made) => matches!(**made, super::run::Made::Sequence(..)),
            _ => false,
        };
        if is_told {
            return self.describe(value, ty, limits, span);
        }
        if self.is_bare_sequence(value, &exact)
            && let Some(told) = self.first_elements(value, &exact, limits, shown.calls, span)?
        {
            return Ok(told);
        }
        let text = if shown.calls {
            Some(self.hole(value, ty, None, None, span)?)
        } else {
            self.for_people = true;
            let text = self.plain_text(value, ty, span);
            self.for_people = false;
            text?
        };
        Ok(match text {
            Some(units) if shown.quotes && *ty == Type::STRING => scalar::quoted(&units),
            Some(units) => String::from_utf16_lossy(&units),
            None => format!("{{{}}}", self.types.text(&exact)),
        })
    }

    /// An exception in a line: its stack is not what a message is for.
    fn exception_line(
        &mut self,
        object: &crate::values::Object,
        span: syntax::Span,
    ) -> super::run::Result<Option<String>> {
        let base = self.types.core_named("System", "Exception");
        let is_exception =
            base.is_some_and(|base| self.types.derives_from(&object.ty, &base).unwrap_or(false));
        if !is_exception {
            return Ok(None);
        }
        let name = self.types.full_text(&object.ty);
        let message = self.reader.object_field(object, "_message").ok();
        let message = message.and_then(|it| super::run::decode(self.reader, &it, span).ok());
        let message = match message {
            Some(message) => self.plain_text(&message, &Type::STRING, span)?,
            None => None,
        };
        Ok(Some(match message.filter(|it| !it.is_empty()) {
            Some(units) => format!("{name}: {}", String::from_utf16_lossy(&units)),
            None => name,
        }))
    }
}
