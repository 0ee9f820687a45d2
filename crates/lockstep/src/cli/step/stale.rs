//! `lockstep step stale`.

use lockstep_steps::stale_phases::{StalePhase, UndatedPhase, find_stale_phases};
use lockstep_steps::step::transition::abandon_phases;
use lockstep_text::single_line;
use serde::Serialize;

use super::{ActorArgs, CommandContext, CommandStatus};
use crate::steps::files::StepFile;
use crate::steps::{StepContext, StepsResult};

/// Find phases that were left IN_PROGRESS
///
/// Exit code 1 if there are some. Also lists files that are not steps, and phases of unknown age.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep step stale
  lockstep step stale --minutes 120 --resolve")]
pub(crate) struct StepStaleArgs {
    /// The minimum age of a phase
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(i64).range(0..))]
    minutes: i64,
    /// Set the phases and their steps to FAILED, with suggestions
    #[arg(long)]
    resolve: bool,
    #[command(flatten)]
    who: ActorArgs,
}

#[derive(Serialize, Default)]
struct StaleOutput {
    stale: Vec<StalePhaseOutput>,
    undated: Vec<UndatedPhaseOutput>,
    malformed: Vec<MalformedStepOutput>,
    resolved: bool,
    /// Set if the project was too large to search completely.
    cut: bool,
}

#[derive(Serialize)]
struct StalePhaseOutput {
    step_file: String,
    #[serde(flatten)]
    stale: StalePhase,
    /// The reason why the step could not be set to FAILED.
    #[serde(skip_serializing_if = "Option::is_none")]
    unresolved: Option<String>,
}

#[derive(Serialize)]
struct UndatedPhaseOutput {
    step_file: String,
    #[serde(flatten)]
    undated: UndatedPhase,
}

#[derive(Serialize)]
struct MalformedStepOutput {
    step_file: String,
    why: Vec<String>,
}

pub(super) fn run(args: &StepStaleArgs, steps: &StepContext<'_>, context: &CommandContext) -> StepsResult {
    let mut report = StaleOutput { resolved: args.resolve, ..StaleOutput::default() };
    let (files, cut) = steps.everywhere();
    report.cut = cut;
    for file in files {
        match steps.read(&file) {
            Ok(step) => {
                let (found, undated) = find_stale_phases(&step, &steps.now, args.minutes);
                let mut unresolved = None;
                if args.resolve && !found.is_empty() {
                    unresolved = resolve(steps, &file, &found, &args.who.who)?;
                }
                let of_file = |stale| StalePhaseOutput {
                    step_file: file.name.clone(),
                    stale,
                    unresolved: unresolved.clone(),
                };
                report.stale.extend(found.into_iter().map(of_file));
                let undated = undated
                    .into_iter()
                    .map(|undated| UndatedPhaseOutput { step_file: file.name.clone(), undated });
                report.undated.extend(undated);
            }
            Err(problems) => report.malformed.push(MalformedStepOutput {
                step_file: file.name.clone(),
                why: problems.into_iter().map(|problem| problem.message).collect(),
            }),
        }
    }
    context.terminal.print(&context.format.render(&report).unwrap_or_else(|| text(&report, args.minutes)));
    let none = report.stale.is_empty() && report.undated.is_empty();
    let resolved = args.resolve && report.stale.iter().all(|found| found.unresolved.is_none());
    Ok(if none || resolved { CommandStatus::Success } else { CommandStatus::CheckFailed })
}

/// Sets a step to FAILED, or returns the reason why not: a step started elsewhere is not recorded here.
fn resolve(
    steps: &StepContext<'_>,
    file: &StepFile,
    found: &[StalePhase],
    who: &str,
) -> StepsResult<Option<String>> {
    let names: Vec<String> = found.iter().map(|stale| stale.phase_name.clone()).collect();
    let oldest = found.iter().map(|stale| stale.age_minutes).max().unwrap_or_default();
    let reason = format!("left IN_PROGRESS for {oldest} minutes: {}", names.join(", "));
    let suggestions = vec![
        "Look at what was done so far, and undo what is half done".to_owned(),
        format!("Take the step up again: `lockstep step resume {}`", file.name),
        format!("Begin {} again: `lockstep step phase start {} {}`", names[0], file.name, names[0]),
    ];
    let changed = steps.change(
        file,
        who,
        "STEP_STALE_RESOLVED",
        |step| Ok(abandon_phases(step, &names, &reason, &suggestions, &steps.moment())),
        |record| record.with("reason", reason.as_str()),
    );
    match changed {
        Ok(_) => Ok(None),
        Err(error) => {
            let problems = error.into_refusal()?;
            let reasons: Vec<_> =
                problems.iter().map(|p| format!("{}. {}", p.message, p.suggestion)).collect();
            Ok(Some(reasons.join("; ")))
        }
    }
}

fn text(report: &StaleOutput, minutes: i64) -> String {
    let mut out = String::new();
    for StalePhaseOutput { step_file, stale, unresolved } in &report.stale {
        let then = match unresolved {
            Some(why) => format!("; not set to FAILED: {why}"),
            None if report.resolved => "; set to FAILED".to_owned(),
            None => String::new(),
        };
        out.push_str(&format!(
            "{}: {} is IN_PROGRESS for {} minutes, since {}{then}\n",
            single_line(step_file),
            single_line(&stale.phase_name),
            stale.age_minutes,
            single_line(&stale.started_at)
        ));
    }
    for UndatedPhaseOutput { step_file, undated } in &report.undated {
        out.push_str(&format!(
            "{}: {} is IN_PROGRESS, but its age is not known: {}\n",
            single_line(step_file),
            single_line(&undated.phase_name),
            undated.why
        ));
    }
    if report.stale.is_empty() && report.undated.is_empty() {
        out.push_str(&format!("no phase is IN_PROGRESS for {minutes} minutes or more\n"));
    }
    if report.cut {
        out.push_str("the project is large: not all of it was searched for steps; `[steps] sources` names their directories\n");
    }
    for MalformedStepOutput { step_file, why } in &report.malformed {
        out.push_str(&single_line(&format!(
            "{step_file}: passed over, it is not a step: {}",
            why.join("; ")
        )));
        out.push('\n');
    }
    out
}
