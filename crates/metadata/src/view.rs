//! A view of one metadata blob: heaps and rows, read in place.

use std::borrow::Cow;
use std::ops::Range;

use crate::cursor::Cursor;
use crate::error::{Malformed, Result};
use crate::guid::Guid;
use crate::model::Utf16;
use crate::tables::{Coded, Key, Layout, Row, RowSet, Table};
use crate::token::{BlobHandle, GuidHandle, StringHandle, Token};

/// Compilers stop at 1,023 bytes (2,046 for locals); a heap without terminators must not make every name a long scan.
pub(crate) const MAX_NAME: usize = 8 * 1024;

/// Metadata of an assembly or of a portable PDB, borrowed from its bytes.
///
/// Copying it is free; everything it returns borrows from the bytes, not from the view.
#[derive(Debug, Clone, Copy)]
pub struct Metadata<'a> {
    bytes: &'a [u8],
    layout: &'a Layout,
}

impl<'a> Metadata<'a> {
    /// Views `bytes`, which must be those that `layout` was parsed from; other bytes give errors or nonsense, but no panic.
    #[must_use]
    pub const fn new(bytes: &'a [u8], layout: &'a Layout) -> Self {
        Self { bytes, layout }
    }

    /// The version string of the root, such as `v4.0.30319` or `PDB v1.0`.
    #[must_use]
    pub fn version(self) -> Cow<'a, str> {
        String::from_utf8_lossy(
            self.bytes
                .get(self.layout.version.clone())
                .unwrap_or_default(),
        )
    }

    /// The `#Pdb` stream, if there is one.
    pub(crate) fn pdb_stream(self) -> Option<&'a [u8]> {
        self.bytes.get(self.layout.pdb.clone()?)
    }

    fn heap(self, range: &Range<usize>, at: u32, what: &'static str) -> Result<&'a [u8]> {
        let heap = self.bytes.get(range.clone()).unwrap_or_default();
        heap.get(at as usize..)
            .ok_or(Malformed::new(what, at as usize))
    }

    /// The bytes of a name, without its terminator.
    pub fn string_bytes(self, handle: StringHandle) -> Result<&'a [u8]> {
        if handle.0 == 0 {
            return Ok(&[]);
        }
        let rest = self.heap(&self.layout.strings, handle.0, "string handle")?;
        let window = rest.get(..MAX_NAME).unwrap_or(rest);
        let len = window.iter().position(|&byte| byte == 0);
        let len = len.ok_or(Malformed::new("string", handle.0 as usize))?;
        Ok(window.get(..len).unwrap_or_default())
    }

    /// Whether a name is `start`, or goes on with an arity mark; its end is not looked for.
    pub(crate) fn string_starts(self, handle: StringHandle, start: &[u8]) -> bool {
        let rest = self
            .heap(&self.layout.strings, handle.0, "string handle")
            .unwrap_or_default();
        // Most differ in the first byte, which costs less than a comparison of slices.
        rest.first() == start.first()
            && rest.starts_with(start)
            && matches!(rest.get(start.len()), Some(0 | b'`'))
    }

    /// A name; invalid UTF-8, which obfuscators produce, is replaced by U+FFFD.
    pub fn string(self, handle: StringHandle) -> Result<Cow<'a, str>> {
        self.string_bytes(handle).map(String::from_utf8_lossy)
    }

    /// The content of a blob.
    pub fn blob(self, handle: BlobHandle) -> Result<&'a [u8]> {
        let (bytes, length) = self.blob_in_heap(handle)?;
        Ok(bytes.get(..length).unwrap_or(bytes))
    }

    /// A blob's first byte and all bytes of the heap behind it, and the blob's length, which is not above theirs.
    #[inline]
    pub(crate) fn blob_in_heap(self, handle: BlobHandle) -> Result<(&'a [u8], usize)> {
        if handle.0 == 0 {
            return Ok((&[], 0));
        }
        let rest = self.heap(&self.layout.blobs, handle.0, "blob handle")?;
        let bad = Malformed::new("blob", handle.0 as usize);
        let mut cursor = Cursor::new(rest, "blob");
        let length = cursor.compressed_u32().map_err(|_| bad)? as usize;
        let bytes = cursor.rest();
        if length <= bytes.len() {
            Ok((bytes, length))
        } else {
            Err(bad)
        }
    }

    /// A GUID, unless the handle is nil.
    pub fn guid(self, handle: GuidHandle) -> Result<Option<Guid>> {
        let Some(index) = handle.0.checked_sub(1) else {
            return Ok(None);
        };
        let bad = Malformed::new("GUID handle", handle.0 as usize);
        let rest = self.heap(
            &self.layout.guids,
            index.checked_mul(16).ok_or(bad)?,
            "GUID handle",
        )?;
        rest.first_chunk()
            .map(|&bytes| Some(Guid(bytes)))
            .ok_or(bad)
    }

    /// A string literal, by the lower 24 bits of its token.
    pub fn user_string(self, offset: u32) -> Result<Utf16<'a>> {
        let bad = Malformed::new("user string", offset as usize);
        let rest = self.heap(&self.layout.user_strings, offset, "user string handle")?;
        let mut cursor = Cursor::new(rest, "user string");
        let len = cursor.compressed_u32().map_err(|_| bad)?;
        // A last byte, outside the pairs, says whether any unit needs care.
        cursor.take(len as usize).map(Utf16::new).map_err(|_| bad)
    }

    /// The `#Blob` heap.
    pub(crate) fn blob_heap(self) -> &'a [u8] {
        self.bytes
            .get(self.layout.blobs.clone())
            .unwrap_or_default()
    }

    /// The rows of a table one behind another, their size, and which of their columns are wide.
    pub(crate) fn table_bytes(self, table: Table) -> (&'a [u8], usize, u16) {
        self.layout.rows(self.bytes, table)
    }

    /// The size of the `#Blob` heap, which bounds what blobs that are not shared can hold.
    pub(crate) fn blob_heap_size(self) -> usize {
        self.layout.blobs.len()
    }

    /// The size of the `#US` heap.
    #[must_use]
    pub fn user_string_heap_size(self) -> u32 {
        u32::try_from(self.layout.user_strings.len()).unwrap_or(u32::MAX)
    }

    /// The size in bytes of the entry of a string literal, without its length prefix.
    pub fn user_string_length(self, offset: u32) -> Result<u32> {
        let rest = self.heap(&self.layout.user_strings, offset, "user string handle")?;
        Cursor::new(rest, "user string").compressed_u32()
    }

    /// How many rows a table has.
    #[must_use]
    pub fn row_count(self, table: Table) -> u32 {
        self.layout.row_count(table)
    }

    /// How many bytes a row of a table takes.
    #[must_use]
    pub fn row_width(self, table: Table) -> usize {
        self.layout.row_width(table)
    }

    /// Tokens of all rows of a table.
    pub fn tokens(self, table: Table) -> impl ExactSizeIterator<Item = Token> + use<> {
        let n_rows = usize::try_from(self.row_count(table)).unwrap_or_default();
        (0..n_rows).map(move |index| Token::new(table, index as u32 + 1))
    }

    /// A row by its 1-based number.
    pub fn row<R: Row>(self, row: u32) -> Result<R> {
        let cells = self.layout.cells(self.bytes, R::TABLE, row);
        R::read(cells.ok_or(Malformed::new("row number", row as usize))?)
    }

    /// The row that a token names; the token must be of that table.
    pub fn row_of<R: Row>(self, token: Token) -> Result<R> {
        if token.is(R::TABLE) {
            self.row(token.row())
        } else {
            Err(Malformed::new("token", token.0 as usize))
        }
    }

    /// All rows of a table, with their numbers.
    pub fn rows<R: Row>(self) -> impl Iterator<Item = (u32, Result<R>)> + use<'a, R> {
        (1..=self.row_count(R::TABLE)).map(move |row| (row, self.row(row)))
    }

    /// The raw value of one cell.
    pub(crate) fn cell(self, table: Table, row: u32, column: usize) -> Option<u32> {
        self.layout.cell(self.bytes, table, row, column)
    }

    /// The raw values of one column, from the first row on.
    pub(crate) fn column(self, table: Table, column: usize) -> impl Iterator<Item = u32> + use<'a> {
        let (rows, row_size, _) = self.table_bytes(table);
        let (offset, wide) = self.layout.column(table, column);
        rows.chunks_exact(row_size.max(1)).map(move |row| {
            let cell = row.get(offset..).unwrap_or_default();
            let narrow = || cell.first_chunk().map(|&it| u16::from_le_bytes(it).into());
            let value = if wide {
                cell.first_chunk().map(|&it| u32::from_le_bytes(it))
            } else {
                narrow()
            };
            value.unwrap_or_default()
        })
    }

    /// Rows whose key column equals `value`.
    pub(crate) fn rows_where(self, key: Key, value: u32) -> RowSet<'a> {
        self.layout.rows_where(self.bytes, key, value)
    }

    /// Rows whose coded key column names `token`.
    pub(crate) fn rows_of(self, key: Key, coded: Coded, token: Token) -> RowSet<'a> {
        match coded.encode(token) {
            Some(value) if !token.is_nil() => self.rows_where(key, value),
            _ => RowSet::EMPTY,
        }
    }

    /// The members of the list that `column` of a row begins.
    pub(crate) fn list(self, table: Table, column: usize, row: u32, members: Table) -> List<'a> {
        let indirect = indirection(self, members);
        let n_members = self.row_count(indirect.unwrap_or(members));
        let end_of_table = n_members + 1;
        let start = self.cell(table, row, column).unwrap_or(end_of_table).max(1);
        let end = match self.cell(table, row + 1, column) {
            Some(next) => next.min(end_of_table),
            None => end_of_table,
        };
        List {
            metadata: self,
            positions: start..end.max(start).min(end_of_table.max(start)),
            indirect,
            members,
        }
    }

    /// The row whose list in `column` holds `member`.
    pub(crate) fn list_owner(self, table: Table, column: usize, member: Token) -> Option<u32> {
        let position = match member
            .table()
            .and_then(|members| indirection(self, members))
        {
            Some(pointers) => self
                .rows_where(Key::of_pointer_table(pointers)?, member.row())
                .next()?,
            None => member.row(),
        };
        self.layout.list_owner(self.bytes, table, column, position)
    }
}

/// The pointer table in use for `members`, if any.
fn indirection(metadata: Metadata<'_>, members: Table) -> Option<Table> {
    crate::tables::pointer_table(members).filter(|&pointers| metadata.row_count(pointers) > 0)
}

/// The members of a list column, as tokens.
#[derive(Debug, Clone)]
pub struct List<'a> {
    metadata: Metadata<'a>,
    positions: Range<u32>,
    indirect: Option<Table>,
    members: Table,
}

impl Iterator for List<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let position = self.positions.next()?;
        let row = match self.indirect {
            Some(pointers) => self.metadata.cell(pointers, position, 0)?,
            None => position,
        };
        Some(Token::new(self.members, row))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.positions.size_hint()
    }
}

impl ExactSizeIterator for List<'_> {}
