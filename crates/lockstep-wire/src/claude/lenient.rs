//! Reads bytes that are almost JSON: a byte order mark, UTF-16, invalid UTF-8, lone surrogates, raw control
//! characters.
//!
//! The meaning of such an event is clear, and a gate that ignored it would let the action pass.

use std::borrow::Cow;

/// Returns the text of an event. Characters that cannot be decoded become U+FFFD.
pub(super) fn decode(bytes: &[u8]) -> Cow<'_, str> {
    let text = match bytes {
        [0xff, 0xfe, rest @ ..] => Cow::Owned(from_utf16(rest, u16::from_le_bytes)),
        [0xfe, 0xff, rest @ ..] => Cow::Owned(from_utf16(rest, u16::from_be_bytes)),
        [_, 0, ..] => Cow::Owned(from_utf16(bytes, u16::from_le_bytes)),
        [0, _, ..] => Cow::Owned(from_utf16(bytes, u16::from_be_bytes)),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest),
        _ => String::from_utf8_lossy(bytes),
    };
    if has_surrogate(&text) { Cow::Owned(replace_lone_surrogates(&text)) } else { text }
}

fn from_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.as_chunks::<2>().0.iter().map(|pair| unit(*pair));
    char::decode_utf16(units).map(|candidate| candidate.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// Returns true if the text may escape a surrogate.
fn has_surrogate(text: &str) -> bool {
    text.match_indices("\\u").any(|(at, _)| escaped_unit(&text[at..]).is_some_and(is_surrogate))
}

fn is_surrogate(unit: u16) -> bool {
    (0xd800..=0xdfff).contains(&unit)
}

fn escaped_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

/// Length of an escaped code unit: `\uXXXX`.
const ESCAPE: usize = 6;

fn replace_lone_surrogates(text: &str) -> String {
    let mut fixed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        fixed.push_str(before);
        let length = match escaped_unit(escape) {
            Some(0xd800..=0xdbff)
                if matches!(escape.get(ESCAPE..).and_then(escaped_unit), Some(0xdc00..=0xdfff)) =>
            {
                2 * ESCAPE
            }
            Some(unit) if is_surrogate(unit) => {
                fixed.push_str("\\ufffd");
                rest = &escape[ESCAPE..];
                continue;
            }
            Some(_) => ESCAPE,
            // A backslash and the character that it escapes.
            None => escape.chars().take(2).map(char::len_utf8).sum(),
        };
        fixed.push_str(&escape[..length]);
        rest = &escape[length..];
    }
    fixed.push_str(rest);
    fixed
}

/// Escapes the control characters inside strings. `None` if there are none.
pub(super) fn escape_controls(text: &str) -> Option<String> {
    let mut fixed = String::with_capacity(text.len() + 16);
    let (mut is_string, mut is_escaped, mut has_any) = (false, false, false);
    for c in text.chars() {
        if is_string && c < ' ' {
            has_any = true;
            // After a backslash, the control character is escaped itself, which is invalid: the backslash
            // starts the new escape.
            fixed.push_str(&format!("{}u{:04x}", if is_escaped { "" } else { "\\" }, u32::from(c)));
            is_escaped = false;
            continue;
        }
        match c {
            '"' if !is_escaped => is_string = !is_string,
            _ => {}
        }
        is_escaped = is_string && c == '\\' && !is_escaped;
        fixed.push(c);
    }
    has_any.then_some(fixed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn encodings_and_marks_give_the_same_text() {
        let text = "{\"a\":\"é 😀\"}";
        let units = |order: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(order).collect::<Vec<u8>>();
        let (little, big) = (units(u16::to_le_bytes), units(u16::to_be_bytes));
        for bytes in [
            text.as_bytes().to_vec(),
            [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            [&b"\xff\xfe"[..], &little].concat(),
            [&b"\xfe\xff"[..], &big].concat(),
            little,
            big,
        ] {
            assert_eq!(decode(&bytes), text);
        }
        assert_eq!(decode(b"a\xffb"), "a\u{fffd}b");
    }

    #[test]
    fn lone_surrogates_are_replaced_and_pairs_are_not() {
        for (text, expected) in [
            (r#""-m \ud800""#, r#""-m \ufffd""#),
            (r#""\uDC00\ud83d\ude00\ud83d""#, r#""\ufffd\ud83d\ude00\ufffd""#),
            (r#""\\ud800 \n""#, r#""\\ud800 \n""#),
            (r#""\ud8""#, r#""\ud8""#),
        ] {
            assert_eq!(decode(text.as_bytes()), expected);
        }
    }

    #[test]
    fn control_characters_are_escaped_inside_strings_only() {
        assert_eq!(escape_controls("{\n\"a\": \"b\"\t}"), None);
        assert_eq!(escape_controls("{\n\"a\": \"b\tc\\\\\"}\n").unwrap(), "{\n\"a\": \"b\\u0009c\\\\\"}\n");
    }

    proptest! {
        #[test]
        fn any_bytes_are_decoded(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let text = decode(&bytes);
            let _ = escape_controls(&text);
        }

        #[test]
        fn a_repaired_string_can_be_parsed(parts in proptest::collection::vec(
            prop_oneof!["[a-z\u{1}-\u{1f}é]", Just(r"\ud800".to_owned()), Just(r"\udfff".to_owned()), Just(r"\n".to_owned()), Just(r"\\".to_owned())],
            0..30,
        )) {
            let text = format!("\"{}\"", parts.concat());
            let text = decode(text.as_bytes()).into_owned();
            let text = escape_controls(&text).unwrap_or(text);
            prop_assert!(serde_json::from_str::<String>(&text).is_ok(), "{text:?}");
        }
    }
}
