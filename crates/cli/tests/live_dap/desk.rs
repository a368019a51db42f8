//! What an editor is asked for in a day, in one session each.

use serde_json::{Value, json};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::client::Editor;

#[track_caller]
fn named<'v>(variables: &'v [Value], name: &str) -> &'v Value {
    let mut named = variables.iter().filter(|it| it["name"] == name);
    named
        .next()
        .unwrap_or_else(|| panic!("{name} is missing: {variables:?}"))
}

#[track_caller]
fn go_on(editor: &mut Editor, stop: &Value) -> Value {
    editor.ask("continue", json!({"threadId": stop["threadId"]}));
    editor.event("stopped")
}

/// The one value of a lazy property among the members of something.
#[track_caller]
fn opened(editor: &mut Editor, of: &Value, name: &str) -> Value {
    let members = editor.variables(&of["variablesReference"]);
    let lazy = named(&members, name);
    assert_eq!(lazy["presentationHint"]["lazy"], true, "{lazy}");
    let inside = editor.variables(&lazy["variablesReference"]);
    assert_eq!(inside.len(), 1, "{inside:?}");
    inside[0].clone()
}

#[test]
fn breakpoints_share_a_line_and_a_step_out_leaves_a_method_that_catches() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    let desk = Fixture::named("desk");
    let line = |name: &str| desk.marker(name).line;
    let file = desk.marker("counted").file;
    let breakpoints = json!({"source": {"path": file}, "breakpoints": [
        {"line": line("counted"), "condition": "a == 3"},
        {"line": line("counted"), "condition": "a == 6"},
        {"line": line("logged")},
        {"line": line("logged"), "logMessage": "total is {total}"},
        {"line": line("inside")},
        {"line": line("divided"), "condition": "8 / (total - total) == 1"},
    ]});
    let launch = editor.send(
        "launch",
        json!({"program": desk.dll(), "args": null, "env": null}),
    );
    let set = editor.ask("setBreakpoints", breakpoints.clone());
    let id = |at: usize| set["breakpoints"][at]["id"].clone();
    editor.ask("configurationDone", json!({}));
    assert_eq!(editor.answer(launch)["success"], true);
    let stop = editor.event("stopped");
    assert_eq!(stop["hitBreakpointIds"], json!([id(0)]), "{stop}");
    // An editor says all of them again whenever one changes: those that stay keep their numbers.
    let again = editor.ask("setBreakpoints", breakpoints);
    for at in 0..6 {
        assert_eq!(again["breakpoints"][at]["id"], id(at), "{again}");
        assert_eq!(again["breakpoints"][at]["verified"], true, "{again}");
    }
    let stop = go_on(&mut editor, &stop);
    assert_eq!(stop["hitBreakpointIds"], json!([id(1)]), "{stop}");
    editor.ask("continue", json!({"threadId": stop["threadId"]}));
    let said = loop {
        let output = editor.event("output");
        if output["category"] == "console" {
            break output;
        }
    };
    assert_eq!(said["output"], "total is 28\n");
    let stop = editor.event("stopped");
    assert_eq!(stop["hitBreakpointIds"], json!([id(2)]), "{stop}");
    // A condition that cannot be told stops, and says whose it is.
    let stop = go_on(&mut editor, &stop);
    assert_eq!(stop["hitBreakpointIds"], json!([id(5)]), "{stop}");
    let text = stop["text"].as_str().expect("a text");
    assert!(text.starts_with("8 / (total - total) == 1: "), "{text}");
    assert!(!text.contains("_"), "{text}");
    let stop = go_on(&mut editor, &stop);
    editor.ask("stepOut", json!({"threadId": stop["threadId"]}));
    let stop = editor.event("stopped");
    assert_eq!(stop["reason"], "step", "{stop}");
    let stack = editor.ask("stackTrace", json!({"threadId": stop["threadId"]}));
    assert_eq!(stack["stackFrames"][0]["line"], line("leave"), "{stack}");
    // The framework takes the exception of a task: it is told when it is thrown, and when it leaves the program's code.
    let filters = json!({"filters": ["all", "user-unhandled"]});
    editor.ask("setExceptionBreakpoints", filters);
    let stop = go_on(&mut editor, &stop);
    assert_eq!(stop["description"], "Exception thrown", "{stop}");
    let stop = go_on(&mut editor, &stop);
    assert_eq!(
        stop["description"], "Exception left the user's code",
        "{stop}"
    );
    // Where the framework throws it on is of no interest.
    editor.ask("setExceptionBreakpoints", json!({"filters": []}));
    editor.ask("continue", json!({"threadId": stop["threadId"]}));
    assert_eq!(editor.end(), ("done\n".into(), Some(0)));
}

#[test]
fn properties_are_opened_wherever_they_are() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    let stop = editor.launch_to(&Fixture::named("desk"), &["look"]);
    let frame = editor.top_frame(&stop);
    let watch = |editor: &mut Editor, expression: &str| {
        editor.ask(
            "evaluate",
            json!({"frameId": frame, "context": "watch", "expression": expression}),
        )
    };
    for (expression, expected) in [
        ("its[0]", "3"),
        ("its.First()", "3"),
        ("(Item)plain", "3"),
        ("its.Where(it => it.Q == 2).Single()", "6"),
    ] {
        let item = watch(&mut editor, expression);
        let slow = opened(&mut editor, &item, "Slow");
        assert_eq!(slow["value"], expected, "{expression}: {slow}");
        let hidden = opened(&mut editor, &item, "INumbered.Hidden");
        let seven = if expected == "3" { "7" } else { "14" };
        assert_eq!(hidden["value"], seven, "{expression}: {hidden}");
    }
    let scopes = editor.ask("scopes", json!({"frameId": frame}));
    let scopes = scopes["scopes"].as_array().expect("scopes").clone();
    let locals = editor.variables(&named(&scopes, "Locals")["variablesReference"]);
    for (name, property, expected) in [
        ("plain", "Slow", "3"),
        ("numbered", "Slow", "6"),
        ("class", "Slow", "3"),
        ("derived", "Number", "7"),
        ("derived", "Number (Base)", "5"),
        ("point", "Far", "300"),
    ] {
        let value = opened(&mut editor, named(&locals, name), property);
        assert_eq!(value["value"], expected, "{name}.{property}: {value}");
    }
    // There are no arguments here, a number has no inside, and a list has no names.
    assert!(
        scopes.iter().all(|it| it["name"] != "Arguments"),
        "{scopes:?}"
    );
    assert_eq!(named(&locals, "ratio")["variablesReference"], 0);
    let its = named(&locals, "its")["variablesReference"].clone();
    for (filter, count) in [("named", 0), ("indexed", 2)] {
        let found = editor.ask(
            "variables",
            json!({"variablesReference": its, "filter": filter}),
        );
        let found = found["variables"].as_array().expect("variables");
        assert_eq!(found.len(), count, "{found:?}");
    }
    let elements = editor.variables(&named(&locals, "set")["variablesReference"]);
    let element = elements.first().expect("an element").clone();
    assert_eq!(opened(&mut editor, &element, "Slow")["value"], "6");
    // What a getter gave can be opened further, and what is told as a name can be evaluated.
    let several = opened(&mut editor, &element, "Several");
    let inside = editor.variables(&several["variablesReference"]);
    let first = named(&inside, "[0]");
    assert_eq!(first["value"], "20", "{inside:?}");
    let name = first["evaluateName"].as_str().expect("a name").to_owned();
    assert!(!name.contains("#e"), "{name}");
    assert_eq!(watch(&mut editor, &name)["result"], "20", "{name}");
    // A result that no text leads to has no name.
    let formatted = watch(&mut editor, "its,raw");
    let inside = editor.variables(&formatted["variablesReference"]);
    assert!(
        inside.iter().all(|it| it["evaluateName"].is_null()),
        "{inside:?}"
    );
    // One that is set runs its setter, on whatever it lies in.
    let members = editor.variables(&element["variablesReference"]);
    let settable = named(&members, "Settable");
    let set = editor.ask(
        "setVariable",
        json!({"variablesReference": settable["variablesReference"], "name": "Settable", "value": "21"}),
    );
    assert_eq!(set["value"], "42", "{set}");
    let set = editor.ask(
        "setVariable",
        json!({"variablesReference": element["variablesReference"], "name": "Settable", "value": "its.Count + 1"}),
    );
    assert_eq!(set["value"], "6", "{set}");
    assert_eq!(watch(&mut editor, "its[1].Q")["result"], "6");
    let thread = stop["threadId"].clone();
    let mut name = |format: Value| {
        let arguments = json!({"threadId": thread, "startFrame": 1, "levels": 1, "format": format});
        let stack = editor.ask("stackTrace", arguments);
        stack["stackFrames"][0]["name"].clone()
    };
    assert_eq!(name(json!({})), "Desk.Main(string[] args)");
    assert_eq!(name(json!({"parameterTypes": false})), "Desk.Main(args)");
    assert_eq!(
        name(json!({"parameterNames": false})),
        "Desk.Main(string[])"
    );
    let valued = name(json!({"parameterValues": true}));
    let valued = valued.as_str().expect("a name");
    assert!(valued.starts_with("Desk.Main(string[] args = "), "{valued}");
    let modules = editor.ask("modules", json!({}));
    let modules = modules["modules"].as_array().expect("modules").clone();
    let symbols = named(&modules, "desk.dll")["symbolFilePath"].clone();
    assert!(
        symbols.as_str().is_some_and(|it| it.ends_with("/desk.pdb")),
        "{symbols}"
    );
    // There is nothing to go to in a line without a statement.
    let file = Fixture::named("desk").marker("look").file;
    let targets = editor.ask("gotoTargets", json!({"source": {"path": file}, "line": 1}));
    assert_eq!(targets["targets"], json!([]));
    assert!(editor.disconnect().success());
}

#[test]
fn program_is_asked_to_end_and_made_to_when_asked_again() {
    let sandbox = Sandbox::new();
    let desk = Fixture::named("desk");
    let ready = desk.marker("ready");
    for (how, expected) in [("wait", ("bye\n", 143)), ("stubborn", ("", 137))] {
        let mut editor = Editor::start(&sandbox);
        // This client speaks of files by their addresses.
        editor.ask("initialize", json!({"adapterID": "x", "pathFormat": "uri"}));
        let uri = format!("file://{}", ready.file.display());
        let program = json!({"program": desk.dll(), "args": [how]});
        let launch = editor.send("launch", program);
        editor.ask(
            "setBreakpoints",
            json!({"source": {"path": uri}, "breakpoints": [{"line": ready.line}]}),
        );
        editor.ask("configurationDone", json!({}));
        assert_eq!(editor.answer(launch)["success"], true);
        let stop = editor.event("stopped");
        let stack = editor.ask("stackTrace", json!({"threadId": stop["threadId"]}));
        assert_eq!(stack["stackFrames"][0]["source"]["path"], uri, "{stack}");
        if how == "stubborn" {
            editor.ask("terminate", json!({}));
        }
        editor.ask("terminate", json!({}));
        let (output, code) = editor.end();
        assert_eq!(code, Some(expected.1), "{output}");
        // How far it comes before the signal is its own business; it ends in order.
        assert!(output.contains(expected.0), "{output}");
        assert!(editor.disconnect().success());
    }
}
