//! Words of a stop report that are easily wrong.

use serde_json::json;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::client::{Agent, dll, run, structured, text};

#[test]
fn a_throw_a_rethrow_and_a_statement_behind_another_are_told_apart() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let place = Fixture::named("exceptions_told").marker("statements");
        let launch = json!({
            "program": dll("exceptions_told"),
            "args": ["again"],
            "exceptions": [{"types": ["InvalidOperationException"]}],
            "breakpoints": [{"file": place.file, "line": place.line}],
        });
        let first = agent.call("debug_launch", launch).await;
        assert!(
            text(&first).contains("an exception was thrown, breakpoint"),
            "{}",
            text(&first)
        );
        let again = agent.call("debug_continue", json!({})).await;
        assert!(
            text(&again).contains("an exception was thrown again, breakpoint"),
            "{}",
            text(&again)
        );
        let first = agent.call("debug_continue", json!({})).await;
        let line = text(&first).lines().next().unwrap_or_default().to_owned();
        let second = agent.call("debug_step", json!({"kind": "over"})).await;
        let behind = text(&second).lines().next().unwrap_or_default().to_owned();
        let place = |line: &str| line.rsplit("exceptions_told.cs:").next().map(str::to_owned);
        let (line, behind) = (
            place(&line).expect("a place"),
            place(&behind).expect("a place"),
        );
        let number = line.trim_end_matches('.');
        assert_eq!(behind, format!("{number}:26."));
    });
}

#[test]
fn what_a_task_runs_and_a_message_that_needs_code_are_told_as_that() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let launch = json!({
            "program": dll("exceptions_told"),
            "args": ["lost"],
            "exceptions": [{"types": ["InvalidOperationException"], "thrown": false, "user_unhandled": true}],
        });
        let later = agent.call("debug_launch", launch).await;
        assert!(
            text(&later).contains("an exception left the user's code"),
            "{}",
            text(&later)
        );
        agent.call("debug_continue", json!({})).await;
        let delegate = agent.call("debug_continue", json!({})).await;
        assert!(
            text(&delegate).contains("It leaves what a task runs: nobody awaits the task now"),
            "{}",
            text(&delegate)
        );
        agent.call("debug_disconnect", json!({})).await;
        let launch = json!({
            "program": dll("exceptions_awaited"),
            "args": ["caught"],
            "exceptions": [{"types": ["Lost"], "caught_by_user": true}],
        });
        let caught = agent.call("debug_launch", launch).await;
        let wanted = "it will be caught in Program.Catches(bool later) at ";
        assert!(text(&caught).contains(wanted), "{}", text(&caught));
        agent.call("debug_disconnect", json!({})).await;
        let launch = json!({
            "program": dll("exceptions_told"),
            "args": ["message"],
            "exceptions": [{"types": ["TicketException"]}],
        });
        let message = agent.call("debug_launch", launch).await;
        let wanted = "\"made with this\" (its Message is that of TicketException, which needs code to run: this is the text it was made with)";
        assert!(text(&message).contains(wanted), "{}", text(&message));
    });
}

#[test]
fn threads_with_news_of_their_own_are_told() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let launch = json!({
            "program": dll("bp_threads"),
            "args": ["8", "20"],
            "breakpoints": [{"function": "Program.Once"}],
        });
        let mut stopped = agent.call("debug_launch", launch).await;
        for _ in 0..160 {
            if text(&stopped).contains("reached a breakpoint at the same time") {
                return;
            }
            stopped = agent.call("debug_continue", json!({})).await;
        }
        panic!("no hits at the same time: {}", text(&stopped));
    });
}

#[test]
fn what_has_changed_is_told_after_a_stop_in_another_method_too() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let at = |marker: &str| {
            let place = Fixture::named("terminal").marker(marker);
            json!({"file": place.file, "line": place.line})
        };
        let launch = json!({"program": dll("terminal"), "breakpoints": [at("call"), at("told")]});
        agent.call("debug_launch", launch).await;
        agent.call("debug_step", json!({"kind": "into"})).await;
        let back = agent.call("debug_continue", json!({})).await;
        let variables = structured(&back)["stop"]["variables"].clone();
        let variables = variables.as_array().cloned().unwrap_or_default();
        let total = variables.iter().find(|it| it["name"] == "total");
        let was = total.map(|it| it["was"].clone());
        assert_eq!(was, Some(json!("not assigned yet")), "{variables:?}");
        agent.close().await;
    });
}

#[test]
fn what_is_to_be_known_of_a_breakpoint_is_told_by_the_launch_that_sets_it_and_once() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let launch = json!({
            "program": dll("calls_while_compiling"),
            "breakpoints": [{"function": "Program.Deep<int>"}],
        });
        let note = "type arguments are not looked at: it stops for all";
        let first = agent.call("debug_launch", launch).await;
        assert!(text(&first).contains(note), "{}", text(&first));
        let second = agent.call("debug_continue", json!({})).await;
        assert!(text(&second).contains("breakpoint 1"), "{}", text(&second));
        assert!(!text(&second).contains(note), "{}", text(&second));
    });
}
