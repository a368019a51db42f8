//! Launching something that starts the program which is wanted.

use std::os::unix::fs::PermissionsExt as _;

use expect_test::expect;
use serde_json::json;
use testkit::fixtures::{Fixture, dotnet_root};
use testkit::sandbox::Sandbox;

use crate::client::{Agent, dll, run};

/// A script that runs a fixture, as start-up scripts of services do.
fn script(sandbox: &Sandbox, fixture: &str) -> String {
    let path = sandbox.folder().join("start.sh");
    let dotnet = dotnet_root().join("dotnet");
    let text = format!(
        "#!/bin/sh\n{} {}\necho \"it ended with $?\"\n",
        dotnet.display(),
        Fixture::named(fixture).dll().display()
    );
    std::fs::write(&path, text).expect("written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("executable");
    path.display().to_string()
}

#[test]
fn a_script_is_refused_with_the_way_to_follow_its_child() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let program = script(&sandbox, "throws");
        agent.say("debug_launch", json!({"program": program})).await;
        let stopped = agent
            .say(
                "debug_launch",
                json!({"program": program, "follow_child": true}),
            )
            .await;
        assert_eq!(stopped["stop"]["reasons"][0]["kind"], "unhandled_exception");
        agent.call("debug_disconnect", json!({})).await;
        expect![[r#"
            > debug_launch {"program":"<sandbox>/start.sh"}
            !NOT_DOTNET: <sandbox>/start.sh is a script (run by /bin/sh), not a .NET program
            Hint: launch the program that it starts, or follow its child (follow_child=true)
            > debug_launch {"follow_child":true,"program":"<sandbox>/start.sh"}
            s2 stopped: unhandled exception (thread <tid>), in Program.ProcessOrder(int id) at <source>/throws.cs:35.
            Launched <dotnet>/dotnet <fixtures>/throws/throws.dll, process <pid>, .NET <version>.
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
        "#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn a_child_is_chosen_by_its_command_line() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let dotnet = dotnet_root().join("dotnet");
        let arguments = json!({
            "program": dll("children"),
            "args": [dotnet, dll("exits"), "return", "5"],
            "follow_child": "exits.dll",
            "stop_at_entry": true,
        });
        let stopped = agent.say("debug_launch", arguments).await;
        assert!(
            stopped["program"]
                .as_str()
                .expect("told")
                .contains("exits.dll return 5"),
            "{stopped}"
        );
        assert_eq!(stopped["stop"]["reasons"][0]["kind"], "entry");
        agent.close().await;
    });
}
