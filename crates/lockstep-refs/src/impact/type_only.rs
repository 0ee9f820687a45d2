//! Names of TypeScript that a module imports or re-exports as types only, and that are used as values: `import type { Error }` and
//! `throw new Error()`.

use std::collections::BTreeSet;

use super::broken_references::Missing;
use super::dependents::{DependentSet, Place};
use super::edit::Edit;
use crate::facts::{Definition, Facts, Import, ImportForm, Role, Use};
use crate::language::{self, Language};
use crate::reference::{Certainty, Kind, Reference, Target};
use crate::world::{FileId, World};

/// Returns the uses as values of names that the file imports as types.
pub(super) fn values_of_types(facts: &Facts) -> Vec<Missing> {
    if !matches!(facts.language, Language::TypeScript | Language::Tsx) {
        return Vec::new();
    }
    let of_form = |is_type: bool| -> BTreeSet<&str> {
        let is_it = |import: &&Import| (import.form == ImportForm::TypeOnly) == is_type;
        facts.imports.iter().filter(is_it).flat_map(local_names).collect()
    };
    let (types, values) = (of_form(true), of_form(false));
    let is_defined = |name: &str| facts.definitions.iter().any(|definition| *definition.name == *name);
    let is_misuse = |usage: &&Use| {
        usage.of.is_none()
            && is_value(usage.role)
            && types.contains(&*usage.name)
            && !values.contains(&*usage.name)
            && !is_defined(&usage.name)
    };
    let missing = |usage: &Use| Missing {
        line: usage.line,
        kind: Kind::Symbol,
        pattern: usage.name.to_string(),
        reason: format!("{} is imported as a type", usage.name),
    };
    facts.uses.iter().filter(is_misuse).map(missing).collect()
}

fn local_names(import: &Import) -> impl Iterator<Item = &str> {
    import.names.iter().map(|imported| &*imported.local).chain(import.alias.as_deref())
}

fn is_value(role: Role) -> bool {
    matches!(role, Role::Call | Role::Value)
}

/// Adds the uses as values of names that a file re-exports as types now. `before` has its former content.
pub(super) fn collect(
    before: &dyn World,
    edit: &Edit,
    (was, is): (&Facts, Option<&Facts>),
    collector: &mut DependentSet<'_>,
) {
    let Some(is) = is.filter(|_| !edit.is_moved()) else { return };
    let Some(file) = before.find(edit.former_path()) else { return };
    let handed = |facts: &'_ Facts, is_type: bool| -> BTreeSet<Box<str>> {
        let is_it = |import: &&Import| import.reexport && (import.form == ImportForm::TypeOnly) == is_type;
        facts.imports.iter().filter(is_it).flat_map(local_names).map(Into::into).collect()
    };
    let (values, now) = (handed(was, false), handed(is, true));
    let names: BTreeSet<&Box<str>> = values.intersection(&now).collect();
    if names.is_empty() || !handed(is, false).is_disjoint(&now) {
        return;
    }
    let rules = language::rules(was.language);
    let sources: BTreeSet<FileId> =
        rules.outgoing(before, file).references.iter().map(|reference| reference.0).collect();
    for from in sources.into_iter().chain([file]) {
        let Some(facts) = before.facts(from) else { continue };
        let symbols: Vec<Definition> = facts
            .definitions
            .iter()
            .filter(|definition| definition.container.is_none() && names.contains(&definition.name))
            .cloned()
            .collect();
        if symbols.is_empty() {
            continue;
        }
        let target = Target { file: from, symbols: &symbols, module: false, now: None, own_file: false };
        let references = rules.referrers(before, &target);
        let importers: BTreeSet<FileId> = references
            .iter()
            .filter(|reference| reference.kind == Kind::Import && reference.through == Some(file))
            .map(|reference| reference.file)
            .collect();
        let is_lost = |reference: &Reference| {
            is_value(reference.role)
                && reference.certainty == Certainty::Resolved
                && (reference.through == Some(file) || importers.contains(&reference.file))
        };
        for reference in references.into_iter().filter(is_lost) {
            let reference = Reference { symbol: None, through: None, ..reference };
            collector.add(Place { breaks: true, reference });
        }
    }
}
