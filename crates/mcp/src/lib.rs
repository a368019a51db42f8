//! The MCP server: debugger tools over a registry of sessions.
//!
//! A client's call goes from [`Server`] through the tool table to a session of the [`Registry`], which talks to that
//! session's host process; what comes back is a [`report`], told as text and as structured data.
//!
//! Only `server`, `stdio`, `framing` and `http` know rmcp, so that a new version of it is a change of few files. This crate knows
//! no COM and no DAP, and sees the engine through `host` only.
#![forbid(unsafe_code)]

mod ahead;
mod archive;
mod arguments;
mod completion;
mod ending;
mod failure;
mod framing;
pub mod http;
mod idle;
mod news;
mod policy;
mod program;
mod prompts;
mod reference;
mod registry;
mod reporting;
mod resources;
mod schema;
mod server;
mod session;
mod stdio;
mod tools;

pub use ::report;
pub use ending::Ended;
pub use framing::Lines;
pub use policy::{AllowAttach, Policy, Roots};
pub use reference::reference;
pub use registry::{Closing, Registry};
pub use server::{INSTRUCTIONS, Server};
pub use stdio::serve_stdio;
