//! COM as the CLR uses it on Linux: HRESULT, GUID, reference counted interface pointers.
//!
//! A COM object is memory whose first word points at a table of C functions; an interface
//! type of ours stands for such memory and exists only behind a reference or a pointer.
//! Invariant: a [`Com`] owns exactly one reference count, and a `&I` of an [`Interface`]
//! is always a live object whose table begins with `I::Vtbl`.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::fmt;
use core::ops::Deref;
use core::ptr::{self, NonNull};

use crate::hresult;

pub use crate::hresult::{S_FALSE, S_OK};

/// C's `BOOL`: zero is false, anything else true.
pub type BOOL = i32;

/// The outcome of a COM call: negative is failure, everything else success.
///
/// Success codes carry meaning (`S_FALSE`, `CORDBG_S_AT_END_OF_STACK`), so calls return
/// this and not a `Result`.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct HRESULT(pub i32);

impl HRESULT {
    /// Whether the call succeeded, perhaps with a remark.
    pub const fn is_ok(self) -> bool {
        self.0 >= 0
    }

    /// Whether the call failed.
    pub const fn is_err(self) -> bool {
        self.0 < 0
    }

    /// The code in `Ok` if it is a success code, else in `Err`.
    pub const fn ok(self) -> Result<HRESULT, HRESULT> {
        if self.is_ok() { Ok(self) } else { Err(self) }
    }
}

impl fmt::Display for HRESULT {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match hresult::name(*self) {
            Some(name) => write!(f, "{name} (0x{:08x})", self.0),
            None => write!(f, "0x{:08x}", self.0),
        }
    }
}

impl fmt::Debug for HRESULT {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for HRESULT {}

/// A 16-byte identifier in the mixed-endian layout that COM passes by pointer.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct GUID {
    /// The first group of the text form.
    pub data1: u32,
    /// The second group of the text form.
    pub data2: u16,
    /// The third group of the text form.
    pub data3: u16,
    /// The last two groups of the text form.
    pub data4: [u8; 8],
}

impl GUID {
    /// Makes a GUID from its text form read as one hexadecimal number.
    pub const fn from_u128(value: u128) -> GUID {
        GUID {
            data1: (value >> 96) as u32,
            data2: (value >> 80) as u16,
            data3: (value >> 64) as u16,
            data4: (value as u64).to_be_bytes(),
        }
    }

    /// The inverse of [`GUID::from_u128`].
    pub const fn to_u128(self) -> u128 {
        (self.data1 as u128) << 96
            | (self.data2 as u128) << 80
            | (self.data3 as u128) << 64
            | u64::from_be_bytes(self.data4) as u128
    }
}

impl fmt::Display for GUID {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tail = u64::from_be_bytes(self.data4);
        let (group, node) = (tail >> 48, tail & 0xffff_ffff_ffff);
        write!(
            f,
            "{:08x}-{:04x}-{:04x}-{group:04x}-{node:012x}",
            self.data1, self.data2, self.data3
        )
    }
}

impl fmt::Debug for GUID {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A COM interface type.
///
/// # Safety
/// The type is a `repr(transparent)` chain down to [`IUnknown`], has no public constructor,
/// and any object that answers `QueryInterface` for `IID` has a table that begins with `Vtbl`.
pub unsafe trait Interface: Sized + 'static {
    /// What `QueryInterface` is asked for.
    const IID: GUID;
    /// The name in the IDL, for messages.
    const NAME: &'static str;
    /// The table of functions, `repr(C)`.
    type Vtbl;
}

/// States that an interface extends another, directly or not.
///
/// # Safety
/// `Self::Vtbl` begins with `Base::Vtbl`.
pub unsafe trait Inherits<Base: Interface>: Interface {}

/// The root interface: reference counting and the way to other interfaces.
// UnsafeCell: the object is foreign memory; nothing may be assumed of it between calls.
#[repr(transparent)]
pub struct IUnknown(UnsafeCell<*const c_void>);

/// The functions of [`IUnknown`].
#[repr(C)]
#[expect(non_snake_case, reason = "COM's own names, as in the generated tables")]
pub struct IUnknownVtbl {
    /// Stores a counted pointer to another interface of the object, or null.
    pub QueryInterface:
        unsafe extern "C" fn(this: *mut c_void, iid: *const GUID, out: *mut *mut c_void) -> HRESULT,
    /// Adds one reference and returns the new count.
    pub AddRef: unsafe extern "C" fn(this: *mut c_void) -> u32,
    /// Takes one reference away, frees the object with the last, returns the new count.
    pub Release: unsafe extern "C" fn(this: *mut c_void) -> u32,
}

// SAFETY: the IID and the three functions are COM's own definition.
unsafe impl Interface for IUnknown {
    const IID: GUID = GUID::from_u128(0x00000000_0000_0000_c000_000000000046);
    const NAME: &'static str = "IUnknown";
    type Vtbl = IUnknownVtbl;
}

/// The table of functions of a live object.
#[inline]
pub(crate) fn vtable<I: Interface>(object: &I) -> &I::Vtbl {
    // SAFETY: by the contract of `Interface` this is a live object, whose first word points
    // at a table that begins with `I::Vtbl` and outlives it.
    unsafe { &*table(object).cast::<I::Vtbl>() }
}

/// The functions with which every table begins.
#[inline]
fn unknown<I: Interface>(object: &I) -> &IUnknownVtbl {
    // SAFETY: `Interface` promises a chain down to `IUnknown`, so the table begins with it.
    unsafe { &*table(object).cast::<IUnknownVtbl>() }
}

#[inline]
fn table<I: Interface>(object: &I) -> *const c_void {
    // SAFETY: the first word of every COM object is the address of its table.
    unsafe { *ptr::from_ref(object).cast::<*const c_void>() }
}

/// The pointer that every function of an object's table takes first.
#[inline]
pub(crate) fn this<I: Interface>(object: &I) -> *mut c_void {
    ptr::from_ref(object).cast_mut().cast()
}

/// An owning pointer to a COM object: `Clone` is `AddRef`, `Drop` is `Release`.
///
/// It is neither `Send` nor `Sync`; whoever moves one to another thread answers for it there.
/// `Option<Com<I>>` has the layout of a nullable pointer.
#[repr(transparent)]
pub struct Com<I: Interface>(NonNull<I>);

impl<I: Interface> Com<I> {
    /// Takes over the reference that `raw` stands for; null gives `None`.
    ///
    /// # Safety
    /// `raw` is null or a live object of interface `I`, and one reference count of it
    /// belongs to the caller, who gives it up.
    #[inline]
    pub unsafe fn from_raw(raw: *mut I) -> Option<Com<I>> {
        NonNull::new(raw).map(Com)
    }

    /// Adds a reference of our own to a pointer that was only lent; null gives `None`.
    ///
    /// This is for the arguments of a callback, which belong to the caller.
    ///
    /// # Safety
    /// `raw` is null or a live object of interface `I`.
    #[inline]
    pub unsafe fn from_borrowed(raw: *mut I) -> Option<Com<I>> {
        // SAFETY: the caller says the object is live; the reference ends before we return.
        let object = unsafe { raw.as_ref() }?;
        // SAFETY: every live object counts references.
        unsafe { (unknown(object).AddRef)(this(object)) };
        NonNull::new(raw).map(Com)
    }

    /// The pointer, for passing to a call; the reference stays with `self`.
    #[inline]
    pub fn as_raw(&self) -> *mut I {
        self.0.as_ptr()
    }

    /// The pointer together with the reference, which the caller must now release.
    #[inline]
    pub fn into_raw(self) -> *mut I {
        let raw = self.0.as_ptr();
        core::mem::forget(self);
        raw
    }

    /// Asks the object for another of its interfaces.
    pub fn cast<J: Interface>(&self) -> Option<Com<J>> {
        let mut raw = ptr::null_mut();
        // SAFETY: the object is live, the IID is static and `raw` a live local.
        let hr = unsafe { (unknown(&**self).QueryInterface)(this(&**self), &J::IID, &mut raw) };
        if hr.is_err() {
            return None;
        }
        // SAFETY: a successful QueryInterface hands over one counted pointer of that IID.
        unsafe { Com::from_raw(raw.cast()) }
    }

    /// The same object as one of the interfaces that `I` extends; costs nothing.
    #[inline]
    pub fn upcast<B: Interface>(self) -> Com<B>
    where
        I: Inherits<B>,
    {
        let raw = NonNull::from(&*self).cast();
        core::mem::forget(self);
        Com(raw)
    }
}

impl<I: Interface> Deref for Com<I> {
    type Target = I;

    #[inline]
    fn deref(&self) -> &I {
        // SAFETY: our reference count keeps the object alive for as long as `self`.
        unsafe { self.0.as_ref() }
    }
}

impl<I: Interface> Clone for Com<I> {
    #[inline]
    fn clone(&self) -> Com<I> {
        // SAFETY: the object is live; the new count belongs to the new pointer.
        unsafe { (unknown(&**self).AddRef)(this(&**self)) };
        Com(self.0)
    }
}

impl<I: Interface> Drop for Com<I> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this pointer owns one count and is not used again.
        unsafe { (unknown(&**self).Release)(this(&**self)) };
    }
}

impl<I: Interface> fmt::Debug for Com<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({:p})", I::NAME, self.0)
    }
}

/// Runs a call that stores one interface pointer; what was stored comes with the code.
///
/// # Safety
/// `call` leaves the pointer null or stores a live object of interface `I` with one
/// reference count for us, as every `[out]` parameter of COM does.
#[inline]
pub unsafe fn out_nullable<I: Interface>(
    call: impl FnOnce(*mut *mut I) -> HRESULT,
) -> (HRESULT, Option<Com<I>>) {
    let mut raw = ptr::null_mut();
    let hr = call(&mut raw);
    if hr.is_err() {
        // A failed call owns what it stored, if anything.
        return (hr, None);
    }
    // SAFETY: the caller says what `call` stores.
    (hr, unsafe { Com::from_raw(raw) })
}

/// Runs a call that stores one interface pointer and expects it to be there.
///
/// A call that succeeds and stores nothing gives its own code as the error if that says
/// more than `S_OK` (such as `S_FALSE`), else `E_POINTER`.
///
/// # Safety
/// As for [`out_nullable`].
#[inline]
pub unsafe fn out<I: Interface>(
    call: impl FnOnce(*mut *mut I) -> HRESULT,
) -> Result<Com<I>, HRESULT> {
    // SAFETY: the contract is the caller's.
    match unsafe { out_nullable(call) } {
        (_, Some(object)) => Ok(object),
        (hresult::S_OK, None) => Err(hresult::E_POINTER),
        (hr, None) => Err(hr),
    }
}

/// A buffer of empty slots as the array parameter of a call that stores pointers.
///
/// The call may store at most `slots.len()` pointers, each with a reference count for us;
/// whatever a slot held before is leaked, not released.
#[inline]
pub fn out_array<I: Interface>(slots: &mut [Option<Com<I>>]) -> *mut *mut I {
    slots.as_mut_ptr().cast()
}

/// A list of objects as the array parameter of a call that reads pointers.
#[inline]
pub fn in_array<I: Interface>(objects: &[Com<I>]) -> *const *mut I {
    objects.as_ptr().cast()
}
