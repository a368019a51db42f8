//! Locks that threads wait for, who holds them, and circles of such threads.
//!
//! A circle is only told where every holder in it is known, so it never ends by itself, unless a thread gives up waiting.

use std::collections::HashMap;
use std::fmt::Write as _;

use engine::api::AwaitedLock;
use schemars::JsonSchema;
use serde::Serialize;

use super::inventory::ThreadEntry;
use super::{is_false, text};

/// Characters told of a name.
const NAME: usize = 200;

/// A lock that a thread waits for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct LockEntry {
    /// The type of the object whose lock it is, or System.Threading.Lock.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Where the object lies.
    pub address: String,
    /// The thread that holds the lock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_by: Option<u32>,
    /// Whether the thread waits to be pulsed (Monitor.Wait), and not for the lock itself.
    #[serde(skip_serializing_if = "is_false")]
    pub pulse: bool,
    /// Whether the thread gives up after a while, or may (TryEnter).
    #[serde(skip_serializing_if = "is_false")]
    pub limited: bool,
}

impl From<&AwaitedLock> for LockEntry {
    fn from(lock: &AwaitedLock) -> Self {
        Self {
            type_name: text::one_line(&lock.type_name, NAME),
            address: format!("0x{:x}", lock.address),
            held_by: lock.holder.map(|it| it.0),
            pulse: lock.pulse,
            limited: lock.limited,
        }
    }
}

impl LockEntry {
    /// What the thread waits for, in a line of its own.
    pub(super) fn push(&self, out: &mut String, threads: &[ThreadEntry]) {
        let what = match self.type_name.as_str() {
            AwaitedLock::LOCK => format!("a {}", AwaitedLock::LOCK),
            name if self.pulse => format!("an object of {name}"),
            name => format!("the lock of an object of {name}"),
        };
        let waits = if self.pulse {
            format!("waits to be pulsed (Monitor.Wait) on {what}")
        } else {
            match self.held_by.map(|id| named(threads, id)) {
                Some(holder) => format!("waits for {what} that {holder} holds"),
                None => format!("waits for {what}"),
            }
        };
        let limit = match (self.limited, self.type_name.as_str()) {
            (false, _) => "",
            (true, AwaitedLock::LOCK) => ", perhaps with a time limit (TryEnter)",
            (true, _) => ", with a time limit",
        };
        // Writing to a String cannot fail.
        let _ = writeln!(out, "     {waits}{limit}");
    }
}

/// A thread with its name.
fn named(threads: &[ThreadEntry], id: u32) -> String {
    let name = threads.iter().find(|it| it.id == id);
    match name.and_then(|it| it.name.as_deref()) {
        Some(name) => format!("thread {id} {}", text::quoted(name, NAME)),
        None => format!("thread {id}"),
    }
}

/// Threads that wait in a circle: each for a lock that the next one holds, the last for one of the first.
pub(super) fn deadlocks(threads: &[ThreadEntry]) -> Vec<Vec<u32>> {
    let waits: HashMap<u32, u32> = threads
        .iter()
        .filter_map(|it| {
            let lock = it.lock.as_ref().filter(|lock| !lock.pulse)?;
            Some((it.id, lock.held_by?))
        })
        .collect();
    let mut circles: Vec<Vec<u32>> = Vec::new();
    for thread in threads {
        let mut way = vec![thread.id];
        while let Some(next) = way.last().and_then(|last| waits.get(last)) {
            if *next == thread.id {
                // Each circle is met from each of its threads; it begins with the lowest.
                if way.iter().all(|it| *it >= thread.id) {
                    circles.push(way);
                }
                break;
            }
            // A thread can wait for a circle without being in it.
            if way.contains(next) {
                break;
            }
            way.push(*next);
        }
    }
    circles
}

/// Tells each circle in a line.
pub(super) fn push_deadlocks(out: &mut String, threads: &[ThreadEntry], circles: &[Vec<u32>]) {
    for circle in circles {
        let all: Vec<String> = circle.iter().map(|id| named(threads, *id)).collect();
        let limited = |id: &u32| {
            let thread = threads.iter().find(|it| it.id == *id);
            thread.is_some_and(|it| it.lock.as_ref().is_some_and(|lock| lock.limited))
        };
        let end = match circle.iter().any(limited) {
            true => "until one whose wait has a time limit gives up",
            false => "for ever",
        };
        // Writing to a String cannot fail.
        let _ = match circle.as_slice() {
            [_, _] => writeln!(
                out,
                "Deadlock: {} wait for a lock that the other holds, {end}.",
                all.join(" and ")
            ),
            _ => writeln!(
                out,
                "Deadlock: {} wait in a circle, each for a lock that the next holds, {end}.",
                all.join(", ")
            ),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(waits: &[(u32, Option<u32>, bool)]) -> Vec<ThreadEntry> {
        let entry = |(id, held_by, pulse): &(u32, Option<u32>, bool)| ThreadEntry {
            id: *id,
            lock: Some(LockEntry {
                held_by: *held_by,
                pulse: *pulse,
                ..LockEntry::default()
            }),
            ..ThreadEntry::default()
        };
        waits.iter().map(entry).collect()
    }

    #[test]
    fn circles_of_threads_that_may_give_up_do_not_last_for_ever() {
        let mut threads = waiting(&[(1, Some(2), false), (2, Some(1), false)]);
        let locks = threads.iter_mut().flat_map(|it| &mut it.lock);
        for (lock, name) in locks.zip([AwaitedLock::LOCK, "Account"]) {
            lock.type_name = name.into();
            lock.limited = true;
        }
        let mut out = String::new();
        for lock in threads.iter().flat_map(|it| &it.lock) {
            lock.push(&mut out, &threads);
        }
        push_deadlocks(&mut out, &threads, &deadlocks(&threads));
        expect_test::expect![[r#"
                 waits for a System.Threading.Lock that thread 2 holds, perhaps with a time limit (TryEnter)
                 waits for the lock of an object of Account that thread 1 holds, with a time limit
            Deadlock: thread 1 and thread 2 wait for a lock that the other holds, until one whose wait has a time limit gives up.
        "#]]
        .assert_eq(&out);
    }

    #[test]
    fn circles_are_found_once_and_only_circles() {
        let threads = waiting(&[
            (5, Some(3), false),
            (3, Some(4), false),
            (4, Some(5), false),
            // Waits for the circle, and is not in it.
            (1, Some(3), false),
            // Will be woken by somebody.
            (7, Some(8), true),
            (8, Some(7), false),
            (9, None, false),
            (11, Some(12), false),
            (12, Some(11), false),
        ]);
        let circles = deadlocks(&threads);
        assert_eq!(circles, [vec![3, 4, 5], vec![11, 12]]);
        let mut out = String::new();
        push_deadlocks(&mut out, &threads, &circles);
        expect_test::expect![[r#"
            Deadlock: thread 3, thread 4, thread 5 wait in a circle, each for a lock that the next holds, for ever.
            Deadlock: thread 11 and thread 12 wait for a lock that the other holds, for ever.
        "#]]
        .assert_eq(&out);
    }
}
