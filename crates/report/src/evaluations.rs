//! What came of expressions, as a reader sees it.

use std::fmt::Write as _;

use engine::api::{Error, Evaluated, ValueKind, Variables};
use schemars::JsonSchema;
use serde::Serialize;

use super::shared::Shared;
use super::variables::{VariableEntry, VariablesReport, push_variables};
use super::{Reader, Render, failure, is_false, is_zero, is_zero_u64, text};

/// Characters told of an expression and of a type.
const NAME: usize = 200;
/// Characters told of a value.
const VALUE: usize = 1000;
/// What is said of a value whose line only code can tell.
const WOULD_RUN: [&str; 2] = [
    "its DebuggerDisplay would run code",
    "which needs code to run",
];
/// Characters told of an error, which may have an exception's stack.
const PROBLEM: usize = 4000;

/// What came of expressions.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct EvaluationsReport {
    /// The session's id.
    pub session: String,
    /// The frame in which they were evaluated, if it is not the innermost.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(extend("x-minor" = true))]
    pub frame: u32,
    /// One for each expression, in order.
    pub results: Vec<EvaluationEntry>,
    /// Whether values were cut so that all fit.
    #[serde(skip_serializing_if = "is_false")]
    #[schemars(extend("x-minor" = true))]
    pub shortened: bool,
}

/// What came of one expression.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct EvaluationEntry {
    /// The expression.
    pub expression: String,
    /// The type of the expression.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_name: Option<String>,
    /// Its value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// How many members or elements it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub children: Option<u64>,
    /// Leads to it until the program continues: give it to variables_get to open it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Why it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The compiler's code for that, such as `CS0103`, else that of the error, such as `EVAL_FAILED`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The exception that evaluating it throws.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exception: Option<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// What is in it, if it was opened.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<VariableEntry>,
    /// How many of them are not told.
    #[serde(skip_serializing_if = "is_zero_u64")]
    pub left_out: u64,
    /// Whether there may be more than so many.
    #[serde(skip)]
    pub(super) at_least: &'static str,
    /// Where to go on, if some are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_start: Option<u64>,
    /// Things to know: that code was run to show it, what that threw, what other threads met meanwhile.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl EvaluationEntry {
    /// Adds what is in the value, as code of the program showed it.
    pub fn open(&mut self, session: &str, told: &Variables) {
        let mut is_read = false;
        if let Some(parent) = told.parent.as_deref() {
            is_read = matches!(parent.value.kind, ValueKind::Array | ValueKind::Collection);
            // Only what has a line of its own is better than what the expression gave.
            if parent.value.kind != ValueKind::Unreadable {
                self.value = Some(text::one_line(&parent.value.text, VALUE));
            }
        }
        let report = VariablesReport::of(session, told);
        self.members = report.variables;
        for member in &mut self.members {
            member.forget_paths_through_code(is_read);
        }
        (self.left_out, self.next_start) = (report.left_out, report.next_start);
        self.at_least = report.at_least;
        let of = report.of.map(|of| of.notes).unwrap_or_default();
        // What it said of the value that it gave goes for the one that is told now only if that says so too.
        let is_over =
            |it: &String| WOULD_RUN.iter().any(|would| it.contains(would)) && !of.contains(it);
        self.notes.retain(|it| !is_over(it));
        for note in of.into_iter().chain(report.notes) {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        self.notes.push(match told.code_runs {
            0 => "no code of the program had to run for it".into(),
            1 => "code of the program was run once to show it".into(),
            runs => format!("code of the program was run {runs} times to show it"),
        });
    }

    /// Leaves so many characters of each text, and so many members.
    pub(super) fn cut(&mut self, characters: usize, members: usize) {
        let short = |text: &mut Option<String>, characters| {
            let told = text.as_deref();
            *text = told.map(|it| text::one_line(it, characters));
        };
        self.expression = text::one_line(&self.expression, characters.max(40));
        short(&mut self.type_name, characters.max(40));
        short(&mut self.value, characters);
        short(&mut self.hint, characters.max(40));
        if let Some(problem) = &mut self.problem
            && let Some((end, _)) = problem.char_indices().nth(characters * 2)
        {
            problem.truncate(end);
            problem.push('…');
        }
        let more = self.members.len().saturating_sub(members) as u64;
        self.members.truncate(members);
        self.left_out += more;
        self.next_start = self.next_start.map(|next| next.saturating_sub(more));
        for member in &mut self.members {
            member.cut(characters);
        }
        self.notes.truncate(members);
    }

    /// Says why the value could not be opened.
    pub fn cannot_open(&mut self, error: &Error) {
        let why = text::one_line(&error.message, VALUE);
        self.notes.push(format!("it could not be opened: {why}"));
        self.hint = error.hint.clone();
    }
}

impl EvaluationsReport {
    /// From the engine's.
    pub fn of(session: &str, results: &[Evaluated]) -> Self {
        let mut shared = Shared::default();
        let marked = |result| {
            let mut entry = EvaluationEntry::from(result);
            shared.mark_result(result, &mut entry);
            entry
        };
        Self {
            session: session.to_owned(),
            frame: 0,
            results: results.iter().map(marked).collect(),
            shortened: false,
        }
    }
}

impl From<&Evaluated> for EvaluationEntry {
    fn from(evaluated: &Evaluated) -> Self {
        let expression = text::one_line(&evaluated.expression, NAME);
        match &evaluated.outcome {
            Ok(value) => {
                let opened = value.variable.as_deref();
                // An object of which the text only names the type is shown as a variable would be.
                let shown = match opened {
                    Some(opened) if value.text.starts_with('{') && !opened.path.is_empty() => {
                        &opened.value.text
                    }
                    _ => &value.text,
                };
                Self {
                    expression,
                    type_name: Some(text::one_line(&value.ty, NAME)),
                    value: Some(text::one_line(shown, VALUE)),
                    children: opened.map(|it| it.value.children).filter(|it| *it > 0),
                    path: opened.map(|it| it.path.clone()).filter(|it| !it.is_empty()),
                    notes: {
                        let of_value = opened.into_iter().flat_map(|it| &it.value.notes);
                        evaluated.notes.iter().chain(of_value).cloned().collect()
                    },
                    ..Self::default()
                }
            }
            Err(why) => {
                let error = failure::bounded(why.error.clone());
                let problem = text::clean(&error.message);
                let mut told: String = problem.chars().take(PROBLEM).collect();
                if told.len() < problem.len() {
                    told.push('…');
                }
                Self {
                    expression,
                    problem: Some(told),
                    code: Some(why.code.clone().unwrap_or_else(|| error.code.name().into())),
                    exception: why.exception.as_deref().map(|it| text::one_line(it, NAME)),
                    hint: error.hint,
                    notes: evaluated.notes.clone(),
                    ..Self::default()
                }
            }
        }
    }
}

impl Render for EvaluationsReport {
    fn render_for(&self, reader: Reader) -> String {
        let mut out = String::new();
        if self.frame > 0 && reader != Reader::Person {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "In frame #{}:", self.frame);
        }
        for result in &self.results {
            // Writing to a String cannot fail.
            let _ = write!(out, "{}", result.expression);
            if let (Some(ty), Some(value)) = (&result.type_name, &result.value) {
                let _ = write!(out, ": {ty} = {value}");
                // A person opens a value by what they wrote, and is shown what lies inside.
                if let (Some(path), Some(children)) = (&result.path, result.children)
                    && result.members.is_empty()
                    && reader != Reader::Person
                {
                    let _ = write!(out, "  ({children} inside: {path})");
                }
                out.push('\n');
                push_variables(&mut out, &result.members, 2);
                if let (1.., Some(next)) = (result.left_out, result.next_start) {
                    let (least, left) = (result.at_least, result.left_out);
                    let _ = writeln!(
                        out,
                        "  … {least}{left} more: evaluate with open and start={next}"
                    );
                }
            }
            if let Some(problem) = &result.problem {
                out.push_str(": it has no value\n");
                text::push_quoted_lines(&mut out, "| ", problem);
            }
            for note in &result.notes {
                let _ = writeln!(out, "Note: {note}.");
            }
            if let Some(hint) = &result.hint {
                let _ = writeln!(out, "Hint: {hint}");
            }
        }
        if self.shortened {
            out.push_str("Note: shortened, so that all fit; ask for fewer at once, or variables_get with a path and text_length.\n");
        }
        super::finish(out)
    }
}
