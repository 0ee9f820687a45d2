//! `lockstep map show`.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use clap::ValueEnum;
use lockstep_map::graph::MapGraph;
use lockstep_map::hotspot::Hotspot;
use lockstep_map::view::MapView;
use lockstep_text::{count_of, single_line};

use crate::cli::{CommandContext, CommandStatus};
use crate::error::CommandResult;
use crate::map::CurrentMap;
use crate::map::entry::MapEntry;
use crate::output_format::OutputFormat;
use crate::progress_bar::ProgressBar;
use crate::workspace::Workspace;

/// Show all files, one of them, or the graph
///
/// Always as of this moment, and always complete, whatever the document leaves out; nothing is written. Works in any
/// directory, without configuration.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep map show                              all files, the hottest first
  lockstep map show src/store.rs                 one file
  lockstep map show store.rs                     the same, by its short name
  lockstep map show src/store.rs --graph mermaid  a file and its neighbours
  lockstep map show --graph dot | dot -Tsvg > map.svg
  lockstep map show --format md                  the whole document, nothing left out")]
pub(crate) struct MapShowArgs {
    /// A file, by its path or its short name
    path: Option<String>,
    /// The graph instead: of the file and its neighbours, or of everything
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    graph: Option<GraphFormat>,
}

impl MapShowArgs {
    pub(super) fn for_file(path: Option<String>) -> Self {
        Self { path, graph: None }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum GraphFormat {
    /// For Graphviz
    Dot,
    /// For Mermaid, as in Markdown
    Mermaid,
    /// For programs: nodes and edges
    Json,
}

pub(super) fn run(args: &MapShowArgs, context: &CommandContext) -> CommandResult {
    let tree = Workspace::discover(&context.directory)?;
    let current = CurrentMap::of(&tree, &ProgressBar::new(&context.terminal))?;
    let view = current.view();
    let place = match &args.path {
        Some(path) => Some(current.find(&tree, &context.directory, path)?),
        None => None,
    };
    let out = match (args.graph, place) {
        (Some(graph), Some(place)) => render_graph(graph, &view.neighbourhood(place)),
        (Some(graph), None) => render_graph(graph, &view.shape()),
        (None, Some(place)) => one(context, &view, place),
        (None, None) => all(context, &view),
    };
    context.terminal.print(&out);
    if context.format == OutputFormat::Text && args.graph.is_none() && current.unseen > 0 {
        let unseen = count_of(current.unseen, "file", "files");
        context.terminal.print_note(&format!("note: {unseen} could not be looked into\n"));
    }
    Ok(CommandStatus::Success)
}

fn render_graph(graph: GraphFormat, shape: &MapGraph<'_>) -> String {
    match graph {
        GraphFormat::Dot => shape.to_dot(),
        GraphFormat::Mermaid => shape.to_mermaid(),
        GraphFormat::Json => OutputFormat::Json.render(shape).unwrap_or_default(),
    }
}

fn one(context: &CommandContext, view: &MapView<'_>, place: usize) -> String {
    let entry = MapEntry::of(view, place);
    if let Some(data) = context.format.render(&entry) {
        return data;
    }
    let bold = |text: &str| context.terminal.styled(Style::new().bold(), text);
    let mut out = format!("{}\n", bold(&single_line(&entry.path)));
    let _ = writeln!(out, "hotspot {}, updated {}", entry.hotspot, entry.updated);
    for (title, paths) in [("references", &entry.refs), ("is referenced by", &entry.refd_by)] {
        let _ = writeln!(out, "\n{}", bold(&format!("{title} {}", count_of(paths.len(), "file", "files"))));
        paths.iter().for_each(|path| out.push_str(&format!("  {}\n", single_line(path))));
    }
    out
}

fn all(context: &CommandContext, view: &MapView<'_>) -> String {
    let count = view.record.entries.len();
    if context.format == OutputFormat::Md {
        return view.document(None).text;
    }
    if matches!(context.format, OutputFormat::Json | OutputFormat::Yaml) {
        let entries: Vec<MapEntry> = (0..count).map(|place| MapEntry::of(view, place)).collect();
        return context.format.render(&entries).unwrap_or_default();
    }
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|at| (std::cmp::Reverse((view.hotspots[*at], view.referring[*at].len())), *at));
    let mut out = String::from("hotspot  refd_by  refs  updated     path\n");
    for at in order {
        let (entry, hotspot) = (&view.record.entries[at], view.hotspots[at]);
        let heat = context.terminal.styled(style(hotspot), &format!("{:<7}", hotspot.word()));
        let (by, refs) = (view.referring[at].len(), view.record.refs(at).len());
        let _ = writeln!(out, "{heat}  {by:>7}  {refs:>4}  {}  {}", entry.updated, single_line(&entry.path));
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
