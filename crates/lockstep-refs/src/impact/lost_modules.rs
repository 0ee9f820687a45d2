//! Rust: users of a module whose `mod` line the edit removed while its file stays.

use super::dependents::{DependentSet, Place};
use super::edit::{After, Edit};
use crate::facts::{Definition, Facts, Import, ImportForm, Reach};
use crate::language::{self, Language};
use crate::overlay::Overlay;
use crate::reference::{Certainty, Target};
use crate::world::{FileId, World};

/// Collects the references to the files of modules that the changed file no longer declares. `before` has its former content.
pub(super) fn collect(
    before: &Overlay<'_>,
    edit: &Edit,
    (was, is): (&Facts, Option<&Facts>),
    file: FileId,
    collector: &mut DependentSet<'_>,
) {
    let Some(is) = is.filter(|facts| facts.language == Language::Rust && edit.after != After::Gone) else {
        return;
    };
    let modules = |facts: &'_ Facts| -> Vec<Import> {
        facts.imports.iter().filter(|import| import.form == ImportForm::Child).cloned().collect()
    };
    let (mut removed, now) = (modules(was), modules(is));
    removed.retain(|import| {
        !now.iter().any(|now| now.module == import.module && now.names == import.names || same(now, import))
    });
    let is_inline = |import: &Import| {
        let name = import.names.first().map_or(&*import.module, |name| &*name.name);
        is.definitions.iter().any(|now| *now.name == *name && now.container.is_none())
    };
    removed.retain(|import| !is_inline(import));
    if removed.is_empty() || edit.is_moved() {
        return;
    }
    let rules = language::rules(Language::Rust);
    let declared = rules.outgoing(before, file).references;
    let children: Vec<FileId> = declared
        .into_iter()
        .filter(|(_, place)| removed.iter().any(|import| import.line == place.line))
        .map(|(child, _)| child)
        .collect();
    for child in children {
        let Some(facts) = before.facts(child) else { continue };
        let visible = |definition: &&Definition| definition.reach > Reach::File;
        let symbols: Vec<Definition> = facts.definitions.iter().filter(visible).cloned().collect();
        let target = Target { file: child, symbols: &symbols, module: true, now: None, own_file: false };
        for mut reference in rules.referrers(before, &target) {
            let breaks = reference.certainty <= Certainty::Possible
                && reference.file != child
                && reference.file != file;
            reference.symbol = None;
            if breaks {
                collector.add(Place { breaks, reference });
            }
        }
    }
}

/// Returns true if two lines declare the same module.
fn same(one: &Import, other: &Import) -> bool {
    let name = |import: &Import| import.names.first().map(|name| name.name.clone());
    name(one).is_some() && name(one) == name(other) && one.container == other.container
}
