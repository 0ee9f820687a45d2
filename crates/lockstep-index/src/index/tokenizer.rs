//! Hashes of the words of a text, the keys of the inverted index.
//!
//! The words are those of [`lockstep_refs::world::words`], but found in bytes and without allocating them.
//! Two words may have the same hash; then a search finds too many files, never too few.

/// The version of the hashing. An index of another version is not used.
pub(crate) const VERSION: u32 = 1;

/// The number of bits of a word's hash.
pub(crate) const HASH_BITS: u32 = 40;

const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// The bytes that are part of words, including every byte of a character beyond ASCII.
const IN_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "below 256")]
        let c = byte as u8;
        table[byte] = c.is_ascii_alphanumeric() || c == b'_' || c >= 0x80;
        byte += 1;
    }
    table
};

/// Calls `visit` with the hash of every word of a text, once per occurrence.
pub(crate) fn each_word(text: &[u8], mut visit: impl FnMut(u64)) {
    let mut at = 0;
    while at < text.len() {
        if !IN_WORD[usize::from(text[at])] {
            at += 1;
            continue;
        }
        let start = at;
        while at < text.len() && IN_WORD[usize::from(text[at])] {
            at += 1;
        }
        visit(number_at(text, start, at));
    }
}

/// Returns the hash of the word from `start` to `end`. Nearly all words have at most eight letters and are
/// followed by text: those are hashed in one step.
fn number_at(text: &[u8], start: usize, end: usize) -> u64 {
    let length = end - start;
    match text[start..].first_chunk::<8>() {
        Some(chunk) if length < 8 => {
            let letters = u64::from_le_bytes(*chunk) & ((1 << (8 * length)) - 1);
            finish(mix(first(length) ^ letters))
        }
        _ => number_of(&text[start..end]),
    }
}

pub(crate) fn number_of(word: &[u8]) -> u64 {
    let mut hash = first(word.len());
    let (chunks, rest) = word.as_chunks::<8>();
    for chunk in chunks {
        hash = mix(hash ^ u64::from_le_bytes(*chunk));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    finish(mix(hash ^ u64::from_le_bytes(last)))
}

fn first(length: usize) -> u64 {
    (length as u64).wrapping_mul(MULTIPLIER)
}

fn finish(hash: u64) -> u64 {
    hash >> (64 - HASH_BITS)
}

fn mix(number: u64) -> u64 {
    let product = number.wrapping_mul(MULTIPLIER);
    (product ^ (product >> 32)).wrapping_mul(MULTIPLIER)
}

/// The numbers that have occurred in a text. Clearing it is free.
#[derive(Debug)]
pub(crate) struct SeenWords {
    /// A number and the text it was last seen in; open addressing.
    slots: Vec<(u64, u32)>,
    text: u32,
    count: usize,
}

impl Default for SeenWords {
    fn default() -> Self {
        Self { slots: vec![(0, 0); 1 << 12], text: 0, count: 0 }
    }
}

impl SeenWords {
    pub(crate) fn start_document(&mut self) {
        self.count = 0;
        self.text = self.text.checked_add(1).unwrap_or_else(|| {
            self.slots.fill((0, 0));
            1
        });
    }

    /// Returns true if the number occurs for the first time in this text.
    pub(crate) fn is_first(&mut self, number: u64) -> bool {
        let mask = self.slots.len() - 1;
        let mut at = usize::try_from(number).unwrap_or(0) & mask;
        while self.slots[at].1 == self.text {
            if self.slots[at].0 == number {
                return false;
            }
            at = (at + 1) & mask;
        }
        self.slots[at] = (number, self.text);
        self.count += 1;
        if self.count * 2 > self.slots.len() {
            self.grow();
        }
        true
    }

    fn grow(&mut self) {
        let larger = vec![(0, 0); self.slots.len() * 2];
        let old = std::mem::replace(&mut self.slots, larger);
        let mask = self.slots.len() - 1;
        for (number, text) in old.into_iter().filter(|(_, text)| *text == self.text) {
            let mut at = usize::try_from(number).unwrap_or(0) & mask;
            while self.slots[at].1 == text {
                at = (at + 1) & mask;
            }
            self.slots[at] = (number, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use lockstep_refs::world::words;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn they_are_the_words_that_resolution_asks_for(text in "[a-z0-9_ .:é日\\-\n]{0,200}") {
            let mut numbers = Vec::new();
            each_word(text.as_bytes(), |number| numbers.push(number));
            let expected: Vec<_> = words(&text).map(|word| number_of(word.as_bytes())).collect();
            prop_assert_eq!(numbers, expected);
        }

        #[test]
        fn each_number_is_first_once_per_text(
            texts in proptest::collection::vec(proptest::collection::vec(0..9000_u64, 0..6000), 1..4),
        ) {
            let mut seen = SeenWords::default();
            for text in texts {
                seen.start_document();
                let first: Vec<_> = text.iter().filter(|number| seen.is_first(**number)).collect();
                let set: BTreeSet<_> = text.iter().collect();
                prop_assert_eq!(first.len(), set.len());
            }
        }
    }

    #[test]
    fn numbers_differ_where_words_do() {
        let names: Vec<String> = (0..100_000).map(|n| format!("handler_{n}")).collect();
        let numbers: BTreeSet<_> = names.iter().map(|name| number_of(name.as_bytes())).collect();
        assert!(numbers.len() > 99_990, "{}", numbers.len());
        assert!(numbers.iter().all(|number| number >> HASH_BITS == 0));
    }
}
