//! Dependents by text: paths and names that resolve to a file, mentions of it and of its symbols.

use super::dependents::{DependentSet, Evidence, Place};
use super::edit::Edit;
use super::own_file::BrokenReference;
use crate::definition_diff::{DefinitionChangeKind, SymbolChange};
use crate::entity::{Aliases, Entity, EntityKind, declared_names, entities, is_manifest};
use crate::facts::Definition;
use crate::language::Language;
use crate::overlay::Overlay;
use crate::reference::{Kind, Reference};
use crate::text::{Subject, own_uses, referrers};
use crate::world::{World, base};

/// Collects the places that name the file, its symbols, or a directory that the edits emptied (`emptied`).
pub(super) fn collect(
    (before, emptied): (&Overlay<'_>, &[String]),
    edit: &Edit,
    former_text: Option<&str>,
    changes: &[SymbolChange],
    aliases: &Aliases,
    collector: &mut DependentSet<'_>,
) {
    let was = entities(edit.former_path(), former_text, aliases);
    let is = edit.present_entities(before, aliases);
    let (remaining, removed): (Vec<Entity>, Vec<Entity>) =
        was.into_iter().partition(|entity| is.contains(entity));
    let renounced = renounced_names(edit, before, former_text);
    let renounced: Vec<Entity> = remaining
        .iter()
        .filter(|entity| entity.is_name() && renounced.contains(&entity.name))
        .cloned()
        .collect();
    let (directories, removed) = split_directories(removed);
    // A mention of a symbol stays true while the symbol exists.
    let missed: Vec<&SymbolChange> = changes
        .iter()
        .filter(|change| {
            matches!(change.what, DefinitionChangeKind::Removed | DefinitionChangeKind::Renamed(_))
        })
        .collect();
    let symbols: Vec<Definition> = missed.iter().map(|change| change.was.clone()).collect();
    let places = |entities: &[Entity], symbols: &[Definition]| -> Vec<Reference> {
        match entities.is_empty() && symbols.is_empty() {
            true => Vec::new(),
            false => {
                let subject = Subject { path: edit.former_path(), entities, symbols, history: false };
                referrers(before, &subject)
            }
        }
    };
    let is_read_by_tools = |reference: &Reference| is_configuration(before, reference);
    let emptied: Vec<Entity> = emptied
        .iter()
        .map(|name| Entity { kind: EntityKind::Directory, name: name.as_str().into() })
        .collect();
    let others: Vec<Entity> = directories.into_iter().filter(|entity| !emptied.contains(entity)).collect();
    // The directory still has the name: paths through it lead to the file.
    let by_name = places(&renounced, &[]).into_iter().filter(|reference| reference.kind == Kind::Name);
    let missing = places(&removed, &symbols).into_iter().chain(places(&emptied, &[])).chain(by_name);
    // While other files are in the directory, prose about it stays true.
    for reference in missing.chain(places(&others, &[]).into_iter().filter(is_read_by_tools)) {
        collector.add(Place { breaks: reference.kind <= Kind::Name, reference });
    }
    // Code is used through its symbols. Everything else is used as a whole.
    if !edit.is_moved() && Language::of(&edit.path).is_used_whole() && edit.is_other_text(before, former_text)
    {
        let (directories, remaining) = split_directories(remaining);
        let by_directory = places(&directories, &[]).into_iter().filter(is_read_by_tools);
        for reference in places(&remaining, &[]).into_iter().chain(by_directory) {
            if reference.kind < Kind::Mention {
                collector.add(Place { breaks: false, reference });
            }
        }
    }
    debug_assert!(before.find(edit.former_path()).is_some(), "the former file is in its world");
}

/// Returns the uses of a file's former names in the file itself. `world` has the file after the edit.
pub(super) fn left_behind(
    world: &dyn World,
    edit: &Edit,
    former: Option<&str>,
    aliases: &Aliases,
) -> Vec<BrokenReference> {
    let Some((file, former)) = world.find(&edit.path).zip(former) else { return Vec::new() };
    let text = world.text(file).unwrap_or_default();
    let now = declared_names(&edit.path, &text);
    let is = entities(&edit.path, Some(&text), aliases);
    let declared = declared_names(edit.former_path(), former);
    let is_renounced =
        |entity: &Entity| declared.contains(&entity.name) && !now.is_empty() && !now.contains(&entity.name);
    let is_gone = |entity: &Entity| is_renounced(entity) || !is.contains(entity);
    let was = entities(edit.former_path(), Some(former), aliases);
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for entity in was.into_iter().filter(|entity| entity.is_name() && is_gone(entity)) {
        found.extend(own_uses(world, file, &entity).into_iter().filter_map(|reference| {
            let evidence = Evidence {
                line: reference.line,
                text: (*lines.get(reference.line.checked_sub(1)? as usize)?).to_owned(),
                kind: reference.kind,
                breaks: true,
                certainty: reference.certainty,
                pattern: reference.pattern.to_string(),
            };
            let reason = format!("this file is no longer {}", entity.name);
            Some(BrokenReference { evidence, reason, new_name: None })
        }));
    }
    found
}

/// The names that a file declared before the edit, while it declares others now.
fn renounced_names(edit: &Edit, before: &Overlay<'_>, former: Option<&str>) -> Vec<Box<str>> {
    let Some(former) = former else { return Vec::new() };
    let mut was = declared_names(edit.former_path(), former);
    let now = edit.present_text(before).map(|text| declared_names(&edit.path, &text)).unwrap_or_default();
    was.retain(|name| !now.is_empty() && !now.contains(name));
    was
}

/// The directories among some entities, and the others.
fn split_directories(entities: Vec<Entity>) -> (Vec<Entity>, Vec<Entity>) {
    entities.into_iter().partition(|entity| entity.kind == EntityKind::Directory)
}

/// Returns true if the place of a reference is in a file that tools read, and not in a document.
fn is_configuration(before: &Overlay<'_>, reference: &Reference) -> bool {
    let path = before.path(reference.file);
    match Language::of(path) {
        Language::Markdown | Language::Html => false,
        Language::Text => is_manifest(path) || !base(path).contains('.'),
        _ => true,
    }
}
