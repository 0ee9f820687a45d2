//! One file: its own content and its references.

use std::collections::BTreeSet;
use std::sync::Arc;

use lockstep_refs::entity::{EntityKind, Names, entities};
use lockstep_refs::facts::Facts;
use lockstep_refs::language::{Language, rules};
use lockstep_refs::reference::Kind;
use lockstep_refs::text;
use lockstep_refs::world::{FileId, World};

use super::MapUpdateInput;
use crate::fast_hash::content;
use crate::interface::{exported_words, interface_fingerprint, public_facts};
use crate::recording_snapshot::{RecordingSnapshot, ScopeView};

#[derive(Debug)]
pub(super) struct FileScan {
    pub(super) content: u64,
    pub(super) interface: u64,
    /// The exported words, sorted.
    pub(super) offered: Vec<u32>,
    pub(super) names: Vec<(EntityKind, Box<str>)>,
}

#[derive(Debug)]
pub(super) struct ResolvedFile {
    /// Entries, sorted.
    pub(super) refs: Vec<u32>,
    /// The hashes of the queries, sorted.
    pub(super) asked: Vec<u32>,
    /// Entries whose text was read.
    pub(super) read: Vec<u32>,
}

/// Returns the text and the facts of a file. `keep` decides whether the world caches them.
fn read(world: &dyn World, file: FileId, keep: bool) -> (Option<Arc<str>>, Option<Arc<Facts>>) {
    match keep {
        true => (world.text(file), world.facts(file)),
        false => (world.read_text_uncached(file), world.parse_facts_uncached(file)),
    }
}

pub(super) fn scan(present: &MapUpdateInput<'_>, file: FileId, keep: bool) -> FileScan {
    let world = present.world;
    let path = world.path(file);
    let (text, facts) = read(world, file, keep);
    let named = entities(path, text.as_deref(), present.aliases);
    let others = named.into_iter().filter(|entity| entity.is_name());
    FileScan {
        content: text.as_deref().map_or(0, content),
        interface: facts.as_deref().map_or(0, |facts| interface_fingerprint(&public_facts(facts))),
        offered: facts.as_deref().map(exported_words).unwrap_or_default(),
        names: others.map(|entity| (entity.kind, entity.name)).collect(),
    }
}

/// Finds the references of a file: those of the language's rules, and the names in its text. A mention is not
/// a reference.
pub(super) fn resolve(
    terrain: &ScopeView<'_>,
    world: &dyn World,
    names: &Names,
    file: FileId,
    keep: bool,
) -> ResolvedFile {
    let (text, facts) = read(world, file, keep);
    let language = facts.as_ref().map_or(Language::Text, |facts| facts.language);
    let asker = RecordingSnapshot::new(terrain, file, text.clone(), facts.clone());
    let by_rules = rules(language).outgoing(&asker, file);
    let asked = asker.into_asked();
    // Text queries follow from the words of the text and need not be recorded.
    let in_text = text::outgoing(&RecordingSnapshot::new(terrain, file, text, facts), names, file);
    let all = by_rules.references.iter().chain(&in_text.references);
    let meant = all.filter(|(_, place)| place.kind < Kind::Mention);
    let refs: BTreeSet<u32> = meant.filter_map(|(to, _)| terrain.entry(*to)).collect();
    let own = terrain.entry(file);
    let mut questions: Vec<u32> = asked.questions.into_iter().collect();
    questions.sort_unstable();
    ResolvedFile {
        refs: refs.into_iter().filter(|to| Some(*to) != own).collect(),
        asked: questions,
        read: asked.texts.iter().filter_map(|file| terrain.entry(*file)).collect(),
    }
}
