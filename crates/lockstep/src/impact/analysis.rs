//! An analysis: edits and a world become an impact with everything a report says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lockstep_index::index::Index;
use lockstep_model::alert::{Alert, Finding, Findings, display_names};
use lockstep_refs::entity::Aliases;
use lockstep_refs::impact::{Edit, Impact, Question, impact};
use lockstep_refs::report::{Basis, Report, Timings};

use super::index::basis;

/// What was found, with what it was found by.
pub(crate) struct Analysis {
    pub(crate) root: String,
    pub(crate) impact: Impact,
    pub(crate) basis: Basis,
    pub(crate) notes: Vec<String>,
    pub(crate) timings: Timings,
}

impl Analysis {
    /// Finds who depends on what the edits changed, for at most `limit`.
    pub(crate) fn of(root: &Path, index: &Index, edits: &[Edit], limit: Duration) -> Self {
        let started = Instant::now();
        let is_over = || started.elapsed() > limit;
        let impact = impact(index, &Question { edits, aliases: &Aliases::default(), is_over: &is_over });
        Self {
            root: root.to_string_lossy().into_owned(),
            impact,
            basis: basis(index),
            notes: Vec::new(),
            timings: Timings { impact: milliseconds(started), ..Timings::default() },
        }
    }

    /// The part of it that is about these files.
    pub(crate) fn of_files(&self, files: &[PathBuf]) -> Self {
        let root = Path::new(&self.root);
        let mut impact = self.impact.clone();
        impact.files.retain(|file| files.contains(&root.join(&file.path)));
        Self {
            root: self.root.clone(),
            impact,
            basis: self.basis.clone(),
            notes: self.notes.clone(),
            timings: Timings::default(),
        }
    }

    /// The report.
    pub(crate) fn report(&self) -> Report<'_> {
        Report { root: &self.root, impact: &self.impact, basis: &self.basis, notes: &self.notes }
    }

    /// Leaves out who followed already: a dependent that still fits, and was changed after what it depends on. `changes` tells when
    /// each file was last changed.
    pub(crate) fn drop_followers(&mut self, changes: &BTreeMap<PathBuf, i64>) {
        let root = Path::new(&self.root);
        let last = |path: &str| changes.get(&root.join(path)).copied().unwrap_or(0);
        for file in &mut self.impact.files {
            let changed = last(&file.path);
            file.dependents.retain(|dependent| dependent.breaks || last(&dependent.path) <= changed);
        }
    }

    /// The alert for the Lead. Only dependents that the change breaks, where only they are worth it.
    pub(crate) fn alert(&self, only_breaking: bool) -> Alert {
        let root = Path::new(&self.root);
        let changed: Vec<_> = self.impact.files.iter().map(|file| root.join(&file.path)).collect();
        let names = display_names(&changed);
        let name = |path: &str| {
            let at = self.impact.files.iter().position(|file| file.path == path);
            at.map_or_else(|| path.to_owned(), |at| names[at].clone())
        };
        let ranked = self.report().ranked();
        let dependents = ranked
            .iter()
            .filter(|entry| entry.breaks || !only_breaking)
            .map(|entry| Finding {
                dependent: entry.dependent.path.clone(),
                refs: entry.refs.iter().map(|path| name(path)).collect(),
            })
            .collect();
        Alert::analysed(&changed, Findings { dependents, truncated: self.impact.truncated })
    }
}

/// How long ago something started.
pub(crate) fn milliseconds(started: Instant) -> f64 {
    started.elapsed().as_secs_f64() * 1000.0
}
