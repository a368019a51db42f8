//! An editor: sends requests, keeps events in order, waits for what it needs.

use std::collections::VecDeque;
use std::io::{BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use dap::framing;
use serde_json::{Value, json};
use testkit::fixtures::{self, Fixture};
use testkit::sandbox::Sandbox;

/// How long a test waits for one message.
const PATIENCE: Duration = Duration::from_secs(60);

/// An editor with `ndbg dap` as its adapter. An adapter that it started is killed when the editor is dropped.
pub(crate) struct Editor {
    child: Option<Child>,
    adapter: Option<Box<dyn Write>>,
    incoming: Receiver<Value>,
    events: VecDeque<Value>,
    seq: i64,
    /// Everything that was sent and received, if that is kept.
    pub(crate) transcript: Option<Vec<Value>>,
}

/// A connection that ends when it is dropped, although another thread reads it.
struct Hanging<S: Write>(S, fn(&S));

impl<S: Write> Write for Hanging<S> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

impl<S: Write> Drop for Hanging<S> {
    fn drop(&mut self) {
        (self.1)(&self.0);
    }
}

impl Editor {
    /// Starts the adapter.
    #[track_caller]
    pub(crate) fn start(sandbox: &Sandbox) -> Self {
        let mut command = Command::new(fixtures::ndbg());
        command
            .arg("dap")
            .envs(fixtures::dotnet_environment())
            .env("DOTNET_ROOT", fixtures::dotnet_root())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        sandbox.adopt(&mut command);
        let mut child = command.spawn().expect("ndbg starts");
        let stdin = child.stdin.take().expect("a pipe");
        let stdout = child.stdout.take().expect("a pipe");
        let mut editor = Self::over(stdout, Box::new(stdin));
        editor.child = Some(child);
        editor
    }

    /// Comes to an adapter that listens on a port.
    #[track_caller]
    pub(crate) fn on_port(address: &str) -> Self {
        let stream = TcpStream::connect(address).expect("somebody listens");
        let reader = stream.try_clone().expect("a connection");
        // The other end may be gone first.
        let end = |it: &TcpStream| drop(it.shutdown(Shutdown::Both));
        Self::over(reader, Box::new(Hanging(stream, end)))
    }

    /// Comes to an adapter that listens on a unix socket.
    #[track_caller]
    pub(crate) fn on_socket(path: &str) -> Self {
        let stream = UnixStream::connect(path).expect("somebody listens");
        let reader = stream.try_clone().expect("a connection");
        let end = |it: &UnixStream| drop(it.shutdown(Shutdown::Both));
        Self::over(reader, Box::new(Hanging(stream, end)))
    }

    fn over(from: impl Read + Send + 'static, to: Box<dyn Write>) -> Self {
        let (sender, incoming) = mpsc::channel();
        thread::spawn(move || {
            let mut from = BufReader::new(from);
            while let Ok(Some(body)) = framing::read(&mut from) {
                let message = serde_json::from_slice(&body).expect("the adapter writes JSON");
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self {
            child: None,
            adapter: Some(to),
            incoming,
            events: VecDeque::new(),
            seq: 0,
            transcript: None,
        }
    }

    /// Says hello as an editor does.
    #[track_caller]
    pub(crate) fn hello(&mut self) {
        self.ask(
            "initialize",
            json!({"adapterID": "coreclr", "linesStartAt1": true}),
        );
        self.event("initialized");
    }

    /// Starts the adapter and says hello as an editor does.
    #[track_caller]
    pub(crate) fn initialized(sandbox: &Sandbox) -> Self {
        let mut editor = Self::start(sandbox);
        editor.hello();
        editor
    }

    /// The number of the innermost frame of the thread that a stop names.
    #[track_caller]
    pub(crate) fn top_frame(&mut self, stop: &Value) -> Value {
        let stack = self.ask(
            "stackTrace",
            json!({"threadId": stop["threadId"], "levels": 1}),
        );
        stack["stackFrames"][0]["id"].clone()
    }

    /// The local variables of a frame.
    #[track_caller]
    pub(crate) fn locals(&mut self, frame: &Value) -> Vec<Value> {
        let scopes = self.ask("scopes", json!({"frameId": frame}));
        let scopes = scopes["scopes"].as_array().expect("scopes");
        let locals = scopes.iter().find(|it| it["name"] == "Locals");
        let reference = locals.expect("there are always locals")["variablesReference"].clone();
        self.variables(&reference)
    }

    /// The variables of a number, by name.
    #[track_caller]
    pub(crate) fn variables(&mut self, reference: &Value) -> Vec<Value> {
        let found = self.ask("variables", json!({"variablesReference": reference}));
        found["variables"].as_array().expect("variables").clone()
    }

    /// Sends a request; its number.
    #[track_caller]
    pub(crate) fn send(&mut self, command: &str, arguments: Value) -> i64 {
        self.seq += 1;
        let seq = self.seq;
        let request =
            json!({"seq": seq, "type": "request", "command": command, "arguments": arguments});
        self.write(request.to_string().as_bytes());
        if let Some(transcript) = &mut self.transcript {
            transcript.push(request);
        }
        seq
    }

    /// Answers a request of the adapter.
    #[track_caller]
    pub(crate) fn respond(&mut self, to: i64, success: bool) {
        let response = json!({"seq": 0, "type": "response", "request_seq": to,
            "command": "runInTerminal", "success": success, "body": {},
            "message": if success { Value::Null } else { json!("no terminal today") }});
        self.write(response.to_string().as_bytes());
    }

    /// Sends bytes as one message.
    #[track_caller]
    pub(crate) fn write(&mut self, body: &[u8]) {
        let stdin = self.adapter.as_mut().expect("not hung up");
        framing::write(stdin, body).expect("the adapter reads");
    }

    /// Sends bytes as they are.
    #[track_caller]
    pub(crate) fn write_raw(&mut self, bytes: &[u8]) {
        let stdin = self.adapter.as_mut().expect("not hung up");
        stdin.write_all(bytes).expect("the adapter reads");
    }

    /// Sends a request and waits for its answer, which must be a success; its body.
    #[track_caller]
    pub(crate) fn ask(&mut self, command: &str, arguments: Value) -> Value {
        let seq = self.send(command, arguments);
        let answer = self.answer(seq);
        assert_eq!(answer["success"], true, "{command}: {answer}");
        answer["body"].clone()
    }

    /// Sends a request that must be refused; what a person is told.
    #[track_caller]
    pub(crate) fn refused(&mut self, command: &str, arguments: Value) -> String {
        let seq = self.send(command, arguments);
        let answer = self.answer(seq);
        assert_eq!(answer["success"], false, "{command}: {answer}");
        answer["message"].as_str().expect("a message").to_owned()
    }

    /// Waits for the answer to a request; events in between are kept.
    #[track_caller]
    pub(crate) fn answer(&mut self, seq: i64) -> Value {
        loop {
            let message = self.next();
            match message["type"].as_str() {
                Some("response") if message["request_seq"] == seq => return message,
                Some("event" | "request") => self.events.push_back(message),
                _ => panic!("an answer to nothing: {message}"),
            }
        }
    }

    /// Waits for the next answer, to whatever request; events in between are kept.
    #[track_caller]
    pub(crate) fn any_answer(&mut self) -> Value {
        loop {
            let message = self.next();
            if message["type"] == "response" {
                return message;
            }
            self.events.push_back(message);
        }
    }

    /// Waits for an event of a name, passing over others; its body.
    #[track_caller]
    pub(crate) fn event(&mut self, name: &str) -> Value {
        loop {
            let message = self.events.pop_front().unwrap_or_else(|| self.next());
            if message["event"] == name {
                return message["body"].clone();
            }
            let ended = message["event"] == "terminated";
            assert!(!ended, "the program ended while waiting for {name}");
        }
    }

    /// Waits for an event of a name, even if it is the last one; its body.
    #[track_caller]
    pub(crate) fn event_or_end(&mut self, name: &str) -> Value {
        loop {
            let message = self.events.pop_front().unwrap_or_else(|| self.next());
            if message["event"] == name {
                return message["body"].clone();
            }
        }
    }

    /// Waits for a request of the adapter; its number and arguments.
    #[track_caller]
    pub(crate) fn asked(&mut self, command: &str) -> (i64, Value) {
        loop {
            let message = self.events.pop_front().unwrap_or_else(|| self.next());
            if message["type"] == "request" && message["command"] == command {
                return (
                    message["seq"].as_i64().expect("a number"),
                    message["arguments"].clone(),
                );
            }
        }
    }

    /// Waits for the end of the program: its output by category, and its exit code.
    #[track_caller]
    pub(crate) fn end(&mut self) -> (String, Option<i64>) {
        let mut output = String::new();
        let mut code = None;
        loop {
            let message = self.events.pop_front().unwrap_or_else(|| self.next());
            let body = &message["body"];
            match message["event"].as_str() {
                Some("output") if body["category"] == "stdout" => {
                    output += body["output"].as_str().expect("a text");
                }
                Some("exited") => code = body["exitCode"].as_i64(),
                Some("terminated") => return (output, code),
                Some("stopped") => panic!("the program stopped instead of ending: {body}"),
                _ => {}
            }
        }
    }

    #[track_caller]
    fn next(&mut self) -> Value {
        let message = self.incoming.recv_timeout(PATIENCE);
        let message = message.expect("the adapter says something in time");
        if let Some(transcript) = &mut self.transcript {
            transcript.push(message.clone());
        }
        message
    }

    /// Launches a fixture with breakpoints at markers and waits for the first stop.
    #[track_caller]
    pub(crate) fn launch_to(&mut self, fixture: &Fixture, markers: &[&str]) -> Value {
        self.launch(fixture, markers, json!({}));
        self.event("stopped")
    }

    /// Launches a fixture with breakpoints at markers and further settings.
    #[track_caller]
    pub(crate) fn launch(&mut self, fixture: &Fixture, markers: &[&str], settings: Value) {
        let mut arguments = json!({"program": fixture.dll(), "cwd": fixture.folder()});
        for (name, value) in settings.as_object().expect("an object") {
            arguments[name] = value.clone();
        }
        let launch = self.send("launch", arguments);
        if let Some(first) = markers.first() {
            let file = fixture.marker(first).file;
            let lines: Vec<_> = markers
                .iter()
                .map(|name| json!({"line": fixture.marker(name).line}))
                .collect();
            self.ask(
                "setBreakpoints",
                json!({"source": {"path": file}, "breakpoints": lines}),
            );
        }
        self.ask("configurationDone", json!({}));
        let answer = self.answer(launch);
        assert_eq!(answer["success"], true, "{answer}");
    }

    /// Says goodbye and waits for the adapter's end.
    #[track_caller]
    pub(crate) fn disconnect(mut self) -> ExitStatus {
        self.ask("disconnect", json!({}));
        self.hang_up()
    }

    /// Says goodbye to an adapter that serves others after us.
    #[track_caller]
    pub(crate) fn leave(mut self) {
        self.ask("disconnect", json!({}));
    }

    /// Closes the adapter's input and waits for its end.
    #[track_caller]
    pub(crate) fn hang_up(mut self) -> ExitStatus {
        self.adapter = None;
        let mut child = self.child.take().expect("an adapter of our own");
        child.wait().expect("our own child")
    }

    /// Sends the adapter a signal and waits for its end.
    #[track_caller]
    pub(crate) fn signal(mut self, signal: &str) -> ExitStatus {
        let child = self.child.as_mut().expect("an adapter of our own");
        let sent = Command::new("kill")
            .args(["-s", signal, &child.id().to_string()])
            .status();
        assert!(sent.expect("kill is part of every Linux").success());
        child.wait().expect("our own child")
    }

    /// Kills the adapter.
    #[track_caller]
    pub(crate) fn kill(mut self) {
        let child = self.child.as_mut().expect("an adapter of our own");
        child.kill().expect("our own child");
        child.wait().expect("our own child");
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // It may be gone already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
