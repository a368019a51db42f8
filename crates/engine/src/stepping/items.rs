//! Leaving the last of the user's code that a thread runs for nobody: a work item of the pool, a timer's callback, the method
//! that a thread began with.
//!
//! When such code has returned, its thread goes on with something else, which may be the user's code again and has nothing to
//! do with the step. The runtime's stepper would end there. What is over is told by a second stepper, out of the frame that
//! the pool has called: behind that the step is a run.

use cordebug::bindings::ICorDebugStepper;
use cordebug::com::Com;
use cordebug::stepper::Stepper;
use cordebug::thread::{Frame, Thread};
use metadata::Token;

use super::position::{Position, Standing};
use super::{Leg, MAX_WALK};
use crate::engine::Engine;
use crate::target::Target;

/// The framework's methods that run one thing after the other.
const DISPATCHERS: [(&str, &str, &str); 3] = [
    ("System.Threading", "ThreadPoolWorkQueue", "Dispatch"),
    (
        "System.Threading",
        "ThreadPoolTypedWorkItemQueue`2",
        "Execute",
    ),
    // The web server's own.
    (
        "Microsoft.AspNetCore.Server.Kestrel.Transport.Sockets.Internal",
        "IOQueue",
        "Execute",
    ),
];

/// What a thread runs for nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    Queued,
    Timer,
    Thread,
}

impl Item {
    /// What is to be said of a step that left it.
    fn note(self) -> &'static str {
        match self {
            Item::Queued => {
                "the step left a work item of the thread pool, which nobody waits for: the program ran on"
            }
            Item::Timer => {
                "the step left the callback of a timer, which nobody waits for: the program ran on"
            }
            Item::Thread => {
                "the step left the method that its thread began with, and the thread has ended: the program ran on"
            }
        }
    }
}

/// The item that a leg may leave.
#[derive(Debug)]
pub(super) struct Leaving {
    item: Item,
    /// Tells that it was left; threads do so themselves.
    stepper: Option<Stepper>,
    is_left: bool,
}

impl Leaving {
    pub(super) fn into_stepper(self) -> Option<Stepper> {
        self.stepper
    }

    /// Its thread is about to be gone: what is to be said, if that is the end of it.
    pub(super) fn thread_ended(&mut self, thread: u32, own: u32) -> Option<&'static str> {
        self.stepper.take_if(|it| it.thread() == thread);
        let ends = self.item == Item::Thread && thread == own && !self.is_left;
        self.is_left |= ends;
        ends.then(|| self.item.note())
    }

    pub(super) fn is_left(&self) -> bool {
        self.is_left
    }
}

/// What a frame of the framework's says about what its thread runs.
enum Role {
    Dispatcher,
    Timer,
    Other,
}

impl Engine<'_> {
    /// Prepares a leg that leaves the innermost method of a thread, if that is the last of the user's code there.
    pub(super) fn watch_item(&mut self, thread: &Thread, leg: &mut Leg) {
        let is_followed = leg.is_awaited() || leg.alone.is_some() || leg.returns_to.is_some();
        if !is_followed
            && self.stepping.options.just_my_code
            && self.is_called_by_unseen(thread).unwrap_or(true)
        {
            leg.leaving = self.item(thread);
            let left = leg.leaving.as_ref().filter(|it| it.is_left);
            self.notes.extend(left.map(|it| it.item.note().into()));
        }
    }

    fn item(&mut self, thread: &Thread) -> Option<Leaving> {
        let target = self.target.as_mut()?;
        let frames: Vec<_> = target.frames(thread).take(MAX_WALK).collect();
        let frames = frames.into_iter().filter(|it| it.internal_kind().is_none());
        let mut item = Item::Queued;
        let mut inner: Option<Frame> = None;
        for frame in frames {
            let standing = Position::of_frame(target, &frame).standing;
            // What the compiler has made of an async method to start it is no statement of anybody's.
            if inner.is_some() && !matches!(standing, Standing::NoSymbols | Standing::NoText) {
                return None;
            }
            match role(target, &frame).unwrap_or(Role::Other) {
                Role::Dispatcher => {
                    let Some(inner) = inner else {
                        return Some(Leaving {
                            item,
                            stepper: None,
                            is_left: true,
                        });
                    };
                    let begin = || -> Result<Stepper, cordebug::Error> {
                        let stepper = inner.stepper(thread)?;
                        stepper.prepare(false)?;
                        stepper.step_out()?;
                        Ok(stepper)
                    };
                    let stepper = begin().map_err(
                        |error| tracing::debug!(%error, "the end of a work item is not told"),
                    );
                    return Some(Leaving {
                        item,
                        stepper: Some(stepper.ok()?),
                        is_left: false,
                    });
                }
                Role::Timer => item = Item::Timer,
                Role::Other => {}
            }
            inner = Some(frame);
        }
        // Behind the end of `Main` comes the end of the program.
        let is_first = thread.id().ok() == self.pid;
        (inner.is_some() && !is_first).then_some(Leaving {
            item: Item::Thread,
            stepper: None,
            is_left: false,
        })
    }

    /// Whether a stepper is the one that tells the end of what the step's thread ran: then nothing of the step is left there.
    pub(super) fn item_left(&mut self, stepper: Option<&Com<ICorDebugStepper>>) -> bool {
        let is_told = |leaving: &&mut Leaving| {
            let told = leaving.stepper.as_ref().zip(stepper);
            told.is_some_and(|(own, told)| own.is(told))
        };
        let steps = self.stepping.steps.as_mut();
        let leaving = steps.and_then(|steps| steps.leg.leaving.as_mut());
        let Some(leaving) = leaving.filter(is_told) else {
            return false;
        };
        tracing::trace!(?leaving, "a step has left what its thread ran");
        self.notes.push(leaving.item.note().into());
        let leaving = Leaving {
            item: leaving.item,
            stepper: None,
            is_left: true,
        };
        self.replace_leg(Leg {
            leaving: Some(leaving),
            ..Leg::default()
        });
        true
    }
}

fn role(target: &mut Target, frame: &Frame) -> Option<Role> {
    let function = frame.function().ok()?;
    let module = target.modules.entry(&function.module().ok()?);
    let metadata = module.metadata(&target.process).ok()?.metadata();
    let method = metadata.method(Token(function.token().ok()?)).ok()?;
    let class = method.declaring_type().ok()?;
    let name = method.name().ok()?;
    // An interface's method that is implemented by its full name.
    let name = name.rsplit('.').next()?;
    let is = |namespace, class_name| metadata.is_type_named(class, namespace, class_name);
    let mut dispatchers = DISPATCHERS.iter();
    Some(
        if dispatchers.any(|(space, class, method)| *method == name && is(space, class)) {
            Role::Dispatcher
        } else if is("System.Threading", "TimerQueueTimer") {
            Role::Timer
        } else {
            Role::Other
        },
    )
}
