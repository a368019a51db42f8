//! All sequence points of a PDB in one pass.
//!
//! Whoever wants every point wants them fast. Nearly all numbers in the blobs take a single byte, so a usual point is decoded from one
//! machine word. Everything else, and every error, is left to [`SequencePoints`], which knows all forms.

use super::{Pdb, SequencePoint, SequencePoints, Span};
use crate::error::{Malformed, Result};
use crate::tables::{RowCells, Table};
use crate::token::{BlobHandle, IlOffset, Token};

/// Offsets, lines and columns below this, in blobs below that, cannot become too large for their types.
const SMALL: u32 = 1 << 30;
const MAX_BLOB: usize = 1 << 22;

impl Pdb<'_> {
    /// Hands out the points of all methods, by method and rising offset; the first blob that makes no sense ends it.
    pub fn for_each_point(self, mut visit: impl FnMut(Token, SequencePoint)) -> Result<()> {
        let (rows, row_size, wide) = self.metadata.table_bytes(Table::MethodDebugInformation);
        let heap = self.metadata.blob_heap();
        for (row, method) in rows.chunks_exact(row_size.max(1)).zip(1..) {
            let mut cells = RowCells::new(row, wide);
            let (document, blob) = (cells.next(), cells.next());
            if blob == 0 {
                continue;
            }
            let method = Token::new(Table::Method, method);
            let document = Token::new(Table::Document, document);
            let mut visit = |point| visit(method, point);
            let rest = match usual_method(heap, blob as usize, document, &mut visit) {
                Outcome::Done => continue,
                Outcome::Unusual(run) => run,
                Outcome::NotBegun => Run::begin(self, BlobHandle(blob), document)?,
            };
            rest.all_points(&mut visit)?;
        }
        Ok(())
    }
}

/// How far the usual points of a method went.
enum Outcome<'a> {
    /// To the end.
    Done,
    /// To an unusual one.
    Unusual(Run<'a>),
    /// The first one is unusual.
    NotBegun,
}

/// Decodes the head of a blob and a usual first point, one byte for each number but one or two for the line, then all usual points that follow.
#[inline(never)]
fn usual_method<'a>(
    heap: &'a [u8],
    blob: usize,
    document: Token,
    visit: &mut impl FnMut(SequencePoint),
) -> Outcome<'a> {
    match Run::first(heap, blob, document, visit) {
        None => Outcome::NotBegun,
        Some(mut run) => {
            if run.usual_points(visit) {
                Outcome::Unusual(run)
            } else {
                Outcome::Done
            }
        }
    }
}

/// What is known in the middle of a method's points.
#[derive(Clone, Copy)]
struct Run<'a> {
    heap: &'a [u8],
    /// Where the blob begins, where the next point does, and where the blob ends.
    start: usize,
    at: usize,
    end: usize,
    document: Token,
    offset: u32,
    /// The last visible position; negative before the first one.
    line: i32,
    column: i32,
}

impl<'a> Run<'a> {
    /// Decodes the head of a blob and a usual first point.
    #[inline(always)]
    fn first(
        heap: &'a [u8],
        blob: usize,
        document: Token,
        visit: &mut impl FnMut(SequencePoint),
    ) -> Option<Self> {
        let head = word(heap, blob)?;
        let (start, at, end, word) = if head & 0x8080 == 0 {
            // The length and the signature take a byte each, which leaves six for the point.
            (
                blob + 1,
                blob + 2,
                blob + 1 + usize::from(byte(head, 0)),
                head >> 16,
            )
        } else {
            let (length, head_length) = short(head)?;
            let (_, signature_length) = short(head >> (8 * head_length))?;
            let start = blob + head_length as usize;
            let at = start + signature_length as usize;
            (start, at, start + length as usize, word(heap, at)?)
        };
        if word & 0x80_8080 != 0 || word & 0xff_ff00 == 0 || document.is_nil() {
            return None;
        }
        let (line, line_length) = short(word >> 24)?;
        let column = (word >> (24 + 8 * line_length)) as u8;
        let at = at + 4 + line_length as usize;
        if column & 0x80 != 0 || at > end || end > heap.len() {
            return None;
        }
        let (line, column, offset) = (line.cast_signed(), i32::from(column), byte(word, 0).into());
        let span = Some(span(line, column, byte(word, 1), byte(word, 2))?);
        visit(SequencePoint {
            offset: IlOffset(offset),
            document,
            span,
        });
        Some(Self {
            heap,
            start,
            at,
            end,
            document,
            offset,
            line,
            column,
        })
    }

    /// Begins a blob of any form.
    #[inline(never)]
    fn begin(pdb: Pdb<'a>, blob: BlobHandle, document: Token) -> Result<Self> {
        let heap = pdb.metadata.blob(blob)?;
        let (line, column) = (-1, -1);
        Ok(Self {
            heap,
            start: 0,
            at: 0,
            end: heap.len(),
            document,
            offset: 0,
            line,
            column,
        })
    }

    /// Visits usual points; returns whether an unusual one follows.
    #[inline(always)]
    fn usual_points(&mut self, visit: &mut impl FnMut(SequencePoint)) -> bool {
        let Self {
            heap,
            start: _,
            at,
            end,
            document,
            mut offset,
            mut line,
            mut column,
        } = *self;
        // So that no sum below can overflow, whatever the numbers.
        if offset >= SMALL || end - at >= MAX_BLOB {
            return at < end;
        }
        let mut bytes = heap.get(at..).unwrap_or_default();
        let behind = heap.len() - end;
        while bytes.len() > behind {
            let Some(&word) = bytes.first_chunk() else {
                break;
            };
            let word = u64::from_le_bytes(word);
            // A zero offset stands for a change of document.
            if word & 0x80_8080_8080 != 0 || word & 0xff == 0 {
                break;
            }
            if word & 0xff_ff00 == 0 {
                let Some(rest) = bytes.get(3..).filter(|rest| rest.len() >= behind) else {
                    break;
                };
                bytes = rest;
                offset += u32::from(byte(word, 0));
                visit(SequencePoint {
                    offset: IlOffset(offset),
                    document,
                    span: None,
                });
                continue;
            }
            let (next_line, next_column) = (
                line + rotated(byte(word, 3)),
                column + rotated(byte(word, 4)),
            );
            let Some(span) = span(next_line, next_column, byte(word, 1), byte(word, 2)) else {
                break;
            };
            let Some(rest) = bytes.get(5..).filter(|rest| rest.len() >= behind) else {
                break;
            };
            bytes = rest;
            (line, column) = (next_line, next_column);
            offset += u32::from(byte(word, 0));
            visit(SequencePoint {
                offset: IlOffset(offset),
                document,
                span: Some(span),
            });
        }
        let at = heap.len() - bytes.len();
        *self = Self {
            at,
            offset,
            line,
            column,
            ..*self
        };
        at < end
    }

    /// Visits the rest of the points, unusual ones first.
    #[inline(never)]
    fn all_points(mut self, visit: &mut impl FnMut(SequencePoint)) -> Result<()> {
        let blob = self.heap.get(..self.end).unwrap_or(self.heap);
        let mut points = if self.line < 0 {
            SequencePoints::new(blob, self.document)?
        } else {
            let last = (self.line.cast_unsigned(), self.column.cast_unsigned());
            SequencePoints::resume(blob, self.at, self.document, self.offset, last)
        };
        while let Some(point) = points.next() {
            // Positions in errors count from the start of the blob.
            let relative = |error: Malformed| Malformed {
                at: error.at - self.start,
                ..error
            };
            let point = point.map_err(relative)?;
            visit(point);
            let Some((line, column)) = points
                .last_position()
                .filter(|(line, column)| line | column < SMALL)
            else {
                continue;
            };
            let (line, column) = (line.cast_signed(), column.cast_signed());
            self = Self {
                at: points.position(),
                document: point.document,
                offset: point.offset.0,
                line,
                column,
                ..self
            };
            if !self.usual_points(visit) {
                return Ok(());
            }
            let last = (self.line.cast_unsigned(), self.column.cast_unsigned());
            points = SequencePoints::resume(blob, self.at, self.document, self.offset, last);
        }
        Ok(())
    }
}

/// The eight bytes at an offset; near the end of a blob they reach into the heap behind it.
#[inline(always)]
fn word(heap: &[u8], at: usize) -> Option<u64> {
    heap.get(at..)?
        .first_chunk()
        .map(|&bytes| u64::from_le_bytes(bytes))
}

/// One byte of a word.
#[inline(always)]
fn byte(word: u64, index: u32) -> u8 {
    (word >> (8 * index)) as u8
}

/// The compressed number at the low end of a word, if it takes one byte or two, and how many it takes.
#[inline(always)]
fn short(word: u64) -> Option<(u32, u32)> {
    let is_long = word as u32 >> 7 & 1;
    let long = (word as u32 & 0x3f) << 8 | word as u32 >> 8 & 0xff;
    let value = if is_long == 0 {
        word as u32 & 0x7f
    } else {
        long
    };
    (word & 0xc0 != 0xc0).then_some((value, 1 + is_long))
}

/// A span by its start and size, unless a number is negative.
#[inline(always)]
fn span(line: i32, column: i32, n_lines: u8, n_columns: u8) -> Option<Span> {
    let signed = rotated(n_columns);
    let width = if n_lines == 0 {
        i32::from(n_columns)
    } else {
        signed
    };
    let (end_line, end_column) = (line + i32::from(n_lines), column + width);
    if line | column | end_column < 0 {
        return None;
    }
    Some(Span {
        start_line: line.cast_unsigned(),
        start_column: column.cast_unsigned(),
        end_line: end_line.cast_unsigned(),
        end_column: end_column.cast_unsigned(),
    })
}

/// Signed numbers of seven bits whose sign was rotated to the lowest place (ECMA-335 II.23.2), by the byte they are stored as.
static ROTATED: [i8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        #[expect(
            clippy::indexing_slicing,
            reason = "evaluated by the compiler, byte < 128"
        )]
        {
            table[byte] = (byte >> 1) as i8 - (((byte & 1) << 6) as i8);
        }
        byte += 1;
    }
    table
};

#[inline(always)]
fn rotated(byte: u8) -> i32 {
    #[expect(clippy::indexing_slicing, reason = "every byte has an entry")]
    i32::from(ROTATED[usize::from(byte)])
}
