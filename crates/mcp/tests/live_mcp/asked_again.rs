//! What a stop report has told can be asked for by the same names, and is told anew when it has changed.

use expect_test::expect;
use serde_json::json;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::client::{Agent, dll, run, structured, text};

#[test]
fn without_a_frame_the_one_is_meant_that_the_report_tells() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let place = Fixture::named("loops").marker("sleep");
        let launch = json!({
            "program": dll("loops"),
            "args": ["silent", "60000"],
            "breakpoints": [{"file": place.file, "line": place.line}],
        });
        agent.call("debug_launch", launch).await;
        agent.call("debug_continue", json!({"timeout_ms": 0})).await;
        let sleeps =
            |result: &rmcp::model::CallToolResult| text(result).contains("Thread.Sleep(int");
        let mut paused = agent.call("debug_pause", json!({})).await;
        let deadline = testkit::deadline();
        while !sleeps(&paused) {
            assert!(std::time::Instant::now() < deadline, "{}", text(&paused));
            agent.call("debug_continue", json!({"timeout_ms": 1})).await;
            paused = agent.call("debug_pause", json!({})).await;
        }
        assert!(text(&paused).contains("mode: string = \"silent\""));
        let thread = structured(&paused)["stop"]["thread"].clone();

        let value = agent
            .call(
                "evaluate",
                json!({"expressions": ["mode.Length", "Program.total"]}),
            )
            .await;
        assert_eq!(
            text(&value),
            "In frame #1:\nmode.Length: int = 6\nProgram.total: long = 0"
        );
        for asked in [json!({}), json!({"thread": thread})] {
            let variables = agent.call("variables_get", asked).await;
            assert!(text(&variables).contains("pause: int = 60000"));
            let shown = structured(&paused)["stop"]["frames"]
                .as_array()
                .and_then(|frames| frames.iter().find(|it| it["kind"] == "user").cloned());
            let shown = shown.expect("a frame of the user");
            assert_eq!(structured(&variables)["frame"], shown["index"]);
        }
        let innermost = agent.call("variables_get", json!({"frame": 0})).await;
        assert!(!text(&innermost).contains("pause: int"));
        let object = agent.call("object_inspect", json!({"path": "args"})).await;
        assert!(text(&object).starts_with("args: string[] at"));

        // Threads are told in the text too, of every session.
        let status = agent.call("debug_status", json!({})).await;
        let told = format!("Threads: {thread} waiting");
        assert!(text(&status).contains(&told), "{}", text(&status));
        let threads = structured(&status)["sessions"][0]["threads"].clone();
        assert_eq!(threads[0]["id"], thread);

        // What was changed is told as it is now, and how often a breakpoint was hit as well.
        let set = json!({"path": "pause", "value": "1"});
        let set = agent.call("variable_set", set).await;
        assert_ne!(set.is_error, Some(true), "{}", text(&set));
        let assign = json!({"expressions": ["tick = 7"], "side_effects": true});
        agent.call("evaluate", assign).await;
        let status = agent.call("debug_status", json!({})).await;
        for told in [
            "pause: int = 1 (was 60000)",
            "tick: int = 7 (was 1)",
            "bound. Hit once.",
        ] {
            assert!(text(&status).contains(told), "{told}: {}", text(&status));
        }
        agent.close().await;
    });
}

#[test]
fn threads_that_wait_for_locks_tell_who_holds_them() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let launch = json!({"program": dll("demo_hang"), "timeout_ms": 0});
        agent.call("debug_launch", launch).await;
        let deadlock =
            |result: &rmcp::model::CallToolResult| structured(result)["deadlocks"].is_array();
        let deadline = testkit::deadline();
        let threads = loop {
            agent.call("debug_wait", json!({"timeout_ms": 20})).await;
            agent.call("debug_pause", json!({})).await;
            let threads = agent.call("threads_get", json!({})).await;
            if deadlock(&threads) {
                break threads;
            }
            assert!(std::time::Instant::now() < deadline, "{}", text(&threads));
            agent.call("debug_continue", json!({"timeout_ms": 0})).await;
        };
        crate::one_value::check(&threads);
        let (told, content) = (text(&threads), structured(&threads));
        let circle = &content["deadlocks"][0];
        let all = content["threads"].as_array().expect("threads");
        let called = |name: &str| {
            all.iter()
                .find(|it| it["name"] == name)
                .expect(name)
                .clone()
        };
        let (first, second) = (called("transfer 1"), called("transfer 2"));
        for (one, other) in [(&first, &second), (&second, &first)] {
            assert_eq!(one["lock"]["type"], "Account");
            assert_eq!(one["lock"]["held_by"], other["id"]);
            assert!(circle.as_array().expect("ids").contains(&one["id"]));
            let line = format!(
                "waits for the lock of an object of Account that thread {} {} holds",
                other["id"], other["name"]
            );
            assert!(told.contains(&line), "{line}: {told}");
        }
        assert!(told.contains("wait for a lock that the other holds, for ever."));
        // Names that are wrong are told with what may be meant, and with nothing else.
        let id = &first["id"];
        let wrong = json!({"expressions": ["Acount.Transfer", "from.Owner.Foo", "from.Ownr"], "thread": id});
        let wrong = agent.call("evaluate", wrong).await;
        assert!(
            text(&wrong).contains("Hint: did you mean `Account`?"),
            "{}",
            text(&wrong)
        );
        assert!(
            text(&wrong).contains("Hint: did you mean `Owner`?"),
            "{}",
            text(&wrong)
        );
        assert!(!text(&wrong).contains("System.Linq"), "{}", text(&wrong));
        agent.close().await;
    });
}

#[test]
fn an_evaluation_that_could_not_be_ended_is_told_until_it_has() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let place = Fixture::named("loops").marker("tick");
        let launch = json!({
            "program": dll("loops"),
            "args": ["sleep", "10"],
            "breakpoints": [{"file": place.file, "line": place.line}],
        });
        let stopped = agent.call("debug_launch", launch).await;
        let thread = structured(&stopped)["stop"]["thread"].clone();
        let sleeps = json!({
            "expressions": ["System.Threading.Thread.Sleep(6000)"],
            "side_effects": true,
            "timeout_ms": 100,
        });
        let given_up = agent.call("evaluate", sleeps).await;
        for told in [
            format!("it cannot be ended and thread {thread} is still in it"),
            "Hint: debug_continue lets it go on; debug_step of that thread waits for it; if it can never end, start the program again".into(),
        ] {
            assert!(text(&given_up).contains(&told), "{}", text(&given_up));
        }
        let again = json!({"expressions": ["tick", "Program.Spin(1)"], "side_effects": true});
        let again = text(&agent.call("evaluate", again).await);
        assert!(again.starts_with("tick: int = 1\n"), "{again}");
        assert!(
            again.contains("Hint: debug_continue lets it go on; try again at the next stop; if it can never end, start the program again"),
            "{again}"
        );
        let note = format!(
            "Note: an evaluation on thread {thread} could not be ended: it goes on when the program does"
        );
        let status = text(&agent.call("debug_status", json!({})).await);
        assert!(status.contains(&note), "{status}");
        // Whoever steps hears why that takes long; when it is done, the step is made.
        let step = json!({"kind": "over", "timeout_ms": 1});
        let running = text(&agent.call("debug_step", step).await);
        assert!(running.contains(&note), "{running}");
        let stepped = agent.call("debug_wait", json!({})).await;
        assert_eq!(structured(&stepped)["state"], "stopped");
        let stop = &structured(&stepped)["stop"];
        // Not at the breakpoint, to which the loop comes again.
        assert_eq!(stop["reasons"][0]["kind"], "step", "{stop}");
        let stepped = text(&stepped);
        assert!(
            stepped.contains("Note: the evaluation that could not be ended has ended"),
            "{stepped}"
        );
        agent.close().await;
    });
}

#[test]
fn names_that_no_module_has_are_told_with_what_may_be_meant() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let misspelt = json!([{"file": "hellp.cs", "line": 3}, {"function": "Program.Mian"}]);
        let meant = ["did you mean hello.cs?", "did you mean Program.Main"];
        let told = |answer: &rmcp::model::CallToolResult| {
            let text = text(answer);
            assert!(meant.iter().all(|it| text.contains(it)), "{text}");
            text
        };
        // At the end, where nothing stopped it.
        let launch = json!({"program": dll("hello"), "breakpoints": misspelt});
        let ended = agent.call("debug_launch", launch).await;
        assert!(told(&ended).contains("Never reached:"));
        // At the first stop, once, and in a status.
        let launch =
            json!({"program": dll("hello"), "breakpoints": misspelt, "stop_at_entry": true});
        told(&agent.call("debug_launch", launch).await);
        told(&agent.call("debug_status", json!({"session": "s2"})).await);
        told(&agent.call("breakpoint_list", json!({})).await);
        let step = json!({"kind": "over"});
        let stepped = text(&agent.call("debug_step", step).await);
        assert!(!stepped.contains("did you mean"), "{stepped}");
        // A type of exceptions may come later; that none is there is told.
        let types = json!({"types": ["DivideByZeroException", "System.FromatException"]});
        agent.say("breakpoint_set_exception", types).await;
        // Nor is a type taken without a word that nobody can throw.
        for name in ["System.String", "int", "Program"] {
            let types = json!({"types": [name]});
            agent.say("breakpoint_set_exception", types).await;
        }
        expect![[r#"
            > breakpoint_set_exception {"types":["DivideByZeroException","System.FromatException"]}
            Exception breakpoint 3: DivideByZeroException, System.FromatException and derived types, when thrown or unhandled. Note: no loaded module has a type System.FromatException, did you mean System.FormatException? It counts as soon as one has.
            > breakpoint_set_exception {"types":["System.String"]}
            !INVALID_PARAMETER: System.String is no exception (it derives from object), so it is never thrown
            Hint: name a type that derives from System.Exception
            > breakpoint_set_exception {"types":["int"]}
            !INVALID_PARAMETER: int is no exception but a type that C# has a word for, so it is never thrown
            Hint: name a type that derives from System.Exception
            > breakpoint_set_exception {"types":["Program"]}
            Exception breakpoint 4: Program and derived types, when thrown or unhandled. Note: Program is no exception (it derives from object): it counts only if a module brings an exception of that name.
        "#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}
