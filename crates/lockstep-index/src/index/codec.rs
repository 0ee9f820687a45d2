//! Encodes numbers and texts as bytes. Decoding checks every step: damage yields `None`, never a panic.

/// Appends a number in as few bytes as it needs, seven bits each.
pub(crate) fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

/// The bytes that remain to be read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ByteReader<'a>(pub(crate) &'a [u8]);

impl<'a> ByteReader<'a> {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(count)?;
        self.0 = tail;
        Some(head)
    }

    pub(crate) fn varint(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let (&byte, tail) = self.0.split_first()?;
            self.0 = tail;
            let bits = u64::from(byte & 0x7f);
            // The tenth byte has one bit left.
            if shift == 63 && bits > 1 {
                return None;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    pub(crate) fn i64(&mut self) -> Option<i64> {
        Some(self.u64()?.cast_signed())
    }

    /// Reads bytes with a length prefix.
    pub(crate) fn chunk(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.varint()?).ok()?;
        self.take(length)
    }
}

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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_come_back(numbers in proptest::collection::vec(any::<u64>(), 0..20), shift in 0..64_u32) {
            let mut out = Vec::new();
            numbers.iter().for_each(|number| put_varint(&mut out, number >> shift));
            let mut bytes = ByteReader(&out);
            for number in numbers {
                prop_assert_eq!(bytes.varint(), Some(number >> shift));
            }
            prop_assert!(bytes.is_empty());
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let mut bytes = ByteReader(&bytes);
            while bytes.varint().is_some() {}
            bytes.chunk();
        }
    }
}
