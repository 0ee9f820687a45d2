//! Names that resolved by an import that the edit removed, or in the former package of the file, in lines that did not change.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::facts::Facts;
use crate::impact::edit::{Edit, is_repackaged};
use crate::language::{self, Language};
use crate::overlay::Overlay;
use crate::world::{FileId, World, parent};

/// A name that no longer resolves.
pub(super) struct Unresolved {
    pub(super) line: u32,
    pub(super) name: Box<str>,
}

/// Returns the names of a file that resolved to another file before an edit of its imports, and do not now. The languages are those
/// whose imports open whole packages, or that look names up in their own package.
pub(super) fn unresolved_names(
    world: &dyn World,
    (edit, file): (&Edit, FileId),
    (old, former): (&Facts, &Arc<str>),
    (new, text): (&Facts, &str),
) -> Vec<Unresolved> {
    use Language::{CSharp, Go, Java, Kotlin, Php};
    let imports = |facts: &Facts| -> Vec<(Box<str>, Option<Box<str>>)> {
        facts.imports.iter().map(|import| (import.module.clone(), import.alias.clone())).collect()
    };
    let is_kept = |pair: &(Box<str>, Option<Box<str>>)| imports(new).contains(pair);
    let left_package = match new.language {
        Go => parent(edit.former_path()) != parent(&edit.path),
        CSharp | Java | Kotlin | Php => is_repackaged(old, new),
        _ => return Vec::new(),
    };
    if !left_package && (new.language == Go || imports(old).iter().all(is_kept)) {
        return Vec::new();
    }
    let rules = language::rules(new.language);
    let mut before = Overlay::empty(world);
    let former_file = before.add(edit.former_path(), Arc::new(old.clone()), Some(Arc::clone(former)));
    let trimmed = |text: &str, line: u32| -> Option<String> {
        text.lines().nth((line as usize).checked_sub(1)?).map(|name| name.trim().to_owned())
    };
    let is_import = |facts: &Facts, line: u32| facts.imports.iter().any(|import| import.line == line);
    let then: BTreeSet<(String, Box<str>)> = rules
        .outgoing(&before, former_file)
        .references
        .into_iter()
        .filter(|(_, place)| !is_import(old, place.line))
        .filter_map(|(_, place)| Some((trimmed(former, place.line)?, place.pattern)))
        .collect();
    let now: BTreeSet<(u32, Box<str>)> = rules
        .outgoing(world, file)
        .references
        .into_iter()
        .map(|(_, place)| (place.line, place.pattern))
        .collect();
    let is_lost = |line: u32, name: &str| {
        trimmed(text, line).is_some_and(|text| then.contains(&(text, name.into())))
            && !now.contains(&(line, name.into()))
            && !new.definitions.iter().any(|definition| *definition.name == *name)
    };
    let uses = new.uses.iter().filter(|usage| is_lost(usage.line, &usage.name));
    uses.map(|usage| Unresolved { line: usage.line, name: usage.name.clone() }).collect()
}
