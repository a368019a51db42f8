//! Steps, runs to a place, the next statement.
//!
//! The walks go through whole programs; what they visit is what a user of Visual Studio would see.

mod awaits;
mod combined;
mod control;
mod handlers;
mod items;
mod left_out;
mod next_statement;
mod options;
mod overflows;
mod own_awaiters;
mod programs;
mod resumed;
mod returning;
mod soak;
mod taken;
mod targets;
mod tiered;
pub(crate) mod walk;
mod walks;
mod yields;
