//! One debugged program: its states, stops, breakpoints, stacks, values; an API of plain data.
#![forbid(unsafe_code)]

pub mod api;
