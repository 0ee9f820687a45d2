//! Cases: the definitions that are changed, and the changes. They are chosen at random from a seed, so they
//! are reproducible.

use std::collections::BTreeMap;

use lockstep_refs::facts::{Definition, DefinitionKind, Reach};
use lockstep_refs::world::World;

use super::language::{LanguageBench, Mutation, PreparedPackage};

#[derive(Debug)]
pub(super) struct Case {
    pub(super) file: String,
    pub(super) symbol: Definition,
    pub(super) mutation: Mutation,
    pub(super) old: String,
    pub(super) new: String,
}

impl Case {
    /// Describes the case for people.
    pub(super) fn shown(&self) -> String {
        let container = self.symbol.container.as_deref().map(|path| format!("{path}.")).unwrap_or_default();
        format!(
            "{} of {:?} {container}{} in {}",
            self.mutation.word(),
            self.symbol.kind,
            self.symbol.name,
            self.file
        )
    }
}

/// Chooses `each` cases of every kind of change. Candidates are definitions that are visible outside their
/// file and whose name occurs in another file (otherwise every tool is trivially right). The kinds of
/// definitions take turns.
pub(super) fn choose(
    subject: &dyn LanguageBench,
    prepared: &PreparedPackage,
    world: &dyn World,
    seed: u64,
    each: usize,
) -> Vec<Case> {
    let mut random = SplitMix64(seed);
    let mut cases = Vec::new();
    for mutation in Mutation::ALL {
        let mut chosen = 0;
        for (file, symbol) in in_turns(candidates(prepared, world), &mut random) {
            if chosen == each {
                break;
            }
            let Some(old) = world.find(&file).and_then(|file| world.text(file)) else { continue };
            let Some(new) = subject.mutate(&old, &symbol, mutation) else { continue };
            cases.push(Case { file, symbol, mutation, old: old.to_string(), new });
            chosen += 1;
        }
    }
    cases
}

fn candidates(prepared: &PreparedPackage, world: &dyn World) -> Vec<(String, Definition)> {
    let mut candidates = Vec::new();
    for path in &prepared.files {
        let Some(file) = world.find(path) else { continue };
        let Some(facts) = world.facts(file) else { continue };
        for definition in &facts.definitions {
            let elsewhere = || world.containing(&definition.name).iter().any(|other| *other != file);
            if definition.reach > Reach::File && definition.kind != DefinitionKind::Module && elsewhere() {
                candidates.push((path.clone(), definition.clone()));
            }
        }
    }
    candidates
}

/// Shuffled, and then one of each kind after the other.
fn in_turns(candidates: Vec<(String, Definition)>, random: &mut SplitMix64) -> Vec<(String, Definition)> {
    let mut kinds: BTreeMap<DefinitionKind, Vec<(u64, String, Definition)>> = BTreeMap::new();
    for (file, definition) in candidates {
        kinds.entry(definition.kind).or_default().push((random.next(), file, definition));
    }
    for kind in kinds.values_mut() {
        kind.sort_by_key(|(key, ..)| *key);
        kind.reverse();
    }
    let mut turns = Vec::new();
    while !kinds.is_empty() {
        kinds.retain(|_, kind| {
            turns.extend(kind.pop().map(|(_, file, definition)| (file, definition)));
            !kind.is_empty()
        });
    }
    turns
}

/// SplitMix64: small, and the same everywhere.
pub(in crate::bench) struct SplitMix64(pub(in crate::bench) u64);

impl SplitMix64 {
    pub(in crate::bench) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
