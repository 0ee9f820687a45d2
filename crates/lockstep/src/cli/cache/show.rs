//! `lockstep cache show`.

use lockstep_cache::SectionSources;
use lockstep_cache::cache_document::{CacheDocument, SectionContent};
use lockstep_cache::text_length::chars;
use serde::Serialize;

use crate::cache::{self, ProjectProvider, SessionCacheError};
use crate::cli::{CommandContext, CommandStatus};
use crate::error::CommandResult;
use crate::project::ActiveProject;

/// List what is in the cache
///
/// Every section with its size and its lines in the file, or why it was skipped. Exit code 1 where there is no cache.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep cache show
  lockstep cache show --sources    where each section comes from, and where it was looked for")]
pub(crate) struct CacheShowArgs {
    /// List where sections come from instead
    #[arg(long)]
    sources: bool,
}

pub(crate) fn run(args: &CacheShowArgs, context: &CommandContext) -> CommandResult {
    let project = ActiveProject::of_cache_command(&context.directory)?;
    let cache = cache::open(&project)?;
    if args.sources {
        let checked = cache.check(&ProjectProvider::new(&project))?;
        sources(&checked.sources, context);
        return Ok(CommandStatus::Success);
    }
    let path = cache.settings().target().to_owned();
    let Some(text) = cache.read()? else {
        context.terminal.say_line(&format!("There is no cache at {path}; `lockstep cache build` builds it."));
        return Ok(CommandStatus::CheckFailed);
    };
    let document = CacheDocument::parse(&text)
        .map_err(|damage| SessionCacheError::Damaged { path: path.clone(), why: damage.to_string() })?;
    let data = data(path, &document);
    context.terminal.print(&context.format.render(&data).unwrap_or_else(|| listing(&data)));
    Ok(CommandStatus::Success)
}

#[derive(Serialize)]
struct CacheShowOutput {
    path: String,
    generated: String,
    hash: String,
    chars: usize,
    sections: Vec<SectionRow>,
}

#[derive(Serialize)]
struct SectionRow {
    name: String,
    /// First and last line in the file.
    lines: (usize, usize),
    chars: usize,
    skipped: Option<String>,
}

fn data(path: String, document: &CacheDocument<'_>) -> CacheShowOutput {
    let listed = document.sections.iter().map(|entry| {
        let (chars, skipped) = match entry.content() {
            SectionContent::Text(text) => (chars(&text), None),
            SectionContent::Skipped(why) => (0, Some(why)),
        };
        SectionRow { name: entry.name.to_owned(), lines: entry.lines, chars, skipped }
    });
    CacheShowOutput {
        path,
        generated: document.header.generated.clone(),
        hash: document.header.hash.clone(),
        chars: chars(document.text),
        sections: listed.collect(),
    }
}

fn listing(data: &CacheShowOutput) -> String {
    let mut out =
        format!("{}: {} characters, hash {}, of {}\n", data.path, data.chars, data.hash, data.generated);
    let width = data.sections.iter().map(|section| section.name.len()).max().unwrap_or(0);
    for SectionRow { name, lines: (first, last), chars, skipped } in &data.sections {
        out += &match skipped {
            None => format!("  {name:width$}  {chars} characters, lines {first}-{last}\n"),
            Some(why) => format!("  {name:width$}  skipped: {why}\n"),
        };
    }
    out
}

#[derive(Serialize)]
struct SectionSourceRow<'a> {
    section: &'a str,
    used: &'a [String],
    absent: &'a [String],
}

fn sources(resolved: &[SectionSources], context: &CommandContext) {
    let data: Vec<SectionSourceRow<'_>> = resolved
        .iter()
        .map(|SectionSources { section, used, absent }| SectionSourceRow { section, used, absent })
        .collect();
    let text = || {
        let mut out = String::new();
        for SectionSourceRow { section, used, absent } in &data {
            out += &format!("{section}\n");
            out.extend(used.iter().map(|path| format!("  {path}\n")));
            out.extend(absent.iter().map(|path| format!("  {path} (nothing there)\n")));
        }
        out
    };
    context.terminal.print(&context.format.render(&data).unwrap_or_else(text));
}
