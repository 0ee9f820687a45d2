//! Output of a write, on the command line.

use lockstep_task::problem::{Findings, Problem};
use lockstep_task::update::Reason;

use crate::cli::{Answer, Context};
use crate::reply::Reply as _;
use crate::task::output::{TaskRefusalOutput, TaskWriteOutput};
use crate::task::write::Written;

/// Tells what came of a write.
pub(crate) fn print_write_result(context: &Context, written: Written) -> Answer {
    print_output(context, written.told())
}

/// Tells what came of a write: what follows the first line goes with the answer.
pub(crate) fn print_output(context: &Context, told: Result<TaskWriteOutput, TaskRefusalOutput>) -> Answer {
    let written = match told {
        Ok(written) => written,
        Err(refused) => return print_refusal(context, &refused),
    };
    match context.format.render(&written) {
        Some(data) => context.terminal.say(&data),
        None => {
            let text = written.text();
            let (first, rest) = text.split_at(text.find('\n').map_or(text.len(), |at| at + 1));
            context.terminal.say(first);
            context.terminal.note(rest);
        }
    }
    Answer::Yes
}

/// Tells all reasons why something is refused, or not ready.
pub(crate) fn print_refusal(context: &Context, refused: &TaskRefusalOutput) -> Answer {
    context.say(refused);
    Answer::No
}

/// Tells all reasons why nothing was written.
pub(crate) fn refused(context: &Context, present: Option<u64>, reasons: &[Reason]) -> Answer {
    print_refusal(context, &TaskRefusalOutput::new(present, reasons.to_vec()))
}

/// Tells what keeps a text from being a document.
pub(crate) fn unreadable(context: &Context, findings: Findings) -> Answer {
    print_refusal(context, &TaskRefusalOutput::unreadable(findings))
}

/// Tells problems as reasons.
pub(crate) fn problems(context: &Context, present: Option<u64>, problems: Vec<Problem>) -> Answer {
    print_refusal(context, &TaskRefusalOutput::problems(present, problems))
}

/// There is no task.
pub(crate) fn none(context: &Context) -> Answer {
    print_refusal(context, &TaskRefusalOutput::none())
}
