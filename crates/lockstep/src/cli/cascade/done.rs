//! `lockstep cascade done`.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use clap::ValueEnum;

use super::{CascadeSelectorArgs, status, status_of};
use crate::cascade::CascadeContext;
use crate::cascade::completion::{CompletionReport, GroupCompletion};
use crate::cli::CommandContext;
use crate::error::{CommandError, CommandResult};

/// The most of a report that is read.
const MAX_REPORT_BYTES: u64 = 4 << 20;

/// Report that the agent of a group has ended, or that a file needs no change
///
/// The content of the files decides: which of them changed, whether the stale references are removed, and
/// which other files changed. A group that is not resolved is dispatched once more, to a new agent.
/// After the last group of an iteration, the dependents of its changes are checked.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep cascade done 1a --status complete
  lockstep cascade done 1b --status failed --report agent-output.md
  lockstep cascade done --not-needed docs/old.md --why 'describes the former release'")]
pub(crate) struct CascadeDoneArgs {
    /// The group
    #[arg(value_name = "GROUP", required_unless_present = "not_needed", requires = "status")]
    group: Option<String>,
    /// Status that the agent reports
    #[arg(long, value_enum)]
    status: Option<ClaimedStatus>,
    /// File with the agent's output; it can only cause warnings
    #[arg(long, value_name = "FILE", requires = "group")]
    report: Option<PathBuf>,
    /// A dependent that needs no change
    #[arg(long, value_name = "FILE", requires = "why")]
    not_needed: Option<PathBuf>,
    /// Why it needs none
    #[arg(long, value_name = "REASON", requires = "not_needed")]
    why: Option<String>,
    #[command(flatten)]
    which: CascadeSelectorArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ClaimedStatus {
    /// The agent completed its assignment
    Complete,
    /// The agent failed
    Failed,
}

pub(crate) fn run(
    args: &CascadeDoneArgs,
    context: &CommandContext,
    cascades: &CascadeContext,
) -> CommandResult {
    let ended = |group: &String| {
        let complete = args.status == Some(ClaimedStatus::Complete);
        Ok::<_, CommandError>(GroupCompletion {
            group: group.clone(),
            complete,
            report: args.read_report(context)?,
        })
    };
    let completion = CompletionReport {
        ended: args.group.as_ref().map(ended).transpose()?,
        not_needed: args.not_needed.clone().zip(args.why.clone()),
    };
    let opened = cascades.done(&args.which.selector(), &context.directory, &completion)?;
    status::show(context, &opened);
    Ok(status_of(&opened.state))
}

impl CascadeDoneArgs {
    fn read_report(&self, context: &CommandContext) -> CommandResult<Vec<u8>> {
        let Some(path) = self.report.as_ref().map(|path| context.directory.join(path)) else {
            return Ok(Vec::new());
        };
        let mut bytes = Vec::new();
        File::open(&path).and_then(|file| file.take(MAX_REPORT_BYTES).read_to_end(&mut bytes)).map_err(
            |error| {
                CommandError::store(format!("cannot read {}: {error}", path.display()))
                    .hint("give the file that holds what the agent printed, or leave --report out")
            },
        )?;
        Ok(bytes)
    }
}
