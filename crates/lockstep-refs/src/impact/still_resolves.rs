//! Places that a change does not break, because they still resolve in the present world.

use std::collections::{BTreeSet, HashMap};

use super::added_definitions::AddedDefinitions;
use super::edit::{Edit, is_repackaged};
use crate::definition_diff::{DefinitionChangeKind, SymbolChange, difference};
use crate::facts::{Definition, Facts, Reach};
use crate::language::{self, Language};
use crate::package::is_type;
use crate::reference::{Reference, Target};
use crate::world::{FileId, World, base, parent};

/// A place that references something: the file, the line, and the name there.
pub(super) type RefKey = (FileId, u32, Box<str>);
/// A place that resolves to the moved definition, and the change of that definition on the way.
type MovedRef = (RefKey, Option<DefinitionChangeKind>);

/// The places that an edit leaves as they are.
pub(super) struct StillResolving<'a> {
    world: &'a dyn World,
    edit: &'a Edit,
    after: Option<&'a Facts>,
    changes: &'a [SymbolChange],
    /// Set if the file's package changed.
    repackaged: bool,
    /// Places that resolve to the moved file, or to definitions with reduced visibility.
    spots: BTreeSet<RefKey>,
    /// Places that resolve to renamed definitions. Computed on first use.
    renamed: Option<BTreeSet<RefKey>>,
    /// The definitions that other files gained by the same change.
    arrivals: &'a AddedDefinitions<'a>,
    /// Places that resolve to definitions moved to another file, by the former line, with the change of the
    /// definition.
    moved: HashMap<(u32, Box<str>), Vec<MovedRef>>,
}

impl<'a> StillResolving<'a> {
    /// Creates the check. `world` has the file as in `after`, if it exists.
    pub(super) fn new(
        world: &'a dyn World,
        edit: &'a Edit,
        (was, after): (&Facts, Option<&'a Facts>),
        changes: &'a [SymbolChange],
        arrivals: &'a AddedDefinitions<'a>,
    ) -> Self {
        let mut resolving = Self {
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
        resolving.spots.extend(resolving.in_new_place());
        resolving.spots.extend(resolving.still_named());
        resolving
    }

    /// Returns true if a place still resolves to its definition, regardless of the definition's change.
    pub(super) fn finds(&mut self, change: &SymbolChange, reference: &Reference) -> bool {
        match change.what {
            DefinitionChangeKind::VisibilityReduced => self.has(reference),
            DefinitionChangeKind::Renamed(_) => {
                self.is_inherited(change)
                    || self.has_renamed(change, reference)
                    || self.has_moved(&change.was, reference)
                    || self.repackaged && self.has(reference)
            }
            DefinitionChangeKind::Removed => {
                self.is_inherited(change) || self.has_moved(&change.was, reference)
            }
            _ => false,
        }
    }

    /// Returns true if the type of a removed member inherits another one of its name.
    fn is_inherited(&self, change: &SymbolChange) -> bool {
        let Some((after, file)) = self.after.zip(self.world.find(&self.edit.path)) else { return false };
        let is_own = |definition: &Definition| {
            definition.name == change.was.name && definition.container == change.was.container
        };
        // A member of another kind hides the inherited one.
        let is_replaced =
            change.what == DefinitionChangeKind::Removed && after.definitions.iter().any(is_own);
        change.was.container.is_some()
            && !is_replaced
            && language::rules(after.language).is_inherited(self.world, file, &change.was)
    }

    /// Returns true if the file still exports a definition that it no longer has: then the file itself
    /// breaks.
    pub(super) fn is_still_offered(&self, change: &SymbolChange) -> bool {
        let is_removed =
            matches!(change.what, DefinitionChangeKind::Removed | DefinitionChangeKind::Renamed(_))
                && change.was.container.is_none();
        let imports = self.after.iter().flat_map(|facts| &facts.imports);
        let own = imports.filter(|import| import.module.is_empty() && import.container.is_none());
        is_removed && own.flat_map(|import| &import.names).any(|imported| imported.name == change.was.name)
    }

    /// Returns true if a class of PHP is not loaded from the new place of its file: autoloading derives the path from its name.
    fn is_unloadable(&self, definition: &Definition) -> bool {
        let Some(former) = self.edit.former.as_deref().filter(|_| !self.repackaged) else { return false };
        let stem = |path: &'_ str| base(path).strip_suffix(".php").map(str::to_owned);
        let is_class = definition.container.is_none() && is_type(definition);
        let is_named_so = |path: &str| stem(path).as_deref() == Some(&*definition.name);
        let is_moved = !is_named_so(&self.edit.path) || parent(former) != parent(&self.edit.path);
        is_class && is_named_so(former) && is_moved && self.has_autoload()
    }

    fn has_autoload(&self) -> bool {
        let says = |file: FileId| self.world.text(file).is_some_and(|text| text.contains("psr-4"));
        self.world.named("composer.json").into_iter().any(says)
    }

    /// Returns true if a place resolves to a definition in the file that it moved to, and fits it there: in
    /// the same package, or re-exported by the same module.
    pub(super) fn has_moved(&mut self, was: &Definition, reference: &Reference) -> bool {
        if self.is_unloadable(was) {
            return false;
        }
        let key = (was.line, was.name.clone());
        if !self.moved.contains_key(&key) {
            let places = self.places_of_moved(was);
            self.moved.insert(key.clone(), places);
        }
        // In its new file it is a local definition.
        let mut homes = self.arrivals.of(&self.edit.path, was);
        if homes.any(|arrival| self.world.find(&arrival.path) == Some(reference.file)) {
            return true;
        }
        let spot = ref_key(reference);
        let mut places = self.moved.get(&key).into_iter().flatten().filter(|(found, _)| *found == spot);
        places.any(|(_, what)| match what {
            None => true,
            Some(what) => !SymbolChange { was: was.clone(), what: what.clone() }.breaks(reference, &[]),
        })
    }

    fn places_of_moved(&self, was: &Definition) -> Vec<MovedRef> {
        let mut places = Vec::new();
        for arrival in self.arrivals.of(&self.edit.path, was) {
            let Some(file) = self.world.find(&arrival.path) else { continue };
            let symbols = std::slice::from_ref(&arrival.definition);
            let target = Target { file, symbols, module: false, now: None, own_file: false };
            let what = difference(Language::of(&arrival.path), was, &arrival.definition);
            let rules = language::rules(Language::of(&arrival.path));
            let found = rules.referrers(self.world, &target);
            places.extend(found.iter().map(|reference| (ref_key(reference), what.clone())));
        }
        places
    }

    /// Returns true if a place still resolves to the file, or to its definition in it.
    pub(super) fn has(&self, reference: &Reference) -> bool {
        self.spots.contains(&ref_key(reference))
    }

    /// Returns true if a place that does not contain the former name resolves to a renamed definition: an
    /// import of a module's default does not depend on the name in the module.
    fn has_renamed(&mut self, change: &SymbolChange, reference: &Reference) -> bool {
        // A place with the former name resolved by it, unless it imported the default and uses the same local
        // name.
        if reference.pattern == change.was.name && !self.is_default(change) {
            return false;
        }
        if self.renamed.is_none() {
            self.renamed = Some(self.by_new_names());
        }
        self.renamed.as_ref().is_some_and(|spots| spots.contains(&ref_key(reference)))
    }

    /// Returns true if the file exports the renamed definition as its default.
    fn is_default(&self, change: &SymbolChange) -> bool {
        let (Some(after), Some(name)) = (self.after, change.what.new_name()) else { return false };
        let own =
            after.imports.iter().filter(|import| import.module.is_empty()).flat_map(|import| &import.names);
        own.into_iter().any(|imported| &*imported.local == "default" && *imported.name == *name)
    }

    /// Returns the places that also resolve to a file at its new path, because they do not depend on it: it
    /// is in the same package as before, or `a.rs` became `a/mod.rs`.
    fn in_new_place(&self) -> BTreeSet<RefKey> {
        match (&self.edit.former, self.after) {
            (Some(_), Some(after)) => self.ask(
                after,
                |definition| definition.reach > Reach::File && !self.is_unloadable(definition),
                true,
            ),
            (None, Some(after)) if self.repackaged => {
                self.ask(after, |definition| definition.reach > Reach::File, false)
            }
            _ => BTreeSet::new(),
        }
    }

    /// Returns the places that can still name definitions with reduced visibility. In Python these are all
    /// places that contain the name: a name that is not in `__all__` is only excluded from star imports.
    fn still_named(&self) -> BTreeSet<RefKey> {
        let narrowed =
            self.changes.iter().filter(|change| change.what == DefinitionChangeKind::VisibilityReduced);
        let narrowed: BTreeSet<&str> = narrowed.map(|change| &*change.was.name).collect();
        match self.after {
            Some(after) if !narrowed.is_empty() && after.language == Language::Python => {
                self.ask(after, |definition| narrowed.contains(&*definition.name), false)
            }
            _ => BTreeSet::new(),
        }
    }

    fn by_new_names(&self) -> BTreeSet<RefKey> {
        let names = self.changes.iter().filter_map(|change| Some((change.was.kind, change.what.new_name()?)));
        let names: BTreeSet<_> = names.collect();
        match self.after {
            Some(after) => {
                self.ask(after, |definition| names.contains(&(definition.kind, &*definition.name)), false)
            }
            None => BTreeSet::new(),
        }
    }

    /// Returns the references to these present definitions of the file and, if `module` is set, to the file
    /// itself.
    fn ask(&self, after: &Facts, wanted: impl Fn(&Definition) -> bool, module: bool) -> BTreeSet<RefKey> {
        let Some(file) = self.world.find(&self.edit.path) else { return BTreeSet::new() };
        let symbols: Vec<Definition> =
            after.definitions.iter().filter(|definition| wanted(definition)).cloned().collect();
        let rules = language::rules(after.language);
        let target = Target { file, symbols: &symbols, module, now: None, own_file: false };
        let mut spots: BTreeSet<RefKey> = rules.referrers(self.world, &target).iter().map(ref_key).collect();
        let own = Target { own_file: true, module: false, ..target };
        spots.extend(rules.referrers(self.world, &own).iter().map(ref_key));
        spots
    }
}

pub(super) fn ref_key(reference: &Reference) -> RefKey {
    (reference.file, reference.line, reference.pattern.clone())
}
