//! What the compiler of optimised code says falsely of variables, found out before it is believed.
//!
//! Two of its notes cannot be relied on: that a variable is in a register which the call that has just returned was free to
//! use, and that a struct argument is where it was passed, although the method has changed it and the optimiser keeps
//! its parts apart from then on. Whatever may be old or somebody else's is not told as a value.

use cordebug::thread::Thread;
use metadata::IlOffset;

use super::Reader;
use super::shape::{CodePlace, Home};
use crate::api::{Error, SetVariable};
use crate::engine::Engine;
use crate::stack::frame_at;
use crate::stepping::il;
use crate::types::{Kind, Type};

/// Bytes of the longest instruction that calls.
pub(super) const LONGEST_CALL: usize = 7;

const COMPILER: &str = "System.Runtime.CompilerServices";

/// Whether code ends with a call.
#[cfg(target_arch = "x86_64")]
pub(super) fn ends_with_call(code: &[u8]) -> bool {
    const CALL: u8 = 0xe8;
    const INDIRECT: u8 = 0xff;
    /// Of the byte behind [`INDIRECT`]: what is to be done there, and a call.
    const WHAT: (u8, u8) = (0b0011_1000, 0b0001_0000);
    let back = |bytes: usize| code.len().checked_sub(bytes).and_then(|at| code.get(at..));
    let indirect = |length: usize| match back(length) {
        Some([INDIRECT, how, ..]) if how & WHAT.0 == WHAT.1 => {
            let has_sib = how & 7 == 4;
            let own = match how >> 6 {
                0 if how & 7 == 5 => 6,
                0 => 2 + usize::from(has_sib),
                1 => 3 + usize::from(has_sib),
                2 => 6 + usize::from(has_sib),
                _ => 2,
            };
            own == length
        }
        _ => false,
    };
    back(5).is_some_and(|it| it.first() == Some(&CALL)) || (2..=LONGEST_CALL).any(indirect)
}

/// Whether code ends with a call.
#[cfg(target_arch = "aarch64")]
pub(super) fn ends_with_call(code: &[u8]) -> bool {
    let word = code.last_chunk().map(|it| u32::from_le_bytes(*it));
    // bl, blr
    word.is_some_and(|it| it >> 26 == 0b10_0101 || it & 0xffff_fc1f == 0xd63f_0000)
}

/// Whether a method may have changed an argument of a struct type before it came to a place.
pub(super) fn may_be_changed(reader: &Reader<'_>, at: &CodePlace, index: u32, ty: &Type) -> bool {
    let Type::Named(named) = ty else {
        return false;
    };
    if named.kind != Kind::Struct || at.offset == IlOffset(0) {
        return false;
    }
    let module = |id| reader.types.metadata(id).ok();
    let is_nullable = reader.types.nullable_of(ty).is_some();
    let is_readonly = is_nullable
        || module(named.module).is_some_and(|it| {
            let metadata = it.metadata();
            metadata.has_attribute(named.token, COMPILER, "IsReadOnlyAttribute")
        });
    let body = module(at.module).and_then(|it| it.body(at.method).ok()?);
    body.is_some_and(|body| changes_argument(body.code, index, is_readonly))
}

/// What is to be known when a variable of optimised code was set.
pub(super) const SET: &str = "the code of this frame is optimised: it may go on with a copy of the old value that lies elsewhere";

impl Engine<'_> {
    /// Whether what was set is a variable of optimised code itself, or a part of one.
    pub(super) fn may_go_on_with_copy(
        &mut self,
        set: &SetVariable,
        thread: &Thread,
    ) -> Result<bool, Error> {
        let Ok(frame) = frame_at(self.stopped_target()?, thread, set.frame) else {
            return Ok(false);
        };
        let target = &*self.stopped_target()?;
        let reader = target.reader();
        let Ok(scope) = target.frame_variables(&reader, frame) else {
            return Ok(false);
        };
        let path = set.path.trim();
        let root = path.split(['.', '[', '?']).next().unwrap_or(path);
        let mut variables = scope.shape.variables.iter();
        let named = variables.find(|it| *it.name == *root && !it.shadowed);
        let is_in_frame = named.is_some_and(|it| {
            let is_own = matches!(it.home, Home::Argument(_) | Home::Local(_));
            is_own && (root == path || it.ty.is_value() == Some(true))
        });
        Ok(is_in_frame && scope.is_optimised(&reader))
    }
}

/// Whether code stores to an argument, or takes its address for more than to read from it.
fn changes_argument(code: &[u8], index: u32, is_readonly: bool) -> bool {
    let is_it = |argument: Option<u16>| argument.map(u32::from) == Some(index);
    let mut at = 0;
    while let Some(instruction) = il::read(code, at) {
        if is_it(il::stored_argument(code, at)) {
            return true;
        }
        if is_it(il::argument_address(code, at)) {
            match code.get(instruction.next) {
                // ldfld, ldobj
                Some(0x7b | 0x71) => {}
                // call: nothing changes a readonly struct, except its constructor, which has arguments.
                Some(0x28) if is_readonly => {}
                _ => return true,
            }
        }
        at = instruction.next;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn calls_are_seen_from_behind() {
        let calls: [&[u8]; 8] = [
            &[0xe8, 1, 2, 3, 4],
            &[0xff, 0x15, 1, 2, 3, 4],
            &[0xff, 0xd0],
            &[0x41, 0xff, 0xd2],
            &[0xff, 0x50, 0x18],
            &[0xff, 0x90, 1, 2, 3, 4],
            &[0xff, 0x54, 0x24, 0x10],
            &[0xff, 0x94, 0x24, 1, 2, 3, 4],
        ];
        for call in calls {
            let code = [&[0x90, 0x90], call].concat();
            assert!(ends_with_call(&code), "{call:x?}");
            let code = [&code[..], &[0x90]].concat();
            assert!(!ends_with_call(&code), "{call:x?} and another");
        }
        assert!(!ends_with_call(&[0x48, 0x8b, 0xc8]));
        assert!(!ends_with_call(&[]));
    }

    #[test]
    fn changes_of_an_argument_are_told_from_looks() {
        // ldarga.s 1, ldfld; ldarg.1; ldarga.s 2, ldc.i4.1, stfld
        let code = [
            0x0f, 1, 0x7b, 1, 0, 0, 4, 0x26, 0x03, 0x26, 0x0f, 2, 0x17, 0x7d, 1, 0, 0, 4, 0x2a,
        ];
        assert!(!changes_argument(&code, 1, false));
        assert!(changes_argument(&code, 2, false));
        assert!(!changes_argument(&code, 0, false));
        // ldarga.s 0, call: a method of the struct.
        let code = [0x0f, 0, 0x28, 1, 0, 0, 6, 0x2a];
        assert!(changes_argument(&code, 0, false));
        assert!(!changes_argument(&code, 0, true));
        // starg.s 3
        assert!(changes_argument(&[0x16, 0x10, 3, 0x2a], 3, true));
    }
}
