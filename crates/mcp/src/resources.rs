//! What can be read without a tool: sessions, breakpoints, source, values. A URI is an address for a tool's text.
//!
//! Invariant: reading one changes nothing, and no file is read but source that the symbols of a loaded module name.

use host::api::{Error, ErrorCode, Reply, Request};
use serde_json::json;

use crate::registry::Which;
use crate::report::text;
use crate::session;
use crate::tools::{self, Call};

/// Bytes of source told at once; a file that is longer is cut at a line.
const SOURCE: usize = 256 << 10;

const ROOT: &str = "ndbg://sessions";

/// A resource by its address.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Address {
    Sessions,
    Session(String),
    Breakpoints(String),
    Source(String, String),
    Value(String, String),
}

/// A kind of resource whose address has holes.
pub(crate) struct Template {
    pub(crate) uri: &'static str,
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
}

/// The kinds that are not listed one by one.
pub(crate) const TEMPLATES: &[Template] = &[
    Template {
        uri: "ndbg://sessions/{session}",
        name: "session",
        description: "The state of a session: running, stopped (why and where), or how it ended.",
    },
    Template {
        uri: "ndbg://sessions/{session}/breakpoints",
        name: "breakpoints",
        description: "The breakpoints of a session, with why they are not bound and how often they were hit.",
    },
    Template {
        uri: "ndbg://sessions/{session}/source/{+path}",
        name: "source",
        description: "A source file that loaded modules were compiled from; a part of its path that fits one is enough.",
    },
    Template {
        uri: "ndbg://sessions/{session}/value/{expression}",
        name: "value",
        description: "The value of a C# expression in the current frame of a stopped program. Nothing runs in it.",
    },
];

/// A resource that is there now.
pub(crate) struct Listed {
    pub(crate) uri: String,
    pub(crate) name: String,
    pub(crate) description: &'static str,
}

/// What can be read now.
pub(crate) fn list(call: &Call) -> Vec<Listed> {
    let mut all = vec![Listed {
        uri: ROOT.into(),
        name: "sessions".into(),
        description: "The state of all sessions.",
    }];
    for session in call.registry.all() {
        let id = session.id();
        for template in TEMPLATES
            .iter()
            .filter(|it| !it.uri.contains("}/{") && it.holes() == 1)
        {
            all.push(Listed {
                uri: template.uri.replace("{session}", id),
                name: format!("{} {id}", template.name),
                description: template.description,
            });
        }
    }
    all
}

impl Template {
    fn holes(&self) -> usize {
        self.uri.matches('{').count()
    }
}

/// Reads a resource; none if there is nothing of that address.
pub(crate) async fn read(call: Call, uri: &str) -> Option<Result<String, Error>> {
    Some(match parse(uri)? {
        Address::Sessions => told(call, "debug_status", json!({})).await,
        Address::Session(session) => told(call, "debug_status", json!({"session": session})).await,
        Address::Breakpoints(session) => {
            told(call, "breakpoint_list", json!({"session": session})).await
        }
        Address::Value(session, expression) => {
            let arguments = json!({"session": session, "expressions": [expression]});
            told(call, "evaluate", arguments).await
        }
        Address::Source(session, path) => source(&call, &session, path).await,
    })
}

async fn told(call: Call, tool: &str, arguments: serde_json::Value) -> Result<String, Error> {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    tools::call(call, tool, arguments)
        .await
        .map(|answer| answer.text)
}

async fn source(call: &Call, session: &str, file: String) -> Result<String, Error> {
    let session = call.registry.find(Some(session), Which::Live)?;
    let mut source = match session.request(Request::Source { file }).await? {
        Reply::Source(source) => source,
        other => return Err(session::unexpected(&other)),
    };
    if source.text.len() > SOURCE {
        let end = source
            .text
            .as_bytes()
            .iter()
            .take(SOURCE)
            .rposition(|byte| *byte == b'\n');
        let Some(end) = end else {
            let message = format!("{} has a line of more than {SOURCE} bytes", source.path);
            return Err(Error::new(ErrorCode::InvalidFile, message)
                .hint("source_get shows lines that are cut"));
        };
        source.text.truncate(end + 1);
        source
            .text
            .push_str("// cut here by ndbg: source_get shows the rest\n");
    }
    Ok(source.text)
}

fn parse(uri: &str) -> Option<Address> {
    let rest = uri.strip_prefix(ROOT)?;
    if rest.is_empty() {
        return Some(Address::Sessions);
    }
    let mut parts = rest.strip_prefix('/')?.splitn(3, '/');
    let session = decoded(parts.next()?)?;
    if session.is_empty() {
        return None;
    }
    match (parts.next(), parts.next()) {
        (None, _) => Some(Address::Session(session)),
        (Some("breakpoints"), None) => Some(Address::Breakpoints(session)),
        (Some("source"), Some(path)) => Some(Address::Source(session, decoded(path)?)),
        (Some("value"), Some(expression)) => Some(Address::Value(session, decoded(expression)?)),
        _ => None,
    }
}

/// RFC 3986 2.1: `%2F` is a slash. None if it is no text.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, behind)) = rest.split_first() {
        rest = behind;
        if *byte != b'%' {
            bytes.push(*byte);
            continue;
        }
        let (digits, behind) = rest.split_at_checked(2)?;
        let digits = std::str::from_utf8(digits).ok()?;
        // `+1` is a number for Rust.
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = behind;
    }
    String::from_utf8(bytes).ok()
}

/// What to say of an address that leads nowhere.
pub(crate) fn nothing_at(uri: &str) -> String {
    let known: Vec<_> = TEMPLATES.iter().map(|template| template.uri).collect();
    format!(
        "there is no resource {}; there are {ROOT}, {}",
        text::quoted(uri, 100),
        known.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let some = |text: &str| text.to_owned();
        for (uri, expected) in [
            ("ndbg://sessions", Some(Address::Sessions)),
            ("ndbg://sessions/s1", Some(Address::Session(some("s1")))),
            (
                "ndbg://sessions/s1/breakpoints",
                Some(Address::Breakpoints(some("s1"))),
            ),
            (
                "ndbg://sessions/s1/source//a/b.cs",
                Some(Address::Source(some("s1"), some("/a/b.cs"))),
            ),
            (
                "ndbg://sessions/s1/source/%2Fa%20b.cs",
                Some(Address::Source(some("s1"), some("/a b.cs"))),
            ),
            (
                "ndbg://sessions/s1/value/a%2Bb",
                Some(Address::Value(some("s1"), some("a+b"))),
            ),
            ("ndbg://sessions/s1/value/a%2", None),
            ("ndbg://sessions/s1/value/%zz", None),
            ("ndbg://sessions/s1/value/%+1", None),
            ("ndbg://sessions/s1/value/%ff", None),
            ("ndbg://sessions/", None),
            ("ndbg://sessions/s1/breakpoints/x", None),
            ("ndbg://sessions/s1/nothing", None),
            ("ndbg://sessionsX", None),
            ("file:///etc/passwd", None),
            ("", None),
        ] {
            assert_eq!(parse(uri), expected, "{uri}");
        }
    }
}
