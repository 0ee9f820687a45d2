//! `cascade_start`, `cascade_next`, `cascade_done`, `cascade_status`.

use std::path::PathBuf;

use lockstep_cascade::tier::Tier;
use lockstep_model::ids::SessionId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cascade::completion::{CompletionReport, GroupCompletion};
use crate::cascade::next::Work as Groups;
use crate::cascade::status::{CascadeStatusOutput, NO_CASCADE};
use crate::cascade::{Cascades, Opened, Source, Which};
use crate::error::{CommandError, Kind};
use crate::mcp::caller;
use crate::mcp::tool::{Effect, Tool, ToolError};
use crate::mcp::work::Work;
use crate::reply::Reply;

/// A cascade, or a note that there is none.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Standing {
    /// `null` where there was no cascade yet.
    cascade: Option<CascadeStatusOutput>,
}

impl Standing {
    fn of(opened: &Opened) -> Self {
        Self { cascade: Some(CascadeStatusOutput::of(opened)) }
    }
}

impl Reply for Standing {
    fn text(&self) -> String {
        self.cascade.as_ref().map_or_else(|| NO_CASCADE.to_owned(), Reply::text)
    }
}

fn which(id: Option<i64>) -> Which {
    Which { id, session: caller::session() }
}

/// Start a cascade: the files that depend on a change are brought up to date, iteration by iteration.
///
/// From what differs from the last commit, unless a report or a session is given. Then call cascade_next. A status of skipped means
/// that there was nothing to do, or no data to act on: warnings say which.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StartInput {
    /// The L1 of an impact report, as YAML.
    report: Option<String>,
    /// The changes of this session's agents.
    session: Option<String>,
    /// The effort: TRIVIAL, STANDARD or COMPLEX; by default derived from the number and spread of the
    /// dependents.
    tier: Option<String>,
}

/// `cascade_start`.
pub(super) struct CascadeStart;

impl Tool for CascadeStart {
    const NAME: &'static str = "cascade_start";
    const EFFECT: Effect = Effect::Writes;
    type Input = StartInput;
    type Output = Standing;

    fn call(input: StartInput, work: &Work) -> Result<Standing, ToolError> {
        let usage = |what: String| CommandError::new(Kind::Usage, what);
        let mut cascades = Cascades::of_command(&work.directory)?;
        let session = input.session.as_deref().map(SessionId::new).transpose();
        let session = session.map_err(|error| {
            usage(format!("the session is none: {error}")).hint("`lockstep changes` lists the sessions")
        })?;
        let tier = input.tier.as_deref().map(str::parse::<Tier>).transpose();
        let tier = tier.map_err(|error| {
            usage(error.to_string()).hint("leave it out to have it decided by the dependents")
        })?;
        let source = match (input.report, &session) {
            (Some(_), Some(_)) => {
                return Err(usage("report and session were given".to_owned()).hint("leave one out").into());
            }
            (Some(report), None) => Source::Report(Ok(report.into_bytes())),
            (None, Some(session)) => Source::Session(session.clone()),
            (None, None) => Source::Tree,
        };
        let own = caller::session().or(session);
        Ok(Standing::of(&cascades.start(source, tier, own.as_ref())?))
    }
}

/// Get the waiting groups of the cascade, each with the prompt for its agent.
///
/// Start one agent for each group with its prompt unchanged; call cascade_done when it has ended. Groups that
/// were assigned before and are not done are returned again, so that a Lead that lost its context can
/// continue.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NextInput {
    /// The cascade, if several are active.
    id: Option<i64>,
}

/// `cascade_next`.
pub(super) struct CascadeNext;

impl Tool for CascadeNext {
    const NAME: &'static str = "cascade_next";
    const EFFECT: Effect = Effect::Writes;
    type Input = NextInput;
    type Output = Groups;

    fn call(input: NextInput, work: &Work) -> Result<Groups, ToolError> {
        Ok(Cascades::of_command(&work.directory)?.next(&which(input.id))?)
    }
}

/// Report that the agent of a group has ended, or that a file needs no change.
///
/// The files decide: they are checked now. After the last group of an iteration, the dependents of its
/// changes are checked, and there may be more to do: active says whether.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DoneInput {
    /// The group, as in 1a; with status.
    group: Option<String>,
    /// The agent's own status; with group.
    status: Option<Claimed>,
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
enum Claimed {
    Complete,
    Failed,
}

impl DoneInput {
    fn completion(&self) -> Result<CompletionReport, CommandError> {
        let ended = match (&self.group, self.status) {
            (Some(group), Some(status)) => Some(GroupCompletion {
                group: group.clone(),
                complete: status == Claimed::Complete,
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
    CommandError::new(Kind::Usage, what)
        .hint("give group with status (complete or failed), or not_needed with why")
}

/// `cascade_done`.
pub(super) struct CascadeDone;

impl Tool for CascadeDone {
    const NAME: &'static str = "cascade_done";
    const EFFECT: Effect = Effect::Writes;
    type Input = DoneInput;
    type Output = Standing;

    fn call(input: DoneInput, work: &Work) -> Result<Standing, ToolError> {
        let completion = input.completion()?;
        let cascades = Cascades::of_command(&work.directory)?;
        Ok(Standing::of(&cascades.done(&which(input.id), &work.directory, &completion)?))
    }
}

/// Show the state of the cascade: the active one, or else the last one, of any session.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StatusInput {
    /// The cascade, if it is not the active or last one.
    id: Option<i64>,
}

/// `cascade_status`.
pub(super) struct CascadeStatus;

impl Tool for CascadeStatus {
    const NAME: &'static str = "cascade_status";
    const EFFECT: Effect = Effect::Reads;
    type Input = StatusInput;
    type Output = Standing;

    fn call(input: StatusInput, work: &Work) -> Result<Standing, ToolError> {
        let newest = Cascades::of_command(&work.directory)?.newest(&which(input.id))?;
        Ok(Standing { cascade: newest.as_ref().map(CascadeStatusOutput::of) })
    }
}
