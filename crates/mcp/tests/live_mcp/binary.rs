//! The shipped binary on standard input and output: what it says, how it ends, what it leaves.

use rustix::process::Signal;
use serde_json::json;
use testkit::sandbox::Sandbox;

use crate::client::dll;
use crate::stdio::Process;

#[test]
fn a_conversation_on_pipes_in_every_version() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let sandbox = Sandbox::new();
        let mut server = Process::connected(&sandbox, version);
        let stopped = server.call("debug_launch", json!({"program": dll("throws")}));
        assert_eq!(
            stopped["structuredContent"]["state"], "stopped",
            "{stopped}"
        );
        let exited = server.call("debug_continue", json!({}));
        assert_eq!(
            exited["structuredContent"]["exit"],
            json!({"code": 134, "signal": "SIGABRT"}),
            "{exited}"
        );
        server.hang_up();
        assert_eq!(server.wait().code(), Some(0));
    }
}

#[test]
fn each_program_finds_a_host_that_waits_for_it() {
    let sandbox = Sandbox::new();
    let mut server = Process::connected(&sandbox, "2025-11-25");
    let hosts = || {
        let processes = sandbox.processes().into_iter();
        let hosts = processes.filter(|it| it.command.ends_with(" host "));
        hosts.map(|it| it.pid).collect::<Vec<_>>()
    };
    let mut last = None;
    for _ in 0..3 {
        let deadline = testkit::deadline();
        let waiting = loop {
            match hosts()[..] {
                [host] if Some(host) != last => break host,
                _ => assert!(std::time::Instant::now() < deadline, "no host is started"),
            }
        };
        server.call("debug_launch", json!({"program": dll("throws")}));
        assert_eq!(
            hosts(),
            [waiting],
            "none waits beside one that has a program"
        );
        server.call("debug_disconnect", json!({}));
        last = Some(waiting);
    }
    server.hang_up();
    assert_eq!(server.wait().code(), Some(0));
}

#[test]
fn a_host_that_nobody_needed_ends_with_its_server() {
    for signal in [None, Some(Signal::TERM), Some(Signal::KILL)] {
        let sandbox = Sandbox::new();
        let mut server = Process::connected(&sandbox, "2025-11-25");
        let deadline = testkit::deadline();
        while sandbox.processes().len() < 2 {
            assert!(std::time::Instant::now() < deadline, "no host is started");
        }
        match signal {
            None => server.hang_up(),
            Some(signal) => server.signal(signal),
        }
        server.wait();
        // One that was killed cannot wait for it.
        while !sandbox.processes().is_empty() {
            let in_time = signal == Some(Signal::KILL) && std::time::Instant::now() < deadline;
            assert!(in_time, "{:?}", sandbox.processes());
        }
    }
}

#[test]
fn a_stateless_client_needs_no_hello() {
    let sandbox = Sandbox::new();
    let mut server = Process::start(&sandbox);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let discovered = server.request("server/discover", json!({"_meta": meta}));
    assert!(
        discovered["result"]["supportedVersions"]
            .to_string()
            .contains("2026-07-28"),
        "{discovered}"
    );
    let arguments = json!({"program": dll("exits"), "args": ["return", "5"]});
    let call = json!({"name": "debug_launch", "arguments": arguments, "_meta": meta});
    let exited = server.request("tools/call", call);
    assert_eq!(
        exited["result"]["structuredContent"]["exit"]["code"], 5,
        "{exited}"
    );
    // The session outlives the request that made it.
    let output = server.request(
        "tools/call",
        json!({"name": "process_output", "arguments": {}, "_meta": meta}),
    );
    assert!(
        output["result"].to_string().contains("ending by return"),
        "{output}"
    );
    server.hang_up();
    assert_eq!(server.wait().code(), Some(0));
}

/// A server with a stopped program, a running one and an attached one, and a call that waits.
fn busy(sandbox: &Sandbox) -> (Process, testkit::bare::Bare) {
    let attached = sandbox.bare("loops").args(["sleep", "5"]).start();
    attached.line_starting("tick");
    let mut server = Process::connected(sandbox, "2025-11-25");
    server.call("debug_launch", json!({"program": dll("throws")}));
    server.call(
        "debug_launch",
        json!({"program": dll("loops"), "args": ["spin"], "timeout_ms": 0}),
    );
    server.until("process_output", &json!({"session": "s2"}), "running");
    server.call("debug_attach", json!({"pid": attached.pid()}));
    server.call("debug_pause", json!({"session": "s3"}));
    server.begin(
        "tools/call",
        json!({"name": "debug_wait", "arguments": {"session": "s2", "timeout_ms": 600_000}}),
    );
    (server, attached)
}

#[test]
fn a_client_that_hangs_up_leaves_nothing() {
    let sandbox = Sandbox::new();
    let (mut server, attached) = busy(&sandbox);
    server.hang_up();
    assert_eq!(server.wait().code(), Some(0));
    attached.assert_ticks();
    let left: Vec<_> = sandbox
        .processes()
        .into_iter()
        .map(|process| process.pid)
        .collect();
    assert_eq!(
        left,
        [attached.pid()],
        "only what was attached is left when the server has ended"
    );
}

#[test]
fn signals_end_the_server_in_order() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let sandbox = Sandbox::new();
        let (mut server, attached) = busy(&sandbox);
        server.signal(signal);
        assert_eq!(server.wait().code(), Some(code));
        attached.assert_ticks();
    }
}

#[test]
fn a_killed_server_leaves_nothing() {
    let sandbox = Sandbox::new();
    let (mut server, attached) = busy(&sandbox);
    server.signal(Signal::KILL);
    server.wait();
    attached.assert_ticks();
}

#[test]
fn a_client_that_leaves_during_a_launch_leaves_nothing() {
    let sandbox = Sandbox::new();
    let mut server = Process::connected(&sandbox, "2025-11-25");
    server.begin(
        "tools/call",
        json!({"name": "debug_launch", "arguments": {"program": dll("loops")}}),
    );
    server.hang_up();
    assert_eq!(server.wait().code(), Some(0));
}

#[test]
fn a_client_that_says_nothing_is_no_failure() {
    let sandbox = Sandbox::new();
    let mut server = Process::start(&sandbox);
    server.hang_up();
    assert_eq!(server.wait().code(), Some(0));
}

#[test]
fn a_call_that_waits_is_told_of_a_signal() {
    let sandbox = Sandbox::new();
    let mut server = Process::connected(&sandbox, "2025-11-25");
    server.call(
        "debug_launch",
        json!({"program": dll("loops"), "args": ["spin"], "timeout_ms": 0}),
    );
    server.until("process_output", &json!({}), "running");
    let waiting = server.begin(
        "tools/call",
        json!({"name": "debug_wait", "arguments": {"timeout_ms": 600_000}}),
    );
    // The wait has begun once a later call is answered.
    server.call("debug_status", json!({}));
    server.signal(Signal::TERM);
    let answer = server.answer(waiting);
    let result = &answer["result"];
    assert_eq!(result["isError"], true, "{answer}");
    assert_eq!(
        result["structuredContent"]["error"],
        json!({
            "code": "CLOSING",
            "message": "ndbg is ending (SIGTERM), so this call was given up; launched programs are ended, attached ones run on",
        }),
        "{answer}"
    );
    assert_eq!(server.wait().code(), Some(143));
}

#[test]
fn rubbish_on_the_wire_is_answered_and_survived() {
    let sandbox = Sandbox::new();
    let mut server = Process::connected(&sandbox, "2025-06-18");
    server.send_bytes(b"\n\nnot json\n{\"jsonrpc\": \"2.0\"}\n[]\n\xff\xfe\n{}\n");
    for code in [-32700, -32600, -32600, -32700, -32600] {
        let answer = server.next();
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert_eq!(answer.get("id"), None, "{answer}");
    }
    let deep = "[".repeat(100_000);
    server.send_bytes(format!("{{\"deep\": {deep}\n").as_bytes());
    assert_eq!(server.next()["error"]["code"], -32700);
    server.send_bytes(&[b'x'; 5 << 20]);
    server.send_bytes(b"\n");
    let too_long = server.next();
    assert_eq!(too_long["error"]["code"], -32700);
    assert!(
        too_long.to_string().contains("4194304 bytes at most"),
        "{too_long}"
    );
    // Whoever waits for an answer to such a request gets one.
    server
        .send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"ping\",\"params\":{\"text\":\"");
    server.send_bytes(&[b'x'; 5 << 20]);
    server.send_bytes(b"\"}}\n");
    let too_long = server.next();
    assert_eq!(too_long["id"], 77, "{too_long}");
    assert_eq!(too_long["error"]["code"], -32700, "{too_long}");
    let status = server.call("debug_status", json!({}));
    assert_eq!(
        status["structuredContent"],
        json!({"sessions": []}),
        "{status}"
    );
    for params in [json!({"name": "debug_status", "arguments": [1]}), json!({})] {
        let unfit = server.request("tools/call", params);
        assert_eq!(unfit["error"]["code"], -32602, "{unfit}");
    }
    let unknown = server.request("no/such", json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    server.hang_up();
    assert_eq!(server.wait().code(), Some(0));
}
