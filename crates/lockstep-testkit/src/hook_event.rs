//! An event as a client sends it: a recorded payload with some of its fields replaced.

use std::path::Path;

use lockstep_wire::claude::samples;
use serde_json::{Value, json};

/// The root of the project in recorded payloads.
const RECORDED_ROOT: &str = "/repo";

/// The session of an event where a test does not choose one.
const SESSION: &str = "s1";

#[derive(Debug, Clone)]
pub struct HookEvent(Value);

impl HookEvent {
    /// A recorded payload; its paths become paths of the test's project when it is sent.
    pub fn from_sample(sample: &str) -> Self {
        Self(serde_json::from_str(sample).unwrap()).session(SESSION)
    }

    /// `Edit` of a file by the Lead.
    pub fn edit(path: impl AsRef<Path>) -> Self {
        Self::from_sample(samples::POST_TOOL_USE_EDIT_IN_SUBAGENT).by_lead().file(path)
    }

    /// `Write` of a file by the Lead.
    pub fn write(path: impl AsRef<Path>) -> Self {
        Self::from_sample(samples::POST_TOOL_USE_WRITE_IN_SUBAGENT).by_lead().file(path)
    }

    /// A shell command of the Lead has ended.
    pub fn bash() -> Self {
        Self::from_sample(samples::POST_TOOL_USE_BASH)
    }

    /// A subagent has ended and the Lead has its result.
    pub fn agent_done() -> Self {
        Self::from_sample(samples::POST_TOOL_USE_AGENT)
    }

    /// A background subagent has been started.
    pub fn agent_launched() -> Self {
        Self::from_sample(samples::POST_TOOL_USE_AGENT_BACKGROUND)
    }

    pub fn subagent_start(id: &str, agent_type: &str) -> Self {
        Self::from_sample(samples::SUBAGENT_START).by_agent(id, agent_type)
    }

    pub fn subagent_stop(id: &str, agent_type: &str) -> Self {
        Self::from_sample(samples::SUBAGENT_STOP).by_agent(id, agent_type)
    }

    pub fn stop() -> Self {
        Self::from_sample(samples::STOP)
    }

    /// The user has sent a prompt.
    pub fn prompt() -> Self {
        Self::from_sample(samples::USER_PROMPT_SUBMIT)
    }

    pub fn session_start() -> Self {
        Self::from_sample(samples::SESSION_START)
    }

    pub fn session_end() -> Self {
        Self::from_sample(samples::SESSION_END)
    }

    pub fn session(self, id: &str) -> Self {
        self.with("session_id", id)
    }

    pub fn by_agent(self, id: &str, agent_type: &str) -> Self {
        self.with("agent_id", id).with("agent_type", agent_type)
    }

    pub fn by_lead(self) -> Self {
        self.without("agent_id").without("agent_type")
    }

    /// Sets the file's former content.
    pub fn original_content(mut self, text: &str) -> Self {
        self.0["tool_response"]["originalFile"] = text.into();
        self
    }

    /// About this file; a relative one is in the project.
    pub fn file(mut self, path: impl AsRef<Path>) -> Self {
        let path = Path::new(RECORDED_ROOT).join(path);
        let path = path.to_str().expect("JSON is UTF-8, so an event cannot name this path");
        self.0["tool_input"]["file_path"] = json!(path);
        self.0["tool_response"]["filePath"] = json!(path);
        self
    }

    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0[key] = value.into();
        self
    }

    pub fn without(mut self, key: &str) -> Self {
        self.0.as_object_mut().unwrap().remove(key);
        self
    }

    pub fn json(&self, root: &Path) -> String {
        let mut value = self.0.clone();
        relocate(&mut value, root.to_str().unwrap());
        value.to_string()
    }

    pub fn name(&self) -> &str {
        self.0["hook_event_name"].as_str().unwrap()
    }
}

/// Replaces the recorded root at the start of every text.
fn relocate(value: &mut Value, root: &str) {
    match value {
        Value::String(text) => {
            if let Some(rest) = text.strip_prefix(RECORDED_ROOT)
                && (rest.is_empty() || rest.starts_with('/'))
            {
                *text = format!("{root}{rest}");
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| relocate(item, root)),
        Value::Object(fields) => fields.values_mut().for_each(|field| relocate(field, root)),
        _ => {}
    }
}
