//! A small MCP client over a server's standard input and output: one line of JSON each way.
//!
//! The server never outlives the client, and a server that does not answer is an error within
//! [`PATIENCE`], never a hang.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

/// How long an answer may take; the tools' own waits are shorter.
const PATIENCE: Duration = Duration::from_secs(60);
/// The version of MCP we ask for; servers answer with the one they prefer.
const PROTOCOL: &str = "2025-06-18";

/// A running server.
#[derive(Debug)]
pub(crate) struct Client {
    server: Child,
    stdin: Option<ChildStdin>,
    /// The server's lines, read by a thread so that waiting can be bounded.
    lines: Receiver<std::io::Result<String>>,
    last_id: u64,
}

/// What a tool answered.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The text for the model.
    pub(crate) text: String,
    /// The same for programs, if the tool has it.
    pub(crate) structured: Option<Value>,
    /// Whether the tool says that it failed.
    pub(crate) is_error: bool,
}

impl Client {
    /// Starts the server and shakes hands; returns what it says about itself, too.
    pub(crate) fn start(command: &mut Command) -> Result<(Self, Value)> {
        let mut server = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start the MCP server")?;
        let stdin = server.stdin.take();
        let stdout = server.stdout.take().context("the server has no output")?;
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                // Nobody listens any more once the client is gone.
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut client = Self {
            server,
            stdin,
            lines,
            last_id: 0,
        };
        let about = client.request(
            "initialize",
            json!({
                "protocolVersion": PROTOCOL,
                "capabilities": {},
                "clientInfo": { "name": "ndbg demo", "version": env!("CARGO_PKG_VERSION") },
            }),
        )?;
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok((client, about))
    }

    /// The names of the server's tools.
    pub(crate) fn tools(&mut self) -> Result<Vec<String>> {
        let result = self.request("tools/list", json!({}))?;
        let tools = result.get("tools").and_then(Value::as_array);
        let tools = tools.context("the server's answer to tools/list has no tools")?;
        let names = tools.iter().filter_map(|tool| tool.get("name")?.as_str());
        Ok(names.map(str::to_owned).collect())
    }

    /// Calls a tool.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Answer> {
        let result = self.request(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        )?;
        Ok(Answer::read(&result))
    }

    /// Closes the server's input and waits for it to end; returns its exit code.
    pub(crate) fn finish(mut self) -> Result<Option<i32>> {
        drop(self.stdin.take());
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self
                .server
                .try_wait()
                .context("cannot wait for the server")?
            {
                return Ok(status.code());
            }
            if Instant::now() > deadline {
                bail!("the server did not end though its input was closed");
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn request(&mut self, method: &str, parameters: Value) -> Result<Value> {
        self.last_id += 1;
        let id = self.last_id;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters });
        self.send(&message)?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            let message = self
                .receive(deadline)
                .with_context(|| format!("asked for {method}"))?;
            // Notifications and requests of the server's own are of no interest here.
            if let Some(result) = answer_to(id, &message)? {
                return Ok(result);
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let stdin = self
            .stdin
            .as_mut()
            .context("the server's input is closed")?;
        let sent = writeln!(stdin, "{message}").and_then(|()| stdin.flush());
        sent.context("the server does not listen any more")
    }

    fn receive(&mut self, deadline: Instant) -> Result<Value> {
        let left = deadline.saturating_duration_since(Instant::now());
        let line = match self.lines.recv_timeout(left) {
            Ok(line) => line.context("cannot read what the server says")?,
            Err(RecvTimeoutError::Timeout) => bail!("no answer within {} s", PATIENCE.as_secs()),
            Err(RecvTimeoutError::Disconnected) => bail!("the server ended without an answer"),
        };
        serde_json::from_str(&line).with_context(|| format!("the server said no JSON: {line}"))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Gone already after `finish`; otherwise something failed, and nothing may be left behind.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Answer {
    /// Reads the result of `tools/call`.
    fn read(result: &Value) -> Self {
        let parts = result.get("content").and_then(Value::as_array);
        let texts = parts
            .into_iter()
            .flatten()
            .filter_map(|part| part.get("text")?.as_str());
        Self {
            text: texts.collect::<Vec<_>>().join("\n"),
            structured: result.get("structuredContent").cloned(),
            is_error: result
                .get("isError")
                .and_then(Value::as_bool)
                .unwrap_or(false),
        }
    }
}

/// The result in a message, if it is the answer to request `id`.
fn answer_to(id: u64, message: &Value) -> Result<Option<Value>> {
    if message.get("id").and_then(Value::as_u64) != Some(id) || message.get("method").is_some() {
        return Ok(None);
    }
    if let Some(error) = message.get("error") {
        bail!("the server refused: {error}");
    }
    let result = message.get("result").cloned();
    result
        .map(Some)
        .with_context(|| format!("neither result nor error: {message}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_answer_to_the_request_is_taken() {
        let other = json!({ "id": 1, "result": {} });
        assert_eq!(answer_to(2, &other).expect("fine"), None);
        let of_the_server = json!({ "id": 2, "method": "ping" });
        assert_eq!(answer_to(2, &of_the_server).expect("fine"), None);
        let notification = json!({ "method": "notifications/message" });
        assert_eq!(answer_to(2, &notification).expect("fine"), None);
        let right = json!({ "id": 2, "result": { "a": 1 } });
        assert_eq!(answer_to(2, &right).expect("fine"), Some(json!({ "a": 1 })));
        let error = json!({ "id": 2, "error": { "code": -32602, "message": "no" } });
        assert!(answer_to(2, &error).is_err());
        assert!(answer_to(2, &json!({ "id": 2 })).is_err());
    }

    #[test]
    fn answers_are_read_with_and_without_structure() {
        let result = json!({
            "content": [{ "type": "text", "text": "a" }, { "type": "image" }, { "type": "text", "text": "b" }],
            "structuredContent": { "x": 1 },
            "isError": true,
        });
        let expected = Answer {
            text: "a\nb".to_owned(),
            structured: Some(json!({ "x": 1 })),
            is_error: true,
        };
        assert_eq!(Answer::read(&result), expected);
        let empty = Answer {
            text: String::new(),
            structured: None,
            is_error: false,
        };
        assert_eq!(Answer::read(&json!({})), empty);
    }

    #[test]
    fn server_that_ends_at_once_is_an_error() {
        // A real program that is no MCP server.
        let error = Client::start(&mut Command::new("true")).expect_err("no server");
        let text = format!("{error:#}");
        assert!(
            text.contains("ended without an answer") || text.contains("does not listen"),
            "{text}"
        );
    }

    #[test]
    fn server_that_talks_nonsense_is_an_error() {
        // `cat` says what it is told: our own request, which is no answer; then its end.
        let mut command = Command::new("sh");
        command.args(["-c", "echo nonsense; cat >/dev/null"]);
        let error = Client::start(&mut command).expect_err("no server");
        assert!(
            format!("{error:#}").contains("said no JSON: nonsense"),
            "{error:#}"
        );
    }
}
