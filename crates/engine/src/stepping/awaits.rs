//! Steps over `await`: to the continuation of the same invocation, on whatever thread it runs.
//!
//! The compiler tells where an async method gives up control and where it goes on. A trap at the first says that the
//! invocation is being suspended; a trap at the second catches continuations of the method, of which only the one of
//! the same invocation counts.

use cordebug::thread::{Frame, Step, Thread};
use metadata::pdb::{AsyncStepping, Await};
use metadata::{IlOffset, Token};

use super::il;
use super::invocation::Invocation;
use super::position::{FrameId, IlRange, MethodId, Position, Standing};
use super::{Leg, TrapKind};
use crate::api::StepKind;
use crate::engine::Engine;

/// Frames walked at most to find the one that was suspended.
const MAX_WALK: usize = 10_000;

/// An invocation that is being, or has been, suspended.
#[derive(Debug)]
pub(super) struct Suspended {
    thread: u32,
    frame: FrameId,
    /// Who it is; a struct that has never been suspended before is nobody yet.
    invocation: Option<Invocation>,
}

impl Engine<'_> {
    /// Sets the traps that a leg needs in an async method; whether who awaits the invocation is trapped.
    pub(super) fn arm_awaits(
        &mut self,
        thread: &Thread,
        at: Position,
        range: IlRange,
        kind: StepKind,
        leg: &mut Leg,
    ) -> bool {
        let Some(method) = at.method else {
            return false;
        };
        let Some(stepping) = self.async_stepping(method) else {
            return false;
        };
        let leaves =
            kind == StepKind::Out || range.is_last() || self.is_in_last_handler(method, at.ip);
        if leaves {
            leg.awaiters = self.awaiters(thread);
            let awaiters = std::mem::take(&mut leg.awaiters);
            for awaiter in &awaiters {
                for offset in &awaiter.resumes {
                    leg.traps.extend(self.trap(
                        awaiter.module,
                        awaiter.method,
                        *offset,
                        TrapKind::Awaiter,
                    ));
                }
            }
            leg.awaiters = awaiters;
        }
        if kind != StepKind::Out {
            for pause in stepping.awaits {
                if range.contains(pause.yield_offset) {
                    let kind = TrapKind::Yield(pause);
                    leg.traps.extend(self.trap(
                        method.module,
                        method.token,
                        pause.yield_offset,
                        kind,
                    ));
                }
            }
        }
        !leg.awaiters.is_empty()
    }

    fn async_stepping(&mut self, method: MethodId) -> Option<AsyncStepping> {
        let target = self.target.as_mut()?;
        let module = target.modules.get(method.module)?;
        let pdb = module.symbols(&target.process).ok()?.pdb();
        pdb.async_stepping(method.token).ok().flatten()
    }

    /// Whether an offset lies in the handler that hands exceptions to the task of an async method.
    fn is_in_last_handler(&mut self, method: MethodId, ip: IlOffset) -> bool {
        let holds = || {
            let target = self.target.as_ref()?;
            let module = target.modules.get(method.module)?;
            let body = module.metadata(&target.process).ok()?.body(method.token);
            let body = body.ok()??;
            // Inner clauses come first: the last is around everything.
            let last = body.clauses.last()?;
            let end = last.handler_start.0.saturating_add(last.handler_length);
            Some(last.handler_start <= ip && ip.0 < end)
        };
        holds().unwrap_or(false)
    }

    /// Our invocation may be about to be suspended.
    pub(super) fn about_to_yield(&mut self, thread: &Thread, pause: Await) {
        let Some(at) = self.position_of_step(thread) else {
            return;
        };
        let Some(method) = at.method else { return };
        let (Ok(id), Ok(Some(frame))) = (thread.id(), thread.active_frame()) else {
            return;
        };
        let invocation = self.invocation(&frame);
        let mut leg = Leg::default();
        let (module, resume) = (method.module, pause.resume_method);
        leg.traps
            .extend(self.trap(module, resume, pause.resume_offset, TrapKind::Resume));
        if invocation.is_none()
            && let Some(offset) = self.leave_before(method, pause.resume_offset)
        {
            leg.traps
                .extend(self.trap(module, method.token, offset, TrapKind::Leave));
        }
        leg.suspended = Some(Suspended {
            thread: id,
            frame: at.frame,
            invocation,
        });
        self.take_leg().end();
        if let Some(steps) = &mut self.stepping.steps {
            steps.leg = leg;
        }
    }

    /// The position of the step's own frame, if that is the one a trap was met in.
    fn position_of_step(&mut self, thread: &Thread) -> Option<Position> {
        let steps = self.stepping.steps.as_ref()?;
        if thread.id().ok() != Some(steps.thread) {
            return None;
        }
        let from = steps.from;
        let at = Position::of(self.target.as_mut()?, thread).ok()?;
        (at.frame == from.frame && at.method == from.method).then_some(at)
    }

    /// The instruction with which a method leaves after it has been suspended.
    fn leave_before(&self, method: MethodId, resume: IlOffset) -> Option<IlOffset> {
        let target = self.target.as_ref()?;
        let module = target.modules.get(method.module)?;
        let body = module.metadata(&target.process).ok()?.body(method.token);
        il::leave_before(body.ok()??.code, resume)
    }

    /// Our invocation has been suspended for the first time: now it has a task to know it by.
    pub(super) fn has_yielded(&mut self, thread: &Thread) {
        if self.position_of_step(thread).is_none() {
            return;
        }
        let Ok(Some(frame)) = thread.active_frame() else {
            return;
        };
        let invocation = self.invocation(&frame);
        if let Some(suspended) = self.suspended() {
            suspended.invocation = suspended.invocation.take().or(invocation);
        }
    }

    fn suspended(&mut self) -> Option<&mut Suspended> {
        self.stepping.steps.as_mut()?.leg.suspended.as_mut()
    }

    /// An invocation goes on behind the await; whether that stops the program.
    pub(super) fn resumed(&mut self, thread: &Thread) -> bool {
        let Ok(Some(frame)) = thread.active_frame() else {
            return false;
        };
        self.identify_suspended();
        let Some(invocation) = self
            .suspended()
            .and_then(|suspended| suspended.invocation.take())
        else {
            return false;
        };
        let same = self.is_invocation(&invocation, &frame);
        if !same {
            if let Some(suspended) = self.suspended() {
                suspended.invocation = Some(invocation);
            }
            return false;
        }
        let Some(target) = &mut self.target else {
            return false;
        };
        let at = Position::of_frame(target, &frame);
        self.take_leg().end();
        if let Some(steps) = &mut self.stepping.steps {
            steps.thread = thread.id().unwrap_or(steps.thread);
            // The rest of the statement belongs to it, as it would without the await.
            steps.from = Position {
                standing: match at.standing {
                    Standing::AtStatement(range) => Standing::InStatement(range),
                    standing => standing,
                },
                ..at
            };
        }
        self.landed(thread, at)
    }

    /// Finds out who was suspended while the thread that did it is still at it.
    fn identify_suspended(&mut self) {
        let Some(suspended) = self.suspended() else {
            return;
        };
        if suspended.invocation.is_some() {
            return;
        }
        let (thread, frame) = (suspended.thread, suspended.frame);
        let found = self.frame_of(thread, frame);
        let invocation = found.and_then(|frame| self.invocation(&frame));
        if let Some(suspended) = self.suspended() {
            suspended.invocation = invocation;
        }
    }

    fn frame_of(&mut self, thread: u32, wanted: FrameId) -> Option<Frame> {
        let target = self.target.as_ref()?;
        let walk = target.process.thread(thread).ok()?.stack().ok()?;
        let frames = walk.take(MAX_WALK).filter_map(|step| match step {
            Ok(Step::Frame(frame)) => Some(frame),
            _ => None,
        });
        let mut own = frames.filter(|frame| frame.stack_end().ok() == Some(wanted.0));
        own.next()
    }

    /// A method goes on that may be the one which awaits ours; whether that stops the program.
    pub(super) fn awaiter_resumed(&mut self, thread: &Thread) -> bool {
        let Ok(Some(frame)) = thread.active_frame() else {
            return false;
        };
        let mut leg = self.take_leg();
        let awaiters = std::mem::take(&mut leg.awaiters);
        let same = awaiters
            .iter()
            .any(|awaiter| self.is_invocation(&awaiter.invocation, &frame));
        leg.awaiters = awaiters;
        let Some(steps) = &mut self.stepping.steps else {
            leg.end();
            return false;
        };
        steps.leg = leg;
        let Some(target) = &mut self.target else {
            return false;
        };
        if !same {
            return false;
        }
        let at = Position::of_frame(target, &frame);
        self.step_landed_at_awaiter(thread, at)
    }

    /// Stops in the statement of the `await` that is over, as a return stops in the statement of the call.
    fn step_landed_at_awaiter(&mut self, thread: &Thread, at: Position) -> bool {
        self.take_leg().end();
        let Some(steps) = &mut self.stepping.steps else {
            return false;
        };
        steps.thread = thread.id().unwrap_or(steps.thread);
        steps.count.made += 1;
        if steps.count.made >= steps.count.asked {
            return self.step_made(thread, at);
        }
        steps.from = at;
        let kind = steps.kind;
        if let Err(error) = self.begin_leg(thread, at, kind) {
            return self.step_failed(thread, &error);
        }
        false
    }
}

/// The state machine's method with that name.
pub(super) fn is_move_next(name: &str) -> bool {
    name.rsplit('.').next() == Some("MoveNext")
}

/// All offsets at which an async method goes on.
pub(super) fn resumes(stepping: &AsyncStepping, method: Token) -> Vec<IlOffset> {
    let own = stepping
        .awaits
        .iter()
        .filter(|it| it.resume_method == method);
    own.map(|it| it.resume_offset).collect()
}
