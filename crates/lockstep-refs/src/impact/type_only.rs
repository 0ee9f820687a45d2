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
        let is_it = |it: &&Import| (it.form == ImportForm::TypeOnly) == is_type;
        facts.imports.iter().filter(is_it).flat_map(local_names).collect()
    };
    let (types, values) = (of_form(true), of_form(false));
    let is_defined = |name: &str| facts.definitions.iter().any(|it| *it.name == *name);
    let is_misuse = |it: &&Use| {
        it.of.is_none()
            && is_value(it.role)
            && types.contains(&*it.name)
            && !values.contains(&*it.name)
            && !is_defined(&it.name)
    };
    let missing = |it: &Use| Missing {
        line: it.line,
        kind: Kind::Symbol,
        pattern: it.name.to_string(),
        reason: format!("{} is imported as a type", it.name),
    };
    facts.uses.iter().filter(is_misuse).map(missing).collect()
}

fn local_names(import: &Import) -> impl Iterator<Item = &str> {
    import.names.iter().map(|it| &*it.local).chain(import.alias.as_deref())
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
        let is_it = |it: &&Import| it.reexport && (it.form == ImportForm::TypeOnly) == is_type;
        facts.imports.iter().filter(is_it).flat_map(local_names).map(Into::into).collect()
    };
    let (values, now) = (handed(was, false), handed(is, true));
    let names: BTreeSet<&Box<str>> = values.intersection(&now).collect();
    if names.is_empty() || !handed(is, false).is_disjoint(&now) {
        return;
    }
    let rules = language::rules(was.language);
    let sources: BTreeSet<FileId> = rules.outgoing(before, file).references.iter().map(|it| it.0).collect();
    for from in sources.into_iter().chain([file]) {
        let Some(facts) = before.facts(from) else { continue };
        let symbols: Vec<Definition> = facts
            .definitions
            .iter()
            .filter(|it| it.container.is_none() && names.contains(&it.name))
            .cloned()
            .collect();
        if symbols.is_empty() {
            continue;
        }
        let target = Target { file: from, symbols: &symbols, module: false, now: None, own_file: false };
        let references = rules.referrers(before, &target);
        let importers: BTreeSet<FileId> = references
            .iter()
            .filter(|it| it.kind == Kind::Import && it.through == Some(file))
            .map(|it| it.file)
            .collect();
        let is_lost = |it: &Reference| {
            is_value(it.role)
                && it.certainty == Certainty::Resolved
                && (it.through == Some(file) || importers.contains(&it.file))
        };
        for reference in references.into_iter().filter(is_lost) {
            let reference = Reference { symbol: None, through: None, ..reference };
            collector.add(Place { breaks: true, reference });
        }
    }
}
