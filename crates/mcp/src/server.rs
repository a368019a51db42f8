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
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    CompletionInfo, ContentBlock, CustomRequest, CustomResult, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, Prompt, PromptArgument, PromptMessage, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Role,
    ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer};
use serde_json::json;
use tokio::sync::mpsc;

use crate::registry::Registry;
use crate::report::text;
use crate::tools::{self, Answer, Call, Listed, Progress};
use crate::{completion, prompts, resources};

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

    /// A call that tells no progress.
    fn quiet_call(&self) -> Call {
        Call {
            registry: self.registry.clone(),
            progress: None,
        }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut implementation = Implementation::new("ndbg", env!("CARGO_PKG_VERSION"));
        implementation.title = Some("ndbg, a debugger for .NET programs".into());
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .enable_completions()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(implementation)
            .with_instructions(INSTRUCTIONS.to_owned() + &self.registry.policy().told())
    }

    /// A client is there: the first program that it wants debugged need not wait for a host.
    async fn on_initialized(&self, _context: NotificationContext<RoleServer>) {
        self.registry.prepare_host();
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut tools = list();
        tools.retain(|tool| self.registry.policy().offers(&tool.name));
        Ok(ListToolsResult::with_all_items(tools))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::CATALOGUE
            .iter()
            .find(|listed| listed.tool.name == name)
            .map(described)
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let listed = resources::list(&self.quiet_call()).into_iter().map(|it| {
            Resource::new(it.uri, it.name)
                .with_description(it.description)
                .with_mime_type(PLAIN)
        });
        Ok(ListResourcesResult::with_all_items(listed.collect()))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = resources::TEMPLATES.iter().map(|it| {
            ResourceTemplate::new(it.uri, it.name)
                .with_description(it.description)
                .with_mime_type(PLAIN)
        });
        Ok(ListResourceTemplatesResult::with_all_items(
            templates.collect(),
        ))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let work = resources::read(self.quiet_call(), &request.uri);
        match answered(&context, work).await? {
            None => Err(ErrorData::resource_not_found(
                resources::nothing_at(&request.uri),
                None,
            )),
            Some(Err(error)) => Err(refusal(error)),
            Some(Ok(text)) => {
                let contents = ResourceContents::text(text, request.uri);
                Ok(ReadResourceResult::new(vec![contents]).into())
            }
        }
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompts = prompts::PROMPTS.iter().map(|it| {
            let arguments = it.arguments.iter().map(|argument| {
                PromptArgument::new(argument.name)
                    .with_description(argument.description)
                    .with_required(argument.required)
            });
            Prompt::new(it.name, Some(it.description), Some(arguments.collect()))
                .with_title(it.title)
        });
        Ok(ListPromptsResult::with_all_items(prompts.collect()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let given = request.arguments.unwrap_or_default().into_iter().collect();
        let text = prompts::fill(&request.name, &given).map_err(refusal)?;
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let others = request.context.and_then(|it| it.arguments);
        let others = others.unwrap_or_default();
        let call = self.quiet_call();
        let argument = request.argument;
        let work = completion::complete(&call, &argument.name, &argument.value, &others);
        // Nothing can be proposed where nothing can be asked, such as in a program that runs.
        let found = answered(&context, work).await?.unwrap_or_default();
        let more = found.total > found.values.len();
        let mut info = CompletionInfo::new(found.values).unwrap_or_default();
        info.total = u32::try_from(found.total).ok();
        info.has_more = Some(more);
        Ok(CompleteResult::new(info))
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

/// Plain text.
const PLAIN: &str = "text/plain";

/// The outcome of work that is no tool's: cancelled with its request, and a bug in it is an error.
async fn answered<T>(
    context: &RequestContext<RoleServer>,
    work: impl Future<Output = T>,
) -> Result<T, ErrorData> {
    tokio::select! {
        outcome = AssertUnwindSafe(work).catch_unwind() => outcome.map_err(|_| {
            ErrorData::internal_error("a bug in ndbg: the request failed inside the server", None)
        }),
        () = context.ct.cancelled() => Err(ErrorData::internal_error("the request was cancelled", None)),
    }
}

/// An error where the protocol has no place for a result that is one.
fn refusal(error: Error) -> ErrorData {
    let error = crate::failure::for_agents(error);
    let message = report::failure::render(&error);
    ErrorData::invalid_params(message, Some(json!({"error": error})))
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
    Tool::new(tool.name, tool.description, listed.shown.clone())
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
    fn prompts_and_the_skill_name_tools_that_exist() {
        let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let prompts = std::fs::read_dir(source.join("src/prompts")).expect("a folder");
        let mut files: Vec<_> = prompts.flatten().map(|file| file.path()).collect();
        files.push(source.join("../../skills/ndbg/SKILL.md"));
        for path in files {
            let text = std::fs::read_to_string(&path).expect("a text");
            for word in tool_names(&text) {
                assert!(
                    tools::TOOLS.iter().any(|tool| tool.name == word),
                    "{}: there is no tool {word}",
                    path.display()
                );
            }
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
