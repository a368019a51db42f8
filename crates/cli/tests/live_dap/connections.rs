//! Who may come when: ports and sockets, one client after the other, two editors at once, clients that die.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;
use serde_json::json;
use testkit::fixtures::{self, Fixture};
use testkit::procfs;
use testkit::sandbox::Sandbox;

use crate::client::Editor;

/// An adapter that listens; it is killed at the end.
struct Listener {
    child: Child,
    address: String,
}

impl Listener {
    #[track_caller]
    fn start(sandbox: &Sandbox, on: &str) -> Self {
        let mut command = Command::new(fixtures::ndbg());
        command
            .args(["dap", "--listen", on])
            .envs(fixtures::dotnet_environment())
            .env("DOTNET_ROOT", fixtures::dotnet_root())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        sandbox.adopt(&mut command);
        let mut child = command.spawn().expect("ndbg starts");
        let mut line = String::new();
        let stderr = child.stderr.take().expect("a pipe");
        BufReader::new(stderr).read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("listening on ");
        let address = address.unwrap_or_else(|| panic!("not an address: {line}"));
        Self {
            address: address.to_owned(),
            child,
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn port_serves_one_client_after_the_other_and_keeps_nothing_of_those_that_are_gone() {
    let sandbox = Sandbox::new();
    let listener = Listener::start(&sandbox, "127.0.0.1:0");
    let hello = Fixture::named("hello");
    // One that is gone without a word, with its program stopped.
    let mut first = Editor::on_port(&listener.address);
    first.hello();
    first.launch_to(&hello, &["first"]);
    // Another waits for its turn.
    let mut second = Editor::on_port(&listener.address);
    let waiting = second.send("initialize", json!({"adapterID": "x"}));
    drop(first);
    assert_eq!(second.answer(waiting)["success"], true);
    second.event("initialized");
    // One that waits in vain is told why.
    let mut other = Editor::on_port(&listener.address);
    let text = other.refused("initialize", json!({"adapterID": "x"}));
    assert!(text.contains("another editor debugs here"), "{text}");
    drop(other);
    second.launch(&hello, &[], json!({"args": ["--exit", "4"]}));
    assert_eq!(second.end().1, Some(4));
    second.leave();
    // Nothing of the last one is left for the next.
    let mut third = Editor::on_port(&listener.address);
    third.hello();
    let text = third.refused("threads", json!({}));
    assert!(text.contains("launch or attach first"), "{text}");
    third.leave();
}

#[test]
fn socket_is_of_this_user_only_and_is_taken_over_from_one_that_is_gone() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    let path = sandbox.folder().join("dap.sock");
    let name = path.to_str().expect("UTF-8");
    for _ in 0..2 {
        let listener = Listener::start(&sandbox, name);
        assert_eq!(listener.address, name);
        let mode = std::fs::metadata(&path)
            .expect("a socket")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        let mut editor = Editor::on_socket(name);
        editor.hello();
        editor.launch(&Fixture::named("hello"), &[], json!({}));
        assert_eq!(editor.end().1, Some(0));
        editor.leave();
    }
    // One that is asked to end takes its socket with it.
    let mut listener = Listener::start(&sandbox, name);
    procfs::signal(listener.child.id(), Signal::TERM);
    let status = listener.child.wait().expect("our own child");
    assert_eq!(status.code(), Some(128 + 15));
    assert!(!path.exists());
    let output = Command::new(fixtures::ndbg())
        .args(["dap", "--listen", "/no/such/folder/x.sock"])
        .output()
        .expect("ndbg starts");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("/no/such/folder/x.sock"), "{text}");
}

#[test]
fn address_that_others_can_reach_is_refused() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:4711"] {
        let output = Command::new(fixtures::ndbg())
            .args(["dap", "--listen", address])
            .output()
            .expect("ndbg starts");
        assert_eq!(output.status.code(), Some(2));
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains("other machines"), "{text}");
    }
}

#[test]
fn two_editors_debug_two_programs_and_do_not_disturb_each_other() {
    let sandbox = Sandbox::new();
    let (hello, throws) = (Fixture::named("hello"), Fixture::named("throws"));
    let (mut one, mut other) = (Editor::initialized(&sandbox), Editor::initialized(&sandbox));
    let first = one.launch_to(&hello, &["first"]);
    let second = other.launch_to(&throws, &["main"]);
    assert_ne!(first["threadId"], second["threadId"]);
    // Each steps its own program, in turns.
    for _ in 0..2 {
        one.ask("next", json!({"threadId": first["threadId"]}));
        other.ask("stepIn", json!({"threadId": second["threadId"]}));
        assert_eq!(one.event("stopped")["threadId"], first["threadId"]);
        assert_eq!(other.event("stopped")["threadId"], second["threadId"]);
    }
    // The death of one is nothing to the other.
    one.kill();
    let stack = other.ask("stackTrace", json!({"threadId": second["threadId"]}));
    assert!(
        stack["stackFrames"]
            .as_array()
            .is_some_and(|it| it.len() > 1)
    );
    assert!(other.disconnect().success());
}

#[test]
fn client_that_dies_at_any_point_leaves_nothing() {
    let sandbox = Sandbox::new();
    let loops = Fixture::named("loops");
    for point in ["new", "initialized", "launching", "running", "evaluating"] {
        let mut editor = Editor::start(&sandbox);
        if point != "new" {
            editor.hello();
        }
        let settings = json!({"program": loops.dll(), "args": ["silent"]});
        match point {
            "launching" => {
                editor.send("launch", settings);
                editor.send("configurationDone", json!({}));
            }
            "running" => {
                editor.launch(&loops, &[], json!({"args": ["silent"]}));
            }
            "evaluating" => {
                let stop = editor.launch_to(&Fixture::named("values_calls"), &["stop"]);
                let frame = editor.top_frame(&stop);
                let endless = json!({"expression": "endless.Value", "frameId": frame});
                editor.send("evaluate", endless);
            }
            _ => {}
        }
        assert!(editor.hang_up().success(), "{point}");
        sandbox.assert_clean();
    }
}
