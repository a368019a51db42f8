//! The server over HTTP: MCP's streamable HTTP on a loopback port or a socket of this user.
//!
//! Several clients are served at once and share the debug sessions, which belong to the server: they outlive the client
//! that began them, and a call says which one it means with `session`. Whoever has the token has all of them.
//!
//! The protocol is rmcp's: JSON answers or, where progress is told, an event stream; `Mcp-Session-Id` for versions
//! that have sessions. What is ours is who gets in (`gate`, `token`), what a client may cost (`answering`,
//! `sessions`) and the end: a signal answers whoever waits, removes the socket, ends what was launched and lets go of
//! what was attached.

mod answering;
mod gate;
mod guests;
mod listener;
mod sessions;
mod token;

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use host::HostProgram;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Semaphore, watch};

use self::answering::Answering;
use self::gate::Gate;
use self::guests::Guests;
use self::listener::Listener;
use crate::ending::{self, Ended, LAST_ANSWERS, LAST_THREADS, Signals};
use crate::policy::Policy;
use crate::registry::{Closing, Registry};

pub use self::listener::Address;
pub use self::token::{TOKEN_VARIABLE, Token};

/// Connections at once; more wait until one ends, or until one goes that nobody was let in on.
const CONNECTIONS: usize = 256;
/// Bytes of a request's head.
const HEAD: usize = 32 << 10;
/// How long connections may take to close when everything is answered.
const LAST_CONNECTIONS: Duration = Duration::from_millis(200);
/// How long to wait before connections are taken again after the system ran out of something.
const EXHAUSTED: Duration = Duration::from_millis(100);

/// What the door is like.
#[derive(Debug, Clone)]
pub struct Door {
    /// Where it is.
    pub address: Address,
    /// What opens it.
    pub token: Token,
    /// Names of this machine that clients may use besides its addresses.
    pub hosts: Vec<String>,
    /// Origins of web pages that may come.
    pub origins: Vec<String>,
    /// How long a client may take to send the head of a request, and then its body.
    pub patience: Duration,
}

/// What a client on a slow line needs for the largest message.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// A server that can be connected to, but does not answer yet.
#[derive(Debug)]
pub struct Bound {
    listener: Listener,
    gate: Gate,
    patience: Duration,
}

impl Bound {
    /// Opens the door. Whoever asks for an address that other machines reach must mean it: that is checked before.
    pub fn new(door: Door) -> io::Result<Self> {
        let gate = Gate {
            token: door.token,
            remote: door.address.is_remote(),
            hosts: door.hosts,
            origins: door.origins,
        };
        Ok(Self {
            listener: Listener::bind(&door.address)?,
            gate,
            patience: door.patience,
        })
    }

    /// What clients connect to.
    pub fn url(&self) -> io::Result<String> {
        self.listener.url()
    }

    /// Serves until a signal ends it and every session has ended.
    pub fn serve(self, host: HostProgram, policy: Policy) -> io::Result<Ended> {
        let runtime = ending::runtime()?;
        let registry = Registry::with_policy(host, policy);
        let ended = runtime.block_on(self.serve_clients(registry.clone()));
        registry.close();
        runtime.shutdown_timeout(LAST_THREADS);
        ended
    }

    /// Serves clients for ever: for a process that ends the server in its own way.
    pub async fn serve_forever(self, registry: Arc<Registry>) -> io::Result<Infallible> {
        let answering = Answering::new(self.gate, self.patience, registry);
        Clients::new(answering, self.patience)
            .take_all(self.listener)
            .await
    }

    async fn serve_clients(self, registry: Arc<Registry>) -> io::Result<Ended> {
        let mut signals = Signals::take()?;
        let answering = Answering::new(self.gate, self.patience, registry.clone());
        let clients = Clients::new(answering.clone(), self.patience);
        let (number, name) = tokio::select! {
            signal = signals.next() => signal,
            failed = clients.take_all(self.listener) => return failed.map(|never| match never {}),
        };
        registry.start_closing(Closing::Signal(name));
        clients.closing.send_replace(());
        // Whoever waits is told. A client that does not read must not hold us up.
        if tokio::time::timeout(LAST_ANSWERS, answering.idle())
            .await
            .is_err()
        {
            tracing::warn!("a call could not be answered before the end");
        }
        answering.close();
        let _ = tokio::time::timeout(LAST_CONNECTIONS, clients.gone()).await;
        Ok(Ended::BySignal(number))
    }
}

/// The connections.
struct Clients {
    answering: Answering,
    patience: Duration,
    places: Arc<Semaphore>,
    guests: Guests,
    closing: watch::Sender<()>,
}

impl Clients {
    fn new(answering: Answering, patience: Duration) -> Self {
        Self {
            answering,
            patience,
            places: Arc::new(Semaphore::new(CONNECTIONS)),
            guests: Guests::default(),
            closing: watch::Sender::new(()),
        }
    }

    /// Takes connections for ever. The socket's file goes with this future.
    async fn take_all(&self, listener: Listener) -> io::Result<Infallible> {
        match listener {
            Listener::Port(listener) => {
                let listener = tokio::net::TcpListener::from_std(listener)?;
                loop {
                    self.take(async || {
                        let (stream, _) = listener.accept().await?;
                        stream.set_nodelay(true)?;
                        Ok(stream)
                    })
                    .await;
                }
            }
            Listener::Socket(listener, _file) => {
                let listener = tokio::net::UnixListener::from_std(listener)?;
                loop {
                    self.take(async || listener.accept().await.map(|(stream, _)| stream))
                        .await;
                }
            }
        }
    }

    /// Takes one connection and serves it beside us.
    async fn take<S>(&self, accept: impl AsyncFnOnce() -> io::Result<S>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let stream = match accept().await {
            Ok(stream) => stream,
            Err(error) => {
                // Out of descriptors, or a client that was gone before it was taken.
                tracing::warn!(%error, "a connection cannot be taken");
                return tokio::time::sleep(EXHAUSTED).await;
            }
        };
        if self.places.available_permits() == 0 {
            self.guests.send_one_away();
        }
        // Nothing closes the semaphore.
        let Ok(place) = self.places.clone().acquire_owned().await else {
            return;
        };
        let guest = Arc::new(self.guests.welcome());
        let (answering, patience) = (self.answering.clone(), self.patience);
        let mut closing = self.closing.subscribe();
        tokio::spawn(async move {
            let _place = place;
            let asking = guest.clone();
            let service =
                service_fn(move |request| answering.clone().answer(request, asking.clone()));
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(patience)
                .max_buf_size(HEAD)
                .serve_connection(TokioIo::new(stream), service);
            let mut connection = std::pin::pin!(connection);
            let served = tokio::select! {
                served = &mut connection => served,
                () = guest.sent_away() => {
                    tracing::debug!("a connection made room for another");
                    return;
                }
                // The sender lives until the runtime ends.
                _ = closing.changed() => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(error) = served {
                tracing::debug!(%error, "a connection ended");
            }
        });
    }

    /// Waits until every connection is closed.
    async fn gone(&self) {
        let all = u32::try_from(CONNECTIONS).unwrap_or(u32::MAX);
        // Nothing closes the semaphore.
        let _ = self.places.acquire_many(all).await;
    }
}
