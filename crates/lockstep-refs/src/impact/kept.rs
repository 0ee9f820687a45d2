//! Places that a change does not break, because they find what they mean all the same: asked of the world as it is now.

use std::collections::{BTreeSet, HashMap};

use super::arrivals::Arrivals;
use super::edit::{Edit, is_repackaged};
use crate::change::{SymbolChange, What, difference};
use crate::facts::{Definition, Facts, Reach};
use crate::language::{self, Language};
use crate::reference::{Reference, Target};
use crate::world::{FileId, World};

/// A place that references something: the file, the line, and the name there.
pub(super) type Spot = (FileId, u32, Box<str>);
/// A place that finds what moved, and what became of that on the way.
type MovedSpot = (Spot, Option<What>);

/// The places that an edit leaves as they are.
pub(super) struct Kept<'a> {
    world: &'a dyn World,
    edit: &'a Edit,
    after: Option<&'a Facts>,
    changes: &'a [SymbolChange],
    /// Whether the file belongs to another package than before.
    repackaged: bool,
    /// For the file in its new place, or for what fewer can name now.
    spots: BTreeSet<Spot>,
    /// For what goes by another name now: asked when the first such place is found.
    renamed: Option<BTreeSet<Spot>>,
    /// What other files won by the same change.
    arrivals: &'a Arrivals<'a>,
    /// For what moved to another file, by the line where it was: where it is found there, and what became of it.
    moved: HashMap<(u32, Box<str>), Vec<MovedSpot>>,
}

impl<'a> Kept<'a> {
    /// `world` has the file as `after` says, where that is anywhere.
    pub(super) fn new(
        world: &'a dyn World,
        edit: &'a Edit,
        (was, after): (&Facts, Option<&'a Facts>),
        changes: &'a [SymbolChange],
        arrivals: &'a Arrivals<'a>,
    ) -> Self {
        let mut kept = Self {
            world,
            edit,
            after,
            changes,
            repackaged: after.is_some_and(|after| is_repackaged(was, after)),
            spots: BTreeSet::new(),
            renamed: None,
            arrivals,
            moved: HashMap::new(),
        };
        kept.spots.extend(kept.in_new_place());
        kept.spots.extend(kept.still_named());
        kept
    }

    /// Whether a place still leads to what it means, whatever became of that.
    pub(super) fn finds(&mut self, change: &SymbolChange, reference: &Reference) -> bool {
        match change.what {
            What::Narrowed => self.has(reference),
            What::Renamed(_) => {
                self.has_renamed(change, reference)
                    || self.has_moved(&change.was, reference)
                    || self.repackaged && self.has(reference)
            }
            What::Removed => self.has_moved(&change.was, reference),
            _ => false,
        }
    }

    /// Whether the file still says that it offers what it does not have any more: then it is itself that breaks.
    pub(super) fn is_still_offered(&self, change: &SymbolChange) -> bool {
        let gone = matches!(change.what, What::Removed | What::Renamed(_)) && change.was.container.is_none();
        let imports = self.after.iter().flat_map(|it| &it.imports);
        let own = imports.filter(|it| it.module.is_empty() && it.container.is_none());
        gone && own.flat_map(|it| &it.names).any(|it| it.name == change.was.name)
    }

    /// Whether a place finds a definition in the file that it moved to, and fits it there: in the same package, or handed on
    /// by the same module.
    pub(super) fn has_moved(&mut self, was: &Definition, reference: &Reference) -> bool {
        let key = (was.line, was.name.clone());
        if !self.moved.contains_key(&key) {
            let places = self.places_of_moved(was);
            self.moved.insert(key.clone(), places);
        }
        // In the file that has it now it is its own.
        let mut homes = self.arrivals.of(&self.edit.path, was);
        if homes.any(|arrival| self.world.find(&arrival.path) == Some(reference.file)) {
            return true;
        }
        let spot = spot(reference);
        let mut places = self.moved.get(&key).into_iter().flatten().filter(|(found, _)| *found == spot);
        places.any(|(_, what)| match what {
            None => true,
            Some(what) => !SymbolChange { was: was.clone(), what: what.clone() }.breaks(reference, &[]),
        })
    }

    fn places_of_moved(&self, was: &Definition) -> Vec<MovedSpot> {
        let mut places = Vec::new();
        for arrival in self.arrivals.of(&self.edit.path, was) {
            let Some(file) = self.world.find(&arrival.path) else { continue };
            let symbols = std::slice::from_ref(&arrival.definition);
            let target = Target { file, symbols, module: false, now: None, own_file: false };
            let what = difference(Language::of(&arrival.path), was, &arrival.definition);
            let rules = language::rules(Language::of(&arrival.path));
            let found = rules.referrers(self.world, &target);
            places.extend(found.iter().map(|reference| (spot(reference), what.clone())));
        }
        places
    }

    /// Whether a place still leads to the file, or to what it means in it.
    pub(super) fn has(&self, reference: &Reference) -> bool {
        self.spots.contains(&spot(reference))
    }

    /// Whether a place that does not say the former name leads to what goes by a new one: who takes the default of a module
    /// says nothing of what the module calls it.
    fn has_renamed(&mut self, change: &SymbolChange, reference: &Reference) -> bool {
        // Who says the former name found it by that, unless it took the default and calls it so itself.
        if reference.pattern == change.was.name && !self.is_default(change) {
            return false;
        }
        if self.renamed.is_none() {
            self.renamed = Some(self.by_new_names());
        }
        self.renamed.as_ref().is_some_and(|spots| spots.contains(&spot(reference)))
    }

    /// Whether the file offers, without a name, what goes by a new one.
    fn is_default(&self, change: &SymbolChange) -> bool {
        let (Some(after), Some(name)) = (self.after, change.what.new_name()) else { return false };
        let own = after.imports.iter().filter(|it| it.module.is_empty()).flat_map(|it| &it.names);
        own.into_iter().any(|it| &*it.local == "default" && *it.name == *name)
    }

    /// The places that lead to a file in its new place as well, because its place says nothing to them: it is in the same package as before,
    /// or `a.rs` became `a/mod.rs`.
    fn in_new_place(&self) -> BTreeSet<Spot> {
        match (&self.edit.former, self.after) {
            (Some(_), Some(after)) => self.ask(after, |it| it.reach > Reach::File, true),
            (None, Some(after)) if self.repackaged => self.ask(after, |it| it.reach > Reach::File, false),
            _ => BTreeSet::new(),
        }
    }

    /// The places that can still name what fewer can name than before. In Python that is everybody who says the name: what is not in `__all__`
    /// only no longer comes with a star.
    fn still_named(&self) -> BTreeSet<Spot> {
        let narrowed = self.changes.iter().filter(|change| change.what == What::Narrowed);
        let narrowed: BTreeSet<&str> = narrowed.map(|change| &*change.was.name).collect();
        match self.after {
            Some(after) if !narrowed.is_empty() && after.language == Language::Python => {
                self.ask(after, |it| narrowed.contains(&*it.name), false)
            }
            _ => BTreeSet::new(),
        }
    }

    fn by_new_names(&self) -> BTreeSet<Spot> {
        let names = self.changes.iter().filter_map(|it| Some((it.was.kind, it.what.new_name()?)));
        let names: BTreeSet<_> = names.collect();
        match self.after {
            Some(after) => self.ask(after, |it| names.contains(&(it.kind, &*it.name)), false),
            None => BTreeSet::new(),
        }
    }

    /// Who references these definitions of the file as it is now, and where asked for the file itself.
    fn ask(&self, after: &Facts, wanted: impl Fn(&Definition) -> bool, module: bool) -> BTreeSet<Spot> {
        let Some(file) = self.world.find(&self.edit.path) else { return BTreeSet::new() };
        let symbols: Vec<Definition> = after.definitions.iter().filter(|it| wanted(it)).cloned().collect();
        let target = Target { file, symbols: &symbols, module, now: None, own_file: false };
        language::rules(after.language).referrers(self.world, &target).iter().map(spot).collect()
    }
}

pub(super) fn spot(reference: &Reference) -> Spot {
    (reference.file, reference.line, reference.pattern.clone())
}
