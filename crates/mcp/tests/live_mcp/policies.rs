//! What a server refuses because whoever started it said so.

use std::process::{Command, Stdio};

use serde_json::{Value, json};
use testkit::fixtures::{self, Fixture};
use testkit::sandbox::Sandbox;

use crate::client::dll;
use crate::stdio::Process;
use crate::web::Web;

const VERSION: &str = "2025-11-25";

/// A server on pipes that was started with these options, and what it said about itself.
fn server(sandbox: &Sandbox, options: &[&str]) -> (Process, String) {
    let (process, hello) = Process::start_with(sandbox, options).hello(VERSION);
    let told = hello["instructions"].as_str().expect("instructions");
    (process, told.to_owned())
}

/// The names of the tools that a server lists.
fn tools(server: &mut Process) -> Vec<String> {
    let listed = server.request("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().expect("tools");
    let name = |tool: &Value| tool["name"].as_str().expect("a name").to_owned();
    tools.iter().map(name).collect()
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().expect("a text")
}

/// A call is refused, and says which option asks for that and what to do instead.
#[track_caller]
fn refused(result: &Value, option: &str) {
    let error = &result["structuredContent"]["error"];
    assert_eq!(error["code"], "PERMISSION_DENIED", "{result}");
    let message = error["message"].as_str().expect("a message");
    assert!(message.contains(option), "{message}");
    assert!(error["hint"].is_string(), "{result}");
}

#[test]
fn read_only_looks_and_changes_nothing() {
    let sandbox = Sandbox::new();
    let program = sandbox.bare("loops").args(["sleep", "5"]).start();
    program.line_starting("tick");
    let (mut server, told) = server(&sandbox, &["--read-only"]);
    assert!(told.contains("--read-only"), "{told}");
    let tools = tools(&mut server);
    for name in [
        "variable_set",
        "debug_goto",
        "process_input",
        "debug_launch",
    ] {
        assert!(!tools.iter().any(|it| it == name), "{tools:?}");
    }
    let launch = server.call("debug_launch", json!({"program": dll("hello")}));
    refused(&launch, "--read-only");

    server.call("debug_attach", json!({"pid": program.pid()}));
    // A breakpoint only stops. Its condition is judged without code, or not at all.
    let source = Fixture::named("loops").sources()[0].clone();
    let at = json!({"file": source, "text": "Console.WriteLine($\"tick", "condition": "tick > 0"});
    let set = server.call("breakpoint_set", at);
    assert_eq!(set["isError"], false, "{set}");
    let stopped = server.call("debug_wait", json!({}));
    assert_eq!(
        stopped["structuredContent"]["state"], "stopped",
        "{stopped}"
    );
    let looked = server.call("evaluate", json!({"expressions": ["tick > 0", "mode"]}));
    assert!(text(&looked).contains("true"), "{looked}");

    // `,ac` asks for code, too.
    let asked = json!({"expressions": ["Spin(1)", "Spin(1),ac", "tick = 0,ac", "total = 7,ac"]});
    let not_run = server.call("evaluate", asked);
    let results = not_run["structuredContent"]["results"].as_array();
    for result in results.expect("results") {
        let why = result["problem"].as_str();
        assert!(
            why.is_some_and(|why| why.contains("not allowed here")),
            "{result}"
        );
        let hint = result["hint"].as_str();
        assert!(
            hint.is_some_and(|hint| hint.contains("--read-only")),
            "{result}"
        );
    }
    for (name, arguments) in [
        (
            "evaluate",
            json!({"expressions": ["tick"], "side_effects": true}),
        ),
        (
            "evaluate",
            json!({"expressions": ["mode"], "open": true, "side_effects": true}),
        ),
        ("variable_set", json!({"path": "tick", "value": "0"})),
        ("debug_goto", json!({"line": 14})),
        ("threads_get", json!({"freeze": [1]})),
        ("debug_disconnect", json!({"terminate": true})),
    ] {
        refused(&server.call(name, arguments), "--read-only");
    }
    let stepped = server.call("debug_step", json!({"kind": "over"}));
    assert_eq!(
        stepped["structuredContent"]["state"], "stopped",
        "{stepped}"
    );
    // What would run code is refused when it is set, not when it is reached.
    for code in [
        json!({"id": 1, "condition": "new object() == null"}),
        json!({"id": 1, "log_message": "{tick} {Spin(1)}"}),
        json!({"id": 1, "condition": "(tick = 1) > 0"}),
    ] {
        let refused = server.call("breakpoint_update", code);
        let told = text(&refused);
        assert!(told.starts_with("PERMISSION_DENIED"), "{told}");
        assert!(told.contains("this session only looks at it"), "{told}");
    }
    let read =
        json!({"id": 1, "condition": "tick.ToString().Length > 0 && mode.StartsWith(\"s\")"});
    let changed = server.call("breakpoint_update", read);
    assert_eq!(changed["isError"], false, "{changed}");
    let stopped = server.call("debug_continue", json!({}));
    assert!(
        text(&stopped).contains("at breakpoint 1"),
        "{}",
        text(&stopped)
    );
    // What a tracepoint logs in an attached program is told, though its own output is not captured.
    let trace = json!({"id": 1, "condition": "", "log_message": "tick {tick}"});
    let changed = server.call("breakpoint_update", trace);
    assert_eq!(changed["isError"], false, "{changed}");
    let mut told = String::new();
    for _ in 0..100 {
        server.call("debug_continue", json!({"timeout_ms": 100}));
        told = text(&server.call("process_output", json!({}))).to_owned();
        if told.contains("log| tick") {
            break;
        }
    }
    assert!(
        told.contains("log| tick") && told.contains("not captured"),
        "{told}"
    );
    let released = server.call("debug_disconnect", json!({}));
    assert_eq!(
        released["structuredContent"]["state"], "detached",
        "{released}"
    );
    program.assert_ticks();
}

#[test]
fn programs_and_sources_lie_below_the_root() {
    let sandbox = Sandbox::new();
    let outside = sandbox.bare("loops").args(["silent"]).start();
    outside.line_starting("running");
    let root = Fixture::named("throws").folder().display().to_string();
    let (mut server, told) = server(&sandbox, &["--root", &root, "--read-only"]);
    assert!(told.contains(&root), "{told}");
    let source = Fixture::named("throws").sources()[0].clone();
    let program = dll("throws");
    for arguments in [
        json!({"program": dll("hello")}),
        json!({"program": "dotnet", "args": [program]}),
        json!({"program": "/bin/sh", "follow_child": true}),
        json!({"program": format!("{root}/../hello/hello.dll")}),
        json!({"program": program, "cwd": "/"}),
        json!({"program": program, "env": {"DOTNET_STARTUP_HOOKS": "/tmp/x.dll"}}),
        json!({"program": program, "env": {"LD_PRELOAD": "/tmp/x.so"}}),
        json!({"program": program, "source_maps": {"/_/": "/etc"}}),
        json!({"program": program, "breakpoints": [{"file": source, "text": "return"}]}),
    ] {
        refused(&server.call("debug_launch", arguments), "--root");
    }
    let args = json!({"program": program, "args": ["--TestAdapterPath:/tmp"]});
    refused(&server.call("debug_launch_test", args), "--root");
    refused(
        &server.call("debug_attach", json!({"pid": outside.pid()})),
        "--root",
    );
    let listed = server.call("process_list", json!({}));
    let listed = &listed["structuredContent"]["processes"];
    let seen = listed.as_array().expect("processes").iter();
    let seen = seen.clone().find(|it| it["pid"] == outside.pid());
    let seen = seen.expect("it is listed");
    assert_eq!(seen["attachable"], false, "{seen}");
    assert!(
        seen["reason"]
            .as_str()
            .is_some_and(|it| it.contains("--root")),
        "{seen}"
    );

    // What lies below it is launched, and looked at.
    let stopped = server.call("debug_launch", json!({"program": program}));
    assert_eq!(
        stopped["structuredContent"]["state"], "stopped",
        "{stopped}"
    );
    // Symbols can name any file: what lies elsewhere is not shown.
    let stop = &stopped["structuredContent"]["stop"];
    assert!(stop["frames"][0]["line"].is_u64(), "{stop}");
    assert!(stop["source"].is_null(), "{stop}");
    for look in [json!({}), json!({"file": source})] {
        refused(&server.call("source_get", look), "--root");
    }
    refused(
        &server.call("process_input", json!({"text": "x"})),
        "--read-only",
    );
    let ended = server.call("debug_disconnect", json!({"terminate": true}));
    assert_eq!(ended["structuredContent"]["state"], "exited", "{ended}");
}

#[test]
fn attaching_can_be_forbidden_and_options_are_checked() {
    let sandbox = Sandbox::new();
    let (mut server, told) = server(&sandbox, &["--allow-attach", "none"]);
    assert!(told.contains("--allow-attach none"), "{told}");
    assert!(!tools(&mut server).iter().any(|it| it == "debug_attach"));
    refused(
        &server.call("debug_attach", json!({"pid": std::process::id()})),
        "--allow-attach none",
    );
    for (arguments, expected) in [
        (&["--root", "/no/such/folder"] as &[&str], "--root"),
        (&["--root", "/etc/passwd"], "no folder"),
        (&["--allow-attach", "some"], "own"),
        (&["--idle-limit", "0"], "at least a second"),
        (&["--idle-limit", "soon"], "minutes"),
    ] {
        let mut command = Command::new(fixtures::ndbg());
        command.arg("mcp").args(arguments).stdin(Stdio::null());
        sandbox.adopt(&mut command);
        let output = command.output().expect("ndbg runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
}

#[test]
fn sessions_that_nobody_uses_are_ended() {
    let sandbox = Sandbox::new();
    let attached = sandbox.bare("loops").args(["sleep", "5"]).start();
    attached.line_starting("tick");
    let web = Web::start_with(&sandbox, &["--http", "--idle-limit", "0.02"], None);
    // A session is in use for as long as a call waits for it, however long that is.
    let mut running = web.call(
        "debug_launch",
        json!({"program": dll("loops"), "timeout_ms": 2000}),
    );
    // A busy machine starts it later.
    while running["structuredContent"]["state"] == "starting" {
        running = web.call("debug_wait", json!({"timeout_ms": 2000}));
    }
    assert_eq!(
        running["structuredContent"]["state"], "running",
        "{running}"
    );
    web.call("debug_attach", json!({"pid": attached.pid()}));
    // A look at all sessions is no use of any of them.
    let over = testkit::eventually(|| {
        let status = web.call("debug_status", json!({}));
        let sessions = &status["structuredContent"]["sessions"];
        let states = [0, 1].map(|index| sessions[index]["state"].clone());
        match states == [json!("exited"), json!("detached")] {
            true => Ok(status),
            false => Err(status.to_string()),
        }
    });
    let over = over.unwrap_or_else(|why| panic!("{why}"));
    assert!(text(&over).contains("--idle-limit"), "{over}");
    let asked = web.call("threads_get", json!({"session": "s1"}));
    let error = &asked["structuredContent"]["error"];
    assert_eq!(error["code"], "NO_SESSION", "{asked}");
    assert!(
        error["message"]
            .as_str()
            .is_some_and(|it| it.contains("--idle-limit")),
        "{asked}"
    );
    attached.assert_ticks();
}
