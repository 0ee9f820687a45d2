//! Dependents by text: paths and names that resolve to a file, mentions of it and of its symbols.

use super::dependents::{Collector, Place};
use super::edit::Edit;
use crate::change::{SymbolChange, What};
use crate::entity::{Aliases, Entity, EntityKind, entities, is_manifest};
use crate::facts::Definition;
use crate::language::Language;
use crate::overlay::Overlay;
use crate::reference::{Kind, Reference};
use crate::text::{Subject, referrers};
use crate::world::{World as _, base};

/// Collects the places that name the file, its symbols, or a directory that the edits emptied (`emptied`).
pub(super) fn collect(
    (before, emptied): (&Overlay<'_>, &[String]),
    edit: &Edit,
    former_text: Option<&str>,
    changes: &[SymbolChange],
    aliases: &Aliases,
    collector: &mut Collector<'_>,
) {
    let was = entities(edit.former_path(), former_text, aliases);
    let is = edit.present_entities(before, aliases);
    let (kept, gone): (Vec<Entity>, Vec<Entity>) = was.into_iter().partition(|entity| is.contains(entity));
    let (directories, gone) = split_directories(gone);
    // A mention of a symbol stays true while the symbol exists.
    let missed: Vec<&SymbolChange> =
        changes.iter().filter(|change| matches!(change.what, What::Removed | What::Renamed(_))).collect();
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
    let others: Vec<Entity> = directories.into_iter().filter(|it| !emptied.contains(it)).collect();
    let missing = places(&gone, &symbols).into_iter().chain(places(&emptied, &[]));
    // While other files are in the directory, prose about it stays true.
    for reference in missing.chain(places(&others, &[]).into_iter().filter(is_read_by_tools)) {
        collector.add(Place { breaks: reference.kind <= Kind::Name, reference });
    }
    // Code is used through its symbols. Everything else is used as a whole.
    if !edit.is_moved() && is_used_whole(Language::of(&edit.path)) && edit.is_other_text(before, former_text)
    {
        let (directories, kept) = split_directories(kept);
        let by_directory = places(&directories, &[]).into_iter().filter(is_read_by_tools);
        for reference in places(&kept, &[]).into_iter().chain(by_directory) {
            if reference.kind < Kind::Mention {
                collector.add(Place { breaks: false, reference });
            }
        }
    }
    debug_assert!(before.find(edit.former_path()).is_some(), "the former file is in its world");
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

fn is_used_whole(language: Language) -> bool {
    use Language::{Bash, Html, Json, Markdown, Text, Toml, Yaml};
    matches!(language, Bash | Html | Json | Markdown | Text | Toml | Yaml)
}
