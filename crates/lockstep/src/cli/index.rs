//! `lockstep index`.

use std::fmt::Write as _;
use std::time::Duration;

use lockstep_fs::process;
use lockstep_index::index::{
    Index, IndexBuildOptions, IndexBuildOutcome, IndexFreshness, IndexLocation, IndexPhase, IndexProgress,
    IndexStats, LockHolder, NoProgress, UpdatePolicy, VerifyResult, build, verify,
};
use lockstep_store::StateDir;
use serde::Serialize;

use super::{CommandContext, CommandStatus};
use crate::error::{CommandError, CommandResult};
use crate::impact::deadline::Deadline;
use crate::progress_bar::ProgressBar;
use crate::workspace::Workspace;
use crate::workspace::background_build::start_index_build;

/// Build or update the index of definitions and references
///
/// The index stores each file's words, definitions, imports and uses. Commands update it automatically; building it in advance
/// makes the first query fast. It is in `.lockstep/index/`, or in the user's cache directory for a repository without
/// `lockstep.toml`; deleting it loses nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep index                       build the index, or update it
  lockstep index --stats               count files, definitions, imports and uses
  lockstep index --stats --references  also resolve every file and count references; slow in a large project
  lockstep index --check               check that it is complete and up to date, without changing it
  lockstep index --rebuild             build it from scratch")]
pub(crate) struct IndexArgs {
    /// Count what it holds: files, definitions, imports, uses, bytes, build time
    #[arg(long, conflicts_with_all = ["check", "background"])]
    stats: bool,
    /// With --stats: also resolve every file, and count references by kind and imports without a target
    #[arg(long, requires = "stats")]
    references: bool,
    /// Build it from nothing
    #[arg(long, conflicts_with = "check")]
    rebuild: bool,
    /// Only check that the index is complete and up to date; exit 1 if not
    #[arg(long)]
    check: bool,
    /// Leave parsing to the questions that need it
    #[arg(long, conflicts_with = "check")]
    words_only: bool,
    /// Build it in a separate process, and do not wait for it
    #[arg(long, conflicts_with_all = ["check", "rebuild", "words_only"])]
    background: bool,
    /// Be that process
    #[arg(long, hide = true)]
    detached: bool,
}

/// The time in which `--stats` may parse files before it counts.
const TIME_TO_PARSE: Duration = Duration::from_secs(5);

/// The time in which a detached build may parse files. Questions parse the others when they need them.
const DETACHED_TIME_TO_PARSE: Duration = Duration::from_secs(20);

/// Processor seconds and bytes of address space after which the system ends a detached build.
const DETACHED_LIMITS: (u64, u64) = (120, 8 << 30);

/// The time after which a detached build ends itself, whether it computes or waits.
const DETACHED_TIME: Duration = Duration::from_secs(180);

/// Bounds a process that runs on when the hook that started it has ended.
fn limit_resources() {
    std::thread::spawn(|| {
        std::thread::sleep(DETACHED_TIME);
        // Files are written whole or not at all, and the lock ends with the process.
        process::terminate_self();
    });
    // A limit that cannot be set leaves the one of parsing.
    process::limit_resources(DETACHED_LIMITS.0, DETACHED_LIMITS.1);
}

/// A deadline for parsing only: reading is always completed, because an index that lacks files is not stored.
struct ParsingLimit<'a>(Deadline<'a>);

impl IndexProgress for ParsingLimit<'_> {
    fn report(&self, phase: IndexPhase, done: usize, all: usize) {
        self.0.report(phase, done, all);
    }

    fn is_parsing_over(&self) -> bool {
        self.0.is_out_of_time()
    }
}

pub(crate) fn run(args: &IndexArgs, context: &CommandContext) -> CommandResult {
    let tree = match args.detached {
        true => Workspace::of_background_build(&context.directory)?,
        false => Workspace::discover(&context.directory)?,
    };
    let state = tree.index_directory()?;
    if args.check {
        return check(context, &tree, state);
    }
    if args.background {
        return background(context, &tree);
    }
    if args.detached {
        // Fails where it leads a session already: then it is as detached as it can be.
        let _ = process::start_session();
        limit_resources();
    }
    let order = IndexBuildOptions { anew: args.rebuild, facts: !args.words_only };
    let built = {
        let bar = ProgressBar::new(&context.terminal);
        // Counting must not wait until everything is parsed.
        let limit = match (args.stats, args.detached) {
            (true, _) => TIME_TO_PARSE,
            (_, true) => DETACHED_TIME_TO_PARSE,
            _ => Duration::MAX,
        };
        let progress = ParsingLimit(Deadline::after(limit, &bar));
        build(&tree.root, state, &tree.index_settings(), order, &progress)?
    };
    match built {
        IndexBuildOutcome::Done(index) => show(args, context, &index),
        // The other process does the same work.
        IndexBuildOutcome::Busy(_) if args.detached => {}
        IndexBuildOutcome::Busy(holder) => match open_while_locked(args, &tree, state)? {
            Some(index) => show(args, context, &index),
            None => return Err(busy(&holder)),
        },
    }
    Ok(CommandStatus::Success)
}

/// Returns the index for counting while another process is writing.
fn open_while_locked(args: &IndexArgs, tree: &Workspace, state: &StateDir) -> CommandResult<Option<Index>> {
    if !args.stats || args.rebuild {
        return Ok(None);
    }
    let home = IndexLocation::Project(state);
    Ok(Index::open(&tree.root, home, &tree.index_settings(), UpdatePolicy::Bounded, &NoProgress)?)
}

fn busy(holder: &LockHolder) -> CommandError {
    let who = holder.process.map_or_else(|| "another process".to_owned(), |id| format!("process {id}"));
    CommandError::store(format!("{who} is writing the index ({})", holder.what))
        .hint("wait until it has ended; questions are answered meanwhile")
}

fn background(context: &CommandContext, tree: &Workspace) -> CommandResult {
    start_index_build(&tree.root)
        .map_err(|error| CommandError::store(format!("cannot start a build in the background: {error}")))?;
    context
        .terminal
        .print_note("The index is being built; `lockstep index --check` tells when it is up to date.\n");
    Ok(CommandStatus::Success)
}

fn check(context: &CommandContext, tree: &Workspace, state: &StateDir) -> CommandResult {
    let verdict = verify(&tree.root, state, &tree.index_settings())?;
    match context.format.render(&verdict) {
        Some(data) => context.terminal.print(&data),
        None => context.terminal.print(&match verdict {
            VerifyResult::Fresh => "The index is valid and up to date.\n".to_owned(),
            VerifyResult::Behind { files } => {
                format!("The index is valid, but {files} files changed, are new or deleted. The next query updates it.\n")
            }
            VerifyResult::Missing => {
                "There is no index of the present settings. `lockstep index` builds it.\n".to_owned()
            }
            VerifyResult::Damaged => {
                "The index is damaged. `lockstep index --rebuild` builds it from nothing.\n".to_owned()
            }
        }),
    }
    Ok(if verdict == VerifyResult::Fresh { CommandStatus::Success } else { CommandStatus::CheckFailed })
}

/// The answer for programs.
#[derive(Serialize)]
struct IndexOutput {
    #[serde(flatten)]
    condition: IndexFreshness,
    #[serde(skip_serializing_if = "Option::is_none")]
    stats: Option<IndexStats>,
}

fn show(args: &IndexArgs, context: &CommandContext, index: &Index) {
    let stats = args.stats.then(|| match args.references {
        true => index.stats_with_references(&ProgressBar::new(&context.terminal)),
        false => index.stats(),
    });
    let listing = IndexOutput { condition: index.condition(), stats };
    if let Some(data) = context.format.render(&listing) {
        return context.terminal.print(&data);
    }
    let condition = &listing.condition;
    let mut text = format!("{} files", condition.files);
    let _ = match condition.unseen.total() {
        0 => writeln!(text),
        unseen => writeln!(text, ", {unseen} of them not looked into ({})", reasons(condition)),
    };
    match &listing.stats {
        None => context.terminal.print_note(&text),
        Some(stats) => context.terminal.print(&(text + &table(stats))),
    }
}

fn reasons(condition: &IndexFreshness) -> String {
    let unseen = &condition.unseen;
    let reasons = [
        (unseen.binary, "binary"),
        (unseen.too_large, "too large"),
        (unseen.unreadable, "unreadable"),
        (unseen.unnameable, "name no UTF-8"),
    ];
    let descriptions: Vec<String> =
        reasons.iter().filter(|(count, _)| *count > 0).map(|(count, why)| format!("{count} {why}")).collect();
    descriptions.join(", ")
}

fn unresolved(stats: &IndexStats) -> String {
    match (stats.unresolved, stats.external) {
        (Some(unresolved), Some(external)) => {
            format!("{unresolved} imports; {external} point outside the project")
        }
        _ => "not counted".to_owned(),
    }
}

fn limits(stats: &IndexStats) -> String {
    match &stats.limits {
        None => "not counted".to_owned(),
        Some(limits) if limits.is_empty() => "none reached".to_owned(),
        Some(limits) => format!("reached: {limits}"),
    }
}

/// The number of files that the counts of definitions, imports and uses cover.
fn parsed(stats: &IndexStats) -> String {
    let texts: usize = stats.languages.values().sum();
    match stats.facts_kept {
        count if count < texts => format!("{count} of {texts} files; `lockstep index` parses the others"),
        count => format!("all {count} files"),
    }
}

fn table(stats: &IndexStats) -> String {
    let of = |counts: &mut dyn Iterator<Item = (&str, &usize)>| {
        counts.map(|(what, count)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
    };
    let languages = of(&mut stats.languages.iter().map(|(name, count)| (name.as_str(), count)));
    let not_counted = || "not counted; `--references` resolves every file and counts them".to_owned();
    let references = stats.references.as_ref().map_or_else(not_counted, |references| {
        of(&mut references.iter().map(|(kind, count)| (*kind, count)))
    });
    let bytes = stats.bytes;
    let rows = [
        ("languages", languages),
        ("definitions", stats.definitions.to_string()),
        ("imports", stats.imports.to_string()),
        ("uses", stats.uses.to_string()),
        ("references", references),
        ("unresolved", unresolved(stats)),
        ("limits", limits(stats)),
        ("problems", format!("{} places that a parser could not make sense of", stats.problems)),
        ("not read", format!("{} files over the limits of their parser", stats.over_budget)),
        ("partly read", format!("{} files with places over the limits of their parser", stats.partly_read)),
        ("parsed", parsed(stats)),
        ("bytes", format!("{} files, {} words, {} facts", bytes.files, bytes.words, bytes.facts)),
        ("build", format!("{} ms words, {} ms facts", stats.build_ms.words, stats.build_ms.facts)),
    ];
    rows.iter().map(|(name, value)| format!("{name:<11} {value}\n")).collect()
}
