//! Threads and frames of a stopped process.

use crate::bindings::*;
use crate::com::Com;
use crate::error::{Error, clr, clr_nullable, clr_out};
use crate::hresult::{CORDBG_S_AT_END_OF_STACK, S_FALSE};
use crate::module::{Function, il_offset_at, il_offset_in, missing};
use crate::stepper::Stepper;
use crate::types::{self, Type};
use crate::value::Value;

/// A managed thread.
#[derive(Debug, Clone)]
pub struct Thread(pub(crate) Com<ICorDebugThread>);

impl Thread {
    /// Wraps what a callback or an enumerator gave.
    pub fn new(thread: Com<ICorDebugThread>) -> Self {
        Self(thread)
    }

    pub(crate) fn as_raw(&self) -> *mut ICorDebugThread {
        self.0.as_raw()
    }

    /// Its operating system id.
    pub fn id(&self) -> Result<u32, Error> {
        let mut id = 0;
        clr!(self.0, ICorDebugThread::GetID(&mut id))?;
        Ok(id)
    }

    /// The exception in flight on it, if there is one.
    pub fn current_exception(&self) -> Result<Option<Value>, Error> {
        let (_, value) = clr_nullable!(self.0, ICorDebugThread::GetCurrentException())?;
        Ok(value.map(Value::new))
    }

    /// What it is doing, as `USER_*` flags.
    pub fn user_state(&self) -> Result<CorDebugUserState, Error> {
        let mut state = 0;
        clr!(self.0, ICorDebugThread::GetUserState(&mut state))?;
        Ok(state)
    }

    /// Whether it stays stopped when the process runs.
    pub fn is_frozen(&self) -> Result<bool, Error> {
        let mut state = 0;
        clr!(self.0, ICorDebugThread::GetDebugState(&mut state))?;
        Ok(state == THREAD_SUSPEND)
    }

    /// Keeps it stopped when the process runs, or not.
    pub fn freeze(&self, frozen: bool) -> Result<(), Error> {
        let state = if frozen { THREAD_SUSPEND } else { THREAD_RUN };
        clr!(self.0, ICorDebugThread::SetDebugState(state))?;
        Ok(())
    }

    /// Its `System.Threading.Thread` object.
    pub fn object(&self) -> Result<Value, Error> {
        Ok(Value::new(clr_out!(self.0, ICorDebugThread::GetObject())?))
    }

    /// A new stepper for the thread.
    pub fn stepper(&self) -> Result<Stepper, Error> {
        let stepper = clr_out!(self.0, ICorDebugThread::CreateStepper())?;
        Ok(Stepper::new(stepper, self.id()?))
    }

    /// Walks its stack from the innermost frame outwards.
    pub fn stack(&self) -> Result<StackWalk, Error> {
        let thread = self
            .0
            .cast::<ICorDebugThread3>()
            .ok_or_else(|| missing("ICorDebugThread3"))?;
        let walk = clr_out!(thread, ICorDebugThread3::CreateStackWalk())?;
        Ok(StackWalk {
            walk,
            started: false,
        })
    }
}

/// A walk over the frames of a thread. Dead as soon as the process runs.
#[derive(Debug)]
pub struct StackWalk {
    walk: Com<ICorDebugStackWalk>,
    started: bool,
}

/// One step of a [`StackWalk`].
#[derive(Debug)]
pub enum Step {
    /// A frame of managed code or one of the runtime's own.
    Frame(Frame),
    /// Native code, or a stub of the runtime, that the runtime library does not describe.
    Native,
}

/// Where the stack pointer lies in the runtime's `CONTEXT`, and the flags that ask for it.
#[cfg(target_arch = "x86_64")]
pub(crate) const STACK_POINTER: (usize, u32) = (0x98, 0x0010_000b);
/// Where the instruction pointer lies in the runtime's `CONTEXT`.
#[cfg(target_arch = "x86_64")]
pub(crate) const INSTRUCTION_POINTER: usize = 0xf8;
/// Where the processor's flags lie in the runtime's `CONTEXT`, and the one that makes it trap behind the next instruction.
#[cfg(target_arch = "x86_64")]
pub(crate) const TRAP_FLAG: (usize, u64) = (0x44, 0x100);
/// Where the runtime's `CONTEXT` says what of it is asked for.
#[cfg(target_arch = "x86_64")]
pub(crate) const CONTEXT_FLAGS: usize = 0x30;
/// Where the stack pointer lies in the runtime's `CONTEXT`, and the flags that ask for it.
#[cfg(target_arch = "aarch64")]
pub(crate) const STACK_POINTER: (usize, u32) = (0x100, 0x0040_0007);
/// Where the instruction pointer lies in the runtime's `CONTEXT`.
#[cfg(target_arch = "aarch64")]
pub(crate) const INSTRUCTION_POINTER: usize = 0x108;
/// Where the processor's flags lie in the runtime's `CONTEXT`, and the one that makes it trap behind the next instruction.
#[cfg(target_arch = "aarch64")]
pub(crate) const TRAP_FLAG: (usize, u64) = (0x4, 0x0020_0000);
/// Where the runtime's `CONTEXT` says what of it is asked for.
#[cfg(target_arch = "aarch64")]
pub(crate) const CONTEXT_FLAGS: usize = 0x0;
/// More than any `CONTEXT` needs.
pub(crate) const MAX_CONTEXT: usize = 8192;
/// Frames whose registers are tried to find code by its address.
const TRIED_FRAMES: usize = 8;

impl StackWalk {
    /// The stack pointer of the frame that the walk is at.
    pub fn stack_pointer(&self) -> Option<u64> {
        self.word_of_context(STACK_POINTER.0)
    }

    /// The address of the instruction that the frame that the walk is at runs or returns to.
    pub fn instruction_pointer(&self) -> Option<u64> {
        self.word_of_context(INSTRUCTION_POINTER)
    }

    fn word_of_context(&self, at: usize) -> Option<u64> {
        let context = self.context()?;
        let word = context.get(at..)?.first_chunk()?;
        Some(u64::from_le_bytes(*word))
    }

    fn context(&self) -> Option<Vec<u8>> {
        let (_, flags) = STACK_POINTER;
        let mut context = vec![0_u8; MAX_CONTEXT];
        let mut size = 0;
        clr!(
            self.walk,
            ICorDebugStackWalk::GetContext(
                flags,
                MAX_CONTEXT as u32,
                &mut size,
                context.as_mut_ptr()
            )
        )
        .ok()?;
        context.truncate(size as usize);
        Some(context)
    }

    /// The IL offset that an address in compiled code belongs to, whichever instantiation of a generic method it is of.
    ///
    /// The library finds code by address only for frames: the walk is put where a frame would be that runs it. Such a frame
    /// is good for nothing else, and the walk ends with it.
    pub fn il_offset_of(mut self, address: u64) -> Option<u32> {
        // The library reads what the frame would hold. What it finds instead in one place may make it give up: registers
        // of several frames are tried.
        let mut tried = Vec::new();
        while tried.len() < TRIED_FRAMES && self.next().is_some() {
            tried.push(self.context()?);
        }
        tried
            .into_iter()
            .find_map(|context| self.il_offset_with(context, address))
    }

    fn il_offset_with(&self, mut context: Vec<u8>, address: u64) -> Option<u32> {
        let ip = context.get_mut(INSTRUCTION_POINTER..)?;
        *ip.first_chunk_mut()? = address.to_le_bytes();
        clr!(
            self.walk,
            ICorDebugStackWalk::SetContext(
                SET_CONTEXT_FLAG_ACTIVE_FRAME,
                context.len() as u32,
                context.as_ptr()
            )
        )
        .ok()?;
        let (_, frame) = clr_nullable!(self.walk, ICorDebugStackWalk::GetFrame()).ok()?;
        let frame = frame?;
        let code = clr_out!(frame, ICorDebugFrame::GetCode()).ok()?;
        il_offset_in(&code, address)
    }
}

/// What a call may come back with, as it lies in registers right behind the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReturnRegisters {
    /// The two for numbers and addresses.
    pub integers: [u64; 2],
    /// The lower eight bytes of the two for floating point.
    pub floats: [u64; 2],
}

/// Where the registers of results lie in the runtime's `CONTEXT`: `rax`, `rdx`, `xmm0`, `xmm1`.
#[cfg(target_arch = "x86_64")]
const RETURNED: [usize; 4] = [0x78, 0x88, 0x1a0, 0x1b0];
/// Where the registers of results lie in the runtime's `CONTEXT`: `x0`, `x1`, `v0`, `v1`.
#[cfg(target_arch = "aarch64")]
const RETURNED: [usize; 4] = [0x08, 0x10, 0x110, 0x120];

impl Thread {
    /// The registers that results of calls come back in, as the innermost frame has them.
    pub fn return_registers(&self) -> Option<ReturnRegisters> {
        let walk = self.stack().ok()?;
        let [first, second, float, other] = RETURNED.map(|at| walk.word_of_context(at));
        Some(ReturnRegisters {
            integers: [first?, second?],
            floats: [float?, other?],
        })
    }
}

impl Iterator for StackWalk {
    type Item = Result<Step, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.started {
            match clr!(self.walk, ICorDebugStackWalk::Next()) {
                Ok(CORDBG_S_AT_END_OF_STACK) => return None,
                Ok(_) => {}
                Err(error) => return Some(Err(error)),
            }
        }
        self.started = true;
        match clr_nullable!(self.walk, ICorDebugStackWalk::GetFrame()) {
            Ok((S_FALSE, _) | (_, None)) => Some(Ok(Step::Native)),
            Ok((_, Some(frame))) => Some(Ok(Step::Frame(Frame(frame)))),
            Err(error) if error.code() == Some(crate::hresult::CORDBG_E_PAST_END_OF_STACK) => None,
            // .NET 10 cannot describe the stub through which a runtime-async method is called as one that returns a
            // task; its callers are walked to all the same.
            Err(error) if error.code() == Some(crate::hresult::E_FAIL) => Some(Ok(Step::Native)),
            Err(error) => Some(Err(error)),
        }
    }
}

/// A frame of a stopped thread.
///
/// Valid until the process runs again; after that every call fails with `CORDBG_E_OBJECT_NEUTERED` and never reads
/// freed memory.
#[derive(Debug, Clone)]
pub struct Frame(pub(crate) Com<ICorDebugFrame>);

impl Frame {
    /// Wraps what a callback gave.
    pub fn new(frame: Com<ICorDebugFrame>) -> Self {
        Self(frame)
    }

    /// Tells frames apart while both are held.
    pub fn identity(&self) -> usize {
        self.0.as_raw().addr()
    }
}

/// How sure the runtime is of an IL offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mapping {
    /// Exactly there.
    Exact,
    /// Near there, because of optimisation.
    Approximate,
    /// In the prologue, the epilogue or code without IL.
    Unmapped,
}

impl Frame {
    /// The method, if the frame has one.
    pub fn function(&self) -> Result<Function, Error> {
        Ok(Function(clr_out!(self.0, ICorDebugFrame::GetFunction())?))
    }

    /// The IL offset about to run or to be returned to; `None` for frames without IL.
    pub fn ip(&self) -> Result<Option<(u32, Mapping)>, Error> {
        let Some(frame) = self.0.cast::<ICorDebugILFrame>() else {
            return Ok(None);
        };
        let (mut offset, mut mapping) = (0, 0);
        clr!(frame, ICorDebugILFrame::GetIP(&mut offset, &mut mapping))?;
        let mapping = match mapping {
            MAPPING_EXACT => Mapping::Exact,
            MAPPING_APPROXIMATE => Mapping::Approximate,
            _ => Mapping::Unmapped,
        };
        Ok(Some((offset, mapping)))
    }

    /// What the frame is, if it is one of the runtime's own and not a method's.
    pub fn internal_kind(&self) -> Option<CorDebugInternalFrameType> {
        let frame = self.0.cast::<ICorDebugInternalFrame>()?;
        let mut kind = 0;
        clr!(frame, ICorDebugInternalFrame::GetFrameType(&mut kind)).ok()?;
        Some(kind)
    }

    /// The IL offset of the call that the frame waits for: what belongs to the code before the place to return to.
    pub fn calling_offset(&self) -> Option<u32> {
        let frame = self.0.cast::<ICorDebugNativeFrame>()?;
        let mut offset = 0;
        clr!(frame, ICorDebugNativeFrame::GetIP(&mut offset)).ok()?;
        let code = clr_out!(frame, ICorDebugFrame::GetCode()).ok()?;
        il_offset_at(&code, offset.checked_sub(1)?)
    }

    /// The address in its compiled code that it stands at or is to be returned to.
    pub fn instruction_pointer(&self) -> Option<u64> {
        let frame = self.0.cast::<ICorDebugNativeFrame>()?;
        let mut offset = 0;
        clr!(frame, ICorDebugNativeFrame::GetIP(&mut offset)).ok()?;
        self.code_start()?.checked_add(offset.into())
    }

    /// Where the compiled code of its function begins.
    pub fn code_start(&self) -> Option<u64> {
        let code = clr_out!(self.0, ICorDebugFrame::GetCode()).ok()?;
        let mut start = 0;
        clr!(code, ICorDebugCode::GetAddress(&mut start)).ok()?;
        Some(start)
    }

    /// The arguments of the generic type and method that run: the type's first, then the method's.
    pub fn type_arguments(&self) -> Result<Vec<Type>, Error> {
        let frame = self
            .0
            .cast::<ICorDebugILFrame2>()
            .ok_or_else(|| missing("ICorDebugILFrame2"))?;
        let arguments = clr_out!(frame, ICorDebugILFrame2::EnumerateTypeParameters())?;
        types::collect(&arguments)
    }

    /// An argument; 0 is `this` of an instance method.
    pub fn argument(&self, index: u32) -> Result<Value, Error> {
        let frame = self
            .0
            .cast::<ICorDebugILFrame>()
            .ok_or_else(|| missing("ICorDebugILFrame"))?;
        let value = clr_out!(frame, ICorDebugILFrame::GetArgument(index))?;
        Ok(Value::new(value))
    }

    /// The part of the stack that it lies on; tells frames of one stop apart.
    pub fn stack_range(&self) -> Option<(u64, u64)> {
        let (mut start, mut end) = (0, 0);
        clr!(self.0, ICorDebugFrame::GetStackRange(&mut start, &mut end)).ok()?;
        Some((start, end))
    }

    /// Whether it is a part of a method that runs apart from the rest: a catch, finally or filter block.
    pub fn is_funclet(&self) -> bool {
        let Some(frame) = self.0.cast::<ICorDebugNativeFrame2>() else {
            return false;
        };
        let mut child = 0;
        clr!(frame, ICorDebugNativeFrame2::IsChild(&mut child)).is_ok() && child != 0
    }

    /// Whether `outer` is the method that this block belongs to.
    pub fn is_funclet_of(&self, outer: &Frame) -> bool {
        let (Some(frame), Some(outer)) = (
            self.0.cast::<ICorDebugNativeFrame2>(),
            outer.0.cast::<ICorDebugNativeFrame2>(),
        ) else {
            return false;
        };
        let mut parent = 0;
        let asked = clr!(
            frame,
            ICorDebugNativeFrame2::IsMatchingParentFrame(outer.as_raw(), &mut parent)
        );
        asked.is_ok() && parent != 0
    }
}
