//! Claude Code's transcripts: the prompt an agent was given, and what its work took. A line that is none is passed over.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lockstep_model::ids::AgentId;
use serde::Deserialize;
use serde_json::Value;

/// What an agent's work took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Answers of the model.
    pub turns: u64,
    /// Tokens the model read, cached or not.
    pub input_tokens: u64,
    /// Tokens the model wrote.
    pub output_tokens: u64,
}

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    message: Option<Message>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    role: String,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    content: Value,
    #[serde(default)]
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

/// Where the transcript of a subagent is, by that of its session.
pub fn of_subagent(session: &Path, agent: &AgentId) -> PathBuf {
    session.with_extension("").join("subagents").join(format!("agent-{agent}.jsonl"))
}

fn messages(transcript: &[u8]) -> impl Iterator<Item = Message> {
    let lines = transcript.split(|byte| *byte == b'\n');
    lines.filter_map(|line| serde_json::from_slice::<Line>(line).ok()?.message)
}

/// The first prompt in a transcript.
pub fn first_prompt(transcript: &[u8]) -> Option<String> {
    messages(transcript).find(|message| message.role == "user").map(|message| text(&message.content))
}

/// What the work in a transcript took. A message that is written in several lines counts once, as it was at last.
pub fn usage(transcript: &[u8]) -> Usage {
    let mut answers: BTreeMap<String, Option<TokenUsage>> = BTreeMap::new();
    for (at, message) in messages(transcript).filter(|message| message.role == "assistant").enumerate() {
        let id = message.id.unwrap_or_else(|| format!("line {at}"));
        answers.insert(id, message.usage);
    }
    let mut usage = Usage { turns: answers.len() as u64, ..Usage::default() };
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
    fn the_prompt_is_the_first_thing_said_to_the_agent() {
        assert_eq!(first_prompt(TRANSCRIPT.as_bytes()).as_deref(), Some("Do it\nnow"));
        let blocks = r#"{"message":{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}"#;
        assert_eq!(first_prompt(blocks.as_bytes()).as_deref(), Some("a\nb"));
        assert_eq!(first_prompt(b"\xff\n{}"), None);
    }

    #[test]
    fn a_message_in_several_lines_is_one_turn() {
        assert_eq!(usage(TRANSCRIPT.as_bytes()), Usage { turns: 2, input_tokens: 105, output_tokens: 20 });
    }

    #[test]
    fn a_subagents_transcript_is_found_beside_its_sessions() {
        let agent = AgentId::new("a0c6").unwrap();
        assert_eq!(
            of_subagent(Path::new("/c/s1.jsonl"), &agent),
            Path::new("/c/s1/subagents/agent-a0c6.jsonl")
        );
    }
}
