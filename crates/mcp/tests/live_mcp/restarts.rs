//! A program is launched again as it was, with the breakpoints that it has by then.

use expect_test::expect;
use serde_json::{Value, json};
use testkit::fixtures::Fixture;
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
        let mut agent = Agent::new(&sandbox).await;
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

        let stopped = agent.say("debug_restart", json!({})).await;
        assert_eq!(stopped["session"], "s2", "{stopped}");
        expect![[r#"
            > debug_restart
            s2 stopped: at breakpoint 2 (thread <tid>), in Program.ProcessOrder(int id) at <source>/throws.cs:28.
            Launched <fixtures>/throws/throws.dll, process <pid>, .NET <version>.
              26 | 
              27 |     static void ProcessOrder(int id)
            > 28 |     {
              29 |         try
              30 |         {
              id: int = 2
              #0 Program.ProcessOrder(int id) at throws.cs:28
              #1 Program.ProcessOrders(int count) at throws.cs:24
              #2 Program.Main() at throws.cs:17
            Output since the last report:
            out| before
            out| order 1: 10
            Next: debug_continue lets it run on; debug_step runs one statement.
        "#]].assert_eq(&agent.transcript());
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

/// Where the first breakpoint of a session is wanted.
async fn wanted_line(agent: &Agent, session: &str) -> u64 {
    let list = agent
        .call("breakpoint_list", json!({"session": session}))
        .await;
    let line = structured(&list)["breakpoints"][0]["line"].as_u64();
    line.unwrap_or_else(|| panic!("{}", text(&list)))
}

#[test]
fn a_restart_finds_breakpoints_by_their_text_again() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        // A source file that changes between the runs, as it does when somebody edits it.
        let source = std::fs::read_to_string(&Fixture::named("throws").sources()[0]);
        let source = source.expect("a source file");
        let copy = sandbox.folder().join("throws.cs");
        std::fs::write(&copy, &source).expect("written");
        let statement = "ProcessOrders(";
        let launch = json!({
            "program": dll("throws"),
            "breakpoints": [{"file": copy, "text": statement, "line": 1}],
            "stop_at_entry": true,
        });
        let first = agent.call("debug_launch", launch).await;
        assert_eq!(structured(&first)["session"], "s1", "{}", text(&first));
        let line = wanted_line(&agent, "s1").await;
        std::fs::write(&copy, format!("\n\n{source}")).expect("written");
        let again = agent.call("debug_restart", json!({})).await;
        assert_eq!(structured(&again)["session"], "s2", "{}", text(&again));
        assert_eq!(wanted_line(&agent, "s2").await, line + 2);

        // A text that is gone leaves its breakpoint where it was, and that is told.
        std::fs::write(&copy, "class Nothing;\n").expect("written");
        let again = agent.call("debug_restart", json!({})).await;
        assert!(
            text(&again).contains("breakpoint 1 stays at the line that it was at"),
            "{}",
            text(&again)
        );
        assert_eq!(wanted_line(&agent, "s3").await, line + 2);
        agent.call("debug_disconnect", json!({})).await;
        agent.close().await;
    });
}

#[test]
fn an_attached_program_is_not_restarted() {
    let sandbox = Sandbox::new();
    let program = sandbox.bare("loops").args(["sleep", "5"]).start();
    program.line_starting("tick");
    run(async {
        let agent = Agent::new(&sandbox).await;
        agent
            .call("debug_attach", json!({"pid": program.pid()}))
            .await;
        let refused = agent.call("debug_restart", json!({})).await;
        let error = structured(&refused)["error"].clone();
        assert_eq!(error["code"], "NOT_SUPPORTED", "{error}");
        let hint = error["hint"].as_str();
        assert!(
            hint.is_some_and(|it| it.contains("debug_attach")),
            "{error}"
        );
        agent.close().await;
    });
    program.assert_ticks();
}

#[test]
fn a_tracepoint_that_switched_itself_off_begins_anew() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let place = Fixture::named("bp_traces").marker("passed");
        let launch = json!({
            "program": dll("bp_traces"), "args": ["4"],
            "breakpoints": [
                {"file": place.file, "line": place.line, "log_message": "round {i}", "max_hits": 2},
            ],
        });
        let logged = |told: &str| told.matches("round ").count();
        let first = text(&agent.call("debug_launch", launch).await);
        assert_eq!(logged(&first), 2, "{first}");
        let again = text(&agent.call("debug_restart", json!({})).await);
        assert_eq!(logged(&again), 2, "{again}");
        agent.close().await;
    });
}
