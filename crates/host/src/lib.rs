//! Runs an engine in a process of its own and gives front ends a [`Session`] handle to it.
//!
//! One host process per debuggee: a crash in the runtime's libraries costs one session and never the front end, and a
//! host outlives a front end that is killed, so that a program is never left frozen or behind. The two talk over a
//! socketpair in plain messages (module `wire`).
//!
//! This crate knows no MCP and no DAP; it is all that those need to know of the engine.
#![forbid(unsafe_code)]

mod outbox;
pub mod project;
mod serve;
mod session;
mod spare;
pub mod terminal;
pub mod testing;
mod wire;

pub use engine::program::{locate_dotnet, source_is_changed, sources_named};
pub use engine::{api, doctor, processes};
pub use serve::serve;
pub use session::{HostProgram, LeftBehind, Pending, Session, Settled, why_lost};
pub use spare::{Place, SpareHost};

/// Gives back the memory of code that only the start has needed, once and beside this thread: for the first stop.
pub fn release_startup_code() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let thread = std::thread::Builder::new().name("release".into());
        if let Err(error) = thread.spawn(engine::release_startup_code) {
            tracing::debug!(%error, "the code of the start stays in memory");
        }
    });
}

/// A front end's secret. It is kept from every process that is started: a debugged program could use it.
pub const TOKEN_VARIABLE: &str = "NDBG_MCP_TOKEN";
