//! IL method bodies (ECMA-335 II.25.4): the header, the code, and the exception clauses behind it.

use crate::cursor::Cursor;
use crate::error::{Malformed, Result};
use crate::token::{IlOffset, Token};

const FAT_FORMAT: u8 = 0x03;
const TINY_FORMAT: u8 = 0x02;
const INIT_LOCALS: u16 = 0x10;
const MORE_SECTIONS: u16 = 0x08;
const SECTION_EXCEPTIONS: u8 = 0x01;
const SECTION_FAT: u8 = 0x40;
const SECTION_MORE: u8 = 0x80;

/// A method's IL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodBody<'a> {
    /// The deepest that the evaluation stack gets.
    pub max_stack: u16,
    /// Whether locals start as zero.
    pub init_locals: bool,
    /// The signature of the locals; nil if there are none.
    pub local_signature: Token,
    /// The code.
    pub code: &'a [u8],
    /// The exception clauses, inner ones first.
    pub clauses: Vec<ExceptionClause>,
}

/// What an exception clause does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClauseKind {
    /// Catches exceptions of a type.
    Catch(Token),
    /// Catches exceptions that the code at this offset accepts.
    Filter(IlOffset),
    /// Runs on every way out.
    Finally,
    /// Runs when an exception leaves.
    Fault,
}

/// A protected region and its handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExceptionClause {
    /// What the handler does.
    pub kind: ClauseKind,
    /// The start of the protected region.
    pub try_start: IlOffset,
    /// The length of the protected region.
    pub try_length: u32,
    /// The start of the handler.
    pub handler_start: IlOffset,
    /// The length of the handler.
    pub handler_length: u32,
}

impl<'a> MethodBody<'a> {
    /// Reads the body that begins at the first byte.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, "method body");
        let first = cursor.peek().ok_or(cursor.bad())?;
        if first & 0x03 == TINY_FORMAT {
            cursor.u8()?;
            let code = cursor.take(usize::from(first >> 2))?;
            return Ok(Self {
                max_stack: 8,
                init_locals: false,
                local_signature: Token::default(),
                code,
                clauses: Vec::new(),
            });
        }
        if first & 0x03 != FAT_FORMAT {
            return Err(cursor.bad());
        }
        let flags = cursor.u16()?;
        if flags >> 12 != 3 {
            return Err(Malformed::new("method body header", 1));
        }
        let max_stack = cursor.u16()?;
        let code_size = cursor.u32()?;
        let local_signature = Token(cursor.u32()?);
        let code = cursor.take(code_size as usize)?;
        let mut clauses = Vec::new();
        let mut more = flags & MORE_SECTIONS != 0;
        while more {
            // Sections begin on multiples of four, counted from the aligned header.
            let padding = cursor.position().next_multiple_of(4) - cursor.position();
            cursor.take(padding)?;
            let kind = cursor.u8()?;
            more = kind & SECTION_MORE != 0;
            read_section(&mut cursor, kind, &mut clauses)?;
        }
        Ok(Self {
            max_stack,
            init_locals: flags & INIT_LOCALS != 0,
            local_signature,
            code,
            clauses,
        })
    }
}

fn read_section(
    cursor: &mut Cursor<'_>,
    kind: u8,
    clauses: &mut Vec<ExceptionClause>,
) -> Result<()> {
    let fat = kind & SECTION_FAT != 0;
    let size = if fat {
        let [a, b, c] = [cursor.u8()?, cursor.u8()?, cursor.u8()?];
        u32::from_le_bytes([a, b, c, 0]) as usize
    } else {
        let size = usize::from(cursor.u8()?);
        cursor.u16()?;
        size
    };
    let content = cursor.take(size.saturating_sub(4))?;
    if kind & SECTION_EXCEPTIONS == 0 {
        return Ok(());
    }
    // Some compilers wrote a size without the section header; whole clauses count.
    let clause_size = if fat { 24 } else { 12 };
    for clause in content.chunks_exact(clause_size) {
        clauses.push(read_clause(
            &mut Cursor::new(clause, "exception clause"),
            fat,
        )?);
    }
    Ok(())
}

fn read_clause(cursor: &mut Cursor<'_>, fat: bool) -> Result<ExceptionClause> {
    let (flags, try_start, try_length, handler_start, handler_length);
    if fat {
        flags = cursor.u32()?;
        (try_start, try_length) = (cursor.u32()?, cursor.u32()?);
        (handler_start, handler_length) = (cursor.u32()?, cursor.u32()?);
    } else {
        flags = u32::from(cursor.u16()?);
        (try_start, try_length) = (u32::from(cursor.u16()?), u32::from(cursor.u8()?));
        (handler_start, handler_length) = (u32::from(cursor.u16()?), u32::from(cursor.u8()?));
    }
    let extra = cursor.u32()?;
    let kind = match flags & 0x07 {
        0 => ClauseKind::Catch(Token(extra)),
        1 => ClauseKind::Filter(IlOffset(extra)),
        2 => ClauseKind::Finally,
        4 => ClauseKind::Fault,
        _ => return Err(Malformed::new("exception clause", 0)),
    };
    Ok(ExceptionClause {
        kind,
        try_start: IlOffset(try_start),
        try_length,
        handler_start: IlOffset(handler_start),
        handler_length,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiny_body() {
        let body = MethodBody::read(&[0x06, 0x2a, 0xff]).expect("a tiny body");
        assert_eq!((body.max_stack, body.code), (8, &[0x2a][..]));
    }

    #[test]
    fn fat_body_with_small_clauses() {
        let mut bytes = vec![
            0x0b, 0x30, 2, 0, 3, 0, 0, 0, 1, 0, 0, 0x11, 0x00, 0x00, 0x2a, 0xcc,
        ];
        bytes.extend([1, 16, 0, 0, 2, 0, 0, 0, 1, 1, 0, 2, 0, 0, 0, 0]);
        let body = MethodBody::read(&bytes).expect("a fat body");
        assert_eq!(body.local_signature, Token(0x1100_0001));
        let [clause] = body.clauses[..] else {
            panic!("one clause expected")
        };
        assert_eq!(clause.kind, ClauseKind::Finally);
        assert_eq!(
            (clause.handler_start, clause.handler_length),
            (IlOffset(1), 2)
        );
    }

    #[test]
    fn size_beyond_the_section_is_an_error() {
        assert!(MethodBody::read(&[0x13, 0x30, 2, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]).is_err());
    }
}
