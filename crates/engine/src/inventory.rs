//! Threads and modules as data.

use std::collections::HashSet;

use cordebug::bindings::{
    USER_BACKGROUND, USER_STOPPED, USER_THREADPOOL, USER_UNSAFE_POINT, USER_UNSTARTED,
    USER_WAIT_SLEEP_JOIN,
};
use cordebug::module::Module;
use cordebug::thread::Thread;
use metadata::PdbLocation;

use crate::api::{
    AwaitedLock, Error, Event, LogMessage, ModuleReport, Reply, ThreadActivity, ThreadId,
    ThreadReport,
};
use crate::engine::Engine;
use crate::fields::Fields;
use crate::modules::{LoadedModule, SymbolsOrigin};
use crate::target::{Target, runtime_error};
use crate::values::Question;

impl Engine<'_> {
    /// All managed threads of the stopped program.
    pub(crate) fn threads(&mut self) -> Result<Reply, Error> {
        let current = self.stop.as_ref().and_then(|stop| stop.thread);
        let question = self.stop.as_ref().map(|stop| Question::Threads(stop.id));
        let pid = self.pid;
        let target = self.stopped_target()?;
        if let Some(known) = question.and_then(|it| target.places.reply(target.runs, it)) {
            return Ok(known);
        }
        let threads = target
            .process
            .threads()
            .map_err(|error| runtime_error(&error))?;
        let held = pid.map_or_else(HashSet::new, |pid| target.beginners.held(pid));
        let mut reports: Vec<_> = threads
            .iter()
            .filter_map(|thread| report(target, thread, current, &held))
            .collect();
        reports.sort_by_key(|it| target.age(it.id));
        let reply = Reply::Threads(reports);
        if let Some(question) = question {
            target.places.keep_reply(target.runs, question, &reply);
        }
        Ok(reply)
    }

    /// Keeps a thread stopped while the program runs, or lets it run again.
    pub(crate) fn freeze(&mut self, id: ThreadId, frozen: bool) -> Result<Reply, Error> {
        let (_, thread) = self.thread_of(Some(id))?;
        let target = self.target()?;
        if !target.turns.is_held(id.0) {
            thread
                .freeze(frozen)
                .map_err(|error| runtime_error(&error))?;
        } else if frozen {
            target.turns.give_over(id.0);
        }
        target.places.forget();
        if frozen {
            self.frozen.insert(id.0);
        } else {
            self.frozen.remove(&id.0);
        }
        self.threads()
    }

    /// A module is gone.
    pub(crate) fn module_unloaded(&mut self, module: &Module) {
        let Some(target) = &mut self.target else {
            return;
        };
        let path = target
            .modules
            .get(module.identity())
            .map(|module| module.path.display().to_string());
        target.modules.unloaded(module);
        target.type_cache.module_unloaded();
        target.layouts.module_unloaded();
        if let Some(module) = path {
            self.tell(Event::ModuleUnloaded { module });
        }
    }

    /// The program wrote a message for its debugger.
    pub(crate) fn logged(&mut self, thread: &Thread, level: i32, category: String, text: String) {
        if let Ok(thread) = thread.id() {
            self.exceptions.assertion.logged(thread, &text);
        }
        let end = if text.ends_with('\n') { "" } else { "\n" };
        let (at, tell) = self.capture.trace(&format!("{text}{end}"));
        self.tell(Event::Log(LogMessage {
            thread: thread.id().ok().map(ThreadId),
            level,
            category,
            text,
            at,
        }));
        if tell {
            let end = self.capture.end();
            self.tell(Event::Output { end });
        }
    }

    /// All loaded modules.
    pub(crate) fn module_reports(&mut self) -> Result<Reply, Error> {
        let target = self.target()?;
        Ok(Reply::Modules(
            target
                .modules
                .iter()
                .map(|module| describe(target, module))
                .collect(),
        ))
    }
}

/// `held`: the threads that the runtime holds in managed code, as far as it tells.
fn report(
    target: &mut Target,
    thread: &Thread,
    current: Option<ThreadId>,
    held: &HashSet<u32>,
) -> Option<ThreadReport> {
    let id = ThreadId(thread.id().ok()?);
    let state = thread.user_state().unwrap_or(0);
    let top = crate::stack::top_frame(target, thread);
    let activity = if state & USER_UNSTARTED != 0 {
        ThreadActivity::Unstarted
    } else if state & USER_STOPPED != 0 {
        ThreadActivity::Stopped
    } else if state & USER_WAIT_SLEEP_JOIN != 0 || top.idle {
        ThreadActivity::Waiting
    } else if top.native || !top.own && state & USER_UNSAFE_POINT != 0 && !held.contains(&id.0) {
        // A thread in managed code was stopped where it is safe, or is held on its way from one call to the next; one in
        // native code runs on.
        ThreadActivity::Native
    } else {
        ThreadActivity::Running
    };
    let name = thread
        .object()
        .ok()
        .and_then(|object| Fields::new(target).string(&object.dereference().ok()??, "_name"));
    Some(ThreadReport {
        id,
        name,
        activity,
        background: state & USER_BACKGROUND != 0,
        pool: state & USER_THREADPOOL != 0,
        frozen: target.turns.is_frozen_by_user(thread),
        current: current == Some(id),
        top: top.frame,
        called: top.called,
        lock: lock(target, thread, activity),
    })
}

/// The lock that a thread waits for: that of an object, which the runtime knows of, or a `System.Threading.Lock`.
fn lock(target: &mut Target, thread: &Thread, activity: ThreadActivity) -> Option<AwaitedLock> {
    if let Some(lock) = monitor(target, thread) {
        return Some(lock);
    }
    let waits = activity == ThreadActivity::Waiting;
    waits.then(|| crate::stack::locks::awaited(target, thread))?
}

/// The lock of an object that a thread waits for.
fn monitor(target: &mut Target, thread: &Thread) -> Option<AwaitedLock> {
    let blocked = thread.blocked_on().ok()??;
    let object = blocked.object.dereference().ok()??;
    let holder = object.lock_owner().ok().flatten();
    Some(AwaitedLock {
        type_name: Fields::new(target).type_text(&object),
        address: object.address().unwrap_or(0),
        holder: holder.and_then(|it| it.id().ok()).map(ThreadId),
        pulse: blocked.pulse,
        limited: blocked.limited,
    })
}

fn describe(target: &Target, module: &LoadedModule) -> ModuleReport {
    let opened = module.metadata(&target.process);
    let metadata = opened.ok().map(metadata::Module::metadata);
    let version = metadata.and_then(|it| Some(it.assembly().ok()??.identity.version.to_string()));
    let mvid = metadata.and_then(|it| Some(it.guid(it.module().ok()?.mvid).ok()??.to_string()));
    let symbols = module.symbols(&target.process);
    ModuleReport {
        name: module.file_name(),
        path: module
            .path
            .is_absolute()
            .then(|| module.path.display().to_string()),
        version,
        mvid,
        symbols: symbols.is_ok(),
        symbols_detail: match module.symbols_origin(&target.process) {
            Ok(SymbolsOrigin::Found(location)) => location.to_string(),
            Ok(SymbolsOrigin::Given) => "given by the program that loaded it from memory".into(),
            Err(reason) => reason.to_owned(),
        },
        symbols_file: match module.symbols_origin(&target.process) {
            Ok(SymbolsOrigin::Found(PdbLocation::Beside(path) | PdbLocation::Recorded(path))) => {
                Some(path.display().to_string())
            }
            _ => None,
        },
        optimized: metadata.and_then(metadata::Metadata::is_optimized),
        optimized_code: module.is_optimized(),
        user_code: symbols.is_ok(),
        dynamic: module.module.is_dynamic().unwrap_or(false),
        in_memory: module.module.is_in_memory().unwrap_or(false),
    }
}
