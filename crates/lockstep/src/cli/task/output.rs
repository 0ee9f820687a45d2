//! Output of a write, on the command line.

use lockstep_task::problem::{Diagnostics, DocumentProblem};
use lockstep_task::write_check::RefusalReason;

use crate::cli::{CommandContext, CommandStatus};
use crate::command_output::CommandOutput as _;
use crate::task::output::{TaskRefusalOutput, TaskWriteOutput};
use crate::task::write::WriteResult;

/// Tells what came of a write.
pub(crate) fn print_write_result(context: &CommandContext, written: WriteResult) -> CommandStatus {
    print_output(context, written.told())
}

/// Tells what came of a write: what follows the first line goes with the answer.
pub(crate) fn print_output(
    context: &CommandContext,
    told: Result<TaskWriteOutput, TaskRefusalOutput>,
) -> CommandStatus {
    let written = match told {
        Ok(written) => written,
        Err(refused) => return print_refusal(context, &refused),
    };
    match context.format.render(&written) {
        Some(data) => context.terminal.print(&data),
        None => {
            let text = written.text();
            let (first, rest) = text.split_at(text.find('\n').map_or(text.len(), |at| at + 1));
            context.terminal.print(first);
            context.terminal.print_note(rest);
        }
    }
    CommandStatus::Success
}

/// Tells all reasons why something is refused, or not ready.
pub(crate) fn print_refusal(context: &CommandContext, refused: &TaskRefusalOutput) -> CommandStatus {
    context.print(refused);
    CommandStatus::CheckFailed
}

/// Tells all reasons why nothing was written.
pub(crate) fn refused(
    context: &CommandContext,
    present: Option<u64>,
    reasons: &[RefusalReason],
) -> CommandStatus {
    print_refusal(context, &TaskRefusalOutput::new(present, reasons.to_vec()))
}

/// Tells what keeps a text from being a document.
pub(crate) fn unreadable(context: &CommandContext, findings: Diagnostics) -> CommandStatus {
    print_refusal(context, &TaskRefusalOutput::unreadable(findings))
}

/// Tells problems as reasons.
pub(crate) fn problems(
    context: &CommandContext,
    present: Option<u64>,
    problems: Vec<DocumentProblem>,
) -> CommandStatus {
    print_refusal(context, &TaskRefusalOutput::problems(present, problems))
}

/// There is no task.
pub(crate) fn none(context: &CommandContext) -> CommandStatus {
    print_refusal(context, &TaskRefusalOutput::none())
}
