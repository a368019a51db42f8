//! Threads and modules as data.

use cordebug::bindings::{
    USER_BACKGROUND, USER_STOPPED, USER_THREADPOOL, USER_UNSAFE_POINT, USER_UNSTARTED,
    USER_WAIT_SLEEP_JOIN,
};
use cordebug::thread::Thread;

use crate::api::{Error, ErrorCode, ModuleReport, Reply, ThreadActivity, ThreadId, ThreadReport};
use crate::engine::Engine;
use crate::exceptions::Reader;
use crate::modules::LoadedModule;
use crate::target::{Target, runtime_error};

/// Frames looked at to find one of the user's.
const LOOK_FOR_USER_FRAME: u32 = 64;

impl Engine<'_> {
    /// All managed threads of the stopped program.
    pub(crate) fn threads(&mut self) -> Result<Reply, Error> {
        let current = self.stop.as_ref().and_then(|stop| stop.thread);
        let target = self.stopped_target()?;
        let threads = target
            .process
            .threads()
            .map_err(|error| runtime_error(&error))?;
        let mut reports: Vec<_> = threads
            .iter()
            .filter_map(|thread| report(target, thread, current))
            .collect();
        reports.sort_by_key(|it| it.id);
        Ok(Reply::Threads(reports))
    }

    /// Keeps a thread stopped while the program runs, or lets it run again.
    pub(crate) fn freeze(&mut self, id: ThreadId, frozen: bool) -> Result<Reply, Error> {
        let target = self.stopped_target()?;
        let thread = target.process.thread(id.0).map_err(|error| {
            Error::new(
                ErrorCode::InvalidThread,
                format!("there is no managed thread {}: {error}", id.0),
            )
        })?;
        thread
            .freeze(frozen)
            .map_err(|error| runtime_error(&error))?;
        self.threads()
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

fn report(target: &mut Target, thread: &Thread, current: Option<ThreadId>) -> Option<ThreadReport> {
    let id = ThreadId(thread.id().ok()?);
    let state = thread.user_state().unwrap_or(0);
    let frames = crate::stack::frames(target, thread, 0, LOOK_FOR_USER_FRAME)
        .map(|(frames, ..)| frames)
        .unwrap_or_default();
    let top = frames
        .iter()
        .find(|frame| frame.user_code)
        .or(frames.first())
        .cloned();
    let activity = if state & USER_UNSTARTED != 0 {
        ThreadActivity::Unstarted
    } else if state & USER_STOPPED != 0 {
        ThreadActivity::Stopped
    } else if state & USER_WAIT_SLEEP_JOIN != 0 {
        ThreadActivity::Waiting
    } else if state & USER_UNSAFE_POINT != 0
        && frames.first().is_none_or(|frame| frame.module.is_none())
    {
        ThreadActivity::Native
    } else {
        ThreadActivity::Running
    };
    let name = thread
        .object()
        .ok()
        .and_then(|object| Reader::new(target).string(&object.dereference().ok()??, "_name"));
    Some(ThreadReport {
        id,
        name,
        activity,
        background: state & USER_BACKGROUND != 0,
        pool: state & USER_THREADPOOL != 0,
        frozen: thread.is_frozen().unwrap_or(false),
        current: current == Some(id),
        top,
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
        symbols_detail: match symbols {
            Ok(_) => "loaded".into(),
            Err(reason) => reason.to_owned(),
        },
        optimized: metadata.and_then(metadata::Metadata::is_optimized),
        user_code: symbols.is_ok(),
        dynamic: module.module.is_dynamic().unwrap_or(false),
        in_memory: module.module.is_in_memory().unwrap_or(false),
    }
}
