//! Finds the CLR, does the start-up handshake and wraps ICorDebug; the only crate with unsafe code.
//!
//! Layers, from the system upwards: [`procfs`] (what `/proc` tells), [`spawn`] (a child that waits for us),
//! [`handshake`] (a runtime that waits for us), [`runtime`] (the runtime in a process and its debugger library),
//! [`bindings`] and [`com`] (ICorDebug as the IDL declares it), and the safe wrappers: [`process`], [`thread`],
//! [`module`], [`types`], [`value`], [`variables`], [`heap`], [`eval`], [`callback`]. [`fast_memory`] makes the library
//! quick, `borrowed_memory` keeps it alive. [`suspension`] mends a thread that gave up an evaluation.
//!
//! Invariant: every interface pointer lives on one thread, because no wrapper is `Send`; the one hand-over is
//! [`callback::Delivered`].

pub mod bindings;
mod borrowed_memory;
pub mod c_math;
pub mod callback;
pub mod com;
mod crash;
pub mod diagnostics_port;
pub mod emitted;
pub mod error;
pub mod eval;
pub mod fast_memory;
pub mod file;
pub mod handle;
pub mod handshake;
pub mod heap;
pub mod homes;
pub mod hresult;
pub mod locks;
pub mod module;
pub mod pidfd;
pub mod process;
pub mod procfs;
pub mod runtime;
pub mod spawn;
pub mod startup_code;
pub mod stepper;
pub mod suspension;
mod symbol_stream;
pub mod thread;
pub mod transport;
pub mod types;
pub mod value;
pub mod variables;

pub use error::Error;
