//! The expressions of `DebuggerDisplay`: bound in the type that has the attribute, evaluated by reading only.

use std::rc::Rc;
use std::time::{Duration, Instant};

use syntax::FormatKind;

use super::bind::{Binder, Context, Variable};
use super::frames::namespace;
use super::run::{Interrupt, Journal, Limits, Runner, Surroundings, Val};
use crate::types::{Named, Type};
use crate::values::{Reader, Unreadable, Value};

/// A line is no place for long work.
const TIME_LIMIT: Duration = Duration::from_millis(100);

/// What an expression of a display string gave.
pub(crate) enum Shown {
    /// Text, as it is to be shown.
    Text(String),
    /// A value, to be shown like any other.
    Value(Value),
}

/// Evaluates an expression as a member of `named` would, whose object or struct is `this`.
pub(crate) fn display(
    reader: &Reader<'_>,
    this: &Value,
    named: &Rc<Named>,
    text: &str,
    limit: u32,
) -> Result<Shown, Unreadable> {
    let failed = |why: &dyn std::fmt::Display| Unreadable::Path {
        path: text.to_owned(),
        at: 0,
        why: why.to_string(),
    };
    let watch = syntax::parse_watch(text).map_err(|error| failed(&error))?;
    let context = Context {
        module: Some(named.module),
        variables: vec![Variable {
            name: "this".into(),
            ty: Type::Named(Rc::clone(named)),
            names: Default::default(),
            constant: None,
        }],
        this: Some(0),
        ty: Some(Rc::clone(named)),
        namespace: namespace(reader.types, named),
        ..Context::default()
    };
    let mut binder = Binder::new(reader.types, &context);
    let node = binder
        .whole(&watch.expr)
        .map_err(|fail| failed(&fail.message))?;
    let around = Surroundings {
        variables: &|_| Ok(this.clone()),
        // Nothing is called: the run ends where something would have to be.
        calls: true,
        writes: false,
        deadline: Instant::now() + TIME_LIMIT,
        numbers: (0, 0, 0),
        special: &|_| None,
        frame: None,
    };
    let mut journal = Journal::default();
    let slots = binder.slots();
    let mut runner = Runner::new(reader, &around, slots, &mut journal);
    let told = |interrupt: Interrupt| match interrupt {
        Interrupt::Fail(fail) => failed(&fail.message),
        Interrupt::Effect(_) => Unreadable::WouldRunCode,
    };
    let value = runner.eval(&node).map_err(told)?;
    let unquoted = watch
        .formats
        .iter()
        .any(|it| matches!(it.kind, FormatKind::NoQuotes));
    let limits = Limits {
        elements: 8,
        text: limit as usize,
        depth: 1,
        masked: false,
        hex: false,
        quotes: !unquoted,
    };
    Ok(match value {
        Val::Object(object) if !(unquoted && object.ty == Type::STRING) => {
            Shown::Value(reader.reference_to(&object))
        }
        Val::Struct(place) => Shown::Value(place),
        value => {
            let described = runner.describe(&value, &node.ty, limits, node.span);
            Shown::Text(described.map_err(told)?)
        }
    })
}
