//! The start of a run: the stored state, the document, and whether everything must be rebuilt.

use jiff::civil::Date;
use lockstep_map::document::{MapDocument, ParseError};
use lockstep_map::record::MapRecord;
use lockstep_map::report::MapRunMode;
use lockstep_map::scope::{ScopePattern, validate};
use lockstep_store::Store;

use super::delta_log::DeltaLog;
use super::document_file::{self, DocumentState};
use super::settings::{MapSettings, settings_fingerprint};
use super::state::{MapState, SavedMap};
use super::trace_file::TraceFile;
use super::updater::{MapUpdateMode, MapUpdateRequest};
use crate::error::CommandResult;
use crate::project::ActiveProject;

/// The starting point of an update.
pub(super) struct UpdatePlan {
    pub(super) mode: MapRunMode,
    /// The stored record; without entries if everything must be rebuilt.
    pub(super) old: MapRecord,
    pub(super) answers: TraceFile,
    /// The deltas, if there is a stored record.
    pub(super) amendments: Option<DeltaLog>,
    pub(super) scope: ScopePattern,
    pub(super) document: DocumentState,
    /// The store of the runs, if there is one. Opened here, in parallel with the check of the files.
    pub(super) store: Option<Store>,
    pub(super) notes: Vec<String>,
}

impl UpdatePlan {
    pub(super) fn prepare(
        project: &ActiveProject,
        place: &MapSettings,
        request: &MapUpdateRequest,
        today: Date,
    ) -> CommandResult<Self> {
        let stored = MapState::of(&project.state).load();
        let document =
            document_file::read_state(place, stored.as_ref().map(|stored| stored.record.about.written))?;
        let parsed = match &document {
            DocumentState::Modified(text) => Some(MapDocument::parse(text)),
            DocumentState::Missing | DocumentState::Unmodified(_) => None,
        };
        let scope = scope(place, request, stored.as_ref().map(|stored| &stored.record), parsed.as_ref());
        let ours = settings_fingerprint(&scope, &project.index_settings(), &project.aliases());
        let is_usable = stored
            .as_ref()
            .map(|stored| stored.record.about.settings == ours && !stored.record.entries.is_empty());
        let (mode, note) = match rebuild_reason(request.mode, &document, parsed.as_ref(), is_usable) {
            Some(note) => (MapRunMode::FullGeneration, note),
            None if parsed.is_some() => (
                MapRunMode::IncrementalUpdate,
                Some("the map was changed by hand; it is generated, so the changes are gone".to_owned()),
            ),
            None => (MapRunMode::IncrementalUpdate, None),
        };
        let number = stored.as_ref().map_or(0, |stored| stored.record.about.answers);
        let (mut old, answers, amendments) = match (stored, mode) {
            (Some(SavedMap { record, answers, amendments }), MapRunMode::IncrementalUpdate) => {
                (record, answers, Some(amendments))
            }
            _ => (MapRecord::empty(today), TraceFile::none(), None),
        };
        (old.about.answers, old.about.settings) = (number, ours);
        let store = Store::open_existing(&project.state)?;
        Ok(Self { mode, old, answers, amendments, scope, document, store, notes: note.into_iter().collect() })
    }
}

type ParsedMapDocument = Result<MapDocument, ParseError>;

/// Returns the scope. An update keeps the scope of the map, unless another is configured.
fn scope(
    place: &MapSettings,
    request: &MapUpdateRequest,
    stored: Option<&MapRecord>,
    parsed: Option<&ParsedMapDocument>,
) -> ScopePattern {
    let on_paper = || parsed?.as_ref().ok().map(|document| document.header.scope.as_str());
    let known = stored.map(|record| record.about.scope.as_str()).or_else(on_paper);
    let known = known.filter(|scope| request.mode == MapUpdateMode::Incremental && validate(scope).is_none());
    place.effective_scope(request.scope.as_deref(), known)
}

/// Returns true if everything must be rebuilt, with the notes about it.
fn rebuild_reason(
    mode: MapUpdateMode,
    document: &DocumentState,
    parsed: Option<&ParsedMapDocument>,
    is_usable: Option<bool>,
) -> Option<Option<String>> {
    if mode == MapUpdateMode::Full || *document == DocumentState::Missing {
        return Some(None);
    }
    let why = match (parsed, is_usable) {
        (Some(Err(error)), _) => format!("the map could not be read ({error})"),
        (_, Some(true)) => return None,
        (_, Some(false)) => "the map's scope, the project's settings or this program changed".to_owned(),
        (_, None) => "nothing was remembered of the map".to_owned(),
    };
    Some(Some(format!("{why}, so it was made anew")))
}
