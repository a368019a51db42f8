//! Steps into one call of a statement: which calls there are, and which of them has led to where a thread is.
//!
//! The runtime's stepper goes into whatever is called next. So a step into one call lets it do that, looks in the frame
//! that it began in where its callee will return to, and leaves the callee at once if that is not behind the wanted call.
//! In code for debugging the runtime begins a piece of compiled code behind each call, which tells calls apart; of most
//! others it says where they return to.
//!
//! Invariant: a call that cannot be told from another one is not offered, with the reason.

use cordebug::thread::{Frame, Thread};
use cordebug::variables::CompiledCode;
use metadata::csharp::{GeneratedName, special_name};
use metadata::{IlOffset, Token};

use super::il::{self, CallKind};
use super::position::{IlRange, MethodId, Position};
use super::returns::{Callee, callee};
use super::{Leg, MAX_WALK};
use crate::api::{Error, ErrorCode, Reply, StepKind, StepTarget, ThreadId};
use crate::engine::Engine;
use crate::target::Target;
use crate::types::{Generics, Kind, ModuleId, Named, Type, Types};
use crate::values::scope::FrameContext;

/// The call that a step goes into.
#[derive(Debug)]
pub(super) struct Wanted {
    call: IlOffset,
    /// All calls of the statement.
    calls: Vec<IlOffset>,
    /// Whether the thread is in the wanted call.
    inside: bool,
}

/// Where the calls of some code are in the compiled code of their method.
struct Sites<'c> {
    code: &'c CompiledCode,
    /// Native and IL offsets at which pieces begin.
    boundaries: Vec<(u32, u32)>,
    calls: &'c [IlOffset],
}

impl<'c> Sites<'c> {
    fn of(code: &'c CompiledCode, calls: &'c [IlOffset]) -> Self {
        Self {
            code,
            boundaries: code.boundaries().unwrap_or_default(),
            calls,
        }
    }

    /// The call that returns to an offset of the compiled code, if that can be told.
    fn call_before(&self, native: u32) -> Option<IlOffset> {
        let returns_there = |call: &&IlOffset| {
            let told = self.code.return_offsets(call.0);
            told.is_ok_and(|offsets| offsets.contains(&native))
        };
        if let Some(call) = self.calls.iter().find(returns_there) {
            return Some(*call);
        }
        // The piece that holds the last byte of the call.
        let mut before = self.boundaries.iter().filter(|(start, _)| *start < native);
        let (_, il) = before.next_back()?;
        self.alone_in(self.piece(IlOffset(*il)))
    }

    /// Whether a return from a call can be told from those of the others.
    fn is_told_apart(&self, call: IlOffset) -> bool {
        self.code.return_offsets(call.0).is_ok() || self.alone_in(self.piece(call)) == Some(call)
    }

    /// The IL of the piece of compiled code that holds an offset.
    fn piece(&self, at: IlOffset) -> IlRange {
        let offsets = || self.boundaries.iter().map(|(_, il)| IlOffset(*il));
        let start = offsets().filter(|it| *it <= at).max();
        let end = offsets().filter(|it| *it > at).min();
        IlRange {
            start: start.unwrap_or(IlRange::ALL.start),
            end: end.unwrap_or(IlRange::ALL.end),
        }
    }

    /// The one call in some IL of which the runtime does not say where it returns to.
    fn alone_in(&self, piece: IlRange) -> Option<IlOffset> {
        let untold =
            |call: &&IlOffset| piece.contains(**call) && self.code.return_offsets(call.0).is_err();
        let mut found = self.calls.iter().filter(untold);
        let call = found.next()?;
        found.next().is_none().then_some(*call)
    }
}

impl Engine<'_> {
    /// The calls of the statement that a thread is at.
    pub(crate) fn step_targets(&mut self, thread: Option<ThreadId>) -> Result<Reply, Error> {
        let (_, thread) = self.thread_to_step(thread)?;
        let position = self.position(&thread)?;
        Ok(Reply::StepTargets(self.targets_at(&thread, position)?))
    }

    /// Begins a step into one of these calls.
    pub(crate) fn step_into_target(
        &mut self,
        thread: Option<ThreadId>,
        call: u32,
    ) -> Result<(), Error> {
        let (id, thread) = self.thread_to_step(thread)?;
        let position = self.position(&thread)?;
        let targets = self.targets_at(&thread, position)?;
        let Some(target) = targets.iter().find(|it| it.call == call) else {
            return Err(Error::new(
                ErrorCode::InvalidParameter,
                "the statement that the thread is at makes no such call",
            )
            .hint("ask for the calls of the statement at this stop"));
        };
        if let Some(why) = &target.refused {
            return Err(Error::new(
                ErrorCode::NotSupported,
                format!("{} cannot be stepped into: {why}", target.name),
            )
            .hint("step into another call, or over the statement"));
        }
        let wanted = Wanted {
            call: IlOffset(call),
            calls: targets.iter().map(|it| IlOffset(it.call)).collect(),
            inside: false,
        };
        self.begin_steps((id, &thread), position, StepKind::Into, 1, Some(wanted))
    }

    fn targets_at(&mut self, thread: &Thread, at: Position) -> Result<Vec<StepTarget>, Error> {
        let nowhere = || {
            Error::new(
                ErrorCode::StepFailed,
                "the thread is not at a statement: there are no calls to choose from",
            )
            .hint("step to a statement of the user's code first")
        };
        let statement = at.standing.statement().ok_or_else(nowhere)?;
        let method = at.method.ok_or_else(nowhere)?;
        if let Some(error) = self.step_obstacle(method) {
            return Err(error);
        }
        let frame = self.active_frame(thread).ok_or_else(nowhere)?;
        let just_my_code = self.stepping.options.just_my_code;
        let target = self.target()?;
        let types = target.types();
        let context = FrameContext::of(types, frame.clone()).map_err(|_| nowhere())?;
        let metadata = types.metadata(context.module).map_err(|_| nowhere())?;
        let body = metadata.body(method.token).ok().flatten();
        let body = body.ok_or_else(nowhere)?;
        let range = IlRange {
            start: at.ip,
            end: statement.end,
        };
        let calls = il::all_calls(body.code, range);
        let offsets: Vec<_> = calls.iter().map(|(call, ..)| *call).collect();
        let compiled = frame.compiled_code();
        let sites = compiled.as_ref().ok();
        let sites = sites.map(|(code, _)| Sites::of(code, &offsets));
        let mut found = Vec::with_capacity(calls.len());
        for (call, kind, token) in calls {
            let (name, mut refused) = describe(types, &context, kind, token, just_my_code);
            if refused.is_none() && !sites.as_ref().is_some_and(|it| it.is_told_apart(call)) {
                let why = "the code is optimised, and the runtime does not tell this call from the others of the statement";
                refused = Some(why.to_owned());
            }
            found.push(StepTarget {
                call: call.0,
                name,
                refused,
            });
        }
        Ok(found)
    }

    /// The frame of a call that has led to a position and that the step under way is not to go into.
    pub(super) fn unwanted_call(&mut self, thread: &Thread, at: Position) -> Option<Frame> {
        let steps = self.stepping.steps.as_mut()?;
        let from = steps.from.frame;
        let wanted = steps.wanted.as_mut()?;
        if at.frame >= from {
            wanted.inside = false;
            return None;
        }
        let (callee, site) = call_from(self.target.as_ref()?, thread, from.0, &wanted.calls)?;
        wanted.inside = site == Some(wanted.call);
        (!wanted.inside).then_some(callee)
    }

    /// Whether the thread of the step is in the call that it was told to go into.
    pub(super) fn is_in_wanted_call(&self) -> bool {
        let steps = self.stepping.steps.as_ref();
        let wanted = steps.and_then(|steps| steps.wanted.as_ref());
        wanted.is_some_and(|wanted| wanted.inside)
    }

    /// Whether a method initialises its type, which happens inside whatever call is the first to need that.
    pub(super) fn is_type_initializer(&self, method: MethodId) -> bool {
        self.ask_metadata(method, |metadata, token| {
            let method = metadata.method(token);
            method.is_ok_and(|it| it.name().is_ok_and(|name| name == ".cctor"))
        })
    }

    /// Begins a leg back to the caller of a frame, whatever that frame has called itself.
    pub(super) fn leave_call(
        &mut self,
        thread: &Thread,
        at: Position,
        callee: &Frame,
    ) -> Result<(), Error> {
        let begin = || -> Result<_, cordebug::Error> {
            let stepper = callee.stepper(thread)?;
            stepper.prepare(false)?;
            stepper.step_out()?;
            Ok(stepper)
        };
        let stepper =
            begin().map_err(|error| Error::new(ErrorCode::StepFailed, error.to_string()))?;
        self.replace_leg(Leg {
            at: Some(at),
            leaves: true,
            stepper: Some(stepper),
            ..Leg::default()
        });
        Ok(())
    }
}

/// What the frame at a place of the stack has called: the callee's frame, and the call if it can be told.
fn call_from(
    target: &Target,
    thread: &Thread,
    caller: u64,
    calls: &[IlOffset],
) -> Option<(Frame, Option<IlOffset>)> {
    let mut callee = None;
    for frame in target.frames(thread).take(MAX_WALK) {
        if frame.internal_kind().is_some() || frame.function().is_err() {
            continue;
        }
        if frame.stack_end().ok() == Some(caller) {
            let site = || {
                let (code, offset) = frame.compiled_code().ok()?;
                Sites::of(&code, calls).call_before(offset)
            };
            return Some((callee?, site()));
        }
        callee = Some(frame);
    }
    None
}

/// The name of what a call calls, and why a step cannot go into it, as far as metadata tells.
fn describe(
    types: Types<'_>,
    context: &FrameContext,
    kind: CallKind,
    token: Token,
    just_my_code: bool,
) -> (String, Option<String>) {
    if kind == CallKind::Pointer {
        return ("a function pointer".to_owned(), None);
    }
    let Some(callee) = callee(types, context.module, token, &context.generics) else {
        let why = "what it calls cannot be read from the metadata";
        return ("a call".to_owned(), Some(why.to_owned()));
    };
    let name = label(types, kind, &callee);
    if let Type::Array { .. } | Type::SzArray(_) = &callee.owner {
        return (name, Some("it is code of the runtime itself".to_owned()));
    }
    // What has no definition is not loaded so far, or known only when it runs.
    let Some(named) = types.named(&callee.owner) else {
        return (name, None);
    };
    if named.kind == Kind::Delegate {
        let makes = kind == CallKind::Constructor;
        return (
            name,
            makes.then(|| "making a delegate calls nothing".to_owned()),
        );
    }
    let why = || {
        let module = types.module(named.module).ok()?;
        let has_symbols = module.symbols(types.process).is_ok();
        let may_return = has_symbols
            || named.kind == Kind::Interface
            || is_overridable(types, &named, &callee.name)
            || takes_delegates(types, context.module, &callee);
        (!may_return).then(|| {
            let module = module.file_name();
            format!("{module} has no symbols, and the call leads to no code of the user's that could be foreseen")
        })
    };
    let refused = just_my_code.then(why).flatten();
    (name, refused)
}

fn label(types: Types<'_>, kind: CallKind, callee: &Callee) -> String {
    if callee.name == ".ctor" {
        let owner = types.text(&callee.owner);
        let is_base = kind == CallKind::Method && callee.owner.is_value() != Some(true);
        return match is_base {
            true => format!("constructor of {owner}"),
            false => format!("new {owner}"),
        };
    }
    let name = match GeneratedName::parse(&callee.name) {
        Some(generated) if let Some(function) = generated.local_function() => function.to_owned(),
        Some(generated) if !generated.text.is_empty() => generated.text.to_owned(),
        _ => special_name(&callee.name),
    };
    let arguments = callee.generics.of_method.iter();
    let arguments: Vec<_> = arguments.map(|it| types.text(it)).collect();
    let arguments = match arguments.is_empty() {
        true => String::new(),
        false => format!("<{}>", arguments.join(", ")),
    };
    format!("{}{name}{arguments}", callee.owner_text)
}

/// Whether a derived type may have another method of that name in its place; also if that cannot be told.
fn is_overridable(types: Types<'_>, named: &Named, name: &str) -> bool {
    let Ok(definition) = types.definition(named) else {
        return true;
    };
    if definition.flags().is_sealed() {
        return false;
    }
    let mut declared = false;
    for method in definition.methods().flatten() {
        if method.name().is_ok_and(|it| it == name) {
            declared = true;
            if method.flags().is_virtual() && !method.flags().is_final() {
                return true;
            }
        }
    }
    !declared
}

/// Whether a method takes a delegate, which it may call.
fn takes_delegates(types: Types<'_>, module: ModuleId, callee: &Callee) -> bool {
    let generics: &Generics = &callee.generics;
    let parameters = callee.signature.parameters.iter();
    let mut parameters = parameters.filter_map(|it| types.of_signature(module, it, generics).ok());
    parameters.any(|it| it.as_named().is_some_and(|it| it.kind == Kind::Delegate))
}
