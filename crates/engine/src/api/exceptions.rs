//! Stops at exceptions: which, and when.

use serde::{Deserialize, Serialize};

use super::{BreakpointId, Frame, Source};

/// Stops at exceptions of some types.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExceptionSpec {
    /// Full or simple type names; empty means every type.
    pub types: Vec<String>,
    /// Type names that are left out.
    pub except: Vec<String>,
    /// Whether types derived from the named ones count too.
    pub subtypes: bool,
    /// Stops when it is thrown, whoever catches it.
    pub thrown: bool,
    /// Stops when it leaves the user's code and somebody else's code catches it.
    pub user_unhandled: bool,
    /// Stops when nobody catches it.
    pub unhandled: bool,
    /// Of exceptions that are thrown, only those that the user's code catches (`true`), or only those that it does not
    /// (`false`). They then stop the program when their handler is found, which is before anything is unwound, but behind
    /// the filters.
    #[serde(default)]
    pub caught_by_user: Option<bool>,
    /// Stops when it leaves the user's code for good: whoever catches it, no method of the user's that called or awaits gets
    /// to see it. So fails a test; an exception that a test expects is caught before.
    #[serde(default)]
    pub escaping: bool,
    /// Stops only if this expression on `$exception` is true.
    #[serde(default)]
    pub condition: Option<String>,
    /// Whether it is switched on.
    pub enabled: bool,
    /// The name it is to have, if that is free: the one it had before the program was started again.
    #[serde(default)]
    pub id: Option<BreakpointId>,
}

impl ExceptionSpec {
    /// Stops when an exception of one type, or one derived from it, is thrown or not caught.
    pub fn of_type(name: impl Into<String>) -> Self {
        Self {
            types: vec![name.into()],
            except: Vec::new(),
            subtypes: true,
            thrown: true,
            user_unhandled: false,
            unhandled: true,
            caught_by_user: None,
            escaping: false,
            condition: None,
            enabled: true,
            id: None,
        }
    }

    /// Stops when an exception of any type is thrown or not caught.
    pub fn all() -> Self {
        Self {
            types: Vec::new(),
            ..Self::of_type("")
        }
    }
}

/// An exception breakpoint as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExceptionBreakpoint {
    /// Its name, of the same sequence as other breakpoints.
    pub id: BreakpointId,
    /// What was asked for.
    pub spec: ExceptionSpec,
    /// How often it stopped the program.
    pub hits: u64,
    /// What a user should know of it: a type that no module had when it was set, which may be a slip of the pen.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// How far an exception has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExceptionStage {
    /// It was thrown and nothing is unwound yet.
    Thrown,
    /// It left the user's code and will be caught elsewhere.
    UserUnhandled,
    /// Nobody catches it.
    Unhandled,
}

/// An exception as the program has it, read from fields: nothing runs in the program.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ExceptionReport {
    /// Full type name.
    pub type_name: String,
    /// The message, or why it cannot be read.
    pub message: Option<String>,
    /// The type that overrides `Message`, if only running its code would tell the message: `message` is then the text
    /// that the exception was made with, which the override may not use.
    #[serde(default)]
    pub message_overridden_by: Option<String>,
    /// `HResult` of the exception.
    pub hresult: Option<i32>,
    /// Inner exceptions: the one, or all of an `AggregateException`.
    pub inner: Vec<ExceptionReport>,
    /// Inner exceptions that are not in this report because there are too many.
    #[serde(default)]
    pub inner_left_out: u32,
    /// Whether nobody will catch it.
    pub unhandled: bool,
    /// The methods it came through so far, innermost first, as its `StackTrace` has them.
    #[serde(default)]
    pub trace: Vec<TraceFrame>,
    /// Whether it came through more methods than are told.
    #[serde(default)]
    pub trace_is_cut: bool,
    /// The part of its stack trace that came with it as text, from another process or from before it was thrown again.
    #[serde(default)]
    pub earlier_trace: Option<String>,
    /// What is known of its flight; absent for exceptions that are not in flight, such as inner ones.
    #[serde(default)]
    pub flight: Option<Box<Flight>>,
}

/// A method that an exception came through.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TraceFrame {
    /// The method as a person writes it.
    pub method: String,
    /// File name of the module.
    pub module: Option<String>,
    /// Where in the source, if that is known.
    pub source: Option<Source>,
    /// Whether it is the user's code.
    pub user_code: bool,
    /// Whether the exception was thrown again behind this entry, as `await` does.
    pub rethrown: bool,
}

/// An exception between its throw and its handler.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Flight {
    /// How far it has come.
    pub stage: ExceptionStage,
    /// The frame that throws, if the stack still has it.
    pub thrown_at: Option<Frame>,
    /// The helper of the framework that threw it for that frame: for a cast, for `new T()`, or because that is its only task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raised_by: Option<String>,
    /// Whether it was thrown before and is thrown again.
    pub rethrown: bool,
    /// Who will handle it.
    pub handler: Handler,
}

/// Who will handle an exception.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Handler {
    /// Nobody: the program ends.
    Nobody,
    /// A `catch` block.
    Catch {
        /// The frame of the method with the block, with the position of the block.
        frame: Box<Frame>,
    },
    /// A `when` filter decides, which has not run yet.
    Filter {
        /// The frame of the method with the filter, with the position of its handler.
        frame: Box<Frame>,
    },
    /// The `when` filter that it leaves: the runtime drops the exception, and the filter counts as false.
    FilterFails {
        /// The frame of the method with the filter.
        frame: Box<Frame>,
    },
    /// The async method that it leaves: its task becomes faulted, and whoever awaits it gets the exception.
    Task {
        /// The frame of the async method.
        frame: Box<Frame>,
        /// What becomes of it there.
        then: Box<Then>,
    },
    /// The static constructor that it leaves: whoever used the type gets a `TypeInitializationException`.
    TypeInitializer {
        /// The frame of the static constructor.
        frame: Box<Frame>,
    },
    /// Not known.
    Unknown,
}

/// What becomes of an exception that a task keeps, as far as can be told when it is thrown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// A method that awaits or waits for the task, or one further out, catches it.
    Caught {
        /// The method.
        method: String,
        /// Its `catch` block.
        source: Option<Source>,
        /// Whether it is the user's code.
        user_code: bool,
        /// Whether a `when` filter decides.
        filter: bool,
    },
    /// A method awaits the task so that nothing is thrown there (`ConfigureAwaitOptions.SuppressThrowing`).
    Suppressed {
        /// The method.
        method: String,
        /// The `await`.
        source: Option<Source>,
        /// Whether it is the user's code.
        user_code: bool,
    },
    /// It leaves what awaits the task, and nobody catches it: the program ends.
    NotCaught,
    /// Nobody awaits the task, or the last one that is awaited, at this time.
    NotAwaited,
    /// Not known.
    Unknown,
}
