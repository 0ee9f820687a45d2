//! Searches for complete words in a text: `POST_REFACTOR_REVIEW` is not `REVIEW`.

/// Returns true if `c` is part of a word. An underscore joins words.
pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns true if `text` contains `word` as a complete word.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    if word.is_empty() {
        return false;
    }
    let starts = word.starts_with(is_word);
    let ends = word.ends_with(is_word);
    text.match_indices(word).any(|(at, found)| {
        let before = text[..at].chars().next_back();
        let after = text[at + found.len()..].chars().next();
        let joined = (starts && before.is_some_and(is_word)) || (ends && after.is_some_and(is_word));
        !joined
    })
}

#[cfg(test)]
mod tests {
    use super::has_word;

    #[test]
    fn a_part_of_a_word_is_not_the_word() {
        for (text, word, expected) in [
            ("POST_REFACTOR_REVIEW", "REVIEW", false),
            ("- REVIEW: look", "REVIEW", true),
            ("POST_REFACTOR_REVIEW, REVIEW", "REVIEW", true),
            ("G10 G11", "G1", false),
            ("G1", "G1", true),
            ("éG1", "G1", false),
            ("`G1`", "G1", true),
            ("DISALLOWED", "ALLOWED", false),
            ("x", "", false),
        ] {
            assert_eq!(has_word(text, word), expected, "{word} in {text}");
        }
    }
}
