//! JSON: L1 and everything it leaves out.

use serde::Serialize;

use super::{CoChangedFile, NextAction, Report, absolute, evidence_line};
use crate::impact::{Dependent, Evidence, FileChange, FileImpact, Hop};
use crate::limits::Limits;
use crate::reference::{Certainty, Kind};
use crate::work::Work;

/// Durations of the parts of an answer, in milliseconds. Only they differ from run to run. They overlap: the
/// disk is checked while the dependents are found.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Timings {
    /// Until the index could be queried.
    pub index: f64,
    /// Until the changes were known.
    pub changes: f64,
    /// Finding the dependents.
    pub impact: f64,
    /// Until all work was done, and the disk was known to match the index.
    pub total: f64,
}

#[derive(Serialize)]
pub(super) struct Document<'a> {
    domain: &'static str,
    skill: &'static str,
    /// The directory that relative paths in the document start from.
    root: &'a str,
    status: &'static str,
    confidence: &'static str,
    files_changed: usize,
    impact_candidates: usize,
    degradation_level: &'static str,
    impacts: Vec<File<'a>>,
    cascade_recommended: bool,
    cascade_rationale: String,
    unresolved_references: usize,
    /// The number of times each limit of the search was reached: dependents may be missing.
    #[serde(skip_serializing_if = "Limits::is_empty")]
    limits: &'a Limits,
    index: Index<'a>,
    ranked: Vec<JsonRanked<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    history: Vec<History<'a>>,
    notes: Vec<String>,
    next: &'static str,
    timings_ms: Timings,
    work: Work,
}

#[derive(Serialize)]
struct Index<'a> {
    fresh: bool,
    revision: &'a str,
    time: &'a str,
    unseen_files: usize,
}

#[derive(Serialize)]
struct File<'a> {
    changed_file: String,
    change: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    renamed_from: Option<&'a str>,
    whole_file: bool,
    /// Only present if false: then its dependents are unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    analysed: Option<bool>,
    /// The first line that no longer parses: the definitions there are unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    unparsed_line: Option<u32>,
    /// Only present if true.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    only_comments: bool,
    /// Only present if false: a manifest, whose names, scripts and settings are not analysed.
    #[serde(skip_serializing_if = "Option::is_none")]
    content_analysed: Option<bool>,
    symbols: Vec<Symbol<'a>>,
    dependents: Vec<Listed<'a>>,
    dependent_count: usize,
    /// References in the file itself that the edit broke.
    broken_in_file: Vec<Broken<'a>>,
}

#[derive(Serialize)]
struct Broken<'a> {
    #[serde(flatten)]
    place: Placed<'a>,
    evidence: String,
    reason: &'a str,
}

#[derive(Serialize)]
struct Symbol<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    container: Option<&'a str>,
    change: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    renamed_to: Option<&'a str>,
}

#[derive(Serialize)]
struct Listed<'a> {
    file: String,
    r#type: &'static str,
    hop_count: u8,
    reference_pattern: &'a str,
    evidence: String,
    kind: Kind,
    breaks: bool,
    certainty: Certainty,
    #[serde(skip_serializing_if = "Option::is_none")]
    via: Option<String>,
    places: Vec<Placed<'a>>,
}

#[derive(Serialize)]
struct Placed<'a> {
    line: u32,
    text: &'a str,
    kind: Kind,
    breaks: bool,
    certainty: Certainty,
    pattern: &'a str,
}

/// A dependent of the complete change: the files it depends on, the most affected first.
#[derive(Serialize)]
struct JsonRanked<'a> {
    file: &'a str,
    r#type: &'static str,
    kind: Kind,
    breaks: bool,
    refs: Vec<&'a str>,
}

/// A file that tends to change when a changed one does.
#[derive(Serialize)]
struct History<'a> {
    kind: &'static str,
    #[serde(flatten)]
    together: &'a CoChangedFile,
}

impl Report<'_> {
    /// Renders the complete report as JSON.
    pub fn json(&self, active_cascade: bool, timings: Timings) -> String {
        let document = Document {
            domain: "execution",
            skill: "impact",
            root: self.root,
            status: self.status_word(),
            confidence: self.confidence(),
            files_changed: self.impact.files.len(),
            impact_candidates: self.impact.candidates().len(),
            degradation_level: self.degradation(),
            impacts: self.impact.files.iter().map(|file| self.file(file)).collect(),
            cascade_recommended: self.cascade_recommended(),
            cascade_rationale: self.rationale(),
            unresolved_references: self.impact.unresolved,
            limits: &self.impact.limits,
            index: Index {
                fresh: self.basis.fresh,
                revision: &self.basis.revision,
                time: &self.basis.time,
                unseen_files: self.basis.unseen,
            },
            ranked: self.ranked().iter().map(ranked).collect(),
            history: self.history.iter().map(|together| History { kind: "history", together }).collect(),
            notes: self.all_notes(),
            next: NextAction::route(Some(self), active_cascade).word(),
            timings_ms: timings,
            work: self.impact.work,
        };
        serde_json::to_string_pretty(&document).expect("maps with text keys, lists and scalars") + "\n"
    }

    fn file<'a>(&'a self, file: &'a FileImpact) -> File<'a> {
        File {
            changed_file: absolute(self.root, &file.path),
            change: file.change.word(),
            renamed_from: match &file.change {
                FileChange::Renamed { from } => Some(from),
                _ => None,
            },
            whole_file: file.whole_file,
            analysed: file.unanalysed.then_some(false),
            unparsed_line: file.unparsed,
            only_comments: file.only_comments,
            content_analysed: file.content_not_analysed.then_some(false),
            symbols: file
                .symbols
                .iter()
                .map(|change| Symbol {
                    name: &change.was.name,
                    container: change.was.container.as_deref(),
                    change: change.what.word(),
                    renamed_to: change.what.new_name(),
                })
                .collect(),
            dependents: file.dependents.iter().map(|dependent| self.listed(dependent)).collect(),
            dependent_count: file.dependents.len(),
            broken_in_file: file
                .broken_in_file
                .iter()
                .map(|broken| Broken {
                    place: placed(&broken.evidence),
                    evidence: evidence_line(&file.path, &broken.evidence),
                    reason: &broken.reason,
                })
                .collect(),
        }
    }

    fn listed<'a>(&self, dependent: &'a Dependent) -> Listed<'a> {
        let evidence = dependent.evidence.first().map(|line| evidence_line(&dependent.path, line));
        Listed {
            file: absolute(self.root, &dependent.path),
            r#type: dependent.hop.word(),
            hop_count: dependent.hop.count(),
            reference_pattern: &dependent.pattern,
            evidence: evidence.unwrap_or_default(),
            kind: dependent.kind,
            breaks: dependent.breaks,
            certainty: dependent.certainty,
            via: match &dependent.hop {
                Hop::Direct => None,
                Hop::Transitive { via } => Some(absolute(self.root, via)),
            },
            places: dependent.evidence.iter().map(placed).collect(),
        }
    }
}

fn placed(place: &Evidence) -> Placed<'_> {
    Placed {
        line: place.line,
        text: &place.text,
        kind: place.kind,
        breaks: place.breaks,
        certainty: place.certainty,
        pattern: &place.pattern,
    }
}

fn ranked<'a>(entry: &super::RankedDependent<'a>) -> JsonRanked<'a> {
    JsonRanked {
        file: &entry.dependent.path,
        r#type: entry.dependent.hop.word(),
        kind: entry.dependent.kind,
        breaks: entry.breaks,
        refs: entry.refs.clone(),
    }
}
