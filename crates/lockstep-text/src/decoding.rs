//! The text of a file's bytes.

use std::borrow::Cow;

use bstr::ByteSlice as _;

/// Returns the text of a file, or `None` if it is binary.
///
/// Files in encodings that extend ASCII, such as Latin-1, are text: their other bytes become replacement
/// characters. UTF-16 needs its byte order mark.
pub fn decode(bytes: &[u8]) -> Option<Cow<'_, str>> {
    match bytes {
        [0xff, 0xfe, rest @ ..] => Some(decode_utf16(rest, u16::from_le_bytes)),
        [0xfe, 0xff, rest @ ..] => Some(decode_utf16(rest, u16::from_be_bytes)),
        _ if bytes.find_byte(0).is_some() => None,
        // A complete check is faster than a search for the first wrong byte.
        _ => Some(std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)),
    }
}

/// Returns the text of a file, also of a binary one.
pub fn decode_lossy(bytes: &[u8]) -> Cow<'_, str> {
    decode(bytes).unwrap_or_else(|| String::from_utf8_lossy(bytes))
}

fn decode_utf16<'a>(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Cow<'a, str> {
    let (pairs, _) = bytes.as_chunks::<2>();
    let units = pairs.iter().map(|pair| unit(*pair));
    char::decode_utf16(units).map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_encoding_that_extends_ascii_and_marked_utf16_is_text() {
        let utf16 = |mark: [u8; 2], unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
            mark.into_iter().chain("fn ö() 𝄞\n".encode_utf16().flat_map(unit)).collect()
        };
        let cases: [(&[u8], Option<&str>); 7] = [
            ("fn ö() {}".as_bytes(), Some("fn ö() {}")),
            (b"caf\xe9 = 1\n", Some("caf\u{fffd} = 1\n")),
            (&utf16([0xff, 0xfe], u16::to_le_bytes), Some("fn ö() 𝄞\n")),
            (&utf16([0xfe, 0xff], u16::to_be_bytes), Some("fn ö() 𝄞\n")),
            (b"\xff\xfea\0\0\xd8b", Some("a\u{fffd}")),
            (b"\x7fELF\0", None),
            (b"", Some("")),
        ];
        for (bytes, expected) in cases {
            assert_eq!(decode(bytes).as_deref(), expected, "{bytes:?}");
        }
        assert_eq!(decode_lossy(b"a\0\xff"), "a\0\u{fffd}");
    }
}
