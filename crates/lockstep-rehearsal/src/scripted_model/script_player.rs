//! Finds the speaker of a request and its turn.
//!
//! Claude Code names the subagent in a header (the `agent_id` of its hooks); the Lead has none. The
//! *scripted* subagent is found by the tag in its prompt. Clients without such a header are served by tags
//! alone.

use std::collections::{BTreeMap, HashMap};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::scenario::{Scenario, Turn, fill_value};
use crate::transcript::{RequestAgent, TextSource, texts_of_message};

/// The scenario in progress, with the progress of each speaker.
#[derive(Debug)]
pub(super) struct ScriptPlayer {
    scenario: Scenario,
    /// Per conversation (several agents may have the same tag): the last turn, and the messages it replied
    /// to.
    given: HashMap<(RequestAgent, Option<String>), (usize, Value)>,
    /// Makes ids differ between runs: a resumed session holds those of the run before.
    run: u128,
    replies: usize,
}

/// The next reply of the model.
#[derive(Debug)]
pub(super) struct ScriptedReply {
    pub(super) agent: RequestAgent,
    /// The index of the scripted turn; `None` if the script has no more, or never had any.
    pub(super) turn: Option<usize>,
    pub(super) content: Turn,
    /// Unique; message and tool-call ids are derived from it.
    pub(super) id: String,
}

impl ScriptPlayer {
    pub(super) fn new(scenario: Scenario) -> Self {
        let run = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        Self { scenario, given: HashMap::new(), run, replies: 0 }
    }

    pub(super) fn next_reply(&mut self, agent_id: Option<&str>, body: &Value) -> ScriptedReply {
        let agent = self.identify(agent_id, body);
        let index = self.advance(&agent, agent_id, &body["messages"]);
        let scripted = self.script(&agent).get(index).cloned();
        let turn = scripted.is_some().then_some(index);
        let content = scripted.map_or_else(|| Turn::text("Done."), |turn| self.fill_ids(turn));
        self.replies += 1;
        ScriptedReply { agent, turn, content, id: format!("{:x}_{}", self.run, self.replies) }
    }

    fn fill_ids(&self, mut turn: Turn) -> Turn {
        let ids: Vec<(String, &str)> = self
            .given
            .keys()
            .filter_map(|(agent, id)| match (agent, id) {
                (RequestAgent::Subagent(tag), Some(id)) => Some((format!("{{agent:{tag}}}"), id.as_str())),
                _ => None,
            })
            .collect();
        let fill = |text: &mut String| {
            for (placeholder, id) in &ids {
                *text = text.replace(placeholder, id);
            }
        };
        turn.tools
            .iter_mut()
            .flat_map(|tool| tool.input.values_mut())
            .for_each(|value| fill_value(value, &fill));
        turn
    }

    pub(super) fn unplayed(&self) -> BTreeMap<RequestAgent, usize> {
        let subagents =
            self.scenario.subagents.iter().map(|(tag, turns)| (RequestAgent::subagent(tag), turns));
        let all = std::iter::once((RequestAgent::Lead, &self.scenario.lead)).chain(subagents);
        all.map(|(agent, turns)| {
            let given = self.given.iter().filter(|((speaker, _), _)| *speaker == agent);
            let played = given.map(|(_, (last, _))| last + 1).max().unwrap_or(0);
            (agent, turns.len().saturating_sub(played))
        })
        .filter(|(_, left)| *left > 0)
        .collect()
    }

    fn identify(&self, agent_id: Option<&str>, body: &Value) -> RequestAgent {
        let prompt = prompt_without_reminders(body);
        let tag =
            self.scenario.subagents.keys().filter_map(|tag| Some((prompt.find(tag.as_str())?, tag))).min();
        match (tag, agent_id) {
            (Some((_, tag)), _) => RequestAgent::subagent(tag),
            (None, Some(id)) => RequestAgent::Unscripted(id.to_owned()),
            (None, None) if has_tools(body) || prompt.contains(&self.scenario.prompt) => RequestAgent::Lead,
            (None, None) => RequestAgent::ClientInternal,
        }
    }

    fn script(&self, agent: &RequestAgent) -> &[Turn] {
        match agent {
            RequestAgent::Lead => &self.scenario.lead,
            RequestAgent::Subagent(tag) => self.scenario.subagents.get(tag).map_or(&[], Vec::as_slice),
            RequestAgent::Unscripted(_) | RequestAgent::ClientInternal => &[],
        }
    }

    /// Returns the turn for this request. A request that repeats the previous one is a retry and gets the
    /// same turn.
    ///
    /// Counting the assistant's messages in the request would need no state, but compaction shortens the
    /// history, and a resumed session starts with one.
    fn advance(&mut self, agent: &RequestAgent, agent_id: Option<&str>, messages: &Value) -> usize {
        let key = (agent.clone(), agent_id.map(str::to_owned));
        let index = match self.given.get(&key) {
            None => 0,
            Some((last, answered)) if answered == messages => *last,
            Some((last, _)) => last + 1,
        };
        self.given.insert(key, (index, messages.clone()));
        index
    }
}

/// Returns the prompt without the reminders that the client adds: those quote files, which may contain a tag.
fn prompt_without_reminders(body: &Value) -> String {
    let texts = texts_of_message(&body["messages"][0]);
    let own = texts.into_iter().filter(|text| text.kind == TextSource::User);
    own.map(|text| text.text).collect::<Vec<_>>().join("\n")
}

fn has_tools(body: &Value) -> bool {
    body["tools"].as_array().is_some_and(|tools| !tools.is_empty())
}
