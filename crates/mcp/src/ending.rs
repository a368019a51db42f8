//! How a server ends, whichever door it serves: the signals that ask for it and what it is then allowed to take.

use std::io;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Requests that may wait for hosts at the same time.
const BLOCKING_THREADS: usize = 16;
/// How long calls that were given up may take to be answered.
pub(crate) const LAST_ANSWERS: Duration = Duration::from_secs(1);
/// How long threads that are still busy may hold up the end.
pub(crate) const LAST_THREADS: Duration = Duration::from_millis(100);

/// Why the server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The client closed the connection.
    ByClient,
    /// A signal with this number asked for it.
    BySignal(i32),
}

impl Ended {
    /// The exit code a shell expects: 0, or 128 + the signal.
    pub fn exit_code(self) -> u8 {
        match self {
            Ended::ByClient => 0,
            Ended::BySignal(number) => u8::try_from(128 + number).unwrap_or(u8::MAX),
        }
    }
}

/// The runtime of a server: one thread, which only passes on; what takes time runs on threads for that.
pub(crate) fn runtime() -> io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .max_blocking_threads(BLOCKING_THREADS)
        .thread_name("mcp")
        .enable_all()
        .build()
}

/// The signals that end a server, taken from its creation on.
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Signals {
    /// Starts to take signals.
    pub(crate) fn take() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// The next of them: its number and its name.
    pub(crate) async fn next(&mut self) -> (i32, &'static str) {
        let (kind, name) = tokio::select! {
            _ = self.terminate.recv() => (SignalKind::terminate(), "SIGTERM"),
            _ = self.interrupt.recv() => (SignalKind::interrupt(), "SIGINT"),
            _ = self.hangup.recv() => (SignalKind::hangup(), "SIGHUP"),
        };
        (kind.as_raw_value(), name)
    }
}
