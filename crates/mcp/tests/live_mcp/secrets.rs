//! Secrets over MCP: masked wherever a name says so, until they are asked for.

use expect_test::expect;
use serde_json::json;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::client::{Agent, dll, run, structured, text};

#[test]
fn names_keys_and_texts_are_masked_everywhere() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let (stop, end) = (
            Fixture::named("secrets").marker("stop"),
            Fixture::named("secrets").marker("end"),
        );
        let launch = json!({
            "program": dll("secrets"),
            "breakpoints": [
                {"file": stop.file, "line": stop.line, "max_hits": 1},
                {"file": end.file, "line": end.line},
            ],
        });
        let report = structured(&agent.call("debug_launch", launch).await);
        assert_eq!(report["state"], "stopped", "{report}");
        assert!(!report.to_string().contains("hidden"), "{report}");
        for (path, raw) in [
            ("settings", false),
            ("values", false),
            ("settings._entries", true),
            ("settings._entries[0]", true),
            ("settings._entries[0].value", false),
            ("settings[#0]", false),
            ("sorted", false),
            ("table", false),
        ] {
            let look = json!({"path": path, "raw": raw, "depth": 2});
            let answer = agent.call("variables_get", look).await;
            let told = structured(&answer).to_string() + &text(&answer);
            assert!(!told.contains("hidden"), "{path}: {told}");
            assert!(told.contains("***"), "{path}: {told}");
        }
        let looks = json!({"expressions": [
            "settings", "settings.Values", "settings[key]", "settings[key] == null",
            "settings.Select(it => it.Value)", "client", "table", "settings.Keys", "settings.Count",
        ]});
        agent.say("evaluate", looks).await;
        let codes = json!({"expressions": [
            "account.ToString()", "$\"<{account}>\"", "client", "settings.First()", "settings.First().Value",
            "settings.Values.ToArray()", "Environment.GetEnvironmentVariable(\"API_TOKEN\")", "account.Name.ToUpper()",
        ], "side_effects": true});
        agent.say("evaluate", codes).await;
        let opened =
            json!({"expressions": ["client", "account"], "side_effects": true, "open": true});
        let opened = agent.call("evaluate", opened).await;
        // What a property without such a name computes is told; what a type makes of itself is not asked for.
        for result in structured(&opened)["results"].as_array().expect("results") {
            let line = result["value"].to_string();
            assert!(!line.contains("hidden"), "{line}");
        }
        // The second one is at the `i++` above, which comes first.
        for (line, column, show) in [(stop.line, None, false), (stop.line - 1, Some(32), true)] {
            let trace = json!({
                "file": stop.file, "line": line, "column": column, "show_secrets": show, "max_hits": show.then_some(1),
                "log_message": "{account.Password} {settings[key]} {account} {account.Name}",
            });
            let set = agent.call("breakpoint_set", trace).await;
            assert_ne!(set.is_error, Some(true), "{}", text(&set));
        }
        let report = agent.call("debug_continue", json!({})).await;
        let told = text(&report);
        // What a method with such a name returned, and where a secret lies.
        agent.call("debug_step", json!({"kind": "over"})).await;
        let stepped = text(&agent.call("debug_step", json!({"kind": "over"})).await);
        assert!(
            stepped.contains("returned by Secrets.GetPassword") && !stepped.contains("hidden"),
            "{stepped}"
        );
        for (tool, arguments) in [
            ("variables_get", json!({"path": "$returnvalue"})),
            (
                "evaluate",
                json!({"expressions": ["$returnvalue", "$returnvalue + 1"]}),
            ),
            ("object_inspect", json!({"path": "account.Password"})),
            ("object_inspect", json!({"path": "$returnvalue"})),
        ] {
            let answer = agent.call(tool, arguments).await;
            let told = structured(&answer).to_string() + &text(&answer);
            assert!(told.contains("mask") || told.contains("***"), "{told}");
            assert!(!told.contains("hidden") && !told.contains("0x"), "{told}");
        }
        // Bytes have no names: whoever reads them asks for secrets, too.
        let place = structured(
            &agent
                .call("object_inspect", json!({"path": "account"}))
                .await,
        );
        let read = json!({"address": place["address"]});
        let refused = agent.call("memory_read", read).await;
        assert!(
            text(&refused).contains("show_secrets=true"),
            "{}",
            text(&refused)
        );
        let logged: Vec<&str> = told.lines().filter(|it| it.contains("log|")).collect();
        expect![[r#"
            > evaluate {"expressions":["settings","settings.Values","settings[key]","settings[key] == null","settings.Select(it => it.Value)","client","table","settings.Keys","settings.Count"]}
            settings: System.Collections.Generic.Dictionary<string, string> = Count = 2 { ["ApiKey"] = ***, ["Color"] = "red" }  (2 inside: #e1)
            settings.Values: System.Collections.Generic.Dictionary<string, string>.ValueCollection = *** (masked because of a name in what it reads)
            settings[key]: string = *** (masked because of a name in what it reads)
            settings[key] == null: bool = false
            settings.Select(it => it.Value): System.Collections.Generic.IEnumerable<string> = *** (masked because of a name in what it reads)
            client: Client = "bob" *** <would run code>  (2 inside: #e2)
            table: System.Collections.IDictionary = Count = 1 { ["client-secret"] = *** }  (1 inside: #e3)
            settings.Keys: System.Collections.Generic.Dictionary<string, string>.KeyCollection = Count = 2 { "ApiKey", "Color" }
            settings.Count: int = 2
            > evaluate {"expressions":["account.ToString()","$\"<{account}>\"","client","settings.First()","settings.First().Value","settings.Values.ToArray()","Environment.GetEnvironmentVariable(\"API_TOKEN\")","account.Name.ToUpper()"],"side_effects":true}
            account.ToString(): string = *** (masked because of a name in what it reads)
            $"<{account}>": string = *** (masked because of a name in what it reads)
            client: Client = "bob" *** <would run code>  (2 inside: #e4)
            settings.First(): System.Collections.Generic.KeyValuePair<string, string> = ["ApiKey", ***]
            settings.First().Value: string = *** (masked because of a name in what it reads)
            settings.Values.ToArray(): string[] = *** (masked because of a name in what it reads)
            Environment.GetEnvironmentVariable("API_TOKEN"): string = *** (masked because of a name in the expression)
            account.Name.ToUpper(): string = "ANN"
            log| hidden-1 hidden-2 Account { Name = ann, Password = hidden-1 } ann
            log| *** *** *** ann
        "#]].assert_eq(&(agent.transcript() + &logged.join("\n") + "\n"));
        agent.close().await;
    });
}
