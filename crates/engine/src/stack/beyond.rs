//! Who gets to see what leaves a frame: the user's code, or only whoever runs it.
//!
//! Outwards from a frame lie its callers, or, from where an async method was resumed, those that await it. Where the
//! runner of a test begins, the user's part of that ends: what lies further out (a `Main`, say) started the runner.

use cordebug::thread::{Frame as RuntimeFrame, Thread};
use metadata::Token;

use super::logical::{awaiting, calls, is_async, run_of};
use super::{MAX_WALK, Walk, frame, is_user};
use crate::api::AsyncEnd;
use crate::modules;
use crate::target::Target;

/// Whether the user's code gets to see what leaves a frame: a method further out on the stack, or one that awaits.
///
/// Where that cannot be told, it does.
pub(crate) fn is_seen_by_user(target: &mut Target, thread: &Thread, from: &RuntimeFrame) -> bool {
    let Some(range) = from.stack_range() else {
        return true;
    };
    let mut walk = Walk::new(thread);
    let mut inside = true;
    let mut body: Option<RuntimeFrame> = None;
    for _ in 0..MAX_WALK {
        let frame = match walk.next(target) {
            Ok(Some(walked)) => walked.frame,
            Ok(None) => break,
            Err(_) => return true,
        };
        if inside {
            inside = frame.stack_range() != Some(range);
            body = (!inside && is_async(target, &frame)).then_some(frame);
            continue;
        }
        if frame.internal_kind().is_some() {
            continue;
        }
        if let Some(body) = body.take()
            && !calls(target, &frame, &body)
        {
            return is_awaited_by_user(target, &body);
        }
        if let Some(seen) = decides(target, &frame) {
            return seen;
        }
        body = is_async(target, &frame).then_some(frame);
    }
    match body {
        Some(body) => is_awaited_by_user(target, &body),
        None => inside,
    }
}

/// Whether a frame tells that the user's code sees what leaves it (it is the user's), or does not (it runs tests).
fn decides(target: &mut Target, frame: &RuntimeFrame) -> Option<bool> {
    if is_user(target, frame) {
        return Some(true);
    }
    let told = frame::describe(target, frame, 0);
    let module = told.module.unwrap_or_default();
    modules::runs_tests(&module, &told.method).then_some(false)
}

/// Whether the user's code waits for the run of an async method, or may do so later.
fn is_awaited_by_user(target: &mut Target, body: &RuntimeFrame) -> bool {
    let (chain, end) = match run_of(target, body) {
        Ok(task) => awaiting(target, task),
        Err(end) => (Vec::new(), end),
    };
    for frame in chain.iter().map(|it| &it.frame) {
        if frame.user_code {
            return true;
        }
        let module = frame.module.as_deref().unwrap_or_default();
        if modules::runs_tests(module, &frame.method) {
            return false;
        }
    }
    match end {
        AsyncEnd::AsyncVoid => false,
        AsyncEnd::Blocks { thread: Some(id) } => match target.process.thread(id.0) {
            Ok(thread) => is_blocked_by_user(target, &thread),
            Err(_) => true,
        },
        // Whoever called it has not come to waiting for it yet. A test is called by its runner.
        AsyncEnd::Nobody if chain.is_empty() => !is_test(target, body),
        _ => true,
    }
}

/// Whether it is the user's code that has blocked a thread.
fn is_blocked_by_user(target: &mut Target, thread: &Thread) -> bool {
    let mut walk = Walk::new(thread);
    for _ in 0..MAX_WALK {
        let frame = match walk.next(target) {
            Ok(Some(walked)) => walked.frame,
            Ok(None) => return false,
            Err(_) => return true,
        };
        if let Some(seen) = decides(target, &frame) {
            return seen;
        }
    }
    true
}

/// Whether a method is marked as a test: by `[Fact]`, `[Test]`, `[TestMethod]`, or something that is called alike.
fn is_test(target: &mut Target, body: &RuntimeFrame) -> bool {
    let Target {
        modules, process, ..
    } = target;
    let mut found = || -> Option<bool> {
        let function = body.function().ok()?;
        let module = modules.entry(&function.module().ok()?);
        let method = crate::names::declared(module, process, Token(function.token().ok()?));
        let metadata = module.metadata(process).ok()?.metadata();
        let marks = |name: &str| {
            ["Fact", "Theory", "Test"]
                .iter()
                .any(|it| name.contains(it))
        };
        let mut attributes = metadata.attributes(method).flatten();
        Some(attributes.any(|it| {
            let name = it.type_token().and_then(|ty| metadata.simple_name(ty));
            name.is_ok_and(|(_, name)| marks(&name))
        }))
    };
    found().unwrap_or(false)
}
