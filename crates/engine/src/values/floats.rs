//! Arguments that are passed in floating-point registers, which the runtime's library cannot tell.

use metadata::signature::Primitive;

use crate::types::Type;

use super::Reader;
use super::shape::{CodePlace, Home, Shape};

/// Structs within one another that are looked into for numbers.
const MAX_DEPTH: usize = 8;

/// How many bytes a floating-point number takes.
pub(super) fn size(ty: &Type) -> Option<usize> {
    match ty {
        Type::Primitive(Primitive::R4) => Some(4),
        Type::Primitive(Primitive::R8) => Some(8),
        _ => None,
    }
}

/// Whether a type is a floating-point number or a struct with one inside, which may be passed in the same registers.
pub(super) fn holds_float(reader: &Reader<'_>, ty: &Type) -> bool {
    holds(reader, ty, MAX_DEPTH)
}

fn holds(reader: &Reader<'_>, ty: &Type, depth: usize) -> bool {
    if size(ty).is_some() {
        return true;
    }
    if depth == 0 || ty.underlying().is_some() || ty.is_value() != Some(true) {
        return false;
    }
    let members = reader.struct_members(ty);
    members.is_ok_and(|members| {
        let mut members = members.iter();
        members.any(|it| holds(reader, &it.field.ty, depth - 1))
    })
}

/// The floating-point register that an argument is passed in. Unknown behind a struct, which may take some of its own.
pub(super) fn register_of(
    reader: &Reader<'_>,
    at: &CodePlace,
    shape: &Shape,
    index: u32,
) -> Option<usize> {
    let metadata = reader.types.metadata(at.module).ok()?.metadata();
    let signature = metadata.method(at.method).ok()?.signature().ok()?;
    let first = u32::from(signature.convention.has_this());
    let mut number = 0;
    for before in first..index {
        let is_it = |home: &Home| matches!(home, Home::Argument(it) if *it == before);
        let mut declared = shape.variables.iter();
        let declared =
            declared.find(|it| is_it(&it.home) || it.before.as_ref().is_some_and(is_it))?;
        let ty = &declared.ty;
        let is_known = ty.is_reference() || ty.underlying().is_some();
        match size(ty) {
            Some(_) => number += 1,
            None if is_known || matches!(ty, Type::ByRef(_)) => {}
            None => return None,
        }
    }
    Some(number)
}

/// Whether code, from the beginning of a method on, does nothing but what leaves the floating-point registers alone: it
/// saves registers, makes room on the stack and moves arguments to other general registers (x86-64).
pub(super) fn are_untouched_by(mut code: &[u8]) -> bool {
    while !code.is_empty() {
        let length = match code {
            // push
            [0x50..=0x57, ..] => 1,
            [0x41, 0x50..=0x57, ..] => 2,
            // sub rsp, N
            [0x48, 0x83, 0xec, ..] => 4,
            [0x48, 0x81, 0xec, ..] => 7,
            // lea rbp, [rsp + N]
            [0x48, 0x8d, 0x6c, 0x24, ..] => 5,
            [0x48, 0x8d, 0xac, 0x24, ..] => 8,
            // mov and xor of registers
            [0x33 | 0x89 | 0x8b, 0xc0..=0xff, ..] => 2,
            [0x40..=0x4f, 0x33 | 0x89 | 0x8b, 0xc0..=0xff, ..] => 3,
            // vzeroupper, of which nothing that is passed has an upper half
            [0xc5, 0xf8, 0x77, ..] => 3,
            _ => return false,
        };
        let Some(rest) = code.get(length..) else {
            return false;
        };
        code = rest;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::are_untouched_by;

    #[test]
    fn only_code_that_leaves_floating_point_registers_alone_is_passed_by() {
        assert!(are_untouched_by(&[]));
        // push rbp; mov rbp, rsp
        assert!(are_untouched_by(&[0x55, 0x48, 0x8b, 0xec]));
        // push r14; push rbx; sub rsp, 24; mov ebx, edi
        assert!(are_untouched_by(&[
            0x41, 0x56, 0x53, 0x48, 0x83, 0xec, 0x18, 0x8b, 0xdf
        ]));
        // vmovaps xmm6, xmm0; a load; an instruction that is cut off; a breakpoint
        assert!(!are_untouched_by(&[0xc5, 0xf8, 0x28, 0xf0]));
        assert!(!are_untouched_by(&[0x8b, 0x07]));
        assert!(!are_untouched_by(&[0x55, 0x48, 0x83, 0xec]));
        assert!(!are_untouched_by(&[0xcc]));
    }
}
