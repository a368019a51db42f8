//! Steps, stacks, threads, exceptions, modules.

use serde_json::json;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::client::Editor;

#[test]
fn steps_go_from_statement_to_statement() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    let throws = Fixture::named("throws");
    let stop = editor.launch_to(&throws, &["main"]);
    let thread = stop["threadId"].clone();
    editor.ask("stepIn", json!({"threadId": thread}));
    let stop = editor.event("stopped");
    assert_eq!(stop["reason"], "step");
    let stack = editor.ask("stackTrace", json!({"threadId": thread}));
    let names: Vec<_> = stack["stackFrames"]
        .as_array()
        .expect("frames")
        .iter()
        .collect();
    assert!(
        names[0]["name"]
            .as_str()
            .is_some_and(|name| name.contains("ProcessOrders")),
        "{stack}"
    );
    editor.ask("stepOut", json!({"threadId": thread}));
    let stop = editor.event("stopped");
    assert_eq!(stop["reason"], "exception", "{stop}");
    assert!(editor.disconnect().success());
}

#[test]
fn exception_is_told_with_its_inner_one() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    editor.launch(&Fixture::named("throws"), &[], json!({}));
    let stop = editor.event("stopped");
    assert_eq!(stop["reason"], "exception");
    assert_eq!(stop["text"], "OrderException: order 2 failed");
    let info = editor.ask("exceptionInfo", json!({"threadId": stop["threadId"]}));
    assert_eq!(info["exceptionId"], "OrderException");
    assert_eq!(info["breakMode"], "unhandled");
    assert_eq!(
        info["details"]["innerException"][0]["fullTypeName"],
        "System.DivideByZeroException"
    );
    editor.ask("continue", json!({"threadId": stop["threadId"]}));
    assert_eq!(editor.end().1, Some(134));
}

#[test]
fn exception_filters_choose_by_type() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    let filters = json!({"filters": [], "filterOptions": [
        {"filterId": "all", "condition": "System.DivideByZeroException"}]});
    let answer = editor.ask("setExceptionBreakpoints", filters);
    assert_eq!(answer["breakpoints"][0]["verified"], true);
    editor.launch(&Fixture::named("throws"), &[], json!({}));
    let stop = editor.event("stopped");
    assert_eq!(
        stop["hitBreakpointIds"],
        json!([answer["breakpoints"][0]["id"]])
    );
    assert!(
        stop["text"]
            .as_str()
            .is_some_and(|text| text.starts_with("System.DivideByZeroException")),
        "{stop}"
    );
    assert!(editor.disconnect().success());
}

#[test]
fn threads_and_modules_are_told() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    let stop = editor.launch_to(&Fixture::named("hello"), &["first"]);
    let threads = editor.ask("threads", json!({}));
    let ids: Vec<_> = threads["threads"]
        .as_array()
        .expect("threads")
        .iter()
        .collect();
    assert!(
        ids.iter().any(|thread| thread["id"] == stop["threadId"]),
        "{threads}"
    );
    let modules = editor.ask("modules", json!({}));
    let all = modules["modules"].as_array().expect("modules");
    let hello = all
        .iter()
        .find(|module| module["name"] == "hello.dll")
        .expect("the program");
    assert_eq!(hello["isUserCode"], true);
    assert_eq!(modules["totalModules"], all.len());
    assert!(editor.disconnect().success());
}

#[test]
fn breakpoint_that_cannot_be_set_says_why() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    let hello = Fixture::named("hello");
    editor.launch_to(&hello, &["first"]);
    let file = hello.marker("first").file;
    let answer = editor.ask(
        "setBreakpoints",
        json!({"source": {"path": file}, "breakpoints": [{"line": 9000}]}),
    );
    let breakpoint = &answer["breakpoints"][0];
    assert_eq!(breakpoint["verified"], false);
    assert!(
        breakpoint["message"]
            .as_str()
            .is_some_and(|text| text.contains("9000")),
        "{answer}"
    );
    assert!(editor.disconnect().success());
}

#[test]
fn variables_are_told_set_and_paged() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    let hello = Fixture::named("hello");
    editor.launch(&hello, &["arguments"], json!({"args": ["one", "two"]}));
    let stop = editor.event("stopped");
    let stack = editor.ask("stackTrace", json!({"threadId": stop["threadId"]}));
    let frame = stack["stackFrames"][0]["id"].clone();
    let scopes = editor.ask("scopes", json!({"frameId": frame}));
    assert_eq!(scopes["scopes"][0]["name"], "Arguments");
    let arguments = editor.ask(
        "variables",
        json!({"variablesReference": scopes["scopes"][0]["variablesReference"]}),
    );
    let args = &arguments["variables"][0];
    assert_eq!(args["name"], "args");
    assert_eq!(args["indexedVariables"], 2);
    let page = editor.ask(
        "variables",
        json!({"variablesReference": args["variablesReference"], "start": 1, "count": 1}),
    );
    assert_eq!(page["variables"].as_array().map(Vec::len), Some(1));
    assert_eq!(page["variables"][0]["value"], "\"two\"");
    let locals = scopes["scopes"][1]["variablesReference"].clone();
    let set = editor.ask(
        "setVariable",
        json!({"variablesReference": locals, "name": "exitCode", "value": "9"}),
    );
    assert_eq!(set["value"], "9");
    let text = editor.refused(
        "setVariable",
        json!({"variablesReference": locals, "name": "exitCode", "value": "\"x\""}),
    );
    assert!(!text.is_empty());
    editor.ask("continue", json!({"threadId": stop["threadId"]}));
    assert_eq!(editor.end().1, Some(9));
    let text = editor.refused("variables", json!({"variablesReference": locals}));
    assert!(text.contains("not of this stop"), "{text}");
}

#[test]
fn next_statement_is_set() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::initialized(&sandbox);
    let hello = Fixture::named("hello");
    let stop = editor.launch_to(&hello, &["first"]);
    let last = hello.marker("last");
    let targets = editor.ask(
        "gotoTargets",
        json!({"source": {"path": last.file}, "line": last.line}),
    );
    editor.ask(
        "goto",
        json!({"threadId": stop["threadId"], "targetId": targets["targets"][0]["id"]}),
    );
    assert_eq!(editor.event("stopped")["reason"], "goto");
    editor.ask("continue", json!({"threadId": stop["threadId"]}));
    assert_eq!(editor.end(), ("bye\n".into(), Some(0)));
}
