//! Objects that are kept over continues, and values that attributes call by other names, in an editor.

use serde_json::{Value, json};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::client::Editor;

#[test]
fn objects_are_kept_over_continues_listed_set_and_let_go() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    let stop = editor.launch_to(&Fixture::named("values_set"), &["stop", "collected"]);
    let frame = editor.top_frame(&stop);
    let evaluated = |editor: &mut Editor, frame: &Value, expression: &str| {
        let arguments = json!({"expression": expression, "frameId": frame, "context": "repl"});
        editor.ask("evaluate", arguments)
    };
    let kept = evaluated(&mut editor, &frame, "$1 = account");
    assert_ne!(kept["variablesReference"], 0, "{kept}");
    evaluated(&mut editor, &frame, "$ = new Account()");
    editor.ask("continue", json!({"threadId": stop["threadId"]}));
    let stop = editor.event("stopped");
    let frame = editor.top_frame(&stop);
    let same = evaluated(
        &mut editor,
        &frame,
        "$1 == account && $2.Owner == \"nobody\"",
    );
    assert_eq!(same["result"], "true", "{same}");
    let set = json!({"expression": "$1.Owner", "value": "\"kept\"", "frameId": frame});
    assert_eq!(editor.ask("setExpression", set)["value"], "\"kept\"");
    let owner = evaluated(&mut editor, &frame, "account.Owner");
    assert_eq!(owner["result"], "\"kept\"");
    let watch = evaluated(&mut editor, &frame, "$1");
    let members = editor.variables(&watch["variablesReference"]);
    let member = members.iter().find(|it| it["name"] == "Owner");
    assert_eq!(member.expect("a member")["value"], "\"kept\"");
    evaluated(&mut editor, &frame, "$1 = null");
    let refused = json!({"expression": "$1 = null", "frameId": frame, "context": "repl"});
    let refused = editor.refused("evaluate", refused);
    assert!(refused.contains("no object is kept as $1"), "{refused}");
    editor.disconnect();
}

#[test]
fn values_are_called_what_attributes_say() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    let stop = editor.launch_to(&Fixture::named("values_views"), &["stop"]);
    let frame = editor.top_frame(&stop);
    let locals = editor.locals(&frame);
    let reference = |name: &str| {
        let found = locals.iter().find(|it| it["name"] == name);
        found.expect("a local")["variablesReference"].clone()
    };
    let line = |it: &Value| {
        let parts = ["name", "type", "value", "evaluateName"];
        parts.map(|part| it[part].as_str().unwrap_or_default().to_owned())
    };
    let entries: Vec<_> = editor
        .variables(&reference("entries"))
        .iter()
        .map(line)
        .collect();
    assert_eq!(
        entries,
        [
            ["[first]", "entry of 5 letters", "1", "entries[0]"],
            ["[second]", "entry of 6 letters", "2", "entries[1]"],
        ]
    );
    let members = reference("members");
    let told: Vec<_> = editor.variables(&members).iter().map(line).collect();
    assert_eq!(
        told[1],
        ["time", "duration", "12 s of 60", "members.seconds"]
    );
    // It is set by the name that the editor knows.
    let set = json!({"variablesReference": members, "name": "time", "value": "30"});
    editor.ask("setVariable", set);
    let told: Vec<_> = editor.variables(&members).iter().map(line).collect();
    assert_eq!(
        told[1],
        ["time", "duration", "30 s of 60", "members.seconds"]
    );
    editor.disconnect();
}
