//! Imports of TypeScript that no longer lead to a file because settings changed: `paths` of `tsconfig.json`, `imports` and `exports` of
//! `package.json`.

use super::dependents::{DependentSet, Place};
use super::edit::Edit;
use super::open_reexports::reference;
use crate::facts::Facts;
use crate::language::{Language, family, typescript::modules};
use crate::limits::Limit;
use crate::overlay::Overlay;
use crate::reference::{Kind, MissingName};
use crate::world::{World, base};

/// The maximum number of files whose imports are compared.
const MAX_FILES: usize = 2000;

/// Collects the imports that led to a file with the former settings, which `before` has, and do not in `after`.
pub(super) fn collect(
    before: &Overlay<'_>,
    after: &dyn World,
    edit: &Edit,
    collector: &mut DependentSet<'_>,
) {
    let name = base(&edit.path);
    let is_settings = name == "package.json" || name.ends_with(".json") && name.contains("sconfig");
    if !is_settings || edit.is_moved() || !modules::settings_differ(before, after) {
        return;
    }
    let is_script = |facts: &Facts| family(facts.language) == Language::TypeScript;
    let is_script_path = |path: &str| family(Language::of(path)) == Language::TypeScript;
    let mut files = after.files();
    files.retain(|file| is_script_path(after.path(*file)));
    if files.len() > MAX_FILES {
        Limit::Files.reach();
    }
    for file in files.into_iter().take(MAX_FILES) {
        let Some(facts) = after.facts(file).filter(|facts| is_script(facts)) else { continue };
        for import in
            facts.imports.iter().filter(|import| !import.module.is_empty() && !import.module.starts_with('.'))
        {
            if modules::leads_to_file(before, file, &import.module)
                && !modules::leads_to_file(after, file, &import.module)
            {
                let (line, kind, module) = (import.line, Kind::Import, import.module.clone());
                let lost = MissingName { line, kind, name: module.clone(), module };
                collector.add(Place { breaks: true, reference: reference(file, lost) });
            }
        }
    }
}
