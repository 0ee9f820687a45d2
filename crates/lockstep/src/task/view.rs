//! Output of a version of the task: complete, or one section.

use lockstep_task::document::SECTIONS;
use lockstep_task::value::{Map, MapExt, Value};
use lockstep_task::yaml;
use schemars::JsonSchema;
use serde::Serialize;

use super::output::TaskRefusalOutput;
use super::writer::TaskWriter;
use super::{CurrentTask, TaskContext};
use crate::command_output::CommandOutput;
use crate::error::{CommandError, CommandResult};

/// A version of the task.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct TaskView {
    /// The version number; a write made from this version names it as its base.
    pub(crate) version: u64,
    /// The title in a client's list, with the version.
    pub(crate) subject: String,
    /// True if the task is delivered, and therefore final.
    pub(crate) delivered: bool,
    /// When it was written.
    at: String,
    /// The agent that wrote it; absent for the Lead.
    agent: Option<String>,
    skill: Option<String>,
    session: Option<String>,
    why: Option<String>,
    /// The document, or the requested section; `lockstep schema task` describes it.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    document: Map,
}

impl TaskContext<'_> {
    /// Returns the current version or another one; complete, or one section. Records the reading if the
    /// `reader` is known.
    pub(crate) fn show(
        &mut self,
        reader: Option<&TaskWriter>,
        number: Option<u64>,
        section: Option<&str>,
    ) -> CommandResult<Result<TaskView, TaskRefusalOutput>> {
        let Some(mut current) = self.present()? else { return Ok(Err(TaskRefusalOutput::none())) };
        if let Some(number) = number {
            current = self.version_or_error(&current, number)?;
        }
        if let Some(reader) = reader {
            self.note_reading(reader, current.record.task, current.record.version)?;
        }
        let document = match section {
            None => current.document.root().clone(),
            Some(name) => only(&current, name)?,
        };
        let record = current.record;
        Ok(Ok(TaskView {
            version: record.version,
            subject: record.subject,
            delivered: record.delivered,
            at: record.at.to_string(),
            agent: record.author.agent_type,
            skill: record.author.skill,
            session: record.author.session,
            why: record.author.why,
            document,
        }))
    }

    pub(crate) fn version_or_error(&self, present: &CurrentTask, number: u64) -> CommandResult<CurrentTask> {
        self.version(present.record.task, number)?.ok_or_else(|| {
            let last = present.record.version;
            CommandError::usage(format!("there is no PT-v{number}"))
                .hint(format!("the versions are PT-v1 to PT-v{last}; `lockstep task history` lists them"))
        })
    }
}

impl CommandOutput for TaskView {
    fn text(&self) -> String {
        format!("# {}\n{}", self.subject, yaml::write(&Value::Object(self.document.clone())))
    }
}

fn only(current: &CurrentTask, name: &str) -> CommandResult<Map> {
    let Some(value) = current.document.section(name) else {
        let there: Vec<_> = current.document.root().keys().map(String::as_str).collect();
        let known = SECTIONS.iter().any(|section| section.name == name);
        let what = if known { "is not written yet" } else { "is not a section of the task" };
        return Err(CommandError::usage(format!("{name} {what} in PT-v{}", current.record.version))
            .hint(format!("it has {}", there.join(", "))));
    };
    let mut map = Map::new();
    map.set(name, value.clone());
    Ok(map)
}
