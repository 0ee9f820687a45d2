//! Output of a write, on the command line.

use crate::cli::{CommandContext, CommandStatus};
use crate::command_output::CommandOutput as _;
use crate::task::output::{TaskRefusalOutput, TaskWriteOutput};

/// Prints the result of a write. The first line goes to standard output, notes go to standard error.
pub(crate) fn print_write_result(
    context: &CommandContext,
    result: Result<TaskWriteOutput, TaskRefusalOutput>,
) -> CommandStatus {
    let written = match result {
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

/// Prints all reasons for a refusal.
pub(crate) fn print_refusal(context: &CommandContext, refused: &TaskRefusalOutput) -> CommandStatus {
    context.print(refused);
    CommandStatus::CheckFailed
}
