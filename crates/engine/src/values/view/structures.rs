//! What the runtime's own structures tell of types and members that its library has no names for.
//!
//! A `Type` for a pointer, a by-ref, a type parameter or a function pointer is the address of a description of the runtime's
//! own, and so is what a `MethodInfo` or `FieldInfo` stands for. Where these have their parts is told by the runtime
//! ([`crate::contract`], .NET 9 and later); all that is done here is reading memory.
//!
//! Invariant: a name is told only if what was read agrees with metadata: the token is one of a module that is loaded, and that
//! of a member belongs to the type that declares it. Whatever lies in memory, there is an end in depth and number.

use metadata::Token;

use crate::contract::Contract;
use crate::types::{ModuleId, Type};

use super::Viewer;

/// Kinds of types (ECMA-335 II.23.1.16).
pub(super) const PTR: u32 = 0x0f;
pub(super) const BYREF: u32 = 0x10;
pub(super) const VAR: u32 = 0x13;
pub(super) const FNPTR: u32 = 0x1b;
pub(super) const MVAR: u32 = 0x1e;

/// Set in a handle that names something else than a class.
const IS_DESCRIPTION: u64 = 2;
/// Types nest less deeply.
const MAX_DEPTH: u32 = 16;
/// Functions take less.
const MAX_PARAMETERS: u32 = 64;
/// What a class is to its generic definition, in its flags; the value says that it is that itself.
const GENERICS: u32 = 0x30;
/// Set in the flags of strings and arrays, whose others mean something else.
const HAS_PARTS: u32 = 0x8000_0000;
/// How a function is called, in its convention; 0 is the runtime's own way.
const CALLING: u32 = 0xf;
/// The bits of a token that are not its table.
const ROW_BITS: u64 = 24;

/// Where the structures have their parts.
#[derive(Debug)]
pub(crate) struct Structures {
    class_flags: u64,
    class_token: u64,
    class_module: u64,
    module_base: u64,
    kind: u64,
    parameter: u64,
    variable_module: u64,
    variable_token: u64,
    function_count: u64,
    function_convention: u64,
    function_types: u64,
    method_index: u64,
    method_token: u64,
    chunk_size: u64,
    chunk_class: u64,
    chunk_token: u64,
    method_unit: u64,
    low_bits: u64,
}

impl Structures {
    /// Those of a process; `None` if its runtime does not tell them.
    fn of(pid: u32) -> Option<Self> {
        let contract = Contract::of(pid)?;
        let field = |owner, name| contract.field(owner, name);
        Some(Self {
            class_flags: field("MethodTable", "MTFlags")?,
            class_token: field("MethodTable", "MTFlags2")?,
            class_module: field("MethodTable", "Module")?,
            module_base: field("Module", "Base")?,
            kind: field("TypeDesc", "TypeAndFlags")?,
            parameter: field("ParamTypeDesc", "TypeArg")?,
            variable_module: field("TypeVarTypeDesc", "Module")?,
            variable_token: field("TypeVarTypeDesc", "Token")?,
            function_count: field("FnPtrTypeDesc", "NumArgs")?,
            function_convention: field("FnPtrTypeDesc", "CallConv")?,
            function_types: field("FnPtrTypeDesc", "RetAndArgTypes")?,
            method_index: field("MethodDesc", "ChunkIndex")?,
            method_token: field("MethodDesc", "Flags3AndTokenRemainder")?,
            chunk_size: field("MethodDescChunk", "!")?,
            chunk_class: field("MethodDescChunk", "MethodTable")?,
            chunk_token: field("MethodDescChunk", "FlagsAndTokenRange")?,
            method_unit: contract.number("MethodDescAlignment")?,
            low_bits: contract
                .number("MethodDescTokenRemainderBitCount")
                .filter(|it| *it < ROW_BITS)?,
        })
    }
}

/// Where the runtime has a class: its description, module and token.
struct Class {
    flags: u32,
    module: ModuleId,
    token: Token,
}

impl Viewer<'_, '_> {
    fn structures(&self) -> Option<&Structures> {
        let known = self.reader.layouts.structures.get_or_init(|| {
            let pid = self.reader.types.process.id().ok()?;
            Structures::of(pid)
        });
        known.as_ref()
    }

    /// The kind of the type that a handle names, if it is no class.
    pub(super) fn kind_of_handle(&self, handle: u64) -> Option<u32> {
        let description = (handle & IS_DESCRIPTION != 0).then_some(handle & !3)?;
        let at = self.structures().map_or(0, |it| it.kind);
        Some(self.number(description, at)? & 0xff)
    }

    /// The name of the type that a handle names.
    pub(super) fn text_of_handle(&self, handle: u64, depth: u32) -> Option<String> {
        let types = self.reader.types;
        if depth > MAX_DEPTH {
            return None;
        }
        if handle & 3 == 0 {
            return match self.type_of_handle(handle) {
                Some(ty) => Some(types.full_text(&ty)),
                None => self.definition(handle),
            };
        }
        let it = self.structures()?;
        let description = handle & !3;
        match self.kind_of_handle(handle)? {
            PTR => {
                let of = self.text_of_handle(self.word(description, it.parameter)?, depth + 1)?;
                Some(format!("{of}*"))
            }
            BYREF => {
                let of = self.text_of_handle(self.word(description, it.parameter)?, depth + 1)?;
                Some(format!("ref {of}"))
            }
            VAR | MVAR => {
                let module = self.module_at(self.word(description, it.variable_module)?)?;
                let token = Token(self.number(description, it.variable_token)?);
                let metadata = types.metadata(module).ok()?.metadata();
                let name = metadata.generic_param(token).ok()?.name().ok()?;
                Some(name.into_owned())
            }
            FNPTR => {
                let count = self.number(description, it.function_count)?;
                let convention = self.number(description, it.function_convention)?;
                let part = |index: u32| {
                    let at = it.function_types.checked_add(8 * u64::from(index))?;
                    self.text_of_handle(self.word(description, at)?, depth + 1)
                };
                // What it returns comes first in memory and last in C#.
                let taken = (count <= MAX_PARAMETERS).then_some(1..=count)?;
                let mut parts: Vec<String> = taken.map(part).collect::<Option<_>>()?;
                parts.push(part(0)?);
                let way = if convention & CALLING == 0 {
                    ""
                } else {
                    " unmanaged"
                };
                Some(format!("delegate*{way}<{}>", parts.join(", ")))
            }
            _ => None,
        }
    }

    /// The name of a generic type without arguments: `List<>`.
    fn definition(&self, handle: u64) -> Option<String> {
        let class = self.class_at(handle)?;
        if class.flags & HAS_PARTS != 0 || class.flags & GENERICS != GENERICS {
            return None;
        }
        let types = self.reader.types;
        let open = types.open_named(class.module, class.token).ok()?;
        let text = types.full_text(&Type::Named(open));
        Some(without_names(&text))
    }

    /// The name of the method that a handle names, if the type of another handle declares it.
    pub(super) fn method_of_handle(&self, method: u64, declaring: u64) -> Option<String> {
        let it = self.structures()?;
        let index = self.number(method, it.method_index)? & 0xff;
        let before = it.method_unit.checked_mul(index.into())?;
        let chunk = method.checked_sub(it.chunk_size.checked_add(before)?)?;
        let class = self.word(chunk, it.chunk_class)?;
        let low = u64::from(self.number(method, it.method_token)?) & ((1 << it.low_bits) - 1);
        let high = u64::from(self.number(chunk, it.chunk_token)?);
        let high = high & ((1 << (ROW_BITS - it.low_bits)) - 1);
        let token = Token(0x0600_0000 | u32::try_from(high << it.low_bits | low).ok()?);
        let class = self.same_class(class, declaring)?;
        let metadata = self.reader.types.metadata(class.module).ok()?.metadata();
        let found = metadata.method(token).ok()?;
        let is_its = found.declaring_type().ok()? == class.token;
        is_its.then(|| Some(found.name().ok()?.into_owned()))?
    }

    /// The name of the field that a handle names, if the type of another handle declares it. The runtime does not tell where
    /// its description of a field has its parts: the class and then the token are all that was ever there.
    pub(super) fn field_of_handle(&self, field: u64, declaring: u64) -> Option<String> {
        self.structures()?;
        let class = self.same_class(self.word(field, 0)?, declaring)?;
        let row = self.number(field, 8)? & 0x00ff_ffff;
        let metadata = self.reader.types.metadata(class.module).ok()?.metadata();
        let found = metadata.field(Token(0x0400_0000 | row)).ok()?;
        let is_its = found.declaring_type().ok()? == class.token;
        is_its.then(|| Some(found.name().ok()?.into_owned()))?
    }

    /// The class at an address, if it is the same definition as another.
    fn same_class(&self, class: u64, other: u64) -> Option<Class> {
        let (class, other) = (self.class_at(class)?, self.class_at(other)?);
        let is_same = (class.module, class.token) == (other.module, other.token);
        is_same.then_some(class)
    }

    fn class_at(&self, handle: u64) -> Option<Class> {
        let it = self.structures()?;
        if handle == 0 || handle & 7 != 0 {
            return None;
        }
        Some(Class {
            flags: self.number(handle, it.class_flags)?,
            module: self.module_at(self.word(handle, it.class_module)?)?,
            token: Token(0x0200_0000 | self.number(handle, it.class_token)? >> 8),
        })
    }

    /// The module that the runtime describes at an address.
    fn module_at(&self, address: u64) -> Option<ModuleId> {
        let base = self.word(address, self.structures()?.module_base)?;
        if base == 0 {
            return None;
        }
        let modules = self.reader.types.modules;
        let is_it = |it: &&crate::modules::LoadedModule| {
            it.module.base_address().is_ok_and(|it| it == base)
        };
        Some(ModuleId(modules.iter().find(is_it)?.identity()))
    }

    fn word(&self, from: u64, offset: u64) -> Option<u64> {
        self.reader.word_at(from.checked_add(offset)?).ok()
    }

    fn number(&self, from: u64, offset: u64) -> Option<u32> {
        self.reader.number_at(from.checked_add(offset)?).ok()
    }
}

/// A generic type as C# writes it without arguments: what is between its last brackets is left out.
fn without_names(text: &str) -> String {
    match (text.rfind('<'), text.ends_with('>')) {
        (Some(at), true) => {
            let (name, names) = text.split_at(at);
            let commas = names.matches(',').count();
            format!("{name}<{}>", ",".repeat(commas))
        }
        _ => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_a_definition_are_left_out() {
        let texts = ["A.B<TKey, TValue>", "A<T>", "A.B", "A<T>.B"].map(without_names);
        assert_eq!(texts, ["A.B<,>", "A<>", "A.B", "A<T>.B"]);
    }
}
