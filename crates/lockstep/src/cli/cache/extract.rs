//! `lockstep cache section`, `agent` and `phase`: what consumers ask for, from the cache if it is fresh, else from the sources.

use lockstep_cache::extract::{Answer as Extract, Origin, Query};
use serde::Serialize;

use crate::cache::{self, ProjectProvider};
use crate::cli::{Answer, Context};
use crate::document::Format;
use crate::error::{CommandError, Kind};
use crate::project::ActiveProject;
use crate::terminal::complain;

/// Print a section, exactly as it went in
///
/// From the cache if it is fresh, else from the sources; standard error says which. Exit code 1 where the section was skipped.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  lockstep cache section CONSTITUTION")]
pub(crate) struct SectionArgs {
    /// The section, as `lockstep cache show` lists it
    #[arg(value_name = "NAME")]
    name: String,
}

/// Print an agent's skills and the external skills bound to it
///
/// From the cache if it is fresh, else from the sources; standard error says which.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  lockstep cache agent software-developer")]
pub(crate) struct AgentArgs {
    /// The agent, as the skill index names it
    #[arg(value_name = "NAME")]
    name: String,
}

/// Print what concerns a phase: its configuration, its agents' skills, the external skills bound to it
///
/// From the cache if it is fresh, else from the sources; standard error says which.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  lockstep cache phase 06-implementation")]
pub(crate) struct PhaseArgs {
    /// The phase's key in the configuration
    #[arg(value_name = "KEY")]
    key: String,
}

pub(crate) fn section(args: &SectionArgs, context: &Context) -> Result<Answer, CommandError> {
    extract("section", &args.name, Query::Section(&args.name), context)
}

pub(crate) fn agent(args: &AgentArgs, context: &Context) -> Result<Answer, CommandError> {
    extract("agent", &args.name, Query::Agent(&args.name), context)
}

pub(crate) fn phase(args: &PhaseArgs, context: &Context) -> Result<Answer, CommandError> {
    extract("phase", &args.key, Query::Phase(&args.key), context)
}

#[derive(Serialize)]
struct Data<'a> {
    origin: String,
    text: Option<&'a str>,
    skipped: Option<&'a str>,
}

fn extract(what: &str, name: &str, query: Query<'_>, context: &Context) -> Result<Answer, CommandError> {
    let project = ActiveProject::of_command(&context.directory)?;
    let extracted = cache::open(&project)?.extract(&ProjectProvider::new(&project), query)?;
    let (text, skipped) = match &extracted.answer {
        Extract::Text(text) => (Some(text.as_str()), None),
        Extract::Skipped(why) => (None, Some(why.as_str())),
        Extract::Unknown { known } => return Err(unknown(what, name, known)),
    };
    let data = Data { origin: extracted.origin.to_string(), text, skipped };
    let shown = context.format.render(&data).or_else(|| text.map(str::to_owned));
    if context.format == Format::Text && !context.terminal.quiet() {
        complain(&told(extracted.origin, skipped));
    }
    context.terminal.say(&shown.unwrap_or_default());
    Ok(if text.is_some() { Answer::Yes } else { Answer::No })
}

fn told(origin: Origin, skipped: Option<&str>) -> String {
    let from = match origin {
        Origin::Cache => "from the cache",
        Origin::Disk => "from the sources: the cache is not fresh, or has no room for it",
    };
    skipped.map_or_else(|| format!("({from})\n"), |why| format!("skipped: {why} ({from})\n"))
}

fn unknown(what: &str, name: &str, known: &[String]) -> CommandError {
    let error = CommandError::new(Kind::Usage, format!("there is no {what} {name:?} in the session cache"));
    if known.is_empty() {
        return error.hint(format!("the cache knows no {what} at all; `lockstep cache show` says why"));
    }
    error.hint(format!("known: {}", known.join(", ")))
}
