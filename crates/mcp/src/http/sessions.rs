//! The MCP sessions of clients that speak a version with sessions (before 2026-07-28).
//!
//! They hold nothing but a connection's life: debug sessions belong to the server and are shared by all of its clients.
//!
//! Invariant: there are at most [`MOST`]; a new one takes the place of the one that was used longest ago.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};

/// MCP sessions at once.
pub(super) const MOST: usize = 64;

/// How long an answer is kept for a client that lost its connection while it was told.
const KEPT_ANSWERS: Duration = Duration::from_secs(5);

/// The sessions, and when each was used.
#[derive(Debug)]
pub(super) struct Sessions {
    local: LocalSessionManager,
    used: Mutex<HashMap<SessionId, Instant>>,
}

impl Sessions {
    pub(super) fn new() -> Arc<Self> {
        let mut local = LocalSessionManager::default();
        // An agent may think for hours; what bounds the sessions is their number.
        local.session_config.keep_alive = None;
        local.session_config.completed_cache_ttl = KEPT_ANSWERS;
        Arc::new(Self {
            local,
            used: Mutex::default(),
        })
    }

    fn used(&self) -> MutexGuard<'_, HashMap<SessionId, Instant>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session to end before another one begins, if there are too many.
    fn too_old(&self) -> Option<SessionId> {
        let mut used = self.used();
        if used.len() < MOST {
            return None;
        }
        let (oldest, _) = used.iter().min_by_key(|(_, at)| **at)?;
        let oldest = oldest.clone();
        used.remove(&oldest);
        Some(oldest)
    }
}

impl SessionManager for Sessions {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        while let Some(id) = self.too_old() {
            tracing::info!("the oldest of {MOST} MCP sessions makes way for a new one");
            self.local.close_session(&id).await?;
        }
        let (id, transport) = self.local.create_session().await?;
        self.used().insert(id.clone(), Instant::now());
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.local.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        if let Some(at) = self.used().get_mut(id) {
            *at = Instant::now();
        }
        self.local.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.used().remove(id);
        self.local.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.local.create_stream(id, message).await
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        self.local.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.local.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.local.resume(id, last_event_id).await
    }
}
