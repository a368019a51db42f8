//! From a place to locations in a module.

use std::path::Path;

use cordebug::process::Process;
use metadata::index::{Binding, Candidate, MatchQuality};
use metadata::pdb::Span;
use metadata::{IlOffset, Symbols, Token};

use super::function::FunctionName;
use crate::api::{AvailablePoint, BoundLocation, Details, Error, ErrorCode, Line, Place, Source};
use crate::modules::LoadedModule;

/// A location that a module offers for a place.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) method: Token,
    pub(super) offset: IlOffset,
    pub(super) shown: BoundLocation,
    /// What the user should know, such as that it moved.
    pub(super) remark: Option<String>,
}

/// Refuses a place that makes no sense in any module.
pub(super) fn check(place: &Place) -> Result<(), Error> {
    match place {
        Place::Line { file, line, column } => {
            if file.trim().is_empty() {
                return Err(Error::new(
                    ErrorCode::InvalidFile,
                    "a breakpoint needs the name of a source file",
                ));
            }
            if line.0 == 0 || *column == Some(0) {
                return Err(Error::new(
                    ErrorCode::InvalidParameter,
                    "lines and columns count from 1",
                ));
            }
            Ok(())
        }
        Place::Function { name } => FunctionName::parse(name).map(|_| ()),
    }
}

/// The locations of a place in a module. Nothing if the module does not have it; an error if it has the file but no
/// code there.
pub(super) fn find(
    place: &Place,
    module: &LoadedModule,
    process: &Process,
) -> Result<Vec<Found>, Error> {
    match place {
        Place::Line { file, line, column } => {
            let Ok(symbols) = module.symbols(process) else {
                return Ok(Vec::new());
            };
            find_line(file, *line, *column, module, symbols, process)
        }
        Place::Function { name } => FunctionName::parse(name)?.find(module, process),
    }
}

fn find_line(
    file: &str,
    line: Line,
    column: Option<u32>,
    module: &LoadedModule,
    symbols: &Symbols,
    process: &Process,
) -> Result<Vec<Found>, Error> {
    let Some(matches) = symbols.documents().find(file) else {
        return Ok(Vec::new());
    };
    let documents: Vec<_> = matches
        .documents
        .iter()
        .filter(|(path, _)| may_be_the_same(file, path))
        .collect();
    if documents.len() > 1 && matches.quality != MatchQuality::Exact {
        let paths: Vec<String> = documents
            .iter()
            .map(|(path, _)| (*path).to_owned())
            .collect();
        return Err(Error::new(
            ErrorCode::InvalidFile,
            format!("{file} may be any of {}", paths.join(", ")),
        )
        .hint("give more of the path")
        .details(Details::Candidates(paths)));
    }
    let mut found = Vec::new();
    let mut refused = None;
    for (path, document) in documents {
        let candidates = symbols.candidates(*document, line.0, column);
        let candidates = outermost(candidates);
        if candidates.is_empty() {
            refused = Some(no_code(symbols, *document, path, line, column));
        }
        for candidate in candidates {
            let point = candidate.point;
            let remark = match candidate.binding {
                Binding::Exact => None,
                Binding::Within => Some(format!(
                    "moved to line {}, where the statement begins",
                    point.span.start_line
                )),
                Binding::Next => Some(format!(
                    "line {} has no code; moved to line {}",
                    line.0, point.span.start_line
                )),
            };
            let source = Source {
                path: path.into(),
                line: Line(point.span.start_line),
                column: Some(point.span.start_column),
            };
            let shown = BoundLocation {
                module: module.file_name(),
                method: module.method_name(process, point.method()),
                source: Some(source),
                il_offset: point.offset.0,
            };
            found.push(Found {
                method: point.method(),
                offset: point.offset,
                shown,
                remark,
            });
        }
    }
    match refused {
        Some(error) if found.is_empty() => Err(error),
        _ => Ok(found),
    }
}

/// Two existing files at different paths are different files, however much of their paths is the same.
fn may_be_the_same(asked: &str, recorded: &str) -> bool {
    let (asked, recorded) = (Path::new(asked), Path::new(recorded));
    if !asked.is_absolute() || asked == recorded {
        return true;
    }
    match (asked.canonicalize(), recorded.canonicalize()) {
        (Ok(asked), Ok(recorded)) => asked == recorded,
        _ => true,
    }
}

/// Without a column a breakpoint belongs to the statements that begin on the line, not to lambdas inside them.
fn outermost(candidates: Vec<Candidate>) -> Vec<Candidate> {
    let inside = |inner: Span, outer: Span| {
        inner != outer
            && (outer.start_line, outer.start_column) <= (inner.start_line, inner.start_column)
            && (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)
    };
    let all = candidates.clone();
    let mut kept = candidates;
    kept.retain(|it| {
        all.iter()
            .all(|other| !inside(it.point.span, other.point.span))
    });
    kept
}

/// Says which lines, or columns of the line, have code.
fn no_code(
    symbols: &Symbols,
    document: Token,
    path: &str,
    line: Line,
    column: Option<u32>,
) -> Error {
    let on_line = symbols.points_on(document, line.0);
    if let (Some(column), false) = (column, on_line.is_empty()) {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let mut points: Vec<AvailablePoint> = on_line
            .iter()
            .map(|point| available(point.span, &text))
            .collect();
        points.dedup();
        let columns: Vec<String> = points
            .iter()
            .map(|it| format!("{}-{}", it.start_column, it.end_column))
            .collect();
        let message = format!(
            "no statement of {path}:{} holds column {column}; there are {}",
            line.0,
            columns.join(", ")
        );
        return Error::new(ErrorCode::InvalidColumn, message)
            .hint("give a column inside one of the available statements, or none")
            .details(Details::AvailablePoints(points));
    }
    let mut nearest: Vec<u32> = symbols
        .points(document)
        .iter()
        .map(|point| point.span.start_line)
        .collect();
    nearest.dedup();
    nearest.sort_by_key(|it| it.abs_diff(line.0));
    nearest.truncate(4);
    nearest.sort_unstable();
    let listed: Vec<String> = nearest.iter().map(u32::to_string).collect();
    Error::new(
        ErrorCode::InvalidLine,
        format!(
            "{path}:{} has no code; the nearest lines that do are {}",
            line.0,
            listed.join(", ")
        ),
    )
    .hint("set it on one of those lines")
    .details(Details::NearestLines(nearest))
}

fn available(span: Span, text: &str) -> AvailablePoint {
    let line = text.lines().nth(span.start_line.saturating_sub(1) as usize);
    let part = line.map(|line| {
        let end = if span.end_line == span.start_line {
            span.end_column
        } else {
            u32::MAX
        };
        let wanted = span.start_column.saturating_sub(1) as usize..end.saturating_sub(1) as usize;
        line.chars()
            .enumerate()
            .filter(|(at, _)| wanted.contains(at))
            .map(|(_, character)| character)
            .collect()
    });
    AvailablePoint {
        start_line: span.start_line,
        start_column: span.start_column,
        end_line: span.end_line,
        end_column: span.end_column,
        text: part,
    }
}
