//! `impact`, `references`, `dangling_references`: work in any directory, without configuration.

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

use lockstep_model::ids::SessionId;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::command_output::CommandOutput;
use crate::error::{CommandError, CommandResult};
use crate::impact::query::{ChangeSource, ImpactQuery};
use crate::mcp::call_context::CallContext;
use crate::mcp::tool::{McpTool, ToolEffect, ToolError};
use crate::refs::query::{ReferenceDirection, ReferencesOutput, TIME_LIMIT};

/// Longer than any client waits.
const MAX_SECONDS: f64 = 600.0;

/// Find the files that depend on a change, and those that no longer fit.
///
/// Without arguments: the differences from the last commit or, if there are none, the changes of the last
/// commit. Give at most one of files, rev, staged, patch and session. A dependent with breaks: true no longer
/// fits; certainty says how sure that is. Works in any git repository.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ImpactTool {
    /// Files or directories, as they differ from the last commit.
    #[serde(default)]
    files: Vec<PathBuf>,
    /// The changes between two commits: `A..B`, `A...B` from their common ancestor, `A` to the checked-out
    /// commit.
    rev: Option<String>,
    /// The staged changes.
    #[serde(default)]
    staged: bool,
    /// The changes of this unified diff, applied or not.
    patch: Option<String>,
    /// The changes of this session's agents; needs an active project.
    session: Option<String>,
    /// With session: only what this agent changed, by its id, its type, or `lead`.
    agent: Option<String>,
    /// Also list files that often changed together with the changed ones in git. They are not proven
    /// dependents.
    #[serde(default)]
    history: bool,
    /// Stop searching after so many seconds and report what was found until then; 10 where absent.
    time_limit: Option<f64>,
}

impl ImpactTool {
    fn question(self) -> CommandResult<ImpactQuery> {
        let usage = |what: String| CommandError::usage(what);
        let seconds = self.time_limit.unwrap_or(10.0).clamp(0.0, MAX_SECONDS);
        let limit = Duration::try_from_secs_f64(seconds)
            .map_err(|_| usage("time_limit must be a number of seconds from 0 on".to_owned()))?;
        let mut given = Vec::new();
        if !self.files.is_empty() {
            given.push(("files", ChangeSource::Files(self.files)));
        }
        if let Some(range) = self.rev {
            given.push(("rev", ChangeSource::Range(range)));
        }
        if self.staged {
            given.push(("staged", ChangeSource::Staged));
        }
        if let Some(text) = self.patch {
            given.push(("patch", ChangeSource::Patch { text, name: "the patch".to_owned() }));
        }
        if let Some(id) = self.session {
            let session = SessionId::new(&id).map_err(|error| {
                usage(format!("{id:?} is not a session: {error}"))
                    .hint("`lockstep changes` lists the sessions")
            })?;
            given.push(("session", ChangeSource::Session { session, agent: self.agent.clone() }));
        } else if self.agent.is_some() {
            return Err(usage("agent is given, but no session".to_owned()).hint("name the agent's session"));
        }
        if given.len() > 1 {
            let names: Vec<&str> = given.iter().map(|(name, _)| *name).collect();
            return Err(usage(format!(
                "{} were given, and the question can be about one of them only",
                names.join(" and ")
            ))
            .hint("leave out all but one"));
        }
        let changed = given.pop().map(|(_, changed)| changed).unwrap_or_default();
        Ok(ImpactQuery { changed, history: self.history, limit })
    }
}

/// The report of `lockstep impact --format json`, and L2 as its text.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(super) struct ImpactReport {
    report: Value,
    #[serde(skip)]
    text: String,
}

impl CommandOutput for ImpactReport {
    fn text(&self) -> String {
        self.text.clone()
    }
}

impl JsonSchema for ImpactReport {
    fn schema_name() -> Cow<'static, str> {
        "ImpactReport".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let (_, mut schema) = lockstep_refs::schema::schemas().remove(0);
        for name in ["$schema", "title"] {
            schema.as_object_mut().and_then(|schema| schema.remove(name));
        }
        Schema::try_from(schema).expect("a schema is an object")
    }
}

impl McpTool for ImpactTool {
    const NAME: &'static str = "impact";
    const EFFECT: ToolEffect = ToolEffect::Reads;
    type Output = ImpactReport;

    fn call(self, work: &CallContext) -> Result<ImpactReport, ToolError> {
        let asked = self.question()?.run(&work.directory, work)?;
        let in_cascade = asked.in_cascade()?;
        let report = asked.analysis.report();
        let json = report.json(in_cascade, asked.analysis.timings);
        let text = match asked.analysis.impact.files.is_empty() {
            true => format!("No file changed {}.\n", asked.origin),
            false => report.l2(),
        };
        Ok(ImpactReport { report: serde_json::from_str(&json).expect("the report is JSON"), text })
    }
}

/// Find every place that imports, uses, links to or names a file, a symbol, a skill or an agent.
///
/// With out: true, list the references of the file instead. An empty list with fresh: true and unseen_files:
/// 0 means that nothing references it. Works in any directory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReferencesTool {
    /// A path, a module (`crate::parse`, `pkg.mod`), a symbol (`parse_line`, `Parser.parse`), or the name of a skill or agent.
    name: String,
    /// List the references of the file instead of the references to it.
    #[serde(default)]
    out: bool,
}

impl McpTool for ReferencesTool {
    const NAME: &'static str = "references";
    const EFFECT: ToolEffect = ToolEffect::Reads;
    type Output = ReferencesOutput;

    fn call(self, work: &CallContext) -> Result<ReferencesOutput, ToolError> {
        let direction = if self.out { ReferenceDirection::Out } else { ReferenceDirection::In };
        Ok(ReferencesOutput::of(&work.directory, &self.name, direction, TIME_LIMIT, work)?)
    }
}

/// Find references to files and names that no longer exist.
///
/// Works in any directory; git knows the removed files.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DanglingReferencesTool {}

/// The time limit of `dangling_references`, as on the command line.
const DANGLING_LIMIT: Duration = Duration::from_secs(10);

impl McpTool for DanglingReferencesTool {
    const NAME: &'static str = "dangling_references";
    const EFFECT: ToolEffect = ToolEffect::Reads;
    type Output = ReferencesOutput;

    fn call(self, work: &CallContext) -> Result<ReferencesOutput, ToolError> {
        Ok(ReferencesOutput::dangling(&work.directory, DANGLING_LIMIT, work)?)
    }
}
