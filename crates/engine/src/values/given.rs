//! Locals that the user has given a value before the program did.
//!
//! Which locals have a value is told by the code ([`super::assigned`]), which knows nothing of a debugger: what was set from
//! here is remembered for the frame, from the place on where it was set.

use std::cell::RefCell;

use metadata::Token;

use super::Reader;
use super::scope::{FrameVariables, VariableKind};
use super::shape::Home;
use crate::types::ModuleId;

/// Locals that are remembered; the oldest are forgotten.
const MAX_GIVEN: usize = 256;

/// One local of one frame.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Local {
    /// Where the frame lies on its stack.
    stack: (u64, u64),
    module: ModuleId,
    method: Token,
    /// Its slot, or the token of the field that holds it.
    slot: u32,
}

/// The locals that were given a value, with the offsets of the code where that was.
#[derive(Debug, Default)]
pub(crate) struct Given(RefCell<Vec<(Local, u32)>>);

impl Given {
    /// How many there are.
    pub(crate) fn mark(&self) -> usize {
        self.0.borrow().len()
    }

    /// Forgets those that came after a mark, as they were not set after all.
    pub(crate) fn forget_since(&self, mark: usize) {
        self.0.borrow_mut().truncate(mark);
    }
}

impl FrameVariables {
    fn local(&self, slot: u32) -> Option<Local> {
        Some(Local {
            stack: self.context.frame.stack_range()?,
            module: self.context.module,
            method: self.context.method,
            slot,
        })
    }

    /// Whether a local has a value from the user. Code before the place where it was set is that of another call.
    pub(super) fn is_given(&self, reader: &Reader<'_>, slot: u32) -> bool {
        let given = reader.layouts.given.0.borrow();
        if given.is_empty() {
            return false;
        }
        let local = self.local(slot);
        let mut given = given.iter();
        given.any(|(it, offset)| Some(it) == local.as_ref() && *offset <= self.context.offset.0)
    }

    /// Remembers that a variable is about to be set, if it has no value yet.
    pub(crate) fn give(&self, reader: &Reader<'_>, number: usize) {
        let Some(declared) = self.shape.variables.get(number) else {
            return;
        };
        let slot = match declared.home {
            Home::Local(slot) => {
                let is_local = declared.kind == VariableKind::Local;
                (is_local && self.is_unassigned(reader, slot)).then_some(slot)
            }
            _ => self.untouched_field(reader, declared),
        };
        let Some(slot) = slot else {
            return;
        };
        let Some(local) = self.local(slot) else {
            return;
        };
        let mut given = reader.layouts.given.0.borrow_mut();
        given.retain(|(it, _)| *it != local);
        if given.len() >= MAX_GIVEN {
            given.remove(0);
        }
        given.push((local, self.context.offset.0));
    }
}
