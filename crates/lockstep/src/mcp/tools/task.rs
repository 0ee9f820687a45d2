//! `task_show`, `task_update`, `phase_enter`, `phase_complete`. Access rules and compare-and-swap are those of the command line.

use std::borrow::Cow;
use std::path::PathBuf;

use lockstep_task::phase::Phase;
use lockstep_task::phase::enter::EntryContext;
use lockstep_task::place::Place;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::clock;
use crate::error::{CommandError, Kind};
use crate::mcp::caller::{self, Claim};
use crate::mcp::tool::{Effect, Tool, ToolError};
use crate::mcp::work::Work;
use crate::project::ActiveProject;
use crate::reply::Reply;
use crate::task::Tasks;
use crate::task::output::TaskWriteOutput;
use crate::task::phases::Produced;
use crate::task::update_request::Proposal;
use crate::task::view::TaskView;

/// Show the task, or an earlier version or one section of it.
///
/// A write that is made from it names its version as the base. With as, it is noted that you read this version.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ShowInput {
    /// This version instead of the current one.
    version: Option<u64>,
    /// Only this section.
    section: Option<String>,
    /// Your identity: lead, or your agent type.
    #[serde(rename = "as")]
    who: Option<String>,
}

pub(super) struct TaskShow;

impl Tool for TaskShow {
    const NAME: &'static str = "task_show";
    const EFFECT: Effect = Effect::Reads;
    type Input = ShowInput;
    type Output = TaskView;

    fn call(input: ShowInput, work: &Work) -> Result<TaskView, ToolError> {
        let reader = work.caller.reader(input.who.as_deref(), Self::NAME)?;
        let project = ActiveProject::of_command(&work.directory)?;
        let mut tasks = Tasks::open(&project, clock::now().timestamp()).map_err(CommandError::from)?;
        Ok(tasks.show(reader.as_ref(), input.version, input.section.as_deref())??)
    }
}

/// Write the next version of the task: the complete document, or one section.
///
/// The write names the version it was made from (base, from task_show). If another writer was first, it is
/// refused with the current version and both changes; merge merges them if they do not conflict. The access
/// rules of the project decide what you may write; a refusal names who may.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UpdateInput {
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

impl UpdateInput {
    /// Returns the text to write. JSON is YAML.
    fn text(&self) -> Result<String, CommandError> {
        match (&self.document, &self.section, &self.value) {
            (Some(document), None, None) => Ok(Value::Object(document.clone()).to_string()),
            (None, Some(_), Some(value)) => Ok(value.to_string()),
            _ => Err(CommandError::new(Kind::Usage, "what is to be written is not clear")
                .hint("give document, or section together with value")),
        }
    }

    fn drops(&self) -> Result<Vec<Place>, CommandError> {
        let place = |text: &String| {
            text.parse().map_err(|error| {
                CommandError::new(Kind::Usage, format!("{text:?} in drop is no place: {error}"))
                    .hint("a place is a section, or a path in it: phase_status.P2.l2_path")
            })
        };
        self.drop.iter().map(place).collect()
    }
}

/// `task_update`.
pub(super) struct TaskUpdate;

impl Tool for TaskUpdate {
    const NAME: &'static str = "task_update";
    const EFFECT: Effect = Effect::Writes;
    type Input = UpdateInput;
    type Output = TaskWriteOutput;

    fn call(input: UpdateInput, work: &Work) -> Result<TaskWriteOutput, ToolError> {
        let (text, drops) = (input.text()?, input.drops()?);
        let claim = Claim { name: input.who, skill: input.skill, why: input.why };
        let writer = work.caller.writer(claim, Self::NAME)?;
        let project = ActiveProject::of_command(&work.directory)?;
        let mut tasks = Tasks::open(&project, clock::now().timestamp()).map_err(CommandError::from)?;
        let proposal = Proposal {
            base: input.base,
            text: text.as_bytes(),
            section: input.section.as_deref(),
            merge: input.merge,
            drops,
            title: input.title,
        };
        Ok(tasks.propose(&writer, proposal)??)
    }
}

fn phase(name: &str) -> Result<Phase, CommandError> {
    name.parse()
        .map_err(|error| CommandError::new(Kind::Usage, format!("{error}")).hint("the phases are P1 to P9"))
}

/// Check that a phase of the task can begin, and get what it starts from: the sections it reads, and the handoffs.
///
/// Not ready is an error with all reasons at once. Changes nothing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EnterInput {
    /// The phase, P1 to P9.
    phase: String,
}

/// The data that a phase starts from.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(super) struct Entered(EntryContext);

impl Reply for Entered {
    fn text(&self) -> String {
        self.0.text()
    }
}

impl JsonSchema for Entered {
    fn schema_name() -> Cow<'static, str> {
        "Entered".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        EnteredShape::json_schema(generator)
    }
}

/// [`EntryContext`], described.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is wanted")]
struct EnteredShape {
    phase: String,
    /// The skill that runs it.
    skill: Option<String>,
    /// The version of the task.
    version: u64,
    /// The sections its skill reads.
    sections: Map<String, Value>,
    /// The handoffs it starts from.
    handoffs: Vec<ReceivedShape>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is wanted")]
struct ReceivedShape {
    /// The previous phase.
    phase: String,
    /// Its L2 file.
    file: String,
    /// decisions, risks, interface_contracts, constraints, open_questions, artifacts: a list each.
    handoff: Map<String, Value>,
}

/// `phase_enter`.
pub(super) struct PhaseEnter;

impl Tool for PhaseEnter {
    const NAME: &'static str = "phase_enter";
    const EFFECT: Effect = Effect::Reads;
    type Input = EnterInput;
    type Output = Entered;

    fn call(input: EnterInput, work: &Work) -> Result<Entered, ToolError> {
        let phase = phase(&input.phase)?;
        let project = ActiveProject::of_command(&work.directory)?;
        let tasks = Tasks::open(&project, clock::now().timestamp()).map_err(CommandError::from)?;
        Ok(Entered(tasks.enter(phase, caller::session().as_ref())??))
    }
}

/// Complete a phase of the task: checks its L2 file, its sections and its gate, then writes one version.
///
/// All reasons for a refusal are listed at once.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CompleteInput {
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

/// `phase_complete`.
pub(super) struct PhaseComplete;

impl Tool for PhaseComplete {
    const NAME: &'static str = "phase_complete";
    const EFFECT: Effect = Effect::Writes;
    type Input = CompleteInput;
    type Output = TaskWriteOutput;

    fn call(input: CompleteInput, work: &Work) -> Result<TaskWriteOutput, ToolError> {
        let phase = phase(&input.phase)?;
        let claim = Claim { name: input.who, skill: input.skill, why: input.why };
        let writer = work.caller.writer(claim, Self::NAME)?;
        let project = ActiveProject::of_command(&work.directory)?;
        let mut tasks = Tasks::open(&project, clock::now().timestamp()).map_err(CommandError::from)?;
        let produced = Produced { directory: &work.directory, l2: input.l2, gate: input.gate };
        Ok(tasks.complete(writer, phase, &produced)??)
    }
}
