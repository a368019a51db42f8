//! What an editor says to `ndbg dap`, as seeds and as a mutator: one message a line, without its header.
//!
//! Random bytes are hardly ever JSON, and a request with the wrong arguments ends at their reading. So most changes are made
//! to the parsed message: a value becomes another, a member is moved, a request is said again later.

use libfuzzer_sys::fuzzer_mutate;
use serde_json::{Value, json};

use crate::mutate::Choice;

/// Requests with arguments that can be read, in an order that an editor would keep.
pub fn requests() -> Vec<Value> {
    let at = json!({"path": "/a.cs"});
    let all = [
        (
            "initialize",
            json!({"adapterID": "x", "linesStartAt1": false, "supportsRunInTerminalRequest": true}),
        ),
        (
            "setBreakpoints",
            json!({"source": at, "breakpoints": [{"line": 3, "column": 2, "condition": "a > 1", "hitCondition": "%2", "logMessage": "{a}"}]}),
        ),
        (
            "setBreakpoints",
            json!({"source": {"sourceReference": 1}, "lines": [1, 2]}),
        ),
        (
            "setFunctionBreakpoints",
            json!({"breakpoints": [{"name": "A.B(int)"}]}),
        ),
        (
            "setExceptionBreakpoints",
            json!({"filters": ["all"], "filterOptions": [{"filterId": "user-unhandled", "condition": "!A, B"}]}),
        ),
        (
            "dataBreakpointInfo",
            json!({"variablesReference": 1, "name": "a"}),
        ),
        (
            "launch",
            json!({
                "program": "a.dll", "args": "a 'b c' \\d", "cwd": "/", "env": {"A": null, "B": 1}, "stopAtEntry": true,
                "console": "integratedTerminal", "sourceFileMap": {"/b": "/c"}, "requireExactSource": true, "noDebug": false,
                "envFile": "a.env", "launchSettingsProfile": "p", "launchSettingsFilePath": "l.json", "followChild": "x",
                "justMyCode": false, "enableStepFiltering": false, "symbolOptions": {}, "suppressJITOptimizations": false,
                "expressionEvaluationOptions": {"showRawValues": true, "allowImplicitFuncEval": true},
            }),
        ),
        ("attach", json!({"processId": "4294967295"})),
        ("attach", json!({"processName": "none-of-these"})),
        ("configurationDone", Value::Null),
        ("threads", Value::Null),
        (
            "stackTrace",
            json!({"threadId": 1, "startFrame": 1, "levels": 20, "format": {"hex": true, "parameters": true}}),
        ),
        ("scopes", json!({"frameId": 1})),
        (
            "variables",
            json!({"variablesReference": 1, "start": 0, "count": 5, "filter": "indexed", "format": {"hex": true}}),
        ),
        (
            "setVariable",
            json!({"variablesReference": 1, "name": "a", "value": "1"}),
        ),
        (
            "evaluate",
            json!({"expression": "a + 1", "frameId": 1, "context": "hover"}),
        ),
        (
            "setExpression",
            json!({"expression": "a", "value": "1", "frameId": 1}),
        ),
        (
            "completions",
            json!({"text": "a.\nb😀.", "column": 4, "line": 2, "frameId": 1}),
        ),
        ("exceptionInfo", json!({"threadId": 1})),
        ("continue", json!({"threadId": 1})),
        ("next", json!({"threadId": 1, "granularity": "statement"})),
        ("stepIn", json!({"threadId": 1, "targetId": 1})),
        ("stepInTargets", json!({"frameId": 1})),
        ("stepOut", json!({"threadId": 1})),
        ("pause", json!({"threadId": 1})),
        ("gotoTargets", json!({"source": at, "line": 3})),
        ("goto", json!({"threadId": 1, "targetId": 1})),
        ("restartFrame", json!({"frameId": 1})),
        ("modules", json!({"startModule": 0, "moduleCount": 2})),
        ("loadedSources", json!({})),
        ("source", json!({"sourceReference": 1})),
        (
            "breakpointLocations",
            json!({"source": at, "line": 1, "endLine": 9}),
        ),
        (
            "readMemory",
            json!({"memoryReference": "#1", "count": 8, "offset": -1}),
        ),
        ("cancel", json!({"requestId": 3})),
        ("restart", json!({"arguments": {"program": "b.dll"}})),
        ("terminate", json!({"restart": false})),
        (
            "disconnect",
            json!({"terminateDebuggee": true, "suspendDebuggee": true}),
        ),
    ];
    let numbered = all.into_iter().zip(1..);
    let message = |((command, arguments), seq): ((&str, Value), i32)| json!({"seq": seq, "type": "request", "command": command, "arguments": arguments});
    numbered.map(message).collect()
}

/// Conversations to begin with: all of it, and each request behind a greeting.
pub fn seeds() -> Vec<Vec<u8>> {
    let all = requests();
    let text = |messages: &[Value]| {
        let lines: Vec<_> = messages.iter().map(Value::to_string).collect();
        lines.join("\n").into_bytes()
    };
    let mut seeds = vec![text(&all)];
    let first = all.iter().take(1);
    seeds.extend(all.iter().map(|it| {
        let pair: Vec<_> = first.clone().chain([it]).cloned().collect();
        text(&pair)
    }));
    let answer = json!({"seq": 2, "type": "response", "request_seq": 1, "success": false, "command": "runInTerminal"});
    seeds.push(text(&[answer]));
    seeds
}

/// Changes a conversation; the new length.
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut choice = Choice::new(seed);
    if choice.below(4) == 0 {
        return fuzzer_mutate(data, size, max_size);
    }
    let given = data.get(..size).unwrap_or_default();
    let mut lines: Vec<Vec<u8>> = given
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    let at = choice.below(lines.len());
    match choice.below(6) {
        0 if lines.len() > 1 => drop(lines.remove(at)),
        1 => {
            let other = choice.below(lines.len() + 1);
            let line = lines.get(at).cloned().unwrap_or_default();
            lines.insert(other, line);
        }
        2 => {
            let all = requests();
            let added = all.get(choice.below(all.len())).map(Value::to_string);
            lines.insert(at, added.unwrap_or_default().into_bytes());
        }
        _ => {
            if let Some(line) = lines.get_mut(at)
                && let Ok(mut message) = serde_json::from_slice::<Value>(line)
            {
                change(&mut message, &mut choice);
                *line = message.to_string().into_bytes();
            }
        }
    }
    let changed = lines.join(&b'\n');
    if changed.len() > max_size {
        return fuzzer_mutate(data, size, max_size);
    }
    for (slot, byte) in data.iter_mut().zip(&changed) {
        *slot = *byte;
    }
    changed.len()
}

/// Changes one value somewhere in a message.
fn change(value: &mut Value, choice: &mut Choice) {
    let inner: Vec<&mut Value> = match value {
        Value::Object(members) => members.values_mut().collect(),
        Value::Array(elements) => elements.iter_mut().collect(),
        _ => Vec::new(),
    };
    let chosen = choice.below(inner.len() + usize::from(inner.is_empty()));
    if let Some(inner) = inner.into_iter().nth(chosen)
        && choice.below(8) != 0
    {
        return change(inner, choice);
    }
    let others = [
        Value::Null,
        json!(true),
        json!(0),
        json!(-1),
        json!(1_u64 << 32),
        json!(i64::MAX),
        json!(i64::MIN),
        json!(1.5e300),
        json!(""),
        json!("1"),
        json!("a\u{0}😀\u{202e}"),
        json!([]),
        json!([1, "x", {}]),
        json!({"": {"": []}}),
    ];
    if let Value::String(text) = value
        && choice.below(2) == 0
    {
        let mut bytes = text.clone().into_bytes();
        let (size, room) = (bytes.len(), bytes.len() + 16);
        bytes.resize(room, 0);
        let size = fuzzer_mutate(&mut bytes, size, room);
        bytes.truncate(size);
        *text = String::from_utf8_lossy(&bytes).into_owned();
        return;
    }
    if let Some(other) = others.get(choice.below(others.len())) {
        *value = other.clone();
    }
}
