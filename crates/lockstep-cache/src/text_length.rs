//! The length of a text as counted by the receiving client.
//!
//! Claude Code counts UTF-16 code units, not Unicode scalar values: 4,995 emoji and 10 letters (10,000 units)
//! arrive in full, one emoji more (10,002 units, 5,006 scalar values) becomes a file and a preview. Measured
//! on 2.1.197. The UTF-16 length is never less than the number of scalar values, so a limit in units also
//! holds in characters.

/// The unit of a client's limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LengthUnit {
    /// UTF-16 code units, as a JavaScript client's `length`.
    Utf16,
    /// Bytes of UTF-8.
    Bytes,
}

impl LengthUnit {
    pub fn count(self, text: &str) -> usize {
        match self {
            // Every character is one unit, and those beyond U+FFFF (four bytes, lead 0xF0 and up) are two.
            // Counting bytes instead of decoding makes this cheap in a hook.
            Self::Utf16 => text.bytes().filter(|b| (b & 0xC0) != 0x80).count() + count_supplementary(text),
            Self::Bytes => text.len(),
        }
    }

    /// The longest beginning of `text` that is at most `max` long. Characters are never split.
    pub fn prefix(self, text: &str, max: usize) -> &str {
        let mut used = 0;
        for (at, c) in text.char_indices() {
            used += match self {
                Self::Utf16 => c.len_utf16(),
                Self::Bytes => c.len_utf8(),
            };
            if used > max {
                return &text[..at];
            }
        }
        text
    }
}

/// Returns the length of `text` in the unit of budgets.
pub fn chars(text: &str) -> usize {
    LengthUnit::Utf16.count(text)
}

/// The beginning of `text` that is at most `max` such characters.
pub fn prefix(text: &str, max: usize) -> &str {
    LengthUnit::Utf16.prefix(text, max)
}

/// `text` as one line: control characters, line ends among them, become spaces.
pub(crate) fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c })
        .collect()
}

fn count_supplementary(text: &str) -> usize {
    text.bytes().filter(|b| *b >= 0xF0).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_emoji_is_two_characters() {
        assert_eq!(chars("aé漢😀"), 5);
        assert_eq!(prefix("aé漢😀", 4), "aé漢");
        assert_eq!(LengthUnit::Bytes.prefix("aé", 2), "a");
    }

    proptest! {
        #[test]
        fn counting_agrees_with_the_standard_library(text in any::<String>(), max in 0usize..40) {
            prop_assert_eq!(chars(&text), text.encode_utf16().count());
            for unit in [LengthUnit::Utf16, LengthUnit::Bytes] {
                let cut = unit.prefix(&text, max);
                prop_assert!(text.starts_with(cut) && unit.count(cut) <= max);
                if let Some(next) = text[cut.len()..].chars().next() {
                    prop_assert!(unit.count(&format!("{cut}{next}")) > max, "it is the longest one");
                }
            }
        }
    }
}
