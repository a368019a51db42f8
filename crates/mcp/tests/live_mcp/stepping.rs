//! Where steps stop can be changed by whoever steps, and stays so.

use serde_json::{Value, json};
use testkit::sandbox::Sandbox;

use crate::client::{Agent, dll, run, structured, text};

/// Makes a step and tells the first line of its report, which names the method that it ends in.
async fn step(agent: &Agent, arguments: Value) -> String {
    let report = agent.call("debug_step", arguments).await;
    let told = text(&report);
    assert!(told.contains("after the step"), "{told}");
    told.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn a_step_changes_the_filter_for_properties_and_just_my_code_for_the_session() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let launch = json!({
            "program": dll("step_calls"),
            "breakpoints": [{"file": "step_calls.cs", "text": "price.Cents = price.Cents"}],
        });
        agent.call("debug_launch", launch).await;
        let into = |options: Value| {
            let mut arguments = json!({"kind": "into"});
            for (name, value) in options.as_object().into_iter().flatten() {
                arguments[name] = value.clone();
            }
            step(&agent, arguments)
        };
        let main = into(json!({"skip_properties": true})).await;
        assert!(main.contains("Main("), "{main}");
        // What the next statement calls is an operator.
        let still = into(json!({})).await;
        assert!(still.contains("Main("), "{still}");

        agent.call("debug_restart", json!({})).await;
        let kept = into(json!({})).await;
        assert!(kept.contains("Main("), "{kept}");
        let operator = into(json!({"skip_properties": false})).await;
        assert!(operator.contains("operator +"), "{operator}");

        let place = json!({"file": "step_calls.cs", "text": "int doubled"});
        agent.call("debug_run_to", place).await;
        let framework = into(json!({"just_my_code": false})).await;
        assert!(framework.contains("System.Linq."), "{framework}");
        agent.close().await;
    });
}

#[test]
fn a_thread_that_ends_in_a_step_takes_nothing_with_it() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let launch = json!({
            "program": dll("step_ends"),
            "breakpoints": [
                {"file": "step_ends.cs", "text": "done++;"},
                {"file": "step_ends.cs", "text": "Console.WriteLine(done);"},
            ],
        });
        let mut told = text(&agent.call("debug_launch", launch).await);
        for _ in 0..30 {
            assert!(told.contains("in Program.Work()"), "{told}");
            // The step leaves the thread's first method, and ends with the thread: another one stops the program.
            told = text(&agent.call("debug_step", json!({"kind": "out"})).await);
            assert!(told.contains("in Program.Main()"), "{told}");
            told = text(&agent.call("debug_continue", json!({})).await);
        }
        assert!(told.contains("exited with code 0"), "{told}");
        agent.close().await;
    });
}

#[test]
fn a_step_of_a_thread_without_code_is_refused() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let launch = json!({
            "program": dll("step_ends"),
            "breakpoints": [{"file": "step_ends.cs", "text": "done++;"}],
        });
        agent.call("debug_launch", launch).await;
        let threads = structured(&agent.call("threads_get", json!({})).await);
        let all = threads["threads"].as_array().expect("threads");
        let bare = all.iter().find(|it| it["top"].is_null());
        let bare = bare.expect("a thread of the runtime's own")["id"].clone();
        for kind in ["over", "out"] {
            let step = json!({"kind": kind, "thread": bare});
            let refused = structured(&agent.call("debug_step", step).await);
            assert_eq!(refused["error"]["code"], "STEP_FAILED", "{refused}");
        }
        agent.close().await;
    });
}
