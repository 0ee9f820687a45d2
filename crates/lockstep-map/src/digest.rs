//! Digests that need to be quick, not safe from anybody: of what this program wrote itself.

/// A digest of bytes, eight at a time.
pub fn digest(bytes: &[u8]) -> u64 {
    let (chunks, rest) = bytes.as_chunks::<8>();
    let mut last = [0_u8; 8];
    last[..rest.len()].copy_from_slice(rest);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ bytes.len() as u64;
    for chunk in chunks.iter().chain([&last]) {
        state = mixed(state, u64::from_le_bytes(*chunk));
    }
    state ^ (state >> 32)
}

/// One number stirred into a digest.
pub(crate) fn mixed(state: u64, number: u64) -> u64 {
    (state.rotate_left(23) ^ number).wrapping_mul(0xff51_afd7_ed55_8ccd)
}

/// The lower half of a digest.
pub(crate) fn short(bytes: &[u8]) -> u32 {
    let [a, b, c, d, ..] = digest(bytes).to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// A digest of a content, on which it rests whether a file counts as changed.
pub(crate) fn content(text: &str) -> u64 {
    let hash = blake3::hash(text.as_bytes());
    let first = hash.as_bytes().first_chunk().copied().unwrap_or_default();
    // Zero means "unknown".
    u64::from_le_bytes(first).max(1)
}
