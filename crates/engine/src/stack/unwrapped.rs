//! The task whose result another one takes over (`Task.Run` of an async lambda, `Unwrap`): only that task refers to the one that
//! is waited for, never the other way round.
//!
//! So it is looked for in memory: a task that is not done, and whose continuation is the one that waits. What was found is read
//! as any other object, so that nothing is taken for one that only looks like it; two that fit are none.

use cordebug::heap::HeapPart;
use cordebug::value::Value;

use super::objects::Objects;
use crate::fields::Fields;
use crate::target::Target;

/// A heap larger than this is not searched: it would take too long.
const MAX_HEAP: u64 = 256 << 20;
/// How much is read at once.
const CHUNK: usize = 1 << 20;
/// Places that refer to the task that are looked at.
const MAX_FOUND: usize = 64;

/// The task that a task takes its result from, or why that cannot be told.
pub(super) fn inner(
    target: &mut Target,
    objects: &Objects,
    outer: &Value,
) -> Result<Value, String> {
    let unknown = || "the framework does not keep whose result this one takes over".to_owned();
    let wanted = outer.address().map_err(|_| unknown())?;
    let continuation = Fields::new(target).field(outer, "m_continuationObject");
    let continuation = continuation.and_then(|it| it.address().ok());
    let offset = continuation.and_then(|it| it.checked_sub(wanted));
    let offset = offset.ok_or_else(unknown)?;
    let mut fitting = Vec::new();
    for place in references(target, wanted)? {
        let at = place.checked_sub(offset);
        let Some(task) = at.and_then(|at| objects.at(target, at)) else {
            continue;
        };
        let mut fields = Fields::new(target);
        let is_task = fields.raw_names(&task).iter().any(|name| name == "Task");
        let waits = fields.object(&task, "m_continuationObject");
        let is_waited_for = waits.and_then(|it| it.address().ok()) == Some(wanted);
        if is_task && is_waited_for && !fields.is_done(&task) {
            fitting.push(task);
        }
    }
    match (fitting.pop(), fitting.is_empty()) {
        (Some(only), true) => Ok(only),
        _ => Err(unknown()),
    }
}

/// The places on the heap that refer to an object.
fn references(target: &Target, object: u64) -> Result<Vec<u64>, String> {
    let regions = target
        .process
        .heap_regions(HeapPart::Small)
        .unwrap_or_default();
    let size: u64 = regions
        .iter()
        .map(|it| it.end.saturating_sub(it.start))
        .sum();
    if size > MAX_HEAP {
        return Err(format!(
            "whose result this one takes over would have to be searched for in {} MB of memory",
            size >> 20
        ));
    }
    let mut found = Vec::new();
    let mut chunk = vec![0; CHUNK];
    for region in regions {
        let mut at = region.start;
        while at < region.end && found.len() < MAX_FOUND {
            let length = usize::try_from(region.end - at).unwrap_or(CHUNK).min(CHUNK);
            let Some(part) = chunk.get_mut(..length) else {
                break;
            };
            let read = target.process.read_memory(at, part).unwrap_or(0);
            let words = part.get(..read).unwrap_or_default().chunks_exact(8);
            let places = words.zip((at..).step_by(8));
            let refers = places.filter(|(word, _)| **word == object.to_le_bytes());
            found.extend(refers.map(|(_, at)| at));
            at += length as u64;
        }
    }
    found.truncate(MAX_FOUND);
    Ok(found)
}
