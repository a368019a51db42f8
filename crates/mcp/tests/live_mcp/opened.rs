//! What is damaged, masked or does not end, when it is evaluated and opened over MCP.

use serde_json::json;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::client::{Agent, dll, run, structured, text};

async fn stopped(sandbox: &Sandbox) -> Agent {
    let agent = Agent::new(sandbox).await;
    let place = Fixture::named("values_open").marker("stop");
    let launch = json!({
        "program": dll("values_open"),
        "breakpoints": [{"file": place.file, "line": place.line}],
    });
    agent.call("debug_launch", launch).await;
    agent
}

#[test]
fn what_is_damaged_is_told_as_far_as_it_goes() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = stopped(&sandbox).await;
        for (expression, told, note) in [
            ("damaged", "Count = 4 { 1, 2, 0, 0 }", "its array has 4"),
            ("partly", "\"fine\" }", ""),
            ("unmapped", "Length = 100", ""),
            ("queue", "Count = 3", "it says that it begins at 77"),
        ] {
            let answer = agent
                .call("evaluate", json!({"expressions": [expression]}))
                .await;
            let answer = text(&answer);
            assert!(answer.contains(told), "{expression}: {answer}");
            assert!(answer.contains(note), "{expression}: {answer}");
            assert!(!answer.contains("has no value"), "{expression}: {answer}");
        }
        agent.close().await;
    });
}

#[test]
fn getters_that_may_tell_what_is_masked_are_not_run() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = stopped(&sandbox).await;
        let open = |secrets: bool| json!({"expressions": ["telling", "entry"], "side_effects": true, "open": true, "show_secrets": secrets});
        let answer = text(&agent.call("evaluate", open(false)).await);
        assert!(!answer.contains("leak"), "{answer}");
        for told in [
            "Plain: string = its getter was not run: it may tell what is masked",
            "Next: int = 2",
            "Has: bool = true",
        ] {
            assert!(answer.contains(told), "{told}: {answer}");
        }
        let answer = text(&agent.call("evaluate", open(true)).await);
        for told in ["Made: string = \"it is leak\"", "Asked: string = \"leak1\""] {
            assert!(answer.contains(told), "{told}: {answer}");
        }
        agent.close().await;
    });
}

#[test]
fn what_stands_for_elements_shows_them_whoever_makes_them() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = stopped(&sandbox).await;
        let open = json!({"expressions": ["hiding", "lazily"], "side_effects": true, "open": true});
        let answer = text(&agent.call("evaluate", open).await);
        for told in [
            "[0] = 11",
            "[1] = 12",
            "Other: int = 5",
            "[0] = 11",
            "[1] = 21",
        ] {
            assert!(answer.contains(told), "{told}: {answer}");
        }
        assert!(!answer.contains("Items"), "{answer}");
        assert!(!answer.contains("_source"), "{answer}");
        agent.close().await;
    });
}

#[test]
fn a_getter_that_cannot_be_ended_is_named_and_hides_nothing_else() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = stopped(&sandbox).await;
        let open = json!({"expressions": ["stuck"], "side_effects": true, "open": true, "timeout_ms": 2000});
        let answer = text(&agent.call("evaluate", open).await);
        for told in [
            "Before: int = 1",
            "Early: int = 2",
            "Slow: int = its getter was not run to its end: it took longer than",
            "After: int = its getter was not run: evaluation is disabled",
        ] {
            assert!(answer.contains(told), "{told}: {answer}");
        }
        agent.close().await;
    });
}

#[test]
fn proxies_of_closed_types_are_found_and_missing_ones_hide_nothing() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = stopped(&sandbox).await;
        for (expression, expected) in [
            (
                "closed",
                &["Types: string = \"StringInt32[]\"", "Twice: int = 10"][..],
            ),
            (
                "unseen",
                &[
                    "X: int = 5",
                    "Y: int = 10",
                    "[0] = 6",
                    "its DebuggerTypeProxy Gone, nowhere cannot be found",
                ],
            ),
        ] {
            let open = json!({"expressions": [expression], "side_effects": true, "open": true});
            let answer = text(&agent.call("evaluate", open).await);
            for told in expected {
                assert!(answer.contains(told), "{told}: {answer}");
            }
        }
        agent.close().await;
    });
}

#[test]
fn pages_end_where_nothing_can_follow_and_say_what_is_not_known() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = stopped(&sandbox).await;
        let open = json!({
            "expressions": ["counting"], "side_effects": true, "open": true, "start": 50,
        });
        let answer = text(&agent.call("evaluate", open).await);
        let told = "… at least 1 more: evaluate with open and start=100";
        assert!(answer.contains(told), "{answer}");
        let path = "System.Linq.Enumerable.Range(0, 130).Where(it => it >= 0)";
        let page = agent
            .call("variables_get", json!({"path": path, "start": 100}))
            .await;
        let answer = text(&page);
        assert!(
            answer.contains("such as `.Skip(100)` behind it"),
            "{answer}"
        );
        assert!(structured(&page)["next_start"].is_null(), "{answer}");
        agent.close().await;
    });
}
