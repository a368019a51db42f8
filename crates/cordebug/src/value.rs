//! Values of a stopped process.

use crate::bindings::*;
use crate::com::Com;
use crate::error::{Error, clr, clr_nullable, clr_out};
use crate::module::{Class, Function, Module, missing};
use crate::types::Type;

/// A value: a number, a reference, an object. Dead as soon as the process runs.
#[derive(Debug, Clone)]
pub struct Value(pub(crate) Com<ICorDebugValue>);

/// A method that an exception came through.
#[derive(Debug)]
pub struct TraceEntry {
    /// The module of the method.
    pub module: Option<Module>,
    /// Where in its compiled code.
    pub address: u64,
    /// Its `MethodDef` token.
    pub method: u32,
    /// Whether the exception was thrown again behind this entry, on this or another thread.
    pub rethrown: bool,
}

impl Value {
    pub(crate) fn new(value: Com<ICorDebugValue>) -> Self {
        Self(value)
    }

    /// Its `CorElementType`.
    pub fn element_type(&self) -> Result<u32, Error> {
        let mut kind = 0;
        clr!(self.0, ICorDebugValue::GetType(&mut kind))?;
        Ok(kind)
    }

    /// What a reference refers to; `None` for null, the value itself if it is not a reference.
    pub fn dereference(&self) -> Result<Option<Value>, Error> {
        let Some(reference) = self.0.cast::<ICorDebugReferenceValue>() else {
            return Ok(Some(self.clone()));
        };
        let mut null = 0;
        clr!(reference, ICorDebugReferenceValue::IsNull(&mut null))?;
        if null != 0 {
            return Ok(None);
        }
        Ok(Some(Value(clr_out!(
            reference,
            ICorDebugReferenceValue::Dereference()
        )?)))
    }

    /// Where a value lies in the target; 0 if it lies in a register.
    pub fn address(&self) -> Result<u64, Error> {
        let mut address = 0;
        clr!(self.0, ICorDebugValue::GetAddress(&mut address))?;
        Ok(address)
    }

    /// The value inside a box; the value itself if it is not one.
    pub fn unboxed(&self) -> Result<Value, Error> {
        let Some(boxed) = self.0.cast::<ICorDebugBoxValue>() else {
            return Ok(self.clone());
        };
        Ok(Value(
            clr_out!(boxed, ICorDebugBoxValue::GetObject())?.upcast(),
        ))
    }

    /// The type with its arguments, as it is at run time.
    pub fn exact_type(&self) -> Result<Type, Error> {
        let value = self
            .0
            .cast::<ICorDebugValue2>()
            .ok_or_else(|| missing("ICorDebugValue2"))?;
        Ok(Type(clr_out!(value, ICorDebugValue2::GetExactType())?))
    }

    /// The methods that an exception object came through, innermost first, at most `limit`.
    pub fn exception_trace(&self, limit: usize) -> Result<Vec<TraceEntry>, Error> {
        let exception = self
            .0
            .cast::<ICorDebugExceptionObjectValue>()
            .ok_or_else(|| missing("ICorDebugExceptionObjectValue"))?;
        let entries = clr_out!(
            exception,
            ICorDebugExceptionObjectValue::EnumerateExceptionCallStack()
        )?;
        let mut found = Vec::new();
        while found.len() < limit {
            let (mut entry, mut fetched) = (CorDebugExceptionObjectStackFrame::default(), 0);
            clr!(
                entries,
                ICorDebugExceptionObjectCallStackEnum::Next(1, &mut entry, &mut fetched)
            )?;
            if fetched == 0 {
                break;
            }
            // SAFETY: a fetched entry holds null or a counted pointer, which is ours.
            let module = unsafe { Com::from_raw(entry.pModule) };
            found.push(TraceEntry {
                module: module.map(Module::new),
                address: entry.ip,
                method: entry.methodDef,
                rethrown: entry.isLastForeignExceptionFrame != 0,
            });
        }
        Ok(found)
    }

    /// The method that a delegate calls.
    pub fn delegate_function(&self) -> Result<Function, Error> {
        let delegate = self
            .0
            .cast::<ICorDebugDelegateObjectValue>()
            .ok_or_else(|| missing("ICorDebugDelegateObjectValue"))?;
        Ok(Function(clr_out!(
            delegate,
            ICorDebugDelegateObjectValue::GetFunction()
        )?))
    }

    /// The class of an object.
    pub fn class(&self) -> Result<Class, Error> {
        let object = self
            .0
            .cast::<ICorDebugObjectValue>()
            .ok_or_else(|| missing("ICorDebugObjectValue"))?;
        Ok(Class(clr_out!(object, ICorDebugObjectValue::GetClass())?))
    }

    /// A field of an object, declared by `class`.
    pub fn field(&self, class: &Class, token: u32) -> Result<Value, Error> {
        let object = self
            .0
            .cast::<ICorDebugObjectValue>()
            .ok_or_else(|| missing("ICorDebugObjectValue"))?;
        Ok(Value(clr_out!(
            object,
            ICorDebugObjectValue::GetFieldValue(class.0.as_raw(), token)
        )?))
    }

    /// The classes of the object from its own up to `System.Object`.
    pub fn class_chain(&self) -> Result<Vec<Class>, Error> {
        let value = self
            .0
            .cast::<ICorDebugValue2>()
            .ok_or_else(|| missing("ICorDebugValue2"))?;
        let mut exact = Some(clr_out!(value, ICorDebugValue2::GetExactType())?);
        let mut chain = Vec::new();
        while let Some(this) = exact {
            chain.push(Class(clr_out!(this, ICorDebugType::GetClass())?));
            // A corrupt target must not keep us here.
            if chain.len() > 256 {
                break;
            }
            exact = clr_nullable!(this, ICorDebugType::GetBase()).map_or(None, |(_, base)| base);
        }
        Ok(chain)
    }

    /// The text of a string object, at most `limit` UTF-16 units, and its whole length.
    pub fn string(&self, limit: u32) -> Result<(String, u32), Error> {
        let string = self
            .0
            .cast::<ICorDebugStringValue>()
            .ok_or_else(|| missing("ICorDebugStringValue"))?;
        let mut length = 0;
        clr!(string, ICorDebugStringValue::GetLength(&mut length))?;
        let wanted = length.min(limit);
        // The library writes a final zero if there is room for it.
        let mut buffer = vec![0_u16; wanted as usize + 1];
        let mut fetched = 0;
        clr!(
            string,
            ICorDebugStringValue::GetString(wanted + 1, &mut fetched, buffer.as_mut_ptr())
        )?;
        Ok((
            String::from_utf16_lossy(buffer.get(..wanted as usize).unwrap_or_default()),
            length,
        ))
    }

    /// The bytes of a primitive value.
    pub fn bytes(&self) -> Result<Vec<u8>, Error> {
        let generic = self
            .0
            .cast::<ICorDebugGenericValue>()
            .ok_or_else(|| missing("ICorDebugGenericValue"))?;
        let mut size = 0;
        clr!(self.0, ICorDebugValue::GetSize(&mut size))?;
        if size > 1 << 20 {
            return Err(missing("a value of more than a MiB"));
        }
        let mut buffer = vec![0_u8; size as usize];
        clr!(
            generic,
            ICorDebugGenericValue::GetValue(buffer.as_mut_ptr().cast())
        )?;
        Ok(buffer)
    }

    /// The elements of a one-dimensional array, at most `limit`, and its whole length.
    pub fn elements(&self, limit: u32) -> Result<(Vec<Value>, u32), Error> {
        let array = self
            .0
            .cast::<ICorDebugArrayValue>()
            .ok_or_else(|| missing("ICorDebugArrayValue"))?;
        let mut count = 0;
        clr!(array, ICorDebugArrayValue::GetCount(&mut count))?;
        let elements = (0..count.min(limit)).map(|at| {
            Ok(Value(clr_out!(
                array,
                ICorDebugArrayValue::GetElementAtPosition(at)
            )?))
        });
        Ok((elements.collect::<Result<_, Error>>()?, count))
    }

    /// How many bytes it takes where it lies: 8 for a reference.
    pub fn size(&self) -> Result<u32, Error> {
        let mut size = 0;
        clr!(self.0, ICorDebugValue::GetSize(&mut size))?;
        Ok(size)
    }

    /// The address that a reference holds, 0 for null; `None` if it is not a reference.
    pub fn reference_address(&self) -> Result<Option<u64>, Error> {
        let Some(reference) = self.0.cast::<ICorDebugReferenceValue>() else {
            return Ok(None);
        };
        let mut address = 0;
        clr!(reference, ICorDebugReferenceValue::GetValue(&mut address))?;
        Ok(Some(address))
    }

    /// Makes a reference lead to another address, 0 for null.
    pub fn set_reference(&self, address: u64) -> Result<(), Error> {
        let reference = self
            .0
            .cast::<ICorDebugReferenceValue>()
            .ok_or_else(|| missing("ICorDebugReferenceValue"))?;
        clr!(reference, ICorDebugReferenceValue::SetValue(address))?;
        Ok(())
    }

    /// Overwrites a number or a struct; `bytes` must be as many as its size.
    pub fn set_bytes(&self, bytes: &[u8]) -> Result<(), Error> {
        let generic = self
            .0
            .cast::<ICorDebugGenericValue>()
            .ok_or_else(|| missing("ICorDebugGenericValue"))?;
        // The library reads as many bytes as the value has.
        if bytes.len() != self.size()? as usize {
            return Err(missing("a value of that size"));
        }
        clr!(
            generic,
            ICorDebugGenericValue::SetValue(bytes.as_ptr().cast_mut().cast())
        )?;
        Ok(())
    }
}
