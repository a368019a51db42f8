//! Messages on a stream: a header that tells the length, an empty line, that many bytes of JSON.
//!
//! Invariant: whatever arrives, reading ends with a message, the end of the stream or an error, and memory grows only
//! with bytes that really came.

use std::io::{self, BufRead, Read, Write};

/// Longest header that is read.
const MAX_HEADER: u64 = 8 * 1024;

/// Longest message that is read; an editor's largest are a few kilobytes.
const MAX_BODY: u64 = 32 * 1024 * 1024;

/// Why a stream cannot be read on.
#[derive(Debug, thiserror::Error)]
pub enum FramingError {
    /// The stream broke.
    #[error("the connection broke: {0}")]
    Io(#[from] io::Error),
    /// It ended inside a message.
    #[error("the connection ended inside a message")]
    Cut,
    /// A header without a usable length.
    #[error("a message without a usable Content-Length header")]
    NoLength,
    /// A header that does not end.
    #[error("a header of more than {MAX_HEADER} bytes")]
    LongHeader,
    /// A message that is too long.
    #[error("a message of {0} bytes; at most {MAX_BODY} are read")]
    LongBody(u64),
}

/// The next message, or `None` at the end of the stream.
pub fn read(input: &mut impl BufRead) -> Result<Option<Vec<u8>>, FramingError> {
    let mut length = None;
    let mut left = MAX_HEADER;
    let mut begun = false;
    loop {
        let mut line = Vec::new();
        let read = input.by_ref().take(left).read_until(b'\n', &mut line)? as u64;
        if read == 0 && left > 0 {
            return if begun {
                Err(FramingError::Cut)
            } else {
                Ok(None)
            };
        }
        if line.last() != Some(&b'\n') {
            return Err(if read == left {
                FramingError::LongHeader
            } else {
                FramingError::Cut
            });
        }
        left -= read;
        let line = line.trim_ascii();
        if line.is_empty() {
            if begun {
                break;
            }
            // Empty lines before a header harm nobody.
            continue;
        }
        begun = true;
        if let Some(value) = value_of(line, b"content-length") {
            let digits = std::str::from_utf8(value).ok();
            length = digits.and_then(|digits| digits.parse::<u64>().ok());
        }
    }
    let length = length.ok_or(FramingError::NoLength)?;
    if length > MAX_BODY {
        return Err(FramingError::LongBody(length));
    }
    let mut body = Vec::new();
    // Grows as bytes come: a length that lies reserves nothing.
    input.by_ref().take(length).read_to_end(&mut body)?;
    if (body.len() as u64) < length {
        return Err(FramingError::Cut);
    }
    Ok(Some(body))
}

fn value_of<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let at = line.iter().position(|byte| *byte == b':')?;
    let (found, value) = line.split_at_checked(at)?;
    found
        .trim_ascii()
        .eq_ignore_ascii_case(name)
        .then(|| value.get(1..).unwrap_or_default().trim_ascii())
}

/// Writes a message in one piece.
pub fn write(output: &mut impl Write, body: &[u8]) -> io::Result<()> {
    let mut message = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    message.extend_from_slice(body);
    output.write_all(&message)?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn messages(mut bytes: &[u8]) -> (Vec<String>, Option<String>) {
        let mut found = Vec::new();
        loop {
            match read(&mut bytes) {
                Ok(Some(body)) => found.push(String::from_utf8(body).expect("UTF-8")),
                Ok(None) => return (found, None),
                Err(error) => return (found, Some(error.to_string())),
            }
        }
    }

    #[test]
    fn messages_are_read_as_they_were_written() {
        let mut bytes = Vec::new();
        for body in ["{}", "", "{\"a\": \"é\"}"] {
            write(&mut bytes, body.as_bytes()).expect("a vector takes all");
        }
        let (found, error) = messages(&bytes);
        assert_eq!(found, ["{}", "", "{\"a\": \"é\"}"]);
        assert_eq!(error, None);
    }

    #[test]
    fn other_headers_any_case_and_bare_line_ends_are_taken() {
        let (found, error) =
            messages(b"\r\nContent-Type: x\r\nCONTENT-LENGTH:2\r\n\r\n{}content-length : 1\n\nx");
        assert_eq!(found, ["{}", "x"]);
        assert_eq!(error, None);
    }

    #[test]
    fn nonsense_is_an_error_and_reserves_nothing() {
        let cases: [(&[u8], &str); 6] = [
            (b"Content-Length: x\r\n\r\n", "usable Content-Length"),
            (b"Content-Type: x\r\n\r\n", "usable Content-Length"),
            (b"Content-Length: 9", "inside a message"),
            (b"Content-Length: 9\r\n\r\n{}", "inside a message"),
            (b"Content-Length: 99999999999\r\n\r\n", "at most"),
            (&[b'x'; 9000], "a header of more than"),
        ];
        for (bytes, expected) in cases {
            let (found, error) = messages(bytes);
            assert!(found.is_empty());
            let error = error.expect("an error");
            assert!(error.contains(expected), "{error}");
        }
    }
}
