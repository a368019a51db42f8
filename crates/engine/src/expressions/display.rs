//! The expressions of `DebuggerDisplay`: bound in the type that has the attribute, evaluated by reading; where code may
//! run, calls are made one by one and the expression is evaluated again with what they gave.

use std::rc::Rc;
use std::time::{Duration, Instant};

use syntax::{FormatKind, Span};

use super::bind::{Binder, Context, Variable};
use super::error::Fail;
use super::frames::{imports_of_type, namespace, parameters_of_type};
use super::passing::{Prepared, prepare};
use super::run::{Effect, Interrupt, Journal, Limits, Runner, Surroundings, Val};
use crate::calls::{CallError, CallSite};
use crate::engine::Engine;
use crate::types::{Named, Type};
use crate::values::{Answer, Reader, Snapshot, Unreadable, Value};

/// A line is no place for long work.
const TIME_LIMIT: Duration = Duration::from_millis(100);

/// Calls of one expression.
const MAX_CALLS: u32 = 100;
/// Characters of what code gave.
const MAX_TEXT: u32 = 1024;

/// What an expression of a display string gave.
pub(crate) enum Shown {
    /// Text, as it is to be shown.
    Text(String),
    /// A value, to be shown like any other.
    Value(Value),
}

/// How what an expression gives is told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Looks {
    /// Characters of a text.
    pub(crate) text: u32,
    /// Whether what is secret is left out.
    pub(crate) masked: bool,
    /// Whether integers are hexadecimal, unless the expression says how they are.
    pub(crate) hex: bool,
}

/// Evaluates an expression as a member of `named` would, whose object or struct is `this`.
pub(crate) fn display(
    reader: &Reader<'_>,
    this: &Value,
    named: &Rc<Named>,
    text: &str,
    looks: Looks,
) -> Result<Shown, Unreadable> {
    let mut journal = Journal::default();
    let deadline = Instant::now() + TIME_LIMIT;
    match run(reader, this, named, text, looks, deadline, &mut journal)? {
        Ran::Shown(shown) => Ok(shown),
        Ran::Effect(_) => Err(Unreadable::WouldRunCode),
    }
}

/// How far a run came.
enum Ran {
    Shown(Shown),
    /// Something has to be called first.
    Effect(Box<Effect>),
}

fn run(
    reader: &Reader<'_>,
    this: &Value,
    named: &Rc<Named>,
    text: &str,
    looks: Looks,
    deadline: Instant,
    journal: &mut Journal,
) -> Result<Ran, Unreadable> {
    let failed = |why: &dyn std::fmt::Display| Unreadable::Path {
        path: text.to_owned(),
        at: 0,
        why: why.to_string(),
    };
    let watch = syntax::parse_watch(text).map_err(|error| failed(&error))?;
    let mut context = Context {
        module: Some(named.module),
        variables: vec![Variable {
            name: "this".into(),
            ty: Type::Named(Rc::clone(named)),
            names: Default::default(),
            dynamic: Default::default(),
            holds: None,
            read_only: false,
            is_local: false,
            bounds: None,
            constant: None,
        }],
        this: Some(0),
        ty: Some(Rc::clone(named)),
        type_parameters: parameters_of_type(reader.types, named, &named.arguments),
        namespace: namespace(reader.types, named),
        ..Context::default()
    };
    let bind = |context: &Context| {
        let mut binder = Binder::new(reader.types, context);
        let node = binder.whole(&watch.expr)?;
        Ok((node, binder.slots()))
    };
    // Few need what their source imports, which takes longer to find.
    let bound = bind(&context).or_else(|_: Box<Fail>| {
        context.imports = imports_of_type(reader.types, named);
        bind(&context)
    });
    let (node, slots) = bound.map_err(|fail| failed(&fail.message))?;
    let around = Surroundings {
        variables: &|_| Ok(this.clone()),
        // Nothing is called: the run ends where something would have to be.
        calls: true,
        writes: false,
        forced: false,
        deadline,
        given_up: &|| None,
        numbers: (0, 0, 0),
        special: &|_| None,
        late: None,
        frame: None,
    };
    let mut runner = Runner::new(reader, &around, slots, journal).noticing_secrets(looks.masked);
    let value = match runner.eval(&node) {
        Ok(value) => value,
        Err(Interrupt::Fail(fail)) => return Err(failed(&fail.message)),
        Err(Interrupt::Effect(effect)) => return Ok(Ran::Effect(effect)),
    };
    if runner.has_read_secret() {
        return Ok(Ran::Shown(Shown::Text("***".into())));
    }
    let unquoted = watch
        .formats
        .iter()
        .any(|it| matches!(it.kind, FormatKind::NoQuotes));
    let hex = watch
        .formats
        .iter()
        .fold(looks.hex, |hex, it| match it.kind {
            FormatKind::Hex => true,
            FormatKind::Decimal => false,
            _ => hex,
        });
    let limits = Limits {
        elements: 8,
        counted: false,
        text: looks.text as usize,
        depth: 1,
        masked: looks.masked,
        raw: false,
        as_variables: true,
        level: 1,
        keyed: false,
        hex,
        numbers: false,
        quotes: !unquoted,
    };
    Ok(match value {
        Val::Object(object) if !(unquoted && object.ty == Type::STRING) => {
            Ran::Shown(Shown::Value(reader.reference_to(&object)))
        }
        Val::Struct(place) => Ran::Shown(Shown::Value(place)),
        value => match runner.describe(&value, &node.ty, limits, node.span) {
            Ok(text) => Ran::Shown(Shown::Text(text)),
            Err(Interrupt::Fail(fail)) => return Err(failed(&fail.message)),
            Err(Interrupt::Effect(effect)) => Ran::Effect(effect),
        },
    })
}

impl Engine<'_> {
    /// Evaluates an expression of a display string, running what it calls.
    pub(crate) fn display_by_code(
        &mut self,
        site: &CallSite,
        deadline: Instant,
        subject: &Snapshot,
        named: &Rc<Named>,
        text: &str,
    ) -> Result<Answer, CallError> {
        let mut journal = Journal::default();
        journal.active = true;
        for _ in 0..MAX_CALLS {
            let prepared: Prepared = {
                let target = self.stopped_target();
                let target = target.map_err(|error| CallError::Refused(error.message))?;
                let reader = target.reader();
                let this = reader.restored(subject)?;
                match run(
                    &reader,
                    &this,
                    named,
                    text,
                    // What has secrets in it is not asked by code.
                    Looks {
                        text: MAX_TEXT,
                        masked: false,
                        hex: false,
                    },
                    deadline,
                    &mut journal,
                )? {
                    Ran::Shown(Shown::Text(text)) => return Ok(Answer::Text(text)),
                    Ran::Shown(Shown::Value(value)) => {
                        return Ok(Answer::Value(reader.snapshot(&value)?));
                    }
                    Ran::Effect(effect) => {
                        let secured = journal.secure(&reader, deadline, Span::empty(0));
                        secured.map_err(|fail| CallError::Refused(fail.message.clone()))?;
                        prepare(&reader, *effect)
                            .map_err(|fail| CallError::Refused(fail.message.clone()))?
                    }
                }
            };
            let done = self.bring_about(prepared, site, deadline, |_, _| None, &mut journal);
            done.map_err(|fail| CallError::Refused(fail.message.clone()))?;
        }
        Err(CallError::Refused(format!(
            "it calls the program more than {MAX_CALLS} times"
        )))
    }
}
