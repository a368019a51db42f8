//! One debugged program as the server has it: from the wish to start it to what is kept after its end.
//!
//! A session is known by its id from the first moment, so that a start that takes long can be waited for, looked at
//! and given up like anything else. Its news (state, progress, end) flow from the host's reader thread into a watch
//! channel; waiting is watching that channel, so that giving up a wait touches neither host nor program.
//!
//! Invariant: a `host::Session` is used and dropped only on threads that may block, never on the async ones.

use std::convert::Infallible;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use host::api::{
    Attach, Breakpoint, BreakpointSpec, Error, ErrorCode, ExceptionBreakpoint, ExceptionSpec,
    Follow, Launch, Origin, OutputCursor, OutputPage, OutputQuery, Reply, Request, SourceMap,
    State, TestResults,
};
use host::testing::TestRun;
use host::{HostProgram, Session};
use tokio::sync::watch;

use crate::archive::{self, Archive};
use crate::idle::{self, Usage};
use crate::news::{News, Over};
use crate::policy::Policy;
use crate::program::{self, Build};
use crate::report::told::Told;
use crate::tools::statement::ByText;

/// How long a host may take to answer an ordinary request.
pub(crate) const ANSWER: Duration = Duration::from_secs(10);
/// How long a start may take; the engine gives up earlier and says why.
const START: Duration = Duration::from_secs(90);

/// How long a build that is given up may take to end.
const GIVING_UP: Duration = Duration::from_secs(5);

/// How often somebody who waits is told that the wait goes on.
const PROGRESS: Duration = Duration::from_secs(2);

/// A session of the registry.
#[derive(Debug)]
pub(crate) struct DebugSession {
    id: String,
    news: watch::Sender<News>,
    policy: Arc<Policy>,
    pub(crate) usage: Usage,
    held: Mutex<Held>,
    told: Mutex<Told>,
    /// Locked while an evaluation is under way.
    evaluating: Arc<tokio::sync::Mutex<()>>,
    /// How it began, to begin again.
    recipe: Recipe,
    /// Breakpoints as they were last asked for, of a session that is over.
    breakpoints: Mutex<Option<Breakpoints>>,
    /// Which of them are named by the text of a statement.
    texts: Mutex<Vec<ByText>>,
    /// What its first report says besides.
    remarks: Mutex<Vec<String>>,
    /// Whether unhandled exceptions do not stop the program.
    passes_unhandled: AtomicBool,
    /// Disconnected when the thread that starts the program has ended.
    start: Mutex<mpsc::Receiver<Infallible>>,
}

/// A request that was sent.
pub(crate) struct Sent<'s> {
    session: &'s DebugSession,
    pending: host::Pending,
    /// Whether the program was still being started then.
    starting: bool,
}

impl Sent<'_> {
    /// Waits for the answer.
    pub(crate) fn wait(self, deadline: Instant) -> Result<Reply, Error> {
        match self.pending.wait(deadline) {
            // The engine knows no session that is still starting, only one without a program.
            Err(error) if error.code == ErrorCode::NoSession && self.starting => {
                Err(self.session.not_there())
            }
            answer => answer,
        }
    }
}

/// How a session begins.
#[derive(Debug, Clone)]
pub(crate) enum Start {
    /// Starts a program, or builds a project first.
    Launch(Box<Launch>, Build),
    /// Takes a running one.
    Attach(Attach),
}

/// All that a session begins with.
#[derive(Debug, Clone)]
pub(crate) struct Recipe {
    pub(crate) start: Start,
    pub(crate) maps: Vec<SourceMap>,
    /// Whether unhandled exceptions do not stop the program.
    pub(crate) passes_unhandled: bool,
    /// Which breakpoints are named by the text of a statement.
    pub(crate) texts: Vec<ByText>,
    /// What its first report says besides.
    pub(crate) remarks: Vec<String>,
}

/// Breakpoints of both kinds.
type Breakpoints = (Vec<Breakpoint>, Vec<ExceptionBreakpoint>);

/// What waiting for a session came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waited {
    /// It is stopped or over.
    Settled,
    /// The time was up first.
    TimedOut,
}

/// What answers requests.
#[derive(Debug, Default)]
struct Held {
    live: Option<Session>,
    archive: Archive,
    /// Why the archive is not complete, if it is not.
    lost: Option<Error>,
    /// The tests that the program runs.
    tests: Option<Tests>,
    /// Whether somebody is closing the session already.
    finishing: bool,
}

/// The tests of a session.
#[derive(Debug)]
enum Tests {
    /// They are being run.
    Running(TestRun),
    /// What became of them; nothing is known if the run was broken off.
    Over(Option<TestResults>),
}

impl DebugSession {
    /// Begins a session; it goes on in the background whether or not anybody waits.
    pub(crate) fn begin(
        id: String,
        host: &HostProgram,
        policy: Arc<Policy>,
        recipe: Recipe,
    ) -> Result<Arc<Self>, Error> {
        let (alive, ended) = mpsc::channel();
        let session = Arc::new(Self {
            id,
            news: watch::Sender::new(News::starting()),
            policy,
            usage: Usage::new(),
            held: Mutex::default(),
            told: Mutex::default(),
            evaluating: Arc::default(),
            passes_unhandled: AtomicBool::new(recipe.passes_unhandled),
            texts: Mutex::new(recipe.texts.clone()),
            remarks: Mutex::new(recipe.remarks.clone()),
            recipe: recipe.clone(),
            breakpoints: Mutex::default(),
            start: Mutex::new(ended),
        });
        let (starting, host) = (session.clone(), host.clone());
        spawn_thread("start", move || {
            let _alive = alive;
            let started = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                starting.start(&host, recipe)
            }));
            let result = started.unwrap_or_else(|_| {
                Err(Error::new(
                    ErrorCode::Internal,
                    "a bug in ndbg: starting the program failed inside the server",
                ))
            });
            match result {
                Ok(()) => {
                    starting.news.send_modify(|news| news.started = true);
                }
                Err(error) => starting.finish(Some(error)),
            }
        })?;
        if let Some(limit) = session.policy.idle_limit {
            tokio::spawn(idle::watch(session.clone(), limit));
        }
        let keeper = session.clone();
        tokio::spawn(async move {
            let mut news = keeper.news.subscribe();
            // The sender lives as long as the keeper does, so this cannot fail.
            let _ = news
                .wait_for(|news| {
                    news.over.is_some() || (news.has_ended() && (news.started || news.given_up))
                })
                .await;
            drop(news);
            if keeper.is_over() {
                return;
            }
            // Without a thread the host is kept, and asked for output as long as the session is.
            if let Err(error) = spawn_thread("finish", move || keeper.finish(None)) {
                tracing::warn!(%error, "a session cannot be closed");
            }
        });
        Ok(session)
    }

    /// Its name.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// What is known right now.
    pub(crate) fn news(&self) -> News {
        self.news.borrow().clone()
    }

    /// Whether nothing more will happen.
    pub(crate) fn is_over(&self) -> bool {
        self.news.borrow().over.is_some()
    }

    /// Bytes of output kept after its end.
    pub(crate) fn archive_size(&self) -> usize {
        self.held().archive.size()
    }

    /// What the reader of reports knows already.
    pub(crate) fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Builds, starts a host and launches or attaches; returns when the program is there.
    fn start(&self, host: &HostProgram, recipe: Recipe) -> Result<(), Error> {
        let Recipe { start, maps, .. } = recipe;
        let request = match start {
            Start::Attach(attach) => Request::Attach(attach),
            Start::Launch(mut launch, build) => {
                let given_up = || self.news.borrow().given_up;
                let tests = program::ready(&mut launch, build, &given_up, &mut |message| {
                    self.progress(message);
                })?;
                self.held().tests = tests.map(Tests::Running);
                self.progress(match &launch.follow {
                    Follow::Program => "waiting for its .NET runtime",
                    Follow::Child { .. } => "waiting for the .NET process that it starts",
                });
                Request::Launch(*launch)
            }
        };
        let session = Session::start(host)?;
        let news = self.news.clone();
        session.observe(move |event| news.send_modify(|news| news.note(event)));
        self.held().live = Some(session.clone());
        if self.news.borrow().given_up {
            return Err(Error::new(
                ErrorCode::LaunchFailed,
                "the start was given up",
            ));
        }
        if self.policy.read_only {
            session.request(Request::ForbidSideEffects, Instant::now() + ANSWER)?;
        }
        if !maps.is_empty() {
            let maps = Request::SetSourceMaps(maps);
            session.request(maps, Instant::now() + ANSWER)?;
        }
        if recipe.passes_unhandled {
            session.request(Request::StopAtUnhandled(false), Instant::now() + ANSWER)?;
        }
        session.request(request, Instant::now() + START)?;
        self.learn_breakpoints(&session);
        Ok(())
    }

    /// Asks for all breakpoints: those that never change are not told otherwise.
    fn learn_breakpoints(&self, session: &Session) {
        match session.request(Request::Breakpoints, Instant::now() + ANSWER) {
            Ok(Reply::Breakpoints {
                breakpoints,
                exceptions,
            }) => {
                *lock(&self.breakpoints) = Some((breakpoints.clone(), exceptions));
                self.news.send_modify(|news| {
                    for breakpoint in breakpoints {
                        // What an event told meanwhile may be newer, except for the hits.
                        let hits = breakpoint.hits;
                        let known = news.breakpoints.entry(breakpoint.id.0);
                        let known = known.or_insert(breakpoint);
                        known.hits = known.hits.max(hits);
                    }
                });
            }
            Ok(other) => {
                unexpected(&other);
            }
            Err(error) => tracing::debug!(%error, "the breakpoints cannot be read"),
        }
    }

    /// How to begin again, with the breakpoints as they are now. For threads that may block.
    pub(crate) fn again(&self) -> Result<Recipe, Error> {
        let mut recipe = self.recipe.clone();
        let Start::Launch(launch, _) = &mut recipe.start else {
            return Err(Error::new(
                ErrorCode::NotSupported,
                format!(
                    "{} was attached to, and can only be launched by whoever launched it",
                    self.id
                ),
            )
            .hint("start it as it was started, then debug_attach"));
        };
        let live = self.held().live.clone();
        if let Some(session) = live {
            self.learn_breakpoints(&session);
        }
        // A start that failed has only what it was given.
        if let Some((breakpoints, exceptions)) = lock(&self.breakpoints).clone() {
            recipe.texts.clear();
            recipe.remarks.clear();
            launch.breakpoints.clear();
            for it in breakpoints {
                let place = match self.found_again(&it) {
                    None => it.spec.place,
                    Some(Ok(named)) => {
                        recipe.texts.push(named.clone());
                        named.place
                    }
                    Some(Err(error)) => {
                        let id = it.id.0;
                        let why = error.message;
                        let stays =
                            format!("breakpoint {id} stays at the line that it was at: {why}");
                        recipe.remarks.push(stays);
                        it.spec.place
                    }
                };
                launch.breakpoints.push(BreakpointSpec {
                    id: Some(it.id),
                    place,
                    ..it.spec
                });
            }
            launch.exceptions = exceptions
                .into_iter()
                .map(|it| ExceptionSpec {
                    id: Some(it.id),
                    ..it.spec
                })
                .collect();
        }
        recipe.passes_unhandled = self.passes_unhandled.load(Ordering::Relaxed);
        Ok(recipe)
    }

    /// Where the text stands now that names the place of a breakpoint, if one does. A breakpoint keeps to its statement,
    /// not to its line, when the program is built again.
    fn found_again(&self, breakpoint: &Breakpoint) -> Option<Result<ByText, Error>> {
        let place = &breakpoint.spec.place;
        let texts = lock(&self.texts);
        let named = texts.iter().find(|it| it.place == *place)?.clone();
        drop(texts);
        let mut sources = breakpoint
            .locations
            .iter()
            .filter_map(|it| it.source.as_ref());
        let path = sources.next().map(|it| Path::new(&it.path));
        let found = named.found_again(&self.policy, path);
        Some(found.map(|place| ByText { place, ..named }))
    }

    /// Notes that a breakpoint is named by a text.
    pub(crate) fn named_by_text(&self, named: ByText) {
        let mut texts = lock(&self.texts);
        texts.retain(|it| it.place != named.place);
        texts.push(named);
    }

    /// What clients may do to it.
    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// What its first report says besides, once.
    pub(crate) fn take_remarks(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.remarks))
    }

    /// Notes whether unhandled exceptions stop the program.
    pub(crate) fn stops_at_unhandled(&self, stops: bool) {
        self.passes_unhandled.store(!stops, Ordering::Relaxed);
    }

    /// Notes a breakpoint that the client is told of right now.
    pub(crate) fn told_breakpoint(&self, breakpoint: &Breakpoint) {
        let state = (breakpoint.state, breakpoint.reason.clone());
        self.told().breakpoints.insert(breakpoint.id.0, state);
        self.news.send_modify(|news| {
            news.breakpoints.insert(breakpoint.id.0, breakpoint.clone());
        });
    }

    /// Forgets all breakpoints but these.
    pub(crate) fn keep_breakpoints(&self, left: &[Breakpoint]) {
        self.news.send_modify(|news| {
            news.breakpoints
                .retain(|id, _| left.iter().any(|breakpoint| breakpoint.id.0 == *id));
        });
    }

    fn progress(&self, message: &str) {
        self.news
            .send_modify(|news| news.progress = Some(message.to_owned()));
    }

    /// Notes the end, keeps the output and lets the host go. Blocks; the first call counts.
    fn finish(&self, error: Option<Error>) {
        let session = {
            let mut held = self.held();
            if std::mem::replace(&mut held.finishing, true) {
                return;
            }
            held.live.clone()
        };
        let mut archive = Archive::default();
        let mut lost = None;
        let mut failed = error;
        if let Some(session) = &session {
            // A host that died on its own is news; one that has ended its work is not.
            failed = failed.or_else(|| {
                session
                    .died()
                    .filter(|error| error.code == ErrorCode::HostDied)
            });
            lost = fill(&mut archive, session).err();
            if lost.is_some() && session.status().origin == Some(Origin::Attached) {
                (archive, lost) = (Archive::elsewhere(), None);
            }
            self.learn_breakpoints(session);
        }
        {
            let mut held = self.held();
            held.live = None;
            if let Some(Tests::Running(run)) = &held.tests {
                held.tests = Some(Tests::Over(run.results()));
            }
            held.archive = archive;
            held.lost = lost;
        }
        self.news.send_modify(|news| {
            news.over.get_or_insert(match failed {
                Some(error) => Over::Failed(error),
                None => Over::Ended,
            });
        });
        drop(session);
    }

    /// Waits until the program is stopped after the resume with number `after`, or the session is over.
    ///
    /// `tell` is called now and then, and when a slow start has got somewhere.
    pub(crate) async fn wait(
        &self,
        after: u32,
        deadline: tokio::time::Instant,
        mut tell: impl FnMut(&News),
    ) -> Waited {
        let _used = self.usage.wait();
        let mut news = self.news.subscribe();
        let mut ticks = tokio::time::interval(PROGRESS);
        ticks.reset();
        let mut progress = None;
        loop {
            {
                let now = news.borrow_and_update();
                if now.is_settled(after) {
                    return Waited::Settled;
                }
                if now.progress != progress {
                    progress.clone_from(&now.progress);
                    tell(&now);
                }
            }
            tokio::select! {
                changed = news.changed() => if changed.is_err() { return Waited::Settled },
                () = tokio::time::sleep_until(deadline) => {
                    let settled = news.borrow().is_settled(after);
                    return if settled { Waited::Settled } else { Waited::TimedOut };
                }
                _ = ticks.tick() => tell(&news.borrow()),
            }
        }
    }

    /// Waits until the program is there, or could not be started.
    pub(crate) async fn wait_started(&self) {
        let _used = self.usage.wait();
        // The sender is ours, so this cannot fail; the start itself is bounded.
        let _ = self
            .news
            .subscribe()
            .wait_for(|news| news.started || news.over.is_some())
            .await;
    }

    /// Waits until nothing more will happen, or the time is up.
    pub(crate) async fn wait_over(&self, deadline: tokio::time::Instant) -> Waited {
        let mut news = self.news.subscribe();
        match tokio::time::timeout_at(deadline, news.wait_for(|news| news.over.is_some())).await {
            Ok(_) => Waited::Settled,
            Err(_) => Waited::TimedOut,
        }
    }

    /// Runs something that may block, off the async threads.
    pub(crate) async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let session = self.clone();
        tokio::task::spawn_blocking(move || work(&session))
            .await
            .map_err(|_| {
                Error::new(
                    ErrorCode::Internal,
                    "a bug in ndbg: this request failed inside the server",
                )
            })
    }

    /// Asks the host something that it answers at once.
    pub(crate) async fn request(self: &Arc<Self>, request: Request) -> Result<Reply, Error> {
        self.blocking(|session| session.ask(request)).await?
    }

    /// As [`request`](Self::request), for threads that may block.
    pub(crate) fn ask(&self, request: Request) -> Result<Reply, Error> {
        self.send(request)?.wait(Instant::now() + ANSWER)
    }

    /// Sends a request whose answer is waited for later. For threads that may block.
    pub(crate) fn send(&self, request: Request) -> Result<Sent<'_>, Error> {
        let live = self.held().live.clone();
        let Some(session) = live else {
            return Err(self.not_there());
        };
        let attached = matches!(self.recipe.start, Start::Attach(_));
        self.policy.check_request(&request, attached)?;
        let starting = !self.news.borrow().started;
        let pending = session.send(request, &[])?;
        Ok(Sent {
            session: self,
            pending,
            starting,
        })
    }

    /// The turn to evaluate: what two clients ask for is done one after the other, so that giving one up ends no other.
    pub(crate) async fn turn_to_evaluate(&self) -> tokio::sync::OwnedMutexGuard<()> {
        self.evaluating.clone().lock_owned().await
    }

    /// Reads captured output, also after the end. For threads that may block.
    pub(crate) fn output(&self, query: OutputQuery) -> Result<OutputPage, Error> {
        let live = {
            let held = self.held();
            match &held.live {
                Some(session) => session.clone(),
                None => {
                    return match &held.lost {
                        Some(error) => Err(output_lost(error)),
                        None => Ok(held.archive.page(query)),
                    };
                }
            }
        };
        match live.request(Request::Output(query), Instant::now() + ANSWER) {
            Ok(Reply::Output(page)) => Ok(page),
            Ok(other) => Err(unexpected(&other)),
            // What an attached program writes goes where it always went.
            Err(error)
                if error.code == ErrorCode::HostDied
                    && live.status().origin != Some(Origin::Attached) =>
            {
                Err(output_lost(&error))
            }
            Err(error) => Err(error),
        }
    }

    /// What became of its tests, if it runs some; `Some(None)` if that is not known, or not yet.
    pub(crate) fn tests(&self) -> Option<Option<TestResults>> {
        match self.held().tests.as_ref()? {
            Tests::Running(run) => Some(run.results()),
            Tests::Over(results) => Some(results.clone()),
        }
    }

    /// Why the session has failed, if it has; also in the moment after its host's death in which the output that is
    /// left is still being looked for, and the session is not over yet.
    pub(crate) fn failure(&self, news: &News) -> Option<Error> {
        match &news.over {
            Some(Over::Failed(error)) => Some(error.clone()),
            Some(Over::Ended) => None,
            None => {
                let live = self.held().live.clone();
                live?
                    .died()
                    .filter(|error| error.code == ErrorCode::HostDied)
            }
        }
    }

    /// Ends the session: `terminate` and `children` as the engine has them.
    pub(crate) async fn disconnect(
        self: &Arc<Self>,
        terminate: Option<bool>,
        children: bool,
    ) -> Result<(), Error> {
        if self.is_over() {
            return Ok(());
        }
        let starting = !self.news.borrow().started;
        if starting {
            self.news.send_modify(|news| news.given_up = true);
        }
        if self.held().live.is_none() {
            // Still building, or over meanwhile.
            return Ok(());
        }
        let disconnect = Request::Disconnect {
            terminate,
            children,
        };
        match self.request(disconnect).await {
            Ok(_) => Ok(()),
            Err(error) if matches!(error.code, ErrorCode::HostDied | ErrorCode::Exited) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Ends a session that nobody uses, and keeps why.
    pub(crate) async fn end_idle(self: &Arc<Self>, why: String) -> Result<(), Error> {
        self.news.send_modify(|news| news.idle = Some(why));
        let ended = self.disconnect(None, false).await;
        if ended.is_err() {
            self.news.send_modify(|news| news.idle = None);
        }
        ended
    }

    /// Closes the session at the server's end: a launched program ends, an attached one is let go. Blocks.
    pub(crate) fn close(&self) {
        self.news.send_modify(|news| news.given_up = true);
        let live = self.held().live.take();
        if live.is_none() && !self.is_over() {
            // Still building: the build's processes and files go with the thread that gives it up.
            let start = self.start.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = start.recv_timeout(GIVING_UP);
        }
        if let Some(session) = live {
            if !self.news.borrow().started {
                // The starting thread holds the connection open: the host is told in words instead.
                let disconnect = Request::Disconnect {
                    terminate: None,
                    children: true,
                };
                if let Err(error) = session.request(disconnect, Instant::now() + ANSWER) {
                    tracing::debug!(%error, "closing a session that is starting");
                }
            }
            drop(session);
        }
    }

    /// Why there is nothing to ask.
    fn not_there(&self) -> Error {
        let news = self.news.borrow();
        match &news.over {
            Some(Over::Failed(error)) => error.clone(),
            Some(Over::Ended) if news.idle.is_some() => Error::new(
                ErrorCode::NoSession,
                news.idle.clone().unwrap_or_default(),
            )
            .hint("debug_launch or debug_attach begins a new one; debug_status tells how this one was left"),
            Some(Over::Ended) if news.status.state == State::Detached => Error::new(
                ErrorCode::NoSession,
                format!("{} has let go of its program", self.id),
            )
            .hint("debug_attach takes it again"),
            Some(Over::Ended) => Error::new(
                ErrorCode::Exited,
                format!("the program of {} has ended", self.id),
            )
            .hint("debug_launch starts it again; debug_status tells how it ended"),
            None => Error::new(
                ErrorCode::NotStopped,
                format!("{} is still starting", self.id),
            )
            .hint("debug_wait waits for it"),
        }
    }
}

impl Drop for DebugSession {
    fn drop(&mut self) {
        let held = self.held.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = held.live.take() {
            // Dropping waits for the host, and nobody knows on which thread we are.
            if let Err(error) = spawn_thread("close", move || drop(session)) {
                tracing::warn!(%error, "a session cannot be closed");
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An answer of the wrong kind: a bug.
pub(crate) fn unexpected(reply: &Reply) -> Error {
    tracing::error!(?reply, "an answer of the wrong kind");
    Error::new(
        ErrorCode::Internal,
        "a bug in ndbg: the engine gave an answer of the wrong kind",
    )
}

/// The output was kept by the host, and went with it.
fn output_lost(error: &Error) -> Error {
    let message = format!("what the program wrote is lost: {}", error.message);
    Error {
        message,
        ..error.clone()
    }
}

/// Reads everything that is still captured.
fn fill(archive: &mut Archive, session: &Session) -> Result<(), Error> {
    let mut from = 0;
    loop {
        let query = OutputQuery {
            from: OutputCursor(from),
            stream: None,
            max_bytes: archive::SEGMENT,
            tail: false,
        };
        match session.request(Request::Output(query), Instant::now() + ANSWER) {
            Ok(Reply::Output(page)) => {
                let (next, end) = (page.next.0, page.end.0);
                archive.push(from, page);
                if next >= end || next <= from {
                    return Ok(());
                }
                from = next;
            }
            Ok(other) => return Err(unexpected(&other)),
            Err(error) => return Err(error),
        }
    }
}

fn spawn_thread(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Error> {
    match thread::Builder::new().name(name.into()).spawn(work) {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::new(
            ErrorCode::Internal,
            format!("no thread for the session: {error}"),
        )),
    }
}
