//! Scenarios as data: what the user asks, and what the model answers, turn by turn.
//!
//! A scenario is a TOML document (see `scenarios/` for whole ones):
//!
//! ```toml
//! prompt = "Rename hello to greet."
//!
//! [files]                                  # created in the project before the run
//! "a.py" = "def hello(): pass\n"
//!
//! [[lead]]                                 # the Lead's first turn: start a subagent
//! text = "I hand this over."
//! tools = [{ name = "Agent", input = { description = "rename", prompt = "EDITOR: rename hello", subagent_type = "general-purpose" } }]
//!
//! [[lead]]                                 # its second turn, once the subagent's result is in
//! text = "Renamed."
//!
//! [[subagents.EDITOR]]                     # the subagent with EDITOR in its prompt
//! tools = [{ name = "Bash", input = { command = "sed -i s/hello/greet/ a.py" } }]
//! ```
//!
//! `{project}` stands for the project directory in the prompt, in texts, in tool inputs and in file contents: the
//! client's file tools want absolute paths. `{agent:TAG}` in a tool input stands for the client's id of the subagent with this
//! tag, once it has spoken. An agent that is asked for more turns than it has says `Done.`
//!
//! Owns reading, checking and laying out a scenario. Who gets which turn is [`crate::scripted_model`]'s business.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

const PROJECT: &str = "{project}";

/// One rehearsal: files, a prompt, and the turns of every agent.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    pub prompt: String,
    /// Files to create before the run: path relative to the project → content.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    #[serde(default)]
    pub lead: Vec<Turn>,
    /// The turns of subagents, by the tag that their prompt contains.
    #[serde(default)]
    pub subagents: BTreeMap<String, Vec<Turn>>,
}

/// One answer of the model: a text, tool calls, or a text followed by tool calls.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Turn {
    pub text: String,
    pub tools: Vec<ScriptedToolCall>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedToolCall {
    /// The tool's name in the client: `Bash`, `Edit`, `Agent`, `mcp__server__tool`.
    pub name: String,
    /// The tool's arguments.
    #[serde(default)]
    pub input: Map<String, Value>,
}

/// The reason why a scenario cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    #[error("cannot read the scenario {path}")]
    Read { path: PathBuf, source: io::Error },
    /// The text is not a scenario: bad TOML, an unknown or a missing key.
    #[error("the scenario does not parse")]
    Parse(#[from] toml::de::Error),
    /// The scenario parses but is inconsistent; every problem is listed.
    #[error("the scenario cannot be played:\n- {}", .0.join("\n- "))]
    Invalid(Vec<String>),
    /// One of its files could not be created in the project.
    #[error("cannot create {path} for the scenario")]
    LayOut { path: PathBuf, source: io::Error },
}

impl Turn {
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), tools: Vec::new() }
    }

    /// A turn that calls one tool. Panics unless `input` is a JSON object.
    pub fn call(name: impl Into<String>, input: Value) -> Self {
        Self::default().and_call(name, input)
    }

    /// Adds a tool call to the same message. Panics unless `input` is a JSON object.
    #[must_use]
    pub fn and_call(mut self, name: impl Into<String>, input: Value) -> Self {
        let Value::Object(input) = input else { panic!("a tool's input is a JSON object, not {input}") };
        self.tools.push(ScriptedToolCall { name: name.into(), input });
        self
    }
}

impl Scenario {
    /// A scenario without files and turns, to be filled in by code.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self { prompt: prompt.into(), files: BTreeMap::new(), lead: Vec::new(), subagents: BTreeMap::new() }
    }

    pub fn read(path: &Path) -> Result<Self, ScenarioError> {
        let text = fs::read_to_string(path)
            .map_err(|source| ScenarioError::Read { path: path.to_owned(), source })?;
        Self::parse(&text)
    }

    pub fn parse(text: &str) -> Result<Self, ScenarioError> {
        let scenario: Self = toml::from_str(text)?;
        scenario.check()?;
        Ok(scenario)
    }

    /// Finds everything that would make the run ambiguous or unsafe, all at once.
    pub fn check(&self) -> Result<(), ScenarioError> {
        let mut problems = Vec::new();
        if self.prompt.trim().is_empty() {
            problems.push("`prompt` is empty: the client would wait for one".to_owned());
        }
        self.check_tags(&mut problems);
        self.check_turns(&mut problems);
        for path in self.files.keys().filter(|path| !is_plain_relative(path)) {
            problems.push(format!(
                "file `{path}`: must be a relative path inside the project, without `.` or `..`"
            ));
        }
        if problems.is_empty() { Ok(()) } else { Err(ScenarioError::Invalid(problems)) }
    }

    /// Checks the tags. They decide whose turn it is, so each must occur in its own agent's prompt only.
    fn check_tags(&self, problems: &mut Vec<String>) {
        for tag in self.subagents.keys() {
            if tag.trim().is_empty() {
                problems.push("a subagent's tag is empty: every prompt would match it".to_owned());
                continue;
            }
            if self.prompt.contains(tag.as_str()) {
                problems.push(format!(
                    "`prompt` contains the tag `{tag}`: the Lead would be taken for that subagent"
                ));
            }
            for other in self.subagents.keys().filter(|other| *other != tag && other.contains(tag.as_str())) {
                problems.push(format!("the tag `{tag}` is part of the tag `{other}`: rename one of them"));
            }
        }
    }

    fn check_turns(&self, problems: &mut Vec<String>) {
        let lead = ("lead".to_owned(), &self.lead);
        let subagents = self.subagents.iter().map(|(tag, turns)| (format!("subagents.{tag}"), turns));
        for (who, turns) in std::iter::once(lead).chain(subagents) {
            for (number, turn) in turns.iter().enumerate() {
                let number = number + 1;
                if turn.text.is_empty() && turn.tools.is_empty() {
                    problems.push(format!("`{who}`, turn {number}: has neither `text` nor `tools`"));
                }
                if turn.tools.iter().any(|tool| tool.name.is_empty()) {
                    problems.push(format!("`{who}`, turn {number}: a tool without a `name`"));
                }
            }
        }
    }

    /// The same scenario with `{project}` filled in.
    #[must_use]
    pub fn with_project_path(mut self, project: &Path) -> Self {
        let project = project.to_string_lossy();
        let fill = |text: &mut String| *text = text.replace(PROJECT, &project);
        fill(&mut self.prompt);
        self.files.values_mut().for_each(fill);
        for turn in self.lead.iter_mut().chain(self.subagents.values_mut().flatten()) {
            fill(&mut turn.text);
            for value in turn.tools.iter_mut().flat_map(|tool| tool.input.values_mut()) {
                fill_value(value, &fill);
            }
        }
        self
    }

    /// Creates the scenario's files. Never overwrites a file and never leaves the project.
    pub fn create_files(&self, project: &Path) -> Result<(), ScenarioError> {
        for (path, content) in &self.files {
            create(project, Path::new(path), content)
                .map_err(|source| ScenarioError::LayOut { path: project.join(path), source })?;
        }
        Ok(())
    }
}

/// Applies `fill` to every text in a value.
pub(crate) fn fill_value(value: &mut Value, fill: &impl Fn(&mut String)) {
    match value {
        Value::String(text) => fill(text),
        Value::Array(items) => items.iter_mut().for_each(|item| fill_value(item, fill)),
        Value::Object(fields) => fields.values_mut().for_each(|field| fill_value(field, fill)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn is_plain_relative(path: &str) -> bool {
    let mut components = Path::new(path).components().peekable();
    components.peek().is_some() && components.all(|part| matches!(part, Component::Normal(_)))
}

fn create(project: &Path, name: &Path, content: &str) -> io::Result<()> {
    let mut folder = project.to_owned();
    for part in name.parent().into_iter().flat_map(Path::components) {
        folder.push(part);
        match fs::symlink_metadata(&folder) {
            Ok(found) if found.is_dir() => {}
            // A symlink in the path could point out of the project, whatever its name.
            Ok(_) => {
                return Err(io::Error::new(io::ErrorKind::NotADirectory, "its folder is not a real folder"));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir(&folder)?,
            Err(error) => return Err(error),
        }
    }
    File::create_new(project.join(name))?.write_all(content.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_whole_scenario_is_read() {
        let scenario = Scenario::parse(
            r#"
            prompt = "Go."
            [files]
            "src/a.py" = "x = '{project}'\n"
            [[lead]]
            text = "First."
            tools = [
                { name = "Read", input = { file_path = "{project}/src/a.py", limit = 3 } },
                { name = "TaskList" },
            ]
            [[subagents.EDITOR]]
            text = "Done."
            "#,
        )
        .unwrap()
        .with_project_path(Path::new("/p"));

        let first = Turn::call("Read", json!({"file_path": "/p/src/a.py", "limit": 3}));
        assert_eq!(scenario.lead, [Turn { text: "First.".into(), ..first.and_call("TaskList", json!({})) }]);
        assert_eq!(scenario.subagents["EDITOR"], [Turn::text("Done.")]);
        assert_eq!(scenario.files["src/a.py"], "x = '/p'\n");
    }

    #[test]
    fn an_unknown_key_is_an_error_with_its_place() {
        let error = Scenario::parse("prompt = 'x'\n[[lead]]\ntxt = 'y'\n").unwrap_err();
        let ScenarioError::Parse(source) = error else { panic!("{error}") };
        let message = source.to_string();
        assert!(message.contains("line 3") && message.contains("txt"), "{message}");
    }

    #[test]
    fn every_problem_is_named_at_once() {
        let error = Scenario::parse(
            "prompt = 'ask ED'\nlead = [{}]\n[files]\n'../x' = ''\n'/etc/x' = ''\n[[subagents.ED]]\ntext='a'\n[[subagents.EDITOR]]\ntools=[{name=''}]\n",
        )
        .unwrap_err();
        let ScenarioError::Invalid(problems) = &error else { panic!("{error}") };
        assert_eq!(problems.len(), 6, "{error}");
        assert!(error.to_string().contains("`lead`, turn 1: has neither"), "{error}");
    }

    #[test]
    fn laying_out_neither_overwrites_nor_leaves_the_project() {
        let (project, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        lockstep_fs::symlink(elsewhere.path(), project.path().join("out")).unwrap();
        fs::write(project.path().join("mine"), "kept").unwrap();
        for name in ["out/x", "out/deep/x", "mine"] {
            let mut scenario = Scenario::new("x");
            scenario.files.insert(name.into(), "new".into());
            scenario.create_files(project.path()).unwrap_err();
        }
        assert_eq!(fs::read_to_string(project.path().join("mine")).unwrap(), "kept");
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    }
}
