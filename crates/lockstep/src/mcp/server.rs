//! The protocol's side: lists, calls and resources, each answered on a thread that may block.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lockstep_text::printable;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation,
    JsonObject, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use tokio::sync::{Mutex, Semaphore, mpsc};

use super::call_context::{CallContext, MAX_CONCURRENT_CALLS, ProgressSender, ProgressStep};
use super::identity::CallerIdentity;
use super::limits::{McpClientLimits, text_cost};
use super::pagination::{PageStore, ResultPage};
use super::resources;
use super::tool::{CURSOR, ToolDefinition, ToolEffect};
use super::tools;
use crate::cli::VERSION;

/// The instructions of the server for a model.
const INSTRUCTIONS: &str = "Lockstep knows which files depend on what changed (impact, references, dangling_references, map_entry), brings \
    dependents up to date (cascade_*), and keeps steps, the task and its phases. Results that are too long have a next_cursor: \
    call the same tool with it as cursor. A failed call says what, why and how to mend it.";

/// One client's server.
pub(super) struct McpServer {
    directory: PathBuf,
    caller: Arc<CallerIdentity>,
    tools: Vec<ToolDefinition>,
    pages: PageStore,
    /// Room for requests that are worked on.
    room: Arc<Semaphore>,
    /// Writes go one after another, in the order they came.
    writes: Arc<Mutex<()>>,
}

/// The reason why there is no outcome.
enum CallFailure {
    /// The client does not want it any more.
    Cancelled,
    Panicked,
}

impl McpServer {
    pub(super) fn new(directory: PathBuf, caller: CallerIdentity) -> Self {
        Self {
            directory,
            caller: Arc::new(caller),
            tools: tools::all(),
            pages: PageStore::default(),
            room: Arc::new(Semaphore::new(MAX_CONCURRENT_CALLS)),
            writes: Arc::default(),
        }
    }

    async fn call(
        &self,
        tool: &ToolDefinition,
        mut arguments: JsonObject,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let name = context.client_info().map(|client| client.name);
        let limits = McpClientLimits::of(name.as_deref());
        match arguments.remove(CURSOR) {
            None | Some(serde_json::Value::Null) => {}
            Some(cursor) => {
                let cursor = cursor.as_str().map_or_else(|| cursor.to_string(), str::to_owned);
                return Ok(match self.pages.at(tool.name, &cursor, limits) {
                    Ok(page) => success_result(page),
                    Err(error) => failed(&error.render(), limits),
                });
            }
        }
        let call = tool.call;
        match self.work(tool.effect, context, move |work| call(arguments, work)).await {
            Ok(Ok(outcome)) => {
                Ok(success_result(self.pages.first(tool.name, outcome.data, outcome.text, limits)))
            }
            Ok(Err(error)) => Ok(failed(&error.render(), limits)),
            Err(lost) => lost.answer(tool.name, limits),
        }
    }

    /// Runs the work on its own thread, reports progress, and abandons it when the client cancels.
    async fn work<T: Send + 'static>(
        &self,
        effect: ToolEffect,
        context: RequestContext<RoleServer>,
        work: impl FnOnce(&CallContext) -> T + Send + 'static,
    ) -> Result<T, CallFailure> {
        let cancelled = context.ct.cancelled();
        tokio::pin!(cancelled);
        let turn = async {
            let writing = match effect {
                ToolEffect::Reads => None,
                ToolEffect::Writes | ToolEffect::Runs => Some(Arc::clone(&self.writes).lock_owned().await),
            };
            let room = Arc::clone(&self.room).acquire_owned().await;
            (writing, room.expect("the semaphore is never closed"))
        };
        let turn = tokio::select! {
            turn = turn => turn,
            () = &mut cancelled => return Err(CallFailure::Cancelled),
        };
        let (steps, mut updates) = mpsc::unbounded_channel();
        let token = context.meta.get_progress_token();
        let abandoned = Arc::new(AtomicBool::new(false));
        let request = CallContext {
            directory: self.directory.clone(),
            caller: Arc::clone(&self.caller),
            abandoned: Arc::clone(&abandoned),
            watcher: token.as_ref().map(|_| ProgressSender::new(steps)),
        };
        let mut task = tokio::task::spawn_blocking(move || {
            // The turn is held until the thread is done: an abandoned request uses resources too.
            let _turn = turn;
            work(&request)
        });
        loop {
            tokio::select! {
                outcome = &mut task => return outcome.map_err(|_| CallFailure::Panicked),
                () = &mut cancelled => {
                    abandoned.store(true, Ordering::Relaxed);
                    return Err(CallFailure::Cancelled);
                }
                Some(ProgressStep { done, all, what }) = updates.recv() => if let Some(token) = &token {
                    let progress = ProgressNotificationParam::new(token.clone(), done as f64);
                    // A client that does not accept progress still gets the outcome.
                    let _ = context.peer.notify_progress(progress.with_total(all as f64).with_message(printable(what))).await;
                },
            }
        }
    }
}

impl CallFailure {
    fn answer(self, tool: &str, limits: McpClientLimits) -> Result<CallToolResult, ErrorData> {
        match self {
            // This is never read.
            Self::Cancelled => Err(ErrorData::internal_error("cancelled", None)),
            Self::Panicked => Ok(failed(
                &format!(
                    "error: a bug in lockstep {VERSION} ended {tool}\nhint: the server goes on; its standard error says where, please \
                     report it with the arguments\n"
                ),
                limits,
            )),
        }
    }
}

fn success_result(page: ResultPage) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(printable(&page.text))]);
    result.structured_content = Some(page.data);
    result
}

/// Renders an error as text: what failed, why, and the fix. A text beyond the client's limit is truncated,
/// with a note.
fn failed(text: &str, limits: McpClientLimits) -> CallToolResult {
    let mut answer = printable(text).into_owned();
    if text_cost(text) > limits.page() {
        answer = text.chars().take(limits.page() / 2).collect();
        answer.push_str("\n… the rest is too long; the same command on the command line shows all of it\n");
    }
    CallToolResult::error(vec![ContentBlock::text(answer)])
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        let own = Implementation::new("lockstep", VERSION).with_title("Lockstep");
        ServerConfig::new(capabilities).with_server_info(own).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.iter().map(ToolDefinition::to_mcp_tool).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.tools.iter().find(|tool| tool.name == request.name) else {
            let names: Vec<&str> = self.tools.iter().map(|tool| tool.name).collect();
            let what = format!("there is no tool {:?}; the tools are {}", request.name, names.join(", "));
            return Err(ErrorData::invalid_params(what, None));
        };
        Ok(self.call(tool, request.arguments.unwrap_or_default(), context).await?.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        self.resources(context, move |work| resources::list(&work.directory, cursor.as_deref())).await
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = self.resources(context, move |work| resources::read(work, &request.uri)).await?;
        Ok(read.into())
    }
}

impl McpServer {
    async fn resources<T: Send + 'static>(
        &self,
        context: RequestContext<RoleServer>,
        work: impl FnOnce(&CallContext) -> Result<T, ErrorData> + Send + 'static,
    ) -> Result<T, ErrorData> {
        match self.work(ToolEffect::Reads, context, work).await {
            Ok(outcome) => outcome,
            Err(CallFailure::Cancelled) => Err(ErrorData::internal_error("cancelled", None)),
            Err(CallFailure::Panicked) => {
                Err(ErrorData::internal_error("a bug in lockstep; the server goes on", None))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rmcp::service::ServiceExt as _;
    use serde_json::{Value, json};
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

    use super::*;

    /// Returns the answers of a server with these tools to these messages, by id.
    fn answers(tools: Vec<ToolDefinition>, messages: &[Value]) -> Vec<Value> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let greeting = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
        let lines: String =
            [&greeting].into_iter().chain(messages).map(|message| format!("{message}\n")).collect();
        let expected = messages.iter().filter(|message| message["id"].is_number()).count() + 1;
        runtime.block_on(async {
            let (ours, theirs) = tokio::io::duplex(1 << 20);
            let server = McpServer { tools, ..McpServer::new(PathBuf::from("/"), CallerIdentity::default()) };
            tokio::spawn(async move { server.serve(theirs).await.unwrap().waiting().await });
            let (read, mut write) = tokio::io::split(ours);
            write.write_all(lines.as_bytes()).await.unwrap();
            let mut read = BufReader::new(read).lines();
            let mut answers = Vec::new();
            while answers.len() < expected {
                let line =
                    tokio::time::timeout(Duration::from_secs(60), read.next_line()).await.unwrap().unwrap();
                let answer: Value = serde_json::from_str(&line.unwrap()).unwrap();
                answers.push(answer);
            }
            answers.sort_by_key(|answer| answer["id"].as_u64());
            answers
        })
    }

    #[test]
    fn panic_in_a_tool_fails_only_that_call() {
        let tools = tools::all();
        let broken = |effect| {
            let mut tool = tools[0].clone();
            tool.effect = effect;
            tool.call = |_, _| panic!("on purpose");
            tool
        };
        let call = |id: u64| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "impact"}});
        for effect in [ToolEffect::Reads, ToolEffect::Writes] {
            // More than the number of slots: each must release its slot.
            let messages: Vec<Value> = (1..=9).map(call).collect();
            for answer in &answers(vec![broken(effect)], &messages)[1..] {
                assert_eq!(answer["result"]["isError"], true, "{answer}");
                let text = answer["result"]["content"][0]["text"].as_str().unwrap();
                assert!(
                    text.contains("a bug in lockstep") && text.contains("hint: the server goes on"),
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn oversized_error_is_truncated_with_a_note() {
        let limits = McpClientLimits::of(None);
        let result = failed(&"é".repeat(60_000), limits);
        let text = serde_json::to_value(&result).unwrap()["content"][0]["text"].as_str().unwrap().to_owned();
        assert!(text_cost(&text) <= limits.page() + 200 && text.contains("too long"), "{}", text_cost(&text));
        assert_eq!(result.is_error, Some(true));
    }
}
