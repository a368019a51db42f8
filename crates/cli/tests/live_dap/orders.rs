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
    // A header more than usual belongs to the message behind it.
    editor.write_raw(b"Content-Type: x\r\n");
    let text = editor.refused("threads", json!({}));
    assert!(text.contains("launch or attach first"), "{text}");
    assert!(editor.disconnect().success());
}
