//! Whether an x64 instruction addresses memory relative to itself. Says yes rather than no where it cannot tell.

/// Enough for the prefixes, the opcode and the byte that names the operands.
pub(super) const ENOUGH: usize = 16;

/// Whether the instruction that `code` begins with may address memory relative to itself.
pub(super) fn may_be_relative(code: &[u8]) -> bool {
    let prefixes = |it: &&u8| {
        matches!(
            **it,
            0x66 | 0x67 | 0xf2 | 0xf3 | 0xf0 | 0x2e | 0x36 | 0x3e | 0x26 | 0x64 | 0x65
        )
    };
    let code = &code[code.iter().take_while(prefixes).count()..];
    let operands = match code {
        // VEX and EVEX: two, three or four bytes, then the opcode.
        [0xc5, ..] => code.get(3),
        [0xc4, ..] => code.get(4),
        [0x62, ..] => code.get(5),
        // REX, if there is one, then one to three bytes of opcode.
        [first, rest @ ..] => {
            let (opcode, rest) = if first & 0xf0 == 0x40 {
                let Some((opcode, rest)) = rest.split_first() else {
                    return true;
                };
                (opcode, rest)
            } else {
                (first, rest)
            };
            match (opcode, rest) {
                (0x0f, [0x38 | 0x3a, ..]) => rest.get(2),
                (0x0f, _) => rest.get(1),
                _ => rest.first(),
            }
        }
        [] => None,
    };
    // ModRM with no base register and a displacement of 32 bits (Intel SDM 2A, 2.2.1.6).
    operands.is_none_or(|it| it & 0xc7 == 0x05)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_relative_to_the_instruction_are_seen() {
        for code in [
            &[0x80, 0x3d, 1, 2, 3, 4, 0][..],            // cmp byte [rip+x], 0
            &[0x0f, 0xb6, 0x05, 1, 2, 3, 4],             // movzx eax, byte [rip+x]
            &[0x48, 0x8b, 0x3d, 1, 2, 3, 4],             // mov rdi, [rip+x]
            &[0xf2, 0x0f, 0x10, 0x05, 1, 2, 3, 4],       // movsd xmm0, [rip+x]
            &[0xc5, 0xfb, 0x10, 0x05, 1, 2, 3, 4],       // vmovsd xmm0, [rip+x]
            &[0xc4, 0xe2, 0x7d, 0x18, 0x05, 1, 2, 3, 4], // vbroadcastss ymm0, [rip+x]
            &[0x62, 0xf1, 0x7c, 0x48, 0x10, 0x05, 1, 2, 3], // vmovups zmm0, [rip+x]
            &[0xff, 0x15, 1, 2, 3, 4],                   // call [rip+x]
            &[0x48],
            &[],
        ] {
            assert!(may_be_relative(code), "{code:x?}");
        }
    }

    #[test]
    fn other_instructions_are_left_alone() {
        for code in [
            &[0x90, 0x90, 0x90][..],               // nop
            &[0x8b, 0x7d, 0xfc],                   // mov edi, [rbp-4]
            &[0x48, 0xbf, 1, 2, 3, 4, 5, 6, 7, 8], // mov rdi, imm64
            &[0x0f, 0xb6, 0x07],                   // movzx eax, byte [rdi]
            &[0xc5, 0xfb, 0x10, 0x45, 0xf8],       // vmovsd xmm0, [rbp-8]
        ] {
            assert!(!may_be_relative(code), "{code:x?}");
        }
    }
}
