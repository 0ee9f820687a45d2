//! `lockstep cascade run`.

use std::io::{IsTerminal as _, stderr};
use std::time::Duration;

use lockstep_cascade::report::CascadeReport;
use serde::Serialize;

use super::start::SourceArgs;
use super::{CascadeSelectorArgs, status, status_of};
use crate::cascade::run::{DELIVERY_INSTRUCTIONS, RunOptions, run as run_cascade, worktree};
use crate::cascade::{CascadeContext, GroupPrompt, LoadedCascade};
use crate::cli::CommandContext;
use crate::error::{CommandError, CommandResult};
use crate::terminal::print_error;

/// Run the whole cascade without a Lead
///
/// Continues the active cascade, or starts one as `cascade start` does. Each group is given to an agent: the prompt on its
/// standard input, the group in LOCKSTEP_GROUP, the files in the file
/// LOCKSTEP_FILES_LIST0 (relative to the project's root, each ended by NUL). At most two agents run at the same time. Their output is
/// stored in .lockstep/reports/cascade/. Ctrl-C also ends the agents; the same command continues later. The exit code is 0 if the
/// cascade has converged, and 1 if dependents are left.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep cascade run --agent claude
  lockstep cascade run --agent codex --verify 'cargo check' --isolate
  lockstep cascade run --agent './fix.sh' --time-limit 120
  lockstep cascade run --agent claude --dry-run")]
pub(crate) struct CascadeRunArgs {
    /// `claude` or `codex`, or any shell command; exit code 0 is success
    #[arg(long, value_name = "CMD")]
    agent: String,
    /// A command that must pass, such as a build; the files that its failures name are the next iteration's work
    #[arg(long, value_name = "CMD")]
    verify: Option<String>,
    /// Give each agent a git worktree of its own, and take only its own files back
    #[arg(long)]
    isolate: bool,
    /// Print the groups and prompts, and start nothing
    #[arg(long)]
    dry_run: bool,
    /// Seconds that an agent may take, instead of `[cascade] time_limit`
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    time_limit: Option<u64>,
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    which: CascadeSelectorArgs,
}

pub(crate) fn run(
    args: &CascadeRunArgs,
    context: &CommandContext,
    cascades: &mut CascadeContext,
) -> CommandResult {
    let active = cascades.active(&args.which.selector())?;
    if let Some(active) = active.as_ref().filter(|_| args.source.is_given()) {
        let message = format!("cascade {} is active already", active.record.id);
        return Err(CommandError::usage(message).hint(
            "leave out --from and --session to go on with it, or end it with `lockstep cascade abort`",
        ));
    }
    if args.dry_run {
        return dry_run(args, context, cascades, active);
    }
    if args.isolate {
        worktree::check(&cascades.tree)?;
    }
    let mut opened = match active {
        Some(active) => active,
        None if args.which.id.is_some() => cascades.require_active(&args.which.selector())?,
        None => args.source.start(context, cascades)?,
    };
    let limit = args.time_limit.map_or(cascades.project().config().cascade.time_limit, Duration::from_secs);
    let shows_progress = stderr().is_terminal() && !context.terminal.quiet() || context.terminal.verbose();
    let progress = |line: &str| {
        if shows_progress {
            print_error(&format!("cascade: {line}\n"));
        }
    };
    run_cascade(
        cascades,
        &mut opened,
        &RunOptions {
            agent: &args.agent,
            verify: args.verify.as_deref(),
            isolate: args.isolate,
            limit,
            progress: &progress,
        },
    )?;
    status::show(context, &opened);
    Ok(status_of(&opened.state))
}

/// Prints the groups that would be assigned now. Nothing is saved.
fn dry_run(
    args: &CascadeRunArgs,
    context: &CommandContext,
    cascades: &CascadeContext,
    active: Option<LoadedCascade>,
) -> CommandResult {
    let (state, disk) = match &active {
        Some(opened) => (opened.state.clone(), cascades.disk(opened, None)?),
        None => args.source.plan(context, cascades)?,
    };
    let mut groups = Vec::new();
    for group in state.waiting().chain(state.dispatched()) {
        groups.push(disk.group_prompt(&state, group, DELIVERY_INSTRUCTIONS)?);
    }
    let planned = DryRunOutput { state: state.data(), handouts: groups };
    context.terminal.print(&context.format.render(&planned).unwrap_or_else(|| text(&planned)));
    Ok(status_of(&state))
}

/// The groups that would be assigned.
#[derive(Serialize)]
struct DryRunOutput {
    #[serde(flatten)]
    state: CascadeReport,
    handouts: Vec<GroupPrompt>,
}

fn text(planned: &DryRunOutput) -> String {
    if planned.handouts.is_empty() {
        let warnings: String =
            planned.state.warnings.iter().map(|line| format!("warning: {line}\n")).collect();
        return format!("Nothing would be started: {}.\n{warnings}", planned.state.status);
    }
    let group = |handout: &GroupPrompt| {
        format!(
            "==> {} for {}, {} of at most {} characters <==\n{}",
            handout.group, handout.role, handout.chars, handout.budget_chars, handout.prompt
        )
    };
    planned.handouts.iter().map(group).collect::<Vec<_>>().join("\n")
}
