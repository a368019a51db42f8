//! One debugged program as the server has it: from the wish to start it to what is kept after its end.
//!
//! A session is known by its id from the first moment, so that a start that takes long can be waited for, looked at
//! and given up like anything else. Its news (state, progress, end) flow from the host's reader thread into a watch
//! channel; waiting is watching that channel, so that giving up a wait touches neither host nor program.
//!
//! Invariant: a `host::Session` is used and dropped only on threads that may block, never on the async ones.

mod again;
mod ends;

use std::convert::Infallible;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use host::api::{
    Error, ErrorCode, Follow, Origin, OutputPage, OutputQuery, Reply, Request, StepOptions,
    TestResults,
};
use host::testing::TestRun;
use host::{LeftBehind, Place, Session, SpareHost};
use tokio::sync::watch;

use again::Breakpoints;
pub(crate) use again::{Recipe, Start};

use crate::archive::Archive;
use crate::idle::{self, Usage};
use crate::news::News;
use crate::policy::Policy;
use crate::program;
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
    /// Where steps stop.
    steps: Mutex<StepOptions>,
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
            Ok(Reply::Source(source)) => match self.session.policy.check_text(&source) {
                Ok(()) => Ok(Reply::Source(source)),
                Err(error) => Err(error),
            },
            answer => answer,
        }
    }
}

/// What waiting for a session came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waited {
    /// It is stopped or over.
    Settled,
    /// It has stopped, and somebody else has let it run on.
    Passed,
    /// The time was up first.
    TimedOut,
}

/// What answers requests.
#[derive(Debug, Default)]
struct Held {
    live: Option<Session>,
    /// While it is not over.
    place: Option<Place>,
    archive: Archive,
    /// The program, if it went on without the debugger.
    left: Option<LeftBehind>,
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
        hosts: &Arc<SpareHost>,
        policy: Arc<Policy>,
        recipe: Recipe,
    ) -> Result<Arc<Self>, Error> {
        let (alive, ended) = mpsc::channel();
        let session = Arc::new(Self {
            id,
            news: watch::Sender::new(News::starting()),
            policy,
            usage: Usage::new(),
            held: Mutex::new(Held {
                place: Some(hosts.clone().begin()),
                ..Held::default()
            }),
            told: Mutex::default(),
            evaluating: Arc::default(),
            passes_unhandled: AtomicBool::new(recipe.passes_unhandled),
            steps: Mutex::new(recipe.start.steps()),
            texts: Mutex::new(recipe.texts.clone()),
            remarks: Mutex::new(recipe.remarks.clone()),
            recipe: recipe.clone(),
            breakpoints: Mutex::default(),
            start: Mutex::new(ended),
        });
        let (starting, hosts) = (session.clone(), hosts.clone());
        spawn_thread("start", move || {
            let _alive = alive;
            let started = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                starting.start(&hosts, recipe)
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
    fn start(&self, hosts: &SpareHost, recipe: Recipe) -> Result<(), Error> {
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
        let session = hosts.take()?;
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

    /// What clients may do to it.
    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// What its first report says besides, once.
    pub(crate) fn take_remarks(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.remarks))
    }

    /// Takes over what is worth knowing of the program and is no event.
    pub(crate) fn learn_notes(&self, status: host::api::Status) {
        let notes = status.notes;
        self.news.send_modify(|news| {
            if news.status.resumes == status.resumes {
                news.status.stuck = status.stuck;
            }
            // What an event told meanwhile is newer.
            if news.status.notes.len() < notes.len() {
                news.status.notes = notes;
            }
        });
    }

    fn progress(&self, message: &str) {
        self.news
            .send_modify(|news| news.progress = Some(message.to_owned()));
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
                if now.has_passed(after) {
                    return Waited::Passed;
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

/// Starts a host for the next session, beside this thread.
pub(crate) fn prepare_host(hosts: Arc<SpareHost>) {
    if let Err(error) = spawn_thread("spare", move || hosts.prepare()) {
        tracing::debug!(%error, "no host is started ahead");
    }
}

/// Runs something beside this thread.
pub(crate) fn spawn_thread(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Error> {
    match thread::Builder::new().name(name.into()).spawn(work) {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::new(
            ErrorCode::Internal,
            format!("no thread for the session: {error}"),
        )),
    }
}
