//! Looking at values while an expression is bound: by reading only.

use syntax::Span;

use super::bind::Probe;
use super::plan::Node;
use super::run::{Journal, Runner, Surroundings, Val};
use super::scalar::Scalar;
use crate::types::Type;
use crate::values::Reader;

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

    fn expando_members(&self, node: &Node, slots: u32) -> Vec<(u64, String)> {
        match self.value(node, slots) {
            Some(Val::Object(object)) => self.reader.expando_members(&object).unwrap_or_default(),
            _ => Vec::new(),
        }
    }
}
