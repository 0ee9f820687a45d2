//! Files of TypeScript that are no longer modules: without an import or an export a file is a script, from
//! which nothing can be imported.

use super::dependents::{DependentSet, Place};
use crate::facts::{Facts, Import, Reach};
use crate::language::{self, Language};
use crate::overlay::Overlay;
use crate::reference::{Certainty, Kind, Target};
use crate::world::{FileId, World};

/// Collects the imports of a file that was a module and no longer is. `before` has the file's former content.
pub(super) fn collect(
    before: &Overlay<'_>,
    (was, is): (&Facts, Option<&Facts>),
    file: FileId,
    collector: &mut DependentSet<'_>,
) {
    let Some(is) = is else { return };
    if !matches!(was.language, Language::TypeScript | Language::Tsx) || !is_module(was) || is_module(is) {
        return;
    }
    let target = Target { file, symbols: &[], module: true, now: None, own_file: false };
    for reference in language::rules(was.language).referrers(before, &target) {
        let facts = before.facts(reference.file);
        let imports = facts.iter().flat_map(|candidate| &candidate.imports);
        let takes = imports.filter(|import| import.line == reference.line).any(takes_something);
        let breaks = reference.kind == Kind::Import && reference.certainty <= Certainty::Possible;
        if breaks && takes {
            collector.add(Place { breaks, reference });
        }
    }
}

/// Returns true if a file imports or exports anything.
fn is_module(facts: &Facts) -> bool {
    let exports = facts
        .definitions
        .iter()
        .any(|definition| definition.container.is_none() && definition.reach > Reach::File);
    exports || !facts.imports.is_empty()
}

/// Returns true if an import binds a name. A script can only be imported for its side effects.
fn takes_something(import: &Import) -> bool {
    import.glob || import.alias.is_some() || !import.names.is_empty()
}
