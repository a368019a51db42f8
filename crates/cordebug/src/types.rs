//! Types as the runtime has them: exact, with their arguments.
//!
//! A [`Type`] is what calls, static fields and layouts are asked with. It stays valid while its module is loaded.

use crate::bindings::*;
use crate::com::{Com, in_array};
use crate::error::{Error, clr, clr_nullable, clr_out};
use crate::heap::TypeId;
use crate::module::{Class, Module, missing};
use crate::process::{Process, next};
use crate::thread::Frame;
use crate::value::Value;

/// More type arguments than this are not a type.
const MAX_ARGUMENTS: usize = 1024;

/// The codes of `CorElementType` that types and values are told apart by (ECMA-335 II.23.1.16).
#[expect(missing_docs, reason = "the names are those of the format")]
pub mod element {
    pub const VOID: u32 = 0x01;
    pub const STRING: u32 = 0x0e;
    pub const PTR: u32 = 0x0f;
    pub const BYREF: u32 = 0x10;
    pub const VALUETYPE: u32 = 0x11;
    pub const CLASS: u32 = 0x12;
    pub const ARRAY: u32 = 0x14;
    pub const GENERICINST: u32 = 0x15;
    pub const TYPEDBYREF: u32 = 0x16;
    pub const FNPTR: u32 = 0x1b;
    pub const OBJECT: u32 = 0x1c;
    pub const SZARRAY: u32 = 0x1d;
}

/// An exact type of the target.
#[derive(Debug, Clone)]
pub struct Type(pub(crate) Com<ICorDebugType>);

impl Type {
    /// Its `CorElementType`.
    pub fn element_type(&self) -> Result<u32, Error> {
        let mut kind = 0;
        clr!(self.0, ICorDebugType::GetType(&mut kind))?;
        Ok(kind)
    }

    /// Its class, with neither arguments nor dimensions.
    pub fn class(&self) -> Result<Class, Error> {
        Ok(Class(clr_out!(self.0, ICorDebugType::GetClass())?))
    }

    /// Its arguments; of an array, a pointer or a reference the type of what it holds or leads to.
    pub fn arguments(&self) -> Result<Vec<Type>, Error> {
        let all = clr_out!(self.0, ICorDebugType::EnumerateTypeParameters())?;
        collect(&all)
    }

    /// The number of dimensions of an array.
    pub fn rank(&self) -> Result<u32, Error> {
        let mut rank = 0;
        clr!(self.0, ICorDebugType::GetRank(&mut rank))?;
        Ok(rank)
    }

    /// What it is derived from.
    pub fn base(&self) -> Option<Type> {
        let base = clr_nullable!(self.0, ICorDebugType::GetBase());
        base.ok()?.1.map(Type)
    }

    /// A static field; those of a thread need a frame of it.
    pub fn static_field(&self, token: u32, frame: Option<&Frame>) -> Result<Value, Error> {
        let frame = frame.map_or(std::ptr::null_mut(), |frame| frame.0.as_raw());
        Ok(Value::new(clr_out!(
            self.0,
            ICorDebugType::GetStaticFieldValue(token, frame)
        )?))
    }

    /// What its layout is asked with; only types that the program has loaded have one.
    pub fn id(&self) -> Result<TypeId, Error> {
        let this = self
            .0
            .cast::<ICorDebugType2>()
            .ok_or_else(|| missing("ICorDebugType2"))?;
        let mut id = COR_TYPEID::default();
        clr!(this, ICorDebugType2::GetTypeID(&mut id))?;
        Ok(TypeId(id))
    }
}

impl Class {
    /// The class with its arguments.
    pub fn with_arguments(&self, is_value: bool, arguments: &[Type]) -> Result<Type, Error> {
        let class = self
            .0
            .cast::<ICorDebugClass2>()
            .ok_or_else(|| missing("ICorDebugClass2"))?;
        let kind = if is_value {
            element::VALUETYPE
        } else {
            element::CLASS
        };
        let arguments: Vec<_> = arguments.iter().map(|it| it.0.clone()).collect();
        let count = u32::try_from(arguments.len()).unwrap_or(u32::MAX);
        Ok(Type(clr_out!(
            class,
            ICorDebugClass2::GetParameterizedType(kind, count, in_array(&arguments))
        )?))
    }
}

impl Module {
    /// The class with that `TypeDef` token.
    pub fn class(&self, token: u32) -> Result<Class, Error> {
        Ok(Class(clr_out!(
            self.0,
            ICorDebugModule::GetClassFromToken(token)
        )?))
    }
}

impl Process {
    /// An array (`element::ARRAY` with a rank, `element::SZARRAY`), pointer or reference type.
    pub fn derived_type(&self, kind: u32, rank: u32, of: &Type) -> Result<Type, Error> {
        let domain = self.app_domain()?;
        Ok(Type(clr_out!(
            domain,
            ICorDebugAppDomain2::GetArrayOrPointerType(kind, rank, of.0.as_raw())
        )?))
    }

    fn app_domain(&self) -> Result<Com<ICorDebugAppDomain2>, Error> {
        let domains = clr_out!(self.0, ICorDebugProcess::EnumerateAppDomains())?;
        let first =
            next(|raw, fetched| clr!(domains, ICorDebugAppDomainEnum::Next(1, raw, fetched)))?;
        first
            .and_then(|domain| domain.cast::<ICorDebugAppDomain2>())
            .ok_or_else(|| missing("ICorDebugAppDomain2"))
    }
}

/// All types of one of the library's enumerators.
pub(crate) fn collect(all: &Com<ICorDebugTypeEnum>) -> Result<Vec<Type>, Error> {
    let mut found = Vec::new();
    while found.len() < MAX_ARGUMENTS
        && let Some(one) = next(|raw, fetched| clr!(all, ICorDebugTypeEnum::Next(1, raw, fetched)))?
    {
        found.push(Type(one));
    }
    Ok(found)
}
