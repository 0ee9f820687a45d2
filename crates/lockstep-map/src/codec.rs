//! Numbers and texts as bytes, and back. Every step of reading is checked: damage is `None`, never a panic.

use jiff::civil::Date;

/// Bytes in the making.
#[derive(Debug, Default)]
pub(crate) struct ByteWriter(pub(crate) Vec<u8>);

impl ByteWriter {
    pub(crate) fn u32(&mut self, number: u32) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub(crate) fn u64(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub(crate) fn date(&mut self, date: Date) {
        let year = u32::from(date.year().cast_unsigned());
        self.u32(
            year << 16 | u32::from(date.month().cast_unsigned()) << 8 | u32::from(date.day().cast_unsigned()),
        );
    }

    /// A text behind its length.
    pub(crate) fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    pub(crate) fn count(&mut self, count: usize) {
        self.u32(u32::try_from(count).expect("no project has 4 G of anything"));
    }
}

/// The remaining input.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ByteInput<'a>(pub(crate) &'a [u8]);

impl<'a> ByteInput<'a> {
    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(count)?;
        self.0 = tail;
        Some(head)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    pub(crate) fn date(&mut self) -> Option<Date> {
        date(*self.take(4)?.first_chunk()?)
    }

    pub(crate) fn text(&mut self) -> Option<&'a str> {
        let length = self.count()?;
        std::str::from_utf8(self.take(length)?).ok()
    }

    /// Reads a count of items of at least one byte.
    pub(crate) fn count(&mut self) -> Option<usize> {
        usize::try_from(self.u32()?).ok().filter(|count| *count <= self.0.len())
    }

    /// Reads `count` items of `EACH` bytes.
    pub(crate) fn fixed_width<const EACH: usize>(&mut self, count: usize) -> Option<&'a [[u8; EACH]]> {
        Some(self.take(count.checked_mul(EACH)?)?.as_chunks().0)
    }
}

/// A day from its bytes.
pub(crate) fn date([day, month, low, high]: [u8; 4]) -> Option<Date> {
    Date::new(i16::from_le_bytes([low, high]), month.cast_signed(), day.cast_signed()).ok()
}
