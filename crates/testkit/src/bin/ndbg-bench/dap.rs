//! The editor's door: what an editor waits for, message by message.

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};
use testkit::fixtures::{self, Fixture};
use testkit::procfs;
use testkit::sandbox::Sandbox;

use crate::Outcome;
use crate::figures::{Figure, Unit, nanoseconds};
use crate::memory::Held;

const STARTS: usize = 41;
const LAUNCHES: usize = 7;
const LOOKS: usize = 100;
const ROUNDS: usize = 9;
/// Passes of the line with the condition between two stops.
const PASSES: u64 = 1_000;

type Told<T> = Result<T, Box<dyn Error>>;

/// All that is measured through the protocol.
pub(crate) fn all(sandbox: &Sandbox) -> Outcome {
    let mut start = Figure::time("dap.start");
    for _ in 0..STARTS {
        start.timed(|| Adapter::start(sandbox))?;
    }
    start.print();
    let mut launch = Figure::time("dap.launch");
    let mut memory = Figure::new("dap.memory", Unit::Bytes);
    for _ in 0..LAUNCHES {
        let started = Instant::now();
        let mut adapter = Adapter::start(sandbox)?;
        let thread = adapter.launch_to("look", None)?;
        launch.add(nanoseconds(started.elapsed()));
        adapter.look(&thread)?;
        memory.add(adapter.memory()?);
    }
    launch.print();
    looks(sandbox)?;
    conditions(sandbox)?;
    memory.print();
    Ok(())
}

/// Steps, looks and expressions at one stop after the other.
fn looks(sandbox: &Sandbox) -> Outcome {
    let mut adapter = Adapter::start(sandbox)?;
    let thread = adapter.launch_to("look", None)?;
    let mut next = Figure::time("dap.next");
    let mut look = Figure::time("dap.look");
    let mut expand = Figure::time("dap.expand");
    let expressions = [
        ("dap.evaluate.local", "number"),
        ("dap.evaluate.field", "square.Side"),
        ("dap.evaluate.property", "square.Area"),
        ("dap.evaluate.index", "list[500]"),
    ];
    let mut evaluated = expressions.map(|(name, _)| Figure::time(name));
    for _ in 0..LOOKS {
        next.timed(|| {
            adapter.ask("next", json!({ "threadId": thread }))?;
            adapter.event("stopped")
        })?;
        adapter.ask("continue", json!({ "threadId": thread }))?;
        adapter.event("stopped")?;
        let (frame, list) = look.timed(|| adapter.look(&thread))?;
        expand.timed(|| {
            let page = json!({ "variablesReference": list, "start": 0, "count": 100 });
            adapter.ask("variables", page)
        })?;
        for ((_, expression), figure) in expressions.iter().zip(&mut evaluated) {
            let wanted = json!({ "expression": expression, "frameId": frame, "context": "watch" });
            figure.timed(|| adapter.ask("evaluate", wanted))?;
        }
    }
    look.print();
    evaluated.into_iter().for_each(Figure::print);
    expand.print();
    next.print();
    Ok(())
}

/// Passes of a line whose condition is never true.
fn conditions(sandbox: &Sandbox) -> Outcome {
    let mut adapter = Adapter::start(sandbox)?;
    let thread = adapter.launch_to("passed", Some("i == -1"))?;
    let mut rate = Figure::new("dap.conditions", Unit::PerSecond);
    for _ in 0..ROUNDS {
        let started = Instant::now();
        adapter.ask("continue", json!({ "threadId": thread }))?;
        adapter.event("stopped")?;
        let taken = nanoseconds(started.elapsed()).max(1);
        rate.add(PASSES.saturating_mul(1_000_000_000) / taken);
    }
    rate.print();
    Ok(())
}

/// A running adapter. It ends, with its program, when this is dropped.
struct Adapter {
    process: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    seq: u64,
    events: Vec<Value>,
}

impl Adapter {
    fn start(sandbox: &Sandbox) -> Told<Self> {
        let mut command = Command::new(fixtures::ndbg());
        sandbox.adopt(&mut command);
        let mut process = command
            .arg("dap")
            .envs(fixtures::dotnet_environment())
            .env("DOTNET_ROOT", fixtures::dotnet_root())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdin = process.stdin.take();
        let stdout = process.stdout.take().ok_or("the adapter has no output")?;
        let mut adapter = Self {
            process,
            stdin,
            stdout: BufReader::new(stdout),
            seq: 0,
            events: Vec::new(),
        };
        adapter.ask("initialize", json!({ "adapterID": "ndbg-bench" }))?;
        Ok(adapter)
    }

    /// Launches the program to a marker, perhaps with a breakpoint whose condition is checked on the way; the thread.
    fn launch_to(&mut self, marker: &str, condition: Option<&str>) -> Told<Value> {
        let fixture = Fixture::named("bench_dap");
        let stop = fixture.marker(marker);
        let mut breakpoints = vec![json!({ "line": stop.line })];
        if let Some(condition) = condition {
            let line = fixture.marker("hit").line;
            breakpoints.push(json!({ "line": line, "condition": condition }));
        }
        let launch = self.send("launch", json!({ "program": fixture.dll() }))?;
        let wanted = json!({ "source": { "path": stop.file }, "breakpoints": breakpoints });
        self.ask("setBreakpoints", wanted)?;
        self.ask("configurationDone", json!({}))?;
        self.answer("launch", launch)?;
        let stopped = self.event("stopped")?;
        Ok(part(&stopped, "threadId"))
    }

    /// What an editor asks for at each stop: stack, scopes, arguments and locals. The frame and the list's number.
    fn look(&mut self, thread: &Value) -> Told<(Value, Value)> {
        let stack = json!({ "threadId": thread, "startFrame": 0, "levels": 20 });
        let stack = self.ask("stackTrace", stack)?;
        let frame = part(&stack, "stackFrames/0/id");
        let scopes = self.ask("scopes", json!({ "frameId": frame }))?;
        let of = |number: &str| json!({ "variablesReference": part(&scopes, number) });
        let arguments = self.ask("variables", of("scopes/0/variablesReference"))?;
        self.ask("variables", of("scopes/1/variablesReference"))?;
        let list = part(&arguments, "variables/1/variablesReference");
        if part(&arguments, "variables/1/name") != "list" {
            return Err(format!("no list where it should be: {arguments}").into());
        }
        Ok((frame, list))
    }

    /// What adapter and host hold, with pages that they share counted once.
    fn memory(&self) -> Told<u64> {
        let hosts = procfs::children(self.process.id());
        let [host] = hosts.as_slice() else {
            return Err(format!("expected one host, not {hosts:?}").into());
        };
        Ok(Held::by(self.process.id())?.share + Held::by(host.pid)?.share)
    }

    fn send(&mut self, command: &str, arguments: Value) -> Told<u64> {
        self.seq += 1;
        let request = json!({ "seq": self.seq, "type": "request", "command": command, "arguments": arguments });
        let body = request.to_string();
        let stdin = self.stdin.as_mut().ok_or("the adapter was closed")?;
        stdin.write_all(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes())?;
        Ok(self.seq)
    }

    fn ask(&mut self, command: &str, arguments: Value) -> Told<Value> {
        let seq = self.send(command, arguments)?;
        self.answer(command, seq)
    }

    fn answer(&mut self, command: &str, seq: u64) -> Told<Value> {
        loop {
            let message = self.read()?;
            if part(&message, "request_seq") != seq {
                self.events.push(message);
                continue;
            }
            if part(&message, "success") != true {
                return Err(format!("{command} was refused: {message}").into());
            }
            return Ok(part(&message, "body"));
        }
    }

    fn event(&mut self, name: &str) -> Told<Value> {
        let known = self.events.iter().position(|it| part(it, "event") == name);
        if let Some(at) = known {
            let found = self.events.swap_remove(at);
            self.events.clear();
            return Ok(part(&found, "body"));
        }
        self.events.clear();
        loop {
            let message = self.read()?;
            if part(&message, "event") == name {
                return Ok(part(&message, "body"));
            }
        }
    }

    fn read(&mut self) -> Told<Value> {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if self.stdout.read_line(&mut line)? == 0 {
                return Err("the adapter ended".into());
            }
            match line.trim().strip_prefix("Content-Length: ") {
                Some(digits) => length = digits.parse()?,
                None if line.trim().is_empty() => break,
                None => {}
            }
        }
        let mut body = vec![0; length];
        self.stdout.read_exact(&mut body)?;
        Ok(serde_json::from_slice(&body)?)
    }
}

/// A part of a message by its path; null if it is not there.
fn part(message: &Value, path: &str) -> Value {
    let found = message.pointer(&format!("/{path}"));
    found.cloned().unwrap_or_default()
}

impl Drop for Adapter {
    fn drop(&mut self) {
        self.stdin = None;
        // It ends by itself when its input does; what it returns is no measurement.
        let _ = self.process.wait();
    }
}
