//! Exceptions, assertions and messages for the debugger, as an agent hears of them.

use expect_test::expect;
use serde_json::json;
use testkit::sandbox::Sandbox;

use crate::client::{Agent, dll, run, structured, text};

#[test]
fn an_exception_is_told_with_its_throw_its_handler_and_its_way() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let launch = json!({
            "program": dll("exception_kinds"),
            "args": ["caught"],
            "exceptions": [{"types": ["ShopException"]}],
        });
        let stopped = agent.say("debug_launch", launch).await;
        assert_eq!(stopped["stop"]["handler"]["kind"], "catch");
        agent.say("exception_get", json!({})).await;
        agent.call("debug_disconnect", json!({})).await;
        agent
            .call(
                "debug_launch",
                json!({"program": dll("exception_kinds"), "args": ["aggregate"]}),
            )
            .await;
        agent.say("exception_get", json!({})).await;
        agent.call("debug_disconnect", json!({})).await;
        agent
            .call(
                "debug_launch",
                json!({"program": dll("hello"), "stop_at_entry": true}),
            )
            .await;
        agent.say("exception_get", json!({})).await;
        expect![[r#"
            > debug_launch {"args":["caught"],"exceptions":[{"types":["ShopException"]}],"program":"<fixtures>/exception_kinds/exception_kinds.dll"}
            s1 stopped: an exception was thrown, breakpoint 1 (thread <tid>), in Program.Throw(string message) at <source>/exception_kinds.cs:66.
            Launched <fixtures>/exception_kinds/exception_kinds.dll caught, process <pid>, .NET <version>.
            Exception StockException: "caught"
            It will be caught in Program.Caught() at <source>/exception_kinds.cs:75.
              64 |     static void Throw(string message)
              65 |     {
            > 66 |         throw new StockException(message); //@throw
              67 |     }
              68 | 
              message: string = "caught"
              #0 Program.Throw(string message) at exception_kinds.cs:66
              #1 Program.Caught() at exception_kinds.cs:73
              #2 Program.Main(string[] args) at exception_kinds.cs:34
            Next: debug_continue lets it run on; debug_step runs one statement.
            > exception_get
            Exception StockException: "caught"
            Thrown in Program.Throw(string message) at <source>/exception_kinds.cs:66.
            It will be caught in Program.Caught() at <source>/exception_kinds.cs:75.
            It came through:
              Program.Throw(string message) at <source>/exception_kinds.cs:66
            > exception_get
            Exception System.AggregateException: "many (one) (two) (bad (Parameter 'count'))"
              caused by ShopException: "one"
                caused by System.FormatException: "deep"
              caused by StockException: "two"
              caused by System.ArgumentException: "bad (Parameter 'count')"
            Thrown in Program.Aggregate() at <source>/exception_kinds.cs:208.
            Nobody catches it: the program ends if it continues.
            It came through:
              Program.Aggregate() at <source>/exception_kinds.cs:208
              Program.Main(string[] args) at <source>/exception_kinds.cs:49
            > exception_get
            No exception is in flight on that thread.
        "#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn assertions_and_messages_for_the_debugger_are_told() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let gives_up = agent
            .call(
                "debug_launch",
                json!({"program": dll("exception_kinds"), "args": ["fail_fast"]}),
            )
            .await;
        let told = text(&gives_up);
        assert!(
            told.starts_with(
                "s1 stopped: the program gives up (FailFast): \"the shop is on fire\" (thread "
            ) && told.contains("called from Program.FailFast()")
                && told.contains("debug_continue lets it end"),
            "{told}"
        );
        for what in ["assert", "log"] {
            agent
                .say(
                    "debug_launch",
                    json!({"program": dll("exception_kinds"), "args": [what]}),
                )
                .await;
        }
        expect![[r#"
            > debug_launch {"args":["assert"],"program":"<fixtures>/exception_kinds/exception_kinds.dll"}
            s2 stopped: an assertion failed: "seven arguments there are fewer" (thread <tid>), in System.Diagnostics.Debug.Fail(string? message, string? detailMessage), called from Program.Main(string[] args) at <source>/exception_kinds.cs:56:28.
            Launched <fixtures>/exception_kinds/exception_kinds.dll assert, process <pid>, .NET <version>.
              54 |             case "exit": ExitNow(); break;
              55 |             case "out_of_memory": OutOfMemory(); break;
            > 56 |             case "assert": Debug.Assert(args.Length == 7, "seven arguments", "there are fewer"); Console.WriteLine("after"); break; //@assert
              57 |             case "log": Log(); break;
              58 |             case "launch": Console.WriteLine($"launched {Debugger.Launch()}"); break;
              args: string[] = Length = 1 { "assert" }
              gate: TaskCompletionSource = not assigned yet
              task: Task = not assigned yet
              #0 System.Diagnostics.Debug.Fail(string? message, string? detailMessage) in System.Private.CoreLib.dll
              #1 Program.Main(string[] args) at exception_kinds.cs:56
            Output since the last report:
            log| ---- DEBUG ASSERTION FAILED ----
            log| ---- Assert Short Message ----
            log| seven arguments
            log| ---- Assert Long Message ----
            log| there are fewer
            log|    at Program.Main(String[] args) in <source>/exception_kinds.cs:line 56
            Next: debug_continue lets it run on; debug_step runs one statement.
            > debug_launch {"args":["log"],"program":"<fixtures>/exception_kinds/exception_kinds.dll"}
            s3 exited with code 0.
            Launched <fixtures>/exception_kinds/exception_kinds.dll log, process <pid>, .NET <version>.
            Output since the last report:
            out| before
            log| a message
            log| category: a line
            log| traced
            out| after
        "#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn a_condition_on_the_exception_chooses_where_to_stop() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let launch = json!({
            "program": dll("exception_kinds"),
            "args": ["catch_throws"],
            "exceptions": [{"types": ["ShopException"], "condition": "$exception.Message == \"second\""}],
        });
        let stopped = agent.call("debug_launch", launch).await;
        let told = text(&stopped);
        assert!(
            told.contains("Exception ShopException: \"second\""),
            "{told}"
        );
        let list = agent.call("breakpoint_list", json!({})).await;
        assert!(text(&list).contains("Stops only if"), "{}", text(&list));
        agent.call("debug_disconnect", json!({})).await;
        agent.close().await;
    });
}

#[test]
fn what_is_asked_without_a_frame_is_asked_of_the_frame_that_was_told() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let launch = json!({
            "program": dll("exceptions_told"),
            "args": ["framework"],
            "exceptions": [{"types": ["FormatException"]}],
        });
        let stopped = agent.call("debug_launch", launch).await;
        let stopped = text(&stopped);
        assert!(
            stopped.contains("text: string = \"no number\""),
            "{stopped}"
        );
        let expressions = json!({"expressions": ["text.Length", "$exception.Message"]});
        agent.say("evaluate", expressions).await;
        let innermost = json!({"expressions": ["text"], "frame": 0});
        let refused = agent.call("evaluate", innermost).await;
        let refused = text(&refused);
        assert!(refused.contains("CS0103"), "{refused}");
        agent
            .say("variable_set", json!({"path": "text", "value": "\"12\""}))
            .await;
        agent
            .say("variables_get", json!({"names": ["text", "number"]}))
            .await;
        expect![[r#"
            > evaluate {"expressions":["text.Length","$exception.Message"]}
            In frame #2:
            text.Length: int = 9
            $exception.Message: string = "The input string 'no number' was not in a correct format."
            > variable_set {"path":"text","value":"\"12\""}
            text: string = "12" (was "no number")
            > variables_get {"names":["text","number"]}
            Variables of frame #2 of thread <tid>:
              text: string = "12"
              number: int = 5
        "#]]
        .assert_eq(&agent.transcript());
        agent.close().await;
    });
}

/// The runtime keeps no lines for some code, and several codes of one generic method.
#[test]
fn what_threw_an_exception_first_is_never_told_as_its_caller() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let launch = json!({
            "program": dll("exceptions_origin"),
            "exceptions": [
                {"types": ["System.Exception"], "condition": "$exception.InnerException != null"},
                {"types": ["System.InvalidOperationException"], "condition": "$exception.StackTrace.Contains(\"Main\")"},
            ],
        });
        let mut stopped = structured(&agent.call("debug_launch", launch).await);
        let mut told = String::new();
        while stopped["state"] == "stopped" {
            for exception in stopped["stop"]["exceptions"].as_array().expect("a list") {
                if let Some(origin) = exception.get("thrown_at") {
                    told += &format!("{} {}\n", origin["method"], origin["line"]);
                }
            }
            stopped = structured(&agent.call("debug_continue", json!({})).await);
        }
        expect![[r#"
            "Program.Generic<T>(T value)" 35
            "Program.Generic<T>(T value)" 35
            "Program.Generic<T>(T value)" 35
            "Program.Generic<T>(T value)" 35
            "Program.Either(bool choice)" 41
            "Program.Given(Exception exception)" 46
            "Program.Generic<T>(T value)" 35
        "#]]
        .assert_eq(&told);
        agent.close().await;
    });
}
