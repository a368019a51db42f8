//! Bad input: each gets a clear error, and nothing is lost.

use expect_test::expect;
use serde_json::json;
use testkit::sandbox::Sandbox;

use crate::client::{Agent, dll, run, structured, text};

#[test]
fn wrong_arguments_are_explained() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        agent.say("debug_lunch", json!({})).await;
        agent.say("evaluate_everything", json!({})).await;
        agent.say("debug_launch", json!({})).await;
        agent
            .say("debug_launch", json!({"dll": "a.dll", "argumets": "x"}))
            .await;
        agent
            .say(
                "debug_launch",
                json!({"program": "a.dll", "args": "--fast", "timeout_ms": "5 s"}),
            )
            .await;
        agent
            .say(
                "debug_launch",
                json!({"program": "a.dll", "env": {"A=B": "1"}}),
            )
            .await;
        agent.say("debug_launch", json!({"program": " "})).await;
        agent
            .say("debug_wait", json!({"timeout_ms": 600_001}))
            .await;
        agent.say("debug_attach", json!({})).await;
        agent
            .say("debug_attach", json!({"pid": 1, "name": "a"}))
            .await;
        agent.say("debug_attach", json!({"pid": -1})).await;
        agent
            .say("debug_attach", json!({"pid": 4_294_967_296_u64}))
            .await;
        agent.say("process_output", json!({"stream": "both"})).await;
        expect![[r#"
            > debug_lunch
            !INVALID_PARAMETER: there is no tool "debug_lunch"
            Hint: did you mean debug_launch?
            > evaluate_everything
            !INVALID_PARAMETER: there is no tool "evaluate_everything"
            Hint: the tools are debug_launch, debug_launch_test, debug_restart, debug_attach, debug_continue, debug_step, debug_run_to, debug_goto, debug_wait, debug_pause, debug_status, debug_disconnect, breakpoint_set, breakpoint_set_exception, breakpoint_update, breakpoint_remove, breakpoint_list, stacktrace_get, variables_get, variable_set, evaluate, object_inspect, memory_read, type_get, symbols_search, exception_get, source_get, threads_get, modules_get, process_list, process_output, process_input
            > debug_launch
            !INVALID_PARAMETER: debug_launch: the parameter program is missing
            Hint: debug_launch takes program (required), args, breakpoints, configuration, cwd, env, exceptions, follow_child, framework, just_my_code, keep_optimized, source_maps, stop_at_entry, timeout_ms
            > debug_launch {"argumets":"x","dll":"a.dll"}
            !INVALID_PARAMETER: debug_launch: there is no parameter "argumets", did you mean args?; there is no parameter "dll", did you mean program?; the parameter program is missing
            Hint: debug_launch takes program (required), args, breakpoints, configuration, cwd, env, exceptions, follow_child, framework, just_my_code, keep_optimized, source_maps, stop_at_entry, timeout_ms
            > debug_launch {"args":"--fast","program":"a.dll","timeout_ms":"5 s"}
            !INVALID_PARAMETER: debug_launch: args must be a list of texts, not the text "--fast"; timeout_ms must be a whole number from 0 to 600000, not the text "5 s"
            Hint: debug_launch takes program (required), args, breakpoints, configuration, cwd, env, exceptions, follow_child, framework, just_my_code, keep_optimized, source_maps, stop_at_entry, timeout_ms
            > debug_launch {"env":{"A=B":"1"},"program":"a.dll"}
            !INVALID_PARAMETER: "A=B" cannot be the name of an environment variable
            Hint: env={"NAME": "value"}; null as value removes a variable
            > debug_launch {"program":" "}
            !INVALID_PARAMETER: program is empty
            Hint: give the path of a .dll, an executable or a project
            > debug_wait {"timeout_ms":600001}
            !INVALID_PARAMETER: debug_wait: timeout_ms must be a whole number from 0 to 600000, not 600001
            Hint: debug_wait takes session, timeout_ms
            > debug_attach
            !INVALID_PARAMETER: debug_attach needs a pid or a name
            Hint: process_list shows the processes
            > debug_attach {"name":"a","pid":1}
            !INVALID_PARAMETER: debug_attach takes a pid or a name, not both
            Hint: leave name out: the pid is exact
            > debug_attach {"pid":-1}
            !INVALID_PARAMETER: debug_attach: pid must be a whole number from 0 to 4294967295, not -1
            Hint: debug_attach takes just_my_code, name, pid, source_maps
            > debug_attach {"pid":4294967296}
            !INVALID_PARAMETER: debug_attach: pid must be a whole number from 0 to 4294967295, not 4294967296
            Hint: debug_attach takes just_my_code, name, pid, source_maps
            > process_output {"stream":"both"}
            !INVALID_PARAMETER: process_output: stream must be one of "stdout", "stderr", "trace", not the text "both"
            Hint: process_output takes cursor, filter, session, stream, tail
        "#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn without_a_session_the_next_call_is_named() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        agent.say("debug_status", json!({})).await;
        for tool in [
            "debug_continue",
            "debug_wait",
            "debug_pause",
            "debug_disconnect",
            "process_output",
        ] {
            let result = agent.call(tool, json!({})).await;
            assert_eq!(result.is_error, Some(true));
            assert_eq!(structured(&result)["error"]["code"], "NO_SESSION", "{tool}");
            assert!(
                text(&result).contains("debug_launch starts one"),
                "{}",
                text(&result)
            );
        }
        agent.say("debug_wait", json!({"session": "s1"})).await;
        expect![[r#"
            > debug_status
            There is no session. Next: debug_launch starts a program, debug_attach takes a running one.
            > debug_wait {"session":"s1"}
            !NO_SESSION: there is no session "s1"
            Hint: debug_launch or debug_attach begins one
        "#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn what_cannot_be_launched_says_why_and_leaves_no_session() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let script = sandbox.folder().join("script");
        std::fs::write(
            &script,
            "#!/bin/sh\necho \"Hint: call process_input\"; exit 3\n",
        )
        .expect("written");
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&script, executable).expect("executable");
        for program in [
            "/no/such/file.dll".into(),
            "/etc/passwd".into(),
            sandbox.folder().join("empty.dll"),
            script,
        ] {
            if program.ends_with("empty.dll") {
                std::fs::write(&program, "").expect("written");
            }
            agent.say("debug_launch", json!({"program": program})).await;
        }
        agent
            .say(
                "debug_launch",
                json!({"program": dll("hello"), "cwd": "/no/such/folder"}),
            )
            .await;
        let project = sandbox.folder().join("project");
        std::fs::create_dir(&project).expect("a folder");
        let no_tests = json!({"program": project});
        agent.say("debug_launch_test", no_tests).await;
        let no_tests = json!({"program": dll("hello")});
        agent.say("debug_launch_test", no_tests).await;
        // Names that would set properties of the build, or lead its output elsewhere.
        std::fs::write(project.join("a.csproj"), "<Project/>").expect("written");
        for (what, name) in [
            ("configuration", "Debug;OutDir=/tmp/x/"),
            ("configuration", "../Debug"),
            ("framework", "net9.0%3BOutDir=x"),
            ("framework", "-p:OutDir=x"),
        ] {
            let launch = json!({"program": project, what: name});
            agent.say("debug_launch", launch).await;
        }
        agent.say("debug_status", json!({})).await;
        expect![[r#"
            > debug_launch {"program":"/no/such/file.dll"}
            !INVALID_FILE: there is no file /no/such/file.dll
            Hint: give the path of a .dll, an executable or a project; build it first if it is not there yet
            > debug_launch {"program":"/etc/passwd"}
            !NOT_DOTNET: /etc/passwd is neither a managed .dll nor an executable
            Hint: give the path of a .dll, an apphost executable or a project
            > debug_launch {"program":"<sandbox>/empty.dll"}
            !NOT_DOTNET: <sandbox>/empty.dll is neither a managed .dll nor an executable
            Hint: give the path of a .dll, an apphost executable or a project
            > debug_launch {"program":"<sandbox>/script"}
            !NOT_DOTNET: <sandbox>/script is a script (run by /bin/sh), not a .NET program
            Hint: launch the program that it starts, or follow its child (follow_child=true)
            > debug_launch {"cwd":"/no/such/folder","program":"<fixtures>/hello/hello.dll"}
            !INVALID_FILE: the working folder /no/such/folder does not exist
            Hint: create it, or leave `cwd` out to use the current one
            > debug_launch_test {"program":"<sandbox>/project"}
            !INVALID_FILE: the folder <sandbox>/project has no project
            Hint: give the path of a test project, or of its built .dll
            > debug_launch_test {"program":"<fixtures>/hello/hello.dll"}
            !INVALID_FILE: <fixtures>/hello/hello.dll runs no tests: its project refers neither to Microsoft.NET.Test.Sdk nor to Microsoft.Testing.Platform
            Hint: launch a program that is no test project as a program; else add the package and build it again
            > debug_launch {"configuration":"Debug;OutDir=/tmp/x/","program":"<sandbox>/project"}
            !INVALID_PARAMETER: configuration "Debug;OutDir=/tmp/x/" cannot be built: it is no name
            Hint: give a name such as Debug or net9.0; other properties of a build belong into the project
            > debug_launch {"configuration":"../Debug","program":"<sandbox>/project"}
            !INVALID_PARAMETER: configuration "../Debug" cannot be built: it is no name
            Hint: give a name such as Debug or net9.0; other properties of a build belong into the project
            > debug_launch {"framework":"net9.0%3BOutDir=x","program":"<sandbox>/project"}
            !INVALID_PARAMETER: framework "net9.0%3BOutDir=x" cannot be built: it is no name
            Hint: give a name such as Debug or net9.0; other properties of a build belong into the project
            > debug_launch {"framework":"-p:OutDir=x","program":"<sandbox>/project"}
            !INVALID_PARAMETER: framework "-p:OutDir=x" cannot be built: it is no name
            Hint: give a name such as Debug or net9.0; other properties of a build belong into the project
            > debug_status
            There is no session. Next: debug_launch starts a program, debug_attach takes a running one.
        "#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn what_cannot_be_attached_says_why() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let own = std::process::id();
        for (pid, code) in [(4_000_000, "PROCESS_NOT_FOUND"), (own, "NOT_DOTNET")] {
            let result = agent.call("debug_attach", json!({"pid": pid})).await;
            assert_eq!(
                structured(&result)["error"]["code"],
                code,
                "{}",
                text(&result)
            );
            assert!(
                text(&result).contains("process_list shows"),
                "{}",
                text(&result)
            );
        }
        agent.close().await;
    });
}

#[test]
fn a_call_in_the_wrong_state_says_what_to_call() {
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
        agent.say("debug_continue", json!({})).await;
        agent
            .say("debug_disconnect", json!({"terminate": true}))
            .await;
        agent.say("debug_continue", json!({"session": "s1"})).await;
        agent.say("debug_pause", json!({"session": "s1"})).await;
        agent.say("debug_wait", json!({})).await;
        expect![[r#"
            > debug_continue
            !NOT_STOPPED: the program is running
            Hint: debug_pause stops it where it is, debug_wait waits for a stop
            > debug_disconnect {"terminate":true}
            s1 was ended by the debugger.
            Launched <fixtures>/loops/loops.dll silent, process <pid>, .NET <version>.
            Output since the last report:
            out| running
            > debug_continue {"session":"s1"}
            !EXITED: the program of s1 has ended
            Hint: debug_restart starts it again with its breakpoints; debug_status tells how it ended
            > debug_pause {"session":"s1"}
            !EXITED: the program of s1 has ended
            Hint: debug_restart starts it again with its breakpoints; debug_status tells how it ended
            > debug_wait
            s1 was ended by the debugger.
        "#]]
        .assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn a_host_that_is_told_to_end_says_so_to_who_waits() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let launch = json!({"program": dll("loops"), "args": ["silent"], "timeout_ms": 0});
        agent.call("debug_launch", launch).await;
        agent
            .until("process_output", json!({}), |result| {
                text(result).contains("running")
            })
            .await;
        let processes = sandbox.processes();
        let mut hosts = processes.iter().filter(|it| it.command.ends_with(" host "));
        let host = hosts.next().expect("a host").pid;
        let waiting = agent.call("debug_wait", json!({}));
        let (answer, ()) = tokio::join!(waiting, async {
            testkit::procfs::signal(host, rustix::process::Signal::TERM);
        });
        let told = text(&answer);
        assert_eq!(structured(&answer)["state"], "exited", "{told}");
        assert!(
            told.contains("got SIGTERM: it has ended the program"),
            "{told}"
        );
        agent.close().await;
    });
}

#[test]
fn a_host_that_dies_costs_one_session() {
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
            .call("debug_launch", json!({"program": dll("throws")}))
            .await;
        let hosts: Vec<_> = sandbox
            .processes()
            .into_iter()
            .filter(|process| process.command.ends_with(" host "))
            .collect();
        let first = hosts
            .iter()
            .map(|process| process.pid)
            .min()
            .expect("a host");
        let waiting = agent.call("debug_wait", json!({"session": "s1"}));
        let (answer, ()) = tokio::join!(waiting, async {
            testkit::procfs::signal(first, rustix::process::Signal::KILL);
        });
        assert_eq!(
            structured(&answer)["error"]["code"],
            "HOST_DIED",
            "{}",
            text(&answer)
        );
        assert!(
            text(&answer).contains("the launched program was ended"),
            "{}",
            text(&answer)
        );
        // The host kept the output: it is gone, and not "nothing".
        let output = agent.call("process_output", json!({"session": "s1"})).await;
        assert_eq!(structured(&output)["error"]["code"], "HOST_DIED");
        assert!(
            text(&output).contains("what the program wrote is lost"),
            "{}",
            text(&output)
        );
        let status = agent.call("debug_status", json!({"session": "s1"})).await;
        assert_eq!(
            text(&status)
                .matches("the launched program was ended")
                .count(),
            1,
            "{}",
            text(&status)
        );
        agent.say("debug_continue", json!({"session": "s1"})).await;
        agent.say("debug_continue", json!({})).await;
        let told = agent.transcript();
        assert!(told.contains("s2 was ended by SIGABRT"), "{told}");
        agent.close().await;
    });
}

#[test]
fn a_host_that_dies_says_once_what_became_of_the_attached_program() {
    let sandbox = Sandbox::new();
    let program = sandbox.bare("loops").args(["sleep", "5"]).start();
    program.line_starting("tick");
    run(async {
        let agent = Agent::new(&sandbox).await;
        agent
            .call("debug_attach", json!({"pid": program.pid()}))
            .await;
        let processes = sandbox.processes();
        let host = processes
            .iter()
            .find(|process| process.command.ends_with(" host "))
            .expect("a host");
        testkit::procfs::signal(host.pid, rustix::process::Signal::KILL);
        // Asked at once: nothing that was so a moment ago is told.
        let status = agent.call("debug_status", json!({"session": "s1"})).await;
        assert!(
            text(&status).contains("was ended by signal"),
            "{}",
            text(&status)
        );
        assert_eq!(
            text(&status).matches("freezes at its next").count(),
            1,
            "{}",
            text(&status)
        );
        let output = agent.call("process_output", json!({"session": "s1"})).await;
        assert!(
            text(&output).contains("is not captured"),
            "{}",
            text(&output)
        );
        agent.close().await;
    });
    program.assert_ticks();
}

#[test]
fn a_host_that_dies_at_a_stop_leaves_no_moment_in_which_the_frozen_program_is_said_to_run() {
    let sandbox = Sandbox::new();
    let program = sandbox.bare("loops").args(["sleep", "5"]).start();
    program.line_starting("tick");
    run(async {
        let agent = Agent::new(&sandbox).await;
        agent
            .call("debug_attach", json!({"pid": program.pid()}))
            .await;
        agent.call("debug_pause", json!({})).await;
        let processes = sandbox.processes();
        let host = processes
            .iter()
            .find(|process| process.command.ends_with(" host "))
            .expect("a host");
        testkit::procfs::signal(host.pid, rustix::process::Signal::KILL);
        let status = agent
            .until("debug_status", json!({"session": "s1"}), |result| {
                !text(result).starts_with("s1 stopped")
            })
            .await;
        let status = text(&status);
        assert!(status.starts_with("s1 failed."), "{status}");
        assert_eq!(status.matches("stays frozen").count(), 1, "{status}");
        assert!(!status.contains("runs on"), "{status}");
        // It wrote where it always wrote, so nothing of that is lost.
        let waited = agent.call("debug_wait", json!({"session": "s1"})).await;
        assert_eq!(structured(&waited)["error"]["code"], "HOST_DIED");
        assert!(!text(&waited).contains("is lost"), "{}", text(&waited));
        let listed = agent.call("process_list", json!({"name": "loops"})).await;
        // Other tests run such programs, too.
        let listed = structured(&listed)["processes"].clone();
        let mut all = listed.as_array().expect("a list").iter();
        let own = all.find(|it| it["pid"] == program.pid());
        assert_eq!(own.expect("it lives")["attachable"], false, "{listed}");
        agent.close().await;
    });
}

#[test]
fn a_program_that_its_dead_host_has_left_frozen_is_ended_when_asked_for() {
    let sandbox = Sandbox::new();
    let program = sandbox.bare("loops").args(["sleep", "5"]).start();
    program.line_starting("tick");
    run(async {
        let agent = Agent::new(&sandbox).await;
        let attach = json!({"pid": program.pid()});
        agent.call("debug_attach", attach).await;
        agent.call("debug_pause", json!({})).await;
        let processes = sandbox.processes();
        let mut hosts = processes.iter().filter(|it| it.command.ends_with(" host "));
        let host = hosts.next().expect("a host").pid;
        testkit::procfs::signal(host, rustix::process::Signal::KILL);
        agent
            .until("debug_status", json!({}), |result| {
                text(result).contains("stays frozen")
            })
            .await;
        let end = json!({"session": "s1", "terminate": true});
        agent.call("debug_disconnect", end).await;
        let gone = testkit::eventually(|| match testkit::procfs::process(program.pid()) {
            Some(process) if process.state != 'Z' => Err(format!("{process:?}")),
            _ => Ok(()),
        });
        gone.expect("it is ended");
        agent.close().await;
    });
}

#[test]
fn a_program_that_a_signal_has_suspended_is_told_as_that() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let launch = json!({"program": dll("loops"), "args": ["silent"], "timeout_ms": 0});
        agent.call("debug_launch", launch).await;
        agent
            .until("process_output", json!({}), |result| {
                text(result).contains("running")
            })
            .await;
        let status = agent.call("debug_status", json!({"session": "s1"})).await;
        let status = &structured(&status)["sessions"][0];
        let pid = status["pid"].as_u64().and_then(|it| u32::try_from(it).ok());
        let pid = pid.expect("its number");
        testkit::procfs::signal(pid, rustix::process::Signal::STOP);
        agent
            .until("debug_wait", json!({"timeout_ms": 10}), |result| {
                text(result).contains(
                    "is suspended by a signal and cannot answer; let it run first: kill -CONT",
                )
            })
            .await;
        agent.close().await;
    });
}

#[test]
fn more_arguments_than_the_system_takes_are_refused_with_what_to_do() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let launch = json!({"program": dll("loops"), "args": ["x".repeat(200_000)]});
        let refused = agent.call("debug_launch", launch).await;
        let error = &structured(&refused)["error"];
        assert_eq!(error["code"], "LAUNCH_FAILED", "{}", text(&refused));
        let hint = error["hint"].as_str().unwrap_or_default();
        assert!(
            hint.contains("128 KiB in one argument"),
            "{}",
            text(&refused)
        );
        agent.close().await;
    });
}

#[test]
fn what_is_left_of_a_program_is_told_as_it_is_at_each_call() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        // Whose host is killed while it runs, or is stopped; and one that is let go.
        for (number, how) in ["running", "stopped", "let go"].into_iter().enumerate() {
            let session = format!("s{}", number + 1);
            let session = json!({"session": session});
            let mut program = sandbox.bare("loops").args(["sleep", "5"]).start();
            program.line_starting("tick");
            agent
                .call("debug_attach", json!({"pid": program.pid()}))
                .await;
            if how == "stopped" {
                agent.call("debug_pause", session.clone()).await;
            }
            if how == "let go" {
                agent.call("debug_disconnect", session.clone()).await;
            } else {
                let processes = sandbox.processes();
                let host = processes
                    .iter()
                    .find(|process| process.command.ends_with(" host "))
                    .expect("a host");
                testkit::procfs::signal(host.pid, rustix::process::Signal::KILL);
            }
            let alive = text(&agent.call("debug_status", session.clone()).await);
            // Nobody answers the events of one whose debugger died, so it does not run on for long.
            let (true_now, others) = match how {
                "running" => (
                    "freezes at its next debug event",
                    ["runs on", "stays frozen"],
                ),
                "stopped" => ("stays frozen", ["runs on", "freezes at"]),
                _ => ("runs on", ["stays frozen", "freezes at"]),
            };
            assert!(alive.contains(true_now), "{alive}");
            assert!(!others.iter().any(|it| alive.contains(it)), "{alive}");
            let lives = ["runs on", "stays frozen", "freezes at"];
            program.kill();
            for tool in [
                "debug_status",
                "debug_wait",
                "debug_continue",
                "debug_disconnect",
            ] {
                let answer = agent.call(tool, session.clone()).await;
                let told = text(&answer);
                assert!(!lives.iter().any(|it| told.contains(it)), "{tool}: {told}");
                let ends = [
                    "since then it was ended by SIGKILL",
                    "since then it has ended",
                ];
                assert!(ends.iter().any(|it| told.contains(it)), "{tool}: {told}");
            }
        }
        agent.close().await;
    });
}
