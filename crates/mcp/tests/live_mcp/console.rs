//! The program's console over MCP.

use expect_test::expect;
use serde_json::json;
use testkit::sandbox::Sandbox;

use crate::client::{Agent, dll, run, structured, text};

#[test]
fn a_program_reads_what_is_written() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let launch = json!({"program": dll("hello"), "args": ["--stdin"], "timeout_ms": 0});
        agent.call("debug_launch", launch).await;
        agent
            .until("process_output", json!({}), |result| {
                text(result).contains("folder:")
            })
            .await;
        agent
            .say("process_input", json!({"text": "grün 世界\nsecond\n"}))
            .await;
        agent
            .until("process_output", json!({}), |result| {
                text(result).contains("read: second")
            })
            .await;
        agent
            .say("process_input", json!({"text": "last", "close": true}))
            .await;
        agent.call("debug_wait", json!({})).await;
        agent
            .say("process_output", json!({"filter": "^read|end"}))
            .await;
        agent
            .say("process_input", json!({"text": "much too late"}))
            .await;
        agent.say("process_input", json!({})).await;
        expect![[r#"
            > process_input {"text":"grün 世界\nsecond\n"}
            Wrote 20 bytes to standard input of s1. Next: debug_wait or process_output shows what it does with it.
            > process_input {"close":true,"text":"last"}
            Wrote 4 bytes to standard input of s1 and closed it. Next: debug_wait or process_output shows what it does with it.
            > process_output {"filter":"^read|end"}
            out| read: grün 世界
            out| read: second
            out| read: last
            out| end of input
            That is all: the program has closed its output.
            > process_input {"text":"much too late"}
            !NO_SESSION: no program is being debugged; s1 is over
            Hint: debug_launch or debug_attach begins a session; debug_status tells how the last one ended
            > process_input
            !NO_SESSION: no program is being debugged; s1 is over
            Hint: debug_launch or debug_attach begins a session; debug_status tells how the last one ended
        "#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn the_two_streams_are_told_apart() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let launch = json!({"program": dll("hello"), "args": ["--error", "complaint\ntwo"]});
        let exited = agent.call("debug_launch", launch).await;
        assert!(
            text(&exited).contains("err| complaint\nerr| two"),
            "{}",
            text(&exited)
        );
        agent
            .say("process_output", json!({"stream": "stderr"}))
            .await;
        agent
            .say(
                "process_output",
                json!({"stream": "stdout", "filter": "bye|complaint"}),
            )
            .await;
        expect![[r#"
            > process_output {"stream":"stderr"}
            err| complaint
            err| two
            That is all: the program has closed its output.
            > process_output {"filter":"bye|complaint","stream":"stdout"}
            out| bye
            That is all: the program has closed its output.
        "#]]
        .assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn output_is_read_in_pages_filtered_and_from_its_end() {
    let sandbox = Sandbox::new();
    run(async {
        let mut agent = Agent::new(&sandbox).await;
        let exited = agent
            .call(
                "debug_launch",
                json!({"program": dll("burst"), "args": ["1"]}),
            )
            .await;
        let report = structured(&exited);
        let left_out = report["output"]["left_out"].as_u64().expect("a number");
        assert!(left_out > 1_000_000, "{left_out}");
        assert!(text(&exited).len() < 6000, "{}", text(&exited).len());

        let (mut cursor, mut read) = (0, String::new());
        loop {
            let page = structured(
                &agent
                    .call("process_output", json!({"cursor": cursor}))
                    .await,
            );
            assert_eq!(page["skipped"], json!(null));
            for chunk in page["chunks"].as_array().expect("a list") {
                read += chunk["text"].as_str().expect("a text");
            }
            cursor = page["cursor"].as_u64().expect("a number");
            if cursor == page["end"] {
                break;
            }
        }
        assert_eq!(read.len(), 1 << 20);
        assert!(
            (0..16384)
                .zip(read.lines())
                .all(|(n, line)| line.starts_with(&format!("line {n}.")))
        );

        agent
            .say(
                "process_output",
                json!({"filter": "^line 12(3|45)\\.", "cursor": 0}),
            )
            .await;
        agent
            .say("process_output", json!({"filter": "9999\\.", "tail": 2}))
            .await;
        agent.say("process_output", json!({"tail": 2})).await;
        agent
            .say("process_output", json!({"stream": "stderr"}))
            .await;
        agent.say("process_output", json!({"filter": "("})).await;
        let first = structured(
            &agent
                .call("process_output", json!({"filter": "line", "cursor": 0}))
                .await,
        );
        assert!(
            first["cursor"].as_u64() < first["end"].as_u64(),
            "a page of matches is bounded"
        );
        expect![[r#"
            > process_output {"cursor":0,"filter":"^line 12(3|45)\\."}
            out| line 123.......................................................
            out| line 1245......................................................
            That is all: the program has closed its output.
            > process_output {"filter":"9999\\.","tail":2}
            out| line 9999......................................................
            That is all: the program has closed its output.
            > process_output {"tail":2}
            (1048 kB before this are not shown)
            out| line 16382.....................................................
            out| line 16383.....................................................
            That is all: the program has closed its output.
            > process_output {"stream":"stderr"}
            There is nothing there.
            That is all: the program has closed its output.
            > process_output {"filter":"("}
            !INVALID_PARAMETER: the filter "(" is not a regular expression: found open group without closing ')'
            Hint: escape what is meant literally, such as \( or \.
        "#]].assert_eq(&agent.transcript());
        agent.close().await;
    });
}

#[test]
fn output_that_is_gone_is_counted() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        agent
            .call(
                "debug_launch",
                json!({"program": dll("burst"), "args": ["20"]}),
            )
            .await;
        let page = structured(&agent.call("process_output", json!({"cursor": 0})).await);
        assert_eq!(page["end"], 20 << 20);
        assert!(page["skipped"].as_u64() > Some(10 << 20), "{page}");
        agent.close().await;
    });
}

#[test]
fn bytes_of_any_kind_are_harmless() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let exited = agent
            .call(
                "debug_launch",
                json!({"program": dll("burst"), "args": ["1", "binary"]}),
            )
            .await;
        let page = agent.call("process_output", json!({})).await;
        for told in [text(&exited), text(&page)] {
            assert!(told.chars().all(|character| character == '\n'
                || character == '\t'
                || !character.is_control()));
            assert!(told.contains("not UTF-8"), "{told}");
        }
        agent.close().await;
    });
}

#[test]
fn input_for_a_stopped_program_says_that_it_must_run_first() {
    let sandbox = Sandbox::new();
    run(async {
        let agent = Agent::new(&sandbox).await;
        let launch = json!({"program": dll("hello"), "args": ["--stdin"], "stop_at_entry": true});
        agent.call("debug_launch", launch).await;
        let input = json!({"text": "early\n", "close": true});
        let written = agent.call("process_input", input).await;
        assert!(
            text(&written).contains("Next: debug_continue"),
            "{}",
            text(&written)
        );
        let end = agent.call("debug_continue", json!({})).await;
        assert!(text(&end).contains("read: early"), "{}", text(&end));
        agent.close().await;
    });
}
