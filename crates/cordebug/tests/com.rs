//! Reference counting, casts and calls through generated tables, both directions: the
//! objects here implement an interface with a table of ours, as the callback object does.

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};

use cordebug::bindings::{
    CORDB_PLATFORM_POSIX_AMD64, CorDebugPlatform, ICorDebugDataTarget, ICorDebugDataTargetVtbl,
    ICorDebugMutableDataTarget, ICorDebugMutableDataTargetVtbl, ICorDebugProcess, INTERFACES,
};
use cordebug::com::{
    Com, GUID, HRESULT, IUnknown, IUnknownVtbl, Interface, S_FALSE, S_OK, in_array, out, out_array,
    out_nullable,
};
use cordebug::hresult::{E_FAIL, E_NOINTERFACE, E_NOTIMPL, E_POINTER};

/// A data target over a buffer: address 0 is the first byte.
#[repr(C)]
struct Buffer {
    vtbl: &'static ICorDebugMutableDataTargetVtbl,
    count: AtomicU32,
    bytes: [u8; 4],
}

static VTBL: ICorDebugMutableDataTargetVtbl = ICorDebugMutableDataTargetVtbl {
    base: ICorDebugDataTargetVtbl {
        base: IUnknownVtbl {
            QueryInterface: query_interface,
            AddRef: add_ref,
            Release: release,
        },
        GetPlatform: get_platform,
        ReadVirtual: read_virtual,
        GetThreadContext: get_thread_context,
    },
    WriteVirtual: write_virtual,
    SetThreadContext: set_thread_context,
    ContinueStatusChanged: continue_status_changed,
};

/// The object behind a `this`; it lives on the test's stack and is never freed.
unsafe fn buffer<'a>(this: *mut c_void) -> &'a Buffer {
    // SAFETY: `this` is always a `Buffer` of a test that is still running.
    unsafe { &*this.cast::<Buffer>() }
}

unsafe extern "C" fn query_interface(
    this: *mut c_void,
    iid: *const GUID,
    result: *mut *mut c_void,
) -> HRESULT {
    // SAFETY: COM passes a valid IID.
    let iid = unsafe { *iid };
    let known = [
        IUnknown::IID,
        ICorDebugDataTarget::IID,
        ICorDebugMutableDataTarget::IID,
    ];
    let (hr, found) = if known.contains(&iid) {
        // SAFETY: `this` is the object that was called.
        unsafe { add_ref(this) };
        (S_OK, this)
    } else {
        (E_NOINTERFACE, ptr::null_mut())
    };
    // SAFETY: COM passes a valid out-pointer.
    unsafe { result.write(found) };
    hr
}

unsafe extern "C" fn add_ref(this: *mut c_void) -> u32 {
    // SAFETY: `this` is the object that was called.
    unsafe { buffer(this) }
        .count
        .fetch_add(1, Ordering::Relaxed)
        + 1
}

unsafe extern "C" fn release(this: *mut c_void) -> u32 {
    // SAFETY: `this` is the object that was called.
    unsafe { buffer(this) }
        .count
        .fetch_sub(1, Ordering::Relaxed)
        - 1
}

unsafe extern "C" fn get_platform(_this: *mut c_void, platform: *mut CorDebugPlatform) -> HRESULT {
    // SAFETY: the caller passes a valid out-pointer.
    unsafe { platform.write(CORDB_PLATFORM_POSIX_AMD64) };
    S_OK
}

unsafe extern "C" fn read_virtual(
    this: *mut c_void,
    address: u64,
    into: *mut u8,
    wanted: u32,
    read: *mut u32,
) -> HRESULT {
    // SAFETY: `this` is the object that was called.
    let bytes = &unsafe { buffer(this) }.bytes;
    let Some(found) = bytes.get(address as usize..) else {
        return E_FAIL;
    };
    let n = found.len().min(wanted as usize);
    // SAFETY: the caller passes a buffer of `wanted` bytes, and `n` is no more.
    unsafe { ptr::copy_nonoverlapping(found.as_ptr(), into, n) };
    // SAFETY: the caller passes a valid out-pointer.
    unsafe { read.write(n as u32) };
    if n < wanted as usize { S_FALSE } else { S_OK }
}

unsafe extern "C" fn get_thread_context(
    _: *mut c_void,
    _: u32,
    _: u32,
    _: u32,
    _: *mut u8,
) -> HRESULT {
    E_NOTIMPL
}

unsafe extern "C" fn write_virtual(_: *mut c_void, _: u64, _: *const u8, _: u32) -> HRESULT {
    E_NOTIMPL
}

unsafe extern "C" fn set_thread_context(_: *mut c_void, _: u32, _: u32, _: *const u8) -> HRESULT {
    E_NOTIMPL
}

unsafe extern "C" fn continue_status_changed(_: *mut c_void, _: u32, status: u32) -> HRESULT {
    HRESULT(status.cast_signed())
}

impl Buffer {
    fn new() -> Buffer {
        Buffer {
            vtbl: &VTBL,
            count: AtomicU32::new(1),
            bytes: [1, 2, 3, 4],
        }
    }

    fn raw(&mut self) -> *mut ICorDebugMutableDataTarget {
        assert!(ptr::eq(self.vtbl, &VTBL));
        ptr::from_mut(self).cast()
    }

    /// Takes over the one reference that a new object has.
    fn owned(&mut self) -> Com<ICorDebugMutableDataTarget> {
        // SAFETY: the table is that of the interface, and the first count is ours.
        unsafe { Com::from_raw(self.raw()) }.expect("not null")
    }
}

/// The count is read through the pointer that the `Com`s use too.
#[track_caller]
fn check_count(raw: *mut ICorDebugMutableDataTarget, expected: u32) {
    // SAFETY: the object is on the stack of the running test.
    let count = unsafe { buffer(raw.cast()) }.count.load(Ordering::Relaxed);
    assert_eq!(count, expected);
}

#[test]
fn clone_counts_and_drop_releases() {
    let mut object = Buffer::new();
    let first = object.owned();
    let raw = first.as_raw();
    check_count(raw, 1);
    let second = first.clone();
    check_count(raw, 2);
    drop(first);
    check_count(raw, 1);
    // SAFETY: `second` keeps the object alive.
    let third = unsafe { Com::from_borrowed(raw) };
    check_count(raw, 2);
    drop((second, third));
    check_count(raw, 0);
}

#[test]
fn raw_pointers_carry_the_reference() {
    let mut object = Buffer::new();
    let raw = object.owned().into_raw();
    check_count(raw, 1);
    // SAFETY: `into_raw` left the count to us.
    let again = unsafe { Com::from_raw(raw) };
    check_count(raw, 1);
    drop(again);
    check_count(raw, 0);
    // SAFETY: null is allowed and gives nothing.
    assert!(unsafe { Com::<IUnknown>::from_borrowed(ptr::null_mut()) }.is_none());
}

#[test]
fn cast_asks_the_object_and_upcast_does_not() {
    let mut object = Buffer::new();
    let target = object.owned();
    let raw = target.as_raw();
    assert!(target.cast::<ICorDebugProcess>().is_none());
    check_count(raw, 1);
    let base = target
        .cast::<ICorDebugDataTarget>()
        .expect("is a data target");
    check_count(raw, 2);
    let unknown: Com<IUnknown> = base.upcast();
    check_count(raw, 2);
    assert_eq!(unknown.as_raw().cast(), raw);
    drop((target, unknown));
    check_count(raw, 0);
}

#[test]
fn calls_reach_their_own_slot() {
    let mut object = Buffer::new();
    let target = object.owned();
    let mut platform = -1;
    // SAFETY: the out-pointer is a live local. The method is inherited.
    let hr = unsafe { target.GetPlatform(&mut platform) };
    assert_eq!((hr, platform), (S_OK, CORDB_PLATFORM_POSIX_AMD64));
    let (mut bytes, mut n) = ([0; 4], 0);
    // SAFETY: buffer and length agree, and the out-pointer is a live local.
    let hr = unsafe { target.ReadVirtual(1, bytes.as_mut_ptr(), 4, &mut n) };
    assert_eq!((hr, bytes, n), (S_FALSE, [2, 3, 4, 0], 3));
    // SAFETY: it takes no pointers.
    let hr = unsafe { target.ContinueStatusChanged(7, 0x1234) };
    assert_eq!(hr, HRESULT(0x1234));
}

#[test]
fn out_takes_what_the_call_stored() {
    let mut object = Buffer::new();
    let raw = object.raw();
    let store = |hr: HRESULT, value: *mut ICorDebugMutableDataTarget| {
        move |slot: *mut *mut ICorDebugMutableDataTarget| {
            // SAFETY: `out` passes a valid out-pointer.
            unsafe { slot.write(value) };
            hr
        }
    };
    // SAFETY: the call hands over the first count of the object.
    let stored = unsafe { out(store(S_OK, raw)) };
    assert_eq!(stored.map(|target| target.as_raw()), Ok(raw));
    check_count(raw, 0);
    // SAFETY: nothing is stored.
    let missing = unsafe { out(store(S_OK, ptr::null_mut())) };
    assert_eq!(missing.err(), Some(E_POINTER));
    // SAFETY: nothing is stored.
    let remark = unsafe { out(store(S_FALSE, ptr::null_mut())) };
    assert_eq!(remark.err(), Some(S_FALSE));
    // SAFETY: nothing is stored.
    let (hr, nothing) = unsafe { out_nullable(store(S_FALSE, ptr::null_mut())) };
    assert!(hr == S_FALSE && nothing.is_none());
    // SAFETY: a failed call hands nothing over, whatever it stored.
    let failed = unsafe { out(store(E_FAIL, raw)) };
    assert_eq!(failed.err(), Some(E_FAIL));
    check_count(raw, 0);
}

#[test]
fn arrays_are_arrays_of_pointers() {
    let mut object = Buffer::new();
    let target = object.owned();
    let raw = target.as_raw();
    let mut slots: [Option<Com<ICorDebugMutableDataTarget>>; 2] = [None, None];
    let into = out_array(&mut slots);
    // SAFETY: there are two slots.
    let second = unsafe { into.add(1) };
    // SAFETY: the slot is live, and the count goes with the pointer.
    unsafe { second.write(target.clone().into_raw()) };
    assert!(matches!(&slots, [None, Some(stored)] if stored.as_raw() == raw));
    let list = [target];
    // SAFETY: the list has one element.
    assert_eq!(unsafe { *in_array(&list) }, raw);
    drop((slots, list));
    check_count(raw, 0);
}

#[test]
fn guids_have_com_layout_and_text() {
    let text = "3d6f5f64-7538-11d3-8d5b-00104b35e7ef";
    let iid = ICorDebugProcess::IID;
    assert_eq!(iid.to_string(), text);
    assert_eq!(
        (iid.data1, iid.data2, iid.data3),
        (0x3d6f_5f64, 0x7538, 0x11d3)
    );
    assert_eq!(iid.data4, [0x8d, 0x5b, 0x00, 0x10, 0x4b, 0x35, 0xe7, 0xef]);
    assert_eq!(GUID::from_u128(iid.to_u128()), iid);
}

#[test]
fn every_interface_has_its_own_iid() {
    let mut iids: Vec<u128> = INTERFACES.iter().map(|(_, iid, _)| iid.to_u128()).collect();
    iids.sort_unstable();
    iids.dedup();
    assert_eq!(iids.len(), INTERFACES.len());
    assert!(iids.len() > 130);
}
