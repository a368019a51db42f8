//! Handles: objects that are followed while the program runs and its garbage collector moves them.

use crate::bindings::*;
use crate::com::Com;
use crate::error::{Error, clr, clr_nullable, clr_out};
use crate::module::missing;
use crate::value::Value;

/// An object that stays known over continues. Until this is dropped it is kept alive, if that was asked for.
#[derive(Debug)]
pub struct Handle(Com<ICorDebugHandleValue>);

impl Value {
    /// The address that a reference holds; `None` if it is not a reference or is null.
    pub fn reference(&self) -> Option<u64> {
        let reference = self.0.cast::<ICorDebugReferenceValue>()?;
        let mut address = 0;
        clr!(reference, ICorDebugReferenceValue::GetValue(&mut address)).ok()?;
        (address != 0).then_some(address)
    }

    /// The address at which the value itself lies; `None` if it is in a register.
    pub fn slot(&self) -> Option<u64> {
        let mut address = 0;
        clr!(self.0, ICorDebugValue::GetAddress(&mut address)).ok()?;
        (address != 0).then_some(address)
    }

    /// A handle to an object on the heap, which keeps it alive.
    pub fn hold(&self) -> Result<Handle, Error> {
        self.handle(HANDLE_STRONG)
    }

    /// A handle to an object on the heap that the collector may take: its address is 0 then.
    pub fn follow(&self) -> Result<Handle, Error> {
        self.handle(HANDLE_WEAK_TRACK_RESURRECTION)
    }

    fn handle(&self, kind: CorDebugHandleType) -> Result<Handle, Error> {
        let object = self
            .0
            .cast::<ICorDebugHeapValue2>()
            .ok_or_else(|| missing("ICorDebugHeapValue2"))?;
        Ok(Handle(clr_out!(
            object,
            ICorDebugHeapValue2::CreateHandle(kind)
        )?))
    }
}

impl Handle {
    /// A reference to the object, as calls take it; valid as long as the handle.
    pub fn value(&self) -> Value {
        Value::new(self.0.clone().upcast())
    }

    /// Where the object lies during this stop; 0 if it was collected.
    pub fn address(&self) -> Result<u64, Error> {
        let mut address = 0;
        clr!(self.0, ICorDebugReferenceValue::GetValue(&mut address))?;
        Ok(address)
    }

    /// The object, for this stop.
    pub fn object(&self) -> Result<Option<Value>, Error> {
        let (_, object) = clr_nullable!(self.0, ICorDebugReferenceValue::Dereference())?;
        Ok(object.map(Value::new))
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // The runtime keeps the object alive until this call; a process that is gone needs none.
        if let Err(error) = clr!(self.0, ICorDebugHandleValue::Dispose()) {
            tracing::debug!(%error, "giving up a handle");
        }
    }
}
