//! Which fields of a state machine hold a variable that symbols do not name.
//!
//! A compiler that optimises lets variables of one type have one field after the other. The field has the name of the first
//! of them, and symbols tell one scope for it: that of the first, unless a later one is declared by a `case` of a `switch`:
//! then it is that one's, under the name of the first. The compiler's own variables take part, too: they have such fields,
//! and a variable of the program may have one that was first made for the compiler, which no symbol tells at all. What
//! the compiler puts into a field for itself is known by where it is used ([`Sharing::is_compilers`]).

mod points;

use metadata::Metadata;
use metadata::csharp::GeneratedKind;
use metadata::pe::ClauseKind;

use points::{Points, Text};

use super::super::Result;
use super::super::shape::CodePlace;
use super::fields::{FIELD, LDFLDA, STFLD, goes_on, hoisted_scope, is_field, is_of_kind, token};
use super::{Instruction, Local, There, flow, is_in};
use crate::types::{Field, Type, Types};

const LDNULL: u8 = 0x14;
const LDFLD: u8 = 0x7b;
const INITOBJ: [u8; 2] = [0xfe, 0x15];

/// The scope of what symbols know no scope of.
const NOWHERE: Local = Local {
    slot: FIELD,
    start: 0,
    end: 0,
};

/// The code of a state machine, read for which variables share its fields.
pub(in crate::values) struct Sharing<'t> {
    metadata: Metadata<'t>,
    there: There<'t>,
    code: Vec<Instruction>,
    points: Points,
    /// Whether the ways over its awaits and yields are known.
    is_whole: bool,
}

impl<'t> Sharing<'t> {
    /// `None` for code that cannot be read, and of compilers that keep to one variable for each field.
    pub(in crate::values) fn of(types: Types<'t>, place: &CodePlace) -> Result<Option<Self>> {
        let metadata = types.metadata(place.module)?.metadata();
        if metadata.is_optimized() == Some(false) {
            return Ok(None);
        }
        let Some(there) = There::of(types, place, true)? else {
            return Ok(None);
        };
        let Some(mut code) = there.code() else {
            return Ok(None);
        };
        let is_whole = goes_on(&there, place, &mut code)?;
        let points = Points::of(there.pdb, place.method)?;
        Ok(Some(Self {
            metadata,
            there,
            code,
            points,
            is_whole,
        }))
    }

    /// Whether a field holds, where the code stands, another variable than the one that symbols tell there, if any.
    pub(in crate::values) fn is_unnamed(
        &mut self,
        place: &CodePlace,
        field: &Field,
    ) -> Result<bool> {
        let scope = hoisted_scope(&self.there, place, field)?;
        let is_named = scope.is_some();
        if !is_named && !is_of_kind(field, GeneratedKind::ReusableLocal) {
            return Ok(false);
        }
        let scope = scope.unwrap_or(NOWHERE);
        let accesses = self.accesses(field);
        let before = |at: u32| at < scope.start;
        // What a `switch` looks at to choose is assigned before the scope, in code that belongs to no text.
        let is_of_other =
            |at: u32| before(at) && self.is_of_statement(at) && !self.is_of_filter(at);
        let is_later = accesses.iter().any(|at| is_of_other(*at));
        if scope.contains(place.offset.0) {
            return Ok(is_later);
        }
        let mut stores = Vec::new();
        for (number, instruction) in self.code.iter().enumerate() {
            let at = instruction.at;
            let op = self.there.body.code.get(at as usize);
            if !matches!(op, Some(&(STFLD | LDFLDA))) || accesses.binary_search(&at).is_err() {
                continue;
            }
            let is_choice = is_named && !is_later && before(at) && !self.is_of_statement(at);
            let is_own = scope.contains(at) || self.clears(at);
            let is_compilers = !is_own && self.is_compilers(number, field, &accesses);
            let writes = !is_own && !is_choice && !is_compilers;
            // What takes an address for the compiler need not write there.
            let renews = is_own || (is_compilers && op == Some(&STFLD));
            stores.push((number, writes, renews));
        }
        for instruction in &mut self.code {
            (instruction.writes, instruction.renews) = (None, false);
        }
        let is_written = stores.iter().any(|(_, writes, _)| *writes);
        for (number, writes, renews) in stores {
            if let Some(instruction) = self.code.get_mut(number) {
                instruction.writes = writes.then_some(FIELD);
                instruction.renews = renews;
            }
        }
        if !is_written || !self.is_whole {
            return Ok(is_written);
        }
        let whole = Local {
            slot: FIELD,
            start: 0,
            end: u32::MAX,
        };
        let at = place.offset.0;
        let maybe = flow(&self.code, &[(whole, false)], 0, at..at.saturating_add(1));
        Ok(maybe == Some(1))
    }

    /// Whether the compiler puts something into a field for itself: the collection or the place of a `foreach`, which is
    /// used at its `in`; what a statement computes before an `await` in it; what is disposed of or thrown at the
    /// end of a block, in code that no text belongs to.
    fn is_compilers(&self, store: usize, field: &Field, accesses: &[u32]) -> bool {
        let at = self.code.get(store).map_or(0, |it| it.at);
        let own = self.points.statement(at);
        if own.is_none() && field.ty == Type::OBJECT && self.is_of_handler(at) {
            // The exception, for a block that awaits.
            return true;
        }
        let reads = self.reads_behind(store, accesses);
        let is_of_foreach = reads.iter().any(|at| self.points.text(*at) == Text::In);
        let is_elsewhere = |at: &u32| {
            let of = self.points.statement(*at);
            of.is_some() && of != own
        };
        is_of_foreach || !reads.iter().any(is_elsewhere)
    }

    /// Where the code uses what it has put into a field, until it puts something else there.
    fn reads_behind(&self, store: usize, accesses: &[u32]) -> Vec<u32> {
        let mut found = Vec::new();
        let mut is_seen = vec![false; self.code.len()];
        let mut waiting = vec![store];
        while let Some(number) = waiting.pop() {
            let Some(instruction) = self.code.get(number) else {
                continue;
            };
            for &next in &instruction.next {
                let (Some(to), Some(seen)) = (self.code.get(next), is_seen.get_mut(next)) else {
                    continue;
                };
                if std::mem::replace(seen, true) {
                    continue;
                }
                if accesses.binary_search(&to.at).is_ok() {
                    if self.there.body.code.get(to.at as usize) == Some(&STFLD) {
                        continue;
                    }
                    found.push(to.at);
                }
                waiting.push(next);
            }
        }
        found
    }

    /// Where the code uses a field.
    fn accesses(&self, field: &Field) -> Vec<u32> {
        let code = self.there.body.code;
        let is_access = |at: &u32| {
            let at = *at as usize;
            matches!(code.get(at), Some(&(LDFLD | LDFLDA | STFLD)))
                && token(code, at + 1).is_some_and(|it| is_field(self.metadata, it, field))
        };
        self.code.iter().map(|it| it.at).filter(is_access).collect()
    }

    /// Whether an instruction is of the filter of a `catch`, which uses what that declares before its scope begins.
    fn is_of_filter(&self, at: u32) -> bool {
        let mut clauses = self.there.body.clauses.iter();
        clauses.any(|it| match it.kind {
            ClauseKind::Filter(filter) => {
                is_in(at, filter, it.handler_start.0.saturating_sub(filter.0))
            }
            _ => false,
        })
    }

    /// Whether an instruction is of code that an exception leads to.
    fn is_of_handler(&self, at: u32) -> bool {
        let mut clauses = self.there.body.clauses.iter();
        let is_handled = clauses.any(|it| {
            it.kind != ClauseKind::Finally && is_in(at, it.handler_start, it.handler_length)
        });
        is_handled || self.is_of_filter(at)
    }

    fn is_of_statement(&self, at: u32) -> bool {
        matches!(self.points.text(at), Text::Statement | Text::In)
    }

    /// Whether an instruction takes out of a field what the collector would find there: its variable is over.
    fn clears(&self, at: u32) -> bool {
        let code = self.there.body.code;
        let at_code = at as usize;
        let is_empty = match code.get(at_code) {
            Some(&STFLD) => at_code.checked_sub(1).and_then(|it| code.get(it)) == Some(&LDNULL),
            Some(&LDFLDA) => code.get(at_code + 5..at_code + 7) == Some(&INITOBJ),
            _ => false,
        };
        is_empty && self.points.text(at) != Text::Statement
    }
}
