//! Encodings: what is written by the specification's rules is read back, and what is hostile stays bounded.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod blobs;
mod builder;
mod hostile;
mod tables;
