//! The maps that let a compiler match an edited method with its predecessor.
//!
//! Offsets in them count characters of the method's syntax from its start; a debugger uses them to tell which lambda or state
//! belongs to which piece of text.

use crate::cursor::Cursor;
use crate::error::Result;

/// What a slot of a method's local signature is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalSlot {
    /// A value that lives within one statement.
    Temporary,
    /// A variable with a place in the text.
    Long {
        /// The compiler's code for what it is; 0 is a variable of the user.
        kind: u8,
        /// Where its declaration is.
        syntax_offset: i32,
        /// Tells variables of the same kind and place apart.
        ordinal: u32,
    },
}

/// Where lambdas and closures come from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LambdaMap {
    /// The method's number, which generated names carry; -1 if it has none.
    pub method_ordinal: i32,
    /// The place of each closure's scope.
    pub closures: Vec<i32>,
    /// The place of each lambda, and its closure: -1 for static ones, -2 for those that only need `this`.
    pub lambdas: Vec<(i32, i32)>,
}

/// The states of a state machine: number, and the place of the await or yield.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StateMap(pub Vec<(i32, i32)>);

pub(super) fn local_slots(blob: &[u8]) -> Result<Vec<LocalSlot>> {
    const BASELINE: u8 = 0xff;
    let mut cursor = Cursor::new(blob, "local slot map");
    let mut baseline = -1;
    let mut slots = Vec::new();
    while !cursor.is_empty() {
        slots.push(match cursor.u8()? {
            BASELINE => {
                baseline = negative(&mut cursor)?;
                continue;
            }
            0 => LocalSlot::Temporary,
            byte => LocalSlot::Long {
                kind: (byte & 0x3f).wrapping_sub(1),
                syntax_offset: offset(&mut cursor, baseline)?,
                ordinal: if byte & 0x80 != 0 {
                    cursor.compressed_u32()?
                } else {
                    0
                },
            },
        });
    }
    Ok(slots)
}

pub(super) fn lambda_map(blob: &[u8]) -> Result<LambdaMap> {
    let mut cursor = Cursor::new(blob, "lambda map");
    let method_ordinal = offset(&mut cursor, -1)?;
    let baseline = negative(&mut cursor)?;
    let n_closures = cursor.compressed_u32()?;
    let mut map = LambdaMap {
        method_ordinal,
        ..LambdaMap::default()
    };
    for _ in 0..n_closures {
        map.closures.push(offset(&mut cursor, baseline)?);
    }
    while !cursor.is_empty() {
        map.lambdas
            .push((offset(&mut cursor, baseline)?, offset(&mut cursor, -2)?));
    }
    Ok(map)
}

pub(super) fn state_map(blob: &[u8]) -> Result<StateMap> {
    let mut cursor = Cursor::new(blob, "state map");
    let n_states = cursor.compressed_u32()?;
    let mut states = Vec::new();
    if n_states > 0 {
        let baseline = negative(&mut cursor)?;
        for _ in 0..n_states {
            states.push((cursor.compressed_i32()?, offset(&mut cursor, baseline)?));
        }
    }
    Ok(StateMap(states))
}

/// A compressed number counted from a baseline; 29 bits cannot overflow the sum.
fn offset(cursor: &mut Cursor<'_>, baseline: i32) -> Result<i32> {
    Ok(cursor
        .compressed_u32()?
        .cast_signed()
        .wrapping_add(baseline))
}

fn negative(cursor: &mut Cursor<'_>) -> Result<i32> {
    Ok(cursor.compressed_u32()?.cast_signed().wrapping_neg())
}
