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
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
    CustomResult, Implementation, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::json;
use tokio::sync::mpsc;

use crate::registry::Registry;
use crate::report::text;
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

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(crate::framing::unfit(&request).unwrap_or_else(|| {
            ErrorData::new(
                rmcp::model::ErrorCode::METHOD_NOT_FOUND,
                format!("there is no method {}", text::quoted(&request.method, 60)),
                None,
            )
        }))
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
        let CallToolRequestParams {
            name, arguments, ..
        } = request;
        let work = tools::call(call, &name, arguments.unwrap_or_default());
        let mut work = std::pin::pin!(guarded(&name, work));
        loop {
            tokio::select! {
                result = &mut work => return Ok(result.into()),
                () = context.ct.cancelled() => {
                    // Nobody reads the answer. Dropping the work gives up its wait, nothing else.
                    return Ok(failure(Error::new(ErrorCode::Timeout, "the call was cancelled")).into());
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
        }
    }
}

/// The result of a tool's work. Without this a bug in one tool would leave its caller without an answer for ever.
async fn guarded(name: &str, work: impl Future<Output = Result<Answer, Error>>) -> CallToolResult {
    match AssertUnwindSafe(work).catch_unwind().await {
        Ok(Ok(answer)) => success(answer),
        Ok(Err(error)) => failure(error),
        Err(_) => failure(
            Error::new(
                ErrorCode::Internal,
                format!("a bug in ndbg: {name} failed inside the server"),
            )
            .hint("the sessions are not affected; debug_status tells their state"),
        ),
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

fn failure(error: Error) -> CallToolResult {
    let error = crate::failure::for_agents(error);
    let mut result =
        CallToolResult::error(vec![ContentBlock::text(report::failure::render(&error))]);
    result.structured_content = Some(json!({"error": error}));
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_result() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime");
        let result = runtime.block_on(guarded("debug_wait", async { panic!("a bug") }));
        assert_eq!(result.is_error, Some(true));
        let structured = result.structured_content.expect("structured content");
        assert_eq!(structured["error"]["code"], "INTERNAL_ERROR");
    }

    #[test]
    fn the_tool_list_fits_its_budget() {
        let list = serde_json::to_string(&list()).expect("JSON");
        let tokens = list.len() / 4;
        assert!(tokens <= 8000, "the tool list takes {tokens} tokens");
        for listed in tools::CATALOGUE.iter() {
            assert!(
                listed.input["properties"].is_object() && listed.output["properties"].is_object()
            );
        }
    }

    /// The words of a text that look like names of tools.
    fn tool_names(text: &str) -> impl Iterator<Item = &str> {
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .filter(|word| {
                ["debug_", "process_", "breakpoint_"]
                    .iter()
                    .any(|prefix| word.starts_with(prefix))
                    || word.ends_with("_get")
            })
            .filter(|word| !word.ends_with('_'))
    }

    #[test]
    fn the_instructions_are_short_and_name_tools_that_exist() {
        assert!(INSTRUCTIONS.lines().count() <= 30);
        for word in tool_names(INSTRUCTIONS) {
            assert!(
                tools::TOOLS.iter().any(|tool| tool.name == word),
                "there is no tool {word}"
            );
        }
    }

    #[test]
    fn descriptions_and_hints_name_tools_that_exist() {
        let known = |word: &str| tools::TOOLS.iter().any(|tool| tool.name == word);
        for tool in list() {
            let text = serde_json::to_string(&tool).expect("JSON");
            for word in tool_names(&text) {
                assert!(known(word), "{}: there is no tool {word}", tool.name);
            }
        }
    }

    #[test]
    fn texts_in_the_source_name_tools_that_exist() {
        fn each_file(folder: &std::path::Path, look: &mut dyn FnMut(&std::path::Path, &str)) {
            for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    each_file(&path, look);
                } else if let Ok(text) = std::fs::read_to_string(&path) {
                    look(&path, &text);
                }
            }
        }
        let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        each_file(&source, &mut |path, text| {
            // Between an odd and an even quote there is a text; escapes do not matter here.
            for literal in text.split('"').skip(1).step_by(2) {
                let spoken = literal.contains(' ');
                for word in tool_names(literal).filter(|_| spoken) {
                    assert!(
                        tools::TOOLS.iter().any(|tool| tool.name == word),
                        "{}: there is no tool {word}",
                        path.display()
                    );
                }
            }
        });
    }
}
