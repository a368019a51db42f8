//! The shipped binary over HTTP: who gets in, what clients share, how it ends and what it leaves.

use std::io::Write as _;
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::{Value, json};
use testkit::fixtures;
use testkit::sandbox::Sandbox;

use crate::client::dll;
use crate::web::{Web, read_answer, stateless};

/// A launch that would be seen if it got in.
fn launch() -> (String, String) {
    let arguments = json!({"program": dll("loops"), "timeout_ms": 0});
    let (headers, message) = stateless("debug_launch", arguments);
    (headers, message.to_string())
}

#[test]
fn hostile_requests_get_nothing_in() {
    let sandbox = Sandbox::new();
    let web = Web::start(&sandbox);
    let (headers, body) = launch();
    let token = format!("Authorization: Bearer {}", web.token);
    let wrong = format!("Authorization: Bearer {}", "0".repeat(web.token.len()));
    let short = format!("Authorization: Bearer {}", &web.token[1..]);
    let request = |line: &str, own: &[&str]| {
        let own: String = own.iter().map(|header| format!("{header}\r\n")).collect();
        let length = body.len();
        format!(
            "{line}\r\n{own}{headers}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        )
    };
    let post = "POST /mcp HTTP/1.1";
    let (here, kind) = ("Host: localhost", "Content-Type: application/json");
    for (line, own, expected) in [
        (post, &[here, kind] as &[&str], 401),
        (post, &[here, kind, &wrong], 401),
        (post, &[here, kind, &short], 401),
        (post, &[here, kind, "Authorization: Basic Og=="], 401),
        (post, &[here, kind, &token, &wrong], 400),
        (post, &[here, kind, &token, "Origin: http://evil.com"], 403),
        (post, &[here, kind, &token, "Origin: http://localhost"], 403),
        (post, &[here, kind, &token, "Origin: null"], 403),
        (post, &["Host: evil.com", kind, &token], 403),
        (post, &["Host: localhost.evil.com", kind, &token], 403),
        (post, &[kind, &token], 400),
        (post, &[here, here, kind, &token], 400),
        (
            "POST http://evil.com/mcp HTTP/1.1",
            &[here, kind, &token],
            403,
        ),
        ("POST / HTTP/1.1", &[here, kind, &token], 404),
        ("POST /mcp/x HTTP/1.1", &[here, kind, &token], 404),
        ("PUT /mcp HTTP/1.1", &[here, kind, &token], 405),
        (
            "OPTIONS /mcp HTTP/1.1",
            &[here, kind, &token, "Origin: http://evil.com"],
            403,
        ),
        ("OPTIONS /mcp HTTP/1.1", &[here, kind, &token], 405),
        (post, &[here, &token], 415),
        (post, &[here, &token, "Content-Type: text/plain"], 415),
        (post, &[here, &token, kind, "Content-Encoding: gzip"], 415),
        (post, &[here, &token, kind, "Accept: text/html"], 406),
        (
            post,
            &[here, &token, kind, "MCP-Protocol-Version: 1999-01-01"],
            400,
        ),
        ("POST /mcp HTTP/9.9", &[here, kind, &token], 400),
        ("rubbish", &[here, kind, &token], 400),
    ] {
        let answer = web.send(request(line, own).as_bytes());
        assert_eq!(answer.status, expected, "{line} {own:?}: {answer:?}");
        assert!(!answer.body.contains(&web.token), "{answer:?}");
    }
    for (message, code) in [
        ("", -32600),
        ("not json", -32700),
        ("[]", -32600),
        ("{}", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,", -32700),
        (&"[".repeat(100_000), -32700),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":1}}"#,
            -32602,
        ),
    ] {
        let length = message.len();
        let head = web.head("POST");
        let answer = web
            .send(format!("{head}{kind}\r\nContent-Length: {length}\r\n\r\n{message}").as_bytes());
        assert_eq!(answer.status, 400, "{answer:?}");
        assert_eq!(answer.message()["error"]["code"], code, "{answer:?}");
    }
    // The size is seen before the message is read, or while it is.
    let head = web.head("POST");
    let large =
        web.send(format!("{head}{kind}\r\nContent-Length: 5000000\r\n\r\n{body}").as_bytes());
    assert_eq!(large.status, 413, "{large:?}");
    let mut chunked = format!("{head}{kind}\r\nTransfer-Encoding: chunked\r\n\r\n").into_bytes();
    chunked.extend(format!("{:x}\r\n", 5 << 20).into_bytes());
    chunked.extend(vec![b' '; 5 << 20]);
    assert_eq!(web.send(&chunked).status, 413);
    let long = "a".repeat(100_000);
    let answer = web.send(format!("POST /mcp HTTP/1.1\r\n{here}\r\nX: {long}\r\n\r\n").as_bytes());
    assert_eq!(answer.status, 431, "{answer:?}");

    let status = web.call("debug_status", json!({}));
    assert_eq!(
        status["structuredContent"],
        json!({"sessions": []}),
        "{status}"
    );
    assert_eq!(sandbox.processes().len(), 1, "only the server runs");
}

#[test]
fn a_slow_or_silent_client_is_given_up() {
    let sandbox = Sandbox::new();
    let served = crate::in_process::Served::start(&sandbox, std::time::Duration::from_millis(300));
    let (headers, body) = launch();
    let mut slow = served.place.connect();
    slow.limit();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         {headers}Content-Length: {}\r\n\r\n",
        served.token,
        body.len()
    );
    slow.write_all(head.as_bytes()).expect("sent");
    slow.write_all(&body.as_bytes()[..20]).expect("sent");
    let answer = read_answer(&mut *slow);
    assert_eq!(answer.status, 408, "{answer:?}");

    // A head that never ends is not answered; the connection is closed, also if it says nothing at all.
    for said in ["POST /mcp HTTP/1.1\r\nHost: local", ""] {
        let mut silent = served.place.connect();
        silent.limit();
        silent.write_all(said.as_bytes()).expect("sent");
        let mut rest = Vec::new();
        let read = std::io::Read::read_to_end(&mut silent, &mut rest);
        assert!(read.is_ok(), "{said:?}: {read:?}");
    }
    served.end();
}

#[test]
fn silent_clients_make_room_for_others() {
    let sandbox = Sandbox::new();
    // More than there is room for, and none of them is given up for its silence.
    let served = crate::in_process::Served::start(&sandbox, std::time::Duration::from_secs(3600));
    let silent: Vec<_> = (0..300)
        .map(|index| {
            let mut connection = served.place.connect();
            if index % 2 == 0 {
                connection
                    .write_all(b"POST /mcp HTTP/1.1\r\nHost: local")
                    .expect("sent");
            }
            connection
        })
        .collect();
    let (headers, message) = stateless("debug_status", json!({}));
    let body = message.to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n{headers}\
         Content-Length: {}\r\n\r\n{body}",
        served.token,
        body.len()
    );
    assert_eq!(served.place.send(request.as_bytes()).status, 200);
    drop(silent);
    served.end();
}

#[test]
fn clients_share_the_sessions_of_the_server() {
    let sandbox = Sandbox::new();
    let web = Web::start(&sandbox);
    let (headers, message) = stateless("debug_status", json!({}));
    let marked = format!("\u{feff}{message}");
    let head = format!(
        "{}Content-Type: application/json; charset=utf-8\r\n{headers}",
        web.head("POST")
    );
    let length = marked.len();
    let answer = web.send(format!("{head}Content-Length: {length}\r\n\r\n{marked}").as_bytes());
    assert_eq!(
        answer.status, 200,
        "a mark of UTF-8 is no fault: {answer:?}"
    );

    // Each request is a client of its own.
    let stopped = web.call("debug_launch", json!({"program": dll("throws")}));
    assert_eq!(stopped["structuredContent"]["session"], "s1", "{stopped}");
    let other = web.call("debug_launch", json!({"program": dll("throws")}));
    assert_eq!(other["structuredContent"]["session"], "s2", "{other}");
    let which = web.call("stacktrace_get", json!({}));
    assert_eq!(
        which["structuredContent"]["error"]["code"], "NO_SESSION",
        "{which}"
    );
    let stack = web.call("stacktrace_get", json!({"session": "s1"}));
    assert_eq!(stack["isError"], false, "{stack}");
    let exited = web.call("debug_continue", json!({"session": "s1"}));
    assert_eq!(exited["structuredContent"]["exit"]["code"], 134, "{exited}");
    let status = web.call("debug_status", json!({"session": "s2"}));
    assert_eq!(
        status["structuredContent"]["sessions"][0]["state"], "stopped",
        "{status}"
    );
}

fn hello(version: &str) -> Value {
    let client = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
}

#[test]
fn versions_with_sessions_have_them() {
    let sandbox = Sandbox::new();
    let web = Web::on_socket(&sandbox);
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let answer = web.post("", &hello(version));
        assert_eq!(
            answer.message()["result"]["protocolVersion"],
            version,
            "{answer:?}"
        );
        let id = answer
            .header("mcp-session-id")
            .expect("an MCP session")
            .to_owned();
        let mine = format!("Mcp-Session-Id: {id}\r\nMCP-Protocol-Version: {version}\r\n");
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(web.post(&mine, &initialized).status, 202);
        let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "debug_status"}});
        let status = web.post(&mine, &call);
        assert_eq!(
            status.message()["result"]["structuredContent"],
            json!({"sessions": []}),
            "{status:?}"
        );
        let of_nobody = web.post(&mine.replace(&id, "of-nobody"), &call);
        assert_eq!(of_nobody.status, 404, "{of_nobody:?}");
        assert_eq!(
            web.post("", &call).status,
            400,
            "a version with sessions needs one"
        );
        let end = format!("{}{mine}\r\n", web.head("DELETE"));
        assert_eq!(web.send(end.as_bytes()).status, 202);
        assert_eq!(web.post(&mine, &call).status, 404, "it has ended");
    }
    let listen = format!(
        "{}MCP-Protocol-Version: 2026-07-28\r\n\r\n",
        web.head("GET")
    );
    assert_eq!(
        web.send(listen.as_bytes()).status,
        405,
        "a version without sessions has no standing stream"
    );
}

#[test]
fn a_wait_tells_its_progress_and_is_cancelled() {
    let sandbox = Sandbox::new();
    let web = Web::on_socket(&sandbox);
    web.call(
        "debug_launch",
        json!({"program": dll("loops"), "timeout_ms": 0}),
    );
    web.until("process_output", "tick");
    let answer = web.post("", &hello("2025-11-25"));
    let id = answer.header("mcp-session-id").expect("an MCP session");
    let mine = format!("Mcp-Session-Id: {id}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    web.post(&mine, &initialized);
    let waiting = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
        "name": "debug_wait", "arguments": {"timeout_ms": 600_000}, "_meta": {"progressToken": "p"},
    }});
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    let place = web.place.clone();
    let body = waiting.to_string();
    let request = format!(
        "{}{mine}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        web.head("POST"),
        body.len()
    );
    let mut connection = place.connect();
    connection.limit();
    connection.write_all(request.as_bytes()).expect("sent");
    // Progress comes on the stream of the call; then it is cancelled, which ends the stream and not the program.
    let mut heard = Vec::new();
    let mut buffer = [0; 4096];
    while !String::from_utf8_lossy(&heard).contains("notifications/progress") {
        let read = std::io::Read::read(&mut connection, &mut buffer).expect("progress");
        assert!(read > 0, "{:?}", String::from_utf8_lossy(&heard));
        heard.extend_from_slice(&buffer[..read]);
    }
    assert_eq!(web.post(&mine, &cancel).status, 202);
    std::io::Read::read_to_end(&mut connection, &mut heard).expect("the stream ends");
    let status = web.call("debug_status", json!({}));
    assert_eq!(
        status["structuredContent"]["sessions"][0]["state"], "running",
        "{status}"
    );
}

/// A server with a stopped program, a running one and an attached one.
fn busy(sandbox: &Sandbox) -> (Web, testkit::bare::Bare) {
    let attached = sandbox.bare("loops").args(["sleep", "5"]).start();
    attached.line_starting("tick");
    let web = Web::on_socket(sandbox);
    web.call("debug_launch", json!({"program": dll("throws")}));
    web.call(
        "debug_launch",
        json!({"program": dll("loops"), "args": ["silent"], "timeout_ms": 0}),
    );
    web.call("debug_attach", json!({"pid": attached.pid()}));
    web.call("debug_pause", json!({"session": "s3"}));
    (web, attached)
}

#[test]
fn a_signal_ends_everything_and_answers_who_waits() {
    let sandbox = Sandbox::new();
    let (mut web, attached) = busy(&sandbox);
    let socket = sandbox.folder().join("mcp.sock");
    assert!(socket.exists());
    let (headers, message) = stateless(
        "debug_wait",
        json!({"session": "s2", "timeout_ms": 600_000}),
    );
    let body = message.to_string();
    let head = web.head("POST");
    let mut waiting = web.place.connect();
    waiting.limit();
    let length = body.len();
    let request = format!(
        "{head}{headers}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    waiting.write_all(request.as_bytes()).expect("sent");
    // The wait has begun once a later call is answered.
    web.call("debug_status", json!({}));
    web.signal(Signal::TERM);
    let answer = read_answer(&mut *waiting);
    let error = &answer.message()["result"]["structuredContent"]["error"];
    assert_eq!(error["code"], "CLOSING", "{answer:?}");
    assert_eq!(web.wait().code(), Some(143));
    assert!(!socket.exists(), "the socket is removed");
    attached.assert_ticks();
    let left: Vec<_> = sandbox
        .processes()
        .into_iter()
        .map(|process| process.pid)
        .collect();
    assert_eq!(left, [attached.pid()], "only what was attached is left");
}

#[test]
fn a_killed_server_leaves_a_socket_that_the_next_one_replaces() {
    let sandbox = Sandbox::new();
    let (mut web, attached) = busy(&sandbox);
    web.signal(Signal::KILL);
    web.wait();
    attached.assert_ticks();
    assert!(sandbox.folder().join("mcp.sock").exists());
    let mut next = Web::on_socket(&sandbox);
    let status = next.call("debug_status", json!({}));
    assert_eq!(
        status["structuredContent"],
        json!({"sessions": []}),
        "{status}"
    );
    next.signal(Signal::INT);
    assert_eq!(next.wait().code(), Some(130));
}

#[test]
fn a_chosen_token_is_kept_from_programs() {
    let sandbox = Sandbox::new();
    let token = "a-token-of-the-user-0123456789";
    let web = Web::start_with(&sandbox, &["--http", "127.0.0.1:0"], Some(token));
    let stopped = web.call("debug_launch", json!({"program": dll("throws")}));
    assert_eq!(
        stopped["structuredContent"]["state"], "stopped",
        "{stopped}"
    );
    let others: Vec<_> = sandbox
        .processes()
        .into_iter()
        .filter(|process| process.pid != web.pid())
        .collect();
    assert!(others.len() >= 2, "a host and a program: {others:?}");
    for process in others {
        let environment =
            std::fs::read(format!("/proc/{}/environ", process.pid)).expect("its environment");
        let shown = String::from_utf8_lossy(&environment);
        assert!(!shown.contains(token), "{process:?}");
    }
}

#[test]
fn bad_doors_are_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = Sandbox::new();
    let known = sandbox.folder().join("token");
    std::fs::write(&known, "0123456789abcdef").expect("written");
    let open = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(&known, open).expect("changed");
    let known = known.to_string_lossy();
    for (arguments, expected) in [
        (&["--http", "0.0.0.0:0"] as &[&str], "--allow-remote"),
        (&["--http", "[::]:0"], "--allow-remote"),
        (&["--http", "example.com:80"], "neither an address"),
        (
            &["--http", "--token-file", "/no/such/file"],
            "cannot be read",
        ),
        (&["--http", "--token-file", &known], "chmod 600"),
        (&["--allow-remote"], "--http"),
    ] {
        let mut command = std::process::Command::new(fixtures::ndbg());
        command.arg("mcp").args(arguments).stdin(Stdio::null());
        sandbox.adopt(&mut command);
        let output = command.output().expect("ndbg runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(expected), "{arguments:?}: {said}");
        assert!(output.stdout.is_empty());
    }
}
