//! Steps into a call that the client chooses, and what is refused of the kind.

use serde_json::{Value, json};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::client::Editor;

#[track_caller]
fn targets(editor: &mut Editor, frame: &Value) -> Vec<(Value, String)> {
    let told = editor.ask("stepInTargets", json!({"frameId": frame}));
    let targets = told["targets"].as_array().expect("targets").iter();
    targets
        .map(|it| {
            let label = it["label"].as_str().expect("a label");
            (it["id"].clone(), label.to_owned())
        })
        .collect()
}

#[test]
fn call_of_a_statement_is_chosen_and_frames_are_not_restarted() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::start(&sandbox);
    let told = editor.ask("initialize", json!({"adapterID": "coreclr"}));
    assert_eq!(told["supportsStepInTargetsRequest"], true);
    assert!(told["supportsRestartFrame"].is_null(), "{told}");
    editor.event("initialized");
    let fixture = Fixture::named("step_targets");
    let stop = editor.launch_to(&fixture, &["nested", "again", "framework"]);
    let thread = stop["threadId"].clone();
    let frame = editor.top_frame(&stop);
    let found = targets(&mut editor, &frame);
    let labels: Vec<_> = found.iter().map(|(_, label)| label.as_str()).collect();
    assert_eq!(labels, ["Program.G", "Program.H", "Program.F"]);
    let h = found[1].0.clone();
    let step = |id: &Value| json!({"threadId": thread, "targetId": id});
    editor.ask("stepIn", step(&h));
    assert_eq!(editor.event("stopped")["reason"], "step");
    let stack = editor.ask("stackTrace", json!({"threadId": thread}));
    let frames = stack["stackFrames"].as_array().expect("frames");
    assert_eq!(frames[0]["line"], fixture.marker("h").line, "{stack}");

    // What was told of another stop, or is not the innermost frame's, is refused.
    let text = editor.refused("stepIn", step(&h));
    assert!(text.contains("not of this stop"), "{text}");
    let text = editor.refused("stepInTargets", json!({"frameId": frame}));
    assert!(text.contains("not of this stop"), "{text}");
    let text = editor.refused("stepInTargets", json!({"frameId": frames[1]["id"]}));
    assert!(text.contains("innermost"), "{text}");
    let text = editor.refused("restartFrame", json!({"frameId": frames[0]["id"]}));
    assert!(text.contains("goto"), "{text}");

    // Calls of the same method are told apart.
    editor.ask("continue", json!({"threadId": thread}));
    let stop = editor.event("stopped");
    let frame = editor.top_frame(&stop);
    let found = targets(&mut editor, &frame);
    let labels: Vec<_> = found.iter().map(|(_, label)| label.as_str()).collect();
    let expected = [
        "Program.G (call 1 of 3)",
        "Program.G (call 2 of 3)",
        "Program.F",
        "Program.G (call 3 of 3)",
    ];
    assert_eq!(labels, expected);

    // A statement whose calls all lead away from the program's code says so.
    editor.ask("continue", json!({"threadId": thread}));
    let stop = editor.event("stopped");
    let frame = editor.top_frame(&stop);
    let text = editor.refused("stepInTargets", json!({"frameId": frame}));
    assert!(text.contains("has no symbols"), "{text}");
    assert!(editor.disconnect().success());
}

#[test]
fn local_function_is_called_by_its_name() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    let stop = editor.launch_to(&Fixture::named("step_calls"), &["local"]);
    let frame = editor.top_frame(&stop);
    let found = targets(&mut editor, &frame);
    let labels: Vec<_> = found.iter().map(|(_, label)| label.as_str()).collect();
    let twice = "Program.Twice (call 1 of 2)";
    let again = "Program.Twice (call 2 of 2)";
    assert_eq!(labels, [twice, again, "Program.Local"]);
    // What it has captured is handed to it by the compiler, and is no parameter that anybody wrote.
    let thread = stop["threadId"].clone();
    let step = json!({"threadId": thread, "targetId": found[2].0});
    editor.ask("stepIn", step);
    editor.event("stopped");
    let stack = editor.ask("stackTrace", json!({"threadId": thread}));
    let name = stack["stackFrames"][0]["name"].as_str().expect("a name");
    assert!(name.ends_with("Local(int n)"), "{name}");
    assert!(editor.disconnect().success());
}
