//! The protocol itself: versions, the tool list, cancellation, progress.

use std::time::Duration;

use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest};
use rmcp::service::PeerRequestOptions;
use serde_json::json;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::client::{Agent, dll, object, run, structured, text};

#[test]
fn tools_are_listed_with_schemas_and_true_annotations() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let info = agent
            .connection
            .peer_info()
            .expect("the server said who it is");
        let name = info.server_info.as_ref().map(|server| server.name.as_str());
        assert_eq!(name, Some("ndbg"));
        assert_eq!(info.instructions.as_deref(), Some(mcp::INSTRUCTIONS));
        let tools = agent.connection.list_all_tools().await.expect("a list");
        let read_only = |name: &str| {
            let tool = tools.iter().find(|tool| tool.name == name).expect(name);
            tool.annotations
                .as_ref()
                .and_then(|annotations| annotations.read_only_hint)
        };
        for (name, expected) in [
            ("debug_launch", false),
            ("debug_continue", false),
            ("debug_disconnect", false),
            ("process_input", false),
            ("debug_status", true),
            ("process_list", true),
            ("process_output", true),
        ] {
            assert_eq!(read_only(name), Some(expected), "{name}");
        }
        assert!(tools.iter().all(|tool| tool.output_schema.is_some()));
        agent.close().await;
    });
}

#[test]
fn cancelling_a_wait_does_not_touch_the_program() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        agent
            .call(
                "debug_launch",
                json!({"program": dll("loops"), "timeout_ms": 0}),
            )
            .await;
        agent
            .until("process_output", json!({}), |result| {
                text(result).contains("tick 1")
            })
            .await;
        let mut params = CallToolRequestParams::new("debug_wait");
        params.arguments = Some(object(json!({"timeout_ms": 600_000})));
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let waiting = agent
            .connection
            .send_cancellable_request(request, PeerRequestOptions::no_options())
            .await
            .expect("sent");
        waiting
            .cancel(Some("the user has changed their mind".into()))
            .await
            .expect("cancelled");
        let status = structured(&agent.call("debug_status", json!({})).await);
        assert_eq!(status["sessions"][0]["state"], "running");
        let before = text(&agent.call("process_output", json!({})).await);
        agent
            .until("process_output", json!({}), |result| text(result) != before)
            .await;
        agent.close().await;
    });
}

#[test]
fn cancelling_an_evaluation_ends_it_and_leaves_the_rest_undone() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let place = Fixture::named("expressions_code").marker("main");
        agent
            .call(
                "debug_launch",
                json!({
                    "program": dll("expressions_code"),
                    "breakpoints": [{"file": place.file, "line": place.line}],
                }),
            )
            .await;
        let mut params = CallToolRequestParams::new("evaluate");
        params.arguments = Some(object(json!({
            "expressions": ["loops.Plain", "loops.Turns = 1"],
            "side_effects": true,
            "timeout_ms": 8000,
        })));
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let evaluating = agent
            .connection
            .send_cancellable_request(request, PeerRequestOptions::no_options())
            .await
            .expect("sent");
        // A cancellation that overtakes its request is of nothing: what was sent after that has been answered.
        agent.call("debug_status", json!({})).await;
        evaluating.cancel(None).await.expect("cancelled");
        // What was not begun is not done; had it run into its time limit instead, the assignment would have followed.
        let asked = json!({"expressions": ["loops.Turns", "loops.Fine"], "side_effects": true});
        let told = text(&agent.call("evaluate", asked).await);
        assert!(told.contains("loops.Turns: int = 0"), "{told}");
        assert!(told.contains("loops.Fine: int = 5"), "{told}");
        agent.close().await;
    });
}

#[test]
fn a_long_wait_tells_its_progress() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        agent
            .call(
                "debug_launch",
                json!({"program": dll("loops"), "timeout_ms": 0}),
            )
            .await;
        let mut params = CallToolRequestParams::new("debug_wait");
        params.arguments = Some(object(json!({"timeout_ms": 600_000})));
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let waiting = agent
            .connection
            .send_cancellable_request(request, PeerRequestOptions::no_options())
            .await
            .expect("sent");
        // The launch may have told some, too; rmcp's client gives every request a token.
        let mut heard = Vec::new();
        while heard.len() < 2 {
            let news = agent.progress.recv().await.expect("progress");
            if news.total == Some(600.0)
                && news
                    .message
                    .as_deref()
                    .is_some_and(|said| said.starts_with("s1 is running"))
            {
                heard.push((news.progress_token, news.progress));
            }
        }
        assert!(
            heard[0].0 == heard[1].0 && heard[0].1 < heard[1].1,
            "{heard:?}"
        );
        waiting.cancel(None).await.expect("cancelled");
        agent.close().await;
    });
}

#[test]
fn many_calls_at_once_are_all_answered() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        agent
            .call(
                "debug_launch",
                json!({"program": dll("loops"), "timeout_ms": 0}),
            )
            .await;
        let calls = (0..200).map(|index| {
            let name = [
                "debug_status",
                "process_output",
                "debug_wait",
                "debug_pause",
                "debug_continue",
            ][index % 5];
            let arguments = match name {
                "debug_wait" | "debug_continue" => json!({"timeout_ms": 1}),
                _ => json!({}),
            };
            agent.call(name, arguments)
        });
        let results =
            tokio::time::timeout(Duration::from_secs(60), futures::future::join_all(calls)).await;
        let results = results.expect("all answered");
        assert_eq!(results.len(), 200);
        for result in results {
            let told = text(&result);
            assert!(
                result.is_error != Some(true) || told.starts_with("NOT_STOPPED"),
                "{told}"
            );
        }
        agent.close().await;
    });
}
