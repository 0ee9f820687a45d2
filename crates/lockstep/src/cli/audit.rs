//! `lockstep audit`: the trail of the steps.

use lockstep_steps::audit::{ChainError, TrailEntry};
use serde::Serialize;

use super::{CommandContext, CommandStatus, refuse_in_session};
use crate::clock;
use crate::command_output::CommandOutput as _;
use crate::error::CommandResult;
use crate::project::ActiveProject;
use crate::steps::StepContext;
use crate::steps::audit::unverified as unverified_note;
use crate::steps::audit_query::AuditFilter;
use crate::steps::recorded_commits::UngatedCommit;

/// Show and verify the audit trail of the steps
///
/// Every change of a step and every decision of a gate is a line in audit-YYYY-MM-DD.log, which holds the hash of the line before it.
/// There is no command that takes a line away.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep audit show --step 01-01
  lockstep audit verify")]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    command: AuditCommand,
}

#[derive(Debug, clap::Subcommand)]
enum AuditCommand {
    Show(AuditShowArgs),
    Verify(AuditVerifyArgs),
    Accept(AcceptArgs),
}

/// Print entries of the trail
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep audit show --step steps/01-01.json
  lockstep audit show --event TASK_INVOCATION_REJECTED --since 2026-02-14
  lockstep audit show --format json")]
struct AuditShowArgs {
    /// Only about this step
    #[arg(long, value_name = "FILE")]
    step: Option<String>,
    /// Only this event
    #[arg(long, value_name = "EVENT")]
    event: Option<String>,
    /// Only since this day or moment, in UTC
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only before this day or moment, in UTC
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
}

/// Check that no line was edited, removed, put in, reordered or cut off
///
/// The first bad line of a trail is named, and the answer is no (exit code 1). Commits that passed no gate, as with --no-verify, are
/// listed as warnings.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep audit verify
  lockstep audit verify --format json")]
struct AuditVerifyArgs {}

/// Accept the trail as it is, on record
///
/// For a trail from another machine, a copy or a pull, and for a damaged one that cannot be restored. Every
/// trail that `lockstep audit verify` reports gets an entry TRAIL_ACCEPTED with the reason; it is verified
/// from there on. A project without an identity on this machine gets one. Refused in an agent's session.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep audit accept --why 'cloned from the team repository'")]
struct AcceptArgs {
    /// Why
    #[arg(long, value_name = "TEXT")]
    why: String,
}

pub(crate) fn run(args: &AuditArgs, context: &CommandContext) -> CommandResult {
    let project = ActiveProject::discover(&context.directory)?;
    let steps = StepContext::new(&project, clock::now());
    match &args.command {
        AuditCommand::Show(args) => show(args, &steps, context),
        AuditCommand::Verify(_) => verify(&steps, context),
        AuditCommand::Accept(args) => accept(args, &steps, context),
    }
}

fn show(args: &AuditShowArgs, steps: &StepContext<'_>, context: &CommandContext) -> CommandResult {
    let wanted = AuditFilter {
        step: args.step.as_deref(),
        event: args.event.as_deref(),
        since: args.since.as_deref(),
        until: args.until.as_deref(),
    };
    let entries = steps.entries(&context.directory, &wanted)?;
    // Programs get a list.
    let data: Vec<_> = entries.entries.iter().map(TrailEntry::fields).collect();
    context.terminal.print(&context.format.render(&data).unwrap_or_else(|| entries.text()));
    Ok(CommandStatus::Success)
}

#[derive(Serialize)]
struct AuditVerifyOutput {
    whole: bool,
    trails: Vec<TrailVerifyOutput>,
    commits_past_the_gate: Vec<UngatedCommit>,
    /// Commits of local branches that came from a remote and were not judged here.
    commits_from_remotes: usize,
    /// The reason why commits could not be compared with the trail.
    commits_unknown: Option<String>,
}

#[derive(Serialize)]
struct TrailVerifyOutput {
    dir: String,
    entries: usize,
    /// The entries, from the first, that were not recorded on this machine.
    unverified: usize,
    broken: Option<ChainError>,
}

fn verify(steps: &StepContext<'_>, context: &CommandContext) -> CommandResult {
    let mut verified = AuditVerifyOutput {
        whole: true,
        trails: Vec::new(),
        commits_past_the_gate: Vec::new(),
        commits_from_remotes: 0,
        commits_unknown: None,
    };
    for trail in steps.trails() {
        let dir = steps.relative(trail.dir()).unwrap_or_else(|| trail.dir().display().to_string());
        let (entries, unverified, broken) = match trail.check()? {
            Ok(checked) => (checked.entries.len(), checked.unverified, None),
            Err(broken) => (0, 0, Some(broken)),
        };
        verified.whole &= broken.is_none();
        verified.trails.push(TrailVerifyOutput { dir, entries, unverified, broken });
    }
    match steps.compare_commits() {
        Ok(compared) => {
            verified.commits_past_the_gate = compared.unseen;
            verified.commits_from_remotes = compared.from_remotes;
        }
        Err(error) => verified.commits_unknown = Some(error.to_string()),
    }
    let text = || {
        let mut text = String::new();
        for TrailVerifyOutput { dir, entries, unverified, broken } in &verified.trails {
            match broken {
                None => {
                    let entries =
                        if *entries == 1 { "1 entry".to_owned() } else { format!("{entries} entries") };
                    text.push_str(&format!("{dir}: whole, {entries}\n"));
                    if *unverified > 0 {
                        text.push_str(&format!("note: {}\n", unverified_note(dir, *unverified)));
                    }
                }
                Some(broken) => text.push_str(&format!("{dir}/{broken}\n")),
            }
        }
        for UngatedCommit { commit, subject } in &verified.commits_past_the_gate {
            text.push_str(&format!("warning: the commit {commit:.10} ({subject}) passed no gate\n"));
        }
        if verified.commits_from_remotes > 0 {
            text.push_str(&format!(
                "commits from remotes, not judged here: {}\n",
                verified.commits_from_remotes
            ));
        }
        if let Some(why) = &verified.commits_unknown {
            text.push_str(&format!("commits were not compared: {why}\n"));
        }
        text
    };
    context.terminal.print(&context.format.render(&verified).unwrap_or_else(text));
    Ok(if verified.whole && verified.commits_unknown.is_none() {
        CommandStatus::Success
    } else {
        CommandStatus::CheckFailed
    })
}

fn accept(args: &AcceptArgs, steps: &StepContext<'_>, context: &CommandContext) -> CommandResult {
    refuse_in_session("accept a trail")?;
    let accepted = steps.accept_trails(&args.why)?;
    let text = || match &accepted[..] {
        [] => {
            "every trail is whole and was recorded on this machine: there is nothing to accept\n".to_owned()
        }
        accepted => accepted.iter().map(|one| format!("accepted: {one}\n")).collect(),
    };
    context.terminal.print(&context.format.render(&accepted).unwrap_or_else(text));
    Ok(CommandStatus::Success)
}
