//! Who gets in: the head of a request is judged before a byte of its body is read.
//!
//! A debugger runs programs for whoever reaches it, so three things must hold at once. `Host` names this machine (a
//! page whose name was bound to our address by its owner's name server names itself), `Origin` is absent or one that
//! was allowed (browsers send it, agents do not), and the token is the right one.
//!
//! Invariant: the gate only reads; what it refuses has had no effect.

use std::net::IpAddr;

use hyper::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderName, ORIGIN};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;
use hyper::{HeaderMap, Method, StatusCode};

use super::token::Token;

/// Where the protocol is served.
pub(super) const PATH: &str = "/mcp";

/// What a request must fulfil.
#[derive(Debug, Clone)]
pub(super) struct Gate {
    pub(super) token: Token,
    /// Whether other machines may come.
    pub(super) remote: bool,
    /// Names of this machine besides its addresses.
    pub(super) hosts: Vec<String>,
    /// Origins that may come.
    pub(super) origins: Vec<String>,
}

/// Why a request is turned away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) message: String,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
        }
    }
}

impl Gate {
    /// Whether a request with this head may go on.
    pub(super) fn judge(&self, head: &Parts) -> Result<(), Refusal> {
        self.judge_host(head)?;
        self.judge_origin(&head.headers)?;
        if head.uri.path() != PATH {
            let message = format!("there is nothing here; the server is at {PATH}");
            return Err(Refusal::new(StatusCode::NOT_FOUND, message));
        }
        self.judge_token(&head.headers)?;
        match head.method {
            Method::POST => judge_content(&head.headers),
            Method::GET | Method::DELETE => Ok(()),
            _ => Err(Refusal::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "send messages with POST, listen with GET, end an MCP session with DELETE",
            )),
        }
    }

    fn judge_host(&self, head: &Parts) -> Result<(), Refusal> {
        let bad = |message: &str| Refusal::new(StatusCode::BAD_REQUEST, message);
        let host =
            only(&head.headers, &HOST)?.ok_or_else(|| bad("the request has no Host header"))?;
        let host: Authority = host
            .parse()
            .map_err(|_| bad("the Host header is not a name or address with a port"))?;
        // RFC 9112 3.2.2: an address in the request line counts before the header; both must be ours.
        for authority in [Some(&host), head.uri.authority()].into_iter().flatten() {
            if !self.is_ours(authority) {
                return Err(Refusal::new(
                    StatusCode::FORBIDDEN,
                    "the Host header does not name this server; use its address, or allow the name with --allow-host",
                ));
            }
        }
        Ok(())
    }

    fn is_ours(&self, authority: &Authority) -> bool {
        // Somebody's name in front is only ever meant to mislead.
        if authority.as_str().contains('@') {
            return false;
        }
        let host = authority.host().to_ascii_lowercase();
        if host == "localhost"
            || self
                .hosts
                .iter()
                .any(|name| name.eq_ignore_ascii_case(&host))
        {
            return true;
        }
        let address = host.trim_start_matches('[').trim_end_matches(']');
        // No name server can bind an address to another one.
        address
            .parse::<IpAddr>()
            .is_ok_and(|address| self.remote || address.is_loopback())
    }

    fn judge_origin(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        match only(headers, &ORIGIN)? {
            None => Ok(()),
            Some(origin) if self.origins.iter().any(|allowed| allowed == origin) => Ok(()),
            Some(_) => Err(Refusal::new(
                StatusCode::FORBIDDEN,
                "requests of web pages are refused; --allow-origin allows an origin",
            )),
        }
    }

    fn judge_token(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let refused = |message: &str| Refusal::new(StatusCode::UNAUTHORIZED, message);
        let given = only(headers, &AUTHORIZATION)?.ok_or_else(|| {
            refused(
                "a token is needed: `Authorization: Bearer TOKEN`; ndbg printed it when it started",
            )
        })?;
        let token = given
            .split_once(' ')
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("Bearer"))
            .map(|(_, token)| token.trim());
        match token {
            Some(token) if self.token.matches(token) => Ok(()),
            Some(_) => Err(refused("this is not the token of this server")),
            None => Err(refused(
                "the token is sent as `Authorization: Bearer TOKEN`",
            )),
        }
    }
}

fn judge_content(headers: &HeaderMap) -> Result<(), Refusal> {
    let unsupported = |message: &str| Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message);
    let essence = only(headers, &CONTENT_TYPE)?.map(|kind| kind.split(';').next().unwrap_or(kind));
    if !essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json")) {
        return Err(unsupported(
            "messages are sent as Content-Type: application/json",
        ));
    }
    match only(headers, &CONTENT_ENCODING)? {
        None | Some("identity") => Ok(()),
        Some(_) => Err(unsupported("messages are sent without Content-Encoding")),
    }
}

/// The value of a header that must not be there twice: two readers could take different ones.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, Refusal> {
    let bad = |what: &str| Refusal::new(StatusCode::BAD_REQUEST, format!("{what} {name} header"));
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(bad("more than one"));
    }
    value.to_str().map(Some).map_err(|_| bad("unreadable"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &[(&str, &str)] = &[
        ("host", "127.0.0.1:80"),
        ("authorization", "Bearer 0123456789abcdef"),
        ("content-type", "application/json; charset=utf-8"),
    ];

    fn gate() -> Gate {
        Gate {
            token: Token::chosen("0123456789abcdef").expect("a token"),
            remote: false,
            hosts: Vec::new(),
            origins: Vec::new(),
        }
    }

    /// The status for the good request with these headers instead of those of the same name; an empty one is left out.
    fn status(gate: &Gate, method: &str, uri: &str, changed: &[(&str, &str)]) -> u16 {
        let mut request = hyper::Request::builder().method(method).uri(uri);
        let kept = |(name, _): &&(&str, &str)| changed.iter().all(|(other, _)| other != name);
        let wanted = changed.iter().filter(|(_, value)| !value.is_empty());
        for (name, value) in GOOD.iter().filter(kept).chain(wanted) {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).expect("a request").into_parts();
        gate.judge(&head)
            .map_or_else(|refusal| refusal.status.as_u16(), |()| 200)
    }

    #[track_caller]
    fn check(changed: &[(&str, &str)], expected: u16) {
        assert_eq!(
            status(&gate(), "POST", "/mcp", changed),
            expected,
            "{changed:?}"
        );
    }

    #[test]
    fn hosts_that_name_this_machine_are_let_in() {
        for host in [
            "127.0.0.1",
            "127.0.0.1:1",
            "LOCALHOST:99",
            "[::1]",
            "[::1]:80",
            "127.9.9.9",
        ] {
            check(&[("host", host)], 200);
        }
        for host in [
            "evil.com",
            "localhost.evil.com",
            "localhost.",
            "127.0.0.1.evil.com",
            "10.0.0.1",
            "0.0.0.0",
            "localhost@evil.com",
            "evil.com@localhost",
            "[::2]",
            "127.1",
            "2130706433",
        ] {
            check(&[("host", host)], 403);
        }
        for host in ["", "a b", "http://localhost", "\"localhost\"", "[::1"] {
            check(&[("host", host)], 400);
        }
        check(&[("host", "localhost"), ("host", "evil.com")], 400);
        assert_eq!(status(&gate(), "POST", "http://evil.com/mcp", &[]), 403);
        assert_eq!(status(&gate(), "POST", "http://localhost/mcp", &[]), 200);
    }

    #[test]
    fn remote_machines_use_addresses_or_names_that_were_allowed() {
        let gate = Gate {
            remote: true,
            hosts: vec!["box.lan".into()],
            ..gate()
        };
        for (host, expected) in [("10.0.0.1:80", 200), ("Box.lan:80", 200), ("evil.com", 403)] {
            assert_eq!(
                status(&gate, "POST", "/mcp", &[("host", host)]),
                expected,
                "{host}"
            );
        }
    }

    #[test]
    fn web_pages_are_refused() {
        for origin in [
            "http://evil.com",
            "http://localhost",
            "http://127.0.0.1:80",
            "null",
            "file://",
        ] {
            check(&[("origin", origin)], 403);
        }
        let gate = Gate {
            origins: vec!["http://localhost:6274".into()],
            ..gate()
        };
        let allowed = |origin| status(&gate, "POST", "/mcp", &[("origin", origin)]);
        assert_eq!(allowed("http://localhost:6274"), 200);
        assert_eq!(allowed("http://localhost:62740"), 403);
    }

    #[test]
    fn the_token_is_needed() {
        check(&[], 200);
        check(&[("authorization", "bearer 0123456789abcdef")], 200);
        for wrong in [
            "",
            "Bearer",
            "Bearer ",
            "0123456789abcdef",
            "Basic 0123456789abcdef",
            "Bearer 0123456789abcdeX",
            "Bearer 0123456789abcdef0",
            "Bearer x 0123456789abcdef",
        ] {
            check(&[("authorization", wrong)], 401);
        }
        check(
            &[
                ("authorization", "Bearer 0123456789abcdef"),
                ("authorization", "Bearer x"),
            ],
            400,
        );
    }

    #[test]
    fn other_paths_methods_and_types_are_refused() {
        let status = |method, uri| status(&gate(), method, uri, &[]);
        assert_eq!(status("GET", "/mcp"), 200);
        assert_eq!(status("DELETE", "/mcp?x=1"), 200);
        for method in ["PUT", "OPTIONS", "HEAD", "PATCH", "CONNECT", "TRACE", "X"] {
            assert_eq!(status(method, "/mcp"), 405, "{method}");
        }
        for path in [
            "/",
            "/mcp/",
            "/MCP",
            "//mcp",
            "/mcp/../mcp",
            "/.well-known/oauth-protected-resource",
        ] {
            assert_eq!(status("POST", path), 404, "{path}");
        }
        for kind in [
            "",
            "text/plain",
            "application/jsonx",
            "application/x-www-form-urlencoded",
            "multipart/form-data",
        ] {
            check(&[("content-type", kind)], 415);
        }
        check(&[("content-encoding", "gzip")], 415);
    }
}
