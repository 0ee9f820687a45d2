//! The manifest: names the files that make up the index. It is replaced atomically; the files that it names
//! never change.

use serde::{Deserialize, Serialize};

use super::codec::check;
use super::delta::FileTableDelta;
use super::facts;
use super::settings::IndexSettings;
use super::storage::IndexFileKind;
use super::tokenizer;

/// The first bytes of the file. The last digit is the format version; an index of another version is rebuilt.
const MAGIC: &[u8; 8] = b"LSINDEX2";

/// The parts of the index, and the versions it was built with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    words_version: u32,
    facts_version: u64,
    /// [`IndexSettings::fingerprint`].
    settings: u64,
    /// Ignore rules outside the tree.
    pub(crate) outside_rules: u64,
    /// The number of replacements.
    pub(crate) generation: u64,
    /// The time of writing, in nanoseconds since 1970.
    pub(crate) written_at: i64,
    /// The duration of the last full build in microseconds: words, then facts.
    pub(crate) build_micros: [u64; 2],
    /// The number of the next file of the index.
    pub(crate) next_number: u32,
    /// The number of the next document.
    pub(crate) next_document: u32,
    /// The number of the file table.
    pub(crate) files: u32,
    /// The deltas since the file table was written, oldest first.
    pub(crate) amendments: Vec<FileTableDelta>,
    /// Tables that map words to documents, oldest first.
    pub(crate) words: Vec<u32>,
    /// Tables that map documents to facts, oldest first.
    pub(crate) facts: Vec<u32>,
}

impl Manifest {
    pub(crate) fn empty(settings: &IndexSettings) -> Self {
        Self {
            words_version: tokenizer::VERSION,
            facts_version: facts_version(),
            settings: settings.digest(),
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

    /// Returns true if its words can be used by this program with these settings. Its facts may still be of
    /// another version: [`facts_are_compatible`](Self::facts_are_compatible).
    pub(crate) fn is_compatible(&self, settings: &IndexSettings) -> bool {
        self.words_version == tokenizer::VERSION && self.settings == settings.digest()
    }

    pub(crate) fn facts_are_compatible(&self) -> bool {
        self.facts_version == facts_version()
    }

    /// Removes facts of another version.
    pub(crate) fn without_foreign_facts(mut self) -> Self {
        if !self.facts_are_compatible() {
            self.facts.clear();
            self.facts_version = facts_version();
        }
        self
    }

    /// Returns the manifest as another version would have written it.
    #[cfg(test)]
    pub(crate) fn of_another_program(mut self) -> Self {
        self.facts_version ^= 1;
        self
    }

    /// Returns true if both manifests read the same. Facts of another version are never read, so they are
    /// ignored.
    pub(crate) fn same_readable_content(&self, other: &Self) -> bool {
        self == other || self.clone().without_foreign_facts() == other.clone().without_foreign_facts()
    }

    /// Returns the numbers of the tables of words or facts.
    pub(crate) fn tables(&mut self, part: IndexFileKind) -> &mut Vec<u32> {
        match part {
            IndexFileKind::Facts => &mut self.facts,
            IndexFileKind::Words | IndexFileKind::Files => &mut self.words,
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend(postcard::to_stdvec(self).expect("numbers can be written"));
        let sum = check(&out);
        out.extend_from_slice(&sum.to_le_bytes());
        out
    }

    /// Decodes a manifest. `None` if the bytes are damaged or of another format.
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
    check(format!("{} {}", lockstep_refs::EXTRACTOR_VERSION, facts::LAYOUT).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifest_round_trips_and_detects_corruption() {
        let manifest = Manifest {
            words: vec![3, 70_000],
            facts: vec![9],
            next_document: 1 << 30,
            ..Manifest::empty(&IndexSettings::default())
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
        let settings = IndexSettings::default();
        let manifest = Manifest { facts: vec![1], ..Manifest::empty(&settings) };
        assert!(manifest.is_compatible(&settings) && manifest.facts_are_compatible());
        assert!(!manifest.is_compatible(&IndexSettings { max_file_bytes: 7, ..settings.clone() }));
        assert!(!Manifest { words_version: 0, ..manifest.clone() }.is_compatible(&settings));
        let foreign = Manifest { facts_version: 0, ..manifest };
        assert!(foreign.is_compatible(&settings) && !foreign.facts_are_compatible());
        assert!(foreign.without_foreign_facts().facts.is_empty());
    }
}
