//! `lockstep map show`.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use clap::ValueEnum;
use lockstep_map::hotspot::Hotspot;
use lockstep_map::names::Meanings;
use lockstep_map::scope::WHOLE;
use lockstep_map::shape::Shape;
use lockstep_map::view::View;
use serde::Serialize;

use super::count;
use crate::cli::{Answer, Context};
use crate::document::Format;
use crate::error::{CommandError, Kind};
use crate::impact::tree::Tree;
use crate::map::Current;
use crate::progress_bar::ProgressBar;

/// Show all files, one of them, or the graph
///
/// Always as of this moment, and always complete, whatever the document leaves out; nothing is written. Works in any
/// directory, without configuration.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep map show                              all files, the hottest first
  lockstep map show src/store.rs                 one file
  lockstep map show store.rs                     the same, by its short name
  lockstep map show src/store.rs --graph mermaid a file and its neighbours
  lockstep map show --graph dot | dot -Tsvg > map.svg
  lockstep map show --format md                  the whole document, nothing left out")]
pub(crate) struct ShowArgs {
    /// A file, by its path or its short name
    path: Option<String>,
    /// The graph instead: of the file and its neighbours, or of everything
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    graph: Option<Graph>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Graph {
    /// For Graphviz
    Dot,
    /// For Mermaid, as in Markdown
    Mermaid,
    /// For programs: nodes and edges
    Json,
}

pub(super) fn run(args: &ShowArgs, context: &Context) -> Result<Answer, CommandError> {
    let tree = Tree::of_command(&context.directory)?;
    let current = Current::of(&tree, &ProgressBar::new(&context.terminal))?;
    let view = current.view();
    let place = match &args.path {
        Some(path) => Some(find(&tree, context, &current, path)?),
        None => None,
    };
    let out = match (args.graph, place) {
        (Some(graph), Some(place)) => drawn(graph, &view.around(place)),
        (Some(graph), None) => drawn(graph, &view.shape()),
        (None, Some(place)) => one(context, &view, place),
        (None, None) => all(context, &view),
    };
    context.terminal.say(&out);
    if context.format == Format::Text && args.graph.is_none() && current.unseen > 0 {
        let unseen = count(current.unseen, "file", "files");
        context.terminal.note(&format!("note: {unseen} could not be looked into\n"));
    }
    Ok(Answer::Yes)
}

fn find(tree: &Tree, context: &Context, current: &Current, path: &str) -> Result<usize, CommandError> {
    let record = &current.record;
    let by_path = tree.relative(&context.directory, path.as_ref()).ok().and_then(|path| record.find(&path));
    if let Some(place) = by_path.or_else(|| record.find(path)) {
        return Ok(place);
    }
    let paths = || record.entries.iter().map(|entry| &*entry.path);
    let scope = current.scope.text();
    let of = if scope == WHOLE { String::new() } else { format!(" of {scope}") };
    match *Meanings::new(paths()).all(path) {
        [only] => Ok(only),
        [] => Err(CommandError::new(Kind::Usage, format!("the map{of} has no entry for {path:?}"))
            .hint("give the path of a text file in the map's scope, or an end of it that no other file has")),
        ref several => {
            let told: Vec<&str> = several.iter().take(5).map(|at| &*record.entries[*at].path).collect();
            let more = if several.len() > told.len() { ", …" } else { "" };
            let message =
                format!("{path:?} may be any of {} files: {}{more}", several.len(), told.join(", "));
            Err(CommandError::new(Kind::Usage, message).hint("give more of the path"))
        }
    }
}

fn drawn(graph: Graph, shape: &Shape<'_>) -> String {
    match graph {
        Graph::Dot => shape.to_dot(),
        Graph::Mermaid => shape.to_mermaid(),
        Graph::Json => Format::Json.render(shape).unwrap_or_default(),
    }
}

/// One file, for programs.
#[derive(Serialize)]
struct Entry<'v> {
    path: &'v str,
    refs: Vec<&'v str>,
    refd_by: Vec<&'v str>,
    hotspot: Hotspot,
    updated: String,
}

fn entry<'v>(view: &View<'v>, place: usize) -> Entry<'v> {
    let entries = &view.record.entries;
    let paths = |places: &[u32]| places.iter().map(|at| &*entries[*at as usize].path).collect();
    Entry {
        path: &entries[place].path,
        refs: paths(&entries[place].refs),
        refd_by: paths(&view.referring[place]),
        hotspot: view.hotspots[place],
        updated: entries[place].updated.to_string(),
    }
}

fn one(context: &Context, view: &View<'_>, place: usize) -> String {
    let entry = entry(view, place);
    if let Some(data) = context.format.render(&entry) {
        return data;
    }
    let bold = |text: &str| context.terminal.styled(Style::new().bold(), text);
    let mut out = format!("{}\n", bold(&one_line(entry.path)));
    let _ = writeln!(out, "hotspot {}, updated {}", entry.hotspot, entry.updated);
    for (title, paths) in [("references", &entry.refs), ("is referenced by", &entry.refd_by)] {
        let _ = writeln!(out, "\n{}", bold(&format!("{title} {}", count(paths.len(), "file", "files"))));
        paths.iter().for_each(|path| out.push_str(&format!("  {}\n", one_line(path))));
    }
    out
}

fn all(context: &Context, view: &View<'_>) -> String {
    let count = view.record.entries.len();
    if context.format == Format::Md {
        return view.document(None).text;
    }
    if matches!(context.format, Format::Json | Format::Yaml) {
        let entries: Vec<Entry<'_>> = (0..count).map(|place| entry(view, place)).collect();
        return context.format.render(&entries).unwrap_or_default();
    }
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|at| (std::cmp::Reverse((view.hotspots[*at], view.referring[*at].len())), *at));
    let mut out = String::from("hotspot  refd_by  refs  updated     path\n");
    for at in order {
        let (entry, hotspot) = (&view.record.entries[at], view.hotspots[at]);
        let heat = context.terminal.styled(style(hotspot), &format!("{:<7}", hotspot.word()));
        let (by, refs) = (view.referring[at].len(), entry.refs.len());
        let _ = writeln!(out, "{heat}  {by:>7}  {refs:>4}  {}  {}", entry.updated, one_line(&entry.path));
    }
    out
}

fn style(hotspot: Hotspot) -> Style {
    match hotspot {
        Hotspot::Low => Style::new().dimmed(),
        Hotspot::Medium => AnsiColor::Yellow.on_default(),
        Hotspot::High => AnsiColor::Red.on_default(),
    }
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
