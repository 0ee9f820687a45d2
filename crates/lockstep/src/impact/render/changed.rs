//! The changed files of a report, with their changes.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

use anstyle::Style;
use lockstep_refs::definition_diff::{DefinitionChangeKind, SymbolChange};
use lockstep_refs::impact::{FileChange, FileImpact, Impact};
use lockstep_refs::world::base;
use lockstep_text::{count, single_line};

use crate::terminal::Terminal;

/// Changed definitions that are named for one file without `--all`.
const MAX_SYMBOLS: usize = 6;

/// Changed files that are listed under one heading without `--all`.
const MAX_FILES: usize = 15;

/// Writes the changed files, grouped by the knowledge about their dependents. Returns true if something was
/// left out.
pub(super) fn render(out: &mut String, impact: &Impact, all: bool, terminal: &Terminal) -> bool {
    let mut is_cut = false;
    for group in Group::ALL {
        let files: Vec<&FileImpact> = impact.files.iter().filter(|file| Group::of(file) == group).collect();
        if files.is_empty() {
            continue;
        }
        let max_files = if all { usize::MAX } else { MAX_FILES };
        let _ = write!(out, "\n{}:\n", group.title());
        let rows = if all { single_rows(&files, all, terminal) } else { rows(&files, terminal) };
        is_cut |= rows.len() < files.len();
        for row in rows.iter().take(max_files) {
            let _ = writeln!(out, "  {}", row.text);
        }
        if rows.len() > max_files {
            is_cut = true;
            let left_out = rows[max_files..].iter().map(|row| row.files).sum();
            let _ = writeln!(out, "  … and {}", count(left_out, "more file"));
        }
        is_cut |= !all && files.iter().any(|file| file.symbols.len() > MAX_SYMBOLS);
    }
    is_cut
}

/// A line about one changed file, or about the files of a directory that moved.
struct Row {
    text: String,
    files: usize,
}

fn single_rows(files: &[&FileImpact], all: bool, terminal: &Terminal) -> Vec<Row> {
    files.iter().map(|file| Row { text: row(file, all, terminal), files: 1 }).collect()
}

/// One line for each file, but a directory that moved is one line for all files that only moved with it.
fn rows(files: &[&FileImpact], terminal: &Terminal) -> Vec<Row> {
    let mut moved: BTreeMap<(String, String), usize> = BTreeMap::new();
    for directories in files.iter().filter_map(|file| moved_directory(file)) {
        *moved.entry(directories).or_default() += 1;
    }
    let mut rows = Vec::new();
    for file in files {
        let directories = moved_directory(file)
            .filter(|moved_directory| moved.get(moved_directory).is_none_or(|count| *count > 1));
        let Some(directories) = directories else {
            rows.push(Row { text: row(file, false, terminal), files: 1 });
            continue;
        };
        // The first file of the directory represents all of them.
        if let Some(count) = moved.remove(&directories) {
            let (from, to) = directories;
            let name = terminal.styled(Style::new().bold(), &single_line(&format!("{to}/")));
            let text = format!("{name}  (was {}/, {} moved)", single_line(&from), self::count(count, "file"));
            rows.push(Row { text, files: count });
        }
    }
    rows
}

/// The former and the present directory of a file that moved with its directory, without any other change.
fn moved_directory(file: &FileImpact) -> Option<(String, String)> {
    let FileChange::Renamed { from } = &file.change else { return None };
    if !file.symbols.is_empty() || file.unanalysed || file.unparsed.is_some() {
        return None;
    }
    let (mut from, mut to): (Vec<&str>, Vec<&str>) =
        (from.split('/').collect(), file.path.split('/').collect());
    let mut popped = 0;
    while from.len() > 1 && to.len() > 1 && from.last() == to.last() {
        from.pop();
        to.pop();
        popped += 1;
    }
    (popped > 0).then(|| (from.join("/"), to.join("/")))
}

/// The state of knowledge about the dependents of a changed file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    WithDependents,
    NotAnalysed,
    OnlyComments,
    WithoutDependents,
}

impl Group {
    const ALL: [Self; 4] =
        [Self::WithDependents, Self::NotAnalysed, Self::OnlyComments, Self::WithoutDependents];

    fn of(file: &FileImpact) -> Self {
        match file {
            _ if !file.dependents.is_empty() || !file.broken_in_file.is_empty() => Self::WithDependents,
            _ if file.unanalysed || file.unparsed.is_some() || file.content_not_analysed => Self::NotAnalysed,
            _ if file.only_comments => Self::OnlyComments,
            _ => Self::WithoutDependents,
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::WithDependents => "Changed",
            Self::NotAnalysed => "Not analysed",
            Self::OnlyComments => "Only comments changed",
            Self::WithoutDependents => "No dependents",
        }
    }
}

fn row(file: &FileImpact, all: bool, terminal: &Terminal) -> String {
    let mut line = terminal.styled(Style::new().bold(), &single_line(&file.path));
    match &file.change {
        FileChange::Modified => {}
        FileChange::Renamed { from } => line.push_str(&format!("  (was {})", single_line(from))),
        change => line.push_str(&format!("  ({})", change.word())),
    }
    if file.unanalysed {
        line.push_str("  (not analysed: the time was over)");
    } else if file.only_comments {
        line.push_str("  (only comments changed)");
    } else if file.whole_file && file.problems > 0 {
        line.push_str("  (not everything in it could be read: all of it counts as changed)");
    } else if file.whole_file && !file.content_not_analysed {
        line.push_str("  (original content unknown: all of it counts as changed)");
    } else {
        line.push_str(&symbols(file, all));
    }
    if let Some(at) = file.unparsed {
        line.push_str(&format!("  (not analysed: {}:{at} does not parse)", single_line(&file.path)));
    }
    if file.content_not_analysed {
        line.push_str(&format!(
            "  (the content of {} is not analysed)",
            single_line(base(file.path.trim_end_matches('/')))
        ));
    }
    line
}

fn symbols(file: &FileImpact, all: bool) -> String {
    let max_symbols = if all { usize::MAX } else { MAX_SYMBOLS };
    let mut described = HashSet::new();
    let mut named: Vec<String> = file.symbols.iter().map(describe_briefly).collect();
    // The variants of a definition for several platforms change alike.
    named.retain(|text| described.insert(text.clone()));
    let mut text = String::new();
    if !named.is_empty() {
        text.push_str(&format!("  {}", named[..named.len().min(max_symbols)].join(", ")));
    }
    if named.len() > max_symbols {
        text.push_str(&format!(" and {} more", named.len() - max_symbols));
    }
    text
}

fn describe_briefly(change: &SymbolChange) -> String {
    match &change.what {
        DefinitionChangeKind::Renamed(to) => format!("{} → {to}", name(change)),
        DefinitionChangeKind::Removed => format!("{} removed", name(change)),
        _ => describe(change),
    }
}

pub(super) fn describe(change: &SymbolChange) -> String {
    let name = name(change);
    match &change.what {
        DefinitionChangeKind::Renamed(to) => format!("{name} is now {to}"),
        DefinitionChangeKind::Removed => format!("{name} was removed"),
        DefinitionChangeKind::SignatureChanged { .. } => format!("{name} has another signature"),
        DefinitionChangeKind::ParametersRenamed { gone: removed } if removed.is_empty() => {
            format!("{name} has its parameters in another order")
        }
        DefinitionChangeKind::ParametersRenamed { gone: removed } => {
            format!("{name} no longer has parameters called {}", removed.join(", "))
        }
        DefinitionChangeKind::VisibilityReduced => format!("{name} is less visible"),
        DefinitionChangeKind::BodyChanged => format!("{name} changed inside"),
        DefinitionChangeKind::Compatible => format!("{name} changed, callers still fit"),
        DefinitionChangeKind::Unknown => format!("{name} not analysed"),
    }
}

fn name(change: &SymbolChange) -> String {
    match &change.was.container {
        Some(container) => format!("{container}.{}", change.was.name),
        None => change.was.name.to_string(),
    }
}
