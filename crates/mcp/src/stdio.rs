//! The server on standard input and output: from the first byte to the last session's end.
//!
//! Standard output carries protocol bytes only. The end of the input or a signal ends the server: whatever waits gives
//! up at once, launched programs are ended and attached ones let go, then the process may exit.

use std::io;
use std::sync::Arc;

use host::HostProgram;
use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;

use crate::ending::{self, Ended, LAST_ANSWERS, LAST_THREADS, Signals};
use crate::framing::Lines;
use crate::policy::Policy;
use crate::registry::{Closing, Registry};
use crate::server::Server;

/// Serves one client on standard input and output, until it is gone and every session has ended.
pub fn serve_stdio(host: HostProgram, policy: Policy) -> io::Result<Ended> {
    let runtime = ending::runtime()?;
    let registry = Registry::with_policy(host, policy);
    let ended = runtime.block_on(serve(registry.clone()));
    registry.close();
    // Reads of standard input and starts that were given up may block for ever.
    runtime.shutdown_timeout(LAST_THREADS);
    ended
}

async fn serve(registry: Arc<Registry>) -> io::Result<Ended> {
    let mut signals = Signals::take()?;
    let mut connection = std::pin::pin!(connection(&registry));
    let (number, name) = tokio::select! {
        result = &mut connection => return result.map(|()| Ended::ByClient),
        signal = signals.next() => signal,
    };
    registry.start_closing(Closing::Signal(name));
    // Whoever waits is told. A client that does not read must not hold us up.
    if tokio::time::timeout(LAST_ANSWERS, connection)
        .await
        .is_err()
    {
        tracing::warn!("a call could not be answered before the end");
    }
    Ok(Ended::BySignal(number))
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
