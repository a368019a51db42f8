//! Sequence points by document and line.
//!
//! The points of a document are decoded when a line of it is first asked for. Its methods are found by looking at the document of every
//! method; whoever asks for many documents gets all methods sorted by document instead.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::Result;
use crate::pdb::{Pdb, SequencePoint, Span};
use crate::symbols::Symbols;
use crate::tables::{MethodDebugInformationRow, RowCells, Table};
use crate::token::{IlOffset, Token};

/// A sequence point of some method that begins on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinePoint {
    /// The statement's text.
    pub span: Span,
    method: u32,
    /// Where its code begins.
    pub offset: IlOffset,
}

impl LinePoint {
    /// The method.
    #[must_use]
    pub const fn method(&self) -> Token {
        Token::new(Table::Method, self.method)
    }
}

/// How a candidate relates to the line that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Binding {
    /// Its statement begins on the line, or holds what begins there and is no place (and the column, if one was given).
    Exact,
    /// Its statement began earlier and goes on over the line.
    Within,
    /// The line has no code; this is the nearest following statement of a method around it.
    Next,
}

/// A place where a breakpoint on a line could go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// How it relates to the line.
    pub binding: Binding,
    /// The statement.
    pub point: LinePoint,
}

/// Points by document and line, found when first asked for.
#[derive(Debug)]
pub(crate) struct LineIndex {
    points: Box<[OnceLock<DocumentPoints>]>,
    /// How many documents were looked for without `methods`.
    n_scans: AtomicU32,
    methods: OnceLock<MethodsByDocument>,
}

/// The visible points of one document.
#[derive(Debug, Default)]
struct DocumentPoints {
    /// By rising position.
    points: Box<[LinePoint]>,
    /// Points that were left out, by method and offset.
    strays: Box<[(u32, IlOffset)]>,
}

/// After so many documents it pays to sort all methods by document.
const MAX_SCANS: u32 = 8;

/// All methods, sorted by document; a method with points in several is there several times.
#[derive(Debug)]
struct MethodsByDocument {
    /// For each document, where its methods begin in `methods`; one more at the end.
    starts: Box<[u32]>,
    methods: Box<[u32]>,
}

impl MethodsByDocument {
    fn build(pdb: Pdb<'_>) -> Self {
        let metadata = pdb.metadata();
        let n_documents = metadata.row_count(Table::Document) as usize;
        let mut pairs = Vec::with_capacity(pdb.method_count() as usize);
        let mut budget = pdb.point_budget();
        for (method, row) in metadata.rows::<MethodDebugInformationRow>() {
            let Ok(row) = row else { continue };
            if row.sequence_points.0 == 0 {
                continue;
            }
            if !row.document.is_nil() {
                pairs.push((row.document.row(), method));
                continue;
            }
            let documents = documents_of(pdb, method, &mut budget);
            pairs.extend(documents.into_iter().map(|document| (document, method)));
        }
        pairs.retain(|&(document, _)| document != 0 && document as usize <= n_documents);
        pairs.sort_unstable();
        let mut starts = vec![0_u32; n_documents + 1];
        for &(document, _) in &pairs {
            if let Some(count) = starts.get_mut(document as usize) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        Self {
            starts: starts.into(),
            methods: pairs.into_iter().map(|(_, method)| method).collect(),
        }
    }

    fn of(&self, document: Token) -> &[u32] {
        let row = document.row() as usize;
        let index = |at: Option<usize>| {
            at.and_then(|at| self.starts.get(at))
                .copied()
                .unwrap_or_default()
        };
        let (start, end) = (index(row.checked_sub(1)), index(Some(row)));
        self.methods
            .get(start as usize..end as usize)
            .unwrap_or_default()
    }
}

/// The documents of a method with points in several: only the points say which.
fn documents_of(pdb: Pdb<'_>, method: u32, budget: &mut usize) -> Vec<u32> {
    let Ok(points) = pdb.sequence_points(Token::new(Table::Method, method)) else {
        return Vec::new();
    };
    let points = points.flatten().take(*budget);
    let mut documents: Vec<u32> = points.map(|it| it.document.row()).collect();
    *budget -= documents.len();
    documents.sort_unstable();
    documents.dedup();
    documents
}

impl LineIndex {
    pub(crate) fn new(pdb: Pdb<'_>) -> Self {
        let n_documents = pdb.metadata().row_count(Table::Document);
        Self {
            points: (0..n_documents).map(|_| OnceLock::new()).collect(),
            n_scans: AtomicU32::new(0),
            methods: OnceLock::new(),
        }
    }

    /// The rows of the methods with code from a document.
    fn methods(&self, pdb: Pdb<'_>, document: Token) -> Cow<'_, [u32]> {
        if self.methods.get().is_none() && self.n_scans.fetch_add(1, Ordering::Relaxed) < MAX_SCANS
        {
            return scan(pdb, document).into();
        }
        self.methods
            .get_or_init(|| MethodsByDocument::build(pdb))
            .of(document)
            .into()
    }

    fn points(&self, pdb: Pdb<'_>, document: Token) -> Option<&DocumentPoints> {
        let index = document.row().checked_sub(1)?;
        let slot = self.points.get(index as usize);
        let slot = slot.filter(|_| document.is(Table::Document))?;
        Some(slot.get_or_init(|| {
            let mut points = Vec::new();
            let budget = pdb.point_budget();
            for &method in self.methods(pdb, document).iter() {
                if points.len() >= budget {
                    break;
                }
                let Ok(decoded) = pdb.sequence_points(Token::new(Table::Method, method)) else {
                    continue;
                };
                points.extend(
                    decoded
                        .flatten()
                        .filter(|it| it.document == document)
                        .filter_map(|it| {
                            Some(LinePoint {
                                span: it.span?,
                                method,
                                offset: it.offset,
                            })
                        }),
                );
            }
            points.sort_unstable();
            let strays = strays(pdb, &points);
            points.retain(|it| strays.binary_search(&(it.method, it.offset)).is_err());
            DocumentPoints {
                points: points.into(),
                strays: strays.into(),
            }
        }))
    }
}

/// The points among those of a document, by rising position, at which the compiler names the closing brace of another method.
///
/// Roslyn ends the code of an async lambda or local function that awaits in a `finally` block, or disposes of something or
/// enumerates asynchronously, with the brace of the method around it. Of the methods that share a brace it belongs to the one
/// that begins first.
fn strays(pdb: Pdb<'_>, points: &[LinePoint]) -> Vec<(u32, IlOffset)> {
    let is_brace = |it: &Span| {
        it.start_line == it.end_line && it.start_column.checked_add(1) == Some(it.end_column)
    };
    let shared = || {
        points
            .chunk_by(|one, other| one.span == other.span)
            .filter(|it| it.len() > 1 && it.first().is_some_and(|it| is_brace(&it.span)))
    };
    let mut methods: Vec<u32> = shared().flatten().map(|it| it.method).collect();
    methods.sort_unstable();
    methods.dedup();
    // Where each of them begins in the text and ends in the code.
    let mut ends: HashMap<u32, (usize, IlOffset)> = HashMap::new();
    for (at, point) in points.iter().enumerate() {
        if methods.binary_search(&point.method).is_ok() {
            let (_, last) = ends.entry(point.method).or_insert((at, point.offset));
            *last = point.offset.max(*last);
        }
    }
    let mut strays: Vec<_> = shared()
        .flat_map(|sharing| {
            let begins = |it: &LinePoint| ends.get(&it.method).map(|(begins, _)| *begins);
            let owner = sharing
                .iter()
                .min_by_key(|it| begins(it))
                .map(|it| it.method);
            sharing.iter().filter(move |it| Some(it.method) != owner)
        })
        .filter(|it| {
            ends.get(&it.method)
                .is_some_and(|(_, last)| *last == it.offset)
        })
        .filter(|it| pdb.kickoff_method(it.method()).is_ok_and(|it| it.is_some()))
        .map(|it| (it.method, it.offset))
        .collect();
    strays.sort_unstable();
    strays
}

/// The rows of the methods with code from a document, found by looking at every row.
fn scan(pdb: Pdb<'_>, document: Token) -> Vec<u32> {
    let (rows, row_size, wide) = pdb.metadata().table_bytes(Table::MethodDebugInformation);
    let mut budget = pdb.point_budget();
    let mut found = Vec::new();
    for (cells, method) in rows.chunks_exact(row_size.max(1)).zip(1..) {
        let mut cells = RowCells::new(cells, wide);
        let row = cells.next();
        let is_here = if row == 0 {
            cells.next() != 0 && documents_of(pdb, method, &mut budget).contains(&document.row())
        } else {
            row == document.row()
        };
        if is_here {
            found.push(method);
        }
    }
    found
}

impl Symbols {
    /// The methods with code from a document, by token.
    #[must_use]
    pub fn methods_of(&self, document: Token) -> Vec<Token> {
        let rows = self.line_index().methods(self.pdb(), document);
        rows.iter()
            .map(|&row| Token::new(Table::Method, row))
            .collect()
    }

    /// All visible sequence points of a document, by rising position.
    #[must_use]
    pub fn points(&self, document: Token) -> &[LinePoint] {
        let known = self.line_index().points(self.pdb(), document);
        known.map_or(&[], |known| &known.points)
    }

    /// The sequence points of a method, by rising offset, as far as they can be read. One that names the closing brace of another
    /// method, as compilers do, counts as hidden.
    pub fn sequence_points(&self, method: Token) -> Result<impl Iterator<Item = SequencePoint>> {
        let points = self.pdb().sequence_points(method)?;
        let stray = self.stray(method);
        Ok(points.flatten().map(move |it| SequencePoint {
            span: it.span.filter(|_| Some(it.offset) != stray),
            ..it
        }))
    }

    /// Where the code begins that such a point of a method stands for.
    fn stray(&self, method: Token) -> Option<IlOffset> {
        // Others have none, and need no look at their documents.
        self.pdb().kickoff_method(method).ok()??;
        let points = self.pdb().sequence_points(method).ok()?.flatten();
        let last = points.filter(|it| it.span.is_some()).last()?;
        let known = self.line_index().points(self.pdb(), last.document)?;
        let stray = (method.row(), last.offset);
        let is_stray = known.strays.binary_search(&stray).is_ok();
        is_stray.then_some(last.offset)
    }

    /// All sequence points that begin on a line, by rising column.
    #[must_use]
    pub fn points_on(&self, document: Token, line: u32) -> &[LinePoint] {
        let points = self.points(document);
        let start = points.partition_point(|it| it.span.start_line < line);
        let points = points.get(start..).unwrap_or_default();
        points
            .get(..points.partition_point(|it| it.span.start_line == line))
            .unwrap_or_default()
    }

    /// Everywhere a breakpoint on a line, or on a column of it, could go; the best kind of binding only.
    ///
    /// Without a column a method has one candidate: its first statement on the line, or the innermost statement that goes on
    /// over the line, or its nearest following one. A lambda on the line is a method of its own. Candidates are in the
    /// order of their text, so the first is the outermost statement; field initialisers give one per constructor.
    #[must_use]
    pub fn candidates(&self, document: Token, line: u32, column: Option<u32>) -> Vec<Candidate> {
        self.candidates_among(document, line, column, |_| true)
    }

    /// The same among the points that are places: what begins at another one belongs to the smallest statement that holds it.
    #[must_use]
    pub fn candidates_among(
        &self,
        document: Token,
        line: u32,
        column: Option<u32>,
        is_place: impl Fn(&LinePoint) -> bool,
    ) -> Vec<Candidate> {
        let points = self.points(document);
        if let Some(column) = column {
            let before = points
                .iter()
                .take_while(|it| (it.span.start_line, it.span.start_column) <= (line, column));
            let holding = before.filter(|it| it.span.contains(line, column) && is_place(it));
            return innermost(holding.copied().collect());
        }
        let on_line = self.points_on(document, line);
        let mut exact = per_method(on_line.iter(), Binding::Exact, |new, old| {
            (new.span.start_column, new.offset) < (old.span.start_column, old.offset)
        });
        exact.retain_mut(|it| {
            if is_place(&it.point) {
                return true;
            }
            let own = |other: &&LinePoint| other.method == it.point.method && is_place(other);
            let place = holder(points, &it.point, own).or_else(|| on_line.iter().find(own));
            it.point = place.copied().unwrap_or(it.point);
            place.is_some()
        });
        if !exact.is_empty() {
            exact.sort_by_key(|it| it.point);
            return exact;
        }
        let split = points.partition_point(|it| it.span.start_line <= line);
        let (before, after) = points.split_at_checked(split).unwrap_or_default();
        let spanning = before.iter().filter(|it| it.span.end_line >= line);
        let spanning = spanning.filter(|it| is_place(it));
        let within = per_method(spanning, Binding::Within, |new, old| {
            (old.span.start_line, old.span.start_column)
                < (new.span.start_line, new.span.start_column)
        });
        if !within.is_empty() {
            return within;
        }
        // A method is around the line if it has text before and behind it; only the nearest such line counts.
        let mut begun: Vec<u32> = before.iter().map(|it| it.method).collect();
        begun.sort_unstable();
        begun.dedup();
        let mut around = after
            .iter()
            .filter(|it| begun.binary_search(&it.method).is_ok() && is_place(it))
            .peekable();
        let Some(next_line) = around.peek().map(|it| it.span.start_line) else {
            return Vec::new();
        };
        let next = around.take_while(|it| it.span.start_line == next_line);
        per_method(next, Binding::Next, |new, old| {
            new.span.start_column < old.span.start_column
        })
    }
}

/// The smallest statement that holds all text of a point, of those that are asked for.
fn holder<'p>(
    points: &'p [LinePoint],
    point: &LinePoint,
    is_asked: impl Fn(&&LinePoint) -> bool,
) -> Option<&'p LinePoint> {
    let start = |it: Span| (it.start_line, it.start_column);
    let end = |it: Span| (it.end_line, it.end_column);
    points
        .iter()
        .take_while(|it| start(it.span) <= start(point.span))
        .filter(|it| end(it.span) >= end(point.span) && is_asked(it))
        .max_by_key(|it| (start(it.span), Reverse(end(it.span)), Reverse(it.offset)))
}

/// One candidate per method, in the order of the text.
fn per_method<'p>(
    points: impl Iterator<Item = &'p LinePoint>,
    binding: Binding,
    better: fn(&LinePoint, &LinePoint) -> bool,
) -> Vec<Candidate> {
    let mut points: Vec<_> = points.copied().collect();
    points.sort_by_key(|it| it.method);
    let mut best: Vec<LinePoint> = Vec::new();
    for point in points {
        match best.last_mut() {
            Some(last) if last.method == point.method => {
                if better(&point, last) {
                    *last = point;
                }
            }
            _ => best.push(point),
        }
    }
    best.sort_unstable();
    best.into_iter()
        .map(|point| Candidate { binding, point })
        .collect()
}

/// The points with the smallest text; several only if methods share it, or the place where it begins: those of the two
/// constructors of a record begin at its name.
fn innermost(points: Vec<LinePoint>) -> Vec<Candidate> {
    let size = |it: &LinePoint| {
        let span = it.span;
        (
            span.end_line - span.start_line,
            span.end_column.wrapping_sub(span.start_column),
        )
    };
    let Some(smallest) = points.iter().min_by_key(|it| size(it)).map(|it| it.span) else {
        return Vec::new();
    };
    let start = |it: Span| (it.start_line, it.start_column);
    let of_smallest = |method| {
        let mut points = points.iter();
        points.any(|it| it.method == method && it.span == smallest)
    };
    let same = points.iter().filter(|it| {
        it.span == smallest || start(it.span) == start(smallest) && !of_smallest(it.method)
    });
    let mut found = per_method(same, Binding::Exact, |new, old| new.offset < old.offset);
    // The outermost is the first.
    found.sort_by_key(|it| Reverse(size(&it.point)));
    found
}
