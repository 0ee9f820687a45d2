//! Fast digests of this program's own data. They are not collision-resistant against attackers.

pub fn digest(bytes: &[u8]) -> u64 {
    let mut digester = Digester::default();
    digester.add(bytes);
    digester.finish()
}

/// The number of bytes that are hashed at once, every eight of them into a separate state, so that they do
/// not wait for each other.
pub(crate) const STEP: usize = 32;

/// An incremental digest. Every piece but the last has a multiple of 32 bytes.
#[derive(Debug, Clone)]
pub struct Digester {
    states: [u64; 4],
    length: u64,
}

impl Default for Digester {
    fn default() -> Self {
        let start = 0x9e37_79b9_7f4a_7c15_u64;
        Self {
            states: [start, start.rotate_left(16), start.rotate_left(32), start.rotate_left(48)],
            length: 0,
        }
    }
}

impl Digester {
    pub fn add(&mut self, bytes: &[u8]) {
        debug_assert!(self.length.is_multiple_of(STEP as u64), "only the last piece ends anywhere");
        let (steps, rest) = bytes.as_chunks::<STEP>();
        self.states = steps.iter().fold(self.states, stirred);
        if !rest.is_empty() {
            let mut last = [0; STEP];
            last[..rest.len()].copy_from_slice(rest);
            self.states = stirred(self.states, &last);
        }
        self.length += bytes.len() as u64;
    }

    pub fn finish(self) -> u64 {
        let state = self.states.into_iter().fold(self.length, mixed);
        state ^ (state >> 32)
    }
}

/// The states after one more step. Megabytes pass here: written out, so that they stay in registers.
#[inline]
fn stirred([a, b, c, d]: [u64; 4], step: &[u8; STEP]) -> [u64; 4] {
    let [w, x, y, z] = [0, 8, 16, 24].map(|at| {
        let bytes = step[at..].first_chunk().copied().unwrap_or_default();
        u64::from_le_bytes(bytes)
    });
    [mixed(a, w), mixed(b, x), mixed(c, y), mixed(d, z)]
}

/// One number stirred into a digest.
#[inline]
pub(crate) fn mixed(state: u64, number: u64) -> u64 {
    (state.rotate_left(23) ^ number).wrapping_mul(0xff51_afd7_ed55_8ccd)
}

/// The lower half of a digest.
pub(crate) fn short(bytes: &[u8]) -> u32 {
    let [a, b, c, d, ..] = digest(bytes).to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// Returns the digest of a content, which decides whether a file counts as changed.
pub(crate) fn content(text: &str) -> u64 {
    let hash = blake3::hash(text.as_bytes());
    let first = hash.as_bytes().first_chunk().copied().unwrap_or_default();
    // Zero stands for "unknown".
    u64::from_le_bytes(first).max(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pieces_make_the_same_digest_and_every_bit_counts(
            bytes in proptest::collection::vec(any::<u8>(), 1..200), at in any::<prop::sample::Index>(), bit in 0..8_u32,
        ) {
            let mut digester = Digester::default();
            bytes.chunks(64).for_each(|piece| digester.add(piece));
            let whole = digest(&bytes);
            prop_assert_eq!(digester.finish(), whole);
            let mut other = bytes.clone();
            other[at.index(bytes.len())] ^= 1_u8 << bit;
            prop_assert_ne!(digest(&other), whole);
            other.clone_from(&bytes);
            other.push(0);
            prop_assert_ne!(digest(&other), whole);
        }
    }
}
