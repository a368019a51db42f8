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
//! - All other threads stay frozen unless [`CallSite::free_threads`] lets them run, so a call that needs another thread
//!   (a lock that it holds, a task that it runs) does not come back: the time limit ends it.
//! - Arguments are matched with the signature *before* the call, because the runtime does not check them: a number where an
//!   object is expected ends the program.
//!
//! Invariant: when an evaluation returns, the program is stopped, the stop is the same (its id, its reasons, its thread), and
//! frames can be fetched again. One that could not be ended leaves [`CallError::Disabled`] until the program continues.

mod arguments;
mod evaluate;
mod needed;
mod operations;
mod reflection;
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
    /// Whether other threads run meanwhile.
    pub(crate) free_threads: bool,
}

impl CallSite {
    /// How long a call may take unless something else is said.
    pub(crate) const LIMIT: Duration = Duration::from_secs(5);

    /// A call on a thread, with everything else as usual.
    pub(crate) fn on(thread: Thread) -> Self {
        Self {
            thread,
            limit: Self::LIMIT,
            free_threads: false,
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
    /// The type of what it leads to, if the method returns by reference: then it is good only until the program runs.
    pub(crate) refers_to: Option<Type>,
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
        "nothing can be run on thread {thread}: it blocks the signal by which the runtime suspends threads, so what does not end could never be given up, and that cannot be changed: {why}"
    )]
    Unstoppable { thread: u32, why: String },
    #[error("the arguments do not fit {method}: {why}")]
    Mismatch { method: String, why: String },
    #[error("it took longer than {} ms and was given up{more}", limit.as_millis())]
    TimedOut { limit: Duration, more: String },
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

impl From<CallError> for Error {
    fn from(error: CallError) -> Self {
        let code = match &error {
            CallError::TimedOut { .. } => ErrorCode::Timeout,
            CallError::ProgramEnded => ErrorCode::Exited,
            _ => ErrorCode::EvaluationFailed,
        };
        let told = Error::new(code, error.to_string());
        match error {
            CallError::Unsafe { .. } => {
                told.hint("step or run to a breakpoint: code can be run where the program stopped by itself")
            }
            CallError::Disabled { .. } => told.hint("continue the program, then try again"),
            CallError::Unstoppable { .. } => told.hint(
                "evaluate it in a frame of another thread, and end any other debugger or tracer of the program",
            ),
            CallError::TimedOut { more, .. } if !more.is_empty() => {
                told.hint("continue the program, so that it can end; a step of that thread waits for it")
            }
            CallError::TimedOut { .. } => told.hint(
                "the code may need a lock or a task of another thread, which stand still: let them run, or allow more time",
            ),
            _ => told,
        }
    }
}
