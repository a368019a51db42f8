//! The way to the client: answers, events and requests of ours, numbered in one sequence.

use std::fmt;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde_json::{Value, json};

use crate::framing;
use crate::message::{Content, EventBody, Outgoing, Refusal, Request};

/// Writes to the client; clones write to the same one.
#[derive(Clone)]
pub(crate) struct Client(Arc<Mutex<Out>>);

struct Out {
    stream: Box<dyn Write + Send>,
    seq: i64,
    gone: bool,
}

impl Client {
    pub(crate) fn new(stream: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Out {
            stream: Box::new(stream),
            seq: 0,
            gone: false,
        })))
    }

    /// Answers a request.
    pub(crate) fn answer<T: Serialize>(&self, request: &Request, result: Result<T, Refusal>) {
        let (success, message, body) = match result {
            Ok(body) => match serde_json::to_value(body) {
                Ok(Value::Null) => (true, None, None),
                Ok(body) => (true, None, Some(body)),
                Err(error) => (false, Some(format!("a bug in ndbg: {error}")), None),
            },
            Err(refusal) => {
                let body = json!({"error": {
                    "id": 1,
                    "format": refusal.text.replace('{', "(").replace('}', ")"),
                    "showUser": refusal.show_user,
                    "variables": {"code": refusal.code},
                }});
                (false, Some(refusal.text), Some(body))
            }
        };
        self.send(Content::Response {
            request_seq: request.seq,
            success,
            command: &request.command,
            message: message.as_deref(),
            body,
        });
    }

    /// Tells an event.
    pub(crate) fn tell<E: EventBody>(&self, body: &E) {
        self.send(Content::Event {
            event: E::EVENT,
            body: serde_json::to_value(body).ok(),
        });
    }

    /// Tells an event that says all by its name.
    pub(crate) fn tell_bare(&self, event: &str) {
        self.send(Content::Event { event, body: None });
    }

    /// Asks the client for something; its answer names the number returned.
    pub(crate) fn ask(&self, command: &str, arguments: &impl Serialize) -> i64 {
        let arguments = serde_json::to_value(arguments).unwrap_or_default();
        self.send(Content::Request { command, arguments })
    }

    fn send(&self, content: Content<'_>) -> i64 {
        let mut out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        out.seq += 1;
        let seq = out.seq;
        if out.gone {
            return seq;
        }
        let written = serde_json::to_vec(&Outgoing { seq, content })
            .map_err(std::io::Error::other)
            .and_then(|body| framing::write(&mut out.stream, &body));
        if let Err(error) = written {
            // The end of the input tells the rest of us that nobody listens.
            tracing::debug!(%error, "writing to the client");
            out.gone = true;
        }
        seq
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Client").finish()
    }
}
