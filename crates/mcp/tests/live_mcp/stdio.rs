//! `ndbg mcp` as a client starts it: bytes on pipes.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};

use serde_json::{Value, json};
use testkit::fixtures;
use testkit::sandbox::Sandbox;

/// A server process and its pipes. Everything it writes to standard output must be a message.
pub(crate) struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    last_id: u64,
}

impl Process {
    pub(crate) fn start(sandbox: &Sandbox) -> Self {
        Self::start_with(sandbox, &[])
    }

    /// A server with these arguments.
    pub(crate) fn start_with(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        let mut command = Command::new(fixtures::ndbg());
        command
            .arg("mcp")
            .args(arguments)
            .envs(fixtures::dotnet_environment());
        sandbox.adopt(&mut command);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit());
        let mut child = command.spawn().expect("ndbg starts");
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().expect("piped");
        let (sender, messages) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let line = line.expect("standard output is text");
                let message: Value =
                    serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
                assert_eq!(message["jsonrpc"], "2.0", "{line}");
                // The test may have read enough.
                let _ = sender.send(message);
            }
        });
        Self {
            child,
            stdin,
            messages,
            last_id: 0,
        }
    }

    /// Starts a server and says hello as a client of this version.
    pub(crate) fn connected(sandbox: &Sandbox, version: &str) -> Self {
        Self::start(sandbox).hello(version).0
    }

    /// Says hello as a client of this version; also what the server said.
    pub(crate) fn hello(mut self, version: &str) -> (Self, Value) {
        let process = &mut self;
        let client = json!({"name": "test", "version": "1"});
        let hello = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
        let answer = process.request("initialize", hello);
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
        process.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        (self, answer["result"].clone())
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes());
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("open");
        stdin
            .write_all(bytes)
            .and_then(|()| stdin.flush())
            .expect("the server reads");
    }

    /// Sends a request and waits for its answer.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.answer(id)
    }

    /// Sends a request.
    pub(crate) fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        self.send(
            &json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}),
        );
        self.last_id
    }

    /// Waits for the answer to a request.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self
                .messages
                .recv_timeout(testkit::PATIENCE)
                .expect("an answer");
            if message["id"] == id {
                return message;
            }
        }
    }

    /// The next message, whatever it is.
    pub(crate) fn next(&mut self) -> Value {
        self.messages
            .recv_timeout(testkit::PATIENCE)
            .expect("a message")
    }

    /// Calls a tool; the result.
    pub(crate) fn call(&mut self, name: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({"name": name, "arguments": arguments}));
        answer["result"].clone()
    }

    /// Repeats a call until its text holds something.
    pub(crate) fn until(&mut self, name: &str, arguments: &Value, wanted: &str) {
        let deadline = testkit::deadline();
        loop {
            let result = self.call(name, arguments.clone());
            let text = result["content"][0]["text"].as_str().expect("a text");
            if text.contains(wanted) {
                return;
            }
            assert!(std::time::Instant::now() < deadline, "last answer: {text}");
        }
    }

    /// Closes the server's input.
    pub(crate) fn hang_up(&mut self) {
        self.stdin = None;
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        testkit::procfs::signal(self.pid(), signal);
    }

    /// Waits for its end.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let ended = testkit::eventually(|| match self.child.try_wait() {
            Ok(Some(status)) => Ok(status),
            Ok(None) => Err("the server still runs".into()),
            Err(error) => Err(error.to_string()),
        });
        ended.unwrap_or_else(|why| panic!("{why}"))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
