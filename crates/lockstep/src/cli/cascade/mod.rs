//! `lockstep cascade`: a file per subcommand.

mod abort;
mod done;
mod next;
mod report;
mod run;
mod start;
mod status;

use std::process::ExitCode;

use lockstep_cascade::state::CascadeStatus;
use lockstep_model::ids::SessionId;

use super::{CommandContext, CommandStatus};
use crate::cascade::supervisor::{self, SuperviseArgs};
use crate::cascade::{CascadeContext, CascadeSelector};
use crate::env_vars::CLAUDE_CODE_SESSION_ID;
use crate::error::CommandResult;

/// Have agents update the files that a change broke, until none is left
///
/// A cascade starts from an impact report and has at most three iterations. Each gives the files that depend directly on a change
/// to at most two agents and then checks the files on disk; the files that depend on those edits are the work of the next iteration. It has
/// converged when no broken reference is left. Its state is saved, so a crash or a new session loses nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep cascade run --agent claude --verify 'cargo check'    the whole loop in one command
  lockstep cascade start                                        from the working tree, or else the last commit
  lockstep cascade next                                         the groups to run now, with their prompts
  lockstep cascade done 1a --status complete                    an agent has ended: look at what it did
  lockstep cascade status
  lockstep cascade report --format md")]
pub(crate) struct CascadeArgs {
    #[command(subcommand)]
    command: CascadeCommand,
}

#[derive(Debug, clap::Subcommand)]
enum CascadeCommand {
    Start(start::CascadeStartArgs),
    Next(next::CascadeNextArgs),
    Done(done::CascadeDoneArgs),
    Status(status::CascadeStatusArgs),
    Report(report::CascadeReportArgs),
    Abort(abort::CascadeAbortArgs),
    Run(run::CascadeRunArgs),
    #[command(hide = true)]
    Supervise(SuperviseArgs),
}

/// Which cascade is meant
#[derive(Debug, clap::Args)]
struct CascadeSelectorArgs {
    /// The cascade, if several are active
    #[arg(long, value_name = "NUMBER")]
    id: Option<i64>,
}

impl CascadeSelectorArgs {
    fn selector(&self) -> CascadeSelector {
        CascadeSelector { id: self.id, session: current_session() }
    }
}

/// The session of the client that runs this command.
fn current_session() -> Option<SessionId> {
    SessionId::new(CLAUDE_CODE_SESSION_ID.get()?.to_str()?).ok()
}

/// The exit code of the process that watches an agent; `None` for every other command.
pub(crate) fn run_supervisor(args: &CascadeArgs) -> Option<ExitCode> {
    match &args.command {
        CascadeCommand::Supervise(args) => Some(supervisor::main(args)),
        _ => None,
    }
}

pub(crate) fn run(args: &CascadeArgs, context: &CommandContext) -> CommandResult {
    let mut cascades = CascadeContext::discover(&context.directory)?;
    match &args.command {
        CascadeCommand::Start(args) => start::run(args, context, &mut cascades),
        CascadeCommand::Next(args) => next::run(args, context, &cascades),
        CascadeCommand::Done(args) => done::run(args, context, &cascades),
        CascadeCommand::Status(args) => status::run(args, context, &cascades),
        CascadeCommand::Report(args) => report::run(args, context, &cascades),
        CascadeCommand::Abort(args) => abort::run(args, context, &mut cascades),
        CascadeCommand::Run(args) => run::run(args, context, &mut cascades),
        CascadeCommand::Supervise(_) => unreachable!("the process that watches an agent is answered before"),
    }
}

/// Returns yes if a cascade is active, has converged, or had nothing to do. Missing data is not "nothing to
/// do".
fn status_of(cascade: &lockstep_cascade::Cascade) -> CommandStatus {
    match cascade.status() {
        _ if cascade.is_active() => CommandStatus::Success,
        CascadeStatus::Converged => CommandStatus::Success,
        CascadeStatus::Skipped if !cascade.causes.is_empty() => CommandStatus::Success,
        CascadeStatus::Partial | CascadeStatus::Skipped => CommandStatus::CheckFailed,
    }
}
