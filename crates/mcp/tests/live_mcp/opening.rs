//! What only code of the program can show, over MCP: run when that is asked for, bounded, masked, and told.

use expect_test::expect;
use serde_json::json;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::client::{Agent, dll, run, structured, text};

#[test]
fn results_are_opened_by_code_when_that_is_asked_for() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let place = Fixture::named("values_code").marker("stop");
        let launch = json!({
            "program": dll("values_code"),
            "breakpoints": [{"file": place.file, "line": place.line}],
        });
        agent.call("debug_launch", launch).await;
        // Looking runs nothing, and says what would tell more.
        agent.say("variables_get", json!({"path": "basket"})).await;
        agent.say("variables_get", json!({"path": "squares"})).await;
        for arguments in [
            json!({"expressions": ["basket"], "open": true}),
            json!({"expressions": ["Program.Calls + Program.Proxies"]}),
            json!({"expressions": ["basket", "printed", "crate", "1 + 1"], "side_effects": true, "open": true}),
            json!({"expressions": ["squares"], "side_effects": true, "open": true, "start": 4}),
            json!({"expressions": ["account"], "side_effects": true, "open": true}),
            json!({"expressions": ["account"], "side_effects": true, "open": true, "show_secrets": true}),
            json!({"expressions": ["throwing"], "side_effects": true, "open": true}),
        ] {
            agent.say("evaluate", arguments).await;
        }
        // One that never ends is given up in the time of the call, and the program is as it was.
        let endless = json!({"expressions": ["silent"], "side_effects": true, "open": true, "timeout_ms": 2000});
        let answer = text(&agent.call("evaluate", endless).await);
        assert!(
            answer.contains("its ToString was not run to its end: it took longer than"),
            "{answer}"
        );
        assert!(answer.contains("Value: int = 8"), "{answer}");
        // What is inside can be looked at by its id, without running anything.
        let opened = json!({"expressions": ["many"], "side_effects": true, "open": true});
        let opened = structured(&agent.call("evaluate", opened).await);
        let id = opened["results"][0]["members"][0]["object"].clone();
        agent
            .say("variables_get", json!({"path": id, "count": 1}))
            .await;
        let report = structured(&agent.call("debug_continue", json!({})).await);
        assert_eq!(report["state"], "exited", "{report}");
        expect![[r#""#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}
