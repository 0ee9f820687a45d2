//! `lockstep cache show`.

use lockstep_cache::Resolved;
use lockstep_cache::document::{Content, Document};
use lockstep_cache::measure::chars;
use serde::Serialize;

use crate::cache::{self, CacheFault, ProjectProvider};
use crate::cli::{Answer, Context};
use crate::error::CommandError;
use crate::project::ActiveProject;

/// List what is in the cache
///
/// Every section with its size and its lines in the file, or why it was skipped. Exit code 1 where there is no cache.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep cache show
  lockstep cache show --sources    where each section comes from, and where it was looked for")]
pub(crate) struct ShowArgs {
    /// List where sections come from instead
    #[arg(long)]
    sources: bool,
}

pub(crate) fn run(args: &ShowArgs, context: &Context) -> Result<Answer, CommandError> {
    let project = ActiveProject::of_cache_command(&context.directory)?;
    let cache = cache::open(&project)?;
    if args.sources {
        let checked = cache.check(&ProjectProvider::new(&project))?;
        sources(&checked.sources, context);
        return Ok(Answer::Yes);
    }
    let path = cache.settings().target().to_owned();
    let Some(text) = cache.read()? else {
        context.terminal.say_line(&format!("There is no cache at {path}; `lockstep cache build` builds it."));
        return Ok(Answer::No);
    };
    let document = Document::parse(&text)
        .map_err(|damage| CacheFault::Damaged { path: path.clone(), why: damage.to_string() })?;
    let data = data(path, &document);
    context.terminal.say(&context.format.render(&data).unwrap_or_else(|| listing(&data)));
    Ok(Answer::Yes)
}

#[derive(Serialize)]
struct Data {
    path: String,
    generated: String,
    hash: String,
    chars: usize,
    sections: Vec<Listed>,
}

#[derive(Serialize)]
struct Listed {
    name: String,
    /// First and last line in the file.
    lines: (usize, usize),
    chars: usize,
    skipped: Option<String>,
}

fn data(path: String, document: &Document<'_>) -> Data {
    let listed = document.sections.iter().map(|entry| {
        let (chars, skipped) = match entry.content() {
            Content::Text(text) => (chars(&text), None),
            Content::Skipped(why) => (0, Some(why)),
        };
        Listed { name: entry.name.to_owned(), lines: entry.lines, chars, skipped }
    });
    Data {
        path,
        generated: document.header.generated.clone(),
        hash: document.header.hash.clone(),
        chars: chars(document.text),
        sections: listed.collect(),
    }
}

fn listing(data: &Data) -> String {
    let mut out =
        format!("{}: {} characters, hash {}, of {}\n", data.path, data.chars, data.hash, data.generated);
    let width = data.sections.iter().map(|section| section.name.len()).max().unwrap_or(0);
    for Listed { name, lines: (first, last), chars, skipped } in &data.sections {
        out += &match skipped {
            None => format!("  {name:width$}  {chars} characters, lines {first}-{last}\n"),
            Some(why) => format!("  {name:width$}  skipped: {why}\n"),
        };
    }
    out
}

#[derive(Serialize)]
struct Source<'a> {
    section: &'a str,
    used: &'a [String],
    absent: &'a [String],
}

fn sources(resolved: &[Resolved], context: &Context) {
    let data: Vec<Source<'_>> =
        resolved.iter().map(|Resolved { section, used, absent }| Source { section, used, absent }).collect();
    let text = || {
        let mut out = String::new();
        for Source { section, used, absent } in &data {
            out += &format!("{section}\n");
            out.extend(used.iter().map(|path| format!("  {path}\n")));
            out.extend(absent.iter().map(|path| format!("  {path} (nothing there)\n")));
        }
        out
    };
    context.terminal.say(&context.format.render(&data).unwrap_or_else(text));
}
