//! An impact for people.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use lockstep_refs::change::{SymbolChange, What};
use lockstep_refs::impact::{Dependent, FileChange, FileImpact, Hop};
use lockstep_refs::reference::{Certainty, Kind};

use super::analysis::Analysis;
use crate::terminal::Terminal;

/// Changed definitions that are named for one file; the rest is counted.
const MAX_SYMBOLS: usize = 6;

/// Lines of evidence for one dependent.
const MAX_PLACES: usize = 3;

/// The whole answer. `--verbose` shows every line of evidence.
pub(crate) fn render(analysis: &Analysis, origin: &str, terminal: &Terminal) -> String {
    let impact = &analysis.impact;
    let mut out = String::new();
    let breaking = analysis.report().ranked().iter().filter(|entry| entry.breaks).count();
    let candidates = impact.candidates().len();
    let dependents = match (candidates, breaking) {
        (0, _) if impact.truncated => "no dependent was found before the time was over".to_owned(),
        // Of what could not be read it is not known.
        (0, _) if impact.files.iter().any(|file| file.problems > 0) => "no dependent was found".to_owned(),
        (0, _) => "nothing depends on what changed".to_owned(),
        (1, 1) => "1 dependent, broken by it".to_owned(),
        (n, 0) => count(n, "dependent"),
        (n, broken) if n == broken => format!("{n} dependents, all of them broken by it"),
        (n, broken) => format!("{n} dependents, {broken} of them broken by it"),
    };
    let _ = writeln!(out, "{} changed in {origin}; {dependents}", count(impact.files.len(), "file"));
    let (concerning, quiet): (Vec<_>, Vec<_>) =
        impact.files.iter().partition(|file| !file.dependents.is_empty());
    for file in concerning {
        let _ = write!(out, "\n{}", heading(file, terminal));
        for dependent in &file.dependents {
            out.push_str(&entry(dependent, terminal));
        }
    }
    let (unanalysed, quiet): (Vec<_>, Vec<_>) = quiet.into_iter().partition(|file| file.unanalysed);
    for (title, files) in [("No dependents", quiet), ("Not analysed", unanalysed)] {
        if !files.is_empty() && (candidates > 0 || impact.truncated) {
            let _ = write!(out, "\n{title}:\n");
        }
        for file in files {
            let _ = write!(out, "  {}", heading(file, terminal));
        }
    }
    out
}

fn heading(file: &FileImpact, terminal: &Terminal) -> String {
    let bold = Style::new().bold();
    let mut line = terminal.styled(bold, &shown(&file.path));
    match &file.change {
        FileChange::Modified => {}
        FileChange::Renamed { from } => line.push_str(&format!("  (was {})", shown(from))),
        change => line.push_str(&format!("  ({})", change.word())),
    }
    if file.unanalysed {
        line.push_str("  (not analysed: the time was over)");
    } else if file.whole_file && file.problems > 0 {
        line.push_str("  (what changed could not be read in whole: all of it counts)");
    } else if file.whole_file {
        line.push_str("  (former content unknown: all of it counts)");
    } else {
        let named: Vec<String> = file.symbols.iter().take(MAX_SYMBOLS).map(symbol).collect();
        if !named.is_empty() {
            line.push_str(&format!("  {}", named.join(", ")));
        }
        if file.symbols.len() > MAX_SYMBOLS {
            line.push_str(&format!(" and {} more", file.symbols.len() - MAX_SYMBOLS));
        }
    }
    line + "\n"
}

fn symbol(change: &SymbolChange) -> String {
    let name = match &change.was.container {
        Some(container) => format!("{container}.{}", change.was.name),
        None => change.was.name.to_string(),
    };
    match &change.what {
        What::Renamed(to) => format!("{name} → {to}"),
        What::Removed => format!("{name} removed"),
        What::Resigned { .. } => format!("{name} has another signature"),
        What::Relabelled { gone } if gone.is_empty() => format!("{name} has its parameters in another order"),
        What::Relabelled { gone } => format!("{name} no longer has parameters called {}", gone.join(", ")),
        What::Narrowed => format!("{name} is less visible"),
        What::Body => format!("{name} changed inside"),
    }
}

fn entry(dependent: &Dependent, terminal: &Terminal) -> String {
    let red = Style::new().fg_color(Some(AnsiColor::Red.into()));
    let dim = Style::new().dimmed();
    let state = match (&dependent.hop, dependent.breaks, dependent.certainty) {
        (Hop::Transitive { .. }, ..) => terminal.styled(dim, "behind"),
        (_, true, Certainty::Resolved) => terminal.styled(red, "breaks"),
        (_, true, _) => terminal.styled(red, "breaks?"),
        (_, false, _) if dependent.kind == Kind::Mention => "mentions".to_owned(),
        (_, false, Certainty::Resolved) => "uses".to_owned(),
        (_, false, _) => "uses?".to_owned(),
    };
    let via = match &dependent.hop {
        Hop::Direct => String::new(),
        Hop::Transitive { via } => terminal.styled(dim, &format!("  via {}", shown(via))),
    };
    let mut out = format!("  {state} {}{via}\n", shown(&dependent.path));
    let shown_places = if terminal.verbose() { usize::MAX } else { MAX_PLACES };
    // One line may be evidence for several definitions.
    let mut lines = BTreeSet::new();
    let places: Vec<_> = dependent.evidence.iter().filter(|place| lines.insert(place.line)).collect();
    for place in places.iter().take(shown_places) {
        let text = format!("{}: {}", place.line, shown(place.text.trim()));
        let _ = writeln!(out, "      {} {}", terminal.styled(dim, place.kind.word()), clipped(&text));
    }
    if places.len() > shown_places {
        let more = format!("and {} more", places.len() - shown_places);
        let _ = writeln!(out, "      {}", terminal.styled(dim, &more));
    }
    out
}

fn clipped(text: &str) -> String {
    if text.chars().count() <= 120 {
        text.to_owned()
    } else {
        text.chars().take(119).chain(['…']).collect()
    }
}

/// On one line, whatever its characters.
fn shown(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn count(n: usize, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}
