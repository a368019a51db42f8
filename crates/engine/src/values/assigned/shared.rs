//! Which fields of a state machine hold a variable that symbols do not name.
//!
//! A compiler that optimises lets variables of one type have one field after the other. The field has the name of the first
//! of them, and symbols tell one scope for it: that of the first, unless a later one is declared by a `case` of a `switch`:
//! then it is that one's, under the name of the first. The compiler's own variables take part, too.

use metadata::Metadata;
use metadata::pe::ClauseKind;

use super::super::Result;
use super::super::shape::CodePlace;
use super::fields::{FIELD, LDFLDA, STFLD, goes_on, hoisted_scope, is_field, token};
use super::{Instruction, Local, There, flow, is_in};
use crate::types::{Field, Types};

const LDNULL: u8 = 0x14;
const LDFLD: u8 = 0x7b;
const INITOBJ: [u8; 2] = [0xfe, 0x15];

/// The code of a state machine, read for which variables share its fields.
pub(in crate::values) struct Sharing<'t> {
    metadata: Metadata<'t>,
    there: There<'t>,
    code: Vec<Instruction>,
    /// Where each sequence point begins, and whether it is of a statement: neither hidden nor a brace.
    points: Vec<(u32, bool)>,
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
        let mut points = Vec::new();
        for point in there.pdb.sequence_points(place.method)? {
            let point = point?;
            let is_statement = point.span.is_some_and(|it| {
                it.start_line < it.end_line || it.start_column.saturating_add(1) < it.end_column
            });
            points.push((point.offset.0, is_statement));
        }
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
        let Some(scope) = hoisted_scope(&self.there, place, field)? else {
            return Ok(false);
        };
        let accesses = self.accesses(field);
        let before = |at: u32| at < scope.start;
        // What a `switch` looks at to choose is assigned before the scope, in code that belongs to no text.
        let is_of_other =
            |at: u32| before(at) && self.is_of_statement(at) && !self.is_of_filter(at);
        let is_later = accesses.iter().any(|at| is_of_other(*at));
        if scope.contains(place.offset.0) {
            return Ok(is_later);
        }
        let mut is_written = false;
        for number in 0..self.code.len() {
            let at = self.code.get(number).map_or(0, |it| it.at);
            let op = self.there.body.code.get(at as usize);
            let is_store =
                matches!(op, Some(&(STFLD | LDFLDA))) && accesses.binary_search(&at).is_ok();
            let is_own = scope.contains(at) || self.clears(at);
            let is_choice = !is_later && before(at) && !self.is_of_statement(at);
            let writes = is_store && !is_own && !is_choice;
            is_written |= writes;
            if let Some(instruction) = self.code.get_mut(number) {
                instruction.writes = writes.then_some(FIELD);
                instruction.renews = is_store && is_own;
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

    fn is_of_statement(&self, at: u32) -> bool {
        let behind = self.points.partition_point(|(start, _)| *start <= at);
        let point = behind.checked_sub(1).and_then(|it| self.points.get(it));
        point.is_some_and(|(_, is_statement)| *is_statement)
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
        is_empty && !self.is_of_statement(at)
    }
}
