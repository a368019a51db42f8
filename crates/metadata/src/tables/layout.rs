//! Where everything in a metadata blob lies: heaps, tables, and the width of each cell (ECMA-335 II.24.2).
//!
//! A layout is a few hundred numbers computed once per file; afterwards every cell is read in place. It borrows nothing,
//! so it can be kept beside the bytes it describes.

use std::ops::Range;

use super::lookup::Permutations;
use super::schema::{Column, Table};
use crate::cursor::Cursor;
use crate::error::{Malformed, Result};
use crate::token::Token;

/// Ids run from 0 to 0x37, with a gap.
const TABLE_SLOTS: usize = 0x38;
const MAX_COLUMNS: usize = 9;
/// Tokens have 24 bits for a row.
const MAX_ROWS: u32 = 0x00ff_ffff;

const METADATA_SIGNATURE: u32 = 0x424a_5342;

const WIDE_STRINGS: u8 = 0x01;
const WIDE_GUIDS: u8 = 0x02;
const WIDE_BLOBS: u8 = 0x04;
/// Four bytes of data follow the row counts.
const EXTRA_DATA: u8 = 0x40;

/// The place of one table.
#[derive(Debug, Clone, Copy, Default)]
struct TableLayout {
    start: usize,
    rows: u32,
    row_size: u8,
    /// Bit `i` is set if column `i` takes four bytes instead of two.
    wide: u16,
    offsets: [u8; MAX_COLUMNS],
}

/// Offsets of the heaps and tables of one metadata blob.
#[derive(Debug)]
pub struct Layout {
    pub(crate) version: Range<usize>,
    pub(crate) strings: Range<usize>,
    pub(crate) user_strings: Range<usize>,
    pub(crate) blobs: Range<usize>,
    pub(crate) guids: Range<usize>,
    pub(crate) pdb: Option<Range<usize>>,
    pub(crate) sorted: u64,
    pub(crate) permutations: Permutations,
    tables: [TableLayout; TABLE_SLOTS],
}

/// The streams of a metadata root, before the tables are understood.
#[derive(Default)]
struct Streams {
    version: Range<usize>,
    strings: Range<usize>,
    user_strings: Range<usize>,
    blobs: Range<usize>,
    guids: Range<usize>,
    pdb: Option<Range<usize>>,
    tables: Option<Range<usize>>,
    minimal_delta: bool,
}

/// A stream that does not lie in the metadata is an error of this part, at its header.
pub(crate) const STREAM_HEADER: &str = "stream header";

impl Streams {
    fn parse(bytes: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, "metadata root");
        if cursor.u32()? != METADATA_SIGNATURE {
            return Err(Malformed::new("metadata signature", 0));
        }
        cursor.take(8)?;
        let version_length = cursor.u32()? as usize;
        let version_start = cursor.position();
        let version = cursor.take(version_length)?;
        let version_end = version
            .iter()
            .position(|&byte| byte == 0)
            .unwrap_or(version_length);
        let mut streams = Self {
            version: version_start..version_start + version_end,
            ..Self::default()
        };
        cursor.u16()?;
        for _ in 0..cursor.u16()? {
            let at = cursor.position();
            let (start, size) = (cursor.u32()? as usize, cursor.u32()? as usize);
            let name = cursor.until_nul()?;
            cursor.take((name.len() + 1).next_multiple_of(4) - (name.len() + 1))?;
            let range = start..start.saturating_add(size);
            if bytes.get(range.clone()).is_none() {
                return Err(Malformed::new(STREAM_HEADER, at));
            }
            match name {
                b"#Strings" => streams.strings = range,
                b"#US" => streams.user_strings = range,
                b"#Blob" => streams.blobs = range,
                b"#GUID" => streams.guids = range,
                b"#Pdb" => streams.pdb = Some(range),
                b"#~" | b"#-" => streams.tables = Some(range),
                // An edit-and-continue delta without the tables it refers to: all indexes are wide.
                b"#JTD" => streams.minimal_delta = true,
                // Unknown streams are legal; obfuscators add them.
                _ => {}
            }
        }
        Ok(streams)
    }
}

impl Layout {
    /// Reads the root, the stream headers and the row counts; no row is touched.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let streams = Streams::parse(bytes)?;
        let tables_range = streams
            .tables
            .clone()
            .ok_or(Malformed::new("table stream", 0))?;
        let tables_start = tables_range.start;
        let mut cursor = Cursor::new(bytes.get(tables_range).unwrap_or_default(), "table stream");
        cursor.take(6)?;
        let heap_sizes = cursor.u8()?;
        cursor.u8()?;
        let valid = cursor.u64()?;
        let sorted = cursor.u64()?;
        let own_rows = read_row_counts(&mut cursor, valid)?;
        if heap_sizes & EXTRA_DATA != 0 {
            cursor.u32()?;
        }

        // Cells of a PDB point into the assembly's tables, whose sizes the PDB repeats.
        let mut rows = own_rows;
        if let Some(range) = &streams.pdb {
            let mut pdb = Cursor::new(bytes.get(range.clone()).unwrap_or_default(), "#Pdb stream");
            pdb.take(24)?;
            let referenced = pdb.u64()?;
            let counts = read_row_counts(&mut pdb, referenced)?;
            for (slot, count) in rows.iter_mut().zip(counts) {
                *slot = (*slot).max(count);
            }
        }

        let widths = Widths {
            heap_sizes,
            minimal_delta: streams.minimal_delta,
            rows: &rows,
        };
        let mut tables = [TableLayout::default(); TABLE_SLOTS];
        for ((layout, &row_count), id) in tables.iter_mut().zip(&own_rows).zip(0..) {
            let Some(table) = Table::from_id(id).filter(|_| row_count > 0) else {
                continue;
            };
            *layout = widths.table(table);
            layout.rows = row_count;
            layout.start = tables_start + cursor.position();
            cursor.take(row_count as usize * usize::from(layout.row_size))?;
        }
        Ok(Self {
            version: streams.version,
            strings: streams.strings,
            user_strings: streams.user_strings,
            blobs: streams.blobs,
            guids: streams.guids,
            pdb: streams.pdb,
            sorted,
            permutations: Permutations::default(),
            tables,
        })
    }

    fn table(&self, table: Table) -> &TableLayout {
        #[expect(clippy::indexing_slicing, reason = "every Table is below TABLE_SLOTS")]
        &self.tables[table as usize]
    }

    pub(crate) fn row_count(&self, table: Table) -> u32 {
        self.table(table).rows
    }

    pub(crate) fn row_width(&self, table: Table) -> usize {
        usize::from(self.table(table).row_size)
    }

    /// The rows of a table one behind another, their size, and which of their columns are wide.
    pub(crate) fn rows<'a>(&self, bytes: &'a [u8], table: Table) -> (&'a [u8], usize, u16) {
        let layout = self.table(table);
        let size = usize::from(layout.row_size);
        let rows = bytes.get(layout.start..layout.start + layout.rows as usize * size);
        (rows.unwrap_or_default(), size, layout.wide)
    }

    /// Where in a row a column lies, and whether its cells are wide.
    pub(crate) fn column(&self, table: Table, column: usize) -> (usize, bool) {
        let layout = self.table(table);
        let offset = layout.offsets.get(column).copied().unwrap_or_default();
        (offset.into(), layout.wide & (1 << column) != 0)
    }

    /// The cells of a 1-based row.
    #[inline]
    pub(crate) fn cells<'a>(
        &self,
        bytes: &'a [u8],
        table: Table,
        row: u32,
    ) -> Option<RowCells<'a>> {
        let layout = self.table(table);
        if row == 0 || row > layout.rows {
            return None;
        }
        let size = usize::from(layout.row_size);
        let start = layout.start + (row as usize - 1) * size;
        Some(RowCells {
            rest: bytes.get(start..start + size)?,
            wide: layout.wide,
        })
    }

    /// The raw value of one cell of a 1-based row.
    #[inline]
    pub(crate) fn cell(&self, bytes: &[u8], table: Table, row: u32, column: usize) -> Option<u32> {
        let layout = self.table(table);
        if row == 0 || row > layout.rows {
            return None;
        }
        let start = layout.start
            + (row as usize - 1) * usize::from(layout.row_size)
            + usize::from(*layout.offsets.get(column)?);
        let rest = bytes.get(start..)?;
        if layout.wide & (1 << column) != 0 {
            rest.first_chunk().map(|&chunk| u32::from_le_bytes(chunk))
        } else {
            rest.first_chunk()
                .map(|&chunk| u32::from(u16::from_le_bytes(chunk)))
        }
    }
}

fn read_row_counts(cursor: &mut Cursor<'_>, valid: u64) -> Result<[u32; TABLE_SLOTS]> {
    if valid >> TABLE_SLOTS != 0 {
        return Err(cursor.bad());
    }
    let mut rows = [0; TABLE_SLOTS];
    for (slot, id) in rows.iter_mut().zip(0_u8..) {
        if valid & (1 << id) == 0 {
            continue;
        }
        let bad = cursor.bad();
        *slot = cursor.u32()?;
        if *slot > MAX_ROWS || Table::from_id(id).is_none() {
            return Err(bad);
        }
    }
    Ok(rows)
}

/// Decides whether a cell takes two or four bytes.
struct Widths<'a> {
    heap_sizes: u8,
    minimal_delta: bool,
    rows: &'a [u32; TABLE_SLOTS],
}

impl Widths<'_> {
    fn rows(&self, table: Table) -> u32 {
        self.rows.get(table as usize).copied().unwrap_or_default()
    }

    fn is_wide(&self, column: Column) -> bool {
        let flag = |bit| self.minimal_delta || self.heap_sizes & bit != 0;
        match column {
            Column::U2 => false,
            Column::U4 => true,
            Column::Str => flag(WIDE_STRINGS),
            Column::Guid => flag(WIDE_GUIDS),
            Column::Blob => flag(WIDE_BLOBS),
            Column::Row(table) => self.minimal_delta || self.rows(table) > 0xffff,
            Column::List(table) => {
                let indirect = pointer_table(table).map_or(0, |pointers| self.rows(pointers));
                self.minimal_delta || self.rows(table).max(indirect) > 0xffff
            }
            Column::Coded(coded) => {
                let (bits, tables) = coded.tables();
                let limit = 0xffff_u32 >> bits;
                let most = tables.iter().flatten().map(|&table| self.rows(table)).max();
                self.minimal_delta || most.unwrap_or_default() > limit
            }
        }
    }

    fn table(&self, table: Table) -> TableLayout {
        let mut layout = TableLayout::default();
        for ((index, &column), offset) in
            table.columns().iter().enumerate().zip(&mut layout.offsets)
        {
            *offset = layout.row_size;
            let wide = self.is_wide(column);
            layout.wide |= u16::from(wide) << index;
            layout.row_size += if wide { 4 } else { 2 };
        }
        layout
    }
}

/// The table that, if it has rows, stands between a list and its members (uncompressed metadata).
pub(crate) const fn pointer_table(table: Table) -> Option<Table> {
    match table {
        Table::Field => Some(Table::FieldPtr),
        Table::Method => Some(Table::MethodPtr),
        Table::Param => Some(Table::ParamPtr),
        Table::Event => Some(Table::EventPtr),
        Table::Property => Some(Table::PropertyPtr),
        _ => None,
    }
}

/// The cells of one row, read from left to right.
#[derive(Debug, Clone, Copy)]
pub struct RowCells<'a> {
    rest: &'a [u8],
    wide: u16,
}

impl<'a> RowCells<'a> {
    /// The cells of a row of a table with these wide columns.
    pub(crate) const fn new(row: &'a [u8], wide: u16) -> Self {
        Self { rest: row, wide }
    }

    /// The next cell's raw value; the row's size is known to fit its columns.
    #[inline]
    pub(crate) fn next(&mut self) -> u32 {
        let wide = self.wide & 1 != 0;
        self.wide >>= 1;
        if wide {
            let Some((&cell, rest)) = self.rest.split_first_chunk() else {
                return 0;
            };
            self.rest = rest;
            u32::from_le_bytes(cell)
        } else {
            let Some((&cell, rest)) = self.rest.split_first_chunk() else {
                return 0;
            };
            self.rest = rest;
            u32::from(u16::from_le_bytes(cell))
        }
    }

    /// The next cell as a row of `table`.
    #[inline]
    pub(crate) fn next_row(&mut self, table: Table) -> Result<Token> {
        let row = self.next();
        if row > MAX_ROWS {
            return Err(Malformed::new("row number", row as usize));
        }
        Ok(Token::new(table, row))
    }
}
