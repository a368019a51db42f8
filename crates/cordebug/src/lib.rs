//! Finds the CLR, does the start-up handshake and wraps ICorDebug; the only crate with unsafe code.

pub mod bindings;
pub mod com;
pub mod hresult;
