//! References that lead to no object, told before the runtime's library is asked about them: it crashes on some.
//!
//! An address may be an object only if the type that its first word names is derived, step by step, from `System.Object`.

use std::rc::Rc;

use cordebug::homes::{Registers, Slot, VariableHome};
use cordebug::thread::Frame;

use crate::types::Type;

use super::{Reader, floats, optimised};

/// Where a type of the runtime keeps the type that it is derived from. Checked against known types before it is relied on.
const PARENT: u64 = 0x10;
/// Types that one is derived from at most.
const MAX_BASES: usize = 1000;
/// Bytes of code that are looked at for what they do.
const MAX_PROLOGUE: usize = 64;
/// The lowest bits of an object's first word belong to the collector.
const COLLECTORS: u64 = 7;

impl Reader<'_> {
    /// Whether there may be an object at an address.
    pub(super) fn may_be_object(&self, address: u64) -> bool {
        let Some(root) = self.root() else {
            return true;
        };
        let word = |at: u64| {
            let is_pointer = at.is_multiple_of(8) && at > 0xffff && at < 1 << 56;
            is_pointer.then(|| self.word_at(at).ok()).flatten()
        };
        let mut ty = word(address).map(|it| it & !COLLECTORS);
        for _ in 0..MAX_BASES {
            match ty {
                Some(ty) if ty == root || self.layouts.types.get(&ty).is_some() => return true,
                Some(derived) => ty = word(derived.wrapping_add(PARENT)),
                None => return false,
            }
        }
        false
    }

    /// The word that `System.Object` begins its objects with; `None` if types do not lie in memory as is known here.
    fn root(&self) -> Option<u64> {
        if let Some(known) = self.layouts.root.get() {
            return known;
        }
        let id = |ty: Type| Some(self.types.to_runtime(&ty).ok()?.id().ok()?.word());
        let (Some(object), Some(string)) = (id(Type::OBJECT), id(Type::STRING)) else {
            return None;
        };
        let parent = |ty: u64| self.word_at(ty + PARENT).ok();
        let is_known = parent(object) == Some(0) && parent(string) == Some(object);
        let root = is_known.then_some(object);
        self.layouts.root.set(Some(root));
        root
    }
}

/// Where the variables of a frame live.
#[derive(Debug)]
pub(super) struct FrameHomes {
    homes: Rc<[VariableHome]>,
    registers: Registers,
    /// Where its code begins.
    start: u64,
    /// Where in its code the frame is.
    at: u32,
}

impl FrameHomes {
    pub(super) fn of(reader: &Reader<'_>, frame: &Frame) -> Option<Self> {
        let (code, at) = frame.compiled_code().ok()?;
        let start = code.start().ok()?;
        let homes = match reader.layouts.homes.get(&start) {
            Some(known) => known,
            None => {
                let homes: Rc<[VariableHome]> = code.variable_homes().ok()?.into();
                reader.layouts.homes.insert(start, homes.clone());
                homes
            }
        };
        Some(Self {
            homes,
            registers: frame.registers()?,
            start,
            at,
        })
    }

    /// Whether the library may be asked for a variable: it crashes on one in a register for floating-point numbers, where a
    /// method begins. Of an argument that has such a number in it, it does not always tell where that is.
    pub(super) fn may_be_asked_for(&self, reader: &Reader<'_>, slot: Slot, ty: &Type) -> bool {
        let own = self.homes.iter().filter(|it| it.slot == slot);
        let here: Vec<_> = own
            .filter(|it| (it.code.0..=it.code.1).contains(&self.at))
            .collect();
        let is_known = !here.iter().any(|it| it.is_unknown_register());
        let is_argument = matches!(slot, Slot::Argument(_));
        is_known
            && (!is_argument
                || here.iter().all(|it| it.is_in_memory())
                || !floats::holds_float(reader, ty))
    }

    /// Whether a variable is said to be in a register that the call which has just returned was free to use: the compiler
    /// does not always note that it has put it elsewhere before.
    pub(super) fn is_overwritten(&self, reader: &Reader<'_>, slot: Slot) -> bool {
        let is_old = |home: &VariableHome| home.is_lost_by_calls() && home.code.0 < self.at;
        self.home(slot).is_some_and(is_old) && self.is_behind_call(reader)
    }

    /// Whether the frame is right behind a call.
    fn is_behind_call(&self, reader: &Reader<'_>) -> bool {
        let length = (self.at as usize).min(optimised::LONGEST_CALL);
        let mut code = vec![0; length];
        let start = self.start + u64::from(self.at) - length as u64;
        reader.memory.read(start, &mut code).is_ok() && optimised::ends_with_call(&code)
    }

    /// What a floating-point register held when the method was called, if nothing can have changed it since.
    pub(super) fn passed_float(&self, reader: &Reader<'_>, number: usize) -> Option<u64> {
        let so_far = usize::try_from(self.at).ok()?;
        if so_far > MAX_PROLOGUE {
            return None;
        }
        let mut code = vec![0; so_far];
        reader.memory.read(self.start, &mut code).ok()?;
        if !floats::are_untouched_by(&code) {
            return None;
        }
        self.registers.passed_float(number)
    }

    /// Where a variable is on the stack, if the library cannot tell that.
    pub(super) fn unknown_address(&self, slot: Slot) -> Option<u64> {
        self.home(slot)?.unknown_address(&self.registers)
    }

    /// The word that a variable holds, if it is known where that is.
    pub(super) fn word(&self, reader: &Reader<'_>, slot: Slot) -> Option<u64> {
        let home = self.home(slot)?;
        home.word(&self.registers, |address| reader.word_at(address).ok())
    }

    fn home(&self, slot: Slot) -> Option<&VariableHome> {
        let own = || self.homes.iter().filter(|it| it.slot == slot);
        let here = own().find(|it| (it.code.0..it.code.1).contains(&self.at));
        // A frame that waits for a call is behind it, where the variable may end.
        here.or_else(|| own().find(|it| it.code.1 == self.at))
    }
}
