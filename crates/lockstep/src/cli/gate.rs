//! `lockstep gate`: the gates, asked by a person, an agent or git.

use std::path::PathBuf;

use lockstep_config::gates::GateMode;
use lockstep_steps::gate::{GateCheck, GateResult, GateValidation};
use lockstep_steps::step::Step;
use lockstep_text::single_line;
use lockstep_wire::claude::transcript;
use serde::Serialize;

use super::step::{given_or_deleted, refused};
use super::task::read_input;
use super::{CommandContext, CommandStatus};
use crate::clock;
use crate::error::{CommandError, CommandResult};
use crate::project::ActiveProject;
use crate::steps::gates::AgentWork;
use crate::steps::moves::{MoveVerdict, RefMove, Worktrees, moves_of_branches};
use crate::steps::recorded_commits::UngatedCommit;
use crate::steps::{StepContext, StepsError};
use crate::terminal::print_error;

/// Ask whether a prompt, the end of a step or a commit is allowed
///
/// A gate decides from what was recorded for a step; it changes no step. Hooks ask the gates for agents, git's hook for commits.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep gate prompt prompt.md
  lockstep gate stop 01-01 --explain
  lockstep gate commit")]
pub(crate) struct GateArgs {
    #[command(subcommand)]
    command: GateCommand,
}

#[derive(Debug, clap::Subcommand)]
enum GateCommand {
    Prompt(GatePromptArgs),
    Stop(GateStopArgs),
    Commit(GateCommitArgs),
    Refs(RefsArgs),
    Ci(CiArgs),
}

/// Gate 1: may an agent be started with this prompt?
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep gate prompt prompt.md --explain")]
struct GatePromptArgs {
    /// The prompt; `-` is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,
    /// Show every input of the gate and its findings
    #[arg(long)]
    explain: bool,
}

/// Gate 2: may the agent of this step end?
///
/// A commit requires that it has passed since the last change. The changed files come from git: everything
/// that differs from the last commit and changed since the step began.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep gate stop 01-01
  lockstep gate stop steps/01-01.json --explain")]
struct GateStopArgs {
    /// The step file, or the step's id
    #[arg(value_name = "FILE")]
    file: String,
    /// The agent's transcript, to count its turns
    #[arg(long, value_name = "FILE")]
    transcript: Option<PathBuf>,
    /// Show every input of the gate and its findings
    #[arg(long)]
    explain: bool,
}

/// Gate 3: may a commit be made?
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep gate commit --explain")]
struct GateCommitArgs {
    /// Asked by git before a commit: reasons go to standard error, and a project that is not active has no gate
    #[arg(long)]
    git_hook: bool,
    /// Show every input of the gate and its findings
    #[arg(long)]
    explain: bool,
}

/// Gate 3: may git move these branches?
///
/// git's reference-transaction hook asks with the refs on standard input, a line each: the old value, the new one, the name. A move to
/// commits that are there already passes; commits that the gate has not seen are judged.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep gate refs --git-hook < moves")]
struct RefsArgs {
    /// Asked by git: reasons go to standard error, and a project that is not active has no gate
    #[arg(long)]
    git_hook: bool,
    /// The project's directory below the top of the repository
    #[arg(long, value_name = "DIR")]
    below: Option<PathBuf>,
}

/// Check that every commit of a range was let through by gate 3
///
/// For continuous integration, where no local agent can skip it. The evidence is the audit trail in the checkout: commit its files, or
/// fetch them before. A trail that lost or changed a line since the beginning of the range is named. Commits that change only
/// files of the trail need no evidence.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep gate ci --range origin/main..HEAD")]
struct CiArgs {
    /// The commits, as git names a range
    #[arg(long, value_name = "A..B")]
    range: String,
}

pub(crate) fn run(args: &GateArgs, context: &CommandContext) -> CommandResult {
    if let GateCommand::Refs(args) = &args.command {
        return refs(args, context);
    }
    if let GateCommand::Commit(args @ GateCommitArgs { git_hook: true, .. }) = &args.command {
        let Some(project) = ActiveProject::of_git_hook(&context.directory)? else {
            return Ok(CommandStatus::Success);
        };
        return commit(args, &StepContext::new(&project, clock::now()), context);
    }
    let project = ActiveProject::discover(&context.directory)?;
    let steps = StepContext::new(&project, clock::now());
    match &args.command {
        GateCommand::Prompt(args) => prompt(args, &steps, context),
        GateCommand::Stop(args) => stop(args, &steps, context),
        GateCommand::Commit(args) => commit(args, &steps, context),
        GateCommand::Refs(args) => refs(args, context),
        GateCommand::Ci(args) => ci(args, &steps, context),
    }
}

fn prompt(args: &GatePromptArgs, steps: &StepContext<'_>, context: &CommandContext) -> CommandResult {
    let bytes = read_input(context, &args.file)?;
    let prompt = String::from_utf8(bytes)
        .map_err(|_| CommandError::usage(format!("{} is not UTF-8", args.file.display())))?;
    let markers = steps.markers(&prompt);
    let invoked = steps.judge_invocation(&prompt, &markers)?;
    if !markers.is_ad_hoc() {
        steps.record_invocation(&invoked, &markers);
    }
    Ok(print_gate_result(context, &invoked.judged, args.explain))
}

fn stop(args: &GateStopArgs, steps: &StepContext<'_>, context: &CommandContext) -> CommandResult {
    let file = match given_or_deleted(steps, context, &args.file) {
        Ok(file) => file,
        Err(error) => return Ok(refused(context, &error.into_refusal()?)),
    };
    let usage = match &args.transcript {
        Some(path) => Some(transcript::usage(&read_input(context, path)?)),
        None => None,
    };
    let at = steps.at_stop(Some(&file.name))?;
    let work = AgentWork {
        changed: if at.is_bounded() {
            steps.changed_since(at.step(), steps.start_of(&file).as_deref())
        } else {
            None
        },
        turns: usage.map(|usage| usage.turns),
        budget: at.step().and_then(Step::max_turns),
    };
    let judged = steps.judge_stop(&at, &work)?;
    steps.record_stop(&judged, &at, |record| record);
    Ok(print_gate_result(context, &judged, args.explain))
}

fn commit(args: &GateCommitArgs, steps: &StepContext<'_>, context: &CommandContext) -> CommandResult {
    if !steps.has_steps() {
        if !args.git_hook {
            context.terminal.say_line("the project has no steps: nothing prevents a commit");
        }
        return Ok(CommandStatus::Success);
    }
    let mode = steps.commit_mode();
    if args.git_hook && mode == GateMode::Off {
        return Ok(CommandStatus::Success);
    }
    let unseen = if args.git_hook { steps.record_ungated_commits()? } else { Vec::new() };
    for one in &unseen {
        print_error(&format!(
            "lockstep: the commit {:.10} ({}) passed no gate; it is on record now\n",
            one.commit,
            single_line(&one.subject)
        ));
    }
    let touched = match steps.staged_files() {
        Ok(touched) => touched,
        // Without git, all active steps are checked.
        Err(StepsError::Git(_)) if !args.git_hook => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let tree = match steps.staged_tree() {
        Ok(tree) => vec![tree],
        Err(StepsError::Git(_)) if !args.git_hook => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let judged = steps.judge_commit(&touched, &tree)?;
    steps.record_commit(&judged, args.git_hook);
    if !args.git_hook {
        return Ok(print_gate_result(context, &judged, args.explain));
    }
    if judged.validation.failed() {
        let (gate, errors) = (judged.validation.gate_id, judged.render_errors());
        if mode == GateMode::Block {
            print_error(&format!("lockstep: this commit is refused by {gate}:\n{errors}"));
            return Ok(CommandStatus::CheckFailed);
        }
        print_error(&format!("lockstep: warning: this commit does not pass {gate}:\n{errors}"));
    }
    for warning in &judged.validation.warnings {
        print_error(&format!("lockstep: warning: {}\n", single_line(warning)));
    }
    Ok(CommandStatus::Success)
}

fn refs(args: &RefsArgs, context: &CommandContext) -> CommandResult {
    let lines = read_input(context, "-".as_ref())?;
    let moves = moves_of_branches(&String::from_utf8_lossy(&lines));
    if moves.is_empty() {
        return Ok(CommandStatus::Success);
    }
    let worktrees = Worktrees::of(&context.directory, args.below.as_deref());
    let mut has_steps = false;
    let project = match args.git_hook {
        true => ActiveProject::of_git_hook(&worktrees.present)?,
        false => Some(ActiveProject::discover(&worktrees.present)?),
    };
    if let Some(project) = project {
        has_steps = !StepContext::new(&project, clock::now()).known_steps().is_empty();
        if judge_moves(&project, &moves)? == CommandStatus::CheckFailed {
            return Ok(CommandStatus::CheckFailed);
        }
    }
    // A worktree in which no step was recorded does work of the main one.
    match worktrees.main {
        Some(main) if !has_steps => match ActiveProject::of_git_hook(&main)? {
            Some(project) => judge_moves(&project, &moves),
            None => Ok(CommandStatus::Success),
        },
        _ => Ok(CommandStatus::Success),
    }
}

fn judge_moves(project: &ActiveProject, moves: &[RefMove]) -> CommandResult {
    let steps = StepContext::new(project, clock::now());
    if !steps.has_steps() {
        return Ok(CommandStatus::Success);
    }
    let mode = steps.commit_mode();
    if mode == GateMode::Off {
        return Ok(CommandStatus::Success);
    }
    let MoveVerdict::Judged(judged) = steps.judge_moves(moves)? else { return Ok(CommandStatus::Success) };
    if !judged.validation.failed() {
        return Ok(CommandStatus::Success);
    }
    let (gate, errors) = (judged.validation.gate_id, judged.render_errors());
    if mode == GateMode::Warn {
        print_error(&format!(
            "lockstep: warning: a branch moves to a commit that does not pass {gate}:\n{errors}"
        ));
        return Ok(CommandStatus::Success);
    }
    print_error(&format!("lockstep: the move of the branch is refused by {gate}:\n{errors}"));
    Ok(CommandStatus::CheckFailed)
}

fn ci(args: &CiArgs, steps: &StepContext<'_>, context: &CommandContext) -> CommandResult {
    let proven = steps.prove_range(&args.range)?;
    let text = || {
        let mut text: String =
            proven.rewritten.iter().map(|why| format!("the trail was rewritten: {why}\n")).collect();
        for UngatedCommit { commit, subject } in &proven.unproven {
            text.push_str(&format!(
                "the commit {commit:.10} ({}) was not let through by gate 3\n",
                single_line(subject)
            ));
        }
        text.push_str(&format!("commits: {}, not let through: {}\n", proven.commits, proven.unproven.len()));
        text
    };
    context.terminal.print(&context.format.render(&proven).unwrap_or_else(text));
    let whole = proven.unproven.is_empty() && proven.rewritten.is_empty();
    Ok(if whole { CommandStatus::Success } else { CommandStatus::CheckFailed })
}

#[derive(Serialize)]
struct GateOutput<'a> {
    #[serde(flatten)]
    validation: &'a GateValidation,
    #[serde(skip_serializing_if = "Option::is_none")]
    looked_at: Option<&'a [GateCheck]>,
}

fn print_gate_result(context: &CommandContext, judged: &GateResult, explain: bool) -> CommandStatus {
    let GateResult { validation, looked_at, fixes: mends } = judged;
    let data = GateOutput { validation, looked_at: explain.then_some(looked_at) };
    let text = || {
        let mut text = format!("{}: {}\n", validation.gate_id, validation.result.as_str());
        for (error, mend) in mends {
            text.push_str(&format!("- {}\n  {}\n", single_line(error), single_line(mend)));
        }
        for warning in &validation.warnings {
            text.push_str(&format!("- warning: {}\n", single_line(warning)));
        }
        if explain {
            text.push_str("looked at:\n");
            for GateCheck { what, found, passed: good } in looked_at {
                let mark = if *good { "ok " } else { "NOT" };
                text.push_str(&format!("  {mark} {}: {}\n", single_line(what), single_line(found)));
            }
        }
        text
    };
    context.terminal.print(&context.format.render(&data).unwrap_or_else(text));
    if validation.failed() { CommandStatus::CheckFailed } else { CommandStatus::Success }
}
