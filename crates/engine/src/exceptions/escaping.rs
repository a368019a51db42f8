//! Whether an exception leaves the user's code for good.
//!
//! A runner of tests catches whatever a test throws, and so does an assertion that expects an exception. Only the first
//! of them is beyond all of the user's code: the second was called by it, or is awaited by it.

use cordebug::thread::{Frame, Thread};

use super::handler;
use crate::api::Handler;
use crate::target::Target;

/// Exceptions by which test frameworks end a test that has not failed: it passes, is skipped, or says nothing.
const NO_FAILURES: [&str; 6] = [
    "NUnit.Framework.SuccessException",
    "NUnit.Framework.InconclusiveException",
    "NUnit.Framework.IgnoreException",
    "Microsoft.VisualStudio.TestTools.UnitTesting.AssertInconclusiveException",
    "Xunit.Sdk.SkipException",
    "Xunit.SkipException",
];

/// Whether an exception with these types, its own first, is a test framework's way to end a test that has not failed.
pub(super) fn ends_a_test_without_failure(types: &[String]) -> bool {
    types.iter().any(|it| NO_FAILURES.contains(&it.as_str()))
}

/// Whether nothing of the user's code gets to see the exception that this frame handles.
pub(super) fn escapes(target: &mut Target, thread: &Thread, frame: &Frame, offset: u32) -> bool {
    let beyond = match handler::found(target, thread, frame, offset) {
        // Of the user's async methods the compiler's own handler is meant, which only hands it on to whoever awaits.
        // Work that was queued (`Task.Run`) is seen where it is awaited, too: there it is thrown again.
        Handler::Task { frame, .. } => frame.user_code,
        // What runs queued work catches on the way there, too.
        Handler::Catch { frame } | Handler::Filter { frame } => {
            !frame.user_code && !frame.method.starts_with("System.Threading.")
        }
        Handler::FilterFails { .. }
        | Handler::TypeInitializer { .. }
        | Handler::Nobody
        | Handler::Unknown => false,
    };
    let seen = beyond && crate::stack::is_seen_by_user(target, thread, frame);
    tracing::debug!(beyond, seen, "a handler was found");
    beyond && !seen
}
