//! What becomes of an exception that a task keeps: whoever awaits the task, or waits for it, gets it.
//!
//! Who that is stands on the heap, or on the stack while the method has not been suspended yet; where each of them is
//! suspended, its own exception clauses tell what it does, as the runtime will find when the exception is thrown again there.
//! Nothing is guessed: where a chain cannot be followed, nothing is known.

use std::ops::Range;

use cordebug::thread::{Frame as RuntimeFrame, Thread};
use cordebug::value::Value;
use metadata::tables::{MethodSpecRow, Table};
use metadata::{IlOffset, Metadata, Token, signature};

use super::at_once;
use super::handler::{self, MAX_FRAMES};
use crate::api::{AsyncEnd, AsyncKind, Frame, FrameKind, Handler, Then};
use crate::fields::Fields;
use crate::stack::{self, SUPPRESS_THROWING, Walk, frame};
use crate::stepping::{il, work};
use crate::target::Target;

/// Tasks that an exception is followed through.
const MAX_TASKS: u32 = 100;
/// What throws again what the task that it is called for has kept; all but the first wrap it.
const RESULT_OF_AWAITER: &str = "GetResult";
const WAITS: [&str; 3] = ["get_Result", "Wait", "WaitAll"];
/// What a task that was waited for without `await` throws.
const WRAPPED: [&str; 3] = [
    "System.AggregateException",
    "System.Exception",
    "System.Object",
];
/// Combinators whose own task does not fail with what they wait for.
const KEEPS_TO_ITSELF: [&str; 2] = ["Task.WhenAny", "Task.WhenEach"];
/// Those of whose tasks the first that fails decides.
const WAITS_FOR_ALL: [&str; 1] = ["Task.WhenAll"];

/// What becomes of an exception of these types that leaves a frame by a task: one of an async method, or of what runs a task.
pub(super) fn then(target: &mut Target, thread: &Thread, frame: u32, types: &[String]) -> Then {
    let mut search = Search {
        target,
        types: types.to_vec(),
        left: MAX_TASKS,
    };
    search.left_by_task(thread, frame).unwrap_or(Then::Unknown)
}

/// The frames of a thread from one on, outwards, with their numbers.
type Frames = Vec<(u32, RuntimeFrame)>;

struct Search<'t> {
    target: &'t mut Target,
    /// The full names of the exception's type and those it is derived from.
    types: Vec<String>,
    left: u32,
}

impl Search<'_> {
    fn left_by_task(&mut self, thread: &Thread, index: u32) -> Option<Then> {
        self.left = self.left.checked_sub(1)?;
        let frames = self.frames_from(thread, index)?;
        let ((_, body), callers) = frames.split_first()?;
        if !stack::is_async(self.target, body) {
            let mut runners = frames.iter();
            let task = runners.find_map(|(_, it)| work::task_of_runner(self.target, it))?;
            return self.kept_by(task);
        }
        let starting = callers.iter();
        let starting = starting.take_while(|(_, it)| stack::calls(self.target, it, body));
        let starting = starting.count();
        match stack::run_of(self.target, body) {
            Err(AsyncEnd::AsyncVoid) => Some(Then::NotCaught),
            Ok(task) if starting == 0 => self.kept_by(task),
            Err(_) if starting == 0 => None,
            _ => self.handed_to(thread, &frames, 1 + starting),
        }
    }

    fn frames_from(&mut self, thread: &Thread, from: u32) -> Option<Frames> {
        let mut walk = Walk::new(thread);
        let mut found = Vec::new();
        for index in 0..MAX_FRAMES {
            let Some(walked) = walk.next(self.target).ok()? else {
                break;
            };
            if index >= from && walked.frame.internal_kind().is_none() {
                found.push((index, walked.frame));
            }
        }
        Some(found)
    }

    /// Those that called a method which was not suspended yet, and are about to get its task.
    fn handed_to(
        &mut self,
        thread: &Thread,
        frames: &[(u32, RuntimeFrame)],
        from: usize,
    ) -> Option<Then> {
        let pairs = frames.iter().zip(frames.get(1..)?);
        for ((_, inner), (index, caller)) in pairs.skip(from.checked_sub(1)?) {
            let told = frame::describe(self.target, caller, *index);
            let is_async = stack::is_async(self.target, caller);
            if !self.has_symbols(caller) {
                if let Some(task) = work::task_of_runner(self.target, caller) {
                    return self.kept_by(task);
                }
                if is_async {
                    if !self.awaits_at_once(caller, inner)? {
                        return None;
                    }
                    return match handler::in_frame(self.target, caller, *index, &self.types) {
                        Some(Handler::Task { .. }) | None => self.left_by_task(thread, *index),
                        Some(handler) => of_handler(handler),
                    };
                }
                continue;
            }
            let is_hidden = told.kind == FrameKind::Hidden;
            match self.behind_call(caller, inner, is_async, is_hidden)? {
                Behind::Awaits(place) => {
                    let arguments = || caller.type_arguments();
                    let caught =
                        handler::at_place(self.target, place, arguments, &self.types, told);
                    return match caught {
                        Some(Handler::Task { .. }) | None => self.left_by_task(thread, *index),
                        Some(handler) => of_handler(handler),
                    };
                }
                Behind::Suppresses => {
                    return Some(Then::Suppressed {
                        method: told.method,
                        source: told.source,
                        user_code: told.user_code,
                    });
                }
                Behind::Waits { wraps } => return self.thrown_by(thread, *index, wraps),
                Behind::HandsOn => {}
                Behind::Keeps => return Some(Then::NotAwaited),
            }
        }
        None
    }

    /// What a frame does with the task that it gets from what it calls.
    fn behind_call(
        &mut self,
        caller: &RuntimeFrame,
        inner: &RuntimeFrame,
        is_async: bool,
        is_hidden: bool,
    ) -> Option<Behind> {
        let at = caller.calling_offset()?;
        let called = self.name_of_method(inner);
        let Target {
            modules, process, ..
        } = &mut *self.target;
        let function = caller.function().ok()?;
        let module = modules.entry(&function.module().ok()?);
        let method = Token(function.token().ok()?);
        let opened = module.metadata(process).ok()?;
        let metadata = opened.metadata();
        let code = opened.body(method).ok()??.code;
        let name = metadata.method(method).ok()?.name().ok()?;
        let pdb = module.symbols(process).ok()?.pdb();
        // The code that an `await` was made into has no text of its own.
        let mut points = pdb.sequence_points(method).ok()?.flatten();
        let end = points.find(|it| it.span.is_some() && it.offset.0 > at);
        let end = end.map_or(u32::MAX, |it| it.offset.0);
        // The runtime may know the statement only. What is called through a delegate has another name there.
        let calls = il::calls_between(code, IlOffset(at), IlOffset(end));
        let mut named = calls.iter().map(|(at, it)| (*at, name_of(metadata, *it)));
        let same = named.clone().find(|(_, name)| *name == called);
        let (call, _) = same.or_else(|| named.clone().next())?;
        if is_async {
            let stepping = pdb.async_stepping(method).ok()??;
            let mut awaits = stepping.awaits.iter().map(|it| it.yield_offset);
            let next = awaits.find(|it| (call.0..end).contains(&it.0));
            let Some(at) = next else {
                return Some(Behind::Keeps);
            };
            let mut between = named.filter(|(it, _)| (call.0..at.0).contains(&it.0));
            if between.any(|(_, name)| name.is_some_and(|it| it == "WhenAll")) {
                return None;
            }
            return Some(match is_suppressed(metadata, code, call..at, &calls)? {
                true => Behind::Suppresses,
                false => Behind::Awaits((module.identity(), method, at)),
            });
        }
        let waits = named.find_map(|(at, name)| {
            let name = name.filter(|it| it == RESULT_OF_AWAITER || WAITS.contains(&it.as_str()));
            name.filter(|_| at > call)
        });
        Some(match waits {
            Some(name) => Behind::Waits {
                wraps: name != RESULT_OF_AWAITER,
            },
            // The compiler's own, between who asks an async iterator for a value and its body.
            None if name.ends_with("MoveNextAsync") && is_hidden => Behind::HandsOn,
            None if il::returns_result(code, call) => Behind::HandsOn,
            None => Behind::Keeps,
        })
    }

    /// Whether a frame without symbols awaits what it gets from the call that it is in.
    fn awaits_at_once(&mut self, caller: &RuntimeFrame, inner: &RuntimeFrame) -> Option<bool> {
        let called = self.name_of_method(inner);
        let Target {
            modules, process, ..
        } = &mut *self.target;
        let function = caller.function().ok()?;
        let module = modules.entry(&function.module().ok()?);
        let opened = module.metadata(process).ok()?;
        let (method, place) = (Token(function.token().ok()?), caller.calling_offset());
        at_once::awaits(opened, method, called.as_deref(), place)
    }

    fn name_of_method(&mut self, frame: &RuntimeFrame) -> Option<String> {
        let Target {
            modules, process, ..
        } = &mut *self.target;
        let function = frame.function().ok()?;
        let module = modules.entry(&function.module().ok()?);
        let metadata = module.metadata(process).ok()?.metadata();
        name_of(metadata, Token(function.token().ok()?))
    }

    fn has_symbols(&mut self, frame: &RuntimeFrame) -> bool {
        let Target {
            modules, process, ..
        } = &mut *self.target;
        let module = frame.function().and_then(|it| it.module());
        module.is_ok_and(|it| modules.entry(&it).symbols(process).is_ok())
    }

    /// Who gets what a task keeps.
    fn kept_by(&mut self, task: Value) -> Option<Then> {
        let (chain, end) = stack::awaiting(self.target, task.clone());
        let mut task = Some(task);
        for awaiter in chain {
            let told = awaiter.frame;
            let mut fields = Fields::new(self.target);
            if let Some(all) = &awaiter.combinator
                && WAITS_FOR_ALL.iter().any(|it| told.method.starts_with(it))
                && !fields.is_first_to_fail(all, task.as_ref()?)?
            {
                return None;
            }
            task = awaiter.combinator;
            match told.kind {
                AsyncKind::Continuation => return None,
                AsyncKind::Combinator
                    if KEEPS_TO_ITSELF.iter().any(|it| told.method.starts_with(it)) =>
                {
                    return None;
                }
                AsyncKind::Combinator
                | AsyncKind::Task
                | AsyncKind::Method
                | AsyncKind::Iterator => {}
            }
            let Some(place) = awaiter.suspended else {
                // What a method does with it that is suspended nobody knows where, is not known either.
                if matches!(told.kind, AsyncKind::Method | AsyncKind::Iterator) {
                    return None;
                }
                continue;
            };
            if fields.is_suppressed(&place.machine) {
                return Some(Then::Suppressed {
                    method: told.method,
                    source: told.source,
                    user_code: told.user_code,
                });
            }
            task = fields.task_of_machine(&place.machine);
            let told = Frame {
                method: told.method,
                module: told.module,
                source: told.source,
                user_code: told.user_code,
                is_async: true,
                ..Frame::default()
            };
            let at = (place.module, place.method, place.at);
            let arguments = || place.machine.exact_type()?.arguments();
            match handler::at_place(self.target, at, arguments, &self.types, told) {
                Some(Handler::Task { .. }) | None => {}
                Some(handler) => return of_handler(handler),
            }
        }
        match end {
            AsyncEnd::Nobody => Some(Then::NotAwaited),
            AsyncEnd::AsyncVoid => Some(Then::NotCaught),
            AsyncEnd::Blocks { thread } => {
                let thread = self.target.process.thread(thread?.0).ok()?;
                self.wakes(&thread)
            }
            AsyncEnd::Completed | AsyncEnd::Unknown(_) => None,
        }
    }

    /// A thread that is blocked until a task is done.
    fn wakes(&mut self, thread: &Thread) -> Option<Then> {
        let mut unwraps = false;
        for (index, frame) in self.frames_from(thread, 0)? {
            let told = frame::describe(self.target, &frame, index);
            if self.has_symbols(&frame) {
                return self.thrown_by(thread, index, !unwraps);
            }
            unwraps |= told
                .method
                .starts_with("System.Runtime.CompilerServices.TaskAwaiter");
        }
        None
    }

    /// It is thrown again by what a frame calls.
    fn thrown_by(&mut self, thread: &Thread, index: u32, wraps: bool) -> Option<Then> {
        if wraps {
            self.types = WRAPPED.map(str::to_owned).to_vec();
        }
        for (index, frame) in self.frames_from(thread, index)? {
            match handler::in_frame(self.target, &frame, index, &self.types) {
                Some(Handler::Task { .. }) => return self.left_by_task(thread, index),
                Some(handler) => return of_handler(handler),
                None => {}
            }
        }
        Some(Then::NotCaught)
    }
}

/// What comes behind the call of an async method, in the same statement.
enum Behind {
    /// An `await`, here.
    Awaits((usize, Token, IlOffset)),
    /// An `await` that throws nothing.
    Suppresses,
    /// It waits for the task.
    Waits { wraps: bool },
    /// The task is what the method returns itself.
    HandsOn,
    /// None of that.
    Keeps,
}

fn of_handler(handler: Handler) -> Option<Then> {
    let filter = matches!(handler, Handler::Filter { .. });
    match handler {
        Handler::Catch { frame } | Handler::Filter { frame } => Some(Then::Caught {
            method: frame.method,
            source: frame.source,
            user_code: frame.user_code,
            filter,
        }),
        Handler::Nobody => Some(Then::NotCaught),
        _ => None,
    }
}

/// Whether an `await` is told to throw nothing; `None` if only running code can tell.
pub(super) fn is_suppressed(
    metadata: Metadata<'_>,
    code: &[u8],
    range: Range<IlOffset>,
    calls: &[(IlOffset, Token)],
) -> Option<bool> {
    let mut is_suppressed = false;
    for (at, called) in calls.iter().filter(|(at, _)| range.contains(at)) {
        if called.is(Table::MemberRef)
            && let Ok(member) = metadata.member_ref(*called)
            && member.name == "ConfigureAwait"
            && let Ok(signature) = signature::method_signature(member.signature)
            && let [signature::Type::Named { .. }] = &signature.parameters[..]
        {
            let options = il::constant_before(code, range.start, *at)?;
            is_suppressed |= options & SUPPRESS_THROWING != 0;
        }
    }
    Some(is_suppressed)
}

/// The name of a method that code calls.
pub(super) fn name_of(metadata: Metadata<'_>, called: Token) -> Option<String> {
    let mut token = called;
    if token.is(Table::MethodSpec) {
        let spec: MethodSpecRow = metadata.row_of(token).ok()?;
        token = spec.method;
    }
    let name = match token.is(Table::MemberRef) {
        true => metadata.member_ref(token).ok()?.name,
        false => metadata.method(token).ok()?.name().ok()?,
    };
    Some(name.into_owned())
}
