//! How a session begins: from a request to a program whose runtime is ours.
//!
//! A launch is a short story on another thread (fork, handshake, wait) so that the engine answers `status`, `pause` and
//! `disconnect` meanwhile; only the last step, loading the debugger library and attaching, happens on the engine's
//! own thread, which owns the library's objects. The request is answered when the story has ended, well or not.

use std::cell::Cell;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

use cordebug::callback::Delivered;
use cordebug::handshake::Handshake;
use cordebug::pidfd::ProcessHandle;
use cordebug::runtime::{Debugger, DebuggerLibrary, Preloaded, Runtime};
use cordebug::spawn::{self, ExitReport, ProcessGroup};
use cordebug::{fast_memory, procfs, startup_code};

use crate::api::{
    Attach, Console, Error, ErrorCode, Event, Follow, Launch, Origin, RuntimeVersion, State, Stream,
};
use crate::engine::{Engine, Input};
use crate::output::Capture;
use crate::processes::Leftovers;
use crate::program;
use crate::target::Target;

/// How long a launched program may take until its runtime reaches the debugger.
const STARTUP: Duration = Duration::from_secs(60);
/// How long a process may still exist that has stopped to answer because it is being killed.
const DYING: Duration = Duration::from_millis(200);
/// How long it may take until we are told how a process ended that is gone.
const KILLED: Duration = Duration::from_secs(5);
/// How long the last words of a program that ended too early are waited for.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A launch or an attach under way.
#[derive(Debug)]
pub(crate) struct Starting {
    /// The request to answer.
    pub(crate) id: u64,
    stop_at_entry: bool,
    cancelled: Arc<AtomicBool>,
    /// Why it failed; told when the program's last words are here.
    failed: Option<Error>,
    /// What was loaded before the runtime was there, if it could be guessed which it will be.
    preloaded: Option<Preloaded>,
    /// What is needed to attach to this runtime, if it could be made early.
    early: Option<(Runtime, Debugger)>,
}

/// What the starting thread tells the engine.
#[derive(Debug)]
pub enum StartupNews {
    /// A runtime is being loaded; it will take a few milliseconds until it waits for its debugger.
    Loading {
        /// The process that it is in.
        pid: u32,
        /// It.
        runtime: Runtime,
    },
    /// A runtime waits for its debugger.
    Ready {
        /// The process that it is in.
        pid: u32,
        /// Lets it go on when dropped.
        handshake: Handshake,
    },
    /// A .NET child that was to be debugged has ended before that.
    ChildEnded(ExitReport),
    /// It came to nothing.
    Failed(Error),
}

impl Drop for Starting {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::SeqCst);
    }
}

impl Engine<'_> {
    fn refuse_second_program(&self) -> Result<(), Error> {
        if self.origin.is_some() {
            let message = "this session already has a program";
            return Err(Error::new(ErrorCode::AlreadyStarted, message)
                .hint("use a new session for another program"));
        }
        Ok(())
    }

    /// Begins a launch; the request is answered when the program is there.
    pub(crate) fn launch(&mut self, id: u64, launch: Launch, files: Vec<OwnedFd>) {
        if let Err(error) = self
            .refuse_second_program()
            .and_then(|()| self.begin_launch(id, launch, files))
        {
            self.starting = None;
            self.answer(id, Err(error));
        }
    }

    fn begin_launch(&mut self, id: u64, launch: Launch, files: Vec<OwnedFd>) -> Result<(), Error> {
        let mut launch = launch;
        self.want_breakpoints(std::mem::take(&mut launch.breakpoints))?;
        self.keep_optimized = launch.keep_optimized;
        for spec in std::mem::take(&mut launch.exceptions) {
            self.set_exception_breakpoint(spec)?;
        }
        let mut command = program::command(&launch)?;
        let system = |error: io::Error| {
            let message = format!("the program cannot be started: {error}");
            with_remedy(Error::new(ErrorCode::LaunchFailed, message), &error)
        };
        let group = self
            .connect_console(&mut command, &launch, files)
            .map_err(system)?;
        self.origin = Some(Origin::Launched);
        self.stepping.options = launch.steps;
        self.program = Some(program::describe(&launch));
        let cancelled = Arc::new(AtomicBool::new(false));
        self.starting = Some(Starting {
            id,
            stop_at_entry: launch.stop_at_entry,
            cancelled: cancelled.clone(),
            failed: None,
            preloaded: None,
            early: None,
        });
        spawn::adopt_orphans();
        if let Follow::Child { command_line } = launch.follow {
            self.ending.awaits_launcher = launch.await_launcher;
            return self.begin_following(command, group, command_line, cancelled);
        }

        let exited = Arc::new(AtomicBool::new(false));
        let (inbox, gone) = (self.inbox.clone(), exited.clone());
        let gated = spawn::spawn_gated(command, group, move |report| {
            gone.store(true, Ordering::SeqCst);
            // The engine may have ended first.
            let _ = inbox.send(Input::ProcessEnded(report));
        })
        .map_err(|error| not_startable(&launch, &error))?;
        let pid = gated.pid();
        if launch.no_debug {
            gated
                .release()
                .map_err(|error| not_startable(&launch, &error))?;
            self.pid = Some(pid);
            self.leftovers = Some(Leftovers::of(pid));
            self.ending.watched = true;
            self.arrived();
            return Ok(());
        }
        // Whoever has to tidy up after this process if it is killed knows now what there is.
        self.pid = Some(pid);
        let status = Box::new(self.status());
        self.tell(Event::Starting(status));
        let handshake = Handshake::prepare(pid).map_err(|error| {
            self.pid = None;
            Error::new(
                ErrorCode::LaunchFailed,
                format!("the start-up semaphores cannot be made: {error}"),
            )
            .hint("check that /dev/shm exists and is writable; `ndbg doctor` tells more")
        })?;
        gated
            .release()
            .inspect_err(|_| self.pid = None)
            .map_err(|error| not_startable(&launch, &error))?;
        self.leftovers = Some(Leftovers::of(pid));
        self.ending.watched = true;
        let inbox = self.inbox.clone();
        thread::Builder::new()
            .name("start-up".into())
            .spawn(move || {
                let given_up = || cancelled.load(Ordering::SeqCst) || exited.load(Ordering::SeqCst);
                let mut missed = missed_the_runtime(pid);
                let mut loading = runtime_appears(pid);
                let give_up = || {
                    if let Some(runtime) = loading() {
                        let news = StartupNews::Loading { pid, runtime };
                        let _ = inbox.send(Input::Startup(news));
                    }
                    given_up() || missed()
                };
                let news = match handshake.wait_started(Instant::now() + STARTUP, give_up) {
                    Ok(true) => StartupNews::Ready { pid, handshake },
                    // The end of the process is told on its own.
                    Ok(false) if given_up() => return,
                    Ok(false) => StartupNews::Failed(never_arrived(pid)),
                    Err(error) => StartupNews::Failed(system(error)),
                };
                let _ = inbox.send(Input::Startup(news));
            })
            .map_err(|error| {
                Error::new(
                    ErrorCode::Internal,
                    format!("no thread for the start-up: {error}"),
                )
            })?;
        self.preload(&launch);
        Ok(())
    }

    /// Loads what the expected runtime will want while its host is still looking for it.
    fn preload(&mut self, launch: &Launch) {
        let folder = program::expected_runtime(launch);
        if let (Some(folder), Some(starting)) = (folder, &mut self.starting) {
            starting.preloaded = Preloaded::from(&folder);
            if starting.preloaded.is_some() {
                fast_memory::prepare(folder.file_name().and_then(|it| it.to_str()));
            }
            startup_code::map_startup_code();
        }
    }

    /// Gives the program its standard streams; the process group that it belongs to.
    fn connect_console(
        &mut self,
        command: &mut Command,
        launch: &Launch,
        files: Vec<OwnedFd>,
    ) -> io::Result<ProcessGroup> {
        if launch.console == Console::Inherit {
            let mut files = files.into_iter().map(Stdio::from);
            let mut next = || files.next().unwrap_or_else(Stdio::null);
            command.stdin(next()).stdout(next()).stderr(next());
            return Ok(launch
                .process_group
                .map_or(ProcessGroup::Own, ProcessGroup::Join));
        }
        let (stdin_reader, stdin_writer) = io::pipe()?;
        let (stdout_reader, stdout_writer) = io::pipe()?;
        let (stderr_reader, stderr_writer) = io::pipe()?;
        command
            .stdin(stdin_reader)
            .stdout(stdout_writer)
            .stderr(stderr_writer);
        let inbox = self.inbox.clone();
        let streams = vec![
            (Stream::Stdout, stdout_reader.into()),
            (Stream::Stderr, stderr_reader.into()),
        ];
        self.capture = Capture::start(streams, move |notice| {
            let _ = inbox.send(Input::Console(notice));
        })?;
        self.set_stdin(Some(Stdin::start(stdin_writer, self.inbox.clone())?));
        Ok(ProcessGroup::Own)
    }

    /// The starting thread has news.
    pub(crate) fn startup(&mut self, news: StartupNews) {
        let Some(starting) = &self.starting else {
            // Cancelled meanwhile. Dropping the handshake lets a waiting runtime go on.
            return;
        };
        match news {
            StartupNews::Loading { pid, runtime } => self.load_early(pid, runtime),
            StartupNews::Failed(error) => self.fail_start(error),
            StartupNews::ChildEnded(report) => self.child_ended_while_starting(report),
            StartupNews::Ready { pid, handshake } => {
                let stop_at_entry = starting.stop_at_entry;
                let handle = ProcessHandle::open(pid).ok();
                // The runtime goes on, whatever comes of it.
                let taken = match &handle {
                    Some(handle) => self.take_over(pid, handle, stop_at_entry, Some(handshake)),
                    None => Err(attach_error(pid, &cordebug::Error::NoSuchProcess { pid })),
                };
                match (taken, handle) {
                    (Ok(()), handle) => {
                        if let (Some(handle), Some(_)) = (handle, &self.following) {
                            // Not our child: its end is told by a handle.
                            self.watch(handle);
                            let line = procfs::command_line(pid).ok();
                            self.program = line.map(crate::processes::quoted);
                        }
                        self.await_arrival();
                    }
                    // Whatever failed: that the process is gone is why.
                    (Err(_), handle) if handle.as_ref().is_none_or(|it| it.ends_within(DYING)) => {
                        if self.following.is_some() {
                            let report = handle.map_or(ExitReport::Unknown, |it| it.wait());
                            self.child_ended_while_starting(report);
                        } else {
                            // How it ended is on its way to us.
                            self.ending.wait_until(Self::in_time(KILLED));
                        }
                    }
                    (Err(error), _) => self.fail_start(error),
                }
            }
        }
    }

    /// The child that was to be debugged is gone; what started it has no purpose any more.
    fn child_ended_while_starting(&mut self, report: ExitReport) {
        crate::processes::kill_all(&procfs::descendants(std::process::id()));
        self.process_ended(report);
    }

    /// Loads the debugger library while the runtime is still starting: later the runtime would have to wait for it.
    /// What is wrong with it is found again, and told, when the runtime is there.
    fn load_early(&mut self, pid: u32, runtime: Runtime) {
        let load = |preloaded: &mut Option<Preloaded>| -> Option<_> {
            // Another runtime's library has to be gone first.
            let preloaded = preloaded.take().filter(|it| it.belongs_to(&runtime));
            crate::processes::check_parts(pid, &runtime.coreclr).ok()?;
            let library = DebuggerLibrary::load(&runtime.debugger_library().ok()?, pid).ok()?;
            library.load_component();
            if preloaded.is_none() {
                fast_memory::prepare(runtime.version.as_deref());
            }
            let debugger = library.debugger(pid, &runtime).ok()?;
            Some((runtime, debugger))
        };
        if let Some(starting) = &mut self.starting {
            starting.early = load(&mut starting.preloaded);
        }
    }

    /// Loads the debugger library for the runtime in `pid`, the process of `handle`, and attaches; then lets the runtime
    /// go on that waits at `handshake`.
    fn take_over(
        &mut self,
        pid: u32,
        handle: &ProcessHandle,
        stop_at_entry: bool,
        handshake: Option<Handshake>,
    ) -> Result<(), Error> {
        let undelivered = Arc::new(AtomicU32::new(0));
        let starting = self.starting.as_mut();
        let (early, preloaded) =
            starting.map_or((None, None), |it| (it.early.take(), it.preloaded.take()));
        let (runtime, early) = match early {
            Some((runtime, debugger)) => (runtime, Some(debugger)),
            None => (
                Runtime::of(pid).map_err(|error| attach_error(pid, &error))?,
                None,
            ),
        };
        let preloaded = preloaded.filter(|it| it.belongs_to(&runtime));
        if early.is_none() {
            crate::processes::check_parts(pid, &runtime.coreclr)?;
        }
        let unoptimized = self.origin == Some(Origin::Launched) && !self.keep_optimized;
        let attach = || -> Result<_, cordebug::Error> {
            let debugger = match early {
                Some(debugger) => debugger,
                None => DebuggerLibrary::load(&runtime.debugger_library()?, pid)?
                    .debugger(pid, &runtime)?,
            };
            fast_memory::enable(pid);
            let inbox = self.inbox.clone();
            let sent = undelivered.clone();
            let sink = move |delivered: Delivered| {
                if delivered.awaits_answer() {
                    sent.fetch_add(1, Ordering::SeqCst);
                }
                // The engine may have ended first.
                let _ = inbox.send(Input::Callback(delivered));
            };
            // What is not compiled for debugging has to be told which modules are the user's code.
            let passes = unoptimized.then(|| self.breakpoints.awaited.judge());
            let process = debugger.attach(pid, handle, sink, passes)?;
            Ok((debugger, process))
        };
        let (debugger, process) = attach().map_err(|error| attach_error(pid, &error))?;
        drop(preloaded);
        // It has all that it waits for; what it tells from now on is handled when we are done here.
        drop(handshake);
        if let Err(error) = std::fs::File::open(format!("/proc/{pid}/mem")) {
            self.notes.push(format!(
                "/proc/{pid}/mem cannot be opened ({error}): everything works, but each stop costs about a tenth of a second; \
                 launch the program from ndbg, or give ndbg CAP_SYS_PTRACE"
            ));
        }
        self.pid = Some(pid);
        self.leftovers = Some(Leftovers::of(pid));
        self.runtime = runtime.version.map(RuntimeVersion);
        self.target = Some(Target::new(
            debugger,
            process,
            stop_at_entry,
            unoptimized,
            undelivered,
            self.source_files.clone(),
        ));
        self.watch_for_overflow(pid);
        self.watch_for_stragglers(pid);
        Ok(())
    }

    /// Attaches to a running program.
    pub(crate) fn attach(&mut self, id: u64, attach: Attach) {
        self.stepping.options = attach.steps;
        let pid = attach.pid.0;
        if let Err(error) = self.refuse_second_program() {
            self.answer(id, Err(error));
            return;
        }
        // Opened first: whatever fails because the process ends is told as its end.
        let handle = ProcessHandle::open(pid).ok();
        let handle = handle.filter(|it| !it.ends_within(Duration::ZERO));
        let result = self.begin_attach(pid, handle.as_ref());
        let ended = handle.filter(|it| result.is_err() && it.ends_within(Duration::ZERO));
        if result.is_ok() || ended.is_some() {
            self.origin = Some(Origin::Attached);
            self.starting = Some(Starting {
                id,
                stop_at_entry: false,
                cancelled: Arc::default(),
                failed: None,
                preloaded: None,
                early: None,
            });
        }
        match (result, ended) {
            (Ok(()), _) => self.await_arrival(),
            (Err(error), Some(handle)) => {
                tracing::debug!(%error, "attaching to a process that ended");
                self.pid = Some(pid);
                self.process_ended(handle.wait());
            }
            (Err(error), None) => {
                self.pid = None;
                self.answer(id, Err(error));
            }
        }
    }

    fn begin_attach(&mut self, pid: u32, handle: Option<&ProcessHandle>) -> Result<(), Error> {
        let claim = crate::processes::await_attachable(pid)?;
        let unwatchable = |error| {
            Error::new(
                ErrorCode::AttachFailed,
                format!("process {pid} cannot be watched: {error}"),
            )
            .hint("`ndbg doctor` tells what is missing here")
        };
        let watched = ProcessHandle::open(pid).map_err(unwatchable)?;
        let handle = handle.unwrap_or(&watched);
        let taken = self.take_over(pid, handle, false, None);
        if taken.is_err() {
            // A dying process closes its pipes first.
            handle.ends_within(DYING);
        }
        taken?;
        self.claim = Some(claim);
        self.program = procfs::command_line(pid).ok().map(crate::processes::quoted);
        self.watch(watched);
        Ok(())
    }

    /// Has the end of a process that is not our child told.
    pub(crate) fn watch(&mut self, handle: ProcessHandle) {
        let inbox = self.inbox.clone();
        let watcher = thread::Builder::new().name("watch".into()).spawn(move || {
            let _ = inbox.send(Input::ProcessEnded(handle.wait()));
        });
        match watcher {
            Ok(_) => self.ending.watched = true,
            Err(error) => {
                tracing::warn!(%error, "the end of the process will not be told by the system")
            }
        }
    }

    /// No child of the launched program could be debugged.
    pub(crate) fn following_failed(&mut self, error: Error, report: ExitReport) {
        if let Some(starting) = &mut self.starting {
            starting.failed.get_or_insert(error);
        }
        self.process_ended(report);
    }

    /// The process ended before its runtime reached us.
    pub(crate) fn ended_while_starting(&mut self) {
        if self.capture.is_closed() {
            self.starting_failed_at_last();
        } else {
            self.ending.wait_until(Self::in_time(LAST_WORDS));
        }
    }

    /// A start that failed while the program may still be running: end it, then tell.
    pub(crate) fn fail_start(&mut self, error: Error) {
        if let Some(starting) = &mut self.starting {
            starting.failed = Some(error);
        }
        if self.exit_report().is_some() {
            self.starting_failed_at_last();
            return;
        }
        crate::processes::kill_all(&procfs::descendants(std::process::id()));
        self.ending.wait_until(Self::in_time(LAST_WORDS));
    }

    /// Gives a launch up, and tells that to whoever asked for it.
    pub(crate) fn cancel_start(&mut self) {
        if let Some(starting) = self.starting.take() {
            let message = "the launch was given up: the session was ended before the program ran";
            self.answer(
                starting.id,
                Err(Error::new(ErrorCode::LaunchFailed, message)
                    .hint("launch it again if that was not meant")),
            );
        }
    }

    /// Tells why a start came to nothing, with the program's last words.
    pub(crate) fn starting_failed_at_last(&mut self) {
        let Some(mut starting) = self.starting.take() else {
            return;
        };
        let report = self.exit_report();
        let words = self.capture.tail(None, 4000);
        let mut error = starting
            .failed
            .take()
            .unwrap_or_else(|| ended_too_early(self.origin, report));
        self.abandon_target();
        if !words.trim().is_empty() {
            error.message = format!("{}; it printed:\n{}", error.message, words.trim_end());
        }
        if let Some(leftovers) = self.leftovers.take() {
            leftovers.remove();
        }
        self.exit = Some(crate::ending::exit(
            report.unwrap_or(ExitReport::Unknown),
            false,
            self.origin,
        ));
        self.state = State::Exited;
        self.answer(starting.id, Err(error));
        let status = Box::new(self.status());
        self.tell(Event::Exited(status));
    }
}

/// Why a start came to nothing where the program itself ended: one answer, whenever in the start that was.
fn ended_too_early(origin: Option<Origin>, report: Option<ExitReport>) -> Error {
    let how = match report {
        Some(ExitReport::Code(code)) => format!("ended with exit code {code}"),
        Some(ExitReport::Signal(signal)) => {
            format!("was ended by {}", crate::processes::signal_name(signal))
        }
        Some(ExitReport::Unknown) | None => "ended in an unknown way".into(),
    };
    if origin == Some(Origin::Attached) {
        let message = format!("the program {how} while the debugger attached to it");
        return Error::new(ErrorCode::AttachFailed, message)
            .hint("`ndbg ps` lists the .NET processes that run");
    }
    let hint = match report {
        Some(ExitReport::Signal(9)) => {
            "it was killed: by somebody, or by the system because memory ran out; launch it again"
        }
        _ => {
            "run it without the debugger to see whether it starts; check that its framework is installed"
        }
    };
    let message = format!("the program {how} before its runtime reached the debugger");
    Error::new(ErrorCode::LaunchFailed, message).hint(hint)
}

fn not_startable(launch: &Launch, error: &io::Error) -> Error {
    let message = format!("{} cannot be started: {error}", launch.program.display());
    match error.kind() {
        io::ErrorKind::PermissionDenied => Error::new(ErrorCode::LaunchFailed, message)
            .hint("make it executable, or launch its .dll"),
        _ => with_remedy(Error::new(ErrorCode::LaunchFailed, message), error),
    }
}

/// Says what can be done about what the system refused.
pub(crate) fn with_remedy(refusal: Error, error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::ArgumentListTooLong => refusal.hint(
            "the system takes no more than 128 KiB in one argument or variable, and no more than about 2 MiB in all: give the \
             program a file instead",
        ),
        // Of these there is no kind that is stable.
        _ if error.raw_os_error() == Some(rustix::io::Errno::MFILE.raw_os_error()) => refusal.hint(
            "this process has as many files open as it may: end sessions, or start ndbg with a higher limit (ulimit -n)",
        ),
        _ if error.raw_os_error() == Some(rustix::io::Errno::AGAIN.raw_os_error()) => refusal.hint(
            "there may be no more processes: end some, or raise the limit (ulimit -u, or the container's pids limit)",
        ),
        _ => refusal,
    }
}

/// Tells, once, that a runtime is being loaded into `pid`. Looks for a short while only, since looking holds the process
/// up.
fn runtime_appears(pid: u32) -> impl FnMut() -> Option<Runtime> {
    let end = Instant::now() + LOOK;
    let mut looking = true;
    move || {
        let appeared = looking.then(|| Runtime::of(pid).ok()).flatten();
        looking &= appeared.is_none() && Instant::now() < end;
        appeared
    }
}

/// How often a starting process is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Tells whether the runtime in `pid` has passed the point where it waits for a debugger: it has loaded its core library,
/// which comes later. Looks rarely, since looking holds the process up.
fn missed_the_runtime(pid: u32) -> impl FnMut() -> bool {
    let mut next = Instant::now() + LOOK;
    move || {
        if Instant::now() < next {
            return false;
        }
        next = Instant::now() + LOOK;
        matches!(
            procfs::mapped_library(pid, "System.Private.CoreLib.dll"),
            Ok(Some(_))
        )
    }
}

fn never_arrived(pid: u32) -> Error {
    if Runtime::of(pid).is_ok() {
        let folder = cordebug::runtime::temporary_folder(pid);
        let folder = folder.unwrap_or_else(|_| "/tmp".into());
        let (place, hint) = match crate::doctor::folders::full(&folder) {
            Some(full) => (
                full,
                "make room in that folder, or set TMPDIR to another one",
            ),
            None => (
                folder.display().to_string(),
                "set TMPDIR to a folder with a shorter path",
            ),
        };
        let message = format!(
            "the program's runtime started without waiting for a debugger: debugging is switched off in it, or it could \
             not make its pipes in its temporary folder: {place}"
        );
        return Error::new(ErrorCode::DebuggingDisabled, message).hint(format!(
            "remove DOTNET_EnableDiagnostics and DOTNET_EnableDiagnostics_Debugger from its environment; if they are not \
             there, {hint}"
        ));
    }
    let message = format!(
        "the program did not start a .NET runtime within {} s",
        STARTUP.as_secs()
    );
    Error::new(ErrorCode::NotDotnet, message)
        .hint("launch the .NET program itself; for a tool that starts one, follow its child")
}

fn attach_error(pid: u32, error: &cordebug::Error) -> Error {
    use cordebug::hresult::{
        CORDBG_E_DEBUGGER_ALREADY_ATTACHED, CORDBG_E_MISMATCHED_CORWKS_AND_DACWKS_DLLS,
        CORDBG_E_TIMEOUT,
    };

    let (code, hint) = match error {
        cordebug::Error::NoSuchProcess { .. } => (
            ErrorCode::ProcessNotFound,
            "`ndbg ps` lists the .NET processes",
        ),
        cordebug::Error::NotPermitted { .. } => (
            ErrorCode::PermissionDenied,
            "run ndbg as the same user; `ndbg doctor` tells what else may forbid it",
        ),
        cordebug::Error::NotDotnet { .. } => {
            (ErrorCode::NotDotnet, "`ndbg ps` lists the .NET processes")
        }
        cordebug::Error::LibraryMissing { .. } | cordebug::Error::LibraryBroken { .. } => (
            ErrorCode::RuntimeMismatch,
            "install the whole runtime: libmscordbi.so and libmscordaccore.so must lie beside its libcoreclr.so",
        ),
        cordebug::Error::Clr {
            code: CORDBG_E_DEBUGGER_ALREADY_ATTACHED,
            ..
        } => (ErrorCode::AlreadyDebugged, "end the other debugger first"),
        cordebug::Error::Clr {
            code: CORDBG_E_MISMATCHED_CORWKS_AND_DACWKS_DLLS,
            ..
        } => (
            ErrorCode::RuntimeMismatch,
            "the runtime was updated while the program ran: restart the program",
        ),
        cordebug::Error::Clr {
            code: CORDBG_E_TIMEOUT,
            ..
        } if crate::processes::was_debugged(pid) => (
            ErrorCode::AlreadyDebugged,
            "the program was debugged before; if that debugger was killed, its runtime takes no other: \
                 restart the program",
        ),
        cordebug::Error::Clr { .. } | cordebug::Error::System { .. } => (
            ErrorCode::AttachFailed,
            "try again; `ndbg doctor` tells what may be wrong here, and restarting the program always helps",
        ),
    };
    Error::new(code, format!("process {pid} cannot be debugged: {error}")).hint(hint)
}

/// Writes to the program's standard input, on a thread of its own: a program that does not read must not stop us.
#[derive(Debug)]
pub(crate) struct Stdin {
    queue: Sender<Option<String>>,
    pending: Arc<AtomicU64>,
    closed: Cell<bool>,
}

/// Bytes that may wait for the program to read them.
const PENDING_INPUT: u64 = 16 << 20;

impl Stdin {
    fn start(mut pipe: io::PipeWriter, inbox: Sender<Input>) -> io::Result<Self> {
        let (queue, texts) = mpsc::channel::<Option<String>>();
        let pending = Arc::new(AtomicU64::new(0));
        let written = pending.clone();
        thread::Builder::new().name("stdin".into()).spawn(move || {
            while let Ok(Some(text)) = texts.recv() {
                let result = pipe.write_all(text.as_bytes());
                written.fetch_sub(text.len() as u64, Ordering::SeqCst);
                let failed = result.is_err();
                let _ = inbox.send(Input::InputWritten(result));
                if failed {
                    return;
                }
            }
        })?;
        Ok(Self {
            queue,
            pending,
            closed: Cell::new(false),
        })
    }

    /// Queues text; how many bytes were accepted.
    pub(crate) fn write(&self, text: String, close: bool) -> Result<u64, Error> {
        let closed = || {
            Error::new(
                ErrorCode::InvalidParameter,
                "the program's standard input is closed: nothing more can be written to it",
            )
            .hint("to give it other input, start the program anew")
        };
        // The thread that writes may not have come to the close yet.
        if self.closed.get() {
            return Err(closed());
        }
        let length = text.len() as u64;
        if self.pending.load(Ordering::SeqCst) + length > PENDING_INPUT {
            return Err(Error::new(
                ErrorCode::InvalidParameter,
                "the program does not read its input: 16 MiB wait for it already",
            )
            .hint("let the program run until it reads, then write the rest"));
        }
        if !text.is_empty() {
            self.pending.fetch_add(length, Ordering::SeqCst);
            self.queue.send(Some(text)).map_err(|_| closed())?;
        }
        if close {
            self.closed.set(true);
            self.queue.send(None).map_err(|_| closed())?;
        }
        Ok(length)
    }
}
