//! Claude Code's event JSON. Every field is optional and read on its own: one field of an unexpected type is absent,
//! it does not spoil the event.

use std::path::PathBuf;

use lockstep_model::change::ChangeTool;
use lockstep_model::event::{
    Actor, Event, EventKind, OriginalContent, StopEvent, ToolCall, ToolOutcome, ToolUse, Undo, Workflow,
};
use lockstep_model::ids::{AgentId, SessionId, SessionIdError, ToolUseId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::mcp_use::{self, McpUse};
use super::{edits, lenient, task_list};
use crate::ParseEventError;

/// The fields that Lockstep reads, still unparsed. Tool inputs and outputs can have megabytes, so they are
/// skipped, and parsed only for the tools that Lockstep evaluates.
#[derive(Deserialize)]
struct RawEvent<'a> {
    #[serde(borrow, default)]
    hook_event_name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    session_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    cwd: Option<&'a RawValue>,
    #[serde(borrow, default)]
    transcript_path: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "deserialize_even_null")]
    agent_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    agent_type: Option<&'a RawValue>,
    #[serde(borrow, default)]
    agent_transcript_path: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_use_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_response: Option<&'a RawValue>,
    #[serde(borrow, default)]
    source: Option<&'a RawValue>,
    #[serde(borrow, default)]
    reason: Option<&'a RawValue>,
    #[serde(borrow, default)]
    trigger: Option<&'a RawValue>,
    #[serde(borrow, default)]
    prompt: Option<&'a RawValue>,
    #[serde(borrow, default)]
    stop_hook_active: Option<&'a RawValue>,
}

/// Reads one event. Flaws of the encoding are tolerated; an event that waits for a decision must be clear in all it is decided by.
pub fn parse(bytes: &[u8]) -> Result<Event, ParseEventError> {
    let text = lenient::decode(bytes);
    match text.trim_ascii_start().bytes().next() {
        None => return Err(ParseEventError::Empty),
        Some(b'{') => {}
        // serde would accept an array as the fields in order.
        Some(_) => return Err(ParseEventError::NotAnObject),
    }
    parse_text(&text).or_else(|error| match lenient::escape_controls(&text) {
        Some(escaped) => parse_text(&escaped),
        None => Err(error),
    })
}

fn parse_text(json: &str) -> Result<Event, ParseEventError> {
    let mut documents = serde_json::Deserializer::from_str(json).into_iter::<RawEvent<'_>>();
    let fields = documents.next().ok_or(ParseEventError::Empty)?.map_err(ParseEventError::Json)?;
    let has_more = !json[documents.byte_offset()..].trim_ascii().is_empty();
    let is_word = |name: &String| name.chars().any(char::is_alphanumeric);
    let name = text(fields.hook_event_name).filter(is_word).ok_or(ParseEventError::NoName)?;
    if !name.chars().filter(|c| c.is_alphanumeric()).all(|c| c.is_ascii()) {
        return Err(ParseEventError::ForeignName(name));
    }
    let name = known_name(name.replace(['_', '-'], ""), &EVENTS);
    if has_more {
        return Err(ParseEventError::Trailing);
    }
    if name == "PreToolUse" {
        check_input(&fields)?;
    }
    Ok(Event {
        session: text(fields.session_id).ok_or(SessionIdError::Empty).and_then(|id| SessionId::new(&id)),
        cwd: text(fields.cwd).map(PathBuf::from),
        transcript: transcript(&fields),
        actor: actor(&fields),
        kind: kind(name, &fields),
    })
}

/// The names of events that are answered.
const EVENTS: [&str; 10] = [
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "PreCompact",
];

/// The names of tools whose calls gates decide.
const DECIDED_TOOLS: [&str; 11] = [
    "Bash",
    "Monitor",
    "PowerShell",
    "Workflow",
    "SendMessage",
    "Agent",
    "Task",
    "Edit",
    "Write",
    "MultiEdit",
    "NotebookEdit",
];

/// Returns the known name that differs from `name` only in case, or in characters that are no letters.
fn known_name(name: String, known: &[&str]) -> String {
    if known.contains(&name.as_str()) {
        return name;
    }
    let letters: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    // Other letters make another name.
    let is_other =
        name.chars().any(|c| c.is_alphanumeric() && !c.is_ascii() || matches!(c, '_' | '-' | ':' | '.'));
    match known.iter().find(|one| one.eq_ignore_ascii_case(&letters)) {
        Some(one) if !is_other => (*one).to_owned(),
        _ => name,
    }
}

fn tool_name(fields: &RawEvent<'_>) -> Option<String> {
    text(fields.tool_name).map(|name| known_name(name, &DECIDED_TOOLS))
}

fn kind(name: String, fields: &RawEvent<'_>) -> EventKind {
    match name.as_str() {
        "SessionStart" => EventKind::SessionStart { source: text(fields.source).unwrap_or_default() },
        "SessionEnd" => EventKind::SessionEnd { reason: text(fields.reason).unwrap_or_default() },
        "UserPromptSubmit" => EventKind::UserPromptSubmit { prompt: text(fields.prompt).unwrap_or_default() },
        "PreToolUse" => EventKind::PreToolUse(tool_call(fields)),
        "PostToolUse" => EventKind::PostToolUse { call: tool_call(fields), outcome: outcome(fields) },
        "PostToolUseFailure" => EventKind::PostToolUseFailure(tool_call(fields)),
        "SubagentStart" => EventKind::SubagentStart,
        "SubagentStop" => EventKind::SubagentStop(stop(fields)),
        "Stop" => EventKind::Stop(stop(fields)),
        "PreCompact" => EventKind::PreCompact { trigger: text(fields.trigger).unwrap_or_default() },
        _ => EventKind::Other(name),
    }
}

/// The client's prefix for the names of our plugin's agents.
const PLUGIN_PREFIX: &str = "lockstep:";

fn actor(fields: &RawEvent<'_>) -> Actor {
    match agent_id(fields) {
        Some(id) => Actor::Subagent { id, agent_type: agent_type(fields.agent_type) },
        None => Actor::Lead,
    }
}

/// Returns the id of the acting agent. Without the field it is the Lead, which may have its own type
/// (`--agent`).
///
/// A field that is not a valid id does not belong to the Lead, because the client sends one for agents only.
/// `null` without a type counts as absent.
fn agent_id(fields: &RawEvent<'_>) -> Option<AgentId> {
    let raw = fields.agent_id?;
    let given = text(Some(raw)).or_else(|| value::<u64>(Some(raw)).map(|number| number.to_string()));
    let is_absent = raw.get() == "null" && agent_type(fields.agent_type).is_none_or(|name| name.is_empty());
    match given.and_then(|id| AgentId::new(&id)) {
        None if is_absent => None,
        None => Some(AgentId::unnamed()),
        known => known,
    }
}

/// Returns an agent's type. The client names an agent of a plugin `PLUGIN:NAME`. The prefix of our own plugin
/// is removed, so that its agents have the same names as those in a project's `.claude/agents`. Agents of
/// other plugins keep their prefix, because a name alone must not grant rights.
fn agent_type(raw: Option<&RawValue>) -> Option<String> {
    let name = text(raw)?;
    Some(name.strip_prefix(PLUGIN_PREFIX).map(str::to_owned).unwrap_or(name))
}

/// Returns the transcript of the acting agent. Tool events name only the session's transcript; a subagent's
/// is next to it.
fn transcript(fields: &RawEvent<'_>) -> Option<PathBuf> {
    let session = text(fields.transcript_path).map(PathBuf::from);
    match agent_id(fields) {
        None => session,
        Some(agent) => {
            let own = text(fields.agent_transcript_path).map(PathBuf::from);
            own.or_else(|| Some(super::transcript::subagent_transcript_path(&session?, &agent)))
        }
    }
}

fn stop(fields: &RawEvent<'_>) -> StopEvent {
    StopEvent { already_continued: value(fields.stop_hook_active).unwrap_or(false) }
}

/// The relevant fields of the inputs of the tools that Lockstep evaluates.
#[derive(Deserialize)]
struct RawToolInput<'a> {
    #[serde(borrow, default)]
    file_path: Option<&'a RawValue>,
    #[serde(borrow, default)]
    notebook_path: Option<&'a RawValue>,
    #[serde(borrow, default)]
    command: Option<&'a RawValue>,
    #[serde(borrow, default)]
    subagent_type: Option<&'a RawValue>,
    #[serde(borrow, default)]
    prompt: Option<&'a RawValue>,
    #[serde(borrow, default)]
    run_in_background: Option<&'a RawValue>,
    #[serde(borrow, default)]
    old_string: Option<&'a RawValue>,
    #[serde(borrow, default)]
    new_string: Option<&'a RawValue>,
    #[serde(borrow, default)]
    replace_all: Option<&'a RawValue>,
    #[serde(borrow, default)]
    edits: Option<&'a RawValue>,
    #[serde(borrow, default)]
    script: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "scriptPath")]
    script_path: Option<&'a RawValue>,
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    args: Option<&'a RawValue>,
    #[serde(borrow, default)]
    to: Option<&'a RawValue>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
}

impl<'a> RawToolInput<'a> {
    /// The replacements of `Edit`, or of `MultiEdit`.
    fn edits(&self) -> edits::ReplacementInput<'a> {
        edits::ReplacementInput {
            old: self.old_string,
            new: self.new_string,
            all: self.replace_all,
            several: self.edits,
        }
    }
}

fn tool_call(fields: &RawEvent<'_>) -> ToolCall {
    let name = tool_name(fields).unwrap_or_default();
    let id = text(fields.tool_use_id).and_then(|id| ToolUseId::new(&id));
    let inner = input_in_text(fields.tool_input);
    let input = inner.as_deref().or(fields.tool_input);
    if let Some(call) = task_list::parse_task_list_call(&name, input, fields.tool_response) {
        return ToolCall { id, tool: ToolUse::TaskList(call) };
    }
    if let Some(McpUse { command, writes }) = mcp_use::read(&name, input) {
        return ToolCall { id, tool: ToolUse::Mcp { name, command, writes } };
    }
    let input: Option<RawToolInput<'_>> = input.and_then(|raw| serde_json::from_str(raw.get()).ok());
    ToolCall { id, tool: tool(name, input.as_ref(), fields.tool_response) }
}

/// Returns a tool's input that is the text of a JSON object.
fn input_in_text(input: Option<&RawValue>) -> Option<Box<RawValue>> {
    serde_json::from_str(&text(input)?).ok()
}

/// Refuses a call if the fields that gates evaluate are ambiguous: a repeated key, or a value that is missing or of another
/// type.
fn check_input(fields: &RawEvent<'_>) -> Result<(), ParseEventError> {
    let is_word = |name: &String| name.chars().any(char::is_alphanumeric);
    let name = tool_name(fields).filter(is_word).ok_or(ParseEventError::NoTool)?;
    if name.chars().any(|c| c.is_alphanumeric() && !c.is_ascii()) {
        return Err(ParseEventError::ForeignName(name));
    }
    if !DECIDED_TOOLS.contains(&name.as_str()) {
        return Ok(());
    }
    let unreadable = || ParseEventError::Input(name.clone());
    let inner = input_in_text(fields.tool_input);
    let raw = inner.as_deref().or(fields.tool_input).ok_or_else(unreadable)?;
    if !raw.get().starts_with('{') {
        return Err(unreadable());
    }
    let input: RawToolInput<'_> = serde_json::from_str(raw.get()).map_err(|_| unreadable())?;
    let texts = [input.file_path, input.notebook_path, input.prompt, input.subagent_type];
    let is_text = |raw: Option<&RawValue>| raw.is_none() || text(raw).is_some();
    let decides = match name.as_str() {
        "Bash" | "Monitor" | "PowerShell" => command(input.command).is_some(),
        "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => {
            // Of two paths, the client writes one.
            input.file_path.is_some() != input.notebook_path.is_some()
        }
        "Agent" | "Task" => input.prompt.is_some(),
        _ => true,
    };
    if decides && texts.into_iter().all(is_text) { Ok(()) } else { Err(unreadable()) }
}

/// Returns a shell command: a text, or a list of words.
fn command(raw: Option<&RawValue>) -> Option<String> {
    text(raw).or_else(|| value::<Vec<String>>(raw).map(|words| joined(&words)))
}

/// Returns the command of a list of words. If words have blanks, they may be arguments, or parts of one text: both are given.
pub(super) fn joined(words: &[String]) -> String {
    let plain = words.join(" ");
    if words.len() < 2 || !words.iter().any(|word| word.contains(char::is_whitespace)) {
        return plain;
    }
    let quote = |word: &String| format!("'{}'", word.replace('\'', "'\\''"));
    let quoted: Vec<String> = words.iter().map(quote).collect();
    format!("{}\n{plain}", quoted.join(" "))
}

fn tool(name: String, input: Option<&RawToolInput<'_>>, response: Option<&RawValue>) -> ToolUse {
    let of = |pick: fn(&RawToolInput<'_>) -> Option<String>| input.and_then(pick);
    match (name.as_str(), ChangeTool::from_name(&name)) {
        // `Sweep` is our name for changes that no tool reported. A client's tool with that name is something
        // else.
        (_, Some(tool)) if tool != ChangeTool::Sweep => {
            let undo = input.map_or_else(Undo::default, |input| edits::undo(input.edits(), response));
            let path = of(|i| text(i.file_path).or_else(|| text(i.notebook_path)));
            // A tool that replaced a text cannot have created the file.
            let is_possible =
                |former: &OriginalContent| *former != OriginalContent::Absent || !undo.had_text();
            ToolUse::File {
                tool,
                path: path.filter(|path| !path.is_empty()).map(PathBuf::from),
                former: original_content(response).filter(is_possible),
                undo,
            }
        }
        // A monitor is a shell command whose output is watched.
        ("Bash" | "Monitor" | "PowerShell", _) => ToolUse::Bash {
            command: of(|i| command(i.command)).unwrap_or_default(),
            edits: edits::of_command(response),
            background: edits::background_task(response),
        },
        ("Agent" | "Task", _) => ToolUse::Agent {
            agent_type: of(|i| agent_type(i.subagent_type)),
            prompt: of(|i| text(i.prompt)).unwrap_or_default(),
            background: input.and_then(|i| value(i.run_in_background)).unwrap_or(false),
        },
        ("Workflow", _) => ToolUse::Workflow(Workflow {
            script: of(|i| text(i.script)),
            script_path: of(|i| text(i.script_path)).filter(|path| !path.is_empty()).map(PathBuf::from),
            name: of(|i| text(i.name)).filter(|name| !name.is_empty()),
            args: input.map_or_else(Vec::new, |i| all_texts(i.args)),
        }),
        ("SendMessage", _) => ToolUse::Message {
            to: of(|i| text(i.to)).unwrap_or_default(),
            text: input.map_or_else(String::new, |i| all_texts(i.message).join("\n")),
        },
        _ => ToolUse::Other(name),
    }
}

/// Every text in a value, the names of its fields included.
fn all_texts(raw: Option<&RawValue>) -> Vec<String> {
    fn collect(value: &Value, texts: &mut Vec<String>) {
        match value {
            Value::String(text) => texts.push(text.clone()),
            Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
            Value::Object(fields) => fields.iter().for_each(|(name, field)| {
                texts.push(name.clone());
                collect(field, texts);
            }),
            _ => {}
        }
    }
    let mut texts = Vec::new();
    if let Some(value) = value::<Value>(raw) {
        collect(&value, &mut texts);
    }
    texts
}

#[derive(Deserialize)]
struct RawToolResponse<'a> {
    #[serde(borrow, default)]
    success: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawFileResponse<'a> {
    #[serde(borrow, default, rename = "originalFile", deserialize_with = "deserialize_even_null")]
    original: Option<&'a RawValue>,
}

/// Deserialises a field that is present, even if it is `null`; serde would treat that as missing.
fn deserialize_even_null<'de: 'a, 'a, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Returns the file's previous content: `Absent` if it did not exist, `None` if the client does not report
/// it.
fn original_content(response: Option<&RawValue>) -> Option<OriginalContent> {
    let written: RawFileResponse<'_> = serde_json::from_str(response?.get()).ok()?;
    let original: Option<String> = serde_json::from_str(written.original?.get()).ok()?;
    Some(original.map_or(OriginalContent::Absent, OriginalContent::Text))
}

/// Only an explicit `success: false` is a failure: the client leaves the field out when all went well.
fn outcome(fields: &RawEvent<'_>) -> ToolOutcome {
    let response: Option<RawToolResponse<'_>> =
        fields.tool_response.and_then(|raw| serde_json::from_str(raw.get()).ok());
    match response.and_then(|r| value(r.success)) {
        Some(false) => ToolOutcome::Failed,
        _ => ToolOutcome::Succeeded,
    }
}

pub(super) fn text(raw: Option<&RawValue>) -> Option<String> {
    value(raw)
}

pub(super) fn value<T: DeserializeOwned>(raw: Option<&RawValue>) -> Option<T> {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
}

#[cfg(test)]
mod tests;
