//! `lockstep doctor`.

use anstyle::{AnsiColor, Style};
use lockstep_config::Project;
use serde::Serialize;

use super::{CommandContext, CommandStatus};
use crate::doctor::{CheckStatus, DoctorCheck, check_all, check_live};
use crate::error::CommandResult;
use crate::project::ActiveProject;

/// Check the set-up and run every registered hook once
///
/// Checks the git repository, the configuration, the clients' settings, the program that the hooks start, the store and the log,
/// and runs each registered hook with a recorded event in a scratch project. Every finding says how to fix it. Changes nothing in the project.
/// Exit code 1 if a check failed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep doctor
  lockstep doctor --live            run the real client once, on this machine only, without an account
  lockstep doctor --format json")]
pub(crate) struct DoctorArgs {
    /// Run the real client once, in a scratch project with this project's settings and a scripted model on this machine
    #[arg(long)]
    live: bool,
}

#[derive(Serialize)]
struct DoctorOutput {
    version: &'static str,
    healthy: bool,
    checks: Vec<DoctorCheck>,
}

pub(crate) fn run(args: &DoctorArgs, context: &CommandContext) -> CommandResult {
    let mut checks = check_all(&context.directory);
    if args.live
        && let Some(found) = Project::of_directory(&context.directory)?
    {
        checks.push(check_live(&ActiveProject::load(found)?));
    }
    let healthy = checks.iter().all(|check| check.status < CheckStatus::Failed);
    let report = DoctorOutput { version: super::VERSION, healthy, checks };
    match context.format.render(&report) {
        Some(data) => context.terminal.print(&data),
        None => show(&report, context),
    }
    Ok(if healthy { CommandStatus::Success } else { CommandStatus::CheckFailed })
}

fn show(report: &DoctorOutput, context: &CommandContext) {
    let terminal = &context.terminal;
    for check in &report.checks {
        let (mark, color) = match check.status {
            CheckStatus::Ok => ("ok", AnsiColor::Green),
            CheckStatus::Skipped => ("skipped", AnsiColor::Cyan),
            CheckStatus::Warning => ("warning", AnsiColor::Yellow),
            CheckStatus::Failed => ("FAILED", AnsiColor::Red),
        };
        let mark = terminal.styled(Style::new().fg_color(Some(color.into())), &format!("{mark:<8}"));
        let message = check.message.replace('\n', "\n         ");
        let line = format!("{mark} {}: {message}\n", check.name);
        if check.status == CheckStatus::Ok {
            terminal.print_note(&line)
        } else {
            terminal.print(&line)
        }
        if let Some(fix) = &check.fix {
            terminal.say_line(&format!("         fix: {fix}"));
        }
    }
    let verdict =
        if report.healthy { "Everything that was checked is in place." } else { "Something needs mending." };
    terminal.print_note(&format!("{verdict}\n"));
}
