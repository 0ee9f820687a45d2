//! `docs/benchmarks.md`: the results between two markers, the rest written by people.

use std::fs;
use std::path::Path;

use crate::Outcome;

pub(super) const PATH: &str = "docs/benchmarks.md";

/// Puts the results of a benchmark in its place on the page.
pub(super) fn put(page: &Path, bench: &str, results: &str) -> Outcome {
    let text = fs::read_to_string(page).map_err(|error| format!("{}: {error}", page.display()))?;
    let [begin, end] = markers(bench);
    let new = replaced(&text, bench, results)
        .ok_or_else(|| format!("{} has no place for results: {begin} … {end}", page.display()))?;
    Ok(fs::write(page, new)?)
}

fn markers(bench: &str) -> [String; 2] {
    ["begin", "end"].map(|side| format!("<!-- results of `cargo xtask bench {bench} --write`: {side} -->"))
}

fn replaced(page: &str, bench: &str, results: &str) -> Option<String> {
    let [begin, end] = markers(bench);
    let (head, rest) = page.split_once(&begin)?;
    let (_, tail) = rest.split_once(&end)?;
    Some(format!("{head}{begin}\n\n{}\n\n{end}{tail}", results.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_markers_changes() {
        let [begin, end] = markers("hooks");
        let page = format!("# Title\n{begin}\nold\n{end}\nfoot\n");
        let once = replaced(&page, "hooks", "new\n").unwrap();
        assert_eq!(once, format!("# Title\n{begin}\n\nnew\n\n{end}\nfoot\n"));
        assert_eq!(replaced(&once, "hooks", "new\n").unwrap(), once);
        assert_eq!(replaced(&page, "impact", "new"), None);
    }
}
