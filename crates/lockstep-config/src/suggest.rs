//! Suggests the word that was probably meant.

/// Longer words are not compared: they are hardly typing errors, and comparing them takes time.
const MAX_WORD_CHARS: usize = 64;

/// Returns the candidate that is nearest to `word`, if it is near enough for a suggestion.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > MAX_WORD_CHARS {
        return None;
    }
    let folded = word.to_lowercase().replace('-', "_");
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&folded, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= max_distance(candidate.len()))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// A third of the letters may differ, and one always.
fn max_distance(length: usize) -> usize {
    (length / 3).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_proposed_and_far_ones_are_not() {
        let candidates = ["dir", "sweep", "grace", "on_failure"];
        for (word, expected) in [
            ("swep", Some("sweep")),
            ("SWEEP", Some("sweep")),
            ("on-failure", Some("on_failure")),
            ("onfailure", Some("on_failure")),
            ("dri", Some("dir")),
            ("greace", Some("grace")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, candidates), expected, "{word:?}");
        }
    }
}
