//! The affected files of a change, each once, ordered by how much the change affects them.

use std::collections::BTreeMap;

use lockstep_refs::definition_diff::{DefinitionChangeKind, SymbolChange};
use lockstep_refs::impact::{BrokenReference, Dependent, Evidence, FileChange, FileImpact, Hop, Impact};
use lockstep_refs::reference::{Certainty, Kind};
use lockstep_text::count_of;

use super::changed::describe;

/// The severity of a place, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::impact) enum Severity {
    Breaks,
    MayBreak,
    Uses,
    MayUse,
    Mentions,
    Behind,
}

/// The part of a section that is listed without `--all`.
pub(super) struct Limits {
    pub(super) files: usize,
    pub(super) places: usize,
}

impl Severity {
    pub(super) const ALL: [Self; 6] =
        [Self::Breaks, Self::MayBreak, Self::Uses, Self::MayUse, Self::Mentions, Self::Behind];

    fn of(dependent: &Dependent, place: &Evidence) -> Self {
        match (&dependent.hop, place.breaks, place.certainty) {
            (Hop::Transitive { .. }, ..) => Self::Behind,
            (_, true, Certainty::Resolved) => Self::Breaks,
            (_, true, _) => Self::MayBreak,
            (_, false, _) if place.kind == Kind::Mention => Self::Mentions,
            (_, false, Certainty::Resolved | Certainty::Conditional) => Self::Uses,
            (_, false, _) => Self::MayUse,
        }
    }

    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Breaks => "breaks",
            Self::MayBreak => "breaks?",
            Self::Uses => "uses",
            Self::MayUse => "uses?",
            Self::Mentions => "mentions",
            Self::Behind => "behind",
        }
    }

    /// Explains the label for a number of files.
    pub(super) fn explanation(self, files: usize) -> String {
        let (one, many) = match self {
            Self::Breaks => ("file no longer fits the change", "files no longer fit the change"),
            Self::MayBreak => (
                "file may no longer fit; only types or a run can tell",
                "files may no longer fit; only types or a run can tell",
            ),
            Self::Uses => ("file uses what changed and still fits", "files use what changed and still fit"),
            Self::MayUse => (
                "file may use what changed; only types or a run can tell",
                "files may use what changed; only types or a run can tell",
            ),
            Self::Mentions => (
                "file names it in prose, a comment or a string",
                "files name it in prose, comments or strings",
            ),
            Self::Behind => (
                "file depends on one of these, not on the change",
                "files depend on these, not on the change",
            ),
        };
        count_of(files, one, many)
    }

    /// Every certain break is listed, whatever their number.
    pub(super) fn limits(self) -> Limits {
        let (files, places) = match self {
            Self::Breaks => (usize::MAX, usize::MAX),
            Self::MayBreak => (20, 3),
            Self::Uses => (10, 1),
            Self::MayUse | Self::Mentions => (5, 1),
            Self::Behind => (3, 1),
        };
        Limits { files, places }
    }
}

/// A line of an affected file.
pub(in crate::impact) struct AffectedPlace<'a> {
    pub(in crate::impact) severity: Severity,
    pub(in crate::impact) line: u32,
    pub(in crate::impact) text: &'a str,
    /// The name in the line.
    pub(in crate::impact) pattern: &'a str,
    pub(in crate::impact) changed: &'a str,
    /// The reason why the line breaks, or the file through which it is affected.
    pub(in crate::impact) reason: Option<String>,
}

pub(in crate::impact) struct AffectedFile<'a> {
    pub(in crate::impact) path: &'a str,
    /// The severity of its worst place.
    pub(super) severity: Severity,
    /// Each line once, the worst first.
    places: Vec<AffectedPlace<'a>>,
}

impl<'a> AffectedFile<'a> {
    /// The places that have the file's severity, or all places.
    pub(in crate::impact) fn places(&self, all: bool) -> impl Iterator<Item = &AffectedPlace<'a>> {
        self.places.iter().filter(move |place| all || place.severity == self.severity)
    }
}

/// Returns every affected file once, the worst first, then in the order of the report.
pub(in crate::impact) fn affected_files(impact: &Impact) -> Vec<AffectedFile<'_>> {
    let mut by_path: BTreeMap<&str, Vec<AffectedPlace<'_>>> = BTreeMap::new();
    for (file, dependent) in impact.dependents() {
        let places = dependent.evidence.iter().map(|place| affected_place(file, dependent, place));
        by_path.entry(&dependent.path).or_default().extend(places);
    }
    for (file, broken) in impact.broken_in_files() {
        by_path.entry(&file.path).or_default().push(broken_in_file(file, broken));
    }
    let mut files: Vec<AffectedFile<'_>> =
        by_path.into_iter().filter_map(|(path, places)| file(path, places)).collect();
    files.sort_by_key(|file| (file.severity, std::cmp::Reverse(file.places.len()), file.path));
    files
}

fn file<'a>(path: &'a str, mut places: Vec<AffectedPlace<'a>>) -> Option<AffectedFile<'a>> {
    places.sort_by_key(|place| (place.line, place.severity));
    places.dedup_by_key(|place| place.line);
    let severity = places.iter().map(|place| place.severity).min()?;
    Some(AffectedFile { path, severity, places })
}

fn affected_place<'a>(file: &'a FileImpact, dependent: &Dependent, place: &'a Evidence) -> AffectedPlace<'a> {
    let severity = Severity::of(dependent, place);
    let reason = match (severity, &dependent.hop) {
        (Severity::Breaks | Severity::MayBreak, _) => Some(reason(file, place)),
        (_, Hop::Transitive { via }) => Some(format!("via {via}")),
        _ => None,
    };
    let Evidence { line, text, pattern, .. } = place;
    AffectedPlace { severity, line: *line, text, pattern, changed: &file.path, reason }
}

fn broken_in_file<'a>(file: &'a FileImpact, broken: &'a BrokenReference) -> AffectedPlace<'a> {
    let Evidence { line, text, certainty, pattern, .. } = &broken.evidence;
    let severity = if *certainty == Certainty::Resolved { Severity::Breaks } else { Severity::MayBreak };
    AffectedPlace {
        severity,
        line: *line,
        text,
        pattern,
        changed: &file.path,
        reason: Some(format!("in the same file: {}", broken.reason)),
    }
}

/// Returns true if a place can break because of a change.
fn is_noticed(change: &SymbolChange) -> bool {
    !matches!(
        change.what,
        DefinitionChangeKind::BodyChanged | DefinitionChangeKind::Compatible | DefinitionChangeKind::Unknown
    )
}

/// Describes the change of the definition or the file that a broken place references.
fn reason(file: &FileImpact, place: &Evidence) -> String {
    let names = |change: &&SymbolChange| {
        let last = place.pattern.rsplit(['.', ':', '#', '/']).next();
        is_noticed(change) && (*change.was.name == *place.pattern || last == Some(&*change.was.name))
    };
    let mut breaking = file.symbols.iter().filter(|change| is_noticed(change));
    if !matches!(file.change, FileChange::Renamed { .. } | FileChange::Deleted)
        && let Some(change) = file.symbols.iter().find(names)
    {
        return describe(change);
    }
    match &file.change {
        FileChange::Deleted => format!("{} was deleted", file.path),
        FileChange::Renamed { from } => format!("{from} is now {}", file.path),
        _ => match (breaking.next(), breaking.next()) {
            (Some(change), None) => describe(change),
            _ => format!("no longer fits {}", file.path),
        },
    }
}
