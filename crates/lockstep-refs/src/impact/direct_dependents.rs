//! Direct dependents: the references to each changed definition, and the decision which of them break.

use std::collections::BTreeSet;

use super::c_declarations::Declared;
use super::dependents::{DependentSet, Place};
use super::edit::{Before, Edit};
use super::edited_places::keywords;
use super::still_resolves::StillResolving;
use super::tree::Trees;
use super::{
    Around, OldFile, call_compat, independent_places, modifiers, obligations, overloads, own_file, receivers,
    replaced_kinds, results, subtypes, visibility,
};
use crate::definition_diff::{DefinitionChangeKind, SymbolChange};
use crate::facts::{Definition, DefinitionKind, Facts, Reach, Role};
use crate::language;
use crate::reference::{Certainty, Kind, Reference, Target};
use crate::resolve::path_of;
use crate::signature::Fit;
use crate::world::World;

/// Collects all references to the change. Returns the positions of the changes that break something.
pub(super) fn collect_direct(
    former: &OldFile<'_>,
    edit: &Edit,
    after: Option<&Facts>,
    around: &Around<'_>,
    resolving: &mut StillResolving<'_>,
    collector: &mut DependentSet<'_>,
) -> BTreeSet<usize> {
    let OldFile { before, file, facts, changes, unread, modules } = *former;
    let moved = edit.is_moved();
    // If the file was moved, every definition in it is affected, changed or not.
    let symbols: Vec<Definition> = match moved {
        true => {
            facts.definitions.iter().filter(|definition| definition.reach > Reach::File).cloned().collect()
        }
        false => changes.iter().map(|change| change.was.clone()).collect(),
    };
    // Without the former content the removed names are unknown: every importer may use one of them.
    let module = moved || unread || matches!(edit.before, Before::Unknown);
    let mut broken = BTreeSet::new();
    if !module && symbols.is_empty() {
        return broken;
    }
    let now = edit.present_text(before);
    let target = Target { file, symbols: &symbols, module, now: now.as_deref(), own_file: false };
    let references = language::rules(facts.language).referrers(before, &target);
    let references: Vec<Reference> =
        references.into_iter().filter_map(|reference| modules.present(reference)).collect();
    let conflicting =
        after.map(|after| own_file::conflicting_names(before, after, changes)).unwrap_or_default();
    let mut judge = ReferenceJudge {
        former,
        after,
        around,
        kept: resolving,
        symbols: &symbols,
        own_types: OwnTypes::new(former, edit),
        hidden: changes.iter().map(|change| hides(former, change)).collect(),
        declared: Declared::new(before, file, &symbols, &references, conflicting),
        trees: Trees::new(before),
    };
    for mut reference in references {
        let change = if moved { None } else { reference.symbol.and_then(|at| changes.get(at)) };
        // A harmless change cannot break, so undecided references need not be reported.
        let is_harmless = |change: &SymbolChange| {
            matches!(
                change.what,
                DefinitionChangeKind::BodyChanged
                    | DefinitionChangeKind::Compatible
                    | DefinitionChangeKind::Unknown
            )
        };
        if reference.certainty == Certainty::Undecided && change.is_some_and(is_harmless) {
            continue;
        }
        let breaks = match change {
            _ if moved => judge.misses_moved(&mut reference),
            Some(change) => judge.misses_changed(change, &mut reference),
            None => false,
        };
        let breaks = breaks && !judge.is_shielded(change, &reference);
        broken.extend(reference.symbol.filter(|_| breaks));
        collector.add(Place { breaks, reference });
    }
    broken
}

/// Decides which references to a changed file break.
struct ReferenceJudge<'j, 'k> {
    former: &'j OldFile<'j>,
    after: Option<&'j Facts>,
    around: &'j Around<'j>,
    kept: &'j mut StillResolving<'k>,
    symbols: &'j [Definition],
    own_types: OwnTypes,
    /// For each change: true if callers do not see the function's parameters.
    hidden: Vec<bool>,
    declared: Declared,
    trees: Trees<'j>,
}

impl ReferenceJudge<'_, '_> {
    /// Returns true if a reference no longer finds the moved or deleted file, or the definition in it.
    fn misses_moved(&mut self, reference: &mut Reference) -> bool {
        if import_is_lost(self.former.before, reference) {
            reference.through = None;
        }
        let was = reference.symbol.and_then(|at| self.symbols.get(at));
        let is_member = was.is_some_and(|was| self.own_types.contains(was.container.as_deref()));
        let found = is_member
            || self.kept.has(reference)
            || was.is_some_and(|was| self.kept.has_moved(was, reference));
        reference.certainty <= Certainty::Possible && !found
    }

    /// Returns true if a reference does not fit a changed definition. Lowers the certainty of a reference that only types would decide.
    fn misses_changed(&mut self, change: &SymbolChange, reference: &mut Reference) -> bool {
        let (before, after) = (self.former.before, self.after);
        // A re-exporting file shields its users from a removed name, not from a changed signature.
        let is_gone = matches!(change.what, DefinitionChangeKind::Removed | DefinitionChangeKind::Renamed(_));
        if changes_parameters(change) || is_gone && import_is_lost(before, reference) {
            reference.through = None;
        }
        // A checker does not report a wrong argument there; a removed name fails at run time.
        if changes_parameters(change) && is_unchecked(before, reference) {
            reference.certainty = reference.certainty.max(Certainty::Untyped);
        }
        if self.around.obligations.decides(change, reference) {
            return false;
        }
        let named = keywords(before, reference);
        if change.what == DefinitionChangeKind::Unknown || change.fit(reference, &named) == Some(Fit::Unknown)
        {
            reference.certainty = reference.certainty.max(Certainty::Possible);
        }
        let is_hidden = reference
            .symbol
            .and_then(|at| self.hidden.get(at))
            .is_some_and(|is_hidden_symbol| *is_hidden_symbol);
        let is_misfit =
            change.breaks(reference, &named) && !call_compat::fits(before, change, after, reference);
        (is_misfit
            && !passes_by_place(before, change, reference)
            && !visibility::is_visible(before, change, after, (self.former.file, reference.file))
            || call_compat::misses(before, change, after, reference)
            || overloads::misfits(&self.trees, change, (self.former.facts, after), reference))
            && !is_hidden
            && !overloads::mean_another(&self.trees, change, after, reference)
            && !results::is_indifferent(&self.trees, change, after, reference, &named)
            && !results::is_made_for_members(&self.trees, change, after, reference)
            && !receivers::may_be_changed(&self.trees, change, after, reference)
            && !modifiers::is_unaffected(&self.trees, self.former.file, (change, after), reference)
            && !replaced_kinds::still_fits(change, after, reference)
            && !independent_places::need_no_definition(&self.trees, change, reference)
            && !independent_places::takes_any_function(&self.trees, change, reference)
            && !subtypes::still_fit(before, self.former.file, (change, after), reference)
            && (!self.around.edited.follows(change, after, reference)
                || modifiers::is_forbidden_override(
                    &self.trees,
                    self.former.file,
                    (change, after),
                    reference,
                ))
            && !self.declared.reexport_outlives_removal(change, reference)
            && !obligations::is_one_of_others(&self.trees, change, after, reference)
            && !self.kept.finds(change, reference)
            && !self.around.stale_exports.keeps(change, reference)
    }

    /// Returns true if the file still re-exports or provides the name: then the file itself breaks.
    fn is_shielded(&self, change: Option<&SymbolChange>, reference: &Reference) -> bool {
        let is_handed_on = reference.through == Some(self.former.file)
            && self.around.handed_on.contains(&*reference.pattern);
        is_handed_on || change.is_some_and(|change| self.kept.is_still_offered(change))
    }
}

/// The types that only a moved or deleted file defines. Their members become unreachable with them, and only
/// the places that name the type can be fixed.
struct OwnTypes(BTreeSet<String>);

impl OwnTypes {
    fn new(former: &OldFile<'_>, edit: &Edit) -> Self {
        let OldFile { before, file, facts, .. } = *former;
        if !edit.is_moved() {
            return Self(BTreeSet::new());
        }
        let is_type = |definition: &&Definition| {
            matches!(definition.kind, DefinitionKind::Type | DefinitionKind::Interface)
        };
        let elsewhere = |own: &Definition| {
            let others = before.defining(&own.name).into_iter().filter(|candidate| *candidate != file);
            others
                .filter(|other| before.path(*other) != edit.path)
                .filter_map(|other| before.facts(other))
                .any(|facts| {
                    let mut types = facts.definitions.iter().filter(is_type);
                    types.any(|definition| {
                        definition.name == own.name && definition.container == own.container
                    })
                })
        };
        let own = facts.definitions.iter().filter(is_type).filter(|definition| !elsewhere(definition));
        Self(own.map(path_of).collect())
    }

    fn contains(&self, container: Option<&str>) -> bool {
        container.is_some_and(|path| self.0.contains(path))
    }
}

fn is_unchecked(world: &dyn World, reference: &Reference) -> bool {
    world.facts(reference.file).is_some_and(|facts| facts.suppressed_lines.contains(&reference.line))
}

fn changes_parameters(change: &SymbolChange) -> bool {
    matches!(
        change.what,
        DefinitionChangeKind::SignatureChanged { .. } | DefinitionChangeKind::ParametersRenamed { .. }
    )
}

/// Returns true if an import fails because its name was removed, although it imports from a re-exporting
/// file; or if a call gets something from there that cannot be called.
fn import_is_lost(world: &dyn World, reference: &Reference) -> bool {
    let handing = reference.through.and_then(|file| world.facts(file));
    handing.is_some_and(|facts| {
        let rules = language::rules(facts.language);
        match reference.kind {
            Kind::Import => !rules.reexport_outlives_removal(&facts),
            _ => reference.role == Role::Call && rules.dynamic_export_is_uncallable(&facts),
        }
    })
}

/// Returns true if a function's parameters changed, and callers do not see them.
fn hides(former: &OldFile<'_>, change: &SymbolChange) -> bool {
    let rules = language::rules(former.facts.language);
    changes_parameters(change) && rules.hides(former.before, former.file, &change.was)
}

/// Returns true if parameters were only renamed, and a call names none of the removed names.
pub(super) fn passes_by_place(world: &dyn World, change: &SymbolChange, reference: &Reference) -> bool {
    let DefinitionChangeKind::ParametersRenamed { gone } = &change.what else { return false };
    if !matches!(reference.role, Role::Call | Role::Covered) {
        return false;
    }
    let Some(facts) = world.facts(reference.file) else { return false };
    let here =
        facts.uses.iter().filter(|usage| usage.line == reference.line && usage.name == reference.pattern);
    !here.into_iter().any(|call| call.keywords.iter().any(|name| gone.contains(name)))
}
