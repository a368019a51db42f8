//! Objects that a reply shows more than once: each time but the first it says where it was shown before.
//!
//! Equal texts may be those of equal objects; only a note tells that it is one. Texts are left aside: whether two
//! variables share one changes nothing.

use std::collections::HashMap;

use engine::api::{Evaluated, Variable};

use super::evaluations::EvaluationEntry;
use super::text;
use super::variables::VariableEntry;

/// Characters of the way to where it was shown first.
const PATH: usize = 60;

/// Where objects were shown first.
#[derive(Default)]
pub(super) struct Shared<'v>(HashMap<u64, &'v str>);

impl<'v> Shared<'v> {
    /// Marks one of a reply's variables and what lies inside it; `entry` is what is told of it.
    pub(super) fn mark(&mut self, variable: &'v Variable, entry: &mut VariableEntry) {
        if let Some(note) = self.noted(variable, &variable.path) {
            entry.notes.push(note);
        }
        let members = variable.value.members.iter();
        for (member, entry) in members.zip(&mut entry.members) {
            self.mark(member, entry);
        }
    }

    /// Marks the value of an expression.
    pub(super) fn mark_result(&mut self, result: &'v Evaluated, entry: &mut EvaluationEntry) {
        if let Ok(value) = &result.outcome
            && let Some(variable) = &value.variable
            && let Some(note) = self.noted(variable, &result.expression)
        {
            entry.notes.push(note);
        }
    }

    fn noted(&mut self, variable: &'v Variable, path: &'v str) -> Option<String> {
        let object = variable.value.object?;
        if variable.value.type_name == "string" {
            return None;
        }
        let path = if path.is_empty() {
            &*variable.name
        } else {
            path
        };
        let before = *self.0.entry(object.0).or_insert(path);
        // One that contains itself says so already.
        (!std::ptr::eq(before, path) && !variable.value.cycle)
            .then(|| format!("the same object as {}", text::one_line(before, PATH)))
    }
}
