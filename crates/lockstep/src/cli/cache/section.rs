//! `lockstep cache section`, `agent`, `phase`, `persona` and `topic`: parts of the cache for consumers.

use lockstep_cache::extract::ExtractQuery;

use crate::cache::extract::ExtractOutput;
use crate::cli::{CommandContext, CommandStatus};
use crate::error::CommandResult;
use crate::output_format::OutputFormat;
use crate::project::ActiveProject;
use crate::terminal::print_error;

/// Print a section in its original form
///
/// From the cache if it is fresh, otherwise from the sources; standard error says which. Exit code 1 if the
/// section was skipped.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lockstep cache section CONSTITUTION")]
pub(crate) struct CacheSectionArgs {
    /// The section, as `lockstep cache show` lists it
    #[arg(value_name = "NAME")]
    name: String,
}

/// Print an agent's skills and the external skills bound to it
///
/// From the cache if it is fresh, otherwise from the sources; standard error says which.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lockstep cache agent software-developer")]
pub(crate) struct CacheAgentArgs {
    /// The agent, as the skill index names it
    #[arg(value_name = "NAME")]
    name: String,
}

/// Print the content for a phase: its configuration, its agents' skills, the external skills bound to it
///
/// From the cache if it is fresh, otherwise from the sources; standard error says which.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lockstep cache phase 06-implementation")]
pub(crate) struct CachePhaseArgs {
    /// The phase's key in the configuration
    #[arg(value_name = "KEY")]
    key: String,
}

/// Print one persona of the roundtable in full
///
/// Always from its file, also if the budget shortened it in the cache.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lockstep cache persona business-analyst")]
pub(crate) struct PersonaArgs {
    /// The persona, as the cache or its file names it
    #[arg(value_name = "NAME")]
    name: String,
}

/// Print one topic of the roundtable in full
///
/// Always from its file, also if the budget shortened it in the cache.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lockstep cache topic security")]
pub(crate) struct TopicArgs {
    /// The topic's id: the name of its file
    #[arg(value_name = "ID")]
    id: String,
}

pub(crate) fn persona(args: &PersonaArgs, context: &CommandContext) -> CommandResult {
    extract(ExtractQuery::Persona(&args.name), context)
}

pub(crate) fn topic(args: &TopicArgs, context: &CommandContext) -> CommandResult {
    extract(ExtractQuery::Topic(&args.id), context)
}

pub(crate) fn section(args: &CacheSectionArgs, context: &CommandContext) -> CommandResult {
    extract(ExtractQuery::Section(&args.name), context)
}

pub(crate) fn agent(args: &CacheAgentArgs, context: &CommandContext) -> CommandResult {
    extract(ExtractQuery::Agent(&args.name), context)
}

pub(crate) fn phase(args: &CachePhaseArgs, context: &CommandContext) -> CommandResult {
    extract(ExtractQuery::Phase(&args.key), context)
}

fn extract(query: ExtractQuery<'_>, context: &CommandContext) -> CommandResult {
    let project = ActiveProject::of_cache_command(&context.directory)?;
    let extract = ExtractOutput::of(&project, query)?;
    let text = context.format.render(&extract).or_else(|| extract.text.clone());
    if context.format == OutputFormat::Text && !context.terminal.quiet() {
        print_error(&extract.describe_origin());
    }
    context.terminal.say_exactly(text.unwrap_or_default().as_bytes());
    Ok(if extract.text.is_some() { CommandStatus::Success } else { CommandStatus::CheckFailed })
}
