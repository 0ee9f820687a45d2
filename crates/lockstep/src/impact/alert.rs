//! The alert of an analysis: the changed files, their changes, and their dependents.

use std::collections::BTreeSet;
use std::path::Path;

use lockstep_model::alert::{
    Alert, AlertDependent, AlertFindings, BrokenInFile, ChangedFile, display_names, is_generic_name,
};
use lockstep_refs::definition_diff::{DefinitionChangeKind, SymbolChange};
use lockstep_refs::impact::{Dependent, FileChange, FileImpact};

use super::analysis::ImpactAnalysis;

/// The maximum number of definitions that are named for a changed file.
const MAX_SYMBOLS: usize = 3;

impl ImpactAnalysis {
    /// Returns the alert for the Lead, with only the dependents that the change breaks if `only_breaking`.
    pub(crate) fn alert(&self, only_breaking: bool) -> Alert {
        let root = Path::new(&self.root);
        let paths: Vec<_> = self.impact.files.iter().map(|file| root.join(&file.path)).collect();
        let names = display_names(&paths);
        let name = |path: &str| {
            let at = self.impact.files.iter().position(|file| file.path == path);
            at.map_or_else(|| path.to_owned(), |at| names[at].clone())
        };
        let ranked = self.report().ranked();
        let dependents =
            ranked.iter().filter(|entry| entry.breaks || !only_breaking).map(|entry| AlertDependent {
                dependent: entry.dependent.path.clone(),
                refs: entry.refs.iter().map(|path| name(path)).collect(),
                names: self.names_in(&entry.dependent.path),
                lines: self.lines_in(&entry.dependent.path),
                breaks: entry.breaks,
            });
        let broken = self.impact.files.iter().filter(|file| !file.broken_in_file.is_empty());
        let broken_in_file = broken.map(|file| BrokenInFile {
            file: name(&file.path),
            lines: file.broken_in_file.iter().map(|broken| broken.evidence.line).collect(),
            reason: file.broken_in_file.first().map(|broken| broken.reason.clone()).unwrap_or_default(),
        });
        let findings = AlertFindings {
            dependents: dependents.collect(),
            truncated: self.impact.truncated,
            broken_in_file: broken_in_file.collect(),
        };
        let files = self.impact.files.iter().zip(paths).map(|(file, path)| ChangedFile {
            path,
            note: note(file),
            has_dependents: !file.dependents.is_empty() || !file.broken_in_file.is_empty(),
            is_unanalysed: file.unanalysed,
        });
        Alert::analysed(files.collect(), findings)
    }

    /// The dependents of that path, one for each changed file that it references.
    fn entries<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a Dependent> {
        self.impact
            .dependents()
            .map(|(_, dependent)| dependent)
            .filter(move |candidate| candidate.path == path)
    }

    /// Returns the lines in which a dependent references the change; if some no longer fit, only those.
    fn lines_in(&self, path: &str) -> Vec<u32> {
        let lines = |only_breaking: bool| -> BTreeSet<u32> {
            let evidence = self.entries(path).flat_map(|dependent| &dependent.evidence);
            evidence.filter(|place| place.breaks || !only_breaking).map(|place| place.line).collect()
        };
        let broken = lines(true);
        if broken.is_empty() { lines(false) } else { broken }.into_iter().collect()
    }

    /// Returns the names by which a dependent references the change, strongest first.
    fn names_in(&self, path: &str) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for place in self.entries(path).flat_map(|dependent| &dependent.evidence) {
            if !place.pattern.is_empty() && !names.contains(&place.pattern) {
                names.push(place.pattern.clone());
            }
        }
        names
    }
}

/// Summarises the change of a file in a few words.
fn note(file: &FileImpact) -> Option<String> {
    match &file.change {
        FileChange::Renamed { from } => Some(format!("was {}", former_name(&file.path, from))),
        FileChange::Created => Some("new".to_owned()),
        FileChange::Deleted => Some("deleted".to_owned()),
        FileChange::Modified if file.whole_file => Some("former content unknown".to_owned()),
        FileChange::Modified => match file.unparsed {
            Some(line) => Some(unparsed_note(&file.symbols, line)),
            None => symbols(&file.symbols),
        },
    }
}

/// Names the changes that are certain in a file that does not parse at this line.
fn unparsed_note(changes: &[SymbolChange], line: u32) -> String {
    let is_known = |change: &&SymbolChange| change.what != DefinitionChangeKind::Unknown;
    let known: Vec<SymbolChange> = changes.iter().filter(is_known).cloned().collect();
    let known = symbols(&known).map_or_else(String::new, |text| format!("{text}; "));
    format!("{known}not analysed: line {line} does not parse")
}

/// Returns the part of the former path that differs from the present one.
fn former_name(path: &str, from: &str) -> String {
    let (now, was) = (Path::new(path), Path::new(from));
    let name = |path: Option<&Path>| {
        path.and_then(Path::file_name).map(|candidate| candidate.to_string_lossy().into_owned())
    };
    match (now.file_name() == was.file_name(), now.file_name().is_some_and(is_generic_name)) {
        (true, true) => name(was.parent()).unwrap_or_else(|| from.to_owned()),
        (true, false) => from.to_owned(),
        (false, _) => name(Some(was)).unwrap_or_else(|| from.to_owned()),
    }
}

/// Returns the changed definitions: renamed and removed ones first, and those with only a changed body if
/// there is no other.
fn symbols(changes: &[SymbolChange]) -> Option<String> {
    let mut named: Vec<(u8, String)> = changes.iter().map(symbol).collect();
    named.sort_by_key(|(weight, _)| *weight);
    let strongest = named.first()?.0;
    named.retain(|(weight, _)| *weight < INSIDE || strongest == INSIDE);
    let more = named.len().saturating_sub(MAX_SYMBOLS);
    let mut text: Vec<String> = named.into_iter().take(MAX_SYMBOLS).map(|(_, text)| text).collect();
    if more > 0 {
        text.push(format!("+{more}"));
    }
    Some(text.join(", "))
}

/// The weight of a definition with a changed body.
const INSIDE: u8 = 3;

fn symbol(change: &SymbolChange) -> (u8, String) {
    let name = match &change.was.container {
        Some(container) => format!("{container}.{}", change.was.name),
        None => change.was.name.to_string(),
    };
    match &change.what {
        DefinitionChangeKind::Renamed(to) => (0, format!("{name} → {to}")),
        DefinitionChangeKind::Removed => (1, format!("{name} removed")),
        DefinitionChangeKind::BodyChanged => (INSIDE, format!("{name} changed inside")),
        DefinitionChangeKind::Compatible => (INSIDE, format!("{name} changed, callers still fit")),
        DefinitionChangeKind::Unknown => (2, format!("{name} not analysed")),
        _ => (2, format!("{name}: other signature")),
    }
}
