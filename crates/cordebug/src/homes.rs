//! Where the variables of compiled code live, so that one can be looked at before the library is asked for it: the library
//! follows every reference that it hands out, and crashes on some that are damaged, and on registers that it does not know.

use std::ops::RangeInclusive;

use crate::bindings::*;
use crate::com::Com;
use crate::error::{Error, clr, clr_out};
use crate::module::missing;
use crate::process::next;
use crate::thread::Frame;
use crate::value::Value;
use crate::variables::CompiledCode;

/// Homes of one method; a count above it is not one.
const MAX_HOMES: usize = 1 << 14;
/// More than any `CONTEXT` needs.
const MAX_CONTEXT: usize = 8192;

/// Which variable of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Slot {
    /// An argument; 0 is `this` of an instance method.
    Argument(u32),
    /// A local.
    Local(u32),
}

impl Slot {
    /// The library's own value of it, which alone can be written when it lives in a register.
    pub fn in_frame(self, frame: &Frame) -> Result<Value, Error> {
        match self {
            Self::Argument(index) => frame.argument(index),
            Self::Local(index) => frame.local(index),
        }
    }
}

/// Where a variable lives while some of the code runs.
#[derive(Debug, Clone, Copy)]
pub struct VariableHome {
    /// Which.
    pub slot: Slot,
    /// The code, from its first offset to behind its last.
    pub code: (u32, u32),
    register: CorDebugRegister,
    /// How far behind the address in the register; absent if it is in the register itself.
    offset: Option<i32>,
}

/// The registers of a frame.
#[derive(Debug)]
pub struct Registers(Com<ICorDebugRegisterSet>);

impl Registers {
    fn one(&self, register: CorDebugRegister) -> Option<u64> {
        let (mask, mut value) = (1_u64.checked_shl(register.try_into().ok()?)?, 0);
        clr!(
            self.0,
            ICorDebugRegisterSet::GetRegisters(mask, 1, &mut value)
        )
        .ok()?;
        Some(value)
    }

    /// The lower eight bytes of a floating-point register that arguments are passed in, of the innermost frame.
    pub fn passed_float(&self, number: usize) -> Option<u64> {
        let layout = FLOATS.filter(|_| number < PASSING)?;
        let mut context = vec![0_u8; MAX_CONTEXT];
        let flags = context.get_mut(layout.flags.0..)?.first_chunk_mut()?;
        *flags = layout.flags.1.to_le_bytes();
        clr!(
            self.0,
            ICorDebugRegisterSet::GetThreadContext(MAX_CONTEXT as u32, context.as_mut_ptr())
        )
        .ok()?;
        // The library leaves zeroes where it knows nothing; this register is never empty.
        let control: [u8; 4] = *context.get(layout.control..)?.first_chunk()?;
        if control == [0; 4] {
            return None;
        }
        let word = context.get(layout.first + 16 * number..)?.first_chunk()?;
        Some(u64::from_le_bytes(*word))
    }
}

/// Floating-point registers that arguments are passed in.
const PASSING: usize = 8;

/// Where floating-point registers lie in the runtime's `CONTEXT`.
struct Floats {
    /// Where its flags are, and those that ask for everything.
    flags: (usize, u32),
    /// The register that says how floating-point numbers are handled.
    control: usize,
    /// The first of those that hold numbers.
    first: usize,
}

#[cfg(target_arch = "x86_64")]
const FLOATS: Option<Floats> = Some(Floats {
    flags: (0x30, 0x0010_000b),
    control: 0x118,
    first: 0x1a0,
});
/// The control register may be empty there, so that nothing tells known registers from unknown ones.
#[cfg(target_arch = "aarch64")]
const FLOATS: Option<Floats> = None;

impl CompiledCode {
    /// Where its variables live.
    pub fn variable_homes(&self) -> Result<Vec<VariableHome>, Error> {
        let code = self
            .0
            .cast::<ICorDebugCode4>()
            .ok_or_else(|| missing("ICorDebugCode4"))?;
        let all = clr_out!(code, ICorDebugCode4::EnumerateVariableHomes())?;
        let mut found = Vec::new();
        while found.len() < MAX_HOMES
            && let Some(home) =
                next(|raw, fetched| clr!(all, ICorDebugVariableHomeEnum::Next(1, raw, fetched)))?
        {
            found.extend(read(&home));
        }
        Ok(found)
    }
}

fn read(home: &Com<ICorDebugVariableHome>) -> Option<VariableHome> {
    let mut index = 0;
    let slot = if clr!(home, ICorDebugVariableHome::GetSlotIndex(&mut index)).is_ok() {
        Slot::Local(index)
    } else {
        clr!(home, ICorDebugVariableHome::GetArgumentIndex(&mut index)).ok()?;
        Slot::Argument(index)
    };
    let (mut start, mut end, mut location, mut register) = (0, 0, 0, 0);
    clr!(
        home,
        ICorDebugVariableHome::GetLiveRange(&mut start, &mut end)
    )
    .ok()?;
    clr!(home, ICorDebugVariableHome::GetLocationType(&mut location)).ok()?;
    let mut offset = None;
    if matches!(location, VLT_REGISTER | VLT_REGISTER_RELATIVE) {
        clr!(home, ICorDebugVariableHome::GetRegister(&mut register)).ok()?;
    } else {
        register = ELSEWHERE;
    }
    if location == VLT_REGISTER_RELATIVE {
        let mut behind = 0;
        clr!(home, ICorDebugVariableHome::GetOffset(&mut behind)).ok()?;
        offset = Some(behind);
    }
    Some(VariableHome {
        slot,
        code: (start, end),
        register,
        offset,
    })
}

impl Frame {
    /// Its registers: of a frame that waits for another, as they will be then.
    pub fn registers(&self) -> Option<Registers> {
        let frame = self.0.cast::<ICorDebugNativeFrame>()?;
        let registers = clr_out!(frame, ICorDebugNativeFrame::GetRegisterSet());
        registers.ok().map(Registers)
    }
}

/// The stack pointer, and the last register that the library has a number for where it tells of homes: it takes any other for
/// whatever lies behind its table.
#[cfg(target_arch = "x86_64")]
const REGISTERS: (CorDebugRegister, CorDebugRegister) = (REGISTER_AMD64_RSP, REGISTER_AMD64_R15);
#[cfg(target_arch = "aarch64")]
const REGISTERS: (CorDebugRegister, CorDebugRegister) = (REGISTER_ARM64_SP, REGISTER_ARM64_X28);

/// The registers that a method need not give back as they were (System V ABI, 3.2.1).
#[cfg(target_arch = "x86_64")]
const LOST_BY_CALLS: &[RangeInclusive<CorDebugRegister>] = &[
    REGISTER_AMD64_RAX..=REGISTER_AMD64_RDX,
    REGISTER_AMD64_RSI..=REGISTER_AMD64_R11,
];
#[cfg(target_arch = "aarch64")]
const LOST_BY_CALLS: &[RangeInclusive<CorDebugRegister>] =
    &[REGISTER_ARM64_X0..=REGISTER_ARM64_X17];

/// Stands for several registers, or those that the library does not name.
const ELSEWHERE: CorDebugRegister = -1;

impl VariableHome {
    /// Whether it is a register that the library does not know, one for floating-point numbers: it must not be asked for that.
    pub fn is_unknown_register(&self) -> bool {
        self.offset.is_none() && self.register != ELSEWHERE && !self.is_known()
    }

    /// Whether it is a register that whatever is called may use for its own.
    pub fn is_lost_by_calls(&self) -> bool {
        self.offset.is_none() && LOST_BY_CALLS.iter().any(|it| it.contains(&self.register))
    }

    /// Whether it is on the stack.
    pub fn is_in_memory(&self) -> bool {
        self.offset.is_some()
    }

    /// Where it is on the stack, if the library does not know from where its offset counts: code without a register for that
    /// counts from the end of the frame.
    pub fn unknown_address(&self, registers: &Registers) -> Option<u64> {
        let offset = self.offset.filter(|_| !self.is_known())?;
        let end = registers.one(REGISTERS.0)?;
        Some(end.wrapping_add_signed(offset.into()))
    }

    fn is_known(&self) -> bool {
        (0..=REGISTERS.1).contains(&self.register)
    }

    /// The word in the home: `memory` gives the one at an address.
    pub fn word(
        &self,
        registers: &Registers,
        memory: impl FnOnce(u64) -> Option<u64>,
    ) -> Option<u64> {
        let value = registers.one(self.register)?;
        match self.offset {
            Some(offset) => memory(value.wrapping_add_signed(offset.into())),
            None => Some(value),
        }
    }
}
