//! Where an iterator goes on that has handed out a value, from the IL of its state machine alone.
//!
//! The symbols tell it of awaits only. The compiler stores the number of the state to `<>1__state`, leaves the method, and
//! puts right behind that what runs next, which begins by storing the state of code that runs. All such states must
//! be found to lead somewhere: if one does not, nothing is known.

use metadata::tables::Table;
use metadata::{IlOffset, Metadata, Token};

use crate::stepping::il;

const STATE: &str = "<>1__state";

const LDARG_0: u8 = 0x02;
const DUP: u8 = 0x25;
const STFLD: u8 = 0x7d;

/// Instructions between a store of the state and the one that leaves the method, at most.
const MOST_BETWEEN: usize = 8;

/// The ways over each yield: from the store of its state to where the code goes on. `None` if they are not all known.
pub(super) fn ways(
    metadata: Metadata<'_>,
    code: &[u8],
    is_async: bool,
) -> Option<Vec<(IlOffset, IlOffset)>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let next = il::read(code, at)?.next;
        if let Some((state, store)) = stored_state(metadata, code, at) {
            // An async iterator counts its yields down from -4, behind -1, -2 and -3 for what else there is.
            let is_yield = if is_async { state <= -4 } else { state > 0 };
            if is_yield {
                let to = behind_leaving(metadata, code, store)?;
                found.push((offset(store)?, to));
            }
        }
        at = next;
    }
    Some(found)
}

/// The state that the instructions from `at` on store, and which one does: `ldc; stfld`, or `ldc; dup; stloc; stfld`.
fn stored_state(metadata: Metadata<'_>, code: &[u8], at: usize) -> Option<(i32, usize)> {
    let state = constant(code, at)?;
    let mut store = il::read(code, at)?.next;
    if code.get(store) == Some(&DUP) {
        let local = store + 1;
        il::stored_local(code, local)?;
        store = il::read(code, local)?.next;
    }
    is_state(metadata, code, store).then_some((state, store))
}

fn is_state(metadata: Metadata<'_>, code: &[u8], at: usize) -> bool {
    let operand = code.get(at + 1..).and_then(|it| it.first_chunk());
    let (Some(&STFLD), Some(bytes)) = (code.get(at), operand) else {
        return false;
    };
    let token = Token(u32::from_le_bytes(*bytes));
    if token.is(Table::MemberRef) {
        return metadata.member_ref(token).is_ok_and(|it| it.name == STATE);
    }
    let field = metadata.field(token);
    field.is_ok_and(|it| it.name().is_ok_and(|it| it == STATE))
}

/// What comes behind the instruction that leaves the method, if code goes on there.
fn behind_leaving(metadata: Metadata<'_>, code: &[u8], store: usize) -> Option<IlOffset> {
    let mut at = il::read(code, store)?.next;
    for _ in 0..MOST_BETWEEN {
        let next = il::read(code, at)?.next;
        if !il::falls_through(code, at) {
            let is_going_on = code.get(next) == Some(&LDARG_0)
                && stored_state(metadata, code, next + 1).is_some();
            return is_going_on.then(|| offset(next)).flatten();
        }
        at = next;
    }
    None
}

/// The number that an instruction loads.
pub(super) fn constant(code: &[u8], at: usize) -> Option<i32> {
    match *code.get(at)? {
        // ldc.i4.m1 to ldc.i4.8
        short @ 0x15..=0x1e => Some(i32::from(short) - 0x16),
        // ldc.i4.s
        0x1f => code.get(at + 1).map(|it| i32::from(*it as i8)),
        // ldc.i4
        0x20 => {
            let bytes = code.get(at + 1..)?.first_chunk()?;
            Some(i32::from_le_bytes(*bytes))
        }
        _ => None,
    }
}

fn offset(at: usize) -> Option<IlOffset> {
    u32::try_from(at).ok().map(IlOffset)
}
