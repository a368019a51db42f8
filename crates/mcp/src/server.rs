//! The MCP side: answers the protocol's requests from the tool table.
//!
//! Invariants: every call gets an answer (a panic is an error result), a failed call is a result the model can read,
//! and a cancelled call stops waiting without touching the program. State lives in the [`Registry`], never here: a
//! server object may be made for a single request.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt as _;
use host::api::{Error, ErrorCode};
use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities,
    ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::json;
use tokio::sync::mpsc;

use crate::registry::Registry;
use crate::tools::{self, Answer, Call, Listed, Progress};

/// How to work with this server; clients show it to the model.
pub const INSTRUCTIONS: &str = include_str!("instructions.md");

/// One connection's (or one request's) view of the registry.
#[derive(Debug, Clone)]
pub struct Server {
    registry: Arc<Registry>,
}

impl Server {
    /// A server over these sessions.
    pub fn new(registry: Arc<Registry>) -> Self {
        Self { registry }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut implementation = Implementation::new("ndbg", env!("CARGO_PKG_VERSION"));
        implementation.title = Some("ndbg, a debugger for .NET programs".into());
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(implementation)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(list()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::CATALOGUE
            .iter()
            .find(|listed| listed.tool.name == name)
            .map(described)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let token = context.meta.get_progress_token();
        let (sender, mut progress) = mpsc::unbounded_channel();
        let call = Call {
            registry: self.registry.clone(),
            progress: token.is_some().then_some(sender),
        };
        let name = request.name.clone();
        let work =
            async { tools::call(call, &request.name, request.arguments.unwrap_or_default()).await };
        // Without this a bug in one tool would leave its caller without an answer for ever.
        let mut work = std::pin::pin!(AssertUnwindSafe(work).catch_unwind());
        let result = loop {
            tokio::select! {
                result = &mut work => break result,
                () = context.ct.cancelled() => {
                    // Nobody reads the answer. Dropping the work gives up its wait, nothing else.
                    return Ok(failure(&Error::new(ErrorCode::Timeout, "the call was cancelled")).into());
                }
                Some(news) = progress.recv() => {
                    if let Some(token) = &token {
                        let note = notification(token.clone(), news);
                        if let Err(error) = context.peer.notify_progress(note).await {
                            tracing::debug!(%error, "telling progress");
                        }
                    }
                }
            }
        };
        let result = match result {
            Ok(Ok(answer)) => success(answer),
            Ok(Err(error)) => failure(&error),
            Err(_) => failure(
                &Error::new(
                    ErrorCode::Internal,
                    format!("a bug in ndbg: {name} failed inside the server"),
                )
                .hint("the sessions are not affected; debug_status tells their state"),
            ),
        };
        Ok(result.into())
    }
}

/// The tools as the protocol lists them.
pub(crate) fn list() -> Vec<Tool> {
    tools::CATALOGUE.iter().map(described).collect()
}

fn described(listed: &Listed) -> Tool {
    let tool = listed.tool;
    let annotations = ToolAnnotations::with_title(tool.title)
        .read_only(tool.nature.read_only)
        .destructive(tool.nature.destructive)
        .idempotent(tool.nature.idempotent)
        .open_world(tool.nature.open_world);
    Tool::new(tool.name, tool.description, listed.input.clone())
        .with_raw_output_schema(listed.output.clone())
        .with_annotations(annotations)
}

fn notification(token: rmcp::model::ProgressToken, news: Progress) -> ProgressNotificationParam {
    ProgressNotificationParam::new(token, news.elapsed.as_secs_f64())
        .with_total(news.total.as_secs_f64())
        .with_message(news.message)
}

fn success(answer: Answer) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(answer.text)]);
    result.structured_content = Some(answer.structured);
    result
}

fn failure(error: &Error) -> CallToolResult {
    let mut text = format!("{}: {}", error.code.name(), error.message);
    if let Some(hint) = &error.hint {
        text.push_str("\nHint: ");
        text.push_str(hint);
    }
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    result.structured_content = Some(json!({"error": error}));
    result
}
