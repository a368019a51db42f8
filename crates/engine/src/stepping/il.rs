//! IL instructions, as far as steps need to find their beginnings (ECMA-335 III.1.2).

use metadata::IlOffset;

const LEAVE: u8 = 0xdd;
const LEAVE_SHORT: u8 = 0xde;
const SWITCH: u8 = 0x45;
const PREFIX: u8 = 0xfe;

/// The `leave` that ends right before an offset.
pub(super) fn leave_before(code: &[u8], offset: IlOffset) -> Option<IlOffset> {
    let mut at = 0_usize;
    while at < offset.0 as usize {
        let opcode = *code.get(at)?;
        let next = at.checked_add(length(code, at)?)?;
        if next == offset.0 as usize && matches!(opcode, LEAVE | LEAVE_SHORT) {
            return u32::try_from(at).ok().map(IlOffset);
        }
        at = next;
    }
    None
}

/// How long the instruction at `at` is; `None` if it is none.
fn length(code: &[u8], at: usize) -> Option<usize> {
    let operand = match *code.get(at)? {
        PREFIX => return Some(2 + prefixed_operand(*code.get(at + 1)?)?),
        SWITCH => {
            let count = code.get(at + 1..at + 5)?.first_chunk()?;
            let count = u32::from_le_bytes(*count) as usize;
            4 + count.checked_mul(4)?
        }
        // Short arguments and locals, ldc.i4.s, short branches, leave.s.
        0x0e..=0x13 | 0x1f | 0x2b..=0x37 | LEAVE_SHORT => 1,
        // ldc.i4 and ldc.r4, jmp, call, calli, long branches, tokens, leave.
        0x20 | 0x22 | 0x27..=0x29 | 0x38..=0x44 | 0x6f..=0x75 | 0x79 | 0x7b..=0x81 => 4,
        0x8c | 0x8d | 0x8f | 0xa3..=0xa5 | 0xc2 | 0xc6 | 0xd0 | LEAVE => 4,
        // ldc.i8 and ldc.r8.
        0x21 | 0x23 => 8,
        _ => 0,
    };
    Some(1 + operand)
}

fn prefixed_operand(opcode: u8) -> Option<usize> {
    match opcode {
        // ldftn, ldvirtftn, initobj, constrained, sizeof.
        0x06 | 0x07 | 0x15 | 0x16 | 0x1c => Some(4),
        // Long arguments and locals.
        0x09..=0x0e => Some(2),
        // unaligned, no.
        0x12 | 0x19 => Some(1),
        0x00..=0x1e => Some(0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leave_is_found_by_walking_instructions() {
        // nop; ldc.i4 with an operand that looks like leave.s; switch of one; leave.s; leave; ret
        let code = [
            0x00, 0x20, 0xde, 0x00, 0xde, 0x00, 0x45, 1, 0, 0, 0, 0, 0, 0, 0, 0xde, 0x05, 0xdd, 0,
            0, 0, 0, 0x2a,
        ];
        let found = |offset| leave_before(&code, IlOffset(offset));
        assert_eq!(found(17), Some(IlOffset(15)));
        assert_eq!(found(22), Some(IlOffset(17)));
        assert_eq!(found(6), None);
        assert_eq!(found(4), None);
        assert_eq!(found(1000), None);
    }

    #[test]
    fn code_that_is_cut_off_has_none() {
        assert_eq!(
            leave_before(&[0x45, 0xff, 0xff, 0xff, 0xff], IlOffset(9)),
            None
        );
        assert_eq!(leave_before(&[0xfe], IlOffset(2)), None);
        assert_eq!(leave_before(&[], IlOffset(2)), None);
    }
}
