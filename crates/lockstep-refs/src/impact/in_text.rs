//! Dependents by text: paths and names that lead to a file, mentions of it and of its symbols.

use super::dependents::{Collector, Place};
use super::edit::Edit;
use crate::change::{SymbolChange, What};
use crate::entity::{Aliases, Entity, entities};
use crate::facts::Definition;
use crate::language::Language;
use crate::overlay::Overlay;
use crate::reference::Kind;
use crate::text::{Subject, referrers};
use crate::world::World as _;

/// Who names the file or its symbols in text.
pub(super) fn collect(
    before: &Overlay<'_>,
    edit: &Edit,
    former_text: Option<&str>,
    changes: &[SymbolChange],
    aliases: &Aliases,
    collector: &mut Collector<'_>,
) {
    let was = entities(edit.former_path(), former_text, aliases);
    let is = edit.present_entities(before, aliases);
    let (kept, gone): (Vec<Entity>, Vec<Entity>) = was.into_iter().partition(|entity| is.contains(entity));
    // A symbol that is still there needs no word about it changed.
    let missed: Vec<&SymbolChange> =
        changes.iter().filter(|change| matches!(change.what, What::Removed | What::Renamed(_))).collect();
    let symbols: Vec<Definition> = missed.iter().map(|change| change.was.clone()).collect();
    let subject = |entities, symbols| Subject { path: edit.former_path(), entities, symbols, history: false };
    if !gone.is_empty() || !symbols.is_empty() {
        for reference in referrers(before, &subject(&gone, &symbols)) {
            collector.add(Place { breaks: reference.kind <= Kind::Name, reference });
        }
    }
    // Code is used by its symbols. Everything else is used as a whole, by those who lead to it.
    if !edit.is_moved() && is_used_whole(Language::of(&edit.path)) && edit.is_other_text(before, former_text)
    {
        for reference in referrers(before, &subject(&kept, &[])) {
            if reference.kind < Kind::Mention {
                collector.add(Place { breaks: false, reference });
            }
        }
    }
    debug_assert!(before.find(edit.former_path()).is_some(), "the former file is in its world");
}

fn is_used_whole(language: Language) -> bool {
    use Language::{Bash, Html, Json, Markdown, Text, Toml, Yaml};
    matches!(language, Bash | Html | Json | Markdown | Text | Toml | Yaml)
}
