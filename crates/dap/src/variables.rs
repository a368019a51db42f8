//! Scopes and variables: what an editor's tree of variables is made of, page by page.
//!
//! The client knows values by numbers that are good until the program runs. Behind each is a path in a frame, so
//! nothing is held for a tree that nobody opens.

use std::collections::HashMap;

use host::api::{
    Reply, Request as EngineRequest, SetVariable, Value, ValueKind, Variable as EngineVariable,
    VariableKind, VariableScope, Variables, VariablesQuery, View,
};

use crate::adapter::Adapter;
use crate::message::Refusal;
use crate::running::FrameOf;
use crate::types::{
    Scope, ScopesArguments, ScopesResponseBody, SetVariableArguments, SetVariableResponseBody,
    ValueFormat, Variable, VariablePresentationHint, VariablesArguments, VariablesResponseBody,
};

/// Children told at once if the client does not say how many it wants.
const PAGE: u32 = 1_000;

/// The values that the client knows by a number. Numbers are never used twice, so a stale one is refused.
#[derive(Debug, Default)]
pub(crate) struct References {
    known: HashMap<i32, Parent>,
    last: i32,
}

/// What variables are inside of.
#[derive(Debug, Clone)]
struct Parent {
    frame: FrameOf,
    inside: Inside,
}

#[derive(Debug, Clone)]
enum Inside {
    Scope(VariableScope),
    Path(String),
}

impl References {
    fn number(&mut self, frame: FrameOf, inside: Inside) -> i32 {
        self.last = self.last.wrapping_add(1).max(1);
        self.known.insert(self.last, Parent { frame, inside });
        self.last
    }

    fn get(&self, number: i32) -> Result<Parent, Refusal> {
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
    pub(crate) fn scopes(
        &mut self,
        arguments: ScopesArguments,
    ) -> Result<ScopesResponseBody, Refusal> {
        let frame = self.frames.get(arguments.frame_id)?;
        let scopes = [
            ("Arguments", VariableScope::Arguments, Some("arguments")),
            ("Locals", VariableScope::Locals, Some("locals")),
            ("Statics", VariableScope::Statics, None),
        ];
        let scopes = scopes.map(|(name, scope, hint)| Scope {
            name: name.into(),
            presentation_hint: hint.map(str::to_owned),
            variables_reference: self.references.number(frame, Inside::Scope(scope)),
            // Static members are of interest now and then only.
            expensive: scope == VariableScope::Statics,
            ..Scope::default()
        });
        Ok(ScopesResponseBody {
            scopes: scopes.into(),
        })
    }

    pub(crate) fn variables(
        &mut self,
        arguments: VariablesArguments,
    ) -> Result<VariablesResponseBody, Refusal> {
        let parent = self.references.get(arguments.variables_reference)?;
        let count = arguments.count.and_then(|count| u32::try_from(count).ok());
        let query = VariablesQuery {
            start: arguments
                .start
                .and_then(|it| u64::try_from(it).ok())
                .unwrap_or(0),
            count: count.filter(|count| *count > 0).unwrap_or(PAGE),
            ..query(&parent, arguments.format.as_ref())
        };
        let found = self.ask_variables(query)?;
        let mut variables: Vec<_> = found
            .variables
            .iter()
            .map(|variable| self.variable(parent.frame, variable))
            .collect();
        // What could not be told is told where it would have been.
        for note in found.notes {
            variables.push(note_of(&note));
        }
        if let Some(omitted) = found.omitted
            && count.is_none_or(|count| count == 0)
        {
            let text = format!("{} more", omitted.count);
            variables.push(note_of(&text));
        }
        Ok(VariablesResponseBody { variables })
    }

    pub(crate) fn set_variable(
        &mut self,
        arguments: SetVariableArguments,
    ) -> Result<SetVariableResponseBody, Refusal> {
        let parent = self.references.get(arguments.variables_reference)?;
        let found = self.ask_variables(VariablesQuery {
            names: vec![arguments.name.clone()],
            count: PAGE,
            ..query(&parent, None)
        })?;
        let mut named = found.variables.into_iter();
        let variable = named.find(|variable| variable.name == arguments.name && !variable.shadowed);
        let variable = variable.ok_or_else(|| {
            Refusal::new("noVariable", format!("there is no {} here", arguments.name))
        })?;
        let set = SetVariable {
            stop: Some(parent.frame.stop),
            thread: Some(parent.frame.thread),
            frame: parent.frame.index,
            path: variable.path,
            value: arguments.value,
            force: false,
        };
        let Reply::Variables(now) = self.ask(EngineRequest::SetVariable(Box::new(set)))? else {
            return Err(Refusal::new(
                "internal",
                "a bug in ndbg: no variable was told",
            ));
        };
        let now = match now.parent {
            Some(parent) => Some(*parent),
            None => now.variables.into_iter().next(),
        };
        let now =
            now.ok_or_else(|| Refusal::new("internal", "a bug in ndbg: no value was told"))?;
        let told = self.variable(parent.frame, &now);
        Ok(SetVariableResponseBody {
            value: told.value,
            r#type: told.r#type,
            variables_reference: Some(told.variables_reference),
            indexed_variables: told.indexed_variables,
            named_variables: told.named_variables,
            ..SetVariableResponseBody::default()
        })
    }

    fn ask_variables(&self, query: VariablesQuery) -> Result<Variables, Refusal> {
        match self.ask(EngineRequest::Variables(Box::new(query)))? {
            Reply::Variables(found) => Ok(*found),
            _ => Err(Refusal::new(
                "internal",
                "a bug in ndbg: no variables were told",
            )),
        }
    }

    fn variable(&mut self, frame: FrameOf, variable: &EngineVariable) -> Variable {
        let value = &variable.value;
        let children = i32::try_from(value.children).unwrap_or(i32::MAX);
        let reference = if children > 0 && !value.cycle {
            self.references
                .number(frame, Inside::Path(variable.path.clone()))
        } else {
            0
        };
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
            indexed_variables: (reference != 0 && value.indexed).then_some(children),
            named_variables: (reference != 0 && !value.indexed).then_some(children),
            presentation_hint: hint_of(variable),
            ..Variable::default()
        }
    }
}

fn query(parent: &Parent, format: Option<&ValueFormat>) -> VariablesQuery {
    let (scope, path) = match &parent.inside {
        Inside::Scope(scope) => (*scope, None),
        Inside::Path(path) => (VariableScope::All, Some(path.clone())),
    };
    VariablesQuery {
        stop: Some(parent.frame.stop),
        thread: Some(parent.frame.thread),
        frame: parent.frame.index,
        scope,
        path,
        view: View {
            hex: format.and_then(|format| format.hex) == Some(true),
            ..View::default()
        },
        ..VariablesQuery::default()
    }
}

fn text_of(value: &Value) -> String {
    let mut text = match value.kind {
        ValueKind::Unreadable => format!("<{}>", value.text),
        _ => value.text.clone(),
    };
    if value.cycle {
        text.push_str(" (seen above)");
    }
    text
}

fn hint_of(variable: &EngineVariable) -> Option<VariablePresentationHint> {
    let kind = match variable.kind {
        VariableKind::Property => "property",
        VariableKind::Field | VariableKind::Static | VariableKind::Element => "data",
        VariableKind::Group => "virtual",
        _ => return None,
    };
    let attributes = match variable.kind {
        VariableKind::Static => Some(vec!["static".to_owned()]),
        _ => None,
    };
    Some(VariablePresentationHint {
        kind: Some(kind.into()),
        attributes,
        ..VariablePresentationHint::default()
    })
}

fn note_of(text: &str) -> Variable {
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
