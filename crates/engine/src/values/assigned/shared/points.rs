//! Which text each instruction of a state machine belongs to.

use metadata::Token;
use metadata::pdb::{Pdb, Span};

use super::Result;

/// What an instruction belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Text {
    /// A statement, or a part of one.
    Statement,
    /// The `in` of a `foreach`, where that goes to the next element.
    In,
    /// A brace.
    Brace,
    /// No text.
    Hidden,
}

/// The sequence points of a method.
pub(super) struct Points {
    /// Where each begins, what its text is, and the number of the one whose statement it is of.
    all: Vec<(u32, Text, Option<usize>)>,
}

impl Points {
    pub(super) fn of(pdb: Pdb<'_>, method: Token) -> Result<Self> {
        let awaits = pdb.async_stepping(method)?.map(|it| it.awaits);
        let awaits = awaits.unwrap_or_default();
        let mut points = Vec::new();
        for point in pdb.sequence_points(method)? {
            let point = point?;
            points.push((point.offset.0, point.span));
        }
        let spans: Vec<Span> = points.iter().filter_map(|(_, span)| *span).collect();
        let mut all: Vec<(u32, Text, Option<usize>)> = Vec::with_capacity(points.len());
        // The last that is not hidden.
        let mut shown = None;
        for (number, (at, span)) in points.iter().enumerate() {
            let text = span.map_or(Text::Hidden, |span| text(span, &spans));
            let end = points.get(number + 1).map_or(u32::MAX, |(at, _)| *at);
            let mut awaits = awaits.iter().map(|it| it.yield_offset.0);
            // What a statement goes on with behind an await has no text of its own.
            let goes_on = text == Text::Hidden && awaits.any(|it| (*at..end).contains(&it));
            if text != Text::Hidden {
                shown = (text == Text::Statement).then_some(number);
            }
            let of = (goes_on || text == Text::Statement).then_some(shown);
            all.push((*at, text, of.flatten()));
        }
        Ok(Self { all })
    }

    /// What an instruction belongs to.
    pub(super) fn text(&self, at: u32) -> Text {
        self.point(at).map_or(Text::Hidden, |(_, text, _)| *text)
    }

    /// The statement that an instruction is of, by a number; `None` for other code.
    pub(super) fn statement(&self, at: u32) -> Option<usize> {
        self.point(at).and_then(|(.., statement)| *statement)
    }

    fn point(&self, at: u32) -> Option<&(u32, Text, Option<usize>)> {
        let behind = self.all.partition_point(|(start, ..)| *start <= at);
        behind.checked_sub(1).and_then(|it| self.all.get(it))
    }
}

fn text(span: Span, all: &[Span]) -> Text {
    let is_long = |length: u32| {
        span.start_line == span.end_line
            && span.start_column.saturating_add(length) >= span.end_column
    };
    if is_long(1) {
        return Text::Brace;
    }
    // The collection comes right behind it.
    let mut behind = all.iter().filter(|it| it.start_line == span.end_line);
    match is_long(2) && behind.any(|it| it.start_column == span.end_column.saturating_add(1)) {
        true => Text::In,
        false => Text::Statement,
    }
}
