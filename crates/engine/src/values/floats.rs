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
