//! `lockstep task show`.

use lockstep_task::document::SECTIONS;
use lockstep_task::value::{Map, Value};
use lockstep_task::yaml;
use serde::Serialize;

use super::who::WhoArgs;
use super::{Answer, Context, present_or_told, version_or_error};
use crate::clock;
use crate::error::{CommandError, Kind};
use crate::project::ActiveProject;
use crate::task::{Present, Tasks};

/// Print the task, or an earlier version of it
///
/// Inside a client's session it is noted who read which version, for `lockstep task readers`.
#[derive(Debug, clap::Args)]
// `--version` is a version of the task here.
#[command(disable_version_flag = true)]
#[command(after_help = "Examples:
  lockstep task show > task.yaml             the present version
  lockstep task show --version 3             an earlier one
  lockstep task show --section constraints   one section")]
pub(crate) struct ShowArgs {
    /// This version instead of the present one
    #[arg(long = "version", value_name = "N")]
    number: Option<u64>,
    /// This section only
    #[arg(long, value_name = "NAME")]
    section: Option<String>,
    #[command(flatten)]
    who: WhoArgs,
}

#[derive(Serialize)]
struct Shown<'a> {
    version: u64,
    subject: &'a str,
    delivered: bool,
    at: String,
    agent: Option<&'a str>,
    skill: Option<&'a str>,
    session: Option<&'a str>,
    why: Option<&'a str>,
    document: &'a Map,
}

pub(crate) fn run(args: &ShowArgs, context: &Context) -> Result<Answer, CommandError> {
    let project = ActiveProject::of_command(&context.directory)?;
    let mut tasks = Tasks::open(&project, clock::now().timestamp())?;
    let Some(mut shown) = present_or_told(&tasks, context)? else { return Ok(Answer::No) };
    if let Some(number) = args.number {
        shown = version_or_error(&tasks, &shown, number)?;
    }
    tasks.note_reading(&args.who.writer("task show"), shown.record.task, shown.record.version)?;
    let root = match &args.section {
        None => shown.document.root().clone(),
        Some(name) => section(&shown, name)?,
    };
    let text = || {
        let header = format!("# {}\n", shown.record.subject);
        format!("{header}{}", yaml::write(&Value::Map(root.clone())))
    };
    let record = &shown.record;
    let data = Shown {
        version: record.version,
        subject: &record.subject,
        delivered: record.delivered,
        at: record.at.to_string(),
        agent: record.author.agent_type.as_deref(),
        skill: record.author.skill.as_deref(),
        session: record.author.session.as_deref(),
        why: record.author.why.as_deref(),
        document: &root,
    };
    context.terminal.say(&context.format.render(&data).unwrap_or_else(text));
    Ok(Answer::Yes)
}

fn section(shown: &Present, name: &str) -> Result<Map, CommandError> {
    let Some(value) = shown.document.section(name) else {
        let there: Vec<_> = shown.document.root().keys().collect();
        let known = SECTIONS.iter().any(|section| section.name == name);
        let what = if known { "is not written yet" } else { "is no section of the task" };
        return Err(CommandError::new(Kind::Usage, format!("{name} {what} in PT-v{}", shown.record.version))
            .hint(format!("it has {}", there.join(", "))));
    };
    let mut map = Map::new();
    map.set(name, value.clone());
    Ok(map)
}
