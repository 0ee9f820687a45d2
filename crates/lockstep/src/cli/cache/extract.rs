//! `lockstep cache section`, `agent`, `phase`, `persona` and `topic`: parts of the cache for consumers.

use lockstep_cache::extract::Query;

use crate::cache::extract::Extract;
use crate::cli::{Answer, Context};
use crate::document::Format;
use crate::error::CommandError;
use crate::project::ActiveProject;
use crate::terminal::complain;

/// Print a section in its original form
///
/// From the cache if it is fresh, otherwise from the sources; standard error says which. Exit code 1 if the
/// section was skipped.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lockstep cache section CONSTITUTION")]
pub(crate) struct SectionArgs {
    /// The section, as `lockstep cache show` lists it
    #[arg(value_name = "NAME")]
    name: String,
}

/// Print an agent's skills and the external skills bound to it
///
/// From the cache if it is fresh, otherwise from the sources; standard error says which.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lockstep cache agent software-developer")]
pub(crate) struct AgentArgs {
    /// The agent, as the skill index names it
    #[arg(value_name = "NAME")]
    name: String,
}

/// Print the content for a phase: its configuration, its agents' skills, the external skills bound to it
///
/// From the cache if it is fresh, otherwise from the sources; standard error says which.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lockstep cache phase 06-implementation")]
pub(crate) struct PhaseArgs {
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

pub(crate) fn persona(args: &PersonaArgs, context: &Context) -> Result<Answer, CommandError> {
    extract(Query::Persona(&args.name), context)
}

pub(crate) fn topic(args: &TopicArgs, context: &Context) -> Result<Answer, CommandError> {
    extract(Query::Topic(&args.id), context)
}

pub(crate) fn section(args: &SectionArgs, context: &Context) -> Result<Answer, CommandError> {
    extract(Query::Section(&args.name), context)
}

pub(crate) fn agent(args: &AgentArgs, context: &Context) -> Result<Answer, CommandError> {
    extract(Query::Agent(&args.name), context)
}

pub(crate) fn phase(args: &PhaseArgs, context: &Context) -> Result<Answer, CommandError> {
    extract(Query::Phase(&args.key), context)
}

fn extract(query: Query<'_>, context: &Context) -> Result<Answer, CommandError> {
    let project = ActiveProject::of_cache_command(&context.directory)?;
    let extract = Extract::of(&project, query)?;
    let shown = context.format.render(&extract).or_else(|| extract.text.clone());
    if context.format == Format::Text && !context.terminal.quiet() {
        complain(&extract.told());
    }
    context.terminal.say_exactly(shown.unwrap_or_default().as_bytes());
    Ok(if extract.text.is_some() { Answer::Yes } else { Answer::No })
}
