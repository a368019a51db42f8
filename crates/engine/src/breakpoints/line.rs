//! Breakpoints on lines: from a path, a line and perhaps a column to statements of a module.
//!
//! A path is taken for a document by the whole path, else by the longest common end, else by the file name. Two files
//! that both exist here are different ones, however much of their paths is the same.

use std::path::Path;

use metadata::index::{Binding, Candidate, LinePoint, MatchQuality};
use metadata::pdb::{Document, Span};
use metadata::{Symbols, Token};

use super::chosen::{chosen, is_around_lambda};
use super::dead_points::DeadPoints;
use super::heads;
use super::mappable::{self, Compiler};
use super::offer::{Found, Match, Offer, Rank, Surroundings, is_optimized, module_notes, obstacle};
use crate::api::{AvailablePoint, BoundLocation, Details, Error, ErrorCode, Line, Source};
use crate::modules::LoadedModule;
use crate::source_files::{SourceFiles, parts};
use crate::stepping::il;

/// Embedded source text larger than this is not unpacked.
const MAX_EMBEDDED: usize = 32 << 20;
/// Lines and statements named in an error at most.
const NEAREST: usize = 4;
const POINTS: usize = 32;

/// What was asked for.
#[derive(Debug, Clone, Copy)]
struct Asked<'a> {
    file: &'a str,
    line: Line,
    column: Option<u32>,
}

/// A document that may be the one that was asked for.
#[derive(Debug)]
pub(super) struct Candidates {
    pub(super) rank: Rank,
    /// Path here and token.
    pub(super) documents: Vec<(String, Token)>,
    /// Whether all that was asked for is the same.
    whole: bool,
}

/// How a document relates to a path.
#[derive(Debug, PartialEq, Eq)]
enum Judged {
    Fits {
        rank: Rank,
        whole: bool,
    },
    /// Another file of the same name.
    Elsewhere,
}

/// What a module has for a line.
pub(super) fn find(
    file: &str,
    line: Line,
    column: Option<u32>,
    module: &LoadedModule,
    around: Surroundings<'_>,
) -> Offer {
    if module.is_framework_as_shipped() {
        return Offer::NOTHING;
    }
    let symbols = match module.symbols(around.process) {
        Ok(symbols) => symbols,
        Err(_) if module.is_framework() => return Offer::NOTHING,
        Err(reason) => {
            let hint = format!("{} has no symbols: {reason}", module.file_name());
            return Offer::Nothing { hint: Some(hint) };
        }
    };
    let asked = Asked { file, line, column };
    let (best, elsewhere) = documents(asked.file, symbols, around.files);
    let Some(best) = best else {
        let hint = elsewhere.map(|path| {
            format!(
                "{} was compiled from another file of that name, {path}",
                module.file_name()
            )
        });
        return Offer::Nothing { hint };
    };
    let Some((path, _)) = best.documents.first() else {
        return Offer::NOTHING;
    };
    if best.documents.iter().any(|(other, _)| other != path) && !best.rank.same {
        return Offer::Ambiguous {
            rank: best.rank,
            paths: best.documents.into_iter().map(|(path, _)| path).collect(),
        };
    }
    let document = Some(Match {
        rank: best.rank,
        path: path.clone(),
    });
    let mut found = Vec::new();
    let mut refused = None;
    for (path, token) in &best.documents {
        match statements(asked, module, symbols, (path, *token), around) {
            Ok(more) => found.extend(more),
            Err(error) => refused = Some(error),
        }
    }
    if let Some(error) = refused
        && found.is_empty()
    {
        return Offer::Refused { document, error };
    }
    if !best.whole {
        let note = match best.rank.folders {
            0 => format!("{file} was taken to be {path}, which has the same file name"),
            n => format!(
                "{file} was taken to be {path}, which has the same file name and {n} of its folders"
            ),
        };
        if let Some(first) = found.first_mut() {
            first.notes.push(note);
        }
    }
    Offer::Code {
        document,
        found,
        slots: Vec::new(),
    }
}

/// The documents that fit a path best, and one that has only the name.
pub(super) fn documents(
    file: &str,
    symbols: &Symbols,
    files: &SourceFiles,
) -> (Option<Candidates>, Option<String>) {
    let (best, elsewhere) = documents_named(file, symbols, files);
    if best.is_some() {
        return (best, elsewhere);
    }
    // A link may have a name of its own: the one that was asked for, or the one that was compiled.
    let path = Path::new(file);
    let real = path.is_absolute().then(|| path.canonicalize().ok());
    let real = real.flatten();
    let target = real
        .as_deref()
        .filter(|it| it.file_name() != path.file_name());
    let by_link = target.and_then(Path::to_str).and_then(|target| {
        let (by_link, _) = documents_named(target, symbols, files);
        by_link.filter(|it| it.rank.same)
    });
    let linked = || linked(file, real.as_deref(), symbols, files);
    (by_link.or_else(linked), elsewhere)
}

/// The documents that were compiled under the name of a link to a file: `real` if that is known, else one with a path that
/// ends so.
fn linked(
    file: &str,
    real: Option<&Path>,
    symbols: &Symbols,
    files: &SourceFiles,
) -> Option<Candidates> {
    let mut best: Option<Candidates> = None;
    for link in files.links(symbols).iter() {
        let Some(target) = link.target.to_str() else {
            continue;
        };
        let rank = match real {
            Some(real) if real == link.target => Rank {
                same: true,
                ..rank(file, target)
            },
            Some(_) => continue,
            None if MatchQuality::of(file, target, true).is_some() => rank(file, target),
            None => continue,
        };
        if best.as_ref().is_some_and(|it| rank < it.rank) {
            continue;
        }
        let mut documents = vec![(link.path.clone(), link.document)];
        if let Some(equal) = best.filter(|it| it.rank == rank) {
            documents.extend(equal.documents);
        }
        best = Some(Candidates {
            rank,
            documents,
            whole: true,
        });
    }
    best
}

fn documents_named(
    file: &str,
    symbols: &Symbols,
    files: &SourceFiles,
) -> (Option<Candidates>, Option<String>) {
    let mut best: Option<Candidates> = None;
    let mut elsewhere = None;
    for (recorded, token) in symbols.documents().named(file) {
        let Ok(document) = symbols.pdb().document(token) else {
            continue;
        };
        let path = files.here(recorded).display().to_string();
        let (rank, whole) = match judge(file, recorded, &path, &document, files) {
            Judged::Fits { rank, whole } => (rank, whole),
            Judged::Elsewhere => {
                elsewhere = elsewhere.or(Some(path));
                continue;
            }
        };
        match &mut best {
            Some(best) if rank < best.rank => {}
            Some(best) if rank == best.rank => best.documents.push((path, token)),
            _ => {
                best = Some(Candidates {
                    rank,
                    documents: vec![(path, token)],
                    whole,
                });
            }
        }
    }
    (best, elsewhere)
}

fn judge(
    asked: &str,
    recorded: &str,
    here: &str,
    document: &Document<'_>,
    files: &SourceFiles,
) -> Judged {
    let (mut rank, mut whole) = (rank(asked, recorded), false);
    if here != recorded {
        rank = rank.max(self::rank(asked, here));
    }
    if rank.same {
        return Judged::Fits { rank, whole: true };
    }
    let path = Path::new(asked);
    if !path.is_absolute() {
        // The end of a path was given, and it is the end of this one.
        whole |= rank.folders + 1 == parts(asked).count();
        return Judged::Fits { rank, whole };
    }
    let Ok(asked_file) = path.canonicalize() else {
        return Judged::Fits { rank, whole };
    };
    let here = Path::new(here);
    let known_file = here
        .is_absolute()
        .then(|| here.canonicalize().ok())
        .flatten();
    if known_file.as_ref() == Some(&asked_file) {
        let rank = Rank { same: true, ..rank };
        return Judged::Fits { rank, whole: true };
    }
    match files.is_as_compiled(&asked_file, document) {
        // Byte for byte what was compiled; if that is not here any more, it is what was meant.
        Some(true) if known_file.is_none() => Judged::Fits {
            rank: Rank { same: true, ..rank },
            whole: true,
        },
        Some(true) => Judged::Fits { rank, whole },
        _ if known_file.is_some() => Judged::Elsewhere,
        Some(false) if rank.folders == 0 => Judged::Elsewhere,
        _ => Judged::Fits { rank, whole },
    }
}

fn rank(asked: &str, path: &str) -> Rank {
    let of = |ignore_case| MatchQuality::of(asked, path, ignore_case);
    let (quality, case) = match of(false) {
        Some(quality) => (Some(quality), true),
        None => (of(true), false),
    };
    match quality {
        Some(MatchQuality::Exact) => Rank {
            same: true,
            case,
            folders: parts(asked).count().saturating_sub(1),
        },
        Some(MatchQuality::Suffix(folders)) => Rank {
            same: false,
            case,
            folders,
        },
        Some(MatchQuality::Name) | None => Rank {
            same: false,
            case,
            folders: 0,
        },
    }
}

/// The statements of a document that a breakpoint on the line belongs to.
fn statements(
    asked: Asked<'_>,
    module: &LoadedModule,
    symbols: &Symbols,
    (path, document): (&str, Token),
    around: Surroundings<'_>,
) -> Result<Vec<Found>, Error> {
    let changed = changed(asked, symbols, path, document, around.files);
    if let Some(why) = &changed
        && around.files.must_be_exact()
    {
        return Err(Error::new(ErrorCode::InvalidFile, why.clone())
            .hint("build the program anew, or do not ask for exact sources"));
    }
    let dead = DeadPoints::of(module, around.process);
    let is_place = |it: &LinePoint| !dead.has(it.method(), it.offset);
    let mut all = symbols.candidates_among(document, asked.line.0, asked.column, is_place);
    // In the body of a lambda a column means a statement of that, not the one that the lambda is written in.
    let around_lambda = |it: &LinePoint| {
        let column = asked.column.unwrap_or_default();
        asked.column.is_some()
            && (it.span.start_line..=it.span.end_line).contains(&asked.line.0)
            && is_around_lambda(it, symbols.points(document), (asked.line.0, column))
    };
    all.retain(|it| !around_lambda(&it.point));
    let is_on_statement = |it: &Candidate| it.binding != Binding::Next;
    if asked.column.is_none() {
        match all.iter().any(is_on_statement) {
            true => entered_first(&mut all, module, symbols, document, around),
            false => all = moved(asked, all, module, symbols, (path, document), around),
        }
        if is_bare_switch(asked, &all, module, symbols, (path, document), around) {
            return Err(no_code_of_switch(path, asked.line.0));
        }
    }
    if all.is_empty() {
        let points = symbols.points(document).iter();
        let places = points.filter(|it| is_place(it) && !around_lambda(it));
        let places = places.copied().collect();
        return Err(no_code(
            asked,
            symbols,
            (path, document),
            places,
            around.files,
        ));
    }
    let points = symbols.points(document);
    let (candidates, inside) = chosen(&all, asked.column, points);
    let mut notes = module_notes(module, around);
    notes.extend(changed);
    if !inside.is_empty() {
        let mut columns: Vec<u32> = inside.iter().map(|it| it.point.span.start_column).collect();
        columns.sort_unstable();
        columns.dedup();
        let texts: Vec<String> = columns.iter().map(u32::to_string).collect();
        let columns = match texts.as_slice() {
            [rest @ .., last] if !rest.is_empty() => {
                format!("columns {} and {last}", rest.join(", "))
            }
            _ => format!("column {}", texts.join("")),
        };
        notes.push(format!(
            "the line holds more code, at {columns}: give the column to stop there"
        ));
    }
    let mut found = Vec::new();
    let mut refused = None;
    for candidate in candidates {
        let point = candidate.point;
        if let Some(error) = obstacle(module, point.method(), around) {
            refused = Some(error);
            continue;
        }
        let place = match placed(module, symbols, document, &point, around) {
            Some(place) => place,
            None => {
                refused = Some(no_code_of_its_own(path, &point, points));
                continue;
            }
        };
        let left_out = (place.span != point.span).then_some(point.span.start_line);
        let is_inside = left_out.is_none() && calls_before(module, &point, &place, around);
        let point = place;
        let start = point.span.start_line;
        let moved = match candidate.binding {
            _ if let Some(line) = left_out => Some(format!(
                "the optimiser left no code of its own on line {line}; moved to line {start}"
            )),
            _ if is_inside => Some(format!(
                "the optimiser left no code of its own where line {start} begins: the program stops inside it, behind a call"
            )),
            Binding::Exact if start == asked.line.0 => None,
            Binding::Exact | Binding::Within => {
                Some(format!("moved to line {start}, where the statement begins"))
            }
            Binding::Next => Some(format!(
                "line {} has no code; moved to line {start}",
                asked.line.0
            )),
        };
        let source = Source {
            path: path.into(),
            line: Line(start),
            column: Some(point.span.start_column),
        };
        let shown = BoundLocation {
            module: module.file_name(),
            method: module.method_name(around.process, point.method()),
            source: Some(source),
            il_offset: point.offset.0,
            may_be_passed: is_optimized(module, around),
        };
        found.push(Found {
            method: point.method(),
            offset: point.offset,
            shown,
            moved,
            notes: notes.clone(),
        });
    }
    match refused {
        Some(error) if found.is_empty() => Err(error),
        _ => Ok(found),
    }
}

/// Where a breakpoint on a line without code goes: to the first statement of the method whose head the line belongs to, else to
/// those that follow in the same method.
fn moved(
    asked: Asked<'_>,
    mut following: Vec<Candidate>,
    module: &LoadedModule,
    symbols: &Symbols,
    (path, document): (&str, Token),
    around: Surroundings<'_>,
) -> Vec<Candidate> {
    let Ok(opened) = module.metadata(around.process) else {
        return following;
    };
    let is_constructor = |it: &LinePoint| {
        let method = opened.metadata().method(it.method());
        let name = method.and_then(|it| it.name_bytes());
        name.is_ok_and(|it| matches!(it, b".ctor" | b".cctor"))
    };
    let points = symbols.points(document);
    let first = points.partition_point(|it| it.span.start_line <= asked.line.0);
    let (before, behind) = points.split_at_checked(first).unwrap_or_default();
    // Constructors begin with the initialisers of fields, wherever those are.
    let is_begun = |point: &LinePoint| {
        !is_constructor(point) && before.iter().any(|it| it.method() == point.method())
    };
    let next = behind.first().filter(|it| !is_begun(it));
    if next.is_none() && !following.iter().any(|it| is_constructor(&it.point)) {
        return following;
    }
    let here = source_file(asked, path);
    let Some(text) = compiled_text(here, symbols, document, around.files) else {
        return following;
    };
    let start = |it: &LinePoint| (it.span.start_line, it.span.start_column);
    if let Some(next) = next
        && heads::leads_to(&text, asked.line.0, start(next))
    {
        // All constructors run an initialiser; the brace of a finalizer is two statements.
        let same = behind.iter().take_while(|it| it.span == next.span);
        let mut first: Vec<LinePoint> = same.copied().collect();
        first.sort_by_key(|it| (it.method(), it.offset));
        first.dedup_by_key(|it| it.method());
        let binding = Binding::Next;
        let first = first.into_iter();
        return first.map(|point| Candidate { binding, point }).collect();
    }
    following.retain(|it| {
        !is_constructor(&it.point)
            || heads::are_in_one_member(&text, asked.line.0, start(&it.point))
    });
    following
}

/// Of the statements of a method on a line the one is meant that code comes to first. In the text that is the first one, but in an
/// optimised build, where the word `foreach` has no code, it is what the loop goes through, not its variable.
fn entered_first(
    all: &mut [Candidate],
    module: &LoadedModule,
    symbols: &Symbols,
    document: Token,
    around: Surroundings<'_>,
) {
    let Ok(opened) = module.metadata(around.process) else {
        return;
    };
    if opened.metadata().is_optimized() != Some(true) {
        return;
    }
    let exact = |it: &&mut Candidate| it.binding == Binding::Exact;
    for candidate in all.iter_mut().filter(exact) {
        let point = candidate.point;
        let on_line = symbols.points_on(document, point.span.start_line).iter();
        let own = on_line.filter(|it| it.method() == point.method());
        if let Some(first) = own.min_by_key(|it| it.offset)
            && first.offset < point.offset
            && let Ok(Some(body)) = opened.body(point.method())
            && mappable::is_run_into(body.code, first.offset)
        {
            candidate.point = *first;
        }
    }
}

/// Whether a `switch` statement begins on the line before all that has code. In an optimised build it has none of its own, and what
/// comes next is one of its cases.
fn is_bare_switch(
    asked: Asked<'_>,
    all: &[Candidate],
    module: &LoadedModule,
    symbols: &Symbols,
    (path, document): (&str, Token),
    around: Surroundings<'_>,
) -> bool {
    let opened = module.metadata(around.process);
    let is_optimized = opened.is_ok_and(|it| it.metadata().is_optimized() == Some(true));
    let text = || compiled_text(source_file(asked, path), symbols, document, around.files);
    let Some(column) = is_optimized
        .then(text)
        .flatten()
        .and_then(|it| heads::switch_on(&it, asked.line.0))
    else {
        return false;
    };
    all.iter().all(|it| {
        let span = it.point.span;
        span.start_line != asked.line.0 || span.start_column > column
    })
}

/// The point, moved on to where a breakpoint can be: perhaps to the next statement; `None` if there is none to move to.
fn placed(
    module: &LoadedModule,
    symbols: &Symbols,
    document: Token,
    point: &LinePoint,
    around: Surroundings<'_>,
) -> Option<LinePoint> {
    let Ok(opened) = module.metadata(around.process) else {
        return Some(*point);
    };
    // Every statement of a Debug build has code of its own.
    if opened.metadata().is_optimized() != Some(true) {
        return Some(*point);
    }
    let Ok(Some(body)) = opened.body(point.method()) else {
        return Some(*point);
    };
    let compiler = match module.is_optimized() {
        Some(true) => Compiler::Optimizing,
        _ => Compiler::Plain,
    };
    let offset = mappable::place_from(opened.metadata(), &body, point.offset, compiler)?;
    let mut statement = *point;
    let behind = symbols.points(document).iter().filter(|it| {
        it.method() == point.method() && it.offset > point.offset && it.offset <= offset
    });
    if let Some(last) = behind.max_by_key(|it| it.offset) {
        statement = *last;
    }
    statement.offset = offset;
    Some(statement)
}

/// Whether anything is called between a point and the place that was found for it.
fn calls_before(
    module: &LoadedModule,
    point: &LinePoint,
    place: &LinePoint,
    around: Surroundings<'_>,
) -> bool {
    let opened = module.metadata(around.process).ok();
    let body = opened.and_then(|it| it.body(point.method()).ok().flatten());
    body.is_some_and(|it| !il::calls_between(it.code, point.offset, place.offset).is_empty())
}

/// Says that the compiler has made one thing of a statement and what comes before it.
fn no_code_of_its_own(path: &str, point: &LinePoint, points: &[LinePoint]) -> Error {
    let own = points.iter().filter(|it| it.method() == point.method());
    let before = own.filter(|it| it.offset < point.offset);
    let before = before
        .max_by_key(|it| it.offset)
        .map_or_else(String::new, |it| {
            let Span {
                start_line,
                start_column,
                ..
            } = it.span;
            format!(", on line {start_line}, column {start_column}")
        });
    let message = format!(
        "the optimiser left no code of its own on line {} of {path}: it is run together with the statement before it{before}",
        point.span.start_line
    );
    Error::new(ErrorCode::InvalidLine, message)
        .hint("set it on the statement before it, or build without optimisation (a Debug build)")
}

fn no_code_of_switch(path: &str, line: u32) -> Error {
    let message = format!(
        "the optimiser left no code of its own on line {line} of {path}: the `switch` is run together with what comes before it"
    );
    Error::new(ErrorCode::InvalidLine, message)
        .hint("set it on a statement before it or on those of its cases, or build without optimisation (a Debug build)")
}

/// Says that the source file is not the one that was compiled, if so.
fn changed(
    asked: Asked<'_>,
    symbols: &Symbols,
    path: &str,
    document: Token,
    files: &SourceFiles,
) -> Option<String> {
    let document = symbols.pdb().document(document).ok()?;
    let file = source_file(asked, path)?;
    let as_compiled = files.is_as_compiled(file, &document)?;
    (!as_compiled).then(|| {
        format!(
            "{} was changed since the program was built: its lines may be others",
            file.display()
        )
    })
}

/// The file here that holds the text.
fn source_file<'a>(asked: Asked<'a>, path: &'a str) -> Option<&'a Path> {
    [asked.file, path]
        .into_iter()
        .map(Path::new)
        .find(|it| it.is_absolute() && it.is_file())
}

/// The text that was compiled, if it is at hand: in the file `here`, or in the symbols.
pub(crate) fn compiled_text(
    here: Option<&Path>,
    symbols: &Symbols,
    document: Token,
    files: &SourceFiles,
) -> Option<String> {
    let pdb = symbols.pdb();
    let described = pdb.document(document).ok()?;
    if let Some(file) = here
        && files.is_as_compiled(file, &described) != Some(false)
    {
        let text = std::fs::read(file).ok()?;
        return Some(String::from_utf8_lossy(&text).into_owned());
    }
    let embedded = pdb.embedded_source(document, MAX_EMBEDDED).ok()??;
    Some(String::from_utf8_lossy(&embedded).into_owned())
}

/// What a document says, as it was compiled.
pub(crate) fn text_of(symbols: &Symbols, document: Token, files: &SourceFiles) -> Option<String> {
    let here = files.here(symbols.documents().path(document)?);
    let here = Some(here.as_path()).filter(|it| it.is_file());
    compiled_text(here, symbols, document, files)
}

/// Says which lines, or columns of the line, have code.
fn no_code(
    asked: Asked<'_>,
    symbols: &Symbols,
    (path, document): (&str, Token),
    points: Vec<LinePoint>,
    files: &SourceFiles,
) -> Error {
    let line = asked.line.0;
    let on_line: Vec<&LinePoint> = points
        .iter()
        .filter(|it| (it.span.start_line..=it.span.end_line).contains(&line))
        .take(POINTS)
        .collect();
    if let (Some(column), false) = (asked.column, on_line.is_empty()) {
        let text = compiled_text(source_file(asked, path), symbols, document, files);
        let mut available: Vec<AvailablePoint> = on_line
            .iter()
            .map(|point| available(point.span, text.as_deref()))
            .collect();
        available.dedup();
        let columns: Vec<String> = available
            .iter()
            .map(|it| match it.start_line == it.end_line {
                // The end that the compiler gives is behind the statement.
                true => format!("{} to {}", it.start_column, it.end_column.saturating_sub(1)),
                false => format!("{} of line {} on", it.start_column, it.start_line),
            })
            .collect();
        let message = format!(
            "no statement of {path}:{line} holds column {column}; there are statements in columns {}",
            columns.join(", ")
        );
        return Error::new(ErrorCode::InvalidColumn, message)
            .hint("give a column inside one of the available statements, or none")
            .details(Details::AvailablePoints(available));
    }
    let mut nearest: Vec<u32> = points.iter().map(|point| point.span.start_line).collect();
    nearest.dedup();
    nearest.sort_by_key(|it| it.abs_diff(line));
    nearest.truncate(NEAREST);
    nearest.sort_unstable();
    let listed: Vec<String> = nearest.iter().map(u32::to_string).collect();
    let message = match listed.is_empty() {
        true => format!("{path} has no code at all in this program"),
        false => format!(
            "{path}:{line} has no code; the nearest lines that do are {}",
            listed.join(", ")
        ),
    };
    Error::new(ErrorCode::InvalidLine, message)
        .hint("set it on one of those lines")
        .details(Details::NearestLines(nearest))
}

/// Columns count UTF-16 units, as the compiler counts them.
pub(crate) fn available(span: Span, text: Option<&str>) -> AvailablePoint {
    let line = text.and_then(|it| it.lines().nth(span.start_line.saturating_sub(1) as usize));
    let part = line.map(|line| {
        let last = match span.end_line == span.start_line {
            true => span.end_column,
            false => u32::MAX,
        };
        let (from, to) = (span.start_column.saturating_sub(1), last.saturating_sub(1));
        let units = line.encode_utf16().take(to as usize);
        let units: Vec<u16> = units.skip(from as usize).collect();
        String::from_utf16_lossy(&units)
    });
    AvailablePoint {
        start_line: span.start_line,
        start_column: span.start_column,
        end_line: span.end_line,
        end_column: span.end_column,
        text: part,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(asked: &str, path: &str, same: bool, case: bool, folders: usize) {
        let expected = Rank {
            same,
            case,
            folders,
        };
        assert_eq!(rank(asked, path), expected, "{asked} {path}");
    }

    #[test]
    fn documents_are_ranked_by_path_then_suffix_then_name() {
        check("/src/a/P.cs", "/src/a/P.cs", true, true, 2);
        check("/me/a/P.cs", "/src/a/P.cs", false, true, 1);
        check(r"a\P.cs", "/src/a/P.cs", false, true, 1);
        check("P.cs", r"C:\x\P.cs", false, true, 0);
        check("/src/A/p.cs", "/src/a/P.cs", true, false, 2);
        let ranks =
            ["/src/a/P.cs", "a/P.cs", "P.cs", "src/A/p.cs"].map(|it| rank(it, "/src/a/P.cs"));
        assert!(ranks.is_sorted_by(|a, b| a > b), "{ranks:?}");
    }

    #[test]
    fn texts_of_statements_count_utf_16_units() {
        let span = Span {
            start_line: 2,
            start_column: 6,
            end_line: 2,
            end_column: 10,
        };
        let point = available(span, Some("\n\"🦀\"; run;"));
        assert_eq!(point.text.as_deref(), Some(" run"));
        assert_eq!(available(span, Some("")).text, None);
    }
}
