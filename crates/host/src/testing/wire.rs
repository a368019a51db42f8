//! The messages by which a program of Microsoft.Testing.Platform tells `dotnet test` of its tests.
//!
//! A frame is a length, the number of a kind of message, and that message: a count of fields, each a number, a length and
//! so many bytes. Kinds and fields that are not known are passed over, as the protocol wants it. Numbers are little-endian.
//!
//! Invariant: total. A frame that makes no sense tells no results; nothing panics or is reserved for a number in it.

use engine::api::{TestFailure, TestResults};

/// The kind of an answer that says nothing.
const NOTHING: u32 = 0;
/// The kind of a message with results.
const RESULTS: u32 = 6;
/// The kind of a message at the beginning or the end of a session.
const SESSION: u32 = 8;
/// The kind of the first message, and of its answer.
const HANDSHAKE: u32 = 9;
/// The property of a handshake that names the versions.
const VERSIONS: u8 = 4;
/// The version of the protocol that is spoken here: every later one understands it.
const VERSION: &str = "1.0.0";
/// The outcome of a test that was not run.
const SKIPPED: u8 = 2;
/// Outcomes of tests that have none yet.
const NOT_RUN: [u8; 2] = [0, 7];

/// Takes a message in and answers it. Without the length in front, both.
pub(super) fn answer(message: &[u8], results: &mut TestResults) -> Vec<u8> {
    let mut bytes = Bytes(message);
    let kind = bytes.u32().unwrap_or(NOTHING);
    match kind {
        HANDSHAKE => return handshake(),
        RESULTS => {
            each_field(&mut bytes, |field, mut value| match field {
                3 => each_message(&mut value, |test| passed(test, results)),
                4 => each_message(&mut value, |test| results.count_failed(failure(test))),
                _ => {}
            });
        }
        SESSION => each_field(&mut bytes, |field, value| {
            if (field, value.0) == (1, &[1]) {
                results.complete = true;
            }
        }),
        _ => {}
    }
    NOTHING.to_le_bytes().to_vec()
}

fn handshake() -> Vec<u8> {
    let mut out = HANDSHAKE.to_le_bytes().to_vec();
    out.extend(1_u16.to_le_bytes());
    out.push(VERSIONS);
    let length = u32::try_from(VERSION.len()).unwrap_or(0);
    out.extend(length.to_le_bytes());
    out.extend(VERSION.as_bytes());
    out
}

fn passed(test: &mut Bytes<'_>, results: &mut TestResults) {
    let mut state = None;
    let mut skipped = TestFailure::default();
    each_field(test, |field, value| match field {
        2 => skipped.test = value.text(),
        3 => state = value.0.first().copied(),
        5 => skipped.message = value.text(),
        _ => {}
    });
    match state {
        Some(SKIPPED) => results.count_skipped(skipped),
        Some(state) if NOT_RUN.contains(&state) => {}
        _ => results.count_passed(),
    }
}

fn failure(test: &mut Bytes<'_>) -> TestFailure {
    let mut failure = TestFailure::default();
    let mut reason = String::new();
    each_field(test, |field, mut value| match field {
        2 => failure.test = value.text(),
        5 => reason = value.text(),
        6 => each_message(&mut value, |exception| {
            let first = failure.message.is_empty() && failure.stack.is_empty();
            each_field(exception, |field, value| match field {
                1 if first => failure.message = value.text(),
                3 if first => failure.stack = value.text(),
                _ => {}
            });
        }),
        7 | 8 => failure.output += &value.text(),
        _ => {}
    });
    if failure.message.is_empty() {
        failure.message = reason;
    }
    failure
}

/// Calls `tell` for each field of a message.
fn each_field(message: &mut Bytes<'_>, mut tell: impl FnMut(u16, Bytes<'_>)) {
    let mut one = || -> Option<()> {
        let count = message.u16()?;
        for _ in 0..count {
            let field = message.u16()?;
            let length = message.u32()?;
            tell(field, Bytes(message.take(length)?));
        }
        Some(())
    };
    // The rest of a message that ends too early is not there.
    let _ = one();
}

/// Calls `tell` for each message of a list; it must take all of its message.
fn each_message(list: &mut Bytes<'_>, mut tell: impl FnMut(&mut Bytes<'_>)) {
    for _ in 0..list.u32().unwrap_or(0) {
        let before = list.0.len();
        if before < size_of::<u16>() {
            return;
        }
        tell(list);
        if list.0.len() == before {
            return;
        }
    }
}

/// Bytes that are still to be read.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, length: u32) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(usize::try_from(length).ok()?)?;
        self.0 = rest;
        Some(taken)
    }

    fn u16(&mut self) -> Option<u16> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u16::from_le_bytes(*number))
    }

    fn u32(&mut self) -> Option<u32> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*number))
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(self.0).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(fields: &[(u16, Vec<u8>)]) -> Vec<u8> {
        let mut out = u16::try_from(fields.len())
            .expect("few")
            .to_le_bytes()
            .to_vec();
        for (field, value) in fields {
            out.extend(field.to_le_bytes());
            out.extend(u32::try_from(value.len()).expect("short").to_le_bytes());
            out.extend(value);
        }
        out
    }

    fn list(messages: &[Vec<u8>]) -> Vec<u8> {
        let count = u32::try_from(messages.len()).expect("few");
        [count.to_le_bytes().to_vec(), messages.concat()].concat()
    }

    fn sent(kind: u32, body: Vec<u8>) -> Vec<u8> {
        [kind.to_le_bytes().to_vec(), body].concat()
    }

    fn some_results() -> Vec<u8> {
        let exception = message(&[
            (1, b"Expected 81".to_vec()),
            (2, b"AssertFailedException".to_vec()),
            (3, b"at T.M()".to_vec()),
        ]);
        let failed = message(&[
            (1, b"id".to_vec()),
            (2, b"M".to_vec()),
            (3, vec![3]),
            (6, list(&[exception])),
            (7, b"out".to_vec()),
            (99, b"unknown".to_vec()),
        ]);
        let passed = message(&[(2, b"P".to_vec()), (3, vec![1])]);
        let skipped = message(&[(2, b"S".to_vec()), (3, vec![2]), (5, b"later".to_vec())]);
        let lists = [
            (1, b"run".to_vec()),
            (3, list(&[passed, skipped])),
            (4, list(&[failed])),
        ];
        sent(RESULTS, message(&lists))
    }

    #[test]
    fn results_are_counted_and_answered() {
        let mut results = TestResults::default();
        assert_eq!(
            answer(&sent(HANDSHAKE, vec![0, 0]), &mut results),
            handshake()
        );
        assert_eq!(answer(&some_results(), &mut results), [0; 4]);
        assert!(!results.complete);
        answer(&sent(SESSION, message(&[(1, vec![1])])), &mut results);
        assert!(results.complete);
        assert_eq!(
            (
                results.total,
                results.passed,
                results.failed,
                results.skipped
            ),
            (3, 1, 1, 1)
        );
        let expected = TestFailure {
            test: "M".into(),
            message: "Expected 81".into(),
            stack: "at T.M()".into(),
            output: "out".into(),
        };
        assert_eq!(results.failures, [expected]);
        let without = results
            .without_result
            .first()
            .map(|it| (&*it.test, &*it.message));
        assert_eq!(without, Some(("S", "later")));
    }

    #[test]
    fn what_makes_no_sense_is_answered_all_the_same() {
        let whole = some_results();
        for end in 0..whole.len() {
            answer(
                whole.get(..end).expect("shorter"),
                &mut TestResults::default(),
            );
        }
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            *bytes.get_mut(at).expect("inside") = 0xff;
            answer(&bytes, &mut TestResults::default());
        }
        let endless = sent(RESULTS, message(&[(4, u32::MAX.to_le_bytes().to_vec())]));
        let mut results = TestResults::default();
        answer(&endless, &mut results);
        assert_eq!(results.total, 0);
    }
}
