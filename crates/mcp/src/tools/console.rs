//! The program's console: its output and its standard input.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use host::api::{
    Error, ErrorCode, Origin, OutputChunk, OutputCursor, OutputPage, OutputQuery, Reply, Request,
    State, Stream,
};
use regex_lite::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Call;
use crate::registry::Which;
use crate::report::{Chunk, InputReport, OutputPageReport, build, text};
use crate::session::{self, DebugSession};

/// Bytes of a page.
const PAGE: u32 = 8000;
/// Bytes looked at in one go when only the last matches are wanted.
const SCAN: u32 = 64 << 10;
/// Below this a page is full.
const MIN_PAGE: u32 = 500;
/// Bytes of one line that are looked at and shown.
const LINE: usize = 4000;
/// How long a search may take; the answer says how far it came.
const SEARCH: Duration = Duration::from_secs(5);
/// Memory of a compiled filter.
const FILTER: usize = 64 << 10;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OutputArguments {
    /// Id, if several.
    session: Option<String>,
    /// Read on from this position; 0 is the start, each answer tells the next one.
    #[schemars(range(max = 9_007_199_254_740_991_u64))]
    cursor: Option<u64>,
    /// Only this stream.
    stream: Option<StreamName>,
    /// Only lines that match this regular expression.
    filter: Option<String>,
    /// Only the last so many lines.
    #[schemars(range(min = 1, max = 10_000))]
    tail: Option<u32>,
}

#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum StreamName {
    Stdout,
    Stderr,
    Trace,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct InputArguments {
    /// Id, if several.
    session: Option<String>,
    /// What to write; end a line with \n.
    #[serde(default)]
    text: String,
    /// Closes standard input afterwards: the program reads end of file.
    #[serde(default)]
    close: bool,
}

pub(super) async fn output(
    call: &Call,
    arguments: OutputArguments,
) -> Result<OutputPageReport, Error> {
    let session = call
        .registry
        .find(arguments.session.as_deref(), Which::Any)?;
    let filter = arguments.filter.as_deref().map(compiled).transpose()?;
    session
        .blocking(move |session| match filter {
            Some(filter) => matching(session, &arguments, &filter),
            None => page(session, &arguments),
        })
        .await?
}

pub(super) async fn input(call: &Call, arguments: InputArguments) -> Result<InputReport, Error> {
    let session = call
        .registry
        .find(arguments.session.as_deref(), Which::Live)?;
    let InputArguments { text, close, .. } = arguments;
    if text.is_empty() && !close {
        return Err(
            Error::new(ErrorCode::InvalidParameter, "there is nothing to write")
                .hint("give text, or close=true to end the input"),
        );
    }
    if session.news().status.origin == Some(Origin::Attached) {
        let message = format!(
            "{} was attached to: its standard input belongs to whoever started it, and cannot be written from here",
            session.id()
        );
        return Err(Error::new(ErrorCode::InvalidParameter, message).hint(
            "write to it where it was started; a program that debug_launch starts takes input",
        ));
    }
    match session.request(Request::Input { text, close }).await? {
        Reply::Input { accepted } => Ok(InputReport {
            session: session.id().to_owned(),
            accepted,
            closed: close,
            next: match session.news().status.state {
                State::Stopped => {
                    "debug_continue: the program is stopped, and reads it when it runs."
                }
                _ => "debug_wait or process_output shows what it does with it.",
            }
            .to_owned(),
        }),
        other => Err(session::unexpected(&other)),
    }
}

fn compiled(filter: &str) -> Result<Regex, Error> {
    RegexBuilder::new(filter)
        .size_limit(FILTER)
        .build()
        .map_err(|error| {
            let message = format!(
                "the filter {} is not a regular expression: {error}",
                text::quoted(filter, 60)
            );
            Error::new(ErrorCode::InvalidParameter, message)
                .hint("escape what is meant literally, such as \\( or \\.")
        })
}

fn query(arguments: &OutputArguments, from: u64, max_bytes: u32, tail: bool) -> OutputQuery {
    let stream = arguments.stream.map(|stream| match stream {
        StreamName::Stdout => Stream::Stdout,
        StreamName::Stderr => Stream::Stderr,
        StreamName::Trace => Stream::Trace,
    });
    OutputQuery {
        from: OutputCursor(from),
        stream,
        max_bytes,
        tail,
    }
}

/// A page as it is.
fn page(session: &DebugSession, arguments: &OutputArguments) -> Result<OutputPageReport, Error> {
    let newest = arguments.cursor.is_none() || arguments.tail.is_some();
    let mut page = session.output(query(
        arguments,
        arguments.cursor.unwrap_or(0),
        PAGE,
        newest,
    ))?;
    if let Some(lines) = arguments.tail {
        page.skipped += keep_last_lines(&mut page.chunks, lines as usize);
        page.invalid_bytes = build::shown_invalid(
            page.invalid_bytes,
            page.chunks.iter().map(|chunk| chunk.text.as_str()),
        );
    }
    Ok(OutputPageReport {
        chunks: build::chunks(&page),
        skipped: page.skipped,
        ..frame(session, &page)
    })
}

/// An answer without its chunks.
fn frame(session: &DebugSession, page: &OutputPage) -> OutputPageReport {
    OutputPageReport {
        session: session.id().to_owned(),
        lost: page.lost,
        elsewhere: page.elsewhere,
        invalid_bytes: page.invalid_bytes,
        cursor: page.next.0,
        end: page.end.0,
        // Nothing is known of an output that goes elsewhere; more may be logged as long as the session lives.
        closed: page.closed && (!page.elsewhere || session.is_over()),
        ..OutputPageReport::default()
    }
}

/// Drops all but the last lines; how many bytes that were.
fn keep_last_lines(chunks: &mut Vec<OutputChunk>, lines: usize) -> u64 {
    let mut left = lines;
    let mut dropped = 0;
    for chunk in chunks.iter_mut().rev() {
        let body = chunk.text.strip_suffix('\n').unwrap_or(&chunk.text);
        let cut = match left {
            0 => chunk.text.len(),
            _ => body
                .rmatch_indices('\n')
                .nth(left - 1)
                .map_or(0, |(newline, _)| newline + 1),
        };
        left = left.saturating_sub(body.split('\n').count());
        // A byte that is no text was written as a mark of three.
        let marks = chunk.text.drain(..cut).filter(|it| *it == '\u{fffd}');
        dropped += cut as u64 - 2 * marks.count() as u64;
    }
    chunks.retain(|chunk| !chunk.text.is_empty());
    dropped
}

/// The lines that match, from the cursor on; or the last ones.
fn matching(
    session: &DebugSession,
    arguments: &OutputArguments,
    filter: &Regex,
) -> Result<OutputPageReport, Error> {
    let begun = Instant::now();
    let mut from = arguments.cursor.unwrap_or(0);
    let mut search = Search::new(filter, arguments.tail.map(|lines| lines as usize));
    let (mut skipped, mut invalid_bytes) = (0, 0);
    loop {
        let page = session.output(query(arguments, from, search.appetite(), false))?;
        skipped += page.skipped;
        invalid_bytes += page.invalid_bytes;
        for chunk in &page.chunks {
            search.feed(chunk.stream, &chunk.text);
        }
        let all_read = page.next >= page.end || page.next.0 <= from;
        from = page.next.0;
        if all_read || search.is_full() || begun.elapsed() > SEARCH {
            search.finish();
            return Ok(OutputPageReport {
                chunks: search.found.into(),
                skipped,
                invalid_bytes,
                matches: Some(search.matches),
                ..frame(session, &page)
            });
        }
    }
}

/// Collects matching lines of two streams whose pieces come in any order.
struct Search<'a> {
    filter: &'a Regex,
    /// Only the last so many matches are kept.
    last: Option<usize>,
    /// Begun lines of standard output and error.
    begun: [String; 3],
    found: VecDeque<Chunk>,
    bytes: usize,
    matches: u64,
}

impl<'a> Search<'a> {
    fn new(filter: &'a Regex, last: Option<usize>) -> Self {
        Self {
            filter,
            last,
            begun: Default::default(),
            found: VecDeque::new(),
            bytes: 0,
            matches: 0,
        }
    }

    /// How many bytes to feed next: never more than there is room for, should all of it match.
    fn appetite(&self) -> u32 {
        match self.last {
            Some(_) => SCAN,
            None => PAGE
                .saturating_sub(u32::try_from(self.bytes).unwrap_or(PAGE))
                .max(MIN_PAGE),
        }
    }

    fn is_full(&self) -> bool {
        self.last.is_none() && self.bytes + MIN_PAGE as usize > PAGE as usize
    }

    fn feed(&mut self, stream: Stream, text: &str) {
        let index = match stream {
            Stream::Stdout => 0,
            Stream::Stderr => 1,
            Stream::Trace => 2,
        };
        for piece in text.split_inclusive('\n') {
            let Some(begun) = self.begun.get_mut(index) else {
                return;
            };
            begun.push_str(piece);
            // A line without end is looked at in parts.
            if begun.ends_with('\n') || begun.len() > LINE {
                let line = std::mem::take(begun);
                self.line(stream, &line);
            }
        }
    }

    /// No more will come: a begun line counts as one.
    fn finish(&mut self) {
        for (stream, line) in [Stream::Stdout, Stream::Stderr, Stream::Trace]
            .into_iter()
            .zip(std::mem::take(&mut self.begun))
        {
            if !line.is_empty() {
                self.line(stream, &line);
            }
        }
    }

    fn line(&mut self, stream: Stream, line: &str) {
        let line = line.strip_suffix('\n').unwrap_or(line);
        if !self
            .filter
            .is_match(line.strip_suffix('\r').unwrap_or(line))
        {
            return;
        }
        self.matches += 1;
        let text = text::clean(line) + "\n";
        self.bytes += text.len();
        let stream = build::stream_name(stream);
        match self.found.back_mut() {
            Some(last) if last.stream == stream && self.last.is_none() => last.text.push_str(&text),
            _ => self.found.push_back(Chunk { stream, text }),
        }
        if let Some(last) = self.last {
            while self.found.len() > last || (self.bytes > PAGE as usize && self.found.len() > 1) {
                self.bytes -= self.found.pop_front().map_or(0, |chunk| chunk.text.len());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(stream: Stream, text: &str) -> OutputChunk {
        OutputChunk {
            stream,
            text: text.into(),
        }
    }

    #[test]
    fn the_last_lines_of_both_streams() {
        let chunks = [
            chunk(Stream::Stdout, "a\nb\nc\n"),
            chunk(Stream::Stderr, "d\n"),
            chunk(Stream::Stdout, "e"),
        ];
        let check = |lines, expected: &[&str], dropped| {
            let mut kept = chunks.to_vec();
            assert_eq!(keep_last_lines(&mut kept, lines), dropped, "{lines} lines");
            let texts: Vec<_> = kept.iter().map(|chunk| chunk.text.as_str()).collect();
            assert_eq!(texts, expected, "{lines} lines");
        };
        check(1, &["e"], 8);
        check(2, &["d\n", "e"], 6);
        check(3, &["c\n", "d\n", "e"], 4);
        check(100, &["a\nb\nc\n", "d\n", "e"], 0);
    }

    fn search(filter: &str, last: Option<usize>, pieces: &[(Stream, &str)]) -> (u64, String) {
        let filter = compiled(filter).expect("a regular expression");
        let mut search = Search::new(&filter, last);
        for (stream, text) in pieces {
            search.feed(*stream, text);
        }
        search.finish();
        (
            search.matches,
            search.found.into_iter().map(|chunk| chunk.text).collect(),
        )
    }

    #[test]
    fn lines_are_found_across_pieces() {
        let pieces = [
            (Stream::Stdout, "one err"),
            (Stream::Stderr, "an err\nnothing\n"),
            (Stream::Stdout, "or\r\ntwo\nthe last error"),
        ];
        assert_eq!(
            search("error$", None, &pieces),
            (2, "one error\\r\nthe last error\n".into())
        );
        assert_eq!(
            search("err", Some(1), &pieces),
            (3, "the last error\n".into())
        );
        assert_eq!(search("^x", None, &pieces), (0, String::new()));
    }

    #[test]
    fn filters_are_bounded() {
        for filter in ["(", "[", "a{1000}{1000}{1000}", "\\p{Greek}"] {
            let error = compiled(filter).expect_err(filter);
            assert_eq!(error.code, ErrorCode::InvalidParameter);
        }
    }
}
