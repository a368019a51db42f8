//! Many clients at once: every reply is right, and comes.

use std::thread;

use serde_json::{Value, json};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::client::dll;
use crate::web::Web;

const CLIENTS: usize = 8;
const CALLS: usize = 125;

/// One call of a client that looks at a stopped program, and what must be in its answer.
fn looking(session: &str, client: usize, index: usize) -> (&'static str, Value, String) {
    let number = client * 1000 + index;
    match index % 8 {
        0 => {
            // No other call has this answer.
            let expression = format!("{number} * 3 + id * 1000000");
            let expected = (number * 3 + 2_000_000).to_string();
            (
                "evaluate",
                json!({"session": session, "expressions": [expression]}),
                expected,
            )
        }
        1 => (
            "stacktrace_get",
            json!({"session": session}),
            "ProcessOrder(".into(),
        ),
        2 => ("variables_get", json!({"session": session}), "id".into()),
        3 => (
            "exception_get",
            json!({"session": session}),
            "DivideByZeroException".into(),
        ),
        4 => (
            "debug_status",
            json!({"session": session}),
            format!("\"{session}\""),
        ),
        5 => (
            "process_output",
            json!({"session": session}),
            "before".into(),
        ),
        6 => (
            "symbols_search",
            json!({"session": session, "pattern": "OrderException", "count": 3}),
            "OrderException".into(),
        ),
        _ => (
            "stacktrace_get",
            json!({"session": format!("s9{number}")}),
            format!("there is no session \\\"s9{number}\\\""),
        ),
    }
}

/// One call of a client that lets its own program run.
fn running(session: &str, index: usize) -> (&'static str, Value, String) {
    let only = json!({"session": session});
    match index % 5 {
        0 => (
            "debug_step",
            json!({"session": session, "kind": "over"}),
            "\"state\":\"stopped\"".into(),
        ),
        1 => ("variables_get", only, "tick".into()),
        2 => (
            "debug_continue",
            json!({"session": session, "timeout_ms": 0}),
            "\"state\":\"running\"".into(),
        ),
        3 => ("debug_pause", only, "\"state\":\"stopped\"".into()),
        _ => (
            "debug_run_to",
            json!({"session": session, "file": "loops.cs", "line": Fixture::named("loops").marker("sleep").line}),
            "\"state\":\"stopped\"".into(),
        ),
    }
}

#[test]
fn a_thousand_calls_of_eight_clients_are_answered_right() {
    let sandbox = Sandbox::new();
    let web = Web::start(&sandbox);
    // Two programs that six clients look at, and one for each of the other two.
    for (program, breakpoint) in [
        ("throws", None),
        ("throws", None),
        ("loops", Some("sleep")),
        ("loops", Some("sleep")),
    ] {
        let breakpoints = breakpoint.map(|marker| {
            let line = Fixture::named(program).marker(marker).line;
            json!({"file": format!("{program}.cs"), "line": line, "hit_condition": "==1"})
        });
        let arguments = json!({
            "program": dll(program), "args": ["sleep", "1"],
            "breakpoints": breakpoints.into_iter().collect::<Vec<_>>(),
        });
        let stopped = web.call("debug_launch", arguments);
        assert_eq!(
            stopped["structuredContent"]["state"], "stopped",
            "{stopped}"
        );
    }
    let wrong: Vec<String> = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let web = &web;
                scope.spawn(move || {
                    let mut wrong = Vec::new();
                    for index in 0..CALLS {
                        let (tool, arguments, expected) = match client {
                            0..3 => looking("s1", client, index),
                            3..6 => looking("s2", client, index),
                            6 => running("s3", index),
                            _ => running("s4", index),
                        };
                        let answer = web.ask(tool, arguments);
                        if answer.status != 200 || !answer.body.contains(&expected) {
                            wrong.push(format!("{client}.{index} {tool} {expected}: {answer:?}"));
                        }
                    }
                    wrong
                })
            })
            .collect();
        clients
            .into_iter()
            .flat_map(|client| client.join().expect("no panic"))
            .collect()
    });
    assert!(
        wrong.is_empty(),
        "{} of {}: {}",
        wrong.len(),
        CLIENTS * CALLS,
        wrong[0]
    );
    let status = web.call("debug_status", json!({}));
    let sessions = status["structuredContent"]["sessions"]
        .as_array()
        .expect("a list")
        .len();
    assert_eq!(sessions, 4, "{status}");
}
