//! What a frame holds: arguments, locals, and what its type parameters stand for.

use crate::bindings::*;
use crate::com::Com;
use crate::error::{Error, clr_nullable, clr_out};
use crate::module::missing;
use crate::thread::Frame;
use crate::types::{RuntimeType, collect_types};
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

    /// An argument; 0 is `this` if the method has one.
    pub fn argument(&self, index: u32) -> Result<Value, Error> {
        let this = self.il()?;
        Ok(Value::new(clr_out!(
            this,
            ICorDebugILFrame::GetArgument(index)
        )?))
    }

    /// What the type parameters stand for: those of the type, then those of the method. Shared code may not tell.
    pub fn type_arguments(&self) -> Result<Vec<RuntimeType>, Error> {
        let frame = self
            .0
            .cast::<ICorDebugILFrame2>()
            .ok_or_else(|| missing("ICorDebugILFrame2"))?;
        let all = clr_out!(frame, ICorDebugILFrame2::EnumerateTypeParameters())?;
        collect_types(&all)
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
