//! `lockstep step show` and `lockstep step list`.

use lockstep_steps::step::Step;
use lockstep_text::single_line;
use serde::Serialize;

use super::{CommandContext, CommandStatus, resolve_step};
use crate::command_output::CommandOutput as _;
use crate::steps::files::StepFile;
use crate::steps::{StepContext, StepsResult};

/// Show a step and its phases
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep step show 01-01
  lockstep step show 01-01 --format json")]
pub(crate) struct StepShowArgs {
    /// The step file, or the step's id
    #[arg(value_name = "FILE")]
    file: String,
}

/// List the steps of the project
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep step list
  lockstep step list --status IN_PROGRESS")]
pub(crate) struct StepListArgs {
    /// Only those in this state
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,
}

pub(super) fn show(args: &StepShowArgs, steps: &StepContext<'_>, context: &CommandContext) -> StepsResult {
    let view = steps.show(&resolve_step(steps, context, &args.file)?)?;
    // Programs get the document as it is.
    context.terminal.print(&context.format.render(&view.document).unwrap_or_else(|| view.text()));
    Ok(CommandStatus::Success)
}

#[derive(Serialize)]
struct StepRow {
    step_file: String,
    #[serde(flatten)]
    what: StepRowKind,
}

#[derive(Serialize)]
#[serde(untagged)]
enum StepRowKind {
    Step {
        task_id: String,
        project_id: String,
        status: String,
        abandoned: bool,
        over: usize,
        phases: usize,
        running: Option<String>,
    },
    Malformed {
        malformed: Vec<String>,
    },
}

pub(super) fn list(args: &StepListArgs, steps: &StepContext<'_>, context: &CommandContext) -> StepsResult {
    // A damaged trail is shown only partly; `lockstep audit verify` gives the reason.
    let (words, _) = steps.audit_states()?;
    let abandoned = |file: &StepFile| words.get(&file.name).is_some_and(|words| words.abandoned);
    let listed = steps.list_step_files().into_iter().map(|file| listed(steps, &file, abandoned(&file)));
    let all: Vec<StepRow> = listed.filter(|one| fits(one, args)).collect();
    let text = || {
        if all.is_empty() {
            return format!("there are no steps in {}\n", steps.project.config().steps.dir.0);
        }
        all.iter().map(|one| single_line(&line(one)) + "\n").collect()
    };
    context.terminal.print(&context.format.render(&all).unwrap_or_else(text));
    Ok(CommandStatus::Success)
}

fn fits(one: &StepRow, args: &StepListArgs) -> bool {
    match (&one.what, &args.status) {
        (_, None) => true,
        (StepRowKind::Step { status, .. }, Some(wanted)) => status.eq_ignore_ascii_case(wanted),
        (StepRowKind::Malformed { .. }, Some(_)) => false,
    }
}

fn line(one: &StepRow) -> String {
    match &one.what {
        StepRowKind::Step { task_id, project_id, status, abandoned, over, phases, running } => {
            let status = if *abandoned { format!("{status}, given up") } else { status.clone() };
            let running = running.as_ref().map(|name| format!(", {name} is IN_PROGRESS")).unwrap_or_default();
            format!(
                "{}  {task_id} of {project_id}: {status}, {over} of {phases} phases{running}",
                one.step_file
            )
        }
        StepRowKind::Malformed { malformed } => {
            format!("{}  is not a step: {}", one.step_file, malformed.join("; "))
        }
    }
}

fn listed(steps: &StepContext<'_>, file: &StepFile, abandoned: bool) -> StepRow {
    let what = match steps.read(file) {
        Ok(step) => of_step(&step, abandoned),
        Err(problems) => StepRowKind::Malformed {
            malformed: problems.into_iter().map(|problem| problem.message).collect(),
        },
    };
    StepRow { step_file: file.name.clone(), what }
}

fn of_step(step: &Step, abandoned: bool) -> StepRowKind {
    let running = step.phases().iter().find(|phase| phase.status == "IN_PROGRESS");
    StepRowKind::Step {
        task_id: step.task_id().to_owned(),
        project_id: step.project_id().to_owned(),
        status: step.status().to_owned(),
        abandoned,
        over: step.phases().iter().filter(|phase| phase.is_finished()).count(),
        phases: step.phases().len(),
        running: running.map(|phase| phase.name.clone()),
    }
}
