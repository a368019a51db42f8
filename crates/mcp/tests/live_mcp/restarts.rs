//! A program is launched again as it was, with the breakpoints that it has by then.

use serde_json::{Value, json};
use testkit::sandbox::Sandbox;

use crate::client::{Agent, dll, run, structured, text};

/// The ids of all breakpoints of a session.
async fn ids(agent: &Agent, session: &str) -> Vec<Value> {
    let list = agent
        .call("breakpoint_list", json!({"session": session}))
        .await;
    let list = structured(&list);
    let of = |kind: &str| list[kind].as_array().cloned().unwrap_or_default();
    let all = [of("breakpoints"), of("exception_breakpoints")].concat();
    all.into_iter().map(|it| it["id"].clone()).collect()
}

#[test]
fn a_restart_keeps_settings_and_the_ids_of_breakpoints() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let launch = json!({
            "program": dll("throws"),
            "breakpoints": [
                {"function": "Program.ProcessOrders"},
                {"function": "Program.ProcessOrder", "condition": "id == 2"},
            ],
        });
        let first = structured(&agent.call("debug_launch", launch).await);
        assert_eq!(
            first["stop"]["reasons"][0]["breakpoints"],
            json!([1]),
            "{first}"
        );
        // What has changed since the launch is kept, too.
        agent.call("breakpoint_remove", json!({"id": 1})).await;
        let types = json!({"types": ["DivideByZeroException"], "stop_at_unhandled": false});
        agent.call("breakpoint_set_exception", types).await;
        assert_eq!(ids(&agent, "s1").await, [2, 3]);

        let again = agent.call("debug_restart", json!({})).await;
        let stopped = structured(&again);
        assert_eq!(stopped["session"], "s2", "{}", text(&again));
        assert_eq!(
            stopped["stop"]["reasons"][0]["breakpoints"],
            json!([2]),
            "{stopped}"
        );
        assert_eq!(ids(&agent, "s2").await, [2, 3]);
        let thrown = structured(&agent.call("debug_continue", json!({})).await);
        assert_eq!(
            thrown["stop"]["reasons"][0]["breakpoints"],
            json!([3]),
            "{thrown}"
        );
        let before = structured(&agent.call("debug_status", json!({"session": "s1"})).await);
        assert_eq!(
            before["sessions"][0]["exit"]["by_debugger"], true,
            "{before}"
        );

        // It ends, as unhandled exceptions do not stop it; what has ended begins again.
        let ended = structured(&agent.call("debug_continue", json!({})).await);
        assert_eq!(ended["state"], "exited", "{ended}");
        let third = structured(&agent.call("debug_restart", json!({})).await);
        assert_eq!(third["session"], "s3", "{third}");
        assert_eq!(
            third["stop"]["reasons"][0]["breakpoints"],
            json!([2]),
            "{third}"
        );
        agent.call("debug_disconnect", json!({})).await;
        agent.close().await;
    });
}
