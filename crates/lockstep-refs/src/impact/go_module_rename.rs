//! A renamed module of Go: every import of its packages contains the former name.

use super::dependents::{DependentSet, Place};
use super::edit::Edit;
use crate::facts::Role;
use crate::language::{Language, inside_module, module_name};
use crate::overlay::Overlay;
use crate::reference::{Certainty, Kind, Reference};
use crate::world::{World, base};

/// Collects the imports of the module's packages by its former name.
pub(super) fn collect(
    before: &Overlay<'_>,
    edit: &Edit,
    former: Option<&str>,
    collector: &mut DependentSet<'_>,
) {
    if base(edit.former_path()) != "go.mod" {
        return;
    }
    let Some(was) = former.and_then(module_name) else { return };
    if edit.present_text(before).as_deref().and_then(module_name) == Some(was) {
        return;
    }
    for file in before.containing(was) {
        let Some(facts) = before.facts(file).filter(|facts| facts.language == Language::Go) else { continue };
        for import in facts.imports.iter().filter(|import| inside_module(&import.module, was).is_some()) {
            let reference = Reference {
                file,
                line: import.line,
                kind: Kind::Import,
                role: Role::Import,
                certainty: Certainty::Resolved,
                pattern: import.module.clone(),
                symbol: None,
                arguments: None,
                through: None,
                within: None,
            };
            collector.add(Place { breaks: true, reference });
        }
    }
}
