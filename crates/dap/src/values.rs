//! Values as the client is told of them: one line of text, a type, and a number to open them by.
//!
//! The client knows values by numbers that are good until the program runs. Behind each is a path in a frame, so
//! nothing is held for a tree that nobody opens.

use std::collections::HashMap;
use std::sync::Arc;

use host::api::{
    Value, ValueKind, Variable as EngineVariable, VariableKind, VariableScope, VariablesQuery, View,
};

use crate::adapter::Adapter;
use crate::message::Refusal;
use crate::running::FrameOf;
use crate::settings::Shown;
use crate::types::{ValueFormat, Variable, VariablePresentationHint};

/// Milliseconds that a getter may run which nobody asked for.
const GETTER: u32 = 1_000;

/// What the paths of results begin with.
const RESULT: &str = "#e";

/// The values that the client knows by a number. Numbers are never used twice, so a stale one is refused.
#[derive(Debug, Default)]
pub(crate) struct References {
    known: HashMap<i32, Parent>,
    /// The expressions that results came of, by their paths.
    results: HashMap<String, String>,
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
    /// The same, as it is: without what attributes say and views of collections.
    Raw(String),
    /// A property that only its getter can tell, which is run when the client opens it.
    Lazy(Box<LazyProperty>),
    /// Why there is nothing to see.
    Nothing(&'static str),
    /// What exists only in the debugger: nothing leads to it, so its members are held here.
    Made(Arc<MadeValue>),
}

/// A value that exists only in the debugger.
#[derive(Debug)]
pub(crate) struct MadeValue {
    /// The members that came with it.
    pub(crate) members: Vec<EngineVariable>,
    /// How many more there are.
    pub(crate) left: u64,
}

/// A property that is not told yet.
#[derive(Debug, Clone)]
pub(crate) struct LazyProperty {
    /// Its name as shown.
    pub(crate) name: String,
    /// The path that leads to it.
    pub(crate) path: String,
    /// What can be evaluated later for it, if anything can.
    pub(crate) lasting: Option<String>,
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
        self.results.clear();
    }

    /// Remembers which expression a result came of. With format specifiers it is no part of another expression.
    pub(crate) fn came_of(&mut self, result: &str, expression: &str) {
        if result.starts_with(RESULT) && !may_have_formats(expression) {
            self.results.insert(result.into(), expression.into());
        }
    }

    /// What can be evaluated later for the value of a path. A result's own path is good in this stop only, so it is
    /// told by its expression, or not at all.
    pub(crate) fn lasting(&self, path: &str) -> Option<String> {
        if !path.starts_with(RESULT) {
            return (!path.is_empty()).then(|| path.to_owned());
        }
        let digits = path.strip_prefix(RESULT).unwrap_or_default();
        let digits = digits.find(|it: char| !it.is_ascii_digit());
        let end = digits.map_or(path.len(), |at| at + RESULT.len());
        let (result, inside) = path.split_at_checked(end).unwrap_or((path, ""));
        let expression = self.results.get(result)?;
        Some(match inside {
            "" => expression.clone(),
            inside if is_plain(expression) => format!("{expression}{inside}"),
            inside => format!("({expression}){inside}"),
        })
    }
}

/// Whether an expression may end in format specifiers: behind a comma that is in no brackets.
fn may_have_formats(expression: &str) -> bool {
    if expression.contains(['"', '\'']) {
        return expression.contains(',');
    }
    let mut depth = 0_i32;
    expression.chars().any(|letter| {
        match letter {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => depth -= 1,
            _ => {}
        }
        letter == ',' && depth <= 0
    })
}

/// Whether members can be named behind an expression as it is: it is names, dots and indexes.
fn is_plain(expression: &str) -> bool {
    let is_part = |it: char| it.is_alphanumeric() || "_@$.[]#".contains(it);
    expression.chars().all(is_part)
}

impl Adapter {
    /// A variable as the client is told of it.
    pub(crate) fn variable(&mut self, frame: FrameOf, variable: &EngineVariable) -> Variable {
        let value = &variable.value;
        let is_plain = matches!(
            value.kind,
            ValueKind::Null
                | ValueKind::Bool
                | ValueKind::Number
                | ValueKind::Char
                | ValueKind::String
                | ValueKind::Enum
        );
        // A number is told whole in its line: nobody opens it to see its bits.
        let children = value.children * u64::from(!is_plain);
        let children = i32::try_from(children).unwrap_or(i32::MAX);
        let lazy = value.kind == ValueKind::NotRun;
        // Whether all of it can be told page by page.
        let mut whole = true;
        let reference = if lazy {
            let property = LazyProperty {
                name: variable.name.clone(),
                path: variable.path.clone(),
                lasting: self.references.lasting(&variable.path),
            };
            self.references
                .number(frame, Inside::Lazy(Box::new(property)))
        } else if variable.path.is_empty() && !value.members.is_empty() {
            let made = MadeValue {
                members: value.members.clone(),
                left: value.omitted.as_ref().map_or(0, |omitted| omitted.count),
            };
            whole = made.left == 0;
            self.references.number(frame, Inside::Made(Arc::new(made)))
        } else if children > 0 && !value.cycle && !variable.path.is_empty() {
            self.references
                .number(frame, Inside::Path(variable.path.clone()))
        } else {
            0
        };
        let opens = reference != 0 && !lazy && whole;
        Variable {
            name: if variable.shadowed {
                format!("{} (hidden)", variable.name)
            } else {
                label_of(variable).unwrap_or(&variable.name).to_owned()
            },
            value: text_of(value),
            r#type: {
                let label = variable.label.as_deref();
                let label = label.and_then(|it| it.type_name.clone());
                Some(label.unwrap_or_else(|| value.type_name.clone()))
                    .filter(|name| !name.is_empty())
            },
            evaluate_name: self.references.lasting(&variable.path),
            variables_reference: reference,
            indexed_variables: (opens && value.indexed).then_some(children),
            named_variables: (opens && !value.indexed).then_some(children),
            memory_reference: memory_of(value),
            presentation_hint: hint_of(variable),
            ..Variable::default()
        }
    }
}

/// What a variable is to be called instead of its name.
pub(crate) fn label_of(variable: &EngineVariable) -> Option<&str> {
    variable.label.as_deref()?.name.as_deref()
}

/// What to ask the engine for the variables inside of something.
pub(crate) fn query(parent: &Parent, format: Option<&ValueFormat>, shown: Shown) -> VariablesQuery {
    let (scope, path) = match &parent.inside {
        Inside::Scope(scope) => (*scope, None),
        Inside::Path(path) | Inside::Raw(path) => (VariableScope::All, Some(path.clone())),
        Inside::Lazy(property) => (VariableScope::All, Some(property.path.clone())),
        // Not asked: all there is to tell is here.
        Inside::Made(_) | Inside::Nothing(_) => (VariableScope::All, None),
    };
    let raw = shown.raw || matches!(parent.inside, Inside::Raw(_));
    VariablesQuery {
        stop: Some(parent.frame.stop),
        thread: Some(parent.frame.thread),
        frame: parent.frame.index,
        scope,
        path,
        view: view(format, Shown { raw, ..shown }),
        ..VariablesQuery::default()
    }
}

/// How an editor sees values: with properties, of which those that only code can tell are told when they are opened.
pub(crate) fn view(format: Option<&ValueFormat>, shown: Shown) -> View {
    View {
        hex: format.and_then(|format| format.hex) == Some(true),
        properties: true,
        raw: shown.raw,
        run_code: shown.run_code,
        time_limit: GETTER,
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
    for note in &value.notes {
        text.push_str(&format!(" ({note})"));
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

/// A row that opens what a `DebuggerTypeProxy` stands in front of.
pub(crate) fn raw_view(reference: i32) -> Variable {
    Variable {
        name: "Raw View".into(),
        variables_reference: reference,
        ..note_of("")
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expression: &str, inside: &str, expected: Option<&str>) {
        let mut references = References::default();
        references.came_of("#e1", expression);
        let found = references.lasting(&format!("#e1{inside}"));
        assert_eq!(found.as_deref(), expected, "{expression}");
    }

    #[test]
    fn results_are_told_by_their_expressions_or_not_at_all() {
        check("its[0]", "", Some("its[0]"));
        check("its[0]", ".Q", Some("its[0].Q"));
        check("its.First()", ".Q", Some("(its.First()).Q"));
        check("Sum(a, b)", "[1]", Some("(Sum(a, b))[1]"));
        check("set[#0].Lines", "[1]", Some("set[#0].Lines[1]"));
        check("its,x", ".Q", None);
        assert_eq!(References::default().lasting("#e7.Q"), None);
        assert_eq!(References::default().lasting("a.b"), Some("a.b".into()));
    }
}
