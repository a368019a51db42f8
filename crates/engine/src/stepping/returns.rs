//! What calls return that a step goes over or out of.
//!
//! The runtime can tell the result of a call only right behind it, in the machine's code. So a step over a statement sets
//! traps behind its calls, except behind one whose result it will find in a variable (`stored`), and a step that comes
//! back to a caller looks whether it has landed behind one. What is found is kept with the target until the program runs
//! on.
//!
//! Invariant: a step ends where it would have ended without this, and a result that is not known to belong to this
//! invocation of the method is not told.

use cordebug::thread::{Frame, Thread};
use cordebug::variables::CompiledCode;
use metadata::csharp::{GeneratedKind, GeneratedName, special_name};
use metadata::signature::{self, MethodSignature, Primitive};
use metadata::tables::{MethodSpecRow, Table};
use metadata::{IlOffset, Token};

use super::il;
use super::position::{IlRange, MethodId, Position, Standing};
use super::{Leg, Trap, TrapKind, remove};
use crate::api::StepKind;
use crate::engine::Engine;
use crate::target::Target;
use crate::types::{Generics, ModuleId, Type, TypeNotes, Types};
use crate::values::scope::FrameContext;
use crate::values::{Reader, Result as ValueResult, ReturnedCall, Unreadable, Value};

/// Calls of one statement whose results are looked at: each costs a stop.
const MAX_CALLS: usize = 12;
/// Returns to other invocations of the same code, after which a step goes on without looking at results: recursion would
/// otherwise cost a stop for each.
const MAX_STRANGE: u32 = 4;

/// What the compiler calls for the result of an `await`.
const AWAITED: &str = "GetResult";

/// A method that is called.
pub(super) struct Callee {
    /// `Type.Method`.
    text: String,
    /// Its name alone.
    pub(super) name: String,
    /// The type that it is called on, or that declares it.
    pub(super) owner: Type,
    /// The owner as it stands before the name, with a dot; nothing if the compiler made it.
    pub(super) owner_text: String,
    /// What type parameters in the signature stand for.
    pub(super) generics: Generics,
    pub(super) signature: MethodSignature,
    pub(super) returns: Type,
    /// What its declaration adds to that.
    notes: TypeNotes,
}

impl Engine<'_> {
    /// Sets traps behind the calls of a statement that is about to be stepped over.
    pub(super) fn arm_returns(
        &mut self,
        thread: &Thread,
        at: Position,
        range: IlRange,
        kind: StepKind,
        leg: &mut Leg,
    ) {
        let is_last = self.stepping.steps.as_ref().is_none_or(|steps| {
            let count = steps.count;
            count.made + 1 >= count.asked
        });
        let in_statement = match at.standing {
            Standing::AtStatement(_) | Standing::InStatement(_) => true,
            Standing::Hidden(_) => false,
            Standing::NoText | Standing::NoSymbols => return,
        };
        let Some(method) = at.method.filter(|_| is_last && kind != StepKind::Out) else {
            return;
        };
        let Some(calls) = self.calls_of(method, range) else {
            return;
        };
        let Some(target) = &self.target else { return };
        let (types, module) = (target.types(), ModuleId(method.module));
        let mut ahead: Vec<_> = calls
            .into_iter()
            .filter(|(offset, _)| *offset >= at.ip)
            .take(MAX_CALLS)
            .filter(|(_, token)| is_told(types, module, *token, in_statement))
            .collect();
        let Some((last, _)) = ahead.last() else {
            return;
        };
        leg.stored = self.stored_result(method, at, range, *last);
        if leg.stored.is_some() {
            ahead.pop();
        }
        if ahead.is_empty() {
            return;
        }
        let Some(frame) = self.active_frame(thread) else {
            return;
        };
        let Ok((code, _)) = frame.compiled_code() else {
            return;
        };
        let target = self.target.as_ref();
        let body = target.and_then(|target| {
            let metadata = target.types().metadata(module).ok()?;
            metadata.body(method.token).ok()?
        });
        let is_sure = |call| {
            body.as_ref()
                .is_some_and(|it| il::is_straight(it.code, at.ip, call))
        };
        leg.untold.1 = range.end;
        for (offset, _) in ahead {
            let Ok(places) = code.return_offsets(offset.0) else {
                if is_sure(offset) {
                    leg.untold.0.push(offset);
                }
                continue;
            };
            for place in places {
                match code.break_at(place) {
                    Ok(breakpoint) => leg.traps.push(Trap {
                        breakpoint,
                        kind: TrapKind::Return(offset),
                    }),
                    Err(error) => tracing::debug!(%error, "no trap behind a call"),
                }
            }
        }
    }

    /// The calls in a part of a method.
    fn calls_of(&self, method: MethodId, range: IlRange) -> Option<Vec<(IlOffset, Token)>> {
        let target = self.target.as_ref()?;
        let module = target.modules.get(method.module)?;
        let body = module.metadata(&target.process).ok()?.body(method.token);
        Some(il::calls(body.ok()??.code, range))
    }

    /// A trap behind a call was reached.
    pub(super) fn call_returned(&mut self, thread: &Thread, call: IlOffset) {
        let Some(steps) = &mut self.stepping.steps else {
            return;
        };
        let is_thread = thread.id().is_ok_and(|id| id == steps.thread);
        let at = steps.leg.at.map(|at| at.frame.0);
        let target = self.target.as_ref();
        let frame = || target?.active_frame(thread).ok().flatten();
        let own = is_thread.then(frame).flatten();
        let own = own.filter(|frame| frame.stack_end().ok() == at);
        let Some(frame) = own else {
            steps.leg.strange_returns += 1;
            if steps.leg.strange_returns >= MAX_STRANGE {
                self.give_up_returns();
            }
            return;
        };
        let Some(method) = steps.leg.at.and_then(|at| at.method) else {
            return;
        };
        self.keep_return(thread, &frame, method, call);
    }

    /// Lets a step go on without looking at what its calls return.
    fn give_up_returns(&mut self) {
        let mut leg = self.take_leg();
        let (returns, others) = leg
            .traps
            .into_iter()
            .partition(|trap| matches!(trap.kind, TrapKind::Return(_)));
        leg.traps = others;
        let returns: Vec<Trap> = returns;
        for trap in &returns {
            remove(&trap.breakpoint);
        }
        if let Some(steps) = &mut self.stepping.steps {
            steps.leg = leg;
        }
    }

    /// A leg has ended: if it came back to a caller, what was returned to it.
    pub(super) fn note_return(&mut self, thread: &Thread, at: Position) {
        let steps = self.stepping.steps.as_ref();
        let Some(from) = steps.and_then(|steps| steps.leg.at) else {
            return;
        };
        let (Some(left), Some(method)) = (from.method, at.method) else {
            return;
        };
        if at.frame == from.frame && left == method {
            self.note_untold(thread, method, at.ip);
        }
        if at.frame <= from.frame {
            return;
        }
        let range = match at.standing {
            Standing::AtStatement(range) | Standing::InStatement(range) => range,
            // The call may be the last instruction before code without text.
            _ => IlRange::ALL,
        };
        let (Some(calls), Some(frame)) = (
            self.calls_of(method, IlRange::ALL),
            self.active_frame(thread),
        ) else {
            return;
        };
        let Ok((code, offset)) = frame.compiled_code() else {
            return;
        };
        let behind = |(call, _): &&(IlOffset, Token)| {
            let offsets = code.return_offsets(call.0);
            offsets.is_ok_and(|offsets| offsets.contains(&offset))
        };
        let near = |(call, _): &&(IlOffset, Token)| {
            range.contains(*call) || at.ip.0.saturating_sub(call.0) <= 8
        };
        let found = calls.iter().filter(near).find(behind);
        let call = match found {
            Some((call, _)) => Some(*call),
            None => self.refused_call(&code, left, method, range, &calls),
        };
        if let Some(call) = call {
            self.keep_return(thread, &frame, method, call);
        }
    }

    /// A leg has ended behind its code: what calls returned to it of which the runtime does not say where they return.
    fn note_untold(&mut self, thread: &Thread, method: MethodId, ip: IlOffset) {
        let Some(steps) = &mut self.stepping.steps else {
            return;
        };
        let (untold, end) = std::mem::take(&mut steps.leg.untold);
        // Where it ended elsewhere, something was thrown or jumped.
        if untold.is_empty() || ip != end {
            return;
        }
        let (Some(frame), Some(target)) = (self.active_frame(thread), &mut self.target) else {
            return;
        };
        let id = thread.id().unwrap_or(0);
        let found = untold.into_iter().filter_map(|call| {
            let (callee, code) = called(target, &frame, method, call)?;
            let reader = target.reader();
            let taker = il::taker_of_result(code, call, end);
            let value = taken(&reader, &frame, method, &callee, taker)
                .and_then(|value| reader.snapshot(&value));
            Some(ReturnedCall {
                at: call,
                method: callee.text,
                ty: callee.returns,
                notes: callee.notes,
                value,
            })
        });
        let found: Vec<_> = found.collect();
        if target.returned.thread != id {
            target.returned.forget();
        }
        target.returned.thread = id;
        target.returned.calls.extend(found);
        // All of them are of code that runs straight on.
        target.returned.calls.sort_by_key(|it| it.at);
    }

    /// The one call of a statement to the method that was left, of which the runtime does not say where it returns to.
    fn refused_call(
        &self,
        code: &CompiledCode,
        left: MethodId,
        method: MethodId,
        range: IlRange,
        calls: &[(IlOffset, Token)],
    ) -> Option<IlOffset> {
        let types = self.target.as_ref()?.types();
        let metadata = types.metadata(ModuleId(left.module)).ok()?.metadata();
        let name = metadata.method(left.token).ok()?.name().ok()?.into_owned();
        let mut named = calls.iter().filter(|(call, token)| {
            range.contains(*call)
                && code.return_offsets(call.0).is_err()
                && simple_name(types, ModuleId(method.module), *token).as_ref() == Some(&name)
        });
        let (call, _) = named.next()?;
        named.next().is_none().then_some(*call)
    }

    fn keep_return(&mut self, thread: &Thread, frame: &Frame, method: MethodId, call: IlOffset) {
        let id = thread.id().unwrap_or(0);
        let Some(target) = &mut self.target else {
            return;
        };
        let from = ReadFrom::Call;
        if let Some(found) = returned(target, thread, frame, method, call, from) {
            target.returned.add(id, found);
        }
    }

    /// What earlier steps found is no more what the last one did.
    pub(super) fn forget_returns(&mut self) {
        if let Some(target) = &mut self.target {
            target.returned.forget();
        }
    }
}

/// Where the result of a call is read.
#[derive(Debug, Clone, Copy)]
pub(super) enum ReadFrom {
    /// Right behind the call, where the frame is.
    Call,
    /// In a local variable of the frame.
    Local(u32),
}

/// What a call has returned to a frame; `None` if it returns nothing.
pub(super) fn returned(
    target: &Target,
    thread: &Thread,
    frame: &Frame,
    method: MethodId,
    call: IlOffset,
    from: ReadFrom,
) -> Option<ReturnedCall> {
    let reader = target.reader();
    let types = reader.types;
    let (callee, _) = called(target, frame, method, call)?;
    if callee.returns == Type::Primitive(Primitive::Void) {
        return None;
    }
    let from_registers = || {
        let untold = || untold(types, &callee.returns);
        if !is_struct(&callee.returns) || callee.returns.is_open() {
            return Err(untold());
        }
        let registers = thread.return_registers().ok_or_else(untold)?;
        let (stack, _) = frame.stack_range().ok_or_else(untold)?;
        reader.returned_struct(&callee.returns, &registers, stack)
    };
    // The library walks the whole stack before it tells a result, which takes a second for ten thousand frames.
    let word = || {
        let (code, offset) = frame.compiled_code().ok()?;
        let is_behind = code.return_offsets(call.0).ok()?.contains(&offset);
        let registers = thread.return_registers().filter(|_| is_behind)?;
        reader.returned_word(&callee.returns, &registers)
    };
    let declared = Some(callee.returns.clone()).filter(|ty| !ty.is_open());
    let value: ValueResult<_> = match from {
        ReadFrom::Local(slot) => match frame.local(slot) {
            Ok(value) => reader.of_runtime(&value, declared),
            Err(error) => Err(error.into()),
        },
        ReadFrom::Call => match declared.is_some().then(word).flatten() {
            Some(value) => Ok(value),
            None => match frame.return_value(call.0) {
                Ok(Some(value)) => reader.of_runtime(&value, declared),
                Ok(None) | Err(_) => from_registers(),
            },
        },
    };
    Some(ReturnedCall {
        at: call,
        method: callee.text,
        ty: callee.returns,
        notes: callee.notes,
        value: value.and_then(|value| reader.snapshot(&value)),
    })
}

/// What a call has returned, from where a statement that has ended has put it.
fn taken(
    reader: &Reader<'_>,
    frame: &Frame,
    method: MethodId,
    callee: &Callee,
    taker: Option<il::Taker>,
) -> ValueResult<Value> {
    match taker {
        Some(il::Taker::Local(slot)) => {
            reader.of_runtime(&frame.local(slot.into())?, Some(callee.returns.clone()))
        }
        // Only the state machine itself knows such a field: its own is meant.
        Some(il::Taker::Field(token))
            if let Some(name) = hoisted_local(reader.types, ModuleId(method.module), token) =>
        {
            let machine = reader.of_runtime(&frame.first_argument()?, None)?;
            reader.field(&machine, &name)
        }
        _ => Err(untold(reader.types, &callee.returns)),
    }
}

fn is_struct(ty: &Type) -> bool {
    ty.is_value() == Some(true) && ty.underlying().is_none()
}

/// Why what a call has returned is not known: the runtime tells all but structs, where there is a place to ask it at.
fn untold(types: Types<'_>, returns: &Type) -> Unreadable {
    if is_struct(returns) || returns.is_open() {
        let ty = types.text(returns);
        return Unreadable::NotReturned { ty };
    }
    Unreadable::Dissolved
}

/// The metadata name of a field, if that is a local of an async method or iterator.
fn hoisted_local(types: Types<'_>, module: ModuleId, token: Token) -> Option<String> {
    let metadata = types.metadata(module).ok()?.metadata();
    let name = if token.is(Table::MemberRef) {
        metadata.member_ref(token).ok()?.name
    } else {
        metadata.field(token).ok()?.name().ok()?
    };
    GeneratedName::parse(&name)
        .is_some_and(|it| it.kind == GeneratedKind::HoistedLocal)
        .then(|| name.into_owned())
}

/// What a frame calls at an instruction, and its code.
fn called<'t>(
    target: &'t Target,
    frame: &Frame,
    method: MethodId,
    call: IlOffset,
) -> Option<(Callee, &'t [u8])> {
    let types = target.types();
    let context = FrameContext::of(types, frame.clone()).ok()?;
    let module = types.metadata(context.module).ok()?;
    let body = module.body(method.token).ok()??;
    let here = IlRange {
        start: call,
        end: IlOffset(call.0 + 1),
    };
    let (_, token) = *il::calls(body.code, here).first()?;
    let callee = callee(types, context.module, token, &context.generics)?;
    Some((callee, body.code))
}

/// Whether the result of a call is worth a stop: not of one that returns nothing, and not what an `await` is made of.
/// The result of an `await` itself comes in code without text, where nothing else is the user's.
fn is_told(types: Types<'_>, module: ModuleId, token: Token, in_statement: bool) -> bool {
    let Some(callee) = callee(types, module, token, &Generics::default()) else {
        return false;
    };
    let is_wanted = match &*callee.name {
        "GetAwaiter" | "get_IsCompleted" | "ConfigureAwait" => false,
        AWAITED => true,
        _ => in_statement,
    };
    is_wanted && callee.returns != Type::Primitive(Primitive::Void)
}

fn simple_name(types: Types<'_>, module: ModuleId, token: Token) -> Option<String> {
    callee(types, module, token, &Generics::default()).map(|it| it.name)
}

/// The method that a token of a call instruction names (ECMA-335 III.3.19).
pub(super) fn callee(
    types: Types<'_>,
    module: ModuleId,
    token: Token,
    generics: &Generics,
) -> Option<Callee> {
    let metadata = types.metadata(module).ok()?.metadata();
    let (mut token, mut of_method) = (token, Vec::new());
    if token.is(Table::MethodSpec) {
        let spec: MethodSpecRow = metadata.row_of(token).ok()?;
        token = spec.method;
        let blob = metadata.blob(spec.instantiation).ok()?;
        for argument in signature::method_spec_arguments(blob).ok()? {
            of_method.push(types.of_signature(module, &argument, generics).ok()?);
        }
    }
    let (name, owner, blob) = if token.is(Table::MemberRef) {
        let member = metadata.member_ref(token).ok()?;
        let owner = types.of_token(module, member.parent, generics).ok()?;
        (member.name.into_owned(), owner, member.signature)
    } else {
        let method = metadata.method(token).ok()?;
        let owner = types.open(module, method.declaring_type().ok()?).ok()?;
        // Code calls methods of its own generic type by their definition.
        let owner = owner.with(generics);
        (
            method.name().ok()?.into_owned(),
            owner,
            method.signature_blob().ok()?,
        )
    };
    let signature = signature::method_signature(blob).ok()?;
    let inner = Generics {
        of_type: match &owner {
            Type::Named(named) => named.arguments.iter().cloned().collect(),
            _ => Vec::new().into(),
        },
        of_method: of_method.into(),
    };
    let returns = types
        .of_signature(module, &signature.return_type, &inner)
        .unwrap_or(Type::OBJECT);
    let shown = if name.starts_with("op_") {
        special_name(&name)
    } else {
        name.strip_prefix("get_").unwrap_or(&name).to_owned()
    };
    let owner_text = match owner.as_named().map(|named| types.simple_name(named)) {
        // Methods of closures and state machines belong to the code around them.
        Some(Ok((_, simple))) if GeneratedName::parse(&simple).is_some() => String::new(),
        _ => format!("{}.", types.text(&owner)),
    };
    let shown = match GeneratedName::parse(&shown) {
        Some(generated) if let Some(function) = generated.local_function() => function.to_owned(),
        Some(generated) if !generated.text.is_empty() => generated.text.to_owned(),
        _ => shown,
    };
    let text = match &*name {
        AWAITED if owner_text.contains("Awaiter") => "await".to_owned(),
        _ => format!("{owner_text}{shown}"),
    };
    Some(Callee {
        text,
        notes: returned_notes(types, module, token, &owner, &name, &signature),
        name,
        owner,
        owner_text,
        generics: inner,
        signature,
        returns,
    })
}

/// What the declaration of a method adds to the type that it returns, where it is found: names of tuple elements.
fn returned_notes(
    types: Types<'_>,
    module: ModuleId,
    token: Token,
    owner: &Type,
    name: &str,
    signature: &MethodSignature,
) -> TypeNotes {
    let declared = || {
        if !token.is(Table::MemberRef) {
            return Some((module, token));
        }
        let named = types.named(owner)?;
        let methods = types.methods(&named, Some(name)).ok()?;
        let mut fitting = methods
            .iter()
            .filter(|it| it.parameters.len() == signature.parameters.len());
        let found = fitting.next()?;
        // Which of several it is does not matter here.
        let is_only = fitting.next().is_none();
        is_only.then_some((found.declared_in.module, found.token))
    };
    let notes = || {
        let (module, token) = declared()?;
        let metadata = types.metadata(module).ok()?.metadata();
        let result = metadata.method(token).ok()?.return_param().ok()??;
        Some(TypeNotes::of(metadata, result))
    };
    notes().unwrap_or_default()
}
