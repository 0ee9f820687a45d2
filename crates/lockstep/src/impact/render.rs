//! The impact report for people: a summary, then every break, then everything else by how much it matters.

mod changed;
mod layout;
pub(super) mod severity;

use std::fmt::Write as _;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use lockstep_refs::impact::Impact;
use lockstep_text::{count, count_of};

use super::analysis::ImpactAnalysis;
use crate::terminal::Terminal;
use layout::{Columns, Row};
use severity::{AffectedFile, Severity, affected_files};

/// The hint for an incomplete answer.
pub(crate) const HINT_PARTIAL: &str = "hint: `lockstep index` builds the index once, and the next run is fast. \
                                       `--time-limit SECONDS` waits longer.\n";

/// An answer and the options of its rendering.
pub(crate) struct ImpactView<'a> {
    pub(crate) analysis: &'a ImpactAnalysis,
    /// The source of the changes with its preposition: `in the working tree`, `since v1.0`.
    pub(crate) origin: &'a str,
    /// The time limit of the command.
    pub(crate) limit: Duration,
    /// True if every file and every place is listed.
    pub(crate) all: bool,
}

impl ImpactView<'_> {
    /// Renders the summary, the affected files and the changed files.
    pub(crate) fn render(&self, terminal: &Terminal) -> String {
        let files = affected_files(&self.analysis.impact);
        let mut out = self.headline(&files) + "\n";
        let mut is_cut = false;
        for severity in Severity::ALL {
            let section: Vec<&AffectedFile<'_>> =
                files.iter().filter(|file| file.severity == severity).collect();
            if !section.is_empty() {
                is_cut |= self.section(&mut out, severity, &section, terminal);
            }
        }
        is_cut |= changed::render(&mut out, &self.analysis.impact, self.all, terminal);
        if self.analysis.impact.truncated {
            let _ = write!(out, "\n{HINT_PARTIAL}");
        }
        if is_cut {
            out.push_str("\n`--all` lists everything.\n");
        }
        out
    }

    fn headline(&self, files: &[AffectedFile<'_>]) -> String {
        let ImpactAnalysis { impact, dismissed, .. } = self.analysis;
        let changed = format!("{} changed {}", count(impact.files.len(), "file"), self.origin);
        let found = summary(impact, files, dismissed.len());
        match impact.truncated {
            true => {
                let limit = self.limit.as_secs_f64();
                format!("{changed}; not everything was analysed (time limit {limit} s): {found} so far")
            }
            false => format!("{changed}; {found}"),
        }
    }

    /// Writes one section. Returns whether something was left out.
    fn section(
        &self,
        out: &mut String,
        severity: Severity,
        files: &[&AffectedFile<'_>],
        terminal: &Terminal,
    ) -> bool {
        let _ = writeln!(out, "\n{}", heading(severity, files.len(), terminal));
        let limits = severity.limits();
        let (max_files, max_places) =
            if self.all { (usize::MAX, usize::MAX) } else { (limits.files, limits.places) };
        let columns = Columns::of(terminal);
        let is_cut = files.len() > max_files;
        for file in files.iter().take(max_files) {
            let places: Vec<_> = file.places(self.all).collect();
            for (at, place) in places.iter().take(max_places).enumerate() {
                let is_last = at + 1 == max_places && places.len() > max_places;
                let more = if is_last { places.len() - max_places } else { 0 };
                let row = Row {
                    path: file.path,
                    line: place.line,
                    reason: place.reason.as_deref(),
                    text: place.text,
                    more,
                };
                let _ = writeln!(out, "  {}", row.render(&columns, terminal));
            }
        }
        if is_cut {
            let _ = writeln!(out, "  … and {}", count(files.len() - max_files, "more file"));
        }
        is_cut
    }
}

fn heading(severity: Severity, files: usize, terminal: &Terminal) -> String {
    let style = match severity {
        Severity::Breaks | Severity::MayBreak => Style::new().bold().fg_color(Some(AnsiColor::Red.into())),
        _ => Style::new().bold(),
    };
    let label = terminal.styled(style, severity.label());
    format!("{label}: {}", severity.explanation(files))
}

/// Returns true if a place certainly no longer fits the change.
pub(crate) fn has_breaks(impact: &Impact) -> bool {
    affected_files(impact).iter().any(|file| file.severity == Severity::Breaks)
}

/// Counts the affected files by how much they are affected.
fn summary(impact: &Impact, files: &[AffectedFile<'_>], dismissed: usize) -> String {
    let number = |severity: Severity| files.iter().filter(|file| file.severity == severity).count();
    let (breaking, undecided) = (number(Severity::Breaks), number(Severity::MayBreak));
    let rest = files.len() - breaking - undecided;
    let mut parts = Vec::new();
    if breaking > 0 {
        parts.push(count_of(breaking, "file breaks", "files break"));
    }
    match (undecided, parts.is_empty()) {
        (0, _) => {}
        (n, true) => parts.push(count(n, "file") + " may break"),
        (n, false) => parts.push(format!("{n} may break")),
    }
    match (rest, parts.is_empty()) {
        (0, _) => {}
        (n, true) => parts.push(format!(
            "{} on what changed, none is known to break",
            count_of(n, "file depends", "files depend")
        )),
        (n, false) => parts.push(count_of(n, "more depends on it", "more depend on it")),
    }
    match (dismissed, parts.is_empty()) {
        (0, _) => {}
        (n, true) => parts.push(count_of(n, "dependent, dismissed", "dependents, all dismissed")),
        (n, false) => parts.push(format!("{n} dismissed")),
    }
    if !parts.is_empty() {
        return parts.join(", ");
    }
    // The dependents of content that could not be read are unknown.
    let is_unknown = |file: &lockstep_refs::impact::FileImpact| {
        file.problems > 0 || file.unanalysed || file.content_not_analysed
    };
    match impact.truncated || impact.files.iter().any(is_unknown) {
        true => "no dependents found".to_owned(),
        false if impact.files.iter().all(|file| file.only_comments) => "only comments changed".to_owned(),
        false => "nothing depends on what changed".to_owned(),
    }
}
