//! The changed files of a report, with what changed in each.

use std::fmt::Write as _;

use anstyle::Style;
use lockstep_refs::change::{SymbolChange, What};
use lockstep_refs::impact::{FileChange, FileImpact, Impact};
use lockstep_refs::world::base;

use super::layout::{count, one_line};
use crate::terminal::Terminal;

/// Changed definitions that are named for one file without `--all`.
const MAX_SYMBOLS: usize = 6;

/// Changed files that are listed under one heading without `--all`.
const MAX_FILES: usize = 15;

/// Writes the changed files, grouped by what is known about their dependents. Returns whether something was left out.
pub(super) fn render(out: &mut String, impact: &Impact, all: bool, terminal: &Terminal) -> bool {
    let mut is_cut = false;
    for group in Group::ALL {
        let files: Vec<&FileImpact> = impact.files.iter().filter(|file| Group::of(file) == group).collect();
        if files.is_empty() {
            continue;
        }
        let max_files = if all { usize::MAX } else { MAX_FILES };
        let _ = write!(out, "\n{}:\n", group.title());
        for file in files.iter().take(max_files) {
            let _ = writeln!(out, "  {}", row(file, all, terminal));
        }
        if files.len() > max_files {
            is_cut = true;
            let _ = writeln!(out, "  … and {}", count(files.len() - max_files, "more file"));
        }
        is_cut |= !all && files.iter().any(|file| file.symbols.len() > MAX_SYMBOLS);
    }
    is_cut
}

/// What is known about the dependents of a changed file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    WithDependents,
    NotAnalysed,
    WithoutDependents,
}

impl Group {
    const ALL: [Self; 3] = [Self::WithDependents, Self::NotAnalysed, Self::WithoutDependents];

    fn of(file: &FileImpact) -> Self {
        match file {
            _ if !file.dependents.is_empty() || !file.broken_in_file.is_empty() => Self::WithDependents,
            _ if file.unanalysed || file.unparsed.is_some() || file.content_not_analysed => Self::NotAnalysed,
            _ => Self::WithoutDependents,
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::WithDependents => "Changed",
            Self::NotAnalysed => "Not analysed",
            Self::WithoutDependents => "No dependents",
        }
    }
}

fn row(file: &FileImpact, all: bool, terminal: &Terminal) -> String {
    let mut line = terminal.styled(Style::new().bold(), &one_line(&file.path));
    match &file.change {
        FileChange::Modified => {}
        FileChange::Renamed { from } => line.push_str(&format!("  (was {})", one_line(from))),
        change => line.push_str(&format!("  ({})", change.word())),
    }
    if file.unanalysed {
        line.push_str("  (not analysed: the time was over)");
    } else if file.only_comments {
        line.push_str("  (only comments changed)");
    } else if file.whole_file && file.problems > 0 {
        line.push_str("  (not everything in it could be read: all of it counts as changed)");
    } else if file.whole_file {
        line.push_str("  (original content unknown: all of it counts as changed)");
    } else {
        line.push_str(&symbols(file, all));
    }
    if let Some(at) = file.unparsed {
        line.push_str(&format!("  (not analysed: {}:{at} does not parse)", one_line(&file.path)));
    }
    if file.content_not_analysed {
        line.push_str(&format!("  (the content of {} is not analysed)", one_line(base(&file.path))));
    }
    line
}

fn symbols(file: &FileImpact, all: bool) -> String {
    let max_symbols = if all { usize::MAX } else { MAX_SYMBOLS };
    let named: Vec<String> = file.symbols.iter().take(max_symbols).map(describe_briefly).collect();
    let mut text = String::new();
    if !named.is_empty() {
        text.push_str(&format!("  {}", named.join(", ")));
    }
    if file.symbols.len() > max_symbols {
        text.push_str(&format!(" and {} more", file.symbols.len() - max_symbols));
    }
    text
}

fn describe_briefly(change: &SymbolChange) -> String {
    match &change.what {
        What::Renamed(to) => format!("{} → {to}", name(change)),
        What::Removed => format!("{} removed", name(change)),
        _ => describe(change),
    }
}

/// Says in words what happened to a definition.
pub(super) fn describe(change: &SymbolChange) -> String {
    let name = name(change);
    match &change.what {
        What::Renamed(to) => format!("{name} is now {to}"),
        What::Removed => format!("{name} was removed"),
        What::Resigned { .. } => format!("{name} has another signature"),
        What::Relabelled { gone } if gone.is_empty() => format!("{name} has its parameters in another order"),
        What::Relabelled { gone } => format!("{name} no longer has parameters called {}", gone.join(", ")),
        What::Narrowed => format!("{name} is less visible"),
        What::Body => format!("{name} changed inside"),
        What::Compatible => format!("{name} changed, callers still fit"),
        What::Unknown => format!("{name} not analysed"),
    }
}

fn name(change: &SymbolChange) -> String {
    match &change.was.container {
        Some(container) => format!("{container}.{}", change.was.name),
        None => change.was.name.to_string(),
    }
}
