//! Live tests of `ndbg dap`: the real binary, driven as an editor does, on real C# programs and a real runtime.
//!
//! Each test makes a sandbox first, which asserts at its end that no process, semaphore, pipe or socket is left.

mod chains;
mod client;
mod connections;
mod corners;
mod desk;
mod evaluating;
mod keeping;
mod launching;
mod looking;
mod orders;
mod sources;
mod targets;
mod transcripts;
