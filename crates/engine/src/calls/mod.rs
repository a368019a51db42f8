//! Running code in the program: calls, constructors, new strings, boxes and arrays.
//!
//! There is one mechanism, [`Engine::evaluate`]: something is set up on a thread of the stopped program, the program runs
//! until that is done, and is stopped again as it was. While it runs, the engine goes on reading its inbox: what the
//! runtime tells about the evaluation ends it; modules and threads that come and go are noted; breakpoints, steps and
//! exceptions inside are passed over; `Status` is answered at once; `Pause` and `Disconnect` give the evaluation up; every
//! other request waits for its turn. So a caller writes `let outcome = engine.call(&site, &call)?;` and goes on.
//!
//! What a caller must know:
//! - Addresses change: every [`Value`](crate::values::Value) and [`Object`](crate::values::Object) that was read before is
//!   stale afterwards. What is needed later is held ([`Reader::hold`](crate::values::Reader::hold)); results are held already.
//! - All other threads stay frozen, so a call that needs another thread does not come back: it is given up when it says
//!   so (`Debugger.NotifyOfCrossThreadDependency`, as waiting for a task does), else (a lock) at the time limit. With
//!   [`CallSite::others`] they are let go then (`others`).
//! - Arguments are matched with the signature *before* the call, because the runtime does not check them: a number where an
//!   object is expected ends the program.
//!
//! Invariant: when an evaluation returns, the program is stopped, the stop is the same (its id, its reasons, its thread), and
//! frames can be fetched again. One that could not be ended leaves [`CallError::Disabled`] until the program continues.

mod arguments;
mod collections;
mod evaluate;
mod needed;
mod operations;
mod others;
mod reflection;
mod runtime_locks;
mod suspending;

use std::time::Duration;

use cordebug::thread::Thread;

use crate::api::{Error, ErrorCode};
use crate::types::{Method, Type};

pub(crate) use arguments::Argument;
pub(crate) use evaluate::Evaluations;
pub(crate) use operations::is_for_native_callers;

/// Where code is run, and how long it may take.
#[derive(Debug, Clone)]
pub(crate) struct CallSite {
    /// The thread that runs it.
    pub(crate) thread: Thread,
    /// How long it may take.
    pub(crate) limit: Duration,
    /// Whether the other threads are let go if it waits for them.
    pub(crate) others: bool,
}

impl CallSite {
    /// How long a call may take unless something else is said.
    pub(crate) const LIMIT: Duration = Duration::from_secs(5);

    /// A call on a thread, with everything else as usual.
    pub(crate) fn on(thread: Thread) -> Self {
        Self {
            thread,
            limit: Self::LIMIT,
            others: false,
        }
    }
}

/// A call of a method.
#[derive(Debug)]
pub(crate) struct Call<'c> {
    /// The method, with the type that declares it; for a virtual one the override of the object runs.
    pub(crate) method: &'c Method,
    /// What the method's own type parameters stand for.
    pub(crate) type_arguments: &'c [Type],
    /// The object or struct; absent for static methods and constructors.
    pub(crate) this: Option<Argument>,
    /// The other arguments.
    pub(crate) arguments: Vec<Argument>,
}

/// How a call ended.
#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    /// It returned; `None` if it returns nothing.
    Returned(Option<Kept>),
    /// It threw this.
    Threw(Kept),
}

/// A value that a call gave; it stays valid over runs of the program.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    /// The library's own value: a handle to an object, or a number. Boxed structs are handles to their box.
    pub(crate) runtime: cordebug::value::Value,
    /// The address that the method returns as this, if it returns by reference, and then it is good only until the program
    /// runs, or a pointer. The library takes either for a reference to an object, and reads it anew wherever it was.
    pub(crate) address: Option<(Type, u64)>,
}

/// Why a call was not made, or did not end.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum CallError {
    #[error("this would run code in the program, and this session only looks at it")]
    Forbidden,
    #[error("code cannot be run here: {why}")]
    Unsafe { why: String },
    #[error(
        "evaluation is disabled until the program continues, because an earlier one could not be ended: {earlier}"
    )]
    Disabled { earlier: String },
    #[error(
        "code cannot be run on thread {thread}: an evaluation that could not be ended still runs on it"
    )]
    StillRunning { thread: u32 },
    #[error(
        "nothing can be run on thread {thread}: it blocks the signal by which the runtime suspends threads, so what does not end could never be given up, and that cannot be changed: {why}"
    )]
    Unstoppable { thread: u32, why: String },
    #[error("the arguments do not fit {method}: {why}")]
    Mismatch { method: String, why: String },
    #[error("it took longer than {} ms and was given up{more}", limit.as_millis())]
    TimedOut {
        limit: Duration,
        more: String,
        /// Whether the other threads were let go.
        others: bool,
        /// Whether it still runs.
        stuck: bool,
    },
    #[error("it may have to wait for another thread, and those stand still{more}")]
    NeedsOthers { more: String },
    #[error("it was given up, because {why}")]
    GivenUp { why: &'static str },
    #[error("the program ended while it ran")]
    ProgramEnded,
    #[error("{0}")]
    Value(#[from] crate::values::Unreadable),
    #[error("{0}")]
    Refused(String),
}

impl From<crate::types::TypeError> for CallError {
    fn from(error: crate::types::TypeError) -> Self {
        Self::Value(error.into())
    }
}

/// What becomes of an evaluation that could not be ended.
const STUCK: &str = "continue the program, so that it goes on; a step of that thread waits for it; if it can never end, start the program again";

/// How to let the other threads run. Front ends that have another way replace it.
const LET_OTHERS_RUN: &str = "let the other threads run by `,threads` behind the expression";

impl From<CallError> for Error {
    fn from(error: CallError) -> Self {
        let code = match &error {
            CallError::TimedOut { .. } | CallError::NeedsOthers { .. } => ErrorCode::Timeout,
            CallError::ProgramEnded => ErrorCode::Exited,
            _ => ErrorCode::EvaluationFailed,
        };
        let told = Error::new(code, error.to_string());
        match error {
            CallError::Unsafe { .. } => {
                told.hint("step or run to a breakpoint in code that is not optimised: there code can be run wherever the program stopped by itself, in optimised code at few places")
            }
            CallError::Disabled { .. } | CallError::StillRunning { .. } => told.hint(
                "continue the program, then try again; if it can never end, start the program again",
            ),
            CallError::Unstoppable { .. } => told.hint(
                "evaluate it in a frame of another thread, and end any other debugger or tracer of the program",
            ),
            CallError::TimedOut { stuck: true, others, .. } => {
                let end = STUCK;
                told.hint(match others {
                    true => end.to_owned(),
                    false => format!("{end}. If it waits for a lock of another thread, {LET_OTHERS_RUN}"),
                })
            }
            CallError::NeedsOthers { more } if !more.is_empty() => {
                told.hint(STUCK)
            }
            CallError::NeedsOthers { .. } => told.hint(LET_OTHERS_RUN),
            CallError::TimedOut { others: true, more, .. } => told.hint(match more.is_empty() {
                true => "allow more time",
                false => "continue the program: what that thread met is told then",
            }),
            CallError::TimedOut { .. } => told.hint(format!(
                "the code may need a lock or a task of another thread, which stand still: {LET_OTHERS_RUN}, or allow more time",
            )),
            _ => told,
        }
    }
}
