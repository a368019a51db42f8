//! How a program comes under the debugger, and how it leaves: launch, attach, restart, disconnect, terminate.
//!
//! Nothing runs before `configurationDone`: then every breakpoint of the editor is there before the first line.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use host::Session;
use host::api::{
    Attach, Console, Error, ErrorCode, Event, Launch, OutputCursor, Request as EngineRequest,
    SourceMap,
};
use host::project::{self, BuildOptions};
use host::terminal::{Invitation, Terminal};
use serde::Deserialize;

use crate::adapter::{ANSWER, Adapter, Input, Phase, arguments};
use crate::message::{Refusal, Request, RequestArguments};
use crate::settings::{AttachSettings, LaunchSettings, steps};
use crate::types::{
    CancelArguments, DisconnectArguments, ProcessEventBody, ProcessEventBodyStartMethod,
    ProgressEndEventBody, ProgressStartEventBody, ProgressUpdateEventBody,
    RunInTerminalRequestArguments, RunInTerminalRequestArgumentsKind, TerminateArguments,
};

/// How long a program may take until the debugger has it.
const START: Duration = Duration::from_secs(90);

/// How long an ordered end may take.
const END: Duration = Duration::from_secs(20);

/// Messages of breakpoints that are remembered with their places until their output is told.
const TRACES: usize = 10_000;

/// A program that is to be started, and the request that asked for it.
#[derive(Debug, Clone)]
pub(crate) struct Start {
    request: Request,
    how: How,
    cancelled: Arc<AtomicBool>,
}

impl Start {
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
        let how = arguments::<LaunchSettings>(request).and_then(|settings| {
            if let Some(unused) = settings.unused() {
                self.say(&unused);
            }
            self.shown = settings.expression_evaluation_options.shown();
            self.exact_source = settings.require_exact_source == Some(true);
            self.source_maps = settings.source_file_map.clone();
            self.prepare_sources()?;
            self.launch_of(&settings)
        });
        self.wanted(request, how);
    }

    fn launch_of(&self, settings: &LaunchSettings) -> Result<How, Refusal> {
        let mut launch = settings.launch()?;
        let terminal = match settings.console.as_deref() {
            Some("integratedTerminal") => Some("integrated"),
            Some("externalTerminal") => Some("external"),
            _ => None,
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
        let how = arguments::<AttachSettings>(request).and_then(|settings| {
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

    /// Tells the engine where source files are that were compiled elsewhere, and how much they must be the same.
    fn prepare_sources(&mut self) -> Result<(), Refusal> {
        if !self.source_maps.is_empty() {
            let maps = self.source_maps.iter().map(|(from, to)| SourceMap {
                from: from.clone(),
                to: to.clone(),
            });
            let request = EngineRequest::SetSourceMaps(maps.collect());
            self.engine()?.request(request, Instant::now() + ANSWER)?;
        }
        if self.exact_source {
            let request = EngineRequest::RequireExactSource(true);
            self.engine()?.request(request, Instant::now() + ANSWER)?;
        }
        Ok(())
    }

    fn wanted(&mut self, request: &Request, how: Result<How, Refusal>) {
        let how = match how {
            _ if self.phase != Phase::Configuring || self.start.is_some() => Err(Refusal::new(
                "badOrder",
                format!("{}: this connection has a program already", request.command),
            )),
            how => how,
        };
        match how {
            Ok(how) => {
                self.start = Some(Start {
                    request: request.clone(),
                    how,
                    cancelled: Arc::default(),
                });
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
        self.phase = Phase::Starting;
        let session = match self.engine() {
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
            move || begin(&session, start.how, invitation, &start.cancelled, &progress),
            move |adapter, result| match result {
                Ok(terminal) => {
                    adapter.terminal = terminal;
                    adapter.started(&asked);
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
        self.asked = Some((seq, start.cancelled.clone()));
        Ok(Some(invitation))
    }

    /// The session, with a host started for it if there is none yet.
    pub(crate) fn engine(&mut self) -> Result<Session, Refusal> {
        if let Some(session) = &self.session {
            return Ok(session.clone());
        }
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
        let settings = arguments::<RestartSettings>(request);
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
                (how, None) => how.clone(),
                (how, Some(settings)) if settings.program.is_none() => how.clone(),
                (How::Launch { .. }, Some(settings)) => self.launch_of(&settings)?,
            };
            Ok(how)
        });
        let how = match result {
            Ok(how) => how,
            Err(refusal) => return self.client.answer(request, Err::<(), _>(refusal)),
        };
        let old = self.session.take();
        self.forget_looks();
        self.start = Some(Start {
            request: request.clone(),
            how,
            cancelled: Arc::default(),
        });
        self.phase = Phase::Configuring;
        if let Err(refusal) = self.prepare_sources().and_then(|()| self.set_all_again()) {
            self.phase = Phase::Ended;
            return self.client.answer(request, Err::<(), _>(refusal));
        }
        // Dropping a session waits for its end.
        self.beside(move || drop(old), |adapter, ()| adapter.start_when_ready());
    }

    pub(crate) fn disconnect(&mut self, request: &Request) {
        let wish = arguments::<DisconnectArguments>(request).unwrap_or_default();
        self.leave(wish.terminate_debuggee);
        // Every request is answered, also those that nothing will come of any more.
        let refuse = |it: &Request| {
            self.client.answer(it, Err::<(), _>(Refusal::cancelled()));
        };
        if let Some((evaluated, _)) = self.evaluating.take() {
            refuse(&evaluated);
        }
        if let (Phase::Starting, Some(start)) = (self.phase, &self.start) {
            refuse(&start.request);
        }
        self.refuse_waiting_start(&Refusal::cancelled());
        self.deferred.drain(..).for_each(|it| refuse(&it));
        self.client.answer(request, Ok(()));
        self.over = true;
    }

    /// Answers a launch that waits for the end of the configuration and will not get it.
    pub(crate) fn refuse_waiting_start(&self, refusal: &Refusal) {
        if let (Phase::Configuring, Some(start)) = (self.phase, &self.start) {
            let refusal = refusal.clone();
            self.client.answer(&start.request, Err::<(), _>(refusal));
        }
    }

    pub(crate) fn terminate(&mut self, request: &Request) {
        let _ = arguments::<TerminateArguments>(request);
        let running = self.session().is_ok();
        self.leave(Some(true));
        self.client.answer(request, Ok(()));
        if running && self.phase != Phase::Ended {
            // The engine tells the end with its code; that is passed on as always.
            self.phase = Phase::Debugging;
        }
    }

    /// Ends the session: what was launched is ended and what was attached to is let go, unless the wish is other.
    fn leave(&mut self, terminate: Option<bool>) {
        if let Some(start) = &self.start {
            start.cancelled.store(true, Ordering::SeqCst);
        }
        let Some(session) = &self.session else { return };
        if self.phase == Phase::Ended {
            return;
        }
        let request = EngineRequest::Disconnect {
            terminate,
            children: true,
        };
        if let Err(error) = session.request(request, Instant::now() + END) {
            tracing::debug!(%error, "ending the session");
        }
    }

    pub(crate) fn cancel(&mut self, request: &Request) {
        let wish = arguments::<CancelArguments>(request).unwrap_or_default();
        let id = wish.request_id.map(i64::from);
        let waiting = self.deferred.iter().position(|it| Some(it.seq) == id);
        if let Some(waiting) = waiting.and_then(|at| self.deferred.remove(at)) {
            self.client
                .answer(&waiting, Err::<(), _>(Refusal::cancelled()));
        } else if let Some((evaluated, given_up)) = &self.evaluating
            && Some(evaluated.seq) == id
            && let Some(session) = &self.session
        {
            given_up.give_up(session);
        } else {
            let start = self.start.as_ref().filter(|start| {
                id == Some(start.request.seq)
                    || wish.progress_id.as_deref() == Some(&progress_id(start))
            });
            if let Some(start) = start {
                start.cancelled.store(true, Ordering::SeqCst);
            }
        }
        self.client.answer(request, Ok(()));
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
            Progress::Says(line) if wanted => client.tell(&ProgressUpdateEventBody {
                progress_id: id.clone(),
                message: Some(line.into()),
                ..ProgressUpdateEventBody::default()
            }),
            Progress::Built if wanted => client.tell(&ProgressEndEventBody {
                progress_id: id.clone(),
                message: None,
            }),
            _ => {}
        })
    }
}

enum Progress<'a> {
    Building(&'a str),
    Says(&'a str),
    Built,
}

fn progress_id(start: &Start) -> String {
    format!("build-{}", start.request.seq)
}

/// Builds if needed, then launches or attaches.
fn begin(
    session: &Session,
    how: How,
    invitation: Option<Invitation>,
    cancelled: &AtomicBool,
    progress: &dyn Fn(Progress<'_>),
) -> Result<Option<Terminal>, Error> {
    let deadline = Instant::now() + START;
    match how {
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
                let built = project::build(&launch.program, &options, &mut |line| {
                    progress(Progress::Says(line));
                });
                progress(Progress::Built);
                launch.program = built.map_err(Error::from)?.program;
            }
            if invitation.is_none() && cancelled.load(Ordering::SeqCst) {
                return Err(Error::new(ErrorCode::Timeout, "the launch was cancelled"));
            }
            let given_up = || cancelled.load(Ordering::SeqCst);
            let terminal = invitation.map(|it| it.accept(Instant::now() + START, &given_up));
            let terminal = terminal.transpose().map_err(|error| {
                let text = format!("the editor's terminal did not come: {error}");
                Error::new(ErrorCode::Timeout, text)
            })?;
            let files = terminal.as_ref().map(Terminal::files);
            let files = files.as_ref().map_or(&[][..], |files| &files[..]);
            let request = EngineRequest::Launch(*launch);
            session.request_with_files(request, files, Instant::now() + START)?;
            if let (Some(terminal), Some(pid)) = (&terminal, session.status().pid) {
                terminal.program(pid.0);
            }
            return Ok(terminal);
        }
    }
    Ok(None)
}
