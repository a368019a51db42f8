//! The server on standard input and output: from the first byte to the last session's end.
//!
//! Standard output carries protocol bytes only. The end of the input or a signal ends the server: whatever waits gives
//! up at once, launched programs are ended and attached ones let go, then the process may exit.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use host::HostProgram;
use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use tokio::signal::unix::{SignalKind, signal};

use crate::framing::Lines;
use crate::registry::{Closing, Registry};
use crate::server::Server;

/// Requests that may wait for hosts at the same time.
const BLOCKING_THREADS: usize = 16;
/// How long calls that were given up may take to be answered.
const LAST_ANSWERS: Duration = Duration::from_secs(1);
/// How long threads that are still busy may hold up the end.
const LAST_THREADS: Duration = Duration::from_millis(100);

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

/// Serves one client on standard input and output, until it is gone and every session has ended.
pub fn serve_stdio(host: HostProgram) -> io::Result<Ended> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(BLOCKING_THREADS)
        .thread_name("mcp")
        .enable_all()
        .build()?;
    let registry = Registry::new(host);
    let ended = runtime.block_on(serve(registry.clone()));
    registry.close();
    // Reads of standard input and starts that were given up may block for ever.
    runtime.shutdown_timeout(LAST_THREADS);
    ended
}

async fn serve(registry: Arc<Registry>) -> io::Result<Ended> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let mut connection = std::pin::pin!(connection(&registry));
    let (kind, name) = tokio::select! {
        result = &mut connection => return result.map(|()| Ended::ByClient),
        _ = terminate.recv() => (SignalKind::terminate(), "SIGTERM"),
        _ = interrupt.recv() => (SignalKind::interrupt(), "SIGINT"),
        _ = hangup.recv() => (SignalKind::hangup(), "SIGHUP"),
    };
    registry.start_closing(Closing::Signal(name));
    // Whoever waits is told. A client that does not read must not hold us up.
    if tokio::time::timeout(LAST_ANSWERS, connection)
        .await
        .is_err()
    {
        tracing::warn!("a call could not be answered before the end");
    }
    Ok(Ended::BySignal(kind.as_raw_value()))
}

async fn connection(registry: &Arc<Registry>) -> io::Result<()> {
    let (reader, writer) = rmcp::transport::stdio_pipes();
    let lines = Lines::new(reader, writer, registry.clone());
    let server = match Server::new(registry.clone()).serve(lines).await {
        Ok(server) => server,
        // A client that goes away before it has said anything is no failure.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(io::Error::other(error)),
    };
    server.waiting().await.map(|_| ()).map_err(io::Error::other)
}
