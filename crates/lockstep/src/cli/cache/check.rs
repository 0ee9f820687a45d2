//! `lockstep cache check`.

use lockstep_cache::CheckReport;
use serde::Serialize;

use crate::cache::{self, ProjectProvider, describe_freshness};
use crate::cli::{CommandContext, CommandStatus};
use crate::error::CommandResult;
use crate::project::ActiveProject;

/// Check that the cache equals a fresh build
///
/// Lists changed inputs, steps taken to keep the budget, missing skills of agents, duplicate ids, and section
/// markers inside content. Exit code 1 if the cache is missing or stale, an id occurs twice, or content has
/// section markers. Writes nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep cache check
  lockstep cache check --strict           no shortened section, no missing skill
  lockstep cache check --format json")]
pub(crate) struct CacheCheckArgs {
    /// Fail also if something was shortened to keep the budget, or an agent owns a skill that does not exist
    #[arg(long)]
    strict: bool,
}

#[derive(Serialize)]
struct CacheCheckOutput {
    passes: bool,
    state: &'static str,
    /// The reasons why it is not fresh.
    reasons: Vec<String>,
    #[serde(skip)]
    strict: bool,
    mitigations: Vec<String>,
    findings: Vec<FindingOutput>,
}

#[derive(Serialize)]
struct FindingOutput {
    message: String,
    /// Set if the check fails because of it.
    fails: bool,
}

pub(crate) fn run(args: &CacheCheckArgs, context: &CommandContext) -> CommandResult {
    let project = ActiveProject::of_cache_command(&context.directory)?;
    let checked = cache::open(&project)?.check(&ProjectProvider::new(&project))?;
    let data = data(&checked, args.strict);
    context.terminal.print(&context.format.render(&data).unwrap_or_else(|| text(&data)));
    Ok(if data.passes { CommandStatus::Success } else { CommandStatus::CheckFailed })
}

fn data(checked: &CheckReport, strict: bool) -> CacheCheckOutput {
    let (state, reasons) = describe_freshness(&checked.freshness);
    CacheCheckOutput {
        passes: checked.passes(strict),
        state,
        reasons,
        strict,
        mitigations: checked.mitigations.iter().map(ToString::to_string).collect(),
        findings: checked
            .findings
            .iter()
            .map(|finding| FindingOutput { message: finding.to_string(), fails: finding.fails_check(strict) })
            .collect(),
    }
}

fn text(data: &CacheCheckOutput) -> String {
    let mut out = format!("The cache is {}.\n", data.state);
    out.extend(data.reasons.iter().map(|reason| format!("  {reason}\n")));
    let mark = |fails: bool| if fails { "FAILED" } else { "note  " };
    out.extend(
        data.mitigations.iter().map(|what| format!("{}  over the budget: {what}\n", mark(data.strict))),
    );
    for FindingOutput { message, fails } in &data.findings {
        out.push_str(&format!("{}  {message}\n", mark(*fails)));
    }
    out
}
