//! An analysis: computes an impact, with everything that a report contains, from edits and a world.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lockstep_git::{GitError, Repository};
use lockstep_index::index::Index;
use lockstep_refs::entity::Aliases;
use lockstep_refs::impact::{After, Dependent, Edit, FileImpact, Impact, Question, broken_importers, impact};
use lockstep_refs::reference::Certainty;
use lockstep_refs::report::{CoChangedFile, IndexState, Report, Timings};
use lockstep_refs::world::World as _;

use lockstep_store::{Store, StoreError};
use lockstep_text::{count_of, decode};

use super::links::LinkEdits;
use super::query::shown_path;
use super::unread_mentions;
use crate::workspace::index::index_basis;

/// Fewer common commits are chance.
const MIN_TOGETHER: usize = 3;

/// Rarer company is no sign.
const MIN_CONFIDENCE: f64 = 0.25;

/// The maximum number that is shown for one file.
const MAX_TOGETHER: usize = 5;

/// The most of a changed file that is read where the index does not have it.
const MAX_TEXT_BYTES: u64 = 16 << 20;

/// Returns the edit with the content on disk, if the index does not contain the file because it is ignored or
/// too long.
fn with_disk_content(root: &Path, index: &Index, edit: &Edit) -> Edit {
    let mut edit = edit.clone();
    let known = index.find(&edit.path).is_some_and(|file| index.text(file).is_some());
    if edit.after == After::Present
        && !known
        && let Some(text) = plain_text(&root.join(&edit.path))
    {
        edit.after = After::Text(text.into());
    }
    edit
}

pub(super) fn plain_text(path: &Path) -> Option<String> {
    let file = lockstep_fs::no_follow().read(true).open(path).ok()?;
    let meta = file.metadata().ok()?;
    if !meta.is_file() || meta.len() > MAX_TEXT_BYTES {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MAX_TEXT_BYTES).read_to_end(&mut bytes).ok()?;
    decode(&bytes).map(Cow::into_owned)
}

/// Names the files that the answer needed and that could not be parsed, or not everywhere, so that their references are unknown,
/// and those that were only `searched`.
fn notes(index: &Index, searched: &[String]) -> Vec<String> {
    let unparsable = note_files(
        &index.unparsable_files(),
        "file could not be read, because it exceeds the limits of the parser",
        "files could not be read, because they exceed the limits of the parser",
    );
    let partly = note_files(
        &index.partly_read_files(),
        "file was not read everywhere, because some places exceed the limits of the parser",
        "files were not read everywhere, because some places exceed the limits of the parser",
    );
    let searched = note_files(
        searched,
        "file was only searched for the changed names, because of its size or because a rule ignores it",
        "files were only searched for the changed names, because of their size or because a rule ignores them",
    );
    unparsable.into_iter().chain(partly).chain(searched).collect()
}

fn note_files(files: &[String], one: &str, many: &str) -> Option<String> {
    const MAX_NAMES: usize = 5;
    let names: Vec<String> = files.iter().take(MAX_NAMES).map(|path| shown_path(path).to_string()).collect();
    let more = if files.len() > names.len() { ", …" } else { "" };
    let what = count_of(files.len(), one, many);
    (!files.is_empty()).then(|| format!("{what}: {}{more}.", names.join(", ")))
}

/// The impact of edits, with its basis.
pub(crate) struct ImpactAnalysis {
    pub(crate) root: String,
    pub(crate) impact: Impact,
    pub(crate) basis: IndexState,
    pub(crate) notes: Vec<String>,
    pub(crate) history: Vec<CoChangedFile>,
    pub(crate) timings: Timings,
    /// The changed file and the dependent of each finding that was dismissed and is therefore left out.
    pub(crate) dismissed: Vec<(String, String)>,
    /// Files in scope whose content could not be read, with the reason.
    pub(crate) unread: Vec<(String, &'static str)>,
}

impl ImpactAnalysis {
    /// Finds the dependents of the edits, until `is_over`.
    pub(crate) fn of(
        root: &Path,
        index: &Index,
        aliases: &Aliases,
        edits: &[Edit],
        is_over: &dyn Fn() -> bool,
    ) -> Self {
        let started = Instant::now();
        let in_time =
            |edit: &Edit| if is_over() { edit.clone() } else { with_disk_content(root, index, edit) };
        let edits: Vec<Edit> = edits.iter().map(in_time).collect();
        let links = LinkEdits::new(root, index, &edits);
        let all = [&edits[..], &links.edits].concat();
        let mut impact = impact(index, &Question { edits: &all, aliases, is_over });
        links.join(&mut impact);
        let searched = unread_mentions::add(root, index, &mut impact, is_over);
        if index.has_expired() {
            mark_incomplete(&mut impact, &edits);
        }
        // Git names submodules and nested repositories as one path each.
        for file in impact.files.iter_mut().filter(|file| root.join(&file.path).is_dir()) {
            file.content_not_analysed = true;
        }
        if index.skipped() > 0 {
            impact.truncated = true;
            impact.files.iter_mut().for_each(|file| file.unanalysed |= file.dependents.is_empty());
        }
        Self {
            root: root.to_string_lossy().into_owned(),
            impact,
            basis: index_basis(index),
            notes: notes(index, &searched),
            history: Vec::new(),
            timings: Timings { impact: elapsed_ms(started), ..Timings::default() },
            dismissed: Vec::new(),
            unread: Vec::new(),
        }
    }

    /// Adds the importers of these files that take names from them which they do not have.
    pub(crate) fn add_broken_importers(&mut self, index: &Index, paths: &[String]) {
        for file in self.impact.files.iter_mut().filter(|file| paths.contains(&file.path)) {
            for importer in broken_importers(index, &file.path) {
                match file.dependents.iter_mut().find(|known| known.path == importer.path) {
                    Some(known) if known.breaks => {}
                    Some(known) => *known = importer,
                    None => file.dependents.push(importer),
                }
            }
        }
    }

    /// The part of it that is about these files.
    pub(crate) fn restricted_to(&self, files: &[PathBuf]) -> Self {
        let root = Path::new(&self.root);
        let mut impact = self.impact.clone();
        impact.files.retain(|file| files.contains(&root.join(&file.path)));
        Self {
            root: self.root.clone(),
            impact,
            basis: self.basis.clone(),
            notes: self.notes.clone(),
            history: self.history.clone(),
            timings: Timings::default(),
            dismissed: self.dismissed.clone(),
            unread: self.unread.clone(),
        }
    }

    pub(crate) fn report(&self) -> Report<'_> {
        Report {
            root: &self.root,
            impact: &self.impact,
            basis: &self.basis,
            notes: &self.notes,
            history: &self.history,
        }
    }

    /// Adds the files that tend to change when the changed ones do, and are neither changed nor dependents.
    pub(crate) fn add_history(&mut self, repository: &Repository) -> Result<(), GitError> {
        let known: BTreeSet<String> = self
            .impact
            .candidates()
            .into_iter()
            .chain(self.impact.files.iter().map(|file| &*file.path))
            .map(str::to_owned)
            .collect();
        for file in &self.impact.files {
            let rules = repository.cochanges(&file.path, MIN_TOGETHER)?;
            let likely = rules.into_iter().filter(|rule| rule.confidence >= MIN_CONFIDENCE);
            let other = likely.filter(|rule| {
                !known.contains(&rule.path) && Path::new(&self.root).join(&rule.path).exists()
            });
            self.history.extend(other.take(MAX_TOGETHER).map(|rule| CoChangedFile {
                changed_file: file.path.clone(),
                file: rule.path,
                commits: rule.together,
                confidence: rule.confidence,
            }));
        }
        Ok(())
    }

    /// Removes the findings that were dismissed and notes how many they are.
    pub(crate) fn drop_dismissed(&mut self, store: &Store) -> Result<(), StoreError> {
        let root = PathBuf::from(&self.root);
        for file in &mut self.impact.files {
            let mut remaining = Vec::new();
            for dependent in file.dependents.drain(..) {
                match store.dismissal(&root.join(&file.path), &root.join(&dependent.path))? {
                    Some(_) => self.dismissed.push((file.path.clone(), dependent.path)),
                    None => remaining.push(dependent),
                }
            }
            file.dependents = remaining;
        }
        match self.dismissed.len() {
            0 => {}
            1 => self.notes.push(
                "1 finding was dismissed earlier and is left out until one of its files changes.".to_owned(),
            ),
            n => self.notes.push(format!(
                "{n} findings were dismissed earlier and are left out until one of their files changes."
            )),
        }
        Ok(())
    }

    /// Removes dependents that still fit and were changed in the same session, before or after the file they
    /// depend on: they were already considered. `changes` has the last change of each file.
    pub(crate) fn drop_already_updated(&mut self, changes: &BTreeMap<PathBuf, i64>) {
        let root = Path::new(&self.root);
        for file in self.impact.files.iter_mut().filter(|file| is_change_known(file)) {
            file.dependents
                .retain(|dependent| dependent.breaks || !changes.contains_key(&root.join(&dependent.path)));
        }
    }

    /// Removes dependents of a file which is as git wrote it: those that fit it, and those that only may not and are of the
    /// same commit.
    pub(crate) fn drop_fitting_dependents(&mut self, is_as_git_wrote_it: impl Fn(&str) -> bool) {
        let is_certain = |dependent: &Dependent| {
            dependent.evidence.iter().any(|place| place.breaks && place.certainty == Certainty::Resolved)
        };
        for file in self.impact.files.iter_mut().filter(|file| is_change_known(file)) {
            if !file.dependents.iter().all(is_certain) && is_as_git_wrote_it(&file.path) {
                let is_kept = |dependent: &Dependent| {
                    is_certain(dependent) || dependent.breaks && !is_as_git_wrote_it(&dependent.path)
                };
                file.dependents.retain(is_kept);
            }
        }
    }

    /// Returns true if the time was over before a changed file (absolute) was analysed.
    pub(crate) fn leaves_out(&self, path: &Path) -> bool {
        let root = Path::new(&self.root);
        self.impact.files.iter().any(|file| file.unanalysed && root.join(&file.path) == path)
    }

    /// Returns true if a changed file (absolute) could be parsed before and cannot be now.
    pub(crate) fn is_unparsed(&self, path: &Path) -> bool {
        let root = Path::new(&self.root);
        self.impact.files.iter().any(|file| file.unparsed.is_some() && root.join(&file.path) == path)
    }

    /// Returns true if no changed file was analysed.
    pub(crate) fn is_unanalysed(&self) -> bool {
        !self.impact.files.is_empty() && self.impact.files.iter().all(|file| file.unanalysed)
    }
}

/// Returns true if the change of the file is known. If it is not, files that follow it are unknown too.
fn is_change_known(file: &FileImpact) -> bool {
    !file.whole_file && file.unparsed.is_none()
}

/// Weakens the findings about the file whose analysis was interrupted: a missing result may make something
/// look broken.
fn mark_incomplete(impact: &mut Impact, edits: &[Edit]) {
    impact.truncated = true;
    let is_analysed = |path: &str| impact.files.iter().any(|file| file.path == path && !file.unanalysed);
    let Some(last) = edits.iter().rev().find(|edit| is_analysed(&edit.path)).map(|edit| edit.path.clone())
    else {
        return;
    };
    for file in impact.files.iter_mut().filter(|file| file.path == last) {
        file.unanalysed = file.dependents.is_empty();
        for dependent in file.dependents.iter_mut().filter(|dependent| dependent.breaks) {
            dependent.certainty = dependent.certainty.max(Certainty::Possible);
            for place in dependent.evidence.iter_mut().filter(|place| place.breaks) {
                place.certainty = place.certainty.max(Certainty::Possible);
            }
        }
    }
}

/// Over after this time, from now on.
pub(crate) fn deadline_after(limit: Duration) -> impl Fn() -> bool {
    let started = Instant::now();
    move || started.elapsed() > limit
}

/// Returns the time since `started`.
pub(crate) fn elapsed_ms(started: Instant) -> f64 {
    started.elapsed().as_secs_f64() * 1000.0
}
