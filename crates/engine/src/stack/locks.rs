//! Locks of `System.Threading.Lock`: which one a thread waits for, and who holds it.
//!
//! The runtime knows nothing of them: they are objects of the framework. The one that a thread waits for is found on its
//! stack, where the framework's method that waits refers to it and to the event it waits on. Where that is not exactly one
//! object nothing is told, since a holder that is wrong misleads more than none.

use cordebug::thread::Thread;
use cordebug::value::Value;

use super::objects::Objects;
use super::{Walk, Walked, frame, words};
use crate::api::{AwaitedLock, ThreadId};
use crate::fields::Fields;
use crate::target::Target;

/// Frames that the framework has at most between its wait and who called for the lock.
const MAX_FRAMES: u32 = 12;
/// The method that every way into a lock ends in, whether it gives up or not.
const SLOW: &str = "TryEnterSlow";

/// The lock that a waiting thread wants to enter.
pub(crate) fn awaited(target: &mut Target, thread: &Thread) -> Option<AwaitedLock> {
    let wait = wait_of(target, thread)?;
    let objects = Objects::new(target, thread)?;
    let mut words = words(target, wait.start, wait.end);
    words.sort_unstable();
    let mut found = None;
    for word in &words {
        let Some(lock) = objects.at(target, *word) else {
            continue;
        };
        if is_waited_for(target, &lock, &words) && found.replace(lock).is_some() {
            return None;
        }
    }
    let lock = found?;
    let mut fields = Fields::new(target);
    // An id of the operating system, and 0 where nobody holds it: whoever left it has woken this thread, or is about to.
    let holder = fields.number(&lock, "_owningThreadId").unwrap_or(0);
    let holder = u32::try_from(holder).ok().filter(|id| *id != 0);
    Some(AwaitedLock {
        type_name: AwaitedLock::LOCK.into(),
        address: lock.address().unwrap_or(0),
        // On another version the number might mean something else.
        holder: holder
            .filter(|id| target.process.thread(*id).is_ok())
            .map(ThreadId),
        pulse: false,
        limited: wait.limited,
    })
}

/// Whether it is a lock whose event is among the same words.
fn is_waited_for(target: &mut Target, object: &Value, words: &[u64]) -> bool {
    let mut fields = Fields::new(target);
    let is_lock = fields.raw_name(object) == "Lock"
        && fields
            .types(object)
            .first()
            .is_some_and(|it| it == AwaitedLock::LOCK);
    if !is_lock {
        return false;
    }
    let event = fields.object(object, "_waitEvent");
    let handle = event
        .as_ref()
        .and_then(|event| fields.object(event, "_waitHandle"));
    [event, handle].iter().flatten().any(|it| {
        it.address()
            .is_ok_and(|address| words.binary_search(&address).is_ok())
    })
}

/// The part of a stack that waits for a lock.
struct Wait {
    start: u64,
    end: u64,
    /// Whether it may give up: whether its time has an end is not told.
    limited: bool,
}

/// The innermost part of a thread's stack, if it waits for a lock there.
fn wait_of(target: &mut Target, thread: &Thread) -> Option<Wait> {
    let mut walk = Walk::new(thread);
    let start = walk.stack_pointer()?;
    let (mut waits, mut limited) = (false, false);
    for index in 0..MAX_FRAMES {
        let Walked { frame, .. } = walk.next(target).ok()??;
        let told = frame::describe(target, &frame, index);
        let method = told.method.strip_prefix(AwaitedLock::LOCK);
        let method = method.and_then(|it| it.strip_prefix('.'));
        match method {
            Some(method) => limited |= method.starts_with("TryEnter") && !method.starts_with(SLOW),
            None if waits => {
                let end = walk.stack_pointer()?;
                return Some(Wait {
                    start,
                    end,
                    limited,
                });
            }
            None if told.user_code => return None,
            None => {}
        }
        waits = method.is_some();
    }
    None
}
