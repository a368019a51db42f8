//! A server over HTTP inside the test, on a socket: for tests that want it otherwise than it is shipped.

use std::sync::Arc;
use std::time::Duration;

use mcp::Registry;
use mcp::http::{Address, Bound, Door, Token};
use testkit::sandbox::Sandbox;
use tokio::runtime::Runtime;

use crate::client::host;
use crate::web::Place;

/// A server and the runtime it is served on.
pub(crate) struct Served {
    pub(crate) place: Place,
    pub(crate) token: String,
    registry: Arc<Registry>,
    runtime: Runtime,
}

impl Served {
    pub(crate) fn start(sandbox: &Sandbox, patience: Duration) -> Self {
        let path = sandbox.folder().join("in-process.sock");
        let token = Token::random().expect("random bytes");
        let door = Door {
            address: Address::Socket(path.clone()),
            token: token.clone(),
            hosts: Vec::new(),
            origins: Vec::new(),
            patience,
        };
        let bound = Bound::new(door).expect("a free socket");
        let registry = Registry::new(host(sandbox));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.spawn(bound.serve_forever(registry.clone()));
        Self {
            place: Place::Socket(path),
            token: token.reveal().to_owned(),
            registry,
            runtime,
        }
    }

    /// Ends it with all its sessions.
    pub(crate) fn end(self) {
        self.registry.close();
        self.runtime.shutdown_timeout(testkit::PATIENCE);
    }
}
