//! An agent for tests: an MCP client over a pipe in memory, and the transcript of what was said.

use std::sync::Arc;

use host::HostProgram;
use mcp::{Lines, Registry, Server};
use rmcp::model::{CallToolRequestParams, CallToolResult, ClientConfig, ProgressNotificationParam};
use rmcp::service::{NotificationContext, RoleClient, RunningService};
use rmcp::{ClientHandler, ServiceExt};
use serde_json::{Map, Value};
use testkit::fixtures::{self, Fixture};
use testkit::sandbox::Sandbox;
use tokio::sync::mpsc;

/// An agent with a server of its own.
pub(crate) struct Agent {
    pub(crate) connection: RunningService<RoleClient, Ears>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) progress: mpsc::UnboundedReceiver<ProgressNotificationParam>,
    folder: String,
    transcript: String,
}

/// What a client hears without asking.
pub(crate) struct Ears {
    progress: mpsc::UnboundedSender<ProgressNotificationParam>,
}

impl ClientHandler for Ears {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::default()
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        // The test may have heard enough.
        let _ = self.progress.send(params);
    }
}

/// A host whose programs belong to the sandbox.
pub(crate) fn host(sandbox: &Sandbox) -> HostProgram {
    let mut env = sandbox.environment();
    env.extend(
        fixtures::dotnet_environment()
            .into_iter()
            .map(|(name, value)| (name.into(), value)),
    );
    HostProgram {
        path: fixtures::ndbg(),
        args: vec!["host".into()],
        env,
    }
}

impl Agent {
    pub(crate) async fn new(sandbox: &Sandbox) -> Self {
        let registry = Registry::new(host(sandbox));
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let server = Server::new(registry.clone());
        let (reader, writer) = tokio::io::split(theirs);
        let lines = Lines::new(reader, writer, registry.clone());
        tokio::spawn(async move {
            let server = server.serve(lines).await.expect("a client says hello");
            server.waiting().await.expect("the server does not panic");
        });
        let (sender, progress) = mpsc::unbounded_channel();
        let connection = Ears { progress: sender }
            .serve(ours)
            .await
            .expect("the server answers");
        let folder = sandbox.folder().display().to_string();
        Self {
            connection,
            registry,
            progress,
            folder,
            transcript: String::new(),
        }
    }

    /// Calls a tool.
    pub(crate) async fn call(&self, name: &str, arguments: Value) -> CallToolResult {
        let mut request = CallToolRequestParams::new(name.to_owned());
        request.arguments = Some(object(arguments));
        self.connection
            .call_tool(request)
            .await
            .expect("every call is answered with a result")
    }

    /// Calls a tool and notes it in the transcript.
    pub(crate) async fn say(&mut self, name: &str, arguments: Value) -> Value {
        let result = self.call(name, arguments.clone()).await;
        let said = match object(arguments) {
            empty if empty.is_empty() => name.to_owned(),
            arguments => format!("{name} {}", Value::Object(arguments)),
        };
        let mark = if result.is_error == Some(true) {
            "!"
        } else {
            ""
        };
        self.transcript += &format!("> {said}\n{mark}{}\n", text(&result));
        structured(&result)
    }

    /// Repeats a call until its answer is as wanted.
    pub(crate) async fn until(
        &self,
        name: &str,
        arguments: Value,
        wanted: impl Fn(&CallToolResult) -> bool,
    ) -> CallToolResult {
        let deadline = testkit::deadline();
        loop {
            let result = self.call(name, arguments.clone()).await;
            if wanted(&result) {
                return result;
            }
            assert!(
                std::time::Instant::now() < deadline,
                "last answer: {}",
                text(&result)
            );
        }
    }

    /// What was said so far, without what differs from run to run.
    pub(crate) fn transcript(&mut self) -> String {
        let said = std::mem::take(&mut self.transcript);
        normalized(&said, &self.folder)
    }

    /// Ends the server as its binary does.
    pub(crate) async fn close(self) {
        let Self {
            connection,
            registry,
            ..
        } = self;
        connection.cancel().await.expect("closed");
        tokio::task::spawn_blocking(move || registry.close())
            .await
            .expect("no panic");
    }
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is no object"),
    }
}

/// The text of a result.
pub(crate) fn text(result: &CallToolResult) -> String {
    let text = |content: &rmcp::model::ContentBlock| content.as_text().expect("text").text.clone();
    result.content.iter().map(text).collect()
}

/// The structured content of a result.
pub(crate) fn structured(result: &CallToolResult) -> Value {
    result
        .structured_content
        .clone()
        .expect("structured content")
}

/// The path of a fixture's dll, as a client would write it.
pub(crate) fn dll(fixture: &str) -> String {
    Fixture::named(fixture).dll().display().to_string()
}

/// Replaces what differs from run to run and from machine to machine.
pub(crate) fn normalized(text: &str, sandbox: &str) -> String {
    let fixture = Fixture::named("hello");
    let compiled = fixture
        .folder()
        .parent()
        .expect("fixtures lie in a folder")
        .display()
        .to_string();
    let source = fixture.sources()[0]
        .parent()
        .expect("sources lie in a folder")
        .display()
        .to_string();
    let (major, minor) = fixtures::runtime_version();
    let text = text
        .replace(sandbox, "<sandbox>")
        .replace(&compiled, "<fixtures>")
        .replace(&source, "<source>");
    let text = text.replace(&fixture.dotnet_root().display().to_string(), "<dotnet>");
    let text = text.replace(&format!("from .NET {major}"), "from .NET <major>");
    let text = numbers_after(&text, &format!(".NET {major}.{minor}."), ".NET <version>");
    let text = numbers_after(&text, "process ", "process <pid>");
    let text = addresses(&numbers_after(&text, "thread ", "thread <tid>"));
    // Which threads the runtime has of its own is its affair.
    let lines = text.split_inclusive('\n').map(|line| {
        let is_list = line.starts_with("Threads: ");
        if is_list {
            "Threads: <threads>.\n"
        } else {
            line
        }
    });
    lines.collect()
}

/// Replaces addresses: long hexadecimal numbers.
fn addresses(text: &str) -> String {
    let mut parts = text.split("0x");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|character: char| character.is_ascii_hexdigit());
        let digits = part.len() - rest.len();
        out += if digits >= 9 { "0x<address>" } else { "0x" };
        out += if digits >= 9 { rest } else { part };
    }
    out
}

/// Replaces each `mark` that a number follows.
fn numbers_after(text: &str, mark: &str, with: &str) -> String {
    let mut parts = text.split(mark);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|character: char| character.is_ascii_digit());
        out += if rest.len() < part.len() { with } else { mark };
        out += rest;
    }
    out
}

/// Runs a test's conversation on a runtime of its own.
pub(crate) fn run<F: Future<Output = ()>>(conversation: F) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(conversation);
}
