//! Errors of requests: what was asked, why not, what to do next.

use serde::{Deserialize, Serialize};

use super::{AvailablePoint, Diagnostic};

/// Why a request was refused or failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// What kind of error it is, to branch on.
    pub code: ErrorCode,
    /// What was asked and why not: one or two sentences.
    pub message: String,
    /// What to do next, if anything can be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// More to go by, as data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Box<Details>>,
}

/// What an [`Error`] knows beyond its words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Details {
    /// Lines near the one that was asked for that have code.
    NearestLines(Vec<u32>),
    /// The statements that a breakpoint on the line could be set on.
    #[serde(rename = "availableSequencePoints")]
    AvailablePoints(Vec<AvailablePoint>),
    /// Where in the text that was given the problem is: 0-based character offsets.
    Position {
        /// First character.
        start: u32,
        /// Behind the last character.
        end: u32,
    },
    /// What may have been meant.
    Candidates(Vec<String>),
    /// What the compiler said.
    Diagnostics(Vec<Diagnostic>),
}

impl Error {
    /// An error without a hint.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint: None,
            details: None,
        }
    }

    /// Adds data.
    #[must_use]
    pub fn details(mut self, details: Details) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Declares [`ErrorCode`] with the name each front end shows, so that the two cannot drift apart.
macro_rules! error_codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+) => {
        /// Kinds of [`Error`]s.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum ErrorCode { $($(#[doc = $doc])+ #[serde(rename = $name)] $variant,)+ }

        impl ErrorCode {
            /// Every code with its name and meaning, for the reference.
            pub const ALL: &[(ErrorCode, &str, &str)] = &[$((ErrorCode::$variant, $name, concat!($($doc),+)),)+];

            /// The code as front ends show it, such as `NOT_STOPPED`.
            pub fn name(self) -> &'static str {
                match self { $(ErrorCode::$variant => $name,)+ }
            }
        }
    };
}

error_codes! {
    /// The session has no program yet, or there is no such session.
    NoSession = "NO_SESSION",
    /// The session already has a program.
    AlreadyStarted = "ALREADY_STARTED",
    /// The file does not exist or cannot be read.
    InvalidFile = "INVALID_FILE",
    /// The file or process is not a .NET program.
    NotDotnet = "NOT_DOTNET",
    /// No .NET runtime that could run the program was found.
    RuntimeNotFound = "RUNTIME_NOT_FOUND",
    /// Building the project failed.
    BuildFailed = "BUILD_FAILED",
    /// The program could not be started or ended before the debugger was ready.
    LaunchFailed = "LAUNCH_FAILED",
    /// There is no process with that id or name.
    ProcessNotFound = "PROCESS_NOT_FOUND",
    /// The process belongs to another user or may not be inspected.
    PermissionDenied = "PERMISSION_DENIED",
    /// Another debugger holds the process.
    AlreadyDebugged = "ALREADY_DEBUGGED",
    /// The process runs with debugging switched off.
    DebuggingDisabled = "DEBUGGING_DISABLED",
    /// The runtime's debugger libraries are missing or of another build.
    RuntimeMismatch = "RUNTIME_MISMATCH",
    /// Attaching failed for another reason.
    AttachFailed = "ATTACH_FAILED",
    /// The request needs a stopped program.
    NotStopped = "NOT_STOPPED",
    /// The program has ended.
    Exited = "EXITED",
    /// An id belongs to an earlier stop.
    StaleReference = "STALE_REFERENCE",
    /// There is no such thread.
    InvalidThread = "INVALID_THREAD",
    /// An argument makes no sense.
    InvalidParameter = "INVALID_PARAMETER",
    /// The line has no code.
    InvalidLine = "INVALID_LINE",
    /// No statement holds the column.
    InvalidColumn = "INVALID_COLUMN",
    /// No loaded module is called so.
    ModuleNotLoaded = "MODULE_NOT_LOADED",
    /// The condition cannot be understood.
    InvalidCondition = "INVALID_CONDITION",
    /// This program or its runtime cannot do what was asked for.
    NotSupported = "NOT_SUPPORTED",
    /// There is no such breakpoint.
    BreakpointNotFound = "BREAKPOINT_NOT_FOUND",
    /// Code could not be run in the program, or an expression could not be evaluated.
    EvaluationFailed = "EVAL_FAILED",
    /// The step could not be made.
    StepFailed = "STEP_FAILED",
    /// Something did not happen in time.
    Timeout = "TIMEOUT",
    /// The debugger is ending.
    Closing = "CLOSING",
    /// The debugger's own process for this session died.
    HostDied = "HOST_DIED",
    /// A call into the runtime's debugger library failed.
    Runtime = "RUNTIME_ERROR",
    /// A bug in ndbg.
    Internal = "INTERNAL_ERROR",
}
