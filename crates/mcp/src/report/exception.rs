//! The exception in flight as an agent sees it.

use schemars::JsonSchema;
use serde::Serialize;

use super::render::push_exceptions;
use super::{ExceptionEntry, Render, is_zero};

/// The exception in flight on a thread, with all its inner ones.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct ExceptionAnswer {
    /// The session's id.
    pub session: String,
    /// The thread it is in flight on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<u32>,
    /// Whether nobody will catch it.
    pub unhandled: bool,
    /// The exception, then its inner ones.
    pub exceptions: Vec<ExceptionEntry>,
    /// Inner exceptions that are not told.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: u32,
}

impl Render for ExceptionAnswer {
    fn render(&self) -> String {
        if self.exceptions.is_empty() {
            return match self.thread {
                Some(thread) => format!("No exception is in flight on thread {thread}."),
                None => "No exception is in flight.".into(),
            };
        }
        let mut out = String::new();
        push_exceptions(&mut out, &self.exceptions);
        if self.left_out > 0 {
            out.push_str(&format!("  … {} more\n", self.left_out));
        }
        out.push_str(if self.unhandled {
            "Nobody catches it: the program ends if it continues.\n"
        } else {
            ""
        });
        super::finish(out)
    }
}
