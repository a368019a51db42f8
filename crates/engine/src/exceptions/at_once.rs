//! Whether a method awaits what it gets from a call right behind it, where no symbols tell which call it is in.
//!
//! Calls are told apart by name. Where no call has the name (what was called is an override of another name, or was compiled into
//! what it calls), it is the first behind the place that gives a task; the compiler of optimised code keeps places between
//! statements. Without a place all such calls are asked: if each is awaited at once, it does not matter which it is.

use metadata::tables::{MethodSpecRow, Table, TypeSpecRow};
use metadata::{IlOffset, Metadata, Module, Token, signature};

use super::awaited::{is_suppressed, name_of};
use crate::stepping::il;

/// The compiler's own methods that do nothing but call one of the base class.
const BASE_CALL: &str = "<>n__";
/// What can be awaited and keeps an exception.
const TASKS: [&str; 4] = [
    "System.Threading.Tasks.Task",
    "System.Threading.Tasks.Task`1",
    "System.Threading.Tasks.ValueTask",
    "System.Threading.Tasks.ValueTask`1",
];

/// Whether a method awaits, and hands on what is thrown there, what it gets from the call of this name, at or behind a place.
pub(super) fn awaits(
    module: &Module,
    method: Token,
    called: Option<&str>,
    place: Option<u32>,
) -> Option<bool> {
    let metadata = module.metadata();
    let code = module.body(method).ok()??.code;
    let calls = il::calls_between(code, IlOffset(0), IlOffset(u32::MAX));
    let names: Vec<_> = calls.iter().map(|(_, it)| name(module, *it)).collect();
    let has_name = |name: &Option<String>| called.is_some() && name.as_deref() == called;
    let is_named = names.iter().any(has_name);
    let nearest = place.filter(|_| !is_named).and_then(|place| {
        let mut behind = calls.iter().filter(|(at, _)| at.0 >= place);
        behind.find(|(_, token)| gives_task(metadata, *token))
    });
    for (at, name) in names.iter().enumerate() {
        let (place, token) = *calls.get(at)?;
        let is_meant = match (nearest, is_named) {
            (Some((nearest, _)), _) => *nearest == place,
            (None, true) => has_name(name),
            (None, false) => gives_task(metadata, token),
        };
        if !is_meant {
            continue;
        }
        let mut next = names.iter().skip(at + 1).map(Option::as_deref);
        let to_awaiter = match next.next() {
            Some(Some("GetAwaiter")) => 1,
            Some(Some("ConfigureAwait")) if next.next() == Some(Some("GetAwaiter")) => 2,
            _ => return Some(false),
        };
        let awaiter = calls.get(at + to_awaiter)?.0;
        if is_suppressed(metadata, code, place..awaiter, &calls)? {
            return Some(false);
        }
    }
    Some(true)
}

fn name(module: &Module, called: Token) -> Option<String> {
    let name = name_of(module.metadata(), called)?;
    if !name.starts_with(BASE_CALL) {
        return Some(name);
    }
    let code = module.body(called).ok()??.code;
    let calls = il::calls_between(code, IlOffset(0), IlOffset(u32::MAX));
    name_of(module.metadata(), calls.first()?.1)
}

/// Whether a call gives a task, as far as can be told: else it may.
fn gives_task(metadata: Metadata<'_>, called: Token) -> bool {
    let returned = || {
        let (mut token, mut own) = (called, Vec::new());
        if token.is(Table::MethodSpec) {
            let spec: MethodSpecRow = metadata.row_of(token).ok()?;
            token = spec.method;
            own = signature::method_spec_arguments(metadata.blob(spec.instantiation).ok()?).ok()?;
        }
        let (parent, signature) = match token.is(Table::MemberRef) {
            true => {
                let member = metadata.member_ref(token).ok()?;
                (Some(member.parent), member.signature)
            }
            false => (None, metadata.method(token).ok()?.signature_blob().ok()?),
        };
        let returned = signature::method_signature(signature).ok()?.return_type;
        let (arguments, number) = match returned {
            signature::Type::MethodParameter(number) => (own, number),
            signature::Type::TypeParameter(number) => {
                let spec: TypeSpecRow = metadata.row_of(parent?).ok()?;
                match signature::type_spec(metadata.blob(spec.signature).ok()?).ok()? {
                    signature::Type::Generic { arguments, .. } => (arguments, number),
                    _ => return None,
                }
            }
            returned => return Some(returned),
        };
        arguments.into_iter().nth(usize::try_from(number).ok()?)
    };
    let Some(returned) = returned() else {
        return true;
    };
    match returned {
        signature::Type::Named { token, .. } | signature::Type::Generic { token, .. } => {
            let name = metadata.full_name(token);
            !name.is_ok_and(|name| !TASKS.contains(&name.as_str()))
        }
        signature::Type::TypeParameter(_) | signature::Type::MethodParameter(_) => true,
        _ => false,
    }
}
