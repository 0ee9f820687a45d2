//! Bringing a record up to date: what changed, whose references that may touch, and their resolution.
//!
//! A build is an update of a record without entries. Hence both end in the same map; that an update looks at few files rests
//! on two things. References by imports and symbols are those of the last time unless an answer that their resolution got has
//! changed (`question`). References in text are, unless a file whose name stands there came or went.

mod affected;
mod assemble;
mod scan;

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::civil::Date;
use lockstep_refs::entity::{Aliases, Names};
use lockstep_refs::world::{FileId, World};
use rayon::prelude::*;

use crate::ask::{Offers, Terrain};
use crate::record::{Amendment, Moves, Record};
use affected::Affected;
use assemble::{Assembled, Assembly};
use scan::{Resolved, Scanned, resolve, scan};

/// The files as they are.
pub struct Present<'a> {
    /// What they hold.
    pub world: &'a dyn World,
    /// Those that have an entry, sorted by path, with their versions.
    pub files: &'a [(FileId, u64)],
    /// Paths of files to be resolved again even where nothing says that they must.
    pub again: &'a HashSet<String>,
    /// The names that the project gives.
    pub aliases: &'a Aliases,
    /// The day.
    pub today: Date,
    /// Told how many of how many files are done.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
}

/// What came of an update.
#[derive(Debug)]
pub struct Updated {
    /// The new record. Where its answers are is filled in; what the document is, not yet.
    pub record: Record,
    /// What changed, by path.
    pub changes: Changes,
    /// What happens to the file of answers.
    pub answers: NewAnswers,
    /// How many files were resolved.
    pub resolved: usize,
    /// How many files had another version than the record knew, were new or gone: without any, the record is as it was.
    pub looked_at: usize,
    /// The contents that removed files had, in their order.
    pub removed_contents: Vec<u64>,
    /// The places of entries that stand in the document otherwise than before.
    pub redrawn: HashSet<u32>,
    /// What became of the former record. Says nothing of answers that were put into a file of their own.
    pub amendment: Amendment,
}

/// What changed since the last time, each sorted by path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    /// Files that are new.
    pub added: Vec<String>,
    /// Files that are gone.
    pub removed: Vec<String>,
    /// Files with another content.
    pub modified: Vec<String>,
}

impl Changes {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.modified.is_empty()
    }
}

/// What is to be written to the file of answers.
#[derive(Debug, PartialEq, Eq)]
pub enum NewAnswers {
    /// These bytes, behind those that count.
    Append(Vec<u8>),
    /// These bytes, in a file of their own.
    Replace(Vec<u8>),
}

/// The file of answers is not what the record says: everything must be looked at again.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the record of the map is damaged")]
pub struct Damaged;

/// Where the answers of the last time come from. Most updates need few of them, or none.
pub trait AnswersFile: Sync {
    /// These bytes of it; `None` where it has fewer, or cannot be read.
    fn read(&self, range: Range<u64>) -> Option<Cow<'_, [u8]>>;
}

/// Brings a record up to date with the files.
pub fn update(old: Record, present: &Present<'_>, answers: &dyn AnswersFile) -> Result<Updated, Damaged> {
    let plan = Plan::new(&old, present);
    let scans = plan.scans(present);
    let mut changed = Vec::new();
    let mut changes = Changes {
        removed: plan.removed.iter().map(|at| old.entries[*at].path.to_string()).collect(),
        ..Changes::default()
    };
    for (at, scanned) in &scans {
        let path = present.world.path(present.files[*at].0).to_owned();
        match plan.before[*at].map(|before| &old.entries[before as usize]) {
            None => changes.added.push(path),
            Some(before) if before.content != scanned.content => changes.modified.push(path),
            // Another version of the same content.
            Some(_) => continue,
        }
        changed.push(*at);
    }
    let offers = CurrentOffers { plan: &plan, old: &old, scans: &scans, answers };
    let terrain = Terrain::new(present.world, present.files, &offers);
    let mut resolve_again: HashSet<usize> = changed.iter().copied().collect();
    resolve_again.extend(plan.again.iter().copied());
    if !old.entries.is_empty() {
        Affected { old: &old, plan: &plan, scans: &scans, present, terrain: &terrain, answers }
            .add_to(&mut resolve_again)?;
    }
    let names = plan.names(&old, &scans, present);
    let mut order: Vec<usize> = resolve_again.into_iter().collect();
    order.sort_unstable();
    let keep = order.len() <= FEW;
    let done = AtomicUsize::new(0);
    let resolved: Vec<(usize, Resolved)> = in_parallel(&order, |at| {
        let resolved = resolve(&terrain, present.world, &names, present.files[at].0, keep);
        (present.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, order.len());
        (at, resolved)
    });
    let looked_at = plan.unknown.len() + plan.removed.len();
    let removed_contents = plan.removed.iter().map(|at| old.entries[*at].content).collect();
    let resolved_count = resolved.len();
    let Assembled { record, answers, redrawn, amendment } =
        Assembly::new(old, &plan, present).finished(present, scans, resolved, answers, &changes)?;
    let resolved = resolved_count;
    Ok(Updated { record, changes, answers, resolved, looked_at, removed_contents, redrawn, amendment })
}

/// What so many files hold is kept in memory: they are scanned, and then resolved.
const FEW: usize = 300;

/// With as many cores as there are, where it is worth starting threads.
fn in_parallel<T: Send>(items: &[usize], work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    if items.len() < 16 {
        return items.iter().map(|item| work(*item)).collect();
    }
    items.par_iter().map(|item| work(*item)).collect()
}

/// How the entries of the last time and the files of now belong together.
pub(crate) struct Plan {
    /// The former entry of each file.
    before: Vec<Option<u32>>,
    /// The file of each former entry.
    after: Vec<Option<u32>>,
    /// Former entries whose file is gone.
    removed: Vec<usize>,
    /// Files that must be looked at.
    unknown: Vec<usize>,
    /// Files that somebody wants to be resolved again.
    again: Vec<usize>,
}

impl Plan {
    fn new(old: &Record, present: &Present<'_>) -> Self {
        let mut plan = Self {
            before: Vec::with_capacity(present.files.len()),
            after: vec![None; old.entries.len()],
            removed: Vec::new(),
            unknown: Vec::new(),
            again: Vec::new(),
        };
        let place = |path: &String| {
            let by_path = |(file, _): &(FileId, u64)| present.world.path(*file).cmp(path);
            present.files.binary_search_by(by_path).ok()
        };
        plan.again.extend(present.again.iter().filter_map(place));
        plan.again.sort_unstable();
        let mut again = plan.again.iter().peekable();
        let mut former = 0_usize;
        for (at, (file, version)) in present.files.iter().enumerate() {
            let path = present.world.path(*file);
            while old.entries.get(former).is_some_and(|entry| &*entry.path < path) {
                plan.removed.push(former);
                former += 1;
            }
            let same = old.entries.get(former).filter(|entry| &*entry.path == path);
            plan.before.push(same.and_then(|_| u32::try_from(former).ok()));
            let is_asked_for = again.next_if_eq(&&at).is_some();
            if is_asked_for || same.is_none_or(|entry| entry.version != *version) {
                plan.unknown.push(at);
            }
            if same.is_some() {
                plan.after[former] = u32::try_from(at).ok();
                former += 1;
            }
        }
        plan.removed.extend(former..old.entries.len());
        plan
    }

    /// Which entries come and go.
    fn moves(&self) -> Moves {
        let places = |places: &mut dyn Iterator<Item = usize>| {
            places.map(|at| u32::try_from(at).expect("places have 32 bits")).collect()
        };
        let new = self.before.iter().enumerate().filter(|(_, before)| before.is_none());
        Moves {
            removed: places(&mut self.removed.iter().copied()),
            added: places(&mut new.map(|(at, _)| at)),
        }
    }

    /// Looks at the files that must be looked at, in their order.
    fn scans(&self, present: &Present<'_>) -> Vec<(usize, Scanned)> {
        let keep = self.unknown.len() <= FEW;
        in_parallel(&self.unknown, |at| (at, scan(present, present.files[at].0, keep)))
    }

    /// What a file was found to be, where it was looked at.
    fn scanned(scans: &[(usize, Scanned)], at: usize) -> Option<&Scanned> {
        scans.binary_search_by_key(&at, |(scanned, _)| *scanned).ok().map(|found| &scans[found].1)
    }

    /// The names of all files.
    fn names(&self, old: &Record, scans: &[(usize, Scanned)], present: &Present<'_>) -> Names {
        let mut all = Vec::new();
        for (at, before) in self.before.iter().enumerate() {
            let names = match (Self::scanned(scans, at), before) {
                (Some(scanned), _) => &scanned.names,
                (None, Some(before)) => &old.entries[*before as usize].names,
                (None, None) => continue,
            };
            all.extend(names.iter().map(|(kind, name)| (present.files[at].0, *kind, name.clone())));
        }
        Names::from_entities(all)
    }
}

/// The words that files offer now.
struct CurrentOffers<'a> {
    plan: &'a Plan,
    old: &'a Record,
    scans: &'a [(usize, Scanned)],
    answers: &'a dyn AnswersFile,
}

impl Offers for CurrentOffers<'_> {
    fn has(&self, entry: usize, word: u32) -> bool {
        if let Some(scanned) = Plan::scanned(self.scans, entry) {
            return scanned.offered.binary_search(&word).is_ok();
        }
        let before = self.plan.before[entry].map(|before| self.old.entries[before as usize].answers);
        before.is_some_and(|answers| answers.offers(self.answers, word))
    }
}
