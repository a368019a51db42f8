//! What a task runs on a thread: the delegate of `Task.Run`, a part of a loop of `Parallel`, a lambda of PLINQ. Who waits for the
//! task waits for it.

use cordebug::thread::{Frame, Thread};
use cordebug::value::Value;

use super::objects::Objects;
use super::words;
use crate::api::{AsyncEnd, ThreadId};
use crate::fields::Fields;
use crate::stepping::work;
use crate::target::Target;

/// The tasks that a walk from the innermost frame outwards meets.
#[derive(Default)]
pub(super) struct Running {
    /// The last that has a part of a loop of its own thread: the frames further out wait for it.
    part: Option<u64>,
    /// Where the frame before lies.
    inner: Option<u64>,
}

impl Running {
    /// If the next frame runs a task that others wait for: what stands for that, or how the chain of those who do ends.
    pub(super) fn run_by(
        &mut self,
        target: &mut Target,
        thread: &Thread,
        frame: &Frame,
    ) -> Option<Result<Value, AsyncEnd>> {
        let (start, end) = frame.stack_range()?;
        let from = self.inner.replace(start).unwrap_or(start);
        let current = work::task_of_runner(target, frame)?;
        let task = match current.address().ok() {
            // Only the innermost is told.
            at if at.is_some() && at == self.part => further_out(target, thread, (from, end), at)?,
            _ => current,
        };
        let Some(replicator) = work::replicator(target, &task) else {
            return Some(Ok(work::outermost(target, task)));
        };
        if is_caller(target, thread, &replicator) {
            self.part = task.address().ok();
            return None;
        }
        let mut threads = target.process.threads().unwrap_or_default().into_iter();
        let caller = threads.find(|it| is_caller(target, it, &replicator));
        Some(Err(AsyncEnd::Blocks {
            thread: caller.and_then(|it| it.id().ok()).map(ThreadId),
        }))
    }
}

/// Whether a thread has called a loop of `Parallel`.
fn is_caller(target: &mut Target, thread: &Thread, replicator: &Value) -> bool {
    let address = replicator.address().unwrap_or(0);
    let runs = work::runs_of_loops(target, thread, address);
    runs.iter().any(|(_, is_ours)| *is_ours)
}

/// The task that a frame further out runs: the only one under way that this part of the stack refers to.
fn further_out(
    target: &mut Target,
    thread: &Thread,
    (start, end): (u64, u64),
    inner: Option<u64>,
) -> Option<Value> {
    let objects = Objects::new(target, thread)?;
    let mut found: Option<Value> = None;
    for word in words(target, start, end) {
        let Some(task) = objects.at(target, word).filter(|_| Some(word) != inner) else {
            continue;
        };
        let mut fields = Fields::new(target);
        let is_task = fields.raw_names(&task).iter().any(|name| name == "Task");
        if !is_task || !fields.is_running(&task) {
            continue;
        }
        if found.is_some_and(|it| it.address().ok() != Some(word)) {
            return None;
        }
        found = Some(task);
    }
    found
}
