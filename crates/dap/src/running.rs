//! Going on: continue, steps, pause. Answers come at once; the stop that follows is an event.

use std::collections::HashMap;

use host::api::{
    AvailablePoint, Line, Reply, Request as EngineRequest, StepKind, StopId, ThreadId,
};

use crate::adapter::Adapter;
use crate::message::Refusal;
use crate::types::{
    ContinueArguments, ContinueResponseBody, GotoArguments, GotoTarget, GotoTargetsArguments,
    GotoTargetsResponseBody, NextArguments, PauseArguments, StepInArguments, StepInTarget,
    StepInTargetsArguments, StepInTargetsResponseBody, StepOutArguments,
};

/// Why nothing can be looked at in a frame of an async method that waits.
pub(crate) const SUSPENDED: &str = "this method is suspended at an await: no thread is in it, and its variables cannot be read from here";

/// The frames that the client knows by a number. Numbers are never used twice, so a stale one is refused.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    known: HashMap<i32, FrameOf>,
    /// Those of methods that are suspended: no thread is in them. The frame that leads to each.
    suspended: HashMap<i32, FrameOf>,
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

    /// The number of what stands in a stack and is no frame of a thread, by a frame near it.
    pub(crate) fn number_suspended(&mut self, near: FrameOf) -> i32 {
        self.last = self.last.wrapping_add(1).max(1);
        self.suspended.insert(self.last, near);
        self.last
    }

    /// A frame near what is no frame of a thread, if a number stands for that.
    pub(crate) fn suspended(&self, number: i32) -> Option<FrameOf> {
        self.suspended.get(&number).copied()
    }

    /// The frame of a number, or why there is none.
    pub(crate) fn get(&self, number: i32) -> Result<FrameOf, Refusal> {
        if self.suspended.contains_key(&number) {
            return Err(Refusal::new("suspendedFrame", SUSPENDED));
        }
        self.known.get(&number).copied().ok_or_else(|| {
            let text = format!("frame {number} is not of this stop; ask for the stack again");
            Refusal::new("staleFrame", text)
        })
    }

    /// The program runs on: no number is good any more.
    pub(crate) fn forget(&mut self) {
        self.known.clear();
        self.suspended.clear();
    }
}

/// The calls that the client knows by a number; numbers are never used twice.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    known: HashMap<i32, (ThreadId, u32)>,
    last: i32,
}

impl Calls {
    fn number(&mut self, thread: ThreadId, call: u32) -> i32 {
        self.last = self.last.wrapping_add(1).max(1);
        self.known.insert(self.last, (thread, call));
        self.last
    }
}

impl Adapter {
    pub(crate) fn resume(
        &mut self,
        arguments: ContinueArguments,
    ) -> Result<ContinueResponseBody, Refusal> {
        self.check_thread(arguments.thread_id)?;
        self.ask(EngineRequest::Continue)?;
        self.forget_looks();
        Ok(ContinueResponseBody {
            all_threads_continued: Some(true),
        })
    }

    /// Refuses a thread that a stopped program does not have. Some clients say 0 for any.
    fn check_thread(&self, number: i32) -> Result<(), Refusal> {
        if number != 0
            && let Ok(Reply::Threads(threads)) = self.ask(EngineRequest::Threads)
            && !threads
                .iter()
                .any(|it| i64::from(it.id.0) == i64::from(number))
        {
            let text = format!("there is no thread {number}");
            return Err(Refusal::new("noThread", text));
        }
        Ok(())
    }

    /// The program runs: what was told of its last stop is stale.
    pub(crate) fn forget_looks(&mut self) {
        self.frames.forget();
        self.references.forget();
        self.targets.clear();
        self.calls.known.clear();
        self.chains.clear();
        self.insisted = None;
    }

    pub(crate) fn goto_targets(
        &mut self,
        arguments: GotoTargetsArguments,
    ) -> Result<GotoTargetsResponseBody, Refusal> {
        self.session()?;
        let line = self.engine_line(arguments.line);
        let column = arguments.column.map(|column| self.engine_column(column));
        let file = self.engine_path(arguments.source).ok_or_else(|| {
            Refusal::new(
                "badArguments",
                "gotoTargets needs the path of a source file",
            )
        })?;
        let found = self.ask(EngineRequest::GotoTargets {
            thread: None,
            file: Some(file.clone()),
            line: Line(line),
        });
        // Only the method that runs can be gone about in.
        let Ok(Reply::Statements(statements)) = found else {
            return Ok(GotoTargetsResponseBody::default());
        };
        let wanted = |it: &AvailablePoint| {
            let inside = |column| it.start_column <= column && column < it.end_column;
            it.start_line == line && column.is_none_or(inside)
        };
        let mut targets = Vec::new();
        for statement in statements.into_iter().filter(wanted) {
            let (line, column) = (Line(statement.start_line), statement.start_column);
            self.targets.push((Some(file.clone()), line, Some(column)));
            targets.push(GotoTarget {
                id: i32::try_from(self.targets.len()).unwrap_or(i32::MAX),
                label: statement
                    .text
                    .unwrap_or_else(|| format!("line {}", arguments.line)),
                line: arguments.line,
                column: Some(self.client_column(column)),
                end_line: Some(self.client_line(statement.end_line)),
                end_column: Some(self.client_column(statement.end_column)),
                ..GotoTarget::default()
            });
        }
        Ok(GotoTargetsResponseBody { targets })
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
        self.calls.known.clear();
        Ok(())
    }

    pub(crate) fn next(&mut self, arguments: NextArguments) -> Result<(), Refusal> {
        self.step(arguments.thread_id, StepKind::Over)
    }

    pub(crate) fn step_in(&mut self, arguments: StepInArguments) -> Result<(), Refusal> {
        let Some(number) = arguments.target_id else {
            return self.step(arguments.thread_id, StepKind::Into);
        };
        let known = self.calls.known.get(&number).copied();
        let (thread, call) = known.ok_or_else(|| {
            let text = "this call is not of this stop; ask for stepInTargets again";
            Refusal::new("staleTarget", text)
        })?;
        if thread != thread_of(arguments.thread_id)? {
            let text = format!("this call is one of thread {}", thread.0);
            return Err(Refusal::new("staleTarget", text));
        }
        let thread = Some(thread);
        self.ask(EngineRequest::StepIntoTarget { thread, call })?;
        self.forget_looks();
        Ok(())
    }

    /// The calls of the statement at a frame. Those that cannot be stepped into are left out; where none is left, the
    /// reasons are told.
    pub(crate) fn step_in_targets(
        &mut self,
        arguments: StepInTargetsArguments,
    ) -> Result<StepInTargetsResponseBody, Refusal> {
        let frame = self.frames.get(arguments.frame_id)?;
        if frame.index != 0 {
            let text = "this frame waits for a call that it has made: only calls of the innermost frame can be stepped into";
            return Err(Refusal::new("notInnermost", text));
        }
        let thread = Some(frame.thread);
        let Reply::StepTargets(found) = self.ask(EngineRequest::StepTargets { thread })? else {
            return Err(Refusal::new(
                "internal",
                "a bug in ndbg: no calls were told",
            ));
        };
        let mut targets = Vec::new();
        let mut refused = Vec::new();
        for target in found {
            match target.refused {
                None => targets.push(StepInTarget {
                    id: self.calls.number(frame.thread, target.call),
                    label: target.name,
                    ..StepInTarget::default()
                }),
                Some(why) => refused.push(format!("{}: {why}", target.name)),
            }
        }
        tell_apart(&mut targets);
        if targets.is_empty() && !refused.is_empty() {
            let text = format!(
                "no call of this statement can be stepped into. {}",
                refused.join("; ")
            );
            return Err(Refusal::new("noTargets", text));
        }
        Ok(StepInTargetsResponseBody { targets })
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

/// Calls of the same method are numbered in the order in which they are made.
fn tell_apart(targets: &mut [StepInTarget]) {
    let labels: Vec<_> = targets.iter().map(|it| it.label.clone()).collect();
    for (at, target) in targets.iter_mut().enumerate() {
        let same = |labels: &[String]| labels.iter().filter(|it| **it == target.label).count();
        let (all, before) = (same(&labels), same(labels.get(..at).unwrap_or_default()));
        if all > 1 {
            target.label = format!("{} (call {} of {all})", target.label, before + 1);
        }
    }
}

/// The thread that the client means.
pub(crate) fn thread_of(number: i32) -> Result<ThreadId, Refusal> {
    u32::try_from(number)
        .map(ThreadId)
        .map_err(|_| Refusal::new("noThread", format!("there is no thread {number}")))
}
