//! Static fields whose place the runtime's library does not tell: those that each thread has its own of, of generic types over
//! reference types (it looks for those of the shared code, which has none), and those of generic types over types that can be
//! unloaded. And pointers, which it looks for among the references.
//!
//! The runtime (.NET 9 and later) has a word about them before what it knows of a type: where the static fields lie, or which
//! entry of each thread's table leads to its own. Where the parts of these structures are is part of no contract.
//!
//! Invariant: only reading, and a place is told only if all that was met on the way names each other: the structure the type,
//! the description of the field its type and token, the thread's table the thread, and what holds the field is an array that
//! is long enough. Whatever lies in memory, every search has an end.

use std::fs::File;
use std::rc::Rc;

use cordebug::thread::Frame;
use metadata::Token;

use crate::types::{Field, Named, Type};

use super::{Object, Reader, Unreadable, Value};

/// The first version of the runtime that has these structures.
const FIRST: u16 = 9;

/// What a type leads to: what is known of it beside its description, and its class.
const BESIDE: u64 = 0x20;
const CLASS: u64 = 0x28;
/// The class of shared code has its own description; the address of that is marked.
const IS_SHARED: u64 = 1;
/// Where a class has the descriptions of its fields, and how large one is.
const FIELDS: u64 = 0x18;
const FIELD: u64 = 0x10;
/// More fields has no type.
const MAX_FIELDS: u64 = 1 << 16;
/// What a description says of its field beside the token.
const STATIC: u32 = 1 << 24;
const OF_THREAD: u32 = 1 << 25;
const OF_IMAGE: u32 = 1 << 26;
/// Where it lies among those of its kind.
const OFFSET: u32 = (1 << 27) - 1;

/// Before what is known beside a type: the type itself, where its fields lie, and before that which entry is theirs.
const OWNER: u64 = 8;
const NUMBERS: u64 = 16;
const REFERENCES: u64 = 24;
const ENTRIES: u64 = 40;
/// Set in a place while the type is not set up.
const NOT_SET_UP: u64 = 1;

/// A thread leads to its table somewhere in here.
const THREAD: u64 = 0x400;
/// Where the table has the thread that it belongs to, and fields of types whose constructors still run.
const TABLE_OWNER: u64 = 0x18;
const TABLE_PENDING: u64 = 0x20;
/// Nothing was given out yet.
const NO_ENTRY: u32 = u32::MAX;
/// Entries of types that stay, and of those that can be unloaded.
const STAYS: u32 = 0;
const UNLOADABLE: u32 = 1;
/// And numbers in the table.
const IN_TABLE: u32 = 2;
/// A table is no longer.
const TABLE: u64 = 0x100;

/// Where the elements of an array begin: fields of a thread are counted from where the array does.
const ELEMENTS: u64 = 16;

/// Where a static field is.
pub(super) enum OwnStatic {
    /// There, in an array: at which position in it, if it is one of references.
    At(u64, Option<(Object, u64)>),
    /// The thread has used none of the type.
    Unused,
}

impl Reader<'_> {
    /// Where a static field of a generic type is; `None` if that cannot be told for certain.
    pub(super) fn own_static(
        &self,
        ty: &Type,
        field: &Field,
        frame: Option<&Frame>,
    ) -> Option<OwnStatic> {
        let class = self.types.to_runtime(ty).ok()?.id().ok()?.word();
        let (bits, offset, beside) = self.beside_class(class, field)?;
        // Structs are kept in boxes, like references.
        let is_reference = field.ty.is_reference() || field.ty.underlying().is_none();
        let size = if is_reference {
            8
        } else {
            self.size_of(&field.ty).ok()?.into()
        };
        if bits & OF_THREAD != 0 {
            return self.of_thread(beside, offset, (is_reference, size), frame?);
        }
        let at = beside.checked_sub(if is_reference { REFERENCES } else { NUMBERS })?;
        let start = self.memory.word(at).ok()?;
        if start & NOT_SET_UP != 0 || start == 0 {
            return None;
        }
        let at = start.checked_add(offset)?;
        self.memory.word(at).ok()?;
        Some(OwnStatic::At(at, None))
    }

    /// A static field that is a pointer, but none that each thread has its own of. The library takes it for a reference, and
    /// tells the place of another field.
    pub(super) fn static_pointer(&self, ty: &Type, field: &Field) -> super::Result<Value> {
        let class = self.types.to_runtime(ty)?.id()?.word();
        let known = self.core_version().is_some_and(|it| it >= FIRST);
        let found = known.then(|| self.beside_class(class, field)).flatten();
        let (bits, offset, beside) = found.ok_or(Unreadable::StaticPointer)?;
        let at = beside.checked_sub(NUMBERS);
        let at = at.filter(|_| bits & OF_THREAD == 0);
        // While the class constructor runs, the fields are there already.
        let start = self.memory.word(at.ok_or(Unreadable::StaticPointer)?)? & !NOT_SET_UP;
        if start == 0 {
            return Err(Unreadable::NotInitialized);
        }
        let at = start.checked_add(offset);
        Ok(self.at(field.ty.clone(), at.ok_or(Unreadable::StaticPointer)?))
    }

    /// What the runtime says of a static field, its offset, and where what is known beside its type begins.
    fn beside_class(&self, class: u64, field: &Field) -> Option<(u32, u64, u64)> {
        let (bits, offset) = self.description(class, field)?;
        let beside = self.memory.word(class.checked_add(BESIDE)?).ok()?;
        let is_its_own = self.memory.word(beside.checked_sub(OWNER)?).ok()? == class;
        (bits & STATIC != 0 && bits & OF_IMAGE == 0 && is_its_own).then_some((bits, offset, beside))
    }

    /// Refuses a static field that refers to no object before the library is asked about it, which looks at what it refers to.
    pub(super) fn check_static(
        &self,
        ty: &Type,
        field: &Field,
        frame: Option<&Frame>,
    ) -> super::Result<()> {
        if !field.ty.is_reference() || self.core_version().is_none_or(|it| it < FIRST) {
            return Ok(());
        }
        let Some(OwnStatic::At(at, _)) = self.own_static(ty, field, frame) else {
            return Ok(());
        };
        match self.memory.word(at)? {
            address if address != 0 && !self.may_be_object(address) => {
                Err(Unreadable::NotAnObject { address })
            }
            _ => Ok(()),
        }
    }

    /// The runtime's value of a static field, through which references are written: what the library tells, or an element of
    /// the array that holds it.
    pub(crate) fn runtime_static(
        &self,
        declared_in: &Rc<Named>,
        field: Token,
    ) -> Option<cordebug::value::Value> {
        let frame = self.looks_from.as_ref();
        let ty = Type::Named(declared_in.clone());
        let fields = self.types.fields(declared_in).ok()?;
        let field = fields.iter().find(|it| it.token == field)?;
        if field.ty.is_pointer() {
            return None;
        }
        let runtime = self.types.to_runtime(&ty).ok()?;
        if let Ok(told) = runtime.static_field(field.token.0, frame) {
            return Some(told);
        }
        let known = self.knows_own_statics(declared_in);
        let found = known.then(|| self.own_static(&ty, field, frame))?;
        let Some(OwnStatic::At(_, Some((array, position)))) = found else {
            return None;
        };
        let array = self.hold(&array).ok()?.inner().ok()?;
        array.element_at(u32::try_from(position).ok()?).ok()
    }

    /// What the runtime says of a field: its bits, and its offset.
    fn description(&self, class: u64, field: &Field) -> Option<(u32, u64)> {
        let mut shared = class;
        let mut at = self.memory.word(class.checked_add(CLASS)?).ok()?;
        if at & IS_SHARED != 0 {
            shared = at & !IS_SHARED;
            at = self.memory.word(shared.checked_add(CLASS)?).ok()?;
        }
        let fields = self.memory.word(at.checked_add(FIELDS)?).ok()?;
        let row = field.token.0 & 0x00ff_ffff;
        for number in 0..MAX_FIELDS {
            let at = fields.checked_add(number * FIELD)?;
            if self.memory.word(at).ok()? != shared {
                return None;
            }
            let bits = self.memory.u32(at + 8).ok()?;
            if bits & 0x00ff_ffff == row {
                let offset = self.memory.u32(at + 12).ok()? & OFFSET;
                return Some((bits, offset.into()));
            }
        }
        None
    }

    /// The place of a field of the thread of a frame.
    fn of_thread(
        &self,
        beside: u64,
        offset: u64,
        (is_reference, size): (bool, u64),
        frame: &Frame,
    ) -> Option<OwnStatic> {
        let entries = beside.checked_sub(ENTRIES)?;
        let entry = self.memory.u32(entries + if is_reference { 4 } else { 0 });
        let entry = entry.ok()?;
        if entry == NO_ENTRY {
            return Some(OwnStatic::Unused);
        }
        let table = self.table_of(frame)?;
        let number = u64::from(entry & 0x00ff_ffff);
        let kind = entry >> 24;
        // Few and small numbers lie in the table itself, as if an array began before them.
        if kind == IN_TABLE && !is_reference {
            let within = number.checked_add(offset)?;
            let end = within.checked_add(size)?;
            return (end <= TABLE).then_some(OwnStatic::At(table.checked_add(within)?, None));
        }
        let counts = self.memory.word(table).ok()?;
        let (count, holder) = match kind {
            // Counted and found from the first byte of the array on.
            STAYS => (counts & 0xffff_ffff, 8),
            UNLOADABLE => (counts >> 32, 16),
            _ => return None,
        };
        let mut holding = 0;
        if number < count {
            let start = self.memory.word(table + holder).ok()?;
            let at = start.checked_add(number * 8)?;
            holding = self.memory.word(at).ok()?;
            // A handle leads to the array.
            if kind == UNLOADABLE && holding != 0 {
                holding = self.memory.word(holding).ok()?;
            }
        }
        if holding == 0 {
            let pending = self.memory.word(table + TABLE_PENDING).ok()?;
            return (pending == 0).then_some(OwnStatic::Unused);
        }
        let array = self.object_at(holding).ok()?;
        let shape = self.array(&array).ok()?;
        let (element, count) = (shape.element, shape.count);
        let width = self.size_of(&element).ok()?;
        let length = count.checked_mul(width.into())?;
        let within = offset.checked_sub(ELEMENTS)?;
        if within.checked_add(size)? > length || element.is_reference() != is_reference {
            return None;
        }
        let at = holding.checked_add(offset)?;
        Some(OwnStatic::At(
            at,
            is_reference.then_some((array, within / 8)),
        ))
    }

    /// Where a thread's table is: the only thing that a thread leads to and that leads back to it at this place.
    fn table_of(&self, frame: &Frame) -> Option<u64> {
        let id = self.walks.borrow().thread_of(frame)?;
        let pid = self.types.process.id().ok()?;
        let memory = File::open(format!("/proc/{pid}/mem")).ok()?;
        let thread = self.runtime.of(pid)?.thread(&memory, id)?;
        let mut bytes = [0; THREAD as usize];
        self.memory.read(thread, &mut bytes).ok()?;
        let (words, _) = bytes.as_chunks();
        let words = words.iter().map(|it| u64::from_le_bytes(*it));
        let mut tables = words.filter(|it| {
            it.is_multiple_of(8)
                && it.checked_add(TABLE_OWNER).is_some_and(|at| {
                    *it != 0 && self.memory.word(at).is_ok_and(|owner| owner == thread)
                })
        });
        let table = tables.next()?;
        tables.all(|it| it == table).then_some(table)
    }

    /// Whether the runtime is one whose structures these are.
    pub(super) fn knows_own_statics(&self, declared_in: &Named) -> bool {
        !declared_in.arguments.is_empty() && self.core_version().is_some_and(|it| it >= FIRST)
    }
}
