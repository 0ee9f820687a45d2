//! `cascade_start`, `cascade_next`, `cascade_done`, `cascade_status`.

use std::path::PathBuf;

use lockstep_cascade::tier::Tier;
use lockstep_model::ids::SessionId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cascade::done::{Ended, Said};
use crate::cascade::next::Work as Groups;
use crate::cascade::shown::{NONE_YET, Shown};
use crate::cascade::{Cascades, Opened, Source, Which};
use crate::error::{CommandError, Kind};
use crate::mcp::caller;
use crate::mcp::tool::{Effect, Tool, ToolError};
use crate::mcp::work::Work;
use crate::reply::Reply;

/// A cascade, or that there was none yet.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Standing {
    /// `null` where there was no cascade yet.
    cascade: Option<Shown>,
}

impl Standing {
    fn of(opened: &Opened) -> Self {
        Self { cascade: Some(Shown::of(opened)) }
    }
}

impl Reply for Standing {
    fn text(&self) -> String {
        self.cascade.as_ref().map_or_else(|| NONE_YET.to_owned(), Reply::text)
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
    /// What the agents of this session changed.
    session: Option<String>,
    /// How much effort it is worth: TRIVIAL, STANDARD or COMPLEX; by number and spread of the dependents where absent.
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

/// Hand out the groups of the cascade that wait, each with the prompt for its agent.
///
/// Start one agent for each group with its prompt as it is; call cascade_done when it has ended. Groups that were handed out before
/// and are not done are given again, so that a Lead that lost its context can go on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NextInput {
    /// The cascade, where several are active.
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

/// Say that the agent of a group has ended, or that a file needs no change.
///
/// What counts is what is in the files: it is looked at now. After the last group of an iteration, what depends on its changes is
/// checked, and there may be more to do: active says whether.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DoneInput {
    /// The group, as in 1a; with status.
    group: Option<String>,
    /// What the agent says of itself; with group.
    status: Option<Claimed>,
    /// What the agent printed: warnings follow from it, nothing else.
    report: Option<String>,
    /// A dependent that needs no change; with why.
    not_needed: Option<PathBuf>,
    /// Why it needs none.
    why: Option<String>,
    /// The cascade, where several are active.
    id: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Claimed {
    Complete,
    Failed,
}

impl DoneInput {
    fn said(&self) -> Result<Said, CommandError> {
        let ended = match (&self.group, self.status) {
            (Some(group), Some(status)) => Some(Ended {
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
        Ok(Said { ended, not_needed })
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
        let said = input.said()?;
        let cascades = Cascades::of_command(&work.directory)?;
        Ok(Standing::of(&cascades.done(&which(input.id), &work.directory, &said)?))
    }
}

/// Show where the cascade stands: the one that is active, or else the last one, whichever session started it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StatusInput {
    /// The cascade, where it is not the active or last one.
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
        Ok(Standing { cascade: newest.as_ref().map(Shown::of) })
    }
}
