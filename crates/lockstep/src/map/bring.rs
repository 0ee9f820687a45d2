//! Making and updating the map of a project.

use std::collections::HashSet;

use jiff::civil::Date;
use lockstep_git::Repository;
use lockstep_index::index::{
    Built, Condition, Home, Index, Order as IndexOrder, Phase, Progress, Sight, build,
};
use lockstep_map::digest::digest;
use lockstep_map::document::Pruned;
use lockstep_map::hotspot::RUNS;
use lockstep_map::l1::{L1, Mode, Status};
use lockstep_map::record::{About, Record};
use lockstep_map::redraw::{Drawing, redraw};
use lockstep_map::update::{Changes, NewAnswers, Present, Updated, update};
use lockstep_map::view::{Made, View};
use lockstep_refs::world::FileId;
use lockstep_store::Store;
use lockstep_store::map_runs::MapRun;

use super::answers::Answers;
use super::lock::MapLock;
use super::memory::Memory;
use super::paper::{self, Paper, Sheet};
use super::place::Place;
use super::renames::{by_git, renames};
use super::start::Start;
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
    /// Files to be looked at whatever is known of them, and no others. Where there are none, all.
    pub(crate) files: HashSet<String>,
}

impl Order {
    fn sight(&self) -> Sight<'_> {
        if self.files.is_empty() { Sight::Whole } else { Sight::Only(&self.files) }
    }
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
    /// The entries that the document leaves out.
    pub(crate) pruned: Pruned,
    /// Whether the document was written.
    pub(crate) is_written: bool,
    /// Whether only files that were named have been looked at.
    pub(crate) is_partial: bool,
    pub(crate) notes: Vec<String>,
}

impl ActiveProject {
    /// Makes the map, or brings it up to date.
    pub(crate) fn bring_map(&self, order: &Order, terminal: &Terminal) -> Result<Done, CommandError> {
        let what = if order.way == Way::Full { "build" } else { "update" };
        let _lock = MapLock::take(&self.state, what, terminal)?;
        let place = self.map_place_for(order.scope.as_deref())?;
        let today = clock::now().date();
        let bar = ProgressBar::new(terminal);
        let (start, index) = match order.way {
            Way::Full => (Start::look(self, &place, order, today)?, None),
            // Files are looked at while what is remembered of them is read.
            Way::Incremental => std::thread::scope(|scope| {
                let start = scope.spawn(|| Start::look(self, &place, order, today));
                let index = self.index_of_now(order.sight(), &bar);
                let start = start.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
                Ok::<_, CommandError>((start, Some(index?)))
            })?,
        };
        let index = match index.filter(|_| start.mode != Mode::FullGeneration) {
            Some(index) => index,
            None => self.index_with_facts(&bar)?,
        };
        Bringing { project: self, place, today, order, bar: &bar }.run(start, index)
    }

    /// The index, up to date. What it found changed is kept on disk when the map is made.
    fn index_of_now(&self, sight: Sight<'_>, bar: &ProgressBar) -> Result<Index, CommandError> {
        let (home, settings) = (Home::State(&self.state), self.index_settings());
        Ok(Index::open_and_keep_later(&self.root, home, &settings, sight, bar)?)
    }

    /// The index with the facts of all files.
    fn index_with_facts(&self, bar: &ProgressBar) -> Result<Index, CommandError> {
        let order = IndexOrder { anew: false, facts: true };
        match build(&self.root, &self.state, &self.index_settings(), order, bar)? {
            Built::Done(index) => Ok(*index),
            Built::Busy(_) => self.index_of_now(Sight::Whole, bar),
        }
    }
}

/// The document as it should be.
enum Drawn {
    /// The one that is there.
    AsBefore,
    /// Made of the one that is there.
    Anew(Drawing),
    Whole(Made),
}

struct Bringing<'a> {
    project: &'a ActiveProject,
    place: Place,
    today: Date,
    order: &'a Order,
    bar: &'a ProgressBar,
}

impl Bringing<'_> {
    fn run(&self, mut start: Start, index: Index) -> Result<Done, CommandError> {
        let before = start.old.about.clone();
        let is_ahead = self.is_ahead(&start.old);
        let files = files_in(&index, &start.scope);
        let updated = self.update(&index, &files, &mut start);
        let condition = index.condition();
        std::thread::scope(|scope| {
            // What was read for this is there for the next; that it could not be kept harms nobody.
            scope.spawn(move || {
                let mut index = index;
                // The process ends soon; giving back its memory piece by piece would only take time.
                let _ = index.keep_parsed();
                std::mem::forget(index);
            });
            self.finish(start, updated, &before, &condition, is_ahead)
        })
    }

    /// Records what was found, and writes the document and what is remembered.
    fn finish(
        &self,
        start: Start,
        updated: Updated,
        before: &About,
        condition: &Condition,
        is_ahead: bool,
    ) -> Result<Done, CommandError> {
        let full = start.mode == Mode::FullGeneration;
        let renamed = if full { Vec::new() } else { self.renamed(&updated, before, condition) };
        let Updated { mut record, changes, answers, resolved, looked_at, mut redrawn, mut amendment, .. } =
            updated;
        let amendments = start.amendments.filter(|_| !full && matches!(answers, NewAnswers::Append(_)));
        let is_idle = changes.is_empty() && resolved == 0 && !is_ahead;
        if !condition.fresh {
            distrust(&mut record, &changes);
        }
        record.about.scope = start.scope.text().to_owned();
        record.about.commit = condition.commit.clone().unwrap_or_default();
        self.date(&mut record.about, full, is_idle);
        let hot = self.hot(start.store, &mut record.about, &changes, &renamed, full)?;
        let is_as_written = match start.paper {
            Paper::AsWritten(written) => {
                record.about.written = written;
                true
            }
            Paper::Missing | Paper::Other(_) => false,
        };
        let limit = self.place.limit(&start.scope);
        record.about.limit = limit;
        // A document that is not limited need not be made to know that it is as it was.
        let is_known = is_idle && is_as_written && limit.is_none() && before.limit.is_none();
        heat(&mut record, &hot, &mut redrawn);
        let mut drawn = match is_known {
            true => Drawn::AsBefore,
            false => self.drawn(&record, &hot, &redrawn, is_as_written && !full),
        };
        let memory = Memory::of(&self.project.state);
        memory.put_answers(&mut record, if full { 0 } else { before.answer_bytes }, &answers)?;
        let mut other = self.write_drawn(&mut record, &mut drawn, &hot)?;
        let is_written = match &drawn {
            Drawn::AsBefore => false,
            Drawn::Anew(_) => true,
            Drawn::Whole(made) => {
                other = record.set_blocks(&made.blocks);
                self.write_whole(&mut record.about, made, is_as_written, full)?
            }
        };
        if is_written || !is_idle || looked_at > 0 || record.about != *before {
            amendment.touch(redrawn.into_iter().chain(other));
            if !amendments
                .map_or(Ok(false), |amendments| memory.put_amendment(&amendments, &amendment, &record))?
            {
                memory.put(&record)?;
            }
        }
        let (listed, pruned) = match &drawn {
            Drawn::Whole(made) => (made.listed, made.pruned),
            Drawn::AsBefore | Drawn::Anew(_) => (record.entries.len(), Pruned::default()),
        };
        let is_partial = !full && !self.order.files.is_empty();
        let strangers = self.strangers(&record, &changes);
        std::mem::forget(record);
        std::mem::forget(start.answers);
        let l1 = self.l1(start.mode, condition, listed, &changes);
        let mut notes = start.notes;
        notes.extend(strangers);
        notes.extend(told(condition));
        Ok(Done { l1, changes, renamed, pruned, is_written, is_partial, notes })
    }

    /// What to say of names that are those of nothing.
    fn strangers(&self, record: &Record, changes: &Changes) -> Vec<String> {
        let is_known = |path: &str| {
            let below = format!("{path}/");
            let is_it = |known: &str| known == path || known.starts_with(&below) || path.is_empty();
            record.find(path).is_some()
                || record.entries.iter().any(|entry| is_it(&entry.path))
                || changes.removed.iter().any(|gone| is_it(gone))
        };
        let mut unknown: Vec<&String> = self.order.files.iter().filter(|path| !is_known(path)).collect();
        unknown.sort_unstable();
        unknown
            .iter()
            .map(|path| format!("{path} has no entry: no file in the map's scope has this path"))
            .collect()
    }

    /// Whether something is of a day to come: a clock was set back.
    fn is_ahead(&self, old: &Record) -> bool {
        old.about.incremental > self.today || old.entries.iter().any(|entry| entry.updated > self.today)
    }

    /// Brings the record up to date; where what is remembered is damaged, from nothing.
    fn update(&self, index: &Index, files: &[(FileId, u64)], start: &mut Start) -> Updated {
        let aliases = self.project.aliases();
        let report = |done, all| self.bar.report(Phase::References, done, all);
        let present = Present {
            world: index,
            files,
            again: &self.order.files,
            aliases: &aliases,
            today: self.today,
            progress: &report,
        };
        let old = std::mem::replace(&mut start.old, Record::empty(self.today));
        let mut empty = Record::empty(self.today);
        (empty.about.settings, empty.about.answers) = (old.about.settings, old.about.answers);
        if let Ok(updated) = update(old, &present, &start.answers) {
            return updated;
        }
        start.mode = Mode::FullGeneration;
        start.notes.push("what was remembered of the map was damaged, so it was made anew".to_owned());
        let anew = update(empty, &present, &Answers::none());
        anew.expect("without answers there is nothing to be damaged")
    }

    fn renamed(&self, updated: &Updated, before: &About, condition: &Condition) -> Vec<(String, String)> {
        renames(updated, || {
            let repository = Repository::at(&self.project.root).ok().flatten();
            by_git(repository.as_ref(), &before.commit, condition.commit.as_deref())
        })
    }

    fn date(&self, about: &mut About, full: bool, is_idle: bool) {
        if full {
            about.full = self.today;
        }
        if !is_idle || full {
            about.incremental = self.today;
        }
        about.full = about.full.min(self.today);
        about.incremental = about.incremental.min(self.today);
    }

    /// Records the run where it is one, and tells which paths changed in each of the last.
    fn hot(
        &self,
        mut store: Option<Store>,
        about: &mut About,
        changes: &Changes,
        renamed: &[(String, String)],
        full: bool,
    ) -> Result<HashSet<String>, CommandError> {
        let is_run = !full && !changes.is_empty();
        if is_run || full {
            let number = std::mem::replace(&mut about.next_run, next_run());
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
        Ok(store.map_or_else(|| Ok(HashSet::new()), |store| store.changed_in_map_runs(RUNS))?)
    }

    /// The document. Most of it is the one on disk, where that is as it was written.
    fn drawn(
        &self,
        record: &Record,
        hot: &HashSet<String>,
        redrawn: &HashSet<u32>,
        is_as_written: bool,
    ) -> Drawn {
        if is_as_written && record.about.limit.is_none() {
            let is_hot = |path: &str| hot.contains(path);
            match redraw(record, &is_hot, redrawn, &paper::former(&self.place)) {
                Some(drawing) if drawing.is_former(record.about.written.size) => return Drawn::AsBefore,
                Some(drawing) => return Drawn::Anew(drawing),
                None => {}
            }
        }
        Drawn::Whole(made(record, hot))
    }

    /// Writes a document that is drawn on the former one; returns the entries that have other sizes in it. One that turns out not to be
    /// what was drawn on is made from nothing.
    fn write_drawn(
        &self,
        record: &mut Record,
        drawn: &mut Drawn,
        hot: &HashSet<String>,
    ) -> Result<Vec<u32>, CommandError> {
        let Drawn::Anew(drawing) = &*drawn else { return Ok(Vec::new()) };
        let other = record.set_blocks(&drawing.blocks);
        let sheet = Sheet::Drawn(drawing, record.about.written);
        match paper::write(self.project, &self.place, &sheet, false)? {
            Some(written) => record.about.written = written,
            None => *drawn = Drawn::Whole(made(record, hot)),
        }
        Ok(other)
    }

    /// Writes a document that was made from nothing, where it is another; says whether it did.
    fn write_whole(
        &self,
        about: &mut About,
        made: &Made,
        is_as_written: bool,
        full: bool,
    ) -> Result<bool, CommandError> {
        let is_same = is_as_written && about.written.digest == digest(made.text.as_bytes());
        if is_same && !full {
            return Ok(false);
        }
        let written = paper::write(self.project, &self.place, &Sheet::Whole(&made.text), full)?;
        about.written = written.unwrap_or_default();
        Ok(true)
    }

    fn l1(&self, mode: Mode, condition: &Condition, listed: usize, changes: &Changes) -> L1 {
        let status = if condition.fresh { Status::Complete } else { Status::Partial };
        let mut l1 = L1::new(mode, status, listed, self.place.shown.clone());
        l1.new_entries_added = changes.added.len();
        l1.stale_entries_removed = changes.removed.len();
        l1.entries_updated = changes.modified.len();
        l1
    }
}

/// The document, made from nothing.
fn made(record: &Record, hot: &HashSet<String>) -> Made {
    View::new(record, &|path| hot.contains(path)).document(record.about.limit)
}

/// Notes which entries are hot; those that were not, or are no longer, stand otherwise in the document.
fn heat(record: &mut Record, hot: &HashSet<String>, redrawn: &mut HashSet<u32>) {
    let now: HashSet<usize> = hot.iter().filter_map(|path| record.find(path)).collect();
    for (at, entry) in record.entries.iter_mut().enumerate() {
        let is_hot = !now.is_empty() && now.contains(&at);
        if entry.is_hot != is_hot {
            entry.is_hot = is_hot;
            redrawn.extend(u32::try_from(at).ok());
        }
    }
}

/// Something changed after the look at the disk: whatever was read now is looked at again the next time.
fn distrust(record: &mut Record, changes: &Changes) {
    let read: HashSet<&str> = changes.added.iter().chain(&changes.modified).map(String::as_str).collect();
    for entry in record.entries.iter_mut().filter(|entry| read.contains(&*entry.path)) {
        (entry.version, entry.content) = (0, 0);
    }
}

/// What cannot be said of all files.
fn told(condition: &Condition) -> Vec<String> {
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
fn next_run() -> u64 {
    let text = format!("{} {:?}", std::process::id(), std::time::SystemTime::now());
    let hash = blake3::hash(text.as_bytes());
    u64::from_le_bytes(hash.as_bytes().first_chunk().copied().unwrap_or_default())
}
