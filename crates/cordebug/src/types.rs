//! Types as the runtime has them: with the arguments that generic ones were made with.

use crate::bindings::*;
use crate::com::Com;
use crate::error::{Error, clr, clr_nullable, clr_out};
use crate::module::Class;
use crate::process::next;

/// More type arguments than this are not read.
const MAX_ARGUMENTS: usize = 256;

/// A type of the target, made with its arguments. Dead as soon as the process runs.
#[derive(Debug, Clone)]
pub struct Type(pub(crate) Com<ICorDebugType>);

impl Type {
    /// Its `CorElementType` (ECMA-335 II.23.1.16).
    pub fn element_type(&self) -> Result<u32, Error> {
        let mut kind = 0;
        clr!(self.0, ICorDebugType::GetType(&mut kind))?;
        Ok(kind)
    }

    /// The class or value type that it is made of.
    pub fn class(&self) -> Result<Class, Error> {
        Ok(Class(clr_out!(self.0, ICorDebugType::GetClass())?))
    }

    /// The arguments of a generic type; what an array, pointer or reference is of.
    pub fn arguments(&self) -> Result<Vec<Type>, Error> {
        let arguments = clr_out!(self.0, ICorDebugType::EnumerateTypeParameters())?;
        collect(&arguments)
    }

    /// The type that it is derived from.
    pub fn base(&self) -> Option<Type> {
        let base = clr_nullable!(self.0, ICorDebugType::GetBase());
        base.ok()?.1.map(Type)
    }

    /// The number of dimensions of an array.
    pub fn rank(&self) -> Result<u32, Error> {
        let mut rank = 0;
        clr!(self.0, ICorDebugType::GetRank(&mut rank))?;
        Ok(rank)
    }
}

/// The types of an enumerator.
pub(crate) fn collect(types: &Com<ICorDebugTypeEnum>) -> Result<Vec<Type>, Error> {
    let mut found = Vec::new();
    while let Some(it) = next(|raw, fetched| clr!(types, ICorDebugTypeEnum::Next(1, raw, fetched)))?
    {
        found.push(Type(it));
        if found.len() >= MAX_ARGUMENTS {
            break;
        }
    }
    Ok(found)
}
