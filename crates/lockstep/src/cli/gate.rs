//! `lockstep gate`: the gates, asked by a person, an agent or git.

use std::path::PathBuf;

use lockstep_config::Project;
use lockstep_config::gates::GateMode;
use lockstep_steps::gate::{Judged, Look, Validation};
use lockstep_steps::step::Step;
use lockstep_wire::claude::transcript;
use serde::Serialize;

use super::step::refused;
use super::task::read_input;
use super::{Answer, Context};
use crate::clock;
use crate::error::{CommandError, Kind};
use crate::project::ActiveProject;
use crate::steps::gates::Work;
use crate::steps::{Steps, StepsError};
use crate::terminal::complain;

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
    Prompt(PromptArgs),
    Stop(StopArgs),
    Commit(CommitArgs),
}

/// Gate 1: may an agent be started with this prompt?
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep gate prompt prompt.md --explain")]
struct PromptArgs {
    /// The prompt; `-` is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,
    /// Say what was looked at, and what was found
    #[arg(long)]
    explain: bool,
}

/// Gate 2: may the agent of this step end?
///
/// A commit needs it to have passed since the last change. What was changed is taken from git: everything that differs from the last
/// commit and was changed since the step began.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep gate stop 01-01
  lockstep gate stop steps/01-01.json --explain")]
struct StopArgs {
    /// The step file, or the step's id
    #[arg(value_name = "FILE")]
    file: String,
    /// The agent's transcript, to count its turns
    #[arg(long, value_name = "FILE")]
    transcript: Option<PathBuf>,
    /// Say what was looked at, and what was found
    #[arg(long)]
    explain: bool,
}

/// Gate 3: may a commit be made?
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep gate commit --explain")]
struct CommitArgs {
    /// Asked by git before a commit: reasons go to standard error, and a project that is not active has no gate
    #[arg(long)]
    git_hook: bool,
    /// Say what was looked at, and what was found
    #[arg(long)]
    explain: bool,
}

pub(crate) fn run(args: &GateArgs, context: &Context) -> Result<Answer, CommandError> {
    if let GateCommand::Commit(CommitArgs { git_hook: true, .. }) = args.command
        && Project::of_directory(&context.directory)?.is_none()
    {
        return Ok(Answer::Yes);
    }
    let project = ActiveProject::of_command(&context.directory)?;
    let steps = Steps::new(&project, clock::now());
    match &args.command {
        GateCommand::Prompt(args) => prompt(args, &steps, context),
        GateCommand::Stop(args) => stop(args, &steps, context),
        GateCommand::Commit(args) => commit(args, &steps, context),
    }
}

fn prompt(args: &PromptArgs, steps: &Steps<'_>, context: &Context) -> Result<Answer, CommandError> {
    let bytes = read_input(context, &args.file)?;
    let prompt = String::from_utf8(bytes)
        .map_err(|_| CommandError::new(Kind::Usage, format!("{} is not UTF-8", args.file.display())))?;
    let markers = steps.markers(&prompt);
    let invoked = steps.judge_invocation(&prompt, &markers)?;
    if !markers.is_ad_hoc() {
        steps.record_invocation(&invoked, &markers);
    }
    Ok(told(context, &invoked.judged, args.explain))
}

fn stop(args: &StopArgs, steps: &Steps<'_>, context: &Context) -> Result<Answer, CommandError> {
    let file = match steps.given(&context.directory, &args.file) {
        Ok(file) => file,
        Err(problem) => return Ok(refused(context, &[problem])),
    };
    let usage = match &args.transcript {
        Some(path) => Some(transcript::usage(&read_input(context, path)?)),
        None => None,
    };
    let at = steps.at_stop(Some(&file.name))?;
    let work = Work {
        changed: steps.uncommitted_since(at.step()),
        turns: usage.map(|usage| usage.turns),
        budget: at.step().and_then(Step::max_turns),
    };
    let judged = steps.judge_stop(&at, &work)?;
    steps.record_stop(&judged, &at, |record| record);
    Ok(told(context, &judged, args.explain))
}

fn commit(args: &CommitArgs, steps: &Steps<'_>, context: &Context) -> Result<Answer, CommandError> {
    if !steps.are_used() {
        if !args.git_hook {
            context.terminal.say("the project has no steps: nothing stands in the way of a commit\n");
        }
        return Ok(Answer::Yes);
    }
    let mode = steps.project.config().gates.commit;
    if args.git_hook && mode == GateMode::Off {
        return Ok(Answer::Yes);
    }
    let unseen = if args.git_hook { steps.record_unseen()? } else { Vec::new() };
    for one in &unseen {
        complain(&format!(
            "lockstep: the commit {:.10} ({}) passed no gate; it is on record now\n",
            one.commit, one.subject
        ));
    }
    let touched = match steps.staged() {
        Ok(touched) => touched,
        // Without git, whatever is active is looked at all the same.
        Err(StepsError::Git(_)) if !args.git_hook => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let judged = steps.judge_commit(&touched)?;
    steps.record_commit(&judged, args.git_hook);
    if !args.git_hook {
        return Ok(told(context, &judged, args.explain));
    }
    if judged.validation.failed() {
        let (gate, errors) = (judged.validation.gate_id, judged.told());
        if mode == GateMode::Block {
            complain(&format!("lockstep: this commit is refused by {gate}:\n{errors}"));
            return Ok(Answer::No);
        }
        complain(&format!("lockstep: warning: this commit does not pass {gate}:\n{errors}"));
    }
    for warning in &judged.validation.warnings {
        complain(&format!("lockstep: warning: {warning}\n"));
    }
    Ok(Answer::Yes)
}

#[derive(Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    validation: &'a Validation,
    #[serde(skip_serializing_if = "Option::is_none")]
    looked_at: Option<&'a [Look]>,
}

fn told(context: &Context, judged: &Judged, explain: bool) -> Answer {
    let Judged { validation, looked_at, mends } = judged;
    let data = Told { validation, looked_at: explain.then_some(looked_at) };
    let text = || {
        let mut text = format!("{}: {}\n", validation.gate_id, validation.result.as_str());
        for (error, mend) in mends {
            text.push_str(&format!("- {error}\n  {mend}\n"));
        }
        for warning in &validation.warnings {
            text.push_str(&format!("- warning: {warning}\n"));
        }
        if explain {
            text.push_str("looked at:\n");
            for Look { what, found, good } in looked_at {
                text.push_str(&format!("  {} {what}: {found}\n", if *good { "ok " } else { "NOT" }));
            }
        }
        text
    };
    context.terminal.say(&context.format.render(&data).unwrap_or_else(text));
    if validation.failed() { Answer::No } else { Answer::Yes }
}
