//! The manifest: which files make up the index now. Replaced in one step; everything it names is never changed.

use serde::{Deserialize, Serialize};

use super::amendment::Amendment;
use super::codec::check;
use super::settings::Settings;
use super::storage::Part;
use super::words;

/// First bytes of the file. The digit is the format: another one is no index of ours, and one is made anew.
const MAGIC: &[u8; 8] = b"LSINDEX2";

/// What the index consists of and what it was made with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// By whose rules words were numbered.
    words_version: u32,
    /// By whose rules facts were extracted.
    facts_version: u64,
    /// [`Settings::fingerprint`].
    settings: u64,
    /// Ignore rules outside the tree.
    pub(crate) outside_rules: u64,
    /// Counts replacements.
    pub(crate) generation: u64,
    /// When it was written, in nanoseconds since 1970.
    pub(crate) written_at: i64,
    /// How long the last whole build took, in microseconds: words, then facts.
    pub(crate) build_micros: [u64; 2],
    /// The number of the next file of the index.
    pub(crate) next_number: u32,
    /// The number of the next document.
    pub(crate) next_document: u32,
    /// The file table.
    pub(crate) files: u32,
    /// What changed in it since it was written, the oldest first.
    pub(crate) amendments: Vec<Amendment>,
    /// Tables from words to documents, the oldest first.
    pub(crate) words: Vec<u32>,
    /// Tables from documents to facts, the oldest first.
    pub(crate) facts: Vec<u32>,
}

impl Manifest {
    /// Of an index with nothing in it.
    pub(crate) fn empty(settings: &Settings) -> Self {
        Self {
            words_version: words::VERSION,
            facts_version: facts_version(),
            settings: settings.fingerprint(),
            outside_rules: 0,
            generation: 0,
            written_at: 0,
            build_micros: [0; 2],
            next_number: 1,
            next_document: 1,
            files: 0,
            amendments: Vec::new(),
            words: Vec::new(),
            facts: Vec::new(),
        }
    }

    /// Whether its words mean what they mean to this program under these settings. Its facts may still be foreign:
    /// [`has_our_facts`](Self::has_our_facts).
    pub(crate) fn is_ours(&self, settings: &Settings) -> bool {
        self.words_version == words::VERSION && self.settings == settings.fingerprint()
    }

    pub(crate) fn has_our_facts(&self) -> bool {
        self.facts_version == facts_version()
    }

    /// Without the facts of another program.
    pub(crate) fn with_our_facts(mut self) -> Self {
        if !self.has_our_facts() {
            self.facts.clear();
            self.facts_version = facts_version();
        }
        self
    }

    /// The same, as another program would have written it.
    #[cfg(test)]
    pub(crate) fn of_another_program(mut self) -> Self {
        self.facts_version ^= 1;
        self
    }

    /// Whether who read the one has read the other: facts of another program are read by nobody.
    pub(crate) fn reads_as(&self, other: &Self) -> bool {
        self == other || self.clone().with_our_facts() == other.clone().with_our_facts()
    }

    /// The numbers of the tables of words or facts.
    pub(crate) fn tables(&mut self, part: Part) -> &mut Vec<u32> {
        match part {
            Part::Facts => &mut self.facts,
            Part::Words | Part::Files => &mut self.words,
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend(postcard::to_stdvec(self).expect("numbers can be written"));
        let sum = check(&out);
        out.extend_from_slice(&sum.to_le_bytes());
        out
    }

    /// `None` where the bytes are damaged or of another format.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (body, sum) = bytes.split_last_chunk::<8>()?;
        let content = body.strip_prefix(MAGIC)?;
        if check(body) != u64::from_le_bytes(*sum) {
            return None;
        }
        postcard::from_bytes(content).ok()
    }
}

/// Changes with every change to the extractors: facts of another version are not used.
fn facts_version() -> u64 {
    check(lockstep_refs::SEMANTICS.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_back_and_damage_is_noticed() {
        let manifest = Manifest {
            words: vec![3, 70_000],
            facts: vec![9],
            next_document: 1 << 30,
            ..Manifest::empty(&Settings::default())
        };
        let bytes = manifest.encode();
        assert_eq!(Manifest::decode(&bytes), Some(manifest));
        for at in 0..bytes.len() {
            assert_eq!(Manifest::decode(&bytes[..at]), None);
            let mut damaged = bytes.clone();
            damaged[at] ^= 4;
            assert_eq!(Manifest::decode(&damaged), None);
        }
    }

    #[test]
    fn an_index_of_other_rules_is_not_ours() {
        let settings = Settings::default();
        let manifest = Manifest { facts: vec![1], ..Manifest::empty(&settings) };
        assert!(manifest.is_ours(&settings) && manifest.has_our_facts());
        assert!(!manifest.is_ours(&Settings { max_file_bytes: 7, ..settings.clone() }));
        assert!(!Manifest { words_version: 0, ..manifest.clone() }.is_ours(&settings));
        let foreign = Manifest { facts_version: 0, ..manifest };
        assert!(foreign.is_ours(&settings) && !foreign.has_our_facts());
        assert!(foreign.with_our_facts().facts.is_empty());
    }
}
