//! Text and structured content of an answer tell the same: whatever the text says of the program, the structured content
//! has, for every tool. Replies of everyday work are short.

use std::collections::BTreeSet;

use rmcp::model::CallToolResult;
use serde_json::{Value, json};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::client::{Agent, dll, run, structured, text};

/// Tokens of a typical answer, of which one has four bytes.
const TYPICAL: usize = 1500;

/// Everything that structured content says: names, texts, numbers, and how many there are of something.
fn facts(value: &Value, words: &mut BTreeSet<String>, texts: &mut String) {
    match value {
        Value::Object(fields) => {
            words.insert(fields.len().to_string());
            for (name, value) in fields {
                words.insert(name.clone());
                facts(value, words, texts);
                if name == "bytes"
                    && let Some(bytes) = value.as_str()
                {
                    *texts += &letters(bytes);
                }
            }
        }
        Value::Array(items) => {
            words.insert(items.len().to_string());
            items.iter().for_each(|item| facts(item, words, texts));
        }
        Value::String(said) => {
            words.extend(numbered(said).map(str::to_owned));
            *texts += said;
            texts.push('\n');
        }
        Value::Number(number) => {
            words.insert(number.to_string());
            // Numbers that count from 0 or in milliseconds may be told otherwise.
            if let Some(number) = number.as_u64() {
                words.insert((number / 1000).to_string());
                words.insert(format!("{number:x}"));
            }
        }
        Value::Bool(_) | Value::Null => {}
    }
}

/// The lines of letters that `memory_read` shows for bytes which its structured content has as hexadecimal digits.
fn letters(bytes: &str) -> String {
    let digits: Vec<u32> = bytes
        .chars()
        .filter_map(|digit| digit.to_digit(16))
        .collect();
    let letters: Vec<char> = digits
        .chunks(2)
        .map(|byte| byte.iter().fold(0, |value, digit| 16 * value + digit))
        .map(|byte| char::from_u32(byte).filter(|it| (' '..='~').contains(it)))
        .map(|letter| letter.unwrap_or('.'))
        .collect();
    let line = |line: &[char]| format!("|{}|\n", String::from_iter(line));
    letters.chunks(16).map(line).collect()
}

#[test]
fn letters_of_bytes_are_in_the_structured_content() {
    let content = json!({"address": "0x7f", "bytes": "002e51322d22"});
    let told = "0x7f: 00 2e 51 32 2d 22  |..Q2-\"|";
    assert_eq!(only_in(told, &content), [] as [&str; 0]);
    let told = "0x7f: 00 2e 51 32 2d 22  |..Q3-.|";
    assert_eq!(only_in(told, &content), ["Q3"]);
}

/// The words of a text that have a digit.
fn numbered(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| word.contains(|c: char| c.is_ascii_digit()))
}

/// The texts of the program that are quoted in a text.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter(|line| !line.contains("| "))
        .flat_map(|line| line.split('"').skip(1).step_by(2))
        .filter(|said| !said.contains('\\'))
}

/// What the text of an answer says and its structured content does not.
fn only_in<'t>(told: &'t str, content: &Value) -> Vec<&'t str> {
    let (mut words, mut texts) = (BTreeSet::new(), String::new());
    facts(content, &mut words, &mut texts);
    let written = told.lines().filter_map(|line| {
        let output = ["out| ", "err| ", "log| "];
        output.iter().find_map(|mark| line.strip_prefix(mark))
    });
    let mut missing: Vec<&str> = numbered(told)
        .filter(|word| !words.contains(*word))
        .chain(quoted(told))
        .chain(written)
        .collect();
    missing.retain(|said| !texts.contains(said));
    missing
}

/// Everything that the text of an answer says is in its structured content.
#[track_caller]
pub(crate) fn check(result: &CallToolResult) {
    let (told, content) = (text(result), structured(result));
    let missing = only_in(&told, &content);
    assert!(
        missing.is_empty(),
        "{missing:?} is only in the text:\n{told}\n{content}"
    );
}

/// Calls a tool, checks its answer and notes that it was called.
async fn call(agent: &Agent, called: &mut BTreeSet<String>, name: &str, arguments: Value) -> Value {
    called.insert(name.to_owned());
    let result = agent.call(name, arguments).await;
    assert_ne!(result.is_error, Some(true), "{name}: {}", text(&result));
    check(&result);
    let tokens = text(&result).len() / 4;
    assert!(
        tokens <= TYPICAL,
        "{name}: {tokens} tokens\n{}",
        text(&result)
    );
    structured(&result)
}

#[test]
fn every_tool_tells_one_value_twice_and_in_short() {
    let sandbox = Sandbox::new();
    let other = sandbox.bare("loops").args(["sleep", "5"]).start();
    other.line_starting("tick");
    run(async {
        let agent = Agent::new(&sandbox).await;
        let mut called = BTreeSet::new();
        let source = Fixture::named("throws").sources()[0].clone();
        let launch = json!({
            "program": dll("throws"),
            "breakpoints": [{"function": "Program.ProcessOrder"}, {"file": source, "text": "return whole / parts;"}],
        });
        call(&agent, &mut called, "debug_launch", launch).await;
        for (name, arguments) in [
            ("debug_status", json!({"session": "s1"})),
            ("stacktrace_get", json!({})),
            ("threads_get", json!({})),
            ("modules_get", json!({})),
            ("variables_get", json!({})),
            (
                "evaluate",
                json!({"expressions": ["id", "id + 40", "nothing", "\"a\" + id"]}),
            ),
            ("source_get", json!({"file": "throws.cs", "line": 24})),
            ("symbols_search", json!({"pattern": "ProcessOrder"})),
            ("type_get", json!({"name": "OrderException"})),
            (
                "breakpoint_set",
                json!({"file": source, "line": 24, "condition": "id == 3", "hit_condition": ">=2"}),
            ),
            (
                "breakpoint_set_exception",
                json!({"types": ["DivideByZeroException"]}),
            ),
            ("breakpoint_update", json!({"id": 3, "enabled": false})),
            ("breakpoint_list", json!({})),
            ("breakpoint_remove", json!({"id": 3})),
            ("variable_set", json!({"path": "id", "value": "2"})),
            ("debug_step", json!({"kind": "over"})),
            (
                "debug_run_to",
                json!({"file": source, "text": "return whole / parts;"}),
            ),
            ("variables_get", json!({"hex": true})),
            ("debug_continue", json!({})),
            ("exception_get", json!({})),
            ("object_inspect", json!({"path": "$exception"})),
            ("process_output", json!({})),
            ("process_list", json!({"name": "loops"})),
        ] {
            call(&agent, &mut called, name, arguments).await;
        }
        let object = call(
            &agent,
            &mut called,
            "object_inspect",
            json!({"path": "$exception"}),
        )
        .await;
        let address = object["address"].clone();
        let memory = json!({"address": address, "count": 16, "show_secrets": true});
        call(&agent, &mut called, "memory_read", memory).await;
        call(&agent, &mut called, "debug_restart", json!({})).await;
        let line = json!({"line": 31});
        call(&agent, &mut called, "debug_goto", line).await;
        call(&agent, &mut called, "debug_disconnect", json!({})).await;

        let asks = json!({"program": dll("loops"), "args": ["silent"], "timeout_ms": 0});
        call(&agent, &mut called, "debug_launch", asks).await;
        let input = json!({"text": "42\n"});
        let running = |result: &CallToolResult| structured(result)["state"] == "running";
        agent
            .until("debug_wait", json!({"timeout_ms": 10}), running)
            .await;
        call(&agent, &mut called, "process_input", input).await;
        call(&agent, &mut called, "debug_wait", json!({"timeout_ms": 10})).await;
        call(&agent, &mut called, "debug_pause", json!({})).await;
        call(&agent, &mut called, "debug_disconnect", json!({})).await;
        call(
            &agent,
            &mut called,
            "debug_attach",
            json!({"pid": other.pid()}),
        )
        .await;
        call(&agent, &mut called, "debug_disconnect", json!({})).await;

        let tools = agent.connection.list_all_tools().await.expect("a list");
        let mut all: BTreeSet<_> = tools
            .into_iter()
            .map(|tool| tool.name.to_string())
            .collect();
        // It needs packages; `packages` calls it, and checks the same.
        all.remove("debug_launch_test");
        assert_eq!(called, all);
        agent.close().await;
    });
    other.assert_ticks();
}
