//! What people use today: searching for the name.

use std::collections::BTreeSet;

use lockstep_refs::world::{base, words};

/// `rg -w NAME`: the files in which the name stands as a whole word.
pub(super) fn word(texts: &[(String, String)], name: &str) -> BTreeSet<String> {
    let has = |text: &str| words(text).any(|word| word == name);
    texts.iter().filter(|(_, text)| has(text)).map(|(path, _)| path.clone()).collect()
}

/// `grep -r BASENAME`: the files in which the changed file's name stands, without its extension.
pub(super) fn basename(texts: &[(String, String)], file: &str) -> BTreeSet<String> {
    let stem = base(file).split('.').next().unwrap_or_default();
    texts.iter().filter(|(_, text)| text.contains(stem)).map(|(path, _)| path.clone()).collect()
}
