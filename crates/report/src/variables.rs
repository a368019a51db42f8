//! Variables as an agent sees them: a line each.

use std::fmt::Write as _;

use engine::api::{
    BehindCut, OmitReason, Omitted, Value, ValueKind, Variable, VariableKind, Variables,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::shared::Shared;
use super::{Reader, Render, is_false, is_zero_u64, text};

/// What the names of values that calls returned begin with.
pub(crate) const RETURNED: &str = "$returnvalue";

/// Characters told of a name or a type.
const NAME: usize = 120;
/// Characters of a path that is told.
const PATH: usize = 1000;
/// Levels of members that are told.
const DEPTH: usize = 4;

/// A named value.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct VariableEntry {
    /// Its name; `[3]` of an element.
    pub name: String,
    /// Such as `argument`, `local`, `captured`, `field`, `property`, `element`, `static`.
    pub kind: &'static str,
    /// The type of the value.
    #[serde(rename = "type")]
    pub type_name: String,
    /// The value; why it cannot be read, if it cannot.
    pub value: String,
    /// Whether it cannot be read.
    #[serde(skip_serializing_if = "is_false")]
    pub unreadable: bool,
    /// The path to ask `variables_get` with for what lies inside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Names the object until the program runs; a path to ask with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// How many characters a text has that is not told whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_length: Option<u64>,
    /// How many members or elements it has.
    #[serde(skip_serializing_if = "is_zero_u64")]
    pub children: u64,
    /// What it was at the last stop in the same call of the method, if it has changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    /// Whether it has changed since then behind what is shown of it.
    #[serde(skip_serializing_if = "is_false")]
    pub changed_inside: bool,
    /// Tells it from others of its method that have its name, if it is a variable of a frame.
    #[serde(skip)]
    pub declaration: Option<u64>,
    /// Changes with what lies behind the cut of the value.
    #[serde(skip)]
    pub behind_cut: Option<BehindCut>,
    /// Whether its type is another one than that which it is declared with.
    #[serde(skip)]
    pub is_of_other_type: bool,
    /// Things to know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Its members or elements, if they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<serde_json::Value>")]
    pub members: Vec<VariableEntry>,
    /// Members that are not told.
    #[serde(skip_serializing_if = "is_zero_u64")]
    pub more_members: u64,
}

/// A variable that was set.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct SetReport {
    /// The session's id.
    pub session: String,
    /// The stop.
    pub stop: u32,
    /// The variable as it is now.
    pub variable: VariableEntry,
}

impl Render for SetReport {
    fn render_for(&self, _: Reader) -> String {
        self.variable.line()
    }
}

/// Variables of a frame, or what lies inside one.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct VariablesReport {
    /// The session's id.
    pub session: String,
    /// The stop they belong to.
    pub stop: u32,
    /// The thread.
    #[schemars(extend("x-minor" = true))]
    pub thread: u32,
    /// The frame.
    #[schemars(extend("x-minor" = true))]
    pub frame: u32,
    /// The value that was asked for by path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<VariableEntry>,
    /// The variables or members.
    pub variables: Vec<VariableEntry>,
    /// How many are not told.
    #[serde(skip_serializing_if = "is_zero_u64")]
    pub left_out: u64,
    /// Whether there may be more than so many.
    #[serde(skip)]
    pub(super) at_least: &'static str,
    /// Where to go on, if some are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_start: Option<u64>,
    /// Things to know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-minor" = true))]
    pub notes: Vec<String>,
}

impl VariableEntry {
    /// Leaves so many characters of its texts, and nothing of what lies inside.
    pub(super) fn cut(&mut self, characters: usize) {
        self.value = text::one_line(&self.value, characters);
        self.name = text::one_line(&self.name, characters.max(40));
        self.type_name = text::one_line(&self.type_name, characters.max(40));
        self.notes.clear();
        self.more_members += self.members.len() as u64;
        self.members.clear();
    }
}

impl From<&Variable> for VariableEntry {
    fn from(variable: &Variable) -> Self {
        Self::of(variable, DEPTH)
    }
}

impl VariableEntry {
    fn of(variable: &Variable, depth: usize) -> Self {
        let Value {
            type_name,
            text,
            kind,
            object,
            full_length,
            behind_cut,
            children,
            cycle,
            notes,
            members,
            omitted,
            ..
        } = &variable.value;
        let shown = if depth == 0 { &[][..] } else { members };
        let mut notes: Vec<_> = notes.iter().map(|note| text::one_line(note, 200)).collect();
        notes.truncate(3);
        if let Some(label) = &variable.label {
            let parts = [&label.name, &label.type_name];
            let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
            let label = text::one_line(&parts.join(": "), NAME);
            notes.insert(0, format!("to be called {label}"));
        }
        if *cycle {
            notes.push("it contains itself".into());
        }
        let cut = (members.len() - shown.len()) as u64;
        Self {
            name: text::one_line(&variable.name, NAME),
            kind: kind_name(variable.kind),
            type_name: text::one_line(type_name, NAME),
            // The engine has cut it to what was asked for.
            value: text::one_line(text, usize::MAX),
            unreadable: matches!(kind, ValueKind::Unreadable | ValueKind::NotRun),
            // One that would have to be cut leads nowhere; an object has its id.
            path: (*children > 0)
                .then(|| text::one_line(&variable.path, PATH))
                .filter(|path| *path == variable.path),
            object: object.map(|id| format!("#{}", id.0)),
            full_length: *full_length,
            children: *children,
            was: None,
            changed_inside: false,
            declaration: None,
            behind_cut: *behind_cut,
            is_of_other_type: variable.declared_type.is_some(),
            notes,
            members: shown.iter().map(|it| Self::of(it, depth - 1)).collect(),
            more_members: omitted.as_ref().map_or(0, |it| it.count) + cut,
        }
    }

    /// Leaves out the path if it leads through what code of the program made: looking, which runs none, cannot follow it.
    /// Objects can be opened by their ids. Elements of what is read have paths that lead to them.
    pub(super) fn forget_paths_through_code(&mut self, is_read: bool) {
        let is_element = self.kind == kind_name(VariableKind::Element);
        self.path
            .take_if(|path| path.contains(".$proxy") || (is_element && !is_read));
    }

    /// `total: decimal = 18.90 (was 9.00)`.
    fn line(&self) -> String {
        let mut line = self.name.clone();
        // The type of an element says no more than that of its collection, as a rule.
        let is_told = self.kind != "element" || self.is_of_other_type;
        if !self.type_name.is_empty() && is_told {
            let _ = write!(line, ": {}", self.type_name);
        }
        let _ = write!(line, " = {}", self.value);
        if let Some(length) = self.full_length {
            let _ = write!(line, " ({length} characters)");
        }
        if let Some(was) = &self.was {
            let _ = write!(line, " (was {was})");
        } else if self.changed_inside {
            line.push_str(" (changed, behind what is shown)");
        }
        for note in &self.notes {
            let _ = write!(line, " ({note})");
        }
        line
    }
}

fn kind_name(kind: VariableKind) -> &'static str {
    match kind {
        VariableKind::This => "this",
        VariableKind::Argument => "argument",
        VariableKind::Local => "local",
        VariableKind::Constant => "constant",
        VariableKind::Captured => "captured",
        VariableKind::Field => "field",
        VariableKind::Property => "property",
        VariableKind::Element => "element",
        VariableKind::Static => "static",
        VariableKind::Pseudo => "pseudo",
        VariableKind::TypeArgument => "type_argument",
        VariableKind::Group => "group",
    }
}

impl VariablesReport {
    /// From the engine's.
    pub fn of(session: &str, variables: &Variables) -> Self {
        let entries = variables.variables.iter();
        let (left_out, next_start) = match &variables.omitted {
            // There is no next page of what cannot be found.
            Some(Omitted {
                count,
                reason: OmitReason::Missing | OmitReason::NotKept,
                ..
            }) => (*count, None),
            Some(Omitted { count, start, .. }) => (*count, Some(*start)),
            None => (0, None),
        };
        let mut notes: Vec<_> = variables
            .notes
            .iter()
            .map(|note| text::one_line(note, 300))
            .collect();
        notes.extend(
            match variables.omitted.as_ref().map(|it| it.reason) {
                Some(OmitReason::Size) => Some("the answer would have been too long"),
                Some(OmitReason::Time) => {
                    Some("reading the others took too long; ask for one by its key or path")
                }
                Some(OmitReason::Missing) => Some(
                    "the others were not found: it says that it has more than it has, and is damaged or being changed",
                ),
                Some(OmitReason::Count | OmitReason::NotKept) | None => None,
            }
            .map(str::to_owned),
        );
        let parent = variables.parent.as_deref();
        let mut shared = Shared::default();
        let mut marked = |variable| {
            let mut entry = VariableEntry::from(variable);
            shared.mark(variable, &mut entry);
            entry
        };
        let of = parent.map(&mut marked);
        if parent.is_some_and(|it| it.value.kind == ValueKind::Masked) {
            notes.push("show_secrets=true shows it".into());
        }
        Self {
            session: session.to_owned(),
            stop: variables.stop.0,
            thread: variables.thread.0,
            frame: variables.frame,
            of,
            variables: entries.map(marked).collect(),
            left_out,
            at_least: at_least(variables.omitted.as_ref()),
            next_start,
            notes,
        }
    }
}

/// What stands before how many are left out.
fn at_least(omitted: Option<&Omitted>) -> &'static str {
    match omitted {
        Some(it) if it.at_least => "at least ",
        _ => "",
    }
}

/// Variables as lines, members indented below them.
pub(super) fn push_variables(out: &mut String, variables: &[VariableEntry], indent: usize) {
    for variable in variables {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{:indent$}{}", "", variable.line());
        push_variables(out, &variable.members, indent + 2);
        if variable.more_members > 0 && !variable.members.is_empty() {
            let _ = writeln!(out, "{:indent$}  … {} more", "", variable.more_members);
        }
    }
}

impl Render for VariablesReport {
    fn render_for(&self, reader: Reader) -> String {
        let mut out = match &self.of {
            Some(of) => format!("{}\n", of.line()),
            None if reader == Reader::Person => String::new(),
            None => format!(
                "Variables of frame #{} of thread {}:\n",
                self.frame, self.thread
            ),
        };
        let nothing_inside = self.of.as_ref().is_some_and(|of| of.children == 0);
        if self.variables.is_empty() && !nothing_inside {
            out.push_str("  (none)\n");
        }
        push_variables(&mut out, &self.variables, 2);
        if let (1.., Some(next)) = (self.left_out, self.next_start) {
            let _ = match (reader, &self.of) {
                (Reader::Agent, _) => writeln!(
                    out,
                    "  … {}{} more: variables_get with start={next}",
                    self.at_least, self.left_out
                ),
                (Reader::Person, Some(of)) => writeln!(
                    out,
                    "  … {}{} more: `inspect {} from {next}`",
                    self.at_least,
                    self.left_out,
                    of.path.as_deref().unwrap_or(&of.name)
                ),
                (Reader::Person, None) => writeln!(out, "  … {} more", self.left_out),
            };
        }
        for note in &self.notes {
            let _ = writeln!(out, "Note: {note}.");
        }
        super::finish(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, told: Option<&str>) {
        let variable: Variable = serde_json::from_value(serde_json::json!({
            "name": "it", "kind": "field", "path": path,
            "value": {"type_name": "C", "text": "{C}", "kind": "object", "children": 1},
        }))
        .expect("a variable");
        assert_eq!(VariableEntry::from(&variable).path.as_deref(), told);
    }

    #[test]
    fn paths_lead_back_or_are_not_told() {
        check("order.Lines[3]", Some("order.Lines[3]"));
        let deep = format!("first{}", ".Next".repeat(100));
        check(&deep, Some(&deep));
        check(&".Next".repeat(1000), None);
        check("map[\"\u{1b}\"]", None);
    }
}
