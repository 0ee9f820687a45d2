//! Claude Code's transcripts: the prompts of an agent, and the tokens and turns it used. Invalid lines are
//! skipped.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lockstep_model::ids::AgentId;
use serde::Deserialize;
use serde_json::Value;

/// The tokens and turns that an agent used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AgentUsage {
    /// Answers of the model.
    pub turns: u64,
    /// Tokens the model read, cached or not.
    pub input_tokens: u64,
    /// Tokens the model wrote.
    pub output_tokens: u64,
}

#[derive(Deserialize)]
struct TranscriptLine {
    #[serde(default, rename = "type")]
    kind: Option<String>,
    message: Option<TranscriptMessage>,
}

#[derive(Deserialize)]
struct TranscriptMessage {
    #[serde(default)]
    role: String,
    id: Option<String>,
    #[serde(default)]
    content: Value,
    usage: Option<TokenUsage>,
}

#[derive(Deserialize, Clone, Copy)]
struct TokenUsage {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    cache_creation_input_tokens: u64,
    #[serde(default)]
    cache_read_input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
}

/// Returns the path of a subagent's transcript, derived from that of its session.
pub fn subagent_transcript_path(session: &Path, agent: &AgentId) -> PathBuf {
    session.with_extension("").join("subagents").join(format!("agent-{agent}.jsonl"))
}

/// The messages of a conversation. Records of requests repeat them under another type.
fn messages(transcript: &[u8]) -> impl Iterator<Item = TranscriptMessage> {
    let lines = transcript.split(|byte| *byte == b'\n');
    lines.filter_map(|line| {
        let line: TranscriptLine = serde_json::from_slice(line).ok()?;
        let is_said = line.kind.is_none_or(|kind| kind == "user" || kind == "assistant");
        line.message.filter(|_| is_said)
    })
}

/// The prompts of an agent in order: the one that started it, and the messages that continued it.
pub fn prompts(transcript: &[u8]) -> impl Iterator<Item = String> {
    let from_user = messages(transcript).filter(|message| message.role == "user");
    let texts = from_user.map(|message| text(&message.content));
    texts.filter(|text| !text.is_empty() && !text.starts_with(REMINDER)).map(|text| unwrap(&text))
}

/// The prefix of texts that the client adds.
const REMINDER: &str = "<system-reminder>";

/// Returns the prompt of a workflow's script as the script wrote it: the client puts a line before it, and indents the rest.
fn unwrap(text: &str) -> String {
    match text.split_once('\n') {
        Some((frame, computed)) if frame.starts_with("[Workflow harness") => {
            let lines = computed.split('\n').map(|line| line.strip_prefix("  ").unwrap_or(line));
            lines.collect::<Vec<_>>().join("\n")
        }
        _ => text.to_owned(),
    }
}

/// Returns the usage in a transcript. A message that is written in several lines counts once, with its last
/// state.
pub fn usage(transcript: &[u8]) -> AgentUsage {
    let mut answers: BTreeMap<String, Option<TokenUsage>> = BTreeMap::new();
    for (at, message) in messages(transcript).filter(|message| message.role == "assistant").enumerate() {
        let id = message.id.unwrap_or_else(|| format!("line {at}"));
        answers.insert(id, message.usage);
    }
    let mut usage = AgentUsage { turns: answers.len() as u64, ..AgentUsage::default() };
    for tokens in answers.values().flatten() {
        usage.input_tokens +=
            tokens.input_tokens + tokens.cache_creation_input_tokens + tokens.cache_read_input_tokens;
        usage.output_tokens += tokens.output_tokens;
    }
    usage
}

/// A message is a text, or a list of blocks.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRANSCRIPT: &str = concat!(
        r#"{"type":"queue-operation"}"#,
        "\n",
        r#"{"type":"user","isSidechain":true,"message":{"role":"user","content":"Do it\nnow"}}"#,
        "\n",
        r#"{"type":"assistant","message":{"id":"m1","role":"assistant","content":[],"usage":{"input_tokens":100,"output_tokens":1}}}"#,
        "\n",
        r#"{"type":"assistant","message":{"id":"m1","role":"assistant","content":[],"usage":{"input_tokens":100,"cache_read_input_tokens":5,"output_tokens":20}}}"#,
        "\n",
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"x"}]}}"#,
        "\n",
        "torn {\n",
        r#"{"type":"assistant","message":{"id":"m2","role":"assistant","content":[]}}"#,
        "\n",
    );

    #[test]
    fn prompts_are_the_messages_to_the_agent() {
        let prompts = |transcript: &[u8]| prompts(transcript).collect::<Vec<_>>();
        assert_eq!(prompts(TRANSCRIPT.as_bytes()), ["Do it\nnow"], "the result of a tool is none");
        let blocks = r#"{"message":{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}"#;
        assert_eq!(prompts(blocks.as_bytes()), ["a\nb"]);
        assert_eq!(prompts(b"\xff\n{}"), [""; 0]);
    }

    #[test]
    fn messages_to_a_running_agent_and_tasks_of_a_workflow_are_prompts() {
        let transcript = concat!(
            r#"{"type":"user","message":{"role":"user","content":"[Workflow harness \u2014 computed task] The task follows:\n  a\n    b\n"}}"#,
            "\n",
            r#"{"type":"user","message":{"role":"user","content":"<system-reminder>\nOthers\n</system-reminder>"}}"#,
            "\n",
            r#"{"type":"api-request-blob","message":{"role":"user","content":"a copy"}}"#,
            "\n",
            r#"{"type":"user","isMeta":true,"message":{"role":"user","content":"The coordinator sent a message:\nc"}}"#,
        );
        let prompts: Vec<_> = prompts(transcript.as_bytes()).collect();
        assert_eq!(prompts, ["a\n  b\n", "The coordinator sent a message:\nc"]);
    }

    #[test]
    fn a_message_in_several_lines_is_one_turn() {
        assert_eq!(
            usage(TRANSCRIPT.as_bytes()),
            AgentUsage { turns: 2, input_tokens: 105, output_tokens: 20 }
        );
    }

    #[test]
    fn a_subagents_transcript_is_found_beside_its_sessions() {
        let agent = AgentId::new("a0c6").unwrap();
        assert_eq!(
            subagent_transcript_path(Path::new("/c/s1.jsonl"), &agent),
            Path::new("/c/s1/subagents/agent-a0c6.jsonl")
        );
    }
}
