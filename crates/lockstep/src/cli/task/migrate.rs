//! `lockstep task migrate`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lockstep_task::migrate::disposition::Disposition;
use lockstep_task::migrate::plan::{MigrationInput, MigrationPlan, plan};
use lockstep_task::pointer::PointerResolver;
use lockstep_task::problem::Diagnostics;
use lockstep_task::scratch::Scratch;
use serde::Serialize;

use super::output::print_refusal;
use super::writer_args::WriterArgs;
use super::{CommandContext, CommandStatus, current_or_print_none, read_input};
use crate::clock;
use crate::error::{CommandError, CommandResult};
use crate::project::ActiveProject;
use crate::task::files::ProjectFiles;
use crate::task::output::TaskRefusalOutput;
use crate::task::write::WriteResult;
use crate::task::{CurrentTask, TaskContext};

/// Split an old global-context file: into scratch, into the task, or dropped in favour of its replacement
///
/// Prints one row per section and changes nothing without --write. A section without an existing replacement
/// is not dropped, and an unknown section needs a decision: --discard drops it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep task migrate global-context.md
  lockstep task migrate global-context.md --discard 'Old notes' --write --session s1")]
pub(crate) struct MigrateArgs {
    /// The old file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Drop the section with this title, although nothing holds it
    #[arg(long, value_name = "TITLE")]
    discard: Vec<String>,
    /// Carry it out
    #[arg(long)]
    write: bool,
    #[command(flatten)]
    who: WriterArgs,
}

#[derive(Serialize)]
struct MigrateOutput<'a> {
    possible: bool,
    written: Option<u64>,
    #[serde(flatten)]
    plan: &'a MigrationPlan,
}

pub(crate) fn run(args: &MigrateArgs, context: &CommandContext) -> CommandResult {
    let project = ActiveProject::discover(&context.directory)?;
    let mut tasks = TaskContext::open(&project, clock::now().timestamp())?;
    let bytes = read_input(context, &args.file)?;
    let Ok(text) = String::from_utf8(bytes) else {
        return Err(CommandError::store(format!("{} is not UTF-8", args.file.display()))
            .hint("save it as UTF-8 text"));
    };
    let Some(present) = current_or_print_none(&tasks, context)? else {
        return Ok(CommandStatus::CheckFailed);
    };
    let session = args.who.session().session();
    let scratch = session.as_ref().map(|id| tasks.scratch(id)).transpose()?.flatten().unwrap_or_default();
    let stated: BTreeMap<String, Disposition> =
        args.discard.iter().map(|title| (title.clone(), Disposition::Discard)).collect();
    let planned = with_scratch(&tasks.files, &present, &text, &scratch, &stated);
    let show = |plan: &MigrationPlan, written: Option<u64>| {
        let data = MigrateOutput { possible: plan.is_possible(), written, plan };
        context.terminal.print(&context.format.render(&data).unwrap_or_else(|| plan.to_string()));
    };
    if !planned.is_possible() {
        show(&planned, None);
        context.terminal.print_note("nothing was written: not every section can be accounted for\n");
        return Ok(CommandStatus::CheckFailed);
    }
    if !args.write {
        show(&planned, None);
        context.terminal.print_note("nothing was written; --write carries it out\n");
        return Ok(CommandStatus::Success);
    }
    let session = args.who.session().require_session()?;
    let mut writer = args.who.writer("task migrate", &project);
    writer.why.get_or_insert_with(|| format!("migrates {}", args.file.display()));
    if let Err(reason) = tasks.may_write_scratch(&writer) {
        return Ok(print_refusal(
            context,
            &TaskRefusalOutput::new(Some(present.record.version), vec![reason]),
        ));
    }
    let files = tasks.files.clone();
    // The plan is made again from the version it is written over.
    let written = tasks.write_derived(&writer, |present, rules| {
        let content = |path: &Path| files.read(path);
        let migrating = MigrationInput {
            text: &text,
            document: &present.document,
            scratch: &scratch,
            stated: &stated,
            lookup: rules.lookup,
            content: &content,
        };
        plan(&migrating).apply().map(|migrated| migrated.document)
    })?;
    let version = match &written {
        WriteResult::Version { version, .. } | WriteResult::Unchanged { version } => *version,
        WriteResult::Refused { present, reasons } => {
            return Ok(print_refusal(context, &TaskRefusalOutput::new(*present, reasons.clone())));
        }
    };
    // Scratch is read again too: the session may have written it meanwhile.
    let result = tasks.set_scratch(&session, |scratch| {
        let migrated = with_scratch(&files, &present, &text, &scratch, &stated).apply();
        migrated
            .map(|migrated| migrated.scratch)
            .map_err(|problems| Diagnostics { problems, warnings: Vec::new() })
    })?;
    if let Err(findings) = result {
        return Ok(print_refusal(context, &TaskRefusalOutput::problems(Some(version), findings.problems)));
    }
    show(&planned, Some(version));
    context.terminal.print_note(&format!("written: PT-v{version}, and the scratch of session {session}\n"));
    Ok(CommandStatus::Success)
}

/// The plan from the present version and this scratch.
fn with_scratch(
    files: &ProjectFiles,
    present: &CurrentTask,
    text: &str,
    scratch: &Scratch,
    stated: &BTreeMap<String, Disposition>,
) -> MigrationPlan {
    let (exists, content) = (|path: &Path| files.exists(path), |path: &Path| files.read(path));
    let (document, lookup) = (&present.document, &PointerResolver::new(&exists));
    plan(&MigrationInput { text, document, scratch, stated, lookup, content: &content })
}
