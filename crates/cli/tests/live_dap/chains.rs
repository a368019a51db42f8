//! Who awaits what a thread runs stands in its stack, page by page; what is no frame of a thread says so.

use serde_json::{Value, json};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::client::Editor;

#[track_caller]
fn stack(editor: &mut Editor, thread: &Value, more: Value) -> (Vec<Value>, i64) {
    let mut arguments = json!({"threadId": thread});
    for (name, value) in more.as_object().expect("an object") {
        arguments[name] = value.clone();
    }
    let told = editor.ask("stackTrace", arguments);
    let frames = told["stackFrames"].as_array().expect("frames").clone();
    (frames, told["totalFrames"].as_i64().expect("a total"))
}

fn name(frame: &Value) -> &str {
    frame["name"].as_str().expect("a name")
}

#[test]
fn awaiters_stand_behind_the_frame_that_was_resumed() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    let program = Fixture::named("async_main");
    let stop = editor.launch_to(&program, &["twice"]);
    let thread = stop["threadId"].clone();
    let (frames, total) = stack(&mut editor, &thread, json!({}));
    assert_eq!(frames.len() as i64, total, "{frames:?}");
    assert!(name(&frames[0]).starts_with("Program.Twice("), "{frames:?}");
    assert_eq!(name(&frames[1]), "[awaited by]", "{frames:?}");
    assert_eq!(frames[1]["presentationHint"], "label");
    let awaiter = &frames[2];
    let place = program.marker("loop");
    assert!(name(awaiter).starts_with("Program.Main("), "{frames:?}");
    assert_eq!(awaiter["line"], place.line, "{awaiter}");
    assert_eq!(awaiter["source"]["path"], json!(place.file), "{awaiter}");
    assert!(awaiter["presentationHint"].is_null(), "{awaiter}");
    assert_eq!(frames[3]["presentationHint"], "label", "{frames:?}");
    // Whether its thread waits for it by now is a matter of luck.
    assert!(name(&frames[3]).contains("the last one"), "{frames:?}");
    // What resumed it comes behind.
    let behind = frames.get(4..).expect("the framework's frames");
    assert!(!behind.is_empty(), "{frames:?}");
    let hints = behind.iter().map(|it| &it["presentationHint"]);
    assert!(hints.clone().all(|it| it == "subtle" || it == "label"));

    // The same page by page, and nothing behind the last.
    for (at, frame) in frames.iter().enumerate() {
        let page = json!({"startFrame": at, "levels": 1});
        let (page, total) = stack(&mut editor, &thread, page);
        let names: Vec<_> = page.iter().map(name).collect();
        assert_eq!(names, [name(frame)], "{at}");
        // The client asks on for as long as there are more than it has.
        let told = at as i64 + 1;
        assert_eq!(total > told, told < frames.len() as i64, "{at}: {total}");
        assert!(total <= frames.len() as i64, "{at}: {total}");
    }
    let (page, _) = stack(&mut editor, &thread, json!({"startFrame": 1, "levels": 3}));
    let names: Vec<_> = page.iter().map(name).collect();
    let expected: Vec<_> = frames[1..4].iter().map(name).collect();
    assert_eq!(names, expected);
    let beyond = json!({"startFrame": total, "levels": 5});
    assert!(stack(&mut editor, &thread, beyond).0.is_empty());

    // No thread is in it: that is said wherever it is looked at.
    let id = awaiter["id"].clone();
    let scopes = editor.ask("scopes", json!({"frameId": id}));
    let scopes = scopes["scopes"].as_array().expect("scopes").clone();
    assert_eq!(scopes.len(), 1, "{scopes:?}");
    let inside = editor.variables(&scopes[0]["variablesReference"]);
    let said = inside[0]["value"].as_str().expect("a text");
    assert!(said.contains("suspended at an await"), "{inside:?}");
    for (request, arguments) in [
        ("evaluate", json!({"expression": "sum", "frameId": id})),
        ("stepInTargets", json!({"frameId": id})),
    ] {
        let text = editor.refused(request, arguments);
        assert!(text.contains("suspended at an await"), "{request}: {text}");
    }

    // Only statements of the method that runs can be the next.
    let targets = |editor: &mut Editor, marker: &str| {
        let place = program.marker(marker);
        let wanted = json!({"source": {"path": place.file}, "line": place.line});
        let told = editor.ask("gotoTargets", wanted);
        told["targets"].as_array().expect("targets").len()
    };
    assert_eq!(targets(&mut editor, "loop"), 0);
    assert_eq!(targets(&mut editor, "twice"), 1);

    // A thread that there is not does not let the others run.
    let text = editor.refused("continue", json!({"threadId": 999_999_999}));
    assert!(text.contains("no thread 999999999"), "{text}");
    assert!(editor.disconnect().success());
}

#[test]
fn exception_is_the_one_of_its_thread() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    let launch = editor.send("launch", json!({"program": Fixture::named("desk").dll()}));
    let filters = json!({"filters": [], "filterOptions": [
        {"filterId": "all", "condition": "3 ++"}, {"filterId": "all"}]});
    let told = editor.ask("setExceptionBreakpoints", filters);
    assert_eq!(told["breakpoints"][0]["verified"], false, "{told}");
    editor.ask("configurationDone", json!({}));
    assert_eq!(editor.answer(launch)["success"], true);
    let stop = editor.event("stopped");
    let thread = stop["threadId"].as_i64().expect("a thread");
    let told = editor.ask("exceptionInfo", json!({"threadId": thread}));
    assert_eq!(told["exceptionId"], "System.InvalidOperationException");
    let text = editor.refused("exceptionInfo", json!({"threadId": thread + 1}));
    assert!(text.contains(&format!("thread {thread} did")), "{text}");
    assert!(editor.disconnect().success());
}

#[test]
fn collections_are_paged_whatever_they_are_made_of() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    let stop = editor.launch_to(&Fixture::named("values_large"), &["stop"]);
    let frame = editor.top_frame(&stop);
    let look = |editor: &mut Editor, expression: &str| {
        let arguments = json!({"expression": expression, "frameId": frame, "context": "watch"});
        editor.ask("evaluate", arguments)
    };
    for (name, count) in [
        ("dictionary", 149_999),
        ("linked", 101_000),
        ("sorted", 101_000),
        ("concurrentQueue", 101_000),
        ("immutableList", 200_000),
    ] {
        let told = look(&mut editor, name);
        assert_eq!(told["indexedVariables"], count, "{name}: {told}");
        assert!(told["namedVariables"].is_null(), "{name}: {told}");
        let page = json!({"variablesReference": told["variablesReference"],
            "filter": "indexed", "start": count - 3, "count": 10});
        let page = editor.ask("variables", page);
        let page = page["variables"].as_array().expect("elements");
        assert_eq!(page.len(), 3, "{name}: {page:?}");
        let page = json!({"variablesReference": told["variablesReference"], "filter": "named"});
        let page = editor.ask("variables", page);
        assert_eq!(page["variables"], json!([]), "{name}");
    }
    // What cannot be meant is not taken for something else.
    let reference = look(&mut editor, "linked")["variablesReference"].clone();
    for (argument, value) in [
        ("start", json!(-1)),
        ("count", json!(-1)),
        ("filter", json!("x")),
    ] {
        let mut arguments = json!({"variablesReference": reference});
        arguments[argument] = value;
        let text = editor.refused("variables", arguments);
        assert!(text.contains(argument), "{text}");
    }
    // What is copied has room for many elements.
    for (name, expected) in [("numbers", "2500"), ("concurrentStack", "Count = 5000")] {
        let arguments = json!({"expression": name, "frameId": frame, "context": "clipboard"});
        let copied = editor.ask("evaluate", arguments)["result"].clone();
        let copied = copied.as_str().expect("a text");
        assert!(copied.contains(expected), "{copied}");
    }
    assert!(editor.disconnect().success());
}

#[test]
fn what_is_readonly_is_set_by_whoever_asks_twice() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    let stop = editor.launch_to(&Fixture::named("terminal"), &["add"]);
    let frame = editor.top_frame(&stop);
    let set = |value: &str| {
        let expression = "item.Price";
        json!({"expression": expression, "value": value, "frameId": frame})
    };
    let text = editor.refused("setExpression", set("8"));
    assert!(text.contains("readonly"), "{text}");
    assert!(text.contains("the same value once more"), "{text}");
    // Another value is another wish.
    editor.refused("setExpression", set("9"));
    let told = editor.ask("setExpression", set("9"));
    assert_eq!(told["value"], "9", "{told}");
    let hover = json!({"expression": "item.Sum()", "frameId": frame, "context": "hover"});
    let text = editor.refused("evaluate", hover);
    assert!(text.contains("a watch or the console"), "{text}");
    assert!(!text.contains("allow side effects"), "{text}");
    assert!(editor.disconnect().success());
}
