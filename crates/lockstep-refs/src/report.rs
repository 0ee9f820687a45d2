//! The impact report (boundary B4): L1 for programs, L2 for people and models, and JSON with everything.
//! Rendering is deterministic.

mod json;
mod markdown;
mod yaml;

pub use json::Timings;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use lockstep_text::{count, count_of};
use serde::Serialize;

use crate::impact::{Dependent, Evidence, FileImpact, Hop, Impact};
use crate::language::Language;
use crate::reference::{Certainty, Kind};

/// The maximum length of a line of evidence, truncated around the name.
const MAX_EVIDENCE_CHARS: usize = 200;

/// The reliability of the answer, as far as the index knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexState {
    /// Set if every file was read in its present state.
    pub fresh: bool,
    /// The revision and generation of the index.
    pub revision: String,
    /// The time of the last update of the index.
    pub time: String,
    /// The number of files in scope that could not be read: binary, too large, unreadable.
    pub unseen: usize,
}

#[derive(Debug, Clone)]
pub struct Report<'a> {
    /// The project's root, absolute.
    pub root: &'a str,
    pub impact: &'a Impact,
    pub basis: &'a IndexState,
    /// Further notes for the reader.
    pub notes: &'a [String],
    /// Files that changed together with the changed ones, if requested: no dependents, but possibly relevant.
    pub history: &'a [CoChangedFile],
}

/// A file that tends to change when a changed one does (kind `history`).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CoChangedFile {
    pub changed_file: String,
    /// The other file.
    pub file: String,
    /// The number of commits in which both changed.
    pub commits: usize,
    /// The share of the changed file's commits, weighted by age: from 0 to 1.
    pub confidence: f64,
}

/// `status` of the L1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Everything was analysed.
    Complete,
    /// The deadline passed before.
    Partial,
    /// There was nothing to analyse.
    Skipped,
}

/// The recommended next action of the Lead (boundary B3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextAction {
    /// Inspect the dependents.
    Impact,
    Review,
    ContinueCascade,
}

impl NextAction {
    /// Returns the route after an analysis; `None` if no alert was received.
    pub fn route(report: Option<&Report<'_>>, active_cascade: bool) -> Self {
        match report {
            _ if active_cascade => Self::ContinueCascade,
            Some(report) if report.impact.truncated || report.has_findings() => Self::Impact,
            _ => Self::Review,
        }
    }

    /// Returns the value in the report.
    pub fn word(self) -> &'static str {
        match self {
            Self::Impact => "execution-impact",
            Self::Review => "execution-review",
            Self::ContinueCascade => "continue-cascade",
        }
    }
}

impl Report<'_> {
    /// Returns the completeness of the analysis.
    pub fn status(&self) -> Status {
        match self.impact {
            impact if impact.truncated => Status::Partial,
            impact if impact.files.is_empty() => Status::Skipped,
            _ => Status::Complete,
        }
    }

    fn status_word(&self) -> &'static str {
        match self.status() {
            Status::Complete => "complete",
            Status::Partial => "partial",
            Status::Skipped => "skipped",
        }
    }

    fn confidence(&self) -> &'static str {
        // In a language without rules, only words are searched.
        let text_only = |file: &FileImpact| {
            Language::of(&file.path) == Language::Text || file.problems > 0 || file.content_not_analysed
        };
        // Without the former content, users of a removed name are found only by their imports.
        let doubtful = |file: &FileImpact| text_only(file) || file.whole_file;
        let doubtful = self.impact.files.iter().any(doubtful);
        match (self.impact.truncated, self.basis.fresh && !doubtful) {
            (true, _) => "low",
            (false, true) => "high",
            (false, false) => "medium",
        }
    }

    fn degradation(&self) -> &'static str {
        if self.basis.fresh { "full" } else { "degraded" }
    }

    /// Returns true if a file depends on the change, or a changed file is broken itself.
    fn has_findings(&self) -> bool {
        !self.impact.candidates().is_empty() || self.impact.broken_in_files().next().is_some()
    }

    fn direct(&self) -> usize {
        self.impact.dependents().filter(|(_, dependent)| dependent.hop == Hop::Direct).count()
    }

    /// Returns true if the dependents should be updated now.
    pub fn cascade_recommended(&self) -> bool {
        match self.status() {
            Status::Partial => true,
            Status::Skipped => false,
            Status::Complete => self.direct() > 0 || self.impact.broken_in_files().next().is_some(),
        }
    }

    fn rationale(&self) -> String {
        let broken = self.impact.broken_in_files().count();
        if broken == 0 || self.status() != Status::Complete {
            return self.rationale_of_dependents();
        }
        let own = count_of(broken, "reference", "references");
        let verb = if broken == 1 { "is" } else { "are" };
        let own = format!("{own} in the changed files themselves {verb} broken.");
        match self.impact.candidates().len() {
            0 => own,
            _ => format!("{} {own}", self.rationale_of_dependents()),
        }
    }

    fn rationale_of_dependents(&self) -> String {
        let candidates = self.impact.candidates().len();
        let direct: BTreeSet<&str> = self
            .impact
            .dependents()
            .filter(|(_, dependent)| dependent.hop == Hop::Direct && !dependent.is_undecided())
            .map(|(_, dependent)| &*dependent.path)
            .collect();
        let undecided = self.impact.dependents().filter(|(_, dependent)| dependent.is_undecided()).count();
        let breaking: BTreeSet<&str> = self
            .impact
            .dependents()
            .filter(|(_, dependent)| dependent.breaks)
            .map(|(_, dependent)| &*dependent.path)
            .collect();
        match self.status() {
            Status::Skipped => "No file changed: there is nothing to cascade from.".to_owned(),
            Status::Partial => format!(
                "The time was over before everything was analysed: {} found so far, more are likely.",
                count(candidates, "dependent")
            ),
            Status::Complete if candidates == 0 => "No file depends on what changed.".to_owned(),
            Status::Complete if direct.is_empty() && undecided > 0 => format!(
                "{} what changed: only types would tell.",
                count_of(undecided, "file may reference", "files may reference")
            ),
            Status::Complete if direct.is_empty() => {
                format!(
                    "Only transitive dependents ({candidates}): for information, nothing to update directly."
                )
            }
            Status::Complete if breaking.is_empty() => {
                let sure =
                    self.impact.dependents().all(|(_, dependent)| dependent.certainty == Certainty::Resolved);
                format!(
                    "{} what changed; nothing is {} by it.",
                    count_of(direct.len(), "file references", "files reference"),
                    if sure { "broken" } else { "known to be broken" }
                )
            }
            Status::Complete => format!(
                "{} what changed; {} it.",
                count_of(direct.len(), "file references", "files reference"),
                count_of(breaking.len(), "no longer fits", "no longer fit")
            ),
        }
    }

    /// Returns all notes besides the dependents.
    fn all_notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for file in self.impact.files.iter().filter(|file| file.unanalysed) {
            notes.push(format!(
                "{}: not analysed, the time was over; its dependents are not known.",
                file.path
            ));
        }
        for file in self.impact.files.iter().filter(|file| file.whole_file && !file.unanalysed) {
            let why = match file.problems {
                0 => "its former content is unknown",
                _ => "what changed in it could not be read",
            };
            notes.push(format!("{}: {why}, so everything in it counts as changed.", file.path));
        }
        notes.extend(self.general_notes());
        notes
    }

    /// Returns the notes about the complete answer.
    pub fn general_notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.impact.truncated {
            notes.push("Analysis truncated: the time limit was reached.".to_owned());
        }
        if !self.basis.fresh {
            notes.push("The index is not up to date: files changed since are not reflected.".to_owned());
        }
        if self.basis.unseen > 0 {
            notes.push(format!(
                "{} could not be read (binary, too large or unreadable); `lockstep impact -v` names them.",
                count(self.basis.unseen, "file")
            ));
        }
        if self.impact.unresolved > 0 {
            notes.push(format!(
                "{} in the files looked at could not be resolved.",
                count(self.impact.unresolved, "import")
            ));
        }
        if !self.impact.limits.is_empty() {
            notes.push(format!(
                "Limits of the search were reached, so dependents may be missing: {}.",
                self.impact.limits
            ));
        }
        for file in self.impact.files.iter().filter(|file| file.content_not_analysed) {
            notes.push(format!(
                "The content of {} is not analysed: dependents of the names, scripts and settings in it are not known.",
                file.path
            ));
        }
        for file in &self.impact.files {
            if let Some(line) = file.unparsed {
                notes.push(format!(
                    "not analysed: {}:{line} does not parse; nothing is known about the definitions there.",
                    file.path
                ));
            }
        }
        for file in self.impact.files.iter().filter(|file| file.problems > 0 && file.unparsed.is_none()) {
            notes.push(format!(
                "{}: {} in it could not be parsed; who depends on what stands there is not known.",
                file.path,
                count(file.problems as usize, "place")
            ));
        }
        let undecided = |dependent: &Dependent| {
            !matches!(dependent.certainty, Certainty::Resolved | Certainty::Conditional)
                && matches!(dependent.kind, Kind::Import | Kind::Symbol)
        };
        let conditional = |dependent: &Dependent| dependent.certainty == Certainty::Conditional;
        let left_out = self.impact.dependents().filter(|(_, dependent)| conditional(dependent)).count();
        if left_out > 0 {
            notes.push(format!(
                "{} what changed only under conditions that no ordinary build of its package meets.",
                count_of(left_out, "dependent uses", "dependents use")
            ));
        }
        let possible = self.impact.dependents().filter(|(_, dependent)| undecided(dependent)).count();
        if possible > 0 {
            notes.push(format!(
                "{} included that cannot be decided without types.",
                count_of(possible, "dependent is", "dependents are")
            ));
        }
        let more: usize = self.impact.files.iter().map(|file| file.undecided).sum();
        if more > 0 {
            notes.push(format!(
                "{} a member of a changed one's name on values of unknown type: too many types have one to say \
                 more, and they are not listed.",
                count_of(more, "more file uses", "more files use")
            ));
        }
        notes.extend(self.notes.iter().cloned());
        notes.extend(self.history.iter().map(|together| {
            format!(
                "History: {} changed together with {} in {} ({:.0} %).",
                together.file,
                together.changed_file,
                count(together.commits, "commit"),
                together.confidence * 100.0
            )
        }));
        notes
    }
}

/// Formats evidence as `file:line:text`, with the line as in the file, truncated around the name if it is
/// long.
fn evidence_line(path: &str, evidence: &Evidence) -> String {
    format!("{path}:{}:{}", evidence.line, cut_around(&evidence.text, &evidence.pattern))
}

/// At most [`MAX_EVIDENCE_CHARS`] characters of `text`, with `pattern` among them.
fn cut_around<'t>(text: &'t str, pattern: &str) -> Cow<'t, str> {
    if text.len() <= MAX_EVIDENCE_CHARS || text.chars().count() <= MAX_EVIDENCE_CHARS {
        return Cow::Borrowed(text);
    }
    let at = text.find(pattern).map_or(0, |at| text[..at].chars().count());
    let start = at.saturating_sub(MAX_EVIDENCE_CHARS / 2);
    Cow::Owned(text.chars().skip(start).take(MAX_EVIDENCE_CHARS).collect())
}

/// The absolute path of a file of the project.
fn absolute(root: &str, path: &str) -> String {
    format!("{}/{path}", root.trim_end_matches('/'))
}

/// A dependent of the complete change, with all changed files that it depends on.
#[derive(Debug, Clone)]
pub struct RankedDependent<'a> {
    /// The strongest entry.
    pub dependent: &'a Dependent,
    /// Set if any of the changes breaks it.
    pub breaks: bool,
    /// The changed files it depends on.
    pub refs: Vec<&'a str>,
}

impl<'a> Report<'a> {
    /// Every dependent once, the most affected first.
    pub fn ranked(&self) -> Vec<RankedDependent<'a>> {
        let mut entries: Vec<RankedDependent<'a>> = Vec::new();
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        let impact: &'a Impact = self.impact;
        for (file, dependent) in impact.dependents() {
            match known.get(&*dependent.path) {
                Some(at) => {
                    let entry = &mut entries[*at];
                    entry.breaks |= dependent.breaks;
                    entry.refs.push(&file.path);
                    if dependent.strength() < entry.dependent.strength() {
                        entry.dependent = dependent;
                    }
                }
                None => {
                    known.insert(&dependent.path, entries.len());
                    entries.push(RankedDependent {
                        dependent,
                        breaks: dependent.breaks,
                        refs: vec![&file.path],
                    });
                }
            }
        }
        entries.sort_by(|a, b| {
            (a.dependent.strength(), &a.dependent.path).cmp(&(b.dependent.strength(), &b.dependent.path))
        });
        entries
    }
}
