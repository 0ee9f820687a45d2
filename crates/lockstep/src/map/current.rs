//! The map as it should be now, computed without writing anything: for questions and for the check.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use jiff::civil::Date;
use lockstep_index::index::{Index, IndexProgress};
use lockstep_map::check::{ExpectedMap, MapCheckReport, check};
use lockstep_map::document::MapDocument;
use lockstep_map::hotspot::HOT_AFTER_RUNS;
use lockstep_map::record::MapRecord;
use lockstep_map::scope::{ScopePattern, WHOLE};
use lockstep_map::update::{MapUpdateInput, update};
use lockstep_map::view::{MapView, SizeLimit};
use lockstep_refs::entity::Aliases;
use lockstep_refs::world::{FileId, World as _};
use lockstep_store::Store;

use super::committed::CommittedMap;
use super::document_file::{self, DocumentState};
use super::settings::{MapSettings, settings_fingerprint};
use super::state::MapState;
use super::trace_file::TraceFile;
use crate::clock;
use crate::error::CommandResult;
use crate::project::ActiveProject;
use crate::workspace::Workspace;

pub(crate) struct CurrentMap {
    /// The complete graph.
    pub(crate) record: MapRecord,
    /// Paths that changed in each of the last runs.
    pub(crate) hot: HashSet<String>,
    pub(crate) scope: ScopePattern,
    /// Files in scope that could not be read.
    pub(crate) unseen: usize,
    place: Option<MapSettings>,
    limit: Option<SizeLimit>,
    /// The content and the change date of files at the last run.
    known: HashMap<String, (u64, Date)>,
}

/// The files of an index that have an entry, with their versions.
pub(super) fn files_in(index: &Index, scope: &ScopePattern) -> Vec<(FileId, u64)> {
    index.versions().filter(|(file, _)| scope.contains(index.path(*file))).collect()
}

impl CurrentMap {
    /// Of a tree, active or not.
    pub(crate) fn of(tree: &Workspace, progress: &dyn IndexProgress) -> CommandResult<Self> {
        let place = tree.project.as_ref().map(ActiveProject::map_settings).transpose()?;
        let stored = tree.project.as_ref().and_then(|project| MapState::of(&project.state).load());
        let known_scope = stored.as_ref().map(|stored| stored.record.about.scope.clone());
        let listed = || scope_in_document(place.as_ref());
        let scope = match &place {
            Some(place) => place.effective_scope(None, known_scope.or_else(listed).as_deref()),
            None => ScopePattern::new(WHOLE, None),
        };
        let today = clock::now().date();
        let index = tree.open_index(progress)?;
        let aliases = tree.aliases();
        let ours = settings_fingerprint(&scope, index.settings(), &aliases);
        let stored = stored.filter(|stored| stored.record.about.settings == ours);
        let (old, answers) = match stored {
            Some(stored) => (stored.record, stored.answers),
            None => (MapRecord::empty(today), TraceFile::none()),
        };
        let known = old
            .entries
            .iter()
            .map(|entry| (entry.path.to_string(), (entry.content, entry.updated)))
            .collect();
        let record = compute(&index, &scope, &aliases, today, old, &answers, progress);
        let hot = match &tree.project {
            Some(project) => match Store::open_existing(&project.state)? {
                Some(store) => store.paths_changed_in_every_run(HOT_AFTER_RUNS)?,
                None => HashSet::new(),
            },
            None => HashSet::new(),
        };
        let limit = place.as_ref().and_then(|place| place.limit(&scope));
        let unseen = index.condition().unseen.total();
        let mut record = record;
        record.about.scope = scope.text().to_owned();
        Ok(Self { record, hot, scope, unseen, place, limit, known })
    }

    /// Returns the graph with its derived data.
    pub(crate) fn view(&self) -> MapView<'_> {
        MapView::new(&self.record, &|path| self.hot.contains(path))
    }

    /// Compares the document of a project with it; `None` if there is no document.
    pub(crate) fn check(&self, root: &Path) -> CommandResult<Option<MapCheckReport>> {
        let Some(place) = &self.place else { return Ok(None) };
        let text = match document_file::read_state(place, None)? {
            DocumentState::Missing => return Ok(None),
            DocumentState::Modified(text) => text,
            DocumentState::Unmodified(_) => unreachable!("nothing is remembered of it"),
        };
        let elsewhere = if self.known.is_empty() { CommittedMap::of(root, place, &text) } else { None };
        let view = self.view();
        let exists = |path: &str| is_inside(path) && root.join(path).symlink_metadata().is_ok();
        let truth = ExpectedMap {
            view: &view,
            scope: &self.scope,
            limit: self.limit,
            today: clock::now().date(),
            exists: &exists,
            changed_since: &|path, day| match &elsewhere {
                Some(elsewhere) => {
                    elsewhere.changed_since(path, day).unwrap_or_else(|| modified_since(root, path, day))
                }
                None => self.changed_since(root, path, day),
            },
            is_hot: &|path| elsewhere.is_none().then(|| self.hot.contains(path)),
        };
        Ok(Some(check(&text, &truth)))
    }

    /// The document's path, relative to the root.
    pub(crate) fn display_path(&self) -> &str {
        self.place.as_ref().map_or("", |place| &place.shown)
    }

    /// Returns true if a file changed after a day: by the state of the last run, else by its time.
    fn changed_since(&self, root: &Path, path: &str, day: Date) -> bool {
        let now = self.record.find(path).map(|at| self.record.entries[at].content);
        if let Some((content, updated)) = self.known.get(path) {
            return now != Some(*content) || *updated > day;
        }
        modified_since(root, path, day)
    }
}

/// Returns true if a file's time is after a day.
fn modified_since(root: &Path, path: &str, day: Date) -> bool {
    let modified = root.join(path).symlink_metadata().and_then(|meta| meta.modified()).ok();
    let at = modified.and_then(|time| jiff::Timestamp::try_from(time).ok());
    at.is_some_and(|at| at.to_zoned(clock::now().time_zone().clone()).date() > day)
}

/// Returns true if a given path is inside the project.
fn is_inside(path: &str) -> bool {
    use std::path::Component;
    !path.is_empty() && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}

pub(super) fn scope_in_document(place: Option<&MapSettings>) -> Option<String> {
    match document_file::read_state(place?, None).ok()? {
        DocumentState::Modified(text) => {
            let scope = MapDocument::parse(&text).ok()?.header.scope;
            lockstep_map::scope::validate(&scope).is_none().then_some(scope)
        }
        _ => None,
    }
}

fn compute(
    index: &Index,
    scope: &ScopePattern,
    aliases: &Aliases,
    today: Date,
    old: MapRecord,
    answers: &TraceFile,
    progress: &dyn IndexProgress,
) -> MapRecord {
    let files = files_in(index, scope);
    let report = |done, all| progress.report(lockstep_index::index::IndexPhase::References, done, all);
    let none = HashSet::new();
    let present =
        MapUpdateInput { world: index, files: &files, again: &none, aliases, today, progress: &report };
    match update(old, &present, answers) {
        Ok(updated) => updated.record,
        // The stored state is damaged; the files are not.
        Err(_) => {
            let anew = update(MapRecord::empty(today), &present, &TraceFile::none());
            anew.expect("without answers there is nothing to be damaged").record
        }
    }
}
