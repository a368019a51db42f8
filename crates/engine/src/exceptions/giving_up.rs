//! Programs that give up: failed assertions and `Environment.FailFast`, told with what was said.
//!
//! The framework's code is optimised and its arguments are gone by the time the debugger hears of it. What an assertion says is
//! written to the debugger before; what `FailFast` says is pinned by the frame that hands it to the runtime.

use cordebug::thread::Thread;

use super::fail_fast::exception_text;
use crate::api::{StopReason, ThreadId};
use crate::engine::Engine;
use crate::stack::{self, Objects, Walk, frame};
use crate::target::Target;

/// The framework has a few frames of its own above the one that the user called.
const LOOK_FOR_CALL: u32 = 16;
/// Where the characters of a string begin in it: behind its type and its length.
const FIRST_CHARACTER: u64 = 12;
/// Characters kept of what an assertion says.
const MAX_ASSERTION: usize = 16 << 10;

const BANNER: &str = "---- DEBUG ASSERTION FAILED ----";
const SHORT: &str = "---- Assert Short Message ----";
const LONG: &str = "---- Assert Long Message ----";

/// What an assertion that is about to fail said, for the break that follows on the same thread.
#[derive(Debug, Default)]
pub(crate) struct Assertion {
    thread: u32,
    text: String,
}

impl Assertion {
    /// The program wrote something for its debugger; long texts come in pieces.
    pub(crate) fn logged(&mut self, thread: u32, text: &str) {
        if text.starts_with(BANNER) {
            self.thread = thread;
            self.text.clear();
        } else if self.thread != thread || self.text.is_empty() {
            return;
        }
        if self.text.len() + text.len() <= MAX_ASSERTION {
            self.text.push_str(text);
        }
    }

    /// What was said on that thread: message and detail.
    fn take(&mut self, thread: u32) -> (Option<String>, Option<String>) {
        if self.thread != thread {
            return (None, None);
        }
        parse(&std::mem::take(&mut self.text))
    }
}

/// The message and the detail; the stack trace behind them is left out.
fn parse(text: &str) -> (Option<String>, Option<String>) {
    let Some((_, rest)) = text.split_once(SHORT) else {
        return (None, None);
    };
    let (message, detail) = rest.split_once(LONG).unwrap_or((rest, ""));
    let detail = detail.split("\n   at ").next().unwrap_or_default();
    let told = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    (told(message), told(detail))
}

impl Engine<'_> {
    /// The program called `Debugger.Break()`, or the framework did because an assertion failed.
    pub(crate) fn break_called(&mut self, thread: &Thread) {
        let id = thread.id().unwrap_or_default();
        let (message, detail) = self.exceptions.assertion.take(id);
        let failed = self.target.as_mut().is_some_and(|target| {
            let methods = [
                "System.Diagnostics.Debug.",
                "System.Diagnostics.DebugProvider.",
                "System.Diagnostics.DefaultTraceListener.",
                "System.Diagnostics.Trace.",
                "System.Diagnostics.TraceInternal.",
            ];
            is_called(target, thread, &methods)
        });
        let reason = if failed {
            StopReason::AssertionFailed { message, detail }
        } else {
            let frame = self.active_frame(thread);
            let end = frame.and_then(|it| it.stack_end().ok());
            if let Some(target) = self.target.as_mut() {
                target.broke = end;
            }
            StopReason::DebuggerBreak
        };
        self.stopped(vec![reason], Some(ThreadId(id)), None);
    }
}

/// Whether one of these methods of the framework was called by the innermost frame of the user's code.
fn is_called(target: &mut Target, thread: &Thread, methods: &[&str]) -> bool {
    let mut walk = Walk::new(thread);
    for index in 0..LOOK_FOR_CALL {
        let Ok(Some(walked)) = walk.next(target) else {
            return false;
        };
        if stack::is_user(target, &walked.frame) {
            return false;
        }
        let told = frame::describe(target, &walked.frame, index);
        if methods.iter().any(|method| told.method.starts_with(method)) {
            return true;
        }
    }
    false
}

/// What a program said when it gave up.
pub(super) struct GivenUp {
    pub(super) message: Option<String>,
    pub(super) exception: Option<String>,
}

/// What `Environment.FailFast` was called with, if that is what the thread does.
pub(super) fn fail_fast(target: &mut Target, thread: &Thread) -> Option<GivenUp> {
    let mut walk = Walk::new(thread);
    // Native code is innermost: it was called with the text.
    let start = walk.stack_pointer();
    let mut called = false;
    let mut takes_exception = false;
    for index in 0..LOOK_FOR_CALL {
        let walked = walk.next(target).ok()??;
        let told = frame::describe(target, &walked.frame, index);
        let here = told.method.starts_with("System.Environment.FailFast(");
        if called && !here {
            let end = walk.stack_pointer()?;
            let start = start?;
            let (text, at) = pinned_text(target, start, end).unzip();
            let objects = match at {
                Some(string) => Objects::of_string(target, string),
                None => Objects::new(target, thread),
            };
            let exception = objects
                .filter(|_| takes_exception)
                .and_then(|objects| given_exception(target, &objects, start, end));
            return Some(GivenUp {
                message: text,
                exception,
            });
        }
        if told.user_code {
            return None;
        }
        called = here;
        takes_exception = here && told.method.contains("Exception");
    }
    None
}

/// The exception that a part of the stack refers to, if there is exactly one: nothing that is left over is told for what
/// was given.
fn given_exception(target: &mut Target, objects: &Objects, start: u64, end: u64) -> Option<String> {
    let mut words = stack::words(target, start, end);
    words.sort_unstable();
    words.dedup();
    let mut found = words.into_iter().filter_map(|word| {
        let object = objects.at(target, word)?;
        exception_text(target, &object)
    });
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// The text whose characters a part of the stack points at, as it does to hand them to native code, and where it lies.
fn pinned_text(target: &Target, start: u64, end: u64) -> Option<(String, u64)> {
    let words = stack::words(target, start, end);
    words.into_iter().find_map(|word| {
        let object = word.checked_sub(FIRST_CHARACTER).filter(|it| it % 8 == 0)?;
        Some((text_at(target, object)?, object))
    })
}

/// The text of the string that begins at an address. Whether there is one is checked to the last bit, since the address may
/// be anything: the object's type must be that of strings, and a zero must follow its characters.
fn text_at(target: &Target, object: u64) -> Option<String> {
    /// The first words of the type of strings: their elements have 2 bytes, an empty one has 22.
    const TYPE_OF_STRINGS: (u32, u32) = (0x8000_0002, 22);
    const ELEMENTS: u32 = 0x8000_ffff;
    const MAX_LENGTH: u32 = 8192;
    let header: [u8; 12] = target.process.read_array(object)?;
    let (ty, length) = header.split_first_chunk()?;
    let length = u32::from_le_bytes(*length.first_chunk()?);
    let ty: [u8; 8] = target.process.read_array(u64::from_le_bytes(*ty))?;
    let (elements, size) = ty.split_first_chunk()?;
    let elements = u32::from_le_bytes(*elements) & ELEMENTS;
    let size = u32::from_le_bytes(*size.first_chunk()?);
    if (elements, size) != TYPE_OF_STRINGS || length == 0 || length > MAX_LENGTH {
        return None;
    }
    let mut bytes = vec![0; length as usize * 2 + 2];
    let got = target
        .process
        .read_memory(object + FIRST_CHARACTER, &mut bytes);
    let units: Vec<_> = bytes
        .chunks_exact(2)
        .filter_map(|unit| Some(u16::from_le_bytes(*unit.first_chunk()?)))
        .collect();
    let (last, text) = units.split_last()?;
    (got.ok()? == bytes.len() && *last == 0).then(|| String::from_utf16_lossy(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, message: Option<&str>, detail: Option<&str>) {
        let expected = (message.map(str::to_owned), detail.map(str::to_owned));
        assert_eq!(parse(text), expected);
    }

    #[test]
    fn message_and_detail_of_an_assertion() {
        let text = format!("{BANNER}\n{SHORT}\nseven\nlines\n{LONG}\nfewer\n   at Main()\n");
        check(&text, Some("seven\nlines"), Some("fewer"));
        check(
            &format!("{BANNER}\n{SHORT}\n\n{LONG}\n\n   at Main()"),
            None,
            None,
        );
        check("another text", None, None);
    }

    #[test]
    fn pieces_of_one_thread_belong_together() {
        let mut assertion = Assertion::default();
        assertion.logged(1, "before\n");
        assertion.logged(1, &format!("{BANNER}\n{SHORT}\nlong "));
        assertion.logged(2, "another thread\n");
        assertion.logged(1, &format!("text\n{LONG}\n"));
        assert_eq!(assertion.take(2), (None, None));
        assert_eq!(assertion.take(1), (Some("long text".into()), None));
        assert_eq!(assertion.take(1), (None, None));
    }
}
