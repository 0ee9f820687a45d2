//! Names that a module still says it offers and no longer has, as in `__all__` of Python. Who takes such a name with a star gets something,
//! as far as a checker knows: it is the module itself that breaks.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::FormerFile;
use super::edit::Edit;
use super::kept::{Spot, spot};
use crate::change::{SymbolChange, What};
use crate::facts::{Definition, Facts, Reach};
use crate::language;
use crate::overlay::Overlay;
use crate::reference::{Kind, Reference, Target};
use crate::world::World;

/// What an edit left promised.
pub(super) struct Promised {
    names: BTreeSet<Box<str>>,
    /// The places that come by such a name without a star.
    by_name: BTreeSet<Spot>,
}

impl Promised {
    /// `world` has the file as it is now, which `after` says.
    pub(super) fn new(
        world: &dyn World,
        edit: &Edit,
        former: &FormerFile<'_>,
        after: Option<&Facts>,
    ) -> Self {
        let promised = after.map(|it| &*it.promised).unwrap_or_default();
        let gone = former.changes.iter().filter(|it| is_gone(it)).map(|it| owner(&it.was));
        let names: BTreeSet<Box<str>> =
            gone.filter(|name| promised.iter().any(|it| **it == **name)).map(Into::into).collect();
        let by_name = match names.is_empty() {
            true => BTreeSet::new(),
            false => named(world, edit, former.facts, &names),
        };
        Self { names, by_name }
    }

    /// Whether a place gets by a star what is only promised. Who imports it by its name misses it, wherever that is from.
    pub(super) fn keeps(&self, change: &SymbolChange, reference: &Reference) -> bool {
        is_gone(change)
            && reference.kind != Kind::Import
            && self.names.contains(owner(&change.was))
            && !self.by_name.contains(&spot(reference))
    }
}

fn is_gone(change: &SymbolChange) -> bool {
    matches!(change.what, What::Removed | What::Renamed(_))
}

/// The outermost name that must be there to reach a definition.
fn owner(definition: &Definition) -> &str {
    let container = definition.container.as_deref().and_then(|path| path.split('.').next());
    container.unwrap_or(&definition.name)
}

/// Who references these names where no star brings them.
fn named(world: &dyn World, edit: &Edit, facts: &Facts, names: &BTreeSet<Box<str>>) -> BTreeSet<Spot> {
    let mut facts = facts.clone();
    let wanted = |it: &&mut Definition| names.contains(owner(it)) && it.reach > Reach::Package;
    facts.definitions.iter_mut().filter(wanted).for_each(|it| it.reach = Reach::Package);
    let symbols: Vec<Definition> =
        facts.definitions.iter().filter(|it| names.contains(owner(it))).cloned().collect();
    let rules = language::rules(facts.language);
    let mut before = Overlay::empty(world);
    let file = before.add(edit.former_path(), Arc::new(facts), None);
    let target = Target { file, symbols: &symbols, module: false, now: None, own_file: false };
    rules.referrers(&before, &target).iter().map(spot).collect()
}
