//! `lockstep prompt`: making prompts for steps, and checking them.

use std::path::PathBuf;

use lockstep_steps::markers::{MarkerKind, MarkerNames};
use lockstep_steps::template::{EXECUTE_STEP_TEMPLATE, TemplateValues, render};
use lockstep_text::yaml::{self, YamlLimits};
use serde_json::{Map, Value};

use super::step::{refused, resolve_step};
use super::task::read_input;
use super::{CommandContext, CommandStatus};
use crate::clock;
use crate::error::{CommandError, CommandResult};
use crate::project::ActiveProject;
use crate::steps::StepContext;

/// Create and check the prompts that start an agent on a step
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep prompt render execute_step --step 01-01 --set agent_name=crafter > prompt.md
  lockstep prompt check prompt.md")]
pub(crate) struct PromptArgs {
    #[command(subcommand)]
    command: PromptCommand,
}

#[derive(Debug, clap::Subcommand)]
enum PromptCommand {
    Render(PromptRenderArgs),
    Check(PromptCheckArgs),
}

/// Fill a template with the data of a step and an agent
///
/// Placeholders are names in braces, {task_id}, or paths, {state.status}. Values come from the step file, then the agent's file, then
/// from what follows from the step: {step_file}, {phases}, {phase_set}, {allowed}, {forbidden}, {max_turns}. A missing value is an
/// error.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep prompt render execute_step --step steps/01-01.json --agent agent.yaml > prompt.md
  lockstep prompt render execute_step --step 01-01 --set agent_name=crafter | lockstep prompt check -")]
struct PromptRenderArgs {
    /// A template file, or execute_step, which ships
    #[arg(value_name = "TEMPLATE")]
    template: String,
    /// The step file, or the step's id
    #[arg(long, value_name = "FILE")]
    step: String,
    /// The agent's data: a file of JSON or YAML
    #[arg(long, value_name = "FILE")]
    agent: Option<PathBuf>,
    /// One value, as NAME=VALUE, before those of the agent's file; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
}

/// Check that a prompt has its markers, its sections, and their required content
///
/// A prompt without a DES-VALIDATION marker is an ad-hoc one, and nothing is checked.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep prompt check prompt.md
  lockstep prompt check - < prompt.md")]
struct PromptCheckArgs {
    /// The prompt; `-` is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,
}

pub(crate) fn run(args: &PromptArgs, context: &CommandContext) -> CommandResult {
    let project = ActiveProject::discover(&context.directory)?;
    let steps = StepContext::new(&project, clock::now());
    match &args.command {
        PromptCommand::Render(args) => rendered(args, &steps, context),
        PromptCommand::Check(args) => checked(args, &steps, context),
    }
}

fn rendered(args: &PromptRenderArgs, steps: &StepContext<'_>, context: &CommandContext) -> CommandResult {
    let template = match args.template.as_str() {
        "execute_step" => with_names(EXECUTE_STEP_TEMPLATE, &steps.marker_names()),
        path => text_of(context, &PathBuf::from(path))?,
    };
    let mut agent = match &args.agent {
        Some(path) => agent_data(context, path)?,
        None => Map::new(),
    };
    for pair in &args.set {
        let (name, value) = pair.split_once('=').ok_or_else(|| {
            CommandError::usage(format!("{pair:?} is not a value")).hint("write --set NAME=VALUE")
        })?;
        agent.insert(name.to_owned(), value.into());
    }
    let machine = steps.machine()?;
    let file = match resolve_step(steps, context, &args.step) {
        Ok(file) => file,
        Err(error) => return Ok(refused(context, &error.into_refusal()?)),
    };
    let rendered = steps
        .read(&file)
        .and_then(|step| render(&template, &TemplateValues::new(&step, &file.name, agent, &machine)));
    match rendered {
        Ok(text) => {
            context.terminal.print_content(&text);
            Ok(CommandStatus::Success)
        }
        Err(problems) => Ok(refused(context, &problems)),
    }
}

/// The template that ships, with the markers as the project names them.
fn with_names(template: &str, names: &MarkerNames) -> String {
    let defaults = MarkerNames::default();
    MarkerKind::ALL
        .into_iter()
        .fold(template.to_owned(), |text, kind| text.replace(defaults.get(kind), names.get(kind)))
}

/// Limits of an agent's data.
const LIMITS: YamlLimits = YamlLimits { bytes: usize::MAX, depth: 16, nodes: 20_000, words_are_text: false };

fn agent_data(context: &CommandContext, path: &std::path::Path) -> CommandResult<Map<String, Value>> {
    // JSON is YAML.
    yaml::read(&read_input(context, path)?, LIMITS).map_err(|error| {
        CommandError::usage(format!("{} holds no names with values: {error}", path.display()))
    })
}

fn text_of(context: &CommandContext, path: &std::path::Path) -> CommandResult<String> {
    String::from_utf8(read_input(context, path)?)
        .map_err(|_| CommandError::usage(format!("{} is not UTF-8", path.display())))
}

fn checked(args: &PromptCheckArgs, steps: &StepContext<'_>, context: &CommandContext) -> CommandResult {
    let checked = steps.check_prompt(&text_of(context, &args.file)?)?;
    context.print(&checked);
    Ok(if checked.valid { CommandStatus::Success } else { CommandStatus::CheckFailed })
}
