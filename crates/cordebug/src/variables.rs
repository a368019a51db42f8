//! What a frame holds beside its arguments: locals, and what a call returned to it.

use crate::bindings::*;
use crate::com::Com;
use crate::error::{Error, clr, clr_nullable, clr_out};
use crate::module::{Breakpoint, il_map, missing};
use crate::thread::Frame;
use crate::value::Value;

impl Frame {
    fn il(&self) -> Result<Com<ICorDebugILFrame>, Error> {
        self.0
            .cast::<ICorDebugILFrame>()
            .ok_or_else(|| missing("ICorDebugILFrame"))
    }

    /// The local in a slot.
    pub fn local(&self, slot: u32) -> Result<Value, Error> {
        let this = self.il()?;
        Ok(Value::new(clr_out!(
            this,
            ICorDebugILFrame::GetLocalVariable(slot)
        )?))
    }

    /// The compiled code that the frame runs, and where in it.
    pub fn compiled_code(&self) -> Result<(CompiledCode, u32), Error> {
        let frame = self
            .0
            .cast::<ICorDebugNativeFrame>()
            .ok_or_else(|| missing("ICorDebugNativeFrame"))?;
        let mut offset = 0;
        clr!(frame, ICorDebugNativeFrame::GetIP(&mut offset))?;
        let code = clr_out!(frame, ICorDebugFrame::GetCode())?;
        Ok((CompiledCode(code), offset))
    }

    /// What the call at an IL offset returned; the frame must be at one of [`CompiledCode::return_offsets`].
    pub fn return_value(&self, il_offset: u32) -> Result<Option<Value>, Error> {
        let Some(frame) = self.0.cast::<ICorDebugILFrame3>() else {
            return Ok(None);
        };
        let (_, value) = clr_nullable!(
            frame,
            ICorDebugILFrame3::GetReturnValueForILOffset(il_offset)
        )?;
        Ok(value.map(Value::new))
    }
}

/// Calls of one instruction that the compiler may have made several of.
const MAX_RETURNS: u32 = 16;

/// A method as the runtime compiled it.
#[derive(Debug)]
pub struct CompiledCode(pub(crate) Com<ICorDebugCode>);

impl CompiledCode {
    /// Where it begins in memory.
    pub fn start(&self) -> Result<u64, Error> {
        let mut start = 0;
        clr!(self.0, ICorDebugCode::GetAddress(&mut start))?;
        Ok(start)
    }

    /// Where it can be read what the call at an IL offset returned: right behind the call. An error for calls whose
    /// results the runtime cannot tell.
    pub fn return_offsets(&self, il_offset: u32) -> Result<Vec<u32>, Error> {
        let code = self
            .0
            .cast::<ICorDebugCode3>()
            .ok_or_else(|| missing("ICorDebugCode3"))?;
        let mut offsets = vec![0; MAX_RETURNS as usize];
        let mut count = 0;
        clr!(
            code,
            ICorDebugCode3::GetReturnValueLiveOffset(
                il_offset,
                MAX_RETURNS,
                &mut count,
                offsets.as_mut_ptr()
            )
        )?;
        offsets.truncate(count as usize);
        Ok(offsets)
    }

    /// Where the code of an IL offset begins: pairs of native and IL offset, in the order of the native ones.
    pub fn boundaries(&self) -> Result<Vec<(u32, u32)>, Error> {
        let map = il_map(&self.0)?;
        let known = map.iter().filter(|it| (it.ilOffset as i32) >= 0);
        let mut found: Vec<_> = known
            .map(|it| (it.nativeStartOffset, it.ilOffset))
            .collect();
        found.sort_unstable();
        Ok(found)
    }

    /// Where the pieces begin that end the function: what they do stands nowhere in the IL.
    pub fn epilogues(&self) -> Result<Vec<u32>, Error> {
        let map = il_map(&self.0)?;
        let ends = map.iter().filter(|it| it.ilOffset as i32 == EPILOG);
        Ok(ends.map(|it| it.nativeStartOffset).collect())
    }

    /// Sets an active breakpoint at an offset of the compiled code.
    pub fn break_at(&self, offset: u32) -> Result<Breakpoint, Error> {
        let breakpoint = clr_out!(self.0, ICorDebugCode::CreateBreakpoint(offset))?;
        clr!(breakpoint, ICorDebugBreakpoint::Activate(1))?;
        Ok(Breakpoint::new(breakpoint.upcast()))
    }
}

impl Value {
    /// An element of an array by its position in memory.
    pub fn element_at(&self, position: u32) -> Result<Value, Error> {
        let array = self
            .0
            .cast::<ICorDebugArrayValue>()
            .ok_or_else(|| missing("ICorDebugArrayValue"))?;
        Ok(Value::new(clr_out!(
            array,
            ICorDebugArrayValue::GetElementAtPosition(position)
        )?))
    }
}
