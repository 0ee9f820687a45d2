//! `lockstep config`.

use clap::Subcommand;
use lockstep_config::ValueOrigin;
use serde::Serialize;

use super::{CommandContext, CommandStatus};
use crate::error::CommandResult;
use crate::project::ActiveProject;

/// Show the configuration in effect, or every key with its default
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:
  lockstep config show              the values in effect
  lockstep config template          every key with its meaning and default"
)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    verb: ConfigVerb,
}

#[derive(Debug, Subcommand)]
enum ConfigVerb {
    /// Print every key with its value in effect and where it comes from
    #[command(after_help = "Examples:\n  lockstep config show\n  lockstep config show --format json")]
    Show,
    /// Print a lockstep.toml with every key, its meaning and its default, all commented out
    ///
    /// Copy the keys to change into the project's lockstep.toml. Works in any directory.
    #[command(
        after_help = "Examples:\n  lockstep config template\n  lockstep config template > lockstep.toml"
    )]
    Template,
}

#[derive(Serialize)]
struct ConfigShowOutput {
    root: String,
    file: String,
    settings: Vec<SettingOutput>,
}

#[derive(Serialize)]
struct SettingOutput {
    key: String,
    /// The value as TOML.
    value: String,
    /// The line of the file; absent where the default is in effect.
    line: Option<usize>,
}

pub(crate) fn run(args: &ConfigArgs, context: &CommandContext) -> CommandResult {
    if let ConfigVerb::Template = args.verb {
        context.terminal.print_content(&lockstep_config::template::template());
        return Ok(CommandStatus::Success);
    }
    let project = ActiveProject::discover(&context.directory)?;
    let output = show_output(&project);
    match context.format.render(&output) {
        Some(data) => context.terminal.print(&data),
        None => context.terminal.print(&text(&output)),
    }
    Ok(CommandStatus::Success)
}

fn show_output(project: &ActiveProject) -> ConfigShowOutput {
    let settings = project.loaded.settings().into_iter().map(|setting| SettingOutput {
        key: format!("{}.{}", setting.key.section, setting.key.name),
        value: setting.value,
        line: match setting.origin {
            ValueOrigin::Default => None,
            ValueOrigin::Line(line) => Some(line),
        },
    });
    ConfigShowOutput {
        root: project.root.display().to_string(),
        file: project.config_path.display().to_string(),
        settings: settings.collect(),
    }
}

fn text(output: &ConfigShowOutput) -> String {
    let rows: Vec<(String, String)> = output
        .settings
        .iter()
        .map(|setting| {
            let origin = setting.line.map_or("default".to_owned(), |line| format!("{}:{line}", output.file));
            (format!("{} = {}", setting.key, setting.value), origin)
        })
        .collect();
    let width = rows.iter().map(|(setting, _)| setting.chars().count()).max().unwrap_or(0);
    rows.iter().map(|(setting, origin)| format!("{setting:width$}  # {origin}\n")).collect()
}
