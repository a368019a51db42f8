//! Looking at values while an expression is bound: by reading only.

use syntax::Span;

use super::bind::Probe;
use super::plan::Node;
use super::run::{Journal, Runner, Surroundings, Val};
use super::scalar::Scalar;
use crate::types::Type;
use crate::values::Reader;

/// Members of one dynamic object that are looked through.
const MAX_MEMBERS: u64 = 10_000;
/// Letters of a member's name.
const MAX_NAME: u32 = 1_024;

/// Reads in a frame.
pub(super) struct Looking<'r, 't> {
    pub(super) reader: &'r Reader<'t>,
    /// In which nothing may be called or written.
    pub(super) around: &'r Surroundings<'r>,
}

impl Looking<'_, '_> {
    fn value(&self, node: &Node, slots: u32) -> Option<Val> {
        let mut journal = Journal::default();
        let mut runner = Runner::new(self.reader, self.around, slots, &mut journal);
        let value = runner.eval(node).ok()?;
        runner.settled(value, Span::empty(0)).ok()
    }
}

impl Probe for Looking<'_, '_> {
    fn type_of(&self, node: &Node, slots: u32) -> Option<Type> {
        match self.value(node, slots)? {
            Val::Object(object) => Some(object.ty),
            Val::Boxed(ty, _) => Some(ty),
            Val::Scalar(Scalar::String(_)) => Some(Type::STRING),
            _ => None,
        }
    }

    fn is_null(&self, node: &Node, slots: u32) -> bool {
        matches!(self.value(node, slots), Some(Val::Null))
    }

    fn texts(&self, node: &Node, slots: u32) -> Vec<String> {
        let Some(Val::Object(names)) = self.value(node, slots) else {
            return Vec::new();
        };
        let count = self.reader.array(&names).map_or(0, |it| it.count);
        let text = |at| {
            let name = self.reader.element(&names, at);
            let name = name.and_then(|it| self.reader.string(&it, MAX_NAME));
            name.ok().flatten().map_or_else(String::new, |it| it.0)
        };
        (0..count.min(MAX_MEMBERS)).map(text).collect()
    }
}
