//! The editor's door: a Debug Adapter Protocol server over sessions of the host.
//!
//! One connection debugs one program. A thread reads the client's messages; everything else happens on one thread that
//! drains one channel of messages, session events and finished work, so requests are answered in order. What can take
//! long (a build, a launch, an evaluation) runs beside it: then `pause`, `cancel`, `disconnect` and `terminate` are
//! served at once and all other requests wait their turn.
//!
//! This crate knows no COM and no MCP; all it knows of the program comes through [`host::Session`].
#![forbid(unsafe_code)]

mod adapter;
mod breakpoints;
mod capabilities;
mod client;
mod evaluating;
mod events;
pub mod framing;
mod inventory;
mod leaving;
mod memory;
pub mod message;
mod naming;
mod relaxed;
mod running;
mod salvage;
mod settings;
mod sources;
mod stacks;
mod starting;
pub mod types;
mod values;
mod variables;

pub use adapter::{Ending, serve, turn_away};
