//! Which variables that the compiler moved into fields have not been assigned yet where code stands: what a closure holds
//! whose object the method itself has made, and what a state machine holds.
//!
//! No way through the code may come by a store to the field, and an async method that was suspended goes on with what it
//! had there. Other code counts, too: a lambda or local function of the closure that stores to the field may have run from
//! where it was made. What cannot be decided counts as assigned. Whoever asks looks besides whether the field is empty.

use metadata::csharp::{GeneratedKind, GeneratedName};
use metadata::tables::Table;
use metadata::{IlOffset, Metadata, Token};

use super::super::Result;
use super::super::shape::{CodePlace, Home};
use super::{Instruction, Local, There, begins_anew, decode, flow};
use crate::stepping::il;
use crate::types::{Field, Type, Types};

/// Stands for the field in place of a slot.
const FIELD: u16 = u16::MAX;

const CALL: u8 = 0x28;
const LDFLDA: u8 = 0x7c;
const STFLD: u8 = 0x7d;
const PREFIX: u8 = 0xfe;
const LDFTN: u8 = 0x06;
const LDVIRTFTN: u8 = 0x07;

/// Whether no store can have reached a field that holds a variable, at a place in code.
pub(in crate::values) fn is_untouched(
    types: Types<'_>,
    place: &CodePlace,
    is_exact: bool,
    home: &Home,
) -> Result<bool> {
    let Home::Field(holder, of, field) = home else {
        return Ok(false);
    };
    let Some(there) = There::of(types, place, is_exact)? else {
        return Ok(false);
    };
    let module = types.metadata(place.module)?;
    let metadata = module.metadata();
    let Some(mut code) = decode(&there.body) else {
        return Ok(false);
    };
    let scope = match **holder {
        Home::Local(slot) => {
            let slot = u16::try_from(slot).unwrap_or(FIELD);
            let at = place.offset.0;
            let mut scopes = there.locals.iter().filter(|it| it.slot == slot);
            let Some(local) = scopes.find(|it| it.contains(at)).copied() else {
                return Ok(false);
            };
            let anew = begins_anew(&code, &there.locals, local);
            (local, anew)
        }
        // The state machine is the `this` of its own code.
        Home::Argument(0) if is_hoisted(field) && !hands_out(types, of) => {
            let Some(stepping) = there.pdb.async_stepping(place.method)? else {
                return Ok(false);
            };
            let awaits = stepping.awaits.iter();
            for it in awaits.filter(|it| it.resume_method == place.method) {
                if !lead(&mut code, it.yield_offset, it.resume_offset) {
                    return Ok(false);
                }
            }
            let whole = Local {
                slot: FIELD,
                start: 0,
                end: u32::MAX,
            };
            (whole, false)
        }
        _ => return Ok(false),
    };
    let others = |method: Token| -> bool {
        if !method.is(Table::Method) {
            return true;
        }
        let body = module.body(method).ok().flatten();
        body.is_none_or(|body| may_store(metadata, body.code, field))
    };
    for instruction in &mut code {
        let writes = writes(metadata, there.body.code, instruction.at, field, &others);
        instruction.writes = writes.then_some(FIELD);
    }
    let (scope, anew) = scope;
    let local = Local {
        slot: FIELD,
        ..scope
    };
    let at = there.standing.at.0;
    let until = there.standing.until.map_or(at + 1, |it| it.0.max(at + 1));
    let maybe = flow(&code, &[(local, anew)], 0, at..until);
    Ok(maybe == Some(0))
}

/// Whether a field is a local of an async method, and not a parameter, which comes from where that is called.
fn is_hoisted(field: &Field) -> bool {
    let name = GeneratedName::parse(&field.name);
    name.is_some_and(|it| it.kind == GeneratedKind::HoistedLocal)
}

/// Whether a state machine is one of an iterator: where that goes on is not known.
fn hands_out(types: Types<'_>, of: &Type) -> bool {
    let named = types.named(of);
    let fields = named.and_then(|it| types.fields(&it).ok());
    fields.is_none_or(|it| it.iter().any(|it| &*it.name == "<>2__current"))
}

/// Lets code go on somewhere else, too.
fn lead(code: &mut [Instruction], from: IlOffset, to: IlOffset) -> bool {
    let number = |offset: IlOffset| code.iter().position(|it| it.at == offset.0);
    let (Some(from), Some(to)) = (number(from), number(to)) else {
        return false;
    };
    if let Some(instruction) = code.get_mut(from) {
        instruction.next.push(to);
    }
    true
}

/// Whether an instruction stores to a field, takes its address, or names other code that may.
fn writes(
    metadata: Metadata<'_>,
    code: &[u8],
    at: u32,
    field: &Field,
    others: &impl Fn(Token) -> bool,
) -> bool {
    let at = at as usize;
    let token = |at: usize| {
        let bytes = code.get(at..).and_then(|it| it.first_chunk());
        bytes.map(|it| Token(u32::from_le_bytes(*it)))
    };
    match (code.get(at), code.get(at + 1)) {
        (Some(&(STFLD | LDFLDA)), _) => {
            token(at + 1).is_none_or(|it| is_field(metadata, it, field))
        }
        (Some(&CALL), _) => {
            token(at + 1).is_none_or(|it| is_of_program(metadata, it) && others(it))
        }
        (Some(&PREFIX), Some(&(LDFTN | LDVIRTFTN))) => token(at + 2).is_none_or(others),
        _ => false,
    }
}

/// Whether a call is to a method of the same module, or to one that the compiler made of a generic closure.
fn is_of_program(metadata: Metadata<'_>, token: Token) -> bool {
    if token.is(Table::MemberRef) {
        return metadata
            .member_ref(token)
            .map_or(true, |it| it.name.starts_with('<'));
    }
    token.is(Table::Method)
}

/// Whether a token of an instruction means a field; one of a generic type is named by where it is used.
fn is_field(metadata: Metadata<'_>, token: Token, field: &Field) -> bool {
    if token.is(Table::MemberRef) {
        let member = metadata.member_ref(token);
        return member.map_or(true, |it| *it.name == *field.name);
    }
    token == field.token
}

/// Whether code stores to a field, or makes or calls other code that may.
fn may_store(metadata: Metadata<'_>, code: &[u8], field: &Field) -> bool {
    let mut at = 0;
    while at < code.len() {
        let Some(instruction) = il::read(code, at) else {
            return true;
        };
        let is_own = |it: Token| {
            let owner = |it: Token| metadata.method(it).ok()?.declaring_type().ok();
            let of_field = metadata.field(field.token).ok();
            let of_field = of_field.and_then(|it| it.declaring_type().ok());
            !it.is(Table::Method) || owner(it) == of_field
        };
        if writes(metadata, code, at as u32, field, &is_own) {
            return true;
        }
        at = instruction.next;
    }
    false
}
