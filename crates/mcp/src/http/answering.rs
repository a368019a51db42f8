//! From a request to its answer: the gate, the body, the protocol.
//!
//! Invariants: a body takes at most [`BODY`] bytes and the door's patience; at most [`CALLS`] messages and [`STREAMS`]
//! standing streams are served at once; every refusal says why and closes its connection, so that one who is not let
//! in holds nothing.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{
    ACCEPT, ALLOW, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, RETRY_AFTER,
    WWW_AUTHENTICATE,
};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::gate::{Gate, Refusal};
use super::guests::Guest;
use super::sessions::Sessions;
use crate::framing;
use crate::registry::Registry;
use crate::server::Server;

/// Bytes of one message.
const BODY: usize = framing::MAX_LINE;
/// Messages that are answered at once. Waits count, so this is more than there can be debugged programs.
const CALLS: usize = 64;
/// Standing streams (GET) at once.
const STREAMS: usize = 64;

type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Answers requests; cheap to clone.
#[derive(Clone)]
pub(super) struct Answering {
    gate: Arc<Gate>,
    patience: Duration,
    protocol: StreamableHttpService<Server, Sessions>,
    config: StreamableHttpServerConfig,
    calls: Arc<Semaphore>,
    streams: Arc<Semaphore>,
}

impl Answering {
    pub(super) fn new(gate: Gate, patience: Duration, registry: Arc<Registry>) -> Self {
        let config = StreamableHttpServerConfig::default()
            // The gate has looked at both already, and knows the names that were allowed.
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_json_response(true)
            .with_max_request_body_bytes(BODY);
        let server = move || Ok(Server::new(registry.clone()));
        Self {
            gate: Arc::new(gate),
            patience,
            protocol: StreamableHttpService::new(server, Sessions::new(), config.clone()),
            config,
            calls: Arc::new(Semaphore::new(CALLS)),
            streams: Arc::new(Semaphore::new(STREAMS)),
        }
    }

    /// Waits until every message is answered.
    pub(super) async fn idle(&self) {
        // Nothing closes the semaphore.
        let _ = self
            .calls
            .acquire_many(u32::try_from(CALLS).unwrap_or(u32::MAX))
            .await;
    }

    /// Ends every stream.
    pub(super) fn close(&self) {
        self.config.cancellation_token.cancel();
    }

    /// The answer to a request, whatever it is.
    pub(super) async fn answer(
        self,
        request: Request<Incoming>,
        guest: Arc<Guest>,
    ) -> Result<Answer, Infallible> {
        let (head, body) = request.into_parts();
        Ok(match self.served(head, body, &guest).await {
            Ok(answer) => answer,
            Err(Turned::Away(refusal)) => refused(&refusal),
            Err(Turned::Message(status, error)) => closing(status, JSON, error),
        })
    }

    async fn served<B>(&self, mut head: Parts, body: B, guest: &Guest) -> Result<Answer, Turned>
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.gate.judge(&head)?;
        guest.let_in();
        let is_message = head.method == Method::POST;
        let permits = if is_message {
            &self.calls
        } else {
            &self.streams
        };
        let permit = permits.clone().try_acquire_owned().map_err(|_| {
            Refusal::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "too many requests are being served; try again when one is answered",
            )
        })?;
        let bytes = if is_message {
            let bytes = read(&head.headers, body, self.patience).await?;
            judge_message(&bytes)?;
            without_mark(bytes)
        } else {
            Bytes::new()
        };
        accept_both(&mut head.headers);
        let request = Request::from_parts(head, Full::new(bytes));
        let answer = self.protocol.handle(request).await;
        Ok(answer.map(|body| keeping(body, permit)))
    }
}

/// Why there is no answer of the protocol.
enum Turned {
    Away(Refusal),
    /// The message is none: a JSON-RPC error.
    Message(StatusCode, String),
}

impl From<Refusal> for Turned {
    fn from(refusal: Refusal) -> Self {
        Self::Away(refusal)
    }
}

/// Reads a message.
async fn read<B>(headers: &HeaderMap, body: B, patience: Duration) -> Result<Bytes, Refusal>
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let too_large = || {
        let message = format!("a message may have {BODY} bytes at most");
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, message)
    };
    let announced = headers
        .get(CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > BODY as u64) {
        return Err(too_large());
    }
    let body = Limited::new(body, BODY).collect();
    match tokio::time::timeout(patience, body).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(error)) => Err(Refusal::new(
            StatusCode::BAD_REQUEST,
            format!("the message cannot be read: {error}"),
        )),
        Err(_) => Err(Refusal::new(
            StatusCode::REQUEST_TIMEOUT,
            format!(
                "the message did not arrive within {} s",
                patience.as_secs_f32()
            ),
        )),
    }
}

/// Refuses what is no message, in JSON-RPC's words.
fn judge_message(bytes: &[u8]) -> Result<(), Turned> {
    let refusal = match framing::message(bytes) {
        Ok(Some(_)) => return Ok(()),
        Ok(None) => framing::Refusal::no_message(),
        Err(refusal) => refusal,
    };
    let error = serde_json::to_string(&framing::answer(refusal)).unwrap_or_default();
    Err(Turned::Message(StatusCode::BAD_REQUEST, error))
}

/// A message without the mark that some writers of UTF-8 put before it, which rmcp takes for no JSON.
fn without_mark(bytes: Bytes) -> Bytes {
    match bytes.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => bytes.slice_ref(rest),
        None => bytes,
    }
}

/// A client that takes anything takes both forms of an answer; rmcp wants them named.
fn accept_both(headers: &mut HeaderMap) {
    let anything = |value: &HeaderValue| value.to_str().is_ok_and(|text| text.contains("*/*"));
    if headers.get(ACCEPT).is_none_or(anything) {
        let both = HeaderValue::from_static("application/json, text/event-stream");
        headers.insert(ACCEPT, both);
    }
}

/// A body that gives the permit back when it is told to the end or given up.
fn keeping(
    body: BoxBody<Bytes, Infallible>,
    permit: OwnedSemaphorePermit,
) -> BoxBody<Bytes, Infallible> {
    body.map_frame(move |frame| {
        let _held = &permit;
        frame
    })
    .boxed()
}

const JSON: &str = "application/json";

fn refused(refusal: &Refusal) -> Answer {
    let text = format!("{}\n", refusal.message);
    let mut answer = closing(refusal.status, "text/plain; charset=utf-8", text);
    let extra = match refusal.status {
        StatusCode::UNAUTHORIZED => Some((WWW_AUTHENTICATE, "Bearer")),
        StatusCode::METHOD_NOT_ALLOWED => Some((ALLOW, "POST, GET, DELETE")),
        StatusCode::SERVICE_UNAVAILABLE => Some((RETRY_AFTER, "1")),
        _ => None,
    };
    if let Some((name, value)) = extra {
        answer
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    answer
}

/// An answer after which the connection ends.
fn closing(status: StatusCode, kind: &'static str, text: String) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(text)).boxed());
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}
