//! Locks of `System.Threading.Lock`: who holds them is told, and deadlocks through them are found.

use serde_json::{Value, json};
use testkit::sandbox::Sandbox;

use crate::client::{Agent, dll, run, structured, text};

#[test]
fn locks_that_the_runtime_does_not_know_tell_who_holds_them() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let launch = json!({"program": dll("lock_hang"), "timeout_ms": 0});
        agent.call("debug_launch", launch).await;
        let deadline = testkit::deadline();
        let waiting = |content: &Value| {
            let threads = content["threads"].as_array().cloned().unwrap_or_default();
            threads.iter().filter(|it| it["lock"].is_object()).count()
        };
        let threads = loop {
            agent.call("debug_wait", json!({"timeout_ms": 20})).await;
            let paused = agent.call("debug_pause", json!({})).await;
            let threads = agent.call("threads_get", json!({})).await;
            if waiting(&structured(&threads)) == 5 {
                let next = structured(&paused)["next"].clone();
                let next = next.as_str().unwrap_or_default();
                assert!(next.starts_with("threads_get "), "{next}");
                break threads;
            }
            assert!(std::time::Instant::now() < deadline, "{}", text(&threads));
            agent.call("debug_continue", json!({"timeout_ms": 0})).await;
        };
        crate::one_value::check(&threads);
        let (told, content) = (text(&threads), structured(&threads));
        let all = content["threads"].as_array().expect("threads");
        let called = |name: &str| {
            let found = all.iter().find(|it| it["name"] == name);
            found.expect(name).clone()
        };
        for (name, holder, ty, limited) in [
            ("left", "right", "System.Threading.Lock", false),
            ("right", "left", "System.Threading.Lock", false),
            ("beside", "left", "System.Threading.Lock", true),
            ("plain", "mixed", "System.Threading.Lock", true),
            ("mixed", "plain", "object", false),
        ] {
            let lock = &called(name)["lock"];
            assert_eq!(lock["held_by"], called(holder)["id"], "{name}: {told}");
            assert_eq!(lock["type"], ty, "{name}: {told}");
            assert_eq!(lock["limited"] == true, limited, "{name}: {told}");
        }
        // Threads that wait for the same lock say the same of it.
        assert_eq!(
            called("beside")["lock"]["address"],
            called("right")["lock"]["address"]
        );
        let id = |name: &str| format!("thread {} \"{name}\"", called(name)["id"]);
        for line in [
            format!(
                "waits for a System.Threading.Lock that {} holds\n",
                id("right")
            ),
            format!(
                "waits for a System.Threading.Lock that {} holds, perhaps with a time limit (TryEnter)\n",
                id("mixed")
            ),
        ] {
            assert!(told.contains(&line), "{line}: {told}");
        }
        // One that gives up is not told to wait for ever.
        let circles = content["deadlocks"].as_array().expect("deadlocks");
        assert_eq!(circles.len(), 2, "{told}");
        let line = |one: &str, other: &str| {
            let both = [id(one), id(other)];
            let found = told.lines().find(|line| {
                line.starts_with("Deadlock: ") && both.iter().all(|it| line.contains(it.as_str()))
            });
            found
                .unwrap_or_else(|| panic!("{one}, {other}: {told}"))
                .to_owned()
        };
        assert!(line("left", "right").ends_with("that the other holds, for ever."));
        assert!(
            line("mixed", "plain").ends_with("until one whose wait has a time limit gives up.")
        );
        agent.close().await;
    });
}
