//! Async logical stacks: who awaits what a thread runs, and what a blocked thread waits for.
//!
//! Read from fields only: a getter could wait for ever. Where a chain cannot be followed, its end says why.

use std::collections::{HashSet, VecDeque};

use cordebug::thread::{Frame as RuntimeFrame, Thread};
use cordebug::value::Value;
use metadata::Token;

use super::machine::{Awaiter, Awaiters, Link};
use super::objects::Objects;
use super::working::Running;
use super::{Walk, Walked, frame, is_user, unwrapped, words};
use crate::api::{AsyncEnd, AsyncFrame, AsyncStack, BlockedOn, Error, Reply, ThreadId};
use crate::engine::Engine;
use crate::fields::Fields;
use crate::target::Target;
use crate::values::Question;

/// Links of a chain that are followed.
const MAX_CHAIN: usize = 2_000;
/// Ways of a chain that are tried where the first ends with nobody.
const MAX_WAYS: usize = 8;
/// The framework's method that waits for one task: it looks again and again for a while, and blocks then.
const SPINS: &str = "System.Threading.Tasks.Task.SpinThenBlockingWait(";
/// How often one chain may search the memory.
const MAX_SEARCHES: usize = 4;
/// Frames that are looked through for an async method.
const MAX_FRAMES: u32 = 500;

impl Engine<'_> {
    pub(crate) fn async_stack(&mut self, thread: Option<ThreadId>) -> Result<Reply, Error> {
        let (id, thread) = self.thread_of(thread)?;
        let stop = self.stop_id()?;
        let target = self.stopped_target()?;
        let question = Question::AsyncStack(stop, id);
        if let Some(known) = target.places.reply(target.runs, question) {
            return Ok(known);
        }
        let mut told = AsyncStack {
            stop,
            thread: id,
            resumed: None,
            is_of_task: false,
            awaiting: Vec::new(),
            end: None,
            blocked: blocked(target, &thread)?,
        };
        if let Some(resumed) = resumed(target, &thread)? {
            told.resumed = Some(resumed.index);
            told.is_of_task = resumed.is_of_task;
            let (awaiting, end) = match resumed.run {
                Ok(object) => awaiting(target, object),
                Err(end) => (Vec::new(), end),
            };
            told.awaiting = awaiting.into_iter().map(|it| it.frame).collect();
            told.end = Some(end);
        }
        let reply = Reply::AsyncStack(Box::new(told));
        target.places.keep_reply(target.runs, question, &reply);
        Ok(reply)
    }
}

/// What a thread runs that others than its callers wait for.
struct Resumed {
    index: u32,
    /// Whether a task runs it, and it was not resumed.
    is_of_task: bool,
    /// What stands for its run; an end if nothing can wait for it or that cannot be told.
    run: Result<Value, AsyncEnd>,
}

/// The innermost async method of a thread that was resumed, or what a task runs there.
fn resumed(target: &mut Target, thread: &Thread) -> Result<Option<Resumed>, Error> {
    let mut walk = Walk::new(thread);
    let mut frames: Vec<(u32, RuntimeFrame)> = Vec::new();
    let mut running = Running::default();
    let of_body = |target: &mut Target, index: u32, body: &RuntimeFrame| Resumed {
        index,
        is_of_task: false,
        run: run_of(target, body),
    };
    let mut candidate: Option<(u32, RuntimeFrame)> = None;
    for index in 0..MAX_FRAMES {
        let Some(Walked { frame, .. }) = walk.next(target)? else {
            break;
        };
        // Frames of the runtime's own lie between.
        if frame.internal_kind().is_some() {
            continue;
        }
        if let Some((found, body)) = candidate.take()
            && !calls(target, &frame, &body)
        {
            return Ok(Some(of_body(target, found, &body)));
        }
        if is_async(target, &frame) {
            candidate = Some((index, frame.clone()));
        } else if let Some(run) = running.run_by(target, thread, &frame) {
            // Between lies what the framework does for it.
            let outer = frames.iter().rev().find(|(_, it)| is_user(target, it));
            return Ok(outer.map(|(index, _)| Resumed {
                index: *index,
                is_of_task: true,
                run,
            }));
        }
        frames.push((index, frame));
    }
    Ok(candidate.map(|(found, body)| of_body(target, found, &body)))
}

/// Whether a frame is the body of an async method.
pub(crate) fn is_async(target: &mut Target, frame: &RuntimeFrame) -> bool {
    let Target {
        modules, process, ..
    } = target;
    let mut found = || -> Option<bool> {
        let function = frame.function().ok()?;
        let module = modules.entry(&function.module().ok()?);
        Some(frame::is_async(
            module,
            process,
            Token(function.token().ok()?),
        ))
    };
    found().unwrap_or(false)
}

/// Whether a frame calls the body of an async method in the ordinary way: then it is its caller, and not the machinery that
/// resumes it.
pub(crate) fn calls(target: &mut Target, caller: &RuntimeFrame, body: &RuntimeFrame) -> bool {
    let Target {
        modules, process, ..
    } = target;
    let mut found = || -> Option<bool> {
        let (calling, called) = (caller.function().ok()?, body.function().ok()?);
        let token = Token(calling.token().ok()?);
        let module = modules.entry(&calling.module().ok()?);
        let metadata = module.metadata(process).ok()?.metadata();
        let method = metadata.method(token).ok()?;
        let ty = metadata.simple_name(method.declaring_type().ok()?).ok()?.1;
        let builder = ty.contains("MethodBuilder");
        let name = method.name().ok()?;
        if builder && (name == "Start" || name == "MoveNext") {
            return Some(true);
        }
        // Where the builder's method was inlined, the method that the user wrote is next.
        let module = modules.entry(&called.module().ok()?);
        let kickoff = crate::names::declared(module, process, Token(called.token().ok()?));
        Some(kickoff == token && calling.module().ok()?.identity() == module.identity())
    };
    found().unwrap_or(false)
}

/// The task, or the source of a `ValueTask`, that stands for the run of an async method.
pub(crate) fn run_of(target: &mut Target, body: &RuntimeFrame) -> Result<Value, AsyncEnd> {
    let unknown = |why: &str| AsyncEnd::Unknown(why.into());
    let this = body.argument(0).ok().and_then(|it| it.dereference().ok()?);
    let Some(machine) = this else {
        return Err(unknown(
            "the method's code is optimised: its state is out of reach",
        ));
    };
    let mut fields = Fields::new(target);
    if fields.is_async_void(&machine) {
        return Err(AsyncEnd::AsyncVoid);
    }
    if fields.is_async_iterator(&machine) {
        return Ok(machine);
    }
    let task = fields.task_of_machine(&machine);
    task.ok_or_else(|| unknown("the method has no task that others could wait for"))
}

/// Who waits for a task, who waits for that, and so on. Of several who wait for one, the first that somebody waits for in turn;
/// if all end with nobody, the longest way.
pub(crate) fn awaiting(target: &mut Target, start: Value) -> (Vec<Awaiter>, AsyncEnd) {
    let mut others = VecDeque::new();
    let mut best = follow(target, Vec::new(), Next::Task(start), &mut others);
    for _ in 0..MAX_WAYS {
        if best.1 != AsyncEnd::Nobody {
            break;
        }
        let Some((chain, waiting)) = others.pop_front() else {
            break;
        };
        let other = follow(target, chain, waiting, &mut others);
        if other.1 != AsyncEnd::Nobody || other.0.len() > best.0.len() {
            best = other;
        }
    }
    best
}

/// Where a chain goes on.
enum Next {
    /// With those who wait for this.
    Task(Value),
    /// With this, which waits; so many others do.
    Waits(Value, u32),
}

/// Follows a chain on; `others` are the ways that it does not take.
fn follow(
    target: &mut Target,
    mut chain: Vec<Awaiter>,
    mut next: Next,
    others: &mut VecDeque<(Vec<Awaiter>, Next)>,
) -> (Vec<Awaiter>, AsyncEnd) {
    // Objects do not move while the program is stopped; a chain that meets itself is broken.
    let mut seen = HashSet::new();
    while chain.len() < MAX_CHAIN {
        let mut fields = Fields::new(target);
        let (mut waiting, count) = match next {
            Next::Waits(waiting, count) => (waiting, count),
            Next::Task(object) => {
                if !seen.insert(object.address().unwrap_or(0)) {
                    return (
                        chain,
                        AsyncEnd::Unknown("the chain leads back to itself".into()),
                    );
                }
                let awaiters = match fields.awaiters(&object) {
                    Awaiters::Some(awaiters) => awaiters,
                    // A thread that has just begun to wait for it has left no trace in it yet.
                    Awaiters::Nobody => return (chain, begins_to_wait(target, &object)),
                    Awaiters::Completed => return (chain, AsyncEnd::Completed),
                    Awaiters::Unknown(why) => return (chain, AsyncEnd::Unknown(why)),
                };
                let count = u32::try_from(awaiters.len()).unwrap_or(u32::MAX);
                let count = count.saturating_sub(1);
                let mut awaiters = awaiters.into_iter();
                let Some(waiting) = awaiters.next() else {
                    return (chain, AsyncEnd::Nobody);
                };
                for other in awaiters.take(MAX_WAYS.saturating_sub(others.len())) {
                    others.push_back((chain.clone(), Next::Waits(other, count)));
                }
                (waiting, count)
            }
        };
        // What was passed on the way may be a link itself: only meeting it twice on one way is a circle.
        let mut passed = HashSet::new();
        let link = loop {
            match fields.link(&waiting) {
                Link::Pass(next) => {
                    if !passed.insert(next.address().unwrap_or(0)) {
                        break Link::Unknown("the chain leads back to itself".into());
                    }
                    waiting = next;
                }
                link => break link,
            }
        };
        match link {
            Link::Frame(mut awaiter, task) => {
                awaiter.frame.others = count;
                let void = awaiter.frame.kind != crate::api::AsyncKind::Continuation;
                chain.push(*awaiter);
                match task {
                    Some(task) => next = Next::Task(task),
                    None if void => return (chain, AsyncEnd::AsyncVoid),
                    None => return (chain, AsyncEnd::Nobody),
                }
            }
            Link::Blocks(event) => {
                let thread = waiter(target, &event);
                return (chain, AsyncEnd::Blocks { thread });
            }
            Link::Unknown(why) => return (chain, AsyncEnd::Unknown(why)),
            Link::Pass(_) => {
                return (
                    chain,
                    AsyncEnd::Unknown("the chain cannot be followed".into()),
                );
            }
        }
    }
    let why = format!("the chain has more than {MAX_CHAIN} links");
    (chain, AsyncEnd::Unknown(why))
}

/// The thread that is blocked until an event is set.
fn waiter(target: &mut Target, event: &Value) -> Option<ThreadId> {
    let event = event.address().ok().filter(|address| *address != 0)?;
    for thread in target.process.threads().ok()? {
        if let Ok(Some(wait)) = wait_of(target, &thread)
            && words(target, wait.start, wait.end).contains(&event)
        {
            return thread.id().ok().map(ThreadId);
        }
    }
    None
}

/// The end of a chain at a task that nobody awaits: a thread may be about to.
fn begins_to_wait(target: &mut Target, task: &Value) -> AsyncEnd {
    match about_to_wait(target, task) {
        Some(thread) => AsyncEnd::Blocks {
            thread: thread.id().ok().map(ThreadId),
        },
        None => AsyncEnd::Nobody,
    }
}

/// A thread that is about to wait for a task that nobody awaits.
pub(crate) fn about_to_wait(target: &mut Target, task: &Value) -> Option<Thread> {
    let address = task.address().ok().filter(|address| *address != 0)?;
    let threads = target.process.threads().unwrap_or_default();
    threads.into_iter().find(|thread| {
        let wait = wait_of(target, thread).ok().flatten();
        wait.filter(|it| it.begins)
            .and_then(|it| task_to_wait_for(target, thread, &it))
            .is_some_and(|task| task.address().ok() == Some(address))
    })
}

/// The part of a stack that waits for a task.
struct Wait {
    start: u64,
    end: u64,
    /// The frame that called it.
    caller: u32,
    /// Whether it looks again and again at first, before it has the task wake it.
    begins: bool,
}

/// The innermost part of a thread's stack, if it waits for a task there.
fn wait_of(target: &mut Target, thread: &Thread) -> Result<Option<Wait>, Error> {
    let mut walk = Walk::new(thread);
    let start = walk.stack_pointer();
    let (mut waits, mut begins) = (false, false);
    for caller in 0..MAX_FRAMES {
        let Some(Walked { frame, .. }) = walk.next(target)? else {
            return Ok(None);
        };
        let told = frame::describe(target, &frame, caller);
        if waits && !is_waiting(&told.method) {
            let range = start.zip(walk.stack_pointer());
            return Ok(range.map(|(start, end)| Wait {
                start,
                end,
                caller,
                begins,
            }));
        }
        begins |= told.method.starts_with(SPINS);
        waits = is_waiting(&told.method);
        if told.user_code {
            break;
        }
    }
    Ok(None)
}

/// The task that a thread is blocked on, and what that waits for.
fn blocked(target: &mut Target, thread: &Thread) -> Result<Option<BlockedOn>, Error> {
    let Some(wait) = wait_of(target, thread)? else {
        return Ok(None);
    };
    let task = match waited_task(target, thread, &wait) {
        None if wait.begins => task_to_wait_for(target, thread, &wait),
        task => task,
    };
    let Some(task) = task else {
        return Ok(None);
    };
    let (chain, incomplete) = waits_for(target, thread, task);
    Ok(Some(BlockedOn {
        frame: wait.caller,
        chain,
        incomplete,
    }))
}

/// Whether a method of the framework is one that blocks until a task is done.
fn is_waiting(method: &str) -> bool {
    method.starts_with("System.Threading.Tasks.Task")
        || method.starts_with("System.Runtime.CompilerServices.TaskAwaiter")
}

/// The task that a thread waits for: one that its stack refers to, whose continuation is an event that the same part of the
/// stack refers to.
fn waited_task(target: &mut Target, thread: &Thread, wait: &Wait) -> Option<Value> {
    let objects = Objects::new(target, thread)?;
    let words = words(target, wait.start, wait.end);
    let here = |object: &Value| object.address().is_ok_and(|at| words.contains(&at));
    words.iter().find_map(|word| {
        let task = objects.at(target, *word)?;
        let mut fields = Fields::new(target);
        if !fields.raw_names(&task).iter().any(|name| name == "Task") {
            return None;
        }
        let Awaiters::Some(awaiters) = fields.awaiters(&task) else {
            return None;
        };
        let waits = awaiters
            .iter()
            .any(|it| matches!(fields.link(it), Link::Blocks(event) if here(&event)));
        waits.then_some(task)
    })
}

/// The task that a thread is about to wait for: the only one that its stack refers to, that is not done.
fn task_to_wait_for(target: &mut Target, thread: &Thread, wait: &Wait) -> Option<Value> {
    let objects = Objects::new(target, thread)?;
    let words = words(target, wait.start, wait.end);
    let mut tasks = words.iter().filter_map(|word| {
        let task = objects.at(target, *word)?;
        let mut fields = Fields::new(target);
        let is_task = fields.raw_names(&task).iter().any(|name| name == "Task");
        (is_task && !fields.is_done(&task)).then_some(task)
    });
    let task = tasks.next()?;
    tasks.next().is_none().then_some(task)
}

/// What a task waits for, what that waits for, and so on; and why no more can be told, if that is so.
fn waits_for(
    target: &mut Target,
    thread: &Thread,
    task: Value,
) -> (Vec<AsyncFrame>, Option<String>) {
    let mut chain = Vec::new();
    let mut object = task;
    let mut seen = HashSet::new();
    let mut searches = 0;
    while chain.len() < MAX_CHAIN {
        if !seen.insert(object.address().unwrap_or(0)) {
            return (chain, Some("the chain leads back to itself".into()));
        }
        let mut fields = Fields::new(target);
        let Some(machine) = fields.machine_of(&object) else {
            chain.push(fields.leaf(&object));
            let mut inner = fields.combined(&object).into_iter();
            match inner.find(|task| !fields.is_done(task)) {
                Some(next) => {
                    object = next;
                    continue;
                }
                None if fields.raw_name(&object).starts_with("UnwrapPromise") => {
                    let objects = Objects::new(target, thread).filter(|_| searches < MAX_SEARCHES);
                    searches += 1;
                    let inner = objects.ok_or_else(|| "the memory is not searched again".into());
                    match inner.and_then(|it| unwrapped::inner(target, &it, &object)) {
                        Ok(next) => object = next,
                        Err(why) => return (chain, Some(why)),
                    }
                    continue;
                }
                None => return (chain, None),
            }
        };
        let Some(Awaiter { frame, .. }) = fields.suspended(&machine) else {
            return (chain, Some("a state machine cannot be read".into()));
        };
        let suspended = frame.il_offset.is_some() || !frame.user_code;
        chain.push(frame);
        match fields.awaited(&machine) {
            Some(next) => object = next,
            None if suspended => {
                return (
                    chain,
                    Some("what the last one awaits cannot be told".into()),
                );
            }
            None => return (chain, Some("the last one is running or about to".into())),
        }
    }
    (
        chain,
        Some(format!("the chain has more than {MAX_CHAIN} links")),
    )
}
