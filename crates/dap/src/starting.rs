//! How a program comes under the debugger: launch, attach, restart.
//!
//! Nothing runs before `configurationDone`: then every breakpoint of the editor is there before the first line.

use std::cell::Cell;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use host::Session;
use host::api::{
    Attach, Console, Error, ErrorCode, Event, Follow, Launch, OutputCursor,
    Request as EngineRequest, SourceMap,
};
use host::project::{self, BuildOptions};
use host::terminal::{Invitation, Terminal};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::adapter::{ANSWER, Adapter, Input, Phase, arguments};
use crate::message::{Refusal, Request, RequestArguments};
use crate::settings::{AttachSettings, LaunchSettings, steps, without_nulls};
use crate::types::{
    Capabilities, CapabilitiesEventBody, OutputEventBody, ProcessEventBody,
    ProcessEventBodyStartMethod, ProgressEndEventBody, ProgressStartEventBody,
    ProgressUpdateEventBody, RunInTerminalRequestArguments, RunInTerminalRequestArgumentsKind,
};

/// How long a program may take until the debugger has it.
const START: Duration = Duration::from_secs(90);

/// How long the editor's terminal may take until it runs what it was asked to.
const TERMINAL: Duration = Duration::from_secs(30);

/// After how long it is said that the terminal is waited for.
const TERMINAL_SOON: Duration = Duration::from_secs(3);

/// How long a tool may take until it has built and started the program.
const BUILD: Duration = Duration::from_secs(600);

/// Messages of breakpoints that are remembered with their places until their output is told.
const TRACES: usize = 10_000;

/// A program that is to be started, and the request that asked for it.
#[derive(Debug, Clone)]
pub(crate) struct Start {
    pub(crate) request: Request,
    how: How,
    cancelled: Arc<AtomicBool>,
    /// Whether it was the client that gave it up.
    unwanted: Arc<AtomicBool>,
    building: Arc<AtomicBool>,
    /// What the client said when it opened no terminal.
    no_terminal: Arc<OnceLock<String>>,
}

impl Start {
    fn new(request: &Request, how: How) -> Self {
        Self {
            request: request.clone(),
            how,
            cancelled: Arc::default(),
            unwanted: Arc::default(),
            building: Arc::default(),
            no_terminal: Arc::default(),
        }
    }

    /// The client opens no terminal: there is nothing to wait for.
    pub(crate) fn refuse_terminal(&self, why: String) {
        // It answers once.
        let _ = self.no_terminal.set(why);
        self.cancelled.store(true, Ordering::SeqCst);
    }

    /// Gives it up, if it is still under way.
    pub(crate) fn cancel(&self) {
        self.unwanted.store(true, Ordering::SeqCst);
        self.cancelled.store(true, Ordering::SeqCst);
    }

    /// Whether the program is being built.
    pub(crate) fn is_building(&self) -> bool {
        self.building.load(Ordering::SeqCst)
    }

    /// Whether the program is only run.
    pub(crate) fn is_without_debugger(&self) -> bool {
        matches!(&self.how, How::Launch { launch, .. } if launch.no_debug)
    }
}

#[derive(Debug, Clone)]
enum How {
    Launch {
        launch: Box<Launch>,
        /// The terminal of the client that it is to run in, by the protocol's name.
        terminal: Option<&'static str>,
    },
    Attach(Attach),
}

/// Arguments of `restart`: the settings as they are now.
#[derive(Deserialize)]
struct RestartSettings {
    #[serde(default)]
    arguments: Option<LaunchSettings>,
}

impl Adapter {
    pub(crate) fn launch(&mut self, request: &Request) {
        let how = self.may_start(request).and_then(|()| {
            self.wake_host();
            let settings = settings::<LaunchSettings>(request)?;
            if let Some(unused) = settings.unused() {
                self.say(&unused);
            }
            self.adopt(&settings);
            self.prepare_sources()?;
            self.launch_of(&settings)
        });
        self.wanted(request, how);
    }

    fn launch_of(&self, settings: &LaunchSettings) -> Result<How, Refusal> {
        let mut notes = Vec::new();
        let mut launch = settings.launch(&mut notes)?;
        for note in &notes {
            self.say(note);
        }
        let terminal = match settings.console.as_deref() {
            Some("integratedTerminal") => Some("integrated"),
            Some("externalTerminal") => Some("external"),
            None | Some("internalConsole") => None,
            Some(other) => {
                self.say(&format!(
                    "console is {other:?}, which is none of internalConsole, integratedTerminal and externalTerminal: \
                     the program's output is shown here"
                ));
                None
            }
        };
        let terminal = terminal.filter(|_| {
            let can = self.about.supports_run_in_terminal_request == Some(true);
            if !can {
                self.say("this editor has no terminal for the program: its output is shown here");
            }
            can
        });
        if terminal.is_some() {
            launch.console = Console::Inherit;
        }
        Ok(How::Launch {
            launch: Box::new(launch),
            terminal,
        })
    }

    pub(crate) fn attach(&mut self, request: &Request) {
        let how = self.may_start(request).and_then(|()| {
            self.wake_host();
            let settings = settings::<AttachSettings>(request)?;
            if let Some(unused) = settings.unused() {
                self.say(&unused);
            }
            self.shown = settings.expression_evaluation_options.shown();
            self.exact_source = settings.require_exact_source == Some(true);
            self.source_maps = settings.source_file_map.clone();
            self.prepare_sources()?;
            Ok(How::Attach(Attach {
                pid: settings.process()?,
                steps: steps(settings.just_my_code, settings.enable_step_filtering),
            }))
        });
        self.wanted(request, how);
    }

    /// Takes over what the settings of a launch say about sources and values.
    fn adopt(&mut self, settings: &LaunchSettings) {
        self.shown = settings.expression_evaluation_options.shown();
        self.exact_source = settings.require_exact_source == Some(true);
        self.source_maps = settings.source_file_map.clone();
    }

    /// Tells the engine where source files are that were compiled elsewhere, and how much they must be the same.
    fn prepare_sources(&mut self) -> Result<(), Refusal> {
        // An engine that is there already may have heard of the settings of a launch that was refused.
        let is_heard = self.session.is_some();
        if is_heard || !self.source_maps.is_empty() {
            let maps = self.source_maps.iter().map(|(from, to)| SourceMap {
                from: from.clone(),
                to: to.clone(),
            });
            let request = EngineRequest::SetSourceMaps(maps.collect());
            self.engine()?.request(request, Instant::now() + ANSWER)?;
        }
        if is_heard || self.exact_source {
            let request = EngineRequest::RequireExactSource(self.exact_source);
            self.engine()?.request(request, Instant::now() + ANSWER)?;
        }
        Ok(())
    }

    /// Whether a program can still be started. Asked before anything else: what is refused must not change the settings of
    /// the program that is there.
    fn may_start(&self, request: &Request) -> Result<(), Refusal> {
        if self.phase == Phase::Configuring && self.start.is_none() {
            return Ok(());
        }
        Err(Refusal::new(
            "badOrder",
            format!("{}: this connection has a program already", request.command),
        ))
    }

    fn wanted(&mut self, request: &Request, how: Result<How, Refusal>) {
        match how {
            Ok(how) => {
                self.start = Some(Start::new(request, how));
                self.start_when_ready();
            }
            Err(refusal) => self.client.answer(request, Err::<(), _>(refusal.shown())),
        }
    }

    pub(crate) fn configuration_done(&mut self, request: &Request) {
        self.configured = true;
        self.client.answer(request, Ok(()));
        self.start_when_ready();
    }

    fn start_when_ready(&mut self) {
        if !self.configured || self.phase != Phase::Configuring {
            return;
        }
        let Some(start) = self.start.clone() else {
            return;
        };
        let session = self.engine();
        self.phase = Phase::Starting;
        let session = match session {
            Ok(session) => session,
            Err(refusal) => return self.start_failed(&start, refusal),
        };
        self.told = OutputCursor::default();
        let progress = self.progress(&start);
        let invitation = match self.invite_terminal(&start) {
            Ok(invitation) => invitation,
            Err(refusal) => return self.start_failed(&start, refusal),
        };
        let asked = start.clone();
        self.beside(
            move || begin(&session, start, invitation, &progress),
            move |adapter, result| match result {
                Ok(terminal) => {
                    adapter.terminal = terminal;
                    adapter.started(&asked);
                }
                Err(_) if asked.unwanted.load(Ordering::SeqCst) => {
                    adapter.start_failed(&asked, Refusal::cancelled());
                }
                Err(error) => adapter.start_failed(&asked, Refusal::from(error)),
            },
        );
    }

    /// Asks the client for a terminal, if the program is to run in one.
    fn invite_terminal(&mut self, start: &Start) -> Result<Option<Invitation>, Refusal> {
        let How::Launch {
            launch,
            terminal: Some(kind),
        } = &start.how
        else {
            return Ok(None);
        };
        let failed = |error: io::Error| {
            Refusal::new("noTerminal", format!("no terminal can be invited: {error}"))
        };
        let invitation = Invitation::new().map_err(failed)?;
        let ndbg = std::env::current_exe().map_err(failed)?;
        let folder = launch.cwd.clone().or_else(|| std::env::current_dir().ok());
        let seq = self.client.ask(
            RunInTerminalRequestArguments::COMMAND,
            &RunInTerminalRequestArguments {
                kind: Some(match *kind {
                    "external" => RunInTerminalRequestArgumentsKind::External,
                    _ => RunInTerminalRequestArgumentsKind::Integrated,
                }),
                title: Some(launch.program.to_string_lossy().into_owned()),
                cwd: folder.unwrap_or_default().to_string_lossy().into_owned(),
                args: vec![
                    ndbg.to_string_lossy().into_owned(),
                    "terminal".into(),
                    invitation.name().into(),
                ],
                ..RunInTerminalRequestArguments::default()
            },
        );
        self.asked = Some((seq, start.clone()));
        Ok(Some(invitation))
    }

    /// The session, with a host started for it if there is none yet.
    pub(crate) fn engine(&mut self) -> Result<Session, Refusal> {
        if let Some(session) = &self.session {
            let is_waiting = matches!(self.phase, Phase::New | Phase::Configuring);
            if session.died().is_none() || !is_waiting || self.replaced {
                return Ok(session.clone());
            }
            // It had no program yet: another one does as well, once it knows what this one was told. A second death is
            // no accident, and is told.
            self.replaced = true;
            let session = self.start_host()?;
            self.prepare_sources()?;
            self.set_all_again()?;
            return Ok(session);
        }
        self.start_host()
    }

    /// Makes sure that the death of a host that has waited is known. What is wrong with it is told to who needs one.
    fn wake_host(&self) {
        if let Some(session) = &self.session
            && let Err(error) = session.request(EngineRequest::Status, Instant::now() + ANSWER)
        {
            tracing::debug!(%error, "the host that waited");
        }
    }

    fn start_host(&mut self) -> Result<Session, Refusal> {
        let session = Session::start(&self.host)?;
        let inbox = self.inbox.clone();
        self.generation += 1;
        self.told_stop = None;
        let generation = self.generation;
        self.live_threads.clear();
        self.traces = Arc::default();
        let traces = self.traces.clone();
        session.observe(move |event| {
            // Here, so that a message is known before the output that holds it can have been asked for.
            if let Event::Trace(trace) = event {
                let mut traces = traces.lock().unwrap_or_else(PoisonError::into_inner);
                if traces.len() >= TRACES {
                    traces.pop_front();
                }
                traces.push_back(trace.clone());
            }
            let _ = inbox.send(Input::Session(generation, event.clone()));
        });
        self.session = Some(session.clone());
        Ok(session)
    }

    fn started(&mut self, start: &Start) {
        self.phase = Phase::Debugging;
        self.client.answer(&start.request, Ok(()));
        if matches!(start.how, How::Attach(_)) {
            // Then the client lets go and attaches again by itself.
            self.client.tell(&CapabilitiesEventBody {
                capabilities: Capabilities {
                    supports_restart_request: Some(false),
                    ..Capabilities::default()
                },
            });
        }
        let status = self.session.as_ref().map(Session::status);
        let Some(status) = status else { return };
        self.client.tell(&ProcessEventBody {
            name: status.program.unwrap_or_default(),
            system_process_id: status.pid.and_then(|pid| i32::try_from(pid.0).ok()),
            is_local_process: Some(true),
            start_method: Some(match start.how {
                How::Launch { .. } => ProcessEventBodyStartMethod::Launch,
                How::Attach(_) => ProcessEventBodyStartMethod::Attach,
            }),
            pointer_size: Some(64),
        });
        self.catch_up();
    }

    fn start_failed(&mut self, start: &Start, refusal: Refusal) {
        self.client
            .answer(&start.request, Err::<(), _>(refusal.shown()));
        self.tell_output();
        self.session = None;
        self.ended();
    }

    pub(crate) fn restart(&mut self, request: &Request) {
        let settings = settings::<RestartSettings>(request);
        let result = settings.and_then(|settings| {
            let start = self
                .start
                .as_ref()
                .filter(|_| self.phase != Phase::Configuring);
            let start = start.ok_or_else(|| {
                Refusal::new("noProgram", "restart: there is no program to start again")
            })?;
            let how = match (&start.how, settings.arguments) {
                (How::Attach(_), _) => {
                    return Err(Refusal::new(
                        "cannotRestart",
                        "a program that was attached to cannot be started again from here",
                    )
                    .shown());
                }
                (how, None) => (how.clone(), None),
                (how, Some(settings)) if settings.program.is_none() => (how.clone(), None),
                (How::Launch { .. }, Some(settings)) => {
                    (self.launch_of(&settings)?, Some(settings))
                }
            };
            Ok(how)
        });
        let (how, settings) = match result {
            Ok(found) => found,
            Err(refusal) => return self.client.answer(request, Err::<(), _>(refusal)),
        };
        let old = self.session.take();
        if let Some(settings) = settings {
            self.adopt(&settings);
        }
        self.forget_looks();
        self.start = Some(Start::new(request, how));
        self.phase = Phase::Configuring;
        if let Err(refusal) = self.prepare_sources().and_then(|()| self.set_all_again()) {
            self.phase = Phase::Ended;
            return self.client.answer(request, Err::<(), _>(refusal));
        }
        // Dropping a session waits for its end.
        self.beside(move || drop(old), |adapter, ()| adapter.start_when_ready());
    }

    /// Tells the client how a build goes on, if it wants to know.
    fn progress(&self, start: &Start) -> Box<dyn Fn(Progress<'_>) + Send> {
        let wanted = self.about.supports_progress_reporting == Some(true);
        let client = self.client.clone();
        let id = progress_id(start);
        Box::new(move |progress| match progress {
            Progress::Building(title) if wanted => client.tell(&ProgressStartEventBody {
                progress_id: id.clone(),
                title: title.into(),
                cancellable: Some(true),
                ..ProgressStartEventBody::default()
            }),
            // Nobody learns anything from these.
            Progress::Says(line) if line.trim().is_empty() || line.starts_with("Time Elapsed") => {}
            Progress::Says(line) if wanted => client.tell(&ProgressUpdateEventBody {
                progress_id: id.clone(),
                message: Some(line.into()),
                ..ProgressUpdateEventBody::default()
            }),
            Progress::Building(title) => client.tell(&OutputEventBody {
                category: Some("console".into()),
                output: format!("{title}\n"),
                ..OutputEventBody::default()
            }),
            Progress::Note(text) => client.tell(&OutputEventBody {
                category: Some("important".into()),
                output: format!("{text}\n"),
                ..OutputEventBody::default()
            }),
            Progress::Built if wanted => client.tell(&ProgressEndEventBody {
                progress_id: id.clone(),
                message: None,
            }),
            _ => {}
        })
    }
}

/// The settings that a request comes with.
fn settings<S: DeserializeOwned>(request: &Request) -> Result<S, Refusal> {
    let given = without_nulls(request.arguments.clone());
    arguments(&Request {
        arguments: given,
        ..request.clone()
    })
}

enum Progress<'a> {
    Building(&'a str),
    Says(&'a str),
    Note(&'a str),
    Built,
}

/// The name of the build of a start.
pub(crate) fn progress_id(start: &Start) -> String {
    format!("build-{}", start.request.seq)
}

/// What to know about a project of tests.
const TEST_HOST: &str = "this is a project of tests: run by itself it runs none of them. `VSTEST_HOST_DEBUG=1 dotnet test` \
     waits for a debugger and tells the process to attach to";

/// Whether a program that was built is a library of tests for a test host; those that run by themselves bring a
/// platform for that.
fn is_for_test_host(program: &Path) -> bool {
    let Some(folder) = program.parent() else {
        return false;
    };
    let has = |name: &str| folder.join(name).is_file();
    has("testhost.dll") && !has("Microsoft.Testing.Platform.dll")
}

/// Waits until the editor's terminal runs what it was asked to, and says so if that takes its time.
fn wait_for_terminal(
    invitation: Invitation,
    cancelled: &AtomicBool,
    progress: &dyn Fn(Progress<'_>),
) -> io::Result<Terminal> {
    let begun = Instant::now();
    let said = Cell::new(false);
    let given_up = || {
        if begun.elapsed() >= TERMINAL_SOON && !said.replace(true) {
            progress(Progress::Note(
                "waiting for the editor's terminal, which has not started the program so far",
            ));
        }
        cancelled.load(Ordering::SeqCst)
    };
    invitation.accept(begun + TERMINAL, &given_up)
}

/// Why there is no terminal: in the editor's own words, if it said any.
fn no_terminal(refused: &OnceLock<String>, error: &io::Error) -> Error {
    let text = match refused.get() {
        Some(why) if why.is_empty() => "the editor opened no terminal".to_owned(),
        Some(why) => format!("the editor opened no terminal: {why}"),
        None if error.kind() == io::ErrorKind::TimedOut => format!(
            "the editor's terminal did not start the program within {} s",
            TERMINAL.as_secs()
        ),
        None => format!("the editor's terminal did not come: {error}"),
    };
    Error::new(ErrorCode::Timeout, text)
        .hint("with console: \"internalConsole\" the program runs without a terminal")
}

/// Builds if needed, then launches or attaches.
fn begin(
    session: &Session,
    start: Start,
    invitation: Option<Invitation>,
    progress: &dyn Fn(Progress<'_>),
) -> Result<Option<Terminal>, Error> {
    let deadline = Instant::now() + START;
    let cancelled = &start.cancelled;
    match start.how {
        How::Attach(attach) => {
            session.request(EngineRequest::Attach(attach), deadline)?;
        }
        How::Launch { mut launch, .. } => {
            if project::is_project(&launch.program) {
                let title = format!("Building {}", launch.program.display());
                progress(Progress::Building(&title));
                let options = BuildOptions {
                    env: launch.env.clone(),
                    cancelled: &|| cancelled.load(Ordering::SeqCst),
                    ..BuildOptions::default()
                };
                start.building.store(true, Ordering::SeqCst);
                let built = project::build(&launch.program, &options, &mut |line| {
                    progress(Progress::Says(line));
                });
                start.building.store(false, Ordering::SeqCst);
                progress(Progress::Built);
                launch.program = built.map_err(Error::from)?.program;
                if is_for_test_host(&launch.program) {
                    progress(Progress::Note(TEST_HOST));
                }
            }
            if invitation.is_none() && cancelled.load(Ordering::SeqCst) {
                return Err(Error::new(ErrorCode::Timeout, "the launch was cancelled"));
            }
            let terminal = match invitation {
                None => None,
                Some(invitation) => {
                    let taken = wait_for_terminal(invitation, cancelled, progress);
                    Some(taken.map_err(|error| no_terminal(&start.no_terminal, &error))?)
                }
            };
            let files = terminal.as_ref().map(Terminal::files);
            let files = files.as_ref().map_or(&[][..], |files| &files[..]);
            // What starts the program may build it first.
            let limit = match launch.follow {
                Follow::Program => START,
                Follow::Child { .. } => BUILD,
            };
            let request = EngineRequest::Launch(*launch);
            session.request_with_files(request, files, Instant::now() + limit)?;
            if let (Some(terminal), Some(pid)) = (&terminal, session.status().pid) {
                terminal.program(pid.0);
            }
            return Ok(terminal);
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_need_a_host_are_known() {
        let folder = std::env::temp_dir().join(format!("ndbg-tests-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let program = folder.join("tests.dll");
        assert!(!is_for_test_host(&program));
        std::fs::write(folder.join("testhost.dll"), "").expect("a file");
        assert!(is_for_test_host(&program));
        std::fs::write(folder.join("Microsoft.Testing.Platform.dll"), "").expect("a file");
        assert!(!is_for_test_host(&program));
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
