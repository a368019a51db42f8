//! A terminal of somebody else's for a launched program.
//!
//! An editor can run a command in its terminal, but cannot start a program there under a debugger. So it runs
//! `ndbg terminal NAME`, which lends its three streams through a socket of that name and then stands in for the
//! program: it passes on the signals it gets and ends with the program's own exit code.
//!
//! The name is an abstract one: no file is left by any end. Only processes of the same user are let in.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use crate::wire;

/// How often a terminal that is on its way is looked for.
const LOOK: Duration = Duration::from_millis(5);

/// What is said over the socket.
#[derive(Debug, Serialize, Deserialize)]
enum Word {
    /// The terminal lends its streams.
    Streams,
    /// The program runs; signals are for it.
    Program(u32),
    /// The program ended with this code.
    Ended(u8),
}

/// Waits for a terminal.
#[derive(Debug)]
pub struct Invitation {
    listener: UnixListener,
    name: String,
}

impl Invitation {
    /// Invites a terminal under a name of its own.
    pub fn new() -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("ndbg-terminal-{}-{count}", process::id());
        let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, name })
    }

    /// What the terminal must be told.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Waits for the terminal's streams, until `deadline` or until `given_up`.
    pub fn accept(self, deadline: Instant, given_up: &dyn Fn() -> bool) -> io::Result<Terminal> {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) if is_ours(&stream) => return receive(stream),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if given_up() {
                        return Err(io::Error::other("it was given up"));
                    }
                    if Instant::now() >= deadline {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                    thread::sleep(LOOK);
                }
                Err(error) => return Err(error),
            }
        }
    }
}

fn is_ours(stream: &UnixStream) -> bool {
    let peer = rustix::net::sockopt::socket_peercred(stream);
    peer.is_ok_and(|peer| peer.uid == rustix::process::geteuid())
}

fn receive(stream: UnixStream) -> io::Result<Terminal> {
    stream.set_nonblocking(false)?;
    let mut receiver = wire::Receiver::new(stream.try_clone()?);
    match receiver.next::<Word>()? {
        Some((Word::Streams, files)) => {
            let files = <[OwnedFd; 3]>::try_from(files);
            let files = files.map_err(|_| io::Error::other("it did not lend its streams"))?;
            Ok(Terminal { stream, files })
        }
        _ => Err(io::Error::other("it said something else")),
    }
}

/// A terminal that lends its streams.
#[derive(Debug)]
pub struct Terminal {
    stream: UnixStream,
    files: [OwnedFd; 3],
}

impl Terminal {
    /// Its three streams.
    pub fn files(&self) -> [BorrowedFd<'_>; 3] {
        self.files.each_ref().map(|file| file.as_fd())
    }

    /// Tells it which process its signals are for.
    pub fn program(&self, pid: u32) {
        self.say(&Word::Program(pid));
    }

    /// Tells it the program's exit code, with which it ends.
    pub fn ended(&self, code: u8) {
        self.say(&Word::Ended(code));
    }

    fn say(&self, word: &Word) {
        // The terminal may be closed; the program is not affected.
        if let Err(error) = wire::send(&self.stream, word, &[]) {
            tracing::debug!(%error, "the terminal is gone");
        }
    }
}

/// Stands in for a program in a terminal: lends its streams to whoever waits under `name`, returns the exit code.
pub fn lend(name: &str) -> io::Result<u8> {
    let stream = UnixStream::connect_addr(&SocketAddr::from_abstract_name(name)?)?;
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGQUIT, SIGTERM, SIGHUP])?;
    let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
    let files = [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()];
    wire::send(&stream, &Word::Streams, &files)?;
    let mut receiver = wire::Receiver::new(stream);
    let handle = signals.handle();
    let mut code = None;
    while let Some((word, _)) = receiver.next::<Word>()? {
        match word {
            Word::Program(pid) => {
                let mut signals =
                    std::mem::replace(&mut signals, signal_hook::iterator::Signals::new([SIGHUP])?);
                thread::spawn(move || {
                    for signal in signals.forever() {
                        pass_on(pid, signal);
                    }
                });
            }
            Word::Ended(ended) => {
                code = Some(ended);
                break;
            }
            Word::Streams => {}
        }
    }
    handle.close();
    code.ok_or_else(|| io::Error::other("the debugger is gone"))
}

fn pass_on(pid: u32, signal: i32) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    if let (Some(pid), Some(signal)) = (pid, Signal::from_named_raw(signal)) {
        let _ = kill_process(pid, signal);
    }
}
