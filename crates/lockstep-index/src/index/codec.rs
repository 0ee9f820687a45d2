//! The checksum of index files.

/// The first eight bytes of the digest: enough to notice damage.
pub(crate) fn check(bytes: &[u8]) -> u64 {
    let mut checked = checker();
    checked.update(bytes);
    sum(&checked)
}

/// Returns a hasher that computes the same checksum incrementally.
pub(crate) fn checker() -> blake3::Hasher {
    blake3::Hasher::new()
}

/// Returns the checksum of the bytes so far.
pub(crate) fn sum(checked: &blake3::Hasher) -> u64 {
    let hash = checked.finalize();
    u64::from_le_bytes(hash.as_bytes()[..8].try_into().expect("a hash has 32 bytes"))
}
