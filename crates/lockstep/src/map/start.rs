//! From what a run of the map starts: what is remembered, what is on paper, and whether all of it must be made anew.

use jiff::civil::Date;
use lockstep_map::document::{Document, ParseError};
use lockstep_map::l1::Mode;
use lockstep_map::record::Record;
use lockstep_map::scope::{Scope, problem};
use lockstep_store::Store;

use super::amendments::Amendments;
use super::answers::Answers;
use super::bring::{Order, Way};
use super::memory::{Memory, Remembered};
use super::paper::{self, Paper};
use super::place::{Place, settings};
use crate::error::CommandError;
use crate::project::ActiveProject;

/// From what it starts.
pub(super) struct Start {
    pub(super) mode: Mode,
    /// What is remembered; without entries where all of it must be made anew.
    pub(super) old: Record,
    pub(super) answers: Answers,
    /// Where an amendment may be put, where something is remembered.
    pub(super) amendments: Option<Amendments>,
    pub(super) scope: Scope,
    pub(super) paper: Paper,
    /// Where runs are recorded, if there is one: opened here, beside the look at the files.
    pub(super) store: Option<Store>,
    pub(super) notes: Vec<String>,
}

impl Start {
    pub(super) fn look(
        project: &ActiveProject,
        place: &Place,
        order: &Order,
        today: Date,
    ) -> Result<Self, CommandError> {
        let kept = Memory::of(&project.state).load();
        let paper = paper::look(place, kept.as_ref().map(|kept| kept.record.about.written))?;
        let parsed = match &paper {
            Paper::Other(text) => Some(Document::parse(text)),
            Paper::Missing | Paper::AsWritten(_) => None,
        };
        let scope = scope(place, order, kept.as_ref().map(|kept| &kept.record), parsed.as_ref());
        let ours = settings(&scope, &project.index_settings(), &project.aliases());
        let is_usable =
            kept.as_ref().map(|kept| kept.record.about.settings == ours && !kept.record.entries.is_empty());
        let (mode, note) = match why_anew(order.way, &paper, parsed.as_ref(), is_usable) {
            Some(note) => (Mode::FullGeneration, note),
            None if parsed.is_some() => (
                Mode::IncrementalUpdate,
                Some("the map was changed by hand; it is generated, so the changes are gone".to_owned()),
            ),
            None => (Mode::IncrementalUpdate, None),
        };
        let number = kept.as_ref().map_or(0, |kept| kept.record.about.answers);
        let (mut old, answers, amendments) = match (kept, mode) {
            (Some(Remembered { record, answers, amendments }), Mode::IncrementalUpdate) => {
                (record, answers, Some(amendments))
            }
            _ => (Record::empty(today), Answers::none(), None),
        };
        (old.about.answers, old.about.settings) = (number, ours);
        let store = Store::open_existing(&project.state)?;
        Ok(Self { mode, old, answers, amendments, scope, paper, store, notes: note.into_iter().collect() })
    }
}

type Parsed = Result<Document, ParseError>;

/// The scope. An update keeps to that of the map, unless the project says another.
fn scope(place: &Place, order: &Order, kept: Option<&Record>, parsed: Option<&Parsed>) -> Scope {
    let on_paper = || parsed?.as_ref().ok().map(|document| document.header.scope.as_str());
    let known = kept.map(|record| record.about.scope.as_str()).or_else(on_paper);
    let known = known.filter(|scope| order.way == Way::Incremental && problem(scope).is_none());
    place.scope_of(order.scope.as_deref(), known)
}

/// Whether all of it must be made anew, and what to say about it.
fn why_anew(
    way: Way,
    paper: &Paper,
    parsed: Option<&Parsed>,
    is_usable: Option<bool>,
) -> Option<Option<String>> {
    if way == Way::Full || *paper == Paper::Missing {
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
