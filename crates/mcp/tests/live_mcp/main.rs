//! Live tests of the MCP server: real C# programs on a real runtime, under the `ndbg host` that ships.
//!
//! Most talk to a server in this process through rmcp's own client; `binary` talks to `ndbg mcp` byte by byte.
//! Transcripts are snapshots after pids, paths and versions are replaced. Each test makes a sandbox first, which
//! asserts at its end that no process, semaphore, pipe or socket is left.

mod asked_again;
mod binary;
mod breakpoints;
mod client;
mod clients;
mod console;
mod conversations;
mod crowd;
mod exceptions;
mod following;
mod http;
mod in_process;
mod keeping;
mod locks;
mod looking;
mod meant;
mod one_value;
mod opened;
mod opening;
mod packages;
mod places;
mod policies;
mod projects;
mod protocol;
mod readme;
mod refusals;
mod restarts;
mod secrets;
mod stdio;
mod stepping;
mod symbols;
mod told;
mod told_values;
mod values;
mod waits;
mod web;
