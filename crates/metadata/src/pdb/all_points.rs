//! All sequence points of a PDB in one pass.
//!
//! Whoever wants every point wants them fast. Nearly all numbers in the blobs take a single byte, so a usual point is decoded from one
//! machine word. Everything else, and every error, is left to [`SequencePoints`], which knows all forms.

use super::{Pdb, SequencePoint, SequencePoints, Span};
use crate::error::Result;
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
            let run = match usual_method(heap, blob as usize, document, &mut visit) {
                Outcome::Done => continue,
                Outcome::Unusual { left, last } => Run {
                    left,
                    last: Some(last),
                    document,
                },
                Outcome::NotBegun => Run::new(document),
            };
            run.all_points(self.metadata.blob(BlobHandle(blob))?, &mut visit)?;
        }
        Ok(())
    }
}

/// How far the usual points of a method went.
enum Outcome {
    /// To the end.
    Done,
    /// To an unusual one, so many bytes before the end of the blob.
    Unusual { left: usize, last: Last },
    /// The first one is unusual.
    NotBegun,
}

/// What the next point counts from.
#[derive(Clone, Copy)]
struct Last {
    offset: u32,
    line: i32,
    column: i32,
}

/// So many bytes behind a blob are read along with its last point.
const BEHIND: usize = 3;

/// Decodes the head of a blob and a usual first point, one byte for each number but one or two for the line, then all usual points that
/// follow.
///
/// Not inlined, and nothing but the points and what is left of the blob is kept: the loop in it needs every register.
#[inline(never)]
fn usual_method(
    heap: &[u8],
    blob: usize,
    document: Token,
    visit: &mut impl FnMut(SequencePoint),
) -> Outcome {
    let Some((bytes, last)) = first_point(heap, blob, document, visit) else {
        return Outcome::NotBegun;
    };
    let (bytes, last) = usual_points(bytes, last, document, visit);
    match bytes.len().saturating_sub(BEHIND) {
        0 => Outcome::Done,
        left => Outcome::Unusual { left, last },
    }
}

/// Decodes the head of a blob and a usual first point; returns the rest of the blob with the bytes behind it.
#[inline(always)]
fn first_point<'a>(
    heap: &'a [u8],
    blob: usize,
    document: Token,
    visit: &mut impl FnMut(SequencePoint),
) -> Option<(&'a [u8], Last)> {
    let head = word(heap, blob)?;
    let (at, end, word) = if head & 0x8080 == 0 {
        // The length and the signature take a byte each, which leaves six for the point.
        let end = blob + 1 + usize::from(byte(head, 0));
        (blob + 2, end, head >> 16)
    } else {
        let (length, head_length) = short(head)?;
        let (_, signature_length) = short(head >> (8 * head_length))?;
        let start = blob + head_length as usize;
        let at = start + signature_length as usize;
        (at, start + length as usize, word(heap, at)?)
    };
    if word & 0x80_8080 != 0 || word & 0xff_ff00 == 0 || document.is_nil() {
        return None;
    }
    let (line, line_length) = short(word >> 24)?;
    let column = (word >> (24 + 8 * line_length)) as u8;
    let at = at + 4 + line_length as usize;
    if column & 0x80 != 0 || at > end {
        return None;
    }
    let rest = heap.get(at..end + BEHIND)?;
    let (line, column, offset) = (line.cast_signed(), i32::from(column), byte(word, 0).into());
    let span = Some(span(line, column, byte(word, 1), byte(word, 2))?);
    visit(SequencePoint {
        offset: IlOffset(offset),
        document,
        span,
    });
    let last = Last {
        offset,
        line,
        column,
    };
    Some((rest, last))
}

/// Visits usual points; returns what is left of the blob, with the bytes behind it.
///
/// No sum overflows if the blob is shorter than [`MAX_BLOB`] and it begins below [`SMALL`].
#[inline(always)]
fn usual_points<'a>(
    mut bytes: &'a [u8],
    last: Last,
    document: Token,
    visit: &mut impl FnMut(SequencePoint),
) -> (&'a [u8], Last) {
    let Last {
        mut offset,
        mut line,
        mut column,
    } = last;
    // A visible point takes five bytes and is read as eight: where eight are left, five are the blob's.
    while let Some(&word) = bytes.first_chunk() {
        let word = u64::from_le_bytes(word);
        // A zero offset stands for a change of document.
        if word & 0x80_8080_8080 != 0 || word & 0xff == 0 {
            break;
        }
        if word & 0xff_ff00 == 0 {
            bytes = bytes.get(3..).unwrap_or_default();
            offset += u32::from(byte(word, 0));
            visit(SequencePoint {
                offset: IlOffset(offset),
                document,
                span: None,
            });
            continue;
        }
        let next_line = line + rotated(byte(word, 3));
        let next_column = column + rotated(byte(word, 4));
        let Some(span) = span(next_line, next_column, byte(word, 1), byte(word, 2)) else {
            break;
        };
        bytes = bytes.get(5..).unwrap_or_default();
        (line, column) = (next_line, next_column);
        offset += u32::from(byte(word, 0));
        visit(SequencePoint {
            offset: IlOffset(offset),
            document,
            span: Some(span),
        });
    }
    // A hidden point that ends the blob is too short to be read as eight.
    if let &[delta @ 1..0x80, 0, 0, _, _, _] = bytes {
        bytes = bytes.get(3..).unwrap_or_default();
        offset += u32::from(delta);
        visit(SequencePoint {
            offset: IlOffset(offset),
            document,
            span: None,
        });
    }
    let last = Last {
        offset,
        line,
        column,
    };
    (bytes, last)
}

/// What is known in the middle of a method's points.
struct Run {
    /// How many bytes of the blob are left.
    left: usize,
    document: Token,
    /// `None` at the start.
    last: Option<Last>,
}

impl Run {
    fn new(document: Token) -> Self {
        Self {
            left: 0,
            document,
            last: None,
        }
    }

    /// Visits the rest of the points, unusual ones first.
    #[inline(never)]
    fn all_points(mut self, blob: &[u8], visit: &mut impl FnMut(SequencePoint)) -> Result<()> {
        loop {
            let mut points = match self.last {
                None => SequencePoints::new(blob, self.document)?,
                Some(last) => SequencePoints::resume(
                    blob,
                    blob.len().saturating_sub(self.left),
                    self.document,
                    last.offset,
                    (last.line.cast_unsigned(), last.column.cast_unsigned()),
                ),
            };
            let Some(point) = points.next() else {
                return Ok(());
            };
            let mut point = point?;
            visit(point);
            // Numbers too large for the usual way are rare enough to go on like this.
            while points
                .last_position()
                .is_none_or(|(line, column)| (line | column | point.offset.0) >= SMALL)
                || blob.len() >= MAX_BLOB
            {
                let Some(next) = points.next() else {
                    return Ok(());
                };
                point = next?;
                visit(point);
            }
            let (line, column) = points.last_position().unwrap_or_default();
            let last = Last {
                offset: point.offset.0,
                line: line.cast_signed(),
                column: column.cast_signed(),
            };
            // The bytes behind the blob are not at hand, so the last point of all is decoded the long way.
            let rest = blob.get(points.position()..).unwrap_or_default();
            let (rest, last) = usual_points(rest, last, point.document, visit);
            self = Self {
                left: rest.len(),
                document: point.document,
                last: Some(last),
            };
        }
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
