//! Facts of skills by content digest: a file with a known digest is neither read nor parsed again.
//!
//! Stored in `.lockstep/cache/skills`, and in the process that has a [`Cache`](crate::Cache) open.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use blake3::Hash;

use crate::inputs::{BuildInputs, InputState};
use crate::skill::SkillFacts;

/// The first and last line of the file. Changes with the format and with the meaning of [`SkillFacts`].
const FIRST: &str = "lockstep skill facts 1";

/// The file's name in the cache's state directory.
pub(crate) const FILE: &str = "skills";

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SkillFactsCache(BTreeMap<[u8; 32], SkillFacts>);

impl SkillFactsCache {
    pub(crate) fn get(&self, digest: &Hash) -> Option<&SkillFacts> {
        self.0.get(digest.as_bytes())
    }

    pub(crate) fn insert(&mut self, digest: &Hash, facts: SkillFacts) {
        self.0.insert(*digest.as_bytes(), facts);
    }

    /// Adds the entries of another cache.
    pub(crate) fn merge(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Removes entries that are no longer inputs.
    pub(crate) fn retain(&mut self, inputs: &BuildInputs) {
        let listed: BTreeSet<[u8; 32]> = inputs
            .iter()
            .filter_map(|(_, state)| match state {
                InputState::Bytes(digest) => Some(*digest.as_bytes()),
                InputState::Unusable(_) => None,
            })
            .collect();
        self.0.retain(|digest, _| listed.contains(digest));
    }

    pub(crate) fn encode(&self) -> String {
        let mut out = format!("{FIRST}\n");
        for (digest, facts) in &self.0 {
            let [id, name, description] = [&facts.id, &facts.name, &facts.description].map(field);
            writeln!(out, "{}\t{id}\t{name}\t{description}", Hash::from_bytes(*digest).to_hex())
                .expect("a string takes everything");
        }
        out + "end\n"
    }

    /// The memo in a file's text; an empty one if it is damaged or of another format.
    pub(crate) fn decode(text: &str) -> Self {
        let body = text.strip_prefix(FIRST).and_then(|rest| rest.strip_prefix('\n')?.strip_suffix("end\n"));
        let lines = body.unwrap_or_default().lines().map(|line| {
            let mut fields = line.split('\t');
            let digest = Hash::from_hex(fields.next()?).ok()?;
            let mut field = || Some(fields.next()?.strip_prefix('=').map(str::to_owned));
            let facts = SkillFacts { id: field()?, name: field()?, description: field()? };
            Some((*digest.as_bytes(), facts))
        });
        Self(lines.collect::<Option<_>>().unwrap_or_default())
    }
}

/// Facts are single lines without tabs; `=` distinguishes an empty one from an absent one.
fn field(value: &Option<String>) -> String {
    value.as_ref().map(|value| format!("={value}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_cache_round_trips_and_ignores_corruption() {
        let mut memo = SkillFactsCache::default();
        let facts = SkillFacts { id: Some("A-1".into()), name: None, description: Some("x = y".into()) };
        memo.insert(&blake3::hash(b"1"), facts);
        memo.insert(&blake3::hash(b"2"), SkillFacts::default());
        let text = memo.encode();
        assert_eq!(SkillFactsCache::decode(&text), memo);
        assert_eq!(SkillFactsCache::decode(&text[1..]), SkillFactsCache::default());
        assert_eq!(SkillFactsCache::decode(&text[..text.len() - 5]), SkillFactsCache::default());
    }
}
