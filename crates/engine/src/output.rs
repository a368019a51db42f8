//! Captured output of the program: two pipes drained into one bounded ring.
//!
//! Two reader threads do nothing but read, so the program never waits for us longer than a read takes. The ring keeps
//! the newest [`CAPACITY`] bytes; what had to go is counted. A cursor is the number of bytes captured before it.
//!
//! Somebody who shows all of the output as it comes ([`Capture::drained_page`]) loses nothing: when the ring is nearly
//! full of what was not asked for yet, the readers leave the rest in the pipes, and the program waits there as it would
//! for a slow terminal. Who asks for nothing for [`PATIENCE`] holds up nobody any more.
//!
//! Messages of breakpoints stand between what the program wrote before and after them. For that whoever adds one first
//! takes in what is in the pipes: reading and adding happen under one lock, so nothing can be under way in between.
//!
//! Invariant: segments are in the order in which they were read, and their lengths add up to `end - start`.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};

use crate::api::{OutputChunk, OutputCursor, OutputPage, OutputQuery, Stream};

/// Bytes kept.
pub(crate) const CAPACITY: usize = 2 << 20;
/// Bytes read at once.
const READ: usize = 64 << 10;
/// Reads before a message at most; a pipe may have been made as large as this many of them.
const MAX_READS: usize = 32;

/// Bytes that somebody who shows all of them may be behind; what two pipes hold fits in besides.
const BEHIND: u64 = (CAPACITY - (256 << 10)) as u64;
/// How long the program waits for somebody who asks for nothing.
const PATIENCE: Duration = Duration::from_secs(5);

/// The captured output, shared by the reader threads and the engine.
#[derive(Debug, Clone, Default)]
pub(crate) struct Capture(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    ring: Mutex<Ring>,
    /// Told when more was asked for.
    asked: Condvar,
}

#[derive(Debug, Default)]
struct Ring {
    segments: VecDeque<Segment>,
    /// Bytes that are gone from the front.
    start: u64,
    /// Bytes captured in all.
    end: u64,
    /// Streams that are still open.
    open: u8,
    /// Whether there are streams at all.
    captured: bool,
    /// Whether the owner was told of output since the last read.
    told: bool,
    /// Up to where somebody who shows all of it has got, and when that was.
    shown: Option<(u64, Instant)>,
    /// Where the streams are read from, without ever waiting.
    sources: Vec<(Stream, Arc<File>)>,
    /// For reads in between, kept because there may be many.
    buffer: Vec<u8>,
}

#[derive(Debug)]
struct Segment {
    stream: Stream,
    bytes: Vec<u8>,
}

/// What a reader thread tells the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice {
    /// There is new output since the last read.
    New,
    /// Both streams are at their end.
    Closed,
}

impl Capture {
    /// Starts draining the streams; `notify` is called from the reader threads.
    pub(crate) fn start(
        streams: Vec<(Stream, OwnedFd)>,
        notify: impl Fn(Notice) + Send + Clone + 'static,
    ) -> io::Result<Self> {
        let mut sources = Vec::new();
        for (stream, fd) in streams {
            // Only our end of the pipe: the program's writes wait as ever.
            rustix::io::ioctl_fionbio(&fd, true)?;
            sources.push((stream, Arc::new(File::from(fd))));
        }
        let ring = Ring {
            open: sources.len() as u8,
            captured: true,
            sources: sources.clone(),
            ..Ring::default()
        };
        let capture = Self(Arc::new(Shared {
            ring: Mutex::new(ring),
            asked: Condvar::new(),
        }));
        for (stream, file) in sources {
            let (capture, notify) = (capture.clone(), notify.clone());
            let name = match stream {
                Stream::Stdout => "stdout",
                Stream::Stderr => "stderr",
                Stream::Trace => "trace",
            };
            thread::Builder::new()
                .name(name.into())
                .spawn(move || capture.drain(stream, &file, &notify))?;
        }
        Ok(capture)
    }

    /// A capture of nothing, for programs whose streams are not ours.
    pub(crate) fn none() -> Self {
        Self::default()
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.0.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The ring, when there is room for what comes next.
    fn ring_with_room(&self) -> MutexGuard<'_, Ring> {
        let since = Instant::now();
        let mut ring = self.ring();
        while let Some(left) = ring.waits(since) {
            let waited = self.0.asked.wait_timeout(ring, left);
            ring = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        ring
    }

    fn drain(&self, stream: Stream, file: &File, notify: &impl Fn(Notice)) {
        let mut buffer = vec![0; READ];
        loop {
            let mut ready = [PollFd::new(file, PollFlags::IN)];
            match poll(&mut ready, None) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(_) => break,
            }
            let mut ring = self.ring_with_room();
            match ring.read(stream, file, &mut buffer) {
                Ok(Taken::Nothing) => {}
                Ok(Taken::Some { tell }) => {
                    drop(ring);
                    if tell {
                        notify(Notice::New);
                    }
                }
                Ok(Taken::End) | Err(_) => break,
            }
        }
        let mut ring = self.ring();
        ring.open = ring.open.saturating_sub(1);
        ring.sources.retain(|(other, _)| *other != stream);
        if ring.open == 0 {
            drop(ring);
            notify(Notice::Closed);
        }
    }

    /// Takes in everything that the stopped program wrote, so that its end is known.
    pub(crate) fn take_in(&self) -> bool {
        self.ring().take_in()
    }

    /// Adds a message of ours behind everything that the stopped program wrote; where it begins, and whether the owner
    /// must be told.
    pub(crate) fn trace(&self, text: &str) -> (OutputCursor, bool) {
        let mut ring = self.ring();
        let mut tell = ring.take_in();
        let at = OutputCursor(ring.end);
        tell |= ring.push(Stream::Trace, text.as_bytes());
        (at, tell)
    }

    /// The end of the output so far.
    pub(crate) fn end(&self) -> OutputCursor {
        OutputCursor(self.ring().end)
    }

    /// Whether both streams are at their end.
    pub(crate) fn is_closed(&self) -> bool {
        self.ring().open == 0
    }

    /// Reads a page.
    pub(crate) fn page(&self, query: OutputQuery) -> OutputPage {
        self.ring().page(query)
    }

    /// Reads a page for somebody who shows all of the output: nothing is lost while they go on asking.
    pub(crate) fn drained_page(&self, query: OutputQuery) -> OutputPage {
        let mut ring = self.ring();
        let page = ring.page(query);
        ring.shown = Some((page.next.0, Instant::now()));
        self.0.asked.notify_all();
        page
    }

    /// The program is gone: what is left in its pipes is little, and nobody waits any more.
    pub(crate) fn hold_up_nobody(&self) {
        self.ring().shown = None;
        self.0.asked.notify_all();
    }

    /// The last `max_bytes` of a stream as text, for error messages.
    pub(crate) fn tail(&self, stream: Option<Stream>, max_bytes: u32) -> String {
        let page = self.page(OutputQuery {
            from: OutputCursor(0),
            stream,
            max_bytes,
            tail: true,
        });
        page.chunks.into_iter().map(|chunk| chunk.text).collect()
    }
}

/// What a read brought.
enum Taken {
    /// Nothing is there now.
    Nothing,
    /// Bytes were added.
    Some {
        /// Whether the owner must be told.
        tell: bool,
    },
    /// The stream is at its end.
    End,
}

impl Ring {
    /// How long a reader that has waited `since` then may still wait, if it has to. Nobody waits for somebody who has not
    /// asked for a long time, until they ask again.
    fn waits(&mut self, since: Instant) -> Option<Duration> {
        let (at, asked) = self.shown?;
        if self.end.saturating_sub(at) < BEHIND {
            return None;
        }
        let left = PATIENCE.checked_sub(asked.max(since).elapsed());
        if left.is_none() {
            self.shown = None;
        }
        left
    }

    /// Takes in what a stream has now, without waiting.
    fn read(&mut self, stream: Stream, mut file: &File, buffer: &mut [u8]) -> io::Result<Taken> {
        match file.read(buffer) {
            Ok(0) => Ok(Taken::End),
            Ok(n) => {
                let tell = self.push(stream, buffer.get(..n).unwrap_or_default());
                Ok(Taken::Some { tell })
            }
            Err(error) => match error.kind() {
                io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock => Ok(Taken::Nothing),
                _ => Err(error),
            },
        }
    }

    /// Takes in what all streams have now; whether the owner must be told.
    fn take_in(&mut self) -> bool {
        if self.buffer.is_empty() {
            self.buffer = vec![0; READ];
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut tell = false;
        for (stream, file) in self.sources.clone() {
            // A pipe holds no more; a child of the program may write on meanwhile.
            for _ in 0..MAX_READS {
                match self.read(stream, &file, &mut buffer) {
                    Ok(Taken::Some { tell: more }) => tell |= more,
                    _ => break,
                }
            }
        }
        self.buffer = buffer;
        tell
    }

    /// Adds bytes; whether the owner must be told.
    fn push(&mut self, stream: Stream, bytes: &[u8]) -> bool {
        match self.segments.back_mut() {
            // Small writes share a segment, so that a million one-byte writes do not make a million segments.
            Some(last) if last.stream == stream && last.bytes.len() + bytes.len() <= 64 << 10 => {
                last.bytes.extend_from_slice(bytes);
            }
            last => {
                // A character that is cut between two segments of one stream is kept in one piece.
                let mut begun = match last {
                    Some(last) if last.stream == stream => {
                        let whole = without_cut_character(&last.bytes).len();
                        last.bytes.split_off(whole)
                    }
                    _ => Vec::new(),
                };
                begun.extend_from_slice(bytes);
                self.segments.push_back(Segment {
                    stream,
                    bytes: begun,
                });
            }
        }
        self.end += bytes.len() as u64;
        while self.end - self.start > CAPACITY as u64 {
            let Some(first) = self.segments.pop_front() else {
                break;
            };
            self.start += first.bytes.len() as u64;
        }
        !std::mem::replace(&mut self.told, true)
    }

    fn page(&mut self, query: OutputQuery) -> OutputPage {
        let from = query.from.0.min(self.end);
        let lost = self.start.saturating_sub(from);
        let mut skipped = lost;
        let mut from = from.max(self.start);
        let limit = u64::from(query.max_bytes.clamp(1, 1 << 20));
        let wanted = |segment: &Segment| query.stream.is_none_or(|stream| stream == segment.stream);
        if query.tail {
            // Walk back until `limit` bytes of the wanted streams are passed.
            let (mut at, mut taken) = (self.end, 0);
            for segment in self.segments.iter().rev() {
                let len = segment.bytes.len() as u64;
                at -= len;
                if !wanted(segment) {
                    continue;
                }
                if taken + len >= limit {
                    let cut = taken + len - limit;
                    // What is left of a character that begins before the page is nothing to show.
                    let rest = segment.bytes.get(cut as usize..).unwrap_or_default();
                    let behind = rest.iter().take(3);
                    let continued = behind.take_while(|byte| matches!(byte, 0x80..=0xbf));
                    at += cut + if cut > 0 { continued.count() as u64 } else { 0 };
                    break;
                }
                taken += len;
            }
            if at > from {
                skipped += at - from;
                from = at;
            }
        }
        let mut page = OutputPage {
            skipped,
            lost,
            elsewhere: !self.captured,
            end: OutputCursor(self.end),
            closed: self.open == 0,
            ..OutputPage::default()
        };
        let (mut at, mut next, mut taken) = (self.start, from, 0_u64);
        for segment in &self.segments {
            let segment_end = at + segment.bytes.len() as u64;
            let begin = from.max(at);
            if begin < segment_end {
                if wanted(segment) {
                    if taken >= limit {
                        break;
                    }
                    let bytes = segment
                        .bytes
                        .get((begin - at) as usize..)
                        .unwrap_or_default();
                    let mut bytes = bytes.get(..(limit - taken) as usize).unwrap_or(bytes);
                    let whole = begin + bytes.len() as u64 == segment_end;
                    let live_end = segment_end == self.end && self.open > 0;
                    // Nothing comes behind a segment that is over: what is cut there stays so.
                    if !whole || live_end {
                        let kept = without_cut_character(bytes);
                        // A page moves on, however short it is.
                        if !kept.is_empty() || whole {
                            bytes = kept;
                        }
                    }
                    if bytes.is_empty() {
                        break;
                    }
                    taken += bytes.len() as u64;
                    next = begin + bytes.len() as u64;
                    push_text(&mut page, segment.stream, bytes);
                    if next < segment_end {
                        break;
                    }
                } else {
                    next = segment_end;
                }
            }
            at = segment_end;
        }
        page.next = OutputCursor(next);
        if next == self.end {
            self.told = false;
        }
        page
    }
}

/// Without a character that is cut at the end: the rest of it may come.
fn without_cut_character(bytes: &[u8]) -> &[u8] {
    let tail = bytes.len().saturating_sub(3);
    for (back, byte) in bytes
        .get(tail..)
        .unwrap_or_default()
        .iter()
        .enumerate()
        .rev()
    {
        let needs = match byte {
            0x80..=0xbf => continue,
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            // A character of its own, or no part of any.
            _ => return bytes,
        };
        let at = tail + back;
        return if bytes.len() - at < needs {
            bytes.get(..at).unwrap_or_default()
        } else {
            bytes
        };
    }
    bytes
}

fn push_text(page: &mut OutputPage, stream: Stream, bytes: &[u8]) {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push('\u{fffd}');
            page.invalid_bytes += chunk.invalid().len() as u64;
        }
    }
    match page.chunks.last_mut() {
        Some(last) if last.stream == stream => last.text.push_str(&text),
        _ => page.chunks.push(OutputChunk { stream, text }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(parts: &[(Stream, &[u8])]) -> Ring {
        let mut ring = Ring {
            open: 2,
            captured: true,
            ..Ring::default()
        };
        for (stream, bytes) in parts {
            ring.push(*stream, bytes);
        }
        ring
    }

    fn query(from: u64, max_bytes: u32) -> OutputQuery {
        OutputQuery {
            from: OutputCursor(from),
            stream: None,
            max_bytes,
            tail: false,
        }
    }

    fn texts(page: &OutputPage) -> Vec<(Stream, &str)> {
        page.chunks
            .iter()
            .map(|chunk| (chunk.stream, chunk.text.as_str()))
            .collect()
    }

    #[test]
    fn streams_keep_their_order_and_can_be_told_apart() {
        let mut ring = ring(&[
            (Stream::Stdout, b"a\n"),
            (Stream::Stderr, b"b\n"),
            (Stream::Stdout, b"c\n"),
        ]);
        let page = ring.page(query(0, 100));
        assert_eq!(
            texts(&page),
            [
                (Stream::Stdout, "a\n"),
                (Stream::Stderr, "b\n"),
                (Stream::Stdout, "c\n")
            ]
        );
        assert_eq!(
            (page.next, page.end, page.skipped),
            (OutputCursor(6), OutputCursor(6), 0)
        );
        let page = ring.page(OutputQuery {
            stream: Some(Stream::Stdout),
            ..query(0, 100)
        });
        assert_eq!(texts(&page), [(Stream::Stdout, "a\nc\n")]);
        assert_eq!(page.next, OutputCursor(6));
    }

    #[test]
    fn pages_follow_each_other_without_loss_or_repetition() {
        let text = "grün 世界 🦀 end".repeat(50);
        let mut ring = ring(&[(Stream::Stdout, text.as_bytes())]);
        let (mut at, mut read) = (0, String::new());
        loop {
            let page = ring.page(query(at, 7));
            read.extend(page.chunks.iter().map(|chunk| chunk.text.as_str()));
            assert_eq!(page.invalid_bytes, 0);
            if page.next == page.end {
                break;
            }
            assert!(page.next.0 > at, "a page always moves on");
            at = page.next.0;
        }
        assert_eq!(read, text);
    }

    #[test]
    fn bytes_that_had_to_go_are_counted() {
        let block = vec![b'x'; 1 << 20];
        let mut ring = ring(&[]);
        for _ in 0..10 {
            ring.push(Stream::Stdout, &block);
        }
        let page = ring.page(query(0, 10));
        assert_eq!(page.skipped + CAPACITY as u64, 10 << 20);
        assert_eq!(page.end, OutputCursor(10 << 20));
        assert!(ring.segments.len() <= 3);
    }

    #[test]
    fn nothing_is_lost_to_somebody_who_shows_all_of_it() {
        const ALL: usize = 8 << 20;
        let (ours, theirs) = rustix::pipe::pipe().expect("a pipe");
        let capture = Capture::start(vec![(Stream::Stdout, ours)], |_| {}).expect("a capture");
        // Asked before anything came, as a front end does: from then on the writer waits for us.
        let mut page = capture.drained_page(query(0, 1));
        let writer = thread::spawn(move || {
            let mut pipe = File::from(theirs);
            std::io::Write::write_all(&mut pipe, &vec![b'x'; ALL]).expect("somebody reads");
        });
        let (mut at, mut read) = (0, 0);
        while !(page.closed && at == page.end.0) {
            page = capture.drained_page(query(at, 64 << 10));
            assert_eq!(page.lost, 0, "at {at}");
            read += page.chunks.iter().map(|it| it.text.len()).sum::<usize>();
            at = page.next.0;
            thread::yield_now();
        }
        writer.join().expect("the writer ends");
        assert_eq!(read, ALL);
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_counted_and_marked() {
        let mut ring = ring(&[(Stream::Stdout, b"a\xff\xfeb\n")]);
        let page = ring.page(query(0, 100));
        assert_eq!(texts(&page), [(Stream::Stdout, "a\u{fffd}\u{fffd}b\n")]);
        assert_eq!(page.invalid_bytes, 2);
    }

    #[test]
    fn the_newest_output_is_there_whatever_bytes_come_before_it() {
        let mut full = vec![b'x'; 64 << 10];
        for end in [&b"\xff"[..], b"\xe4", b"\xf0\x9f"] {
            let at = full.len() - end.len();
            full[at..].copy_from_slice(end);
            let mut ring = ring(&[
                (Stream::Stdout, &full),
                (Stream::Stderr, b"!"),
                (Stream::Stdout, b"done\n"),
            ]);
            let page = ring.page(OutputQuery {
                tail: true,
                ..query(0, 100)
            });
            assert_eq!(page.next, page.end, "{end:?}");
            let last = texts(&page).last().map(|(_, text)| (*text).to_owned());
            assert_eq!(last.as_deref(), Some("done\n"), "{end:?}");
        }
    }

    #[test]
    fn a_character_between_two_segments_is_whole() {
        let text = "x".repeat((64 << 10) - 1) + "世!";
        let (first, second) = text.as_bytes().split_at(64 << 10);
        let mut ring = ring(&[(Stream::Stdout, first), (Stream::Stdout, second)]);
        let page = ring.page(query(0, 1 << 20));
        assert_eq!(texts(&page), [(Stream::Stdout, text.as_str())]);
        assert_eq!((page.invalid_bytes, page.next), (0, page.end));
        // A tail that begins inside of it leaves it out.
        let page = ring.page(OutputQuery {
            tail: true,
            ..query(0, 2)
        });
        assert_eq!(texts(&page), [(Stream::Stdout, "!")]);
        assert_eq!((page.invalid_bytes, page.skipped), (0, page.end.0 - 1));
    }

    #[test]
    fn a_character_cut_at_the_live_end_waits_for_its_rest() {
        let mut ring = ring(&[(Stream::Stdout, b"a\xe4\xb8")]);
        let page = ring.page(query(0, 100));
        assert_eq!(texts(&page), [(Stream::Stdout, "a")]);
        ring.push(Stream::Stdout, b"\x96");
        assert_eq!(
            texts(&ring.page(query(page.next.0, 100))),
            [(Stream::Stdout, "世")]
        );
        ring.push(Stream::Stdout, b"\xe4");
        ring.open = 0;
        let page = ring.page(query(4, 100));
        assert_eq!(
            (texts(&page), page.next),
            (vec![(Stream::Stdout, "\u{fffd}")], OutputCursor(5))
        );
    }

    #[test]
    fn the_tail_is_the_newest_output() {
        let mut ring = ring(&[
            (Stream::Stdout, b"0123456789"),
            (Stream::Stderr, b"error"),
            (Stream::Stdout, b"abc"),
        ]);
        let page = ring.page(OutputQuery {
            tail: true,
            stream: Some(Stream::Stdout),
            ..query(0, 5)
        });
        assert_eq!(texts(&page), [(Stream::Stdout, "89abc")]);
        let page = ring.page(OutputQuery {
            tail: true,
            ..query(0, 6)
        });
        assert_eq!(
            texts(&page),
            [(Stream::Stderr, "ror"), (Stream::Stdout, "abc")]
        );
    }
}
