//! Conversations that an agent has: launching, stopping, continuing, attaching, several at once.

use expect_test::expect;
use serde_json::json;
use testkit::sandbox::Sandbox;

use crate::client::{Agent, dll, run, text};

#[test]
fn an_unhandled_exception_is_seen_and_the_program_ends_as_it_would() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let stopped = agent
            .say("debug_launch", json!({"program": dll("throws")}))
            .await;
        assert_eq!(stopped["state"], "stopped");
        assert_eq!(stopped["stop"]["reasons"][0]["kind"], "unhandled_exception");
        assert_eq!(
            stopped["stop"]["exceptions"][1]["type"],
            "System.DivideByZeroException"
        );
        assert_eq!(
            stopped["output"]["chunks"][0]["text"],
            "before\norder 1: 10\n"
        );
        let exited = agent.say("debug_continue", json!({})).await;
        assert_eq!(exited["exit"], json!({"code": 134, "signal": "SIGABRT"}));
        agent.say("debug_status", json!({})).await;
        agent.say("debug_continue", json!({})).await;
        expect![[r#"
            > debug_launch {"program":"<fixtures>/throws/throws.dll"}
            s1 stopped: unhandled exception (thread <tid>), in Program.ProcessOrder(int id) at <source>/throws.cs:35.
            Launched <fixtures>/throws/throws.dll, process <pid>, .NET <version>.
            Exception OrderException: "order 2 failed"
              caused by System.DivideByZeroException: "Attempted to divide by zero.", thrown in Program.Ratio(int whole, int parts) at <source>/throws.cs:41
              33 |         catch (DivideByZeroException inner)
              34 |         {
            > 35 |             throw new OrderException(id, $"order {id} failed", inner); //@throw_outer
              36 |         }
              37 |     }
              id: int = 2
              inner: DivideByZeroException = System.DivideByZeroException: Attempted to divide by zero.
              #0 Program.ProcessOrder(int id) at throws.cs:35
              #1 Program.ProcessOrders(int count) at throws.cs:24
              #2 Program.Main() at throws.cs:17
            Output since the last report:
            out| before
            out| order 1: 10
            Next: debug_continue lets it end as it would without a debugger; debug_disconnect ends it now.
            > debug_continue
            s1 was ended by SIGABRT (exit code 134 in a shell).
            Output since the last report:
            err| Unhandled exception. OrderException: order 2 failed
            err|  ---> System.DivideByZeroException: Attempted to divide by zero.
            err|    at Program.Ratio(Int32 whole, Int32 parts) in <source>/throws.cs:line 41
            err|    at Program.ProcessOrder(Int32 id) in <source>/throws.cs:line 31
            err|    --- End of inner exception stack trace ---
            err|    at Program.ProcessOrder(Int32 id) in <source>/throws.cs:line 35
            err|    at Program.ProcessOrders(Int32 count) in <source>/throws.cs:line 24
            err|    at Program.Main() in <source>/throws.cs:line 17
            > debug_status
            s1 was ended by SIGABRT (exit code 134 in a shell).
            Launched <fixtures>/throws/throws.dll, process <pid>, .NET <version>.
            Its last stop: unhandled exception (thread <tid>).
            Exception OrderException: "order 2 failed"
              caused by System.DivideByZeroException: "Attempted to divide by zero.", thrown in Program.Ratio(int whole, int parts) at <source>/throws.cs:41
            > debug_continue
            !NO_SESSION: no program is being debugged; s1 is over
            Hint: debug_launch or debug_attach begins a session; debug_status tells how the last one ended
        "#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn exit_codes_are_the_programs_own() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        for (args, code) in [
            (["return", "0"], 0),
            (["exit", "3"], 3),
            (["signal", "9"], 137),
        ] {
            let exited = agent
                .say(
                    "debug_launch",
                    json!({"program": dll("exits"), "args": args}),
                )
                .await;
            assert_eq!(exited["exit"]["code"], code);
        }
        expect![[r#"
            > debug_launch {"args":["return","0"],"program":"<fixtures>/exits/exits.dll"}
            s1 exited with code 0.
            Launched <fixtures>/exits/exits.dll return 0, process <pid>, .NET <version>.
            Output since the last report:
            out| ending by return
            > debug_launch {"args":["exit","3"],"program":"<fixtures>/exits/exits.dll"}
            s2 exited with code 3.
            Launched <fixtures>/exits/exits.dll exit 3, process <pid>, .NET <version>.
            Output since the last report:
            out| ending by exit
            > debug_launch {"args":["signal","9"],"program":"<fixtures>/exits/exits.dll"}
            s3 was ended by SIGKILL (exit code 137 in a shell).
            Launched <fixtures>/exits/exits.dll signal 9, process <pid>, .NET <version>.
            Output since the last report:
            out| ending by signal
        "#]]
        .assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn arguments_folder_and_environment_reach_the_program() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let args = [
            "--env", "SHOP", "--env", "HOME", "--exit", "7", "a b", "$HOME", "", "\"*\"",
        ];
        let arguments = json!({
            "program": dll("hello"),
            "args": args,
            "cwd": sandbox.folder(),
            "env": {"SHOP": "tea; rm -rf /", "HOME": null},
        });
        agent.say("debug_launch", arguments).await;
        expect![[r#"
            > debug_launch {"args":["--env","SHOP","--env","HOME","--exit","7","a b","$HOME","","\"*\""],"cwd":"<sandbox>","env":{"HOME":null,"SHOP":"tea; rm -rf /"},"program":"<fixtures>/hello/hello.dll"}
            s1 exited with code 7.
            Launched <fixtures>/hello/hello.dll --env SHOP --env HOME --exit 7 'a b' '$HOME' '' '"*"', process <pid>, .NET <version>.
            Output since the last report:
            out| hello from .NET <major>
            out| SHOP=tea; rm -rf /
            out| HOME=(unset)
            out| arguments: 4
            out|   [a b]
            out|   [$HOME]
            out|   []
            out|   ["*"]
            out| folder: <sandbox>
            out| bye
        "#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn a_program_stops_at_its_entry() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        agent
            .say(
                "debug_launch",
                json!({"program": dll("toplevel"), "stop_at_entry": true}),
            )
            .await;
        agent.say("debug_continue", json!({})).await;
        expect![[r#"
            > debug_launch {"program":"<fixtures>/toplevel/toplevel.dll","stop_at_entry":true}
            s1 stopped: at the entry of the program (thread <tid>), in Program.Main(string[] args) at <source>/toplevel.cs:4.
            Launched <fixtures>/toplevel/toplevel.dll, process <pid>, .NET <version>.
              2 | using System;
              3 | 
            > 4 | Console.WriteLine("top level"); //@first
              5 | int count = args.Length;
              6 | Console.WriteLine(Describe(count)); //@call
              args: string[] = Length = 0
              count: int = not assigned yet
              #0 Program.Main(string[] args) at toplevel.cs:4
            Next: debug_continue lets it run on; debug_step runs one statement.
            > debug_continue
            s1 exited with code 0.
            Output since the last report:
            out| top level
            out| 0 arguments
        "#]]
        .assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn a_running_program_is_paused_and_goes_on() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let running = agent
            .call(
                "debug_launch",
                json!({"program": dll("loops"), "timeout_ms": 1}),
            )
            .await;
        assert!(
            text(&running).contains("Next: debug_wait waits on"),
            "{}",
            text(&running)
        );
        agent
            .until("process_output", json!({}), |result| {
                text(result).contains("tick 1")
            })
            .await;
        let paused = agent.call("debug_pause", json!({})).await;
        let told = text(&paused);
        assert!(told.starts_with("s1 stopped: paused (thread "), "{told}");
        assert!(told.contains("Program.Main(string[] args) at "), "{told}");
        // Pausing again changes nothing, and the same stop is told.
        assert_eq!(
            text(&agent.call("debug_pause", json!({})).await)
                .lines()
                .next(),
            told.lines().next()
        );
        let before = agent.call("process_output", json!({})).await;
        agent.call("debug_continue", json!({"timeout_ms": 0})).await;
        agent
            .until("process_output", json!({}), |result| {
                text(result) != text(&before)
            })
            .await;
        let ended = agent.call("debug_disconnect", json!({})).await;
        assert!(
            text(&ended).starts_with("s1 was ended by the debugger."),
            "{}",
            text(&ended)
        );
        // Doing it again changes nothing.
        agent.say("debug_disconnect", json!({})).await;
        expect![[r#"
            > debug_disconnect
            s1 was ended by the debugger.
        "#]]
        .assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn an_attached_program_is_released_and_runs_on() {
    let sandbox = Sandbox::new();
    run(async {
        let program = sandbox.bare("loops").args(["sleep", "5"]).start();
        program.line_starting("tick");
        let mut agent = Agent::new(&sandbox).await;
        let listed = agent.call("process_list", json!({})).await;
        assert!(
            text(&listed).contains(&format!("{}  .NET ", program.pid())),
            "{}",
            text(&listed)
        );
        // A name that nobody has is not told as if nobody were there.
        let nobody = agent.call("process_list", json!({"name": "no-such"})).await;
        assert!(
            text(&nobody).contains("running, and ") && !text(&nobody).contains("No .NET process"),
            "{}",
            text(&nobody)
        );
        let attached = agent
            .say("debug_attach", json!({"pid": program.pid()}))
            .await;
        assert_eq!(
            (&attached["state"], &attached["origin"]),
            (&json!("running"), &json!("attached"))
        );
        let again = agent
            .call("debug_attach", json!({"pid": program.pid()}))
            .await;
        assert!(
            text(&again).starts_with("ALREADY_DEBUGGED: "),
            "{}",
            text(&again)
        );
        let listed = agent.call("process_list", json!({"name": "loops"})).await;
        assert!(
            text(&listed).contains("(debugged by s1)"),
            "{}",
            text(&listed)
        );
        program.assert_ticks();
        agent.say("process_input", json!({"text": "hello\n"})).await;
        agent.say("process_output", json!({})).await;
        agent.call("debug_pause", json!({})).await;
        agent.say("debug_disconnect", json!({})).await;
        program.assert_ticks();
        expect![[r#"
            > debug_attach {"pid":<pid>}
            s1 is running.
            Attached <dotnet>/dotnet <fixtures>/loops/loops.dll sleep 5, process <pid>, .NET <version>.
            Next: debug_wait waits for a stop; debug_pause stops it where it is.
            > process_input {"text":"hello\n"}
            !INVALID_PARAMETER: s1 was attached to: its standard input belongs to whoever started it, and cannot be written from here
            Hint: write to it where it was started; a program that debug_launch starts takes input
            > process_output
            The output of this program is not captured: it was running before ndbg came, and writes where it always did.
            > debug_disconnect
            s1 let go of process <pid>, which runs on without the debugger.
        "#]].assert_eq(
            &agent
                .transcript()
                .replace(&program.pid().to_string(), "<pid>"),
        );
        // What is still attached when the server ends is released too.
        agent
            .call("debug_attach", json!({"pid": program.pid()}))
            .await;
        agent.call("debug_pause", json!({})).await;
        agent.close().await;
        program.assert_ticks();
    });
}

#[test]
fn a_name_finds_the_only_process_that_has_it() {
    let sandbox = Sandbox::new();
    run(async {
        let mark = format!("mark-{}", std::process::id());
        let one = sandbox.bare("loops").args(["sleep", "5", &mark]).start();
        one.line_starting("tick");
        let agent = Agent::new(&sandbox).await;
        let attached = agent.call("debug_attach", json!({"name": mark})).await;
        assert!(
            text(&attached).contains(&format!("process {}", one.pid())),
            "{}",
            text(&attached)
        );
        let two = sandbox.bare("loops").args(["sleep", "5", &mark]).start();
        two.line_starting("tick");
        let several = agent.call("debug_attach", json!({"name": mark})).await;
        assert!(
            text(&several).contains("2 .NET processes have"),
            "{}",
            text(&several)
        );
        let none = agent
            .call("debug_attach", json!({"name": "no-such-name"}))
            .await;
        assert!(
            text(&none).starts_with("PROCESS_NOT_FOUND: "),
            "{}",
            text(&none)
        );
        agent.close().await;
    });
}

#[test]
fn two_programs_are_debugged_at_once() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        agent
            .call(
                "debug_launch",
                json!({"program": dll("loops"), "args": ["silent"], "timeout_ms": 0}),
            )
            .await;
        agent
            .until("process_output", json!({}), |result| {
                text(result).contains("running")
            })
            .await;
        agent
            .say("debug_launch", json!({"program": dll("throws")}))
            .await;
        agent.say("debug_continue", json!({})).await;
        agent.say("debug_continue", json!({"session": "s3"})).await;
        agent.say("debug_continue", json!({"session": "s1"})).await;
        agent.say("debug_continue", json!({"session": "s2"})).await;
        // With only one left it need not be named.
        agent.say("debug_disconnect", json!({})).await;
        let ended = agent.say("debug_status", json!({})).await;
        assert_eq!(ended["sessions"].as_array().map(Vec::len), Some(2));
        expect![[r#"
            > debug_launch {"program":"<fixtures>/throws/throws.dll"}
            s2 stopped: unhandled exception (thread <tid>), in Program.ProcessOrder(int id) at <source>/throws.cs:35.
            Launched <fixtures>/throws/throws.dll, process <pid>, .NET <version>.
            Exception OrderException: "order 2 failed"
              caused by System.DivideByZeroException: "Attempted to divide by zero.", thrown in Program.Ratio(int whole, int parts) at <source>/throws.cs:41
              33 |         catch (DivideByZeroException inner)
              34 |         {
            > 35 |             throw new OrderException(id, $"order {id} failed", inner); //@throw_outer
              36 |         }
              37 |     }
              id: int = 2
              inner: DivideByZeroException = System.DivideByZeroException: Attempted to divide by zero.
              #0 Program.ProcessOrder(int id) at throws.cs:35
              #1 Program.ProcessOrders(int count) at throws.cs:24
              #2 Program.Main() at throws.cs:17
            Output since the last report:
            out| before
            out| order 1: 10
            Next: debug_continue lets it end as it would without a debugger; debug_disconnect ends it now.
            > debug_continue
            !NO_SESSION: several programs are being debugged: s1, s2
            Hint: say which one with the parameter session
            > debug_continue {"session":"s3"}
            !NO_SESSION: there is no session "s3"
            Hint: there are s1, s2
            > debug_continue {"session":"s1"}
            !NOT_STOPPED: the program is running
            Hint: debug_pause stops it where it is, debug_wait waits for a stop
            > debug_continue {"session":"s2"}
            s2 was ended by SIGABRT (exit code 134 in a shell).
            Output since the last report:
            err| Unhandled exception. OrderException: order 2 failed
            err|  ---> System.DivideByZeroException: Attempted to divide by zero.
            err|    at Program.Ratio(Int32 whole, Int32 parts) in <source>/throws.cs:line 41
            err|    at Program.ProcessOrder(Int32 id) in <source>/throws.cs:line 31
            err|    --- End of inner exception stack trace ---
            err|    at Program.ProcessOrder(Int32 id) in <source>/throws.cs:line 35
            err|    at Program.ProcessOrders(Int32 count) in <source>/throws.cs:line 24
            err|    at Program.Main() in <source>/throws.cs:line 17
            > debug_disconnect
            s1 was ended by the debugger.
            Launched <fixtures>/loops/loops.dll silent, process <pid>, .NET <version>.
            Output since the last report:
            out| running
            > debug_status
            s1 was ended by the debugger.
            Launched <fixtures>/loops/loops.dll silent, process <pid>, .NET <version>.

            s2 was ended by SIGABRT (exit code 134 in a shell).
            Launched <fixtures>/throws/throws.dll, process <pid>, .NET <version>.
            Its last stop: unhandled exception (thread <tid>).
            Exception OrderException: "order 2 failed"
              caused by System.DivideByZeroException: "Attempted to divide by zero.", thrown in Program.Ratio(int whole, int parts) at <source>/throws.cs:41
        "#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn ended_sessions_are_kept_for_a_while() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        for code in 0..10 {
            let args = ["return", &code.to_string()];
            agent
                .call(
                    "debug_launch",
                    json!({"program": dll("exits"), "args": args}),
                )
                .await;
        }
        let status = agent.call("debug_status", json!({})).await;
        let status = status.structured_content.expect("structured content");
        let sessions = status["sessions"].as_array().expect("a list");
        let ids: Vec<_> = sessions
            .iter()
            .filter_map(|session| session["session"].as_str())
            .collect();
        assert_eq!(ids, ["s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10"]);
        let output = agent.call("process_output", json!({"session": "s5"})).await;
        assert!(
            text(&output).starts_with("out| ending by return\n"),
            "{}",
            text(&output)
        );
        let gone = agent.call("debug_status", json!({"session": "s1"})).await;
        assert!(
            text(&gone).starts_with("NO_SESSION: there is no session \"s1\""),
            "{}",
            text(&gone)
        );
        agent.close().await;
    });
}
