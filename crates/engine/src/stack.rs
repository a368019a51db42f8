//! Stacks as data: names, modules and source lines of a stopped thread's frames.

use cordebug::bindings;
use cordebug::thread::{Frame as RuntimeFrame, Step, Thread};
use metadata::{IlOffset, Token};

use crate::api::{Error, ErrorCode, Frame, Line, Reply, Source, ThreadId};
use crate::engine::Engine;
use crate::modules::LoadedModule;
use crate::target::{Target, runtime_error};

/// Frames walked at most for one request; a deeper stack is told as "more".
const MAX_WALK: u32 = 20_000;

impl Engine<'_> {
    pub(crate) fn stack(
        &mut self,
        thread: Option<ThreadId>,
        start: u32,
        count: u32,
    ) -> Result<Reply, Error> {
        let reporting = self.stop.as_ref().and_then(|stop| stop.thread);
        let target = self.stopped_target()?;
        let Some(thread) = thread.or(reporting).or_else(|| target.first_thread()) else {
            return Err(Error::new(
                ErrorCode::InvalidThread,
                "the program has no managed thread",
            ));
        };
        let runtime_thread = target.process.thread(thread.0).map_err(|error| {
            Error::new(
                ErrorCode::InvalidThread,
                format!("there is no managed thread {}: {error}", thread.0),
            )
        })?;
        let (frames, total, more) = frames(target, &runtime_thread, start, count)?;
        let stop = self.stop.as_ref().map(|stop| stop.id);
        let stop =
            stop.ok_or_else(|| Error::new(ErrorCode::NotStopped, "the program is not stopped"))?;
        Ok(Reply::Stack {
            stop,
            thread,
            frames,
            total,
            more,
        })
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
    for step in thread.stack().map_err(|error| runtime_error(&error))? {
        let step = step.map_err(|error| runtime_error(&error))?;
        // Native code between managed frames is only shown as the transition that led there.
        let Step::Frame(frame) = step else { continue };
        if index >= end {
            return Ok((found, index, true));
        }
        if index >= start {
            found.push(describe(target, &frame, index));
        }
        index += 1;
        if index >= MAX_WALK {
            return Ok((found, index, true));
        }
    }
    Ok((found, index, false))
}

/// The frame of a thread with that index, counted as [`frames`] does.
pub(crate) fn frame_at(thread: &Thread, index: u32) -> Result<RuntimeFrame, Error> {
    let mut count = 0;
    for step in thread.stack().map_err(|error| runtime_error(&error))? {
        let Step::Frame(frame) = step.map_err(|error| runtime_error(&error))? else {
            continue;
        };
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

/// Everything that can be told of a frame; what cannot be read is left out, never guessed.
fn describe(target: &mut Target, frame: &RuntimeFrame, index: u32) -> Frame {
    let mut told = Frame {
        index,
        method: String::new(),
        module: None,
        source: None,
        il_offset: None,
        user_code: false,
    };
    if let Some(kind) = frame.internal_kind() {
        told.method = internal_name(kind).into();
        return told;
    }
    let function = match frame.function() {
        Ok(function) => function,
        Err(error) => {
            told.method = format!("[no method: {error}]");
            return told;
        }
    };
    let (Ok(token), Ok(module)) = (function.token(), function.module()) else {
        told.method = "[a method that is gone]".into();
        return told;
    };
    told.il_offset = frame.ip().ok().flatten().map(|(offset, _)| offset);
    let Target {
        modules, process, ..
    } = target;
    let module = modules.entry(&module);
    told.module = Some(module.file_name());
    told.method = module.method_name(process, Token(token));
    if let Some(offset) = told.il_offset {
        told.source = source(module, process, Token(token), IlOffset(offset));
    }
    told.user_code = module.symbols(process).is_ok();
    told
}

/// The statement that an offset belongs to.
fn source(
    module: &LoadedModule,
    process: &cordebug::process::Process,
    method: Token,
    offset: IlOffset,
) -> Option<Source> {
    let pdb = module.symbols(process).ok()?.pdb();
    let points = pdb.sequence_points(method).ok()?.flatten();
    // Code that no text belongs to is shown with the text before it.
    let before = points
        .take_while(|point| point.offset <= offset)
        .filter(|point| point.span.is_some());
    let point = before.last()?;
    let span = point.span?;
    let path = pdb.document(point.document).ok()?.path().ok()?;
    Some(Source {
        path: path.into(),
        line: Line(span.start_line),
        column: Some(span.start_column),
    })
}

fn internal_name(kind: bindings::CorDebugInternalFrameType) -> &'static str {
    match kind {
        bindings::STUBFRAME_M2U => "[managed to native transition]",
        bindings::STUBFRAME_U2M => "[native to managed transition]",
        bindings::STUBFRAME_APPDOMAIN_TRANSITION => "[application domain transition]",
        bindings::STUBFRAME_LIGHTWEIGHT_FUNCTION => "[lightweight function]",
        bindings::STUBFRAME_FUNC_EVAL => "[function evaluation]",
        bindings::STUBFRAME_CLASS_INIT => "[class initialisation]",
        bindings::STUBFRAME_EXCEPTION => "[exception handling]",
        bindings::STUBFRAME_SECURITY => "[security check]",
        bindings::STUBFRAME_JIT_COMPILATION => "[compiling]",
        _ => "[internal frame]",
    }
}
