//! Whether a frame is the same call of its method as at an earlier stop, so that its variables can be compared.
//!
//! A frame of the same method at the same place of the stack may be another call. It is the same one only if that is
//! proved: `Main` is called once; what it calls has not been called again while it waits at the same call, if no way through
//! its code leads back to that, or the loops around have not gone on (`assigned::again`); and so on inwards. A step that
//! ends in a method that it began in, or in what that calls, has not left it, because it would have ended where that
//! begins anew. An async method or iterator is the object that holds its variables.
//!
//! Invariant: what cannot be proved gets a new number, so that nothing is compared.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};

use cordebug::handle::Handle;
use cordebug::thread::{Frame, Thread};
use metadata::csharp::GeneratedKind;
use metadata::{IlOffset, Symbols, Token};

use crate::api::{Stop, StopId, StopReason};
use crate::target::Target;
use crate::types::{Kind, ModuleId};

use super::Reader;
use super::assigned::again::{self, Counter};
use super::shape::{CodePlace, generated_kind};

/// Frames that are looked at; the outer ones of a deeper stack are not known.
const MAX_FRAMES: usize = 64;

/// Async methods and iterators that are remembered: what calls one stops while that is suspended, and is on no stack.
const MAX_MACHINES: usize = 64;

/// Ways back to calls that are remembered.
const MAX_WAYS: usize = 1000;

/// The calls that were there when somebody asked last.
#[derive(Debug, Default)]
pub(crate) struct Activations(RefCell<Known>);

#[derive(Debug, Default)]
struct Known {
    last: u64,
    /// By thread: when it was asked, and the calls, outermost first.
    threads: HashMap<u32, (StopId, Vec<Call>)>,
    /// The objects that hold the variables of async methods and iterators, by the number of the call; the newest last.
    machines: VecDeque<(u64, Handle)>,
    /// What counts in the loops around a statement.
    ways: HashMap<(ModuleId, Token, u32), Option<Vec<Counter>>>,
}

/// A call of a method that has not returned.
#[derive(Debug)]
struct Call {
    id: u64,
    /// Where its frame ends on the stack.
    base: u64,
    module: ModuleId,
    method: Token,
    /// Where its code goes on.
    returns_to: Option<u64>,
    /// What is in the locals that tell that the call it waits for was made once; `None` if that is not known.
    counters: Option<Vec<Vec<u8>>>,
    /// The object that holds the variables of an async method or iterator, until it is remembered with the call.
    machine: Option<Handle>,
}

impl Call {
    fn is_at(&self, other: &Self) -> bool {
        (self.base, self.module, self.method) == (other.base, other.module, other.method)
    }

    /// Whether it still waits for the very call that it waited for.
    fn has_called_once(&self, before: &Self) -> bool {
        let now = (&self.returns_to, &self.counters);
        self.returns_to.is_some()
            && self.counters.is_some()
            && now == (&before.returns_to, &before.counters)
    }
}

impl Activations {
    /// The number of the call that a frame is; `None` if it is not among those that are looked at.
    pub(super) fn number(
        &self,
        target: &Target,
        stop: &Stop,
        thread: &Thread,
        wanted: &Frame,
    ) -> Option<u64> {
        let reader = &target.reader();
        let id = thread.id().ok()?;
        let (frames, is_whole) = walked(target, thread);
        let mut known = self.0.borrow_mut();
        let Known {
            last,
            threads,
            machines,
            ways,
        } = &mut *known;
        let (asked, before) = threads.remove(&id).unwrap_or((StopId(0), Vec::new()));
        let is_of_thread = stop.thread.is_some_and(|it| it.0 == id);
        let has_stepped = is_of_thread && is_step(stop, asked);
        let mut calls: Vec<Call> = Vec::new();
        let mut found = None;
        for (number, frame) in frames.iter().rev().enumerate() {
            let is_innermost = number + 1 == frames.len();
            let call = frame.as_ref().and_then(|it| Some((it, it.call(reader)?)));
            let Some((frame, mut call)) = call else {
                // What is called from there may be called again.
                if let Some(caller) = calls.last_mut() {
                    caller.counters = None;
                }
                continue;
            };
            let is_root = calls.is_empty() && is_whole && is_entry_point(reader, &call);
            let at = before.iter().position(|it| it.is_at(&call));
            let is_called_once = || {
                let caller = before.get(at?.checked_sub(1)?)?;
                let now = calls.last()?;
                (now.id == caller.id && now.has_called_once(caller)).then_some(())
            };
            let is_same = || {
                asked == stop.id
                    || is_root
                    || is_called_once().is_some()
                    || (has_stepped && frame.has_stayed(reader, is_innermost))
            };
            let is_machine = call.machine.is_some();
            let same = match &call.machine {
                Some(machine) => run_of(machines, machine),
                None => at
                    .and_then(|at| before.get(at))
                    .map(|it| it.id)
                    .filter(|_| is_same()),
            };
            call.id = same.unwrap_or_else(|| {
                *last += 1;
                *last
            });
            if let Some(machine) = call.machine.take() {
                remember(machines, call.id, machine);
            }
            let is_known =
                is_root || is_machine || calls.last().is_some_and(|it| it.counters.is_some());
            if is_known && !is_innermost {
                call.counters = frame.counters(reader, &call, ways);
            }
            if frame.is(wanted) {
                found = Some(call.id);
            }
            calls.push(call);
        }
        threads.insert(id, (stop.id, calls));
        found
    }
}

/// The call whose variables an object holds, if it was seen before.
fn run_of(machines: &VecDeque<(u64, Handle)>, machine: &Handle) -> Option<u64> {
    let address = |it: &Handle| it.address().ok().filter(|it| *it != 0);
    let wanted = address(machine)?;
    let mut known = machines.iter().rev();
    let found = known.find(|(_, it)| address(it) == Some(wanted));
    found.map(|(id, _)| *id)
}

/// Keeps in mind which object a call is; what was seen longest ago makes room.
fn remember(machines: &mut VecDeque<(u64, Handle)>, id: u64, machine: Handle) {
    machines.retain(|(known, _)| *known != id);
    if machines.len() >= MAX_MACHINES {
        machines.pop_front();
    }
    machines.push_back((id, machine));
}

/// A frame of a walk; of a block that runs apart, with the frame of its method.
struct Seen {
    frame: Frame,
    /// Where the frame of the method ends.
    base: u64,
}

/// The frames of a thread, innermost first, `None` for what is no method; and whether these are all.
fn walked(target: &Target, thread: &Thread) -> (Vec<Option<Seen>>, bool) {
    let all: Vec<Frame> = target.frames(thread).take(MAX_FRAMES + 1).collect();
    let mut seen = Vec::new();
    let mut at = 0;
    while let Some(frame) = all.get(at) {
        let mut method = at;
        if frame.is_funclet() {
            // What lies between is dead.
            let rest = all.get(at + 1..).unwrap_or_default();
            method += rest
                .iter()
                .position(|it| frame.is_funclet_of(it))
                .map_or(0, |it| it + 1);
        }
        let range = all.get(method).and_then(Frame::stack_range);
        let range = range.filter(|_| frame.internal_kind().is_none());
        seen.push(range.map(|(_, base)| Seen {
            frame: frame.clone(),
            base,
        }));
        at = method + 1;
    }
    (seen, all.len() <= MAX_FRAMES)
}

/// Whether a stop is the end of a single step from another one, or the statement was set that runs next.
fn is_step(stop: &Stop, from: StopId) -> bool {
    let is_step = |it: &StopReason| matches!(it, StopReason::Step | StopReason::Goto);
    stop.id.0 == from.0.wrapping_add(1)
        && !stop.reasons.is_empty()
        && stop.reasons.iter().all(is_step)
        && stop.steps.is_none_or(|it| it.made <= 1)
}

/// Whether a method is what the runtime begins with.
fn is_entry_point(reader: &Reader<'_>, call: &Call) -> bool {
    let module = reader.types.metadata(call.module);
    module.is_ok_and(|it| it.entry_point() == Some(call.method))
}

impl Seen {
    fn is(&self, frame: &Frame) -> bool {
        self.frame.identity() == frame.identity()
    }

    fn call(&self, reader: &Reader<'_>) -> Option<Call> {
        let context = reader.context(self.frame.clone()).ok()?;
        let of = &context.at.declared_in;
        let (_, name) = reader.types.simple_name(of).ok()?;
        let is_machine = generated_kind(&name) == Some(GeneratedKind::StateMachine)
            && of.kind != Kind::Struct
            && is_resumed(reader, &context.at);
        let machine = is_machine.then(|| {
            let address = self.frame.argument(0).ok()?.reference()?;
            reader.types.process.object_at(address).ok()?.follow().ok()
        });
        Some(Call {
            id: 0,
            base: self.base,
            module: context.module,
            method: context.method,
            returns_to: self.frame.instruction_pointer(),
            counters: None,
            machine: machine.flatten(),
        })
    }

    /// Whether a step that has ended further in, or here but not where the method begins, has not left it.
    fn has_stayed(&self, reader: &Reader<'_>, is_innermost: bool) -> bool {
        let Ok(context) = reader.context(self.frame.clone()) else {
            return false;
        };
        let first = || {
            let module = reader.types.module(context.module).ok()?;
            let pdb = module
                .symbols(reader.types.process)
                .ok()
                .map(Symbols::pdb)?;
            let mut points = pdb.sequence_points(context.method).ok()?.flatten();
            points.find(|it| it.span.is_some())
        };
        // What is resumed begins anywhere.
        !is_resumed(reader, &context.at)
            && first().is_some_and(|it| !is_innermost || context.offset > it.offset)
    }

    /// What is in the locals that tell that the call it waits for was made once.
    fn counters(
        &self,
        reader: &Reader<'_>,
        call: &Call,
        ways: &mut HashMap<(ModuleId, Token, u32), Option<Vec<Counter>>>,
    ) -> Option<Vec<Vec<u8>>> {
        let module = reader.types.module(call.module).ok()?;
        // What optimised code calls may lie in a loop of a method that was dissolved in it.
        if module.is_optimized() != Some(false) {
            return None;
        }
        let at = self.frame.calling_offset()?;
        if ways.len() >= MAX_WAYS {
            ways.clear();
        }
        let found = ways
            .entry((call.module, call.method, at))
            .or_insert_with(|| {
                let found = again::counters(reader.types, call.module, call.method, IlOffset(at));
                found.ok().flatten()
            });
        let counters = found.as_ref()?.iter();
        counters.map(|it| self.counted(reader, *it)).collect()
    }

    fn counted(&self, reader: &Reader<'_>, counter: Counter) -> Option<Vec<u8>> {
        let (Counter::Number(slot) | Counter::Enumerator(slot)) = counter;
        let value = self.frame.local(slot.into()).ok()?;
        let value = reader.of_runtime(&value, None).ok()?;
        // Those of others need not change in each round.
        if let Counter::Enumerator(_) = counter
            && !reader
                .types
                .full_text(&value.ty)
                .starts_with("System.Collections.")
        {
            return None;
        }
        reader.bytes(&value, reader.size_of(&value.ty).ok()?).ok()
    }
}

/// Whether code is that of an async method or iterator, which is called again to go on.
fn is_resumed(reader: &Reader<'_>, at: &CodePlace) -> bool {
    let module = reader.types.metadata(at.module);
    let method = module.and_then(|it| Ok(it.metadata().method(at.method)?.name()? == "MoveNext"));
    method.unwrap_or(true)
}
