//! The output of a session that is over, read from its host before that ends.
//!
//! Cursors go on meaning what they meant: a page read from the archive begins where the last page of the live session
//! ended. Invariant: segments are in order, `from < next` of one is at most `from` of the following one, and reading
//! page after page shows every character once.

use host::api::{OutputChunk, OutputCursor, OutputPage, OutputQuery, Stream};

/// Bytes asked for at once when an archive is filled.
pub(crate) const SEGMENT: u32 = 16 << 10;

/// Captured output of a session that is over.
#[derive(Debug, Default)]
pub(crate) struct Archive {
    segments: Vec<Segment>,
    /// Bytes that were gone when the archive was made.
    gone: u64,
    end: u64,
    closed: bool,
    elsewhere: bool,
}

/// A run of one stream's text.
#[derive(Debug)]
struct Segment {
    stream: Stream,
    from: u64,
    next: u64,
    text: String,
}

impl Archive {
    /// Of a program whose output was never captured.
    pub(crate) fn elsewhere() -> Self {
        Self {
            elsewhere: true,
            ..Self::default()
        }
    }

    /// Adds a page that was read from `from` on.
    pub(crate) fn push(&mut self, from: u64, page: OutputPage) {
        let mut at = from.saturating_add(page.skipped);
        if self.segments.is_empty() {
            self.gone = at;
        }
        let count = page.chunks.len();
        for (index, OutputChunk { stream, text }) in page.chunks.into_iter().enumerate() {
            let next = if index + 1 == count {
                page.next.0.max(at)
            } else {
                at.saturating_add(length(&text))
            };
            self.segments.push(Segment {
                stream,
                from: at,
                next,
                text,
            });
            at = next;
        }
        self.end = page.end.0;
        self.closed = page.closed;
        self.elsewhere = page.elsewhere;
    }

    /// Bytes of memory it holds, roughly.
    pub(crate) fn size(&self) -> usize {
        self.segments
            .iter()
            .map(|segment| segment.text.capacity())
            .sum()
    }

    /// Reads a page, as the live session would.
    pub(crate) fn page(&self, query: OutputQuery) -> OutputPage {
        let from = query.from.0.min(self.end);
        let limit = u64::from(query.max_bytes.max(1));
        let wanted =
            |segment: &&Segment| query.stream.is_none_or(|stream| stream == segment.stream);
        let start = if query.tail {
            self.tail_start(from, limit, query.stream)
        } else {
            from.max(self.gone)
        };
        let mut page = OutputPage {
            skipped: start - from,
            lost: self.gone.saturating_sub(from),
            elsewhere: self.elsewhere,
            end: OutputCursor(self.end),
            closed: self.closed,
            ..OutputPage::default()
        };
        let (mut next, mut room) = (self.end, limit);
        for segment in self
            .segments
            .iter()
            .filter(|segment| segment.next > start)
            .filter(wanted)
        {
            if room == 0 {
                next = segment.from;
                break;
            }
            let text = after(&segment.text, start.saturating_sub(segment.from));
            let shown = before(text, room);
            room = room.saturating_sub(length(shown));
            page.invalid_bytes += shown.matches('\u{fffd}').count() as u64;
            match page.chunks.last_mut() {
                Some(last) if last.stream == segment.stream => last.text.push_str(shown),
                _ if shown.is_empty() => {}
                _ => page.chunks.push(OutputChunk {
                    stream: segment.stream,
                    text: shown.to_owned(),
                }),
            }
            if shown.len() < text.len() {
                next = start.max(segment.from).saturating_add(length(shown));
                break;
            }
        }
        page.next = OutputCursor(next);
        page
    }

    /// Where the newest `limit` bytes of the wanted stream begin.
    fn tail_start(&self, from: u64, limit: u64, stream: Option<Stream>) -> u64 {
        let mut taken = 0;
        for segment in self.segments.iter().rev() {
            if stream.is_some_and(|stream| stream != segment.stream) {
                continue;
            }
            let length = length(&segment.text);
            if taken + length >= limit {
                return (segment.from + (taken + length - limit)).max(from);
            }
            taken += length;
        }
        from.max(self.gone)
    }
}

/// Length in the cursor's measure: a replacement character stands for at least one byte.
fn length(text: &str) -> u64 {
    text.chars().map(width).sum()
}

fn width(character: char) -> u64 {
    if character == '\u{fffd}' {
        1
    } else {
        character.len_utf8() as u64
    }
}

/// The text after the first `skip` bytes.
fn after(text: &str, skip: u64) -> &str {
    let mut passed = 0;
    for (index, character) in text.char_indices() {
        if passed >= skip {
            return text.get(index..).unwrap_or_default();
        }
        passed += width(character);
    }
    if passed >= skip && skip == 0 {
        text
    } else {
        ""
    }
}

/// The first `room` bytes of a text, at least one character.
fn before(text: &str, room: u64) -> &str {
    let mut taken = 0;
    for (index, character) in text.char_indices() {
        taken += width(character);
        if taken > room && index > 0 {
            return text.get(..index).unwrap_or_default();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive(parts: &[(Stream, &str)], skipped: u64) -> Archive {
        let mut archive = Archive::default();
        let mut from = 0;
        for (index, (stream, text)) in parts.iter().enumerate() {
            let skipped = if index == 0 { skipped } else { 0 };
            let next = OutputCursor(from + skipped + text.len() as u64);
            let chunks = vec![OutputChunk {
                stream: *stream,
                text: (*text).into(),
            }];
            archive.push(
                from,
                OutputPage {
                    chunks,
                    next,
                    end: next,
                    skipped,
                    closed: true,
                    ..OutputPage::default()
                },
            );
            from = next.0;
        }
        archive
    }

    fn query(from: u64, max_bytes: u32) -> OutputQuery {
        OutputQuery {
            from: OutputCursor(from),
            stream: None,
            max_bytes,
            tail: false,
        }
    }

    fn texts(page: &OutputPage) -> Vec<&str> {
        page.chunks
            .iter()
            .map(|chunk| chunk.text.as_str())
            .collect()
    }

    #[test]
    fn pages_follow_each_other_without_loss_or_repetition() {
        let parts = [
            (Stream::Stdout, "grün 世界 🦀 one\n"),
            (Stream::Stderr, "bad \u{fffd}\u{fffd} bytes\n"),
            (Stream::Stdout, "end"),
        ];
        let archive = archive(&parts, 0);
        for size in 1..60 {
            let (mut at, mut read) = (0, String::new());
            loop {
                let page = archive.page(query(at, size));
                read.extend(page.chunks.iter().map(|chunk| chunk.text.as_str()));
                if page.next == page.end {
                    break;
                }
                assert!(page.next.0 > at, "a page of {size} moves on from {at}");
                at = page.next.0;
            }
            assert_eq!(
                read,
                parts.map(|(_, text)| text).concat(),
                "in pages of {size}"
            );
        }
    }

    #[test]
    fn what_was_gone_is_counted() {
        let archive = archive(&[(Stream::Stdout, "abc\n")], 1000);
        let page = archive.page(query(10, 100));
        assert_eq!(
            (texts(&page), page.skipped, page.next.0),
            (vec!["abc\n"], 990, 1004)
        );
        assert_eq!(archive.page(query(u64::MAX, 5)).next.0, 1004);
        assert_eq!(Archive::default().page(query(7, 5)), OutputPage::default());
    }

    #[test]
    fn the_tail_is_the_newest_output() {
        let archive = archive(
            &[
                (Stream::Stdout, "0123456789"),
                (Stream::Stderr, "error"),
                (Stream::Stdout, "abc"),
            ],
            0,
        );
        let tail = |stream, max_bytes| {
            archive.page(OutputQuery {
                stream,
                tail: true,
                ..query(0, max_bytes)
            })
        };
        assert_eq!(texts(&tail(Some(Stream::Stdout), 5)), ["89abc"]);
        let page = tail(None, 6);
        assert_eq!(
            (texts(&page), page.skipped, page.next),
            (vec!["ror", "abc"], 12, page.end)
        );
        assert_eq!(texts(&tail(Some(Stream::Stderr), 100)), ["error"]);
    }
}
