//! Going on: continue, steps, pause. Answers come at once; the stop that follows is an event.

use std::collections::HashMap;

use host::api::{Request as EngineRequest, StepKind, StopId, ThreadId};

use crate::adapter::Adapter;
use crate::message::Refusal;
use crate::types::{
    ContinueArguments, ContinueResponseBody, NextArguments, PauseArguments, StepInArguments,
    StepOutArguments,
};

/// The frames that the client knows by a number. Numbers are never used twice, so a stale one is refused.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    known: HashMap<i32, FrameOf>,
    last: i32,
}

/// A frame of a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FrameOf {
    pub(crate) stop: StopId,
    pub(crate) thread: ThreadId,
    pub(crate) index: u32,
}

impl Frames {
    /// The number of a frame.
    pub(crate) fn number(&mut self, frame: FrameOf) -> i32 {
        self.last = self.last.wrapping_add(1).max(1);
        self.known.insert(self.last, frame);
        self.last
    }

    /// The program runs on: no number is good any more.
    pub(crate) fn forget(&mut self) {
        self.known.clear();
    }
}

impl Adapter {
    pub(crate) fn resume(&mut self, _: ContinueArguments) -> Result<ContinueResponseBody, Refusal> {
        self.ask(EngineRequest::Continue)?;
        self.frames.forget();
        Ok(ContinueResponseBody {
            all_threads_continued: Some(true),
        })
    }

    pub(crate) fn next(&mut self, arguments: NextArguments) -> Result<(), Refusal> {
        self.step(arguments.thread_id, StepKind::Over)
    }

    pub(crate) fn step_in(&mut self, arguments: StepInArguments) -> Result<(), Refusal> {
        self.step(arguments.thread_id, StepKind::Into)
    }

    pub(crate) fn step_out(&mut self, arguments: StepOutArguments) -> Result<(), Refusal> {
        self.step(arguments.thread_id, StepKind::Out)
    }

    fn step(&mut self, thread: i32, kind: StepKind) -> Result<(), Refusal> {
        let thread = Some(thread_of(thread)?);
        self.ask(EngineRequest::Step { thread, kind })?;
        self.frames.forget();
        Ok(())
    }

    pub(crate) fn pause(&mut self, _: PauseArguments) -> Result<(), Refusal> {
        self.ask(EngineRequest::Pause).map(drop)
    }
}

/// The thread that the client means.
pub(crate) fn thread_of(number: i32) -> Result<ThreadId, Refusal> {
    u32::try_from(number)
        .map(ThreadId)
        .map_err(|_| Refusal::new("noThread", format!("there is no thread {number}")))
}
