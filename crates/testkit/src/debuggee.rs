//! A program under the real `ndbg host`: what a live test holds in its hands.
//!
//! Every call waits for what it asked for and panics with the state and the output when that does not come in
//! [`PATIENCE`](crate::PATIENCE): a live test reads as a story and needs no sleep.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use host::api::{
    Console, Error, ErrorCode, Event, Exit, Launch, OutputChunk, OutputCursor, OutputPage,
    OutputQuery, Reply, Request, State, Status, Stop, Stream,
};
use host::{Session, Settled};

use crate::fixtures::{self, Fixture};
use crate::sandbox::Sandbox;
use crate::{deadline, procfs};

/// A launch that is being prepared.
#[derive(Debug)]
pub struct LaunchBuilder<'s> {
    sandbox: &'s Sandbox,
    launch: Launch,
    files: Vec<OwnedFd>,
    host_env: Vec<(String, String)>,
    host: Option<PathBuf>,
}

impl<'s> LaunchBuilder<'s> {
    pub(crate) fn new(sandbox: &'s Sandbox, fixture: &Fixture) -> Self {
        let mut env: BTreeMap<_, _> = fixtures::dotnet_environment()
            .into_iter()
            .map(|(name, value)| (name, Some(value.to_string_lossy().into_owned())))
            .collect();
        let root = fixture.dotnet_root().to_string_lossy().into_owned();
        env.insert("DOTNET_ROOT".into(), Some(root));
        Self {
            sandbox,
            launch: Launch {
                program: fixture.dll(),
                env,
                ..Launch::default()
            },
            files: Vec::new(),
            host_env: Vec::new(),
            host: None,
        }
    }

    /// Launches this file instead of the fixture's dll.
    #[must_use]
    pub fn program(mut self, program: impl AsRef<Path>) -> Self {
        self.launch.program = program.as_ref().to_owned();
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<'a>(mut self, args: impl IntoIterator<Item = &'a str>) -> Self {
        self.launch.args.extend(args.into_iter().map(str::to_owned));
        self
    }

    /// Sets a variable of the program.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        let value = value.as_ref().to_string_lossy().into_owned();
        self.launch.env.insert(name.into(), Some(value));
        self
    }

    /// Removes a variable of the program.
    #[must_use]
    pub fn without_env(mut self, name: &str) -> Self {
        self.launch.env.insert(name.into(), None);
        self
    }

    /// Sets a variable of the host.
    #[must_use]
    pub fn host_env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        let value = value.as_ref().to_string_lossy().into_owned();
        self.host_env.push((name.into(), value));
        self
    }

    /// Runs the host through this executable, which gets its arguments.
    #[must_use]
    pub fn host(mut self, host: impl AsRef<Path>) -> Self {
        self.host = Some(host.as_ref().to_owned());
        self
    }

    /// Sets the working directory.
    #[must_use]
    pub fn cwd(mut self, folder: impl AsRef<Path>) -> Self {
        self.launch.cwd = Some(folder.as_ref().to_owned());
        self
    }

    /// Stops at the first line of `Main`.
    #[must_use]
    pub fn stop_at_entry(mut self) -> Self {
        self.launch.stop_at_entry = true;
        self
    }

    /// Changes the request in any other way.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Launch)) -> Self {
        change(&mut self.launch);
        self
    }

    /// Gives the program these streams instead of captured ones.
    #[must_use]
    pub fn inherit(mut self, streams: [OwnedFd; 3]) -> Self {
        self.launch.console = Console::Inherit;
        self.files = streams.into();
        self
    }

    /// The request, for tests that send it themselves.
    pub fn request(&self) -> Request {
        Request::Launch(self.launch.clone())
    }

    /// Launches it.
    #[track_caller]
    pub fn start(self) -> Debuggee<'s> {
        match self.try_start() {
            Ok(debuggee) => debuggee,
            Err(error) => panic!("launching failed: {error:?}"),
        }
    }

    /// Launches a program that may not start.
    pub fn try_start(self) -> Result<Debuggee<'s>, Error> {
        let (debuggee, launch) = self.begin()?;
        let result = launch.join().expect("launching does not panic");
        debuggee.note_pid();
        result.map(|_| debuggee)
    }

    /// The error with which launching fails.
    #[track_caller]
    pub fn refused(self) -> Error {
        match self.try_start() {
            Ok(debuggee) => panic!("it was launched: {:?}", debuggee.status()),
            Err(error) => error,
        }
    }

    /// Begins a launch and does not wait for it: the session can be asked things meanwhile.
    pub fn begin(self) -> Result<(Debuggee<'s>, LaunchResult), Error> {
        let debuggee = Debuggee::start_with(self.sandbox, self.host.as_deref(), &self.host_env)?;
        let session = debuggee.session.clone();
        let request = self.request();
        let files = self.files;
        let launch = thread::spawn(move || {
            let files: Vec<_> = files.iter().map(AsFd::as_fd).collect();
            // A launch may take its whole 60 s until it is given up.
            let deadline = deadline() + Duration::from_secs(60);
            session.request_with_files(request, &files, deadline)
        });
        Ok((debuggee, launch))
    }
}

/// How a launch ends that was begun.
pub type LaunchResult = JoinHandle<Result<Reply, Error>>;

/// A program under the debugger.
#[derive(Debug)]
pub struct Debuggee<'s> {
    sandbox: &'s Sandbox,
    session: Session,
    mark: String,
    news: Arc<News>,
    read: Mutex<Read>,
}

/// Wakes whoever waits for an event.
#[derive(Debug, Default)]
struct News {
    events: Mutex<Vec<Event>>,
    more: Condvar,
}

/// The output read so far.
#[derive(Debug, Default)]
struct Read {
    at: OutputCursor,
    chunks: Vec<OutputChunk>,
    skipped: u64,
    invalid: u64,
}

impl<'s> Debuggee<'s> {
    /// A session without a program.
    pub fn start(sandbox: &'s Sandbox) -> Result<Self, Error> {
        Self::start_with(sandbox, None, &[])
    }

    fn start_with(
        sandbox: &'s Sandbox,
        path: Option<&Path>,
        host_env: &[(String, String)],
    ) -> Result<Self, Error> {
        let (mut host, mark) = sandbox.host_program();
        if let Some(path) = path {
            host.path = path.to_owned();
        }
        let extra = host_env
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        host.env.extend(extra);
        let session = Session::start(&host)?;
        let news = Arc::<News>::default();
        let told = news.clone();
        session.observe(move |event| {
            lock(&told.events).push(event.clone());
            told.more.notify_all();
        });
        Ok(Self {
            sandbox,
            session,
            mark,
            news,
            read: Mutex::default(),
        })
    }

    /// The session itself.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Sends a request.
    pub fn request(&self, request: Request) -> Result<Reply, Error> {
        self.session.request(request, deadline())
    }

    #[track_caller]
    fn ask(&self, request: Request) -> Status {
        match self.request(request.clone()) {
            Ok(Reply::Status(status)) => *status,
            Ok(reply) => panic!("{request:?} was answered with {reply:?}"),
            Err(error) => self.fail(&format!("{request:?} failed: {error:?}")),
        }
    }

    /// The code of the error with which a request is refused.
    #[track_caller]
    pub fn refused(&self, request: Request) -> ErrorCode {
        match self.request(request) {
            Ok(reply) => panic!("it was not refused: {reply:?}"),
            Err(error) => error.code,
        }
    }

    /// The state, as the host tells it when asked.
    #[track_caller]
    pub fn status(&self) -> Status {
        self.ask(Request::Status)
    }

    /// Lets the program run.
    #[track_caller]
    pub fn cont(&self) -> Status {
        self.ask(Request::Continue)
    }

    /// Stops the program.
    #[track_caller]
    pub fn pause(&self) -> Stop {
        let status = self.ask(Request::Pause);
        assert_eq!(status.state, State::Stopped);
        status.stop.expect("a stopped program has a stop")
    }

    /// Waits until the program is stopped.
    #[track_caller]
    pub fn wait_stop(&self) -> Stop {
        let status = self.settle();
        if status.state != State::Stopped {
            self.fail("expected a stop");
        }
        status.stop.expect("a stopped program has a stop")
    }

    /// Waits until the program has ended.
    #[track_caller]
    pub fn wait_exit(&self) -> Exit {
        let status = self.settle();
        if status.state != State::Exited {
            self.fail("expected the end");
        }
        status.exit.expect("an ended program has an exit")
    }

    /// Waits for the end of a program that may be stopped until then.
    #[track_caller]
    pub fn wait_end_told(&self) -> Exit {
        self.wait_event(|event| matches!(event, Event::Exited(_)));
        self.wait_exit()
    }

    /// Waits until the program has ended, with this code.
    #[track_caller]
    pub fn expect_exit(&self, code: i32) {
        let exit = self.wait_exit();
        if exit != Exit::Code(code) {
            self.fail(&format!("expected exit code {code}"));
        }
    }

    /// Waits until the program is stopped or has ended; how it ended, if it did.
    #[track_caller]
    pub fn settle_exit(&self) -> Option<Exit> {
        self.settle().exit
    }

    /// Waits until the program is stopped, ended or let go.
    #[track_caller]
    pub fn settle(&self) -> Status {
        let resumes = self.session.status().resumes;
        match self.session.wait(resumes, deadline()) {
            Settled::Yes(status) => *status,
            Settled::NotYet(_) => self.fail("nothing happened"),
        }
    }

    /// Ends the session; see [`Request::Disconnect`].
    #[track_caller]
    pub fn disconnect(&self, terminate: Option<bool>, children: bool) -> Status {
        self.ask(Request::Disconnect {
            terminate,
            children,
        })
    }

    /// Writes to the program's standard input.
    #[track_caller]
    pub fn stdin(&self, text: &str) {
        self.input(text, false);
    }

    /// Closes the program's standard input.
    #[track_caller]
    pub fn close_stdin(&self) {
        self.input("", true);
    }

    #[track_caller]
    fn input(&self, text: &str, close: bool) {
        let request = Request::Input {
            text: text.into(),
            close,
        };
        match self.request(request) {
            Ok(Reply::Input { accepted }) => assert_eq!(accepted, text.len() as u64),
            other => self.fail(&format!("standard input: {other:?}")),
        }
    }

    /// The output of both streams so far, in order.
    #[track_caller]
    pub fn output(&self) -> Vec<OutputChunk> {
        self.read_on().chunks.clone()
    }

    /// The output of one stream so far.
    #[track_caller]
    pub fn text(&self, stream: Stream) -> String {
        let chunks = self.output().into_iter();
        chunks
            .filter(|chunk| chunk.stream == stream)
            .map(|chunk| chunk.text)
            .collect()
    }

    /// Bytes of the output so far that were dropped, and that were not UTF-8.
    #[track_caller]
    pub fn lost(&self) -> (u64, u64) {
        let read = self.read_on();
        (read.skipped, read.invalid)
    }

    /// One page of output.
    #[track_caller]
    pub fn page(&self, query: OutputQuery) -> OutputPage {
        match self.request(Request::Output(query)) {
            Ok(Reply::Output(page)) => page,
            other => panic!("output was answered with {other:?}"),
        }
    }

    /// Reads what is new.
    #[track_caller]
    fn read_on(&self) -> MutexGuard<'_, Read> {
        let mut read = lock(&self.read);
        loop {
            let page = self.page(OutputQuery {
                from: read.at,
                stream: None,
                max_bytes: 1 << 20,
                tail: false,
            });
            let stuck = page.next == read.at;
            read.at = page.next;
            read.skipped += page.skipped;
            read.invalid += page.invalid_bytes;
            for chunk in page.chunks {
                match read.chunks.last_mut() {
                    Some(last) if last.stream == chunk.stream => last.text += &chunk.text,
                    _ => read.chunks.push(chunk),
                }
            }
            if page.next == page.end || stuck {
                return read;
            }
        }
    }

    /// Waits until standard output holds this text.
    #[track_caller]
    pub fn wait_output(&self, wanted: &str) {
        self.wait_output_where(wanted, |text| text.contains(wanted));
    }

    /// Waits until something new arrives on standard output: the program runs.
    #[track_caller]
    pub fn wait_more_output(&self) {
        let seen = self.text(Stream::Stdout).len();
        self.wait_output_where("more", |text| text.len() > seen);
    }

    #[track_caller]
    fn wait_output_where(&self, what: &str, holds: impl Fn(&str) -> bool) {
        let deadline = deadline();
        loop {
            // Counted before reading: what comes after the read is told after this.
            let told = lock(&self.news.events).len();
            if holds(&self.text(Stream::Stdout)) {
                return;
            }
            let over = matches!(self.session.status().state, State::Exited | State::Detached);
            if over || Instant::now() >= deadline {
                self.fail(&format!("no output {what:?}"));
            }
            self.wait_news(told, deadline);
        }
    }

    /// Waits for an event; all events up to now.
    #[track_caller]
    pub fn wait_event(&self, wanted: impl Fn(&Event) -> bool) -> Vec<Event> {
        let deadline = deadline();
        loop {
            let events = self.events();
            if events.iter().any(&wanted) {
                return events;
            }
            if Instant::now() >= deadline {
                self.fail("the event was not told");
            }
            self.wait_news(events.len(), deadline);
        }
    }

    /// Waits until there are other than `told` events.
    fn wait_news(&self, told: usize, deadline: Instant) {
        let left = deadline.saturating_duration_since(Instant::now());
        let events = lock(&self.news.events);
        let waited = self
            .news
            .more
            .wait_timeout_while(events, left, |events| events.len() == told);
        drop(waited);
    }

    /// What the host has told so far.
    pub fn events(&self) -> Vec<Event> {
        lock(&self.news.events).clone()
    }

    /// The debugged process.
    #[track_caller]
    pub fn pid(&self) -> u32 {
        let pid = self.session.status().pid;
        pid.expect("the program has a process").0
    }

    /// The process of the host.
    #[track_caller]
    pub fn host_pid(&self) -> u32 {
        let own = std::process::id();
        let processes = procfs::marked(&self.mark);
        match processes.iter().find(|process| process.parent == own) {
            Some(process) => process.pid,
            None => panic!("the host is not among {processes:?}"),
        }
    }

    pub(crate) fn note_pid(&self) {
        if let Some(pid) = self.session.status().pid {
            self.sandbox.note(pid.0);
        }
    }

    #[track_caller]
    fn fail(&self, what: &str) -> ! {
        panic!("{what}\n{}", crate::autopsy::of(&self.session));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
