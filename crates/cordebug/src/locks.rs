//! Locks of objects (`Monitor`): which one a thread of a stopped process waits for, and who holds it.
//!
//! A `System.Threading.Lock` is an object of the framework, which the runtime knows nothing of.

use crate::bindings::*;
use crate::com::Com;
use crate::error::{Error, clr};
use crate::module::missing;
use crate::process::next;
use crate::thread::Thread;
use crate::value::Value;

/// What a thread waits for.
#[derive(Debug)]
pub struct Blocked {
    /// The object.
    pub object: Value,
    /// Whether it waits to be pulsed (`Monitor.Wait`), and not for the lock itself.
    pub pulse: bool,
    /// Whether it gives up after a while.
    pub limited: bool,
}

/// The time of a wait without an end.
const INFINITE: u32 = u32::MAX;

impl Thread {
    /// The object whose lock it waits for, if it does.
    pub fn blocked_on(&self) -> Result<Option<Blocked>, Error> {
        let thread = self
            .0
            .cast::<ICorDebugThread4>()
            .ok_or_else(|| missing("ICorDebugThread4"))?;
        let objects = crate::error::clr_out!(thread, ICorDebugThread4::GetBlockingObjects())?;
        let mut reason = BLOCKING_NONE;
        let mut time = INFINITE;
        let object = next(|raw, fetched| {
            let mut blocking = CorDebugBlockingObject::default();
            let code = clr!(
                objects,
                ICorDebugBlockingObjectEnum::Next(1, &mut blocking, fetched)
            )?;
            reason = blocking.blockingReason;
            time = blocking.dwTimeout;
            // SAFETY: `raw` is the local of `next`; what is stored is counted for whoever fetched it.
            unsafe { *raw = blocking.pBlockingObject };
            Ok(code)
        })?;
        Ok(object.map(|object| Blocked {
            object: Value::new(object),
            pulse: reason == BLOCKING_MONITOR_EVENT,
            limited: time != INFINITE,
        }))
    }
}

impl Value {
    /// The thread that holds the lock of this object, if one does.
    pub fn lock_owner(&self) -> Result<Option<Thread>, Error> {
        let object = self
            .0
            .cast::<ICorDebugHeapValue3>()
            .ok_or_else(|| missing("ICorDebugHeapValue3"))?;
        let (mut raw, mut times) = (std::ptr::null_mut(), 0);
        clr!(
            object,
            ICorDebugHeapValue3::GetThreadOwningMonitorLock(&mut raw, &mut times)
        )?;
        // SAFETY: a successful call stores null or a counted pointer.
        let owner: Option<Com<ICorDebugThread>> = unsafe { Com::from_raw(raw) };
        Ok(owner.map(Thread::new))
    }
}
