//! Sequence points: which source text an IL offset comes from (Portable PDB: Sequence Points Blob).

use super::Pdb;
use crate::cursor::Cursor;
use crate::error::{Malformed, Result};
use crate::tables::{MethodDebugInformationRow, Table};
use crate::token::{IlOffset, Token};

/// A range of source text; lines and columns count from 1, the end column is exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Line of the first character.
    pub start_line: u32,
    /// Column of the first character.
    pub start_column: u32,
    /// Line of the last character.
    pub end_line: u32,
    /// Column behind the last character.
    pub end_column: u32,
}

impl Span {
    /// Whether the position lies inside.
    #[must_use]
    pub fn contains(&self, line: u32, column: u32) -> bool {
        (self.start_line, self.start_column) <= (line, column)
            && (line, column) < (self.end_line, self.end_column)
    }
}

/// The place where the code of a statement begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequencePoint {
    /// Where the code begins; it goes on to the next point.
    pub offset: IlOffset,
    /// The document that holds the text.
    pub document: Token,
    /// The text, or `None` for code that no text belongs to.
    pub span: Option<Span>,
}

/// The sequence points of one method, decoded one at a time by rising offset.
#[derive(Debug, Clone)]
pub struct SequencePoints<'a> {
    cursor: Cursor<'a>,
    local_signature: Token,
    document: u32,
    offset: u32,
    started: bool,
    /// Line and column of the last point that was not hidden.
    previous: Option<(u32, u32)>,
}

impl<'a> Pdb<'a> {
    /// The sequence points of a method; empty if the PDB has none for it.
    pub fn sequence_points(self, method: Token) -> Result<SequencePoints<'a>> {
        if method.table() != Some(Table::Method) || method.row() > self.method_count() {
            return Ok(SequencePoints::EMPTY);
        }
        let row: MethodDebugInformationRow = self.metadata.row(method.row())?;
        SequencePoints::new(self.metadata.blob(row.sequence_points)?, row.document)
    }
}

impl Pdb<'_> {
    /// How many points all methods together can have, unless they share blobs; what goes through all methods stops there.
    pub(crate) fn point_budget(self) -> usize {
        /// Generated code does share blobs, in small numbers.
        const AT_LEAST: usize = 1 << 16;
        self.metadata.blob_heap_size().max(AT_LEAST)
    }
}

impl<'a> SequencePoints<'a> {
    const EMPTY: Self = Self {
        cursor: Cursor::new(&[], WHAT),
        local_signature: Token(0x1100_0000),
        document: 0,
        offset: 0,
        started: false,
        previous: None,
    };

    /// Decodes a blob; `document` is the method's document, nil if its points lie in several.
    pub fn new(blob: &'a [u8], document: Token) -> Result<Self> {
        let mut points = Self {
            document: document.row(),
            ..Self::EMPTY
        };
        if blob.is_empty() {
            return Ok(points);
        }
        points.cursor = Cursor::new(blob, WHAT);
        let signature = points.cursor.compressed_u32()?;
        points.local_signature = Token::new(Table::StandAloneSig, signature);
        if document.is_nil() {
            points.document = points.cursor.compressed_u32()?;
        }
        Ok(points)
    }

    /// Goes on in the middle of a blob: at a position, behind points of which the last offset and visible position are known.
    pub(super) fn resume(
        blob: &'a [u8],
        at: usize,
        document: Token,
        offset: u32,
        last: (u32, u32),
    ) -> Self {
        let mut cursor = Cursor::new(blob, WHAT);
        cursor.set_position(at);
        Self {
            cursor,
            document: document.row(),
            offset,
            started: true,
            previous: Some(last),
            ..Self::EMPTY
        }
    }

    /// Where in the blob the next point begins.
    pub(super) const fn position(&self) -> usize {
        self.cursor.position()
    }

    /// Line and column of the last visible point.
    pub(super) const fn last_position(&self) -> Option<(u32, u32)> {
        self.previous
    }

    /// The signature of the method's locals, nil if it has none.
    #[must_use]
    pub const fn local_signature(&self) -> Token {
        self.local_signature
    }

    /// The document of the points decoded so far, or of the first one.
    #[must_use]
    pub const fn document(&self) -> Token {
        Token::new(Table::Document, self.document)
    }

    #[inline]
    fn decode(&mut self) -> Result<SequencePoint> {
        let bad = self.cursor.bad();
        let mut delta = self.cursor.compressed_u32()?;
        if self.started {
            // A zero here is not an offset: a document follows it.
            while delta == 0 {
                self.document = self.cursor.compressed_u32()?;
                delta = self.cursor.compressed_u32()?;
            }
        }
        self.started = true;
        self.offset = self.offset.checked_add(delta).ok_or(bad)?;
        let n_lines = self.cursor.compressed_u32()?;
        let n_columns = if n_lines == 0 {
            self.cursor.compressed_u32()?.cast_signed()
        } else {
            self.cursor.compressed_i32()?
        };
        let span = if n_lines == 0 && n_columns == 0 {
            None
        } else {
            let (start_line, start_column) = match self.previous {
                None => (self.cursor.compressed_u32()?, self.cursor.compressed_u32()?),
                Some((line, column)) => (
                    line.checked_add_signed(self.cursor.compressed_i32()?)
                        .ok_or(bad)?,
                    column
                        .checked_add_signed(self.cursor.compressed_i32()?)
                        .ok_or(bad)?,
                ),
            };
            self.previous = Some((start_line, start_column));
            Some(Span {
                start_line,
                start_column,
                end_line: start_line.checked_add(n_lines).ok_or(bad)?,
                end_column: start_column.checked_add_signed(n_columns).ok_or(bad)?,
            })
        };
        let document = Token::new(Table::Document, self.document);
        Ok(SequencePoint {
            offset: IlOffset(self.offset),
            document,
            span,
        })
    }
}

const WHAT: &str = "sequence points";

impl Iterator for SequencePoints<'_> {
    type Item = Result<SequencePoint, Malformed>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.cursor.is_empty() {
            return None;
        }
        let decoded = self.decode();
        if decoded.is_err() {
            // Nothing behind a bad byte can be trusted.
            self.cursor = Cursor::new(&[], WHAT);
        }
        Some(decoded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(blob: &[u8], document: u32) -> Vec<Result<SequencePoint>> {
        let document = Token::new(Table::Document, document);
        SequencePoints::new(blob, document)
            .expect("a header")
            .collect()
    }

    #[test]
    fn hidden_points_keep_the_last_position() {
        // Signature 1; offset 0 at 10:5-10:9; hidden at 2; offset 4 at 11:5-12:3.
        let blob = [1, 0, 0, 4, 10, 5, 2, 0, 0, 2, 1, 0x7d, 2, 0];
        let points = decode(&blob, 1);
        let spans: Vec<_> = points
            .into_iter()
            .map(|point| point.expect("a point").span)
            .collect();
        let span = |start_line, start_column, end_line, end_column| {
            Some(Span {
                start_line,
                start_column,
                end_line,
                end_column,
            })
        };
        assert_eq!(spans, [span(10, 5, 10, 9), None, span(11, 5, 12, 3)]);
    }

    #[test]
    fn documents_change_between_points() {
        // No document in the row: the blob names document 3 first, later 4.
        let blob = [0, 3, 0, 0, 4, 10, 5, 0, 4, 6, 0, 1, 2, 0];
        let documents: Vec<_> = decode(&blob, 0)
            .into_iter()
            .map(|point| point.expect("a point").document.row())
            .collect();
        assert_eq!(documents, [3, 4]);
    }

    #[test]
    fn an_error_ends_the_points() {
        let points = decode(&[0, 0, 0, 1, 1, 1, 0xff, 0, 0, 0, 0], 1);
        assert_eq!(points.len(), 2);
        assert_eq!(points[1], Err(Malformed::new("sequence points", 6)));
    }
}
