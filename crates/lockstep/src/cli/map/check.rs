//! `lockstep map check`.

use std::fmt::Write as _;

use lockstep_map::check::{MapCheckReport, MapFinding, Recommendation};
use lockstep_map::report::{MapReport, MapRunMode, MapRunStatus};
use lockstep_text::{count_of, single_line};
use serde::Serialize;

use crate::cli::{CommandContext, CommandStatus};
use crate::error::CommandResult;
use crate::map::CurrentMap;
use crate::output_format::OutputFormat;
use crate::progress_bar::ProgressBar;
use crate::workspace::Workspace;

/// Check the map, and change nothing
///
/// Finds entries of deleted files, files without an entry, superfluous entries, one-sided, unknown or wrong
/// references, wrong hotspots and counts, dates in the future, entries older than seven days whose file
/// changed since, and a document over its size limit. Exit code 1 if there is an error.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep map check
  lockstep map check --format yaml       the L1 report with `staleness_report`, for programs
  lockstep map check --format json       the same, and every finding")]
pub(crate) struct MapCheckArgs {}

#[derive(Serialize)]
struct MapCheckOutput<'a> {
    #[serde(flatten)]
    l1: &'a MapReport,
    findings: &'a [MapFinding],
}

pub(super) fn run(_: &MapCheckArgs, context: &CommandContext) -> CommandResult {
    let tree = Workspace::of_active(&context.directory)?;
    let current = CurrentMap::of(&tree, &ProgressBar::new(&context.terminal))?;
    let (checked, is_missing) = match current.check(&tree.root)? {
        Some(checked) => (checked, false),
        None => (missing(&current), true),
    };
    let entries = checked.report.total_entries;
    let mut l1 = MapReport::new(
        MapRunMode::StalenessCheck,
        MapRunStatus::Complete,
        entries,
        current.display_path().to_owned(),
    );
    l1.staleness_report = Some(checked.report);
    context.terminal.print(&match context.format {
        OutputFormat::Yaml => l1.to_yaml(),
        OutputFormat::Json => context
            .format
            .render(&MapCheckOutput { l1: &l1, findings: &checked.findings })
            .unwrap_or_default(),
        _ if is_missing => format!(
            "{}: there is no map; `lockstep map build` builds it.
",
            l1.map_path
        ),
        _ => text(&checked, &l1.map_path),
    });
    Ok(if checked.findings.is_empty() { CommandStatus::Success } else { CommandStatus::CheckFailed })
}

/// A map that is not there is one that cannot be read.
fn missing(current: &CurrentMap) -> MapCheckReport {
    let mut checked = lockstep_map::check::missing_document();
    checked.report.missing_count = current.record.entries.len();
    checked
}

fn text(checked: &MapCheckReport, path: &str) -> String {
    let entries = count_of(checked.report.total_entries, "entry", "entries");
    if checked.findings.is_empty() {
        return format!("{path} is right: {entries}.\n");
    }
    let mut out = String::new();
    for finding in &checked.findings {
        let at = finding.path.as_ref().map(|path| format!("{path} ")).unwrap_or_default();
        let line = single_line(&format!("{at}{}", finding.what));
        let _ = writeln!(out, "{:<11} {line}", finding.kind.to_string());
    }
    let found = count_of(checked.findings.len(), "thing is", "things are");
    let command = match checked.report.recommendation {
        Recommendation::FullRegeneration => "`lockstep map build` makes it anew",
        Recommendation::Incremental | Recommendation::None => "`lockstep map update` mends it",
    };
    let _ = writeln!(out, "\n{path}: {entries}, {found} wrong; {command}.");
    out
}
