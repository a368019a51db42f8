//! Positions in the expression text.
//!
//! Every node of the tree carries a [`Span`]; offsets are UTF-8 byte offsets into the text that was
//! given to the parser, always on character boundaries.

use std::fmt;
use std::ops::Range;

/// A half-open range of byte offsets, `start..end`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// The range `start..end`.
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// The empty range at `offset`.
    pub const fn empty(offset: u32) -> Self {
        Self::new(offset, offset)
    }

    /// The smallest range that holds both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self::new(self.start.min(other.start), self.end.max(other.end))
    }

    /// The number of bytes.
    pub const fn len(self) -> u32 {
        self.end.saturating_sub(self.start)
    }

    /// Whether no byte is covered.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The covered part of `text`, empty if the span does not fit it.
    pub fn of(self, text: &str) -> &str {
        text.get(Range::from(self)).unwrap_or("")
    }
}

impl From<Span> for Range<usize> {
    fn from(span: Span) -> Self {
        span.start as usize..span.end as usize
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}
