//! `lockstep cache build`.

use lockstep_cache::{BuildOptions, BuildReport};
use serde::Serialize;

use crate::build_time;
use crate::cache::{self, ProjectProvider};
use crate::cli::{CommandContext, CommandStatus};
use crate::error::CommandResult;
use crate::project::ActiveProject;

/// Build the session cache
///
/// Reads the sources of every section and writes the cache file, in one step. A section whose source is missing or broken is
/// skipped, with the reason in its place; the others are built. When nothing changed, nothing is written. From then on sessions
/// that start are given the cache.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep cache build
  lockstep cache build --verbose    with every section and its size
  lockstep cache build --force      write it although nothing changed")]
pub(crate) struct CacheBuildArgs {
    /// Write the file although nothing changed
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &CacheBuildArgs, context: &CommandContext) -> CommandResult {
    let project = ActiveProject::of_cache_command(&context.directory)?;
    let cache = cache::open(&project)?;
    let options = BuildOptions { force: args.force, ..BuildOptions::default() };
    let built = cache.build(&ProjectProvider::new(&project), build_time::build_timestamp(), options)?;
    show(&built, &project, context);
    Ok(CommandStatus::Success)
}

#[derive(Serialize)]
struct CacheBuildOutput<'a> {
    path: String,
    chars: usize,
    hash: String,
    written: bool,
    sections: Vec<SectionSize<'a>>,
    skipped: Vec<SkippedSection<'a>>,
    mitigations: Vec<String>,
    findings: Vec<String>,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct SectionSize<'a> {
    name: &'a str,
    chars: usize,
}

#[derive(Serialize)]
struct SkippedSection<'a> {
    name: &'a str,
    reason: &'a str,
}

/// Says what a build did.
pub(super) fn show(built: &BuildReport, project: &ActiveProject, context: &CommandContext) {
    let path = built.path.strip_prefix(&project.root).unwrap_or(&built.path).display().to_string();
    let data = CacheBuildOutput {
        path,
        chars: built.chars,
        hash: built.hash.to_hex()[..8].to_owned(),
        written: built.written,
        sections: built.sections.iter().map(|(name, chars)| SectionSize { name, chars: *chars }).collect(),
        skipped: built.skipped.iter().map(|(name, reason)| SkippedSection { name, reason }).collect(),
        mitigations: built.mitigations.iter().map(ToString::to_string).collect(),
        findings: built.findings.iter().map(ToString::to_string).collect(),
        warnings: &built.warnings,
    };
    let text = || text(&data, context.terminal.verbose());
    context.terminal.print(&context.format.render(&data).unwrap_or_else(text));
}

fn text(data: &CacheBuildOutput<'_>, verbose: bool) -> String {
    let done = if data.written { "Built" } else { "Nothing changed in" };
    let mut out = format!(
        "{done} {}: {} characters, hash {}, {} sections, {} skipped\n",
        data.path,
        data.chars,
        data.hash,
        data.sections.len(),
        data.skipped.len(),
    );
    if verbose {
        let sections = data.sections.iter().map(|s| format!("  {}: {} characters\n", s.name, s.chars));
        let skipped = data.skipped.iter().map(|s| format!("  {}: skipped, {}\n", s.name, s.reason));
        out.extend(sections.chain(skipped));
    }
    let over = data.mitigations.iter().map(|what| format!("over the budget: {what}"));
    let rest = data.findings.iter().chain(data.warnings).cloned();
    out.extend(over.chain(rest).map(|line| format!("warning: {line}\n")));
    out
}
