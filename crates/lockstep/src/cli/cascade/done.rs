//! `lockstep cascade done`.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use clap::ValueEnum;
use lockstep_cascade::claim::{self, AgentReport};
use lockstep_cascade::event::Claim;
use lockstep_cascade::inspect::Inspector as _;
use lockstep_cascade::{Event, input};

use super::{WhichArgs, answer, status};
use crate::cascade::{Cascades, feed};
use crate::cli::{Answer, Context};
use crate::error::{CommandError, Kind};

/// The most of a report that is read.
const MAX_REPORT_BYTES: u64 = 4 << 20;

/// Say that the agent of a group has ended, or that a file needs no change
///
/// What counts is what is in the files: which of them changed, whether the stale references are gone, what else changed. A group that
/// is not resolved is handed out once more, to a fresh agent. After the last group of an iteration, what depends on its changes is
/// checked.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep cascade done 1a --status complete
  lockstep cascade done 1b --status failed --report agent-output.md
  lockstep cascade done --not-needed docs/old.md --why 'describes the former release'")]
pub(crate) struct DoneArgs {
    /// The group
    #[arg(value_name = "GROUP", required_unless_present = "not_needed", requires = "status")]
    group: Option<String>,
    /// What the agent says of itself
    #[arg(long, value_enum)]
    status: Option<ClaimedStatus>,
    /// What the agent printed: warnings follow from it, nothing else
    #[arg(long, value_name = "FILE", requires = "group")]
    report: Option<PathBuf>,
    /// A dependent that needs no change
    #[arg(long, value_name = "FILE", requires = "why")]
    not_needed: Option<PathBuf>,
    /// Why it needs none
    #[arg(long, value_name = "REASON", requires = "not_needed")]
    why: Option<String>,
    #[command(flatten)]
    which: WhichArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ClaimedStatus {
    /// It did what it was asked
    Complete,
    /// It did not
    Failed,
}

pub(crate) fn run(args: &DoneArgs, context: &Context, cascades: &Cascades) -> Result<Answer, CommandError> {
    let mut opened = cascades.needed(&args.which.which())?;
    let mut disk = cascades.disk(&opened, None)?;
    let state = &mut opened.state;
    if let (Some(file), Some(why)) = (&args.not_needed, &args.why) {
        let file = file_of(context, cascades, file)?;
        feed(state, &mut disk, Event::NotNeeded { file, why: why.clone() })?;
    }
    if let Some(group) = &args.group
        && state.is_active()
    {
        let report = read_report(args, &cascades.tree.root.to_string_lossy())?;
        let claim = Claim { complete: args.status == Some(ClaimedStatus::Complete), ..report.claim };
        let seen = disk.observe(state)?;
        feed(state, &mut disk, Event::Done { group: group.clone(), claim, seen })?;
    }
    status::show(context, &opened);
    Ok(answer(&opened.state))
}

/// A dependent as a person names it: from the present directory, or as the reports do.
fn file_of(context: &Context, cascades: &Cascades, file: &std::path::Path) -> Result<String, CommandError> {
    let from_here = cascades.tree.relative(&context.directory, file)?;
    let as_reported =
        file.to_str().and_then(|text| input::relative(text, &cascades.tree.root.to_string_lossy()).ok());
    let exists = |path: &String| cascades.tree.root.join(path).exists();
    Ok(Some(from_here.clone()).filter(exists).or(as_reported).unwrap_or(from_here))
}

fn read_report(args: &DoneArgs, root: &str) -> Result<AgentReport, CommandError> {
    let Some(path) = &args.report else { return Ok(AgentReport::default()) };
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(MAX_REPORT_BYTES).read_to_end(&mut bytes)).map_err(
        |error| CommandError::new(Kind::Usage, format!("cannot read {}: {error}", path.display())),
    )?;
    Ok(claim::read(&bytes, root).unwrap_or_default())
}
