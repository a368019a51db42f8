//! One debugged program: its states, stops, breakpoints, stacks, values; an API of plain data.
//!
//! [`run`] is the engine: a loop that owns every COM object and drains one channel of [`Input`]s. Everything that can
//! wake it is a variant of that enum. It knows no protocol, no sockets and no JSON; see [`api`] for what it is asked
//! and what it tells.
#![forbid(unsafe_code)]

pub mod api;
mod arriving;
mod beginners;
mod breakpoints;
mod callbacks;
mod calls;
mod contract;
pub mod doctor;
mod elf;
mod ending;
mod engine;
mod exceptions;
mod expressions;
mod fields;
mod following;
mod inventory;
mod launching;
mod leaving;
mod modules;
mod names;
mod output;
mod passing;
pub mod processes;
pub mod program;
mod source_files;
mod stack;
mod stepping;
mod stragglers;
mod symbols;
mod target;
mod types;
mod values;

pub use cordebug::runtime::{end_process, share_one_heap};
pub use cordebug::startup_code::release_startup_code;
pub use engine::{Input, Output, run};
