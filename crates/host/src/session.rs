//! A front end's handle to one debugged program.
//!
//! A thread reads what the host tells and keeps a mirror of the last [`Status`], so asking for the state costs nothing
//! and waiting for a stop needs no polling. When the last handle is dropped the connection is closed, and the host
//! ends a launched program or lets an attached one go.
//!
//! Invariant: every call returns by its deadline, and after the host's death every call says so.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use engine::api::{
    Attach, Error, ErrorCode, Event, Launch, Origin, ProcessId, Reply, Request, State, Status,
};
use engine::processes::{HostTraces, Leftovers, Watched};

use crate::wire::{self, FromHost, ToHost};

/// How long a host may take to be gone after it closed its end of the connection.
const LAST_MOMENT: Duration = Duration::from_secs(2);

/// How long a host that has let go of its program may take to be gone before we believe that it stays.
const LAST_WORD: Duration = Duration::from_millis(500);

/// How often is looked whether a program that is to be let go is suspended.
const LOOK: Duration = Duration::from_secs(2);

/// How long a host may take to end after its connection is closed, before it is killed.
const HOST_END: Duration = Duration::from_secs(12);

/// Which executable to run as the host, and how.
#[derive(Debug, Clone)]
pub struct HostProgram {
    /// The executable.
    pub path: PathBuf,
    /// What makes it a host.
    pub args: Vec<String>,
    /// Variables that it gets besides the front end's own; launched programs inherit them.
    pub env: Vec<(OsString, OsString)>,
}

impl Default for HostProgram {
    /// This very executable, even if its file was replaced since it was started.
    fn default() -> Self {
        Self {
            path: "/proc/self/exe".into(),
            args: vec!["host".into()],
            env: Vec::new(),
        }
    }
}

/// A debugged program. Clones are handles to the same one.
#[derive(Clone)]
pub struct Session(pub(crate) Arc<Handle>);

/// What waiting for a session came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Settled {
    /// The program is stopped, has ended, or was let go.
    Yes(Box<Status>),
    /// It was still running when the time was up.
    NotYet(Box<Status>),
}

type Observer = Box<dyn Fn(&Event) + Send>;

pub(crate) struct Handle {
    link: Arc<Link>,
    socket: UnixStream,
    reader: Mutex<Option<JoinHandle<()>>>,
}

/// What the reader thread shares with the handles.
struct Link {
    mirror: Mutex<Mirror>,
    changed: Condvar,
    observers: Mutex<Vec<Observer>>,
}

struct Mirror {
    status: Status,
    /// What a launched program leaves if it is killed together with its host.
    leftovers: Option<Leftovers>,
    /// The program's process, which may outlive the session.
    program: Option<Arc<Watched>>,
    /// What was said of a program that its host left behind when it died.
    left: Option<String>,
    /// Why the host is gone, if it is.
    died: Option<Error>,
    next_id: u64,
    waiting: HashMap<u64, mpsc::Sender<Result<Reply, Error>>>,
}

impl Session {
    /// Starts a host and launches a program in it. `files` are the three standard streams for a program that shares
    /// the front end's terminal.
    pub fn launch(
        host: &HostProgram,
        launch: Launch,
        files: &[BorrowedFd<'_>],
        deadline: Instant,
    ) -> Result<Self, Error> {
        let session = Self::start(host)?;
        session.request_with_files(Request::Launch(launch), files, deadline)?;
        Ok(session)
    }

    /// Starts a host and attaches it to a running program.
    pub fn attach(host: &HostProgram, attach: Attach, deadline: Instant) -> Result<Self, Error> {
        let session = Self::start(host)?;
        session.request_with_files(Request::Attach(attach), &[], deadline)?;
        Ok(session)
    }

    /// Starts a host without a program.
    pub fn start(host: &HostProgram) -> Result<Self, Error> {
        let failed = |error: io::Error| {
            Error::new(
                ErrorCode::Internal,
                format!("the debugger's host process cannot be started: {error}"),
            )
            .hint(format!(
                "it is {} itself, which may have been moved or replaced, or the system is out of processes, memory or \
                 open files: free some, or start ndbg anew",
                host.path.display()
            ))
        };
        let (socket, theirs) = UnixStream::pair().map_err(failed)?;
        let mut command = Command::new(&host.path);
        // A group of its own: Ctrl-C in a terminal is for the front end, which ends the host in order.
        command.arg0("ndbg").args(&host.args).process_group(0);
        command.env_remove(crate::TOKEN_VARIABLE);
        command.envs(host.env.iter().map(|(name, value)| (name, value)));
        command
            .stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)))
            .stdout(Stdio::null());
        let child = command.spawn().map_err(failed)?;
        // The command holds the host's end of the socket; as long as it lives we would never see the host's end.
        drop(command);
        let folder = host.env.iter().find(|(name, _)| name == "TMPDIR");
        let folder = folder.map_or_else(std::env::temp_dir, |(_, folder)| folder.into());
        let traces = HostTraces::of(ProcessId(child.id()), folder);
        let link = Arc::new(Link {
            mirror: Mutex::new(Mirror {
                status: Status::starting(),
                leftovers: None,
                program: None,
                left: None,
                died: None,
                next_id: 1,
                waiting: HashMap::new(),
            }),
            changed: Condvar::new(),
            observers: Mutex::new(Vec::new()),
        });
        let receiver = wire::Receiver::new(socket.try_clone().map_err(failed)?);
        let reader = {
            let link = link.clone();
            thread::Builder::new()
                .name("session".into())
                .spawn(move || link.read(receiver, child, traces))
                .map_err(failed)?
        };
        let hello = ToHost::Hello {
            version: wire::VERSION,
        };
        if let Err(error) = wire::send(&socket, &hello, &[]) {
            // It is gone already. The reader finds out how it ended, and every request is told.
            tracing::debug!(%error, "greeting the host");
        }
        Ok(Self(Arc::new(Handle {
            link,
            socket,
            reader: Mutex::new(Some(reader)),
        })))
    }

    /// Sends a request and waits for its reply.
    pub fn request(&self, request: Request, deadline: Instant) -> Result<Reply, Error> {
        self.request_with_files(request, &[], deadline)
    }

    /// Sends a request with open files and waits for its reply.
    pub fn request_with_files(
        &self,
        request: Request,
        files: &[BorrowedFd<'_>],
        deadline: Instant,
    ) -> Result<Reply, Error> {
        self.send(request, files)?.wait(deadline)
    }

    /// Sends a request, whose reply can be waited for on another thread.
    pub fn send(&self, request: Request, files: &[BorrowedFd<'_>]) -> Result<Pending, Error> {
        refuse_lost(&request)?;
        let ends = matches!(request, Request::Disconnect { .. });
        let (sender, receiver) = mpsc::channel();
        let mut mirror = self.0.link.mirror();
        if let Some(died) = &mirror.died {
            return Err(died.clone());
        }
        let id = mirror.next_id;
        mirror.next_id += 1;
        let frame = wire::frame(&ToHost::Request { id, request }, files).map_err(unsendable)?;
        mirror.waiting.insert(id, sender);
        // Written under the lock, so that messages of several threads do not mix.
        if let Err(error) = wire::send_bytes(&self.0.socket, &frame, files) {
            tracing::debug!(%error, "writing to the host");
        }
        drop(mirror);
        Ok(Pending {
            session: self.clone(),
            id,
            ends,
            receiver,
        })
    }

    /// The state as last told by the host, without asking it.
    pub fn status(&self) -> Status {
        self.0.link.mirror().status.clone()
    }

    /// Why the host is gone, if it is.
    pub fn died(&self) -> Option<Error> {
        self.0.link.mirror().died.clone()
    }

    /// The process that goes on without this debugger, if one does.
    pub fn left_behind(&self) -> Option<LeftBehind> {
        let mirror = self.0.link.mirror();
        let program = mirror.program.clone();
        let left = program.filter(|_| mirror.status.state == State::Detached);
        left.map(|program| LeftBehind {
            program,
            said: mirror.left.clone(),
        })
    }

    /// Waits until the program is stopped, ended or let go, after the resume with number `after`.
    pub fn wait(&self, after: u32, deadline: Instant) -> Settled {
        let link = &self.0.link;
        let mut mirror = link.mirror();
        loop {
            let settled = matches!(
                mirror.status.state,
                State::Stopped | State::Exited | State::Detached
            );
            if mirror.died.is_some() || (settled && mirror.status.resumes >= after) {
                return Settled::Yes(Box::new(mirror.status.clone()));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Settled::NotYet(Box::new(mirror.status.clone()));
            }
            mirror = link
                .changed
                .wait_timeout(mirror, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// Ends a host that does not answer; why every request fails from now on.
    fn end_host(&self) -> Error {
        // With nothing more to read, the reader kills it.
        let _ = self.0.socket.shutdown(std::net::Shutdown::Both);
        self.0.link.wait_for_end(Instant::now() + 2 * LAST_MOMENT);
        self.died().unwrap_or_else(|| {
            Error::new(
                ErrorCode::Timeout,
                "the debugger's host process neither answered nor could be ended",
            )
            .hint("end it from outside: it is a child of this process")
        })
    }

    /// Calls `observer` for every event from now on, on the session's reader thread: it must not wait.
    ///
    /// After the host's death the last event is one that says so: `Exited` or `Detached`.
    pub fn observe(&self, observer: impl Fn(&Event) + Send + 'static) {
        self.0
            .link
            .observers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(Box::new(observer));
    }
}

/// A process that went on without its debugger, which let it go or died.
#[derive(Debug, Clone)]
pub struct LeftBehind {
    /// It, which may have ended since.
    pub program: Arc<Watched>,
    /// What the error of a host that died says of it: true as long as it lives.
    pub said: Option<String>,
}

/// A reply that has not come yet.
#[derive(Debug)]
pub struct Pending {
    session: Session,
    id: u64,
    /// Whether it is to end the session.
    ends: bool,
    receiver: mpsc::Receiver<Result<Reply, Error>>,
}

impl Pending {
    /// Why the program cannot be let go right now, if that is what is asked for and a signal has suspended it.
    fn suspended(&self) -> Option<Error> {
        let status = self.session.status();
        let is_attached = self.ends && status.origin == Some(Origin::Attached);
        let pid = status.pid.filter(|_| is_attached)?;
        engine::processes::suspended(pid)
    }

    /// Waits for the reply. A host that does not even end the session when it is told to is ended itself.
    pub fn wait(self, deadline: Instant) -> Result<Reply, Error> {
        let link = &self.session.0.link;
        let waited = loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let slice = if self.ends { left.min(LOOK) } else { left };
            let waited = self.receiver.recv_timeout(slice);
            if waited != Err(mpsc::RecvTimeoutError::Timeout) {
                break waited;
            }
            // One that was suspended in the middle of that is let go as soon as it runs: nobody need be ended.
            if let Some(error) = self.suspended() {
                return Err(error);
            }
            if slice == left {
                break waited;
            }
        };
        match waited {
            Ok(result) => result,
            Err(mpsc::RecvTimeoutError::Disconnected) => Err(link
                .mirror()
                .died
                .clone()
                .unwrap_or_else(|| Error::new(ErrorCode::HostDied, "the host process is gone"))),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                {
                    let mut mirror = link.mirror();
                    mirror.waiting.remove(&self.id);
                    // Written under the lock, so that messages of several threads do not mix.
                    let give_up = ToHost::GiveUp { id: self.id };
                    if let Err(error) = wire::send(&self.session.0.socket, &give_up, &[]) {
                        tracing::debug!(%error, "writing to the host");
                    }
                }
                if self.ends {
                    return Err(self.session.end_host());
                }
                Err(Error::new(
                    ErrorCode::Timeout,
                    "the debugger's host process did not answer in time; what it had not begun by then it does not do",
                )
                .hint("ask for the status; disconnect if it does not answer either"))
            }
        }
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Session").field(&self.status().pid).finish()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // The host reads the end of the stream, ends or lets go of its program, and exits.
        let _ = self.socket.shutdown(std::net::Shutdown::Write);
        let reader = self
            .reader
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some(reader) = reader.filter(|it| it.thread().id() != thread::current().id()) else {
            return;
        };
        if !self.link.wait_for_end(Instant::now() + HOST_END) {
            // The host does not go; with nothing more to read, the reader kills it.
            let _ = self.socket.shutdown(std::net::Shutdown::Both);
        }
        let _ = reader.join();
    }
}

impl Mirror {
    /// Takes over what the host told.
    fn tell(&mut self, status: &Status) {
        // A process that has just begun does not have its own environment yet.
        if self.status.pid != status.pid || self.status.state == State::Starting {
            self.leftovers = status.pid.map(|pid| Leftovers::of(pid.0));
            self.program = status.pid.map(|pid| Arc::new(Watched::of(pid)));
        }
        self.status = status.clone();
    }
}

impl Link {
    /// Whether the host is gone by `deadline`.
    fn wait_for_end(&self, deadline: Instant) -> bool {
        let mut mirror = self.mirror();
        while mirror.died.is_none() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            mirror = self
                .changed
                .wait_timeout(mirror, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        true
    }

    fn mirror(&self) -> MutexGuard<'_, Mirror> {
        self.mirror.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads until the host is gone, then reaps it.
    fn read(&self, mut receiver: wire::Receiver, mut child: Child, traces: HostTraces) {
        let problem = loop {
            match receiver.next::<FromHost>() {
                Ok(Some((
                    FromHost::Hello {
                        version: wire::VERSION,
                    },
                    _,
                ))) => {}
                Ok(Some((FromHost::Hello { version }, _))) => {
                    break Some(format!(
                        "the host speaks version {version}, this is {}",
                        wire::VERSION
                    ));
                }
                Ok(Some((FromHost::Reply { id, result }, _))) => self.reply(id, result),
                Ok(Some((FromHost::Event(event), _))) => self.event(&event),
                Ok(None) => break None,
                Err(error) => break Some(error.to_string()),
            }
        };
        if self.is_guarding(&mut child) {
            // The host stays with a program that was let go, and depends on it; it is reaped whenever it ends.
            let _ = thread::Builder::new().name("reaper".into()).spawn(move || {
                if !child.wait().is_ok_and(|status| status.success()) {
                    traces.remove();
                }
            });
            self.host_gone(None, "has ended its part", None);
            return;
        }
        let (ended, in_order) = end(&mut child, problem.is_some());
        self.host_gone(problem, &ended, Some(&traces).filter(|_| !in_order));
    }

    /// Whether a host that has told everything stays: with a launched program that was let go, or with one that can be
    /// let go only when a signal lets it run again.
    fn is_guarding(&self, host: &mut Child) -> bool {
        let (state, origin) = {
            let mirror = self.mirror();
            (mirror.status.state, mirror.status.origin)
        };
        if state != State::Detached {
            return false;
        }
        let deadline = Instant::now() + LAST_WORD;
        while origin != Some(Origin::Launched) && Instant::now() < deadline {
            if !matches!(host.try_wait(), Ok(None)) {
                return false;
            }
            thread::sleep(Duration::from_millis(1));
        }
        true
    }

    fn reply(&self, id: u64, result: Result<Reply, Error>) {
        let mut mirror = self.mirror();
        if let Ok(Reply::Status(status)) = &result {
            mirror.tell(status);
            self.changed.notify_all();
        }
        if let Some(waiting) = mirror.waiting.remove(&id) {
            // The caller may have given up.
            let _ = waiting.send(result);
        }
    }

    fn event(&self, event: &Event) {
        if let Event::Starting(status)
        | Event::Stopped(status)
        | Event::Running(status)
        | Event::Exited(status)
        | Event::Detached(status) = event
        {
            self.mirror().tell(status);
            self.changed.notify_all();
        }
        for observer in self
            .observers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
        {
            observer(event);
        }
    }

    /// Takes note of the host's end, and tidies up after one that could not do it itself.
    fn host_gone(&self, problem: Option<String>, ended: &str, traces: Option<&HostTraces>) {
        if let Some(traces) = traces {
            traces.end_followed();
        }
        let event = {
            let mut mirror = self.mirror();
            let over = matches!(mirror.status.state, State::Exited | State::Detached);
            let mut message = format!("the debugger's host process for this session {ended}");
            if let Some(problem) = problem {
                message += &format!(" ({problem})");
            }
            let event = if over {
                None
            } else {
                Some(after_death(&mut mirror, &mut message))
            };
            if let Some(traces) = traces {
                traces.remove();
            }
            mirror.died = Some(if over {
                Error::new(ErrorCode::NoSession, "this session has ended")
            } else {
                Error::new(ErrorCode::HostDied, message)
                    .hint("launch or attach again; other sessions are not affected")
            });
            mirror.waiting.clear();
            self.changed.notify_all();
            event
        };
        if let Some(event) = event {
            self.event(&event);
        }
    }
}

/// Programs whose host was killed. Another debugger that comes to one of them freezes it, so none is let near.
fn lost() -> MutexGuard<'static, HashSet<(ProcessId, u64)>> {
    static LOST: LazyLock<Mutex<HashSet<(ProcessId, u64)>>> = LazyLock::new(Mutex::default);
    LOST.lock().unwrap_or_else(PoisonError::into_inner)
}

fn refuse_lost(request: &Request) -> Result<(), Error> {
    let Request::Attach(attach) = request else {
        return Ok(());
    };
    why_lost(attach.pid).map_or(Ok(()), Err)
}

/// What is said of a request that has something in it which messages cannot carry.
fn unsendable(error: io::Error) -> Error {
    Error::new(
        ErrorCode::InvalidParameter,
        format!("the request cannot be passed on to the debugger's host process: {error}"),
    )
    .hint("paths that are not UTF-8 cannot be passed on: enter the folder, or use a link with another name")
}

/// Why no debugger can come to a process any more, if a host of this front end was killed while it debugged it.
pub fn why_lost(pid: ProcessId) -> Option<Error> {
    let identity = engine::processes::identity(pid)?;
    lost()
        .contains(&identity)
        .then(|| engine::processes::lost_debugger(pid.0))
}

/// What became of the program when its host died unexpectedly; it is helped where that is possible.
fn after_death(mirror: &mut Mirror, message: &mut String) -> Event {
    let Mirror {
        status,
        leftovers,
        left,
        ..
    } = mirror;
    let gone = |status: &mut Status| {
        status.state = State::Exited;
        let reason = "the debugger's host process died with it".to_owned();
        status.exit = Some(engine::api::Exit::Unknown { reason });
        Event::Exited(Box::new(status.clone()))
    };
    let was_stopped = status.state == State::Stopped;
    status.stop = None;
    let Some(pid) = status.pid else {
        return gone(status);
    };
    if status.origin == Some(Origin::Launched) {
        // The kernel ends a launched program with its host; this makes sure of it.
        let leftovers = leftovers.take().unwrap_or_else(|| Leftovers::of(pid.0));
        engine::processes::end_orphan(pid, &leftovers);
        message.push_str("; the launched program was ended");
        return gone(status);
    }
    if !engine::processes::is_alive(pid) {
        return gone(status);
    }
    lost().extend(engine::processes::identity(pid));
    status.state = State::Detached;
    let note = if was_stopped {
        format!(
            "process {} was stopped when its debugger died: it stays frozen and must be ended (kill -9 {})",
            pid.0, pid.0
        )
    } else {
        format!(
            "process {} freezes at its next debug event (a thread that starts, an exception, a breakpoint), because that \
             waits for the debugger that died, and it takes no other debugger: restart it now (kill -9 {} ends it)",
            pid.0, pid.0
        )
    };
    message.push_str("; ");
    message.push_str(&note);
    *left = Some(note.clone());
    status.notes.push(note);
    Event::Detached(Box::new(status.clone()))
}

/// Waits for the host to end, kills it if it does not; says how it ended, and whether that was in order.
fn end(child: &mut Child, at_once: bool) -> (String, bool) {
    use std::os::unix::process::ExitStatusExt;

    let deadline = Instant::now() + if at_once { Duration::ZERO } else { LAST_MOMENT };
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(1)),
            Ok(None) => {
                let _ = child.kill();
                match child.wait() {
                    Ok(_) => return ("had to be killed".into(), false),
                    Err(error) => return (format!("is lost ({error})"), false),
                }
            }
            Err(error) => return (format!("is lost ({error})"), false),
        }
    };
    let ended = match (status.code(), status.signal()) {
        (_, Some(signal)) => format!("was ended by signal {signal}"),
        (Some(code), None) => format!("ended with code {code}"),
        (None, None) => "ended".into(),
    };
    (ended, status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_dies_at_once_is_told_as_that() {
        let host = HostProgram {
            path: "/bin/sh".into(),
            args: vec!["-c".into(), "kill -9 $$".into()],
            env: Vec::new(),
        };
        for _ in 0..20 {
            let session = Session::start(&host).expect("a shell can be started");
            let deadline = Instant::now() + Duration::from_secs(60);
            let error = session
                .request(Request::Status, deadline)
                .expect_err("a dead host answers nothing");
            assert_eq!(error.code, ErrorCode::HostDied);
            assert!(error.message.contains("signal 9"), "{error}");
            assert!(error.hint.is_some());
        }
    }
}
