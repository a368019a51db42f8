//! Whole conversations as an editor has them, message by message.

use std::fmt::Write as _;

use expect_test::expect;
use serde_json::{Value, json};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::client::Editor;

/// The messages a line each, without what differs from run to run and from machine to machine.
fn transcript(messages: &[Value]) -> String {
    let hello = Fixture::named("hello");
    let source = hello.sources()[0]
        .parent()
        .expect("a folder")
        .display()
        .to_string();
    let compiled = hello
        .folder()
        .parent()
        .expect("a folder")
        .display()
        .to_string();
    let mut text = String::new();
    for message in messages {
        let (mark, name, body) = match message["type"].as_str() {
            Some("request") => (">", &message["command"], &message["arguments"]),
            Some("response") => ("<", &message["command"], &message["body"]),
            _ => ("!", &message["event"], &message["body"]),
        };
        let name = name.as_str().expect("a name");
        // Modules and threads come and go as the runtime likes, with what the program writes in between.
        let is_event = message["type"] == "event";
        if is_event && matches!(name, "module" | "thread" | "output" | "breakpoint") {
            continue;
        }
        let mut body = body.clone();
        normalize(&mut body);
        let refused = match message["success"] == false {
            true => format!(
                " refused: {}",
                message["message"].as_str().unwrap_or_default()
            ),
            false => String::new(),
        };
        let body = match body {
            Value::Null => String::new(),
            body => format!(" {body}"),
        };
        writeln!(text, "{mark} {name}{refused}{body}").expect("a string takes all");
    }
    text.replace(&source, "<source>")
        .replace(&compiled, "<fixtures>")
}

fn normalize(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match name.as_str() {
                    "threadId" | "systemProcessId" => *member = json!("<pid>"),
                    // Not all runtimes number their objects alike.
                    "memoryReference" => *member = json!("<object>"),
                    _ => normalize(member),
                }
            }
        }
        Value::Array(members) => members.iter_mut().for_each(normalize),
        _ => {}
    }
}

#[test]
fn conversation_of_an_editor() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::start(&sandbox);
    editor.transcript = Some(Vec::new());
    editor.hello();
    let throws = Fixture::named("throws");
    let stop = editor.launch_to(&throws, &["main"]);
    let thread = json!({"threadId": stop["threadId"]});
    editor.ask("stepIn", thread.clone());
    editor.event("stopped");
    let stack = editor.ask(
        "stackTrace",
        json!({"threadId": stop["threadId"], "levels": 1}),
    );
    let frame = stack["stackFrames"][0]["id"].clone();
    let scopes = editor.ask("scopes", json!({"frameId": frame}));
    let arguments = scopes["scopes"][0]["variablesReference"].clone();
    editor.variables(&arguments);
    editor.ask(
        "evaluate",
        json!({"expression": "count + 1", "frameId": frame}),
    );
    editor.refused(
        "evaluate",
        json!({"expression": "nope", "frameId": frame, "context": "watch"}),
    );
    editor.ask("continue", thread.clone());
    editor.event("stopped");
    editor.refused("scopes", json!({"frameId": frame}));
    editor.ask("exceptionInfo", thread);
    let inner = json!({"expression": "$exception.InnerException.Message", "context": "watch"});
    editor.ask("evaluate", inner);
    editor.ask("disconnect", json!({"terminateDebuggee": true}));
    let told = transcript(&editor.transcript.take().expect("kept"));
    expect![[r#"
        > initialize {"adapterID":"coreclr","linesStartAt1":true}
        < initialize {"completionTriggerCharacters":[".","$"],"exceptionBreakpointFilters":[{"conditionDescription":"Exception types separated by commas, such as System.IO.IOException; ! leaves one out","default":false,"description":"Stops wherever an exception is thrown","filter":"all","label":"All exceptions","supportsCondition":true},{"conditionDescription":"Exception types separated by commas, such as System.IO.IOException; ! leaves one out","default":true,"description":"Stops when an exception leaves the code of this program","filter":"user-unhandled","label":"User-unhandled exceptions","supportsCondition":true}],"supportTerminateDebuggee":true,"supportsBreakpointLocationsRequest":true,"supportsCancelRequest":true,"supportsClipboardContext":true,"supportsCompletionsRequest":true,"supportsConditionalBreakpoints":true,"supportsConfigurationDoneRequest":true,"supportsDelayedStackTraceLoading":true,"supportsEvaluateForHovers":true,"supportsExceptionFilterOptions":true,"supportsExceptionInfoRequest":true,"supportsFunctionBreakpoints":true,"supportsGotoTargetsRequest":true,"supportsHitConditionalBreakpoints":true,"supportsLoadedSourcesRequest":true,"supportsLogPoints":true,"supportsModulesRequest":true,"supportsReadMemoryRequest":true,"supportsRestartRequest":true,"supportsSetExpression":true,"supportsSetVariable":true,"supportsStepInTargetsRequest":true,"supportsTerminateRequest":true,"supportsValueFormattingOptions":true}
        ! initialized
        > launch {"cwd":"<fixtures>/throws","program":"<fixtures>/throws/throws.dll"}
        > setBreakpoints {"breakpoints":[{"line":17}],"source":{"path":"<source>/throws.cs"}}
        < setBreakpoints {"breakpoints":[{"id":1,"message":"no loaded module was compiled from <source>/throws.cs with symbols","reason":"pending","verified":false}]}
        > configurationDone {}
        < configurationDone
        < launch
        ! process {"isLocalProcess":true,"name":"<fixtures>/throws/throws.dll","pointerSize":64,"startMethod":"launch","systemProcessId":"<pid>"}
        ! stopped {"allThreadsStopped":true,"description":"Stopped at a breakpoint","hitBreakpointIds":[1],"reason":"breakpoint","threadId":"<pid>"}
        > stepIn {"threadId":"<pid>"}
        < stepIn
        ! stopped {"allThreadsStopped":true,"description":"Step complete","reason":"step","threadId":"<pid>"}
        > stackTrace {"levels":1,"threadId":"<pid>"}
        < stackTrace {"stackFrames":[{"column":5,"id":1,"line":22,"moduleId":"throws.dll","name":"Program.ProcessOrders(int count)","source":{"name":"throws.cs","path":"<source>/throws.cs"}}],"totalFrames":2}
        > scopes {"frameId":1}
        < scopes {"scopes":[{"expensive":false,"name":"Arguments","presentationHint":"arguments","variablesReference":1},{"expensive":false,"name":"Locals","presentationHint":"locals","variablesReference":2}]}
        > variables {"variablesReference":1}
        < variables {"variables":[{"evaluateName":"count","name":"count","type":"int","value":"3","variablesReference":0}]}
        > evaluate {"expression":"count + 1","frameId":1}
        < evaluate {"result":"4","type":"int","variablesReference":0}
        > evaluate {"context":"watch","expression":"nope","frameId":1}
        < evaluate refused: error CS0103: the name `nope` does not exist in the current context {"error":{"format":"error CS0103: the name `nope` does not exist in the current context","id":1,"showUser":false,"variables":{"code":"EVAL_FAILED"}}}
        > continue {"threadId":"<pid>"}
        < continue {"allThreadsContinued":true}
        ! stopped {"allThreadsStopped":true,"description":"Unhandled exception","reason":"exception","text":"OrderException: order 2 failed","threadId":"<pid>"}
        > scopes {"frameId":1}
        < scopes refused: frame 1 is not of this stop; ask for the stack again {"error":{"format":"frame 1 is not of this stop; ask for the stack again","id":1,"showUser":false,"variables":{"code":"staleFrame"}}}
        > exceptionInfo {"threadId":"<pid>"}
        < exceptionInfo {"breakMode":"unhandled","description":"order 2 failed","details":{"evaluateName":"$exception","fullTypeName":"OrderException","innerException":[{"evaluateName":"$exception.InnerException","fullTypeName":"System.DivideByZeroException","innerException":[],"message":"Attempted to divide by zero.","stackTrace":"at Program.Ratio(int whole, int parts) in <source>/throws.cs:41\nat Program.ProcessOrder(int id) in <source>/throws.cs:31","typeName":"DivideByZeroException"}],"message":"order 2 failed","stackTrace":"at Program.ProcessOrder(int id) in <source>/throws.cs:35\nat Program.ProcessOrders(int count) in <source>/throws.cs:24\nat Program.Main() in <source>/throws.cs:17","typeName":"OrderException"},"exceptionId":"OrderException"}
        > evaluate {"context":"watch","expression":"$exception.InnerException.Message"}
        < evaluate {"result":"\"Attempted to divide by zero.\"","type":"string","variablesReference":0}
        > disconnect {"terminateDebuggee":true}
        < disconnect
    "#]].assert_eq(&told);
}
