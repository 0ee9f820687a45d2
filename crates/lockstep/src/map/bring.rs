//! Making and updating the map of a project.

use std::collections::HashSet;

use jiff::civil::Date;
use lockstep_git::Repository;
use lockstep_index::index::{Built, Home, Index, Order as IndexOrder, Phase, Progress, build};
use lockstep_map::document::Document;
use lockstep_map::hotspot::RUNS;
use lockstep_map::l1::{L1, Mode, Status};
use lockstep_map::record::{Record, Written};
use lockstep_map::scope::Scope;
use lockstep_map::update::{Changes, Present, Updated, update};
use lockstep_map::view::{Made, View};
use lockstep_store::Store;
use lockstep_store::map_runs::MapRun;

use super::answers::Answers;
use super::lock::MapLock;
use super::memory::Memory;
use super::paper::{self, Paper};
use super::place::{Place, settings};
use super::renames::{by_git, renames};
use super::truth::files_in;
use crate::clock;
use crate::error::CommandError;
use crate::progress_bar::ProgressBar;
use crate::project::ActiveProject;
use crate::terminal::Terminal;

/// What is to be done.
pub(crate) struct Order {
    pub(crate) way: Way,
    /// The scope, where it is told.
    pub(crate) scope: Option<String>,
    /// Files to be looked at whatever is known of them.
    pub(crate) files: HashSet<String>,
}

/// How.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// All of it.
    Full,
    /// What changed; all of it where nothing is known.
    Incremental,
}

/// What was done.
pub(crate) struct Done {
    pub(crate) l1: L1,
    pub(crate) changes: Changes,
    pub(crate) renamed: Vec<(String, String)>,
    /// How many entries the document leaves out.
    pub(crate) pruned: usize,
    /// Whether the document was written.
    pub(crate) is_written: bool,
    pub(crate) notes: Vec<String>,
}

impl ActiveProject {
    /// Makes the map, or brings it up to date.
    pub(crate) fn bring_map(&self, order: &Order, terminal: &Terminal) -> Result<Done, CommandError> {
        let what = if order.way == Way::Full { "build" } else { "update" };
        let _lock = MapLock::take(&self.state, what, terminal)?;
        let place = self.map_place()?;
        let today = clock::now().date();
        let bar = ProgressBar::new(terminal);
        let start = Start::look(self, &place, order, today)?;
        let index = self.index_for_map(start.mode, &bar)?;
        Bringing { project: self, place, today, order }.run(start, index, &bar)
    }

    /// The index; for a whole map with the facts of all files.
    fn index_for_map(&self, mode: Mode, bar: &ProgressBar) -> Result<Index, CommandError> {
        let settings = self.index_settings();
        if mode == Mode::FullGeneration {
            let order = IndexOrder { anew: false, facts: true };
            if let Built::Done(index) = build(&self.root, &self.state, &settings, order, bar)? {
                return Ok(*index);
            }
        }
        Ok(Index::open_or_build(&self.root, Home::State(&self.state), &settings, bar)?)
    }
}

/// From what it starts.
struct Start {
    mode: Mode,
    old: Record,
    answers: Answers,
    scope: Scope,
    paper: Paper,
    notes: Vec<String>,
}

impl Start {
    fn look(
        project: &ActiveProject,
        place: &Place,
        order: &Order,
        today: Date,
    ) -> Result<Self, CommandError> {
        let kept = Memory::of(&project.state).load();
        let written = kept.as_ref().map(|(record, _)| record.about.written);
        let paper = paper::look(place, written)?;
        let on_paper = match &paper {
            Paper::Other(text) => Some(Document::parse(text)),
            _ => None,
        };
        let scope_on_paper =
            on_paper.as_ref().and_then(|it| it.as_ref().ok()).map(|it| it.header.scope.clone());
        let known = kept.as_ref().map(|(record, _)| record.about.scope.clone()).or(scope_on_paper);
        let known = known
            .filter(|scope| order.way == Way::Incremental && lockstep_map::scope::problem(scope).is_none());
        let scope = place.scope_of(order.scope.as_deref(), known.as_deref());
        let ours = settings(&scope, &project.index_settings(), &project.aliases());
        let mut notes = Vec::new();
        let is_usable = |record: &Record| record.about.settings == ours && !record.entries.is_empty();
        let why_full = match (&paper, &on_paper, &kept) {
            _ if order.way == Way::Full => Some(None),
            (Paper::Missing, ..) => Some(None),
            (_, Some(Err(error)), _) => {
                Some(Some(format!("the map could not be read ({error}), so it was made anew")))
            }
            (_, _, Some((record, _))) if is_usable(record) => None,
            (_, _, Some(_)) => Some(Some(
                "what the map is made of changed (its scope, settings or this program), so it was made anew"
                    .to_owned(),
            )),
            (_, _, None) => Some(Some("nothing was remembered of the map, so it was made anew".to_owned())),
        };
        if why_full.is_none() && matches!(paper, Paper::Other(_)) {
            notes.push("the map was changed by hand; it is generated, so the changes are gone".to_owned());
        }
        let mode = if why_full.is_some() { Mode::FullGeneration } else { Mode::IncrementalUpdate };
        notes.extend(why_full.flatten());
        let number = kept.as_ref().map_or(0, |(record, _)| record.about.answers);
        let (old, answers) = match (kept, mode) {
            (Some(kept), Mode::IncrementalUpdate) => kept,
            _ => (Record::empty(today), Answers::none()),
        };
        let mut start = Self { mode, old, answers, scope, paper, notes };
        start.old.about.answers = number;
        start.old.about.settings = ours;
        Ok(start)
    }
}

struct Bringing<'a> {
    project: &'a ActiveProject,
    place: Place,
    today: Date,
    order: &'a Order,
}

impl Bringing<'_> {
    fn run(&self, mut start: Start, mut index: Index, bar: &ProgressBar) -> Result<Done, CommandError> {
        let is_ahead = start.old.entries.iter().any(|entry| entry.updated > self.today)
            || start.old.about.incremental > self.today;
        let before = start.old.about.clone();
        let files = files_in(&index, &start.scope);
        let old = std::mem::replace(&mut start.old, Record::empty(self.today));
        let updated = self.update(&index, &files, old, &mut start, bar);
        let condition = index.condition();
        let status = if condition.fresh { Status::Complete } else { Status::Partial };
        let full = start.mode == Mode::FullGeneration;
        let renamed = match full {
            true => Vec::new(),
            false => renames(&updated, || {
                let repository = Repository::at(&self.project.root).ok().flatten();
                by_git(repository.as_ref(), &before.commit, condition.commit.as_deref())
            }),
        };
        let Updated { mut record, changes, answers, resolved, looked_at, .. } = updated;
        let idle = changes.is_empty() && resolved == 0 && !is_ahead;
        if !condition.fresh {
            // Something changed after the look at the disk: whatever was read now is looked at again the next time.
            let known: HashSet<&String> = changes.added.iter().chain(&changes.modified).collect();
            record.entries.iter_mut().filter(|entry| known.contains(&entry.path.to_string())).for_each(
                |entry| {
                    (entry.version, entry.content) = (0, 0);
                },
            );
        }
        record.about.scope = start.scope.text().to_owned();
        record.about.commit = condition.commit.clone().unwrap_or_default();
        if full {
            (record.about.full, record.about.incremental) = (self.today, self.today);
        } else if !idle {
            record.about.incremental = self.today;
        }
        record.about.full = record.about.full.min(self.today);
        record.about.incremental = record.about.incremental.min(self.today);
        let hot = self.hot(&mut record, &changes, &renamed, full)?;
        let limit = self.place.limit(&start.scope);
        let as_written = start.paper == Paper::AsWritten;
        let made = match limit {
            None if idle && as_written => None,
            limit => Some(View::new(&record, &|path| hot.contains(path)).document(limit)),
        };
        let memory = Memory::of(&self.project.state);
        memory.put_answers(&mut record, if full { 0 } else { before.answer_bytes }, &answers)?;
        let is_written = self.write(&mut record, made.as_ref(), before.written, as_written, full)?;
        if is_written || !idle || looked_at > 0 || record.about != before {
            memory.put(&record)?;
        }
        // Facts that were parsed for this are there for the next; that they could not be kept harms nobody.
        let _ = index.keep_parsed();
        let pruned = made.as_ref().map_or(0, |made| made.pruned);
        let listed = made.map_or(record.entries.len(), |made| made.listed);
        let mut l1 = L1::new(start.mode, status, listed, self.place.shown.clone());
        l1.new_entries_added = changes.added.len();
        l1.stale_entries_removed = changes.removed.len();
        l1.entries_updated = changes.modified.len();
        if condition.unseen.total() > 0 {
            start.notes.push(format!(
                "{} files could not be looked into and have no entry",
                condition.unseen.total()
            ));
        }
        if status == Status::Partial {
            start.notes.push("files changed meanwhile; the next update looks at them again".to_owned());
        }
        Ok(Done { l1, changes, renamed, pruned, is_written, notes: start.notes })
    }

    /// Brings the record up to date; where what is remembered is damaged, from nothing.
    fn update(
        &self,
        index: &Index,
        files: &[(lockstep_refs::world::FileId, u64)],
        old: Record,
        start: &mut Start,
        bar: &ProgressBar,
    ) -> Updated {
        let aliases = self.project.aliases();
        let report = |done, all| bar.report(Phase::References, done, all);
        let present = Present {
            world: index,
            files,
            again: &self.order.files,
            aliases: &aliases,
            today: self.today,
            progress: &report,
        };
        let (settings, number) = (old.about.settings, old.about.answers);
        if let Ok(updated) = update(old, &present, &start.answers) {
            return updated;
        }
        start.mode = Mode::FullGeneration;
        start.notes.push("what was remembered of the map was damaged, so it was made anew".to_owned());
        let mut empty = Record::empty(self.today);
        (empty.about.settings, empty.about.answers) = (settings, number);
        let anew = update(empty, &present, &Answers::none());
        anew.expect("without answers there is nothing to be damaged")
    }

    /// Records the run where it is one, and tells which paths changed in each of the last.
    fn hot(
        &self,
        record: &mut Record,
        changes: &Changes,
        renamed: &[(String, String)],
        full: bool,
    ) -> Result<HashSet<String>, CommandError> {
        let is_run = !full && !changes.is_empty();
        let store = if is_run {
            Some(Store::open(&self.project.state)?)
        } else {
            Store::open_existing(&self.project.state)?
        };
        let Some(mut store) = store else { return Ok(HashSet::new()) };
        if is_run {
            let changed: Vec<&str> =
                changes.added.iter().chain(&changes.modified).map(String::as_str).collect();
            let renamed: Vec<(&str, &str)> =
                renamed.iter().map(|(from, to)| (from.as_str(), to.as_str())).collect();
            let at = clock::now().timestamp();
            store.record_map_run(&MapRun {
                run: record.about.next_run,
                at,
                changed: &changed,
                renamed: &renamed,
            })?;
        }
        if is_run || full {
            record.about.next_run = next_run();
        }
        Ok(store.changed_in_map_runs(RUNS)?)
    }

    /// Writes the document where it would be another; says whether it did.
    fn write(
        &self,
        record: &mut Record,
        made: Option<&Made>,
        before: Written,
        as_written: bool,
        full: bool,
    ) -> Result<bool, CommandError> {
        record.about.written = before;
        let same = made.is_none_or(|made| as_written && before.digest == paper::digest(made.text.as_bytes()));
        if let Some(made) = made.filter(|_| !same || full) {
            record.about.written = paper::write(self.project, &self.place, &made.text, full)?;
            return Ok(true);
        }
        if let Some(settled) = paper::settled(&self.place, before) {
            record.about.written = settled;
        }
        Ok(false)
    }
}

/// A number that no other run has.
fn next_run() -> u64 {
    let text = format!("{} {}", std::process::id(), clock::now().timestamp().as_nanosecond());
    let hash = blake3::hash(format!("{text} {:?}", std::time::Instant::now()).as_bytes());
    u64::from_le_bytes(hash.as_bytes().first_chunk().copied().unwrap_or_default())
}
