//! Dependents: the references that were found, one entry for each file, with its evidence, ranked.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Edit, propagates, shell_tests};
use crate::entity::is_historical_record;
use crate::reference::{Certainty, Kind, Reference};
use crate::world::{FileId, World};

/// The maximum number of undecided dependents of one file that are listed; the others are counted. A name
/// like `get` occurs everywhere.
const MAX_UNDECIDED: usize = 25;

/// A file that depends on a changed one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependent {
    /// Relative to the root.
    pub path: String,
    /// The distance from the change.
    pub hop: Hop,
    /// The kind of its strongest reference.
    pub kind: Kind,
    /// Set if it no longer fits what it references.
    pub breaks: bool,
    pub certainty: Certainty,
    /// The name in its strongest reference.
    pub pattern: String,
    /// Every place, the strongest first.
    pub evidence: Vec<Evidence>,
}

impl Dependent {
    /// Returns the key by which dependents are ranked, strongest first. Change logs and other records of the
    /// past come last.
    pub fn strength(&self) -> impl Ord + use<> {
        let places = Reverse(self.evidence.len());
        let is_historical_record = is_historical_record(&self.path);
        (
            self.is_undecided(),
            is_historical_record,
            self.hop.count(),
            !self.breaks,
            self.kind,
            self.certainty,
            places,
        )
    }

    /// Returns true if it only uses members of that name, which may belong to other types.
    pub fn is_undecided(&self) -> bool {
        self.certainty == Certainty::Undecided
    }
}

/// The distance of a dependent from the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hop {
    /// It references the change.
    Direct,
    /// It references a direct dependent.
    Transitive {
        /// The direct dependent in between.
        via: String,
    },
}

impl Hop {
    /// Returns the distance: 1 or 2.
    pub fn count(&self) -> u8 {
        match self {
            Self::Direct => 1,
            Self::Transitive { .. } => 2,
        }
    }

    /// Returns the name in reports.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Direct => "DIRECT",
            Self::Transitive { .. } => "TRANSITIVE",
        }
    }
}

/// A line that shows a dependency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// Starts at 1.
    pub line: u32,
    /// The line in the file, without its end.
    pub text: String,
    pub kind: Kind,
    /// Set if it no longer fits.
    pub breaks: bool,
    pub certainty: Certainty,
    /// The name as written there.
    pub pattern: String,
}

/// A reference, and whether the change breaks it.
pub(super) struct Place {
    pub(super) reference: Reference,
    pub(super) breaks: bool,
}

/// Collects references by file.
pub(super) struct DependentSet<'w> {
    world: &'w dyn World,
    /// Files that are no dependents: the changed one itself, under each of its names.
    own: BTreeSet<FileId>,
    direct: BTreeMap<FileId, Vec<Place>>,
    transitive: BTreeMap<FileId, (FileId, Vec<Place>)>,
}

impl<'w> DependentSet<'w> {
    pub(super) fn new(world: &'w dyn World, edit: &Edit, file: FileId) -> Self {
        let own = [Some(file), world.find(&edit.path)].into_iter().flatten().collect();
        Self { world, own, direct: BTreeMap::new(), transitive: BTreeMap::new() }
    }

    pub(super) fn add(&mut self, mut place: Place) {
        place.breaks &= !shell_tests::is_tested(self.world, &place.reference);
        let (file, through) = (place.reference.file, place.reference.through);
        if self.own.contains(&file) {
            return;
        }
        match through {
            // If another file re-exports the name, that file breaks instead.
            Some(via) if !self.own.contains(&via) && via != file => {
                self.transitive
                    .entry(file)
                    .or_insert((via, Vec::new()))
                    .1
                    .push(Place { breaks: false, ..place });
            }
            _ => self.direct.entry(file).or_default().push(place),
        }
    }

    pub(super) fn add_transitive(&mut self, via: FileId, reference: Reference) {
        let file = reference.file;
        if !self.own.contains(&file) && !self.direct.contains_key(&file) && file != via {
            let places = &mut self.transitive.entry(file).or_insert((via, Vec::new()));
            if places.0 == via {
                places.1.push(Place { breaks: false, reference });
            }
        }
    }

    /// Returns the direct dependents that propagate the change, with the positions of the definitions that
    /// do.
    pub(super) fn reached(&self) -> Vec<(FileId, BTreeSet<u32>)> {
        let within = |places: &[Place]| -> BTreeSet<u32> {
            let handing = places.iter().filter(|place| propagates(&place.reference));
            handing.filter_map(|place| place.reference.within).collect()
        };
        self.direct.iter().map(|(file, places)| (*file, within(places))).collect()
    }

    /// Returns the dependents, the most affected first, and the number of further undecided ones.
    pub(super) fn finish(self) -> (Vec<Dependent>, usize) {
        let world = self.world;
        let transitive = self.transitive.into_iter().filter(|(file, _)| !self.direct.contains_key(file));
        let mut dependents: Vec<Dependent> = transitive
            .filter_map(|(file, (via, places))| {
                let hop = Hop::Transitive { via: world.path(via).to_owned() };
                dependent(world, file, hop, &places)
            })
            .collect();
        let direct =
            self.direct.iter().filter_map(|(file, places)| dependent(world, *file, Hop::Direct, places));
        dependents.extend(direct);
        dependents.sort_by(|a, b| (a.strength(), &a.path).cmp(&(b.strength(), &b.path)));
        let decided = dependents.iter().take_while(|dependent| !dependent.is_undecided()).count();
        let more = dependents.len().saturating_sub(decided + MAX_UNDECIDED);
        dependents.truncate(decided + MAX_UNDECIDED);
        (dependents, more)
    }
}

/// Returns the dependent. `None` if the file changed meanwhile, so that no line shows it any more.
fn dependent(world: &dyn World, file: FileId, hop: Hop, places: &[Place]) -> Option<Dependent> {
    let text: Arc<str> = world.text(file)?;
    let lines: Vec<&str> = text.lines().collect();
    let mut evidence: Vec<Evidence> = places.iter().filter_map(|place| evidence(&lines, place)).collect();
    evidence.sort_by(|a, b| {
        (!a.breaks, a.kind, a.certainty, a.line, &a.pattern).cmp(&(
            !b.breaks,
            b.kind,
            b.certainty,
            b.line,
            &b.pattern,
        ))
    });
    evidence.dedup_by(|a, b| a.line == b.line && a.pattern == b.pattern);
    let first = evidence.first()?;
    Some(Dependent {
        path: world.path(file).to_owned(),
        hop,
        kind: first.kind,
        breaks: first.breaks,
        certainty: first.certainty,
        pattern: first.pattern.clone(),
        evidence,
    })
}

fn evidence(lines: &[&str], place: &Place) -> Option<Evidence> {
    let reference = &place.reference;
    let text = lines.get((reference.line as usize).checked_sub(1)?)?;
    Some(Evidence {
        line: reference.line,
        text: (*text).to_owned(),
        kind: reference.kind,
        breaks: place.breaks,
        certainty: reference.certainty,
        pattern: reference.pattern.to_string(),
    })
}
