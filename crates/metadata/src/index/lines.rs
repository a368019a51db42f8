//! Sequence points by document and line.
//!
//! Building it only sorts methods by their document; the points of a document are decoded when a line of it is first asked for.

use std::sync::OnceLock;

use crate::pdb::{Pdb, Span};
use crate::symbols::Symbols;
use crate::tables::{MethodDebugInformationRow, Table};
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
    /// Its statement begins on the line (and holds the column, if one was given).
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

/// Methods by document, and points by line.
#[derive(Debug)]
pub struct LineIndex {
    /// For each document, where its methods begin in `methods`; one more at the end.
    starts: Box<[u32]>,
    methods: Box<[u32]>,
    points: Box<[OnceLock<Box<[LinePoint]>>]>,
}

impl LineIndex {
    pub(crate) fn build(pdb: Pdb<'_>) -> Self {
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
            // Points in several documents: only the points say which.
            let Ok(points) = pdb.sequence_points(Token::new(Table::Method, method)) else {
                continue;
            };
            let points = points.flatten().take(budget);
            let mut documents: Vec<u32> = points.map(|it| it.document.row()).collect();
            budget -= documents.len();
            documents.sort_unstable();
            documents.dedup();
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
            points: (0..n_documents).map(|_| OnceLock::new()).collect(),
        }
    }

    /// The methods with code from a document, by token.
    pub fn methods(&self, document: Token) -> impl ExactSizeIterator<Item = Token> {
        let row = document.row() as usize;
        let index = |at: Option<usize>| {
            at.and_then(|at| self.starts.get(at))
                .copied()
                .unwrap_or_default()
        };
        let (start, end) = (index(row.checked_sub(1)), index(Some(row)));
        let methods = self
            .methods
            .get(start as usize..end as usize)
            .unwrap_or_default();
        methods.iter().map(|&row| Token::new(Table::Method, row))
    }

    fn points(&self, pdb: Pdb<'_>, document: Token) -> &[LinePoint] {
        let slot = document
            .row()
            .checked_sub(1)
            .and_then(|index| self.points.get(index as usize));
        let Some(slot) = slot.filter(|_| document.is(Table::Document)) else {
            return &[];
        };
        slot.get_or_init(|| {
            let mut points = Vec::new();
            let budget = pdb.point_budget();
            for method in self.methods(document) {
                if points.len() >= budget {
                    break;
                }
                let Ok(decoded) = pdb.sequence_points(method) else {
                    continue;
                };
                points.extend(
                    decoded
                        .flatten()
                        .filter(|it| it.document == document)
                        .filter_map(|it| {
                            Some(LinePoint {
                                span: it.span?,
                                method: method.row(),
                                offset: it.offset,
                            })
                        }),
                );
            }
            points.sort_unstable();
            points.into()
        })
    }
}

impl Symbols {
    /// All visible sequence points of a document, by rising position.
    #[must_use]
    pub fn points(&self, document: Token) -> &[LinePoint] {
        self.lines().points(self.pdb(), document)
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
        if let Some(column) = column {
            let points = self.points(document).iter();
            let before = points
                .take_while(|it| (it.span.start_line, it.span.start_column) <= (line, column));
            let holding = before.filter(|it| it.span.contains(line, column));
            return innermost(holding.copied().collect());
        }
        let exact = per_method(
            self.points_on(document, line).iter(),
            Binding::Exact,
            |new, old| (new.span.start_column, new.offset) < (old.span.start_column, old.offset),
        );
        if !exact.is_empty() {
            return exact;
        }
        let points = self.points(document);
        let split = points.partition_point(|it| it.span.start_line <= line);
        let (before, after) = points.split_at_checked(split).unwrap_or_default();
        let spanning = before.iter().filter(|it| it.span.end_line >= line);
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
            .filter(|it| begun.binary_search(&it.method).is_ok())
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

/// The points with the smallest text; several only if methods share it.
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
    let same = points.iter().filter(|it| it.span == smallest);
    per_method(same, Binding::Exact, |new, old| new.offset < old.offset)
}
