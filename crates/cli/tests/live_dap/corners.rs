//! What is rarely asked for: launches that are given up, programs that do not want to end, exceptions of several parts.

use serde_json::json;
use testkit::fixtures::{self, Fixture};
use testkit::sandbox::Sandbox;

use crate::client::Editor;

/// Launches a project whose build does not end by itself, and waits until it is built.
#[track_caller]
fn builds(sandbox: &Sandbox, project: &std::path::Path) -> (Editor, i64, serde_json::Value) {
    let mut editor = Editor::start(sandbox);
    editor.ask(
        "initialize",
        json!({"adapterID": "coreclr", "supportsProgressReporting": true}),
    );
    let launch = editor.send("launch", json!({"program": project}));
    editor.ask("configurationDone", json!({}));
    let start = editor.event("progressStart");
    assert_eq!(start["cancellable"], true);
    (editor, launch, start["progressId"].clone())
}

#[test]
fn builds_are_given_up_and_a_program_that_stays_is_ended() {
    // An SDK leaves files in the temporary folder.
    let sandbox = Sandbox::with_default_tmp();
    let desk = Fixture::named("desk");
    let mut stubborn = Editor::initialized(&sandbox);
    stubborn.launch(&desk, &["ready"], json!({"args": ["stubborn"]}));
    stubborn.event("stopped");
    stubborn.ask("terminate", json!({}));

    let folder = sandbox.folder().join("endless");
    std::fs::create_dir_all(&folder).expect("a folder");
    let project = folder.join("endless.csproj");
    let text = "<Project><Target Name=\"Build\"><Exec Command=\"sleep 600\" /></Target>\
        <Target Name=\"Restore\"><Exec Command=\"sleep 600\" /></Target></Project>";
    std::fs::write(&project, text).expect("a file");
    assert!(fixtures::dotnet_root().join("sdk").is_dir(), "an SDK");
    let (mut editor, launch, progress) = builds(&sandbox, &project);
    let cancel = editor.send("cancel", json!({"progressId": progress}));
    let answer = editor.answer(cancel);
    assert_eq!(answer["success"], true, "{answer}");
    let answer = editor.answer(launch);
    assert_eq!(answer["success"], false, "{answer}");
    assert_eq!(answer["message"], "cancelled", "{answer}");
    assert_eq!(editor.event("progressEnd")["progressId"], progress);
    editor.event_or_end("terminated");
    assert!(editor.disconnect().success());

    let (editor, ..) = builds(&sandbox, &project);
    assert_eq!(editor.signal("TERM").code(), Some(128 + 15));

    // Five seconds after it was asked, it is not asked any more.
    let told = loop {
        let told = stubborn.event("output");
        if told["category"] == "console" {
            break told["output"].as_str().expect("a text").to_owned();
        }
    };
    assert!(told.contains("did not end within 5 s"), "{told}");
    assert_eq!(stubborn.end().1, Some(137));
    assert!(stubborn.disconnect().success());
}

#[test]
fn exceptions_of_several_parts_and_symbols_of_modules_are_told() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    let fixture = Fixture::named("exception_kinds");
    let launch = editor.send(
        "launch",
        json!({"program": fixture.dll(), "args": ["aggregate"]}),
    );
    editor.ask("configurationDone", json!({}));
    let answer = editor.answer(launch);
    assert_eq!(answer["success"], true, "{answer}");
    let (mut own, mut others) = (None, 0);
    while own.is_none() || others == 0 {
        let told = editor.event("module");
        assert_eq!(told["reason"], "new", "{told}");
        let module = &told["module"];
        if module["name"] == "exception_kinds.dll" {
            own = Some(module.clone());
        } else if module["symbolStatus"] == "No symbols loaded." {
            others += 1;
        }
    }
    let own = own.expect("the program's own module");
    assert_eq!(own["symbolStatus"], "Symbols loaded.", "{own}");
    assert_eq!(own["isUserCode"], true, "{own}");

    let stop = editor.event("stopped");
    assert_eq!(stop["reason"], "exception", "{stop}");
    let info = editor.ask("exceptionInfo", json!({"threadId": stop["threadId"]}));
    let frame = editor.top_frame(&stop);
    let inner = info["details"]["innerException"].as_array().expect("parts");
    let types: Vec<_> = inner.iter().map(|it| it["fullTypeName"].clone()).collect();
    assert_eq!(
        types,
        [
            "ShopException",
            "StockException",
            "System.ArgumentException"
        ]
    );
    // Each has a name by which it is found.
    let deep = &inner[0]["innerException"][0];
    assert_eq!(deep["fullTypeName"], "System.FormatException");
    for part in inner.iter().chain([deep]) {
        let name = part["evaluateName"].as_str().expect("a name");
        let message = format!(
            "({name}).GetType().Name == \"{}\"",
            part["typeName"].as_str().expect("a type")
        );
        let asked = json!({"frameId": frame, "context": "watch", "expression": message});
        assert_eq!(editor.ask("evaluate", asked)["result"], "true", "{name}");
    }

    // What cannot be had is told, and the rest is done.
    editor.ask("disconnect", json!({"suspendDebuggee": true}));
    let told = loop {
        let told = editor.event("output");
        if told["category"] == "console" {
            break told["output"].as_str().expect("a text").to_owned();
        }
    };
    assert!(told.contains("suspendDebuggee is not supported"), "{told}");
    assert!(editor.hang_up().success());
}
