//! The definition of a tool: a name, arguments and a result with their schemas, and its function.

use std::sync::Arc;

use rmcp::model::{JsonObject, ToolAnnotations};
use schemars::JsonSchema;
use schemars::generate::{Contract, SchemaSettings};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::call_context::CallContext;
use super::pagination::NEXT_CURSOR;
use crate::command_output::CommandOutput;
use crate::error::{CommandError, CommandResult};
use crate::steps::StepsError;
use crate::steps::output::StepRefusalOutput;
use crate::task::TaskError;
use crate::task::output::TaskRefusalOutput;

/// The argument that requests the next page.
pub(super) const CURSOR: &str = "cursor";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolEffect {
    /// Nothing, but keeping the index up to date in an active project.
    Reads,
    /// Changes the state of Lockstep.
    Writes,
    /// Can also run a command.
    Runs,
}

/// A tool with its arguments as fields. Its description is the type's documentation.
pub(super) trait McpTool: DeserializeOwned + JsonSchema {
    const NAME: &'static str;
    const EFFECT: ToolEffect;
    type Output: CommandOutput + JsonSchema;

    fn call(self, work: &CallContext) -> Result<Self::Output, ToolError>;
}

/// The reason why a tool has no result.
#[derive(Debug)]
pub(super) enum ToolError {
    /// The request was refused, with every reason.
    Refused(String),
    Failed(CommandError),
}

impl ToolError {
    /// Renders the failure, its reason and its fix.
    pub(super) fn render(&self) -> String {
        match self {
            Self::Refused(text) => text.clone(),
            Self::Failed(error) => error.render(),
        }
    }
}

impl From<CommandError> for ToolError {
    fn from(error: CommandError) -> Self {
        Self::Failed(error)
    }
}

impl From<TaskError> for ToolError {
    fn from(error: TaskError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<TaskRefusalOutput> for ToolError {
    fn from(refused: TaskRefusalOutput) -> Self {
        Self::Refused(refused.text())
    }
}

impl From<StepsError> for ToolError {
    fn from(error: StepsError) -> Self {
        match error.into_refusal() {
            Ok(problems) => Self::Refused(StepRefusalOutput::new(problems).text()),
            Err(failure) => Self::Failed(failure.into()),
        }
    }
}

/// The result of a tool: for programs, and for people and models.
#[derive(Debug)]
pub(super) struct ToolOutput {
    pub(super) data: Value,
    pub(super) text: String,
}

/// A tool among others.
#[derive(Debug, Clone)]
pub(super) struct ToolDefinition {
    pub(super) name: &'static str,
    pub(super) effect: ToolEffect,
    description: String,
    input: Arc<JsonObject>,
    output: Arc<JsonObject>,
    pub(super) call: fn(JsonObject, &CallContext) -> Result<ToolOutput, ToolError>,
}

impl ToolDefinition {
    pub(super) fn of<T: McpTool>() -> Self {
        let mut input = schema::<T>(Contract::Deserialize);
        let description = match input.remove("description") {
            Some(Value::String(text)) => {
                text.replace("\n\n", "\u{0}").replace('\n', " ").replace('\u{0}', "\n\n")
            }
            _ => String::new(),
        };
        let cursor = "The next_cursor of an earlier result of this tool: gives its next page; other arguments are then ignored";
        property(&mut input, CURSOR, cursor);
        let mut output = schema::<T::Output>(Contract::Serialize);
        output.remove("description");
        property(&mut output, NEXT_CURSOR, "There is more: call the tool again with this as its cursor");
        let (input, output) = (Arc::new(input), Arc::new(output));
        Self { name: T::NAME, effect: T::EFFECT, description, input, output, call: call::<T> }
    }

    /// The tool as clients see it.
    pub(super) fn to_mcp_tool(&self) -> rmcp::model::Tool {
        let hints = ToolAnnotations::new()
            .read_only(self.effect == ToolEffect::Reads)
            .destructive(self.effect == ToolEffect::Runs)
            .open_world(self.effect == ToolEffect::Runs);
        rmcp::model::Tool::new(self.name, self.description.clone(), Arc::clone(&self.input))
            .with_raw_output_schema(Arc::clone(&self.output))
            .with_annotations(hints)
    }
}

fn call<T: McpTool>(arguments: JsonObject, work: &CallContext) -> Result<ToolOutput, ToolError> {
    let reply = read::<T>(arguments)?.call(work)?;
    let data = serde_json::to_value(&reply).expect("our own data is maps with text keys, lists and scalars");
    Ok(ToolOutput { data, text: reply.text() })
}

/// Parses the arguments. The error lists all unknown names at once.
fn read<T: McpTool>(arguments: JsonObject) -> CommandResult<T> {
    let schema = schema::<T>(Contract::Deserialize);
    let empty = Map::new();
    let known = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let unknown = arguments
        .keys()
        .filter(|name| !known.contains_key(*name))
        .map(|name| format!("there is no {name:?}"));
    let missing = required
        .iter()
        .filter(|name| !arguments.contains_key(**name))
        .map(|name| format!("{name:?} is missing"));
    let mut problems: Vec<String> = unknown.chain(missing).collect();
    if problems.is_empty() {
        match serde_json::from_value(Value::Object(arguments)) {
            Ok(input) => return Ok(input),
            Err(error) => problems.push(error.to_string()),
        }
    }
    let takes: Vec<String> = known
        .keys()
        .map(
            |name| {
                if required.contains(&name.as_str()) { format!("{name} (required)") } else { name.clone() }
            },
        )
        .collect();
    let takes = if takes.is_empty() { "nothing".to_owned() } else { takes.join(", ") };
    let what = format!("the arguments of {} do not fit: {}", T::NAME, problems.join("; "));
    Err(CommandError::usage(what).hint(format!("it takes {takes}")))
}

/// The schema of a type as it is read or written, in one piece: not every client follows references.
fn schema<T: JsonSchema>(contract: Contract) -> JsonObject {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    settings.contract = contract;
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    drop_widths(&mut schema);
    let Value::Object(mut schema) = schema else { return Map::new() };
    schema.remove("title");
    schema
}

/// Removes the widths of Rust's numbers: no standard defines these formats, and clients complain.
fn drop_widths(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            let is_number = matches!(fields.get("type"), Some(kind) if kind != "string");
            if is_number && matches!(fields.get("format"), Some(Value::String(_))) {
                fields.remove("format");
            }
            fields.values_mut().for_each(drop_widths);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_widths),
        _ => {}
    }
}

fn property(schema: &mut JsonObject, name: &str, description: &str) {
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    properties[name] = json!({"type": "string", "description": description});
}
