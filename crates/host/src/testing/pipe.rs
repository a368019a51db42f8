//! Listens to a program of Microsoft.Testing.Platform: it connects to a socket of ours and tells each result as it comes.
//!
//! Every message is answered at once, on a thread of its connection, because the program waits for the answer. Dropping a
//! [`Listener`] ends its threads.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use engine::api::TestResults;

use super::wire;

/// The largest message that is read.
const MAX_MESSAGE: u32 = 64 << 20;
/// Processes that may connect: a program, and one that it starts again to run the tests.
const MAX_CONNECTIONS: usize = 8;

/// Takes results in until it is dropped.
#[derive(Debug)]
pub(super) struct Listener {
    path: PathBuf,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    results: Mutex<TestResults>,
    connections: Mutex<Connections>,
}

#[derive(Debug, Default)]
struct Connections {
    open: Vec<UnixStream>,
    closing: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Listener {
    /// Listens at this path.
    pub(super) fn open(path: PathBuf) -> io::Result<Self> {
        let socket = UnixListener::bind(&path)?;
        let shared = Arc::new(Shared::default());
        let ours = shared.clone();
        thread::Builder::new()
            .name("test results".into())
            .spawn(move || accept(&socket, &ours))?;
        Ok(Self { path, shared })
    }

    /// Where it listens.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What was told so far.
    pub(super) fn results(&self) -> TestResults {
        lock(&self.shared.results).clone()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut connections = lock(&self.shared.connections);
        connections.closing = true;
        for stream in connections.open.drain(..) {
            // It may be closed already.
            let _ = stream.shutdown(Shutdown::Both);
        }
        drop(connections);
        // Wakes the thread that accepts.
        let _ = UnixStream::connect(&self.path);
    }
}

fn accept(socket: &UnixListener, shared: &Arc<Shared>) {
    for stream in socket.incoming() {
        let Ok(stream) = stream else { return };
        {
            let mut connections = lock(&shared.connections);
            if connections.closing {
                return;
            }
            let Ok(known) = stream.try_clone() else {
                continue;
            };
            if connections.open.len() >= MAX_CONNECTIONS {
                continue;
            }
            connections.open.push(known);
        }
        let shared = shared.clone();
        let talk = move || {
            if let Err(error) = converse(stream, &shared.results) {
                tracing::debug!(%error, "a test program's connection ended");
            }
        };
        if let Err(error) = thread::Builder::new()
            .name("test results".into())
            .spawn(talk)
        {
            tracing::warn!(%error, "no thread for test results");
        }
    }
}

fn converse(mut stream: UnixStream, results: &Mutex<TestResults>) -> io::Result<()> {
    let mut message = Vec::new();
    loop {
        let mut length = [0; 4];
        stream.read_exact(&mut length)?;
        let length = u32::from_le_bytes(length);
        if length > MAX_MESSAGE {
            return Err(io::Error::other("a message is too long"));
        }
        message.clear();
        // Grows with what really comes, not with what is promised.
        let read = (&mut stream)
            .take(length.into())
            .read_to_end(&mut message)?;
        if read < length as usize {
            return Ok(());
        }
        let answer = wire::answer(&message, &mut lock(results));
        let size = u32::try_from(answer.len()).unwrap_or(0);
        stream.write_all(&[&size.to_le_bytes(), answer.as_slice()].concat())?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_answered_until_it_is_dropped() {
        let folder = tempfile::tempdir().expect("a folder");
        let listener = Listener::open(folder.path().join("socket")).expect("a socket");
        let mut client = UnixStream::connect(listener.path()).expect("connected");
        client
            .write_all(&[8, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0])
            .expect("written");
        let mut answer = [1; 8];
        client.read_exact(&mut answer).expect("an answer");
        assert_eq!(answer, [4, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(listener.results(), TestResults::default());
        drop(listener);
        assert_eq!(client.read(&mut answer).expect("the end"), 0);
    }
}
