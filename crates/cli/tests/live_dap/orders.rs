//! Requests at the wrong time, wrong arguments, and bytes that are no messages.

use serde_json::json;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::client::Editor;

#[test]
fn requests_at_the_wrong_time_are_explained() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::start(&sandbox);
    let text = editor.refused("threads", json!({}));
    assert_eq!(text, "threads before initialize");
    editor.ask("initialize", json!({"adapterID": "x"}));
    let text = editor.refused("stackTrace", json!({"threadId": 1}));
    assert!(text.contains("launch or attach first"), "{text}");
    let text = editor.refused("next", json!({}));
    assert!(text.contains("threadId"), "{text}");
    let text = editor.refused("fly", json!({}));
    assert!(text.contains("does not know the request fly"), "{text}");
    let text = editor.refused("launch", json!({}));
    assert!(text.contains("needs program"), "{text}");
    let text = editor.refused("attach", json!({"processId": "x"}));
    assert!(text.contains("not the number of a process"), "{text}");
    let text = editor.refused("launch", json!({"program": "a.dll", "justMyCode": "yes"}));
    assert!(text.contains("justMyCode: invalid type"), "{text}");
    let text = editor.refused("completions", json!({"text": "a", "column": -1}));
    assert!(
        text.ends_with(
            "column: invalid value: integer `-1`, expected a number that is not negative"
        ),
        "{text}"
    );
    assert!(editor.disconnect().success());
}

#[test]
fn running_program_refuses_a_look_and_goes_on() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    editor.launch(&Fixture::named("loops"), &[], json!({"args": ["silent"]}));
    let pid = editor.event_or_end("process")["systemProcessId"].clone();
    let text = editor.refused("stackTrace", json!({"threadId": pid}));
    assert!(text.contains("running"), "{text}");
    editor.ask("pause", json!({"threadId": pid}));
    editor.event("stopped");
    let text = editor.refused("next", json!({"threadId": 1}));
    assert_eq!(
        text,
        "there is no managed thread 1; list the threads for their ids"
    );
    assert!(editor.disconnect().success());
}

#[test]
fn nonsense_is_told_and_does_not_end_the_connection() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    editor.write(b"not json");
    editor.write(br#"{"type": "request"}"#);
    let body = editor.event("output");
    assert!(
        body["output"]
            .as_str()
            .is_some_and(|text| text.contains("not of this protocol"))
    );
    // What can be told of a request is answered: half a character, and too many brackets.
    editor.write(br#"{"type": "request", "seq": 70, "command": "evaluate", "arguments": {"expression": "\ud83d"}}"#);
    let deep = format!(
        r#"{{"type": "request", "seq": 71, "command": "threads", "arguments": {}{}}}"#,
        "[".repeat(5_000),
        "]".repeat(5_000)
    );
    editor.write(deep.as_bytes());
    for (seq, command) in [(70, "evaluate"), (71, "threads")] {
        let answer = editor.answer(seq);
        assert_eq!(answer["success"], false, "{answer}");
        assert_eq!(answer["command"], command, "{answer}");
    }
    // A header more than usual belongs to the message behind it.
    editor.write_raw(b"Content-Type: x\r\n");
    let text = editor.refused("threads", json!({}));
    assert!(text.contains("launch or attach first"), "{text}");
    assert!(editor.disconnect().success());
}

#[test]
fn connection_ends_in_order_before_it_began_and_with_a_word_when_it_cannot_be_read() {
    let sandbox = Sandbox::new();
    assert!(Editor::start(&sandbox).disconnect().success());
    let mut editor = Editor::initialized(&sandbox);
    editor.write_raw(b"Content-Length: many\r\n\r\n");
    let body = editor.event("output");
    let text = body["output"].as_str().expect("a text").to_owned();
    assert!(text.contains("usable Content-Length"), "{text}");
    assert_eq!(editor.hang_up().code(), Some(125));
}
