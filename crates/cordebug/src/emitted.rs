//! Names in a module that is emitted while the program runs, of which no image exists: asked from the library's metadata.
//!
//! Everything that the library lends is copied before the next call: it may be moved when more is emitted.

use core::ffi::c_void;

use crate::com::{Com, GUID, HRESULT, IUnknown, IUnknownVtbl, Interface, this, vtable};
use crate::error::{Error, check, clr_out};
use crate::module::{Module, missing, wide_string};

/// A longer signature is none.
const MAX_SIGNATURE: u32 = 1 << 16;
/// Nobody emits more.
const MAX_METADATA: u32 = 64 << 20;
/// Types that lie in each other: more are a circle.
const MAX_NESTED: usize = 32;
/// The table of a token, in its highest byte (ECMA-335 II.22).
const TYPE_REF: u32 = 0x01;
const TYPE_DEF: u32 = 0x02;

/// The metadata's reader, as far as it is used here.
#[repr(transparent)]
struct IMetaDataImport(IUnknown);

/// The functions of [`IMetaDataImport`] in their places.
#[repr(C)]
#[expect(non_snake_case, reason = "COM's own names, as in the generated tables")]
struct IMetaDataImportVtbl {
    base: IUnknownVtbl,
    before_type_defs: [*const c_void; 9],
    GetTypeDefProps: unsafe extern "C" fn(
        this: *mut c_void,
        ty: u32,
        name: *mut u16,
        capacity: u32,
        length: *mut u32,
        flags: *mut u32,
        extends: *mut u32,
    ) -> HRESULT,
    before_type_refs: [*const c_void; 1],
    GetTypeRefProps: unsafe extern "C" fn(
        this: *mut c_void,
        ty: u32,
        scope: *mut u32,
        name: *mut u16,
        capacity: u32,
        length: *mut u32,
    ) -> HRESULT,
    before_methods: [*const c_void; 15],
    GetMethodProps: unsafe extern "C" fn(
        this: *mut c_void,
        method: u32,
        class: *mut u32,
        name: *mut u16,
        capacity: u32,
        length: *mut u32,
        attributes: *mut u32,
        signature: *mut *const u8,
        signature_size: *mut u32,
        address: *mut u32,
        implementation: *mut u32,
    ) -> HRESULT,
    before_parameters: [*const c_void; 21],
    GetParamForMethodIndex: unsafe extern "C" fn(
        this: *mut c_void,
        method: u32,
        sequence: u32,
        parameter: *mut u32,
    ) -> HRESULT,
    before_parameter_names: [*const c_void; 6],
    GetParamProps: unsafe extern "C" fn(
        this: *mut c_void,
        parameter: u32,
        method: *mut u32,
        sequence: *mut u32,
        name: *mut u16,
        capacity: u32,
        length: *mut u32,
        attributes: *mut u32,
        constant_type: *mut u32,
        constant: *mut *const c_void,
        constant_length: *mut u32,
    ) -> HRESULT,
    before_nested: [*const c_void; 2],
    GetNestedClassProps:
        unsafe extern "C" fn(this: *mut c_void, ty: u32, enclosing: *mut u32) -> HRESULT,
}

// SAFETY: the IID and the places of the functions are those of IMetaDataImport in the runtime's cor.h.
unsafe impl Interface for IMetaDataImport {
    const IID: GUID = GUID::from_u128(0x7dac8207_d3ae_4c75_9b67_92801a497d44);
    const NAME: &'static str = "IMetaDataImport";
    type Vtbl = IMetaDataImportVtbl;
}

/// What writes metadata, as far as it is used here.
#[repr(transparent)]
struct IMetaDataEmit(IUnknown);

/// The functions of [`IMetaDataEmit`] in their places.
#[repr(C)]
#[expect(non_snake_case, reason = "COM's own names, as in the generated tables")]
struct IMetaDataEmitVtbl {
    base: IUnknownVtbl,
    before_size: [*const c_void; 3],
    GetSaveSize: unsafe extern "C" fn(this: *mut c_void, kind: u32, size: *mut u32) -> HRESULT,
    before_save: [*const c_void; 20],
    SaveToMemory: unsafe extern "C" fn(this: *mut c_void, data: *mut c_void, size: u32) -> HRESULT,
}

// SAFETY: the IID and the places of the functions are those of IMetaDataEmit in the runtime's cor.h.
unsafe impl Interface for IMetaDataEmit {
    const IID: GUID = GUID::from_u128(0xba3fee4c_ecb9_4e41_83b7_183fa41cd859);
    const NAME: &'static str = "IMetaDataEmit";
    type Vtbl = IMetaDataEmitVtbl;
}

/// What a module has been given so far.
#[derive(Debug)]
pub struct Emitted(Com<IMetaDataImport>);

/// A method of such a module.
#[derive(Debug, Clone)]
pub struct EmittedMethod {
    /// Its name.
    pub name: String,
    /// The token of the type that it is in.
    pub class: u32,
    /// Its signature (ECMA-335 II.23.2.1).
    pub signature: Vec<u8>,
}

impl Module {
    /// The names of what has been emitted into it.
    pub fn emitted(&self) -> Result<Emitted, Error> {
        let unknown: Com<IUnknown> = clr_out!(
            self.0,
            ICorDebugModule::GetMetaDataInterface(&IMetaDataImport::IID)
        )?;
        unknown
            .cast()
            .map(Emitted)
            .ok_or_else(|| missing("IMetaDataImport"))
    }
}

impl Emitted {
    /// All of it as it is now, as a file would have it (ECMA-335 II.24.2).
    pub fn metadata(&self) -> Result<Vec<u8>, Error> {
        let writer: Com<IMetaDataEmit> = self.0.cast().ok_or_else(|| missing("IMetaDataEmit"))?;
        let object: &IMetaDataEmit = &writer;
        let mut size = 0;
        // SAFETY: the object is live, the size is stored in a live local; 0 asks for the exact size.
        let code = unsafe { (vtable(object).GetSaveSize)(this(object), 0, &mut size) };
        check("IMetaDataEmit::GetSaveSize", code)?;
        if size > MAX_METADATA {
            return Err(missing("metadata of less than 64 MiB"));
        }
        let mut bytes = vec![0_u8; size as usize];
        // SAFETY: the object is live, and the buffer has `size` bytes.
        let code =
            unsafe { (vtable(object).SaveToMemory)(this(object), bytes.as_mut_ptr().cast(), size) };
        check("IMetaDataEmit::SaveToMemory", code)?;
        Ok(bytes)
    }

    /// A method by its token.
    pub fn method(&self, token: u32) -> Result<EmittedMethod, Error> {
        let object: &IMetaDataImport = &self.0;
        let mut class = 0;
        let (mut bytes, mut size) = (core::ptr::null(), 0);
        let name = wide_string(|capacity, length, buffer| {
            let (mut attributes, mut address, mut implementation) = (0, 0, 0);
            // SAFETY: the object is live, the buffer has `capacity` units, the rest are live locals.
            let code = unsafe {
                (vtable(object).GetMethodProps)(
                    this(object),
                    token,
                    &mut class,
                    buffer,
                    capacity,
                    length,
                    &mut attributes,
                    &mut bytes,
                    &mut size,
                    &mut address,
                    &mut implementation,
                )
            };
            check("IMetaDataImport::GetMethodProps", code)
        })?;
        let signature = if bytes.is_null() || size > MAX_SIGNATURE {
            Vec::new()
        } else {
            // SAFETY: the call that succeeded lends `size` bytes, which nothing has moved since.
            unsafe { core::slice::from_raw_parts(bytes, size as usize) }.to_vec()
        };
        Ok(EmittedMethod {
            name,
            class,
            signature,
        })
    }

    /// The names of a type and of those around it, the outermost first, as metadata has them: `` Ns.Outer`1 ``, `Inner`.
    pub fn type_names(&self, token: u32) -> Result<Vec<String>, Error> {
        let mut names = Vec::new();
        let mut next = Some(token);
        while let Some(token) = next.filter(|_| names.len() < MAX_NESTED) {
            let (name, around) = match token >> 24 {
                TYPE_DEF => (self.definition(token)?, self.enclosing(token)),
                TYPE_REF => self.reference(token)?,
                _ => break,
            };
            names.push(name);
            next = around;
        }
        names.reverse();
        Ok(names)
    }

    /// The name of a method's parameter, counted from one; empty if it has none.
    pub fn parameter_name(&self, method: u32, sequence: u32) -> Result<String, Error> {
        let object: &IMetaDataImport = &self.0;
        let mut parameter = 0;
        // SAFETY: the object is live, the token is stored in a live local.
        let code = unsafe {
            (vtable(object).GetParamForMethodIndex)(this(object), method, sequence, &mut parameter)
        };
        check("IMetaDataImport::GetParamForMethodIndex", code)?;
        wide_string(|capacity, length, buffer| {
            let (mut method, mut sequence, mut attributes) = (0, 0, 0);
            let (mut kind, mut constant, mut units) = (0, core::ptr::null(), 0);
            // SAFETY: the object is live, the buffer has `capacity` units, the rest are live locals.
            let code = unsafe {
                (vtable(object).GetParamProps)(
                    this(object),
                    parameter,
                    &mut method,
                    &mut sequence,
                    buffer,
                    capacity,
                    length,
                    &mut attributes,
                    &mut kind,
                    &mut constant,
                    &mut units,
                )
            };
            check("IMetaDataImport::GetParamProps", code)
        })
    }

    fn definition(&self, token: u32) -> Result<String, Error> {
        let object: &IMetaDataImport = &self.0;
        wide_string(|capacity, length, buffer| {
            let (mut flags, mut extends) = (0, 0);
            // SAFETY: the object is live, the buffer has `capacity` units, the rest are live locals.
            let code = unsafe {
                (vtable(object).GetTypeDefProps)(
                    this(object),
                    token,
                    buffer,
                    capacity,
                    length,
                    &mut flags,
                    &mut extends,
                )
            };
            check("IMetaDataImport::GetTypeDefProps", code)
        })
    }

    fn enclosing(&self, token: u32) -> Option<u32> {
        let object: &IMetaDataImport = &self.0;
        let mut enclosing = 0;
        // SAFETY: the object is live, the token is stored in a live local.
        let code =
            unsafe { (vtable(object).GetNestedClassProps)(this(object), token, &mut enclosing) };
        code.is_ok().then_some(enclosing)
    }

    fn reference(&self, token: u32) -> Result<(String, Option<u32>), Error> {
        let object: &IMetaDataImport = &self.0;
        let mut scope = 0;
        let name = wide_string(|capacity, length, buffer| {
            // SAFETY: the object is live, the buffer has `capacity` units, the rest are live locals.
            let code = unsafe {
                (vtable(object).GetTypeRefProps)(
                    this(object),
                    token,
                    &mut scope,
                    buffer,
                    capacity,
                    length,
                )
            };
            check("IMetaDataImport::GetTypeRefProps", code)
        })?;
        Ok((name, Some(scope).filter(|it| it >> 24 == TYPE_REF)))
    }
}
