//! Who is speaking in a request, and which turn is theirs.
//!
//! Claude Code names the subagent in a header (the `agent_id` of its hooks); the Lead has none. Which *scripted*
//! subagent it is, only its prompt tells, by the tag. Clients that send no such header are served by tags alone.

use std::collections::{BTreeMap, HashMap};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::scenario::{Scenario, Turn};
use crate::transcript::{Agent, Kind, texts_of_message};

/// The scenario being played: who has said how much.
#[derive(Debug)]
pub(super) struct Cast {
    scenario: Scenario,
    /// Per conversation (a tag may be played by several agents at once): the turn last given and the
    /// messages it answered.
    given: HashMap<(Agent, Option<String>), (usize, Value)>,
    /// Makes ids differ between runs: a resumed session holds those of the run before.
    run: u128,
    replies: usize,
}

/// What the model is to say now.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) agent: Agent,
    /// The index of the scripted turn; none when the script has no more, or never had any.
    pub(super) turn: Option<usize>,
    pub(super) content: Turn,
    /// Unique; message and tool-call ids are made of it.
    pub(super) id: String,
}

impl Cast {
    pub(super) fn new(scenario: Scenario) -> Self {
        let run = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        Self { scenario, given: HashMap::new(), run, replies: 0 }
    }

    pub(super) fn next_part(&mut self, agent_id: Option<&str>, body: &Value) -> Part {
        let agent = self.identify(agent_id, body);
        let index = self.advance(&agent, agent_id, &body["messages"]);
        let scripted = self.script(&agent).get(index).cloned();
        let turn = scripted.is_some().then_some(index);
        let content = scripted.unwrap_or_else(|| Turn::text("Done."));
        self.replies += 1;
        Part { agent, turn, content, id: format!("{:x}_{}", self.run, self.replies) }
    }

    pub(super) fn unplayed(&self) -> BTreeMap<Agent, usize> {
        let subagents = self.scenario.subagents.iter().map(|(tag, turns)| (Agent::subagent(tag), turns));
        let all = std::iter::once((Agent::Lead, &self.scenario.lead)).chain(subagents);
        all.map(|(agent, turns)| {
            let given = self.given.iter().filter(|((speaker, _), _)| *speaker == agent);
            let played = given.map(|(_, (last, _))| last + 1).max().unwrap_or(0);
            (agent, turns.len().saturating_sub(played))
        })
        .filter(|(_, left)| *left > 0)
        .collect()
    }

    fn identify(&self, agent_id: Option<&str>, body: &Value) -> Agent {
        let prompt = own_prompt(body);
        let tag =
            self.scenario.subagents.keys().filter_map(|tag| Some((prompt.find(tag.as_str())?, tag))).min();
        match (tag, agent_id) {
            (Some((_, tag)), _) => Agent::subagent(tag),
            (None, Some(id)) => Agent::Unscripted(id.to_owned()),
            (None, None) if has_tools(body) || prompt.contains(&self.scenario.prompt) => Agent::Lead,
            (None, None) => Agent::Side,
        }
    }

    fn script(&self, agent: &Agent) -> &[Turn] {
        match agent {
            Agent::Lead => &self.scenario.lead,
            Agent::Subagent(tag) => self.scenario.subagents.get(tag).map_or(&[], Vec::as_slice),
            Agent::Unscripted(_) | Agent::Side => &[],
        }
    }

    /// The turn for this request. A request that repeats the one before is a retry and gets the same turn.
    ///
    /// Counting the assistant's messages in the request would need no memory, but compaction shortens the
    /// history and a resumed session starts with one.
    fn advance(&mut self, agent: &Agent, agent_id: Option<&str>, messages: &Value) -> usize {
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

/// What was asked for, without the reminders that the client puts around it: those quote files, which may
/// well contain a tag.
fn own_prompt(body: &Value) -> String {
    let texts = texts_of_message(&body["messages"][0]);
    let own = texts.into_iter().filter(|text| text.kind == Kind::User);
    own.map(|text| text.text).collect::<Vec<_>>().join("\n")
}

fn has_tools(body: &Value) -> bool {
    body["tools"].as_array().is_some_and(|tools| !tools.is_empty())
}
