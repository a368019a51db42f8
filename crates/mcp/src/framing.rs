//! Messages on a pair of byte streams: one line of JSON each.
//!
//! rmcp's own transport drops lines that are not JSON without a word, and takes a request whose parameters do not fit
//! for one of an unknown method. Here each line gets an answer that says what is wrong with it: -32700 (not JSON, or
//! too long), -32600 (no JSON-RPC message), -32602 (parameters that do not fit).
//!
//! Invariants: a line takes at most [`MAX_LINE`] bytes of memory; [`Lines::receive`] may be given up at any await and
//! loses nothing; what is written is whole lines.

use std::io;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, ClientRequest, CustomRequest, ErrorCode, JsonRpcMessage, RequestId,
};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::Mutex;

use crate::registry::{Closing, Registry};
use crate::report::text;

/// Bytes of one message of a client.
pub(crate) const MAX_LINE: usize = 4 << 20;

/// Requests of the protocol. One of these whose parameters fit none of its forms has bad parameters; anything else is
/// a method that we do not have.
const METHODS: &[&str] = &[
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "logging/setLevel",
];

/// A client on a pair of byte streams.
pub struct Lines<R, W> {
    reader: BufReader<R>,
    writer: Arc<Mutex<W>>,
    /// The line that is being read.
    line: Vec<u8>,
    /// Whether the rest of a line that is too long is being passed over.
    discarding: bool,
    /// The id of a line that is too long, for whoever waits for its answer.
    id: Option<RequestId>,
    /// The answer to a bad line that is being written.
    refusal: Option<BoxFuture<'static, io::Result<()>>>,
    registry: Arc<Registry>,
}

impl<R: AsyncRead + Unpin + Send, W: AsyncWrite + Unpin + Send + 'static> Lines<R, W> {
    /// A client that is read from and written to; its end closes the registry.
    pub fn new(reader: R, writer: W, registry: Arc<Registry>) -> Self {
        Self {
            reader: BufReader::new(reader),
            writer: Arc::new(Mutex::new(writer)),
            line: Vec::new(),
            discarding: false,
            id: None,
            refusal: None,
            registry,
        }
    }

    /// Reads until a line is whole: `Ok(false)` if it is too long, none at the end of the input.
    async fn read_line(&mut self) -> io::Result<Option<bool>> {
        loop {
            // Nothing is lost if this is given up: what was read is in `line`, what was not is in the reader.
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                return Ok(None);
            }
            let newline = available.iter().position(|byte| *byte == b'\n');
            let taken = newline.map_or(available.len(), |at| at + 1);
            if !self.discarding {
                self.line
                    .extend_from_slice(available.get(..taken).unwrap_or_default());
            }
            self.reader.consume(taken);
            let too_long = self.line.len() > MAX_LINE;
            if too_long {
                self.id = told_id(&self.line);
                self.line = Vec::new();
            }
            let was_discarding = self.discarding;
            self.discarding = (was_discarding || too_long) && newline.is_none();
            // A line that is too long is told when that is seen, not when it ends.
            match (was_discarding, too_long, newline) {
                (_, true, _) => return Ok(Some(false)),
                (false, false, Some(_)) => return Ok(Some(true)),
                _ => {}
            }
        }
    }

    fn refuse(&mut self, refusal: Refusal) {
        self.refusal = Some(write_line(self.writer.clone(), answer(refusal)).boxed());
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        write_line(self.writer.clone(), message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let registry = self.registry.clone();
        loop {
            // One answer at a time: a client that sends rubbish and reads nothing costs no memory.
            if let Some(refusal) = &mut self.refusal {
                let written = refusal.await;
                self.refusal = None;
                if written.is_err() {
                    return None;
                }
            }
            let read = tokio::select! {
                read = self.read_line() => read,
                // Calls that wait have given up; rmcp sends their answers before it ends.
                _ = registry.closed() => return None,
            };
            let whole = match read {
                Ok(Some(whole)) => whole,
                Ok(None) | Err(_) => {
                    registry.start_closing(Closing::ClientGone);
                    return None;
                }
            };
            if !whole {
                let message = format!("a message may have {MAX_LINE} bytes at most");
                let id = self.id.take();
                self.refuse(Refusal {
                    id,
                    ..Refusal::unreadable(message)
                });
                continue;
            }
            let line = std::mem::take(&mut self.line);
            match message(&line) {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(refusal) => self.refuse(refusal),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.writer.lock().await.flush().await
    }
}

async fn write_line<W: AsyncWrite + Unpin>(
    writer: Arc<Mutex<W>>,
    message: TxJsonRpcMessage<RoleServer>,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(&message)?;
    line.push(b'\n');
    let mut writer = writer.lock().await;
    writer.write_all(&line).await?;
    writer.flush().await
}

/// The id of a message of which only the beginning is there, if that has it.
fn told_id(beginning: &[u8]) -> Option<RequestId> {
    let (mut depth, mut at) = (0_u32, 0);
    while let Some(letter) = beginning.get(at) {
        at += 1;
        match letter {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let length = text_length(beginning.get(at..)?)?;
                let text = beginning.get(at..at + length)?;
                at += length + 1;
                let rest = beginning.get(at..)?.trim_ascii_start();
                if depth == 1
                    && text == b"id"
                    && let Some(value) = rest.strip_prefix(b":")
                {
                    let value = value.trim_ascii_start();
                    let length = match value.strip_prefix(b"\"") {
                        Some(text) => text_length(text)? + 2,
                        None => value
                            .iter()
                            .position(|it| !it.is_ascii_digit() && *it != b'-')?,
                    };
                    return serde_json::from_slice(value.get(..length)?).ok();
                }
            }
            _ => {}
        }
    }
    None
}

/// How many bytes of a JSON text come before the quote that ends it.
fn text_length(text: &[u8]) -> Option<usize> {
    let mut escaped = false;
    text.iter().position(|it| {
        let ends = *it == b'"' && !escaped;
        escaped = *it == b'\\' && !escaped;
        ends
    })
}

/// Why a line is no message for us.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refusal {
    error: ErrorData,
    id: Option<RequestId>,
}

/// What is said to the sender of such a line.
pub(crate) fn answer(refusal: Refusal) -> TxJsonRpcMessage<RoleServer> {
    TxJsonRpcMessage::<RoleServer>::error(refusal.error, refusal.id)
}

impl Refusal {
    fn unreadable(message: String) -> Self {
        Self {
            error: ErrorData::parse_error(message, None),
            id: None,
        }
    }

    pub(crate) fn no_message() -> Self {
        Self {
            error: ErrorData::invalid_request("this is no JSON-RPC 2.0 message", None),
            id: None,
        }
    }
}

/// The message of a line; none if there is nothing to do for it.
pub(crate) fn message(line: &[u8]) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Refusal> {
    let line = line.trim_ascii();
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    if line.is_empty() {
        return Ok(None);
    }
    let value: Value = serde_json::from_slice(line)
        .map_err(|error| Refusal::unreadable(format!("this is not JSON: {error}")))?;
    let id = value
        .get("id")
        .and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
    let is_request = value.get("method").is_some() && value.get("id").is_some();
    let is_notification = value.get("method").is_some() && value.get("id").is_none();
    match serde_json::from_value(value) {
        Ok(JsonRpcMessage::Request(request)) => match &request.request {
            ClientRequest::CustomRequest(custom) => match unfit(custom) {
                Some(error) => Err(Refusal { error, id }),
                None => Ok(Some(JsonRpcMessage::Request(request))),
            },
            _ => Ok(Some(JsonRpcMessage::Request(request))),
        },
        Ok(other) => Ok(Some(other)),
        // Nobody waits for an answer to a notification, whatever is wrong with it.
        Err(_) if is_notification => Ok(None),
        Err(_) => {
            let message = if is_request {
                "this is no JSON-RPC 2.0 request: it needs jsonrpc \"2.0\", an id that is a text or a number, and a method"
            } else {
                "this is no JSON-RPC 2.0 message"
            };
            Err(Refusal {
                error: ErrorData::invalid_request(message, None),
                id,
            })
        }
    }
}

/// The error for a request that rmcp does not know by its form, if its method is one that exists.
pub(crate) fn unfit(request: &CustomRequest) -> Option<ErrorData> {
    let method = request.method.as_str();
    if !METHODS.contains(&method) {
        return None;
    }
    let params = request.params.clone().unwrap_or_default();
    let why = match method {
        "tools/call" => serde_json::from_value::<CallToolRequestParams>(params).err(),
        _ => None,
    };
    let mut message = format!("the parameters of {method} do not fit");
    if let Some(why) = why {
        message.push_str(": ");
        message.push_str(&text::one_line(&why.to_string(), 300));
    }
    Some(ErrorData::new(ErrorCode::INVALID_PARAMS, message, None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(line: impl AsRef<[u8]>, expected: Expect) {
        let shown = match message(line.as_ref()) {
            Ok(Some(JsonRpcMessage::Request(request))) => {
                format!("request {}", request.request.method())
            }
            Ok(Some(JsonRpcMessage::Notification(_))) => "notification".into(),
            Ok(Some(_)) => "answer".into(),
            Ok(None) => "nothing".into(),
            Err(Refusal { error, id }) => {
                let id = id.map_or("none".into(), |id| id.to_string());
                format!("{} (id {id}): {}", error.code.0, error.message)
            }
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn the_id_of_a_message_that_is_too_long_is_told() {
        let of = |text: &str| told_id(text.as_bytes()).map(|it| it.to_string());
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            of(r#"{"jsonrpc":"2.0","id":17,"params":{"a":"xxx"#),
            some("17")
        );
        assert_eq!(of(r#"{ "id" : "a\"b" , "params":"#), some("a\"b"));
        assert_eq!(
            of(r#"{"params":{"id":1,"b":["id",2]},"method":"id","id":-3,"#),
            some("-3")
        );
        assert_eq!(of(r#"{"params":{"id":1,"text":"xxx"#), None);
        assert_eq!(of(r#"{"id":17"#), None);
        assert_eq!(of(r#"{"id":null,"#), None);
        assert_eq!(of("}}]]\"id\":1,"), None);
    }

    #[test]
    fn messages_are_taken() {
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            expect!["request tools/list"],
        );
        check(
            "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/call\",\"params\":{\"name\":\"debug_status\"}}\r\n",
            expect!["request tools/call"],
        );
        check(
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            expect!["notification"],
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#,
            expect!["request no/such"],
        );
        check("  \r\n", expect!["nothing"]);
    }

    #[test]
    fn lines_that_are_not_json_are_told() {
        check(
            "not json",
            expect!["-32700 (id none): this is not JSON: expected ident at line 1 column 2"],
        );
        check(
            b"\xff\xfe",
            expect!["-32700 (id none): this is not JSON: expected value at line 1 column 1"],
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"#,
            expect![
                "-32700 (id none): this is not JSON: EOF while parsing a value at line 1 column 24"
            ],
        );
        check(
            "[".repeat(100_000),
            expect![
                "-32700 (id none): this is not JSON: recursion limit exceeded at line 1 column 128"
            ],
        );
    }

    #[test]
    fn json_that_is_no_message_is_told() {
        check(
            "[]",
            expect!["-32600 (id none): this is no JSON-RPC 2.0 message"],
        );
        check(
            r#"{"jsonrpc":"1.0","id":7,"method":"tools/list"}"#,
            expect![[
                r#"-32600 (id 7): this is no JSON-RPC 2.0 request: it needs jsonrpc "2.0", an id that is a text or a number, and a method"#
            ]],
        );
        check(
            r#"{"id":null,"method":"tools/list"}"#,
            expect![[
                r#"-32600 (id none): this is no JSON-RPC 2.0 request: it needs jsonrpc "2.0", an id that is a text or a number, and a method"#
            ]],
        );
        check(r#"{"method":"tools/list"}"#, expect!["nothing"]);
    }

    #[test]
    fn parameters_that_do_not_fit_are_told() {
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":[1]}}"#,
            expect![
                "-32602 (id 1): the parameters of tools/call do not fit: invalid type: sequence, expected a map"
            ],
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#,
            expect!["-32602 (id 1): the parameters of tools/call do not fit: missing field `name`"],
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#,
            expect![
                "-32602 (id 1): the parameters of tools/call do not fit: invalid type: null, expected struct CallToolRequestParams"
            ],
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#,
            expect!["-32602 (id 1): the parameters of initialize do not fit"],
        );
    }
}
