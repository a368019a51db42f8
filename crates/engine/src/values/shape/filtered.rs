//! Variables that the filter of a `catch` declares in an async method or iterator: `when (error.InnerException is Refused why)`.
//!
//! The compiler keeps them in fields like other locals and says of these fields, wrongly, that they are in scope nowhere. They
//! are in the filter, and in the block that it guards.

use metadata::pe::ClauseKind;
use metadata::tables::Table;
use metadata::{IlOffset, Token};

use super::Collector;
use crate::stepping::il;
use crate::types::Field;

/// `ldflda` and `stfld`: what a filter that declares a variable does with its field.
const DECLARES: [u8; 2] = [0x7c, 0x7d];

impl Collector<'_, '_> {
    /// Whether a filter declares what a field holds, and an offset lies in that or in the block that it guards.
    pub(super) fn is_of_filter_at(&self, field: &Field, offset: IlOffset) -> bool {
        let Ok(module) = self.types.metadata(self.place.module) else {
            return false;
        };
        let Ok(Some(body)) = module.body(self.place.method) else {
            return false;
        };
        body.clauses.iter().any(|clause| {
            let ClauseKind::Filter(filter) = clause.kind else {
                return false;
            };
            let block = clause.handler_start;
            let end = block.0.saturating_add(clause.handler_length);
            (filter.0..end).contains(&offset.0) && self.declares(body.code, filter, block, field)
        })
    }

    fn declares(&self, code: &[u8], start: IlOffset, end: IlOffset, field: &Field) -> bool {
        let mut at = start.0 as usize;
        while at < end.0 as usize
            && let Some(instruction) = il::read(code, at)
        {
            let operand = code.get(at + 1..).and_then(|it| it.first_chunk());
            if code.get(at).is_some_and(|it| DECLARES.contains(it))
                && let Some(token) = operand.map(|it| Token(u32::from_le_bytes(*it)))
                && self.is_field(token, field)
            {
                return true;
            }
            at = instruction.next;
        }
        false
    }

    /// A generic type names its own fields in its instantiation.
    fn is_field(&self, token: Token, field: &Field) -> bool {
        match token.is(Table::MemberRef) {
            true => {
                let member = self.metadata.member_ref(token);
                member.is_ok_and(|it| it.name == *field.name)
            }
            false => token == field.token,
        }
    }
}
