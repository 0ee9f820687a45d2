//! `lockstep task`: a file per subcommand. [`writer_args`] determines the writer, [`output`] prints the
//! result of a write.

mod access;
mod check;
mod context;
mod deliver;
mod diff;
mod history;
mod migrate;
mod new;
pub(crate) mod output;
mod readers;
mod reopen;
mod restore;
mod show;
mod update;
pub(crate) mod writer_args;

use std::io::Read as _;
use std::path::Path;

use super::{CommandContext, CommandStatus};
use crate::error::{CommandError, CommandResult};
use crate::task::output::TaskRefusalOutput;
use crate::task::{CurrentTask, TaskContext, files};

/// Manage the task: one versioned document for a larger piece of work
///
/// Every write creates the next version, PT-v1, PT-v2, …, and names the version it was made from. If another writer was faster, it
/// is refused, with the changes of both. Every version is stored with its author, skill, time and reason.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep task new --title auth --intent 'Add login to the service'
  lockstep task show > task.yaml            read the present version
  lockstep task update task.yaml --base 3   write the next one, made from PT-v3
  lockstep task history                     who wrote which version, and why")]
pub(crate) struct TaskArgs {
    #[command(subcommand)]
    command: TaskCommand,
}

#[derive(Debug, clap::Subcommand)]
enum TaskCommand {
    New(new::TaskNewArgs),
    Show(show::TaskShowArgs),
    Update(update::TaskUpdateArgs),
    History(history::HistoryArgs),
    Diff(diff::DiffArgs),
    Restore(restore::RestoreArgs),
    Deliver(deliver::DeliverArgs),
    Reopen(reopen::ReopenArgs),
    Check(check::TaskCheckArgs),
    Readers(readers::ReadersArgs),
    Context(context::ContextArgs),
    Migrate(migrate::MigrateArgs),
    Access(access::AccessArgs),
}

pub(crate) fn run(args: &TaskArgs, context: &CommandContext) -> CommandResult {
    match &args.command {
        TaskCommand::New(args) => new::run(args, context),
        TaskCommand::Show(args) => show::run(args, context),
        TaskCommand::Update(args) => update::run(args, context),
        TaskCommand::History(args) => history::run(args, context),
        TaskCommand::Diff(args) => diff::run(args, context),
        TaskCommand::Restore(args) => restore::run(args, context),
        TaskCommand::Deliver(args) => deliver::run(args, context),
        TaskCommand::Reopen(args) => reopen::run(args, context),
        TaskCommand::Check(args) => check::run(args, context),
        TaskCommand::Readers(args) => readers::run(args, context),
        TaskCommand::Context(args) => context::run(args, context),
        TaskCommand::Migrate(args) => migrate::run(args, context),
        TaskCommand::Access(args) => access::run(args, context),
    }
}

/// The most that is read from standard input: more than any task may have.
const MAX_STDIN: u64 = 8 << 20;

/// A file as it was named on the command line; `-` is standard input.
pub(crate) fn read_input(context: &CommandContext, path: &Path) -> CommandResult<Vec<u8>> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().take(MAX_STDIN).read_to_end(&mut bytes);
        return match read {
            Ok(_) => Ok(bytes),
            Err(error) => Err(CommandError::store(format!("cannot read standard input: {error}"))),
        };
    }
    files::read(&context.directory.join(path)).map_err(|why| {
        let what = format!("cannot read {}: {why}", path.display());
        let where_ = format!("the file is looked for in {}", context.directory.display());
        let error = CommandError::store(what);
        if path.is_absolute() { error } else { error.hint(format!("{where_}; `-` is standard input")) }
    })
}

/// The present version; its absence is the answer "no".
pub(crate) fn current_or_print_none(
    tasks: &TaskContext<'_>,
    context: &CommandContext,
) -> CommandResult<Option<CurrentTask>> {
    let present = tasks.present()?;
    if present.is_none() {
        output::print_refusal(context, &TaskRefusalOutput::none());
    }
    Ok(present)
}
