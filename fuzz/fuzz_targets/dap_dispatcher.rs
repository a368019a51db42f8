//! A whole connection of an editor, without a debuggee: each request is answered once, whatever it is and whenever it comes.
#![no_main]

use std::collections::BTreeMap;
use std::io::{Cursor, Write};
use std::sync::{Arc, Mutex};

use dap::framing;
use dap::message::Incoming;
use fuzz::conversation;
use host::HostProgram;
use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use serde_json::{Value, json};

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    conversation::mutate(data, size, max_size, seed)
});

/// What the adapter has written.
#[derive(Clone, Default)]
struct Answers(Arc<Mutex<Vec<u8>>>);

impl Write for Answers {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("nobody panics").extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fuzz_target!(|data: &[u8]| {
    // An adapter that is left may leave what nobody would hear unanswered, so the last request comes last.
    let goodbye = json!({"seq": 0, "type": "request", "command": "disconnect"}).to_string();
    let bodies = data.split(|byte| *byte == b'\n');
    let mut input = Vec::new();
    let mut open: BTreeMap<i64, usize> = BTreeMap::new();
    for body in bodies.chain([goodbye.as_bytes()]) {
        framing::write(&mut input, body).expect("a vector takes all");
        if let Ok(Incoming::Request(request)) = serde_json::from_slice(body) {
            *open.entry(request.seq).or_default() += 1;
            if request.command == "disconnect" {
                break;
            }
        }
    }
    let host = HostProgram {
        path: "/no/such/host".into(),
        args: Vec::new(),
        env: Vec::new(),
    };
    let answers = Answers::default();
    dap::serve(
        host,
        Cursor::new(input),
        answers.clone(),
        &dap::Ending::default(),
    )
    .expect("every message has its length");
    let written = std::mem::take(&mut *answers.0.lock().expect("nobody panics"));
    let mut written = written.as_slice();
    while let Some(body) = framing::read(&mut written).expect("the adapter frames what it says") {
        let message: Value = serde_json::from_slice(&body).expect("the adapter writes JSON");
        if message["type"] != "response" {
            continue;
        }
        assert!(
            message["success"] == true || message["message"].is_string(),
            "refused without a word: {message}"
        );
        let seq = message["request_seq"].as_i64().expect("a number");
        // What cannot be read as a request, but has a number, is answered too.
        if let Some(left) = open.get_mut(&seq) {
            *left = left.saturating_sub(1);
        }
    }
    open.retain(|_, left| *left > 0);
    assert!(open.is_empty(), "not answered: {open:?}");
});
