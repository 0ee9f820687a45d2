//! Numbers and texts as bytes, and back. Reading checks every step: damage yields `None`, never a panic.

/// The bytes that remain to be read.
#[derive(Debug, Clone, Copy)]
pub struct ByteReader<'a>(pub &'a [u8]);

impl<'a> ByteReader<'a> {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(count)?;
        self.0 = tail;
        Some(head)
    }

    #[inline]
    pub fn u8(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    #[inline]
    pub fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    #[inline]
    pub fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    #[inline]
    pub fn i64(&mut self) -> Option<i64> {
        Some(self.u64()?.cast_signed())
    }

    /// Reads a number that [`put_varint`] wrote.
    #[inline]
    pub fn varint(&mut self) -> Option<u64> {
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

    /// Reads bytes behind their length, which [`put_varint`] wrote.
    pub fn chunk(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.varint()?).ok()?;
        self.take(length)
    }

    /// Reads a text that [`ByteWriter::text`] wrote.
    pub fn text(&mut self) -> Option<&'a str> {
        let length = self.count()?;
        std::str::from_utf8(self.take(length)?).ok()
    }

    /// Reads a count of items of at least one byte.
    pub fn count(&mut self) -> Option<usize> {
        usize::try_from(self.u32()?).ok().filter(|count| *count <= self.0.len())
    }

    /// Reads `count` items of `EACH` bytes.
    pub fn fixed_width<const EACH: usize>(&mut self, count: usize) -> Option<&'a [[u8; EACH]]> {
        Some(self.take(count.checked_mul(EACH)?)?.as_chunks().0)
    }
}

/// Bytes that are being written.
#[derive(Debug, Default)]
pub struct ByteWriter(pub Vec<u8>);

impl ByteWriter {
    #[inline]
    pub fn u32(&mut self, number: u32) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    #[inline]
    pub fn u64(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    /// Appends a count of items.
    ///
    /// # Panics
    ///
    /// If it does not fit into 32 bits.
    pub fn count(&mut self, count: usize) {
        self.u32(u32::try_from(count).expect("no project has 4 G of anything"));
    }

    /// Appends a text behind its length.
    pub fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }
}

/// Appends a number in as few bytes as it needs, seven bits each.
pub fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
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
