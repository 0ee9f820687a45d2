//! The requests that the client sent to the model, and queries about them.
//!
//! Every request of a conversation repeats the complete history. The number of deliveries of a text is
//! therefore counted in *one* request, the last ([`Conversation::count`]), and whether it was ever delivered
//! is checked in all of them ([`Transcript::recipients_of`]), because a compacted history forgets. The model's own
//! texts are in the history too, but never count as delivered.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestAgent {
    /// The client's main agent.
    Lead,
    Subagent(String),
    /// A subagent whose prompt has no tag of the scenario, by the client's id for it.
    Unscripted(String),
    /// No agent: a request of the client itself (a title, a summary, a token count).
    ClientInternal,
}

#[derive(Debug, Clone)]
pub struct ModelRequest {
    pub agent: RequestAgent,
    /// The client's id for the subagent: the `agent_id` of its hooks.
    pub agent_id: Option<String>,
    /// The index of the scripted turn of the reply; `None` if the script had no more.
    pub turn: Option<usize>,
    /// The request's target, for example `/v1/messages?beta=true`.
    pub path: String,
    pub body: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextSource {
    /// The system prompt, or a system message amid the conversation (this client sends both).
    System,
    /// The text of the user, or of the Lead to its subagent.
    User,
    /// The content of a `<system-reminder>`, at any position.
    Reminder,
    ToolResult,
    /// The model's text, including tool inputs.
    Assistant,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestText {
    pub kind: TextSource,
    pub text: String,
}

/// The requests of one agent, oldest first.
#[derive(Debug, Clone)]
pub struct Conversation<'a> {
    requests: Vec<&'a ModelRequest>,
}

/// All requests of a run, in the order in which they arrived.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    requests: Vec<ModelRequest>,
}

impl RequestAgent {
    pub fn subagent(tag: impl Into<String>) -> Self {
        Self::Subagent(tag.into())
    }
}

impl fmt::Display for RequestAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lead => f.write_str("the Lead"),
            Self::Subagent(tag) => write!(f, "subagent {tag}"),
            Self::Unscripted(id) => write!(f, "unscripted subagent {id}"),
            Self::ClientInternal => f.write_str("the client itself"),
        }
    }
}

impl ModelRequest {
    /// Every text of the request, in order: system prompt, then messages.
    pub fn texts(&self) -> Vec<RequestText> {
        let mut texts = Vec::new();
        collect(TextSource::System, &self.body["system"], &mut texts);
        let messages = self.body["messages"].as_array().into_iter().flatten();
        texts.extend(messages.flat_map(texts_of_message));
        texts
    }

    /// Returns how often `needle` was delivered in this request.
    pub fn count(&self, needle: &str) -> usize {
        assert!(!needle.is_empty(), "an empty text is everywhere");
        let delivered = self.texts().into_iter().filter(|text| text.kind != TextSource::Assistant);
        delivered.map(|text| text.text.matches(needle).count()).sum()
    }
}

impl<'a> Conversation<'a> {
    pub fn requests(&self) -> &[&'a ModelRequest] {
        &self.requests
    }

    /// The texts of request `k`, counted from 0.
    pub fn texts(&self, k: usize) -> Vec<RequestText> {
        self.requests.get(k).map(|request| request.texts()).unwrap_or_default()
    }

    /// Returns how often `needle` occurs in the conversation, counted in its last request, which has the
    /// history.
    pub fn count(&self, needle: &str) -> usize {
        self.requests.last().map_or(0, |request| request.count(needle))
    }

    /// The index of the first request that contained `needle`.
    pub fn first_with(&self, needle: &str) -> Option<usize> {
        self.requests.iter().position(|request| request.count(needle) > 0)
    }
}

impl Transcript {
    pub(crate) fn new(requests: Vec<ModelRequest>) -> Self {
        Self { requests }
    }

    /// All requests, in the order in which they arrived.
    pub fn requests(&self) -> &[ModelRequest] {
        &self.requests
    }

    pub fn lead(&self) -> Conversation<'_> {
        Conversation {
            requests: self.requests.iter().filter(|request| request.agent == RequestAgent::Lead).collect(),
        }
    }

    /// The conversations of the subagents with this tag, one per agent that the client started.
    pub fn subagents(&self, tag: &str) -> Vec<Conversation<'_>> {
        let mut conversations: Vec<Conversation<'_>> = Vec::new();
        let tagged =
            |request: &&ModelRequest| matches!(&request.agent, RequestAgent::Subagent(own) if own == tag);
        for request in self.requests.iter().filter(tagged) {
            match conversations.iter_mut().find(|known| known.requests[0].agent_id == request.agent_id) {
                Some(known) => known.requests.push(request),
                None => conversations.push(Conversation { requests: vec![request] }),
            }
        }
        conversations
    }

    /// Returns every agent to which `needle` was ever delivered, in any request.
    pub fn recipients_of(&self, needle: &str) -> BTreeSet<RequestAgent> {
        let saw = self.requests.iter().filter(|request| request.count(needle) > 0);
        saw.map(|request| request.agent.clone()).collect()
    }
}

/// Formats an outline for the message of a failed assertion: the sender of each request, and the end of its
/// texts.
impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, request) in self.requests.iter().enumerate() {
            let ModelRequest { agent, turn, path, .. } = request;
            writeln!(f, "{number}. {agent}, {path}, answered with turn {turn:?}")?;
            let texts = request.texts();
            for RequestText { kind, text } in texts.iter().rev().take(4).rev() {
                let start: String = text.trim().chars().take(200).collect();
                writeln!(f, "   {kind:?}: {}", start.replace('\n', "\n   | "))?;
            }
        }
        Ok(())
    }
}

pub(crate) fn texts_of_message(message: &Value) -> Vec<RequestText> {
    let kind = match message["role"].as_str() {
        Some("assistant") => TextSource::Assistant,
        Some("system") => TextSource::System,
        _ => TextSource::User,
    };
    let mut texts = Vec::new();
    collect(kind, &message["content"], &mut texts);
    texts
}

/// Content is a text, a block, or a list of blocks; a tool result holds content again.
fn collect(kind: TextSource, content: &Value, texts: &mut Vec<RequestText>) {
    match content {
        Value::String(text) => split_reminders(kind, text, texts),
        Value::Array(blocks) => blocks.iter().for_each(|block| collect(kind, block, texts)),
        Value::Object(block) => match block.get("type").and_then(Value::as_str) {
            Some("tool_result") => collect(TextSource::ToolResult, &content["content"], texts),
            Some("tool_use") => texts.push(RequestText { kind, text: content["input"].to_string() }),
            _ => collect(kind, &content["text"], texts),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Splits off the texts that the client adds in `<system-reminder>`, sometimes inside another text.
fn split_reminders(kind: TextSource, text: &str, texts: &mut Vec<RequestText>) {
    const OPEN: &str = "<system-reminder>";
    const CLOSE: &str = "</system-reminder>";
    let mut push = |kind, text: &str| {
        if !text.trim().is_empty() {
            texts.push(RequestText { kind, text: text.to_owned() });
        }
    };
    let mut rest = text;
    // The model's text is its own even if it quotes a reminder.
    while kind != TextSource::Assistant
        && let Some((before, inside)) = rest.split_once(OPEN)
        && let Some((inside, after)) = inside.split_once(CLOSE)
    {
        push(kind, before);
        push(TextSource::Reminder, inside);
        rest = after;
    }
    push(kind, rest);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request(agent: RequestAgent, agent_id: Option<&str>, messages: Value) -> ModelRequest {
        let body = json!({"system": [{"type": "text", "text": "be good"}], "messages": messages});
        ModelRequest {
            agent,
            agent_id: agent_id.map(Into::into),
            turn: Some(0),
            path: "/v1/messages".into(),
            body,
        }
    }

    #[test]
    fn texts_are_distinguished_by_source() {
        let request = request(
            RequestAgent::Lead,
            None,
            json!([
                {"role": "user", "content": "a <system-reminder>r1</system-reminder> b <system-reminder>open"},
                {"role": "assistant", "content": [{"type": "tool_use", "input": {"x": "said"}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "content": [{"type": "text", "text": "out"}]},
                    {"type": "tool_result", "content": "plain<system-reminder>r2</system-reminder>"},
                ]},
                {"role": "system", "content": "notice"},
            ]),
        );
        let texts: Vec<_> = request.texts().into_iter().map(|t| (t.kind, t.text.trim().to_owned())).collect();
        let expected = [
            (TextSource::System, "be good"),
            (TextSource::User, "a"),
            (TextSource::Reminder, "r1"),
            (TextSource::User, "b <system-reminder>open"),
            (TextSource::Assistant, r#"{"x":"said"}"#),
            (TextSource::ToolResult, "out"),
            (TextSource::ToolResult, "plain"),
            (TextSource::Reminder, "r2"),
            (TextSource::System, "notice"),
        ];
        assert_eq!(texts, expected.map(|(kind, text)| (kind, text.to_owned())));
    }

    #[test]
    fn a_repeated_history_counts_once_and_a_forgotten_one_was_seen() {
        let alert = json!({"role": "user", "content": "ALERT"});
        let echo = json!({"role": "assistant", "content": "ALERT, I see"});
        let transcript = Transcript::new(vec![
            request(RequestAgent::Lead, None, json!([{"role": "user", "content": "go"}])),
            request(RequestAgent::Lead, None, json!([alert])),
            request(RequestAgent::subagent("S"), Some("1"), json!([{"role": "user", "content": "SECRET"}])),
            request(RequestAgent::Lead, None, json!([alert, echo])),
            request(RequestAgent::subagent("S"), Some("1"), json!([{"role": "user", "content": "summary"}])),
            request(
                RequestAgent::subagent("S"),
                Some("2"),
                json!([{"role": "assistant", "content": "ALERT"}]),
            ),
        ]);
        assert_eq!(transcript.lead().count("ALERT"), 1);
        assert_eq!(transcript.lead().first_with("ALERT"), Some(1));
        assert_eq!(transcript.recipients_of("ALERT"), [RequestAgent::Lead].into());
        assert_eq!(transcript.recipients_of("SECRET"), [RequestAgent::subagent("S")].into());
        let counts: Vec<_> = transcript.subagents("S").iter().map(|c| c.requests().len()).collect();
        assert_eq!(counts, [2, 1]);
        assert!(transcript.to_string().contains("5. subagent S"), "{transcript}");
    }
}
