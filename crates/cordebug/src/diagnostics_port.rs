//! The diagnostics port: every .NET runtime below a launched program reports to us before it runs any code.
//!
//! `DOTNET_DiagnosticPorts=<socket>,connect,suspend` is inherited by children. Each runtime (.NET 5 and later) connects
//! at its start, says who it is and waits. We decide at once: one that is to be debugged meets its handshake
//! semaphores first, every other one is resumed as it is. A runtime connects again after its first connection was
//! used; such a second connection is only held.
//!
//! Invariant: nothing is ever left suspended. Every connection is answered as soon as its message is complete, one
//! that says nothing sensible is closed, and dropping the [`Closer`] resumes whatever waits. The socket's path is
//! fresh for each port, so that a runtime of an earlier session cannot find it.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, JoinHandle};

use rustix::event::{PollFd, PollFlags, Timespec};

/// What a runtime says first: a magic, a cookie, its process id, two reserved bytes.
const ADVERTISEMENT: usize = 34;
const MAGIC: &[u8] = b"ADVR_V1\0";
/// The command "resume": magic, size, command set "process", command id, reserved.
const RESUME: &[u8; 20] = b"DOTNET_IPC_V1\0\x14\x00\x04\x01\x00\x00";
/// Connections held at once; a program that starts more runtimes than this at a time waits for the first to end.
const MAX_CONNECTIONS: usize = 512;

/// The name of the socket in the folder of a port.
pub const SOCKET: &str = "port";
/// The variable that tells runtimes where to report.
const VARIABLE: &str = "DOTNET_DiagnosticPorts";

/// The process that has made the folder of a port, by the folder's name: its id and its start time.
pub fn owner_of_folder(name: &str) -> Option<(u32, u64)> {
    let mut numbers = name.strip_prefix("ndbg-")?.split('-');
    let pid = numbers.next()?.parse().ok()?;
    let start_time = numbers.next()?.parse().ok()?;
    let _number: u32 = numbers.next()?.parse().ok()?;
    numbers.next().is_none().then_some((pid, start_time))
}

/// The process whose port the runtimes of a process would report to, by what is in its environment.
pub fn owner_of_port(pid: u32) -> Option<(u32, u64)> {
    let value = crate::procfs::environment_variable(pid, VARIABLE).ok()??;
    // Of the folders above ours only the last matters, so they may have any name.
    let path = value.to_string_lossy();
    let folder = Path::new(path.split(',').next()?).parent()?.file_name()?;
    owner_of_folder(folder.to_str()?)
}

/// A socket on which runtimes report.
#[derive(Debug)]
pub struct DiagnosticsPort {
    listener: UnixListener,
    folder: PathBuf,
    stop: (io::PipeReader, Option<io::PipeWriter>),
}

/// Ends a port that is being served when it is dropped: everything that waits is resumed, the socket is removed.
#[derive(Debug)]
pub struct Closer {
    stop: Option<io::PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Closer {
    fn drop(&mut self) {
        self.stop = None;
        // The process may end right after this: nothing of the port must be left by then.
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the diagnostics port panicked");
        }
    }
}

impl DiagnosticsPort {
    /// Opens a port in a new folder that only this user can enter.
    pub fn open() -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let start = crate::procfs::stat(std::process::id())?.start_time;
        // Pid and start time name this process for ever, so the path is never used again. Runtimes look for it from other
        // folders.
        let name = format!("ndbg-{}-{start}-{number}", std::process::id());
        let folder = std::path::absolute(std::env::temp_dir().join(name))?;
        std::fs::DirBuilder::new().mode(0o700).create(&folder)?;
        let listener = UnixListener::bind(folder.join(SOCKET)).inspect_err(|_| {
            let _ = std::fs::remove_dir_all(&folder);
        })?;
        listener.set_nonblocking(true)?;
        let (reader, writer) = io::pipe()?;
        Ok(Self {
            listener,
            folder,
            stop: (reader, Some(writer)),
        })
    }

    /// The variable that makes runtimes report here.
    pub fn environment(&self) -> (&'static str, OsString) {
        let mut value = self.folder.join(SOCKET).into_os_string();
        value.push(",connect,suspend");
        (VARIABLE, value)
    }

    /// Serves the port on a thread of its own. `arrived` is called for each new runtime, by process id, while it is
    /// suspended; the runtime is resumed when it returns, so it must not wait.
    pub fn serve(mut self, arrived: impl FnMut(u32) + Send + 'static) -> io::Result<Closer> {
        let stop = self.stop.1.take();
        let thread = thread::Builder::new()
            .name("diagnostics port".into())
            .spawn(move || self.run(arrived))?;
        Ok(Closer {
            stop,
            thread: Some(thread),
        })
    }

    fn run(self, mut arrived: impl FnMut(u32)) {
        let mut connections: Vec<Connection> = Vec::new();
        let mut known = HashSet::new();
        loop {
            let stopping = match self.wait(&connections) {
                Ok(stopping) => stopping,
                Err(error) => {
                    tracing::warn!(%error, "the diagnostics port fails");
                    true
                }
            };
            while connections.len() < MAX_CONNECTIONS {
                let Ok((stream, _)) = self.listener.accept() else {
                    break;
                };
                if stream.set_nonblocking(true).is_ok() {
                    connections.push(Connection {
                        stream,
                        received: Vec::new(),
                        used: false,
                    });
                }
            }
            connections.retain_mut(|connection| connection.advance(&mut known, &mut arrived));
            if stopping {
                break;
            }
        }
        // The socket is gone before anybody can learn that the service has ended.
        drop(self);
    }

    /// Waits until something happens; whether it is the end.
    fn wait(&self, connections: &[Connection]) -> io::Result<bool> {
        let mut polled = vec![
            PollFd::new(&self.stop.0, PollFlags::IN),
            PollFd::new(&self.listener, PollFlags::IN),
        ];
        polled.extend(
            connections
                .iter()
                .map(|connection| PollFd::new(&connection.stream, PollFlags::IN)),
        );
        // Full: leave the listener's queue alone until a connection ends.
        if connections.len() >= MAX_CONNECTIONS {
            polled.remove(1);
        }
        let limit = Timespec {
            tv_sec: 60,
            tv_nsec: 0,
        };
        match rustix::event::poll(&mut polled, Some(&limit)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(polled
            .first()
            .is_some_and(|stop| !stop.revents().is_empty()))
    }
}

impl Drop for DiagnosticsPort {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[derive(Debug)]
struct Connection {
    stream: UnixStream,
    received: Vec<u8>,
    /// Its command was sent; what comes now is the answer, or the end.
    used: bool,
}

impl Connection {
    /// Reads what is there and acts on a complete message; whether to keep the connection.
    fn advance(&mut self, known: &mut HashSet<[u8; 16]>, arrived: &mut impl FnMut(u32)) -> bool {
        let mut chunk = [0; 256];
        loop {
            match self.stream.read(&mut chunk) {
                Ok(0) => return false,
                // Answers to our command are of no interest.
                Ok(_) if self.used => {}
                Ok(n) => {
                    self.received
                        .extend_from_slice(chunk.get(..n).unwrap_or_default());
                    if self.received.len() > ADVERTISEMENT {
                        return false;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
        if self.used || self.received.len() < ADVERTISEMENT {
            return true;
        }
        let Some((pid, cookie)) = parse(&self.received) else {
            tracing::warn!("a stranger connected to the diagnostics port");
            return false;
        };
        self.used = true;
        // A second connection of the same runtime: it runs already, and would connect again if we closed this one.
        if !known.insert(cookie) {
            return true;
        }
        arrived(pid);
        self.stream.write_all(RESUME).is_ok()
    }
}

/// Process id and cookie of an advertisement.
fn parse(bytes: &[u8]) -> Option<(u32, [u8; 16])> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (cookie, rest) = rest.split_first_chunk::<16>()?;
    let (pid, _) = rest.split_first_chunk::<8>()?;
    Some((u32::try_from(u64::from_le_bytes(*pid)).ok()?, *cookie))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    fn advertise(path: &Path, cookie: u8, pid: u64) -> UnixStream {
        let mut stream = UnixStream::connect(path).expect("the port is open");
        let mut message = MAGIC.to_vec();
        message.extend([cookie; 16]);
        message.extend(pid.to_le_bytes());
        message.extend([0, 0]);
        stream.write_all(&message).expect("written");
        stream
            .set_read_timeout(Some(Duration::from_secs(10)))
            .expect("settable");
        stream
    }

    #[test]
    fn only_folders_of_ports_have_an_owner() {
        assert_eq!(owner_of_folder("ndbg-12-345-0"), Some((12, 345)));
        let others = [
            "ndbg-12-345",
            "ndbg-12-345-0-1",
            "ndbg-12-345-x",
            "ndbg-terminal-12-0",
            "ndbg-tests-12-345-0",
            "x-12-345-0",
        ];
        for name in others {
            assert_eq!(owner_of_folder(name), None, "{name}");
        }
    }

    #[test]
    fn runtimes_are_resumed_once_and_strangers_are_sent_away() {
        let port = DiagnosticsPort::open().expect("a port");
        let folder = port.folder.clone();
        let path = folder.join("port");
        let (sender, receiver) = mpsc::channel();
        let closer = port
            .serve(move |pid| {
                let _ = sender.send(pid);
            })
            .expect("served");
        // A silent one and a stranger do not hold up the others.
        let _silent = UnixStream::connect(&path).expect("the port is open");
        let mut stranger = UnixStream::connect(&path).expect("the port is open");
        stranger.write_all(&[b'x'; ADVERTISEMENT]).expect("written");
        let mut first = advertise(&path, 1, 4711);
        let mut answer = [0; 20];
        first.read_exact(&mut answer).expect("resumed");
        assert_eq!(&answer, RESUME);
        assert_eq!(receiver.recv(), Ok(4711));
        assert_eq!(stranger.read(&mut answer).expect("closed"), 0);
        // The same runtime again is only held.
        let _again = advertise(&path, 1, 4711);
        let mut other = advertise(&path, 2, 4712);
        other.read_exact(&mut answer).expect("resumed");
        assert_eq!(receiver.recv(), Ok(4712));
        // One that arrives with the end is resumed all the same.
        let mut last = advertise(&path, 3, 4713);
        drop(closer);
        last.read_exact(&mut answer).expect("resumed");
        assert_eq!(receiver.recv(), Ok(4713));
        assert!(receiver.recv().is_err(), "the thread has ended");
        assert!(!folder.exists());
    }
}
