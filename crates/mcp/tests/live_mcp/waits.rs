//! What the framework waits for is told in words of its users.

use std::collections::BTreeSet;
use std::time::Instant;

use serde_json::{Value, json};
use testkit::sandbox::Sandbox;

use crate::client::{Agent, dll, run, structured, text};

/// Launches a program that waits, and lets it get there.
async fn launched(agent: &Agent, what: &str) {
    let launch = json!({"program": dll("waits_framework"), "args": [what], "timeout_ms": 0});
    agent.call("debug_launch", launch).await;
    agent
        .until("process_output", json!({}), |result| {
            text(result).contains("ready")
        })
        .await;
}

/// Stops the program until what is asked for is as wanted: a wait may spin before it blocks.
async fn paused(agent: &Agent, tool: &str, is: impl Fn(&Value) -> bool) {
    let deadline = testkit::deadline();
    loop {
        agent.call("debug_pause", json!({})).await;
        let answer = agent.call(tool, json!({})).await;
        if is(&structured(&answer)) {
            return;
        }
        assert!(Instant::now() < deadline, "{}", text(&answer));
        agent.call("debug_continue", json!({"timeout_ms": 1})).await;
    }
}

#[test]
fn what_is_awaited_is_told_as_the_call_that_made_it() {
    let sandbox = Sandbox::new();
    run(async {
        for (what, call) in [
            ("semaphore", "SemaphoreSlim.WaitAsync"),
            ("read", "ChannelReader.ReadAsync"),
            ("ready", "ChannelReader.WaitToReadAsync"),
            ("write", "ChannelWriter.WriteAsync"),
            ("timer", "PeriodicTimer.WaitForNextTickAsync"),
            ("socket", "Socket.AcceptAsync"),
            (
                "continuation",
                "a task that its TaskCompletionSource completes",
            ),
        ] {
            let agent = Agent::new(&sandbox).await;
            launched(&agent, what).await;
            paused(&agent, "stacktrace_get", |stack| {
                let links = stack["awaits"]["waits_for"].as_array();
                let last = links.and_then(|links| links.last()?["method"].as_str());
                last.is_some_and(|last| last.starts_with(call))
            })
            .await;
            // Also where all threads are told.
            let threads = text(&agent.call("threads_get", json!({})).await);
            assert!(
                threads.contains(&format!(", which awaits {call}")),
                "{threads}"
            );
            agent.close().await;
        }
    });
}

#[test]
fn a_thread_names_the_method_of_others_that_it_waits_in() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        launched(&agent, "threads").await;
        let wanted = [
            ("event", "System.Threading.ManualResetEventSlim.Wait"),
            (
                "collection",
                "System.Collections.Concurrent.BlockingCollection<int>.Take",
            ),
            ("pulse", "System.Threading.Monitor.Wait"),
            ("join", "System.Threading.Thread.Join"),
        ];
        paused(&agent, "threads_get", |answer| {
            let threads = answer["threads"].as_array().expect("a list");
            wanted.iter().all(|(name, called)| {
                let mut threads = threads.iter();
                let thread = threads.find(|it| it["name"] == *name);
                thread.is_some_and(|it| it["called"] == *called && it["activity"] == "waiting")
            })
        })
        .await;
        let told = text(&agent.call("threads_get", json!({})).await);
        for line in [
            "waits in System.Threading.ManualResetEventSlim.Wait\n",
            "waits to be pulsed (Monitor.Wait) on an object of SemaphoreSlim\n",
        ] {
            assert!(told.contains(line), "{told}");
        }
        // The framework waits to be pulsed, too, which says nothing to who called it.
        assert_eq!(told.matches("to be pulsed").count(), 1, "{told}");
        agent.close().await;
    });
}

#[test]
fn threads_of_a_crowd_are_told_page_by_page() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        launched(&agent, "crowd").await;
        agent.call("debug_pause", json!({})).await;
        let (mut names, mut start) = (BTreeSet::new(), json!(0));
        while !start.is_null() {
            let page = agent.call("threads_get", json!({"start": start})).await;
            let told = text(&page);
            let page = structured(&page);
            for thread in page["threads"].as_array().expect("a list") {
                let name = thread["name"].as_str().unwrap_or_default();
                assert!(names.insert((thread["id"].clone().to_string(), name.to_owned())));
            }
            start = page["next_start"].clone();
            assert_eq!(
                start.is_null(),
                !told.contains("more: start="),
                "{start}: {told}"
            );
        }
        let crowd = names.iter().filter(|(_, name)| name.starts_with("crowd"));
        assert_eq!(crowd.count(), 120);
        agent.close().await;
    });
}
