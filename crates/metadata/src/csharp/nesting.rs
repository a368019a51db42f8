//! Local functions inside others: metadata names each by its method only, but its statements lie between those of the one
//! that it is written in.
//!
//! What is told is certain: code that lies between two statements of a function is inside it. Optimised builds leave out
//! the points of braces; what is written before a function's first statement or behind its last is not told there.

use super::generated::GeneratedKind;
use super::methods::{MAX_SIBLINGS, kind, outermost};
use crate::model::{Method, TypeDef};
use crate::symbols::Symbols;
use crate::token::Token;
use crate::view::Metadata;

/// The text from the first statement of a method to its last: a document, and the positions of its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Extent {
    document: Token,
    start: (u32, u32),
    end: (u32, u32),
}

impl Extent {
    fn holds(&self, other: &Self) -> bool {
        self.document == other.document
            && self.start <= other.start
            && other.end <= self.end
            && self != other
    }
}

impl<'a> TypeDef<'a> {
    /// The local functions in the methods of a type, those in its closures too.
    pub fn local_functions(self) -> impl Iterator<Item = Method<'a>> + use<'a> {
        let metadata = self.metadata();
        let nested = self.nested().take(MAX_SIBLINGS).flatten();
        let closures = nested
            .filter_map(move |it| metadata.type_def(it).ok())
            .filter(|it| {
                it.name()
                    .is_ok_and(|it| kind(&it) == Some(GeneratedKind::Closure))
            });
        std::iter::once(self)
            .chain(closures)
            .flat_map(|it| it.methods().flatten())
            .take(MAX_SIBLINGS)
            .filter(|it| it.name_bytes().is_ok_and(|it| it.starts_with(b"<")))
            .filter(|it| {
                it.name()
                    .is_ok_and(|it| kind(&it) == Some(GeneratedKind::LocalFunction))
            })
    }
}

impl Symbols {
    /// The local functions that a local function or lambda of `metadata` is written in, the outermost first.
    #[must_use]
    pub fn local_functions_around(&self, metadata: Metadata<'_>, method: Token) -> Vec<Token> {
        let Ok((name, ty)) = metadata.written_in(method) else {
            return Vec::new();
        };
        let is_inside = matches!(
            kind(&name),
            Some(GeneratedKind::Lambda | GeneratedKind::LocalFunction)
        );
        let Some(own) = is_inside.then(|| self.extent(method)).flatten() else {
            return Vec::new();
        };
        let Ok(home) = metadata.type_def(ty) else {
            return Vec::new();
        };
        let mut around: Vec<(Extent, Token)> = home
            .local_functions()
            .filter(|it| it.name().is_ok_and(|it| outermost(&it) == outermost(&name)))
            .filter_map(|it| Some((self.extent(it.token())?, it.token())))
            .filter(|(extent, _)| extent.holds(&own))
            .collect();
        around.sort_unstable_by_key(|(it, _)| (it.start, std::cmp::Reverse(it.end)));
        around.into_iter().map(|(_, token)| token).collect()
    }

    /// Whether the statements of one method lie between those of another.
    #[must_use]
    pub fn statements_hold(&self, outer: Token, inner: Token) -> bool {
        let outer = self.extent(outer);
        outer
            .zip(self.extent(inner))
            .is_some_and(|(outer, inner)| outer.holds(&inner))
    }

    /// Where the first statement of a method begins: a document, a line and a column.
    #[must_use]
    pub fn first_statement(&self, method: Token) -> Option<(Token, u32, u32)> {
        let Extent {
            document, start, ..
        } = self.extent(method)?;
        Some((document, start.0, start.1))
    }

    /// Where the statements of a method lie, also if it is async or an iterator; nothing if they are in several documents.
    fn extent(&self, method: Token) -> Option<Extent> {
        let body = self.pdb().move_next_method(method).ok().flatten();
        let points = self.sequence_points(body.unwrap_or(method)).ok()?;
        let mut extent: Option<Extent> = None;
        for point in points {
            let Some(span) = point.span else { continue };
            let of_point = Extent {
                document: point.document,
                start: (span.start_line, span.start_column),
                end: (span.end_line, span.end_column),
            };
            let known = extent.get_or_insert(of_point);
            if known.document != of_point.document {
                return None;
            }
            known.start = known.start.min(of_point.start);
            known.end = known.end.max(of_point.end);
        }
        extent
    }
}
