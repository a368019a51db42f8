//! Dev only: fixtures, launching, scripted clients, leak checks.
#![forbid(unsafe_code)]

pub mod fixtures;
