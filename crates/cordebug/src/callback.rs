//! The object that the runtime library calls back: it takes references, sends, returns.
//!
//! All calls come on one thread of the runtime library, which must never wait for us: each method turns its arguments
//! into a [`Callback`] with references of its own, hands it to the sink and returns. Every delivered callback except
//! [`Callback::ExitProcess`] and [`Callback::ModulePassed`] leaves the process stopped until one `Continue` answers it.
//! That an assembly is loaded is not delivered: its module is told right behind it, and two threads would wake up for
//! nothing each time.
//!
//! Invariant: no panic leaves a method, and nothing is inspected on this thread but the name of a module, which decides
//! whether the process has to wait for us.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::bindings::*;
use crate::com::{BOOL, Com, GUID, HRESULT, IUnknown, IUnknownVtbl, Interface};
use crate::fast_memory;
use crate::hresult::{E_NOINTERFACE, E_NOTIMPL, E_POINTER, S_OK};
use crate::module::Module;
use crate::symbol_stream::{self, IStream};
use crate::thread::Thread;

/// One thing the runtime told, with references of our own.
#[derive(Debug)]
#[expect(missing_docs, reason = "the runtime's own names and arguments")]
pub enum Callback {
    Breakpoint {
        thread: Com<ICorDebugThread>,
        breakpoint: Option<Com<ICorDebugBreakpoint>>,
    },
    StepComplete {
        thread: Com<ICorDebugThread>,
        stepper: Option<Com<ICorDebugStepper>>,
        reason: CorDebugStepReason,
    },
    /// The program called `Debugger.Break()`.
    Break {
        thread: Com<ICorDebugThread>,
    },
    EvalComplete {
        thread: Com<ICorDebugThread>,
        eval: Option<Com<ICorDebugEval>>,
    },
    EvalException {
        thread: Com<ICorDebugThread>,
        eval: Option<Com<ICorDebugEval>>,
    },
    CreateProcess,
    ExitProcess,
    CreateThread {
        thread: Com<ICorDebugThread>,
    },
    ExitThread {
        thread: Com<ICorDebugThread>,
    },
    LoadModule {
        module: Com<ICorDebugModule>,
    },
    /// A module is loaded that nobody wanted to see before its code runs: the process did not wait.
    ModulePassed {
        module: Com<ICorDebugModule>,
        name: String,
    },
    UnloadModule {
        module: Com<ICorDebugModule>,
    },
    LoadClass {
        class: Com<ICorDebugClass>,
    },
    UnloadClass {
        class: Com<ICorDebugClass>,
    },
    DebuggerError {
        error: HRESULT,
        code: u32,
    },
    LogMessage {
        thread: Com<ICorDebugThread>,
        level: i32,
        category: String,
        message: String,
    },
    CreateAppDomain {
        app_domain: Com<ICorDebugAppDomain>,
    },
    ExitAppDomain {
        app_domain: Com<ICorDebugAppDomain>,
    },
    NameChange {
        thread: Option<Com<ICorDebugThread>>,
    },
    UpdateModuleSymbols {
        module: Com<ICorDebugModule>,
        /// The symbols as the program loaded them, if they can be read.
        symbols: Option<Vec<u8>>,
    },
    BreakpointSetError {
        breakpoint: Option<Com<ICorDebugBreakpoint>>,
        error: u32,
    },
    FunctionRemapOpportunity {
        thread: Com<ICorDebugThread>,
        old: Option<Com<ICorDebugFunction>>,
        new: Option<Com<ICorDebugFunction>>,
        old_offset: u32,
    },
    FunctionRemapComplete {
        thread: Com<ICorDebugThread>,
        function: Option<Com<ICorDebugFunction>>,
    },
    Exception2 {
        thread: Com<ICorDebugThread>,
        frame: Option<Com<ICorDebugFrame>>,
        offset: u32,
        kind: CorDebugExceptionCallbackType,
        flags: u32,
    },
    ExceptionUnwind {
        thread: Com<ICorDebugThread>,
        kind: CorDebugExceptionUnwindCallbackType,
    },
    CustomNotification {
        thread: Com<ICorDebugThread>,
    },
    /// Anything else: it only needs its `Continue`. Also what is left of a callback with a null argument.
    Other(&'static str),
}

impl Callback {
    /// The thread that it happened to, of callbacks that tell of what a thread did.
    pub fn thread(&self) -> Option<Thread> {
        match self {
            Self::Breakpoint { thread, .. }
            | Self::StepComplete { thread, .. }
            | Self::Break { thread }
            | Self::Exception2 { thread, .. }
            | Self::ExceptionUnwind { thread, .. }
            | Self::LogMessage { thread, .. } => Some(Thread::new(thread.clone())),
            _ => None,
        }
    }
}

/// Carries a callback from the runtime library's thread to the engine thread.
///
/// The one place where COM pointers change threads.
#[derive(Debug)]
pub struct Delivered(Callback);

// SAFETY: ICorDebug objects count references atomically, take their process's lock in every call and have no thread
// affinity (the library's own documentation of its threading: any thread may call). The sending thread keeps no
// pointer of its own, so only the receiver uses them.
unsafe impl Send for Delivered {}

impl Delivered {
    /// Whether the process waits for an answer to it.
    pub fn awaits_answer(&self) -> bool {
        !matches!(self.0, Callback::ModulePassed { .. })
    }

    /// The callback, on the thread that will own its objects.
    pub fn receive(self) -> Callback {
        self.0
    }
}

type Sink = Box<dyn Fn(Delivered) + Send + Sync>;
/// Whether a process may go on at once when it loads the module of this name.
pub type Passes = Box<dyn Fn(&str) -> bool + Send + Sync>;

/// The object: four interface pointers to tables, then what is ours. The runtime library sees only the tables.
#[repr(C)]
struct Handler {
    tables: [*const c_void; 4],
    references: AtomicU32,
    sink: Sink,
    passes: Option<Passes>,
}

/// Makes the object; the pointer owns its one reference.
pub(crate) fn handler(
    sink: impl Fn(Delivered) + Send + Sync + 'static,
    passes: Option<Passes>,
) -> Com<ICorDebugManagedCallback> {
    let handler = Box::new(Handler {
        tables: [
            (&raw const TABLE1).cast(),
            (&raw const TABLE2).cast(),
            (&raw const TABLE3).cast(),
            (&raw const TABLE4).cast(),
        ],
        references: AtomicU32::new(1),
        sink: Box::new(sink),
        passes,
    });
    let raw: *mut ICorDebugManagedCallback = Box::into_raw(handler).cast();
    // SAFETY: the object begins with a pointer to a table of that interface and has one reference, which we give up.
    let owned = unsafe { Com::from_raw(raw) };
    owned.unwrap_or_else(|| unreachable!("a box is never null"))
}

/// The object that the `N`th interface pointer belongs to.
///
/// # Safety
/// `this` is the `N`th interface pointer of a live `Handler`.
unsafe fn object<'a, const N: usize>(this: *mut c_void) -> &'a Handler {
    // SAFETY: the `N`th table pointer lies `N` words after the object's start.
    let start = unsafe { this.cast::<*const c_void>().sub(N) };
    // SAFETY: the caller says that the object is live; it is only ever shared.
    unsafe { &*start.cast::<Handler>() }
}

unsafe extern "C" fn query_interface<const N: usize>(
    this: *mut c_void,
    iid: *const GUID,
    out: *mut *mut c_void,
) -> HRESULT {
    if iid.is_null() || out.is_null() {
        return E_POINTER;
    }
    // SAFETY: not null, and COM passes a readable GUID.
    let iid = unsafe { *iid };
    let index = match iid {
        IUnknown::IID | ICorDebugManagedCallback::IID => 0,
        ICorDebugManagedCallback2::IID => 1,
        ICorDebugManagedCallback3::IID => 2,
        ICorDebugManagedCallback4::IID => 3,
        _ => {
            // SAFETY: not null, and COM passes a writable pointer.
            unsafe { out.write(std::ptr::null_mut()) };
            return E_NOINTERFACE;
        }
    };
    // SAFETY: the runtime library calls with a pointer that this table belongs to.
    let handler = unsafe { object::<N>(this) };
    handler.references.fetch_add(1, Ordering::Relaxed);
    let pointer = (&raw const handler.tables)
        .cast::<*const c_void>()
        .wrapping_add(index);
    // SAFETY: not null, and COM passes a writable pointer.
    unsafe { out.write(pointer.cast_mut().cast()) };
    S_OK
}

unsafe extern "C" fn add_ref<const N: usize>(this: *mut c_void) -> u32 {
    // SAFETY: as above.
    let handler = unsafe { object::<N>(this) };
    handler.references.fetch_add(1, Ordering::Relaxed) + 1
}

unsafe extern "C" fn release<const N: usize>(this: *mut c_void) -> u32 {
    // SAFETY: as above.
    let handler = unsafe { object::<N>(this) };
    let left = handler.references.fetch_sub(1, Ordering::Release) - 1;
    if left == 0 {
        std::sync::atomic::fence(Ordering::Acquire);
        let start = std::ptr::from_ref(handler).cast_mut();
        // SAFETY: the last reference is gone and the object came from a box.
        drop(unsafe { Box::from_raw(start) });
    }
    left
}

const fn unknown<const N: usize>() -> IUnknownVtbl {
    IUnknownVtbl {
        QueryInterface: query_interface::<N>,
        AddRef: add_ref::<N>,
        Release: release::<N>,
    }
}

/// Sends what `make` builds; a panic ends here.
///
/// # Safety
/// `this` is the `N`th interface pointer of a live `Handler`.
unsafe fn deliver<const N: usize>(
    this: *mut c_void,
    name: &'static str,
    make: impl FnOnce() -> Option<Callback>,
) -> HRESULT {
    // The runtime library dispatches an event only when the whole target is stopped for it.
    fast_memory::target_stopped();
    // SAFETY: the caller's promise.
    let handler = unsafe { object::<N>(this) };
    let sent = catch_unwind(AssertUnwindSafe(|| {
        (handler.sink)(Delivered(make().unwrap_or(Callback::Other(name))))
    }));
    if sent.is_err() {
        tracing::error!(callback = name, "delivering a callback panicked");
    }
    S_OK
}

/// A reference of our own to an argument; null gives `None`.
fn own<I: Interface>(raw: *mut I) -> Option<Com<I>> {
    // SAFETY: the runtime library passes null or live objects, and they live during the callback.
    unsafe { Com::from_borrowed(raw) }
}

/// A zero-terminated UTF-16 string of a callback, at most 1 MiB of it.
fn text(raw: *const u16) -> String {
    if raw.is_null() {
        return String::new();
    }
    let mut length = 0;
    // SAFETY: the runtime library passes zero-terminated strings, and nothing behind the zero is read.
    while length < 1 << 19 && unsafe { raw.wrapping_add(length).read() } != 0 {
        length += 1;
    }
    // SAFETY: the loop above has read this many units.
    String::from_utf16_lossy(unsafe { std::slice::from_raw_parts(raw, length) })
}

/// A callback of which another one tells more right afterwards: the runtime library itself goes on from what is not
/// implemented, and calls again with the next.
///
/// The process stays stopped meanwhile, but nothing here counts on it: pages are kept from the next callback on.
unsafe extern "C" fn load_assembly(
    this: *mut c_void,
    _domain: *mut ICorDebugAppDomain,
    _assembly: *mut ICorDebugAssembly,
) -> HRESULT {
    // SAFETY: the runtime library calls with a pointer that the first table belongs to.
    unsafe { pass(this, "LoadAssembly") }
}

/// Lets the runtime library go on by itself, unless the engine counts on being told.
///
/// # Safety
/// `this` is the first interface pointer of a live `Handler`.
unsafe fn pass(this: *mut c_void, name: &'static str) -> HRESULT {
    if !TELLS_ALL.load(Ordering::SeqCst) {
        return E_NOTIMPL;
    }
    // SAFETY: the caller's promise.
    unsafe { deliver::<0>(this, name, || None) }
}

/// Whether nothing is passed by at the moment.
static TELLS_ALL: AtomicBool = AtomicBool::new(false);

/// Says whether everything that is queued has to be delivered: whoever has let the process go on only to be told the next
/// would else wait for it while the process runs.
pub fn tell_all(all: bool) {
    TELLS_ALL.store(all, Ordering::SeqCst);
}

/// A module is loaded. One that nobody wants to see first is told, and the runtime library itself goes on, as above:
/// otherwise each would cost the process the time that it takes to wake the engine's thread.
unsafe extern "C" fn load_module(
    this: *mut c_void,
    _domain: *mut ICorDebugAppDomain,
    module: *mut ICorDebugModule,
) -> HRESULT {
    // SAFETY: the runtime library calls with a pointer that the first table belongs to.
    let handler = unsafe { object::<0>(this) };
    fast_memory::target_stopped();
    let passed = catch_unwind(AssertUnwindSafe(|| {
        let passes = handler.passes.as_ref()?;
        if TELLS_ALL.load(Ordering::SeqCst) {
            return None;
        }
        let module = own(module)?;
        let name = Module::new(module.clone()).name().ok();
        let name = name.filter(|name| passes(name))?;
        Some(Callback::ModulePassed { module, name })
    }));
    match passed {
        Ok(Some(callback)) => {
            // It runs from here on, and is not ours to look at.
            fast_memory::target_runs();
            let sent = catch_unwind(AssertUnwindSafe(|| (handler.sink)(Delivered(callback))));
            if sent.is_err() {
                tracing::error!("delivering a loaded module panicked");
            }
            E_NOTIMPL
        }
        // SAFETY: see above.
        _ => unsafe {
            deliver::<0>(this, "LoadModule", move || {
                Some(Callback::LoadModule {
                    module: own(module)?,
                })
            })
        },
    }
}

/// The name of a thread or a domain has changed, which is read anew whenever it is shown. While a process arrives it may be
/// the last thing that is told of it, and is then waited for.
unsafe extern "C" fn name_change(
    this: *mut c_void,
    _domain: *mut ICorDebugAppDomain,
    thread: *mut ICorDebugThread,
) -> HRESULT {
    if ARRIVED.load(Ordering::SeqCst) {
        // SAFETY: the runtime library calls with a pointer that the first table belongs to.
        return unsafe { pass(this, "NameChange") };
    }
    // SAFETY: see above.
    unsafe {
        deliver::<0>(this, "NameChange", move || {
            Some(Callback::NameChange {
                thread: own(thread),
            })
        })
    }
}

/// Whether everything is told that was there when the debugger came.
static ARRIVED: AtomicBool = AtomicBool::new(false);

/// Says that the process has arrived: what changes only names need not be told any more.
pub fn arrived() {
    ARRIVED.store(true, Ordering::SeqCst);
}

/// The old way to tell of an exception: passed by, as the new one follows right behind it.
unsafe extern "C" fn told_again(
    this: *mut c_void,
    _domain: *mut ICorDebugAppDomain,
    _thread: *mut ICorDebugThread,
    _unhandled: BOOL,
) -> HRESULT {
    // SAFETY: the runtime library calls with a pointer that the first table belongs to.
    unsafe { pass(this, "Exception") }
}

/// Declares one slot: a function that owns its arguments, builds a callback and delivers it.
macro_rules! slot {
    ($n:literal, $name:ident($($arg:ident: $type:ty),*) $make:expr) => {{
        unsafe extern "C" fn $name(this: *mut c_void, $($arg: $type),*) -> HRESULT {
            // SAFETY: the runtime library calls with a pointer that this table belongs to.
            unsafe { deliver::<$n>(this, stringify!($name), move || $make) }
        }
        $name
    }};
}

#[expect(
    non_snake_case,
    unused_variables,
    reason = "COM's own names, not all arguments are needed"
)]
static TABLE1: ICorDebugManagedCallbackVtbl = ICorDebugManagedCallbackVtbl {
    base: unknown::<0>(),
    Breakpoint: slot!(0, Breakpoint(domain: *mut ICorDebugAppDomain, thread: *mut ICorDebugThread, breakpoint: *mut ICorDebugBreakpoint)
        Some(Callback::Breakpoint { thread: own(thread)?, breakpoint: own(breakpoint) })),
    StepComplete: slot!(0, StepComplete(domain: *mut ICorDebugAppDomain, thread: *mut ICorDebugThread, stepper: *mut ICorDebugStepper, reason: CorDebugStepReason)
        Some(Callback::StepComplete { thread: own(thread)?, stepper: own(stepper), reason })),
    Break: slot!(0, Break(domain: *mut ICorDebugAppDomain, thread: *mut ICorDebugThread)
        Some(Callback::Break { thread: own(thread)? })),
    Exception: told_again,
    EvalComplete: slot!(0, EvalComplete(domain: *mut ICorDebugAppDomain, thread: *mut ICorDebugThread, eval: *mut ICorDebugEval)
        Some(Callback::EvalComplete { thread: own(thread)?, eval: own(eval) })),
    EvalException: slot!(0, EvalException(domain: *mut ICorDebugAppDomain, thread: *mut ICorDebugThread, eval: *mut ICorDebugEval)
        Some(Callback::EvalException { thread: own(thread)?, eval: own(eval) })),
    CreateProcess: slot!(0, CreateProcess(process: *mut ICorDebugProcess) Some(Callback::CreateProcess)),
    ExitProcess: slot!(0, ExitProcess(process: *mut ICorDebugProcess) Some(Callback::ExitProcess)),
    CreateThread: slot!(0, CreateThread(domain: *mut ICorDebugAppDomain, thread: *mut ICorDebugThread)
        Some(Callback::CreateThread { thread: own(thread)? })),
    ExitThread: slot!(0, ExitThread(domain: *mut ICorDebugAppDomain, thread: *mut ICorDebugThread)
        Some(Callback::ExitThread { thread: own(thread)? })),
    LoadModule: load_module,
    UnloadModule: slot!(0, UnloadModule(domain: *mut ICorDebugAppDomain, module: *mut ICorDebugModule)
        Some(Callback::UnloadModule { module: own(module)? })),
    LoadClass: slot!(0, LoadClass(domain: *mut ICorDebugAppDomain, class: *mut ICorDebugClass)
        Some(Callback::LoadClass { class: own(class)? })),
    UnloadClass: slot!(0, UnloadClass(domain: *mut ICorDebugAppDomain, class: *mut ICorDebugClass)
        Some(Callback::UnloadClass { class: own(class)? })),
    DebuggerError: slot!(0, DebuggerError(process: *mut ICorDebugProcess, error: HRESULT, code: u32)
        Some(Callback::DebuggerError { error, code })),
    LogMessage: slot!(0, LogMessage(domain: *mut ICorDebugAppDomain, thread: *mut ICorDebugThread, level: i32, category: *const u16, message: *const u16)
        Some(Callback::LogMessage { thread: own(thread)?, level, category: text(category), message: text(message) })),
    LogSwitch: slot!(0, LogSwitch(domain: *mut ICorDebugAppDomain, thread: *mut ICorDebugThread, level: i32, reason: u32, name: *const u16, parent: *const u16) None),
    CreateAppDomain: slot!(0, CreateAppDomain(process: *mut ICorDebugProcess, domain: *mut ICorDebugAppDomain)
        Some(Callback::CreateAppDomain { app_domain: own(domain)? })),
    ExitAppDomain: slot!(0, ExitAppDomain(process: *mut ICorDebugProcess, domain: *mut ICorDebugAppDomain)
        Some(Callback::ExitAppDomain { app_domain: own(domain)? })),
    LoadAssembly: load_assembly,
    UnloadAssembly: slot!(0, UnloadAssembly(domain: *mut ICorDebugAppDomain, assembly: *mut ICorDebugAssembly) None),
    ControlCTrap: slot!(0, ControlCTrap(process: *mut ICorDebugProcess) None),
    NameChange: name_change,
    UpdateModuleSymbols: slot!(0, UpdateModuleSymbols(domain: *mut ICorDebugAppDomain, module: *mut ICorDebugModule, stream: *mut c_void)
        Some(Callback::UpdateModuleSymbols { module: own(module)?, symbols: own(stream.cast::<IStream>()).as_ref().and_then(symbol_stream::read) })),
    EditAndContinueRemap: slot!(0, EditAndContinueRemap(domain: *mut ICorDebugAppDomain, thread: *mut ICorDebugThread, function: *mut ICorDebugFunction, accurate: BOOL) None),
    BreakpointSetError: slot!(0, BreakpointSetError(domain: *mut ICorDebugAppDomain, thread: *mut ICorDebugThread, breakpoint: *mut ICorDebugBreakpoint, error: u32)
        Some(Callback::BreakpointSetError { breakpoint: own(breakpoint), error })),
};

#[expect(
    non_snake_case,
    unused_variables,
    reason = "COM's own names, not all arguments are needed"
)]
static TABLE2: ICorDebugManagedCallback2Vtbl = ICorDebugManagedCallback2Vtbl {
    base: unknown::<1>(),
    FunctionRemapOpportunity: slot!(1, FunctionRemapOpportunity(domain: *mut ICorDebugAppDomain, thread: *mut ICorDebugThread, old: *mut ICorDebugFunction, new: *mut ICorDebugFunction, old_offset: u32)
        Some(Callback::FunctionRemapOpportunity { thread: own(thread)?, old: own(old), new: own(new), old_offset })),
    CreateConnection: slot!(1, CreateConnection(process: *mut ICorDebugProcess, id: CONNID, name: *const u16) None),
    ChangeConnection: slot!(1, ChangeConnection(process: *mut ICorDebugProcess, id: CONNID) None),
    DestroyConnection: slot!(1, DestroyConnection(process: *mut ICorDebugProcess, id: CONNID) None),
    Exception: slot!(1, Exception(domain: *mut ICorDebugAppDomain, thread: *mut ICorDebugThread, frame: *mut ICorDebugFrame, offset: u32, kind: CorDebugExceptionCallbackType, flags: u32)
        Some(Callback::Exception2 { thread: own(thread)?, frame: own(frame), offset, kind, flags })),
    ExceptionUnwind: slot!(1, ExceptionUnwind(domain: *mut ICorDebugAppDomain, thread: *mut ICorDebugThread, kind: CorDebugExceptionUnwindCallbackType, flags: u32)
        Some(Callback::ExceptionUnwind { thread: own(thread)?, kind })),
    FunctionRemapComplete: slot!(1, FunctionRemapComplete(domain: *mut ICorDebugAppDomain, thread: *mut ICorDebugThread, function: *mut ICorDebugFunction)
        Some(Callback::FunctionRemapComplete { thread: own(thread)?, function: own(function) })),
    MDANotification: slot!(1, MDANotification(controller: *mut ICorDebugController, thread: *mut ICorDebugThread, mda: *mut ICorDebugMDA) None),
};

#[expect(
    non_snake_case,
    unused_variables,
    reason = "COM's own names, not all arguments are needed"
)]
static TABLE3: ICorDebugManagedCallback3Vtbl = ICorDebugManagedCallback3Vtbl {
    base: unknown::<2>(),
    CustomNotification: slot!(2, CustomNotification(thread: *mut ICorDebugThread, domain: *mut ICorDebugAppDomain)
        Some(Callback::CustomNotification { thread: own(thread)? })),
};

#[expect(
    non_snake_case,
    unused_variables,
    reason = "COM's own names, not all arguments are needed"
)]
static TABLE4: ICorDebugManagedCallback4Vtbl = ICorDebugManagedCallback4Vtbl {
    base: unknown::<3>(),
    BeforeGarbageCollection: slot!(3, BeforeGarbageCollection(process: *mut ICorDebugProcess) None),
    AfterGarbageCollection: slot!(3, AfterGarbageCollection(process: *mut ICorDebugProcess) None),
    DataBreakpoint: slot!(3, DataBreakpoint(process: *mut ICorDebugProcess, thread: *mut ICorDebugThread, context: *mut u8, size: u32) None),
};

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn every_interface_of_the_handler_is_reachable_and_delivers() {
        let (sender, receiver) = mpsc::channel();
        let sink = move |delivered: Delivered| {
            let _ = sender.send(format!("{:?}", delivered.receive()));
        };
        let first = handler(sink, None);
        // SAFETY: null is a legal argument of these slots.
        let hr = unsafe { first.CreateProcess(std::ptr::null_mut()) };
        assert_eq!(hr, S_OK);
        assert_eq!(receiver.recv().as_deref(), Ok("CreateProcess"));
        // SAFETY: as above.
        let hr = unsafe { first.LoadAssembly(std::ptr::null_mut(), std::ptr::null_mut()) };
        assert_eq!(hr, E_NOTIMPL, "the library goes on by itself");
        tell_all(true);
        // SAFETY: as above.
        let hr = unsafe { first.LoadAssembly(std::ptr::null_mut(), std::ptr::null_mut()) };
        tell_all(false);
        assert_eq!(hr, S_OK, "somebody counts on being told");
        assert_eq!(receiver.recv().as_deref(), Ok("Other(\"LoadAssembly\")"));
        let third: Com<ICorDebugManagedCallback3> = first.cast().expect("callback 3");
        // SAFETY: as above.
        let _ = unsafe { third.CustomNotification(std::ptr::null_mut(), std::ptr::null_mut()) };
        assert_eq!(
            receiver.recv().as_deref(),
            Ok("Other(\"CustomNotification\")")
        );
        let fourth: Com<ICorDebugManagedCallback4> = third.cast().expect("callback 4");
        let back: Com<ICorDebugManagedCallback> = fourth.cast().expect("callback 1 again");
        assert_eq!(back.as_raw(), first.as_raw());
        assert!(first.cast::<ICorDebugProcess>().is_none());
        drop((first, third, fourth, back));
        // The sink is dropped with the last reference.
        assert!(receiver.recv().is_err());
    }

    #[test]
    fn a_panic_in_the_sink_does_not_leave_the_object() {
        let object = handler(|_| panic!("boom"), None);
        // SAFETY: null is a legal argument of this slot.
        assert_eq!(unsafe { object.ExitProcess(std::ptr::null_mut()) }, S_OK);
    }
}
