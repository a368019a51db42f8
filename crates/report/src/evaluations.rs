//! What came of expressions, as a reader sees it.

use std::fmt::Write as _;

use engine::api::Evaluated;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Reader, Render, failure, text};

/// Characters told of an expression and of a type.
const NAME: usize = 200;
/// Characters told of a value or an error.
const VALUE: usize = 1000;

/// What came of expressions.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct EvaluationsReport {
    /// The session's id.
    pub session: String,
    /// One for each expression, in order.
    pub results: Vec<EvaluationEntry>,
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
    /// Why it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The compiler's code for that, such as `CS0103`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The exception that evaluating it throws.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exception: Option<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl EvaluationsReport {
    /// From the engine's.
    pub fn of(session: &str, results: &[Evaluated]) -> Self {
        Self {
            session: session.to_owned(),
            results: results.iter().map(EvaluationEntry::from).collect(),
        }
    }
}

impl From<&Evaluated> for EvaluationEntry {
    fn from(evaluated: &Evaluated) -> Self {
        let expression = text::one_line(&evaluated.expression, NAME);
        match &evaluated.outcome {
            Ok(value) => Self {
                expression,
                type_name: Some(text::one_line(&value.ty, NAME)),
                value: Some(text::one_line(&value.text, VALUE)),
                ..Self::default()
            },
            Err(why) => {
                let error = failure::bounded(why.error.clone());
                Self {
                    expression,
                    problem: Some(text::clean(&error.message).chars().take(VALUE).collect()),
                    code: why.code.clone(),
                    exception: why.exception.as_deref().map(|it| text::one_line(it, NAME)),
                    hint: error.hint,
                    ..Self::default()
                }
            }
        }
    }
}

impl Render for EvaluationsReport {
    fn render_for(&self, _: Reader) -> String {
        let mut out = String::new();
        for result in &self.results {
            // Writing to a String cannot fail.
            let _ = write!(out, "{}", result.expression);
            if let (Some(ty), Some(value)) = (&result.type_name, &result.value) {
                let _ = writeln!(out, ": {ty} = {value}");
            }
            if let Some(problem) = &result.problem {
                out.push_str(": it has no value\n");
                text::push_quoted_lines(&mut out, "| ", problem);
            }
            if let Some(hint) = &result.hint {
                let _ = writeln!(out, "Hint: {hint}");
            }
        }
        super::finish(out)
    }
}
