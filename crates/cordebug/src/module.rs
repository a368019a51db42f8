//! A loaded module: what it is called, where it lies, how its code is compiled.

use crate::bindings::*;
use crate::com::Com;
use crate::error::{Error, clr, clr_out};
use crate::hresult::CORDBG_E_CODE_NOT_AVAILABLE;

/// Entries read at most of the table from IL to native code.
const MAX_MAP: u32 = 1 << 16;
/// Entries that are enough for most methods.
const USUAL_MAP: u32 = 128;

/// A module of the target. Valid until it is unloaded; after that every call fails and nothing freed is read.
#[derive(Debug, Clone)]
pub struct Module(pub(crate) Com<ICorDebugModule>);

impl Module {
    /// Wraps what a callback or an enumerator gave.
    pub fn new(module: Com<ICorDebugModule>) -> Self {
        Self(module)
    }

    /// Its path, or a bare name for one that is not a file.
    pub fn name(&self) -> Result<String, Error> {
        wide_string(|capacity, length, buffer| {
            clr!(self.0, ICorDebugModule::GetName(capacity, length, buffer))
        })
    }

    /// Where its image lies in the target.
    pub fn base_address(&self) -> Result<u64, Error> {
        let mut address = 0;
        clr!(self.0, ICorDebugModule::GetBaseAddress(&mut address))?;
        Ok(address)
    }

    /// How many bytes its image has in the target.
    pub fn size(&self) -> Result<u32, Error> {
        let mut size = 0;
        clr!(self.0, ICorDebugModule::GetSize(&mut size))?;
        Ok(size)
    }

    /// Whether it exists only in memory, though its content never changes.
    pub fn is_in_memory(&self) -> Result<bool, Error> {
        let mut answer = 0;
        clr!(self.0, ICorDebugModule::IsInMemory(&mut answer))?;
        Ok(answer != 0)
    }

    /// Whether code is emitted into it while the program runs.
    pub fn is_dynamic(&self) -> Result<bool, Error> {
        let mut answer = 0;
        clr!(self.0, ICorDebugModule::IsDynamic(&mut answer))?;
        Ok(answer != 0)
    }

    /// Asks for code that is not optimised. Only possible while the module's load is being handled.
    pub fn disable_optimization(&self) -> Result<(), Error> {
        let module = self
            .0
            .cast::<ICorDebugModule2>()
            .ok_or_else(|| missing("ICorDebugModule2"))?;
        clr!(
            module,
            ICorDebugModule2::SetJITCompilerFlags(CORDEBUG_JIT_DISABLE_OPTIMIZATION as u32)
        )?;
        Ok(())
    }

    /// Whether its code is compiled without regard for debuggers.
    pub fn is_optimized(&self) -> Result<bool, Error> {
        let module = self
            .0
            .cast::<ICorDebugModule2>()
            .ok_or_else(|| missing("ICorDebugModule2"))?;
        let mut flags = 0;
        clr!(module, ICorDebugModule2::GetJITCompilerFlags(&mut flags))?;
        let disabled = CORDEBUG_JIT_DISABLE_OPTIMIZATION & !CORDEBUG_JIT_DEFAULT;
        Ok(flags & disabled as u32 == 0)
    }

    /// Says whether its code is the user's, for steps that skip other code; `except` are methods of the other kind.
    pub fn set_user_code(&self, user_code: bool, except: &[u32]) -> Result<(), Error> {
        let module = self
            .0
            .cast::<ICorDebugModule2>()
            .ok_or_else(|| missing("ICorDebugModule2"))?;
        let count = u32::try_from(except.len()).unwrap_or(u32::MAX);
        clr!(
            module,
            ICorDebugModule2::SetJMCStatus(i32::from(user_code), count, except.as_ptr())
        )?;
        Ok(())
    }

    /// The method with that token.
    pub fn function(&self, token: u32) -> Result<Function, Error> {
        Ok(Function(clr_out!(
            self.0,
            ICorDebugModule::GetFunctionFromToken(token)
        )?))
    }

    /// The identity of the underlying object: equal for the same module.
    pub fn identity(&self) -> usize {
        self.0.as_raw() as usize
    }
}

/// A method of a module.
#[derive(Debug, Clone)]
pub struct Function(pub(crate) Com<ICorDebugFunction>);

impl Function {
    /// Its `MethodDef` token.
    pub fn token(&self) -> Result<u32, Error> {
        let mut token = 0;
        clr!(self.0, ICorDebugFunction::GetToken(&mut token))?;
        Ok(token)
    }

    /// The module it belongs to.
    pub fn module(&self) -> Result<Module, Error> {
        Ok(Module(clr_out!(self.0, ICorDebugFunction::GetModule())?))
    }

    /// The IL offset that an address in its compiled code belongs to; `None` if that code is not at hand, as for generic
    /// methods, or is another version of it.
    pub fn il_offset_of(&self, address: u64) -> Option<u32> {
        let code = clr_out!(self.0, ICorDebugFunction::GetNativeCode()).ok()?;
        il_offset_in(&code, address)
    }

    /// Whether code was ever made of it, as must be before it runs; `None` if that cannot be told, as for generic methods.
    pub fn is_compiled(&self) -> Option<bool> {
        match clr_out!(self.0, ICorDebugFunction::GetNativeCode()) {
            Ok(_) => Some(true),
            Err(error) if error.code() == Some(CORDBG_E_CODE_NOT_AVAILABLE) => Some(false),
            Err(_) => None,
        }
    }

    /// Sets an active breakpoint at an IL offset.
    pub fn break_at(&self, il_offset: u32) -> Result<Breakpoint, Error> {
        let code = clr_out!(self.0, ICorDebugFunction::GetILCode())?;
        let breakpoint = clr_out!(code, ICorDebugCode::CreateBreakpoint(il_offset))?;
        clr!(breakpoint, ICorDebugBreakpoint::Activate(1))?;
        Ok(Breakpoint(breakpoint.upcast()))
    }
}

/// Which IL the pieces of compiled code belong to; pieces without IL (prologue, epilogue) have offsets that are none.
pub(crate) fn il_map(code: &Com<ICorDebugCode>) -> Result<Vec<COR_DEBUG_IL_TO_NATIVE_MAP>, Error> {
    let mut map = Vec::new();
    let mut count = USUAL_MAP;
    // Few methods have more than the usual number; those are asked once more.
    while map.len() < count.min(MAX_MAP) as usize {
        map.resize(count.min(MAX_MAP) as usize, Default::default());
        clr!(
            code,
            ICorDebugCode::GetILToNativeMapping(map.len() as u32, &mut count, map.as_mut_ptr())
        )?;
    }
    map.truncate(count as usize);
    Ok(map)
}

/// The IL offset that an offset in compiled code belongs to.
pub(crate) fn il_offset_at(code: &Com<ICorDebugCode>, offset: u32) -> Option<u32> {
    let map = il_map(code).ok()?;
    let known = map.iter().filter(|it| (it.ilOffset as i32) >= 0);
    let containing = known.filter(|it| {
        it.nativeStartOffset <= offset && (offset < it.nativeEndOffset || it.nativeEndOffset == 0)
    });
    containing
        .max_by_key(|it| it.nativeStartOffset)
        .map(|it| it.ilOffset)
}

/// The IL offset that an address belongs to, if it is in this compiled code.
pub(crate) fn il_offset_in(code: &Com<ICorDebugCode>, address: u64) -> Option<u32> {
    let (mut start, mut size) = (0, 0);
    clr!(code, ICorDebugCode::GetAddress(&mut start)).ok()?;
    clr!(code, ICorDebugCode::GetSize(&mut size)).ok()?;
    let offset = u32::try_from(address.checked_sub(start)?).ok()?;
    if offset >= size {
        return None;
    }
    let map = il_map(code).ok()?;
    let holds = |it: &&COR_DEBUG_IL_TO_NATIVE_MAP| {
        it.nativeStartOffset <= offset && (offset < it.nativeEndOffset || it.nativeEndOffset == 0)
    };
    il_offset_at(code, offset).or_else(|| {
        // The compiler keeps no record of code between the parts of a statement, such as the `throw` behind both branches
        // of a conditional expression: it belongs to what lies before it.
        if map.iter().any(|it| holds(&it)) {
            return None;
        }
        let before = map.iter().filter(|it| it.nativeStartOffset <= offset);
        let nearest = before.max_by_key(|it| it.nativeStartOffset)?;
        ((nearest.ilOffset as i32) >= 0).then_some(nearest.ilOffset)
    })
}

/// A breakpoint in a method's code.
#[derive(Debug)]
pub struct Breakpoint(Com<ICorDebugBreakpoint>);

impl Breakpoint {
    pub(crate) fn new(breakpoint: Com<ICorDebugBreakpoint>) -> Self {
        Self(breakpoint)
    }

    /// Switches it off; an error is of no consequence when its module is gone.
    pub fn deactivate(&self) -> Result<(), Error> {
        clr!(self.0, ICorDebugBreakpoint::Activate(0))?;
        Ok(())
    }

    /// Sets what a callback reported anew, at the same place.
    ///
    /// On x64 the runtime passes by a breakpoint by running a copy of its instruction, and copies what that addresses
    /// relative to itself, a static field for example. Since .NET 10 (dotnet/runtime#117514) it copies once for each
    /// setting and not for each hit: from the second hit on the program would see the field as it was at the first.
    pub fn set_anew(reported: &Com<ICorDebugBreakpoint>) -> Result<(), Error> {
        let mut active = 0;
        clr!(reported, ICorDebugBreakpoint::IsActive(&mut active))?;
        // It may have been removed while its hit was on the way.
        if active != 0 {
            clr!(reported, ICorDebugBreakpoint::Activate(0))?;
            clr!(reported, ICorDebugBreakpoint::Activate(1))?;
        }
        Ok(())
    }

    /// Its identity: equal for the same breakpoint in a callback.
    pub fn identity(&self) -> usize {
        identity(&self.0)
    }

    /// Whether a callback's breakpoint is this one.
    pub fn is(&self, other: &Com<ICorDebugBreakpoint>) -> bool {
        self.identity() == identity(other)
    }
}

/// The identity of a callback's breakpoint.
pub fn identity(breakpoint: &Com<ICorDebugBreakpoint>) -> usize {
    breakpoint
        .cast::<crate::com::IUnknown>()
        .map_or(0, |it| it.as_raw() as usize)
}

/// The class of an object, in the module that defines it.
#[derive(Debug, Clone)]
pub struct Class(pub(crate) Com<ICorDebugClass>);

impl Class {
    /// From a callback.
    pub fn new(class: Com<ICorDebugClass>) -> Self {
        Self(class)
    }

    /// Its `TypeDef` token.
    pub fn token(&self) -> Result<u32, Error> {
        let mut token = 0;
        clr!(self.0, ICorDebugClass::GetToken(&mut token))?;
        Ok(token)
    }

    /// The module that defines it.
    pub fn module(&self) -> Result<Module, Error> {
        Ok(Module(clr_out!(self.0, ICorDebugClass::GetModule())?))
    }
}

pub(crate) fn missing(interface: &'static str) -> Error {
    Error::Clr {
        call: interface,
        code: crate::hresult::E_NOINTERFACE,
    }
}

/// Reads a string by the library's convention: `(capacity, length out, buffer)`, the length counting the final zero.
pub(crate) fn wide_string(
    mut call: impl FnMut(u32, *mut u32, *mut u16) -> Result<crate::com::HRESULT, Error>,
) -> Result<String, Error> {
    let mut buffer = vec![0_u16; 260];
    for _ in 0..2 {
        let mut length = 0;
        call(buffer.len() as u32, &mut length, buffer.as_mut_ptr())?;
        let length = length as usize;
        if length <= buffer.len() {
            let text = buffer.get(..length.saturating_sub(1)).unwrap_or_default();
            return Ok(String::from_utf16_lossy(text));
        }
        // A name of more than a million units is not a name.
        buffer.resize(length.min(1 << 20), 0);
    }
    Ok(String::from_utf16_lossy(&buffer))
}
