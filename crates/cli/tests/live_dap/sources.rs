//! Source files and memory: texts that only symbols hold, statements, messages with their lines, exact sources.

use base64::Engine as _;
use serde_json::{Value, json};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::client::Editor;

#[track_caller]
fn list<'v>(body: &'v Value, name: &str) -> &'v [Value] {
    body[name].as_array().expect("a list")
}

#[test]
fn source_that_only_symbols_hold_is_told() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    let fixture = Fixture::named("source_embedded");
    let line = fixture.marker("main").line;
    editor.launch(&fixture, &[], json!({"stopAtEntry": true}));
    let stop = editor.event("stopped");
    let stack = editor.ask("stackTrace", json!({"threadId": stop["threadId"]}));
    let top = &stack["stackFrames"][0];
    assert_eq!(top["source"]["path"], "/_/nowhere/source_embedded.cs");
    let reference = top["source"]["sourceReference"].clone();
    let told = editor.ask(
        "source",
        json!({"sourceReference": reference, "source": top["source"]}),
    );
    let text = told["content"].as_str().expect("a text");
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[line as usize - 1].contains("//@main"), "{text}");

    // The same file in the list of all, with the same number.
    let loaded = editor.ask("loadedSources", json!({}));
    let mut sources = list(&loaded, "sources").iter();
    let found = sources.find(|it| it["name"] == "source_embedded.cs");
    assert_eq!(found.expect("the file")["sourceReference"], reference);
    // Breakpoints can be set in it.
    let wanted = json!({"source": top["source"], "breakpoints": [{"line": line}]});
    let set = editor.ask("setBreakpoints", wanted);
    assert_eq!(set["breakpoints"][0]["verified"], true, "{set}");
    // Also by its number alone.
    let wanted = json!({"source": {"sourceReference": reference}, "breakpoints": [{"line": line}]});
    let set = editor.ask("setBreakpoints", wanted);
    assert_eq!(set["breakpoints"][0]["verified"], true, "{set}");
    assert_eq!(set["breakpoints"][0]["line"], line, "{set}");
    let text = editor.refused("source", json!({"sourceReference": 77}));
    assert!(text.contains("no source file 77"), "{text}");
    assert!(editor.disconnect().success());
}

#[test]
fn statements_messages_and_memory_are_told() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    let fixture = Fixture::named("bp_traces");
    let (call, passed, end) = (
        fixture.marker("call"),
        fixture.marker("passed"),
        fixture.marker("end"),
    );
    let launch = editor.send("launch", json!({"program": fixture.dll(), "args": "2"}));
    let wanted = json!({"source": {"path": call.file}, "breakpoints": [
        {"line": passed.line, "logMessage": "{i} is {name}"}, {"line": end.line}]});
    editor.ask("setBreakpoints", wanted);
    editor.ask("configurationDone", json!({}));
    assert_eq!(editor.answer(launch)["success"], true);
    let started = editor.event("thread");
    assert_eq!(started["reason"], "started");

    // Messages come in order with the program's own output, with the line of each.
    for message in ["0 is even\n", "1 is odd\n"] {
        let told = loop {
            let told = editor.event("output");
            if told["category"] == "console" {
                break told;
            }
        };
        assert_eq!(told["output"], message);
        assert_eq!(told["line"], passed.line);
        assert_eq!(told["source"]["path"], json!(passed.file));
    }
    let stop = editor.event("stopped");

    let file = json!({"path": call.file});
    let range = json!({"source": file, "line": call.line, "endLine": call.line + 1});
    let found = editor.ask("breakpointLocations", range);
    let lines: Vec<_> = list(&found, "breakpoints")
        .iter()
        .map(|it| &it["line"])
        .collect();
    assert_eq!(lines, [&json!(call.line), &json!(call.line + 1)]);
    assert!(
        found["breakpoints"][0]["column"].as_u64() > Some(1),
        "{found}"
    );

    let frame = editor.top_frame(&stop);
    let asked = json!({"expression": "order", "frameId": frame, "context": "watch"});
    let order = editor.ask("evaluate", asked);
    let reference = order["memoryReference"].clone();
    let read = |offset: i64, count: u64| json!({"memoryReference": reference, "offset": offset, "count": count});
    let memory = editor.ask("readMemory", read(0, 32));
    let data = memory["data"].as_str().expect("bytes");
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(data)
        .expect("base64");
    assert_eq!(bytes.len(), 32);
    // The same bytes by the address.
    let by_address = json!({"memoryReference": memory["address"], "offset": 8, "count": 8});
    let part = editor.ask("readMemory", by_address);
    let part =
        base64::engine::general_purpose::STANDARD.decode(part["data"].as_str().expect("bytes"));
    assert_eq!(part.expect("base64"), bytes[8..16]);
    let nowhere = editor.ask("readMemory", json!({"memoryReference": "0x10", "count": 4}));
    assert_eq!(
        (&nowhere["data"], &nowhere["unreadableBytes"]),
        (&Value::Null, &json!(4))
    );
    let text = editor.refused("readMemory", json!({"memoryReference": "x", "count": 4}));
    assert!(text.contains("no place in memory"), "{text}");

    let format = json!({"threadId": stop["threadId"], "format": {"module": true, "line": true, "parameters": false}});
    let stack = editor.ask("stackTrace", format);
    let name = format!("bp_traces.dll!Program.Main Line {}", end.line);
    assert_eq!(stack["stackFrames"][0]["name"], name);
    editor.ask("continue", json!({"threadId": stop["threadId"]}));
    assert_eq!(editor.end().1, Some(0));
}

#[test]
fn program_without_a_debugger_runs_and_is_ended() {
    let sandbox = Sandbox::new();
    let hello = Fixture::named("hello");
    let mut editor = Editor::initialized(&sandbox);
    editor.launch(
        &hello,
        &["first"],
        json!({"noDebug": true, "args": ["--exit", "3"]}),
    );
    let (output, code) = editor.end();
    assert!(output.contains("bye"), "{output}");
    assert_eq!(code, Some(3));
    assert!(editor.disconnect().success());

    let mut editor = Editor::initialized(&sandbox);
    editor.launch(
        &Fixture::named("loops"),
        &[],
        json!({"noDebug": true, "args": ["silent"]}),
    );
    let pid = editor.event_or_end("process")["systemProcessId"].clone();
    let text = editor.refused("pause", json!({"threadId": pid}));
    assert!(text.contains("without a debugger"), "{text}");
    editor.ask("terminate", json!({}));
    editor.event_or_end("terminated");
    assert!(editor.disconnect().success());
}

#[test]
fn changed_source_is_told_and_refused_where_it_must_be_exact() {
    let sandbox = Sandbox::new();
    let fixture = Fixture::named("metadata_mapped");
    let marker = fixture.marker("length");
    let copy = sandbox.folder().join("src/metadata_mapped.cs");
    std::fs::create_dir_all(copy.parent().expect("a folder")).expect("a folder");
    let text = std::fs::read_to_string(&marker.file).expect("the source");
    std::fs::write(&copy, text.replace("length", "count")).expect("written");
    for exact in [false, true] {
        let mut editor = Editor::initialized(&sandbox);
        editor.launch(
            &fixture,
            &[],
            json!({"stopAtEntry": true, "requireExactSource": exact}),
        );
        editor.event("stopped");
        let wanted = json!({"source": {"path": copy}, "breakpoints": [{"line": marker.line}]});
        let set = editor.ask("setBreakpoints", wanted);
        let breakpoint = &set["breakpoints"][0];
        assert_eq!(breakpoint["verified"], !exact, "{set}");
        let message = breakpoint["message"].as_str().expect("a message");
        assert!(message.contains("was changed since"), "{message}");
        assert!(editor.disconnect().success());
    }
}

#[test]
fn memory_of_more_than_one_piece_is_told_whole() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    let stop = editor.launch_to(&Fixture::named("values_large"), &["stop"]);
    let frame = editor.top_frame(&stop);
    let array = json!({"expression": "numbers", "frameId": frame, "context": "watch"});
    let reference = editor.ask("evaluate", array)["memoryReference"].clone();
    let read = |count: u64| json!({"memoryReference": reference, "offset": 16, "count": count});
    let memory = editor.ask("readMemory", read(300_000));
    assert_eq!(memory["unreadableBytes"], Value::Null);
    assert_eq!(memory["data"].as_str().map(str::len), Some(400_000));
    let refused = editor.refused("readMemory", read(1 << 40));
    assert!(refused.contains("too many for one answer"), "{refused}");
    assert!(editor.disconnect().success());
}
