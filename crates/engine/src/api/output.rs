//! Captured output of the program: bytes with positions, read in pages.

use serde::{Deserialize, Serialize};

/// One of the program's two output streams, or the messages of breakpoints in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// Messages of breakpoints that log and of `Debugger.Log`, in order with what the program wrote.
    Trace,
}

/// A position in the captured output of both streams: bytes since the program's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct OutputCursor(pub u64);

/// Which part of the captured output is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputQuery {
    /// Output from here on.
    pub from: OutputCursor,
    /// Only this stream.
    pub stream: Option<Stream>,
    /// At most about this many bytes.
    pub max_bytes: u32,
    /// Takes the newest `max_bytes` instead of the oldest after `from`.
    pub tail: bool,
}

/// A run of output of one stream, in the order it was read from the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputChunk {
    /// The stream.
    pub stream: Stream,
    /// The text; bytes that are not UTF-8 became U+FFFD.
    pub text: String,
}

/// A page of captured output.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct OutputPage {
    /// The output in order.
    pub chunks: Vec<OutputChunk>,
    /// Read on from here.
    pub next: OutputCursor,
    /// The end of the output so far; equal to `next` when all was read.
    pub end: OutputCursor,
    /// Bytes after `from` that are gone because newer output needed the room, or were passed over by `tail`.
    pub skipped: u64,
    /// How many of the skipped bytes are gone for good.
    #[serde(default)]
    pub lost: u64,
    /// Whether the output is not ours to read: the program was attached to, or has the front end's own streams.
    #[serde(default)]
    pub elsewhere: bool,
    /// Bytes in this page that were not UTF-8.
    pub invalid_bytes: u64,
    /// Whether both streams were closed by the program.
    pub closed: bool,
}
