//! Names that a module still exports and no longer has, as in `__all__` of Python. For a checker, a star
//! import of such a name succeeds: the module itself breaks.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::OldFile;
use super::dependents::{DependentSet, Place};
use super::edit::Edit;
use super::still_resolves::{RefKey, StillResolving, ref_key};
use crate::definition_diff::{DefinitionChangeKind, SymbolChange};
use crate::facts::{Definition, Facts, Reach, Role};
use crate::language::{self, Language};
use crate::limits::Limit;
use crate::overlay::Overlay;
use crate::reference::{Certainty, Kind, Reference, Target};
use crate::world::{FileId, World};

/// Star imports of star imports are followed so far.
const MAX_STEPS: usize = 3;

/// The names that an edit left exported without a definition.
pub(super) struct StaleExports {
    names: BTreeSet<Box<str>>,
    /// The places that get such a name without a star import.
    by_name: BTreeSet<RefKey>,
}

impl StaleExports {
    /// Creates the check. `world` has the present file, whose facts are `after`.
    pub(super) fn new(world: &dyn World, edit: &Edit, former: &OldFile<'_>, after: Option<&Facts>) -> Self {
        let promised = after.map(|facts| &*facts.missing_exports).unwrap_or_default();
        let removed = former.changes.iter().filter(|change| is_gone(change)).map(|change| owner(&change.was));
        let names: BTreeSet<Box<str>> =
            removed.filter(|name| promised.iter().any(|text| **text == **name)).map(Into::into).collect();
        let by_name = match names.is_empty() {
            true => BTreeSet::new(),
            false => named_references(world, edit, former.facts, &names),
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

/// Adds the files whose `__all__` contains a name that their star import no longer gives them. `world` has the present files.
pub(super) fn collect(
    world: &dyn World,
    edit: &Edit,
    changes: &[SymbolChange],
    resolving: &mut StillResolving<'_>,
    collector: &mut DependentSet<'_>,
) {
    let Some(home) = world.find(&edit.path) else { return };
    let lost = |change: &SymbolChange| is_gone(change) && change.was.container.is_none();
    for (at, change) in changes.iter().enumerate().filter(|(_, change)| lost(change)) {
        let name = &change.was.name;
        for file in world.containing(name) {
            if !world.facts(file).is_some_and(|facts| lacks(&facts, name)) {
                continue;
            }
            let Some(line) = world.text(file).and_then(|text| line_of_export(&text, name)) else { continue };
            if file == home || !takes_all_of(world, file, home, MAX_STEPS) {
                continue;
            }
            let reference = Reference {
                file,
                line,
                kind: Kind::Symbol,
                role: Role::Reexport,
                certainty: Certainty::Resolved,
                pattern: name.clone(),
                symbol: Some(at),
                arguments: None,
                through: None,
                within: None,
            };
            if !resolving.finds(change, &reference) {
                collector.add(Place { breaks: true, reference });
            }
        }
    }
}

/// Returns true if a module has a name by a star import only.
fn lacks(facts: &Facts, name: &str) -> bool {
    let has_stars = facts.language == Language::Python && facts.imports.iter().any(|import| import.glob);
    let names = facts.imports.iter().flat_map(|import| &import.names).map(|imported| &*imported.local);
    let defined = facts
        .definitions
        .iter()
        .filter(|definition| definition.container.is_none())
        .map(|definition| &*definition.name);
    has_stars && !names.chain(defined).any(|text| text == name)
}

/// Returns true if a file imports all names of another one by stars.
fn takes_all_of(world: &dyn World, file: FileId, home: FileId, steps: usize) -> bool {
    if steps == 0 {
        Limit::Hops.reach();
        return false;
    }
    let Some(facts) = world.facts(file) else { return false };
    let stars: BTreeSet<u32> =
        facts.imports.iter().filter(|import| import.glob).map(|import| import.line).collect();
    let outgoing = language::rules(facts.language).outgoing(world, file).references;
    let sources = outgoing.into_iter().filter(|(_, place)| stars.contains(&place.line)).map(|(from, _)| from);
    sources.into_iter().any(|from| from == home || takes_all_of(world, from, home, steps - 1))
}

/// The first line of a list of exports that contains a name.
fn line_of_export(text: &str, name: &str) -> Option<u32> {
    let start = text.lines().position(|line| line.starts_with("__all__"))?;
    let quoted = [format!("\"{name}\""), format!("'{name}'")];
    let at =
        text.lines().skip(start).position(|line| quoted.iter().any(|word| line.contains(word.as_str())))?;
    u32::try_from(start + at + 1).ok()
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
fn named_references(
    world: &dyn World,
    edit: &Edit,
    facts: &Facts,
    names: &BTreeSet<Box<str>>,
) -> BTreeSet<RefKey> {
    let mut facts = facts.clone();
    let wanted =
        |definition: &&mut Definition| names.contains(owner(definition)) && definition.reach > Reach::Package;
    facts.definitions.iter_mut().filter(wanted).for_each(|definition| definition.reach = Reach::Package);
    let symbols: Vec<Definition> =
        facts.definitions.iter().filter(|definition| names.contains(owner(definition))).cloned().collect();
    let rules = language::rules(facts.language);
    let mut before = Overlay::empty(world);
    let file = before.add(edit.former_path(), Arc::new(facts), None);
    let target = Target { file, symbols: &symbols, module: false, now: None, own_file: false };
    rules.referrers(&before, &target).iter().map(ref_key).collect()
}
