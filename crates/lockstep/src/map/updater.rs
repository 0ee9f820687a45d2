//! Making and updating the map of a project.

use std::collections::HashSet;

use jiff::civil::Date;
use lockstep_git::Repository;
use lockstep_index::index::{
    Index, IndexBuildOptions as IndexOrder, IndexBuildOutcome, IndexFreshness, IndexLocation, IndexPhase,
    IndexProgress, ScanScope, build,
};
use lockstep_map::document::PrunedEntries;
use lockstep_map::fast_hash::digest;
use lockstep_map::hotspot::HOT_AFTER_RUNS;
use lockstep_map::incremental_render::{DocumentPatch, render_incremental};
use lockstep_map::record::{MapMetadata, MapRecord};
use lockstep_map::report::{MapReport, MapRunMode, MapRunStatus};
use lockstep_map::update::{FileChanges, MapUpdate, MapUpdateInput, TraceWrite, update};
use lockstep_map::view::{MapView, RenderedMap};
use lockstep_refs::world::FileId;
use lockstep_store::Store;
use lockstep_store::map_runs::MapRun;
use lockstep_text::single_line;

use super::current::files_in;
use super::document_file::{self, DocumentState, NewDocument};
use super::lock::MapLock;
use super::plan::UpdatePlan;
use super::renames::{git_renames, renames};
use super::settings::MapSettings;
use super::state::MapState;
use super::trace_file::TraceFile;
use crate::clock;
use crate::error::{CommandError, CommandResult};
use crate::progress_bar::ProgressBar;
use crate::project::ActiveProject;
use crate::terminal::Terminal;

/// The options of a build or update.
pub(crate) struct MapUpdateRequest {
    pub(crate) mode: MapUpdateMode,
    pub(crate) scope: Option<String>,
    /// The only files to check, even if they seem unchanged. Empty for all files.
    pub(crate) files: HashSet<String>,
}

impl MapUpdateRequest {
    fn sight(&self) -> ScanScope<'_> {
        if self.files.is_empty() { ScanScope::All } else { ScanScope::Paths(&self.files) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MapUpdateMode {
    /// Rebuild everything.
    Full,
    /// Update changes; build everything if nothing is stored.
    Incremental,
}

/// The result of a build or update.
pub(crate) struct MapUpdateReport {
    pub(crate) l1: MapReport,
    pub(crate) changes: FileChanges,
    pub(crate) renamed: Vec<(String, String)>,
    /// The entries that the document leaves out.
    pub(crate) pruned: PrunedEntries,
    pub(crate) is_written: bool,
    /// Set if only named files were checked.
    pub(crate) is_partial: bool,
    /// The given names that match no file in the map's scope.
    pub(crate) unknown: Vec<String>,
    pub(crate) notes: Vec<String>,
}

impl ActiveProject {
    /// Makes the map, or brings it up to date.
    pub(crate) fn update_map(
        &self,
        request: &MapUpdateRequest,
        terminal: &Terminal,
    ) -> CommandResult<MapUpdateReport> {
        let what = if request.mode == MapUpdateMode::Full { "build" } else { "update" };
        let _lock = MapLock::acquire(&self.state, what, terminal)?;
        let place = self.map_settings_for(request.scope.as_deref())?;
        let today = clock::now().date();
        let bar = ProgressBar::new(terminal);
        let (start, index) = match request.mode {
            MapUpdateMode::Full => (UpdatePlan::prepare(self, &place, request, today)?, None),
            // Files are checked while the stored record is read.
            MapUpdateMode::Incremental => std::thread::scope(|scope| {
                let start = scope.spawn(|| UpdatePlan::prepare(self, &place, request, today));
                let index = self.open_current_index(request.sight(), &bar);
                let start = start.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
                Ok::<_, CommandError>((start, Some(index?)))
            })?,
        };
        let index = match index.filter(|_| start.mode != MapRunMode::FullGeneration) {
            Some(index) => index,
            None => self.index_with_facts(&bar)?,
        };
        MapUpdater { project: self, place, today, request, bar: &bar }.run(start, index)
    }

    /// Returns the updated index. Its changes are stored when the map is complete.
    fn open_current_index(&self, sight: ScanScope<'_>, bar: &ProgressBar) -> CommandResult<Index> {
        let (home, settings) = (IndexLocation::Project(&self.state), self.index_settings());
        Ok(Index::open_deferred(&self.root, home, &settings, sight, bar)?)
    }

    fn index_with_facts(&self, bar: &ProgressBar) -> CommandResult<Index> {
        let request = IndexOrder { anew: false, facts: true };
        match build(&self.root, &self.state, &self.index_settings(), request, bar)? {
            IndexBuildOutcome::Done(index) => Ok(*index),
            IndexBuildOutcome::Busy(_) => self.open_current_index(ScanScope::All, bar),
        }
    }
}

enum DocumentUpdate {
    Unchanged,
    Patch(DocumentPatch),
    Rewrite(RenderedMap),
}

struct MapUpdater<'a> {
    project: &'a ActiveProject,
    place: MapSettings,
    today: Date,
    request: &'a MapUpdateRequest,
    bar: &'a ProgressBar,
}

impl MapUpdater<'_> {
    fn run(&self, mut start: UpdatePlan, index: Index) -> CommandResult<MapUpdateReport> {
        let before = start.old.about.clone();
        let has_future_dates = self.has_future_dates(&start.old);
        let files = files_in(&index, &start.scope);
        let updated = self.update(&index, &files, &mut start);
        let condition = index.condition();
        std::thread::scope(|scope| {
            // Parsed facts are stored for the next run. A failure to store them changes no result.
            scope.spawn(move || {
                let mut index = index;
                // The process ends soon; freeing its memory piece by piece would only take time.
                let _ = index.persist_facts();
                std::mem::forget(index);
            });
            self.finish(start, updated, &before, &condition, has_future_dates)
        })
    }

    /// Records the findings, and writes the document and the state.
    fn finish(
        &self,
        start: UpdatePlan,
        updated: MapUpdate,
        before: &MapMetadata,
        condition: &IndexFreshness,
        has_future_dates: bool,
    ) -> CommandResult<MapUpdateReport> {
        let full = start.mode == MapRunMode::FullGeneration;
        let renamed = if full { Vec::new() } else { self.renamed(&updated, before, condition) };
        let MapUpdate {
            mut record,
            changes,
            answers,
            resolved,
            rescanned,
            mut changed_entries,
            mut amendment,
            ..
        } = updated;
        let amendments = start.amendments.filter(|_| !full && matches!(answers, TraceWrite::Append(_)));
        let is_idle = changes.is_empty() && resolved == 0 && !has_future_dates;
        if !condition.fresh {
            invalidate_entries(&mut record, &changes);
        }
        record.about.scope = start.scope.text().to_owned();
        record.about.commit = condition.commit.clone().unwrap_or_default();
        self.set_dates(&mut record.about, full, is_idle);
        let hot = self.record_run(start.store, &mut record.about, &changes, &renamed, full)?;
        let is_as_written = match start.document {
            DocumentState::Unmodified(written) => {
                record.about.written = written;
                true
            }
            DocumentState::Missing | DocumentState::Modified(_) => false,
        };
        let limit = self.place.limit(&start.scope);
        record.about.limit = limit;
        // An unlimited document need not be rendered to know that it is unchanged.
        let is_known = is_idle && is_as_written && limit.is_none() && before.limit.is_none();
        mark_hot_entries(&mut record, &hot, &mut changed_entries);
        let mut drawn = match is_known {
            true => DocumentUpdate::Unchanged,
            false => self.plan_document(&record, &hot, &changed_entries, is_as_written && !full),
        };
        let state = MapState::of(&self.project.state);
        state.write_trace(&mut record, if full { 0 } else { before.answer_bytes }, &answers)?;
        let mut other = self.write_patch(&mut record, &mut drawn, &hot)?;
        let is_written = match &drawn {
            DocumentUpdate::Unchanged => false,
            DocumentUpdate::Patch(_) => true,
            DocumentUpdate::Rewrite(rendered) => {
                other = record.set_entry_sizes(&rendered.blocks);
                self.write_full(&mut record.about, rendered, is_as_written, full)?
            }
        };
        if is_written || !is_idle || rescanned > 0 || record.about != *before {
            amendment.mark_changed(changed_entries.into_iter().chain(other));
            if !amendments
                .map_or(Ok(false), |amendments| state.append_delta(&amendments, &amendment, &record))?
            {
                state.write_record(&record)?;
            }
        }
        let (listed, pruned) = match &drawn {
            DocumentUpdate::Rewrite(rendered) => (rendered.listed, rendered.pruned),
            DocumentUpdate::Unchanged | DocumentUpdate::Patch(_) => {
                (record.entries.len(), PrunedEntries::default())
            }
        };
        let is_partial = !full && !self.request.files.is_empty();
        let unknown = self.unknown_paths(&record, &changes);
        std::mem::forget(record);
        std::mem::forget(start.answers);
        let l1 = self.l1(start.mode, condition, listed, &changes);
        let mut notes = start.notes;
        let out_of_scope = |path: &String| {
            format!("{} has no entry: no file in the map's scope has this path", single_line(path))
        };
        notes.extend(unknown.iter().map(out_of_scope));
        notes.extend(condition_notes(condition));
        Ok(MapUpdateReport { l1, changes, renamed, pruned, is_written, is_partial, unknown, notes })
    }

    /// Returns the given names that match no file.
    fn unknown_paths(&self, record: &MapRecord, changes: &FileChanges) -> Vec<String> {
        let is_known = |path: &str| {
            let below = format!("{path}/");
            let is_it = |known: &str| known == path || known.starts_with(&below) || path.is_empty();
            record.find(path).is_some()
                || record.entries.iter().any(|entry| is_it(&entry.path))
                || changes.removed.iter().any(|removed| is_it(removed))
        };
        let unknown = self.request.files.iter().filter(|path| !is_known(path));
        let mut unknown: Vec<String> = unknown.cloned().collect();
        unknown.sort_unstable();
        unknown
    }

    /// Returns true if a date is in the future: the clock was set back.
    fn has_future_dates(&self, old: &MapRecord) -> bool {
        old.about.incremental > self.today || old.entries.iter().any(|entry| entry.updated > self.today)
    }

    /// Updates the record. If the saved state is damaged, builds it from scratch.
    fn update(&self, index: &Index, files: &[(FileId, u64)], start: &mut UpdatePlan) -> MapUpdate {
        let aliases = self.project.aliases();
        let report = |done, all| self.bar.report(IndexPhase::References, done, all);
        let present = MapUpdateInput {
            world: index,
            files,
            again: &self.request.files,
            aliases: &aliases,
            today: self.today,
            progress: &report,
        };
        let old = std::mem::replace(&mut start.old, MapRecord::empty(self.today));
        let mut empty = MapRecord::empty(self.today);
        (empty.about.settings, empty.about.answers) = (old.about.settings, old.about.answers);
        if let Ok(updated) = update(old, &present, &start.answers) {
            return updated;
        }
        start.mode = MapRunMode::FullGeneration;
        start.notes.push("what was remembered of the map was damaged, so it was made anew".to_owned());
        let anew = update(empty, &present, &TraceFile::none());
        anew.expect("without answers there is nothing to be damaged")
    }

    fn renamed(
        &self,
        updated: &MapUpdate,
        before: &MapMetadata,
        condition: &IndexFreshness,
    ) -> Vec<(String, String)> {
        renames(updated, || {
            let repository = Repository::discover(&self.project.root).ok().flatten();
            git_renames(repository.as_ref(), &before.commit, condition.commit.as_deref())
        })
    }

    fn set_dates(&self, about: &mut MapMetadata, full: bool, is_idle: bool) {
        if full {
            about.full = self.today;
        }
        if !is_idle || full {
            about.incremental = self.today;
        }
        about.full = about.full.min(self.today);
        about.incremental = about.incremental.min(self.today);
    }

    /// Records the run if there were changes, and returns the paths that changed in each of the last runs.
    fn record_run(
        &self,
        mut store: Option<Store>,
        about: &mut MapMetadata,
        changes: &FileChanges,
        renamed: &[(String, String)],
        full: bool,
    ) -> CommandResult<HashSet<String>> {
        let is_run = !full && !changes.is_empty();
        if is_run || full {
            let number = std::mem::replace(&mut about.next_run, new_run_id());
            if is_run {
                let changed: Vec<&str> =
                    changes.added.iter().chain(&changes.modified).map(String::as_str).collect();
                let renamed: Vec<(&str, &str)> =
                    renamed.iter().map(|(from, to)| (from.as_str(), to.as_str())).collect();
                let at = clock::now().timestamp();
                let run = MapRun { run: number, at, changed: &changed, renamed: &renamed };
                let mut opened = store.map_or_else(|| Store::open(&self.project.state), Ok)?;
                opened.record_map_run(&run)?;
                store = Some(opened);
            }
        }
        Ok(store
            .map_or_else(|| Ok(HashSet::new()), |store| store.paths_changed_in_every_run(HOT_AFTER_RUNS))?)
    }

    /// Plans the document. Most of it is copied from the one on disk, if that is unchanged since it was
    /// written.
    fn plan_document(
        &self,
        record: &MapRecord,
        hot: &HashSet<String>,
        changed_entries: &HashSet<u32>,
        is_as_written: bool,
    ) -> DocumentUpdate {
        if is_as_written && record.about.limit.is_none() {
            let is_hot = |path: &str| hot.contains(path);
            match render_incremental(
                record,
                &is_hot,
                changed_entries,
                &document_file::range_reader(&self.place),
            ) {
                Some(drawing) if drawing.is_identity(record.about.written.size) => {
                    return DocumentUpdate::Unchanged;
                }
                Some(drawing) => return DocumentUpdate::Patch(drawing),
                None => {}
            }
        }
        DocumentUpdate::Rewrite(render_document(record, hot))
    }

    /// Writes a patch of the former document. Returns the entries whose sizes changed. If the document on
    /// disk is not the former one, it is built from scratch.
    fn write_patch(
        &self,
        record: &mut MapRecord,
        drawn: &mut DocumentUpdate,
        hot: &HashSet<String>,
    ) -> CommandResult<Vec<u32>> {
        let DocumentUpdate::Patch(drawing) = &*drawn else { return Ok(Vec::new()) };
        let other = record.set_entry_sizes(&drawing.blocks);
        let patch = NewDocument::Patched(drawing, record.about.written);
        match document_file::write(self.project, &self.place, &patch, false)? {
            Some(written) => record.about.written = written,
            None => *drawn = DocumentUpdate::Rewrite(render_document(record, hot)),
        }
        Ok(other)
    }

    /// Writes a fully rendered document if it differs. Returns true if it was written.
    fn write_full(
        &self,
        about: &mut MapMetadata,
        rendered: &RenderedMap,
        is_as_written: bool,
        full: bool,
    ) -> CommandResult<bool> {
        let is_same = is_as_written && about.written.digest == digest(rendered.text.as_bytes());
        if is_same && !full {
            return Ok(false);
        }
        let written =
            document_file::write(self.project, &self.place, &NewDocument::Full(&rendered.text), full)?;
        about.written = written.unwrap_or_default();
        Ok(true)
    }

    fn l1(
        &self,
        mode: MapRunMode,
        condition: &IndexFreshness,
        listed: usize,
        changes: &FileChanges,
    ) -> MapReport {
        let status = if condition.fresh { MapRunStatus::Complete } else { MapRunStatus::Partial };
        let mut l1 = MapReport::new(mode, status, listed, self.place.shown.clone());
        l1.new_entries_added = changes.added.len();
        l1.stale_entries_removed = changes.removed.len();
        l1.entries_updated = changes.modified.len();
        l1
    }
}

fn render_document(record: &MapRecord, hot: &HashSet<String>) -> RenderedMap {
    MapView::new(record, &|path| hot.contains(path)).document(record.about.limit)
}

/// Marks hot entries; entries whose mark changed are rendered again.
fn mark_hot_entries(record: &mut MapRecord, hot: &HashSet<String>, changed_entries: &mut HashSet<u32>) {
    let now: HashSet<usize> = hot.iter().filter_map(|path| record.find(path)).collect();
    for (at, entry) in record.entries.iter_mut().enumerate() {
        let is_hot = !now.is_empty() && now.contains(&at);
        if entry.changed_every_run != is_hot {
            entry.changed_every_run = is_hot;
            changed_entries.extend(u32::try_from(at).ok());
        }
    }
}

/// Invalidates changed entries, because a file changed after the check: the next run scans them again.
fn invalidate_entries(record: &mut MapRecord, changes: &FileChanges) {
    let read: HashSet<&str> = changes.added.iter().chain(&changes.modified).map(String::as_str).collect();
    for entry in record.entries.iter_mut().filter(|entry| read.contains(&*entry.path)) {
        (entry.version, entry.content) = (0, 0);
    }
}

/// Describes the limits of the answer.
fn condition_notes(condition: &IndexFreshness) -> Vec<String> {
    let mut notes = Vec::new();
    let unseen = condition.unseen.total();
    if unseen > 0 {
        let files = if unseen == 1 { "1 file".to_owned() } else { format!("{unseen} files") };
        notes.push(format!("{files} could not be looked into; what is no text has no entry"));
    }
    if !condition.fresh {
        notes.push("files changed meanwhile; the next update looks at them again".to_owned());
    }
    notes
}

/// A number that no other run has.
fn new_run_id() -> u64 {
    let text = format!("{} {:?}", std::process::id(), std::time::SystemTime::now());
    let hash = blake3::hash(text.as_bytes());
    u64::from_le_bytes(hash.as_bytes().first_chunk().copied().unwrap_or_default())
}
