//! The numbers that name things: tokens, IL offsets, heap handles.

use std::fmt;

use crate::tables::Table;

/// A metadata token: a table in the top byte, a 1-based row below it. Row 0 means "none".
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Token(pub u32);

impl Token {
    /// The token of a row.
    #[must_use]
    pub const fn new(table: Table, row: u32) -> Self {
        Self(((table as u32) << 24) | (row & 0x00ff_ffff))
    }

    /// The table, unless the top byte names none (tokens of user strings, 0x70, do not).
    #[must_use]
    pub const fn table(self) -> Option<Table> {
        Table::from_id((self.0 >> 24) as u8)
    }

    /// The 1-based row; 0 for a nil token.
    #[must_use]
    pub const fn row(self) -> u32 {
        self.0 & 0x00ff_ffff
    }

    /// Whether the token names nothing.
    #[must_use]
    pub const fn is_nil(self) -> bool {
        self.row() == 0
    }

    /// Whether the token names a row of `table`.
    #[must_use]
    pub fn is(self, table: Table) -> bool {
        self.0 >> 24 == table as u32 && !self.is_nil()
    }

    /// The token, or `None` if it is nil.
    #[must_use]
    pub fn non_nil(self) -> Option<Self> {
        (!self.is_nil()).then_some(self)
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({:08x})", self.0)
    }
}

/// An offset in a method's IL code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct IlOffset(pub u32);

impl fmt::Display for IlOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IL_{:04x}", self.0)
    }
}

/// An offset into the `#Strings` heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct StringHandle(pub u32);

/// An offset into the `#Blob` heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct BlobHandle(pub u32);

/// A 1-based index into the `#GUID` heap; 0 means "none".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct GuidHandle(pub u32);
