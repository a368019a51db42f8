//! Which of the statements that a line or column may mean is meant, where one is written inside another.

use std::collections::HashMap;

use metadata::Token;
use metadata::index::{Binding, Candidate, LinePoint};
use metadata::pdb::Span;

/// Line and column.
type Position = (u32, u32);

/// The candidates that a breakpoint belongs to, and those inside them that it does not belong to.
///
/// Without a column a breakpoint belongs to the statements that begin on the line, not to lambdas inside them. On a line
/// in the middle of a statement it belongs to the innermost one.
pub(super) fn chosen(
    all: &[Candidate],
    column: Option<u32>,
    points: &[LinePoint],
) -> (Vec<Candidate>, Vec<Candidate>) {
    if column.is_some() {
        return (all.to_vec(), Vec::new());
    }
    let within = all.iter().any(|it| it.binding == Binding::Within);
    let (mut kept, mut inside) = (Vec::new(), Vec::new());
    for it in all {
        let span = it.point.span;
        let beaten = |other: &Candidate| {
            if within {
                is_inside(other.point.span, span)
            } else {
                is_inside(span, other.point.span)
            }
        };
        // Also inside a statement that is not the first of its method on the line.
        let in_another = |other: &LinePoint| {
            other.span.start_line == span.start_line
                && other.method() != it.point.method()
                && is_inside(span, other.span)
        };
        if all.iter().any(beaten) || !within && points.iter().any(in_another) {
            inside.push(*it);
        } else {
            kept.push(*it);
        }
    }
    if within {
        inside.clear();
    }
    (kept, inside)
}

/// Whether another method is written inside a statement, around a place that none of its own statements holds.
pub(super) fn is_around_lambda(
    statement: &LinePoint,
    points: &[LinePoint],
    place: Position,
) -> bool {
    let mut inner: HashMap<Token, (Position, Position)> = HashMap::new();
    let is_inner =
        |it: &&LinePoint| it.method() != statement.method() && is_inside(it.span, statement.span);
    for point in points.iter().filter(is_inner) {
        let start = (point.span.start_line, point.span.start_column);
        let end = (point.span.end_line, point.span.end_column);
        if (start..end).contains(&place) {
            return false;
        }
        let text = inner.entry(point.method()).or_insert((start, end));
        *text = (text.0.min(start), text.1.max(end));
    }
    let mut texts = inner.values();
    texts.any(|(start, end)| (*start..*end).contains(&place))
}

fn is_inside(inner: Span, outer: Span) -> bool {
    inner != outer
        && (outer.start_line, outer.start_column) <= (inner.start_line, inner.start_column)
        && (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)
}
