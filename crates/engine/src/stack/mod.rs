//! Stacks as data: the frames of a stopped thread, and the chains of async methods behind them.
//!
//! The walk shows a stack as the user's code has it: while a `catch` or `finally` block runs, the frames of the code that threw
//! are still there for the runtime, but dead; they are left out. Below a `when` filter they are alive, and shown.

mod awaitables;
mod beyond;
mod emitted;
pub(crate) mod frame;
pub(crate) mod locks;
mod logical;
mod machine;
mod native_calls;
mod objects;
pub(crate) mod resuming;
mod stubs;
mod unwrapped;
pub(crate) mod walks;
mod working;

pub(crate) use beyond::is_seen_by_user;
pub(crate) use logical::{about_to_wait, awaiting, calls, is_async, run_of};
pub(crate) use machine::SUPPRESS_THROWING;
pub(crate) use objects::Objects;

use cordebug::thread::{Frame as RuntimeFrame, Thread};

use crate::api::{Block, Error, ErrorCode, Frame, FrameKind, Reply, ThreadId};
use crate::engine::Engine;
use crate::target::{Target, runtime_error};

/// Frames walked at most for one request; a deeper stack is told as "more".
const MAX_WALK: u32 = 20_000;
/// Frames looked at to find one of the user's.
const LOOK_FOR_USER_FRAME: usize = 256;

impl Engine<'_> {
    pub(crate) fn stack(
        &mut self,
        thread: Option<ThreadId>,
        start: u32,
        count: u32,
    ) -> Result<Reply, Error> {
        let (thread, runtime_thread) = self.thread_of(thread)?;
        let target = self.stopped_target()?;
        let (frames, total, more) = frames(target, &runtime_thread, start, count)?;
        Ok(Reply::Stack {
            stop: self.stop_id()?,
            thread,
            frames,
            total,
            more,
        })
    }

    /// The thread that is asked for: the one that reported the stop, else the first, if none is named.
    pub(crate) fn thread_of(
        &mut self,
        thread: Option<ThreadId>,
    ) -> Result<(ThreadId, Thread), Error> {
        let reporting = self.stop.as_ref().and_then(|stop| stop.thread);
        let target = self.stopped_target()?;
        let Some(thread) = thread.or(reporting).or_else(|| target.first_thread()) else {
            return Err(Error::new(
                ErrorCode::InvalidThread,
                "the program has no managed thread",
            ));
        };
        let found = target.process.thread(thread.0).map_err(|error| {
            tracing::debug!(%error, thread = thread.0, "no such thread");
            Error::new(
                ErrorCode::InvalidThread,
                format!("there is no managed thread {}", thread.0),
            )
            .hint("list the threads for their ids")
        })?;
        Ok((thread, found))
    }

    pub(crate) fn stop_id(&self) -> Result<crate::api::StopId, Error> {
        let stop = self.stop.as_ref().map(|stop| stop.id);
        stop.ok_or_else(|| Error::new(ErrorCode::NotStopped, "the program is not stopped"))
    }
}

/// A frame that is part of the stack as the user's code has it.
#[derive(Debug)]
pub(crate) struct Walked {
    pub(crate) frame: RuntimeFrame,
    /// Which block of its method runs apart from the rest.
    pub(crate) block: Option<Block>,
}

/// A walk that leaves out frames that are dead.
pub(crate) struct Walk {
    thread: Thread,
    /// Steps taken.
    taken: usize,
    /// A block whose method is still to come, and how many frames were taken until it; what lies between is dead.
    below: Option<(RuntimeFrame, usize)>,
    /// Set once the method of a block was not found: from then on every frame is shown.
    show_all: bool,
}

impl Walk {
    pub(crate) fn new(thread: &Thread) -> Self {
        Self {
            thread: thread.clone(),
            taken: 0,
            below: None,
            show_all: false,
        }
    }

    /// Walks again from behind a block whose method is not among the frames: showing too much is better than too little.
    fn show_all_from(&mut self, taken: usize) {
        self.taken = taken;
        self.show_all = true;
    }

    /// The stack pointer of the frame that was walked to last.
    pub(crate) fn stack_pointer(&self) -> Option<u64> {
        // Only a walk that stands at a frame tells it.
        let mut steps = self.thread.stack().ok()?;
        steps.by_ref().take(self.taken).for_each(drop);
        steps.stack_pointer()
    }

    /// The next frame outwards.
    pub(crate) fn next(&mut self, target: &mut Target) -> Result<Option<Walked>, Error> {
        loop {
            let step = target.stack_step(&self.thread, self.taken);
            let Some(step) = step.map_err(|error| runtime_error(&error))? else {
                let Some((_, taken)) = self.below.take() else {
                    return Ok(None);
                };
                self.show_all_from(taken);
                continue;
            };
            self.taken += 1;
            // Native code between managed frames is only shown as the transition that led there.
            let Some(frame) = step else {
                continue;
            };
            if let Some((block, _)) = &self.below {
                // The block itself stands for its method.
                if block.is_funclet_of(&frame) {
                    self.below = None;
                }
                continue;
            }
            if !frame.is_funclet() {
                return Ok(Some(Walked { frame, block: None }));
            }
            let Target {
                modules, process, ..
            } = target;
            let block = frame::block(modules, process, &frame);
            if block != Some(Block::Filter) && !self.show_all {
                self.below = Some((frame.clone(), self.taken));
            }
            return Ok(Some(Walked { frame, block }));
        }
    }

    /// The next frame outwards that is not one of the runtime's own.
    pub(crate) fn next_method(&mut self, target: &mut Target) -> Option<RuntimeFrame> {
        loop {
            let Walked { frame, .. } = self.next(target).ok()??;
            if frame.internal_kind().is_none() {
                return Some(frame);
            }
        }
    }
}

/// The frames `start..start + count`, how many there are as far as was walked, and whether there are more.
pub(crate) fn frames(
    target: &mut Target,
    thread: &Thread,
    start: u32,
    count: u32,
) -> Result<(Vec<Frame>, u32, bool), Error> {
    let mut found = Vec::new();
    let mut index = 0;
    let end = start.saturating_add(count);
    let mut walk = Walk::new(thread);
    while let Some(Walked { frame, block }) = walk.next(target)? {
        name_native_call(target, found.last_mut(), &frame);
        if index >= end {
            return Ok((found, index, true));
        }
        if index >= start {
            let mut told = frame::describe(target, &frame, index);
            told.block = block.or(told.block);
            found.push(told);
        }
        index += 1;
        if index >= MAX_WALK {
            return Ok((found, index, true));
        }
    }
    Ok((found, index, false))
}

/// Names the native function in the frame of a call into native code, by who called it.
fn name_native_call(target: &mut Target, call: Option<&mut Frame>, caller: &RuntimeFrame) {
    let name = frame::internal_name(cordebug::bindings::STUBFRAME_M2U);
    if let Some(call) = call.filter(|it| it.kind == FrameKind::Transition && it.method == name)
        && let Some(called) = native_calls::called_by(target, caller)
    {
        call.method = format!("{}: {called}]", name.trim_end_matches(']'));
    }
}

/// The frame of a thread with that index, counted as [`frames`] does.
pub(crate) fn frame_at(
    target: &mut Target,
    thread: &Thread,
    index: u32,
) -> Result<RuntimeFrame, Error> {
    let mut count = 0;
    let mut walk = Walk::new(thread);
    while let Some(Walked { frame, .. }) = walk.next(target)? {
        if count == index {
            return Ok(frame);
        }
        count += 1;
        if count >= MAX_WALK {
            break;
        }
    }
    Err(Error::new(
        ErrorCode::InvalidParameter,
        format!("the thread has no frame {index}; it has {count}"),
    )
    .hint("ask for the stack, its frames have their numbers"))
}

/// What is to be said of a thread in a line.
pub(crate) struct Top {
    /// The innermost frame of the user's code, else the innermost one.
    pub(crate) frame: Option<Frame>,
    /// The method of others that the user's code is in: one that it called, and that has not returned.
    pub(crate) called: Option<String>,
    /// Whether the thread is in native code.
    pub(crate) native: bool,
    /// Whether the innermost frame is the user's code: what the runtime does there by itself (to compile, to find what is
    /// called) it does for that.
    pub(crate) own: bool,
    /// Whether that is where the framework has idle threads of its pool wait, of which the runtime says nothing.
    pub(crate) idle: bool,
}

/// The innermost frame of the user's code, else the innermost one.
pub(crate) fn top_frame(target: &mut Target, thread: &Thread) -> Top {
    let mut native = true;
    let mut own = false;
    let mut idle = None;
    let mut called = None;
    let mut found = || -> Result<Option<Frame>, Error> {
        let mut first = None;
        let mut above = None;
        let mut walk = Walk::new(thread);
        for index in 0..LOOK_FOR_USER_FRAME {
            let Some(Walked { frame, block }) = walk.next(target)? else {
                break;
            };
            let at = index as u32;
            if index == 0 {
                native = frame.internal_kind().is_some();
            }
            if idle.is_none() && frame.function().is_ok() {
                idle = Some(is_idle(&frame::describe(target, &frame, at)));
            }
            if is_user(target, &frame) {
                own = index == 0;
                let mut told = frame::describe(target, &frame, at);
                told.block = block.or(told.block);
                let above: Option<(RuntimeFrame, u32)> = above;
                called = above.map(|(frame, at)| frame::describe(target, &frame, at).method);
                return Ok(Some(told));
            }
            if frame.function().is_ok() {
                above = Some((frame.clone(), at));
            }
            first.get_or_insert((frame, at));
        }
        Ok(first.map(|(frame, at)| frame::describe(target, &frame, at)))
    };
    let frame = found().ok().flatten();
    Top {
        frame,
        called,
        native,
        own,
        idle: idle == Some(true),
    }
}

fn is_idle(innermost: &Frame) -> bool {
    let is_wait = innermost.method.starts_with("System.Threading.LowLevel");
    is_wait && innermost.module.as_deref() == Some("System.Private.CoreLib.dll")
}

/// Whether a frame is the user's code.
pub(crate) fn is_user(target: &mut Target, frame: &RuntimeFrame) -> bool {
    let Target {
        modules, process, ..
    } = target;
    let mut found = || -> Option<FrameKind> {
        let function = frame.function().ok()?;
        let module = modules.entry(&function.module().ok()?);
        module.symbols(process).ok()?;
        let token = metadata::Token(function.token().ok()?);
        Some(frame::kind(module, process, token))
    };
    found() == Some(FrameKind::User)
}

/// Whether the user's code is among the frames from the innermost to another of the same thread.
pub(crate) fn passes_user_code(target: &mut Target, thread: &Thread, last: &RuntimeFrame) -> bool {
    let end = last.stack_range();
    let mut walk = Walk::new(thread);
    for _ in 0..MAX_WALK {
        let Ok(Some(Walked { frame, .. })) = walk.next(target) else {
            // What cannot be walked to may be anything.
            return true;
        };
        if is_user(target, &frame) {
            return true;
        }
        if end.is_some() && frame.stack_range() == end {
            return false;
        }
    }
    true
}

/// The words of a part of the stack, innermost first, each once.
pub(crate) fn words(target: &Target, start: u64, end: u64) -> Vec<u64> {
    /// A part of the stack that is larger is looked through up to here.
    const MAX_BYTES: u64 = 64 << 10;
    let size = end.saturating_sub(start).min(MAX_BYTES);
    let mut bytes = vec![0; size as usize];
    let read = target.process.read_memory(start, &mut bytes).unwrap_or(0);
    bytes.truncate(read);
    let mut seen = std::collections::HashSet::new();
    let words = bytes
        .chunks_exact(8)
        .filter_map(|word| Some(u64::from_le_bytes(*word.first_chunk()?)));
    // The first page is never mapped, and user space ends far below the sign bit.
    words
        .filter(|word| (0x1_0000..1 << 56).contains(word) && seen.insert(*word))
        .collect()
}
