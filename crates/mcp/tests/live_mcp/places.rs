//! Reports name the user's own place also where no frame of a stack has it, and never a line that is not the one that was
//! compiled.

use std::fs;

use serde_json::json;
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::client::{Agent, dll, run, structured, text};

#[test]
fn exceptions_that_leave_an_async_main_name_the_place_that_threw() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let place = Fixture::named("async_ends").marker("throw");
        let launch = json!({"program": dll("async_ends"), "args": ["throw"]});
        let report = agent.call("debug_launch", launch).await;
        let (told, data) = (text(&report), structured(&report));
        let at = format!(
            "first thrown in Program.Work(string how) at {}:{}",
            place.file.display(),
            place.line
        );
        assert!(told.contains(&at), "{told}");
        let thrown = &data["stop"]["exceptions"][0]["thrown_at"];
        assert_eq!(thrown["line"], place.line, "{data}");
        let lines = data["stop"]["source"].as_array().expect("lines");
        let current = lines.iter().find(|it| it["current"] == true);
        assert_eq!(current.expect("marked")["line"], place.line, "{data}");
        let next = data["next"].as_str().expect("advice");
        assert!(
            next.contains(r#"types=["System.InvalidOperationException"]"#),
            "{next}"
        );
        let answer = text(&agent.call("exception_get", json!({})).await);
        let came = format!(
            "Program.Work(string how) at {}:{}",
            place.file.display(),
            place.line
        );
        assert!(answer.contains(&came), "{answer}");
        // Where it is thrown now is not told as where it came from.
        assert!(answer.contains("\nThrown again in "), "{answer}");
        assert!(
            answer.contains(&format!(", first in {came}.\n")),
            "{answer}"
        );
        agent.close().await;
    });
}

#[test]
fn paused_programs_tell_which_async_methods_they_wait_for() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let launch = json!({
            "program": dll("async_ends"), "args": ["wait"],
            "breakpoints": [{"file": "async_ends.cs", "text": "await new TaskCompletionSource"}],
        });
        let report = agent.call("debug_launch", launch).await;
        assert_eq!(structured(&report)["state"], "stopped", "{}", text(&report));
        agent.call("debug_continue", json!({"timeout_ms": 0})).await;
        // The way back to whoever waits is short, but it takes a moment.
        let (place, work) = (
            Fixture::named("async_ends").marker("wait"),
            Fixture::named("async_ends").marker("work"),
        );
        let mut told = String::new();
        for _ in 0..100 {
            told = text(&agent.call("debug_pause", json!({})).await);
            if told.contains("waiting for Program.Work") {
                break;
            }
            agent
                .call("debug_continue", json!({"timeout_ms": 20}))
                .await;
        }
        let at = format!(
            "waiting for Program.Work(string how) at {}:{}",
            place.file.display(),
            place.line
        );
        assert!(told.contains(&at), "{told}");
        let chain = format!(
            "  Program.Main(string[] args) at async_ends.cs:{}\n",
            work.line
        );
        assert!(told.contains(&chain), "{told}");
        assert!(told.contains(&format!("> {} |", place.line)), "{told}");
        let threads = text(&agent.call("threads_get", json!({})).await);
        let waits = format!(
            "waits for Program.Work(string how) at async_ends.cs:{}",
            place.line
        );
        assert!(threads.contains(&waits), "{threads}");
        agent.close().await;
    });
}

#[test]
fn lines_of_a_changed_file_are_not_told_as_if_they_were_the_compiled_ones() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let place = Fixture::named("demo_shop").marker("discount");
        let original = fs::read_to_string(&place.file).expect("source");
        let folder = sandbox.folder().join("changed");
        fs::create_dir_all(&folder).expect("a folder");
        let changed = folder.join("demo_shop.cs");
        fs::write(&changed, format!("// another line\n{original}")).expect("a file");
        let from = std::path::Path::new(&place.file)
            .parent()
            .expect("a folder");
        // The line that a text has now is not one of the program.
        let by_text = json!({
            "program": dll("demo_shop"),
            "source_maps": {from.to_string_lossy(): folder.to_string_lossy()},
            "breakpoints": [{"file": changed, "text": "static void Main"}],
        });
        let refused = agent.call("debug_launch", by_text).await;
        assert_eq!(structured(&refused)["error"]["code"], "INVALID_FILE");
        assert!(
            text(&refused).contains("was changed since the program was built, so the line"),
            "{}",
            text(&refused)
        );
        let launch = json!({
            "program": dll("demo_shop"),
            "source_maps": {from.to_string_lossy(): folder.to_string_lossy()},
            "breakpoints": [{"file": "demo_shop.cs", "line": place.line}],
        });
        let report = agent.call("debug_launch", launch).await;
        let (told, data) = (text(&report), structured(&report));
        assert_eq!(
            data["stop"]["changed_source"],
            changed.to_string_lossy().as_ref(),
            "{data}"
        );
        assert_eq!(data["stop"]["source"], serde_json::Value::Null, "{data}");
        assert!(
            told.contains("demo_shop.cs was changed since the program was built"),
            "{told}"
        );
        let source = structured(&agent.call("source_get", json!({})).await);
        let lines = source["lines"].as_array().expect("lines");
        assert!(lines.iter().all(|it| it["current"] != true), "{source}");
        let set = json!({"file": "demo_shop.cs", "text": "return"});
        let refused = agent.call("breakpoint_set", set).await;
        assert_eq!(structured(&refused)["error"]["code"], "INVALID_FILE");
        // It is the compiled one again, and shown.
        fs::write(&changed, original).expect("a file");
        let report = structured(&agent.call("debug_step", json!({"kind": "over"})).await);
        assert!(report["stop"]["source"].is_array(), "{report}");
        agent.close().await;
    });
}
