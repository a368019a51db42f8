//! Values as the client is told of them: one line of text, a type, and a number to open them by.
//!
//! The client knows values by numbers that are good until the program runs. Behind each is a path in a frame, so
//! nothing is held for a tree that nobody opens.

use std::collections::HashMap;

use host::api::{
    Value, ValueKind, Variable as EngineVariable, VariableKind, VariableScope, VariablesQuery, View,
};

use crate::adapter::Adapter;
use crate::message::Refusal;
use crate::running::FrameOf;
use crate::types::{ValueFormat, Variable, VariablePresentationHint};

/// The values that the client knows by a number. Numbers are never used twice, so a stale one is refused.
#[derive(Debug, Default)]
pub(crate) struct References {
    known: HashMap<i32, Parent>,
    last: i32,
}

/// What variables are inside of.
#[derive(Debug, Clone)]
pub(crate) struct Parent {
    pub(crate) frame: FrameOf,
    pub(crate) inside: Inside,
}

/// What a number stands for.
#[derive(Debug, Clone)]
pub(crate) enum Inside {
    /// Variables of a frame.
    Scope(VariableScope),
    /// What lies inside the value of a path.
    Path(String),
    /// A property that only its getter can tell, by an expression; it is run when the client opens it.
    Lazy(Box<LazyProperty>),
}

/// A property that is not told yet.
#[derive(Debug, Clone)]
pub(crate) struct LazyProperty {
    /// Its name as shown.
    pub(crate) name: String,
    /// The expression that is its value.
    pub(crate) expression: String,
}

impl References {
    pub(crate) fn number(&mut self, frame: FrameOf, inside: Inside) -> i32 {
        self.last = self.last.wrapping_add(1).max(1);
        self.known.insert(self.last, Parent { frame, inside });
        self.last
    }

    pub(crate) fn get(&self, number: i32) -> Result<Parent, Refusal> {
        self.known.get(&number).cloned().ok_or_else(|| {
            let text = format!("value {number} is not of this stop; ask for the scopes again");
            Refusal::new("staleReference", text)
        })
    }

    /// The program runs on: no number is good any more.
    pub(crate) fn forget(&mut self) {
        self.known.clear();
    }
}

impl Adapter {
    /// A variable as the client is told of it.
    pub(crate) fn variable(&mut self, frame: FrameOf, variable: &EngineVariable) -> Variable {
        let value = &variable.value;
        let children = i32::try_from(value.children).unwrap_or(i32::MAX);
        let lazy = value.kind == ValueKind::NotRun;
        let reference = if lazy {
            let property = LazyProperty {
                name: variable.name.clone(),
                expression: variable.path.clone(),
            };
            self.references
                .number(frame, Inside::Lazy(Box::new(property)))
        } else if children > 0 && !value.cycle {
            self.references
                .number(frame, Inside::Path(variable.path.clone()))
        } else {
            0
        };
        let opens = reference != 0 && !lazy;
        Variable {
            name: if variable.shadowed {
                format!("{} (hidden)", variable.name)
            } else {
                variable.name.clone()
            },
            value: text_of(value),
            r#type: Some(value.type_name.clone()).filter(|name| !name.is_empty()),
            evaluate_name: Some(variable.path.clone()).filter(|path| !path.is_empty()),
            variables_reference: reference,
            indexed_variables: (opens && value.indexed).then_some(children),
            named_variables: (opens && !value.indexed).then_some(children),
            memory_reference: memory_of(value),
            presentation_hint: hint_of(variable),
            ..Variable::default()
        }
    }
}

/// What to ask the engine for the variables inside of something.
pub(crate) fn query(parent: &Parent, format: Option<&ValueFormat>) -> VariablesQuery {
    let (scope, path) = match &parent.inside {
        Inside::Scope(scope) => (*scope, None),
        Inside::Path(path) => (VariableScope::All, Some(path.clone())),
        Inside::Lazy(property) => (VariableScope::All, Some(property.expression.clone())),
    };
    VariablesQuery {
        stop: Some(parent.frame.stop),
        thread: Some(parent.frame.thread),
        frame: parent.frame.index,
        scope,
        path,
        view: view(format),
        ..VariablesQuery::default()
    }
}

/// How an editor sees values: with properties, of which those that only code can tell are told when they are opened.
pub(crate) fn view(format: Option<&ValueFormat>) -> View {
    View {
        hex: format.and_then(|format| format.hex) == Some(true),
        properties: true,
        ..View::default()
    }
}

/// A value as one line.
pub(crate) fn text_of(value: &Value) -> String {
    let mut text = match value.kind {
        ValueKind::Unreadable | ValueKind::NotRun => format!("<{}>", value.text),
        _ => value.text.clone(),
    };
    if value.cycle {
        text.push_str(" (seen above)");
    }
    text
}

/// The client's name for where an object lies. Objects move, so it names the object and not the place.
pub(crate) fn memory_of(value: &Value) -> Option<String> {
    value.object.map(|id| format!("#{}", id.0))
}

fn hint_of(variable: &EngineVariable) -> Option<VariablePresentationHint> {
    let kind = match variable.kind {
        VariableKind::Property => "property",
        VariableKind::Field | VariableKind::Static | VariableKind::Element => "data",
        VariableKind::Group | VariableKind::TypeArgument => "virtual",
        _ => return None,
    };
    let attribute = match variable.kind {
        VariableKind::Static => Some("static"),
        VariableKind::TypeArgument => Some("readOnly"),
        _ => None,
    };
    Some(VariablePresentationHint {
        kind: Some(kind.into()),
        attributes: attribute.map(|it| vec![it.to_owned()]),
        lazy: (variable.value.kind == ValueKind::NotRun).then_some(true),
        ..VariablePresentationHint::default()
    })
}

/// Something to know, told where a variable would have been.
pub(crate) fn note_of(text: &str) -> Variable {
    Variable {
        name: "…".into(),
        value: text.into(),
        presentation_hint: Some(VariablePresentationHint {
            kind: Some("virtual".into()),
            ..VariablePresentationHint::default()
        }),
        ..Variable::default()
    }
}
