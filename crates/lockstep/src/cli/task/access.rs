//! `lockstep task access`.

use lockstep_task::access::{AccessTable, AgentRule, CreatePermission, Grant, SkillRule};

use super::{CommandContext, CommandStatus};
use crate::error::CommandResult;
use crate::project::ActiveProject;
use crate::task;

/// List who may do what with the task: agents and skills, the defaults and the project's own
///
/// The Lead may do everything; an agent that is not listed only reads. `[task.agents.NAME]` and `[task.skills.NAME]` in
/// lockstep.toml add to it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lockstep task access --format yaml")]
pub(crate) struct AccessArgs {}

pub(crate) fn run(_: &AccessArgs, context: &CommandContext) -> CommandResult {
    let project = ActiveProject::discover(&context.directory)?;
    let table = task::access(&project);
    context.terminal.print(&context.format.render(&table).unwrap_or_else(|| text(&table)));
    Ok(CommandStatus::Success)
}

fn text(table: &AccessTable) -> String {
    let agents = table.agents.iter().map(|(name, rule)| format!("agent {name}: {}\n", agent(rule)));
    let skills = table.skills.iter().map(|(name, rule)| format!("skill {name}: {}\n", skill(rule)));
    std::iter::once("the Lead: creates tasks, updates *\n".to_owned()).chain(agents).chain(skills).collect()
}

fn agent(rule: &AgentRule) -> String {
    let creates = match rule.create {
        CreatePermission::None => "creates nothing",
        CreatePermission::Task => "creates the task",
        CreatePermission::Any => "creates tasks",
    };
    let fork = if rule.fork { ", in a context of its own" } else { "" };
    format!("{creates}, updates {}{}{fork}", listed(&rule.update), later(rule.after_delivery))
}

fn skill(rule: &SkillRule) -> String {
    let must = if rule.must_read.is_empty() { "nothing".to_owned() } else { rule.must_read.join(", ") };
    format!("writes {}{}; must find {must}", listed(&rule.grants()), later(rule.after_delivery))
}

fn later(after_delivery: bool) -> &'static str {
    if after_delivery { ", also after the delivery" } else { "" }
}

fn listed(grants: &[Grant]) -> String {
    let names: Vec<_> = grants.iter().map(Grant::to_string).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}
