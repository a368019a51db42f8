//! Which native function a frame has called.
//!
//! The frame of a call into native code belongs to no method. Who called it does, and its statement says what it calls; where it
//! calls several native functions, none is named.

use cordebug::process::Process;
use cordebug::thread::Frame;
use metadata::{IlOffset, Token};

use crate::modules::LoadedModule;
use crate::stepping::il;
use crate::target::Target;

/// The opcode of `call`.
const CALL: u8 = 0x28;

/// The native function that a frame has called, as a person writes it.
pub(super) fn called_by(target: &mut Target, caller: &Frame) -> Option<String> {
    let Target {
        modules, process, ..
    } = target;
    let function = caller.function().ok()?;
    let module = modules.entry(&function.module().ok()?);
    let method = Token(function.token().ok()?);
    let opened = module.metadata(process).ok()?;
    let metadata = opened.metadata();
    let code = opened.body(method).ok()??.code;
    let at = IlOffset(caller.calling_offset()?);
    let (start, end) = statement(module, process, method, at).unwrap_or((0, code.len()));
    let mut offset = start;
    let mut found = None;
    while offset < end.min(code.len()) {
        let instruction = il::read(code, offset)?;
        if code.get(offset) == Some(&CALL)
            && let Some(operand) = code.get(offset + 1..).and_then(|it| it.first_chunk())
        {
            let called = Token(u32::from_le_bytes(*operand));
            let is_native = metadata
                .method(called)
                .is_ok_and(|it| it.flags().is_pinvoke());
            match found {
                Some(other) if is_native && other != called => return None,
                _ if is_native => found = Some(called),
                _ => {}
            }
        }
        offset = instruction.next;
    }
    Some(module.method_name(process, found?))
}

/// Where the statement at an offset begins and ends; nothing if that is not known.
fn statement(
    module: &LoadedModule,
    process: &Process,
    method: Token,
    at: IlOffset,
) -> Option<(usize, usize)> {
    let pdb = module.symbols(process).ok()?.pdb();
    let points = pdb.sequence_points(method).ok()?.flatten();
    let mut begin = None;
    for point in points {
        if point.offset > at {
            return Some((begin?, point.offset.0 as usize));
        }
        begin = Some(point.offset.0 as usize);
    }
    Some((begin?, usize::MAX))
}
