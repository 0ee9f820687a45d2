//! `task_show`, `task_update`, `phase_enter`, `phase_complete`. Access rules and compare-and-swap are those of the command line.

use std::borrow::Cow;
use std::path::PathBuf;

use lockstep_task::key_path::KeyPath;
use lockstep_task::phase::TaskPhase;
use lockstep_task::phase::enter::EntryContext;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::clock;
use crate::command_output::CommandOutput;
use crate::error::{CommandError, CommandResult};
use crate::mcp::call_context::CallContext;
use crate::mcp::identity::{self, IdentityClaim};
use crate::mcp::tool::{McpTool, ToolEffect, ToolError};
use crate::project::ActiveProject;
use crate::task::TaskContext;
use crate::task::output::TaskWriteOutput;
use crate::task::phases::PhaseFiles;
use crate::task::update_request::UpdateRequest;
use crate::task::view::TaskView;

/// Show the task, or an earlier version or one section of it.
///
/// A write that is made from it names its version as the base. With as, it is noted that you read this version.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskShowTool {
    /// This version instead of the current one.
    version: Option<u64>,
    /// Only this section.
    section: Option<String>,
    /// Your identity: lead, or your agent type.
    #[serde(rename = "as")]
    who: Option<String>,
}

impl McpTool for TaskShowTool {
    const NAME: &'static str = "task_show";
    const EFFECT: ToolEffect = ToolEffect::Reads;
    type Output = TaskView;

    fn call(self, work: &CallContext) -> Result<TaskView, ToolError> {
        let reader = work.caller.reader(self.who.as_deref(), Self::NAME)?;
        let project = ActiveProject::discover(&work.directory)?;
        let mut tasks = TaskContext::open(&project, clock::now().timestamp()).map_err(CommandError::from)?;
        Ok(tasks.show(reader.as_ref(), self.version, self.section.as_deref())??)
    }
}

/// Write the next version of the task: the complete document, or one section.
///
/// The write names the version it was made from (base, from task_show). If another writer was first, it is
/// refused with the current version and both changes; merge merges them if they do not conflict. The access
/// rules of the project decide what you may write; a refusal names who may.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskUpdateTool {
    /// The version it was made from.
    base: u64,
    /// The complete document; or give section and value.
    document: Option<Map<String, Value>>,
    /// Replace this section only; with value.
    section: Option<String>,
    /// The section's new value.
    value: Option<Value>,
    /// Bring it together with what others wrote since.
    #[serde(default)]
    merge: bool,
    /// Places to give up on purpose, as in phase_status.P2.l2_path.
    #[serde(default)]
    drop: Vec<String>,
    /// Another title in its subject.
    title: Option<String>,
    /// Your identity, required: lead, or your agent type as the access rules name it.
    #[serde(rename = "as")]
    who: Option<String>,
    /// The skill that is run: its rules apply besides the agent's.
    skill: Option<String>,
    /// Why, for the history.
    why: Option<String>,
}

impl TaskUpdateTool {
    /// Returns the text to write. JSON is YAML.
    fn text(&self) -> CommandResult<String> {
        match (&self.document, &self.section, &self.value) {
            (Some(document), None, None) => Ok(Value::Object(document.clone()).to_string()),
            (None, Some(_), Some(value)) => Ok(value.to_string()),
            _ => Err(CommandError::usage("what is to be written is not clear")
                .hint("give document, or section together with value")),
        }
    }

    fn drops(&self) -> CommandResult<Vec<KeyPath>> {
        let place = |text: &String| {
            text.parse().map_err(|error| {
                CommandError::usage(format!("{text:?} in drop is no place: {error}"))
                    .hint("a place is a section, or a path in it: phase_status.P2.l2_path")
            })
        };
        self.drop.iter().map(place).collect()
    }
}

impl McpTool for TaskUpdateTool {
    const NAME: &'static str = "task_update";
    const EFFECT: ToolEffect = ToolEffect::Writes;
    type Output = TaskWriteOutput;

    fn call(self, work: &CallContext) -> Result<TaskWriteOutput, ToolError> {
        let (text, drops) = (self.text()?, self.drops()?);
        let claim = IdentityClaim { name: self.who, skill: self.skill, why: self.why };
        let writer = work.caller.writer(claim, Self::NAME)?;
        let project = ActiveProject::discover(&work.directory)?;
        let mut tasks = TaskContext::open(&project, clock::now().timestamp()).map_err(CommandError::from)?;
        let proposal = UpdateRequest {
            base: self.base,
            text: text.as_bytes(),
            section: self.section.as_deref(),
            merge: self.merge,
            drops,
            title: self.title,
        };
        Ok(tasks.submit_update(&writer, proposal)??)
    }
}

fn phase(name: &str) -> CommandResult<TaskPhase> {
    name.parse().map_err(|error| CommandError::usage(format!("{error}")).hint("the phases are P1 to P9"))
}

/// Check that a phase of the task can begin, and get what it starts from: the sections it reads, and the handoffs.
///
/// Not ready is an error with all reasons at once. Changes nothing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PhaseEnterTool {
    /// The phase, P1 to P9.
    phase: String,
}

/// The data that a phase starts from.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(super) struct EntryContextOutput(EntryContext);

impl CommandOutput for EntryContextOutput {
    fn text(&self) -> String {
        self.0.text()
    }
}

impl JsonSchema for EntryContextOutput {
    fn schema_name() -> Cow<'static, str> {
        "Entered".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        EntryContextSchema::json_schema(generator)
    }
}

/// [`EntryContext`], described.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is wanted")]
struct EntryContextSchema {
    phase: String,
    /// The skill that runs it.
    skill: Option<String>,
    /// The version of the task.
    version: u64,
    /// The sections its skill reads.
    sections: Map<String, Value>,
    /// The handoffs it starts from.
    handoffs: Vec<ReceivedHandoffSchema>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is wanted")]
struct ReceivedHandoffSchema {
    /// The previous phase.
    phase: String,
    /// Its L2 file.
    file: String,
    /// decisions, risks, interface_contracts, constraints, open_questions, artifacts: a list each.
    handoff: Map<String, Value>,
}

impl McpTool for PhaseEnterTool {
    const NAME: &'static str = "phase_enter";
    const EFFECT: ToolEffect = ToolEffect::Reads;
    type Output = EntryContextOutput;

    fn call(self, work: &CallContext) -> Result<EntryContextOutput, ToolError> {
        let phase = phase(&self.phase)?;
        let project = ActiveProject::discover(&work.directory)?;
        let tasks = TaskContext::open(&project, clock::now().timestamp()).map_err(CommandError::from)?;
        Ok(EntryContextOutput(tasks.enter(phase, identity::current_session().as_ref())??))
    }
}

/// Complete a phase of the task: checks its L2 file, its sections and its gate, then writes one version.
///
/// All reasons for a refusal are listed at once.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PhaseCompleteTool {
    /// The phase, P1 to P9.
    phase: String,
    /// The phase's L2 file.
    l2: PathBuf,
    /// The record of its gate.
    gate: Option<PathBuf>,
    /// Your identity, required: lead, or your agent type as the access rules name it.
    #[serde(rename = "as")]
    who: Option<String>,
    /// The skill that is run: its rules apply besides the agent's.
    skill: Option<String>,
    /// Why, for the history.
    why: Option<String>,
}

impl McpTool for PhaseCompleteTool {
    const NAME: &'static str = "phase_complete";
    const EFFECT: ToolEffect = ToolEffect::Writes;
    type Output = TaskWriteOutput;

    fn call(self, work: &CallContext) -> Result<TaskWriteOutput, ToolError> {
        let phase = phase(&self.phase)?;
        let claim = IdentityClaim { name: self.who, skill: self.skill, why: self.why };
        let writer = work.caller.writer(claim, Self::NAME)?;
        let project = ActiveProject::discover(&work.directory)?;
        let mut tasks = TaskContext::open(&project, clock::now().timestamp()).map_err(CommandError::from)?;
        let produced = PhaseFiles { directory: &work.directory, l2: self.l2, gate: self.gate };
        Ok(tasks.complete(writer, phase, &produced)??)
    }
}
