//! References for people: a summary, the certain places by file and kind, then how to see the others.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anstyle::Style;
use lockstep_refs::reference::{Certainty, Kind};
use lockstep_text::{count, single_line};

use crate::impact::render::HINT_PARTIAL;
use crate::refs::query::{ReferenceDirection, ReferencesOutput};
use crate::refs::references::ReferenceLocation;
use crate::terminal::Terminal;

/// Places that are listed without `--all`.
const MAX_PLACES: usize = 60;

/// Definitions that are listed without `--all`.
const MAX_DEFINITIONS: usize = 20;

/// Renders an answer; `all` lists every place. Without a terminal there is no style.
pub(crate) fn render(answer: &ReferencesOutput, all: bool, terminal: Option<&Terminal>) -> String {
    let mut out = String::new();
    let places = each_line_once(&answer.references);
    let is_certain = |found: &&ReferenceLocation| answer.undefined || found.certainty == Certainty::Resolved;
    let (certain, uncertain): (Vec<&ReferenceLocation>, Vec<&ReferenceLocation>) =
        places.into_iter().partition(is_certain);
    summary(&mut out, answer, &certain, &uncertain);
    let mut listing = Listing { terminal, left: if all { usize::MAX } else { MAX_PLACES }, cut: 0 };
    if answer.definitions.len() > 1 && answer.direction == ReferenceDirection::In {
        let max = if all { usize::MAX } else { MAX_DEFINITIONS };
        for (at, definition) in answer.definitions.iter().enumerate().take(max) {
            let own = |found: &&&ReferenceLocation| found.definition == Some(at);
            let own: Vec<&ReferenceLocation> = certain.iter().filter(own).copied().collect();
            let perhaps = uncertain.iter().filter(|found| found.definition == Some(at)).count();
            let heading = format!("{}: {}", definition.at, counted(&own, perhaps));
            let _ = writeln!(out, "\n== {}", listing.styled(Style::new().bold(), &single_line(&heading)));
            listing.write(&mut out, &own, "");
        }
        narrowing(&mut out, answer, max);
    } else {
        if !certain.is_empty() {
            out.push('\n');
        }
        listing.write(&mut out, &certain, "");
    }
    // Uncertain places are listed where there is nothing better.
    if !uncertain.is_empty() && (all || certain.is_empty()) {
        let _ = writeln!(out, "\nPerhaps (only types or a run can tell):");
        listing.write(&mut out, &uncertain, "  (perhaps)");
    } else if !uncertain.is_empty() {
        let files = count(files(&uncertain), "file");
        let _ = writeln!(
            out,
            "\nPerhaps {} in {files} (only types or a run can tell); `--all` lists them.",
            count(uncertain.len(), "more place")
        );
    }
    if listing.cut > 0 {
        let _ = writeln!(out, "\n… and {}; `--all` lists everything.", count(listing.cut, "more place"));
    }
    notes(&mut out, answer);
    out
}

/// Each line once, in the order of the answer.
fn each_line_once(found: &[ReferenceLocation]) -> Vec<&ReferenceLocation> {
    let mut sorted: Vec<&ReferenceLocation> = found.iter().collect();
    sorted.sort_by_key(|candidate| (candidate.certainty, candidate.kind));
    let mut known = BTreeSet::new();
    sorted.retain(|candidate| known.insert((&candidate.file, candidate.line, candidate.target.as_ref())));
    sorted.sort_by_key(|candidate| found.iter().position(|other| std::ptr::eq(other, *candidate)));
    sorted
}

fn summary(
    out: &mut String,
    answer: &ReferencesOutput,
    certain: &[&ReferenceLocation],
    uncertain: &[&ReferenceLocation],
) {
    let sought = single_line(&answer.sought);
    let number = counted(certain, uncertain.len());
    let nothing = certain.is_empty() && uncertain.is_empty();
    let _ = match answer.direction {
        _ if answer.undefined => {
            let formerly =
                answer.formerly.as_ref().map(|formerly| format!(" (it was, {formerly})")).unwrap_or_default();
            writeln!(
                out,
                "{sought} is not defined in this project{}; still used: {number}",
                single_line(&formerly)
            )
        }
        ReferenceDirection::Dangling if nothing && answer.truncated => {
            writeln!(out, "No reference to what no longer exists was found before the time limit.")
        }
        ReferenceDirection::Dangling if nothing && answer.revision.starts_with("none+") => {
            writeln!(
                out,
                "No link or import without a target was found. Removed files are not known without git commits."
            )
        }
        ReferenceDirection::Dangling if nothing => {
            writeln!(out, "No link, path or import refers to what no longer exists.")
        }
        ReferenceDirection::Out if nothing => writeln!(out, "{sought} references nothing in this tree."),
        ReferenceDirection::In if nothing && answer.truncated => {
            writeln!(out, "No references to {sought} found before the time limit.")
        }
        ReferenceDirection::In if nothing => writeln!(out, "Nothing references {sought}."),
        ReferenceDirection::In if answer.definitions.len() > 1 => {
            writeln!(out, "{sought} is defined {} times: {number}", answer.definitions.len())
        }
        _ => writeln!(out, "{sought}: {number}"),
    };
    if answer.truncated {
        let _ = write!(out, "Not everything was searched: the time limit was reached.\n{HINT_PARTIAL}");
    }
    if answer.definitions.len() == 1 || answer.direction == ReferenceDirection::Out {
        for at in &answer.defined {
            let _ = writeln!(out, "defined in {}", single_line(at));
        }
    }
}

/// `3 places in 2 files, perhaps 1 more`.
fn counted(certain: &[&ReferenceLocation], uncertain: usize) -> String {
    let number = format!("{} in {}", count(certain.len(), "place"), count(files(certain), "file"));
    match (certain.len(), uncertain) {
        (_, 0) => number,
        (0, n) => format!("perhaps {}", count(n, "place")),
        (_, n) => format!("{number}, perhaps {n} more"),
    }
}

fn files(found: &[&ReferenceLocation]) -> usize {
    found.iter().map(|found| &found.file).collect::<BTreeSet<_>>().len()
}

fn narrowing(out: &mut String, answer: &ReferencesOutput, max: usize) {
    if answer.definitions.len() > max {
        let more = count(answer.definitions.len() - max, "more definition");
        let _ = writeln!(out, "\n… and {more}; `--all` lists them.");
    }
    let names: Vec<String> = answer
        .definitions
        .iter()
        .take(3)
        .map(|definition| format!("`lockstep refs {}`", single_line(&definition.narrow)))
        .collect();
    let _ = writeln!(out, "\nTo ask about one of them: {}", names.join(", "));
}

fn notes(out: &mut String, answer: &ReferencesOutput) {
    if answer.inside > 0 {
        let places = count(answer.inside, "place");
        let _ = writeln!(out, "note: {places} inside the directory reference each other and are not listed");
    }
    if answer.unresolved > 0 {
        let _ = writeln!(out, "note: {} could not be resolved", count(answer.unresolved, "import"));
    }
    if !answer.limits.is_empty() {
        let limits = &answer.limits;
        let _ = writeln!(out, "note: limits of the search were reached, references may be missing: {limits}");
    }
    if answer.unseen_files > 0 {
        let _ = writeln!(out, "note: {} could not be looked into", count(answer.unseen_files, "file"));
    }
    if !answer.fresh {
        out.push_str("note: the index is not up to date: files changed since are not reflected\n");
    }
}

/// Writes places until the limit is reached.
struct Listing<'a> {
    terminal: Option<&'a Terminal>,
    left: usize,
    /// The number of omitted places.
    cut: usize,
}

impl Listing<'_> {
    fn styled(&self, style: Style, text: &str) -> String {
        self.terminal.map_or_else(|| text.to_owned(), |terminal| terminal.styled(style, text))
    }

    /// Writes `file:line:text` under a heading for each file and kind.
    fn write(&mut self, out: &mut String, found: &[&ReferenceLocation], doubt: &str) {
        let mut group: Option<(&String, Kind)> = None;
        for place in found {
            if self.left == 0 {
                self.cut += 1;
                continue;
            }
            self.left -= 1;
            let key = (&place.file, place.kind);
            if group.is_some_and(|(file, ..)| file != &place.file) {
                out.push('\n');
            }
            if group.replace(key) != Some(key) {
                let own = if place.same_file { ", same file" } else { "" };
                let heading = format!("{} ({}{own})", place.file, place.kind.word());
                let _ = writeln!(out, "{}", self.styled(Style::new().bold(), &single_line(&heading)));
            }
            let line = single_line(&format!("{}:{}:{}", place.file, place.line, place.text));
            let target =
                place.target.as_ref().map(|target| single_line(&format!("  → {target}"))).unwrap_or_default();
            let dim = Style::new().dimmed();
            let _ = writeln!(out, "{line}{}{}", self.styled(dim, &target), self.styled(dim, doubt));
        }
    }
}
