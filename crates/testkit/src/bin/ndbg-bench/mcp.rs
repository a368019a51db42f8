//! The agent's door: start of the server, stop reports, memory of server and host.

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use testkit::fixtures::{self, Fixture};
use testkit::procfs;
use testkit::sandbox::Sandbox;

use crate::Outcome;
use crate::figures::{Figure, Unit};
use crate::memory::Held;
use crate::program::{Memory, Program, breakpoint, launch};
use crate::stops::TURN;

const STARTS: usize = 41;
const REPORTS: usize = 150;
const LAUNCHES: usize = 5;
const WARM_UP: usize = 20;

/// The start of a server, beside that of a program that only tells its version, and what a stop costs an agent.
pub(crate) fn server(sandbox: &Sandbox) -> Outcome {
    let mut version = Figure::time("mcp.version");
    let mut start = Figure::time("mcp.start");
    for _ in 0..STARTS {
        version.timed(|| {
            let mut command = Command::new(fixtures::ndbg());
            command.arg("--version").stdout(Stdio::null());
            command.status()
        })?;
        start.timed(|| Server::start(sandbox))?;
    }
    version.print();
    start.print();

    let mut tools = Figure::time("mcp.tools");
    let mut server = Server::start(sandbox)?;
    for _ in 0..STARTS {
        tools.timed(|| server.request("tools/list", json!({})))?;
    }
    tools.print();
    drop(server);
    steps(sandbox)?;

    let mut server = Server::start(sandbox)?;
    server.launch("bench_stops", &["breaks"])?;
    let mut status = Figure::time("mcp.status");
    let mut report = Figure::time("mcp.report");
    for _ in 0..REPORTS {
        status.timed(|| server.call("debug_status", json!({})))?;
        let stop = report.timed(|| server.call("debug_continue", json!({})))?;
        if !stop.to_string().contains("debugger_break") {
            return Err(format!("no stop at Debugger.Break(): {stop}").into());
        }
    }
    status.print();
    report.print();
    Ok(())
}

/// Steps through the server beside steps through the engine alone.
fn steps(sandbox: &Sandbox) -> Outcome {
    let fixture = Fixture::named("bench_stops");
    let stop = breakpoint(&fixture, "steps");
    let program = Program::launch(
        sandbox,
        Memory::Fast,
        launch(&fixture, &["steps"], vec![stop]),
    )?;
    let marker = fixture.marker("steps");
    let mut server = Server::start(sandbox)?;
    server.call(
        "debug_launch",
        json!({
            "program": fixture.dll(),
            "args": ["steps"],
            "breakpoints": [{ "file": marker.file, "line": marker.line }],
        }),
    )?;
    let mut engine = Figure::time("mcp.step.engine");
    let mut step = Figure::time("mcp.step");
    for _ in 0..WARM_UP {
        program.step_over()?;
        server.call("debug_step", json!({ "kind": "over" }))?;
    }
    for _ in 0..REPORTS.div_ceil(TURN) {
        for _ in 0..TURN {
            engine.timed(|| program.step_over())?;
        }
        for _ in 0..TURN {
            step.timed(|| server.call("debug_step", json!({ "kind": "over" })))?;
        }
    }
    engine.print();
    step.print();
    Ok(())
}

/// Server and host of a program that is stopped.
pub(crate) fn memory(sandbox: &Sandbox) -> Outcome {
    let figure = |name| Figure::new(name, Unit::Bytes);
    let mut resident = figure("memory.mcp");
    let mut share = figure("memory.mcp.share");
    let mut server_only = figure("memory.mcp.server");
    for _ in 0..LAUNCHES {
        let mut server = Server::start(sandbox)?;
        server.launch("bench_start", &[])?;
        let pid = server.process.id();
        let hosts = procfs::children(pid);
        let [host] = hosts.as_slice() else {
            return Err(format!("expected one host, not {hosts:?}").into());
        };
        let (front_end, host) = (Held::by(pid)?, Held::by(host.pid)?);
        resident.add(front_end.resident + host.resident);
        share.add(front_end.share + host.share);
        server_only.add(front_end.resident);
    }
    resident.print();
    share.print();
    server_only.print();
    Ok(())
}

/// A running server. It ends, with its sessions, when this is dropped.
struct Server {
    process: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    last_id: u64,
}

impl Server {
    /// Starts it and shakes hands.
    fn start(sandbox: &Sandbox) -> Result<Self, Box<dyn Error>> {
        let mut command = Command::new(fixtures::ndbg());
        sandbox.adopt(&mut command);
        let mut process = command
            .arg("mcp")
            .envs(fixtures::dotnet_environment())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdin = process.stdin.take();
        let stdout = process.stdout.take().ok_or("the server has no output")?;
        let mut server = Self {
            process,
            stdin,
            stdout: BufReader::new(stdout),
            last_id: 0,
        };
        server.request(
            "initialize",
            json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": { "name": "ndbg-bench", "version": "1" },
            }),
        )?;
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(server)
    }

    /// Launches a fixture to the first line of its `Main`.
    fn launch(&mut self, fixture: &str, args: &[&str]) -> Result<(), Box<dyn Error>> {
        let program = Fixture::named(fixture).dll();
        let launch = json!({ "program": program, "args": args, "stop_at_entry": true });
        self.call("debug_launch", launch).map(drop)
    }

    /// Calls a tool, which must not fail.
    fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, Box<dyn Error>> {
        let result = self.request(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        )?;
        if result.get("isError") == Some(&Value::Bool(true)) {
            return Err(format!("{tool} failed: {result}").into());
        }
        Ok(result)
    }

    fn request(&mut self, method: &str, parameters: Value) -> Result<Value, Box<dyn Error>> {
        self.last_id += 1;
        let id = Value::from(self.last_id);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }))?;
        loop {
            let mut line = String::new();
            if self.stdout.read_line(&mut line)? == 0 {
                return Err(format!("the server ended instead of answering {method}").into());
            }
            let mut message: Value = serde_json::from_str(&line)?;
            // The server's own requests and notifications are of no interest here.
            if message.get("id") == Some(&id) && message.get("method").is_none() {
                let result = message.get_mut("result").map(Value::take);
                return result.ok_or_else(|| format!("{method} was refused: {message}").into());
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<(), Box<dyn Error>> {
        let stdin = self.stdin.as_mut().ok_or("the server's input is closed")?;
        writeln!(stdin, "{message}")?;
        Ok(stdin.flush()?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stdin.take());
        // It ends its sessions first; whatever is left is found by the sandbox.
        let _ = self.process.wait();
    }
}
