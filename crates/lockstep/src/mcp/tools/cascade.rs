//! `cascade_start`, `cascade_next`, `cascade_done`, `cascade_status`.

use std::path::PathBuf;

use lockstep_cascade::tier::Tier;
use lockstep_model::ids::SessionId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cascade::completion::{CompletionReport, GroupCompletion};
use crate::cascade::dispatch::DispatchOutput as Groups;
use crate::cascade::status::{CascadeStatusOutput, NO_CASCADE};
use crate::cascade::{CascadeContext, CascadeSelector, CascadeSource, LoadedCascade};
use crate::command_output::CommandOutput;
use crate::error::{CommandError, CommandResult};
use crate::mcp::call_context::CallContext;
use crate::mcp::identity;
use crate::mcp::tool::{McpTool, ToolEffect, ToolError};

/// A cascade, or a note that there is none.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CascadeOutput {
    /// `null` where there was no cascade yet.
    cascade: Option<CascadeStatusOutput>,
}

impl CascadeOutput {
    fn of(opened: &LoadedCascade) -> Self {
        Self { cascade: Some(CascadeStatusOutput::of(opened)) }
    }
}

impl CommandOutput for CascadeOutput {
    fn text(&self) -> String {
        self.cascade.as_ref().map_or_else(|| NO_CASCADE.to_owned(), CommandOutput::text)
    }
}

fn which(id: Option<i64>) -> CascadeSelector {
    CascadeSelector { id, session: identity::current_session() }
}

/// Start a cascade: the files that depend on a change are brought up to date, iteration by iteration.
///
/// From what differs from the last commit, unless a report or a session is given. Then call cascade_next. A status of skipped means
/// that there was nothing to do, or no data to act on: warnings say which.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CascadeStartTool {
    /// The L1 of an impact report, as YAML.
    report: Option<String>,
    /// The changes of this session's agents.
    session: Option<String>,
    /// The effort: TRIVIAL, STANDARD or COMPLEX; by default derived from the number and spread of the
    /// dependents.
    tier: Option<String>,
}

impl McpTool for CascadeStartTool {
    const NAME: &'static str = "cascade_start";
    const EFFECT: ToolEffect = ToolEffect::Writes;
    type Output = CascadeOutput;

    fn call(self, work: &CallContext) -> Result<CascadeOutput, ToolError> {
        let usage = |what: String| CommandError::usage(what);
        let mut cascades = CascadeContext::discover(&work.directory)?;
        let session = self.session.as_deref().map(SessionId::new).transpose();
        let session = session.map_err(|error| {
            usage(format!("the session is none: {error}")).hint("`lockstep changes` lists the sessions")
        })?;
        let tier = self.tier.as_deref().map(str::parse::<Tier>).transpose();
        let tier = tier.map_err(|error| {
            usage(error.to_string()).hint("leave it out to have it decided by the dependents")
        })?;
        let source = match (self.report, &session) {
            (Some(_), Some(_)) => {
                return Err(usage("report and session were given".to_owned()).hint("leave one out").into());
            }
            (Some(report), None) => CascadeSource::Report(Ok(report.into_bytes())),
            (None, Some(session)) => CascadeSource::Session(session.clone()),
            (None, None) => CascadeSource::Tree,
        };
        let own = identity::current_session().or(session);
        Ok(CascadeOutput::of(&cascades.start(source, tier, own.as_ref())?))
    }
}

/// Get the waiting groups of the cascade, each with the prompt for its agent.
///
/// Start one agent for each group with its prompt unchanged; call cascade_done when it has ended. Groups that
/// were assigned before and are not done are returned again, so that a Lead that lost its context can
/// continue.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CascadeNextTool {
    /// The cascade, if several are active.
    id: Option<i64>,
}

impl McpTool for CascadeNextTool {
    const NAME: &'static str = "cascade_next";
    const EFFECT: ToolEffect = ToolEffect::Writes;
    type Output = Groups;

    fn call(self, work: &CallContext) -> Result<Groups, ToolError> {
        Ok(CascadeContext::discover(&work.directory)?.dispatch_waiting(&which(self.id))?)
    }
}

/// Report that the agent of a group has ended, or that a file needs no change.
///
/// The files decide: they are checked now. After the last group of an iteration, the dependents of its
/// changes are checked, and there may be more to do: active says whether.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CascadeDoneTool {
    /// The group, as in 1a; with status.
    group: Option<String>,
    /// The agent's own status; with group.
    status: Option<ClaimedStatusInput>,
    /// The agent's output; only warnings follow from it.
    report: Option<String>,
    /// A dependent that needs no change; with why.
    not_needed: Option<PathBuf>,
    /// The reason why it needs none.
    why: Option<String>,
    /// The cascade, if several are active.
    id: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ClaimedStatusInput {
    Complete,
    Failed,
}

impl CascadeDoneTool {
    fn completion(&self) -> CommandResult<CompletionReport> {
        let ended = match (&self.group, self.status) {
            (Some(group), Some(status)) => Some(GroupCompletion {
                group: group.clone(),
                complete: status == ClaimedStatusInput::Complete,
                report: self.report.clone().unwrap_or_default().into_bytes(),
            }),
            (None, None) => None,
            _ => return Err(incomplete("group and status belong together")),
        };
        let not_needed = match (&self.not_needed, &self.why) {
            (Some(file), Some(why)) => Some((file.clone(), why.clone())),
            (None, None) => None,
            _ => return Err(incomplete("not_needed and why belong together")),
        };
        if ended.is_none() && not_needed.is_none() {
            return Err(incomplete("neither group nor not_needed is given"));
        }
        Ok(CompletionReport { ended, not_needed })
    }
}

fn incomplete(what: &str) -> CommandError {
    CommandError::usage(what).hint("give group with status (complete or failed), or not_needed with why")
}

impl McpTool for CascadeDoneTool {
    const NAME: &'static str = "cascade_done";
    const EFFECT: ToolEffect = ToolEffect::Writes;
    type Output = CascadeOutput;

    fn call(self, work: &CallContext) -> Result<CascadeOutput, ToolError> {
        let completion = self.completion()?;
        let cascades = CascadeContext::discover(&work.directory)?;
        Ok(CascadeOutput::of(&cascades.done(&which(self.id), &work.directory, &completion)?))
    }
}

/// Show the state of the cascade: the active one, or else the last one, of any session.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CascadeStatusTool {
    /// The cascade, if it is not the active or last one.
    id: Option<i64>,
}

impl McpTool for CascadeStatusTool {
    const NAME: &'static str = "cascade_status";
    const EFFECT: ToolEffect = ToolEffect::Reads;
    type Output = CascadeOutput;

    fn call(self, work: &CallContext) -> Result<CascadeOutput, ToolError> {
        let newest = CascadeContext::discover(&work.directory)?.active_or_newest(&which(self.id))?;
        Ok(CascadeOutput { cascade: newest.as_ref().map(CascadeStatusOutput::of) })
    }
}
