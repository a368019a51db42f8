//! Whatever a client sends, in whatever order, each request is answered once and the connection goes on.
//!
//! There is no debuggee: the host program does not exist, so a launch fails when it comes that far. The sequences are
//! generated from fixed seeds, so a failure names the one to look at.

use std::io::{BufReader, Cursor, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use dap::framing;
use host::HostProgram;
use serde_json::{Value, json};

/// Sequences of requests.
const SEQUENCES: u64 = 150;
/// Requests of each.
const REQUESTS: usize = 60;
/// How long one answer may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

const COMMANDS: [&str; 36] = [
    "initialize",
    "launch",
    "attach",
    "configurationDone",
    "restart",
    "terminate",
    "cancel",
    "setBreakpoints",
    "setFunctionBreakpoints",
    "setExceptionBreakpoints",
    "dataBreakpointInfo",
    "continue",
    "next",
    "stepIn",
    "stepOut",
    "pause",
    "threads",
    "stackTrace",
    "exceptionInfo",
    "scopes",
    "variables",
    "setVariable",
    "evaluate",
    "setExpression",
    "completions",
    "gotoTargets",
    "goto",
    "modules",
    "loadedSources",
    "source",
    "breakpointLocations",
    "readMemory",
    "stepInTargets",
    "restartFrame",
    "",
    "\u{0}é{}",
];

const NAMES: [&str; 34] = [
    "adapterID",
    "linesStartAt1",
    "columnsStartAt1",
    "program",
    "args",
    "env",
    "cwd",
    "processId",
    "processName",
    "noDebug",
    "console",
    "arguments",
    "requestId",
    "progressId",
    "source",
    "path",
    "sourceReference",
    "breakpoints",
    "line",
    "column",
    "condition",
    "filters",
    "filterOptions",
    "threadId",
    "frameId",
    "variablesReference",
    "name",
    "value",
    "expression",
    "context",
    "text",
    "memoryReference",
    "count",
    "expressionEvaluationOptions",
];

const TEXTS: [&str; 10] = [
    "",
    "a.dll",
    "no/such.csproj",
    "integratedTerminal",
    "hover",
    "\"",
    "#e1",
    "all",
    "1 +",
    "😀\u{0}\u{202e}",
];

const NUMBERS: [i64; 9] = [
    0,
    1,
    -1,
    7,
    1 << 31,
    -(1 << 31),
    i64::MAX,
    i64::MIN,
    4_294_967_296,
];

/// Numbers that look random and are the same in each run.
struct Dice(u64);

impl Dice {
    fn throw(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.throw() % end as u64).expect("less than a usize")
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn value(&mut self, depth: u32) -> Value {
        match self.below(if depth == 0 { 6 } else { 9 }) {
            0 => Value::Null,
            1 => json!(self.throw().is_multiple_of(2)),
            2 | 3 => json!(self.one_of(&NUMBERS)),
            4 => json!(1.5e300),
            5 => json!(self.one_of(&TEXTS)),
            6 => (0..self.below(4)).map(|_| self.value(depth - 1)).collect(),
            _ => self.object(depth - 1),
        }
    }

    fn object(&mut self, depth: u32) -> Value {
        let count = self.below(8);
        let members = (0..count).map(|_| (self.one_of(&NAMES).to_owned(), self.value(depth)));
        Value::Object(members.collect())
    }

    /// Arguments that are of the right kind often enough to get past their reading.
    fn arguments(&mut self) -> Value {
        if self.below(8) == 0 {
            return self.value(3);
        }
        let mut arguments = json!({
            "adapterID": "x", "program": "a.dll", "threadId": 1, "frameId": 1, "variablesReference": 1,
            "name": "x", "value": "1", "expression": "a + 1", "text": "a.", "column": 2, "line": 1,
            "source": {"path": "a.cs"}, "breakpoints": [{"line": 3, "name": "F"}], "filters": ["all"],
            "memoryReference": "#1", "count": 3, "sourceReference": 1, "targetId": 1, "processId": 1,
        });
        for _ in 0..self.below(4) {
            let name = self.one_of(&NAMES);
            arguments[name] = self.value(2);
        }
        arguments
    }
}

struct Connection {
    to: UnixStream,
    from: BufReader<UnixStream>,
    adapter: thread::JoinHandle<()>,
}

impl Connection {
    fn new() -> Self {
        let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
        ours.set_read_timeout(Some(PATIENCE)).expect("a socket");
        let host = HostProgram {
            path: "/no/such/host".into(),
            args: Vec::new(),
            env: Vec::new(),
        };
        let reader = theirs.try_clone().expect("a socket");
        Self {
            from: BufReader::new(ours.try_clone().expect("a socket")),
            to: ours,
            adapter: thread::spawn(move || {
                // What it thinks of hostile bytes is told to the client.
                let _ = dap::serve(host, reader, theirs, &dap::Ending::default());
            }),
        }
    }

    fn send(&mut self, seq: i64, command: &str, arguments: Value) {
        let request =
            json!({"seq": seq, "type": "request", "command": command, "arguments": arguments});
        framing::write(&mut self.to, request.to_string().as_bytes()).expect("the adapter reads");
    }

    /// Waits until all requests up to a number have been answered, each once.
    fn answered(&mut self, last: i64, what: &str) {
        let mut waiting: std::collections::BTreeSet<i64> = (1..=last).collect();
        while !waiting.is_empty() {
            let read = framing::read(&mut self.from);
            let body = read.unwrap_or_else(|error| panic!("{what}: {waiting:?}: {error}"));
            let body = body.unwrap_or_else(|| panic!("{what}: gone before {waiting:?}"));
            let message: Value = serde_json::from_slice(&body).expect("JSON");
            if message["type"] == "response" {
                let seq = message["request_seq"].as_i64().expect("a number");
                assert!(waiting.remove(&seq), "{what}: answered twice: {message}");
                let told = message["success"] == true || message["message"].is_string();
                assert!(told, "{what}: {message}");
            }
        }
    }

    fn end(self, what: &str) {
        let _ = self.to.shutdown(Shutdown::Both);
        assert!(self.adapter.join().is_ok(), "{what}: the adapter panicked");
    }
}

#[test]
fn each_request_is_answered_once_whatever_it_is() {
    for seed in 1..=SEQUENCES {
        let what = format!("seed {seed}");
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut connection = Connection::new();
        let mut seq = 0;
        // Half of them begin as they should.
        let first: &[&str] = if seed.is_multiple_of(2) {
            &["initialize"]
        } else {
            &[]
        };
        for at in 0..REQUESTS {
            let command = first.get(at).copied();
            let command = command.unwrap_or_else(|| dice.one_of(&COMMANDS));
            seq += 1;
            let arguments = dice.arguments();
            connection.send(seq, command, arguments);
            if dice.below(16) == 0 {
                // Not a request: an answer to nothing, or no message at all.
                let mut other = dice.value(3);
                if other.is_object() {
                    other["type"] = json!(dice.one_of(&["response", "event", "request", "x"]));
                    other["request_seq"] = json!(1);
                    other["success"] = json!(false);
                }
                framing::write(&mut connection.to, other.to_string().as_bytes())
                    .expect("the adapter reads");
            }
        }
        // A launch waits for the end of the configuration, or for the end of it all.
        let last = if seed.is_multiple_of(3) {
            "disconnect"
        } else {
            "configurationDone"
        };
        for command in ["initialize", last] {
            seq += 1;
            connection.send(seq, command, json!({"adapterID": "x"}));
        }
        connection.answered(seq, &what);
        connection.end(&what);
    }
}

#[test]
fn bytes_of_any_kind_are_messages_or_an_error() {
    let good =
        b"Content-Length: 17\r\n\r\n{\"type\":\"event\"} Content-Length: 2\r\nX: y\r\n\r\n{}";
    let pieces: [&[u8]; 8] = [
        b"Content-Length: ",
        b"\r\n\r\n",
        b"\n",
        b"18446744073709551616",
        b"-1",
        b"\xff\x00",
        b": ",
        b"content-length:3\n\nabc",
    ];
    for seed in 1..=20_000_u64 {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut bytes = good.to_vec();
        for _ in 0..=dice.below(6) {
            let at = dice.below(bytes.len() + 1);
            match dice.below(4) {
                0 => bytes.truncate(at),
                1 => drop(bytes.splice(at..at, dice.one_of(&pieces).iter().copied())),
                2 => bytes.extend_from_slice(dice.one_of(&pieces)),
                _ => {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte = dice.throw().to_le_bytes()[0];
                    }
                }
            }
        }
        let length = bytes.len();
        let mut input = Cursor::new(bytes);
        let mut messages = 0;
        while let Ok(Some(body)) = framing::read(&mut input) {
            assert!(body.len() <= length, "seed {seed}");
            messages += 1;
            assert!(messages <= length, "seed {seed}: messages out of nothing");
        }
    }
}

#[test]
fn client_that_sends_no_message_is_left() {
    let mut connection = Connection::new();
    connection
        .to
        .write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        .expect("the adapter reads");
    // It hangs up by itself: the bytes behind such a header mean nothing.
    assert!(connection.adapter.join().is_ok());
}
