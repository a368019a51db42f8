//! The envelope that every message of the protocol comes in.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Arguments of a request, by which its name and its answer are known.
pub trait RequestArguments: DeserializeOwned {
    /// The request's name.
    const COMMAND: &'static str;
    /// What an answer that succeeds holds.
    type Body: Serialize;
}

/// What an event tells, by which its name is known.
pub trait EventBody: Serialize {
    /// The event's name.
    const EVENT: &'static str;
}

/// A message from the client.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Incoming {
    /// Asks for something.
    Request(Request),
    /// Answers a request of ours.
    Response(Response),
    /// Clients tell no events.
    Event {},
}

/// A request of the client.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Request {
    /// Its number, which the answer names.
    pub seq: i64,
    /// Its name.
    pub command: String,
    /// Its arguments, not looked at yet.
    #[serde(default)]
    pub arguments: Value,
}

/// The client's answer to a request of ours.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Response {
    /// The number of our request.
    pub request_seq: i64,
    /// Whether it was done.
    pub success: bool,
    /// Why not.
    #[serde(default)]
    pub message: Option<String>,
    /// The answer.
    #[serde(default)]
    pub body: Value,
}

/// A message to the client.
#[derive(Debug, Serialize)]
pub(crate) struct Outgoing<'a> {
    pub(crate) seq: i64,
    #[serde(flatten)]
    pub(crate) content: Content<'a>,
}

/// What a message to the client holds.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum Content<'a> {
    Response {
        request_seq: i64,
        success: bool,
        command: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        body: Option<Value>,
    },
    Event {
        event: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        body: Option<Value>,
    },
    Request {
        command: &'a str,
        arguments: Value,
    },
}

/// Why a request was not done, for the person at the editor.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// One word for programs, such as `notStopped` or an engine's error code.
    pub code: String,
    /// What was asked, why not, what to do next.
    pub text: String,
    /// Whether the editor should show it to the user by itself.
    pub show_user: bool,
}

impl Refusal {
    /// A refusal that the editor shows where the request came from.
    pub fn new(code: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            text: text.into(),
            show_user: false,
        }
    }

    /// What must not happen: the engine answered something else.
    pub(crate) fn bug(text: &str) -> Self {
        Self::new("internal", format!("a bug in ndbg: {text}"))
    }

    /// The client took it back; the protocol asks for this very word.
    pub(crate) fn cancelled() -> Self {
        Self::new("cancelled", "cancelled")
    }

    /// Asks the editor to show it to the user by itself.
    #[must_use]
    pub fn shown(mut self) -> Self {
        self.show_user = true;
        self
    }
}

/// The code of a refusal to set what is not meant to be set.
pub(crate) const NEEDS_FORCE: &str = "needsForce";

impl From<host::api::Error> for Refusal {
    fn from(error: host::api::Error) -> Self {
        if error.hint.as_deref() == Some("say that it is to be set by force") {
            let text = format!(
                "{}; set it to the same value once more, and it is set all the same",
                error.message
            );
            return Self::new(NEEDS_FORCE, text);
        }
        let text = match error.hint {
            Some(hint) => format!("{}; {hint}", error.message),
            None => error.message,
        };
        Self::new(error.code.name(), text)
    }
}
