//! What a frame holds beside its arguments: locals, and what a call returned to it.

use crate::bindings::*;
use crate::com::Com;
use crate::error::{Error, clr_nullable, clr_out};
use crate::module::missing;
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

    /// The value that the call before an IL offset returned, where the runtime kept it.
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
