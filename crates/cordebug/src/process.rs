//! A debugged process: stopping, running, its threads; letting it go.
//!
//! Stops nest: every delivered callback and every [`Process::stop`] needs exactly one [`Process::resume`]. The counting
//! is the owner's business; this type only makes the calls.

use crate::bindings::*;
use crate::com::Com;
use crate::error::{Error, clr, clr_out};
use crate::fast_memory;
use crate::module::{Module, missing};
use crate::thread::{
    CONTEXT_FLAGS, INSTRUCTION_POINTER, MAX_CONTEXT, STACK_POINTER, TRAP_FLAG, Thread,
};
use crate::value::Value;

/// Where a thread is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoppedAt {
    /// The address of the instruction that it runs next.
    pub instruction: u64,
    /// Whether it runs that one only, and is then stopped again.
    pub traps: bool,
}

/// A process that is being debugged. Lives on the engine thread.
#[derive(Debug)]
pub struct Process(pub(crate) Com<ICorDebugProcess>);

impl Process {
    pub(crate) fn new(process: Com<ICorDebugProcess>) -> Self {
        Self(process)
    }

    /// Its operating system id.
    pub fn id(&self) -> Result<u32, Error> {
        let mut id = 0;
        clr!(self.0, ICorDebugProcess::GetID(&mut id))?;
        Ok(id)
    }

    /// Stops all threads; returns when they are.
    pub fn stop(&self) -> Result<(), Error> {
        // The argument is a time limit that the library ignores.
        clr!(self.0, ICorDebugController::Stop(0))?;
        fast_memory::target_stopped();
        Ok(())
    }

    /// Answers one callback or one stop.
    pub fn resume(&self) -> Result<(), Error> {
        fast_memory::target_runs();
        clr!(self.0, ICorDebugController::Continue(0))?;
        Ok(())
    }

    /// Whether the process runs.
    pub fn is_running(&self) -> Result<bool, Error> {
        let mut running = 0;
        clr!(self.0, ICorDebugController::IsRunning(&mut running))?;
        Ok(running != 0)
    }

    /// Whether events wait behind the one that is being handled.
    pub fn has_queued_callbacks(&self) -> Result<bool, Error> {
        let mut queued = 0;
        clr!(
            self.0,
            ICorDebugController::HasQueuedCallbacks(std::ptr::null_mut(), &mut queued)
        )?;
        Ok(queued != 0)
    }

    /// Whether events of one thread wait behind the one that is being handled.
    pub fn has_queued_callbacks_of(&self, thread: &Thread) -> Result<bool, Error> {
        let mut queued = 0;
        clr!(
            self.0,
            ICorDebugController::HasQueuedCallbacks(thread.as_raw(), &mut queued)
        )?;
        Ok(queued != 0)
    }

    /// Lets go of the process, which must be stopped; it runs on.
    pub fn detach(&self) -> Result<(), Error> {
        fast_memory::target_runs();
        clr!(self.0, ICorDebugController::Detach())?;
        Ok(())
    }

    /// All managed threads.
    pub fn threads(&self) -> Result<Vec<Thread>, Error> {
        let threads = clr_out!(self.0, ICorDebugController::EnumerateThreads())?;
        let mut found = Vec::new();
        while let Some(thread) =
            next(|raw, fetched| clr!(threads, ICorDebugThreadEnum::Next(1, raw, fetched)))?
        {
            found.push(Thread::new(thread));
        }
        Ok(found)
    }

    /// The thread with that operating system id.
    pub fn thread(&self, id: u32) -> Result<Thread, Error> {
        Ok(Thread::new(clr_out!(
            self.0,
            ICorDebugProcess::GetThread(id)
        )?))
    }

    /// Where a thread is that the runtime's debugger has stopped or is about to let go, such as one at a breakpoint; `None`
    /// of any other. Far cheaper than to begin a walk over its stack.
    pub fn stopped_at(&self, thread: u32) -> Option<StoppedAt> {
        let mut context = [0_u8; MAX_CONTEXT];
        let flags = context.get_mut(CONTEXT_FLAGS..)?;
        *flags.first_chunk_mut()? = STACK_POINTER.1.to_le_bytes();
        clr!(
            self.0,
            ICorDebugProcess::GetThreadContext(thread, MAX_CONTEXT as u32, context.as_mut_ptr())
        )
        .ok()?;
        let word = |at: usize| Some(u64::from_le_bytes(*context.get(at..)?.first_chunk()?));
        Some(StoppedAt {
            instruction: word(INSTRUCTION_POINTER)?,
            traps: word(TRAP_FLAG.0)? & TRAP_FLAG.1 != 0,
        })
    }

    /// All modules that are loaded now, in every application domain.
    pub fn modules(&self) -> Result<Vec<Module>, Error> {
        let mut found = Vec::new();
        let domains = clr_out!(self.0, ICorDebugProcess::EnumerateAppDomains())?;
        while let Some(domain) =
            next(|raw, fetched| clr!(domains, ICorDebugAppDomainEnum::Next(1, raw, fetched)))?
        {
            let assemblies = clr_out!(domain, ICorDebugAppDomain::EnumerateAssemblies())?;
            while let Some(assembly) =
                next(|raw, fetched| clr!(assemblies, ICorDebugAssemblyEnum::Next(1, raw, fetched)))?
            {
                let modules = clr_out!(assembly, ICorDebugAssembly::EnumerateModules())?;
                while let Some(module) =
                    next(|raw, fetched| clr!(modules, ICorDebugModuleEnum::Next(1, raw, fetched)))?
                {
                    found.push(Module::new(module));
                }
            }
        }
        Ok(found)
    }

    /// The object at an address. The library may crash if there is none: whoever calls this knows that there is.
    pub fn object_at(&self, address: u64) -> Result<Value, Error> {
        let process = self
            .0
            .cast::<ICorDebugProcess5>()
            .ok_or_else(|| missing("ICorDebugProcess5"))?;
        let object = clr_out!(process, ICorDebugProcess5::GetObject(address))?;
        Ok(Value::new(object.upcast()))
    }

    /// Reads the target's memory; fewer bytes than asked for if the rest is not mapped.
    pub fn read_memory(&self, address: u64, buffer: &mut [u8]) -> Result<usize, Error> {
        let mut read = 0;
        let size = u32::try_from(buffer.len()).unwrap_or(u32::MAX);
        clr!(
            self.0,
            ICorDebugProcess::ReadMemory(address, size, buffer.as_mut_ptr(), &mut read)
        )?;
        Ok(read)
    }

    /// `N` bytes of the target's memory, if all of them can be read.
    pub fn read_array<const N: usize>(&self, address: u64) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        let read = self.read_memory(address, &mut bytes).ok()?;
        (read == N).then_some(bytes)
    }

    /// The word at an address of the target's memory, if it can be read.
    pub fn read_word(&self, address: u64) -> Option<u64> {
        self.read_array(address).map(u64::from_le_bytes)
    }
}

/// The next element of one of the library's enumerators.
pub(crate) fn next<I: crate::com::Interface>(
    call: impl FnOnce(*mut *mut I, *mut u32) -> Result<crate::com::HRESULT, Error>,
) -> Result<Option<Com<I>>, Error> {
    let (mut raw, mut fetched) = (std::ptr::null_mut(), 0);
    call(&mut raw, &mut fetched)?;
    // SAFETY: a successful call that fetched one stored a counted pointer; else the local is still null.
    Ok(unsafe { Com::from_raw(raw) }.filter(|_| fetched == 1))
}
