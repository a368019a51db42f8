//! `ndbg mcp --http` as a client sees it: bytes on connections.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

use serde_json::{Value, json};
use testkit::fixtures;
use testkit::sandbox::Sandbox;

/// A server process, and how it is reached.
pub(crate) struct Web {
    child: Child,
    pub(crate) place: Place,
    pub(crate) token: String,
}

/// Where a server listens.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    Port(String),
    Socket(PathBuf),
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(found, _)| found == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The JSON-RPC messages of a JSON body or an event stream.
    pub(crate) fn messages(&self) -> Vec<Value> {
        let read = |text: &str| {
            serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
        };
        match self.header("content-type") {
            Some("text/event-stream") => {
                let data = self
                    .body
                    .lines()
                    .filter_map(|line| line.strip_prefix("data:"));
                let said = data.filter(|text| !text.trim().is_empty());
                said.map(read).collect()
            }
            _ => vec![read(&self.body)],
        }
    }

    /// The last message: the answer to the request.
    pub(crate) fn message(&self) -> Value {
        self.messages().pop().expect("a message")
    }
}

impl Web {
    /// A server on a free port, with a token of its own making.
    pub(crate) fn start(sandbox: &Sandbox) -> Self {
        Self::start_with(sandbox, &["--http"], None)
    }

    /// A server on a socket in the sandbox.
    pub(crate) fn on_socket(sandbox: &Sandbox) -> Self {
        let address = format!("unix:{}", sandbox.folder().join("mcp.sock").display());
        Self::start_with(sandbox, &["--http", &address], None)
    }

    /// A server with these arguments, and a token in its environment.
    pub(crate) fn start_with(sandbox: &Sandbox, arguments: &[&str], token: Option<&str>) -> Self {
        let mut command = Command::new(fixtures::ndbg());
        command
            .arg("mcp")
            .args(arguments)
            .envs(fixtures::dotnet_environment());
        command.envs(token.map(|token| ("NDBG_MCP_TOKEN", token)));
        sandbox.adopt(&mut command);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("ndbg starts");
        let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        let mut next = || lines.next().expect("a line").expect("text");
        let listening = next();
        let address = listening.strip_prefix("listening on ").expect("an address");
        let place = match address.strip_prefix("unix:") {
            Some(path) => Place::Socket(path.split_once(" (").expect("a path").0.into()),
            None => {
                let port = address
                    .strip_prefix("http://")
                    .and_then(|rest| rest.strip_suffix("/mcp"));
                Place::Port(port.expect("an address").to_owned())
            }
        };
        let token = match token {
            Some(token) => token.to_owned(),
            None => next().strip_prefix("token: ").expect("a token").to_owned(),
        };
        // What it says later is for whoever reads the test's output.
        std::thread::spawn(move || {
            lines.for_each(|line| eprintln!("ndbg: {}", line.unwrap_or_default()))
        });
        Self {
            child,
            place,
            token,
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends bytes on a new connection and reads the answer to its end.
    pub(crate) fn send(&self, request: &[u8]) -> Answer {
        self.place.send(request)
    }

    /// The head of a request that is let in, without its last line.
    pub(crate) fn head(&self, method: &str) -> String {
        format!(
            "{method} /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\
             Accept: application/json, text/event-stream\r\n",
            self.token
        )
    }

    /// Posts a message with more headers.
    pub(crate) fn post(&self, headers: &str, message: &Value) -> Answer {
        let body = message.to_string();
        let head = self.head("POST");
        let length = body.len();
        let request = format!(
            "{head}Content-Type: application/json\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        );
        self.send(request.as_bytes())
    }

    /// Calls a tool without an MCP session; the whole answer.
    pub(crate) fn ask(&self, name: &str, arguments: Value) -> Answer {
        let (headers, message) = stateless(name, arguments);
        self.post(&headers, &message)
    }

    /// Calls a tool without an MCP session; the result.
    pub(crate) fn call(&self, name: &str, arguments: Value) -> Value {
        let answer = self.ask(name, arguments);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.message()["result"].clone()
    }

    /// Repeats a call until its answer holds something.
    pub(crate) fn until(&self, name: &str, wanted: &str) {
        let found = testkit::eventually(|| {
            let result = self.call(name, json!({})).to_string();
            if result.contains(wanted) {
                Ok(())
            } else {
                Err(result)
            }
        });
        found.unwrap_or_else(|last| panic!("{last}"));
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        testkit::procfs::signal(self.pid(), signal);
    }

    /// Waits for its end.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let ended = testkit::eventually(|| match self.child.try_wait() {
            Ok(Some(status)) => Ok(status),
            Ok(None) => Err("the server still runs".into()),
            Err(error) => Err(error.to_string()),
        });
        ended.unwrap_or_else(|why| panic!("{why}"))
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A call of a client of 2026-07-28: its headers and its message.
pub(crate) fn stateless(name: &str, arguments: Value) -> (String, Value) {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": name, "arguments": arguments, "_meta": meta});
    let headers = format!(
        "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {name}\r\n"
    );
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    (headers, message)
}

impl Place {
    /// A connection.
    pub(crate) fn connect(&self) -> Box<dyn Connection> {
        match self {
            Place::Port(address) => {
                Box::new(TcpStream::connect(address).expect("the server listens"))
            }
            Place::Socket(path) => Box::new(UnixStream::connect(path).expect("the server listens")),
        }
    }

    /// Sends bytes on a new connection and reads the answer to its end.
    pub(crate) fn send(&self, request: &[u8]) -> Answer {
        let mut connection = self.connect();
        connection.limit();
        // A server that refuses need not read to the end.
        let _ = connection.write_all(request);
        read_answer(&mut *connection)
    }
}

/// A connection of either kind.
pub(crate) trait Connection: Read + Write + Send {
    /// No test waits for ever.
    fn limit(&self);
}

impl Connection for TcpStream {
    fn limit(&self) {
        self.set_read_timeout(Some(testkit::PATIENCE)).expect("set");
    }
}

impl Connection for UnixStream {
    fn limit(&self) {
        self.set_read_timeout(Some(testkit::PATIENCE)).expect("set");
    }
}

/// Reads an answer up to the end of the connection.
pub(crate) fn read_answer(connection: &mut dyn Connection) -> Answer {
    let mut bytes = Vec::new();
    match connection.read_to_end(&mut bytes) {
        Ok(_) => {}
        // It closed while we were still sending.
        Err(error) if error.kind() == ErrorKind::ConnectionReset && !bytes.is_empty() => {}
        Err(error) => panic!("{error} after {:?}", String::from_utf8_lossy(&bytes)),
    }
    let text = String::from_utf8(bytes).expect("answers are text");
    let (head, body) = text
        .split_once("\r\n\r\n")
        .unwrap_or_else(|| panic!("no answer: {text:?}"));
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1));
    let status = status
        .and_then(|status| status.parse().ok())
        .expect("a status");
    let header = |line: &str| {
        let (name, value) = line.split_once(": ").expect("a header");
        (name.to_ascii_lowercase(), value.to_owned())
    };
    let headers: Vec<_> = lines.map(header).collect();
    let chunked = headers
        .iter()
        .any(|(name, value)| name == "transfer-encoding" && value == "chunked");
    let body = if chunked {
        unchunked(body)
    } else {
        body.to_owned()
    };
    Answer {
        status,
        headers,
        body,
    }
}

fn unchunked(mut text: &str) -> String {
    let mut body = String::new();
    while let Some((size, rest)) = text.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).expect("the size of a chunk");
        body += rest.get(..size).expect("a whole chunk");
        text = rest
            .get(size..)
            .and_then(|rest| rest.strip_prefix("\r\n"))
            .unwrap_or_default();
    }
    body
}
