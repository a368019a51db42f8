//! Tasks and state machines as links of a chain of awaits, read from their fields.
//!
//! The framework's fields are found by name on the version that runs. A field that is not there, or an object of a type that
//! is not known, ends a chain with that as its reason; nothing is guessed.

use cordebug::value::Value;
use metadata::{IlOffset, Token};

use super::{frame, resuming};
use crate::api::{AsyncFrame, AsyncKind, FrameKind};
use crate::fields::Fields;

/// Awaiters of one task that are looked at.
const MAX_AWAITERS: u32 = 1000;
/// Bits of `Task.m_stateFlags` of a task that is done: faulted, cancelled, ran to completion.
const DONE: i32 = FAULTED | 0x0040_0000 | 0x0100_0000;
const FAULTED: i32 = 0x0020_0000;
/// `ConfigureAwaitOptions.SuppressThrowing`
pub(crate) const SUPPRESS_THROWING: i32 = 2;
/// The bit of `Task.m_stateFlags` of a task whose delegate runs or ran.
const DELEGATE_INVOKED: i32 = 0x0002_0000;

/// Who waits for a task.
pub(super) enum Awaiters {
    /// These, each to be followed.
    Some(Vec<Value>),
    /// Nobody now.
    Nobody,
    /// The task is done.
    Completed,
    /// That cannot be told.
    Unknown(String),
}

/// A link of a chain.
#[derive(Clone)]
pub(crate) struct Awaiter {
    pub(crate) frame: AsyncFrame,
    /// Of a suspended method, as far as symbols or its code tell.
    pub(crate) suspended: Option<Suspended>,
    /// Of a combinator: its task.
    pub(crate) combinator: Option<Value>,
}

/// Where a suspended method was left, or goes on: both are guarded by the same clauses.
#[derive(Clone)]
pub(crate) struct Suspended {
    pub(crate) module: usize,
    /// Its body.
    pub(crate) method: Token,
    pub(crate) at: IlOffset,
    pub(crate) machine: Value,
}

impl From<AsyncFrame> for Awaiter {
    fn from(frame: AsyncFrame) -> Self {
        Self {
            frame,
            suspended: None,
            combinator: None,
        }
    }
}

/// What stands behind an object that waits for a task.
pub(super) enum Link {
    /// A link, and what others may wait for in turn; `None` if nothing can.
    Frame(Box<Awaiter>, Option<Value>),
    /// Only a go-between.
    Pass(Value),
    /// A thread that is blocked until this event is set.
    Blocks(Value),
    /// Something that is not known.
    Unknown(String),
}

impl Link {
    /// A link that is no suspended method.
    fn other(frame: AsyncFrame, next: Option<Value>) -> Self {
        let combinator = next.clone();
        let combinator = combinator.filter(|_| frame.kind == AsyncKind::Combinator);
        let awaiter = Awaiter {
            combinator,
            ..frame.into()
        };
        Self::Frame(Box::new(awaiter), next)
    }
}

impl Fields<'_> {
    /// The state machine that an object holds or is.
    pub(super) fn machine_of(&mut self, object: &Value) -> Option<Value> {
        if let Some(machine) = self.field(object, "StateMachine") {
            return machine.dereference().ok()?;
        }
        // An async iterator is its own source of values.
        self.field(object, "<>t__builder")?;
        self.field(object, "<>1__state")?;
        Some(object.clone())
    }

    /// The task that stands for a run of a state machine; `None` before its first await.
    pub(crate) fn task_of_machine(&mut self, machine: &Value) -> Option<Value> {
        let mut builder = self.field(machine, "<>t__builder")?;
        if let Some(inner) = self.field(&builder, "_builder") {
            builder = inner;
        }
        self.object(&builder, "m_task")
    }

    /// Whether a machine is that of an `async void` method.
    pub(super) fn is_async_void(&mut self, machine: &Value) -> bool {
        self.field(machine, "<>t__builder")
            .is_some_and(|builder| self.raw_name(&builder) == "AsyncVoidMethodBuilder")
    }

    /// Whether a machine is that of an async iterator.
    pub(super) fn is_async_iterator(&mut self, machine: &Value) -> bool {
        self.field(machine, "<>v__promiseOfValueOrEnd").is_some()
    }

    /// Who waits for a task, a source of a `ValueTask`, or an async iterator.
    pub(super) fn awaiters(&mut self, object: &Value) -> Awaiters {
        let machine = self.machine_of(object);
        let source = machine
            .and_then(|machine| self.field(&machine, "<>v__promiseOfValueOrEnd"))
            .or_else(|| self.field(object, "_valueTaskSource"));
        if let Some(source) = source {
            return match self.object(&source, "_continuationState") {
                Some(state) => Awaiters::Some(vec![state]),
                None => Awaiters::Nobody,
            };
        }
        let Some(continuation) = self.field(object, "m_continuationObject") else {
            let name = self.raw_name(object);
            return Awaiters::Unknown(format!("who waits for a {name} cannot be told"));
        };
        let Ok(Some(continuation)) = continuation.dereference() else {
            if self.is_done(object) {
                return Awaiters::Completed;
            }
            // The loops of `Parallel` are started by a source that completes when all are done.
            let source = self.source_of_loop(object);
            return match source {
                Some(task) => self.awaiters(&task),
                None => Awaiters::Nobody,
            };
        };
        match self.raw_name(&continuation).as_str() {
            // A mark that the task has run its continuations.
            "Object" => Awaiters::Completed,
            "List`1" => {
                let items = self.object(&continuation, "_items");
                let size = self.number(&continuation, "_size").unwrap_or(0);
                let items = items.and_then(|items| items.elements(MAX_AWAITERS).ok());
                let items = items.map(|(items, _)| items).unwrap_or_default();
                // Those that gave up waiting are null.
                let items = items
                    .into_iter()
                    .take(usize::try_from(size).unwrap_or(0))
                    .filter_map(|item| item.dereference().ok()?);
                let items: Vec<_> = items.collect();
                match items.is_empty() {
                    true => Awaiters::Nobody,
                    false => Awaiters::Some(items),
                }
            }
            _ => Awaiters::Some(vec![continuation]),
        }
    }

    /// The task that a body of `Parallel.ForEachAsync` or `ForAsync` helps to complete.
    pub(crate) fn source_of_loop(&mut self, object: &Value) -> Option<Value> {
        let machine = self.machine_of(object)?;
        let state = self.object(&machine, "o")?;
        let names = self.raw_names(&state);
        let is_loop = names.iter().any(|it| it.starts_with("ForEachAsyncState"));
        let task = is_loop.then(|| self.object(&state, "_task"))??;
        // It is no loop itself: what is looked at next ends.
        self.machine_of(&task).is_none().then_some(task)
    }

    /// What stands behind an object that waits for a task.
    pub(super) fn link(&mut self, waiting: &Value) -> Link {
        if let Some(machine) = self.machine_of(waiting) {
            let void = self.is_async_void(&machine);
            let next = (!void).then(|| waiting.clone());
            return match self.suspended(&machine) {
                Some(awaiter) => Link::Frame(Box::new(awaiter), next),
                None => Link::Unknown("a state machine that cannot be read awaits it".into()),
            };
        }
        let names = self.raw_names(waiting);
        let is = |name: &str| names.iter().any(|it| it == name);
        if is("SetOnInvokeMres") || is("SetOnCountdownMres") {
            return Link::Blocks(waiting.clone());
        }
        if is("AwaitTaskContinuation") {
            return match self.object(waiting, "m_action") {
                Some(action) => Link::Pass(action),
                None => Link::Unknown("an awaiter without an action waits for it".into()),
            };
        }
        if is("ContinuationWrapper") {
            return match self.object(waiting, "_continuation") {
                Some(action) => Link::Pass(action),
                None => Link::Unknown("a wrapper without an action waits for it".into()),
            };
        }
        if is("ContinueWithTaskContinuation") {
            return match self.object(waiting, "m_task") {
                Some(task) => Link::other(self.continuation_task(&task), Some(task)),
                None => Link::Unknown("a continuation without a task waits for it".into()),
            };
        }
        if is("MulticastDelegate") {
            return self.link_of_delegate(waiting);
        }
        if is("WhenEachState") {
            let source = self.field(waiting, "_waitForNextCompletedTask");
            let state = source.and_then(|source| self.object(&source, "_continuationState"));
            return match state {
                Some(state) => Link::Pass(state),
                None => Link::other(plain(AsyncKind::Combinator, "Task.WhenEach".into()), None),
            };
        }
        if is("UnwrapPromise`1") {
            return match self.awaiters(waiting) {
                Awaiters::Some(next) => match next.into_iter().next() {
                    Some(next) => Link::Pass(next),
                    None => Link::other(self.leaf(waiting), Some(waiting.clone())),
                },
                _ => Link::other(self.leaf(waiting), Some(waiting.clone())),
            };
        }
        if is("Task") {
            return Link::other(self.leaf(waiting), Some(waiting.clone()));
        }
        let name = names.first().map_or("?", String::as_str);
        Link::Unknown(format!("a {name} waits for it, which is not known here"))
    }

    fn link_of_delegate(&mut self, delegate: &Value) -> Link {
        if let Some(target) = self.object(delegate, "_target") {
            let go_between = self.raw_name(&target) == "ContinuationWrapper";
            if go_between || self.machine_of(&target).is_some() {
                return Link::Pass(target);
            }
        }
        let method = self.method_of_delegate(delegate);
        let mut frame = plain(AsyncKind::Continuation, String::new());
        match method {
            Some(told) => frame = told,
            None => frame.method = "a delegate".into(),
        }
        Link::other(frame, None)
    }

    /// The task of a `ContinueWith`, by the delegate that it will run.
    fn continuation_task(&mut self, task: &Value) -> AsyncFrame {
        let action = self.object(task, "m_action");
        let told = action.and_then(|action| self.method_of_delegate(&action));
        told.unwrap_or_else(|| plain(AsyncKind::Continuation, "Task.ContinueWith".into()))
    }

    /// The method that a delegate calls.
    fn method_of_delegate(&mut self, delegate: &Value) -> Option<AsyncFrame> {
        let function = delegate.delegate_function().ok()?;
        let token = Token(function.token().ok()?);
        let module = self.modules.entry(&function.module().ok()?);
        let mut told = plain(
            AsyncKind::Continuation,
            frame::method_name(module, self.process, token, &[]),
        );
        told.module = Some(module.file_name());
        told.user_code = frame::kind(module, self.process, token) == FrameKind::User;
        told.source = frame::source_from(module, self.process, token, IlOffset(0));
        Some(told)
    }

    /// A suspended state machine: its method, and the await where it is suspended.
    pub(super) fn suspended(&mut self, machine: &Value) -> Option<Awaiter> {
        let iterator = self.is_async_iterator(machine);
        let state = self.number(machine, "<>1__state");
        let ty = machine.exact_type().ok()?;
        let class = ty.class().ok()?;
        let arguments: Vec<_> = ty
            .arguments()
            .unwrap_or_default()
            .iter()
            .map(|it| crate::names::type_text(self.modules, self.process, it))
            .collect();
        let module = self.modules.entry(&class.module().ok()?);
        let opened = module.metadata(self.process).ok()?;
        let metadata = opened.metadata();
        let definition = metadata.type_def(Token(class.token().ok()?)).ok()?;
        let mut methods = definition.methods().flatten();
        let move_next = methods.find(|it| it.name_bytes().is_ok_and(|name| name == b"MoveNext"))?;
        let token = move_next.token();
        let kind = match iterator {
            true => AsyncKind::Iterator,
            false => AsyncKind::Method,
        };
        let mut told = plain(
            kind,
            frame::method_name(module, self.process, token, &arguments),
        );
        told.module = Some(module.file_name());
        told.user_code = frame::kind(module, self.process, token) == FrameKind::User;
        // States from 0 on are the awaits in the order of the code.
        let stepping = module
            .symbols(self.process)
            .ok()
            .and_then(|symbols| symbols.pdb().async_stepping(token).ok()?);
        let at = state.and_then(|state| usize::try_from(state).ok());
        let place = match stepping.and_then(|it| it.awaits.get(at?).copied()) {
            Some(it) => {
                told.source = frame::source(module, self.process, token, it.yield_offset);
                told.il_offset = Some(it.resume_offset.0);
                Some(it.yield_offset)
            }
            // Iterators wait in states below zero at a `yield`, too, where they are not asked for this.
            None => state.filter(|it| *it >= 0).and_then(|state| {
                let body = opened.body(token).ok()??;
                resuming::resumes_at(metadata, body.code, state)
            }),
        };
        let suspended = place.map(|at| Suspended {
            module: module.identity(),
            method: token,
            at,
            machine: machine.clone(),
        });
        Some(Awaiter {
            suspended,
            ..told.into()
        })
    }

    /// Whether a task is done.
    pub(crate) fn is_done(&mut self, task: &Value) -> bool {
        self.number(task, "m_stateFlags")
            .is_some_and(|flags| flags & DONE != 0)
    }

    /// Whether the delegate of a task is being run.
    pub(super) fn is_running(&mut self, task: &Value) -> bool {
        let flags = self.number(task, "m_stateFlags");
        flags.is_some_and(|flags| flags & (DELEGATE_INVOKED | DONE) == DELEGATE_INVOKED)
    }

    /// A task that no state machine stands behind.
    pub(super) fn leaf(&mut self, task: &Value) -> AsyncFrame {
        let name = self.raw_name(task);
        match name.as_str() {
            "WhenAllPromise" | "WhenAllPromise`1" | "CompleteOnCountdownPromise" => {
                let left = ["_remainingToComplete", "m_count", "_count"]
                    .iter()
                    .find_map(|field| self.number(task, field));
                let left = left.map_or(String::new(), |left| format!(" ({left} not done)"));
                plain(AsyncKind::Combinator, format!("Task.WhenAll{left}"))
            }
            "TwoTaskWhenAnyPromise`1" | "CompleteOnInvokePromise`1" | "CompleteOnInvokePromise" => {
                plain(AsyncKind::Combinator, "Task.WhenAny".into())
            }
            "DelayPromise" | "DelayPromiseWithCancellation" => {
                plain(AsyncKind::Task, "Task.Delay".into())
            }
            "CancellationPromise`1" => plain(AsyncKind::Combinator, "Task.WaitAsync".into()),
            "ValueTaskSourceAsTask" => plain(AsyncKind::Combinator, "ValueTask.AsTask".into()),
            "UnwrapPromise`1" => plain(AsyncKind::Task, "Task.Run or Unwrap".into()),
            "Task" | "Task`1" => self.plain_task(task),
            name if name.starts_with("Continuation") && name.contains("TaskFrom") => {
                self.plain_task(task)
            }
            _ => plain(AsyncKind::Task, self.awaitable(task)),
        }
    }

    fn plain_task(&mut self, task: &Value) -> AsyncFrame {
        let action = self.object(task, "m_action");
        let Some(told) = action.and_then(|action| self.method_of_delegate(&action)) else {
            let text = "a task that its TaskCompletionSource completes";
            return plain(AsyncKind::Task, text.into());
        };
        let flags = self.number(task, "m_stateFlags").unwrap_or(0);
        let running = match flags & DELEGATE_INVOKED {
            0 => "has not begun",
            _ => "runs",
        };
        AsyncFrame {
            kind: AsyncKind::Task,
            method: format!("{} (a task that {running})", told.method),
            ..told
        }
    }

    /// The tasks that a combinator waits for, as far as it keeps them.
    pub(super) fn combined(&mut self, task: &Value) -> Vec<Value> {
        if self.raw_name(task) == "ValueTaskSourceAsTask" {
            return self.object(task, "_source").into_iter().collect();
        }
        let two: Vec<_> = ["_task1", "_task2", "_task", "m_antecedent"]
            .iter()
            .filter_map(|name| self.object(task, name))
            .collect();
        if !two.is_empty() {
            return two;
        }
        let list = ["m_tasks", "_tasks"]
            .iter()
            .find_map(|name| self.object(task, name));
        let Some(list) = list else {
            return Vec::new();
        };
        let items = match list.elements(MAX_AWAITERS) {
            Ok((items, _)) => items,
            Err(_) => {
                let inner = self.object(&list, "_items");
                let items = inner.and_then(|inner| inner.elements(MAX_AWAITERS).ok());
                items.map(|(items, _)| items).unwrap_or_default()
            }
        };
        let objects = items.iter().filter_map(|item| item.dereference().ok()?);
        objects.collect()
    }

    /// Whether an exception that a task is about to keep is the one that an `await` of this combinator of it throws; `None` if
    /// others may come before it.
    pub(crate) fn is_first_to_fail(&mut self, combinator: &Value, task: &Value) -> Option<bool> {
        if self.number(combinator, "_remainingToComplete").is_some() {
            // It keeps those that failed, in the order in which they did.
            let Some(failed) = self.object(combinator, "m_stateObject") else {
                return Some(true);
            };
            let failed = match self.object(&failed, "_items") {
                Some(items) => items.elements(MAX_AWAITERS).ok()?.0,
                None => return Some(!self.is_faulted(&failed)?),
            };
            let mut failed = failed.iter().filter_map(|it| it.dereference().ok()?);
            return failed.try_fold(true, |first, it| Some(first && !self.is_faulted(&it)?));
        }
        // The first in the order of the tasks.
        let own = task.address().ok()?;
        for before in self.combined(combinator) {
            if before.address().ok()? == own {
                return Some(true);
            }
            if self.is_faulted(&before)? {
                return Some(false);
            }
            if !self.is_done(&before) {
                return None;
            }
        }
        None
    }

    fn is_faulted(&mut self, task: &Value) -> Option<bool> {
        Some(self.number(task, "m_stateFlags")? & FAULTED != 0)
    }

    /// What a suspended state machine awaits: a task or a source of a `ValueTask`.
    pub(crate) fn awaited(&mut self, machine: &Value) -> Option<Value> {
        Some(self.awaiter_in_use(machine)?.1)
    }

    /// Whether the `await` of a suspended state machine throws nothing, whatever becomes of the task.
    pub(crate) fn is_suppressed(&mut self, machine: &Value) -> bool {
        let awaiter = self.awaiter_in_use(machine);
        let options = awaiter.and_then(|(awaiter, _)| self.number(&awaiter, "m_options"));
        options.is_some_and(|options| options & SUPPRESS_THROWING != 0)
    }

    /// The awaiter of a suspended state machine, with what that waits for.
    fn awaiter_in_use(&mut self, machine: &Value) -> Option<(Value, Value)> {
        // Of the fields that keep awaiters only the one in use is not empty.
        for awaiter in self.own_fields(machine, "<>u__") {
            let Ok(Some(awaiter)) = awaiter.dereference() else {
                continue;
            };
            let awaiter = awaiter.unboxed().unwrap_or(awaiter);
            if let Some(task) = self.object(&awaiter, "m_task") {
                return Some((awaiter, task));
            }
            let value = self.field(&awaiter, "_value");
            if let Some(source) = value.and_then(|value| self.object(&value, "_obj")) {
                return Some((awaiter, source));
            }
        }
        None
    }
}

fn plain(kind: AsyncKind, method: String) -> AsyncFrame {
    AsyncFrame {
        kind,
        method,
        module: None,
        source: None,
        il_offset: None,
        user_code: false,
        others: 0,
    }
}
