//! `lockstep cache`: a file per subcommand; `section`, `agent` and `phase` are one in [`section`].

mod build;
mod check;
mod inject;
mod section;
mod show;
mod skill;

use super::CommandContext;
use crate::error::CommandResult;

/// Build and show the session cache: text that every new session receives
///
/// The cache is one file with the static content of a project's agent framework: its rules, configuration, skills, agents and
/// personas. It is built once and given to every session that starts, as far as the client accepts it. `[cache]` in lockstep.toml
/// lists its sections. Without a cache, sessions receive nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep cache build                  build it, or find that nothing changed
  lockstep cache check                  is it what a build would write now?
  lockstep cache section SKILL_INDEX    one section, exactly as it went in
  lockstep cache inject                 what a session that starts would be given")]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    command: CacheCommand,
}

#[derive(Debug, clap::Subcommand)]
enum CacheCommand {
    Build(build::CacheBuildArgs),
    Check(check::CacheCheckArgs),
    Show(show::CacheShowArgs),
    Section(section::CacheSectionArgs),
    Agent(section::CacheAgentArgs),
    Phase(section::CachePhaseArgs),
    Persona(section::PersonaArgs),
    Topic(section::TopicArgs),
    Skill(skill::CacheSkillArgs),
    Inject(inject::CacheInjectArgs),
}

pub(crate) fn run(args: &CacheArgs, context: &CommandContext) -> CommandResult {
    match &args.command {
        CacheCommand::Build(args) => build::run(args, context),
        CacheCommand::Check(args) => check::run(args, context),
        CacheCommand::Show(args) => show::run(args, context),
        CacheCommand::Section(args) => section::section(args, context),
        CacheCommand::Agent(args) => section::agent(args, context),
        CacheCommand::Phase(args) => section::phase(args, context),
        CacheCommand::Persona(args) => section::persona(args, context),
        CacheCommand::Topic(args) => section::topic(args, context),
        CacheCommand::Skill(args) => skill::run(args, context),
        CacheCommand::Inject(args) => inject::run(args, context),
    }
}
