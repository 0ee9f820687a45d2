//! `lockstep cache check`.

use lockstep_cache::Checked;
use serde::Serialize;

use crate::cache::{self, ProjectProvider, told};
use crate::cli::{Answer, Context};
use crate::error::CommandError;
use crate::project::ActiveProject;

/// Check that the cache is what a build would write now
///
/// Says which input changed, what had to be done to keep the budget, which skills are owned but missing, which ids are there
/// twice, and where content contains section markers of its own. Exit code 1 where the cache is missing or stale, over its
/// budget, or an id or a marker is wrong. Writes nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep cache check
  lockstep cache check --format json")]
pub(crate) struct CheckArgs {}

#[derive(Serialize)]
struct Data {
    passes: bool,
    state: &'static str,
    /// Why it is not fresh.
    reasons: Vec<String>,
    mitigations: Vec<String>,
    findings: Vec<Found>,
}

#[derive(Serialize)]
struct Found {
    message: String,
    /// Whether the check fails because of it.
    fails: bool,
}

pub(crate) fn run(_: &CheckArgs, context: &Context) -> Result<Answer, CommandError> {
    let project = ActiveProject::of_cache_command(&context.directory)?;
    let checked = cache::open(&project)?.check(&ProjectProvider::new(&project))?;
    let data = data(&checked);
    context.terminal.say(&context.format.render(&data).unwrap_or_else(|| text(&data)));
    Ok(if data.passes { Answer::Yes } else { Answer::No })
}

fn data(checked: &Checked) -> Data {
    let (state, reasons) = told(&checked.freshness);
    Data {
        passes: checked.passes(),
        state,
        reasons,
        mitigations: checked.mitigations.iter().map(ToString::to_string).collect(),
        findings: checked
            .findings
            .iter()
            .map(|finding| Found { message: finding.to_string(), fails: finding.fails_check() })
            .collect(),
    }
}

fn text(data: &Data) -> String {
    let mut out = format!("The cache is {}.\n", data.state);
    out.extend(data.reasons.iter().map(|reason| format!("  {reason}\n")));
    out.extend(data.mitigations.iter().map(|what| format!("FAILED  over the budget: {what}\n")));
    for Found { message, fails } in &data.findings {
        out.push_str(&format!("{}  {message}\n", if *fails { "FAILED" } else { "note  " }));
    }
    out
}
