//! What is left of a message that cannot be read: the request that it was, so that it gets an answer.
//!
//! Invariant: nothing is understood but the outermost names, in one pass over the bytes and without recursion.

use serde_json::Value;

use crate::message::Request;

/// The request of a message that is no usable JSON, without its arguments, if its number can be found.
pub(crate) fn request(message: &[u8]) -> Option<Request> {
    let (mut seq, mut command) = (None, None);
    let mut depth = 0_u32;
    let mut at = 0;
    // The name whose value comes next.
    let mut name: Option<&[u8]> = None;
    while let Some(byte) = message.get(at) {
        let length = match byte {
            b'"' => string_length(message.get(at..)?),
            _ => 1,
        };
        let token = message.get(at..at + length)?;
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' if depth == 1 => name = None,
            b'"' if depth == 1 => {
                let text = token.get(1..length - 1)?;
                match name {
                    None => name = Some(text),
                    Some(b"command") => command = String::from_utf8(text.to_vec()).ok(),
                    Some(_) => {}
                }
            }
            b'0'..=b'9' | b'-' if depth == 1 && name == Some(b"seq") && seq.is_none() => {
                let rest = message.get(at..)?;
                // All of it: the beginning of another kind of number would be the number of another request.
                let is_part = |it: &&u8| it.is_ascii_alphanumeric() || b"+-.".contains(*it);
                let count = rest.iter().take_while(is_part).count();
                seq = std::str::from_utf8(rest.get(..count)?).ok()?.parse().ok();
                name = Some(b"");
            }
            _ => {}
        }
        at += length;
    }
    Some(Request {
        seq: seq?,
        command: command.unwrap_or_default(),
        arguments: Value::Null,
    })
}

/// The length of a string with its quotes; of one that does not end, that of the message.
fn string_length(bytes: &[u8]) -> usize {
    let mut escaped = false;
    for (at, byte) in bytes.iter().enumerate().skip(1) {
        match byte {
            b'"' if !escaped => return at + 1,
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    bytes.len().max(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(message: &str, expected: Option<(i64, &str)>) {
        let found = request(message.as_bytes()).map(|it| (it.seq, it.command));
        let expected = expected.map(|(seq, command)| (seq, command.to_owned()));
        assert_eq!(found, expected, "{message}");
    }

    #[test]
    fn number_and_name_are_found_in_what_cannot_be_read() {
        check(
            r#"{"seq": 7, "arguments": {"seq": 9, "e": "\ud83d"}, "command": "evaluate"}"#,
            Some((7, "evaluate")),
        );
        let deep = format!(
            r#"{{"command":"x","arguments":{},"seq":-3}}"#,
            "[".repeat(9000)
        );
        check(&deep, None);
        let deep = format!(
            r#"{{"command":"x","arguments":{}{},"seq":12}}"#,
            "[".repeat(9000),
            "]".repeat(9000)
        );
        check(&deep, Some((12, "x")));
        check(r#"{"a": "seq", "seq": 3"#, Some((3, "")));
        for nothing in [
            "",
            "not json",
            "\"",
            "{\"seq\": \"1\"}",
            "[{\"seq\": 1}]",
            "{\"seq\": 1e3}",
            "{\"seq\": 7.5}",
        ] {
            check(nothing, None);
        }
    }
}
