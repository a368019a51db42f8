//! Which variables that the compiler moved into fields have not been assigned yet where code stands: what a closure holds
//! whose object the method itself has made, and what a state machine holds.
//!
//! No way through the code may come by a store to the field, and an async method that was suspended goes on with what it
//! had there. Other code counts, too: a lambda or local function of the closure that stores to the field may have run from
//! where it was made. What cannot be decided counts as assigned. Whoever asks looks besides whether the field is empty,
//! unless no code but that of the state machine sets it.

use metadata::csharp::{GeneratedKind, GeneratedName};
use metadata::pe::ClauseKind;
use metadata::tables::Table;
use metadata::{Metadata, Token};

use super::super::Result;
use super::super::shape::{CodePlace, Home};
use super::{Instruction, Local, There, begins_anew, flow, is_in, lead};
use crate::stepping::il;
use crate::types::{Field, Types};

/// Stands for the field in place of a slot.
pub(super) const FIELD: u16 = u16::MAX;

const CALL: u8 = 0x28;
pub(super) const LDFLDA: u8 = 0x7c;
pub(super) const STFLD: u8 = 0x7d;
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
    let Home::Field(holder, _, field) = home else {
        return Ok(false);
    };
    let Some(there) = There::of(types, place, is_exact)? else {
        return Ok(false);
    };
    let module = types.metadata(place.module)?;
    let metadata = module.metadata();
    let Some(mut code) = there.code() else {
        return Ok(false);
    };
    let whole = Local {
        slot: FIELD,
        start: 0,
        end: u32::MAX,
    };
    let mut renewed = None;
    let (scope, mut anew) = match &**holder {
        Home::Local(slot) => {
            let slot = u16::try_from(*slot).unwrap_or(FIELD);
            let at = place.offset.0;
            let mut scopes = there.locals.iter().filter(|it| it.slot == slot);
            let Some(local) = scopes.find(|it| it.contains(at)).copied() else {
                return Ok(false);
            };
            (local, begins_anew(&code, &there.locals, local))
        }
        // The state machine is the `this` of its own code.
        Home::Argument(0) if is_own(home) => {
            let scope = hoisted_scope(&there, place, field)?;
            scope.map_or((whole, false), |scope| (scope, true))
        }
        // A closure that it has made, anew each time that the scope is entered.
        Home::Field(machine, _, closure)
            if matches!(**machine, Home::Argument(0))
                && is_of_kind(closure, GeneratedKind::ClosureLocal) =>
        {
            renewed = Some(closure);
            (whole, false)
        }
        _ => return Ok(false),
    };
    if !matches!(**holder, Home::Local(_)) && !goes_on(&there, place, &mut code)? {
        return Ok(false);
    }
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
        instruction.renews = renewed.is_some_and(|closure| {
            stores(metadata, there.body.code, instruction.at as usize, closure)
        });
    }
    // Some are assigned before their scopes, as in patterns.
    let in_fault = |at: u32| {
        let mut clauses = there.body.clauses.iter();
        clauses.any(|it| {
            it.kind == ClauseKind::Fault && is_in(at, it.handler_start, it.handler_length)
        })
    };
    let mut written = code
        .iter()
        .filter(|it| it.writes.is_some() && !in_fault(it.at));
    anew &= matches!(**holder, Home::Local(_)) || written.all(|it| scope.contains(it.at));
    let local = Local {
        slot: FIELD,
        ..scope
    };
    let at = there.standing.at.0;
    let until = there.standing.until.map_or(at + 1, |it| it.0.max(at + 1));
    let maybe = flow(&code, &[(local, anew)], 0, at..until);
    Ok(maybe == Some(0))
}

/// Whether a variable lies in a field of the state machine whose code runs: no other code sets that.
pub(in crate::values) fn is_own(home: &Home) -> bool {
    matches!(home, Home::Field(holder, _, field)
        if matches!(**holder, Home::Argument(0)) && is_of_kind(field, GeneratedKind::HoistedLocal))
}

/// Whether a field holds what the compiler moved there as this, and not a parameter, which comes from where the method is
/// called.
pub(super) fn is_of_kind(field: &Field, kind: GeneratedKind) -> bool {
    GeneratedName::parse(&field.name).is_some_and(|it| it.kind == kind)
}

/// Where a local of a state machine is in scope.
pub(super) fn hoisted_scope(
    there: &There<'_>,
    place: &CodePlace,
    field: &Field,
) -> Result<Option<Local>> {
    let slot = GeneratedName::parse(&field.name).and_then(|it| it.hoisted_slot());
    let scopes = there.pdb.hoisted_scopes(place.method)?;
    let scope = slot.and_then(|slot| scopes.get(slot));
    Ok(scope.filter(|it| it.start < it.end).map(|it| Local {
        slot: FIELD,
        start: it.start.0,
        end: it.end.0,
    }))
}

/// Leads the code of a state machine over its awaits; those over yields are there. `false` if it is not all of the code:
/// a `finally` of an iterator is a method of its own.
pub(super) fn goes_on(
    there: &There<'_>,
    place: &CodePlace,
    code: &mut [Instruction],
) -> Result<bool> {
    let Some(stepping) = there.pdb.async_stepping(place.method)? else {
        return Ok(there.yields.as_ref().is_some_and(|it| !it.is_empty()));
    };
    let mut awaits = stepping.awaits.iter();
    Ok(awaits.all(|it| {
        it.resume_method != place.method || lead(code, it.yield_offset, it.resume_offset)
    }))
}

/// Whether an instruction stores to a field.
fn stores(metadata: Metadata<'_>, code: &[u8], at: usize, field: &Field) -> bool {
    code.get(at) == Some(&STFLD)
        && token(code, at + 1).is_some_and(|it| is_field(metadata, it, field))
}

/// What an instruction names, whose operand is at this place.
pub(super) fn token(code: &[u8], at: usize) -> Option<Token> {
    let bytes = code.get(at..).and_then(|it| it.first_chunk());
    bytes.map(|it| Token(u32::from_le_bytes(*it)))
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
    let token = |at: usize| token(code, at);
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
pub(super) fn is_field(metadata: Metadata<'_>, token: Token, field: &Field) -> bool {
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
