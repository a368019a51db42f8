//! Starting the program, ending it, and waiting for what it does.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use host::Session;
use host::api::{Attach, Console, Error, ErrorCode, Launch, Origin, Reply, Request, State, Status};
use host::project::{self, BuildOptions};
use signal_hook::consts::SIGINT;

use crate::Target;
use crate::failure::{no_program, unexpected};
use crate::inbox::{Input, Typed};
use crate::repl::Repl;

/// How long a start may take; the engine gives up earlier and says why.
const START: Duration = Duration::from_secs(90);
/// A person who types ahead of a step means the prompt; what is typed later is the program's.
const TYPED_AHEAD: Duration = Duration::from_millis(300);
/// How long the end of a program may take.
const END: Duration = Duration::from_secs(15);

/// What waiting came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waited {
    /// It is stopped, or has ended; that was shown.
    Settled,
    /// The time was up first.
    StillRunning,
    /// The session is to end.
    Interrupted,
}

impl Repl {
    /// Starts or attaches to the program, and shows where it stopped.
    pub(crate) fn start(&mut self) -> Result<(), Error> {
        if self.live.used {
            self.renew()?;
        }
        self.live.used = true;
        self.told = report::told::Told::default();
        self.exit = None;
        self.at_entry = false;
        let attach = matches!(self.target, Target::Attach(_));
        let outcome = self.begin();
        if let Err(error) = outcome {
            self.renew()?;
            return Err(error);
        }
        if self.quit.is_some() {
            return Ok(());
        }
        if attach {
            self.live.ask(Request::Pause)?;
        } else if self.input_ended {
            // The end of the input was told to the program before this one.
            self.input(String::new(), true);
        }
        // Nothing of the program runs before the entry: what is to be read is left for what comes then.
        self.wait_settled(0, None)?;
        self.keyboard.keep();
        let status = self.live.session.status();
        self.at_entry = !attach && status.state == State::Stopped;
        Ok(())
    }

    /// Lets a thread build and launch, so that Ctrl-C can give it up.
    fn begin(&mut self) -> Result<(), Error> {
        let number = self.live.number;
        let given_up = Arc::new(AtomicBool::new(false));
        let (session, inbox, given) = (
            self.live.session.clone(),
            self.sender.clone(),
            given_up.clone(),
        );
        let (target, steps) = (self.target.clone(), self.wishes.steps);
        let work = move || {
            let progress = |message: &str| {
                let _ = inbox.send(Input::Progress(message.to_owned()));
            };
            let cancelled = || given.load(Ordering::SeqCst);
            let started = reach(&session, target, steps, &cancelled, &progress);
            let _ = inbox.send(Input::Started(number, started));
        };
        thread::Builder::new()
            .name("start".into())
            .spawn(work)
            .map_err(|error| Error::new(ErrorCode::Internal, format!("no thread: {error}")))?;
        loop {
            match self.next(None) {
                Some(Input::Started(started, outcome)) if started == number => {
                    if given_up.load(Ordering::SeqCst) && outcome.is_err() && self.quit.is_none() {
                        let message = "the start was given up";
                        return Err(Error::new(ErrorCode::LaunchFailed, message));
                    }
                    return outcome;
                }
                Some(Input::Progress(message)) if self.interactive => {
                    self.say(&format!("{} …", report::text::one_line(&message, 200)));
                }
                Some(Input::Event(from, event)) if from == number => {
                    self.pending.push_back(*event);
                }
                Some(Input::Signal(signal)) => {
                    if signal != SIGINT || !self.interactive {
                        self.signalled(signal);
                    }
                    given_up.store(true, Ordering::SeqCst);
                    self.disconnect(Some(true));
                }
                Some(_) => {}
                None => return Err(no_program()),
            }
        }
    }

    /// Takes a new host in place of one that has had its program.
    pub(crate) fn renew(&mut self) -> Result<(), Error> {
        let mut wishes = std::mem::take(&mut self.wishes);
        self.live.save(&mut wishes);
        let live = crate::session::Live::start(self.live.number + 1, &wishes, &self.sender);
        self.wishes = wishes;
        self.live = live?;
        self.known.clear();
        self.pending.clear();
        self.shown = None;
        self.refocus(None, 0);
        Ok(())
    }

    /// Lets the program go, or ends it.
    pub(crate) fn disconnect(&mut self, terminate: Option<bool>) {
        let request = Request::Disconnect {
            terminate,
            children: true,
        };
        if let Err(error) = self.live.session.request(request, Instant::now() + END) {
            tracing::debug!(%error, "ending the session");
        }
    }

    /// Asks for something that lets the program run, and waits until it is stopped again.
    pub(crate) fn resume(&mut self, request: Request) -> Result<Waited, Error> {
        let after = self.let_go(request)?;
        self.wait(after, None)
    }

    /// Asks for something that lets the program run; the number of that resume.
    pub(crate) fn let_go(&mut self, request: Request) -> Result<u32, Error> {
        match self.live.ask_program(request)? {
            Reply::Status(status) => {
                self.at_entry = false;
                Ok(status.resumes)
            }
            _ => Err(unexpected()),
        }
    }

    /// Waits until the program is stopped or has ended after the resume with number `after`, and shows it. What is
    /// typed meanwhile is the program's, and Ctrl-C stops it.
    pub(crate) fn wait(&mut self, after: u32, limit: Option<Duration>) -> Result<Waited, Error> {
        if self.forwards && !self.interactive {
            self.keyboard.forward();
        }
        let waited = self.wait_settled(after, limit.map(|limit| Instant::now() + limit));
        self.keyboard.keep();
        waited
    }

    fn wait_settled(&mut self, after: u32, deadline: Option<Instant>) -> Result<Waited, Error> {
        let mut typed_ahead = self.interactive.then(|| Instant::now() + TYPED_AHEAD);
        loop {
            let input = match self.pending.pop_front() {
                Some(event) => Some(Input::Event(self.live.number, Box::new(event))),
                None => self.next(typed_ahead.into_iter().chain(deadline).min()),
            };
            match input {
                None if deadline.is_none_or(|it| Instant::now() < it) => {
                    typed_ahead = None;
                    self.keyboard.forward();
                }
                None => return Ok(Waited::StillRunning),
                Some(Input::Event(number, event)) if number == self.live.number => {
                    if self.note(*event, after) {
                        return Ok(Waited::Settled);
                    }
                }
                Some(Input::Keyboard(Typed::ForProgram(text))) => {
                    self.screen.entered();
                    self.input(text, false);
                }
                Some(Input::Keyboard(Typed::EndForProgram)) => {
                    // At a terminal more may come after an end.
                    self.input_ended = !self.interactive;
                    self.input(String::new(), true);
                }
                Some(Input::Signal(SIGINT)) if self.interactive => {
                    self.interrupted = true;
                    if let Err(error) = self.live.ask(Request::Pause) {
                        self.fail(&error);
                    }
                }
                Some(Input::Signal(signal)) => {
                    self.signalled(signal);
                    return Ok(Waited::Interrupted);
                }
                Some(_) => {}
            }
        }
    }

    /// Writes what was typed to the program.
    fn input(&mut self, text: String, close: bool) {
        if self.live.session.status().origin == Some(Origin::Attached) {
            return;
        }
        if let Err(error) = self.live.ask(Request::Input { text, close })
            && self.live.has_program()
        {
            self.fail(&error);
        }
    }

    /// The state of the program, if there is one.
    pub(crate) fn status(&self) -> Option<Status> {
        self.live.has_program().then(|| self.live.session.status())
    }
}

/// Builds, launches or attaches; returns when the program is there.
fn reach(
    session: &Session,
    target: Target,
    steps: host::api::StepOptions,
    cancelled: &dyn Fn() -> bool,
    progress: &dyn Fn(&str),
) -> Result<(), Error> {
    let deadline = || Instant::now() + START;
    let (launch, tty) = match target {
        Target::Attach(pid) => {
            let attach = Attach { pid, steps };
            session.request(Request::Attach(attach), deadline())?;
            return Ok(());
        }
        Target::Launch {
            mut launch,
            configuration,
            framework,
            tty,
        } => {
            if project::is_project(&launch.program) {
                progress(&format!("building {}", launch.program.display()));
                let options = BuildOptions {
                    configuration,
                    framework,
                    env: launch.env.clone(),
                    cancelled,
                    ..BuildOptions::default()
                };
                launch.program = project::build(&launch.program, &options, &mut |_| {})?.program;
            }
            (launch, tty)
        }
    };
    let files = tty.map(open_tty).transpose()?;
    let launch = Launch {
        stop_at_entry: true,
        steps,
        console: match files {
            Some(_) => Console::Inherit,
            None => Console::Capture,
        },
        ..*launch
    };
    let files: Vec<BorrowedFd<'_>> = files.iter().flat_map(|file| [file.as_fd(); 3]).collect();
    session.request_with_files(Request::Launch(launch), &files, deadline())?;
    Ok(())
}

fn open_tty(path: PathBuf) -> Result<File, Error> {
    let opened = File::options().read(true).write(true).open(&path);
    opened.map_err(|error| {
        let message = format!("{} cannot be used as a terminal: {error}", path.display());
        Error::new(ErrorCode::InvalidFile, message)
    })
}
