//! Whether a by-ref local is a `ref readonly` one, as far as that matters.
//!
//! Neither symbols nor metadata say so. But C# lets a reference that may not be written through go into no other local (C# 9.7.2),
//! and the code tells where the references come from that a local is set to: a call that returns `ref readonly`, a readonly field,
//! an `in` parameter, another such local. A `ref readonly` local that leads to something which may be written counts as `ref`.

use metadata::signature::{self, Type as Signature};
use metadata::tables::{MethodSpecRow, Table};
use metadata::{Metadata, Token};

use super::shape::CodePlace;
use crate::stepping::il;
use crate::types::{Field, Type, Types};

/// Longer code is not looked through.
const MAX_CODE: usize = 1 << 18;
/// Locals that are set to each other.
const MAX_DEPTH: u32 = 8;

/// Whether what a local leads to, by its slot, may not be written.
pub(crate) fn leads_to_fixed(types: Types<'_>, place: &CodePlace, slot: u32) -> bool {
    let Ok(module) = types.metadata(place.module) else {
        return false;
    };
    let body = module.body(place.method).ok().flatten();
    let Some(code) = body.map(|it| it.code).filter(|it| it.len() < MAX_CODE) else {
        return false;
    };
    let mut instructions = Vec::new();
    let mut at = 0;
    while let Some(instruction) = il::read(code, at) {
        instructions.push(at);
        at = instruction.next;
    }
    let sources = Sources {
        types,
        place,
        metadata: module.metadata(),
        code,
        instructions,
    };
    u16::try_from(slot).is_ok_and(|slot| sources.is_fixed(slot, 0))
}

struct Sources<'t> {
    types: Types<'t>,
    place: &'t CodePlace,
    metadata: Metadata<'t>,
    code: &'t [u8],
    /// Where instructions begin.
    instructions: Vec<usize>,
}

impl Sources<'_> {
    /// Whether a local is set to a reference to what may not be written.
    fn is_fixed(&self, slot: u16, depth: u32) -> bool {
        let stores = self.instructions.iter().enumerate();
        let mut stores = stores.filter(|(_, at)| il::stored_local(self.code, **at) == Some(slot));
        stores.any(|(number, _)| self.is_from_fixed(number, slot, depth).unwrap_or(false))
    }

    /// Whether the code right before an instruction gives such a reference; `None` where it is not known what it gives.
    fn is_from_fixed(&self, number: usize, slot: u16, depth: u32) -> Option<bool> {
        for at in self.instructions.get(..number)?.iter().rev() {
            let token = || {
                let bytes = self.code.get(at + 1..)?.first_chunk()?;
                Some(Token(u32::from_le_bytes(*bytes)))
            };
            match *self.code.get(*at)? {
                // ldflda: a part of a struct is as fixed as the struct.
                0x7c => {
                    let (owner, is_fixed) = self.field(token()?)?;
                    if is_fixed || owner.is_value() != Some(true) {
                        return Some(is_fixed);
                    }
                }
                // ldsflda
                0x7f => return Some(self.field(token()?)?.1),
                // call, callvirt
                0x28 | 0x6f => return self.returns_fixed(token()?),
                _ => {
                    if let Some(argument) = il::loaded_argument(self.code, *at) {
                        return self.is_in(argument);
                    }
                    let other = il::loaded_local(self.code, *at)?;
                    return (other != slot && depth < MAX_DEPTH)
                        .then(|| self.is_fixed(other, depth + 1));
                }
            }
        }
        None
    }

    /// The type that has a field, and whether only its constructors may set it.
    fn field(&self, token: Token) -> Option<(Type, bool)> {
        let (types, module) = (self.types, self.place.module);
        if token.is(Table::MemberRef) {
            let member = self.metadata.member_ref(token).ok()?;
            let owner = types.of_token(module, member.parent, &self.place.generics);
            let owner = owner.ok()?;
            let fields = types.fields(&types.named(&owner)?).ok()?;
            let found: &Field = fields.iter().find(|it| *it.name == *member.name)?;
            return Some((owner, found.flags.is_init_only()));
        }
        let field = self.metadata.field(token).ok()?;
        let owner = types.open(module, field.declaring_type().ok()?).ok()?;
        Some((owner, field.flags().is_init_only()))
    }

    /// Whether a method returns `ref readonly`: the compiler marks that with a modifier that must be understood.
    fn returns_fixed(&self, token: Token) -> Option<bool> {
        let mut token = token;
        if token.is(Table::MethodSpec) {
            let spec: MethodSpecRow = self.metadata.row_of(token).ok()?;
            token = spec.method;
        }
        let blob = match token.is(Table::MemberRef) {
            true => self.metadata.member_ref(token).ok()?.signature,
            false => self.metadata.method(token).ok()?.signature_blob().ok()?,
        };
        let returns = signature::method_signature(blob).ok()?.return_type;
        let Signature::Modified {
            required: true,
            modifier,
            ..
        } = returns
        else {
            return Some(false);
        };
        let modifier = self
            .types
            .of_token(self.place.module, modifier, &self.place.generics);
        let named = self.types.named(&modifier.ok()?)?;
        let space = "System.Runtime.InteropServices";
        Some(self.types.is_named(&named, space, "InAttribute"))
    }

    /// Whether an argument is an `in` parameter.
    fn is_in(&self, argument: u16) -> Option<bool> {
        let method = self
            .types
            .method(&self.place.declared_in, self.place.method);
        let method = method.ok()?;
        let before = usize::from(!method.flags.is_static());
        let parameter = usize::from(argument).checked_sub(before)?;
        let flags = method.parameters.get(parameter)?.flags;
        Some(flags.is_in() && !flags.is_out())
    }
}
