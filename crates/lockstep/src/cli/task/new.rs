//! `lockstep task new`.

use std::path::PathBuf;

use lockstep_task::document::TaskDocument;

use super::writer_args::WriterArgs;
use super::{CommandContext, output, read_input};
use crate::clock;
use crate::error::CommandResult;
use crate::project::ActiveProject;
use crate::task::TaskContext;
use crate::task::output::TaskRefusalOutput;
use crate::task::update_request::parse_document;

/// Create the task
///
/// There is one task at a time: create one if there is none, or after the last one was delivered.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep task new --title auth --intent 'Add login to the service'
  lockstep task new task.yaml --title auth --skill brainstorming-pipeline")]
pub(crate) struct TaskNewArgs {
    /// The document, as YAML; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present = "intent")]
    file: Option<PathBuf>,
    /// The intent in one to three sentences, instead of a complete document
    #[arg(long, value_name = "TEXT", conflicts_with = "file")]
    intent: Option<String>,
    /// A few words for its subject
    #[arg(long, value_name = "TEXT", default_value = "")]
    title: String,
    #[command(flatten)]
    who: WriterArgs,
}

pub(crate) fn run(args: &TaskNewArgs, context: &CommandContext) -> CommandResult {
    let project = ActiveProject::discover(&context.directory)?;
    let mut tasks = TaskContext::open(&project, clock::now().timestamp())?;
    let document = match (&args.intent, &args.file) {
        (Some(intent), _) => {
            let mut document = TaskDocument::default();
            document.set("user_intent", intent.as_str());
            document
        }
        (None, Some(file)) => match parse_document(&read_input(context, file)?, tasks.limits()) {
            Ok(document) => document,
            Err(findings) => {
                return Ok(output::print_refusal(context, &TaskRefusalOutput::unreadable(findings)));
            }
        },
        (None, None) => TaskDocument::default(),
    };
    let written = tasks.create(&args.who.writer("task new", &project), &args.title, &document)?;
    Ok(output::print_write_result(context, written.into_output()))
}
