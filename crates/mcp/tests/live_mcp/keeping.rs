//! Objects that are kept over continues, over MCP.

use serde_json::json;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::client::{Agent, dll, run, structured, text};

#[test]
fn objects_are_kept_over_continues_listed_set_and_let_go() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let fixture = Fixture::named("values_set");
        let breakpoints: Vec<_> = ["stop", "collected"]
            .map(|marker| fixture.marker(marker))
            .iter()
            .map(|place| json!({"file": place.file, "line": place.line}))
            .collect();
        let launch = json!({"program": dll("values_set"), "breakpoints": breakpoints});
        let report = structured(&agent.call("debug_launch", launch).await);
        assert_eq!(report["state"], "stopped", "{report}");
        let evaluate = async |expression: &str| {
            let arguments = json!({"expressions": [expression], "side_effects": true});
            text(&agent.call("evaluate", arguments).await)
        };
        let kept = evaluate("$1 = account").await;
        assert!(kept.contains("$1"), "{kept}");
        let second = evaluate("$ = new Account()").await;
        assert!(second.contains("$2"), "{second}");
        let refused = agent
            .call("evaluate", json!({"expressions": ["$3 = account"]}))
            .await;
        let refused = text(&refused);
        assert!(refused.contains("keeping an object alive"), "{refused}");
        // A collection between the two stops moves what is kept.
        agent.call("debug_continue", json!({})).await;
        let told = evaluate("$1 == account && $2.Owner == \"nobody\"").await;
        assert!(told.contains("true"), "{told}");
        let set = json!({"path": "$1.Owner", "value": "\"kept\""});
        let set = text(&agent.call("variable_set", set).await);
        assert!(set.contains("\"kept\""), "{set}");
        let looked = text(
            &agent
                .call("variables_get", json!({"path": "account.Owner"}))
                .await,
        );
        assert!(looked.contains("\"kept\""), "{looked}");
        // Which there are is told to who asks for another.
        let listed = text(&agent.call("variables_get", json!({"path": "$9"})).await);
        assert!(listed.contains("kept are $1, $2"), "{listed}");
        let gone = evaluate("$1 = null").await;
        assert!(gone.contains("null"), "{gone}");
        let listed = evaluate("$1 = null").await;
        assert!(listed.contains("no object is kept as $1"), "{listed}");
        assert!(listed.contains("kept are $2"), "{listed}");
        let gone = text(&agent.call("variables_get", json!({"path": "$1"})).await);
        assert!(gone.contains("no object is kept as $1"), "{gone}");
        agent.close().await;
    });
}

#[test]
fn what_exists_only_in_the_debugger_is_kept_as_an_object_of_the_program() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let fixture = Fixture::named("values_set");
        let breakpoints: Vec<_> = ["stop", "collected"]
            .map(|marker| fixture.marker(marker))
            .iter()
            .map(|place| json!({"file": place.file, "line": place.line}))
            .collect();
        let launch = json!({"program": dll("values_set"), "breakpoints": breakpoints});
        agent.call("debug_launch", launch).await;
        let evaluate = async |expression: &str, frame: u32| {
            let arguments =
                json!({"expressions": [expression], "side_effects": true, "frame": frame});
            text(&agent.call("evaluate", arguments).await)
        };
        let kept = [
            ("$1 = (object)5", "$1", "5"),
            ("$2 = (object)size", "$2", "{ Width = 1, Height = 2 }"),
            ("$3 = (object)(1, \"b\")", "$3", "(1, \"b\")"),
            ("$4 = \"text\"", "$4", "\"text\""),
            ("$5 = new[] { 1, 2 }", "$5", "Length = 2 { 1, 2 }"),
            ("$6 = (object)12.50m", "$6", "12.50"),
        ];
        for (expression, _, value) in kept {
            let told = evaluate(expression, 1).await;
            assert!(told.contains(value), "{expression}: {told}");
        }
        let refused = evaluate("$7 = size", 1).await;
        assert!(
            refused.contains("only an object of the program can be kept"),
            "{refused}"
        );
        assert!(refused.contains("(object)…"), "{refused}");
        let refused = evaluate("$7 = 5", 1).await;
        assert!(refused.contains("(object)…"), "{refused}");
        // A collection between the two stops moves what is kept.
        agent.call("debug_continue", json!({})).await;
        for (_, name, value) in kept {
            let told = evaluate(name, 0).await;
            assert!(told.contains(value), "{name}: {told}");
        }
        for (expression, value) in [
            ("$1 + $4.Length + $5.Length", "11"),
            ("$2.Width + $3.Item1", "2"),
            ("$6 * 2", "25.00"),
        ] {
            let told = evaluate(expression, 0).await;
            assert!(told.ends_with(&format!("= {value}")), "{told}");
        }
        agent.close().await;
    });
}
