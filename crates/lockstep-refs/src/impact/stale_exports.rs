//! Names that a module still exports and no longer has, as in `__all__` of Python. For a checker, a star
//! import of such a name succeeds: the module itself breaks.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::OldFile;
use super::edit::Edit;
use super::still_resolves::{RefKey, ref_key};
use crate::definition_diff::{DefinitionChangeKind, SymbolChange};
use crate::facts::{Definition, Facts, Reach};
use crate::language;
use crate::overlay::Overlay;
use crate::reference::{Kind, Reference, Target};
use crate::world::World;

/// The names that an edit left exported without a definition.
pub(super) struct StaleExports {
    names: BTreeSet<Box<str>>,
    /// The places that get such a name without a star import.
    by_name: BTreeSet<RefKey>,
}

impl StaleExports {
    /// Creates the check. `world` has the present file, whose facts are `after`.
    pub(super) fn new(world: &dyn World, edit: &Edit, former: &OldFile<'_>, after: Option<&Facts>) -> Self {
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

    /// Returns true if a place gets an undefined name by a star import. An import by name fails.
    pub(super) fn keeps(&self, change: &SymbolChange, reference: &Reference) -> bool {
        is_gone(change)
            && reference.kind != Kind::Import
            && self.names.contains(owner(&change.was))
            && !self.by_name.contains(&ref_key(reference))
    }
}

fn is_gone(change: &SymbolChange) -> bool {
    matches!(change.what, DefinitionChangeKind::Removed | DefinitionChangeKind::Renamed(_))
}

/// Returns the outermost name through which a definition is accessed.
fn owner(definition: &Definition) -> &str {
    let container = definition.container.as_deref().and_then(|path| path.split('.').next());
    container.unwrap_or(&definition.name)
}

/// Returns the references to these names without a star import.
fn named(world: &dyn World, edit: &Edit, facts: &Facts, names: &BTreeSet<Box<str>>) -> BTreeSet<RefKey> {
    let mut facts = facts.clone();
    let wanted = |it: &&mut Definition| names.contains(owner(it)) && it.reach > Reach::Package;
    facts.definitions.iter_mut().filter(wanted).for_each(|it| it.reach = Reach::Package);
    let symbols: Vec<Definition> =
        facts.definitions.iter().filter(|it| names.contains(owner(it))).cloned().collect();
    let rules = language::rules(facts.language);
    let mut before = Overlay::empty(world);
    let file = before.add(edit.former_path(), Arc::new(facts), None);
    let target = Target { file, symbols: &symbols, module: false, now: None, own_file: false };
    rules.referrers(&before, &target).iter().map(ref_key).collect()
}
