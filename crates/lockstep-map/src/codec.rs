//! Days as bytes, beside the numbers and texts of [`lockstep_text::bytes`].

use jiff::civil::Date;
pub(crate) use lockstep_text::bytes::{ByteReader, ByteWriter};

pub(crate) fn put_date(out: &mut ByteWriter, date: Date) {
    let year = u32::from(date.year().cast_unsigned());
    let (month, day) = (u32::from(date.month().cast_unsigned()), u32::from(date.day().cast_unsigned()));
    out.u32(year << 16 | month << 8 | day);
}

pub(crate) fn read_date(bytes: &mut ByteReader<'_>) -> Option<Date> {
    date(*bytes.take(4)?.first_chunk()?)
}

pub(crate) fn date([day, month, low, high]: [u8; 4]) -> Option<Date> {
    Date::new(i16::from_le_bytes([low, high]), month.cast_signed(), day.cast_signed()).ok()
}
