//! Baselines: the common ways to search for a name.

use std::collections::BTreeSet;

use lockstep_refs::world::{base, words};

/// `rg -w NAME`: returns the files that contain the name as a complete word.
pub(super) fn word(texts: &[(String, String)], name: &str) -> BTreeSet<String> {
    let has = |text: &str| words(text).any(|word| word == name);
    texts.iter().filter(|(_, text)| has(text)).map(|(path, _)| path.clone()).collect()
}

/// `grep -r BASENAME`: returns the files that contain the changed file's name without its extension.
pub(super) fn basename(texts: &[(String, String)], file: &str) -> BTreeSet<String> {
    let stem = base(file).split('.').next().unwrap_or_default();
    texts.iter().filter(|(_, text)| text.contains(stem)).map(|(path, _)| path.clone()).collect()
}
