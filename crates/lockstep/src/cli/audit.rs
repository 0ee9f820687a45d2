//! `lockstep audit`: the trail of the steps.

use lockstep_steps::audit::{Broken, Entry};
use serde::Serialize;

use super::{Answer, Context};
use crate::clock;
use crate::error::CommandError;
use crate::project::ActiveProject;
use crate::reply::Reply as _;
use crate::steps::Steps;
use crate::steps::commits::Unseen;
use crate::steps::listing::Wanted;

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
    Show(ShowArgs),
    Verify(VerifyArgs),
}

/// Print entries of the trail
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep audit show --step steps/01-01.json
  lockstep audit show --event TASK_INVOCATION_REJECTED --since 2026-02-14
  lockstep audit show --format json")]
struct ShowArgs {
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
struct VerifyArgs {}

pub(crate) fn run(args: &AuditArgs, context: &Context) -> Result<Answer, CommandError> {
    let project = ActiveProject::of_command(&context.directory)?;
    let steps = Steps::new(&project, clock::now());
    match &args.command {
        AuditCommand::Show(args) => show(args, &steps, context),
        AuditCommand::Verify(_) => verify(&steps, context),
    }
}

fn show(args: &ShowArgs, steps: &Steps<'_>, context: &Context) -> Result<Answer, CommandError> {
    let wanted = Wanted {
        step: args.step.as_deref(),
        event: args.event.as_deref(),
        since: args.since.as_deref(),
        until: args.until.as_deref(),
    };
    let shown = steps.entries(&context.directory, &wanted)?;
    // Programs get a list.
    let data: Vec<_> = shown.entries.iter().map(Entry::fields).collect();
    context.terminal.say(&context.format.render(&data).unwrap_or_else(|| shown.text()));
    Ok(Answer::Yes)
}

#[derive(Serialize)]
struct Verified {
    whole: bool,
    trails: Vec<VerifiedTrail>,
    commits_past_the_gate: Vec<Unseen>,
}

#[derive(Serialize)]
struct VerifiedTrail {
    dir: String,
    entries: usize,
    broken: Option<Broken>,
}

fn verify(steps: &Steps<'_>, context: &Context) -> Result<Answer, CommandError> {
    let mut verified = Verified { whole: true, trails: Vec::new(), commits_past_the_gate: Vec::new() };
    for trail in steps.trails() {
        let dir = steps.relative(trail.dir()).unwrap_or_else(|| trail.dir().display().to_string());
        let (entries, broken) = match trail.verify()? {
            Ok(entries) => (entries.len(), None),
            Err(broken) => (0, Some(broken)),
        };
        verified.whole &= broken.is_none();
        verified.trails.push(VerifiedTrail { dir, entries, broken });
    }
    // Without git there are no commits to miss.
    verified.commits_past_the_gate = steps.unseen_commits().unwrap_or_default();
    let text = || {
        let mut text = String::new();
        for VerifiedTrail { dir, entries, broken } in &verified.trails {
            match broken {
                None => {
                    let entries =
                        if *entries == 1 { "1 entry".to_owned() } else { format!("{entries} entries") };
                    text.push_str(&format!("{dir}: whole, {entries}\n"));
                }
                Some(broken) => text.push_str(&format!("{dir}/{broken}\n")),
            }
        }
        for Unseen { commit, subject } in &verified.commits_past_the_gate {
            text.push_str(&format!("warning: the commit {commit:.10} ({subject}) passed no gate\n"));
        }
        text
    };
    context.terminal.say(&context.format.render(&verified).unwrap_or_else(text));
    Ok(if verified.whole { Answer::Yes } else { Answer::No })
}
