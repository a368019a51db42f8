//! Going on: continue, steps, pause. Answers come at once; the stop that follows is an event.

use std::collections::HashMap;

use host::api::{Line, Request as EngineRequest, StepKind, StopId, ThreadId};

use crate::adapter::Adapter;
use crate::message::Refusal;
use crate::types::{
    ContinueArguments, ContinueResponseBody, GotoArguments, GotoTarget, GotoTargetsArguments,
    GotoTargetsResponseBody, NextArguments, PauseArguments, StepInArguments, StepOutArguments,
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

    /// The frame of a number, or why there is none.
    pub(crate) fn get(&self, number: i32) -> Result<FrameOf, Refusal> {
        self.known.get(&number).copied().ok_or_else(|| {
            let text = format!("frame {number} is not of this stop; ask for the stack again");
            Refusal::new("staleFrame", text)
        })
    }

    /// The program runs on: no number is good any more.
    pub(crate) fn forget(&mut self) {
        self.known.clear();
    }
}

impl Adapter {
    pub(crate) fn resume(&mut self, _: ContinueArguments) -> Result<ContinueResponseBody, Refusal> {
        self.ask(EngineRequest::Continue)?;
        self.forget_looks();
        Ok(ContinueResponseBody {
            all_threads_continued: Some(true),
        })
    }

    /// The program runs: what was told of its last stop is stale.
    pub(crate) fn forget_looks(&mut self) {
        self.frames.forget();
        self.references.forget();
        self.targets.clear();
    }

    pub(crate) fn goto_targets(
        &mut self,
        arguments: GotoTargetsArguments,
    ) -> Result<GotoTargetsResponseBody, Refusal> {
        self.session()?;
        let place = (
            arguments.source.path.or(arguments.source.name),
            Line(self.engine_line(arguments.line)),
            arguments.column.map(|column| self.engine_column(column)),
        );
        self.targets.push(place);
        Ok(GotoTargetsResponseBody {
            targets: vec![GotoTarget {
                id: i32::try_from(self.targets.len()).unwrap_or(i32::MAX),
                label: format!("line {}", arguments.line),
                line: arguments.line,
                column: arguments.column,
                ..GotoTarget::default()
            }],
        })
    }

    pub(crate) fn goto(&mut self, arguments: GotoArguments) -> Result<(), Refusal> {
        let at = usize::try_from(arguments.target_id).ok();
        let place = at
            .and_then(|at| self.targets.get(at.checked_sub(1)?))
            .cloned();
        let (file, line, column) = place.ok_or_else(|| {
            Refusal::new(
                "staleTarget",
                "this target is not of this stop; ask for it again",
            )
        })?;
        self.ask(EngineRequest::Goto {
            thread: Some(thread_of(arguments.thread_id)?),
            file,
            line,
            column,
        })?;
        self.frames.forget();
        self.references.forget();
        Ok(())
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
        self.ask(EngineRequest::Step {
            thread,
            kind,
            count: 1,
        })?;
        self.forget_looks();
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
