//! The stream in which the library hands over symbols that a program loaded from memory.
//!
//! It is read where it is handed over, in the callback, and to its end: nothing of it is kept.

use core::ffi::c_void;

use crate::com::{Com, GUID, HRESULT, IUnknown, IUnknownVtbl, Interface, this, vtable};

/// More bytes than these are no symbols.
const LIMIT: usize = 256 << 20;

/// COM's `IStream`, as far as it is used here.
#[repr(transparent)]
pub(crate) struct IStream(IUnknown);

/// The first functions of [`IStream`].
#[repr(C)]
#[expect(non_snake_case, reason = "COM's own names, as in the generated tables")]
pub(crate) struct IStreamVtbl {
    base: IUnknownVtbl,
    Read: unsafe extern "C" fn(
        this: *mut c_void,
        buffer: *mut c_void,
        size: u32,
        read: *mut u32,
    ) -> HRESULT,
    Write: unsafe extern "C" fn(
        this: *mut c_void,
        buffer: *const c_void,
        size: u32,
        written: *mut u32,
    ) -> HRESULT,
    Seek: unsafe extern "C" fn(
        this: *mut c_void,
        distance: i64,
        origin: u32,
        position: *mut u64,
    ) -> HRESULT,
}

// SAFETY: the IID and the order of the functions are those of COM's IStream (ISequentialStream's two, then Seek).
unsafe impl Interface for IStream {
    const IID: GUID = GUID::from_u128(0x0000000c_0000_0000_c000_000000000046);
    const NAME: &'static str = "IStream";
    type Vtbl = IStreamVtbl;
}

/// All bytes of a stream; nothing if it cannot be read.
pub(crate) fn read(stream: &Com<IStream>) -> Option<Vec<u8>> {
    let stream: &IStream = stream;
    let functions = vtable(stream);
    // SAFETY: the object is live; the position may be null.
    let sought = unsafe { (functions.Seek)(this(stream), 0, 0, core::ptr::null_mut()) };
    sought.ok().ok()?;
    let mut bytes = Vec::new();
    let mut buffer = vec![0_u8; 64 << 10];
    loop {
        let mut read = 0;
        let size = u32::try_from(buffer.len()).unwrap_or(0);
        let into = buffer.as_mut_ptr().cast();
        // SAFETY: the object is live, the buffer has `size` bytes, and the count is a live local.
        let result = unsafe { (functions.Read)(this(stream), into, size, &mut read) };
        result.ok().ok()?;
        let part = buffer.get(..read as usize)?;
        if part.is_empty() {
            return Some(bytes);
        }
        if bytes.len() + part.len() > LIMIT {
            return None;
        }
        bytes.extend_from_slice(part);
    }
}
