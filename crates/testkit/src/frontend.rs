//! A front end in a process of its own: something to kill, and something whose descriptors and memory can be counted.
//!
//! The process is the test binary itself, started again to run one test that calls [`serve_if_asked`]; that way it is
//! always there and never older than the tests. The two talk over a socketpair, one line each way.

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitStatus, Stdio};

use host::api::{Attach, Error, Launch, ProcessId, Reply, Request, Status};
use host::{HostProgram, Session, Settled};
use rustix::process::Signal;

use crate::sandbox::Sandbox;
use crate::{PATIENCE, deadline, fixtures, procfs};

/// Set in the environment of a process that is to be a front end.
const ROLE: &str = "NDBG_TEST_FRONTEND";

/// A front end in another process. Killed when it is dropped.
#[derive(Debug)]
pub struct Frontend {
    child: Child,
    socket: BufReader<UnixStream>,
}

impl Frontend {
    /// Starts one; `test` is the full name of the test that calls [`serve_if_asked`].
    #[track_caller]
    pub fn start(sandbox: &Sandbox, test: &str) -> Self {
        let (ours, theirs) = UnixStream::pair().expect("a socketpair");
        ours.set_read_timeout(Some(PATIENCE * 5))
            .expect("sockets have timeouts");
        let mut command = Command::new(std::env::current_exe().expect("a test knows its own path"));
        command
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .envs(fixtures::dotnet_environment())
            .env(ROLE, "1")
            .env("DOTNET_ROOT", fixtures::dotnet_root())
            .env("NDBG_TEST_BIN", fixtures::ndbg())
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        sandbox.adopt(&mut command);
        Self {
            child: command.spawn().expect("the test binary starts"),
            socket: BufReader::new(ours),
        }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The hosts that it started and that are still there, zombies included.
    pub fn hosts(&self) -> Vec<u32> {
        let children = procfs::children(self.pid()).into_iter();
        children.map(|process| process.pid).collect()
    }

    /// Gives a command and does not wait for its answer.
    #[track_caller]
    pub fn tell(&mut self, command: &[&str]) {
        let line = command.join("\t") + "\n";
        self.socket
            .get_mut()
            .write_all(line.as_bytes())
            .expect("the front end reads");
    }

    /// Waits for the answer to a command.
    #[track_caller]
    pub fn answer(&mut self) -> String {
        let mut line = String::new();
        self.socket
            .read_line(&mut line)
            .expect("the front end answers in time");
        line.trim_end().to_owned()
    }

    /// Gives a command and waits for its answer.
    #[track_caller]
    pub fn ask(&mut self, command: &[&str]) -> String {
        self.tell(command);
        self.answer()
    }

    /// Launches a program; its process id.
    #[track_caller]
    pub fn launch(&mut self, program: &str, args: &[&str]) -> u32 {
        let mut command = vec!["launch", program];
        command.extend(args);
        let answer = self.ask(&command);
        answered_pid(&answer)
    }

    /// Attaches to a program.
    #[track_caller]
    pub fn attach(&mut self, pid: u32) {
        let answer = self.ask(&["attach", &pid.to_string()]);
        assert_eq!(answered_pid(&answer), pid);
    }

    /// Ends it with a signal.
    #[track_caller]
    pub fn kill(&mut self, signal: Signal) -> ExitStatus {
        procfs::signal(self.pid(), signal);
        self.child.wait().expect("our own child")
    }
}

impl Drop for Frontend {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[track_caller]
fn answered_pid(answer: &str) -> u32 {
    let pid = answer
        .strip_prefix("ok ")
        .and_then(|rest| rest.split(' ').nth(1)?.parse().ok());
    pid.unwrap_or_else(|| panic!("the front end answered: {answer}"))
}

/// Is a front end until the connection ends, if this process was started to be one.
pub fn serve_if_asked() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    let stdin = io::stdin().as_fd().try_clone_to_owned();
    let socket = UnixStream::from(stdin.expect("standard input is the socket"));
    let mut answers = socket.try_clone().expect("sockets can be cloned");
    let mut session = None;
    for line in BufReader::new(socket).lines().map_while(Result::ok) {
        let words: Vec<_> = line.split('\t').collect();
        let mut answer = match obey(&words, &mut session) {
            Ok(answer) => format!("ok {answer}"),
            Err(error) => format!("error {} {}", error.code.name(), error.message),
        }
        .replace('\n', " ");
        answer.push('\n');
        // Whoever asked may be gone.
        let _ = answers.write_all(answer.as_bytes());
    }
}

fn obey(words: &[&str], session: &mut Option<Session>) -> Result<String, Error> {
    let host = HostProgram {
        path: fixtures::ndbg(),
        ..HostProgram::default()
    };
    let current = || {
        let missing = || Error::new(host::api::ErrorCode::NoSession, "no session");
        session.clone().ok_or_else(missing)
    };
    let number = |word: &str| word.parse::<u32>().unwrap_or_default();
    match words {
        ["launch", program, args @ ..] => {
            let launch = launch(program, args);
            let new = Session::launch(&host, launch, &[], deadline())?;
            Ok(brief(&session.insert(new).status()))
        }
        ["attach", pid] => {
            let new = Session::attach(&host, attach(number(pid)), deadline())?;
            Ok(brief(&session.insert(new).status()))
        }
        ["pause"] => told(current()?.request(Request::Pause, deadline())?),
        ["continue"] => told(current()?.request(Request::Continue, deadline())?),
        // Without the host, which may be dead.
        ["status"] => {
            let session = current()?;
            let mut answer = brief(&session.status());
            if let Some(died) = session.died() {
                let _ = write!(answer, " {} {}", died.code.name(), died.message);
            }
            Ok(answer)
        }
        // Waits for the next stop or end.
        ["wait"] => {
            let session = current()?;
            match session.wait(session.status().resumes, deadline()) {
                Settled::Yes(status) => Ok(brief(&status)),
                Settled::NotYet(status) => Ok(format!("not yet: {}", brief(&status))),
            }
        }
        ["close"] => {
            *session = None;
            Ok(String::new())
        }
        ["attach and detach", times, pid] => repeat(number(times), || {
            Session::attach(&host, attach(number(pid)), deadline()).map(drop)
        }),
        ["launch and end", times, program, args @ ..] => repeat(number(times), || {
            let session = Session::launch(&host, launch(program, args), &[], deadline())?;
            session.wait(0, deadline());
            Ok(())
        }),
        _ => Err(Error::new(
            host::api::ErrorCode::InvalidParameter,
            format!("no such command: {words:?}"),
        )),
    }
}

fn launch(program: &str, args: &[&str]) -> Launch {
    Launch {
        program: program.into(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        ..Launch::default()
    }
}

fn attach(pid: u32) -> Attach {
    Attach::to(ProcessId(pid))
}

fn told(reply: Reply) -> Result<String, Error> {
    match reply {
        Reply::Status(status) => Ok(brief(&status)),
        other => Ok(format!("{other:?}")),
    }
}

fn brief(status: &Status) -> String {
    let pid = status.pid.map_or(0, |pid| pid.0);
    format!("{:?} {pid}", status.state)
}

/// Does something again and again; what this process held after the first few times, and at the end.
fn repeat(times: u32, mut again: impl FnMut() -> Result<(), Error>) -> Result<String, Error> {
    let me = std::process::id();
    let held = || {
        let memory = procfs::memory_kib(me, "VmRSS");
        let children = procfs::children(me).len();
        format!("{} {memory} {children}", procfs::open_files(me))
    };
    let warm = times.min(5);
    for _ in 0..warm {
        again()?;
    }
    let before = held();
    for _ in warm..times {
        again()?;
    }
    Ok(format!("{before} {}", held()))
}
